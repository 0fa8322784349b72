//! What can go wrong between parties, and whose fault it is.

use std::fmt;
use std::time::Duration;

use crate::text::{Printable, SHOWN};

/// The result of everything that involves a peer.
pub type Result<T> = std::result::Result<T, Error>;

/// Stands for a party in [`Error::PeerMisbehaved`] when, of several peers, the check cannot tell
/// which one misbehaved.
pub const SOMEBODY: u16 = u16::MAX;

/// Stands in the place of a party number for the dealer, a third process that deals correlations to
/// the parties and is none of them.
pub const DEALER: u16 = u16::MAX - 1;

/// An error of a computation between parties; says whose fault it is.
///
/// No variant ever holds a secret. Text that a peer chose is escaped and cut when it is printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A check failed, so a peer deviated from the protocol (or somebody changed its bytes).
    #[error("{} misbehaved: the {check} check failed{}", Culprit(*party), Detail(detail))]
    PeerMisbehaved {
        /// The party at fault, or [`SOMEBODY`] where the check cannot tell which.
        party: u16,
        /// The check that failed, as a noun: "garbled-table MAC".
        check: &'static str,
        /// What was expected and what came, where that helps; never a secret.
        detail: Option<String>,
    },
    /// The parties were not asked to compute the same thing.
    #[error(
        "the parties disagree on {}: ours {}, theirs {}",
        Printable(what, SHOWN),
        Printable(ours, SHOWN),
        Printable(theirs, SHOWN)
    )]
    PeerIncompatible {
        /// What differs: "version", "circuit", the name of a parameter.
        what: String,
        /// Our value.
        ours: String,
        /// The peer's value.
        theirs: String,
    },
    /// The connection failed; nobody is accused.
    #[error("{}", Sentence(*party, reason))]
    Transport {
        /// The party at the other end, where it is known.
        party: Option<u16>,
        /// What happened.
        reason: TransportReason,
    },
    /// What the caller gave is unusable.
    #[error("{0}")]
    InvalidInput(String),
    /// Stored material or a stored key could not be read, written or trusted.
    #[error("{0}")]
    Store(String),
    /// The operating system has no more of something that this takes: file descriptors, memory,
    /// threads.
    #[error("{0}")]
    System(String),
    /// A disk, or this user's share of it, is full.
    #[error("{0}")]
    Full(String),
    /// This side was cancelled by its own caller, with a [`CancelHandle`](crate::CancelHandle).
    #[error("cancelled")]
    Cancelled,
    /// A defect of this program.
    #[error("internal error: {0}")]
    Internal(String),
}

/// What an operating system has none left of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// File descriptors or memory.
    System,
    /// Room on a disk, or in this user's share of it.
    Disk,
}

/// Whether an error of the operating system is about something that it has none left of.
pub fn shortage(error: &std::io::Error) -> Option<Shortage> {
    use std::io::ErrorKind;
    /// ENFILE and EMFILE, the same on all Unix systems; the standard library has no name for them.
    const DESCRIPTORS: [i32; 2] = [23, 24];
    let code = error.raw_os_error()?;
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            Some(Shortage::Disk)
        }
        ErrorKind::OutOfMemory => Some(Shortage::System),
        _ if cfg!(unix) && DESCRIPTORS.contains(&code) => Some(Shortage::System),
        _ => None,
    }
}

/// Why a connection failed.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        /// The last thing that went wrong, if anything did.
        last: Option<String>,
    },
    /// The peer, or what answered in its stead, said something at the start that cannot be
    /// accepted.
    Refused(String),
    /// The peer proved possession of another key than the one expected.
    WrongKey {
        /// The fingerprint of the key the peer has.
        found: String,
        /// The fingerprint that was expected.
        expected: String,
    },
    /// The peer did not accept our key: it pinned another one.
    OwnKeyRefused,
    /// The peer said that it gave up, and why; its own words.
    Aborted(String),
    /// This side closed the connection earlier.
    ClosedHere,
    /// The operating system or the TLS layer reported this.
    Io(String),
}

impl Error {
    /// A failed check, without detail.
    pub fn misbehaved(party: u16, check: &'static str) -> Self {
        Error::PeerMisbehaved { party, check, detail: None }
    }

    /// A failed check, with what was expected and what came.
    pub fn misbehaved_with(party: u16, check: &'static str, detail: impl Into<String>) -> Self {
        Error::PeerMisbehaved { party, check, detail: Some(detail.into()) }
    }

    /// A difference between what the two sides were asked to do.
    pub fn incompatible(
        what: impl Into<String>,
        ours: impl Into<String>,
        theirs: impl Into<String>,
    ) -> Self {
        Error::PeerIncompatible { what: what.into(), ours: ours.into(), theirs: theirs.into() }
    }

