//! Chains of ANDs of linear forms, by which small functions are written.

use crate::builder::bit::Bit;
use crate::builder::gates::Gates;

use super::tables::{AFFINE, PROJECTIONS, VARIABLES, normal_form};

/// A sum of variables (bits 0 to 5), earlier products (from bit 6) and the constant 1 (bit 15).
pub(super) type Form = u16;

/// The constant 1 as a form.
const ONE: Form = 1 << 15;

/// Returns a variable as a form.
pub(super) fn variable(i: usize) -> Form {
    1 << i
}

/// Returns a product as a form.
pub(super) fn product(i: usize) -> Form {
    1 << (VARIABLES + i)
}

/// Products of pairs of forms, and the form that is the result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) ands: Vec<[Form; 2]>,
    pub(super) result: Form,
}

impl Chain {
    /// Returns how many ANDs it takes.
    pub(super) fn cost(&self) -> u32 {
        self.ands.len() as u32
    }

    /// Returns the truth table of what it computes.
    pub(super) fn table(&self) -> u64 {
        let mut products = Vec::with_capacity(self.ands.len());
        for &[a, b] in &self.ands {
            let product = Self::value(a, &products) & Self::value(b, &products);
            products.push(product);
        }
        Self::value(self.result, &products)
    }

    fn value(form: Form, products: &[u64]) -> u64 {
        let bits = PROJECTIONS.iter().chain(products).enumerate();
        let sum = bits.filter(|(i, _)| form >> i & 1 == 1).fold(0, |sum, (_, table)| sum ^ table);
        if form & ONE != 0 { !sum } else { sum }
    }

    /// Keeps the products and sets the result that makes it this function; returns `None` if they
    /// differ by more than an affine function.
    pub(super) fn made(mut self, function: u64) -> Option<Chain> {
        let rest = normal_form(function ^ self.table());
        if rest & !AFFINE != 0 {
            return None;
        }
        for i in (0..VARIABLES).filter(|i| rest >> (1u64 << i) & 1 == 1) {
            self.result ^= variable(i);
        }
        if rest & 1 == 1 {
            self.result ^= ONE;
        }
        Some(self)
    }

    /// Substitutes forms for the variables.
    pub(super) fn with(mut self, forms: &[Form; VARIABLES]) -> Chain {
        let replace = |form: Form| {
            (0..VARIABLES)
                .filter(|i| form >> i & 1 == 1)
                .fold(form & !0x3f, |sum, i| sum ^ forms[i])
        };
        self.ands.iter_mut().flatten().for_each(|form| *form = replace(*form));
        self.result = replace(self.result);
        self
    }

    /// Adds another chain's products after these; returns the form of its result.
    pub(super) fn append(&mut self, other: &Chain) -> Form {
        let before = self.ands.len();
        let moved = |form: Form| form & (ONE | 0x3f) | (form & !ONE & !0x3f) << before;
        self.ands.extend(other.ands.iter().map(|pair| pair.map(moved)));
        moved(other.result)
    }

    /// Adds a product; returns its form.
    pub(super) fn and(&mut self, a: Form, b: Form) -> Form {
        self.ands.push([a, b]);
        product(self.ands.len() - 1)
    }

    /// Writes it with these bits as its variables.
    pub(super) fn write(&self, g: &mut Gates, leaves: &[Bit]) -> Bit {
        let mut bits = [Bit::ZERO; 15];
        bits[..leaves.len()].copy_from_slice(leaves);
        let sum = |g: &mut Gates, bits: &[Bit], form: Form| {
            let start = Bit::constant(form & ONE != 0);
            let terms = bits.iter().enumerate().filter(|(i, _)| form >> i & 1 == 1);
            terms.fold(start, |sum, (_, &bit)| g.xor_bit(sum, bit))
        };
        for (place, &[a, b]) in self.ands.iter().enumerate() {
            let (a, b) = (sum(g, &bits, a), sum(g, &bits, b));
            bits[VARIABLES + place] = g.and_bit(a, b);
        }
        sum(g, &bits, self.result)
    }
}
