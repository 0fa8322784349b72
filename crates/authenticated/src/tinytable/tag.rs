//! MACs, keys and Δ, truncated to the requested length, as elements of a field of that many bits.

use std::ops::{BitXor, BitXorAssign};

use crate::tinytable::options::MacLength;
use bytemuck::Pod;
use symbolon_primitives::{Block, carryless_products, mask128};
use zeroize::Zeroize;

/// A truncated MAC: an element of GF(2^k), in which bit i is the coefficient of X^i.
///
/// The kept bits are the highest of a block, so the only fixed bit of Δ, the lowest, is not among
/// them unless all are kept.
pub(crate) trait Tag:
    Pod + Default + PartialEq + BitXor<Output = Self> + BitXorAssign + Zeroize + Send + Sync
{
    /// The length.
    const LENGTH: MacLength;

    /// The size of a tag in bytes.
    const BYTES: usize = Self::LENGTH.bits() as usize / 8;

    /// Returns the highest bits of a block.
    fn cut(block: Block) -> Self;

    /// Returns the tag as a block whose other bits are zero.
    fn widen(self) -> Block;

    /// Returns the product with X.
    fn times_x(self) -> Self;

    /// Returns this, or zero.
    fn select(self, bit: bool) -> Self;

    /// Returns the tags as words, if they have 64 bits.
    fn as_words(_: &[Self]) -> Option<&[u64]> {
        None
    }

    /// The number of tags that hold an unreduced product.
    const PARTS: usize = 1;

    /// Computes the products of tags with a factor, in [`PARTS`](Tag::PARTS) parts: the first part
    /// of all, then the next part of all.
    fn products(tags: &[Self], factor: u64, out: &mut [Self]) {
        tags.iter().zip(out).for_each(|(tag, out)| *out = tag.times(factor));
    }

    /// Reduces this many sums of products, given in parts, to the first part.
    fn reduce(_: &mut [Self]) {}

    /// Returns the product with Σ bit_i(factor)·X^i. The factor is public: an entry of a table, or
    /// a number.
    ///
    /// Timing: tags | **branches** on a table entry or a constant, which are public
    fn times(self, factor: u64) -> Self {
        let mut product = Self::default();
        for i in (0..u64::BITS - factor.leading_zeros()).rev() {
            product = product.times_x();
            if factor >> i & 1 == 1 {
                product ^= self;
            }
        }
        product
    }
}

/// Implements [`Tag`] for an unsigned integer; `$low` is X^k after reduction.
macro_rules! tag {
    ($int:ty, $length:expr, $low:expr $(, $own:item)*) => {
        impl Tag for $int {
            const LENGTH: MacLength = $length;

            #[inline]
            fn cut(block: Block) -> Self {
                (block.0 >> (128 - <$int>::BITS)) as $int
            }

            #[inline]
            fn widen(self) -> Block {
                Block(self.into())
            }

            #[inline]
            fn times_x(self) -> Self {
                self << 1 ^ (0 as $int).wrapping_sub(self >> (<$int>::BITS - 1)) & $low
            }

            #[inline]
            fn select(self, bit: bool) -> Self {
                self & mask128(bit) as $int
            }

            $($own)*
        }
    };
}

