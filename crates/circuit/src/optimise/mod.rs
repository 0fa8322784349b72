//! Fewer AND gates for the same function.
//!
//! Every component is rewritten with constants folded, equal gates merged and dead ones left
//! out. Then *cuts* are rewritten, round by round: a wire is a function of a few others, its
//! leaves; if that function has a circuit with fewer ANDs than would go with the wire's cone, it
//! replaces the cone. XORs are free, so functions that differ by an affine one cost the same
//! (`affine`). Programs of the language are rewritten so while they are built ([`Rewriter`]).
//!
//! Gates stay in their components, and a round that saves nothing is dropped, so the result never
//! has more AND gates.

mod affine;
mod chain;
mod cuts;
mod tables;

use affine::Base;
use chain::Chain;

use crate::builder::{
    Argument, Bit, Builder, ComponentBuilder, Gates, Subcircuit, Word, and_count,
};
use crate::{Circuit, CircuitError, Component, Repeat, RepeatArg, Step, Table, Wire};

/// Components with more steps are folded and merged, but their cuts are not rewritten.
pub const MAX_STEPS: usize = 1 << 22;

/// Rounds of rewriting at most; mostly the third finds nothing.
const ROUNDS: usize = 8;

/// The same function with fewer AND gates, or as many. Ports stay as they are.
///
/// # Errors
/// [`CircuitError::Invalid`] when a component has more wires than the builder numbers.
pub fn optimise(circuit: &Circuit) -> Result<Circuit, CircuitError> {
    let mut best = rewrite(circuit, &mut |_| Vec::new())?;
    let mut base = Base::default();
    for _ in 0..ROUNDS {
        let next = rewrite(&best, &mut |component| {
            let large = component.steps.len() > MAX_STEPS;
            if large { Vec::new() } else { cuts::choose(component, &mut base) }
        })?;
        if and_count(&next) >= and_count(&best) {
            break;
        }
        best = next;
    }
    // What folding and merging cannot do better is left as it was.
    Ok(if and_count(&best) < and_count(circuit) { best } else { circuit.clone() })
}

/// What replaces a wire's gate: a function of other wires, its leaves.
struct Replacement {
    wire: Wire,
    leaves: Vec<Wire>,
    chain: Chain,
}

/// Rewrites components under construction, before they are called.
#[derive(Default)]
pub(crate) struct Rewriter {
    base: Base,
}

impl Rewriter {
    /// Writes a component's steps with fewer AND gates, its inputs being these; gives its outputs.
    /// None, and writes nothing, if no cut can be replaced.
    pub(crate) fn rewrite(
        &mut self,
        g: &mut Gates,
        component: &Component,
        inputs: Word,
        parts: &[Subcircuit],
        tables: &[Table],
    ) -> Option<Word> {
        let chosen = cuts::choose(component, &mut self.base);
        (!chosen.is_empty()).then(|| write(g, component, inputs, (parts, tables), &chosen))
    }
}

/// Rewrites the circuit with these replacements, which are in the order of their steps.
fn rewrite(
    circuit: &Circuit,
    choose: &mut dyn FnMut(&Component) -> Vec<Replacement>,
) -> Result<Circuit, CircuitError> {
    let (main, others) = circuit.components().split_last().expect("a circuit has a main component");
    let mut parts: Vec<Subcircuit> = Vec::with_capacity(others.len());
    for component in others {
        let mut c = ComponentBuilder::new(component.name.clone());
        let inputs = c.input(component.inputs as usize);
        let chosen = choose(component);
        let outputs = write(&mut c, component, inputs, (&parts, circuit.tables()), &chosen);
        c.output(&outputs);
        parts.push(c.finish()?);
    }
    let mut b = Builder::new(circuit.name());
    let inputs: Vec<Word> = circuit
        .inputs()
        .iter()
        .map(|input| b.input(input.name.clone(), input.ty.clone(), input.owner))
        .collect();
    let chosen = choose(main);
    let outputs = write(&mut b, main, Word::join(&inputs), (&parts, circuit.tables()), &chosen);
    let mut start = 0;
    for output in circuit.outputs() {
        let end = start + output.ty.width() as usize;
        let word = outputs.slice(start..end);
        b.output(output.name.clone(), &word, output.ty.clone(), output.to.clone());
        start = end;
    }
    b.finish()
}

