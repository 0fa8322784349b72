//! What free gates do to the values that a party holds for wires.

use std::ops::Range;

use symbolon_circuit::{Cursor, Linear, Plan};
use symbolon_primitives::{Block, Delta, Prg, Seed};
use zeroize::ZeroizeOnDrop;

/// Values on wires: labels, masks, masked values.
pub trait WireStore {
    /// Wire `out` becomes `a` ⊕ `b`.
    fn xor(&mut self, a: usize, b: usize, out: usize);

    /// Wire `out` becomes the negation of wire `a`.
    fn not(&mut self, a: usize, out: usize);

    /// Wire `out` becomes a public constant.
    fn constant(&mut self, value: bool, out: usize);

    /// The wires from `out` on become copies of the wires `from`, in order.
    fn copy(&mut self, from: Range<usize>, out: usize);

    /// Evaluates free gates in order; wires are counted from `base`.
    #[inline]
    fn free_gates(&mut self, base: usize, gates: &[Linear]) {
        let at = |slot: u32| base + slot as usize;
        for &gate in gates {
            match gate {
                Linear::Xor { a, b, out } => self.xor(at(a), at(b), at(out)),
                Linear::Inv { a, out } => self.not(at(a), at(out)),
                Linear::Copy { from, out, len } => self.copy(at(from)..at(from + len), at(out)),
                Linear::Const { value, out } => self.constant(value, at(out)),
            }
        }
    }

    /// Evaluates the free gates after the last AND gate.
    #[inline]
    fn finish(&mut self, mut cursor: Cursor<'_>) {
        while let Some(batch) = cursor.next_batch() {
            self.free_gates(batch.base, batch.linear);
        }
    }
}

/// A garbler's labels L_w,0 of the live wires. NOT and constants shift them by Δ.
#[derive(ZeroizeOnDrop)]
pub struct ZeroLabels {
    /// One per slot of the plan.
    pub slots: Vec<Block>,
    /// The offset of the labels for 1.
    pub delta: Delta,
}

impl ZeroLabels {
    /// Returns the labels at the start of a walk: zero except for the inputs.
    ///
    /// # Panics
    /// If there is not one label for each input bit.
    pub fn new(plan: &Plan, delta: &Delta, inputs: &[Block]) -> Self {
        ZeroLabels { slots: slots(plan, inputs), delta: delta.clone() }
    }

    /// Returns the labels at the start of a walk with random labels for the inputs: the stream of
    /// `seed` from `start`, which no other garbling uses.
    pub fn from_seed(plan: &Plan, delta: &Delta, (seed, start): (&Seed, Block)) -> Self {
        let mut slots = vec![Block::ZERO; plan.slots()];
        Prg::starting_at(**seed, start).fill_blocks(&mut slots[plan.input_slots()]);
        ZeroLabels { slots, delta: delta.clone() }
    }

    /// Evaluates the free gates after the last AND gate and returns the labels of the outputs.
    pub fn outputs(&mut self, plan: &Plan, cursor: Cursor<'_>) -> Vec<Block> {
        self.finish(cursor);
        outputs(plan, &self.slots)
    }
}

impl WireStore for ZeroLabels {
    #[inline]
    fn xor(&mut self, a: usize, b: usize, out: usize) {
        self.slots[out] = self.slots[a] ^ self.slots[b];
    }

    #[inline]
    fn not(&mut self, a: usize, out: usize) {
        self.slots[out] = self.slots[a] ^ *self.delta;
    }

    #[inline]
    fn constant(&mut self, value: bool, out: usize) {
        self.slots[out] = self.delta.select(value);
    }

    #[inline]
    fn copy(&mut self, from: Range<usize>, out: usize) {
        self.slots.copy_within(from, out);
    }
}

/// An evaluator's labels of the live wires. NOT keeps a label; the label of a constant is 0.
#[derive(ZeroizeOnDrop)]
pub struct ActiveLabels {
    /// One per slot of the plan.
    pub slots: Vec<Block>,
}

impl ActiveLabels {
    /// Returns the labels at the start of a walk: zero except for the inputs.
    ///
    /// # Panics
    /// If there is not one label for each input bit.
    pub fn new(plan: &Plan, inputs: &[Block]) -> Self {
        ActiveLabels { slots: slots(plan, inputs) }
    }
}

impl WireStore for ActiveLabels {
    #[inline]
    fn xor(&mut self, a: usize, b: usize, out: usize) {
        self.slots[out] = self.slots[a] ^ self.slots[b];
    }

    #[inline]
    fn not(&mut self, a: usize, out: usize) {
        self.slots[out] = self.slots[a];
    }

    #[inline]
    fn constant(&mut self, _: bool, out: usize) {
        self.slots[out] = Block::ZERO;
    }

    #[inline]
    fn copy(&mut self, from: Range<usize>, out: usize) {
        self.slots.copy_within(from, out);
    }
}

fn slots(plan: &Plan, inputs: &[Block]) -> Vec<Block> {
    let mut slots = vec![Block::ZERO; plan.slots()];
    let places = &mut slots[plan.input_slots()];
    assert_eq!(places.len(), inputs.len(), "one label for each input bit");
    places.copy_from_slice(inputs);
    slots
}

/// Returns the labels of the plan's outputs at the end of a walk, in order.
pub(crate) fn outputs(plan: &Plan, slots: &[Block]) -> Vec<Block> {
    plan.output_slots().iter().map(|&slot| slots[slot as usize]).collect()
}
