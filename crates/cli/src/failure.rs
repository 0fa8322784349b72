//! How the command ends when it does not end well: a sentence, a hint, an exit code.

use symbolon::{DEALER, Error, TransportReason};

/// Exit codes, by whose turn it is to act. 0 is success.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// 2: the command line, a file or a value is unusable.
    Usage,
    /// 3: the peer is absent, gone, silent, or holds another key.
    Peer,
    /// 4: the peer was asked for another computation.
    Incompatible,
    /// 5: a check failed: the peer cheated, or somebody changed its bytes.
    Misbehaved,
    /// 70: a defect of this program.
    Internal,
}

impl Class {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Class::Usage => 2,
            Class::Peer => 3,
            Class::Incompatible => 4,
            Class::Misbehaved => 5,
            Class::Internal => 70,
        }
    }
}

/// Why the command failed. Never holds a secret.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Decides the exit code.
    pub class: Class,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The result of a command.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// The command line, a file or a value is unusable.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure { class: Class::Usage, message: message.into(), hint: None }
    }

    /// A defect of this program, or of the machine under it.
    pub fn internal(message: impl Into<String>) -> Self {
        Failure { class: Class::Internal, message: message.into(), hint: None }
    }

    /// The same failure with advice.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let class = match &error {
            Error::PeerMisbehaved { .. } => Class::Misbehaved,
            Error::PeerIncompatible { .. } => Class::Incompatible,
            Error::Transport { reason: TransportReason::Refused(text), .. } if same_role(text) => {
                Class::Incompatible
            }
            Error::Transport { .. } => Class::Peer,
            Error::InvalidInput(_) | Error::Store(_) => Class::Usage,
            Error::Internal(_) => Class::Internal,
        };
        Failure { class, message: error.to_string(), hint: hint(&error) }
    }
}

impl From<symbolon::circuit::CircuitError> for Failure {
    fn from(error: symbolon::circuit::CircuitError) -> Self {
        Failure::usage(error.to_string())
    }
}

fn hint(error: &Error) -> Option<String> {
    let text = match error {
        Error::PeerMisbehaved { .. } => {
            "no output was released. The peer cheated, runs altered software, or its bytes were \
             changed on the way; everything prepared with it has been discarded"
                .to_string()
        }
        Error::PeerIncompatible { what, .. } => incompatible_hint(what),
        Error::Transport { party: Some(DEALER), reason } => dealer_hint(reason).to_string(),
        Error::Transport { reason, .. } => return transport_hint(reason),
        _ => return None,
    };
    Some(text)
}

fn incompatible_hint(what: &str) -> String {
    let text = match what {
        "circuit" => {
            "both sides must name the same circuit, owners (--owner) and receivers (--output); \
             compare the digests that `symbolon circuit info` prints"
        }
        "form" | "ot" => {
            return format!("give both sides the same --{what}, or only one of them");
        }
        "rho" | "threads" | "protocol" => {
            return format!("give both sides the same --{what}");
        }
        what if what.ends_with("chosen from the link") => {
            "the two sides choose by different rules: say --form and --ot"
        }
        "dealer" => "all parties must name the same --dealer-fingerprint, or none",
        "the number of lanes" => "give both sides the same --threads",
        what if what.ends_with("version") => {
            "both sides must run the same version of symbolon; see `symbolon --version`"
        }
        what if what.contains("part") || what.contains("who") => ROLES,
        _ => "compare the two sides' commands and settings files",
    };
    text.to_string()
}

