//! Errors between parties, and whose fault they are.

use std::fmt;
use std::io;

use symbolon_common::escape::Excerpt;
use symbolon_common::{Classified, ErrorClass, PartyId, Shortage, shortage, shortage_below};

use crate::check::{Check, Culprit};
use crate::fault::Fault;
use crate::reason::{Refusal, Sentence, Subject, TransportReason};
use crate::text::SHOWN;

/// The result of operations that involve a peer.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a computation between parties; says whose fault it is.
///
/// No variant ever holds a secret. Text from a peer is escaped and truncated when it is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A check failed, so a peer deviated from the protocol (or somebody changed its bytes).
    PeerMisbehaved {
        /// Who deviated, as far as the check can tell.
        culprit: Culprit,
        /// The check that failed.
        check: Check,
        /// What was expected and what arrived, where that helps; never a secret.
        detail: Option<String>,
    },
    /// The parties have different settings.
    PeerIncompatible {
        /// What differs.
        what: Subject,
        /// Our value.
        ours: String,
        /// The peer's value.
        theirs: String,
    },
    /// The connection failed. Nobody is accused.
    Transport {
        /// The party at the other end, or [`DEALER`](crate::DEALER), if it is known.
        party: Option<PartyId>,
        /// What happened.
        reason: TransportReason,
    },
    /// The caller's input is unusable.
    InvalidInput(String),
    /// Stored material or a stored key could not be read, written or trusted.
    Store(Fault),
    /// The operating system has run out of file descriptors, memory or threads.
    System(Fault),
    /// A disk, or this user's share of it, is full.
    Full(Fault),
    /// This side was cancelled by its own caller, with a [`CancelHandle`](crate::CancelHandle).
    Cancelled,
    /// A defect of this program.
    Internal(String),
}

/// Converts an error of a lower crate: its class decides the variant, and it stays available as the
/// source.
impl<E: Classified> From<E> for Error {
    fn from(error: E) -> Self {
        let (class, text) = (error.class(), error.to_string());
        let fault = Fault::new(error.code(), text.clone());
        match class {
            ErrorClass::Store => Error::Store(fault.caused_by(error)),
            ErrorClass::System => Error::System(fault.caused_by(error)),
            ErrorClass::Unwritten => Error::Full(fault.caused_by(error)),
            ErrorClass::Interrupted => Error::Cancelled,
            ErrorClass::Internal => Error::Internal(text),
            _ => Error::InvalidInput(text),
        }
    }
}

impl Error {
    /// Returns the error for a failed check without detail. `culprit` may be the number of a
    /// channel's peer.
    pub fn misbehaved(culprit: impl Into<Culprit>, check: impl Into<Check>) -> Self {
        Error::PeerMisbehaved { culprit: culprit.into(), check: check.into(), detail: None }
    }

    /// Returns the error for a failed check with what was expected and what arrived.
    pub fn misbehaved_with(
        culprit: impl Into<Culprit>,
        check: impl Into<Check>,
        detail: impl Into<String>,
    ) -> Self {
        let (culprit, check) = (culprit.into(), check.into());
        Error::PeerMisbehaved { culprit, check, detail: Some(detail.into()) }
    }

    /// Returns the error for a difference between the settings of the two sides.
    pub fn incompatible(
        what: impl Into<Subject>,
        ours: impl Into<String>,
        theirs: impl Into<String>,
    ) -> Self {
        Error::PeerIncompatible { what: what.into(), ours: ours.into(), theirs: theirs.into() }
    }

    /// Returns the error for a failure of the connection to `party`.
    pub fn transport(party: impl Into<PartyId>, reason: TransportReason) -> Self {
        Error::Transport { party: Some(party.into()), reason }
    }

    /// Returns the error for a mistake of the caller.
    pub fn invalid_input(text: impl Into<String>) -> Self {
        Error::InvalidInput(text.into())
    }

    /// Returns the error for a failure of storage.
    pub fn store(text: impl Into<String>) -> Self {
        Error::Store(Fault::new("store", text))
    }

    /// Returns the error for an exhausted resource of the operating system.
    pub fn system(text: impl Into<String>) -> Self {
        Error::System(Fault::new("system", text))
    }

    /// Returns the error for a failure to read or write stored material: [`Error::System`] or
    /// [`Error::Full`] if a resource has run out, otherwise [`Error::Store`].
    pub fn stored_io(text: impl Into<String>, cause: io::Error) -> Self {
        match shortage_below(&cause) {
            Some(Shortage::System) => Error::System(Fault::new("system", text).caused_by(cause)),
            Some(Shortage::Disk) => Error::Full(Fault::new("disk-full", text).caused_by(cause)),
            None => Error::Store(Fault::new("store-io", text).caused_by(cause)),
        }
    }

