//! MACs and keys of authenticated bits.
//!
//! A bit x is authenticated by M = K ⊕ x·Δ: its owner holds the MAC M, the verifier the key K and
//! Δ.

use std::ops::{BitXor, BitXorAssign};

use bytemuck::{Pod, Zeroable};
use zeroize::DefaultIsZeroes;

use crate::Block;

macro_rules! authenticator {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
        pub struct $name(pub Block);

        impl DefaultIsZeroes for $name {}

        impl $name {
            /// The MAC or key of the bit 0 under any Δ.
            pub const ZERO: $name = $name(Block::ZERO);
        }

        impl BitXor for $name {
            type Output = $name;

            #[inline]
            fn bitxor(self, other: $name) -> $name {
                $name(self.0 ^ other.0)
            }
        }

        impl BitXorAssign for $name {
            #[inline]
            fn bitxor_assign(&mut self, other: $name) {
                self.0 ^= other.0;
            }
        }
    };
}

authenticator! {
    /// M, held by the owner of the bit.
    ///
    /// `==` may stop early: compare secret ones with [`Block::ct_eq`].
    Mac
}

authenticator! {
    /// K, held by the verifier.
    ///
    /// `==` may stop early: compare secret ones with [`Block::ct_eq`].
    Key
}

impl Key {
    /// Returns the MAC that `bit` must have under this key and the verifier's Δ.
    #[inline]
    #[must_use]
    pub fn mac_of(self, bit: bool, delta: Block) -> Mac {
        Mac(self.0 ^ delta.select(bit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macs_add_up_like_their_bits() {
        let (delta, keys) = (Block(0x5a | 1 << 90), [Key(Block(3)), Key(Block(1 << 77))]);
        for bits in [[false, false], [false, true], [true, false], [true, true]] {
            let [a, b] = [0, 1].map(|i| keys[i].mac_of(bits[i], delta));
            assert_eq!(a ^ b, (keys[0] ^ keys[1]).mac_of(bits[0] ^ bits[1], delta));
        }
        assert_ne!(keys[0].mac_of(false, delta), keys[0].mac_of(true, delta));
    }
}
