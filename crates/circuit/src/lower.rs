//! Look-ups as gates, for protocols that only know XOR, AND and NOT.
//!
//! Every table becomes a component, and every look-up a call of it, so the program grows by each
//! table's gates only once.
//!
//! # The gates of a table
//! Each output is a polynomial over GF(2) in the inputs x_1 … x_k, its algebraic normal form. For
//! some number l of inputs, all products of the first l that any polynomial needs are made once and
//! shared: at most 2^l − l − 1 ANDs. Sums of them are free. The other k − l inputs are split off
//! one by one, by f = g ⊕ x·h with g and h free of x, which takes at most 2^(k−l) − 1 ANDs for each
//! output. All l are tried and the one with the fewest ANDs is kept: random tables of 8 bits in
//! take 81 ANDs for 8 outputs (l = 6), 26 for one (l = 4), and never more than 2^8 − 9 = 247 (l =
//! 8). Constant and linear outputs cost nothing.
//!
//! The AES S-box is recognised and takes the 32 ANDs of its own circuit, and so are tables that are
//! affine to it, its inverse among them.

mod around_sbox;

use around_sbox::AroundSbox;

use crate::builder::{Bit, ComponentBuilder, Gates};
use crate::builtin::sbox;
use crate::{Call, Circuit, Component, Program, Step, Table, WireRange};

/// Returns the same function without look-ups: tables become components, and look-ups calls of
/// them. The ports, and everything else, stay as they are.
///
/// Parties agree on the circuit with its look-ups: this one has another
/// [`digest`](Circuit::digest).
pub fn lower_lookups(circuit: &Circuit) -> Circuit {
    if circuit.tables().is_empty() {
        return circuit.clone();
    }
    let mut place_of = vec![None; circuit.tables().len()];
    let mut components = Vec::new();
    for step_table in circuit.components().iter().flat_map(used_tables) {
        if place_of[step_table].is_none() {
            place_of[step_table] = Some(components.len() as u32);
            components.push(gates_of(&circuit.tables()[step_table]));
        }
    }
    let moved = components.len() as u32;
    // A look-up without a step has no place, and is left out.
    let place = |table: u32| place_of[table as usize].unwrap_or(0);
    components.extend(circuit.components().iter().map(|old| with_calls(old, moved, place)));
    circuit.with_program(Program::from(components))
}

fn used_tables(component: &Component) -> impl Iterator<Item = usize> + use<'_> {
    component.steps.iter().filter_map(|step| match *step {
        Step::Lookup(lookup) => Some(component.lookups[lookup as usize].table as usize),
        _ => None,
    })
}

/// Returns a component with calls in place of its look-ups; the indices of other components have
/// grown by `moved`.
fn with_calls(old: &Component, moved: u32, place: impl Fn(u32) -> u32) -> Component {
    let mut new = Component { lookups: Vec::new(), lookup_inputs: Vec::new(), ..old.clone() };
    new.calls.iter_mut().for_each(|call| call.component += moved);
    new.repeats.iter_mut().for_each(|repeat| repeat.component += moved);
    for step in &mut new.steps {
        let Step::Lookup(lookup) = *step else { continue };
        let lookup = old.lookups[lookup as usize];
        let first_arg = new.call_args.len();
        for &wire in old.inputs_of(lookup) {
            WireRange::push(&mut new.call_args, first_arg, wire);
        }
        *step = Step::Call(new.calls.len() as u32);
        new.calls.push(Call {
            component: place(lookup.table),
            first_arg: first_arg as u32,
            arg_count: (new.call_args.len() - first_arg) as u32,
            first_output: lookup.first_output,
        });
    }
    new
}

