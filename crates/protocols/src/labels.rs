//! Labels of wires: what garblers and evaluators of every protocol do with them.

use std::ops::Range;

use symbolon_circuit::{Cursor, Plan};
use symbolon_primitives::{BitVec, Block, Delta, Prg};
use zeroize::Zeroize;

use crate::gates::{correlations::PartySecrets, wire_store::WireStore};

/// How many independent gates are garbled or evaluated at a time: what is hashed for them stays in
/// the first-level cache, and fills the widest registers.
pub(crate) const RUN: usize = 64;

/// Gates of a message of garbled gates; the last one of a chunk has fewer. While the evaluator
/// takes one in, the garbler makes the next.
pub(crate) const MESSAGE: usize = 1024;

/// A garbler's labels L_w,0 of the wires that are alive. NOT and constants shift them by Δ.
pub(crate) struct ZeroLabels {
    pub slots: Vec<Block>,
    pub delta: Delta,
}

impl ZeroLabels {
    /// Fresh random labels on the inputs.
    pub fn fresh(plan: &Plan, secrets: &PartySecrets) -> Self {
        let mut slots = vec![Block::ZERO; plan.slots()];
        Prg::from_seed(*secrets.seed).fill_blocks(&mut slots[plan.input_slots()]);
        ZeroLabels { slots, delta: secrets.delta.clone() }
    }

    /// The labels of the outputs, once all gates are garbled.
    pub fn outputs(&mut self, plan: &Plan, cursor: Cursor<'_>) -> Vec<Block> {
        self.finish(cursor);
        plan.output_slots().iter().map(|&slot| self.slots[slot as usize]).collect()
    }
}

impl WireStore for ZeroLabels {
    fn xor(&mut self, a: usize, b: usize, out: usize) {
        self.slots[out] = self.slots[a] ^ self.slots[b];
    }

    fn not(&mut self, a: usize, out: usize) {
        self.slots[out] = self.slots[a] ^ *self.delta;
    }

    fn constant(&mut self, value: bool, out: usize) {
        self.slots[out] = self.delta.select(value);
    }

    fn copy(&mut self, from: Range<usize>, out: usize) {
        self.slots.copy_within(from, out);
    }
}

impl Drop for ZeroLabels {
    fn drop(&mut self) {
        self.slots.zeroize();
    }
}

/// Empties a list, and sees to it that there is room for `n`. Memory that it outgrows is wiped
/// first.
pub(crate) fn make_room<T>(list: &mut Vec<T>, n: usize)
where
    Vec<T>: Zeroize,
{
    if list.capacity() < n {
        list.zeroize();
        *list = Vec::with_capacity(n);
    }
    list.clear();
}

/// The labels L_w,Λ for masked values Λ.
pub(crate) fn chosen(zero: &[Block], masked: &BitVec, delta: Block) -> Vec<Block> {
    let choose = |(w, label): (usize, &Block)| *label ^ delta.select(masked.get(w));
    zero.iter().enumerate().map(choose).collect()
}

/// What a row is hashed by: 2·L_α ⊕ 4·L_β.
#[inline]
pub(crate) fn row_input(alpha: Block, beta: Block) -> Block {
    (alpha ^ beta.double()).double()
}

/// The same for the four rows 2u + v of a gate, from L_α,0 and L_β,0.
#[inline]
pub(crate) fn row_inputs(alpha: Block, beta: Block, delta: Block) -> [Block; 4] {
    let (delta2, delta4) = (delta.double(), delta.double().double());
    let base = row_input(alpha, beta);
    [base, base ^ delta4, base ^ delta2, base ^ delta2 ^ delta4]
}
