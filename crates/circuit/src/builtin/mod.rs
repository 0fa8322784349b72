//! The circuits that come with Symbolon, built by name: `aes128`, `sort:4096x32`.
//!
//! Every value is an unsigned integer or an array of them, wire 0 the least significant bit; byte
//! strings of standards are read as big-endian integers, so that a value's hexadecimal form is the
//! string's. The elements of arrays are in ascending order of wires, as [`Type`](crate::Type) says.
//! Inputs belong to parties 0 and 1 and outputs go to all (except in `auction`), unless
//! [`Circuit::with_owners`] and [`Circuit::with_receivers`] say otherwise.

mod aes;
mod arith;
mod auction;
mod byte_order;
mod entries;
mod hamming;
mod keccak;
mod matmul;
mod name;
mod random;
pub(crate) mod sbox;
mod sha1;
mod sha2;
mod sort;
#[cfg(test)]
pub(crate) mod testing;

pub use name::Entry;
pub(crate) use name::distance;

use crate::{Circuit, CircuitError};

/// All built-in circuits, for listing.
pub fn catalogue() -> &'static [Entry] {
    entries::ENTRIES
}

/// Builds the circuit of this name, parameters included: `aes128`, `mult:2048`, `sort:4096x32`,
/// `random:2^20/2^10`.
///
/// The parameters are bounded so that every circuit can be built in seconds and a few gigabytes.
///
/// # Errors
/// [`CircuitError::Unknown`] when there is no such circuit, or its parameters are missing,
/// malformed or out of range; the message says what is accepted.
pub fn by_name(name: &str) -> Result<Circuit, CircuitError> {
    name::build(entries::ENTRIES, name)
}
