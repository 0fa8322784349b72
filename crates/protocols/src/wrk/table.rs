//! The garbled table: the hashing of rows, and its form on the wire.
//!
//! A message of n gates holds first 3n labels (rows 1, 2, 3 of each gate; row 0's is zero), then 4n
//! MACs of ρ bits (rows 0 to 3 of each gate): 3κ + 4ρ bits a gate.

use std::ops::BitXor;

use symbolon_primitives::{Block, TweakedHash, derive_block};

use crate::Rho;

/// Rows of a gate.
pub(super) const ROWS: usize = 4;

/// Of each row 2u + v of a gate its part of λ_αβ ⊕ λ_γ ⊕ v·λ_α ⊕ u·λ_β, from what there is of row
/// 0, λ_α and λ_β: bits, MACs or keys. The public constant 1 that row 3 holds is not in it.
#[inline]
pub(super) fn rows<T: Copy + BitXor<Output = T>>(row0: T, alpha: T, beta: T) -> [T; ROWS] {
    let row1 = row0 ^ alpha;
    [row0, row1, row0 ^ beta, row1 ^ beta]
}

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

    /// Hashes `group` inputs per gate, gates numbered from `first`. `labels` and `macs` hold the
    /// same inputs, which become their hashes for labels and for MACs: whoever makes the inputs
    /// writes both at once, which costs less than a copy here.
    pub fn hash(&self, first: u64, group: usize, labels: &mut [Block], macs: &mut [Block]) {
        self.labels.hash_linear(u128::from(first), group, labels);
        self.macs.hash_linear(u128::from(first), group, macs);
    }
}

/// The length of a MAC in a garbled row, in bytes.
pub(super) fn mac_bytes(rho: Rho) -> usize {
    rho.bits() as usize / 8
}

/// The ρ bits of a MAC that a row holds, in a number: its most significant ones, never its least
/// significant. A word of 64 bits is enough up to ρ = 64, and takes a processor less than half of
/// the work that 128 do.
pub(super) trait Cut: Copy + BitXor<Output = Self> {
    /// Bytes of the number.
    const BYTES: usize;

    /// The first so many bytes of a MAC.
    fn of(mac: Block, mac_bytes: usize) -> Self;

    /// Writes cut MAC number `index`, and zeros over what is behind it: there are at least
    /// [`Cut::BYTES`] behind its start.
    fn put_at(self, macs: &mut [u8], index: usize, mac_bytes: usize);

    /// Reads cut MAC number `index`; there are at least [`Cut::BYTES`] behind its start.
    fn take(macs: &[u8], index: usize, mac_bytes: usize) -> Self;

    /// The same bits among zeros.
    fn widened(self) -> Block;
}

/// Whether cut MACs fit into words of 64 bits.
pub(super) fn are_words(mac_bytes: usize) -> bool {
    mac_bytes <= u64::BYTES
}

macro_rules! cut {
    ($number:ty) => {
        impl Cut for $number {
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
            fn widened(self) -> Block {
                Block(u128::from(self))
            }
        }
    };
}

cut!(u64);
cut!(u128);

/// Bytes of the labels of so many gates.
pub(super) fn label_bytes(gates: usize) -> usize {
    16 * (ROWS - 1) * gates
}

/// Bytes of their MACs.
pub(super) fn mac_section_bytes(gates: usize, mac_bytes: usize) -> usize {
    ROWS * gates * mac_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_kept<C: Cut>(mac_bytes: usize) {
        let macs = [Block(u128::MAX / 3), Block(u128::MAX), Block(0x0123_4567_89ab_cdef << 64)];
        let mut bytes = vec![0xff; 3 * mac_bytes + 16];
        for (index, &mac) in macs.iter().enumerate() {
            C::of(mac, mac_bytes).put_at(&mut bytes, index, mac_bytes);
        }
        for (index, mac) in macs.iter().enumerate() {
            let cut = mac.0 >> (128 - 8 * mac_bytes);
            assert_eq!(bytes[index * mac_bytes..][..mac_bytes], cut.to_le_bytes()[..mac_bytes]);
            assert_eq!(C::take(&bytes, index, mac_bytes).widened(), Block(cut), "{mac_bytes}");
        }
        let written = 2 * mac_bytes + C::BYTES;
        assert!(bytes[3 * mac_bytes..written].iter().all(|&byte| byte == 0));
        assert!(bytes[written..].iter().all(|&byte| byte == 0xff));
    }

    #[test]
    fn cut_macs_are_the_most_significant_bytes_in_words_and_in_blocks() {
        for rho in [Rho::Bits40, Rho::Bits64, Rho::Bits80] {
            let mac_bytes = mac_bytes(rho);
            assert_kept::<u128>(mac_bytes);
            if are_words(mac_bytes) {
                assert_kept::<u64>(mac_bytes);
            }
        }
        assert_eq!([5, 8, 10].map(are_words), [true, true, false]);
    }
}
