//! The result of a party at the end of a run.

use serde::{Deserialize, Serialize};
use symbolon::SETUP;
use symbolon::stored::RunPrepared;

use symbolon::{Outputs, PhaseReport};

use crate::common::packed::Packed;
use crate::common::timeline::Span;
use crate::results::failed_asserts::FailedAsserts;
use crate::results::{BatchOutputs, ChoiceJson};

/// What a party has at the end.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartyResult {
    /// The outputs as this party learnt them.
    pub outputs: Vec<Option<Packed>>,
    /// The same by evaluation, if there were many.
    #[serde(default)]
    pub batch: BatchOutputs,
    /// Asserts that failed in it.
    #[serde(default)]
    pub failed: FailedAsserts,
    /// What the phases cost in all.
    pub phases: Vec<PhaseReport>,
    /// What they cost in each run; without the set-up.
    pub runs: Vec<Vec<PhaseReport>>,
    /// When they took place.
    #[serde(default)]
    pub spans: Vec<Span>,
    /// How it was garbled, what made the correlated OTs, and why.
    pub choice: ChoiceJson,
    /// AND triples that were made, if only triples were requested.
    pub triples: u64,
    /// The most memory that the party's process had at a time, in bytes, where the system tells.
    pub peak_memory: Option<u64>,
}

impl PartyResult {
    /// Returns a result with nothing but the memory of the process.
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

    /// Returns what the only run cost: everything but the set-up.
    pub fn only_run(phases: &[PhaseReport]) -> Vec<Vec<PhaseReport>> {
        vec![phases.iter().filter(|phase| phase.phase != SETUP).cloned().collect()]
    }

    /// Forgets processor time: it belongs to the process, and says nothing about a party that is
    /// one of its threads.
    pub fn forget_cpu(&mut self) {
        let all = self.phases.iter_mut().chain(self.runs.iter_mut().flatten());
        all.for_each(|phase| phase.cpu_seconds = None);
    }

    /// Returns the result of a prepared circuit that was run.
    pub fn prepared(ran: &RunPrepared) -> PartyResult {
        PartyResult {
            outputs: learnt(&ran.outputs),
            phases: ran.report.phases.clone(),
            // The prepared circuit determines how it is garbled, and no OT is made.
            choice: ChoiceJson::none(ran.dealer.as_deref()),
            ..PartyResult::empty()
        }
    }
}

/// Returns the bits of all outputs.
pub fn learnt(outputs: &Outputs) -> Vec<Option<Packed>> {
    outputs.iter().map(|output| output.bits.clone().map(Packed)).collect()
}

/// Resets the peak of this process's memory; returns whether the system can.
pub fn forget_peak_memory() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// Returns the most memory that this process had at a time, in bytes; only known on Linux.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
