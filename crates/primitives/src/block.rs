//! The 128-bit block: a label, a MAC, a key, or an element of GF(2^128).

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitXor, BitXorAssign};

use bytemuck::{Pod, Zeroable};
use subtle::ConstantTimeEq;
use zeroize::DefaultIsZeroes;

use crate::mask::mask128;

/// 128 bits; bit `i` of the block is bit `i` of the `u128`, and its bytes are little-endian.
///
/// `==` on blocks may stop early: compare secrets with [`Block::ct_eq`].
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash, Pod, Zeroable)]
pub struct Block(pub u128);

impl DefaultIsZeroes for Block {}

impl fmt::Debug for Block {
    /// Prints no bits: a block may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Block(..)")
    }
}

impl Block {
    /// All bits zero.
    pub const ZERO: Block = Block(0);
    /// Bit 0 set: the one of GF(2^128).
    pub const ONE: Block = Block(1);

    /// Returns the block with these little-endian bytes.
    #[inline]
    pub const fn from_bytes(bytes: [u8; 16]) -> Block {
        Block(u128::from_le_bytes(bytes))
    }

    /// Returns the block's little-endian bytes.
    #[inline]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// Returns bit 0.
    #[inline]
    pub const fn lsb(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns the block with bit 0 replaced.
    #[inline]
    #[must_use]
    pub const fn with_lsb(self, bit: bool) -> Block {
        Block((self.0 & !1) | bit as u128)
    }

    /// Returns the block if `bit`, else zero; without a branch, see [`mask`](crate::mask).
    #[inline]
    #[must_use]
    pub fn select(self, bit: bool) -> Block {
        Block(self.0 & mask128(bit))
    }

    /// Returns the product with X modulo X^128 + X^7 + X^2 + X + 1, over GF(2); without a branch.
    #[inline]
    #[must_use]
    pub const fn double(self) -> Block {
        Block((self.0 << 1) ^ ((self.0 >> 127).wrapping_neg() & 0x87))
    }

    /// Compares two blocks in constant time.
    ///
    /// Timing: both sides | `subtle` reads all bits, here and in `same_digest`, `commit::verify`
    /// and `Delta::ct_eq`; `==` is for public values only
    #[inline]
    pub fn ct_eq(&self, other: &Block) -> bool {
        ConstantTimeEq::ct_eq(&self.0, &other.0).into()
    }

    /// Returns the bytes of a slice of blocks, 16 per block, without copying.
    #[inline]
    pub fn as_bytes(blocks: &[Block]) -> &[u8] {
        bytemuck::cast_slice(blocks)
    }

    /// Returns the bytes of a slice of blocks, 16 per block, without copying and for writing.
    #[inline]
    pub fn as_bytes_mut(blocks: &mut [Block]) -> &mut [u8] {
        bytemuck::cast_slice_mut(blocks)
    }
}

impl BitXor for Block {
    type Output = Block;
    #[inline]
    fn bitxor(self, rhs: Block) -> Block {
        Block(self.0 ^ rhs.0)
    }
}

impl BitXorAssign for Block {
    #[inline]
    fn bitxor_assign(&mut self, rhs: Block) {
        self.0 ^= rhs.0;
    }
}

impl BitAnd for Block {
    type Output = Block;
    #[inline]
    fn bitand(self, rhs: Block) -> Block {
        Block(self.0 & rhs.0)
    }
}

impl BitAndAssign for Block {
    #[inline]
    fn bitand_assign(&mut self, rhs: Block) {
        self.0 &= rhs.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_order_is_little_endian() {
        let mut bytes = [0u8; 16];
        bytes[0] = 1;
        bytes[15] = 0x80;
        let block = Block::from_bytes(bytes);
        assert_eq!(block.0, 1 | 1 << 127);
        assert!(block.lsb());
        assert_eq!(block.to_bytes(), bytes);
        assert_eq!(Block::as_bytes(&[block, Block::ONE])[..16], bytes);
        assert_eq!(Block::as_bytes(&[block, Block::ONE])[16], 1);
        let mut blocks = [Block::ZERO];
        Block::as_bytes_mut(&mut blocks)[15] = 0x80;
        assert_eq!(blocks[0].0, 1 << 127);
    }

    #[test]
    fn select_and_lsb() {
        let block = Block(0x1234_5678 << 90);
        assert_eq!(block.select(true), block);
        assert_eq!(block.select(false), Block::ZERO);
        assert_eq!(block.with_lsb(true), block ^ Block::ONE);
        assert_eq!(block.with_lsb(true).with_lsb(false), block);
        assert_eq!(block & Block(u128::MAX), block);
    }

    #[test]
    fn doubling_wraps_by_the_polynomial() {
        assert_eq!(Block::ONE.double(), Block(2));
        assert_eq!(Block(1 << 127).double(), Block(0x87));
        assert_eq!(Block(1 << 127 | 1).double(), Block(0x85));
    }

    #[test]
    fn comparison_sees_every_bit() {
        for i in 0..128 {
            assert!(!Block(1 << i).ct_eq(&Block::ZERO));
            assert!(Block(1 << i).ct_eq(&Block(1 << i)));
        }
    }

    #[test]
    fn debug_hides_the_bits() {
        assert_eq!(format!("{:?}", Block(0xabcdef)), "Block(..)");
    }
}
