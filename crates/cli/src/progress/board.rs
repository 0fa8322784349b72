//! The current state of every party, in words.

use std::time::Instant;

use symbolon::circuit::PartyId;

use super::event::Event;
use crate::common::cost_table::{bytes, time};

/// The current state of every party.
#[derive(Default)]
pub struct Board {
    parties: Vec<(PartyId, Place)>,
}

/// The current state of one party.
pub struct Place {
    /// Peers that it waits for or connects to.
    waiting: Vec<(PartyId, &'static str, String)>,
    /// Why the last attempt to connect failed.
    trouble: Option<String>,
    run: Option<(&'static str, u64, u64)>,
    phase: Option<String>,
    work: Option<Counted>,
}

/// Work in progress.
struct Counted {
    step: String,
    begun: Instant,
    done: u64,
    total: u64,
    sent: u64,
    received: u64,
    /// What was sent when the step began.
    sent_before: u64,
}

impl Place {
    fn new() -> Place {
        Place { waiting: Vec::new(), trouble: None, run: None, phase: None, work: None }
    }

    /// Takes an event into account.
    fn note(&mut self, event: &Event) {
        match event {
            Event::Listening { parties, address } => {
                let here = |party: &PartyId| (*party, "waiting for", address.clone());
                self.waiting.extend(parties.iter().map(here));
            }
            Event::Connecting { peer, address } => {
                self.waiting.push((*peer, "connecting to", address.clone()));
            }
            Event::Retrying { reason, .. } => self.trouble = Some(reason.clone()),
            Event::Connected { peer } => {
                self.waiting.retain(|(waiting, ..)| waiting != peer);
                self.trouble = None;
            }
            Event::Run { run, of } => self.run = Some(("run", *run, *of)),
            Event::Pool { pool, of, .. } if pool < of => {
                self.run = Some(("pool", pool + 1, *of));
            }
            Event::PhaseBegan { phase } => {
                self.waiting.clear();
                (self.phase, self.work) = (Some(phase.clone()), None);
            }
            Event::PhaseEnded { .. } => self.work = None,
            Event::Work { step, done, total, bytes_sent, bytes_received, .. } => {
                self.count(step, [*done, *total, *bytes_sent, *bytes_received]);
            }
            Event::Rejected { .. }
            | Event::Pool { .. }
            | Event::Measurement { .. }
            | Event::Started { .. }
            | Event::Finished { .. } => {}
        }
    }

    /// Counts work. Of two steps at a time the one that began later is shown, because it ends last.
    fn count(&mut self, step: &str, [done, total, sent, received]: [u64; 4]) {
        let begins = self.work.as_ref().is_none_or(|work| work.step != step);
        if begins && done > 0 && self.work.is_some() {
            return;
        }
        let work = self.work.get_or_insert_with(|| Counted {
            step: String::new(),
            begun: Instant::now(),
            done,
            total,
            sent,
            received,
            sent_before: sent,
        });
        if begins || done == 0 {
            (work.step, work.begun, work.sent_before) = (step.to_string(), Instant::now(), sent);
        }
        (work.done, work.total, work.sent, work.received) = (done, total, sent, received);
    }

    /// Returns how much is done of how much, if that is known.
    pub fn fraction(&self) -> Option<(u64, u64)> {
        let work = self.work.as_ref()?;
        Some((work.done, work.total)).filter(|(_, total)| *total > 0)
    }

    /// Returns the state in words, for a line of its own.
    pub fn text(&self) -> String {
        if let Some((peer, how, address)) = self.waiting.first() {
            let others = match self.waiting.len() {
                1 => String::new(),
                n => format!(" and {} more", n - 1),
            };
            let trouble = self.trouble.as_ref().map_or(String::new(), |why| format!(" ({why})"));
            return format!("{how} party {peer}{others} at {address}{trouble}");
        }
        let Some(phase) = &self.phase else { return "connecting".to_string() };
        let run = self.run.map_or(String::new(), |(what, n, of)| format!("{what} {n} of {of}, "));
        let Some(work) = &self.work else { return format!("{run}{phase}") };
        let seconds = work.begun.elapsed().as_secs_f64();
        let percent = 100 * u128::from(work.done) / u128::from(work.total.max(1));
        let mut text = format!(
            "{run}{phase}: {} of {} {} ({percent} %)",
            grouped(work.done),
            grouped(work.total),
            work.step
        );
        if seconds > 0.2 && work.done > 0 {
            let rate = work.done as f64 / seconds;
            text.push_str(&format!(", {}/s", grouped(rate as u64)));
            if work.done < work.total {
                let left = (work.total - work.done) as f64 / rate;
                text.push_str(&format!(", {} left", time(left)));
            }
        }
        text.push_str(&format!(", sent {}", bytes(work.sent)));
        if seconds > 0.2 {
            let rate = work.sent.saturating_sub(work.sent_before) as f64 / seconds;
            text.push_str(&format!(" ({}/s)", bytes(rate as u64)));
        }
        text.push_str(&format!(", received {}", bytes(work.received)));
        text
    }

    /// Returns the state in a word or two, for many parties.
    fn short(&self) -> &str {
        match &self.phase {
            _ if !self.waiting.is_empty() => "connecting",
            Some(phase) => phase,
            None => "connecting",
        }
    }
}

/// Formats `1 234 567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

impl Board {
    /// Takes an event of a party into account.
    pub fn note(&mut self, party: PartyId, event: &Event) {
        let at = match self.parties.binary_search_by_key(&party, |(party, _)| *party) {
            Ok(at) => at,
            Err(at) => {
                self.parties.insert(at, (party, Place::new()));
                at
            }
        };
        self.parties[at].1.note(event);
    }

    /// Returns every party and its state, in ascending order.
    pub fn parties(&self) -> &[(PartyId, Place)] {
        &self.parties
    }

    /// Returns how many parties are in each state.
    pub fn summary(&self) -> String {
        let mut stages: Vec<(&str, usize)> = Vec::new();
        for (_, place) in &self.parties {
            let stage = place.short();
            match stages.iter_mut().find(|(known, _)| *known == stage) {
                Some((_, count)) => *count += 1,
                None => stages.push((stage, 1)),
            }
        }
        let parts: Vec<String> =
            stages.iter().map(|(stage, count)| format!("{count} at {stage}")).collect();
        parts.join(", ")
    }

    /// Returns the party that has the most left to do.
    pub fn slowest(&self) -> Option<&(PartyId, Place)> {
        let left = |place: &Place| {
            place.fraction().map_or(0, |(done, total)| (total - done.min(total)) * 1000 / total)
        };
        self.parties.iter().max_by_key(|(_, place)| left(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(name: &str) -> Event {
        Event::PhaseBegan { phase: name.to_string() }
    }

    fn work(step: &str, done: u64, total: u64) -> Event {
        let (phase, step) = ("dependent".to_string(), step.to_string());
        Event::Work { phase, step, done, total, bytes_sent: 5_000_000, bytes_received: 0 }
    }

    #[test]
    fn a_party_is_described_by_what_it_does() {
        let mut place = Place::new();
        assert_eq!(place.text(), "connecting");
        place.note(&Event::Listening {
            parties: vec![1.into(), 2.into()],
            address: "[::]:7000".to_string(),
        });
        assert_eq!(place.text(), "waiting for party 1 and 1 more at [::]:7000");
        place.note(&Event::Connected { peer: 1.into() });
        place.note(&Event::Connecting { peer: 0.into(), address: "a:1".to_string() });
        place.note(&Event::Connected { peer: 2.into() });
        place.note(&Event::Retrying { peer: 0.into(), reason: "connection refused".to_string() });
        assert_eq!(place.text(), "connecting to party 0 at a:1 (connection refused)");
        place.note(&phase("dependent"));
        assert_eq!(place.text(), "dependent");
        place.note(&Event::Run { run: 2, of: 3 });
        place.note(&work("triples", 0, 4000));
        place.note(&work("triples", 1234, 4000));
        let text =
            "run 2 of 3, dependent: 1 234 of 4 000 triples (30 %), sent 5.00 MB, received 0 B";
        assert_eq!(place.text(), text);
    }

    #[test]
    fn of_two_steps_the_later_one_is_shown() {
        let mut place = Place::new();
        place.note(&phase("streamed"));
        for event in [work("triples", 0, 10), work("gates", 0, 10), work("triples", 9, 10)] {
            place.note(&event);
        }
        assert_eq!(place.fraction(), Some((0, 10)));
        place.note(&work("gates", 4, 10));
        assert_eq!(place.fraction(), Some((4, 10)));
    }

    #[test]
    fn many_parties_are_counted_by_phase() {
        let mut board = Board::default();
        for (party, name) in [(2, "setup"), (0, "setup"), (1, "online"), (3, "setup")] {
            board.note(party.into(), &phase(name));
        }
        assert_eq!(board.summary(), "3 at setup, 1 at online");
        assert_eq!(board.parties()[0].0, 0);
    }
}
