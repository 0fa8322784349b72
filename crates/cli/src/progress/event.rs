//! Events of a run, for a terminal, for a file and for programs.
//!
//! The names and fields are stable; docs/reference/json.md is generated from their comments.
//! Everything in an event is public; no event has inputs, outputs or keys.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use symbolon::circuit::PartyId;
use symbolon::{Config, Progress, Work};

use crate::common::error::{CliError, ErrorClass};

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// The command began; always the first.
    Started {
        /// `symbolon-events-1`.
        format: String,
        /// The command's name.
        command: String,
        /// The version of this program.
        version: String,
    },
    /// The party listens.
    Listening {
        /// The parties that must connect.
        parties: Vec<PartyId>,
        /// HOST:PORT.
        address: String,
    },
    /// The party connects to another one.
    Connecting {
        /// The other party.
        peer: PartyId,
        /// HOST:PORT.
        address: String,
    },
    /// An attempt to connect failed, and there will be another.
    Retrying {
        /// The other party.
        peer: PartyId,
        /// Why.
        reason: String,
    },
    /// A connection was rejected.
    Rejected {
        /// The address that it came from, without the port.
        from: String,
        /// `wrong-key`, `own-key-refused` (it expects another key than ours), `http`, `tls` or
        /// `plain-tcp` (the other `--transport`), `other-protocol`, `silent`.
        code: String,
        /// The same in words.
        reason: String,
    },
    /// All connections with a party are open.
    Connected {
        /// The other party.
        peer: PartyId,
    },
    /// One of several runs began.
    Run {
        /// Its number, from 1.
        run: u64,
        /// How many there are.
        of: u64,
    },
    /// `preprocess` closed a pool, which stays whatever comes after it.
    Pool {
        /// Its name.
        item: String,
        /// Which of the new ones it is, from 1.
        pool: u64,
        /// How many there will be.
        of: u64,
    },
    /// `bench` began one of several measurements.
    Measurement {
        /// Its number, from 1.
        number: usize,
        /// How many there are.
        of: usize,
        /// What is measured.
        name: String,
    },
    /// A phase began.
    PhaseBegan {
        /// Its name.
        phase: String,
    },
    /// Work was done; at most ten a second for each step.
    Work {
        /// The phase.
        phase: String,
        /// What is counted: `triples` or `gates`.
        step: String,
        /// How many are done.
        done: u64,
        /// How many there are.
        total: u64,
        /// Bytes sent so far in all phases of this name.
        bytes_sent: u64,
        /// Bytes received so far in all phases of this name.
        bytes_received: u64,
    },
    /// A phase ended.
    PhaseEnded {
        /// Its name.
        phase: String,
        /// Bytes sent in all phases of this name.
        bytes_sent: u64,
        /// Bytes received in all phases of this name.
        bytes_received: u64,
    },
    /// The command ended; always the last.
    Finished {
        /// Its exit code.
        exit_code: u8,
        /// The class of the failure; null after success.
        class: Option<ErrorClass>,
        /// The failure's code; null after success.
        code: Option<String>,
        /// The failure in words; null after success.
        text: Option<String>,
    },
}

/// The format of the file of events.
pub const FORMAT: &str = "symbolon-events-1";

impl Event {
    /// Returns the event for a report of the library, if this version knows it.
    pub fn of(progress: &Progress) -> Option<Event> {
        Some(match progress {
            Progress::Listening { parties, address } => {
                Event::Listening { parties: parties.clone(), address: address.clone() }
            }
            Progress::Connecting { party, address } => {
                Event::Connecting { peer: *party, address: address.clone() }
            }
            Progress::Retrying { party, reason } => {
                Event::Retrying { peer: *party, reason: reason.clone() }
            }
            Progress::Rejected { from, stranger, reason } => Event::Rejected {
                from: from.clone(),
                code: stranger.code().to_string(),
                reason: reason.clone(),
            },
            Progress::Connected { party } => Event::Connected { peer: *party },
            Progress::Phase { phase } => Event::PhaseBegan { phase: (*phase).to_string() },
            Progress::PhaseEnded { phase, bytes_sent, bytes_received } => Event::PhaseEnded {
                phase: (*phase).to_string(),
                bytes_sent: *bytes_sent,
                bytes_received: *bytes_received,
            },
            Progress::Work(Work { phase, step, done, total, bytes_sent, bytes_received }) => {
                Event::Work {
                    phase: (*phase).to_string(),
                    step: step.name().to_string(),
                    done: *done,
                    total: *total,
                    bytes_sent: *bytes_sent,
                    bytes_received: *bytes_received,
                }
            }
            _ => return None,
        })
    }

    /// Returns the event for the end of the command.
    pub fn finished(exit_code: u8, failure: Option<&CliError>) -> Event {
        Event::Finished {
            exit_code,
            class: failure.map(|failure| failure.class),
            code: failure.map(|failure| failure.code.clone()),
            text: failure.map(|failure| failure.message.clone()),
        }
    }
}

/// The function that is called with every event of a party.
type Hear = dyn Fn(Event) + Send + Sync;

/// The destination of one party's events; the default is nowhere.
#[derive(Clone, Default)]
pub struct Sink(Option<Arc<Hear>>);

impl Sink {
    /// Passes every event to `hear`.
    pub fn new(hear: impl Fn(Event) + Send + Sync + 'static) -> Sink {
        Sink(Some(Arc::new(hear)))
    }

    /// Reports an event.
    pub fn tell(&self, event: Event) {
        if let Some(hear) = &self.0 {
            hear(event);
        }
    }

    /// Makes the session of `config` report what it does.
    pub fn attach(&self, config: Config) -> Config {
        let Some(hear) = self.0.clone() else { return config };
        config.on_progress(move |progress| {
            if let Some(event) = Event::of(progress) {
                hear(event);
            }
        })
    }
}
