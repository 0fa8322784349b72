//! The number w of bits in U, S and T: this module keeps the w least significant of the paper's 128
//! bits.
//!
//! U, S and T are used only for the check of step 5 and the bit d. So Φ, H, U, S and T can all be
//! taken modulo 2^w, which is linear over GF(2) and keeps the bit d: the protocol is the paper's,
//! with a hash of w bits. Global keys, MACs and hash inputs keep their 128 bits.
//!
//! `docs/proofs/leaky-ands.md` shows that a wrong triple then passes with probability 2^-(w−2).
//!
//! So w − 2 must be at least ρ. [`ULength`] is the least such w of whole bytes: 48 bits at ρ = 40,
//! 72 at ρ = 64, 88 at ρ = 80. With buckets of three, 48 bits save 60 bytes per AND gate between
//! two parties. In memory, words of U and S have 64 or 128 bits ([`Width`]); U is packed for the
//! wire.
//!
//! Departure: leaky ANDs: Φ, U, S, T | κ bits | their w lowest bits, w = ρ + 2 in whole bytes |
//! only a linear check and the bit d use them (`docs/proofs/leaky-ands.md#messages-of-w-bits`)

use bytemuck::Pod;
use symbolon_primitives::{BitVec, Block, gf128, lsbs, truncate_u64, xor_masked, xor_words_masked};

/// The least significant bits of a block, as a separate type.
pub(super) trait Word: Pod + Sync {
    /// Returns the low bits of `block`.
    fn low(block: Block) -> Self;

    /// Returns the block with these low bits and zeros above.
    fn widen(self) -> Block;

    /// Returns only the `bits` least significant bits.
    fn last(self, bits: u32) -> Self;

    /// Writes the low bits of many blocks.
    fn lower(blocks: &[Block], out: &mut [Self]);

    /// Appends the last bit of each value.
    fn push_lsbs(values: &[Self], to: &mut BitVec);

    /// Returns Σ values\[i\]·coeffs\[i\] in GF(2^128).
    fn inner_product(values: &[Self], coeffs: &[Block]) -> Block;

    /// XORs to `sums` those values whose bit, in `bits` from index `first` on, is 1, without a
    /// branch.
    fn xor_masked(sums: &mut [Self], bits: &BitVec, first: usize, values: &[Self]);
}

impl Word for u64 {
    #[inline]
    fn low(block: Block) -> Self {
        block.0 as u64
    }

    #[inline]
    fn widen(self) -> Block {
        Block(self.into())
    }

    #[inline]
    fn last(self, bits: u32) -> Self {
        self & (u64::MAX >> (u64::BITS - bits))
    }

    fn lower(blocks: &[Block], out: &mut [u64]) {
        truncate_u64(blocks, out);
    }

    fn push_lsbs(values: &[u64], to: &mut BitVec) {
        for values in values.chunks(64) {
            let mut bits = [0];
            lsbs(values, &mut bits);
            to.push_word(bits[0], values.len());
        }
    }

    fn inner_product(values: &[Self], coeffs: &[Block]) -> Block {
        gf128::words_inner_product(values, coeffs)
    }

    fn xor_masked(sums: &mut [Self], bits: &BitVec, first: usize, values: &[Self]) {
        xor_words_masked(sums, bits, first, values);
    }
}

impl Word for Block {
    #[inline]
    fn low(block: Block) -> Self {
        block
    }

    #[inline]
    fn widen(self) -> Block {
        self
    }

    #[inline]
    fn last(self, bits: u32) -> Self {
        Block(self.0 & (u128::MAX >> (u128::BITS - bits)))
    }

    fn lower(blocks: &[Block], out: &mut [Block]) {
        out.copy_from_slice(blocks);
    }

    fn push_lsbs(values: &[Block], to: &mut BitVec) {
        for values in values.chunks(64) {
            let bits = values.iter().rev().fold(0, |bits, s| bits << 1 | u64::from(s.lsb()));
            to.push_word(bits, values.len());
        }
    }

    fn inner_product(values: &[Self], coeffs: &[Block]) -> Block {
        gf128::inner_product(values, coeffs)
    }

    fn xor_masked(sums: &mut [Self], bits: &BitVec, first: usize, values: &[Self]) {
        xor_masked(sums, bits, first, values);
    }
}

/// The length w of U, S and T in bits, a multiple of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ULength {
    bits: u32,
}

impl ULength {
    /// Returns the smallest length with which a wrong triple passes with probability at most
    /// 2^-`rho`.
    pub fn for_rho(rho: u32) -> ULength {
        ULength { bits: (rho + 2).next_multiple_of(8).min(u128::BITS) }
    }

