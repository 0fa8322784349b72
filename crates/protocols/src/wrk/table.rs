//! The garbled table: the hashing of rows, and its form on the wire.
//!
//! A message of n gates holds first 3n labels (rows 1, 2, 3 of each gate; row 0's is zero), then 4n MACs of ρ bits (rows
//! 0 to 3 of each gate): 3κ + 4ρ bits a gate.

use symbolon_preprocessing::Share;
use symbolon_primitives::{Block, TweakedHash, derive_block};

use crate::{Rho, masks::Chunk};

/// The shares of row 2u + v of gate `k`: the masked output for masked inputs u and v.
///
/// `one` is the own share of the public constant 1, which row 3 holds.
#[inline]
pub(super) fn rows(chunk: &Chunk, k: usize, one: Share) -> [Share; ROWS] {
    let (alpha, beta) = (chunk.alpha.pair(k), chunk.beta.pair(k));
    let row0 = chunk.row0.pair(k);
    let row1 = row0 ^ alpha;
    [row0, row1, row0 ^ beta, row1 ^ beta ^ one]
}

/// Rows of a gate.
pub(super) const ROWS: usize = 4;

/// The hash of rows: one for labels, one for MACs.
pub(super) struct RowHash {
    labels: TweakedHash,
    macs: TweakedHash,
}

impl RowHash {
    /// Both keys' starts come from the session id.
    pub fn new(session: &[u8; 32]) -> Self {
        let hash =
            |which| TweakedHash::new(derive_block("symbolon wrk garbling 1", session, which));
        RowHash { labels: hash(0), macs: hash(1) }
    }

    /// Hashes `group` inputs per gate, gates numbered from `first`: labels' hashes into `labels`, MACs'
    /// into `macs`.
    pub fn hash(&self, first: u64, group: usize, labels: &mut [Block], macs: &mut [Block]) {
        macs.copy_from_slice(labels);
        self.labels.hash_linear(u128::from(first), group, labels);
        self.macs.hash_linear(u128::from(first), group, macs);
    }
}

/// The length of a MAC in a garbled row, in bytes.
pub(super) fn mac_bytes(rho: Rho) -> usize {
    rho.bits() as usize / 8
}

/// The ρ bits of a MAC that a row holds: its most significant ones, never its least significant.
#[inline]
pub(super) fn cut(mac: Block, mac_bytes: usize) -> u128 {
    mac.0 >> (128 - 8 * mac_bytes)
}

/// Writes cut MAC number `index`, and zeros over what is behind it: there are at least 16 bytes behind its start.
#[inline]
pub(super) fn put_at(macs: &mut [u8], index: usize, mac: u128, mac_bytes: usize) {
    let start = index * mac_bytes;
    macs[start..start + 16].copy_from_slice(&mac.to_le_bytes());
}

/// Reads cut MAC number `index`; there are at least 16 bytes behind its start.
#[inline]
pub(super) fn take(macs: &[u8], index: usize, mac_bytes: usize) -> u128 {
    let start = index * mac_bytes;
    let bytes: [u8; 16] = macs[start..start + 16].try_into().expect("16 bytes");
    u128::from_le_bytes(bytes) & (u128::MAX >> (128 - 8 * mac_bytes))
}

/// Bytes of the labels of so many gates.
pub(super) fn label_bytes(gates: usize) -> usize {
    16 * (ROWS - 1) * gates
}

/// Bytes of their MACs.
pub(super) fn mac_section_bytes(gates: usize, mac_bytes: usize) -> usize {
    ROWS * gates * mac_bytes
}
