//! Tables that are the AES S-box with an affine map before it and one after it.
//!
//! The S-box is inversion in GF(2⁸) and an affine map. So these are all tables that invert
//! between affine maps, in whatever basis: the inverse S-box, inversion itself, the S-box with what
//! a round does to its result. With S'(y) = S(y) ⊕ S(0), such a table is
//! T(x) = A(S'(B(x ⊕ c))) ⊕ T(c) for linear maps A and B, both injective.
//!
//! - *c*: for each a, one value of T(x) ⊕ T(x ⊕ a) has four solutions x, which inversion maps to
//!   a coset of GF(4) in a multiple of it. All others have two or none. The x = c is one of the
//!   four for every a.
//! - *A and B*: as 1/(ky) is 1/k · 1/y, B can be chosen with B(1) = 1. A guess of one more value
//!   decides all others: where B is known, A is known at S'(B(x)), and where A is known, B is known
//!   at the x with that entry. (A. Biryukov, C. De Cannière, A. Braeken, B. Preneel, A Toolbox for
//!   Cryptanalysis: Linear and Affine Equivalence Algorithms, EUROCRYPT 2003.)

use std::collections::HashMap;

use crate::Table;
use crate::builder::{Bit, Gates, Word};
use crate::builtin::sbox;

/// The maps around the S-box.
pub(super) struct AroundSbox {
    /// B of each bit of the input, and of c.
    before: [u8; 8],
    first: u8,
    /// A of each bit of the S-box's output, and what is added to it.
    after: [u64; 8],
    last: u64,
}

/// A linear map from bytes, as far as it is known.
struct Linear {
    values: [u64; 256],
    is_known: [bool; 256],
    /// The bytes whose values are known: a subspace, and zero first.
    known: Vec<u8>,
}

impl Linear {
    fn new() -> Linear {
        let mut is_known = [false; 256];
        is_known[0] = true;
        Linear { values: [0; 256], is_known, known: vec![0] }
    }

    /// Adds a value, and those of all sums; returns whether the value agrees with what is known.
    fn set(&mut self, x: u8, value: u64) -> bool {
        if self.is_known[usize::from(x)] {
            return self.values[usize::from(x)] == value;
        }
        for place in 0..self.known.len() {
            let other = self.known[place];
            let sum = x ^ other;
            self.values[usize::from(sum)] = value ^ self.values[usize::from(other)];
            self.is_known[usize::from(sum)] = true;
            self.known.push(sum);
        }
        true
    }

    fn of(&self, x: u8) -> u64 {
        self.values[usize::from(x)]
    }

    /// Returns the values of the bits.
    fn columns(&self) -> [u64; 8] {
        std::array::from_fn(|bit| self.of(1 << bit))
    }
}

/// A map of bytes without fixed part, and the byte of each of its values.
struct Bijection {
    values: Vec<u64>,
    bytes: HashMap<u64, u8>,
}

impl Bijection {
    /// Returns what is left of a table when the entry of `first` becomes that of zero, and zero;
    /// `None` if two entries are equal.
    fn of(table: &Table, first: u8) -> Option<Bijection> {
        let entry = |x: u8| table.entry(usize::from(x ^ first)) ^ table.entry(usize::from(first));
        let values: Vec<u64> = (0..=255).map(entry).collect();
        let bytes: HashMap<u64, u8> = values.iter().copied().zip(0..=255).collect();
        (bytes.len() == values.len()).then_some(Bijection { values, bytes })
    }

    fn at(&self, x: u8) -> u64 {
        self.values[usize::from(x)]
    }
}

impl AroundSbox {
    /// Returns the maps around the S-box that give a table, if there are any.
    pub(super) fn of(table: &Table) -> Option<AroundSbox> {
        let centre = if table.inputs() == 8 { centre(table)? } else { return None };
        let (inner, outer) = (Bijection::of(&sbox::TABLE, 0)?, Bijection::of(table, centre)?);
        // Some bit does not go to a subfield, so that one guess for it decides everything.
        let guesses = (1..8).flat_map(|bit| (2..=255).map(move |value| (1 << bit, value)));
        let (before, after) = guesses
            .filter_map(|guess| grown(&inner, &outer, guess))
            .find(|(before, _)| before.known.len() == 256)?;
        let zero = sbox::TABLE.entry(0) as u8;
        Some(AroundSbox {
            before: before.columns().map(|column| column as u8),
            first: before.of(centre) as u8,
            after: after.columns(),
            last: after.of(zero) ^ table.entry(usize::from(centre)),
        })
    }

    /// Writes the table's outputs for these inputs.
    pub(super) fn write(&self, g: &mut Gates, inputs: &[Bit], outputs: u32) -> Vec<Bit> {
        let columns = self.before.map(u64::from);
        let byte: Word = affine(g, inputs, (&columns, self.first.into()), 8).into();
        let byte = sbox::sbox(g, &byte);
        affine(g, &byte, (&self.after, self.last), outputs)
    }
}

/// Returns the sum of the columns of the bits that are set, and of a constant.
fn affine(
    g: &mut Gates,
    bits: &[Bit],
    (columns, constant): (&[u64; 8], u64),
    outputs: u32,
) -> Vec<Bit> {
    let one = |output: u32| {
        let terms = bits.iter().zip(columns).filter(|(_, column)| **column >> output & 1 == 1);
        let start = Bit::constant(constant >> output & 1 == 1);
        terms.fold(start, |sum, (&bit, _)| g.xor_bit(sum, bit))
    };
    (0..outputs).map(one).collect()
}

/// Returns the byte that goes to zero before the inversion; `None` if that cannot be.
fn centre(table: &Table) -> Option<u8> {
    let mut candidates = [true; 256];
    for a in 1..=255usize {
        let difference = |x: usize| table.entry(x) ^ table.entry(x ^ a);
        let mut differences: Vec<u64> = (0..256).map(difference).collect();
        differences.sort_unstable();
        let mut runs = differences.chunk_by(|a, b| a == b).filter(|run| run.len() != 2);
        let found = runs.next().filter(|run| run.len() == 4)?[0];
        if runs.next().is_some() {
            return None;
        }
        for (x, candidate) in candidates.iter_mut().enumerate() {
            *candidate &= difference(x) == found;
        }
    }
    let place = candidates.iter().position(|candidate| *candidate)?;
    u8::try_from(place).ok()
}

/// Returns the maps before and after `inner` that give `outer` where they follow from a guess of
/// the first one's value at one place; `None` if they cannot be linear.
fn grown(inner: &Bijection, outer: &Bijection, (x, value): (u8, u64)) -> Option<(Linear, Linear)> {
    let (mut before, mut after) = (Linear::new(), Linear::new());
    if !before.set(1, 1) || !before.set(x, value) {
        return None;
    }
    let (mut seen_before, mut seen_after) = (0, 0);
    loop {
        if let Some(&x) = before.known.get(seen_before) {
            seen_before += 1;
            if !after.set(inner.at(before.of(x) as u8) as u8, outer.at(x)) {
                return None;
            }
        } else if let Some(&y) = after.known.get(seen_after) {
            seen_after += 1;
            let x = *outer.bytes.get(&after.of(y))?;
            let byte = *inner.bytes.get(&u64::from(y))?;
            if !before.set(x, byte.into()) {
                return None;
            }
        } else {
            return Some((before, after));
        }
    }
}
