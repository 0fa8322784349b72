//! The streams of one side's seeds, on one lane.

use symbolon_primitives::{Block, Leaves as Streams, Prg, derive_block};
use zeroize::Zeroizing;

use super::{DIGEST, Params, VoleParties};
use crate::columns::xor_into;
use crate::oracle::Oracle;
use crate::pprf::Leaves;

/// The streams for each place of the code.
enum Trees {
    /// k = 1, prover: the streams of leaves 1 and 0.
    Pairs(Vec<[Prg; 2]>),
    /// k = 1, verifier: the stream of the leaf that it has.
    Chosen(Vec<Prg>),
    /// k > 1. The verifier's leaves are in the order y ⊕ Δ_i, without number 0.
    Leaves(Vec<Streams>),
}

/// All streams of one side on one lane.
pub(super) struct LeafStreams {
    pub params: Params,
    trees: Trees,
    /// The number of the leaves' next block.
    next: u128,
    binding: [u8; DIGEST],
}

/// Makes the streams of a lane for k = 1.
///
/// The hash binds the session, the parties, the lane and the place, so one guess of a seed can be
/// tested only against the two seeds of one place.
struct LaneHash<'a> {
    oracle: Oracle,
    parties: VoleParties<'a>,
    lane: u64,
}

impl<'a> LaneHash<'a> {
    fn new(parties: VoleParties<'a>, lane: u64) -> Self {
        LaneHash { oracle: Oracle::new("symbolon vector ole 2: lane"), parties, lane }
    }

    fn stream(&mut self, place: usize, seed: Block) -> Prg {
        let VoleParties { session, prover, verifier } = self.parties;
        let seed = Zeroizing::new(seed.to_bytes());
        let digest = Zeroizing::new(self.oracle.digest(&[
            session,
            &prover.to_le_bytes(),
            &verifier.to_le_bytes(),
            &self.lane.to_le_bytes(),
            &(place as u64).to_le_bytes(),
            &*seed,
        ]));
        Prg::from_digest(&digest)
    }
}

impl LeafStreams {
    /// Returns the prover's streams for k = 1, from both seeds of each pair.
    pub fn pairs(
        params: &Params,
        pairs: &[[Block; 2]],
        parties: VoleParties<'_>,
        lane: u64,
    ) -> LeafStreams {
        let mut hash = LaneHash::new(parties, lane);
        let both = pairs.iter().enumerate();
        let both = both.map(|(place, pair)| pair.map(|seed| hash.stream(place, seed)));
        let trees = Trees::Pairs(both.collect());
        LeafStreams { params: params.clone(), trees, next: 0, binding: [0; DIGEST] }
    }

    /// Returns the verifier's streams for k = 1, from the seed of each pair that Δ chose.
    pub fn chosen(
        params: &Params,
        seeds: &[Block],
        parties: VoleParties<'_>,
        lane: u64,
    ) -> LeafStreams {
        let mut hash = LaneHash::new(parties, lane);
        let chosen = seeds.iter().enumerate().map(|(place, seed)| hash.stream(place, *seed));
        let trees = Trees::Chosen(chosen.collect());
        LeafStreams { params: params.clone(), trees, next: 0, binding: [0; DIGEST] }
    }

    /// Returns the streams for k > 1.
    pub fn leaves(params: &Params, leaves: &Leaves, lane: u64) -> LeafStreams {
        let trees = Trees::Leaves(leaves.lane(lane).map(|seeds| Streams::new(&seeds)).collect());
        // No other trees have this digest, so no other streams start here.
        let next = derive_block("symbolon vector ole 1: streams", &leaves.binding, lane).0;
        LeafStreams { params: params.clone(), trees, next, binding: leaves.binding }
    }

    /// Writes the prover's columns: u' of each place to `totals`, its k columns of V to `sums`.
    pub fn draw_all(&mut self, totals: &mut [u8], sums: &mut [u8], stride: usize) {
        let per_place = self.params.k.bits() * stride;
        let outputs = totals.chunks_exact_mut(stride).zip(sums.chunks_exact_mut(per_place));
        match &mut self.trees {
            Trees::Pairs(pairs) => {
                for ([one, zero], (total, sum)) in pairs.iter_mut().zip(outputs) {
                    one.fill(sum);
                    zero.fill(total);
                    xor_into(total, sum);
                }
            }
            Trees::Chosen(_) => unreachable!("the prover has all leaves"),
            Trees::Leaves(trees) => {
                for (tree, (total, sums)) in trees.iter().zip(outputs) {
                    tree.sums(self.next, total, sums);
                }
            }
        }
        self.next = self.next.wrapping_add((stride / 16) as u128);
    }

    /// Writes the verifier's k columns of each place to `sums`. `scratch` has room for one column.
    pub fn draw_some(&mut self, scratch: &mut [u8], sums: &mut [u8], stride: usize) {
        let outputs = sums.chunks_exact_mut(self.params.k.bits() * stride);
        match &mut self.trees {
            Trees::Pairs(_) => unreachable!("the verifier lacks a leaf"),
            Trees::Chosen(seeds) => {
                seeds.iter_mut().zip(outputs).for_each(|(seed, sum)| seed.fill(sum));
            }
            Trees::Leaves(trees) => {
                trees.iter().zip(outputs).for_each(|(tree, sums)| {
                    tree.sums(self.next, scratch, sums);
                });
            }
        }
        self.next = self.next.wrapping_add((stride / 16) as u128);
    }

    /// Returns the digest of a correction, bound to its trees.
    pub fn digest(&self, correction: &[u8]) -> [u8; DIGEST] {
        *blake3::keyed_hash(&self.binding, correction).as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::vole::FieldBits;

    /// Returns the first block of the stream at every place, all from the same seed.
    fn streams(parties: VoleParties<'_>, lane: u64) -> Vec<[u8; 16]> {
        let params = Params::new(FieldBits::One, 40).unwrap();
        let seeds = vec![Block(7); params.columns()];
        let mut columns = vec![0; 16 * seeds.len()];
        let mut streams = LeafStreams::chosen(&params, &seeds, parties, lane);
        streams.draw_some(&mut [0; 16], &mut columns, 16);
        columns.as_chunks::<16>().0.to_vec()
    }

    #[test]
    fn a_seed_has_other_streams_in_every_session_direction_lane_and_place() {
        let parties = VoleParties { session: &[1; 32], prover: 0.into(), verifier: 1.into() };
        assert_eq!(streams(parties, 1), streams(parties, 1));
        let mut seen = HashSet::new();
        for (parties, lane) in [
            (parties, 1),
            (VoleParties { session: &[2; 32], ..parties }, 1),
            (VoleParties { prover: 1.into(), verifier: 0.into(), ..parties }, 1),
            (parties, 2),
        ] {
            assert!(streams(parties, lane).into_iter().all(|block| seen.insert(block)));
        }
    }
}
