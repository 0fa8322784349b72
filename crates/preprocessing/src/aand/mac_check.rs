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
//! Departure: MACs of opened d | a digest of all | a random sum, modulo 2^64 in batches of anchored
//! triples up to ρ = 62 | coefficients depend on these d and on the coin of the buckets
//! (`docs/proofs/leaky-ands.md#the-sum-of-macs-of-opened-d`). No coin follows Beaver openings,
//! which keep the digest
//!
//! # Order
//! d_t = y_1 ⊕ y_t for triple t of a bucket whose first triple is number 1, so
//!
//! ```text
//! Σ_t χ_t·M[d_t] = Σ_t χ_t·M[y_t] ⊕ Σ_buckets (Σ_{t in it} χ_t)·M[y_1]
//! ```
//!
//! and χ_t is block number t of the generator, whichever bucket t is in. The first sum runs over
//! the triples in memory order, the second over the buckets, and no MAC is read at a random
//! position. In a batch without anchors, the y of first triples are in both sums and cancel.

use std::ops::Range;

use symbolon_primitives::{BitVec, Block, Coefficients, Delta, Transcript, gf128, xor_masked};
use symbolon_transport::{PartyId, Result, SessionId};
use zeroize::Zeroizing;

use crate::{PeerAuth, bucketing::Batch, laand::YShares, threads};

/// The opened d of a batch, between this party and each peer.
pub(crate) struct MacCheck<'a> {
    pub batch: Batch,
    /// The shuffled triples, bucket by bucket.
    pub order: &'a [u32],
    /// MACs and keys of their y.
    pub y_shares: &'a YShares,
    /// For each peer, MACs and keys of the first y of each bucket.
    pub firsts: &'a [PeerAuth],
    /// The bits that each peer opened.
    pub theirs: &'a [BitVec],
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
    let mut transcript = Transcript::new("symbolon bucketing MACs 3", session.as_bytes());
    transcript.absorb("batch", &batch.to_le_bytes());
    transcript.absorb("coin", coin);
    for (party, bits) in opened {
        transcript.absorb("party", &party.to_le_bytes());
        transcript.absorb("d", bits);
    }
    transcript.challenge("coefficients").into_coefficients()
}

/// The number of triples summed at a time; a multiple of the bits in a word.
const SUMMED: usize = 2048;

/// The number of buckets whose first y are summed at a time.
const BUCKETS: usize = 512;

