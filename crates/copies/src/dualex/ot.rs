//! Random OTs in both directions, from correlated ones (F_rot, Fig. 10).
//!
//! In correlated OT k the receiver has a bit c_k and a MAC M_k = K_k ⊕ c_k·Δ. Hashing turns this
//! into a random OT of the strings m_b = H(2k + b, K_k ⊕ b·Δ). The tweak includes the choice: a
//! sender may take Δ = 0, and even then both strings must be random and independent, as in F_rot.
//! In an intersection, a sender with m_0 = m_1 would have the sums of every value.
//!
//! A receiver *opens* its bits to the sender by a digest of their MACs: to open a wrong bit it
//! would have to know Δ.

use std::ops::Range;

use symbolon_engine::Network;
use symbolon_ot::cot::GlobalKey;
use symbolon_ot::{
    Workspace,
    cot::MAX_DRAW,
    setup::{self, Lane},
};
use symbolon_primitives::{
    BitVec, Block, Delta, Prg, TweakedHash, derive_block, hash_blocks, reserve_wiped,
};
use symbolon_transport::{PartyId, Result};
use zeroize::Zeroizing;

/// Blocks that are wiped when they are dropped.
pub(super) type Blocks = Zeroizing<Vec<Block>>;

/// How many of its own draws a party sends before it waits for the peer's first one.
pub(super) const AHEAD: usize = 4;

/// The context of the digest by which choice bits are opened.
const OPENED: &str = "symbolon dualex opened choices 1";

/// OT in both directions with the peer.
pub(super) struct OtSession {
    lane: Lane,
    work: Workspace,
    /// The hash for OTs that this party receives, and for OTs that it sends.
    hashes: [TweakedHash; 2],
    /// How many OTs were received and sent so far.
    drawn: [u64; 2],
}

/// One block per OT, in pieces that are wiped and freed after use: until the circuits arrive, these
/// blocks are most of what a batch holds.
struct Rows {
    /// Blocks in a piece; the last piece may have fewer.
    piece: usize,
    pieces: Vec<Blocks>,
}

impl Rows {
    fn new(piece: usize) -> Rows {
        Rows { piece: piece.max(1), pieces: Vec::new() }
    }

    /// Adds the blocks of the next OTs.
    fn append(&mut self, mut blocks: &[Block]) {
        while !blocks.is_empty() {
            if self.pieces.last().is_none_or(|piece| piece.len() == self.piece) {
                // Allocated at full length, because growing would leave copies that are not wiped.
                self.pieces.push(Blocks::new(Vec::with_capacity(self.piece)));
            }
            let last = self.pieces.last_mut().expect("there is a piece with room");
            let (now, later) = blocks.split_at(blocks.len().min(self.piece - last.len()));
            last.extend_from_slice(now);
            blocks = later;
        }
    }

    /// Returns the blocks of the OTs in `range`.
    ///
    /// # Panics
    /// If the range is out of bounds, or part of it was released.
    fn blocks(&self, range: Range<usize>) -> impl Iterator<Item = &Block> {
        let pieces = range.start / self.piece..range.end.div_ceil(self.piece);
        pieces.flat_map(move |k| {
            let start = k * self.piece;
            let end = range.end.min(start + self.piece);
            &self.pieces[k][range.start.max(start) - start..end - start]
        })
    }

    /// Wipes and frees the pieces that are entirely in `range`.
    fn release(&mut self, range: Range<usize>) {
        let pieces = range.start.div_ceil(self.piece)..range.end / self.piece;
        if let Some(pieces) = self.pieces.get_mut(pieces) {
            pieces.fill(Blocks::default());
        }
    }
}

/// OTs that this party received.
pub(super) struct ReceivedOts {
    hash: TweakedHash,
    first: u64,
    /// The choice bits c.
    pub choices: Zeroizing<BitVec>,
    macs: Rows,
}

/// OTs that this party sent.
pub(super) struct SentOts {
    hash: TweakedHash,
    first: u64,
    delta: Delta,
    keys: Rows,
}

impl OtSession {
    /// Runs the base OTs.
    ///
    /// # Errors
    /// `PeerMisbehaved` for a malformed message or a failed check; `Transport`.
    pub fn set_up(net: &mut Network, prg: &mut Prg) -> Result<OtSession> {
        let key = GlobalKey::new(Delta::new(prg.block()));
        let session = net.session;
        let ot = net.ot;
        let channel = &mut net.peers()[0];
        let mut lanes = setup::both_directions(channel, &session, &key, 1, ot, prg)?;
        let lane = lanes.pop().expect("one lane was asked for");
        let hash = |party: PartyId| {
            TweakedHash::new(derive_block("symbolon dualex ot 2", &session, party.into()))
        };
        let hashes = [hash(channel.me()), hash(channel.peer())];
        Ok(OtSession { lane, work: Workspace::default(), hashes, drawn: [0; 2] })
    }

