//! Reasons for failed connections, and differences between parties.

use std::fmt;
use std::time::Duration;

use symbolon_common::PartyId;
use symbolon_common::escape::Excerpt;

use crate::check::DEALER;
use crate::fault::Fault;
use crate::text::{SHOWN, utc};

/// Why a connection failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportReason {
    /// The peer closed the connection, or died.
    Closed,
    /// The peer neither sent nor took a byte for this long, or was too slow for a whole message.
    TimedOut(Duration),
    /// Nobody answered at the address within this time.
    NoAnswer {
        /// The address, as HOST:PORT.
        address: String,
        /// How long we tried.
        after: Duration,
        /// The last failed attempt, if any.
        last: Option<LastAttempt>,
    },
    /// The peer, or a stranger in its place, began the connection in an unacceptable way.
    Refused(Refusal),
    /// The peer proved possession of another key than the one expected.
    WrongKey {
        /// The fingerprint of the key the peer has.
        found: String,
        /// The fingerprint that was expected.
        expected: String,
    },
    /// The peer did not accept our key: it pinned another one.
    OwnKeyRefused,
    /// The peer proved possession of a key that is accepted no longer.
    KeyExpired {
        /// When that ended, in seconds since 1970.
        until: u64,
    },
    /// The peer accepts our key no longer.
    OwnKeyExpired,
    /// The peer gave up; its own words say why.
    Aborted(String),
    /// This side closed the connection earlier.
    ClosedHere,
    /// The operating system or the TLS layer reported this error.
    Io(Fault),
}

impl TransportReason {
    /// Returns a stable name for programs, in kebab case.
    pub fn code(&self) -> &'static str {
        match self {
            TransportReason::Closed => "connection-closed",
            TransportReason::TimedOut(_) => "timed-out",
            TransportReason::NoAnswer { .. } => "no-answer",
            TransportReason::Refused(Refusal::SameParty(_)) => "same-party",
            TransportReason::Refused(Refusal::Other(_)) => "connection-refused",
            TransportReason::WrongKey { .. } => "wrong-key",
            TransportReason::OwnKeyRefused => "own-key-refused",
            TransportReason::KeyExpired { .. } => "key-expired",
            TransportReason::OwnKeyExpired => "own-key-expired",
            TransportReason::Aborted(_) => "peer-aborted",
            TransportReason::ClosedHere => "closed-here",
            TransportReason::Io(_) => "connection-failed",
        }
    }

    /// Creates a failure that the operating system or the TLS layer reported.
    pub(crate) fn io(text: impl Into<String>) -> Self {
        TransportReason::Io(Fault::new("connection-failed", text))
    }

    /// Creates a refusal of an unacceptable beginning.
    pub fn refused(text: impl Into<String>) -> Self {
        TransportReason::Refused(Refusal::Other(text.into()))
    }
}

/// Why the beginning of a connection is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Both sides are configured as this party.
    SameParty(PartyId),
    /// Something else, as a clause.
    Other(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::SameParty(party) => write!(f, "both parties claim to be party {party}"),
            Refusal::Other(text) => write!(f, "{}", Excerpt(text, SHOWN)),
        }
    }
}

/// An attempt to connect that failed before the total time was over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastAttempt {
    /// The kind of failure.
    pub cause: AttemptCause,
    /// What happened, as a clause.
    pub text: String,
}

/// The kind of failure of an attempt to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttemptCause {
    /// The other side presented a key that is not pinned.
    WrongKey,
    /// The other side rejected our key.
    OwnKeyRefused,
    /// Something else.
    Other,
}

