//! The streams of one side's seeds, on one lane.

use symbolon_primitives::{Block, Leaves as Streams, Prg, derive_block};
use zeroize::Zeroizing;

use super::{DIGEST, Params};
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

const LANE: &str = "symbolon vector ole 1: lane";

fn seed_of_lane(oracle: &mut Oracle, seed: Block, lane: u64) -> Prg {
    let seed = Zeroizing::new(seed.to_bytes());
    let digest = Zeroizing::new(oracle.digest(&[&lane.to_le_bytes(), &*seed]));
    Prg::from_digest(&digest)
}

impl LeafStreams {
    /// Returns the prover's streams for k = 1, from both seeds of each pair.
    pub fn pairs(params: &Params, pairs: &[[Block; 2]], lane: u64) -> LeafStreams {
        let mut oracle = Oracle::new(LANE);
        let mut both = |pair: &[Block; 2]| pair.map(|seed| seed_of_lane(&mut oracle, seed, lane));
        let trees = Trees::Pairs(pairs.iter().map(&mut both).collect());
        LeafStreams { params: params.clone(), trees, next: 0, binding: [0; DIGEST] }
    }

    /// Returns the verifier's streams for k = 1, from the seed of each pair that Δ chose.
    pub fn chosen(params: &Params, seeds: &[Block], lane: u64) -> LeafStreams {
        let mut oracle = Oracle::new(LANE);
        let one = |seed: &Block| seed_of_lane(&mut oracle, *seed, lane);
        let trees = Trees::Chosen(seeds.iter().map(one).collect());
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
