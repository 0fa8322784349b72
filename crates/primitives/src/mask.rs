//! Bits as masks that are opaque to the compiler.
//!
//! `x & -bit` has no branch in the source, but a compiler that knows the mask to be all zeros or
//! all ones may turn it into one, and does. The masks here come from a conditional move written in
//! assembly (crate `cmov`; on targets without such an instruction, from an optimisation barrier),
//! so the compiler knows nothing about them.

use cmov::Cmov;

/// Returns all ones if `bit`, else zero.
#[inline]
pub fn mask64(bit: bool) -> u64 {
    let mut mask = 0;
    mask.cmovnz(&u64::MAX, u8::from(bit));
    mask
}

/// As [`mask64`], with 128 bits.
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
