//! `ywz`: authenticated garbling for n ≥ 2 parties (Yang, Wang, Zhang, CCS 2020), n − 1 of them
//! corrupt.
//!
//! One party is the evaluator (the paper's P_1; party 0), all others are garblers (P_2 … P_n).
//! Every wire has a mask that nobody knows, shared among all parties and authenticated towards all.
//! Each garbler has its own labels, with its Δ_i as free-XOR offset. The shares of a masked bit's
//! authentication sum to the right label for each garbler, so all garble together.
//!
//! # Figures 6 and 7, step by step
//! | step | where |
//! | --- | --- |
//! | 1–4 Δ, input masks, masks of AND outputs, triples | `crate::gates`: `engine`, `correlations` |
//! | 5–7 input labels, masks of XOR outputs, products | `crate::gates::mask_pass`, `garbler` |
//! | 8 partial half-gates | `garbler`, `half_gates` |
//! | 9–10 inputs, evaluation | `online`, `evaluator` |
//! | 11–13 circuit authentication, outputs | `proof`, `evaluator`, `garbler` |
//!
//! # Correction to the printed figure
//! Step 8: the first ciphertext is H(L_α,0) ⊕ H(L_α,**1**) ⊕ …, as in half-gates.
//!
//! # Choices
//! * With two parties there are no garblers' MACs to encrypt, which leaves half-gates, 2κ + 1 bits
//!   per gate. With party 1 as the evaluator this is the half-gates form of [`crate::wrk`].
//! * A gate's two half-gate hashes have separate tweaks, 2γ and 2γ + 1. Rows for other garblers are
//!   hashed as 2·L_α ⊕ 4·L_β, under separate keys for each pair of garblers.
//! * Step 9: masked inputs are broadcast, so they are echoed before any label is sent (with two
//!   parties there is nobody to echo to).
//! * Step 11: one digest of the garbled labels proves the evaluator's masked values to each
//!   garbler.
//! * Step 12: the evaluator, which performs the check, draws χ; the tables it checks were fixed in
//!   the phase before.
//! * Step 13: garblers open the masks of others' outputs after step 11's check, which proves to
//!   each of them that the masked values are right. The evaluator opens them after step 12's check,
//!   which proves the same to the evaluator.

pub mod checks;
mod evaluator;
mod garbler;
mod half_gates;
mod hash;
pub mod messages;
mod online;
mod proof;

use symbolon_circuit::PartyId;
use symbolon_transport::Result;

use crate::{
    Compiled, GateForm, Network, Prepared,
    codec::Reader,
    gates::{
        position::Position,
        role::{GarblingRole, GateRole},
    },
    spec::{EngineSource, ProtocolSpec},
};

/// The evaluator's party number in `ywz` itself.
pub(crate) const EVALUATOR: PartyId = PartyId::new(0);

/// The protocol among any number of parties.
pub(crate) static SPEC: ProtocolSpec = ProtocolSpec {
    name: "ywz",
    code: 2,
    parties: [2, 256],
    forms: &[GateForm::HalfGates],
    roles: ["evaluator", "garbler"],
    evaluator: EVALUATOR,
    pools: "ywz",
    batches: None,
    bytes: Some(|circuit, parties, _| bytes(circuit, parties)),
    messages: messages::ALL,
    checks: checks::ALL,
    has_mac_length: false,
    has_psi_form: false,
    has_kappa_b: false,
    runs_in_flight: false,
    batches_together: None,
    continues: false,
    components: None,
    engine: EngineSource::Gates(|me, _| GateRole::Garbling(role(me, EVALUATOR))),
    load: |net, _, circuit, from| load(net, EVALUATOR, circuit, from),
};

/// Returns the role of party `me` if `evaluator` evaluates; the protocol that uses this module
/// determines the evaluator.
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