/// What two parties differ in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// A version of messages, with its name: "the wire version".
    Version(&'static str),
    /// The set of parties and their numbers: "the parties".
    Parties(&'static str),
    /// The number of connections between them.
    Lanes,
    /// A parameter of the session, by its key: "circuit", "rho".
    Term(String),
    /// A parameter that both parties left open but settled differently.
    Settled(String),
    /// A part of the circuit, as a noun.
    Circuit(String),
    /// What the parties ask a dealer for, as a noun.
    Request(String),
}

/// The key of the term that names the kind of session: parties that run different commands differ
/// in it.
pub const SESSION_KIND: &str = "phase";

impl Subject {
    /// Returns a stable name for programs: the key of a parameter, or one of "version", "parties",
    /// "lanes", "circuit" and "dealer-request".
    pub fn code(&self) -> &str {
        match self {
            Subject::Version(_) => "version",
            Subject::Parties(_) => "parties",
            Subject::Lanes => "lanes",
            Subject::Term(key) | Subject::Settled(key) => key,
            Subject::Circuit(_) => "circuit",
            Subject::Request(_) => "dealer-request",
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Version(text) | Subject::Parties(text) => f.write_str(text),
            Subject::Lanes => f.write_str("the number of lanes"),
            Subject::Term(key) if key == SESSION_KIND => f.write_str("the kind of session"),
            Subject::Term(text) | Subject::Request(text) | Subject::Circuit(text) => {
                Excerpt(text, SHOWN).fmt(f)
            }
            Subject::Settled(key) => {
                write!(f, "{}, chosen from the link", Excerpt(key, SHOWN))
            }
        }
    }
}

impl From<&str> for Subject {
    fn from(key: &str) -> Self {
        Subject::Term(key.to_string())
    }
}

impl From<&String> for Subject {
    fn from(key: &String) -> Self {
        Subject::Term(key.clone())
    }
}

/// Displays `30 s`, `0.2 s`, `1.5 s`.
pub(crate) struct Seconds(pub(crate) Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.0.as_millis();
        if milliseconds.is_multiple_of(1000) {
            write!(f, "{} s", milliseconds / 1000)
        } else {
            let text = format!("{:.3}", self.0.as_secs_f64());
            write!(f, "{} s", text.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

/// Displays a failed connection as a sentence.
pub(crate) struct Sentence<'a>(pub(crate) Option<PartyId>, pub(crate) &'a TransportReason);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match self.0 {
            Some(DEALER) => "the dealer".to_string(),
            Some(party) => format!("party {party}"),
            None => "the peer".to_string(),
        };
        match self.1 {
            TransportReason::Closed => write!(f, "{who} closed the connection"),
            TransportReason::TimedOut(after) => {
                write!(f, "{who} did not answer within {}", Seconds(*after))
            }
            TransportReason::NoAnswer { address, after, last } => {
                let address = Excerpt(address, SHOWN);
                write!(f, "no answer from {who} at {address} within {}", Seconds(*after))?;
                match last {
                    Some(last) => write!(f, " ({})", Excerpt(&last.text, SHOWN)),
                    None => Ok(()),
                }
            }
            TransportReason::Refused(refusal) => {
                write!(f, "the connection to {who} was refused: {refusal}")
            }
            TransportReason::WrongKey { found, expected } => {
                let (found, expected) = (Excerpt(found, SHOWN), Excerpt(expected, SHOWN));
                match self.0 {
                    Some(DEALER) => write!(f, "the dealer's key")?,
                    _ => write!(f, "the peer's key")?,
                }
                write!(f, " has fingerprint {found}, expected {expected}")
            }
            TransportReason::OwnKeyRefused => {
                write!(f, "{who} refused our key: it expects another fingerprint")
            }
            TransportReason::KeyExpired { until } => {
                write!(f, "the key of {who} was accepted until {}", utc(*until))
            }
            TransportReason::OwnKeyExpired => {
                write!(f, "{who} accepts our key no longer: its time is over there")
            }
            TransportReason::Aborted(text) => {
                write!(f, "{who} aborted: {}", Excerpt(text, SHOWN))
            }
            TransportReason::ClosedHere => {
                write!(f, "the connection to {who} was already closed by this side")
            }
            TransportReason::Io(fault) => {
                write!(f, "the connection to {who} failed: {}", Excerpt(fault.text(), SHOWN))
            }
        }
    }
}