impl MacCheck<'_> {
    /// Computes the sums for each peer on this many threads.
    ///
    /// Paper: YWZ20, Fig. 16, 2a | MACs of d checked
    pub fn mac_sums(&self, threads: usize) -> Result<Vec<MacSums>> {
        let cut = |n: usize, piece: usize| {
            let size = n.div_ceil(threads).next_multiple_of(piece).max(piece);
            move |part: usize| (part * size).min(n)..((part + 1) * size).min(n)
        };
        let (triples, buckets) = (cut(self.order.len(), SUMMED), cut(self.batch.triples, BUCKETS));
        let parts = (0..threads).map(|part| (triples(part), buckets(part)));
        let sums = threads::each(parts, |(triples, buckets)| {
            let peers = 0..self.chi.len();
            let sums = |peer| self.part(peer, triples.clone(), buckets.clone());
            peers.map(sums).collect::<Vec<_>>()
        })?;
        let none = vec![[Block::ZERO; 2]; self.chi.len()];
        Ok(sums.into_iter().fold(none, |mut sums, part| {
            sums.iter_mut().zip(part).for_each(|(sums, part)| add(sums, part));
            sums
        }))
    }

    /// Returns the contribution of some triples, and of the first triples of some buckets, with one
    /// peer.
    fn part(&self, peer: usize, triples: Range<usize>, buckets: Range<usize>) -> MacSums {
        let chi = &self.chi[peer];
        let mut sums = [Block::ZERO; 2];
        let mut coefficients = [Block::ZERO; SUMMED];
        for first in triples.clone().step_by(SUMMED) {
            let end = (first + SUMMED).min(triples.end);
            let coefficients = &mut coefficients[..end - first];
            chi.fill(first, coefficients);
            add(&mut sums, self.y_shares.sums(peer, first..end, coefficients));
        }
        add(&mut sums, self.firsts(peer, chi, buckets));
        sums
    }

    /// Returns the contribution of the first triples of some buckets and of the opened bits.
    fn firsts(&self, peer: usize, chi: &Coefficients, buckets: Range<usize>) -> MacSums {
        let (size, others) = (self.batch.shuffled(), self.batch.bucket - 1);
        let width = self.y_shares.width();
        let PeerAuth { macs, keys } = &self.firsts[peer];
        let mut sums = [Block::ZERO; 2];
        let mut words = Zeroizing::new([0; BUCKETS]);
        // Σ χ_t·d_t, where all t with the same remainder share a slot.
        let mut chosen = vec![Block::ZERO; BUCKETS * others];
        let mut coefficients = Vec::with_capacity(BUCKETS * size);
        for first in buckets.clone().step_by(BUCKETS) {
            let end = (first + BUCKETS).min(buckets.end);
            let members = &self.order[first * size..end * size];
            chi.gather(members.iter().copied(), &mut coefficients);
            let of_bucket = |of: &[Block]| of.iter().fold(Block::ZERO, |sum, &chi| sum ^ chi);
            let of_first: Vec<Block> = coefficients.chunks_exact(size).map(of_bucket).collect();
            for (sum, row) in sums.iter_mut().zip([macs, keys]) {
                *sum ^= width.inner_product(&row[first..end], &of_first, &mut words[..]);
            }
            if size > others {
                let mut number = 0..;
                coefficients.retain(|_| number.next().is_some_and(|number| number % size != 0));
            }
            let chosen = &mut chosen[..coefficients.len()];
            xor_masked(chosen, &self.theirs[peer], first * others, &coefficients);
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
    use crate::{aand::shuffle, laand::Width};

    const SESSION: SessionId = SessionId([7; 32]);

    /// A party's MACs and keys of a batch's y, and what the peers opened.
    struct Held {
        y_shares: YShares,
        /// The same MACs and keys in full, in the order of the triples.
        shuffled: Vec<[Vec<Block>; 2]>,
        firsts: Vec<PeerAuth>,
        theirs: Vec<BitVec>,
        order: Vec<u32>,
    }

    fn held(batch: Batch, peers: usize, width: Width, prg: &mut Prg) -> Held {
        let order = shuffle::shuffled(batch, Block(3), 1).unwrap();
        let mut random = |n: usize| {
            let mut blocks = vec![Block::ZERO; n];
            prg.fill_blocks(&mut blocks);
            blocks
        };
        let shuffled: Vec<[Vec<Block>; 2]> =
            (0..peers).map(|_| [random(order.len()), random(order.len())]).collect();
        let mut y_shares = YShares::default();
        y_shares.reset(order.len(), peers, width);
        let mut all = y_shares.all();
        for (peer, [macs, keys]) in shuffled.iter().enumerate() {
            all.note(peer, 0, [macs, keys]);
        }
        let first_of = |row: &[Block]| -> Vec<Block> {
            order.iter().step_by(batch.bucket).map(|&first| row[first as usize]).collect()
        };
        let firsts = shuffled.iter().map(|[macs, keys]| match batch.anchored {
            true => PeerAuth { macs: random(batch.triples), keys: random(batch.triples) },
            false => PeerAuth { macs: first_of(macs), keys: first_of(keys) },
        });
        let firsts = firsts.collect();
        let opened = batch.triples * (batch.bucket - 1);
        let theirs = (0..peers).map(|_| BitVec::random(opened, prg)).collect();
        Held { y_shares, shuffled, firsts, theirs, order }
    }

    /// Computes the sums by definition, one d at a time.
    fn expected(
        held: &Held,
        batch: Batch,
        peer: usize,
        chi: &Coefficients,
        width: Width,
        delta: Block,
    ) -> MacSums {
        let (PeerAuth { macs, keys }, [of_macs, of_keys]) =
            (&held.firsts[peer], &held.shuffled[peer]);
        let mut sums = [Block::ZERO; 2];
        let mut number = 0;
        for (bucket, members) in held.order.chunks_exact(batch.shuffled()).enumerate() {
            for &member in &members[usize::from(!batch.anchored)..] {
                let mut coefficient = [Block::ZERO];
                chi.fill(member as usize, &mut coefficient);
                let d = held.theirs[peer].get(number);
                number += 1;
                let mac = macs[bucket] ^ of_macs[member as usize];
                let key = keys[bucket] ^ of_keys[member as usize] ^ delta.select(d);
                for (sum, value) in sums.iter_mut().zip([mac, key]) {
                    *sum ^= gf128::mul(coefficient[0], width.low(value));
                }
            }
        }
        assert_eq!(number, held.theirs[peer].len());
        sums
    }

    #[test]
    fn sums_are_those_of_the_definition() {
        let mut prg = Prg::from_seed(Block(1));
        for (triples, bucket) in [(1, 2), (7, 3), (64, 3), (513, 3), (1100, 2), (1025, 5)] {
            for (anchored, width) in
                [(true, Width::Half), (true, Width::Whole), (false, Width::Whole)]
            {
                let batch = Batch { triples, bucket, anchored };
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
                    batch,
                    order: &held.order,
                    y_shares: &held.y_shares,
                    firsts: &held.firsts,
                    theirs: &held.theirs,
                    chi: &chi,
                    delta: &Delta::new(delta),
                };
                let of_peer = |(peer, chi)| expected(&held, batch, peer, chi, width, delta);
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
