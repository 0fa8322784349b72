//! Δ_ot, as the evaluator may learn it.

use symbolon_primitives::{Block, Secret};

/// Δ_ot, if the evaluator has learnt it. Whether it has is just as secret: nothing branches on it.
#[derive(Clone, Default)]
pub(super) struct CommonOffset {
    offset: Secret<Block>,
    known: bool,
}

impl CommonOffset {
    /// Records `offset` if it `is_one` and none is known yet.
    pub fn learn(&mut self, offset: Block, is_one: bool) {
        let new = offset.select(is_one & !self.known);
        *self.offset ^= new;
        self.known |= is_one;
    }

    /// Returns Δ_ot, or zero if it is not known.
    pub fn value(&self) -> Block {
        *self.offset
    }

    pub fn is_known(&self) -> bool {
        self.known
    }
}
