//! `wrk`: authenticated garbling for two parties (Wang, Ranellucci, Katz, CCS 2017), in two forms.
//!
//! This module is the **four-row** form: one message each way once the inputs are known. The
//! **half-gates** form (Yang, Wang, Zhang 2020, §2.5 with n = 2) sends less than half as many bytes
//! per gate, 2κ + 1 bits instead of 3κ + 4ρ, but its check after evaluation takes one more round
//! trip; it is `crate::half_gates` with the positions of `wrk`. The rest of this text is about
//! the four rows.
//!
//! Party 0 is the garbler (the paper's P_A), party 1 the evaluator (P_B). Every wire w has a random
//! mask λ_w = r_w ⊕ s_w that nobody knows, shared and authenticated: the garbler holds r_w with a
//! MAC under the evaluator's Δ_B, the evaluator holds s_w with a MAC under the garbler's Δ_A. The
//! evaluator sees only masked values Λ_w = z_w ⊕ λ_w. A key K\[s\] and a MAC M\[s\] differ by
//! s·Δ_A, and Δ_A is also the garbler's free-XOR offset, so shares of a masked output bit are
//! shares of its label: the parties garble together, and neither knows the content of a row.
//!
//! # Figure 2, step by step
//! | step | where |
//! | --- | --- |
//! | 1, 2 Δ, masks of inputs and AND outputs, triples | `crate::gates`: `engine`, `correlations` |
//! | 3 masks of XOR outputs | `crate::gates::mask_pass` |
//! | 4a products λ_α·λ_β by Beaver's trick | `crate::gates::mask_pass` |
//! | 4b–d the four rows | `garbler`, `rows`, `evaluator`; `symbolon_garbling::four_row` |
//! | 5–8 inputs, evaluation, outputs | `garbler`, `evaluator` |
//!
//! # Corrections to the printed figure
//! * Step 4(b), row 2 uses β: r_γ,2 = r_σ ⊕ r_γ ⊕ r_β. Row 3 uses both, and the evaluator absorbs
//!   the 1 of row 3, so that K\[s_γ,3\] also ⊕ Δ_A.
//! * Steps 5 and 6 have x and y, and I_1 and I_2, the wrong way round.
//!
//! # Section 6's savings, and changes
//! * MACs in the table are truncated to ρ bits, the clear bit r is omitted (the MAC reveals it),
//!   and the label in row 0 is zero because L_γ,0 is chosen accordingly: 3κ + 4ρ bits per gate.
//!   Truncating a MAC to ρ bits does not weaken it below 2^-ρ, although a cheater may guess bits of
//!   Δ_B during OT extension: c guessed bits cost it 2^-c, and the remaining ρ − c must still be
//!   guessed. The fixed bit lsb(Δ) is not among the ρ bits.
//! * Rows are hashed as H(2·L_α ⊕ 4·L_β) with doubling in GF(2^128) and AES re-keyed per gate,
//!   label and MAC under different keys. A key serves the four rows of one gate
//!   (`docs/proofs/row-hash.md` says when several).
//! * AND gates of a batch are independent ([`symbolon_circuit::Plan`]), and garbled together.
//!
//! Departure: input masks | shares opened to the owner (WRK17) | authenticated bits of the owner,
//! the other party's share is zero (Bit2Share, YWZ20 §2.7) | the owner may choose its mask, as it
//! may choose its input
//!
//! Departure: evaluator's output masks | opened in step 8 | opened in the garbler's one online
//! message | the evaluator's inputs are fixed by then, so it cannot choose them by the masks, and
//! the simulator knows the output
//!
//! Departure: garbler's outputs | – | as in YWZ20, step 11: masked bits with a digest of their
//! labels, shares of the masks with a digest of MACs | a cheat must forge a label or a MAC
//!
//! # Free gates
//! XOR: labels and masks are XORed. NOT: the garbler sets L_γ,0 = L_α,0 ⊕ Δ_A, the evaluator flips
//! Λ and keeps the label; the mask stays. Constant v: the mask is 0, L_γ,0 = v·Δ_A, Λ = v and the
//! label is 0.

pub mod checks;
mod evaluator;
mod garbler;
pub mod messages;
mod online;
mod rows;
pub(crate) mod script;

use symbolon_circuit::PartyId;
use symbolon_engine::{EngineSource, GateForm, OtExtension, ProtocolSpec};

use crate::{
    gates::{
        role::{GarblingRole, GateRole},
        source::Gates,
    },
    half_gates,
};

/// The evaluator's party number; the garbler is party 0.
const EVALUATOR: PartyId = PartyId::new(1);

/// The protocol, in both forms.
pub static SPEC: ProtocolSpec = ProtocolSpec {
    name: "wrk",
    code: 1,
    parties: [2, 2],
    forms: &[GateForm::FourRow, GateForm::HalfGates],
    extensions: &OtExtension::ALL,
    roles: ["garbler", "evaluator"],
    evaluator: EVALUATOR,
    pools: "wrk",
    batches: None,
    units: script::UNITS,
    forecast: |circuit, way| match way.form {
        GateForm::FourRow => script::forecast(circuit, way),
        _ => half_gates::script::forecast(circuit, way, EVALUATOR),
    },
    options: &[],
    stored: None,
    runs_in_flight: false,
    batches_together: None,
    continues: false,
    components: None,
    engine: EngineSource::Correlations(&Gates(|me, form| {
        GateRole::Garbling(match form {
            GateForm::FourRow if me == EVALUATOR => {
                GarblingRole { prepare: evaluator::prepare, stream: evaluator::stream }
            }
            GateForm::FourRow => {
                GarblingRole { prepare: garbler::prepare, stream: garbler::stream }
            }
            _ => half_gates::role(me, EVALUATOR),
        })
    })),
    messages: messages::ALL,
    checks: checks::ALL,
    load: |terms, form, circuit, from| match form {
        GateForm::FourRow if terms.me == EVALUATOR => evaluator::load(terms.run.rho, circuit, from),
        GateForm::FourRow => garbler::load(circuit, from),
        _ => half_gates::load(terms, EVALUATOR, circuit, from),
    },
};

#[cfg(feature = "measure")]
pub(crate) fn garbling_kernel(plan: &symbolon_circuit::Plan) -> impl FnMut() {
    garbler::GarblePass::kernel(plan)
}

#[cfg(feature = "measure")]
pub(crate) fn evaluation_kernel(plan: &symbolon_circuit::Plan) -> impl FnMut() {
    evaluator::Evaluation::kernel(plan)
}
