//! Channels between parties: memory, TCP, TLS 1.3, metering, simulated links, handshake.
//!
//! A [`Channel`] is one blocking, ordered, duplex lane to one peer. Everything that a peer sends is
//! checked against what both sides know beforehand, and every [`Error`] says whose fault it is.
//!
//! Between machines, use TLS: each party has an [`Identity`], knows the others by their
//! [`Fingerprint`], and one of the two listens.
//!
//! ```
//! use symbolon_transport::*;
//!
//! # fn main() -> Result<()> {
//! let (alice, bob) = (Identity::generate()?, Identity::generate()?);
//! let (alices, bobs) = (alice.fingerprint(), bob.fingerprint());
//!
//! let listener = Listener::bind("127.0.0.1:0")?;
//! let address = listener.local_addr().to_string();
//! let other = std::thread::spawn(move || {
//!     let options = Options::tls(1, &bob, Meter::new())?;
//!     let mut lanes = connect_lanes(&options, &address, &Peer::pinned(0, alices), 1)?;
//!     handshake(&mut lanes[0], &Hello::new([0, 1]).term("circuit", "c0ffee"))?;
//!     lanes[0].send("greeting", b"hello")?;
//!     lanes.remove(0).close()
//! });
//!
//! let options = Options::tls(0, &alice, Meter::new())?;
//! let mut lanes = listener.accept_lanes(&options, &Peer::pinned(1, bobs), 1)?;
//! handshake(&mut lanes[0], &Hello::new([0, 1]).term("circuit", "c0ffee"))?;
//! assert_eq!(lanes[0].recv("greeting", 5)?, b"hello");
//! # other.join().unwrap()
//! # }
//! ```
//!
//! [`memory_pair`] connects two parties in one process, [`Options::insecure_plain_tcp`] omits all
//! protection, and a [`SimulatedLink`] slows any of them down to the speed of a network. The
//! feature `adversary` adds what tests need to play a cheating peer; a normal build contains none
//! of it.

mod address;
#[cfg(any(test, feature = "adversary"))]
pub mod adversary;
mod cancel;
mod channel;
mod check;
pub mod checks;
mod descriptors;
mod dial;
mod endpoint;
mod error;
mod fault;
pub mod files;
mod handshake;
mod incoming;
mod keys;
mod link;
mod listen;
mod measure;
mod memory;
mod message;
pub mod messages;
mod meter;
mod newcomer;
mod outlet;
mod pipe;
mod preamble;
mod progress;
mod raw;
mod reason;
pub mod script;
mod stranger;
mod tampering;
mod tcp;
mod text;
pub mod threads;
mod tls;
mod wire;

pub use address::{check_address, check_listening};
pub use cancel::{CANCEL_POLL, CancelHandle};
pub use channel::{Channel, DEFAULT_TIMEOUT, Hangup, LONGEST_TIMEOUT};
pub use check::{Check, Culprit, DEALER};
pub use descriptors::descriptor_limit;
pub use dial::connect_lanes;
pub use endpoint::{Options, Peer};
pub use error::{Error, Result};
pub use fault::Fault;
pub use handshake::{
    AUTO, Agreed, Handshake, Hello, MAX_HELLO, PROTOCOL_VERSION, SessionId, handshake,
    handshake_open,
};
pub use incoming::{AdmissionPolicy, Client, Incoming, TurnedAway};
pub use keys::{AcceptedKey, Fingerprint, Identity};
pub use link::SimulatedLink;
pub use listen::{Listener, OPENING_DESCRIPTORS};
pub use measure::{LinkSpeed, measure};
pub use memory::{memory_lanes, memory_pair};
pub use message::{Kind, Message};
pub use meter::{FIRST_PHASE, Meter, PhaseReport};
pub use newcomer::displaced_by_newcomer;
pub use pipe::MIN_RATE;
pub use progress::{Observer, Progress, Step, Stranger, Work};
pub use reason::{AttemptCause, LastAttempt, Refusal, SESSION_KIND, Subject, TransportReason};
pub use symbolon_common::{Classified, ErrorClass, NoThread, PartyId, Shortage, escape, shortage};
pub use tampering::Tampering;
pub use wire::tag;

#[cfg(test)]
mod last_word_tests;
#[cfg(test)]
mod network_tests;
/// The decoders of a peer's bytes, for fuzzing. Not part of the public interface.
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::handshake::{Received, decode as decode_hello};
    pub use crate::preamble::{NotAPreamble, PREAMBLE, Preamble, Verdict};
    pub use crate::wire::Header;

    /// Returns whether these bytes are a usable key file.
    pub fn decode_key_file(bytes: &[u8]) -> bool {
        crate::Identity::from_pem(bytes).is_ok()
    }
}

#[cfg(test)]
mod tests;
