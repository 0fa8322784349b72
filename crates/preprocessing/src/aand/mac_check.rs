//! Checks the d that the buckets open: a random linear combination of their MACs replaces the MACs.
//!
//! The bits d of a batch are opened first. Then each pair of parties derives coefficients χ in
//! GF(2^128) from a hash of the coin that determined the buckets and of what both parties opened.
//! Each party sends the other
//!
//! ```text
//! Σ_t χ_t·M[d_t],   which has to be   Σ_t χ_t·K[d_t] ⊕ (Σ_t χ_t·d_t)·Δ
//! ```
//!
//! (the batched MAC check of Damgård–Pastro–Smart–Zakarias 2012, in characteristic 2;
//! Yang–Wang–Zhang 2020, App. A.3 uses a digest of all MACs instead). If the sender is honest, the
//! receiver can compute the whole sum itself, so it learns nothing.
//!
//! `docs/proofs/leaky-ands.md` shows that a wrong d passes with probability 2^-128, or 2^-63 if
//! MACs are taken modulo 2^64, and why χ depends on the bits and on the coin.
//!
//! Departure: MACs of opened d | a digest of all | a random sum, modulo 2^64 up to ρ = 62 |
//! coefficients depend on these d and on the coin of the buckets
//! (`docs/proofs/leaky-ands.md#the-sum-of-macs-of-opened-d`). No coin follows Beaver openings,
//! which keep the digest
//!
//! # Order
//! The t-th opened bit is d_t = y_i ⊕ y_k for the anchor i of a bucket and its triple k of a
//! stream, so
//!
//! ```text
//! Σ_t χ_t·M[d_t] = Σ_t χ_t·M[y_k] ⊕ Σ_i (Σ_{t of bucket i} χ_t)·M[y_i]
//! ```
//!
//! with block number t of the generator for χ_t. Bits are opened stream by stream, so the first sum
//! reads each stream in runs.

use std::ops::Range;

use symbolon_primitives::block_xor::xor_blocks;
use symbolon_primitives::{BitVec, Block, Coefficients, Delta, Transcript, gf128, xor_masked};
use symbolon_transport::{PartyId, Result, SessionId};
use zeroize::Zeroizing;

use super::shifts::Stream;
use crate::{PeerAuth, laand::YShares, threads};

/// The opened d of a batch, between this party and each peer.
pub(crate) struct MacCheck<'a> {
    /// The number of buckets.
    pub n: usize,
    pub streams: &'a [Stream],
    /// MACs and keys of the streams' y.
    pub y_shares: &'a YShares,
    /// For each peer, MACs and keys of the anchors' y.
    pub anchors: &'a [PeerAuth],
    /// The bits that each peer opened, by stream.
    pub theirs: &'a [Vec<BitVec>],
    /// For each peer, χ.
    pub chi: &'a [Coefficients],
    pub delta: &'a Delta,
}

/// The sum of the MACs on this party's d, and the sum that the peer must send.
pub(crate) type MacSums = [Block; 2];

/// Derives χ for a pair of parties from what they opened in batch number `batch`, whose buckets
/// were drawn from `coin`.
pub(crate) fn coefficients(
    session: &SessionId,
    batch: u64,
    coin: &[u8; 32],
    mut opened: [(PartyId, &[u8]); 2],
) -> Coefficients {
    opened.sort_unstable_by_key(|&(party, _)| party);
    let mut transcript = Transcript::new("symbolon bucketing MACs 4", session.as_bytes());
    transcript.absorb("batch", &batch.to_le_bytes());
    transcript.absorb("coin", coin);
    for (party, bits) in opened {
        transcript.absorb("party", &party.to_le_bytes());
        transcript.absorb("d", bits);
    }
    transcript.challenge("coefficients").into_coefficients()
}

/// The number of buckets summed at a time; a multiple of the bits in a word.
const BUCKETS: usize = 512;

