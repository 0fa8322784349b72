//! The times of the phases of a run.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use symbolon::Report;

/// When one phase of one run was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// The run, counted from 0; the set-up belongs to the first.
    pub run: u32,
    /// The phase.
    pub phase: String,
    /// When it began, by this machine's clock: seconds since 1970, or since the first span began.
    pub begin: f64,
    /// How long it took.
    pub seconds: f64,
}

/// Records when phases end.
pub struct Timeline {
    spans: Vec<Span>,
    before: Report,
}

impl Timeline {
    /// Returns an empty timeline.
    pub fn begin() -> Self {
        Timeline { spans: Vec::new(), before: Report::default() }
    }

    /// Returns everything in a report, as if each phase had been entered once and the last one had
    /// ended just now.
    pub fn of(report: &Report) -> Vec<Span> {
        let mut timeline = Timeline::begin();
        timeline.mark(0, report);
        timeline.spans()
    }

    /// Marks what `report` adds to the previous one as just ended. Several phases are assumed to
    /// have followed each other.
    pub fn mark(&mut self, run: u32, report: &Report) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.mark_at(now.as_secs_f64(), run, report);
    }

    fn mark_at(&mut self, mut end: f64, run: u32, report: &Report) {
        let place = self.spans.len();
        for added in report.since(&self.before).phases.into_iter().rev() {
            let (phase, seconds) = (added.phase, added.seconds);
            end -= seconds;
            self.spans.insert(place, Span { run, phase, begin: end, seconds });
        }
        self.before = report.clone();
    }

    /// Returns all phases in order.
    pub fn spans(self) -> Vec<Span> {
        self.spans
    }
}

#[cfg(test)]
mod tests {
    use symbolon::{Meter, ONLINE, PhaseReport, SETUP};

    use super::*;

    #[test]
    fn phases_end_when_they_are_marked() {
        let phase = |&(name, seconds): &(&'static str, f64)| {
            let meter = Meter::new();
            meter.set_phase(name);
            PhaseReport { seconds, ..meter.report().remove(0) }
        };
        let report =
            |phases: &[(&'static str, f64)]| Report { phases: phases.iter().map(phase).collect() };
        let mut timeline = Timeline::begin();
        timeline.mark_at(10.0, 0, &report(&[(SETUP, 2.0), (ONLINE, 1.0)]));
        timeline.mark_at(20.0, 1, &report(&[(SETUP, 2.0), (ONLINE, 5.0)]));
        let spans = timeline.spans();
        let of = |span: &Span| (span.run, span.phase.clone(), span.begin, span.seconds);
        let told: Vec<_> = spans.iter().map(of).collect();
        let expected = [(0, SETUP, 7.0, 2.0), (0, ONLINE, 9.0, 1.0), (1, ONLINE, 16.0, 4.0)];
        let expected =
            expected.map(|(run, phase, begin, seconds)| (run, phase.to_string(), begin, seconds));
        assert_eq!(told, expected);
    }
}
