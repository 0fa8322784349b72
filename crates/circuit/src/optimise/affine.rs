//! Small functions by their multiplicative complexity: how many ANDs they need.
//!
//! A function's algebraic normal form without its affine part determines its class, as far as
//! needed here. The base knows
//! - quadratic forms in any number of variables: half their rank (Dickson; Mirwald and Schnorr);
//! - functions of four variables, all found once by search: those of degree 4 are the product of
//!   two functions with one AND each;
//! - functions that depend on four linear forms and an affine one, whatever their variables: their
//!   linear structures give the forms;
//! - functions that one more AND splits into two of these: f = l · (f₀ ⊕ f₁) ⊕ f₀ for a linear form
//!   l.
//!
//! The first three are optimal; the last is the best such split.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::LazyLock;

use super::chain::{Chain, Form, product, variable};
use super::tables::{
    AFFINE, PROJECTIONS, VARIABLES, degree, exchanged, normal_form, restricted, shifted,
};

/// Returns a linear form of four variables, as a truth table.
fn linear(form: Form) -> u64 {
    (0..4).filter(|i| form >> i & 1 == 1).fold(0, |sum, i| sum ^ PROJECTIONS[i])
}

/// The chains of all functions of four variables that are not quadratic, by their forms without the
/// affine part.
static FOUR: LazyLock<HashMap<u64, Chain>> = LazyLock::new(|| {
    let mut found = HashMap::new();
    let pairs = || (1..16u16).flat_map(|a| (a + 1..16).map(move |b| [a, b]));
    for first in pairs() {
        let one = linear(first[0]) & linear(first[1]);
        for (a, b) in (0..16u16).flat_map(|a| (0..16u16).map(move |b| (a, b))) {
            for choice in 0..8u16 {
                let with = |bit: u16| if choice >> bit & 1 == 1 { product(0) } else { 0 };
                let table = |bit: u16| if choice >> bit & 1 == 1 { one } else { 0 };
                let value = (linear(a) ^ table(0)) & (linear(b) ^ table(1)) ^ table(2);
                let chain = || Chain {
                    ands: vec![first, [a ^ with(0), b ^ with(1)]],
                    result: product(1) ^ with(2),
                };
                found.entry(normal_form(value) & !AFFINE).or_insert_with(chain);
            }
        }
    }
    // Functions with one AND, each up to a constant, in a fixed order.
    let mut single: BTreeMap<u64, ([Form; 2], Form)> = BTreeMap::new();
    for pair in pairs() {
        let one = linear(pair[0]) & linear(pair[1]);
        for more in 0..16 {
            single.entry(one ^ linear(more)).or_insert((pair, more));
        }
    }
    let single: Vec<_> = single.into_iter().collect();
    for (place, (one, (first, more))) in single.iter().enumerate() {
        for (other, (second, rest)) in &single[place + 1..] {
            for choice in 0..4u16 {
                let constant = |bit: u16| if choice >> bit & 1 == 1 { u64::MAX } else { 0 };
                let form = normal_form((one ^ constant(0)) & (other ^ constant(1))) & !AFFINE;
                if degree(form) < 4 || found.contains_key(&form) {
                    continue;
                }
                let inverted = |bit: u16| if choice >> bit & 1 == 1 { 1 << 15 } else { 0 };
                let factors = [product(0) ^ more ^ inverted(0), product(1) ^ rest ^ inverted(1)];
                let ands = vec![*first, *second, factors];
                found.insert(form, Chain { ands, result: product(2) });
            }
        }
    }
    found
});

/// What is known of the functions met so far, by their forms without the affine part.
#[derive(Default)]
pub(super) struct Base {
    simple: HashMap<u64, Option<Rc<Chain>>>,
    split: HashMap<u64, Option<Rc<Chain>>>,
}

impl Base {
    /// Returns how many ANDs a function takes, if that is known and less than `below`.
    pub(super) fn cost(&mut self, function: u64, below: u32) -> Option<u32> {
        let form = normal_form(function) & !AFFINE;
        // Functions of degree d take at least d - 1 ANDs.
        if degree(form) > below {
            return None;
        }
        let chain = match self.simple_of(form) {
            Some(chain) => chain,
            // Functions that are not simple take at least three ANDs.
            None if below > 3 => self.split_of(form)?,
            None => return None,
        };
        Some(chain.cost()).filter(|cost| *cost < below)
    }

    /// Returns the chain of a function.
    pub(super) fn chain(&mut self, function: u64) -> Option<Chain> {
        let form = normal_form(function) & !AFFINE;
        let chain = self.simple_of(form).or_else(|| self.split_of(form))?;
        Chain::clone(&chain).made(function)
    }

