//! Small functions by their multiplicative complexity: how many ANDs they need.
//!
//! A function's algebraic normal form without its affine part names its class, as far as it matters
//! here. Quadratic forms in any number of variables take half their rank (Mirwald and Schnorr).
//! Functions of four variables with two ANDs are all found by search, once.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::builder::{Bit, Gates};

/// Functions have at most this many variables.
pub(super) const VARIABLES: usize = 6;

/// The bit of each monomial of degree 0 or 1.
const AFFINE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16 | 1 << 32;

/// The truth tables of the variables.
pub(super) const PROJECTIONS: [u64; VARIABLES] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// The algebraic normal form of a truth table, or the other way round: bit i is the monomial of the
/// variables in i.
fn transform(mut table: u64) -> u64 {
    for (variable, projection) in PROJECTIONS.iter().enumerate() {
        table ^= (table << (1 << variable)) & projection;
    }
    table
}

/// Two ANDs: the first of two linear forms, the second of two more, each perhaps plus the first's
/// result; the function is the second, perhaps plus the first.
#[derive(Clone, Copy)]
struct Recipe {
    first: [u8; 2],
    second: [u8; 2],
    with_first: [bool; 3],
}

/// A linear form of four variables, as a truth table.
fn linear(form: u8) -> u64 {
    (0..4).filter(|i| form >> i & 1 == 1).fold(0, |sum, i| sum ^ PROJECTIONS[i])
}

/// The recipes of all functions of four variables that have two ANDs, by their forms without the
/// affine part.
static RECIPES: LazyLock<HashMap<u64, Recipe>> = LazyLock::new(|| {
    let mut recipes = HashMap::new();
    let forms = || 0..16u8;
    let pairs = |from: u8| (from..16).flat_map(move |a| (a + 1..16).map(move |b| [a, b]));
    for first in pairs(1) {
        let product = linear(first[0]) & linear(first[1]);
        for (a, b) in forms().flat_map(|a| forms().map(move |b| (a, b))) {
            for choice in 0..8u8 {
                let with_first = [0, 1, 2].map(|i| choice >> i & 1 == 1);
                let [x, y, z] = with_first.map(|with| if with { product } else { 0 });
                let value = (linear(a) ^ x) & (linear(b) ^ y) ^ z;
                let form = transform(value) & !AFFINE;
                recipes.entry(form).or_insert(Recipe { first, second: [a, b], with_first });
            }
        }
    }
    recipes
});

/// How many ANDs a function needs; none if it is not known.
pub(super) fn complexity(function: u64) -> Option<u32> {
    let form = transform(function) & !AFFINE;
    if let Some(quadratic) = Quadratic::of(form) {
        return Some(quadratic.factors().len() as u32);
    }
    let (key, _) = compact(form)?;
    RECIPES.contains_key(&key).then_some(2)
}

/// A form of at most four variables as one of the first four, and which they are; none if it has
/// more.
fn compact(form: u64) -> Option<(u64, Vec<usize>)> {
    let used: Vec<usize> = (0..VARIABLES)
        .filter(|&v| (0..64).any(|set: usize| set >> v & 1 == 1 && form >> set & 1 == 1))
        .collect();
    if used.len() > 4 {
        return None;
    }
    let mut result = 0;
    for set in (0..64usize).filter(|set| form >> set & 1 == 1) {
        let place = used.iter().enumerate().filter(|(_, v)| set >> **v & 1 == 1);
        result |= 1u64 << place.map(|(i, _)| 1usize << i).sum::<usize>();
    }
    Some((result, used))
}

