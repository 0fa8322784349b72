//! Rewrites a component with some of its gates replaced.

use super::affine::Base;
use super::cuts::{self, Replacement};
use crate::builder::bit::{Bit, Word};
use crate::builder::gates::Gates;
use crate::builder::repeat::Argument;
use crate::builder::subcircuit::Subcircuit;
use crate::{Component, Repeat, RepeatArg, Step, Table, Wire};

/// Rewrites components under construction, before they are called.
#[derive(Default)]
pub(crate) struct Rewriter {
    base: Base,
}

impl Rewriter {
    /// Writes a component's steps with fewer AND gates, on these inputs; returns its outputs.
    /// Writes nothing and returns `None` if no cut can be replaced.
    pub(crate) fn rewrite(
        &mut self,
        g: &mut Gates,
        traced: Traced<'_>,
        inputs: Word,
        called: (&[Subcircuit], &[Table]),
    ) -> Option<Word> {
        let chosen = cuts::choose(traced.0, &mut self.base);
        (!chosen.is_empty()).then(|| write(g, traced, inputs, called, &chosen))
    }
}

/// A component, and the wires from which its steps come, if that is asked for.
pub(crate) type Traced<'a> = (&'a Component, Option<&'a [Wire]>);

/// Writes a component's steps, which call these parts and look up in these tables; returns its
/// outputs.
pub(super) fn write(
    g: &mut Gates,
    (component, origins): Traced<'_>,
    inputs: Word,
    (parts, tables): (&[Subcircuit], &[Table]),
    replacements: &[Replacement],
) -> Word {
    let mut bits = vec![Bit::ZERO; component.wires as usize];
    bits[..inputs.width()].copy_from_slice(&inputs);
    let mut replacements = replacements.iter().peekable();
    for (place, step) in component.steps.iter().enumerate() {
        if let (Some(origins), Some(before)) = (origins, place.checked_sub(1)) {
            g.trace(origins[before]);
        }
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
    if let Some(last) = origins.and_then(<[Wire]>::last) {
        g.trace(*last);
    }
    component.outputs.iter().map(|&wire| bits[wire as usize]).collect()
}

/// Writes a repeat of this part; `bits` are the component's wires.
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