// X^32 + X^7 + X^3 + X^2 + 1, X^64 + X^4 + X^3 + X + 1, X^128 + X^7 + X^2 + X + 1: all irreducible.
tag!(u32, MacLength::Bits32, 0x8d);
tag!(
    u64,
    MacLength::Bits64,
    0x1b,
    fn as_words(tags: &[u64]) -> Option<&[u64]> {
        Some(tags)
    },
    const PARTS: usize = 2;,
    fn products(tags: &[u64], factor: u64, out: &mut [u64]) {
        carryless_products(tags, factor, out);
    },
    fn reduce(sums: &mut [u64]) {
        let (low, high) = sums.split_at_mut(sums.len() / 2);
        for (low, high) in low.iter_mut().zip(high) {
            // This reduces twice: the first step overflows by up to four bits.
            let over = *high ^ *high >> 60 ^ *high >> 61 ^ *high >> 63;
            *low ^= over ^ over << 1 ^ over << 3 ^ over << 4;
        }
    }
);
tag!(u128, MacLength::Bits128, 0x87);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use symbolon_primitives::gf128;

    use super::*;

    /// Computes X^(2^i) by squaring, with a multiplication that is independent of `times`.
    fn x_to_2_to(i: u32, bits: u32, low: u128) -> u128 {
        let mut power = 2;
        for _ in 0..i {
            let mut square = 0;
            for k in (0..bits).rev() {
                let carry = square >> (bits - 1) & 1;
                square = (square << 1 & (u128::MAX >> (128 - bits))) ^ (carry * low);
                square ^= (power >> k & 1) * power;
            }
            power = square;
        }
        power
    }

    /// Checks that X^(2^k) = X and that X^(2^(k/2)) − X is coprime to the modulus (Rabin, for k a
    /// power of two).
    #[test]
    fn the_moduli_are_irreducible() {
        for (bits, low) in [(32, 0x8d), (64, 0x1b), (128, 0x87)] {
            assert_eq!(x_to_2_to(bits, bits, low), 2);
            let half = x_to_2_to(bits / 2, bits, low) ^ 2;
            assert_eq!(gcd_degree(half, bits, low), 0, "{bits} bits");
        }
    }

    /// Returns the degree of gcd(a, X^bits + low).
    fn gcd_degree(a: u128, bits: u32, low: u128) -> u32 {
        let degree = |p: u128| 127 - p.leading_zeros();
        // The first remainder is computed separately, because the modulus of 128 bits does not fit.
        let (mut rest, mut shifted) = (low, a);
        assert_ne!(a, 0);
        // X^bits mod a: multiply a up to degree `bits`, and drop that term.
        let mut power = 1u128;
        for _ in 0..bits {
            power = if degree(power) + 1 == degree(a) { power << 1 ^ a } else { power << 1 };
        }
        rest = remainder(rest, a) ^ power;
        while rest != 0 {
            (shifted, rest) = (rest, remainder(shifted, rest));
        }
        degree(shifted)
    }

    fn remainder(mut a: u128, b: u128) -> u128 {
        while a != 0 && a.leading_zeros() <= b.leading_zeros() {
            a ^= b << (b.leading_zeros() - a.leading_zeros());
        }
        a
    }

    fn relations<T: Tag + std::fmt::Debug>(a: Block, delta: Block, x: u64, y: u64) {
        let (tag, delta) = (T::cut(a), T::cut(delta));
        let mut products = vec![T::default(); 2 * T::PARTS];
        T::products(&[tag, delta], x, &mut products);
        T::reduce(&mut products);
        assert_eq!(products[..2], [tag.times(x), delta.times(x)]);
        assert!(tag.times(x) ^ tag.times(y) == tag.times(x ^ y));
        assert!(delta.times(x) ^ tag.times(x) == (delta ^ tag).times(x));
        assert!(
            tag.times(2) == tag.times_x()
                && tag.times(1) == tag
                && tag.times(4) == tag.times(2).times(2)
        );
    }

    proptest! {
        #[test]
        fn tags_are_a_vector_space_over_polynomials(
            a in any::<u128>(), delta in any::<u128>(), x in any::<u64>(), y in any::<u64>(),
        ) {
            relations::<u32>(Block(a), Block(delta), x, y);
            relations::<u64>(Block(a), Block(delta), x, y);
            relations::<u128>(Block(a), Block(delta), x, y);
            prop_assert_eq!(Block(a.times(x)), gf128::mul(Block(a), Block(x.into())));
            prop_assert_eq!(u64::cut(Block(a)).widen(), Block(a >> 64));
        }
    }
}
