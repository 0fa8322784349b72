//! Channels between parties: memory, TCP, TLS 1.3, metering, simulated links, handshake.
//!
//! A [`Channel`] is one blocking, ordered, duplex lane to one peer. Everything a peer sends is checked
//! against what both sides know beforehand, and every [`Error`] says whose fault it is.

#[cfg(any(test, feature = "bend"))]
pub mod bend;
mod channel;
mod error;
mod link;
mod memory;
mod meter;
mod outlet;
mod pipe;
mod raw;
mod text;
mod wire;

pub use channel::{Channel, DEFAULT_TIMEOUT, MIN_RATE};
pub use error::{Error, Result, TransportReason};
pub use link::{Link, SimulatedLink};
pub use memory::{memory_lanes, memory_pair};
pub use meter::{FIRST_PHASE, Meter, PhaseReport};
pub use wire::tag;

#[cfg(test)]
mod tests;
