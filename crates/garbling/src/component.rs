//! Digests of garbled components, for cut-and-choose.
//!
//! The garbler sends the digest of each copy first. The other party garbles an opened copy again
//! from its seed, keeps nothing of the table, and compares the digest. A copy that is not opened is
//! sent whole and must match its digest, too, so it is the copy that might have been opened.
//!
//! # What the digest covers
//! The digest covers every block of the table in order. In the [adaptive](crate::adaptive) form it
//! also covers the ending, with the colours that decode the outputs. **A digest that covers an
//! unmasked short decoding would reveal it**: anyone with the table could try every decoding.
//!
//! The digest covers neither Δ nor the labels of inputs and outputs: a protocol commits to those by
//! other means, and compares the keys of an opened copy with them. The digest does not hide a table
//! that can be guessed, such as that of a circuit without gates. Two parties compute the same
//! digest only for the same plan: agree on the circuit first.

use symbolon_primitives::{BitVec, Block, BlockHasher};

use crate::instance::Labels;

/// Computes the digest of a garbled component piece by piece.
pub struct ComponentDigest(BlockHasher);

impl Default for ComponentDigest {
    fn default() -> Self {
        ComponentDigest(BlockHasher::new("symbolon garbled component 1"))
    }
}

impl ComponentDigest {
    /// Adds the next gates of the table.
    pub fn update(&mut self, gates: &[[Block; 2]]) {
        self.0.update(gates.as_flattened());
    }

    /// Returns the digest of what was added so far.
    pub fn so_far(&mut self) -> [u8; 32] {
        self.0.so_far()
    }

    /// Returns the digest of a table alone.
    pub fn finish(self) -> [u8; 32] {
        self.0.finish()
    }

    pub(crate) fn update_blocks(&mut self, blocks: &[Block]) {
        self.0.update(blocks);
    }
}

/// Packs bits into blocks: the first bit is the lowest, and zeros follow the last.
pub(crate) fn blocks_of(bits: &BitVec) -> Labels {
    let pair = |words: &[u64]| {
        let high = words.get(1).copied().unwrap_or_default();
        Block(u128::from(high) << 64 | u128::from(words[0]))
    };
    Labels::new(bits.words().chunks(2).map(pair).collect())
}