    /// Returns w / 8, the number of bytes in a triple's U.
    pub fn bytes(self) -> usize {
        self.bits as usize / 8
    }

    /// Returns the words that hold values of this length.
    pub fn width(self) -> Width {
        if self.bits <= u64::BITS { Width::Half } else { Width::Whole }
    }

    /// Returns the block with only its w least significant bits.
    pub(super) fn last(self, block: Block) -> Block {
        block.last(self.bits)
    }

    /// Leaves only the w least significant bits of each word.
    pub(super) fn truncate<W: Word>(self, words: &mut [W]) {
        if self.bytes() < size_of::<W>() {
            words.iter_mut().for_each(|word| *word = word.last(self.bits));
        }
    }

    /// Moves the w least significant bits of each word to the front of the memory, and returns
    /// these bytes.
    pub(super) fn pack<W: Word>(self, words: &mut [W]) -> &[u8] {
        let (size, packed, n) = (size_of::<W>(), self.bytes(), words.len());
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
        if packed < size {
            // A word is copied whole. What is too long is overwritten by the next one, and reaches
            // no word that is still to be read.
            for k in 0..n {
                let word: W = bytemuck::pod_read_unaligned(&bytes[size * k..][..size]);
                bytes[packed * k..][..size].copy_from_slice(bytemuck::bytes_of(&word));
            }
        }
        &bytes[..packed * n]
    }

    /// Returns the memory for packed values, which [`unpack`](Self::unpack) then makes words of.
    pub(super) fn packed<W: Word>(self, words: &mut [W]) -> &mut [u8] {
        let n = words.len();
        &mut bytemuck::cast_slice_mut(words)[..self.bytes() * n]
    }

    /// Makes words of the bytes at the front of the memory.
    pub(super) fn unpack<W: Word>(self, words: &mut [W]) {
        let (size, packed, n) = (size_of::<W>(), self.bytes(), words.len());
        if packed < size {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
            for k in (0..n).rev() {
                let word: W = bytemuck::pod_read_unaligned(&bytes[packed * k..][..size]);
                let word = word.last(self.bits);
                bytes[size * k..][..size].copy_from_slice(bytemuck::bytes_of(&word));
            }
        }
    }
}

/// The number of bits in a word of U or S in memory, and of those MACs of which only a part is
/// kept. The blind test's field has as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 64 bits.
    Half,
    /// 128 bits.
    Whole,
}

impl Width {
    /// Returns the number of bytes in a word.
    pub fn bytes(self) -> usize {
        match self {
            Width::Half => size_of::<u64>(),
            Width::Whole => size_of::<Block>(),
        }
    }

    /// Returns how many 64-bit words hold a word for each of this many triples.
    pub(super) fn words(self, triples: usize) -> usize {
        triples * self.bytes() / size_of::<u64>()
    }

    /// Returns the block with only the bits that a word has.
    pub(crate) fn low(self, block: Block) -> Block {
        match self {
            Width::Half => u64::low(block).widen(),
            Width::Whole => block,
        }
    }

    /// Returns Σ low(blocks\[i\])·coeffs\[i\]. `words` is memory for the low bits, as many words as
    /// blocks.
    pub(crate) fn inner_product(
        self,
        blocks: &[Block],
        coeffs: &[Block],
        words: &mut [u64],
    ) -> Block {
        match self {
            Width::Half => {
                let words = &mut words[..blocks.len()];
                truncate_u64(blocks, words);
                gf128::words_inner_product(words, coeffs)
            }
            Width::Whole => gf128::inner_product(blocks, coeffs),
        }
    }

