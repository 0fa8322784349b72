//! What a party has at the end of a run.

use serde::{Deserialize, Serialize};
use symbolon::SETUP;
use symbolon::circuit::Circuit;
use symbolon::stored::RunPrepared;

use symbolon::PhaseReport;

use crate::batch::FailedAsserts;
use crate::results::{BatchOutputs, ChoiceJson, OutputJson};
use crate::timeline::Span;

/// What a party has at the end.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartyResult {
    /// The outputs as this party learnt them.
    pub outputs: Vec<OutputJson>,
    /// The same by evaluation, when there were many.
    #[serde(default)]
    pub batch: BatchOutputs,
    /// Asserts that failed in it.
    #[serde(default)]
    pub failed: FailedAsserts,
    /// What the phases cost in all.
    pub phases: Vec<PhaseReport>,
    /// What they cost in each run; without the set-up.
    pub runs: Vec<Vec<PhaseReport>>,
    /// When they were.
    #[serde(default)]
    pub spans: Vec<Span>,
    /// How it was garbled, what made the correlated OTs, and why.
    pub choice: ChoiceJson,
    /// AND triples that were made, when triples were all that was asked for.
    pub triples: u64,
    /// The most memory that the party's process had at a time, in bytes, where the system tells.
    pub peak_memory: Option<u64>,
}

impl PartyResult {
    /// Nothing but what the process needed.
    pub fn empty() -> PartyResult {
        PartyResult {
            outputs: Vec::new(),
            batch: Vec::new(),
            failed: FailedAsserts::default(),
            phases: Vec::new(),
            runs: Vec::new(),
            spans: Vec::new(),
            choice: ChoiceJson::default(),
            triples: 0,
            peak_memory: peak_memory(),
        }
    }

    /// What one run cost that was all there was: everything but the set-up.
    pub fn only_run(phases: &[PhaseReport]) -> Vec<Vec<PhaseReport>> {
        vec![phases.iter().filter(|phase| phase.phase != SETUP).cloned().collect()]
    }

    /// Forgets processor time, which is a process's: of a party that is a thread among others it
    /// says nothing.
    pub fn forget_cpu(&mut self) {
        let all = self.phases.iter_mut().chain(self.runs.iter_mut().flatten());
        all.for_each(|phase| phase.cpu_seconds = None);
    }

    /// A prepared circuit that was run.
    pub fn prepared(circuit: &Circuit, ran: &RunPrepared, parties: u16) -> PartyResult {
        PartyResult {
            outputs: OutputJson::all(circuit.outputs(), &ran.outputs, parties),
            phases: ran.report.phases.clone(),
            // What was prepared says how it is garbled, and no OT is made.
            choice: ChoiceJson::none(ran.dealer.as_deref()),
            ..PartyResult::empty()
        }
    }
}

/// Begins again to look for the most memory this process has at a time; whether the system can.
pub fn forget_peak_memory() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The most memory this process had at a time, in bytes; Linux tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
