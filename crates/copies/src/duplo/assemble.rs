//! AssembleSubs of Appendix A: the function-dependent phase, which connects the slots.
//!
//! The value of each input of a slot is a sum of wires, which is soldered to the input of the
//! slot's first copy. Outputs of the garbler that are sums of several wires are soldered to heads
//! of their own. Afterwards only the commitments that the online phase opens are kept.

use symbolon_circuit::components::Wire;
use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Channel, Result};
use zeroize::Zeroizing;

use super::commit::{Claims, Committed, Id, Opening, Received, receive_blocks, send_blocks};
use super::endpoints::Wired;
use super::keys;
use super::layout::COMMON_OFFSET;
use super::messages;
use super::program::{Program, ToGarbler};
use super::solder::{self, Target};

/// Returns every sum of wires with its target and constant: first the inputs of all slots, then the
/// outputs of the garbler that are sums.
fn connections<'a>(wired: Wired<'a>) -> impl Iterator<Item = (Vec<Id>, Target, bool)> + 'a {
    let Wired { program, endpoints } = wired;
    let heads = move |wires: &[Wire]| wires.iter().map(|&wire| endpoints.head(wire).key).collect();
    let graph = &program.graph;
    let inputs = graph.sums.iter().zip(&endpoints.inputs);
    let inputs = inputs.map(move |((terms, constant), &target)| (heads(terms), target, constant));
    let gates = program.out_gates.iter().enumerate().map(move |(gate, &output)| {
        // The constant is added when the value is reported.
        let (terms, _) = graph.outputs.get(output);
        (heads(terms), endpoints.heads[graph.wires + gate], false)
    });
    inputs.chain(gates)
}

/// The garbler opens all connections.
///
/// Paper: KNRTT17, AssembleSubs | connections between slots
pub(super) fn open(
    channel: &mut Channel,
    opening: &mut Opening<'_>,
    wired: Wired<'_>,
) -> Result<()> {
    let open = |(sources, target, constant): (Vec<Id>, Target, bool)| {
        solder::solder(opening, sources.into_iter(), target, constant)
    };
    let mut solderings: Vec<Block> = connections(wired).map(open).collect();
    channel.tamper_state("duplo: soldering", Block::as_bytes_mut(&mut solderings));
    send_blocks(channel, messages::SOLDERINGS, &solderings)
}

/// The evaluator receives the solderings and returns them, in the order of the graph's sums; those
/// of the garbler's outputs follow.
///
/// Paper: KNRTT17, AssembleSubs
pub(super) fn claim(
    channel: &mut Channel,
    claims: &mut Claims<'_>,
    wired: Wired<'_>,
) -> Result<Vec<Block>> {
    let n = wired.program.graph.sums.len() + wired.program.out_gates.len();
    let solderings = receive_blocks(channel, messages::SOLDERINGS, n)?;
    for ((sources, target, constant), &soldering) in connections(wired).zip(&solderings) {
        solder::claim(claims, sources.into_iter(), target, constant, soldering);
    }
    Ok(solderings)
}

/// Returns the sums that the online phase opens: Δ_ot; for each input of the evaluator, its key and
/// the transfer's R; for each of its outputs, the keys of its wires and a mask.
fn online_sums(Wired { program, endpoints }: Wired<'_>) -> Vec<Vec<Id>> {
    let head = |wire: &Wire| endpoints.head(*wire).key;
    let inputs = program.inputs[1].iter().zip(&endpoints.transfers);
    let inputs = inputs.map(|(wire, &transfer)| vec![head(wire), transfer]);
    let outputs = program.to_evaluator.iter().zip(endpoints.masks..);
    let outputs = outputs.map(|(&output, mask)| {
        let (terms, _) = program.graph.outputs.get(output);
        terms.iter().map(head).chain([mask]).collect()
    });
    std::iter::once(vec![COMMON_OFFSET]).chain(inputs).chain(outputs).collect()
}

/// K^0 and Δ of a wire.
pub(super) type WireKeys = [Block; 2];

/// The keys of several wires, wiped when they are dropped.
pub(super) type AllKeys = Zeroizing<Vec<WireKeys>>;

/// What the garbler needs online.
pub(super) struct GarblerKeys {
    /// The keys of its own inputs.
    pub inputs: AllKeys,
    /// The indicator bits of the evaluator's inputs.
    pub indicators: BitVec,
    /// The keys of the wires whose keys the evaluator returns, one for each output that is not
    /// constant.
    pub outputs: AllKeys,
    /// Commitments to Δ_ot, to the evaluator's inputs, and to its outputs.
    pub online: Committed,
}

impl GarblerKeys {
    /// Extracts what is needed from all commitments.
    pub fn new(wired: Wired<'_>, committed: &Committed) -> GarblerKeys {
        let Wired { program, endpoints } = wired;
        let keys = |wire: Wire| {
            let Target { key, offset } = endpoints.head(wire);
            let offset = committed.value(offset);
            [keys::zero_key(committed.value(key), offset), offset]
        };
        let indicator = |&wire: &Wire| committed.value(endpoints.head(wire).key).lsb();
        let indicators: Vec<bool> = program.inputs[1].iter().map(indicator).collect();
        let indicators = Zeroizing::new(indicators);
        // Full capacity from the start: a vector that grows leaves copies of its keys in memory.
        let mut outputs = Vec::with_capacity(program.to_garbler.len());
        outputs.extend(returned(program).map(keys));
        GarblerKeys {
            inputs: Zeroizing::new(program.inputs[0].iter().map(|&wire| keys(wire)).collect()),
            indicators: BitVec::from_bools(&indicators),
            outputs: Zeroizing::new(outputs),
            online: committed.sums(&online_sums(wired)),
        }
    }
}

/// Returns the commitments that the evaluator needs online.
pub(super) fn online(wired: Wired<'_>, received: &Received) -> Received {
    received.sums(&online_sums(wired))
}

/// Returns the wires whose keys the evaluator returns to the garbler.
pub(super) fn returned(program: &Program) -> impl Iterator<Item = Wire> {
    program.to_garbler.iter().filter_map(|&(_, source)| match source {
        ToGarbler::Wire(wire, _) | ToGarbler::Sum(wire) => Some(wire),
        ToGarbler::Constant(_) => None,
    })
}
