//! Π_aAND (YWZ20 Fig. 16): combines leaky triples into AND triples.
//!
//! * `shifts` assigns the leaky triples of a batch to buckets, by a coin toss;
//! * [`combine`] opens d within the buckets and sums each bucket to one triple;
//! * `mac_check` checks the MACs of all opened d at once.
//!
//! [`crate::bucketing`] determines the sizes of batches and buckets.
//!
//! Timing: shares, MACs, keys, Δ | places follow from public shifts; opened bits select, as in
//! `open_bits`

pub mod combine;
pub(crate) mod mac_check;
pub(crate) mod shifts;