    fn simple_of(&mut self, form: u64) -> Option<Rc<Chain>> {
        let find = || simple(normal_form(form)).map(Rc::new);
        self.simple.entry(form).or_insert_with(find).clone()
    }

    fn split_of(&mut self, form: u64) -> Option<Rc<Chain>> {
        let find = || split(normal_form(form)).map(Rc::new);
        self.split.entry(form).or_insert_with(find).clone()
    }
}

/// Returns the chain of a quadratic function, or of one of four linear forms.
fn simple(function: u64) -> Option<Chain> {
    let form = normal_form(function) & !AFFINE;
    if let Some(quadratic) = Quadratic::of(form) {
        return quadratic.chain().made(function);
    }
    let (reduced, forms) = without_structures(function)?;
    let key = normal_form(reduced) & !AFFINE;
    FOUR.get(&key)?.clone().with(&forms).made(function)
}

/// Returns a function of at most four variables and the linear forms to substitute for them, which
/// give this function up to an affine one; `None` if it takes more.
///
/// If f(x) ⊕ f(x ⊕ a) is constant for all x, then a is a linear structure. Up to an affine function
/// f depends only on x modulo all of them.
fn without_structures(function: u64) -> Option<(u64, [Form; VARIABLES])> {
    // The structures in reduced echelon form: each has a variable that no other one has.
    let mut basis: Vec<(usize, usize)> = Vec::new();
    for a in 1..64usize {
        let a = basis.iter().fold(a, |a, &(pivot, b)| if a >> pivot & 1 == 1 { a ^ b } else { a });
        let derivative = function ^ shifted(function, a);
        if a == 0 || (derivative != 0 && derivative != u64::MAX) {
            continue;
        }
        let pivot = a.trailing_zeros() as usize;
        for (_, b) in basis.iter_mut().filter(|(_, b)| b >> pivot & 1 == 1) {
            *b ^= a;
        }
        basis.push((pivot, a));
    }
    if basis.len() < 2 {
        return None;
    }
    // With the pivots set to zero by adding structures, the others become linear forms.
    let mut reduced = function;
    basis.iter().for_each(|&(pivot, _)| reduced = restricted(reduced, pivot, false));
    let mut forms = [0; VARIABLES];
    let left = (0..VARIABLES).filter(|v| basis.iter().all(|(pivot, _)| pivot != v));
    for (place, v) in left.enumerate() {
        reduced = exchanged(reduced, place, v);
        let with = basis.iter().filter(|(_, b)| b >> v & 1 == 1);
        forms[place] = with.fold(variable(v), |form, &(pivot, _)| form ^ variable(pivot));
    }
    Some((reduced, forms))
}

/// Returns the best chain for a function that one AND with a linear form splits into two simple
/// ones.
fn split(function: u64) -> Option<Chain> {
    let mut best: Option<Chain> = None;
    for form in 1..64u16 {
        // Where the form is 0 or 1, its first variable is the sum of the others, or that plus 1.
        let pivot = form.trailing_zeros() as usize;
        let others = (pivot + 1..VARIABLES).filter(|i| form >> i & 1 == 1);
        let sum = others.fold(0, |sum, i| sum ^ PROJECTIONS[i]);
        let (low, high) = (restricted(function, pivot, false), restricted(function, pivot, true));
        let zero = low & !sum | high & sum;
        let one = low & sum | high & !sum;
        let Some(difference) = simple(zero ^ one) else { continue };
        for (side, flip) in [(zero, 0), (one, 1 << 15)] {
            let Some(rest) = simple(side) else { continue };
            let cost = difference.cost() + rest.cost() + 1;
            if best.as_ref().is_some_and(|best| best.cost() <= cost) {
                continue;
            }
            let mut chain = difference.clone();
            let factor = chain.result;
            let product = chain.and(form ^ flip, factor);
            let rest = chain.append(&rest);
            chain.result = product ^ rest;
            best = Some(chain);
        }
    }
    best
}

/// A quadratic form without its affine part: for each variable, those that it is multiplied with.
struct Quadratic([u8; VARIABLES]);

impl Quadratic {
    /// Returns the chain of the form, up to an affine function.
    fn chain(self) -> Chain {
        let mut chain = Chain::default();
        for (a, b) in self.factors() {
            let product = chain.and(a.into(), b.into());
            chain.result ^= product;
        }
        chain
    }

    fn of(form: u64) -> Option<Quadratic> {
        let mut neighbours = [0; VARIABLES];
        let mut rest = form;
        while rest != 0 {
            let set = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            if set.count_ones() != 2 {
                return None;
            }
            let (low, high) = (set.trailing_zeros() as usize, set.ilog2() as usize);
            neighbours[low] |= 1 << high;
            neighbours[high] |= 1 << low;
        }
        Some(Quadratic(neighbours))
    }

