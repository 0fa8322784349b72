//! `dualex`: dual execution for two parties, prepared in batches (Rindal and Rosulek, "Faster
//! Malicious 2-Party Secure Computation with Online/Offline Dual Execution", USENIX Security 2016).
//!
//! Both parties garble and both evaluate. For N executions of one circuit, each party garbles N̂
//! copies and opens some of them; the rest, the *evaluation circuits*, go to N random buckets of B
//! circuits. Online, each party evaluates the B circuits of one of the peer's buckets. The parties
//! then intersect, privately, sets of values that represent the outputs they found. A cheater can
//! make an honest party find a wrong output only in circuits that it garbled incorrectly, and it
//! cannot compute the value that represents a wrong output. So the intersection has the value of
//! the right output, or it is empty.
//!
//! Classical dual execution leaks one bit: whether the intersection is empty. Here the bit leaks
//! only if a bucket has no good circuit, and with probability at most 2^-κ_b any bucket of a
//! session has none. Everything else is bounded by 2^-κ_s (`params`).
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
//! * **One coin** replaces the committed check sets. It is tossed after all circuits and OTs are
//!   fixed, and decides which circuits are opened and which bucket each other circuit joins.
//!   Buckets are a random permutation: the prototype fills them in order, which costs most of the
//!   security.
//! * **A digest commits to each circuit, and only evaluation circuits are sent**; an opened circuit
//!   costs a seed. The adaptive transform (Fig. 9) is unaffected, because the digest fixes the
//!   table and the leaves.
//! * **Commitments to labels** are leaves under one commitment per circuit (`garble`).
//! * **R is committed, and sent to the evaluator with the labels of its announced input**, the last
//!   labels it receives. If the evaluator has no input, nothing is adaptive, and R is sent at the
//!   same point.
//! * **M·r is computed on labels**, outside the circuit.
//! * **The labels of a bucket are compared with their hashes after the translation** (the figure
//!   compares Y with the hash of O), and a circuit with any wrong label gives a random value.
//! * **Output labels come from seeds** (§8.2), those of single circuits too. The check of Output
//!   Decommit also compares them with the hashes of the bucket's labels.
//! * **Reconciliation values are hashed and longer** than κ_s (`reconcile`, `params`).
//! * **Outputs for one party** are masked by an input of that party (`function`).
//!
//! # Order
//! A party sends R after it has received the peer's masked input, so every input of the circuit is
//! fixed by then: the peer's by this message and the OTs, this party's because an honest garbler
//! chooses its inputs independently of the peer. Output labels are opened after both parties are
//! committed to their sets, the intersection after the peer's translations are checked
//! (`outputs::TranslationsChecked`). Outputs exist only if the intersection has exactly one value
//! (`outputs::Reconciled`).

mod buckets;
mod check;
mod checks;
mod engine;
mod execution;
pub mod forecast;
mod function;
mod garble;
mod inputs;
mod label_hashes;
mod messages;
mod offline;
mod online;
pub mod options;
mod ot;
mod outputs;
mod params;
mod preparation;
mod probe_matrix;
mod psi;
mod reconcile;
pub(crate) mod script;
mod sender;
mod steps;
mod tables;
#[cfg(test)]
mod tests;

use symbolon_engine::{
    Compiled, Demand, EngineSource, GateForm, LoadTerms, OtExtension, Prepared, ProtocolSpec,
    RunTerms, StoredOptions,
    codec::{Reader, damaged},
};
use symbolon_transport::{PartyId, Result};

use execution::{Execution, Lengths};
use function::Function;
use online::PreparedExecutions;
use options::DualExOptions;

/// The protocol.
pub static SPEC: ProtocolSpec = ProtocolSpec {
    name: "dualex",
    code: 5,
    parties: [2, 2],
    forms: &[GateForm::HalfGates],
    extensions: OtExtension::DIRECT,
    roles: ["garbles and evaluates", "garbles and evaluates"],
    evaluator: PartyId::new(1),
    pools: "dualex",
    batches: Some(demand),
    messages: messages::ALL,
    checks: checks::ALL,
    forecast: script::forecast,
    units: script::UNITS,
    options: options::ALL,
    stored: Some(StoredOptions { label: options::label, stamp: None }),
    runs_in_flight: true,
    batches_together: None,
    continues: false,
    components: None,
    engine: EngineSource::Own(engine::set_up),
    load,
};

/// A circuit counts as at least this many AND gates.
const SMALL: u64 = 1 << 10;

/// Returns the demand of a batch, counted in AND gates as for the other protocols. It decides how
/// many executions are prepared at a time. A small circuit counts as [`SMALL`] gates, because its
/// inputs and intersections take memory too.
fn demand(circuit: &Compiled, terms: RunTerms<'_>) -> Result<Demand> {
    let one = Demand::of(circuit, 2);
    Demand { and_gates: one.and_gates.max(SMALL), ..one }.times(terms.executions)
}

/// Reads stored executions.
fn load(
    LoadTerms { me, run, .. }: LoadTerms<'_>,
    _: GateForm,
    circuit: &Compiled,
    mut from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let function = circuit.derived::<Function>()?;
    let session = from.array()?;
    let bucket = usize::try_from(from.u64()?).ok().filter(|bucket| (1..=128).contains(bucket));
    let bucket = bucket.ok_or_else(|| damaged("its buckets have no such size"))?;
    let psi = DualExOptions::of(run.options, run.rho)?.psi;
    if from.array()? != [psi as u8] {
        return Err(damaged("it was prepared for another form of intersection"));
    }
    let lengths = Lengths::of(me, &function, (bucket, run.rho.bits()), psi);
    let executions = (0..run.executions)
        .map(|_| Execution::load(&mut from, &lengths))
        .collect::<Result<Vec<_>>>()?;
    let digest = circuit.digest();
    Ok(Box::new(PreparedExecutions { digest, session, function, lengths, executions }))
}
