//! Boolean circuits: what is computed.
//!
//! The bottom of the house: nothing here knows of parties' secrets, networks or cryptography.

mod error;
mod ir;
pub mod plan;
pub mod reference;
#[cfg(test)]
mod testing;
mod types;
mod validate;

pub use error::CircuitError;
pub use ir::{Call, Circuit, Component, Input, Output, PartyId, Receivers, Step, Wire, WireRange};
pub use plan::{And, Batch, Cursor, Linear, Plan};
pub use types::Type;
