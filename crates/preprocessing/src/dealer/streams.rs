//! The randomness that a party and the dealer expand from the party's seed.
//!
//! The generator of the seed yields Δ, the seed of the bits, and for each peer the seed of the keys
//! for its bits. Both sides draw the same numbers in the same order: inputs, then gates chunk by
//! chunk. Keys are whole blocks, so they may be drawn in any portions.
//!
//! The generator starts at a block that depends on the session and the party. If all started at the
//! same block, one guess of a seed could be tested against the parties of all sessions at once.

use symbolon_primitives::{BitVec, Block, Delta, Prg, derive_block};
use symbolon_transport::PartyId;

use super::{C, CLOSING, Request, SHARES};
use crate::{PeerIndex, shares::lsb_of_delta};

/// One party's Δ, bits and keys.
pub(super) struct Streams {
    pub delta: Delta,
    bits: Prg,
    /// One generator per peer, in ascending order of their numbers.
    keys: Vec<Prg>,
    closes: bool,
}

impl Streams {
    /// Creates the streams of `party` in the session of `request`.
    pub fn new(seed: Block, request: &Request, party: PartyId) -> Self {
        let parties = request.parties();
        let start = derive_block("symbolon dealer streams 1", &request.session, party.into());
        let mut root = Prg::starting_at(seed, start);
        let delta = root.block().with_lsb(lsb_of_delta(party, request.evaluator, parties));
        let delta = Delta::new(delta);
        let bits = root.child();
        let keys = (1..parties).map(|_| root.child()).collect();
        Streams { delta, bits, keys, closes: party == CLOSING }
    }

    /// Returns the next `n` of the party's input masks.
    pub fn input_bits(&mut self, n: usize) -> BitVec {
        BitVec::random(n, &mut self.bits)
    }

    /// Returns the party's bits of the next `n` gates: masks, a, b, c. The closing party's c are
    /// not drawn and stay zero.
    pub fn gate_bits(&mut self, n: usize) -> [BitVec; SHARES] {
        std::array::from_fn(|which| match which {
            C if self.closes => BitVec::zeros(n),
            _ => BitVec::random(n, &mut self.bits),
        })
    }

    /// Writes the next keys for the bits of `peer`.
    pub fn keys(&mut self, peer: PeerIndex, keys: &mut [Block]) {
        self.keys[peer.get()].fill_blocks(keys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns Δ without its last bit, 128 bits and a key that a party expands from one seed.
    fn expanded(session: u8, party: u16) -> [Block; 3] {
        let request = Request {
            session: [session; 32],
            party: 0.into(),
            evaluator: 1.into(),
            and_gates: 0,
            input_bits: vec![128; 2],
            keys: Vec::new(),
        };
        let mut streams = Streams::new(Block(7), &request, party.into());
        let bits = streams.input_bits(128).to_bytes();
        let mut key = [Block::ZERO];
        streams.keys(PeerIndex::of(1 - party, party), &mut key);
        let bits = Block::from_bytes(bits.try_into().expect("16 bytes"));
        [streams.delta.with_lsb(false), bits, key[0]]
    }

    #[test]
    fn a_seed_has_other_streams_in_every_session_and_for_every_party() {
        assert_eq!(expanded(1, 0), expanded(1, 0));
        let all = [(1, 0), (2, 0), (1, 1), (2, 1)].map(|(session, party)| expanded(session, party));
        for (k, one) in all.iter().enumerate() {
            for other in &all[..k] {
                assert!(one.iter().zip(other).all(|(one, other)| one != other));
            }
        }
    }
}
