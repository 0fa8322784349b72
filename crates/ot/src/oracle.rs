//! Many short hashes under one context.

use blake3::Hasher;
use zeroize::ZeroizeOnDrop;

/// BLAKE3 in key-derivation mode, with one context. Creating a hasher costs more than hashing a few
/// dozen bytes, and wiping it costs as much again, so one hasher serves many hashes. Wiped on drop.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Oracle(Hasher);

impl Oracle {
    pub fn new(context: &str) -> Self {
        Oracle(Hasher::new_derive_key(context))
    }

    /// Returns the digest of `parts`, one after another.
    pub fn digest(&mut self, parts: &[&[u8]]) -> [u8; 32] {
        *self.absorb(parts).finalize().as_bytes()
    }

    /// Fills `out` with the digest of `parts`, one after another, extended to any length.
    pub fn fill(&mut self, parts: &[&[u8]], out: &mut [u8]) {
        self.absorb(parts).finalize_xof().fill(out);
    }

    fn absorb(&mut self, parts: &[&[u8]]) -> &Hasher {
        self.0.reset();
        for part in parts {
            self.0.update(part);
        }
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hash_is_by_itself() {
        let mut oracle = Oracle::new("a test");
        let once = |parts: &[&[u8]]| blake3::derive_key("a test", &parts.concat());
        for parts in [&[b"one".as_slice(), &[7; 90]], &[b"two".as_slice(), b""], &[&[], b"one"]] {
            assert_eq!(oracle.digest(parts), once(parts));
            let mut long = [0; 64];
            oracle.fill(parts, &mut long);
            assert_eq!(long[..32], once(parts));
        }
        assert_ne!(oracle.digest(&[b"one"]), Oracle::new("another").digest(&[b"one"]));
    }
}
