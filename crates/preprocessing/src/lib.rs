//! What n parties prepare before they know inputs, or even the circuit: authenticated bits,
//! shares and AND triples.
//!
//! * [`Preprocessor`] is the open session: Δ, correlated OT on every lane, counters;
//! * [`bits`] authenticates bits towards all peers (Yang–Wang–Zhang 2020, Fig. 4), [`global_keys`]
//!   makes sure that everybody uses one Δ (Fig. 5);
//! * [`leaky`] makes triples that may leak (Fig. 14);
//! * [`combine`] throws them into buckets and makes good ones (Fig. 16), with the parameters of
//!   [`bucketing`] and the check of [`authentic`];
//! * [`open_bits`] opens shares and checks their MACs;
//! * [`dealer`] has a third process deal all of it instead.

pub mod authentic;
pub mod bits;
pub mod bucketing;
pub mod combine;
pub mod dealer;
pub mod global_keys;
pub mod leaky;
pub mod open_bits;
#[cfg(test)]
mod reference;
mod session;
mod shares;
mod threads;
mod throw;

pub use session::{Config, Preprocessor};
pub use shares::{AuthBits, Share, Shares, Towards, Triples};
pub use symbolon_ot::{BlockBits, Generator};
