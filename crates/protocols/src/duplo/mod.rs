//! `duplo`: garbled components, soldered, for two parties (Kolesnikov, Nielsen, Rosulek, Trieu,
//! Trifiletti, "DUPLO: Unifying Cut-and-Choose for Garbled Circuits", CCS 2017), Appendix A.
//!
//! Party 0 is the garbler G, party 1 the evaluator E. A circuit consists of components that occur
//! more than once, or of one that is the whole circuit. G garbles many copies of each, E has some
//! of them opened and checks them, and the others go to buckets, one for each place in the circuit.
//! In every bucket there is a good copy, but for a probability of 2^-ρ, and authenticators of keys
//! tell which keys are right. If G cheats in some copies, E either gets the right keys or learns
//! G's inputs and computes the outputs itself; G sees no difference.
//!
//! # Appendix A, step by step
//! | step | where |
//! | --- | --- |
//! | sub-circuits, slots, Par | `components`, `program` |
//! | L, α | `params` |
//! | GenWire, VerWire | `keys`, `layout` |
//! | F_HCOM | `commit` |
//! | GenSold, EvSold, PreProcessRecovery | `solder` |
//! | GenInKeyAuth, VerInKeyAuth, EvKAs | `authenticators` |
//! | PreProcessOTInit | `oblivious` |
//! | indicator bits (§5.1) | `indicators` |
//! | GenSub, VerSub | `garble` |
//! | choosing V, opening | `check`, `opened` |
//! | PreProcessSub, PreProcessKA, PreProcessInKA: buckets | `buckets` |
//! | AssembleSubs | `assemble` |
//! | InputG, InputE | `inputs` |
//! | EvSubs | `evaluate` |
//! | Recover | `recover` |
//! | OutputG, OutputE | `outputs` |
//! | pools of components by kind | `stock`, `pool` |
//! | what is too large for one cut-and-choose | `windows` |
//! | what waits for evaluation | `shelf` |
//! | continuation with outputs that are not opened (section 1.1) | `reactive` |
//!
//! # Where this departs from the paper
//! * **One kind of authenticator**, self-authenticating, on inputs and outputs of components: the
//!   evaluator can then return the right keys after a recovery (`authenticators`). Their hash is
//!   keyed after the keys are fixed, so that 128 bits of hash are enough.
//! * **Sums of wires** are soldered like single ones: XOR and NOT between components are free
//!   (`solder`).
//! * **One Δ that all others are soldered to**, that of the oblivious transfers, which is the
//!   paper's Δ_rco as well (`solder`).
//! * **Components are garbled from committed keys** and not from seeds (`garble`).
//! * **All oblivious transfers are checked** against the commitments, not sacrificed ones alone
//!   (`oblivious`).
//! * **The garbler's outputs that are sums** of several wires get a wire of their own, so that the
//!   returned key tells the sum alone.
//!
//! # What a check fails as
//! Every check ends the session. What a garbler may bring about with a bad component alone is not a
//! failed check but a recovery: a check that failed for some inputs of the evaluator only would
//! tell them.

mod assemble;
mod authenticators;
mod buckets;
#[cfg(test)]
mod cheats;
mod check;
pub mod checks;
mod commit;
mod components;
mod ends;
mod engine;
mod evaluate;
pub mod forecast;
mod garble;
mod held;
mod indicators;
mod inputs;
mod keys;
mod layout;
mod load;
pub mod messages;
mod oblivious;
mod online;
mod opened;
mod outputs;
mod params;
mod pool;
#[cfg(test)]
mod pool_tests;
mod preprocess;
mod program;
mod reactive;
mod recover;
mod shelf;
mod solder;
mod state;
mod stock;
mod store;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod times;
mod windows;

pub use pool::Plan;
pub use stock::Components;

use crate::component_pool::ComponentPools;
use crate::{Demand, GateForm, spec::EngineSource, spec::ProtocolSpec};

/// Opened sums are not what was committed to.
#[cfg(test)]
const OPENING: symbolon_transport::Check = symbolon_cutchoose::checks::OPENING;

/// The protocol.
pub(crate) static SPEC: ProtocolSpec = ProtocolSpec {
    name: "duplo",
    code: 4,
    parties: [2, 2],
    forms: &[GateForm::HalfGates],
    roles: ["garbler", "evaluator"],
    evaluator: program::EVALUATOR,
    pools: "duplo",
    batches: Some(|circuit, batch| Demand::of(circuit, 2).times(batch.executions)),
    bytes: None,
    has_mac_length: false,
    has_psi_form: false,
    has_kappa_b: false,
    runs_in_flight: false,
    continues: true,
    components: Some(ComponentPools {
        demand: pool::demand,
        sections: pool::sections_at,
        plan: pool::plan,
    }),
    engine: EngineSource::Own(engine::set_up),
    messages: messages::ALL,
    checks: checks::ALL,
    load: |net, _, circuit, from| load::load(net, circuit, from),
};
