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
use symbolon_engine::{Compiled, LoadTerms, Prepared, codec::Reader};
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
    LoadTerms { me, parties, .. }: LoadTerms<'_>,
    evaluator: PartyId,
    circuit: &Compiled,
    from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    match (Position { me, evaluator }).evaluator_index() {
        None => evaluator::load(me, parties, circuit, from),
        Some(evaluator) => garbler::load(me, evaluator, parties, circuit, from),
    }
}

#[cfg(feature = "measure")]
pub(crate) fn garbling_kernel(plan: &symbolon_circuit::Plan) -> impl FnMut() {
    garbler::GarblePass::kernel(plan)
}

#[cfg(feature = "measure")]
pub(crate) fn evaluation_kernel(plan: &symbolon_circuit::Plan) -> impl FnMut() {
    evaluator::Evaluation::kernel(plan)
}
