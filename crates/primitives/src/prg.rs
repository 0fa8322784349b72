//! The generator: AES-128 in counter mode.
//!
//! The stream of seed `s` from start c is E_s(c) ‖ E_s(c + 1) ‖ …, with counters modulo 2^128 as
//! little-endian numbers. Every call takes whole 16-byte blocks from it; the rest of a partially
//! used last block is discarded. So calls for multiples of 16 bytes yield the same bytes however
//! they are split.
//!
//! # Starts
//! Peers see blocks of these streams: labels, openings, messages of OT extension. If all streams
//! began at 0, one computation of E_s(0) would test a guess of s against every stream that anybody
//! ever saw, and 2^128/N computations would find one of N seeds. So streams that a peer may see
//! have their own starts: either a secret one together with the seed ([`Prg::from_os`],
//! [`Prg::child`], [`Prg::from_digest`]), or a public one that no other session has
//! ([`Prg::starting_at`]).

use std::fmt;

use zeroize::Zeroize;

use crate::{Aes128, Backend, BitVec, Block, Seed, watch};

/// A pseudorandom generator. Its key is on the heap, so moves do not copy it, and is wiped on drop.
pub struct Prg {
    aes: Box<Aes128>,
    counter: u128,
}

impl fmt::Debug for Prg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prg(..)")
    }
}

impl Prg {
    /// Creates the generator with this secret seed, starting at 0.
    pub fn from_seed(seed: Block) -> Prg {
        Prg::starting_at(seed, Block::ZERO)
    }

    /// Creates the generator with this secret seed and this start.
    pub fn starting_at(seed: Block, start: Block) -> Prg {
        watch::tell("seed", &seed.to_bytes());
        Prg { counter: start.0, ..Prg::with_backend(Backend::active(), seed) }
    }

    /// Creates the generator with a seed and a start from a digest, both secret.
    pub fn from_digest(digest: &[u8; 32]) -> Prg {
        let (seed, start) = halves(digest);
        Prg::starting_at(seed, start)
    }

    /// Creates the generator with this public seed, starting at 0.
    pub fn from_public_seed(seed: Block) -> Prg {
        Prg::with_backend(Backend::active(), seed)
    }

    /// Creates the generator with a public seed and a public start: a challenge.
    pub fn from_public_digest(digest: &[u8; 32]) -> Prg {
        let (seed, start) = halves(digest);
        Prg { counter: start.0, ..Prg::from_public_seed(seed) }
    }

    /// Creates the generator with this seed, starting at 0, with this backend.
    pub fn with_backend(backend: Backend, seed: Block) -> Prg {
        Prg { aes: Box::new(Aes128::with_backend(backend, seed)), counter: 0 }
    }

    /// Creates a generator seeded by the operating system.
    ///
    /// # Errors
    /// If the operating system provides no randomness.
    pub fn from_os() -> Result<Prg, getrandom::Error> {
        let mut digest = [0u8; 32];
        getrandom::fill(&mut digest)?;
        let prg = Prg::from_digest(&digest);
        digest.zeroize();
        Ok(prg)
    }

    /// Fills a slice of blocks.
    pub fn fill_blocks(&mut self, out: &mut [Block]) {
        self.aes.counter_blocks(self.counter, out);
        self.counter = self.counter.wrapping_add(out.len() as u128);
    }

    /// Fills a slice of bytes; the rest of a partially used last block is discarded.
    pub fn fill(&mut self, out: &mut [u8]) {
        let whole = out.len() / 16 * 16;
        let (body, tail) = out.split_at_mut(whole);
        match bytemuck::try_cast_slice_mut::<u8, Block>(body) {
            Ok(blocks) => self.fill_blocks(blocks),
            Err(_) => self.fill_unaligned(body),
        }
        if !tail.is_empty() {
            tail.copy_from_slice(&self.block().to_bytes()[..tail.len()]);
        }
    }

    /// Fills whole blocks at an address that is unaligned for blocks, through a buffer.
    fn fill_unaligned(&mut self, body: &mut [u8]) {
        let mut buffer = [Block::ZERO; 64];
        for chunk in body.chunks_mut(16 * buffer.len()) {
            let blocks = &mut buffer[..chunk.len() / 16];
            self.fill_blocks(blocks);
            chunk.copy_from_slice(Block::as_bytes(blocks));
        }
        buffer.zeroize();
    }

