//! Channels between parties: memory, TCP, TLS 1.3, metering, simulated links, handshake.
//!
//! A [`Channel`] is one blocking, ordered, duplex lane to one peer. Everything a peer sends is checked
//! against what both sides know beforehand, and every [`Error`] says whose fault it is.

#[cfg(any(test, feature = "bend"))]
pub mod bend;
mod channel;
mod dial;
mod endpoint;
mod error;
mod keys;
mod link;
mod listen;
mod memory;
mod meter;
mod outlet;
mod pipe;
mod preamble;
mod raw;
mod tcp;
mod text;
mod tls;
mod wire;

pub use channel::{Channel, DEFAULT_TIMEOUT, MIN_RATE};
pub use dial::connect_lanes;
pub use endpoint::{Link, Options, Peer};
pub use error::{Error, Result, TransportReason};
pub use keys::{Fingerprint, Identity};
pub use link::SimulatedLink;
pub use listen::Listener;
pub use memory::{memory_lanes, memory_pair};
pub use meter::{FIRST_PHASE, Meter, PhaseReport};
pub use wire::tag;

#[cfg(test)]
mod network_tests;
#[cfg(test)]
mod tests;
