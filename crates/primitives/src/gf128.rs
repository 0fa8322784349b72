//! GF(2^128), as the polynomials over GF(2) modulo X^128 + X^7 + X^2 + X + 1.
//!
//! Bit `i` of a block is the coefficient of X^i. (GCM uses the same polynomial with the bits
//! reflected; blocks are not compatible with it.) Addition is XOR. For example
//! X^127 · X = X^128 = X^7 + X^2 + X + 1 = `Block(0x87)`, and
//! X^127 · X^127 = X^254 = X^126 · (X^7 + X^2 + X + 1)
//! = X^133 + X^128 + X^127 + X^126
//! = (X^12 + X^7 + X^6 + X^5) + (X^7 + X^2 + X + 1) + X^127 + X^126
//! = X^127 + X^126 + X^12 + X^6 + X^5 + X^2 + X + 1.
//!
//! Sums of products are formed as 255-bit polynomials and reduced once at the end. The running time
//! of all functions depends only on lengths.
//!
//! Timing: blocks, tags, Δ | carry-less multiplication, or integer products in the portable
//! version; opened bits select

use std::fmt;

use zeroize::ZeroizeOnDrop;

use crate::{Backend, Block};

/// Returns the product of two elements.
#[inline]
pub fn mul(a: Block, b: Block) -> Block {
    inner_product(&[a], &[b])
}

/// Returns Σ a\[i\]·b\[i\].
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn inner_product(a: &[Block], b: &[Block]) -> Block {
    Backend::active().inner_product(a, b)
}

/// Returns Σ words\[i\]·coeffs\[i\], where each word is the low half of a block.
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn words_inner_product(words: &[u64], coeffs: &[Block]) -> Block {
    Backend::active().words_inner_product(words, coeffs)
}

/// Returns Σ X^i·blocks\[i\]: the element whose bits are shared over up to 128 blocks.
///
/// # Panics
/// If there are more than 128 blocks.
pub fn pow2_combine(blocks: &[Block]) -> Block {
    assert!(blocks.len() <= 128, "{} blocks for 128 powers of X", blocks.len());
    blocks.iter().rev().fold(Block::ZERO, |acc, &block| acc.double() ^ block)
}

/// Hashes 128 rows of blocks with the same coefficients.
///
/// Row `i` of the byte matrix is `cols[i * stride ..][.. 16 * n_blocks]`, read as `n_blocks` blocks
/// at any alignment. Sets `out[i]` to Σ coeffs\[k\]·row_i\[k\].
///
/// # Panics
/// If there are not exactly `n_blocks` coefficients, `stride` is less than a row, or `cols` ends
/// before the last row does.
pub fn column_hash(
    cols: &[u8],
    stride: usize,
    n_blocks: usize,
    coeffs: &[Block],
    out: &mut [Block; 128],
) {
    assert_eq!(coeffs.len(), n_blocks, "one coefficient for each block of a row");
    Backend::active().column_hash(cols, stride, coeffs, out);
}

/// The number of stored powers of χ: this many products share one reduction.
const POWERS: usize = 64;

/// The polynomial hash Σ x_k·χ^k, k from 1, of blocks that arrive in pieces; it does not depend on
/// the piece boundaries. Two different sequences of n blocks collide for at most n of the 2^128
/// values of χ. Trailing zero blocks do not change the hash, so the number of blocks must be known
/// otherwise.
#[derive(ZeroizeOnDrop)]
pub struct PolyHash {
    /// χ^1 … χ^POWERS.
    powers: [Block; POWERS],
    /// χ^k after k blocks.
    scale: Block,
    sum: Block,
}

impl fmt::Debug for PolyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PolyHash(..)")
    }
}

impl PolyHash {
    /// Creates the hash at the point χ.
    pub fn new(chi: Block) -> PolyHash {
        let mut powers = [chi; POWERS];
        for i in 1..POWERS {
            // χ^(i+1) is the product of two halves: a shorter dependency chain than one factor at a
            // time.
            powers[i] = mul(powers[i / 2], powers[(i - 1) / 2]);
        }
        PolyHash { powers, scale: Block::ONE, sum: Block::ZERO }
    }

    /// Adds blocks.
    pub fn update(&mut self, blocks: &[Block]) {
        for chunk in blocks.chunks(POWERS) {
            let powers = &self.powers[..chunk.len()];
            self.sum ^= mul(self.scale, inner_product(chunk, powers));
            self.scale = mul(self.scale, powers[chunk.len() - 1]);
        }
    }