/// Returns a component that computes a table: the cheapest of all that the module describes.
fn gates_of(table: &Table) -> Component {
    let build = |make: &dyn Fn(&mut Gates, &[Bit]) -> Vec<Bit>| {
        let mut builder = ComponentBuilder::new("table");
        let inputs = builder.input(table.inputs() as usize);
        let outputs = make(&mut builder, &inputs);
        builder.output(&outputs);
        builder.finish().expect("a table has fewer gates than a component may have")
    };
    if *table == *sbox::TABLE {
        return build(&|g, inputs| sbox::sbox(g, inputs).to_vec()).component().clone();
    }
    if let Some(around) = AroundSbox::of(table) {
        let made = build(&|g, inputs| around.write(g, inputs, table.outputs()));
        return made.component().clone();
    }
    let coefficients = coefficients(table);
    (0..=table.inputs())
        .map(|low| build(&|g, inputs| Polynomials::new(g, inputs, &coefficients, low).of(table)))
        .min_by_key(|made| (made.and_count(), made.component().steps.len()))
        .expect("at least one number of inputs")
        .component()
        .clone()
}

/// Returns the algebraic normal forms of a table's outputs: bit i of entry s says whether the
/// product of the inputs in the set s is a term of output i.
fn coefficients(table: &Table) -> Vec<u64> {
    let mut coefficients = table.entries().to_vec();
    for input in 0..table.inputs() {
        for set in (0..coefficients.len()).filter(|set| set >> input & 1 == 1) {
            coefficients[set] ^= coefficients[set ^ 1 << input];
        }
    }
    coefficients
}

/// Polynomials whose first `low` inputs come in ready-made products.
struct Polynomials<'a> {
    gates: &'a mut Gates,
    inputs: &'a [Bit],
    coefficients: &'a [u64],
    low: u32,
    /// The product of every set of low inputs that has been needed.
    products: Vec<Option<Bit>>,
}

impl<'a> Polynomials<'a> {
    fn new(gates: &'a mut Gates, inputs: &'a [Bit], coefficients: &'a [u64], low: u32) -> Self {
        let mut products = vec![None; 1 << low];
        products[0] = Some(Bit::ONE);
        (0..low as usize).for_each(|input| products[1 << input] = Some(inputs[input]));
        Polynomials { gates, inputs, coefficients, low, products }
    }

    /// Returns all outputs of the table that has these coefficients.
    fn of(mut self, table: &Table) -> Vec<Bit> {
        // Small sets first, so that larger ones can use them.
        let mut needed: Vec<usize> =
            (0..1 << self.low).filter(|&set| self.is_needed(set)).collect();
        needed.sort_by_key(|set| set.count_ones());
        needed.into_iter().for_each(|set| {
            self.product(set);
        });
        (0..table.outputs()).map(|output| self.sum(output, self.inputs.len(), 0)).collect()
    }

    fn is_needed(&self, set: usize) -> bool {
        self.coefficients.iter().skip(set).step_by(1 << self.low).any(|&terms| terms != 0)
    }

    /// Returns the product of a set of low inputs: of two existing parts, as equal as possible, or
    /// else of one input and the others.
    fn product(&mut self, set: usize) -> Bit {
        if let Some(product) = self.products[set] {
            return product;
        }
        let is_made = |part: usize| self.products[part].is_some();
        let parts = (1..set).filter(|part| part & !set == 0);
        let part = parts
            .filter(|&part| is_made(part) && is_made(set ^ part))
            .min_by_key(|part| part.count_ones().max((set ^ part).count_ones()))
            .unwrap_or(1 << set.ilog2());
        let (one, other) = (self.product(part), self.product(set ^ part));
        let product = self.gates.and_bit(one, other);
        self.products[set] = Some(product);
        product
    }

    /// Returns the terms of an output whose inputs from `upto` on are exactly those in the set
    /// `high`, without these inputs.
    fn sum(&mut self, output: u32, upto: usize, high: usize) -> Bit {
        if upto == self.low as usize {
            return (0..1 << upto)
                .filter(|low| self.coefficients[high | low] >> output & 1 == 1)
                .fold(Bit::ZERO, |sum, low| {
                    let product = self.product(low);
                    self.gates.xor_bit(sum, product)
                });
        }
        let input = upto - 1;
        let without = self.sum(output, input, high);
        let with = self.sum(output, input, high | 1 << input);
        let product = self.gates.and_bit(self.inputs[input], with);
        self.gates.xor_bit(without, product)
    }
}

#[cfg(test)]
mod tests;