    /// Skips this many blocks.
    pub fn skip(&mut self, blocks: u128) {
        self.counter = self.counter.wrapping_add(blocks);
    }

    /// Returns the next block.
    #[inline]
    pub fn block(&mut self) -> Block {
        let mut out = [Block::ZERO];
        self.fill_blocks(&mut out);
        out[0]
    }

    /// Returns a seed for another generator; takes one block.
    pub fn seed(&mut self) -> Seed {
        let mut seed = Seed::default();
        self.fill_blocks(std::slice::from_mut(&mut *seed));
        seed
    }

    /// Returns a generator with a seed and a start from this one; takes two blocks.
    pub fn child(&mut self) -> Prg {
        let mut digest = [0u8; 32];
        self.fill(&mut digest);
        let prg = Prg::from_digest(&digest);
        digest.zeroize();
        prg
    }

    /// Returns a uniform 64-bit number; takes one block.
    #[inline]
    pub fn u64(&mut self) -> u64 {
        self.block().0 as u64
    }

    /// Returns a uniform bit; takes one block.
    #[inline]
    pub fn bool(&mut self) -> bool {
        self.block().lsb()
    }

    /// Returns a uniform number below `n`, without bias. Its running time may depend on the number
    /// drawn.
    ///
    /// Timing: none | **depends** on the draw, as do `permutation` and `shuffle`: they are for
    /// challenges that all know, and for tests
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        below(n, || self.u64())
    }

    /// Returns a uniform permutation of `0 .. n` (Fisher–Yates, without bias), for public
    /// challenges: time and memory accesses depend on it.
    ///
    /// # Panics
    /// If `n` exceeds 2^32.
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut out: Vec<u32> = Vec::with_capacity(n);
        out.extend((0..n).map(|i| u32::try_from(i).expect("a permutation of at most 2^32")));
        self.shuffle(&mut out);
        out
    }

    /// Shuffles a slice uniformly (Fisher–Yates, without bias), for public challenges: time and
    /// memory accesses depend on the permutation. Randomness is taken 128 numbers at a time, so a
    /// shuffle takes a multiple of 64 blocks.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        let mut buffer = [Block::ZERO; 64];
        let mut used = 2 * buffer.len();
        for i in (1..items.len()).rev() {
            let j = below(i as u64 + 1, || {
                if used == 2 * buffer.len() {
                    self.fill_blocks(&mut buffer);
                    used = 0;
                }
                let block = buffer[used / 2].0;
                used += 1;
                if used % 2 == 1 { block as u64 } else { (block >> 64) as u64 }
            });
            items.swap(i, j as usize);
        }
    }
}

/// Returns the two blocks of a digest.
pub(crate) fn halves(digest: &[u8; 32]) -> (Block, Block) {
    let (seed, start) = digest.split_at(16);
    let block = |half: &[u8]| Block::from_bytes(half.try_into().expect("half of 32 bytes"));
    (block(seed), block(start))
}

impl BitVec {
    /// Draws `n` bits from a generator; takes whole 16-byte blocks from its stream.
    pub fn random(n: usize, prg: &mut Prg) -> BitVec {
        let mut out = BitVec::zeros(n);
        prg.fill(bytemuck::cast_slice_mut(out.words_mut()));
        out.mask_tail();
        out
    }
}

