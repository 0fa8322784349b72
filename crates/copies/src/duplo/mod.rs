//! `duplo`: garbled components, soldered, for two parties (Kolesnikov, Nielsen, Rosulek, Trieu,
//! Trifiletti, "DUPLO: Unifying Cut-and-Choose for Garbled Circuits", CCS 2017), Appendix A.
//!
//! Party 0 is the garbler G, party 1 the evaluator E. A circuit consists of components, most of
//! which occur more than once, or is a single component. G garbles many copies of each component; E
//! has some of them opened and checks them. The others, the *evaluation copies*, go to buckets, one
//! for each slot of the circuit. Except with probability 2^-ρ every bucket has a good copy, and
//! authenticators tell E which keys are right. If G cheats in some copies, E either gets the right
//! keys, or learns G's inputs and computes the outputs itself; G cannot tell the two cases apart.
//!
//! # Appendix A, step by step
//! | step | where |
//! | --- | --- |
//! | sub-circuits, slots, Par | `choose`, `program`; `symbolon_circuit::components` |
//! | L, α | `params` |
//! | GenWire, VerWire | `keys`, `layout` |
//! | F_HCOM | `commit` |
//! | GenSold, EvSold, PreProcessRecovery | `solder` |
//! | GenInKeyAuth, VerInKeyAuth, EvKAs | `authenticators` |
//! | PreProcessOTInit | `oblivious` |
//! | indicator bits (§5.1) | `indicators` |
//! | GenSub, VerSub | `garble` |
//! | drawing the check set V, opening | `check`, `opened` |
//! | PreProcessSub, PreProcessKA, PreProcessInKA: buckets | `buckets` |
//! | AssembleSubs | `assemble` |
//! | InputG, InputE | `inputs` |
//! | EvSubs | `evaluate` |
//! | Recover | `recover` |
//! | OutputG, OutputE | `outputs` |
//! | pools of components by kind | `stock`, `pool` |
//! | what is too large for one cut-and-choose | `windows` |
//! | slots that wait for evaluation | `shelf` |
//! | continuing with outputs that are not opened (section 1.1) | `reactive` |
//!
//! # Where this departs from the paper
//! `docs/proofs/duplo.md` has the proofs.
//! * **One kind of authenticator**, self-authenticating, for circuit inputs and component outputs
//!   alike: so the evaluator can return the right keys even after a recovery (`authenticators`).
//!   The hash is keyed after the keys are fixed, so 128 bits of hash are enough.
//! * **Sums of wires** are soldered like single wires, so XOR and NOT between components are free
//!   (`solder`).
//! * **All other Δ are soldered to one**: that of the oblivious transfers, which is also the
//!   paper's Δ_rco (`solder`).
//! * **Components are garbled from committed keys**, not from seeds (`garble`).
//! * **All oblivious transfers are checked** against the commitments, not only the sacrificed ones
//!   (`oblivious`).
//! * **An output of the garbler that is a sum** of several wires gets a wire of its own, so that
//!   the returned key reveals only the sum.
//!
//! # Failed checks and recovery
//! Every failed check ends the session. What a garbler can cause with a bad component alone does
//! not fail a check but leads to a recovery: a check that failed only for some inputs of the
//! evaluator would reveal them.

mod assemble;
mod authenticators;
mod buckets;
#[cfg(test)]
mod cheats;
#[cfg(test)]
mod cheats_offsets;
#[cfg(test)]
mod cheats_programs;
mod check;
pub mod checks;
mod choose;
mod commit;
mod common_offset;
mod endpoints;
mod engine;
mod evaluate;
pub mod forecast;
mod garble;
mod indicators;
mod inputs;
mod kept_outputs;
mod keys;
mod layout;
mod load;
pub mod messages;
mod oblivious;
mod online;
mod opened;
pub mod options;
mod outputs;
mod params;
mod pool;
#[cfg(test)]
mod pool_tests;
mod preprocess;
#[cfg(test)]
mod privacy;
mod program;
mod reactive;
mod recover;
pub(crate) mod script;
mod shelf;
mod solder;
mod state;
mod stock;
mod store;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod times;
mod waiting;
mod windows;

use symbolon_engine::{
    ComponentPools, Demand, EngineSource, GateForm, OtExtension, ProtocolSpec, StoredOptions,
};

/// The protocol.
pub static SPEC: ProtocolSpec = ProtocolSpec {
    name: "duplo",
    code: 4,
    parties: [2, 2],
    forms: &[GateForm::HalfGates],
    extensions: OtExtension::DIRECT,
    roles: ["garbler", "evaluator"],
    evaluator: program::EVALUATOR,
    pools: "duplo",
    batches: Some(|circuit, terms| Demand::of(circuit, 2).times(terms.executions)),
    forecast: script::forecast,
    units: script::UNITS,
    options: options::ALL,
    stored: Some(StoredOptions { label: options::label, stamp: None }),
    runs_in_flight: false,
    batches_together: Some(windows::preparations_together),
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
