//! What the live page shows, gathered from events.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use symbolon::circuit::PartyId;

use super::super::board::Board;
use super::super::event::Event;

/// The most lines of the log and phases of a party that are kept.
const LINES: usize = 200;
const PHASES: usize = 12;

/// What the page shows.
pub struct Live {
    /// The name of the command, and of the circuit if there is one.
    pub name: String,
    pub begin: Instant,
    pub title: Option<String>,
    /// What the command does before any party has begun.
    pub doing: String,
    pub board: Board,
    pub parties: Vec<(PartyId, Party)>,
    /// Seconds since the beginning, and what happened.
    pub log: VecDeque<(f64, String)>,
    /// How the command ended, in words, and after how many seconds.
    pub end: Option<(f64, Option<String>)>,
    /// What is shown after the end.
    pub report: Option<String>,
    pub linger: Duration,
    pub looked: Option<Instant>,
    /// Whether somebody has seen the end.
    pub seen: bool,
}

/// What a party has done so far.
#[derive(Default)]
pub struct Party {
    pub phases: VecDeque<Phase>,
}

/// A phase of a party, by seconds since the beginning.
pub struct Phase {
    pub name: String,
    pub begin: f64,
    pub end: Option<f64>,
    /// Bytes in all phases of this name, this one included, as far as they are known.
    sent: u64,
    received: u64,
    /// The same when this one began.
    before: [u64; 2],
}

impl Phase {
    /// Returns bytes sent and received in this phase, as far as they are known.
    pub fn bytes(&self) -> [u64; 2] {
        let [sent, received] = self.before;
        [self.sent.saturating_sub(sent), self.received.saturating_sub(received)]
    }
}

/// The state of the page; empty when there is no page.
pub static LIVE: OnceLock<Mutex<Live>> = OnceLock::new();

/// Locks the state of the page, if there is one.
pub fn live() -> Option<MutexGuard<'static, Live>> {
    LIVE.get().map(|live| live.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Live {
    /// Seconds since the beginning.
    pub fn seconds(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    /// Adds a line to the log.
    pub fn note(&mut self, line: String) {
        if self.log.len() == LINES {
            self.log.pop_front();
        }
        let now = self.seconds();
        self.log.push_back((now, line));
    }

    /// Takes an event of a party into account.
    pub fn hear(&mut self, party: PartyId, event: &Event) {
        self.board.note(party, event);
        if let Some(line) = line(event) {
            self.note(format!("party {party}: {line}"));
        }
        let now = self.seconds();
        let at = match self.parties.binary_search_by_key(&party, |(party, _)| *party) {
            Ok(at) => at,
            Err(at) => {
                self.parties.insert(at, (party, Party::default()));
                at
            }
        };
        let phases = &mut self.parties[at].1.phases;
        match event {
            Event::PhaseBegan { phase } => {
                if phases.len() == PHASES {
                    phases.pop_front();
                }
                let name = phase.clone();
                let last = phases.iter().rev().find(|known| known.name == name);
                let before = last.map_or([0; 2], |last| [last.sent, last.received]);
                let [sent, received] = before;
                phases.push_back(Phase { name, begin: now, end: None, sent, received, before });
            }
            Event::Work { phase, bytes_sent, bytes_received, .. } => {
                if let Some(known) = phases.iter_mut().rev().find(|known| known.name == *phase) {
                    (known.sent, known.received) = (*bytes_sent, *bytes_received);
                }
            }
            Event::PhaseEnded { phase, bytes_sent, bytes_received } => {
                if let Some(known) = phases.iter_mut().rev().find(|known| known.name == *phase) {
                    (known.sent, known.received) = (*bytes_sent, *bytes_received);
                    known.end = Some(now);
                }
            }
            _ => {}
        }
    }
}

/// Returns a line of the log, if the event deserves one.
fn line(event: &Event) -> Option<String> {
    Some(match event {
        Event::Listening { address, .. } => format!("listens on {address}"),
        Event::Connecting { peer, address } => format!("connects to party {peer} at {address}"),
        Event::Retrying { peer, reason } => format!("cannot reach party {peer} yet: {reason}"),
        Event::Rejected { from, reason, .. } => {
            format!("rejected a connection from {from}: {reason}")
        }
        Event::Connected { peer } => format!("connected to party {peer}"),
        Event::Run { run, of } => format!("run {run} of {of}"),
        Event::Pool { pool, of, .. } => format!("pool {pool} of {of} is closed"),
        Event::PhaseBegan { phase } => format!("{phase} began"),
        Event::PhaseEnded { phase, .. } => format!("{phase} ended"),
        Event::Work { .. }
        | Event::Measurement { .. }
        | Event::Started { .. }
        | Event::Finished { .. } => return None,
    })
}