    /// A failure of the connection to `party`.
    pub fn transport(party: u16, reason: TransportReason) -> Self {
        Error::Transport { party: Some(party), reason }
    }

    /// A mistake of the caller.
    pub fn invalid_input(text: impl Into<String>) -> Self {
        Error::InvalidInput(text.into())
    }

    /// A failure of storage.
    pub fn store(text: impl Into<String>) -> Self {
        Error::Store(text.into())
    }

    /// A defect of this program.
    pub fn internal(text: impl Into<String>) -> Self {
        Error::Internal(text.into())
    }

    /// A failure of the operating system: for want of something that it has none left of, or else
    /// `otherwise`.
    pub(crate) fn of_system(
        error: &std::io::Error,
        text: String,
        otherwise: impl FnOnce(String) -> Self,
    ) -> Self {
        match shortage(error) {
            Some(Shortage::System) => Error::System(text),
            Some(Shortage::Disk) => Error::Full(text),
            None => otherwise(text),
        }
    }

    /// The party that the error names, if it names one.
    pub fn party(&self) -> Option<u16> {
        match self {
            Error::PeerMisbehaved { party, .. } => Some(*party),
            Error::Transport { party, .. } => *party,
            _ => None,
        }
    }
}

struct Detail<'a>(&'a Option<String>);

impl fmt::Display for Detail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(text) => write!(f, ": {}", Printable(text, SHOWN)),
            None => Ok(()),
        }
    }
}

/// `30 s`, `0.2 s`, `1.5 s`.
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

/// The party that a failed check points at.
struct Culprit(u16);

impl fmt::Display for Culprit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            SOMEBODY => write!(f, "one of the other parties"),
            DEALER => write!(f, "the dealer"),
            party => write!(f, "party {party}"),
        }
    }
}

struct Sentence<'a>(Option<u16>, &'a TransportReason);

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
                let address = Printable(address, SHOWN);
                write!(f, "no answer from {who} at {address} within {}", Seconds(*after))?;
                match last {
                    Some(text) => write!(f, " ({})", Printable(text, SHOWN)),
                    None => Ok(()),
                }
            }
            TransportReason::Refused(text) => {
                write!(f, "the connection to {who} was refused: {}", Printable(text, SHOWN))
            }
            TransportReason::WrongKey { found, expected } => {
                let (found, expected) = (Printable(found, SHOWN), Printable(expected, SHOWN));
                match self.0 {
                    Some(DEALER) => write!(f, "the dealer's key")?,
                    _ => write!(f, "the peer's key")?,
                }
                write!(f, " has fingerprint {found}, expected {expected}")
            }
            TransportReason::OwnKeyRefused => {
                write!(f, "{who} refused our key: it expects another fingerprint")
            }
            TransportReason::Aborted(text) => {
                write!(f, "{who} aborted: {}", Printable(text, SHOWN))
            }
            TransportReason::ClosedHere => {
                write!(f, "the connection to {who} was already closed by this side")
            }
            TransportReason::Io(text) => {
                write!(f, "the connection to {who} failed: {}", Printable(text, SHOWN))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_clear_sentence_each() {
        let cases = [
            (
                Error::misbehaved(1, "garbled-table MAC"),
                "party 1 misbehaved: the garbled-table MAC check failed",
            ),
            (
                Error::misbehaved_with(2, "message framing", "got \u{7}"),
                "party 2 misbehaved: the message framing check failed: got \\u{7}",
            ),
            (
                Error::incompatible("circuit", "ab", "c\nd"),
                "the parties disagree on circuit: ours ab, theirs c\\nd",
            ),
            (
                Error::transport(1, TransportReason::TimedOut(Duration::from_secs(30))),
                "party 1 did not answer within 30 s",
            ),
            (
                Error::transport(1, TransportReason::TimedOut(Duration::from_millis(250))),
                "party 1 did not answer within 0.25 s",
            ),
            (Error::transport(1, TransportReason::Closed), "party 1 closed the connection"),
            (Error::transport(DEALER, TransportReason::Closed), "the dealer closed the connection"),
            (Error::misbehaved(DEALER, "x"), "the dealer misbehaved: the x check failed"),
            (
                Error::transport(1, TransportReason::Aborted("\x1b[2J".into())),
                "party 1 aborted: \\u{1b}[2J",
            ),
            (
                Error::Transport { party: None, reason: TransportReason::Closed },
                "the peer closed the connection",
            ),
        ];
        for (error, sentence) in cases {
            assert_eq!(error.to_string(), sentence);
        }
    }

    #[test]
    fn long_text_is_cut() {
        let error = Error::incompatible("x", "a".repeat(100_000), "b");
        assert!(error.to_string().len() < 400);
    }
}
