//! Every phase of every run, as it was measured.

use serde::Serialize;
use symbolon::{PhaseReport, SETUP};

use super::session::Session;

/// What one phase of one run cost one party.
#[derive(Clone, Debug, Serialize)]
pub struct Raw {
    /// Which session, from 0.
    pub session: usize,
    /// Which of its runs, from 0; null for its set-up.
    pub run: Option<usize>,
    /// The party.
    pub party: usize,
    /// The phase, and what it cost.
    #[serde(flatten)]
    pub cost: PhaseReport,
}

/// Returns everything measured in these sessions, in order.
pub fn rows(sessions: &[Session]) -> Vec<Raw> {
    let mut rows = Vec::new();
    for (session, parties) in sessions.iter().enumerate() {
        for (party, results) in parties.iter().enumerate() {
            let row = |run, cost: &PhaseReport| Raw { session, run, party, cost: cost.clone() };
            let set_up = results.phases.iter().filter(|cost| cost.phase == SETUP);
            rows.extend(set_up.map(|cost| row(None, cost)));
            for (run, phases) in results.runs.iter().enumerate() {
                rows.extend(phases.iter().map(|cost| row(Some(run), cost)));
            }
        }
    }
    rows
}
