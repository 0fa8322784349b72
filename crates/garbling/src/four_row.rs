//! The kernel of the four-row scheme, in which the first row of each gate is chosen to be zero.
//!
//! Row 2u + v of a gate is for inputs of colours u and v. Its hash input is 2·L_α ⊕ 4·L_β, with
//! doubling in GF(2^128); the four rows of a gate share one tweak. With the offsets x, y, z of
//! [`half_gates`](crate::half_gates) (for β, for α, and for the output), and h_i the hash of row i,
//! the output's label is h_0 ⊕ z and the other rows are
//!
//! ```text
//! h_1 ⊕ h_0 ⊕ y,   h_2 ⊕ h_0 ⊕ x,   h_3 ⊕ h_0 ⊕ x ⊕ y ⊕ Δ.
//! ```
//!
//! In authenticated garbling each row also holds a MAC, masked by another hash of the same input
//! and truncated to ρ bits ([`TruncatedMac`]).
//!
//! Departure: row hash | H(L_α, L_β, γ, i) | AES keyed by the gate on 2·L_α ⊕ 4·L_β; other keys for
//! label and MAC | no offset between the four inputs vanishes (`docs/proofs/row-hash.md`)

use std::ops::BitXor;

use symbolon_primitives::{Block, TweakedHash};
use zeroize::ZeroizeOnDrop;

use crate::half_gates::{Gates, Offsets, RUN};

/// Rows of a gate.
pub const ROWS: usize = 4;

/// Returns the hash input of a row: 2·L_α ⊕ 4·L_β.
#[inline]
pub fn row_input(alpha: Block, beta: Block) -> Block {
    (alpha ^ beta.double()).double()
}

/// Returns the hash inputs of the four rows of a gate, from the labels of its inputs of colour 0.
#[inline]
pub fn row_inputs(alpha: Block, beta: Block, delta: Block) -> [Block; ROWS] {
    let (delta2, delta4) = (delta.double(), delta.double().double());
    let base = row_input(alpha, beta);
    [base, base ^ delta4, base ^ delta2, base ^ delta2 ^ delta4]
}

/// Returns, for each row 2u + v of a gate, its share of λ_αβ ⊕ λ_γ ⊕ v·λ_α ⊕ u·λ_β, from the shares
/// of row 0, λ_α and λ_β. A share is a bit, a MAC or a key. The public constant 1 in row 3 is not
/// included.
///
/// Paper: WRK17, Fig. 2, 4(b)–(c) | row i from rows of α, β and 0
#[inline]
pub fn rows<T: Copy + BitXor<Output = T>>(row0: T, alpha: T, beta: T) -> [T; ROWS] {
    let row1 = row0 ^ alpha;
    [row0, row1, row0 ^ beta, row1 ^ beta]
}

/// The hash of rows: one for labels, one for MACs.
#[derive(Clone, Copy, Debug)]
pub struct RowHash {
    /// The hash for labels.
    pub labels: TweakedHash,
    /// The hash for MACs.
    pub macs: TweakedHash,
}

impl RowHash {
    /// Hashes `group` inputs per gate, with gates numbered from `first`. `labels` and `macs` hold
    /// the same inputs and are replaced by the hashes for labels and for MACs. The caller fills
    /// both, which costs less than a copy here.
    #[inline]
    pub fn hash(&self, first: u64, group: usize, labels: &mut [Block], macs: &mut [Block]) {
        self.labels.hash_linear(u128::from(first), group, labels);
        self.macs.hash_linear(u128::from(first), group, macs);
    }
}

/// Buffers for a run of gates.
#[derive(ZeroizeOnDrop)]
pub struct FourRows {
    inputs: [[Block; 2]; RUN],
    /// The offsets [x, y] and z.
    offsets: [[Block; 2]; RUN],
    outputs: [Block; RUN],
    labels: [[Block; ROWS]; RUN],
    macs: [[Block; ROWS]; RUN],
}

impl Default for FourRows {
    fn default() -> Self {
        FourRows {
            inputs: [[Block::ZERO; 2]; RUN],
            offsets: [[Block::ZERO; 2]; RUN],
            outputs: [Block::ZERO; RUN],
            labels: [[Block::ZERO; ROWS]; RUN],
            macs: [[Block::ZERO; ROWS]; RUN],
        }
    }
}

impl FourRows {
    /// Garbles gates: reads the labels for 0 of their inputs from `slots`, and writes those of
    /// their outputs to `slots`. Writes rows 1 to 3 of each gate to `table`. Returns the hashes for
    /// the rows' MACs.
    ///
    /// Paper: WRK17, Fig. 2, 4(b) | the garbler's rows: labels
    ///
    /// # Panics
    /// If there are more than [`RUN`] gates, or `table` is not as long as there are gates.
    #[inline]
    pub fn garble(
        &mut self,
        (hash, delta): (&RowHash, Block),
        slots: &mut [Block],
        gates: Gates<'_>,
        offsets: &impl Offsets,
        table: &mut [[Block; ROWS - 1]],
    ) -> &[[Block; ROWS]] {
        let n = gates.ands.len();
        assert_eq!(table.len(), n, "three rows for each gate");
        let (inputs, sums, outputs) =
            (&mut self.inputs[..n], &mut self.offsets[..n], &mut self.outputs[..n]);
        for (inputs, and) in inputs.iter_mut().zip(gates.ands) {
            *inputs = [slots[and.a as usize], slots[and.b as usize]];
        }
        offsets.fill(gates.place, delta, inputs, sums, outputs);
        let (labels, macs) = (&mut self.labels[..n], &mut self.macs[..n]);
        for ((labels, macs), [alpha, beta]) in labels.iter_mut().zip(&mut *macs).zip(inputs) {
            *labels = row_inputs(*alpha, *beta, delta);
            *macs = *labels;
        }
        hash.hash(gates.number, ROWS, labels.as_flattened_mut(), macs.as_flattened_mut());
        let own = sums.iter().zip(outputs);
        for (((rows, and), [h0, h1, h2, h3]), ([beta, alpha], row0)) in
            table.iter_mut().zip(gates.ands).zip(labels).zip(own)
        {
            *rows = [*h0 ^ *h1 ^ *alpha, *h0 ^ *h2 ^ *beta, *h0 ^ *h3 ^ *alpha ^ *beta ^ delta];
            slots[and.out as usize] = *h0 ^ *row0;
        }
        macs
    }
}