impl MacCheck<'_> {
    /// Computes the sums for each peer on this many threads.
    ///
    /// Paper: YWZ20, Fig. 16, 2a | MACs of d checked
    pub fn mac_sums(&self, threads: usize) -> Result<Vec<MacSums>> {
        let size = self.n.div_ceil(threads).next_multiple_of(BUCKETS);
        let parts = (0..self.n).step_by(size).map(|first| first..(first + size).min(self.n));
        let sums = threads::each(parts, |buckets| {
            let peers = 0..self.chi.len();
            peers.map(|peer| self.part(peer, buckets.clone())).collect::<Vec<_>>()
        })?;
        let none = vec![[Block::ZERO; 2]; self.chi.len()];
        Ok(sums.into_iter().fold(none, |mut sums, part| {
            sums.iter_mut().zip(part).for_each(|(sums, part)| add(sums, part));
            sums
        }))
    }

    /// Returns the contribution of some buckets with one peer.
    fn part(&self, peer: usize, buckets: Range<usize>) -> MacSums {
        let PeerAuth { macs, keys } = &self.anchors[peer];
        let width = self.y_shares.width();
        let mut sums = [Block::ZERO; 2];
        let mut words = Zeroizing::new([0; BUCKETS]);
        let [mut chi, mut of_anchors] = [[Block::ZERO; BUCKETS]; 2];
        // Σ χ_t·d_t, where all t with the same remainder share a slot.
        let mut chosen = [Block::ZERO; BUCKETS];
        for first in buckets.clone().step_by(BUCKETS) {
            let piece = first..(first + BUCKETS).min(buckets.end);
            let [chi, of_anchors] = [&mut chi, &mut of_anchors].map(|all| &mut all[..piece.len()]);
            of_anchors.fill(Block::ZERO);
            for (stream, theirs) in self.streams.iter().zip(&self.theirs[peer]) {
                self.chi[peer].fill(stream.start() + first, chi);
                xor_blocks(of_anchors, chi);
                xor_masked(&mut chosen[..piece.len()], theirs, first, chi);
                for (run, from) in stream.runs(piece.clone()) {
                    let chi = &chi[run.start - first..run.end - first];
                    add(&mut sums, self.y_shares.sums(peer, from..from + run.len(), chi));
                }
            }
            for (sum, row) in sums.iter_mut().zip([macs, keys]) {
                *sum ^= width.inner_product(&row[piece.clone()], of_anchors, &mut words[..]);
            }
        }
        let chosen = chosen.into_iter().fold(Block::ZERO, |sum, chi| sum ^ chi);
        sums[1] ^= gf128::mul(chosen, width.low(**self.delta));
        sums
    }
}

fn add(sums: &mut MacSums, more: MacSums) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum ^= more);
}

#[cfg(test)]
mod tests {
    use symbolon_primitives::{Challenge, Prg};

    use super::*;
    use crate::{aand::shifts::shifted, bucketing::Batch, laand::Width};

    const SESSION: SessionId = SessionId([7; 32]);

    /// A party's MACs and keys of a batch's y, and what the peers opened.
    struct Held {
        streams: Vec<Stream>,
        y_shares: YShares,
        /// The same MACs and keys in full, in the order of the triples.
        whole: Vec<[Vec<Block>; 2]>,
        anchors: Vec<PeerAuth>,
        theirs: Vec<Vec<BitVec>>,
    }

    fn held(batch: Batch, peers: usize, width: Width, prg: &mut Prg) -> Held {
        let streams = shifted(batch, prg.block());
        let mut random = |n: usize| {
            let mut blocks = vec![Block::ZERO; n];
            prg.fill_blocks(&mut blocks);
            blocks
        };
        let n = batch.triples;
        let whole: Vec<[Vec<Block>; 2]> =
            (0..peers).map(|_| [(); 2].map(|()| random(batch.shifted()))).collect();
        let mut y_shares = YShares::default();
        y_shares.reset(batch.shifted(), peers, width);
        let mut all = y_shares.all();
        for (peer, [macs, keys]) in whole.iter().enumerate() {
            all.note(peer, 0, [macs, keys]);
        }
        let anchors = (0..peers).map(|_| PeerAuth { macs: random(n), keys: random(n) }).collect();
        let mut opened = || streams.iter().map(|_| BitVec::random(n, prg)).collect();
        let theirs = (0..peers).map(|_| opened()).collect();
        Held { streams, y_shares, whole, anchors, theirs }
    }