    /// Returns how many blocks hold a word for each of this many triples.
    pub(super) fn blocks(self, triples: usize) -> usize {
        (triples * self.bytes()).div_ceil(size_of::<Block>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use symbolon_primitives::Prg;

    #[test]
    fn a_guess_succeeds_no_more_often_than_rho_allows() {
        for rho in 1..=126 {
            let length = ULength::for_rho(rho);
            // One of the bits is known, and one is lost in the sum.
            let unknown = 8 * length.bytes() as u32 - 2;
            assert!((rho..rho + 8).contains(&unknown), "{rho}: {length:?}");
            assert_eq!(length.width() == Width::Half, rho <= 62, "{rho}: {length:?}");
        }
        assert_eq!([40, 64, 80].map(|rho| ULength::for_rho(rho).bytes()), [6, 9, 11]);
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        fn check<W: Word + PartialEq>(rho: u32, prg: &mut Prg) {
            let length = ULength::for_rho(rho);
            for n in [0, 1, 2, 3, 100] {
                let words: Vec<W> = (0..n).map(|_| W::low(prg.block())).collect();
                let mut kept = words.clone();
                length.truncate(&mut kept);
                let blocks = words.iter().map(|word| length.last(word.widen()));
                assert!(kept.iter().map(|word| word.widen()).eq(blocks), "{rho}");

                let mut sent = words.clone();
                let sent = length.pack(&mut sent);
                let bytes = kept.iter().map(|word| word.widen().to_bytes());
                let bytes: Vec<u8> =
                    bytes.flat_map(|bytes| bytes.into_iter().take(length.bytes())).collect();
                assert_eq!(sent, bytes);

                let mut received = vec![W::low(Block(u128::MAX)); n];
                length.packed(&mut received).copy_from_slice(sent);
                length.unpack(&mut received);
                assert!(received == kept, "{rho}, {n}");
            }
        }
        let mut prg = Prg::from_seed(Block(14));
        for rho in [1, 7, 40, 46, 47, 62] {
            check::<u64>(rho, &mut prg);
        }
        for rho in [63, 64, 80, 110, 126] {
            check::<Block>(rho, &mut prg);
        }
    }

    #[test]
    fn the_least_significant_bits_are_kept() {
        let block = Block(0x0123_4567_89ab_cdef_fedc_ba98_7654_3211);
        assert_eq!(u64::low(block).widen(), Block(0xfedc_ba98_7654_3211));
        assert!(u64::low(block).widen().lsb(), "d is the least significant bit");
        assert_eq!(Block::low(block).widen(), block);
    }

    #[test]
    fn many_are_lowered_and_their_last_bits_kept() {
        let mut prg = Prg::from_seed(Block(13));
        for n in [0, 1, 63, 64, 65, 130] {
            let blocks: Vec<Block> = (0..n).map(|_| prg.block()).collect();
            fn check<W: Word + PartialEq + Default>(blocks: &[Block]) {
                let mut low = vec![W::low(Block::ONE); blocks.len()];
                W::lower(blocks, &mut low);
                assert!(low.iter().zip(blocks).all(|(low, &block)| *low == W::low(block)));
                let mut bits = BitVec::from_bools(&[true; 64]);
                W::push_lsbs(&low, &mut bits);
                assert_eq!(bits.len(), 64 + blocks.len());
                assert!((0..blocks.len()).all(|k| bits.get(64 + k) == blocks[k].lsb()));
            }
            check::<u64>(&blocks);
            check::<Block>(&blocks);
        }
    }

    #[test]
    fn sums_of_products_are_those_of_the_least_significant_bits() {
        let mut prg = Prg::from_seed(Block(12));
        let mut random = |n| (0..n).map(|_| prg.block()).collect::<Vec<_>>();
        for n in [0, 1, 7, 8, 9, 100] {
            let [blocks, coeffs] = [random(n), random(n)];
            for width in [Width::Half, Width::Whole] {
                let low: Vec<Block> = blocks.iter().map(|&block| width.low(block)).collect();
                let expected = gf128::inner_product(&low, &coeffs);
                let mut words = vec![0; n + 3];
                assert_eq!(width.inner_product(&blocks, &coeffs, &mut words), expected);
            }
            let words: Vec<u64> = blocks.iter().map(|&block| u64::low(block)).collect();
            let low: Vec<Block> = words.iter().map(|word| word.widen()).collect();
            let expected = gf128::inner_product(&low, &coeffs);
            assert_eq!(<u64 as Word>::inner_product(&words, &coeffs), expected);
        }
    }

    #[test]
    fn values_are_added_where_bits_are() {
        let mut prg = Prg::from_seed(Block(11));
        for n in [0, 1, 63, 64, 65, 200] {
            for first in [0, 64, 128] {
                let bits = BitVec::random(first + n, &mut prg);
                let mut random = || (0..n).map(|_| prg.block()).collect::<Vec<_>>();
                let [sums, values] = [random(), random()];
                let expected = (0..n).map(|k| sums[k] ^ values[k].select(bits.get(first + k)));
                let expected: Vec<Block> = expected.collect();
                check::<Block>(&sums, &values, &bits, first, &expected);
                check::<u64>(&sums, &values, &bits, first, &expected);
            }
        }
    }

    fn check<W: Word>(
        sums: &[Block],
        values: &[Block],
        bits: &BitVec,
        first: usize,
        expected: &[Block],
    ) {
        let low = |blocks: &[Block]| blocks.iter().map(|&block| W::low(block)).collect::<Vec<W>>();
        let mut sums = low(sums);
        W::xor_masked(&mut sums, bits, first, &low(values));
        let wide = |words: Vec<W>| words.into_iter().map(W::widen).collect::<Vec<_>>();
        assert!(wide(sums) == wide(low(expected)));
    }
}
