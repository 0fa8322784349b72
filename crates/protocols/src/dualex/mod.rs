//! `dualex`: dual execution for two parties, prepared in batches (Rindal and Rosulek, "Faster
//! Malicious 2-Party Secure Computation with Online/Offline Dual Execution", USENIX Security 2016).
//!
//! Both parties garble, and both evaluate. For N executions of one circuit each garbles N̂ copies,
//! opens some of them to the other, and the rest go to N random buckets of B. Online each evaluates
//! the B circuits of one of the peer's buckets. Both then intersect, privately, sets of values that
//! stand for the outputs they got. A cheater can put a wrong output before an honest party only in
//! circuits that it garbled badly; it cannot produce the value of a wrong output itself, so the
//! intersection has the right one, or none.
//!
//! Classical dual execution leaks a bit: whether the intersection is empty. Here that takes a
//! bucket without a good circuit, which a given execution has with probability 2^-κ_b at most.
//! Everything else is bounded by 2^-κ_s (`params`).
//!
//! # Figure 15, step by step
//! | step | where |
//! | --- | --- |
//! | the matrix M, and f' of x̂ ⊕ M·r | `probe_matrix`; `function` |
//! | OT Init (F_rot, Fig. 10) | `ot` |
//! | Send Circuit, Input Commit, Output Commit (Fig. 9) | `garble`, `check` |
//! | Cut-and-Choose | `check` |
//! | Bucketing, Bucket Labels | `buckets` |
//! | Offline Inputs (§5.2, §6.1) | `inputs` |
//! | Receiver's and Sender's Inputs, Evaluate | `online`, in the order of `steps` |
//! | PSI Commit, with values in `reconcile` | `psi` (Figs. 13 and 14), `online` |
//! | Output Decommit, PSI Decommit | `outputs` |
//!
//! # Where this departs from the paper
//! * **The probe matrix** is random and systematic: the published construction is broken.
//! * **One coin** decides what is opened and in which bucket the rest goes, tossed after all
//!   circuits and OTs are fixed, in place of a committed set. Buckets are a random permutation: the
//!   prototype fills them in order, which costs most of the security.
//! * **Circuits are committed to by a digest and sent only if they stay**; what is opened costs a
//!   seed. The adaptive transform (Fig. 9) is unchanged by that, as the digest fixes table and
//!   leaves.
//! * **Commitments to labels** are leaves under one commitment of the circuit (`garble`).
//! * **R is committed to, and goes to the evaluator with the labels of its announced input**, the
//!   last ones. If the evaluator has no input, nothing is adaptive, and R goes at the same time.
//! * **M·r is computed on labels**, outside of the circuit.
//! * **Labels of a bucket are compared with their hashes after the translation** (the figure
//!   compares Y with the hash of O), and a circuit with any wrong label gives a random value.
//! * **Output labels come from seeds** (§8.2), those of single circuits too; the check of Output
//!   Decommit compares them with the hashes of the bucket's labels as well.
//! * **Reconciliation values are hashed and longer** than κ_s (`reconcile`, `params`).
//! * **Outputs for one party** are masked by an input of that party (`function`).
//!
//! # Order
//! R is sent after the peer's masked input has come, so every input of the circuit is fixed by
//! then: the peer's by this message and the OTs, this party's because an honest garbler chose them
//! without looking at what the peer does. Output labels are opened after both sets are committed
//! to, the intersection after the peer's translations were checked
//! (`outputs::TranslationsChecked`), and outputs exist after it has one value
//! (`outputs::Reconciled`).

mod buckets;
mod check;
mod checks;
mod engine;
mod execution;
mod function;
mod garble;
mod inputs;
mod label_hashes;
mod messages;
mod offline;
mod online;
mod ot;
mod outputs;
mod params;
mod preparation;
mod probe_matrix;
mod psi;
mod reconcile;
mod steps;
mod tables;
#[cfg(test)]
mod tests;

use symbolon_transport::{PartyId, Result};

use crate::{
    Batch, Compiled, Demand, GateForm, Network, Prepared,
    codec::{Reader, damaged},
    spec::{EngineSource, ProtocolSpec},
};

use execution::{Execution, Lengths};
use function::Function;
use online::PreparedExecutions;
pub use psi::PsiForm;

/// The protocol.
pub(crate) static SPEC: ProtocolSpec = ProtocolSpec {
    name: "dualex",
    code: 5,
    parties: [2, 2],
    forms: &[GateForm::HalfGates],
    roles: ["garbles and evaluates", "garbles and evaluates"],
    evaluator: PartyId::new(1),
    pools: "dualex",
    batches: Some(demand),
    messages: messages::ALL,
    checks: checks::ALL,
    bytes: None,
    has_mac_length: false,
    has_psi_form: true,
    has_kappa_b: true,
    runs_in_flight: true,
    continues: false,
    components: None,
    engine: EngineSource::Own(engine::set_up),
    load,
};

/// The least AND gates that a circuit is counted as.
const SMALL: u64 = 1 << 10;

/// What a number of executions takes, in the measure of protocols on AND gates, by which it is
/// chosen how many are prepared at a time. A small circuit counts as [`SMALL`] gates, since inputs
/// and intersections take room as well.
fn demand(circuit: &Compiled, batch: Batch) -> Result<Demand> {
    let one = Demand::of(circuit, 2);
    Demand { and_gates: one.and_gates.max(SMALL), ..one }.times(batch.executions)
}

/// Reads prepared executions back.
fn load(
    net: &Network,
    _: GateForm,
    circuit: &Compiled,
    mut from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let function = Function::of(circuit.circuit())?;
    let session = from.array()?;
    let bucket = usize::try_from(from.u64()?).ok().filter(|bucket| (1..=128).contains(bucket));
    let bucket = bucket.ok_or_else(|| damaged("its buckets have no such size"))?;
    if from.array()? != [net.batch.psi as u8] {
        return Err(damaged("it was prepared for another form of intersection"));
    }
    let lengths = Lengths::of(net.me, &function, (bucket, net.rho.bits()), net.batch.psi);
    let executions = (0..net.batch.executions)
        .map(|_| Execution::load(&mut from, &lengths))
        .collect::<Result<Vec<_>>>()?;
    let digest = circuit.digest();
    Ok(Box::new(PreparedExecutions { digest, session, function, lengths, executions }))
}
