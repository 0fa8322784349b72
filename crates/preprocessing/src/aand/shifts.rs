//! Assigns leaky triples to buckets: streams, each shifted by a distance that a public challenge
//! draws.
//!
//! A batch of n·B leaky triples is B streams of n, one after another in the order in which the
//! triples were made. Bucket i has number i of the first stream, and number (i + s) mod n of every
//! other one, with a uniform s of its own. So the triples of consecutive buckets lie side by side
//! in each stream, and nothing is read at a random place. [`crate::bucketing`] has the price.

use std::ops::Range;

use symbolon_primitives::{BitVec, Block, Prg};

use crate::bucketing::Batch;

/// A stream of leaky triples that is shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    /// Its number among the shifted streams.
    number: usize,
    /// The number of its triples.
    n: usize,
    /// Its number of the triple in bucket 0, below n.
    shift: usize,
}

/// Returns the streams of a batch but the first, shifted as a seed says.
///
/// Paper: YWZ20, Fig. 16, 1 | buckets, by shifts in place of a permutation
pub(crate) fn shifted(batch: Batch, seed: Block) -> Vec<Stream> {
    let mut prg = Prg::from_public_seed(seed);
    let n = batch.triples;
    let stream = |number| Stream { number, n, shift: prg.below(n as u64) as usize };
    (0..batch.bucket - 1).map(stream).collect()
}

impl Stream {
    /// Returns the index of its first triple among those of all shifted streams.
    pub fn start(self) -> usize {
        self.number * self.n
    }

    /// Divides consecutive buckets where the stream's end is followed by its beginning. Returns
    /// each part, with the index of its first triple among those of all shifted streams. The
    /// triples of a part are consecutive.
    pub fn runs(self, buckets: Range<usize>) -> impl Iterator<Item = (Range<usize>, usize)> {
        let Stream { n, shift, .. } = self;
        let end = (n - shift).clamp(buckets.start, buckets.end);
        let before = (buckets.start..end, self.start() + shift + buckets.start);
        let behind = (end..buckets.end, (self.start() + shift + end).wrapping_sub(n));
        [before, behind].into_iter().filter(|(run, _)| !run.is_empty())
    }

    /// Returns its bits in the order of the buckets, from the bits of all triples of a batch.
    pub fn bits(self, of_batch: &BitVec) -> BitVec {
        let mut bits = BitVec::with_capacity(self.n);
        for (run, first) in self.runs(0..self.n) {
            let first = self.n + first;
            bits.extend_from(&of_batch.slice(first..first + run.len()));
        }
        bits
    }

    /// Returns the index, among the triples of all shifted streams, of its triple in a bucket.
    #[cfg(test)]
    pub fn member(self, bucket: usize) -> usize {
        self.start() + (bucket + self.shift) % self.n
    }
}

#[cfg(test)]
mod tests {
    use symbolon_primitives::Challenge;

    use super::*;

    fn seed(number: u64) -> Block {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        Challenge::from_seed32(seed).into_block()
    }

    #[test]
    fn runs_are_the_members_of_consecutive_buckets() {
        for (triples, bucket) in [(1, 2), (5, 3), (64, 2), (100, 4)] {
            for number in 0..20 {
                for stream in shifted(Batch { triples, bucket }, seed(number)) {
                    let cuts = [(0, triples), (0, triples / 2), (triples / 2, triples), (0, 0)];
                    for (start, end) in cuts {
                        let members: Vec<usize> = stream
                            .runs(start..end)
                            .flat_map(|(run, first)| first..first + run.len())
                            .collect();
                        let expected = (start..end).map(|bucket| stream.member(bucket));
                        assert!(members.into_iter().eq(expected), "{stream:?} {start} {end}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_stream_keeps_its_triples_and_their_bits() {
        let batch = Batch { triples: 70, bucket: 4 };
        let mut prg = Prg::from_seed(Block(1));
        let bits = BitVec::random(batch.leaky(), &mut prg);
        let mut all = Vec::new();
        for stream in shifted(batch, seed(3)) {
            let members: Vec<usize> = (0..70).map(|bucket| stream.member(bucket)).collect();
            let expected: Vec<bool> = members.iter().map(|&i| bits.get(70 + i)).collect();
            assert_eq!(stream.bits(&bits).to_bools(), expected);
            all.extend(members);
        }
        all.sort_unstable();
        assert!(all.into_iter().eq(0..batch.shifted()), "each triple is in one bucket");
    }

    /// The distances of two streams: every pair is as likely, so each is uniform, and they are
    /// independent.
    #[test]
    fn every_pair_of_shifts_is_as_likely() {
        let mut counts = [[0_u32; 5]; 5];
        for number in 0..25_000 {
            let [a, b] = shifted(Batch { triples: 5, bucket: 3 }, seed(number))[..] else {
                panic!("two streams")
            };
            counts[a.shift][b.shift] += 1;
        }
        // The standard deviation is 31.
        assert!(counts.iter().flatten().all(|count| count.abs_diff(1_000) < 155), "{counts:?}");
    }
}