/// Returns the high word of `draw · n`. A draw is rejected if its low word is among the first `2^64
/// mod n`: what remains is a whole number of draws for each result.
fn below(n: u64, mut draw: impl FnMut() -> u64) -> u64 {
    assert!(n > 0, "no number is below 0");
    let mut wide = u128::from(draw()) * u128::from(n);
    if (wide as u64) < n {
        let reject = n.wrapping_neg() % n;
        while (wide as u64) < reject {
            wide = u128::from(draw()) * u128::from(n);
        }
    }
    (wide >> 64) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_stream_is_aes_in_counter_mode() {
        let mut prg = Prg::from_seed(Block(99));
        let aes = Aes128::new(Block(99));
        assert_eq!(prg.block(), aes.encrypt(Block(0)));
        assert_eq!(prg.block(), aes.encrypt(Block(1)));
        assert_eq!(prg.u64(), aes.encrypt(Block(2)).0 as u64);
        assert_eq!(prg.bool(), aes.encrypt(Block(3)).lsb());
    }

    /// Streams have their own starts, and continue past the end of the counters.
    #[test]
    fn the_stream_begins_at_its_start() {
        let aes = Aes128::new(Block(99));
        let mut prg = Prg::starting_at(Block(99), Block(u128::MAX - 1));
        let mut stream = [Block::ZERO; 40];
        prg.fill_blocks(&mut stream);
        for (i, block) in stream.iter().enumerate() {
            assert_eq!(*block, aes.encrypt(Block((u128::MAX - 1).wrapping_add(i as u128))));
        }
        let digest: [u8; 32] = std::array::from_fn(|i| i as u8);
        let [seed, start] = [&digest[..16], &digest[16..]].map(|half| half.try_into().unwrap());
        let expected = Prg::starting_at(Block::from_bytes(seed), Block::from_bytes(start)).block();
        assert_eq!(Prg::from_digest(&digest).block(), expected);
        assert_eq!(Prg::from_public_digest(&digest).block(), expected);
        let (mut parent, mut child) = (Prg::from_seed(Block(3)), [0; 32]);
        Prg::from_seed(Block(3)).fill(&mut child);
        assert_eq!(parent.child().block(), Prg::from_digest(&child).block());
    }

    proptest! {
        #[test]
        fn splits_do_not_matter(
            cuts in prop::collection::vec(0usize..150, 1..6),
            offset in 0usize..16,
            tail in 0usize..16,
        ) {
            let total: usize = cuts.iter().sum::<usize>() * 16 + tail;
            let mut whole = vec![0u8; total];
            Prg::from_seed(Block(3)).fill(&mut whole);
            let mut split = vec![0u8; offset + total];
            let mut prg = Prg::from_seed(Block(3));
            let mut at = offset;
            for cut in cuts {
                prg.fill(&mut split[at..at + 16 * cut]);
                at += 16 * cut;
            }
            prg.fill(&mut split[at..]);
            prop_assert_eq!(&split[offset..], &whole[..]);
        }

        #[test]
        fn numbers_are_below(n in 1u64.., seed in any::<u128>()) {
            prop_assert!(Prg::from_seed(Block(seed)).below(n) < n);
        }
    }

    #[test]
    fn partial_blocks_are_discarded() {
        let (mut a, mut b) = (Prg::from_seed(Block(1)), Prg::from_seed(Block(1)));
        a.fill(&mut [0; 17]);
        b.fill(&mut [0; 32]);
        assert_eq!(a.block(), b.block());
    }

    #[test]
    fn rejection_leaves_a_whole_number_of_draws_for_each_result() {
        // n = 2^63 + 1: 2^64 mod n = 2^63 - 1 low words are rejected, so just over half remain.
        let n = (1u64 << 63) + 1;
        let reject = n.wrapping_neg() % n;
        assert_eq!(reject, (1 << 63) - 1);
        // The draw 1 has low word n >= reject and high word 0; the draw 2 has low word 2 < reject.
        assert_eq!(below(n, || 1), 0);
        let mut draws = [2, 1].into_iter();
        assert_eq!(below(n, || draws.next().unwrap()), 0);
        assert!(draws.next().is_none());
    }

    #[test]
    fn small_numbers_are_uniform() {
        let mut prg = Prg::from_seed(Block(17));
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[prg.below(6) as usize] += 1;
        }
        // The standard deviation is 91; this allows five of them on either side.
        assert!(counts.iter().all(|c| c.abs_diff(10_000) < 460), "{counts:?}");
    }

    #[test]
    fn permutations_are_permutations_and_uniform() {
        let mut sorted = Prg::from_seed(Block(5)).permutation(1000);
        assert_ne!(sorted, (0..1000).collect::<Vec<u32>>());
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1000).collect::<Vec<u32>>());
        assert!(Prg::from_seed(Block(5)).permutation(0).is_empty());
        let mut prg = Prg::from_seed(Block(6));
        let mut counts = std::collections::HashMap::new();
        for _ in 0..12_000 {
            *counts.entry(prg.permutation(3)).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        // The standard deviation is 41.
        assert!(counts.values().all(|c| c.abs_diff(2_000) < 205), "{counts:?}");
    }

    #[test]
    fn the_operating_system_seeds_differently_each_time() {
        assert_ne!(Prg::from_os().unwrap().block(), Prg::from_os().unwrap().block());
    }
}
