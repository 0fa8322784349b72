//! What the body of a repeated loop takes from around it.

use std::collections::HashMap;
use std::rc::Rc;

use symbolon_circuit::builder::{Bit, Gates, Word};

use crate::tir::Local;

/// What the body of a repeated loop takes from around it.
pub(super) struct Outer {
    /// The surrounding variables.
    pub(super) words: Vec<Rc<Word>>,
    /// Those that have not been taken yet, and are not the body's own.
    pub(super) pending: Vec<bool>,
    /// The inputs for bits from outside.
    pub(super) bits: HashMap<Bit, Bit>,
    /// The inputs for elements of arrays, by the array and the first round's index.
    pub(super) elements: HashMap<(usize, u64), Word>,
    /// What these inputs are, in their order.
    pub(super) passed: Vec<Passed>,
    pub(super) counter: Option<Counter>,
}

pub(super) enum Passed {
    Fixed(Bit),
    Strided(Word),
}

/// The counter of a repeated loop.
#[derive(Clone, Copy)]
pub(super) struct Counter {
    pub(super) local: Local,
    /// In the first round.
    pub(super) low: i128,
    pub(super) count: u32,
}

impl Outer {
    /// Returns the input for a bit from outside.
    pub(super) fn bit(&mut self, gates: &mut Gates, bit: Bit) -> Bit {
        if bit.as_constant().is_some() {
            return bit;
        }
        *self.bits.entry(bit).or_insert_with(|| {
            self.passed.push(Passed::Fixed(bit));
            gates.further_input(1)[0]
        })
    }
}
