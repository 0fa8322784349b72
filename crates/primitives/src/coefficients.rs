//! The coefficients of a random linear combination.

use std::fmt;

use zeroize::Zeroize;

use crate::{Aes128, Block, Challenge, prg::halves};

/// Public coefficients χ_0, χ_1, … in GF(2^128), from any place: the blocks of AES-128 in counter
/// mode, whose key and start are the two halves of a digest of a challenge.
///
/// All 256 bits of the challenge count. A cheater that controls n bits of an error can make the sum
/// vanish for (n − 1)/128 keys; with a key of 128 bits alone, one of them would occur with a
/// probability above 2^-128.
pub struct Coefficients {
    aes: Aes128,
    start: u128,
}

impl Coefficients {
    /// Creates the coefficients that belong to a digest.
    pub(crate) fn from_digest(digest: &[u8; 32]) -> Coefficients {
        let (key, start) = halves(digest);
        Coefficients { aes: Aes128::new(key), start: start.0 }
    }

    /// Overwrites `out[i]` with coefficient number `first + i`.
    pub fn fill(&self, first: usize, out: &mut [Block]) {
        self.aes.counter_blocks(self.start.wrapping_add(first as u128), out);
    }
}

impl fmt::Debug for Coefficients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Coefficients(..)")
    }
}

impl Challenge {
    /// Returns the coefficients of a random linear combination.
    pub fn into_coefficients(self) -> Coefficients {
        let mut digest = self.derive("symbolon 2026 challenge coefficients");
        let coefficients = Coefficients::from_digest(&digest);
        digest.zeroize();
        coefficients
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(seed: [u8; 32]) -> Coefficients {
        Challenge::from_seed32(seed).into_coefficients()
    }

    #[test]
    fn coefficients_are_the_same_from_any_place() {
        let chi = of([3; 32]);
        let mut all = [Block::ZERO; 100];
        chi.fill(0, &mut all);
        let mut some = [Block::ZERO; 37];
        chi.fill(50, &mut some);
        assert_eq!(some, all[50..87]);
    }

    #[test]
    fn they_are_counter_mode_from_key_and_start() {
        // The counter passes the end of 128 bits.
        let digest: [u8; 32] = std::array::from_fn(|i| if i < 16 { i as u8 } else { 0xff });
        let chi = Coefficients::from_digest(&digest);
        let aes = Aes128::new(Block::from_bytes(digest[..16].try_into().unwrap()));
        let mut blocks = [Block::ZERO; 3];
        chi.fill(0, &mut blocks);
        assert_eq!(blocks, [u128::MAX, 0, 1].map(|counter| aes.encrypt(Block(counter))));
    }

    #[test]
    fn every_bit_of_the_challenge_counts() {
        let first = |seed| {
            let mut out = [Block::ZERO];
            of(seed).fill(0, &mut out);
            out[0]
        };
        let base = first([0; 32]);
        for bit in 0..256 {
            let mut seed = [0; 32];
            seed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(first(seed), base);
        }
    }
}
