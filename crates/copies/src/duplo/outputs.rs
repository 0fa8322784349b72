//! OutputE and OutputG of Appendix A: how each party learns its outputs.
//!
//! * **Evaluator:** the garbler opens the masked sum of the indicator bits of the output's wires.
//!   Together with the colours of the keys it gives the value.
//! * **Garbler:** the evaluator returns the key of the output's wire, and the garbler checks that
//!   it is one of the wire's two keys. The evaluator cannot make up the other one.

use symbolon_garbling::value_of;
use symbolon_primitives::{Block, Delta};
use symbolon_transport::{Channel, Error, Result};

use super::assemble::GarblerKeys;
use super::commit::{Checked, Claims, Id, Opening, receive_blocks, send_blocks};
use super::layout::COMMON_OFFSET;
use super::messages;
use super::program::{Program, ToGarbler};
use super::recover::Recovered;

/// Returns the commitments that are opened online for the evaluator's outputs.
fn ids(program: &Program) -> impl Iterator<Item = Id> {
    let first = COMMON_OFFSET + 1 + program.inputs[1].len() as Id;
    first..first + program.to_evaluator.len() as Id
}

/// The garbler opens the indicator bits of the evaluator's outputs.
///
/// Paper: KNRTT17, OutputE, OutputG | outputs
pub(super) fn open_indicators(
    channel: &mut Channel,
    opening: &mut Opening<'_>,
    program: &Program,
) -> Result<()> {
    let mut opened: Vec<Block> = ids(program).map(|id| opening.open([id])).collect();
    channel.tamper_state("duplo: indicator bits", Block::as_bytes_mut(&mut opened));
    send_blocks(channel, messages::INDICATOR_BITS, &opened)
}

/// The evaluator receives the indicator bits.
pub(super) fn get_indicators(
    channel: &mut Channel,
    claims: &mut Claims<'_>,
    program: &Program,
) -> Result<Vec<bool>> {
    let opened = receive_blocks(channel, messages::INDICATOR_BITS, program.to_evaluator.len())?;
    ids(program).zip(&opened).for_each(|(id, &value)| claims.claim([id], value));
    Ok(opened.iter().map(|value| value.lsb()).collect())
}

/// Returns the evaluator's output bits, from the keys of all wires and the indicator bits, or from
/// the recovery if there was one. Needs the check of the indicator bits.
///
/// Paper: KNRTT17, OutputE, OutputG
pub(super) fn values(
    program: &Program,
    wires: &[Block],
    indicators: &[bool],
    recovered: &Recovered,
    _: &Checked,
) -> Vec<bool> {
    let value = |(&output, &indicator): (&usize, &bool)| {
        let (terms, constant) = program.graph.outputs.get(output);
        let value =
            terms.iter().fold(indicator ^ constant, |sum, &wire| sum ^ wires[wire as usize].lsb());
        value ^ (recovered.known & (value ^ recovered.outputs[output]))
    };
    program.to_evaluator.iter().zip(indicators).map(value).collect()
}

/// The evaluator returns the keys of the garbler's outputs, after the check of all claims.
///
/// Paper: KNRTT17, OutputE, OutputG
pub(super) fn give_back(
    channel: &mut Channel,
    recovered: &mut Recovered,
    _: &Checked,
) -> Result<()> {
    let keys = &mut recovered.returned;
    channel.tamper_state("duplo: returned keys", Block::as_bytes_mut(keys));
    send_blocks(channel, messages::RETURNED_KEYS, keys)?;
    channel.flush()
}

/// Returns the garbler's output bits, if every returned key is one of its wire's two.
///
/// Paper: KNRTT17, OutputE, OutputG
///
/// Check: `duplo`: garbler's outputs | `returned key` | a lie about an output | 2^-127
pub(super) fn take_back(
    channel: &mut Channel,
    program: &Program,
    keys: &GarblerKeys,
) -> Result<Vec<bool>> {
    let back = receive_blocks(channel, messages::RETURNED_KEYS, keys.outputs.len())?;
    let values = back.iter().zip(keys.outputs.iter());
    let values = values.map(|(&key, &[zero, offset])| value_of(key, zero, &Delta::new(offset)));
    let values: Option<Vec<bool>> = values.collect();
    let mut values = values
        .ok_or_else(|| Error::misbehaved(channel.peer(), super::checks::RETURNED_KEY))?
        .into_iter();
    let mut next = || values.next().expect("one for each output that is not constant");
    let bit = |&(output, source): &(usize, ToGarbler)| match source {
        ToGarbler::Wire(_, constant) => next() ^ constant,
        ToGarbler::Sum(_) => next() ^ program.graph.outputs.get(output).1,
        ToGarbler::Constant(value) => value,
    };
    Ok(program.to_garbler.iter().map(bit).collect())
}
