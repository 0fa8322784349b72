//! Expanded AES keys, each in the form that a backend uses.
//!
//! Unsafe: calls to functions that need processor features | this file alone makes keys of SIMD
//! form, for the backend it names, and `Backend::usable` returns no more than what detection found

use zeroize::Zeroize;

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use super::neon;
use super::{Backend, leaf_sums, portable};
#[cfg(target_arch = "x86_64")]
use super::{x86, x86_256, x86_512};
use crate::Block;

/// An expanded AES-128 key in the form that a backend uses. Only [`Backend::aes_cipher`] makes the
/// SIMD forms, and only if the processor has the instructions.
pub(crate) enum Cipher {
    /// For plain Rust; wiped by the `aes` crate.
    Portable(Box<::aes::Aes128>),
    /// The round keys, for AES-NI.
    #[cfg(target_arch = "x86_64")]
    Aesni([Block; 11]),
    /// The round keys, for VAES on registers of 256 bits.
    #[cfg(target_arch = "x86_64")]
    Vaes256([Block; 11]),
    /// The round keys, for VAES on registers of 512 bits.
    #[cfg(target_arch = "x86_64")]
    Vaes512([Block; 11]),
    /// The round keys, for AArch64.
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Neon([Block; 11]),
}

impl Backend {
    /// Expands a key for [`Cipher::encrypt`].
    pub(crate) fn aes_cipher(self, key: Block) -> Cipher {
        match self.usable() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `usable` names this backend only if the processor has its instructions.
            Backend::Aesni => Cipher::Aesni(unsafe { x86::expand(key) }),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above; VAES implies AES-NI.
            Backend::Vaes256 => Cipher::Vaes256(unsafe { x86::expand(key) }),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Backend::Vaes512 => Cipher::Vaes512(unsafe { x86::expand(key) }),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            // SAFETY: as above.
            Backend::Neon => Cipher::Neon(unsafe { neon::expand(key) }),
            _ => Cipher::Portable(Box::new(portable::expand(key))),
        }
    }

    /// Expands keys for [`LeafCiphers::sums`].
    pub(crate) fn leaf_ciphers(self, seeds: &[Block]) -> LeafCiphers {
        match self.usable() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `usable` names this backend only if the processor has its instructions.
            Backend::Aesni => LeafCiphers::Aesni(unsafe { round_keys(seeds) }),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above; VAES implies AES-NI.
            Backend::Vaes256 => LeafCiphers::Vaes256(unsafe { round_keys(seeds) }),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Backend::Vaes512 => LeafCiphers::Vaes512(unsafe { round_keys(seeds) }),
            backend => LeafCiphers::Each(seeds.iter().map(|&s| backend.aes_cipher(s)).collect()),
        }
    }
}

/// Returns the round keys of all leaves.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "aes,avx2")]
fn round_keys(seeds: &[Block]) -> Vec<[Block; 11]> {
    let mut keys = vec![[Block::ZERO; 11]; seeds.len()];
    for (keys, &seed) in keys.iter_mut().zip(seeds) {
        *keys = x86::expand(seed);
    }
    keys
}

impl Drop for Cipher {
    fn drop(&mut self) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Cipher::Aesni(keys) | Cipher::Vaes256(keys) | Cipher::Vaes512(keys) => keys.zeroize(),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Cipher::Neon(keys) => keys.zeroize(),
            Cipher::Portable(_) => {}
        }
    }
}

impl Cipher {
    /// Encrypts each block in place.
    #[inline]
    pub(crate) fn encrypt(&self, blocks: &mut [Block]) {
        match self {
            Cipher::Portable(aes) => portable::encrypt(aes, blocks),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this form exists only where the processor has the instructions.
            Cipher::Aesni(keys) => unsafe { x86::encrypt(keys, blocks) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Cipher::Vaes256(keys) => unsafe { x86_256::encrypt(keys, blocks) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Cipher::Vaes512(keys) => unsafe { x86_512::encrypt(keys, blocks) },
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            // SAFETY: as above.
            Cipher::Neon(keys) => unsafe { neon::encrypt(keys, blocks) },
        }
    }

    /// Overwrites `out[i]` with the encryption of `first + i` modulo 2^128.
    #[inline]
    pub(crate) fn counter(&self, first: u128, out: &mut [Block]) {
        match self {
            Cipher::Portable(aes) => portable::counter(aes, first, out),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this form exists only where the processor has the instructions.
            Cipher::Aesni(keys) => unsafe { x86::counter(keys, first, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Cipher::Vaes256(keys) => unsafe { x86_256::counter(keys, first, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Cipher::Vaes512(keys) => unsafe { x86_512::counter(keys, first, out) },
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            // SAFETY: as above.
            Cipher::Neon(keys) => unsafe { neon::counter(keys, first, out) },
        }
    }
}

/// The expanded keys of many leaves, in the form that a backend uses.
pub(crate) enum LeafCiphers {
    /// A separate cipher for each leaf.
    Each(Vec<Cipher>),
    /// The round keys of all leaves, for AES-NI.
    #[cfg(target_arch = "x86_64")]
    Aesni(Vec<[Block; 11]>),
    /// The same, for VAES on registers of 256 bits.
    #[cfg(target_arch = "x86_64")]
    Vaes256(Vec<[Block; 11]>),
    /// The same, for VAES on registers of 512 bits.
    #[cfg(target_arch = "x86_64")]
    Vaes512(Vec<[Block; 11]>),
}

impl Drop for LeafCiphers {
    fn drop(&mut self) {
        match self {
            // Each cipher wipes itself.
            LeafCiphers::Each(_) => {}
            #[cfg(target_arch = "x86_64")]
            LeafCiphers::Aesni(keys) | LeafCiphers::Vaes256(keys) | LeafCiphers::Vaes512(keys) => {
                keys.as_flattened_mut().zeroize();
            }
        }
    }
}

impl LeafCiphers {
    /// The kernel of [`Leaves::sums`](crate::Leaves::sums) for 2^`bits` leaves.
    pub(crate) fn sums(&self, bits: usize, first: u128, total: &mut [u8], sums: &mut [u8]) {
        match self {
            LeafCiphers::Each(ciphers) => {
                let fill = |z: usize, from, out: &mut [Block]| ciphers[z].counter(from, out);
                leaf_sums::sums_of(bits, first, total, sums, fill);
            }
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this form exists only where the processor has the instructions.
            LeafCiphers::Aesni(keys) => unsafe { x86::leaf_sums(keys, first, total, sums) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            LeafCiphers::Vaes256(keys) => unsafe { x86_256::leaf_sums(keys, first, total, sums) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            LeafCiphers::Vaes512(keys) => unsafe { x86_512::leaf_sums(keys, first, total, sums) },
        }
    }
}
