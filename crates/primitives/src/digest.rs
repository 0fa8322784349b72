//! Digests of blocks, and blocks derived from a session id.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::ZeroizeOnDrop;

use crate::Block;

const DIGEST: &str = "symbolon 2026 block digest";
const DERIVE: &str = "symbolon 2026 derived block";

/// 16 KiB of blocks: sixteen of the hash's chunks, which are hashed in parallel.
const SIDE_BY_SIDE: usize = 1024;

/// A 256-bit digest of blocks that arrive in pieces. It does not depend on the piece boundaries.
#[derive(ZeroizeOnDrop)]
pub struct BlockHasher {
    /// Boxed, because a move would also copy the unused part, which holds stale bytes of the stack.
    hasher: Box<blake3::Hasher>,
    /// The last blocks, until there are [`SIDE_BY_SIDE`]: hashing the chunks one by one takes four
    /// times as long.
    waiting: Vec<Block>,
}

impl fmt::Debug for BlockHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BlockHasher(..)")
    }
}

impl BlockHasher {
    /// Creates a hasher whose digests are separate from those of other domains.
    ///
    /// The domain enters the key and does not precede the blocks, so the hash's chunks contain only
    /// blocks.
    pub fn new(domain: &str) -> BlockHasher {
        let key = start(DIGEST, domain).finalize();
        let hasher = Box::new(blake3::Hasher::new_keyed(key.as_bytes()));
        BlockHasher { hasher, waiting: Vec::new() }
    }

    /// Adds blocks.
    pub fn update(&mut self, mut blocks: &[Block]) {
        if !self.waiting.is_empty() {
            let missing = (SIDE_BY_SIDE - self.waiting.len()).min(blocks.len());
            self.waiting.extend_from_slice(&blocks[..missing]);
            blocks = &blocks[missing..];
            if self.waiting.len() < SIDE_BY_SIDE {
                return;
            }
            self.hasher.update(Block::as_bytes(&self.waiting));
            self.waiting.clear();
        }
        let (whole, rest) = blocks.split_at(blocks.len() - blocks.len() % SIDE_BY_SIDE);
        self.hasher.update(Block::as_bytes(whole));
        if !rest.is_empty() {
            // The full capacity is reserved at once, because growing would leave unwiped copies.
            self.waiting.reserve_exact(SIDE_BY_SIDE);
            self.waiting.extend_from_slice(rest);
        }
    }

    /// Returns the digest of the blocks added so far. Blocks that are added later may be hashed
    /// chunk by chunk, which is slower.
    pub fn so_far(&mut self) -> [u8; 32] {
        self.hasher.update(Block::as_bytes(&self.waiting));
        self.waiting.clear();
        *self.hasher.finalize().as_bytes()
    }

    /// Returns the digest of all blocks added.
    pub fn finish(mut self) -> [u8; 32] {
        self.so_far()
    }
}

/// Returns the 256-bit digest of some blocks: [`BlockHasher`] in one step.
pub fn hash_blocks(domain: &str, blocks: &[Block]) -> [u8; 32] {
    let mut hasher = BlockHasher::new(domain);
    hasher.hasher.update(Block::as_bytes(blocks));
    hasher.finish()
}

/// Derives a pseudorandom block that everyone in the session can compute, such as the start of a
/// [`TweakedHash`](crate::TweakedHash).
pub fn derive_block(domain: &str, session: &[u8; 32], index: u64) -> Block {
    let mut hasher = start(DERIVE, domain);
    hasher.update(session);
    hasher.update(&index.to_le_bytes());
    let mut bytes = [0u8; 16];
    hasher.finalize_xof().fill(&mut bytes);
    Block::from_bytes(bytes)
}

/// Compares digests in constant time: one of them may be the expected value of a peer's digest, and
/// nobody may learn how much of the peer's is right.
#[inline]
pub fn same_digest(a: &[u8; 32], b: &[u8; 32]) -> bool {
    a.ct_eq(b).into()
}

fn start(context: &str, domain: &str) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    hasher.update(&(domain.len() as u64).to_le_bytes());
    hasher.update(domain.as_bytes());
    hasher
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_matter_but_blocks_and_domains_do() {
        let blocks: Vec<Block> = (0..100).map(Block).collect();
        let whole = hash_blocks("mac", &blocks);
        let mut hasher = BlockHasher::new("mac");
        hasher.update(&blocks[..3]);
        hasher.update(&[]);
        hasher.update(&blocks[3..]);
        assert_eq!(hasher.finish(), whole);
        assert_ne!(hash_blocks("mad", &blocks), whole);
        assert_ne!(hash_blocks("mac", &blocks[..99]), whole);
        assert_ne!(hash_blocks("mac", &[]), hash_blocks("mac", &[Block::ZERO]));
    }

    #[test]
    fn pieces_of_every_size_around_what_waits() {
        let blocks: Vec<Block> = (0..4 * SIDE_BY_SIDE as u128 + 77).map(Block).collect();
        let at_once = |blocks: &[Block]| {
            let key = start(DIGEST, "mac").finalize();
            *blake3::keyed_hash(key.as_bytes(), Block::as_bytes(blocks)).as_bytes()
        };
        for first in [0, 1, SIDE_BY_SIDE - 1, SIDE_BY_SIDE, SIDE_BY_SIDE + 1] {
            for size in [1, 500, SIDE_BY_SIDE - 1, SIDE_BY_SIDE, SIDE_BY_SIDE + 1, 2500, 9999] {
                for between in [false, true] {
                    let mut hasher = BlockHasher::new("mac");
                    hasher.update(&blocks[..first]);
                    if between {
                        assert_eq!(hasher.so_far(), at_once(&blocks[..first]), "{first}");
                    }
                    blocks[first..].chunks(size).for_each(|piece| hasher.update(piece));
                    assert_eq!(hasher.finish(), at_once(&blocks), "{first}, then {size}");
                }
            }
        }
        assert_eq!(hash_blocks("mac", &blocks), at_once(&blocks));
    }

    #[test]
    fn comparison_sees_every_byte() {
        for i in 0..32 {
            let mut other = [7; 32];
            assert!(same_digest(&[7; 32], &other));
            other[i] ^= 0x80;
            assert!(!same_digest(&[7; 32], &other));
        }
    }

    #[test]
    fn derived_blocks_differ_in_each_argument() {
        let base = derive_block("d", &[0; 32], 0);
        assert_eq!(derive_block("d", &[0; 32], 0), base);
        assert_ne!(derive_block("e", &[0; 32], 0), base);
        assert_ne!(derive_block("d", &[1; 32], 0), base);
        assert_ne!(derive_block("d", &[0; 32], 1), base);
    }
}
