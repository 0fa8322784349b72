//! The randomness that a party and the dealer expand from the party's seed.
//!
//! The generator of the seed yields Δ, the seed of the bits, and for each peer the seed of the keys
//! for its bits. Both sides draw the same numbers in the same order: inputs, then gates chunk by
//! chunk. Keys are whole blocks, so they may be drawn in any portions.

use symbolon_primitives::{BitVec, Block, Delta, Prg};
use symbolon_transport::PartyId;

use super::{C, CLOSING, SHARES};
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
    /// Creates the streams of `party` among `parties`.
    pub fn new(seed: Block, party: PartyId, evaluator: PartyId, parties: usize) -> Self {
        let mut root = Prg::from_seed(seed);
        let delta = root.block().with_lsb(lsb_of_delta(party, evaluator, parties));
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