/// What to do when the dealer fails. Nothing that it dealt until then is used again.
fn dealer_hint(reason: &TransportReason) -> &'static str {
    match reason {
        TransportReason::OwnKeyRefused => DEALER_REFUSED,
        TransportReason::NoAnswer { last: Some(last), .. } if last.contains("refused our key") => {
            DEALER_REFUSED
        }
        TransportReason::WrongKey { .. } => {
            "compare the fingerprint with whoever runs the dealer; if it is the dealer's, pass it as \
             --dealer-fingerprint; if not, somebody else is at the other end"
        }
        TransportReason::NoAnswer { .. } => {
            "is the dealer started, with `symbolon dealer --listen`, at the address that --dealer names? A firewall \
             must let the port through"
        }
        TransportReason::Aborted(_) => {
            "all parties must come within the dealer's --patience, with keys that it allows; what it \
             prints says more. Run it again: nothing that was dealt is used twice"
        }
        _ => {
            "the dealer's own output says why. Run it again once the dealer is there: nothing that was dealt is \
             used twice"
        }
    }
}

const DEALER_REFUSED: &str = "whoever runs the dealer must --allow this party's key, whose fingerprint \
                              `symbolon fingerprint` prints";

/// Whether the two sides want to be the same party: nobody's connection is at fault then.
fn same_role(refusal: &str) -> bool {
    refusal.contains("claim to be party")
}

/// What to do when both sides want to be the same party.
const ROLES: &str = "one side must say --party 0 and the other --party 1; of several parties, each \
                     says another number, and all list the same parties";

const WRONG_KEY: &str = "compare the fingerprint with the peer over another channel (by telephone, in \
                         person). If it is the peer's, pass it as --peer-fingerprint or list it in \
                         [[party]]; if not, somebody else is at the other end";

const REFUSED_KEY: &str = "the peer pinned another key than yours: compare what `symbolon fingerprint` \
                           prints for your --key file with the peer's --peer-fingerprint or [[party]]";

fn transport_hint(reason: &TransportReason) -> Option<String> {
    let text = match reason {
        // A listening side goes on waiting when somebody with another key comes, and says so at last.
        TransportReason::NoAnswer { last: Some(last), .. } if last.contains("refused our key") => {
            REFUSED_KEY
        }
        TransportReason::NoAnswer { last: Some(last), .. } if last.contains("fingerprint") => {
            WRONG_KEY
        }
        TransportReason::NoAnswer { .. } => {
            "is the peer started, one side with --listen and the other with --connect, at the same \
             address, or all with the same list of [[party]] addresses? Either may start first, within --timeout seconds of the other; a firewall \
             between the two must let the port through"
        }
        TransportReason::WrongKey { .. } => WRONG_KEY,
        TransportReason::OwnKeyRefused => REFUSED_KEY,
        TransportReason::Closed => "the peer's own error message says why it left",
        TransportReason::Aborted(_) => "the peer's own error message says more",
        TransportReason::TimedOut(_) => {
            "the peer is stuck, overloaded or cut off; --timeout sets how long to wait"
        }
        TransportReason::Refused(text) if same_role(text) => ROLES,
        TransportReason::Refused(_) => {
            "is it another program that answers at this address, or a peer with other options?"
        }
        TransportReason::ClosedHere | TransportReason::Io(_) => return None,
    };
    Some(text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_own_code() {
        let codes: std::collections::BTreeSet<u8> =
            [Class::Usage, Class::Peer, Class::Incompatible, Class::Misbehaved, Class::Internal]
                .map(Class::code)
                .into();
        assert_eq!(codes.into_iter().collect::<Vec<_>>(), [2, 3, 4, 5, 70]);
    }

    #[test]
    fn errors_map_to_whose_turn_it_is() {
        let cases = [
            (Error::misbehaved(1, "x"), Class::Misbehaved),
            (Error::incompatible("rho", "40", "80"), Class::Incompatible),
            (Error::transport(1, TransportReason::Closed), Class::Peer),
            (Error::invalid_input("x"), Class::Usage),
            (Error::store("x"), Class::Usage),
            (Error::internal("x"), Class::Internal),
        ];
        for (error, class) in cases {
            assert_eq!(Failure::from(error).class, class);
        }
        let failure = Failure::from(Error::incompatible("rho", "40", "80"));
        assert!(failure.hint.unwrap().contains("--rho"));
    }
}