    /// Receives random OTs with these choices and sends `theirs` OTs to the peer. The received and
    /// the sent OTs can be released in runs as long as `pieces` says.
    ///
    /// Paper: RR16, Fig. 10 | random OTs
    ///
    /// # Errors
    /// `PeerMisbehaved` when the peer's choices are inconsistent; `Transport`.
    pub fn draw(
        &mut self,
        net: &mut Network,
        choices: Zeroizing<BitVec>,
        theirs: usize,
        pieces: [usize; 2],
    ) -> Result<(ReceivedOts, SentOts)> {
        let channel = &mut net.peers()[0];
        let [mut macs, mut keys] = pieces.map(Rows::new);
        let mut room = Blocks::new(vec![Block::ZERO; MAX_DRAW.min(choices.len().max(theirs))]);
        let range =
            |n: usize, draw: usize| (draw * MAX_DRAW).min(n)..((draw + 1) * MAX_DRAW).min(n);
        let draws = choices.len().max(theirs).div_ceil(MAX_DRAW);
        for step in 0..draws + AHEAD {
            let own = range(choices.len(), step);
            if !own.is_empty() {
                let bits = choices.slice(own.clone());
                let room = &mut room[..own.len()];
                self.lane.receiver.extend(channel, &bits, room, &mut self.work)?;
                macs.append(room);
            }
            let draw = step.checked_sub(AHEAD).map(|draw| range(theirs, draw));
            if let Some(draw) = draw.filter(|draw| !draw.is_empty()) {
                let room = &mut room[..draw.len()];
                self.lane.sender.extend(channel, room, &mut self.work)?;
                keys.append(room);
            }
        }
        let [received, sent] = self.drawn;
        self.drawn = [received + choices.len() as u64, sent + theirs as u64];
        let delta = self.lane.sender.delta().clone();
        Ok((
            ReceivedOts { hash: self.hashes[0], first: received, choices, macs },
            SentOts { hash: self.hashes[1], first: sent, delta, keys },
        ))
    }
}

/// Returns the tweak for choice 0 of OT number `first + k`.
fn tweak(first: u64, k: usize) -> u128 {
    2 * (u128::from(first) + k as u128)
}

impl ReceivedOts {
    /// Returns the chosen strings of the OTs in `range`.
    ///
    /// Paper: RR16, Fig. 10
    pub fn messages(&self, range: Range<usize>) -> Blocks {
        let mut messages = Blocks::new(Vec::with_capacity(range.len()));
        messages.extend(self.macs.blocks(range.clone()));
        // The tweaks reveal the choices.
        let mut tweaks = Zeroizing::new(Vec::with_capacity(range.len()));
        tweaks.extend(range.map(|k| tweak(self.first, k) + u128::from(self.choices.get(k))));
        self.hash.hash_with(&tweaks, 1, &mut messages);
        messages
    }

    /// Returns the digest that opens the choices of these runs of OTs.
    pub fn opening(&self, runs: impl Iterator<Item = Range<usize>>) -> [u8; 32] {
        let mut macs = Blocks::default();
        for run in runs {
            reserve_wiped(&mut macs, run.len());
            macs.extend(self.macs.blocks(run).copied());
        }
        hash_blocks(OPENED, &macs)
    }

    /// Forgets the MACs of OTs that have been used.
    pub fn release(&mut self, range: Range<usize>) {
        self.macs.release(range);
    }
}

impl SentOts {
    /// Returns both strings of the OTs in `range`.
    ///
    /// Paper: RR16, Fig. 10
    pub fn pairs(&self, range: Range<usize>) -> Zeroizing<Vec<[Block; 2]>> {
        let mut pairs = Zeroizing::new(Vec::with_capacity(range.len()));
        pairs.extend(self.keys.blocks(range.clone()).map(|key| [*key, *key ^ *self.delta]));
        self.hash.hash(tweak(self.first, range.start), 1, pairs.as_flattened_mut());
        pairs
    }

    /// Returns the digest that the receiver sends if it used these choices. `choices` are the bits
    /// of all runs, joined.
    pub fn expected_opening(
        &self,
        runs: impl Iterator<Item = Range<usize>>,
        choices: &BitVec,
    ) -> [u8; 32] {
        let mut macs = Blocks::default();
        for run in runs {
            reserve_wiped(&mut macs, run.len());
            let keys = (macs.len()..).zip(self.keys.blocks(run));
            macs.extend(keys.map(|(k, key)| *key ^ self.delta.select(choices.get(k))));
        }
        hash_blocks(OPENED, &macs)
    }

    /// Forgets the keys of OTs that have been used.
    pub fn release(&mut self, range: Range<usize>) {
        self.keys.release(range);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_until_they_are_released() {
        let all: Vec<Block> = (0..100).map(Block).collect();
        let mut rows = Rows::new(7);
        all.chunks(33).for_each(|blocks| rows.append(blocks));
        let got = |rows: &Rows, range: Range<usize>| -> Vec<Block> {
            rows.blocks(range).copied().collect()
        };
        for range in [0..100, 0..7, 7..14, 3..40, 98..100, 5..5, 100..100] {
            assert_eq!(got(&rows, range.clone()), all[range]);
        }
        rows.release(7..21);
        // Covers no piece completely, so nothing is released.
        rows.release(22..27);
        assert!(rows.pieces[1].is_empty() && rows.pieces[2].is_empty());
        for range in [0..7, 21..100] {
            assert_eq!(got(&rows, range.clone()), all[range]);
        }
    }
}
