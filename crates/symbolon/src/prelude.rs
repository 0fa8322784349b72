//! The names that most programs need, for `use symbolon::prelude::*`.
//!
//! ```
//! use symbolon::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let mut builder = Builder::new("sum");
//! let (x, y) = (builder.input("x", Type::Uint(8), 0), builder.input("y", Type::Uint(8), 1));
//! let sum = builder.add(&x, &y);
//! builder.output("sum", &sum, Type::Uint(8), Receivers::All);
//! let circuit = builder.finish()?;
//!
//! let (zero, one) = Transport::memory(1, None)?;
//! let run = |party: PartyId, transport, value| {
//!     let inputs = Inputs::builder(&circuit, party).uint(party.index(), value)?.finish()?;
//!     Session::connect(Config::new(party, transport), &circuit)?.evaluate(&inputs)
//! };
//! let outputs = std::thread::scope(|scope| {
//!     let peer = scope.spawn(|| run(1.into(), one, 30));
//!     let own = run(0.into(), zero, 12);
//!     peer.join().expect("no panic").and(own)
//! })?;
//! assert_eq!(outputs.uint("sum")?, 42);
//! # Ok(())
//! # }
//! ```

pub use crate::circuit::builder::{Bit, Builder, ComponentBuilder, Word};
pub use crate::circuit::{Circuit, PartyId, Receivers, Type, builtin};
pub use crate::store::{Protection, Store};
pub use crate::{
    CancelHandle, Config, Endpoint, Error, Fingerprint, GateForm, Identity, Inputs, Listener,
    OutputValue, Outputs, PeerInfo, Progress, Protocol, Report, Result, Rho, Session, Transport,
    stored,
};
