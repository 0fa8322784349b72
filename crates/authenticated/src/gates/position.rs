//! A party's position among those that garble.

use symbolon_circuit::PartyId;
use symbolon_primitives::Block;

use super::wire_shares::WireShares;

/// This party, and the one that evaluates.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    pub me: PartyId,
    /// The evaluator, which absorbs public constants: it flips its bit, and the others adjust their
    /// keys for it.
    pub evaluator: PartyId,
}

impl Position {
    /// Returns the evaluator's index among this party's peers; `None` for the evaluator itself.
    pub fn evaluator_index(self) -> Option<usize> {
        (self.me != self.evaluator)
            .then(|| usize::from(self.evaluator) - usize::from(self.evaluator > self.me))
    }

    /// Adds the public constant `bit` to share `k`.
    pub fn add_constant(self, shares: &mut WireShares, k: usize, bit: bool, delta: Block) {
        match self.evaluator_index() {
            None => shares.set_bit(k, shares.bit(k) ^ bit),
            Some(peer) => shares.auth_mut(k)[peer][1] ^= delta.select(bit),
        }
    }
}
