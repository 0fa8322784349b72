//! Half-gates with authenticated masks among any number of parties (Yang, Wang, Zhang, CCS 2020,
//! Figs. 6 and 7): what [`ywz`](crate::ywz) garbles, and [`wrk`](crate::wrk) in its half-gates
//! form. The protocol determines which party evaluates.

pub mod checks;
mod evaluator;
mod garbler;
mod hash;
pub mod messages;
mod online;
mod proof;
mod rows;
pub(crate) mod script;

use symbolon_circuit::PartyId;
use symbolon_engine::{Compiled, Network, Prepared, codec::Reader};
use symbolon_transport::Result;

use crate::gates::{position::Position, role::GarblingRole};

/// Returns the role of party `me` if `evaluator` evaluates.
pub(crate) fn role(me: PartyId, evaluator: PartyId) -> GarblingRole {
    if me == evaluator {
        GarblingRole { prepare: evaluator::prepare, stream: evaluator::stream }
    } else {
        GarblingRole { prepare: garbler::prepare, stream: garbler::stream }
    }
}

/// Reads back what a party saved after phase 2.
pub(crate) fn load(
    net: &Network,
    evaluator: PartyId,
    circuit: &Compiled,
    from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let (me, parties) = (net.me, net.parties());
    match (Position { me, evaluator }).evaluator_index() {
        None => evaluator::load(me, parties, circuit, from),
        Some(evaluator) => garbler::load(me, evaluator, parties, circuit, from),
    }
}

/// Returns the bytes that a number of parties send for a circuit after the triples are made, at ρ =
/// 40.
pub(crate) fn bytes(circuit: &Compiled, parties: u16) -> u64 {
    let others = u64::from(parties) - 1;
    // A garbler's table, with other garblers' MACs; two opened bits on every link; the evaluator's
    // bit to each garbler.
    let tables = others * (256 + 512 * (others - 1)) + 1;
    let bits = tables + 2 * others * (others + 1) + others;
    let gates = circuit.plan().and_count();
    (gates.saturating_mul(bits) / 8).saturating_add(label_bytes(circuit, parties))
}

/// Returns the size of the garblers' labels of all inputs.
pub(crate) fn label_bytes(circuit: &Compiled, parties: u16) -> u64 {
    let inputs: u64 = circuit.circuit().inputs().iter().map(|input| input.ty.width()).sum();
    16 * inputs * (u64::from(parties) - 1)
}

#[cfg(feature = "measure")]
pub(crate) fn garbling_kernel(plan: &symbolon_circuit::Plan) -> impl FnMut() {
    garbler::GarblePass::kernel(plan)
}

#[cfg(feature = "measure")]
pub(crate) fn evaluation_kernel(plan: &symbolon_circuit::Plan) -> impl FnMut() {
    evaluator::Evaluation::kernel(plan)
}