    /// Returns the hash of all blocks added.
    pub fn finish(self) -> Block {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Prg;

    fn random(n: usize, seed: u128) -> Vec<Block> {
        let mut out = vec![Block::ZERO; n];
        Prg::from_seed(Block(seed)).fill_blocks(&mut out);
        out
    }

    /// Schoolbook multiplication: one doubling for each bit of `b`.
    fn naive_mul(a: Block, b: Block) -> Block {
        (0..128).rev().fold(Block::ZERO, |acc, i| acc.double() ^ a.select(b.0 >> i & 1 == 1))
    }

    fn naive_sum(a: &[Block], b: &[Block]) -> Block {
        a.iter().zip(b).fold(Block::ZERO, |acc, (&x, &y)| acc ^ naive_mul(x, y))
    }

    #[test]
    fn products_known_by_hand() {
        let x127 = Block(1 << 127);
        for backend in Backend::available() {
            let mul = |a, b| backend.inner_product(&[a], &[b]);
            assert_eq!(mul(x127, Block(2)), Block(0x87));
            assert_eq!(mul(x127, x127), Block(1 << 127 | 1 << 126 | 0x1067));
            assert_eq!(mul(x127, Block::ONE), x127);
        }
    }

    proptest! {
        #[test]
        fn field_axioms(a in any::<u128>(), b in any::<u128>(), c in any::<u128>()) {
            let (a, b, c) = (Block(a), Block(b), Block(c));
            prop_assert_eq!(mul(a, b), mul(b, a));
            prop_assert_eq!(mul(a, mul(b, c)), mul(mul(a, b), c));
            prop_assert_eq!(mul(a, b ^ c), mul(a, b) ^ mul(a, c));
            prop_assert_eq!(mul(a, Block::ONE), a);
            prop_assert_eq!(mul(a, Block(2)), a.double());
            prop_assert_eq!(mul(a, b), naive_mul(a, b));
        }

        #[test]
        fn nonzero_elements_have_inverses(a in 1u128..) {
            // a^(2^128 - 2) = Π a^(2^i), i from 1 to 127.
            let (mut square, mut inverse) = (Block(a), Block::ONE);
            for _ in 1..128 {
                square = mul(square, square);
                inverse = mul(inverse, square);
            }
            prop_assert_eq!(mul(Block(a), inverse), Block::ONE);
        }
    }

    #[test]
    fn inner_products_agree() {
        for n in (0..40).chain([63, 64, 65, 130, 257]) {
            let (a, b) = (random(n, 1), random(n, 2));
            let expected = naive_sum(&a, &b);
            for backend in Backend::available() {
                assert_eq!(backend.inner_product(&a, &b), expected, "{backend:?} {n}");
            }
            let words: Vec<u64> = a.iter().map(|block| (block.0 >> 5) as u64).collect();
            let wide: Vec<Block> = words.iter().map(|&word| Block(word.into())).collect();
            let expected = naive_sum(&wide, &b);
            for backend in Backend::available() {
                assert_eq!(backend.words_inner_product(&words, &b), expected, "{backend:?} {n}");
            }
            assert_eq!(words_inner_product(&words, &b), expected);
        }
    }

    #[test]
    fn column_hashes_agree() {
        for (n, extra) in
            [(0, 0), (1, 0), (2, 5), (3, 1), (4, 0), (7, 16), (8, 3), (21, 0), (70, 9)]
        {
            let stride = 16 * n + extra;
            let mut cols = vec![0u8; 127 * stride + 16 * n + 1];
            Prg::from_seed(Block(5)).fill(&mut cols);
            let (cols, coeffs) = (&cols[1..], random(n, 6));
            let expected: [Block; 128] = std::array::from_fn(|i| {
                let row: Vec<Block> = cols[i * stride..][..16 * n]
                    .chunks_exact(16)
                    .map(|c| Block::from_bytes(c.try_into().unwrap()))
                    .collect();
                naive_sum(&row, &coeffs)
            });
            for backend in Backend::available() {
                let mut out = [Block(1); 128];
                backend.column_hash(cols, stride, &coeffs, &mut out);
                assert_eq!(out, expected, "{backend:?} {n}+{extra}");
            }
        }
    }

    #[test]
    fn powers_of_x_combine() {
        let blocks = random(128, 8);
        let powers: Vec<Block> = (0..128).map(|i| Block(1 << i)).collect();
        for n in [0, 1, 2, 127, 128] {
            assert_eq!(pow2_combine(&blocks[..n]), naive_sum(&powers[..n], &blocks[..n]));
        }
    }

    #[test]
    fn polynomial_hash_is_the_polynomial() {
        let (blocks, chi) = (random(200, 9), Block(0x1234 << 80));
        for (n, cut) in [(0, 0), (1, 1), (5, 2), (64, 0), (65, 64), (200, 77), (200, 3)] {
            let mut power = Block::ONE;
            let expected = blocks[..n].iter().fold(Block::ZERO, |acc, &x| {
                power = naive_mul(power, chi);
                acc ^ naive_mul(x, power)
            });
            let mut hash = PolyHash::new(chi);
            hash.update(&blocks[..cut]);
            hash.update(&blocks[cut..n]);
            assert_eq!(hash.finish(), expected, "{n} {cut}");
        }
    }

    #[test]
    #[should_panic(expected = "lengths")]
    fn refuses_unequal_lengths() {
        inner_product(&[Block(1)], &[]);
    }

    #[test]
    #[should_panic(expected = "lengths")]
    fn refuses_unequal_words() {
        words_inner_product(&[1], &[]);
    }

    #[test]
    #[should_panic(expected = "matrix of")]
    fn refuses_a_short_matrix() {
        column_hash(&[0; 127 * 32 + 31], 32, 2, &[Block(1); 2], &mut [Block(0); 128]);
    }

    #[test]
    #[should_panic(expected = "stride")]
    fn refuses_overlapping_rows() {
        column_hash(&[0; 4096], 16, 2, &[Block(1); 2], &mut [Block(0); 128]);
    }
}
