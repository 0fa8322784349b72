//! The body of a repeated loop, and what it takes from around it.

use std::collections::HashMap;
use std::rc::Rc;

use num_bigint::BigInt;
use symbolon_circuit::builder::{Bit, Gates, Word};

use crate::ids::ExprId;
use crate::tir::{Expr, Local, Pattern};

/// What a loop does in every round.
#[derive(Clone, Copy)]
pub(super) struct Body<'e> {
    pub(super) pattern: &'e Pattern,
    pub(super) expr: &'e Expr,
    /// Whether its values become an array.
    pub(super) gives: bool,
}

/// What a loop goes over.
pub(super) enum Rounds {
    /// Integers from this one on.
    Range(BigInt),
    /// The elements of an array, of this many bits each.
    Array(Word, usize),
}

/// The gates that a body may take.
#[derive(Clone, Copy)]
pub(super) enum Most {
    /// None of its own: only calls and free gates.
    Calls,
    /// At most as many ANDs and look-ups as a round that was written out.
    Gates(u64, u64),
}

impl Most {
    pub(super) fn is_large(self) -> bool {
        matches!(self, Most::Gates(..))
    }
}

/// An array from outside.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Array {
    Variable(Local),
    Constant(ExprId),
}

/// An array and the width of its elements, and their places in all rounds.
type Gathered = ((Array, usize), Rc<[u32]>);

/// What the body of a repeated loop takes from around it.
pub(super) struct Outer {
    /// The surrounding variables.
    pub(super) words: Vec<Rc<Word>>,
    /// Those that have not been taken yet, and are not the body's own.
    pub(super) pending: Vec<bool>,
    /// The inputs for bits from outside.
    pub(super) bits: HashMap<Bit, Bit>,
    /// The inputs for elements of arrays, those of a body's rounds in a row, by the array and the
    /// first round's index.
    pub(super) elements: HashMap<(Array, u64), Word>,
    /// Those of arrays at other places, by the array, their width and their places in all rounds.
    pub(super) others: HashMap<Gathered, Word>,
    /// What these inputs are, in their order.
    pub(super) passed: Vec<Passed>,
    pub(super) counter: Option<Counter>,
    /// The first round in which a constant is another one than in the rounds before.
    pub(super) differs: Option<u32>,
    /// The arrays whose elements are variables of their own, with the number of indices that each
    /// has, and these elements.
    pub(super) arrays: Vec<(Local, usize)>,
    pub(super) scattered: Vec<Element>,
    /// Whether bits of elements that are the same constants before the loop are taken to stay so
    /// until their round.
    pub(super) assumes: bool,
}

pub(super) enum Passed {
    Fixed(Bit),
    Strided(Word),
    /// These bits in the first round.
    Carried(Word),
}

/// The rounds of a loop that one repeat writes: `bodies` times `each`, from round `place` on.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    pub(super) place: u64,
    pub(super) bodies: u32,
    /// How many rounds a body has.
    pub(super) each: u32,
}

impl Stretch {
    pub(super) fn rounds(self) -> u64 {
        u64::from(self.bodies) * u64::from(self.each)
    }
}

/// The counter of a repeated loop.
#[derive(Clone, Copy)]
pub(super) struct Counter {
    pub(super) local: Local,
    /// In the first round.
    pub(super) low: i128,
    pub(super) bodies: u32,
    /// How many rounds a body has, and which of them is being written.
    pub(super) each: u32,
    pub(super) part: u32,
}

impl Counter {
    /// Returns its value in a body's present round.
    pub(super) fn value(&self, body: u32) -> i128 {
        self.low + i128::from(body) * i128::from(self.each) + i128::from(self.part)
    }

    /// Returns the low bits of that value.
    pub(super) fn at(&self, body: u32) -> u64 {
        self.value(body) as u64
    }

    /// Returns how many rounds there are.
    pub(super) fn rounds(&self) -> u64 {
        u64::from(self.bodies) * u64::from(self.each)
    }
}

impl Outer {
    /// Returns the input for what each round has of its own, of which these are the bits.
    pub(super) fn strided(&mut self, gates: &mut Gates, all: Word, width: usize) -> Word {
        if width == 0 {
            return Word::zero(0);
        }
        self.passed.push(Passed::Strided(all));
        gates.further_input(width as u32)
    }

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

/// An element of an array in the body of a repeated loop.
pub(super) struct Element {
    pub(super) array: Local,
    /// The variable that it is in the body.
    pub(super) variable: Local,
    /// Its place in the array, in each round.
    pub(super) places: Rc<[u32]>,
    pub(super) width: usize,
    /// Its bits as a round begins.
    pub(super) before: Word,
    /// The bits that are inputs of the body. The others are the same constants in all rounds.
    pub(super) open: Vec<u32>,
    /// Which of the things from outside these inputs are.
    pub(super) passed: usize,
}