/// Writes a function of these bits.
pub(super) fn write(g: &mut Gates, leaves: &[Bit], function: u64) -> Bit {
    let form = transform(function);
    let leaf = |i: usize| leaves.get(i).copied().unwrap_or(Bit::ZERO);
    let sum = |g: &mut Gates, set: u8| {
        (0..VARIABLES)
            .filter(|i| set >> i & 1 == 1)
            .fold(Bit::ZERO, |sum, i| g.xor_bit(sum, leaf(i)))
    };
    // What the ANDs give, as a bit and as a form; the rest is affine.
    let (mut result, mut made) = (Bit::ZERO, 0);
    if let Some(quadratic) = Quadratic::of(form & !AFFINE) {
        for (a, b) in quadratic.factors() {
            let (x, y) = (sum(g, a), sum(g, b));
            let product = g.and_bit(x, y);
            result = g.xor_bit(result, product);
            made ^= product_form(a, b);
        }
    } else {
        let (key, used) = compact(form & !AFFINE).expect("it has a recipe");
        let recipe = RECIPES[&key];
        let spread = |form: u8| {
            used.iter().enumerate().filter(|(i, _)| form >> i & 1 == 1).map(|(_, v)| 1u8 << v).sum()
        };
        let table = |set: u8| {
            (0..VARIABLES).filter(|i| set >> i & 1 == 1).fold(0, |t, i| t ^ PROJECTIONS[i])
        };
        let [a, b] = recipe.first.map(spread);
        let (x, y) = (sum(g, a), sum(g, b));
        let first = g.and_bit(x, y);
        let first_table = table(a) & table(b);
        let mut factors = [Bit::ZERO; 2];
        let mut value = u64::MAX;
        for (place, factor) in factors.iter_mut().enumerate() {
            let set = spread(recipe.second[place]);
            let with = recipe.with_first[place];
            let linear = sum(g, set);
            *factor = if with { g.xor_bit(linear, first) } else { linear };
            value &= table(set) ^ if with { first_table } else { 0 };
        }
        result = g.and_bit(factors[0], factors[1]);
        if recipe.with_first[2] {
            result = g.xor_bit(result, first);
            value ^= first_table;
        }
        made = transform(value);
    }
    let rest = form ^ made;
    for i in 0..VARIABLES {
        if rest >> (1u64 << i) & 1 == 1 {
            result = g.xor_bit(result, leaf(i));
        }
    }
    if rest & 1 == 1 { !result } else { result }
}

/// The form of the product of two linear forms.
fn product_form(a: u8, b: u8) -> u64 {
    let mut form = 0;
    for i in (0..VARIABLES).filter(|i| a >> i & 1 == 1) {
        for j in (0..VARIABLES).filter(|j| b >> j & 1 == 1) {
            form ^= 1u64 << (1usize << i | 1 << j);
        }
    }
    form
}

/// A quadratic form without its affine part: for each variable the ones that it is multiplied with.
struct Quadratic([u8; VARIABLES]);

impl Quadratic {
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

    /// Products of linear forms whose sum it is but for an affine part, as few as can be (Dickson).
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

    /// Writes the function and compares it with its truth table; its AND gates.
    fn check(variables: u32, function: u64) -> u64 {
        let mut b = Builder::new("f");
        let x = b.input("x", Type::Uint(variables), 0);
        let y = write(&mut b, &x, function);
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

    /// The truth table of fewer variables as one of six.
    fn repeated(table: u64, variables: u32) -> u64 {
        (variables..6).fold(table, |table, v| table | table << (1 << v))
    }

    #[test]
    fn functions_of_three_variables_take_as_many_ands_as_their_degree_needs() {
        for table in 0..256u64 {
            let function = repeated(table, 3);
            let ands = complexity(function).expect("all are known");
            let degree_three = table.count_ones() % 2 == 1;
            assert!(ands <= if degree_three { 2 } else { 1 }, "{table:x}");
            assert_eq!(check(3, function), u64::from(ands), "{table:x}");
        }
    }

    #[test]
    fn functions_of_four_variables_with_a_recipe_are_what_they_should_be() {
        let mut known = 0;
        for table in (0..1 << 16).step_by(23) {
            let function = repeated(table, 4);
            if let Some(ands) = complexity(function) {
                assert!(check(4, function) <= u64::from(ands));
                known += 1;
            }
        }
        // Those of degree 4 need three.
        assert!(known > 500, "{known}");
    }

    #[test]
    fn quadratic_forms_of_six_variables_take_half_their_rank() {
        let [a, b, c, d, e, f] = PROJECTIONS;
        assert_eq!(complexity(a & b ^ c & d ^ e & f), Some(3));
        assert_eq!(complexity(a & b ^ a & c ^ a & d ^ e), Some(1));
        assert_eq!(complexity(a & b ^ b & c ^ a & c ^ d), Some(1));
        for function in [a & b ^ c & d ^ e & f ^ a, a & c ^ a & f ^ b & d ^ b & c ^ d & e ^ !f] {
            assert!(check(6, function) <= 3);
        }
    }
}