    /// Returns the fewest products of linear forms whose sum it is up to an affine part (Dickson).
    fn factors(mut self) -> Vec<(u8, u8)> {
        let mut factors = Vec::new();
        while let Some(i) = (0..VARIABLES).find(|&i| self.0[i] != 0) {
            // x·A + y·B + x·y = (x + B)(y + A) + A·B: both variables leave the rest.
            let j = self.0[i].trailing_zeros() as usize;
            let (a, b) = (self.0[i] & !(1 << j), self.0[j] & !(1 << i));
            factors.push((1 << i | b, 1 << j | a));
            for v in [i, j] {
                self.0[v] = 0;
                self.0.iter_mut().for_each(|row| *row &= !(1 << v));
            }
            for p in 0..VARIABLES {
                if a >> p & 1 == 1 {
                    self.0[p] ^= b & !(1 << p);
                }
                if b >> p & 1 == 1 {
                    self.0[p] ^= a & !(1 << p);
                }
            }
        }
        factors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{Builder, and_count};
    use crate::{Receivers, Type, reference};

    /// Writes the function and compares it with its truth table; returns its AND gates.
    fn check(variables: u32, function: u64) -> u64 {
        let mut b = Builder::new("f");
        let x = b.input("x", Type::Uint(variables), 0);
        let y = Base::default().chain(function).expect("it is known").write(&mut b, &x);
        b.output("y", &y.into(), Type::Uint(1), Receivers::All);
        let circuit = b.finish().unwrap();
        for place in 0..1usize << variables {
            let bits: Vec<bool> = (0..variables).map(|i| place >> i & 1 == 1).collect();
            assert_eq!(
                reference::eval(&circuit, &bits)[0],
                function >> place & 1 == 1,
                "{function:x} {place}"
            );
        }
        and_count(&circuit)
    }

    /// Returns the truth table of fewer variables as one of six.
    fn repeated(table: u64, variables: u32) -> u64 {
        (variables..6).fold(table, |table, v| table | table << (1 << v))
    }

    #[test]
    fn functions_of_three_variables_take_as_many_ands_as_their_degree_needs() {
        for table in 0..256u64 {
            let function = repeated(table, 3);
            let ands = Base::default().cost(function, 9).expect("all are known");
            let degree_three = table.count_ones() % 2 == 1;
            assert!(ands <= if degree_three { 2 } else { 1 }, "{table:x}");
            assert_eq!(check(3, function), u64::from(ands), "{table:x}");
        }
    }

    #[test]
    fn functions_of_four_variables_take_three_ands_at_most() {
        let mut base = Base::default();
        for table in 0..1 << 16 {
            let function = repeated(table, 4);
            let chain = base.chain(function).expect("all are known");
            assert_eq!(chain.table(), function, "{table:x}");
            let degree = degree(normal_form(function));
            assert!(chain.cost() <= if degree == 4 { 3 } else { 2 }, "{table:x}");
        }
        assert!(check(4, repeated(0x8000, 4)) <= 3);
    }

    #[test]
    fn functions_of_sums_take_no_more_than_those_of_variables() {
        let [a, b, c, d, e, f] = PROJECTIONS;
        let (x, y, z) = (a ^ b ^ f, c ^ d, e ^ f ^ a);
        assert_eq!(check(6, x & y & z ^ b ^ d), 2);
        assert_eq!(check(6, x & y & z & d ^ x & y), 3);
    }

    #[test]
    fn one_more_and_splits_what_is_not_known_otherwise() {
        let [a, b, c, d, e, f] = PROJECTIONS;
        assert_eq!(check(5, a & b & c & d & e), 4);
        assert_eq!(check(6, a & b & c ^ d & e & f), 4);
        assert_eq!(check(6, (a ^ f) & (b & c ^ d & e) ^ f & e & d), 4);
        assert_eq!(Base::default().cost(a & b & c & d & e & f, 9), None);
    }

    #[test]
    fn quadratic_forms_of_six_variables_take_half_their_rank() {
        let [a, b, c, d, e, f] = PROJECTIONS;
        let cost = |function| Base::default().cost(function, 9);
        assert_eq!(cost(a & b ^ c & d ^ e & f), Some(3));
        assert_eq!(cost(a & b ^ a & c ^ a & d ^ e), Some(1));
        assert_eq!(cost(a & b ^ b & c ^ a & c ^ d), Some(1));
        for function in [a & b ^ c & d ^ e & f ^ a, a & c ^ a & f ^ b & d ^ b & c ^ d & e ^ !f] {
            assert!(check(6, function) <= 3);
        }
    }
}