/// Writes a component's steps, which call these parts and look up in these tables; gives its
/// outputs.
fn write(
    g: &mut Gates,
    component: &Component,
    inputs: Word,
    (parts, tables): (&[Subcircuit], &[Table]),
    replacements: &[Replacement],
) -> Word {
    let mut bits = vec![Bit::ZERO; component.wires as usize];
    bits[..inputs.width()].copy_from_slice(&inputs);
    let mut replacements = replacements.iter().peekable();
    for step in &component.steps {
        let out = match *step {
            Step::Xor { out, .. } | Step::And { out, .. } => out,
            Step::Inv { a, out } => {
                bits[out as usize] = !bits[a as usize];
                continue;
            }
            Step::Const { value, out } => {
                bits[out as usize] = Bit::constant(value);
                continue;
            }
            Step::Call(index) => {
                let call = component.calls[index as usize];
                let ranges = &component.call_args[call.first_arg as usize..];
                let args: Word = ranges[..call.arg_count as usize]
                    .iter()
                    .flat_map(|range| range.first..range.first + range.len)
                    .map(|wire| bits[wire as usize])
                    .collect();
                let outputs = g.call_flat(&parts[call.component as usize], &args);
                let first = call.first_output as usize;
                bits[first..first + outputs.width()].copy_from_slice(&outputs);
                continue;
            }
            Step::Repeat(index) => {
                let repeat = component.repeats[index as usize];
                let (carried, others) =
                    write_repeat(g, component, repeat, &bits, &parts[repeat.component as usize]);
                let first = repeat.first_output as usize;
                bits[first..][..carried.width()].copy_from_slice(&carried);
                bits[first + carried.width()..][..others.width()].copy_from_slice(&others);
                continue;
            }
            Step::Lookup(index) => {
                let lookup = component.lookups[index as usize];
                let inputs = component.inputs_of(lookup).iter();
                let inputs: Word = inputs.map(|&wire| bits[wire as usize]).collect();
                let outputs = g.lookup(&tables[lookup.table as usize], &inputs);
                let first = lookup.first_output as usize;
                bits[first..first + outputs.width()].copy_from_slice(&outputs);
                continue;
            }
        };
        bits[out as usize] = match replacements.next_if(|next| next.wire == out) {
            Some(Replacement { leaves, chain, .. }) => {
                let leaves: Vec<Bit> = leaves.iter().map(|&wire| bits[wire as usize]).collect();
                chain.write(g, &leaves)
            }
            None => match *step {
                Step::Xor { a, b, .. } => g.xor_bit(bits[a as usize], bits[b as usize]),
                Step::And { a, b, .. } => g.and_bit(bits[a as usize], bits[b as usize]),
                _ => unreachable!("other steps are written above"),
            },
        };
    }
    component.outputs.iter().map(|&wire| bits[wire as usize]).collect()
}

/// Writes a repeat of this part, `bits` being the component's wires.
fn write_repeat(
    g: &mut Gates,
    component: &Component,
    repeat: Repeat,
    bits: &[Bit],
    part: &Subcircuit,
) -> (Word, Word) {
    let args = component.args_of(repeat);
    let words: Vec<Word> = args
        .iter()
        .map(|arg| {
            let wires = arg.ranges().into_iter().flat_map(|ranges| component.wires_of(ranges));
            wires.map(|wire| bits[wire as usize]).collect()
        })
        .collect();
    let args: Vec<Argument<'_>> = args
        .iter()
        .zip(&words)
        .map(|(arg, word)| match *arg {
            RepeatArg::Fixed(_) => Argument::Fixed(word),
            RepeatArg::Carried(_) => Argument::Carried(word),
            RepeatArg::Strided(_) => Argument::Strided(word),
            RepeatArg::Counter { start, step, bits } => Argument::Counter { start, step, bits },
        })
        .collect();
    g.repeat(part, repeat.count, &args)
}

#[cfg(test)]
mod tests;
