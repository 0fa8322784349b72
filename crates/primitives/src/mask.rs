//! Bits as masks that the compiler cannot look through.
//!
//! `x & -bit` has no branch in the source, but a compiler that knows the mask to be all zeros or
//! all ones may make one of it, and does. The masks here come out of a conditional move that is
//! written in assembly (crate `cmov`; where that knows no such instruction, out of an optimisation
//! barrier), so that nothing is known of them.

use cmov::Cmov;

/// All ones if `bit`, else zero.
#[inline]
pub fn mask64(bit: bool) -> u64 {
    let mut mask = 0;
    mask.cmovnz(&u64::MAX, u8::from(bit));
    mask
}

/// As [`mask64`], of 128 bits.
#[inline]
pub fn mask128(bit: bool) -> u128 {
    let half = u128::from(mask64(bit));
    half << 64 | half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_all_ones_or_all_zeros() {
        assert_eq!((mask64(false), mask64(true)), (0, u64::MAX));
        assert_eq!((mask128(false), mask128(true)), (0, u128::MAX));
    }
}
