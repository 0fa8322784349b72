//! Labels of wires: what garblers and evaluators of every protocol do with them.

use symbolon_circuit::{Linear, Plan};
use symbolon_primitives::{BitVec, Block, Prg};
use zeroize::Zeroize;

/// How many independent gates are garbled or evaluated at a time: what is hashed for them stays in the first-level
/// cache, and fills the widest registers.
pub(crate) const RUN: usize = 64;

/// Gates of a message of garbled gates; the last one of a chunk has fewer. While the evaluator takes one in, the garbler
/// makes the next.
pub(crate) const MESSAGE: usize = 1024;

/// One slot per wire alive, with fresh random labels L_w,0 on the inputs.
pub(crate) fn fresh(plan: &Plan, seed: Block) -> Vec<Block> {
    let mut slots = vec![Block::ZERO; plan.slots()];
    Prg::from_seed(seed).fill_blocks(&mut slots[plan.input_slots()]);
    slots
}

/// Empties a list, and sees to it that there is room for `n`. Memory that it outgrows is wiped first.
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

/// A free gate, for the garbler: NOT and constants shift L_w,0 by its offset Δ.
pub(crate) fn step(slots: &mut [Block], linear: Linear, delta: Block) {
    match linear {
        Linear::Xor { a, b, out } => slots[out as usize] = slots[a as usize] ^ slots[b as usize],
        Linear::Inv { a, out } => slots[out as usize] = slots[a as usize] ^ delta,
        Linear::Copy { from, out, len } => {
            slots.copy_within(from as usize..(from + len) as usize, out as usize);
        }
        Linear::Const { value, out } => slots[out as usize] = delta.select(value),
    }
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