    /// Returns the error for a failure of the operating system: [`Error::System`] or
    /// [`Error::Full`] if a resource has run out, otherwise `otherwise`.
    pub(crate) fn of_system(
        error: &io::Error,
        text: String,
        otherwise: impl FnOnce(Fault) -> Self,
    ) -> Self {
        let fault = |code| Fault::new(code, &text).caused_by_io(error);
        match shortage(error) {
            Some(Shortage::System) => Error::System(fault("system")),
            Some(Shortage::Disk) => Error::Full(fault("disk-full")),
            None => otherwise(fault("io")),
        }
    }

    /// Returns the error for a defect of this program.
    pub fn internal(text: impl Into<String>) -> Self {
        Error::Internal(text.into())
    }

    /// Returns the class, which says who has to act.
    pub fn class(&self) -> ErrorClass {
        match self {
            Error::PeerMisbehaved { .. } => ErrorClass::Misbehaved,
            Error::PeerIncompatible { .. } => ErrorClass::Incompatible,
            Error::Transport {
                reason: TransportReason::Refused(Refusal::SameParty(_)), ..
            } => ErrorClass::Incompatible,
            Error::Transport { .. } => ErrorClass::Peer,
            Error::InvalidInput(_) => ErrorClass::Usage,
            Error::Store(_) => ErrorClass::Store,
            Error::System(_) => ErrorClass::System,
            Error::Full(_) => ErrorClass::Unwritten,
            Error::Cancelled => ErrorClass::Interrupted,
            Error::Internal(_) => ErrorClass::Internal,
        }
    }

    /// Returns a stable name for programs, in kebab case: the kind of error within its class.
    pub fn code(&self) -> &'static str {
        match self {
            Error::PeerMisbehaved { .. } => "check-failed",
            Error::PeerIncompatible { .. } => "parties-differ",
            Error::Transport { reason, .. } => reason.code(),
            Error::InvalidInput(_) => "invalid-input",
            Error::Store(fault) | Error::System(fault) | Error::Full(fault) => fault.code(),
            Error::Cancelled => "cancelled",
            Error::Internal(_) => "internal",
        }
    }

    /// Returns the check that failed, if one did.
    pub fn check(&self) -> Option<Check> {
        match self {
            Error::PeerMisbehaved { check, .. } => Some(*check),
            _ => None,
        }
    }

    /// Returns the party or dealer that the error names, accused or not, if any.
    pub fn culprit(&self) -> Option<Culprit> {
        match self {
            Error::PeerMisbehaved { culprit, .. } => Some(*culprit),
            Error::Transport { party, .. } => party.map(Culprit::from),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::PeerMisbehaved { culprit, check, detail } => {
                write!(f, "{culprit} misbehaved: the {check} check failed")?;
                match detail {
                    Some(detail) => write!(f, ": {}", Excerpt(detail, SHOWN)),
                    None => Ok(()),
                }
            }
            Error::PeerIncompatible { what, ours, theirs } => {
                let (ours, theirs) = (Excerpt(ours, SHOWN), Excerpt(theirs, SHOWN));
                write!(f, "the parties disagree on {what}: ours {ours}, theirs {theirs}")
            }
            Error::Transport { party, reason } => Sentence(*party, reason).fmt(f),
            Error::InvalidInput(text) => f.write_str(text),
            Error::Store(fault) | Error::System(fault) | Error::Full(fault) => fault.fmt(f),
            Error::Cancelled => f.write_str("cancelled"),
            Error::Internal(text) => write!(f, "internal error: {text}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Transport { reason: TransportReason::Io(fault), .. }
            | Error::Store(fault)
            | Error::System(fault)
            | Error::Full(fault) => fault.source(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use super::*;
    use crate::DEALER;
    use crate::checks::FRAMING;

    #[test]
    fn one_clear_sentence_each() {
        let cases = [
            (Error::misbehaved(1, FRAMING), "party 1 misbehaved: the message framing check failed"),
            (
                Error::misbehaved_with(Culprit::Unknown, FRAMING, "got \u{7}"),
                "one of the other parties misbehaved: the message framing check failed: got \\u{7}",
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
            (
                Error::misbehaved(DEALER, FRAMING),
                "the dealer misbehaved: the message framing check failed",
            ),
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

    #[test]
    fn an_error_of_the_system_has_its_cause_below_it() {
        use std::error::Error as _;
        let system = |code| {
            let error = io::Error::from_raw_os_error(code);
            Error::of_system(&error, format!("cannot open it: {error}"), Error::Store)
        };
        let classes = [24, 28, 2].map(|code| system(code).class());
        assert_eq!(classes, [ErrorClass::System, ErrorClass::Unwritten, ErrorClass::Store]);
        let error = system(24);
        let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
        assert_eq!(cause.and_then(io::Error::raw_os_error), Some(24));
    }
}
