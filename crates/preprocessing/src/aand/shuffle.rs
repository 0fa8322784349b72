//! Assigns leaky triples to buckets: a uniform permutation from a public challenge, computed on
//! several threads.
//!
//! The Fisher–Yates shuffle is one long chain of steps all over its list. Here every item first
//! goes to one of [`PARTS`] parts, independently and uniformly. Then each part is shuffled on its
//! own, and the parts are concatenated (Rao 1961, Sandelius 1962). For p parts of sizes s_1 … s_p,
//! each permutation arises from exactly one way to spread n items. Summed over all sizes it has
//! probability Σ p^-n / (s_1!·…·s_p!), which is the same for all permutations.
//!
//! The result depends only on the challenge, not on the number of threads.

use std::slice;

use symbolon_primitives::{Block, Prg};
use symbolon_transport::Result;

use crate::{bucketing::Batch, threads};

/// Such a part of a batch's million triples fits the caches.
const PARTS: usize = 16;

/// Returns the triples of bucket 0, of bucket 1, and so on, as a seed assigns them. Number 0 is the
/// first triple that is not an anchor.
///
/// Paper: YWZ20, Fig. 16, 1 | a random permutation, buckets
pub(crate) fn shuffled(batch: Batch, seed: Block, threads: usize) -> Result<Vec<u32>> {
    permutation(batch.leaky() - batch.anchors(), seed, threads)
}

/// Returns a uniform permutation of `0 .. n`.
fn permutation(n: usize, seed: Block, threads: usize) -> Result<Vec<u32>> {
    let mut seeds = [Block::ZERO; PARTS];
    Prg::from_public_seed(seed).fill_blocks(&mut seeds);
    // One byte per item selects its part. Each thread uses whole blocks of the generator.
    let mut goes_to = vec![0; n];
    let size = n.div_ceil(threads).next_multiple_of(16).max(16);
    let pieces = goes_to.chunks_mut(size).zip((0..).step_by(size));
    let counts = threads::each(pieces, |(goes_to, first)| {
        let mut prg = Prg::from_public_seed(seed);
        prg.skip((PARTS + first / 16) as u128);
        prg.fill(goes_to);
        count(goes_to)
    })?;

    let mut order = vec![0; n];
    let mut places: Vec<Vec<_>> = counts.iter().map(|_| Vec::with_capacity(PARTS)).collect();
    let mut rest = &mut order[..];
    let mut sizes = Vec::with_capacity(PARTS);
    for part in 0..PARTS {
        sizes.push(counts.iter().map(|counts| counts[part]).sum::<usize>());
        for (places, counts) in places.iter_mut().zip(&counts) {
            let (here, behind) = rest.split_at_mut(counts[part]);
            places.push(here.iter_mut());
            rest = behind;
        }
    }
    let pieces = goes_to.chunks(size).zip(places).zip((0..).step_by(size));
    threads::each(pieces, |((goes_to, places), first)| spread(goes_to, places, first))?;

    let mut parts = Vec::with_capacity(PARTS);
    let mut rest = &mut order[..];
    for (size, seed) in sizes.into_iter().zip(seeds) {
        let (part, behind) = rest.split_at_mut(size);
        parts.push((part, seed));
        rest = behind;
    }
    let size = PARTS.div_ceil(threads);
    threads::each(parts.chunks_mut(size), |parts| {
        for (part, seed) in parts {
            Prg::from_public_seed(*seed).shuffle(part);
        }
    })?;
    Ok(order)
}

/// Returns the part that a byte selects.
fn part(byte: u8) -> usize {
    usize::from(byte) % PARTS
}

/// Counts the items for each part.
fn count(goes_to: &[u8]) -> [usize; PARTS] {
    // Several counters per part avoid waiting for one another.
    let mut counts = [[0; PARTS]; 4];
    for bytes in goes_to.chunks(4) {
        for (counts, &byte) in counts.iter_mut().zip(bytes) {
            counts[part(byte)] += 1;
        }
    }
    std::array::from_fn(|part| counts.iter().map(|counts| counts[part]).sum())
}

/// Puts the items from number `first` on into their places.
fn spread(goes_to: &[u8], mut places: Vec<slice::IterMut<'_, u32>>, first: usize) {
    for (item, &byte) in (first as u32..).zip(goes_to) {
        *places[part(byte)].next().expect("as many places as were counted") = item;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use symbolon_primitives::Challenge;

    use super::*;

    fn seed(number: u64) -> Block {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        Challenge::from_seed32(seed).into_block()
    }

    #[test]
    fn it_is_a_permutation_and_the_same_on_any_number_of_threads() {
        for n in [0, 1, 15, 16, 17, 1_000, 70_001] {
            let one = permutation(n, seed(1), 1).unwrap();
            let mut sorted = one.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..n as u32), "{n}");
            for threads in [2, 3, 20] {
                assert!(permutation(n, seed(1), threads).unwrap() == one, "{n} on {threads}");
            }
            assert!(n < 16 || permutation(n, seed(2), 1).unwrap() != one, "{n}");
        }
    }

    #[test]
    fn every_permutation_is_as_likely() {
        let mut counts: HashMap<Vec<u32>, u32> = HashMap::new();
        for number in 0..24_000 {
            *counts.entry(permutation(4, seed(number), 1).unwrap()).or_default() += 1;
        }
        assert_eq!(counts.len(), 24);
        // The standard deviation is 31.
        assert!(counts.values().all(|count| count.abs_diff(1_000) < 155), "{counts:?}");
    }

    /// Every item reaches every place equally often: neither parts nor threads leave a trace of its
    /// original place.
    #[test]
    fn items_go_everywhere() {
        const N: usize = 256;
        let mut counts = vec![0_u32; 8 * 8];
        for number in 0..512 {
            let order = permutation(N, seed(number), 2).unwrap();
            for (place, item) in order.into_iter().enumerate() {
                counts[place / 32 * 8 + item as usize / 32] += 1;
            }
        }
        // 512 · 32 / 8; the standard deviation is below 43.
        assert!(counts.iter().all(|count| count.abs_diff(2_048) < 215), "{counts:?}");
    }
}
