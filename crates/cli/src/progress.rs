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
        bar.set_message(summary(&self.parties));
    }
}

/// Where every party is, or, of many, how many are where: it has to fit on a line.
fn summary(parties: &[(PartyId, String)]) -> String {
    let mut stages: Vec<(&str, usize)> = Vec::new();
    for (_, stage) in parties {
        match stages.iter_mut().find(|(known, _)| known == stage) {
            Some((_, count)) => *count += 1,
            None => stages.push((stage, 1)),
        }
    }
    let parts: Vec<String> = if parties.len() <= 3 {
        parties.iter().map(|(party, stage)| format!("party {party}: {stage}")).collect()
    } else {
        stages.iter().map(|(stage, count)| format!("{count} at {stage}")).collect()
    };
    parts.join("   ")
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_parties_are_named_and_many_counted() {
        let at = |stages: &[&str]| -> Vec<(PartyId, String)> {
            (0..).zip(stages.iter().map(|stage| stage.to_string())).collect()
        };
        assert_eq!(summary(&at(&["setup", "online"])), "party 0: setup   party 1: online");
        let many = summary(&at(&["setup", "online", "setup", "setup"]));
        assert_eq!(many, "3 at setup   1 at online");
    }
}
