//! What n parties prepare before they know the inputs, or even the circuit: authenticated bits,
//! shares and AND triples.
//!
//! * [`Preprocessor`] realises F_prep (YWZ20 Fig. 1): one Δ, correlated OT on every lane, counters;
//! * [`abit`] authenticates bits towards all peers (Fig. 4); [`ashare_check`] ensures that each
//!   party uses one Δ towards everybody (Fig. 5);
//! * [`laand`] makes AND triples that may leak (Fig. 14);
//! * [`aand`] combines them in buckets into good ones (Fig. 16), with the parameters of
//!   [`bucketing`];
//! * [`open_bits`] opens shares and checks their MACs;
//! * [`dealer`] lets a third process deal all of it instead.

pub mod aand;
pub mod abit;
pub mod ashare_check;
pub mod bucketing;
pub mod checks;
pub mod dealer;
mod fprep;
pub mod laand;
pub mod messages;
pub mod open_bits;
mod peers;
#[cfg(test)]
mod reference;
pub mod script;
mod shares;
mod threads;

pub use fprep::{Broadcasts, Config, Preprocessor};
pub use peers::{PeerIndex, peers_of};
pub use shares::{AuthBits, AuthShares, PeerAuth, PeerKeys, Share, Triples};
pub use symbolon_ot::{OtExtension, TreeDepth};