    /// Computes the sums by definition, one d at a time.
    fn expected(
        held: &Held,
        n: usize,
        peer: usize,
        chi: &Coefficients,
        width: Width,
        delta: Block,
    ) -> MacSums {
        let (PeerAuth { macs, keys }, [of_macs, of_keys]) =
            (&held.anchors[peer], &held.whole[peer]);
        let mut sums = [Block::ZERO; 2];
        for (number, stream) in held.streams.iter().enumerate() {
            for bucket in 0..n {
                let member = stream.member(bucket);
                let mut coefficient = [Block::ZERO];
                chi.fill(number * n + bucket, &mut coefficient);
                let d = held.theirs[peer][number].get(bucket);
                let mac = macs[bucket] ^ of_macs[member];
                let key = keys[bucket] ^ of_keys[member] ^ delta.select(d);
                for (sum, value) in sums.iter_mut().zip([mac, key]) {
                    *sum ^= gf128::mul(coefficient[0], width.low(value));
                }
            }
        }
        sums
    }

    #[test]
    fn sums_are_those_of_the_definition() {
        let mut prg = Prg::from_seed(Block(1));
        for (triples, bucket) in [(1, 2), (7, 3), (64, 3), (513, 3), (1100, 2), (2500, 5)] {
            for width in [Width::Half, Width::Whole] {
                let batch = Batch { triples, bucket };
                let peers = 1 + triples % 3;
                let held = held(batch, peers, width, &mut prg);
                let delta = prg.block();
                let mut draw = || {
                    let mut seed = [0; 32];
                    prg.fill(&mut seed);
                    Challenge::from_seed32(seed).into_coefficients()
                };
                let chi: Vec<Coefficients> = (0..peers).map(|_| draw()).collect();
                let opening = MacCheck {
                    n: triples,
                    streams: &held.streams,
                    y_shares: &held.y_shares,
                    anchors: &held.anchors,
                    theirs: &held.theirs,
                    chi: &chi,
                    delta: &Delta::new(delta),
                };
                let of_peer = |(peer, chi)| expected(&held, triples, peer, chi, width, delta);
                let expected: Vec<MacSums> = chi.iter().enumerate().map(of_peer).collect();
                for threads in [1, 2, 3] {
                    let sums = opening.mac_sums(threads).unwrap();
                    assert_eq!(sums, expected, "{batch:?} {width:?}, {threads} threads");
                }
            }
        }
    }

    #[test]
    fn coefficients_hang_on_the_coin_and_all_that_was_opened() {
        let coin = [9; 32];
        let first = |session: &SessionId, batch, coin: &[u8; 32], opened| {
            let mut out = [Block::ZERO];
            coefficients(session, batch, coin, opened).fill(0, &mut out);
            out[0]
        };
        let base = first(&SESSION, 3, &coin, [(0.into(), b"abc"), (1.into(), b"def")]);
        let mirrored = first(&SESSION, 3, &coin, [(1.into(), b"def"), (0.into(), b"abc")]);
        assert_eq!(mirrored, base, "the same on both sides");
        for other in [
            first(&SessionId([8; 32]), 3, &coin, [(0.into(), b"abc"), (1.into(), b"def")]),
            first(&SESSION, 4, &coin, [(0.into(), b"abc"), (1.into(), b"def")]),
            first(&SESSION, 3, &[8; 32], [(0.into(), b"abc"), (1.into(), b"def")]),
            first(&SESSION, 3, &coin, [(0.into(), b"abd"), (1.into(), b"def")]),
            first(&SESSION, 3, &coin, [(0.into(), b"abc"), (1.into(), b"deg")]),
            first(&SESSION, 3, &coin, [(0.into(), b"abc"), (2.into(), b"def")]),
            first(&SESSION, 3, &coin, [(0.into(), b"def"), (1.into(), b"abc")]),
        ] {
            assert_ne!(other, base);
        }
    }
}
