//! AssembleSubs of Appendix A: the function-dependent phase, which connects the slots.
//!
//! What goes into each input of a slot is a sum of wires, soldered to the first copy's input;
//! outputs of the garbler that are sums of several wires are soldered to heads of their own.
//! Afterwards only what the online phase opens is left of the commitments.

use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Channel, Result};
use zeroize::{Zeroize, Zeroizing};

use super::buckets::View;
use super::commit::{Claims, Committed, Id, Opening, Received, receive_blocks, send_blocks};
use super::components::Wire;
use super::keys;
use super::layout::COMMON_OFFSET;
use super::messages;
use super::program::{Program, ToGarbler};
use super::solder::{self, Target};

/// Every sum of wires, and what it is soldered to: first the inputs of all slots, then the outputs
/// of the garbler that are sums.
fn connections<'a>(view: View<'a>) -> impl Iterator<Item = (Vec<Id>, Target, bool)> + 'a {
    let heads =
        move |wires: &[Wire]| wires.iter().map(|&wire| view.head(wire as usize).key).collect();
    let graph = &view.program.graph;
    let of_slot = move |slot: usize| {
        let at = graph.slots[slot];
        (0..graph.kinds[at.kind].inputs()).map(move |input| (slot, at, input))
    };
    let inputs = (0..graph.slots.len()).flat_map(of_slot).map(move |(slot, at, input)| {
        let (terms, constant) = graph.sums.get(at.first_sum + input);
        (heads(terms), view.input(slot, input), constant)
    });
    let gates = view.program.out_gates.iter().enumerate().map(move |(gate, &output)| {
        // The constant is added when the value is reported.
        let (terms, _) = graph.outputs.get(output);
        (heads(terms), view.head(graph.wires + gate), false)
    });
    inputs.chain(gates)
}

/// The garbler opens all connections.
pub(super) fn open(channel: &mut Channel, opening: &mut Opening<'_>, view: View<'_>) -> Result<()> {
    let open = |(sources, target, constant): (Vec<Id>, Target, bool)| {
        solder::solder(opening, sources.into_iter(), target, constant)
    };
    let mut solderings: Vec<Block> = connections(view).map(open).collect();
    channel.tamper_state("duplo: soldering", Block::as_bytes_mut(&mut solderings));
    send_blocks(channel, messages::SOLDERINGS, &solderings)
}

/// The evaluator gets them, in the order of the graph's sums; those of the garbler's outputs
/// follow.
pub(super) fn claim(
    channel: &mut Channel,
    claims: &mut Claims<'_>,
    view: View<'_>,
) -> Result<Vec<Block>> {
    let n = view.program.graph.sums.len() + view.program.out_gates.len();
    let solderings = receive_blocks(channel, messages::SOLDERINGS, n)?;
    for ((sources, target, constant), &soldering) in connections(view).zip(&solderings) {
        solder::claim(claims, sources.into_iter(), target, constant, soldering);
    }
    Ok(solderings)
}

/// What the online phase opens: after Δ_ot, for each input of the evaluator its key and the
/// transfer's, then for each of its outputs the indicator bits of its wires, masked.
fn online_sums(view: View<'_>) -> Vec<Vec<Id>> {
    let program = view.program;
    let head = |wire: &Wire| view.head(*wire as usize).key;
    let inputs = program.inputs[1].iter().zip(view.transfers());
    let inputs = inputs
        .map(|(wire, transfer)| vec![head(wire), view.places.layout.transfers + transfer as Id]);
    let outputs = program.to_evaluator.iter().zip(view.masks());
    let outputs = outputs.map(|(&output, mask)| {
        let (terms, _) = program.graph.outputs.get(output);
        terms.iter().map(head).chain([mask]).collect()
    });
    std::iter::once(vec![COMMON_OFFSET]).chain(inputs).chain(outputs).collect()
}

/// K^0 and Δ of a wire.
pub(super) type WireKeys = [Block; 2];

/// What the garbler needs online.
pub(super) struct GarblerKeys {
    /// Of its own inputs.
    pub inputs: Vec<WireKeys>,
    /// The indicator bits of the evaluator's inputs.
    pub indicators: BitVec,
    /// Of the wires whose keys the evaluator returns, one for each output that is not constant.
    pub outputs: Vec<WireKeys>,
    /// Commitments to Δ_ot, to the evaluator's inputs, and to its outputs.
    pub online: Committed,
}

impl Drop for GarblerKeys {
    fn drop(&mut self) {
        self.inputs.as_flattened_mut().zeroize();
        self.outputs.as_flattened_mut().zeroize();
    }
}

impl GarblerKeys {
    /// Takes what is needed out of all commitments.
    pub fn new(view: View<'_>, committed: &Committed) -> GarblerKeys {
        let program = view.program;
        let keys = |wire: Wire| {
            let Target { key, offset } = view.head(wire as usize);
            let offset = committed.value(offset);
            [keys::zero_key(committed.value(key), offset), offset]
        };
        let indicator = |&wire: &Wire| committed.value(view.head(wire as usize).key).lsb();
        let indicators: Vec<bool> = program.inputs[1].iter().map(indicator).collect();
        let indicators = Zeroizing::new(indicators);
        // Enough from the beginning: a vector that grows leaves copies of its keys behind.
        let mut outputs = Vec::with_capacity(program.to_garbler.len());
        outputs.extend(returned(program).map(keys));
        GarblerKeys {
            inputs: program.inputs[0].iter().map(|&wire| keys(wire)).collect(),
            indicators: BitVec::from_bools(&indicators),
            outputs,
            online: committed.sums(&online_sums(view)),
        }
    }
}

/// What the evaluator needs of the commitments online.
pub(super) fn online(view: View<'_>, received: &Received) -> Received {
    received.sums(&online_sums(view))
}

/// The wires whose keys the evaluator returns to the garbler.
pub(super) fn returned(program: &Program) -> impl Iterator<Item = Wire> {
    program.to_garbler.iter().filter_map(|&(_, source)| match source {
        ToGarbler::Wire(wire, _) | ToGarbler::Sum(wire) => Some(wire),
        ToGarbler::Constant(_) => None,
    })
}
