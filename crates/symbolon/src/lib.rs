//! Maliciously secure computation of Boolean circuits: two or more parties who do not trust each
//! other compute a function of their private inputs, and nothing but the result is learnt, even if
//! all but one of them cheat together.
//!
//! For most uses: make a [`Circuit`](circuit::Circuit), collect this party's [`Inputs`], describe
//! the connection with a [`Config`], and call [`Session::connect`] and [`Session::evaluate`]. All
//! parties do the same with the same circuit. [`prelude`] exports all of these names.
//!
//! This example runs both parties in one process, for a test. Between machines, use
//! [`Transport::tls`] instead of [`Transport::memory`]; among more than two parties, use
//! [`Transport::tls_mesh`] and [`Transport::memory_mesh`]:
//!
//! ```
//! use symbolon::{Config, Inputs, Session, Transport, circuit::builtin};
//!
//! # fn main() -> symbolon::Result<()> {
//! let circuit = builtin::by_name("millionaires:32").expect("a built-in circuit");
//! let (for_zero, for_one) = Transport::memory(1, None)?;
//!
//! let party = |number, transport, wealth| {
//!     // Everything that can be wrong with the inputs is found here, before the peer is troubled.
//!     let inputs = Inputs::builder(&circuit, number).uint(usize::from(number), wealth)?.finish()?;
//!     let mut session = Session::connect(Config::new(number, transport), &circuit)?;
//!     session.evaluate(&inputs)
//! };
//! let (zero, one) = std::thread::scope(|scope| {
//!     let zero = scope.spawn(|| party(0, for_zero, 5_000_000));
//!     let one = scope.spawn(|| party(1, for_one, 4_999_999));
//!     (zero.join().unwrap(), one.join().unwrap())
//! });
//!
//! // Is party 0 richer? Both learn the answer and nothing else.
//! assert_eq!(zero?.uint("richer")?, 1);
//! assert_eq!(one?.uint("richer")?, 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//! | for | see |
//! | --- | --- |
//! | a circuit by its name | [`circuit::builtin`] |
//! | a circuit from a file | [`circuit::read_circuit`] |
//! | a circuit built gate by gate | [`circuit::builder`] |
//! | a circuit from a program (`.sym`) | `symbolon_lang::compile`, and the example `program` |
//! | inputs from numbers, text, bits, or with `serde` any Rust value | [`InputsBuilder`] |
//! | what a party learnt | [`Outputs`], [`OutputValue`] |
//! | keys, and who is who | [`Identity`], [`Fingerprint`], [`Transport`] |
//! | protocol, security parameter, threads, time-outs | [`Config`] |
//! | progress of long work, and cancelling it | [`Config::on_progress`], [`Config::cancelled_by`] |
//! | several circuits or phases in one session | [`Session::next_circuit`], [`Session::prepare`] |
//! | circuits that go on with outputs nobody has seen | [`Session::connect_in_parts`] |
//! | many evaluations of one circuit | [`Session::evaluate_batch`] |
//! | work ahead of time | [`stored`], [`store`] |
//! | a dealer that all parties trust | [`dealer`] |
//! | what it cost | [`Report`] |
//! | whether this build is as fast as it can be | [`slow_build`] |
//!
//! # Errors
//! Errors say whose fault it is: [`Error::InvalidInput`] ours, [`Error::PeerIncompatible`] nobody's
//! (the sides have different settings), [`Error::Transport`] the connection's, and
//! [`Error::PeerMisbehaved`] the peer's. [`Error::Store`] is about stores and key files,
//! [`Error::System`] and [`Error::Full`] are about what this machine lacks, and [`Error::Internal`]
//! is about a defect of this library. [`Error::class`] and [`Error::code`] are for programs.
//!
//! # Asserts
//! If an assert of a program fails, that is **no error**: the call succeeds, and all other outputs
//! are zero. So a caller that runs a program first looks at [`Outputs::failure`], which has the
//! text and the line of the assert, as in the example `program`. Then [`Outputs::uint`], `int`,
//! `text`, `value` and `bits` return an error.

mod autotune;
pub mod checks;
pub mod columns;
mod config;
mod connect;
#[cfg(feature = "serde")]
mod costs;
pub mod dealer;
mod describe;
mod exchange;
mod handshake_all;
mod inputs;
#[cfg(feature = "serde")]
mod json;
pub mod messages;
mod negotiate;
mod outputs;
mod params;
pub mod plan;
mod port;
pub mod prelude;
pub mod registry;
mod report;
mod session;
pub mod stored;
mod terms;
mod triples;

pub use autotune::Choice;
pub use config::Config;
pub use connect::{Endpoint, PeerInfo, Transport};
#[cfg(feature = "serde")]
pub use costs::{ProtocolBytes, protocol_bytes};
pub use dealer::Dealer;
pub use exchange::Exchange;
pub use inputs::{Inputs, InputsBuilder, read_file};
#[cfg(feature = "serde")]
pub use outputs::OutputJson;
pub use outputs::{OutputValue, Outputs};
pub use params::{POOL_GATES, ParamError, Parameter, SessionParams, parameters};
pub use port::Port;
pub use report::{DEPENDENT, INDEPENDENT, ONLINE, Report, SETUP, STREAMED};
pub use session::{BatchPlan, BatchWindows, Correlations, PreparedCircuit, Session};
pub use terms::MAX_THREADS;
pub use triples::{MAX_TRIPLES, TripleRun, make_triples};

/// Circuits, their formats, the builder and the built-in circuits.
pub use symbolon_circuit as circuit;
pub use symbolon_protocols::{
    Compiled, GateForm, Link, OptionSpec, Options, OtExtension, Protocol, Rho, RunTerms,
    SEGMENT_GATES, TreeDepth, options,
};
/// The options of [`Protocol::TinyTable`].
pub mod tinytable {
    pub use symbolon_protocols::tinytable::options::*;
}
/// The options of [`Protocol::DualEx`], and forecasts of what a run with it garbles and sends,
/// before a session begins.
pub mod dualex {
    pub use symbolon_protocols::dualex::forecast::{Forecast, Plans};
    pub use symbolon_protocols::dualex::options::*;
}
/// The options of [`Protocol::Duplo`], and forecasts of what a run with it garbles and sends,
/// before a session begins.
pub mod duplo {
    pub use symbolon_protocols::duplo::forecast::{
        ComponentForecast, Forecast, GameSizes, PhaseBytes, Plans,
    };
    pub use symbolon_protocols::duplo::options::*;
}
/// The version of all messages. Parties with different versions reject each other.
pub use symbolon_primitives::BitVec;
/// The store that keeps material between sessions; see [`stored`].
pub use symbolon_store as store;
pub use symbolon_transport::PROTOCOL_VERSION;
/// Escapes for what errors and results quote.
pub use symbolon_transport::escape;
/// Reading files that a user names, with limits.
pub use symbolon_transport::files;
pub use symbolon_transport::{
    AcceptedKey, AttemptCause, CancelHandle, Channel, Check, Culprit, DEALER, DEFAULT_TIMEOUT,
    Error, ErrorClass, Fault, Fingerprint, Identity, LinkSpeed, Listener, Meter, NoThread,
    PhaseReport, Progress, Refusal, Result, SessionId, Shortage, SimulatedLink, Step, Stranger,
    Subject, TransportReason, Work, check_address, check_listening, shortage,
};
mod build;

pub use build::{backend, processor, slow_build};
/// Wiping of secrets, as in [`Inputs`].
pub use zeroize;

/// Runs the examples in the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide.md")]
struct Guide;
