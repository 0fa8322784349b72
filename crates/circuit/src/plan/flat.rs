//! Walks a plan as a plain list of gates, for callers that number wires themselves.

use super::{And, Batch, Linear, LookupGate, Plan};

/// A gate of the walk; operands are the walker's numbers of wires.
pub(crate) enum Gate<'a> {
    Xor(u64, u64),
    And(u64, u64),
    Inv(u64),
    Const(bool),
    /// The table's number, and the inputs.
    Lookup(u32, &'a [u64]),
}

/// Walks a plan with a number per live wire: inputs are `0 ..`, and `gate` writes the numbers of a
/// gate's results into its slice, which has their length. Returns the outputs' numbers.
///
/// # Errors
/// Those of `gate`.
pub(crate) fn walk<E>(
    plan: &Plan,
    mut gate: impl FnMut(Gate<'_>, &mut [u64]) -> Result<(), E>,
) -> Result<Vec<u64>, E> {
    let mut numbers: Vec<u64> = vec![0; plan.slots()];
    for slot in plan.input_slots() {
        numbers[slot] = slot as u64;
    }
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let mut cursor = plan.cursor();
    while let Some(Batch { base, linear, ands, lookups, .. }) = cursor.next_batch() {
        let numbers = &mut numbers[base..];
        let mut one = |made: Gate<'_>| {
            let mut number = [0];
            gate(made, &mut number).map(|()| number[0])
        };
        for op in linear {
            let (out, number) = match *op {
                Linear::Xor { a, b, out } => {
                    (out, one(Gate::Xor(numbers[a as usize], numbers[b as usize]))?)
                }
                Linear::Inv { a, out } => (out, one(Gate::Inv(numbers[a as usize]))?),
                Linear::Const { value, out } => (out, one(Gate::Const(value))?),
                Linear::Copy { from, out, len } => {
                    numbers.copy_within(from as usize..(from + len) as usize, out as usize);
                    continue;
                }
            };
            numbers[out as usize] = number;
        }
        for &And { a, b, out } in ands {
            numbers[out as usize] = one(Gate::And(numbers[a as usize], numbers[b as usize]))?;
        }
        for LookupGate { table, inputs: read, outputs: written } in lookups.iter() {
            inputs.clear();
            inputs.extend(read.iter().map(|&slot| numbers[slot as usize]));
            outputs.clear();
            outputs.resize(written.len(), 0);
            gate(Gate::Lookup(table, &inputs), &mut outputs)?;
            written.iter().zip(&outputs).for_each(|(&out, &number)| numbers[out as usize] = number);
        }
    }
    Ok(plan.output_slots().iter().map(|&slot| numbers[slot as usize]).collect())
}
