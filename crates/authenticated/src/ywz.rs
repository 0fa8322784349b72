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
//! | 5–7 input labels, masks of XOR outputs, products | `crate::gates::mask_pass`, `half_gates::garbler` |
//! | 8 partial half-gates | `half_gates`: `garbler`, `rows` |
//! | 9–10 inputs, evaluation | `half_gates`: `online`, `evaluator` |
//! | 11–13 circuit authentication, outputs | `half_gates`: `proof`, `evaluator`, `garbler` |
//!
//! # Correction to the printed figure
//! Step 8: the first ciphertext is H(L_α,0) ⊕ H(L_α,**1**) ⊕ …, as in half-gates.
//!
//! # Choices
//! * With two parties there are no garblers' MACs to encrypt, which leaves half-gates, 2κ + 1 bits
//!   per gate. With party 1 as the evaluator this is the half-gates form of `wrk`.
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

use symbolon_circuit::PartyId;
use symbolon_engine::{EngineSource, GateForm, OtExtension, ProtocolSpec};

use crate::{
    gates::{role::GateRole, source::Gates},
    half_gates,
};

pub use crate::half_gates::{checks, messages};

/// The evaluator's party number.
const EVALUATOR: PartyId = PartyId::new(0);

/// The protocol among any number of parties.
pub static SPEC: ProtocolSpec = ProtocolSpec {
    name: "ywz",
    code: 2,
    parties: [2, 256],
    forms: &[GateForm::HalfGates],
    extensions: &OtExtension::ALL,
    roles: ["evaluator", "garbler"],
    evaluator: EVALUATOR,
    pools: "ywz",
    batches: None,
    forecast: |circuit, way| half_gates::script::forecast(circuit, way, EVALUATOR),
    units: half_gates::script::UNITS,
    messages: messages::ALL,
    checks: checks::ALL,
    options: &[],
    stored: None,
    runs_in_flight: false,
    batches_together: None,
    continues: false,
    components: None,
    engine: EngineSource::Correlations(&Gates(|me, _| {
        GateRole::Garbling(half_gates::role(me, EVALUATOR))
    })),
    load: |terms, _, circuit, from| half_gates::load(terms, EVALUATOR, circuit, from),
};
