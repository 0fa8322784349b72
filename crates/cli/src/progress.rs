//! What is going on, on a terminal and nowhere else.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use symbolon::circuit::PartyId;

/// A line on standard error that says where every party is; silent unless that is a terminal.
pub struct Progress {
    bar: Option<ProgressBar>,
    parties: Vec<(PartyId, String)>,
}

impl Progress {
    /// Begins a line.
    pub fn begin() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        Progress { bar, parties: Vec::new() }
    }

    /// A party has come to a stage.
    pub fn party(&mut self, party: PartyId, stage: &str) {
        let Some(bar) = &self.bar else { return };
        match self.parties.iter_mut().find(|(known, _)| *known == party) {
            Some((_, known)) => *known = stage.to_string(),
            None => self.parties.push((party, stage.to_string())),
        }
        self.parties.sort();
        let stages: Vec<String> =
            self.parties.iter().map(|(party, stage)| format!("party {party}: {stage}")).collect();
        bar.set_message(stages.join("   "));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
