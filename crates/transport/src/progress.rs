//! Live progress of a session.
//!
//! An [`Observer`] receives connections, phases and finished work. Everything in a [`Progress`] is
//! public: addresses, party numbers, counts. Values, keys and shares never get here, so an observer
//! may log everything.

use std::fmt;
use std::sync::Arc;

/// A progress report of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// This party listens at an address for these parties.
    Listening {
        /// The parties that must connect.
        parties: Vec<PartyId>,
        /// HOST:PORT.
        address: String,
    },
    /// This party connects to another one.
    Connecting {
        /// The other party.
        party: PartyId,
        /// HOST:PORT.
        address: String,
    },
    /// An attempt to connect failed, and another one will follow. The same reason is reported once.
    Retrying {
        /// The other party.
        party: PartyId,
        /// Why the attempt failed, as a clause.
        reason: String,
    },
    /// A connection was rejected while this party listens. It continues to listen.
    Rejected {
        /// The address of the other end, without its port.
        from: String,
        /// What kind of connection it was.
        stranger: Stranger,
        /// The reason as a clause.
        reason: String,
    },
    /// All connections with a party are open.
    Connected {
        /// The other party.
        party: PartyId,
    },
    /// A phase began.
    Phase {
        /// Its name.
        phase: &'static str,
    },
    /// Some of a phase's work is done.
    Work(Work),
    /// A phase ended.
    PhaseEnded {
        /// Its name.
        phase: &'static str,
        /// Bytes sent in all phases of this name.
        bytes_sent: u64,
        /// Bytes received in all phases of this name.
        bytes_received: u64,
    },
}

/// A connection to a port that does not belong to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stranger {
    /// It proved a key that is not pinned.
    WrongKey,
    /// It did not accept this party's key.
    KeyRefused,
    /// It speaks HTTP.
    Http,
    /// It speaks TLS, and this party expects plain TCP.
    Tls,
    /// It is a party that speaks plain TCP, and this party expects TLS.
    PlainTcp,
    /// It speaks another protocol.
    OtherProtocol,
    /// It connected and sent nothing, or hung up.
    Silent,
}

impl Stranger {
    /// Returns a stable name for programs, in kebab case.
    pub fn code(self) -> &'static str {
        match self {
            Stranger::WrongKey => "wrong-key",
            Stranger::KeyRefused => "own-key-refused",
            Stranger::Http => "http",
            Stranger::Tls => "tls",
            Stranger::PlainTcp => "plain-tcp",
            Stranger::OtherProtocol => "other-protocol",
            Stranger::Silent => "silent",
        }
    }
}

/// A kind of work whose amount is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// AND triples, made with the peers or received from a dealer.
    Triples,
    /// AND gates, garbled or evaluated.
    Gates,
    /// Evaluations of a circuit, when several are online together.
    Evaluations,
}

impl Step {
    /// The number of steps.
    pub(crate) const COUNT: usize = 3;

    pub(crate) fn index(self) -> usize {
        match self {
            Step::Triples => 0,
            Step::Gates => 1,
            Step::Evaluations => 2,
        }
    }

    /// Returns the name in events.
    pub fn name(self) -> &'static str {
        match self {
            Step::Triples => "triples",
            Step::Gates => "gates",
            Step::Evaluations => "evaluations",
        }
    }
}

/// The progress of a step of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The phase.
    pub phase: &'static str,
    /// The kind of work.
    pub step: Step,
    /// The number of finished units. Work in progress is estimated, so this says nothing about
    /// checks.
    pub done: u64,
    /// The total number of units.
    pub total: u64,
    /// Bytes sent in this phase.
    pub bytes_sent: u64,
    /// Bytes received in this phase.
    pub bytes_received: u64,
}

/// The callback for all progress reports.
type Hear = dyn Fn(&Progress) + Send + Sync;

/// Receives progress reports, from any thread of a session. It should return soon, because the
/// session waits for it. The default ignores all reports.
#[derive(Clone, Default)]
pub struct Observer(Option<Arc<Hear>>);

impl Observer {
    /// Calls `hear` with every progress report.
    pub fn new(hear: impl Fn(&Progress) + Send + Sync + 'static) -> Observer {
        Observer(Some(Arc::new(hear)))
    }

    /// Returns whether there is a callback.
    pub fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Reports `progress`, also as an event of the `tracing` crate.
    pub fn tell(&self, progress: &Progress) {
        trace(progress);
        if let Some(hear) = &self.0 {
            hear(progress);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observer").field(&self.is_some()).finish()
    }
}

fn trace(progress: &Progress) {
    match progress {
        Progress::Listening { parties, address } => {
            tracing::info!(target: "symbolon::connect", ?parties, %address, "listening");
        }
        Progress::Connecting { party, address } => {
            tracing::info!(target: "symbolon::connect", party = party.number(), %address, "connecting");
        }
        Progress::Retrying { party, reason } => {
            tracing::info!(target: "symbolon::connect", party = party.number(), ?reason, "retrying");
        }
        Progress::Rejected { from, stranger, reason } => {
            let stranger = stranger.code();
            tracing::warn!(target: "symbolon::connect", %from, stranger, ?reason, "rejected");
        }
        Progress::Connected { party } => {
            tracing::info!(target: "symbolon::connect", party = party.number(), "connected");
        }
        Progress::Phase { phase } => {
            tracing::info!(target: "symbolon::phase", phase, "began");
        }
        Progress::PhaseEnded { phase, bytes_sent, bytes_received } => {
            tracing::info!(
                target: "symbolon::phase", phase, bytes_sent, bytes_received, "ended"
            );
        }
        Progress::Work(Work { phase, step, done, total, bytes_sent, bytes_received }) => {
            let step = step.name();
            tracing::debug!(
                target: "symbolon::work", phase, step, done, total, bytes_sent, bytes_received
            );
        }
    }
}
use symbolon_common::PartyId;