/// The ρ bits of a MAC that a row holds, as a number: the most significant bits of the MAC, never
/// the least significant one. A 64-bit word is enough up to ρ = 64, and takes less than half the
/// work of 128 bits.
pub trait TruncatedMac: Copy + BitXor<Output = Self> {
    /// The size of the number in bytes.
    const BYTES: usize;

    /// Returns the most significant `mac_bytes` bytes of a MAC.
    fn of(mac: Block, mac_bytes: usize) -> Self;

    /// Writes truncated MAC number `index`, and overwrites the bytes after it with zeros: `macs`
    /// must have at least [`TruncatedMac::BYTES`] from its start on.
    fn put_at(self, macs: &mut [u8], index: usize, mac_bytes: usize);

    /// Reads truncated MAC number `index`. `macs` must have at least [`TruncatedMac::BYTES`] from
    /// its start on.
    fn take(macs: &[u8], index: usize, mac_bytes: usize) -> Self;

    /// Returns whether the numbers are equal, without a branch.
    fn is(self, other: Self) -> bool;

    /// Returns the number if `keep`, and otherwise zero, without a branch.
    #[must_use]
    fn only_if(self, keep: bool) -> Self;

    /// Returns the number as a block.
    fn widened(self) -> Block;
}

/// Whether truncated MACs fit into words of 64 bits.
pub fn are_words(mac_bytes: usize) -> bool {
    mac_bytes <= u64::BYTES
}

macro_rules! truncated_mac {
    ($number:ty) => {
        impl TruncatedMac for $number {
            const BYTES: usize = size_of::<$number>();

            #[inline]
            fn of(mac: Block, mac_bytes: usize) -> Self {
                (mac.0 >> (128 - 8 * Self::BYTES)) as $number >> (8 * (Self::BYTES - mac_bytes))
            }

            #[inline]
            fn put_at(self, macs: &mut [u8], index: usize, mac_bytes: usize) {
                macs[index * mac_bytes..][..Self::BYTES].copy_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn take(macs: &[u8], index: usize, mac_bytes: usize) -> Self {
                let bytes = macs[index * mac_bytes..].first_chunk().expect("enough bytes");
                Self::from_le_bytes(*bytes) & (Self::MAX >> (8 * (Self::BYTES - mac_bytes)))
            }

            #[inline]
            fn is(self, other: Self) -> bool {
                let difference = self ^ other;
                (difference | difference.wrapping_neg()) >> (Self::BITS - 1) == 0
            }

            #[inline]
            fn only_if(self, keep: bool) -> Self {
                self & Self::from(keep).wrapping_neg()
            }

            #[inline]
            fn widened(self) -> Block {
                Block(u128::from(self))
            }
        }
    };
}

truncated_mac!(u64);
truncated_mac!(u128);

/// Returns the bytes of the labels in rows 1 to 3 of this many gates.
pub fn label_bytes(gates: usize) -> usize {
    16 * (ROWS - 1) * gates
}

/// Returns the bytes of the MACs in all rows of this many gates.
pub fn mac_section_bytes(gates: usize, mac_bytes: usize) -> usize {
    ROWS * gates * mac_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_kept<C: TruncatedMac>(mac_bytes: usize) {
        let macs = [Block(u128::MAX / 3), Block(u128::MAX), Block(0x0123_4567_89ab_cdef << 64)];
        let mut bytes = vec![0xff; 3 * mac_bytes + 16];
        for (index, &mac) in macs.iter().enumerate() {
            C::of(mac, mac_bytes).put_at(&mut bytes, index, mac_bytes);
        }
        for (index, mac) in macs.iter().enumerate() {
            let cut = mac.0 >> (128 - 8 * mac_bytes);
            assert_eq!(bytes[index * mac_bytes..][..mac_bytes], cut.to_le_bytes()[..mac_bytes]);
            let taken = C::take(&bytes, index, mac_bytes);
            assert_eq!(taken.widened(), Block(cut), "{mac_bytes}");
            for other in macs.map(|mac| C::of(mac, mac_bytes)) {
                assert_eq!(taken.is(other), taken.widened() == other.widened(), "{mac_bytes}");
            }
            assert_eq!([true, false].map(|keep| taken.only_if(keep).widened().0), [cut, 0]);
        }
        let written = 2 * mac_bytes + C::BYTES;
        assert!(bytes[3 * mac_bytes..written].iter().all(|&byte| byte == 0));
        assert!(bytes[written..].iter().all(|&byte| byte == 0xff));
    }

    /// The lengths for ρ = 40, 64 and 80.
    #[test]
    fn truncated_macs_are_the_most_significant_bytes_in_words_and_in_blocks() {
        for mac_bytes in [5, 8, 10] {
            assert_kept::<u128>(mac_bytes);
            if are_words(mac_bytes) {
                assert_kept::<u64>(mac_bytes);
            }
        }
        assert_eq!([5, 8, 10].map(are_words), [true, true, false]);
    }
}
