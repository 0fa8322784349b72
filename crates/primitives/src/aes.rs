//! AES-128 with a fixed key.
//!
//! Timing: keys, blocks, tweaks | AES instructions, or the bit-sliced crate `aes`; so in `Prg`,
//! `TweakedHash` and `Leaves`

use std::fmt;

use crate::backend::Cipher;
use crate::{Backend, Block};

/// AES-128 under one key, forward direction only. The key is wiped on drop.
pub struct Aes128 {
    cipher: Cipher,
}

impl fmt::Debug for Aes128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aes128(..)")
    }
}

impl Aes128 {
    /// Expands a key, which is the bytes of the block.
    pub fn new(key: Block) -> Aes128 {
        Aes128::with_backend(Backend::active(), key)
    }

    /// As [`Aes128::new`], with a backend of the caller's choice.
    pub fn with_backend(backend: Backend, key: Block) -> Aes128 {
        Aes128 { cipher: backend.aes_cipher(key) }
    }

    /// Encrypts one block.
    #[inline]
    pub fn encrypt(&self, block: Block) -> Block {
        let mut blocks = [block];
        self.cipher.encrypt(&mut blocks);
        blocks[0]
    }

    /// Encrypts each block in place.
    #[inline]
    pub fn encrypt_blocks(&self, blocks: &mut [Block]) {
        self.cipher.encrypt(blocks);
    }

    /// Overwrites `out[i]` with the encryption of the 128-bit number `first + i`.
    #[inline]
    pub fn counter_blocks(&self, first: u128, out: &mut [Block]) {
        self.cipher.counter(first, out);
    }
}

#[cfg(test)]
mod tests {
    use ::aes::cipher::{BlockCipherEncrypt, KeyInit};

    use super::*;

    fn sequence(n: usize) -> [u8; 16] {
        std::array::from_fn(|i| (i * n) as u8)
    }

    #[test]
    fn fips_197_appendix_c() {
        let expected = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128.to_be_bytes();
        for backend in Backend::available() {
            let aes = Aes128::with_backend(backend, Block::from_bytes(sequence(1)));
            let plain = Block::from_bytes(sequence(0x11));
            assert_eq!(aes.encrypt(plain).to_bytes(), expected, "{backend:?}");
        }
    }

    #[test]
    fn fips_197_appendix_b() {
        let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
        let plain = 0x3243_f6a8_885a_308d_3131_98a2_e037_0734_u128.to_be_bytes();
        let expected = 0x3925_841d_02dc_09fb_dc11_8597_196a_0b32_u128.to_be_bytes();
        for backend in Backend::available() {
            let aes = Aes128::with_backend(backend, Block::from_bytes(key));
            assert_eq!(aes.encrypt(Block::from_bytes(plain)).to_bytes(), expected, "{backend:?}");
        }
    }

    #[test]
    fn every_backend_and_length_agrees_with_the_aes_crate() {
        let key = Block(0x0123_4567_89ab_cdef << 40);
        let reference = ::aes::Aes128::new(&key.to_bytes().into());
        // The first counter makes first the low and then the high half overflow within the run.
        for first in [5, u128::from(u64::MAX) - 20, u128::MAX - 20] {
            let expected: Vec<Block> = (0..150)
                .map(|i| {
                    let mut block = first.wrapping_add(i).to_le_bytes().into();
                    reference.encrypt_block(&mut block);
                    Block::from_bytes(block.into())
                })
                .collect();
            for backend in Backend::available() {
                let aes = Aes128::with_backend(backend, key);
                for n in (0..80).chain([127, 128, 129, 150]) {
                    let mut counted = vec![Block::ZERO; n];
                    aes.counter_blocks(first, &mut counted);
                    assert_eq!(counted, expected[..n], "{backend:?} counter {n}");
                    let mut blocks: Vec<Block> =
                        (0..n as u128).map(|i| Block(first.wrapping_add(i))).collect();
                    aes.encrypt_blocks(&mut blocks);
                    assert_eq!(blocks, expected[..n], "{backend:?} encrypt {n}");
                }
            }
        }
    }
}
