//! Random OTs in both directions, from correlated ones (F_rot, Fig. 10).
//!
//! A correlated OT k gives the receiver a bit c_k and a MAC M_k = K_k ⊕ c_k·Δ; hashed, with k as
//! the tweak, they are a random OT of the strings H(k, K_k) and H(k, K_k ⊕ Δ). A receiver *opens*
//! its bits to the sender by a digest of their MACs: to open another bit it would have to know Δ.

use std::ops::Range;

use symbolon_ot::cot::GlobalKey;
use symbolon_ot::{
    Workspace,
    cot::MAX_DRAW,
    setup::{self, Lane},
};
use symbolon_primitives::{BitVec, Block, Delta, Prg, TweakedHash, derive_block, hash_blocks};
use symbolon_transport::{PartyId, Result};
use zeroize::Zeroizing;

use crate::Network;

/// Blocks that are wiped when they are dropped.
pub(super) type Blocks = Zeroizing<Vec<Block>>;

/// How many own draws are sent before the first one of the peer is awaited.
const AHEAD: usize = 4;

/// The context of the digest by which choice bits are opened.
const OPENED: &str = "symbolon dualex opened choices 1";

/// OT in both directions with the peer.
pub(super) struct OtSession {
    lane: Lane,
    work: Workspace,
    /// The hash of OTs that this party receives, and of those that it sends.
    hashes: [TweakedHash; 2],
    /// How many were received and sent so far.
    drawn: [u64; 2],
}

/// OTs that this party received.
pub(super) struct ReceivedOts {
    hash: TweakedHash,
    first: u64,
    /// The choice bits c.
    pub choices: Zeroizing<BitVec>,
    macs: Blocks,
}

/// OTs that this party sent.
pub(super) struct SentOts {
    hash: TweakedHash,
    first: u64,
    delta: Delta,
    keys: Blocks,
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
            TweakedHash::new(derive_block("symbolon dualex ot 1", &session, party.into()))
        };
        let hashes = [hash(channel.me()), hash(channel.peer())];
        Ok(OtSession { lane, work: Workspace::default(), hashes, drawn: [0; 2] })
    }

    /// Receives random OTs with these choices, and sends `theirs` to the peer.
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
    ) -> Result<(ReceivedOts, SentOts)> {
        let channel = &mut net.peers()[0];
        let mut macs = Blocks::new(vec![Block::ZERO; choices.len()]);
        let mut keys = Blocks::new(vec![Block::ZERO; theirs]);
        let range =
            |n: usize, draw: usize| (draw * MAX_DRAW).min(n)..((draw + 1) * MAX_DRAW).min(n);
        let draws = choices.len().max(theirs).div_ceil(MAX_DRAW);
        for step in 0..draws + AHEAD {
            let own = range(choices.len(), step);
            if !own.is_empty() {
                let bits = choices.slice(own.clone());
                self.lane.receiver.extend(channel, &bits, &mut macs[own], &mut self.work)?;
            }
            let draw = step.checked_sub(AHEAD).map(|draw| range(theirs, draw));
            if let Some(draw) = draw.filter(|draw| !draw.is_empty()) {
                self.lane.sender.extend(channel, &mut keys[draw], &mut self.work)?;
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

impl ReceivedOts {
    /// The chosen strings of some of the OTs.
    ///
    /// Paper: RR16, Fig. 10
    pub fn messages(&self, range: Range<usize>) -> Blocks {
        let first = u128::from(self.first) + range.start as u128;
        let mut messages = Blocks::new(self.macs[range].to_vec());
        self.hash.hash(first, 1, &mut messages);
        messages
    }

    /// The digest that opens the choices of these runs of OTs.
    pub fn opening(&self, runs: impl Iterator<Item = Range<usize>>) -> [u8; 32] {
        let macs = runs.flat_map(|run| &self.macs[run]).copied();
        hash_blocks(OPENED, &Blocks::new(macs.collect()))
    }
}

impl SentOts {
    /// Both strings of some of the OTs.
    ///
    /// Paper: RR16, Fig. 10
    pub fn pairs(&self, range: Range<usize>) -> Zeroizing<Vec<[Block; 2]>> {
        let first = u128::from(self.first) + range.start as u128;
        let both = self.keys[range].iter().map(|key| [*key, *key ^ *self.delta]);
        let mut pairs = Zeroizing::new(both.collect::<Vec<_>>());
        self.hash.hash(first, 2, pairs.as_flattened_mut());
        pairs
    }

    /// The digest with which the receiver opens `choices`, the bits of these runs joined, if they
    /// are the bits that it used.
    pub fn expected_opening(
        &self,
        runs: impl Iterator<Item = Range<usize>>,
        choices: &BitVec,
    ) -> [u8; 32] {
        let keys = runs.flat_map(|run| &self.keys[run]).enumerate();
        let macs = keys.map(|(k, key)| *key ^ self.delta.select(choices.get(k)));
        hash_blocks(OPENED, &Blocks::new(macs.collect()))
    }
}
