//! How the command ends when it fails: a sentence, a hint, an exit code.

use symbolon::circuit::PartyId;
use symbolon::{
    AttemptCause, Culprit, DEALER, Error, NoThread, Refusal, Shortage, Subject, TransportReason,
    shortage,
};

use crate::common::signal;
pub use symbolon::ErrorClass;
use symbolon::escape::one_line;

/// Returns the failure's weight: of several parties' failures the heaviest is reported, because the
/// others follow from it.
pub fn weight(class: ErrorClass) -> u8 {
    match class {
        // Every party that learns an output reports a failed assert, and it follows from no other
        // failure.
        ErrorClass::Assert | ErrorClass::Peer => 0,
        ErrorClass::Usage | ErrorClass::Store | ErrorClass::Interrupted => 1,
        ErrorClass::Incompatible => 2,
        ErrorClass::System | ErrorClass::Unwritten => 3,
        ErrorClass::Stopped => 4,
        ErrorClass::Killed => 5,
        ErrorClass::Misbehaved => 6,
        _ => 7,
    }
}

/// Why the command failed. Never holds a secret.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CliError {
    /// Decides the exit code.
    pub class: ErrorClass,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What exactly went wrong within the class, for programs; the class's name if no more is
    /// known.
    pub code: String,
    /// The code of the check that failed.
    pub check: Option<Box<str>>,
    /// Whom the error names, accused or not.
    pub party: Option<Named>,
}

/// A party or the dealer.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Named {
    /// A party, by its number.
    Party(PartyId),
    /// `dealer`, or `unknown` where a check cannot tell peers apart.
    Other(String),
}

impl From<Culprit> for Named {
    fn from(culprit: Culprit) -> Self {
        match culprit {
            Culprit::Party(party) => Named::Party(party),
            Culprit::Dealer => Named::Other("dealer".to_string()),
            Culprit::Unknown => Named::Other("unknown".to_string()),
        }
    }
}

/// What `--json` prints when a command fails before any result. Codes never change; texts may.
#[derive(serde::Serialize)]
pub struct FailureJson<'a> {
    /// `symbolon-failure-1`.
    format: &'static str,
    /// The class of the exit code.
    class: ErrorClass,
    /// The exit code.
    exit_code: u8,
    /// What went wrong within the class, such as `timed-out`; the class if no more is known.
    code: &'a str,
    /// The code of the check that failed.
    check: Option<&'a str>,
    /// Whom the failure names: a party's number, `dealer`, or `unknown` where a check cannot tell.
    party: Option<&'a Named>,
    /// The error.
    text: &'a str,
    /// What to do about it.
    hint: Option<&'a str>,
}

/// The result of a command.
pub type CliResult<T> = Result<T, CliError>;

impl CliError {
    /// Creates a failure of which only the class is known.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        let (message, code) = (message.into(), class.name().to_string());
        CliError { class, message, hint: None, code, check: None, party: None }
    }

    /// Returns the process's exit code: 143 after SIGTERM, or that of the class.
    pub fn exit_code(&self) -> u8 {
        match self.class {
            ErrorClass::Interrupted => signal::exit_code(),
            class => class.exit_code(),
        }
    }

    /// Returns the failure as `--json` prints it.
    pub fn json(&self) -> FailureJson<'_> {
        FailureJson {
            format: "symbolon-failure-1",
            class: self.class,
            exit_code: self.exit_code(),
            code: &self.code,
            check: self.check.as_deref(),
            party: self.party.as_ref(),
            text: &self.message,
            hint: self.hint.as_deref(),
        }
    }

    /// Fails after a signal.
    ///
    /// # Errors
    /// A failure of the class `Interrupted`.
    pub fn if_interrupted() -> CliResult<()> {
        match signal::came() {
            true => Err(CliError::new(ErrorClass::Interrupted, "interrupted")),
            false => Ok(()),
        }
    }

    /// Moves the failure to another class.
    pub fn in_class(self, class: ErrorClass) -> Self {
        CliError { class, code: class.name().to_string(), ..self }
    }

    /// Creates a failure: the command line, a file or a value is unusable.
    pub fn usage(message: impl Into<String>) -> Self {
        CliError::new(ErrorClass::Usage, message)
    }

    /// Creates a failure: an assert of the program failed, and the outputs are zero.
    pub fn assert(message: impl Into<String>) -> Self {
        CliError::new(ErrorClass::Assert, message)
    }

    /// Creates a failure: the operating system refused something, because it ran out of it or
    /// because it cannot be used.
    pub fn io(what: impl std::fmt::Display, error: &std::io::Error) -> Self {
        let class = match shortage(error) {
            Some(Shortage::System) => ErrorClass::System,
            Some(Shortage::Disk) => ErrorClass::Unwritten,
            None => ErrorClass::Usage,
        };
        CliError::new(class, format!("{what}: {error}")).with_own_hint()
    }

    /// Creates a failure: results could not be written.
    pub fn unwritten(what: impl std::fmt::Display, error: &std::io::Error) -> Self {
        let failure = CliError::io(what, error);
        match failure.class {
            ErrorClass::Usage => failure.in_class(ErrorClass::Unwritten),
            _ => failure,
        }
    }

    /// Creates a failure: this machine has no more of something.
    pub fn system(message: impl Into<String>) -> Self {
        CliError::new(ErrorClass::System, message).with_own_hint()
    }

    /// Adds the advice for the failure's class, if it is always the same.
    fn with_own_hint(self) -> Self {
        match self.class {
            ErrorClass::System => self.with_hint(SYSTEM),
            ErrorClass::Unwritten => self.with_hint("make room on the disk, and run it again"),
            _ => self,
        }
    }

    /// Creates a failure: a defect of this program.
    pub fn internal(message: impl Into<String>) -> Self {
        CliError::new(ErrorClass::Internal, message)
    }

    /// Prefixes the message with what it is about.
    pub fn under(self, what: &str) -> Self {
        CliError { message: format!("{what}: {}", self.message), ..self }
    }

    /// Adds advice.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for CliError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Both are one line, whatever file names they contain.
        write!(f, "error: {}", one_line(&self.message))?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {}", one_line(hint)),
            None => Ok(()),
        }
    }
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        if error == Error::Cancelled {
            return CliError::new(ErrorClass::Interrupted, "interrupted");
        }
        // The command tells a store and a command line apart by the code.
        let class = match error.class() {
            ErrorClass::Store => ErrorClass::Usage,
            class => class,
        };
        CliError {
            class,
            message: text(&error),
            hint: hint(&error),
            code: error.code().to_string(),
            check: error.check().map(|check| check.code().into()),
            party: error.culprit().map(Named::from),
        }
        .with_own_hint()
    }
}

impl From<NoThread> for CliError {
    fn from(error: NoThread) -> Self {
        Error::from(error).into()
    }
}

impl From<symbolon::circuit::CircuitError> for CliError {
    fn from(error: symbolon::circuit::CircuitError) -> Self {
        CliError::usage(error.to_string())
    }
}

/// What to do when the machine has no more of something.
const SYSTEM: &str = "this is about this machine and not about the peers: `ulimit -a` shows what a process may have; run \
                      it again with fewer --threads or parties, or when less else runs here";

/// Returns an error in words; connections are reported as --threads.
fn text(error: &Error) -> String {
    if let Error::PeerIncompatible { what: Subject::Lanes, ours, theirs } = error
        && let (Some(ours), Some(theirs)) = (threads(ours), threads(theirs))
    {
        return format!("the parties disagree on --threads: ours {ours}, theirs {theirs}");
    }
    error.to_string()
}

/// Returns the text with its leading number of connections replaced by the number of threads.
fn threads(connections: &str) -> Option<String> {
    let end = connections.find(|c: char| !c.is_ascii_digit()).unwrap_or(connections.len());
    let (number, rest) = connections.split_at(end);
    match number.parse().ok()? {
        1u64 => Some(connections.to_string()),
        // Each of several threads has a connection, and their common work has one more.
        n @ 3.. => Some(format!("{}{rest}", n - 1)),
        _ => None,
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

fn incompatible_hint(what: &Subject) -> String {
    let key = match what {
        Subject::Circuit(_) => "circuit",
        Subject::Term(key) => key.as_str(),
        Subject::Settled(_) => {
            return "the two sides choose by different rules: say --form and --ot".to_string();
        }
        Subject::Lanes => return "give both sides the same --threads".to_string(),
        Subject::Version(_) => {
            return "both sides must run the same version of symbolon; see `symbolon --version`"
                .to_string();
        }
        Subject::Parties(_) => return ROLES.to_string(),
        _ => return COMPARE.to_string(),
    };
    let text = match key {
        "circuit" => {
            "both sides must name the same circuit, owners (--owner), receivers (--output), types \
             (--type) and names (--name); \
             compare the digests that `symbolon circuit info` prints"
        }
        "form" | "ot" => {
            return format!("give both sides the same --{key}, or only one of them");
        }
        "phase" => {
            "all parties must run the same command: `run`, `run --prepared`, `parts`, `prepare`, \
             `preprocess` and `bench` are sessions of their own kinds"
        }
        "rho" | "threads" | "protocol" => {
            return format!("give both sides the same --{key}");
        }
        "dealer" => "all parties must name the same --dealer-fingerprint, or none",
        _ if key.starts_with("plan") => "both sides must give the same parts",
        _ => COMPARE,
    };
    text.to_string()
}

const COMPARE: &str = "compare the two sides' commands and settings files";

/// Returns what to do when the dealer fails. Nothing that it dealt until then is used again.
fn dealer_hint(reason: &TransportReason) -> &'static str {
    match reason {
        TransportReason::OwnKeyRefused => DEALER_REFUSED,
        TransportReason::NoAnswer { last: Some(last), .. }
            if last.cause == AttemptCause::OwnKeyRefused =>
        {
            DEALER_REFUSED
        }
        TransportReason::WrongKey { .. } => {
            "compare the fingerprint with the dealer's operator; if it is the dealer's, pass it as \
             --dealer-fingerprint; if not, somebody else is at the other end"
        }
        TransportReason::NoAnswer { .. } => {
            "is the dealer started, with `symbolon dealer --listen`, at the address that --dealer names? A firewall \
             must let the port through"
        }
        TransportReason::Aborted(_) => {
            "all parties must come within the dealer's --join-timeout, with keys that it allows; what it \
             prints says more. Run it again: nothing that was dealt is used twice"
        }
        _ => {
            "the dealer's own output says why. Run it again once the dealer is there: nothing that was dealt is \
             used twice"
        }
    }
}

const DEALER_REFUSED: &str = "the dealer's operator must --allow this party's key, whose fingerprint \
                              `symbolon fingerprint` prints";

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
        // A listening side keeps waiting when somebody with another key connects, and reports it at
        // the end.
        TransportReason::NoAnswer { last: Some(last), .. }
            if last.cause == AttemptCause::OwnKeyRefused =>
        {
            REFUSED_KEY
        }
        TransportReason::NoAnswer { last: Some(last), .. }
            if last.cause == AttemptCause::WrongKey =>
        {
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
        TransportReason::Refused(Refusal::SameParty(_)) => ROLES,
        TransportReason::Refused(_) => {
            "is it another program that answers at this address, or a peer with other options?"
        }
        TransportReason::ClosedHere | TransportReason::Io(_) => return None,
        _ => return None,
    };
    Some(text.to_string())
}

#[cfg(test)]
mod tests {
    use symbolon::{Check, Fault};

    use super::*;

    const A_CHECK: Check = Check::new("a-check", "x", "");

    #[test]
    fn every_class_has_its_own_code() {
        let classes = [
            ErrorClass::Usage,
            ErrorClass::Peer,
            ErrorClass::Incompatible,
            ErrorClass::Misbehaved,
            ErrorClass::Assert,
            ErrorClass::Internal,
            ErrorClass::System,
            ErrorClass::Killed,
            ErrorClass::Stopped,
            ErrorClass::Unwritten,
            ErrorClass::Interrupted,
        ];
        assert_eq!(classes.map(ErrorClass::exit_code), [2, 3, 4, 5, 6, 70, 71, 72, 73, 74, 130]);
        let documented = include_str!("../../../../docs/cli.md");
        for class in classes {
            let code = class.exit_code();
            let row = format!("| {code} | `{}` | ", class.name());
            assert!(documented.contains(&row), "{row} is not in the table");
            let json = serde_json::to_string(&class).unwrap();
            assert_eq!(json, format!("\"{}\"", class.name()));
            assert!(crate::args::options::EXIT_CODES.contains(&format!("\n  {code} ")), "{code}");
        }
    }

    #[test]
    fn connections_are_told_as_threads() {
        let told = |ours, theirs| {
            let failure = CliError::from(Error::incompatible(Subject::Lanes, ours, theirs));
            assert!(failure.hint.is_some_and(|hint| hint.contains("--threads")));
            failure.message
        };
        assert_eq!(told("3", "1"), "the parties disagree on --threads: ours 2, theirs 1");
        assert!(told("1", "5 (party 2)").ends_with("ours 1, theirs 4 (party 2)"));
        assert!(told("1", "2").contains("lanes"), "no number of threads has two");
    }

    #[test]
    fn a_failed_check_is_told_with_its_code_and_its_culprit() {
        let of = |culprit: Culprit| CliError::from(Error::misbehaved(culprit, A_CHECK));
        let failure = of(Culprit::from(2));
        assert_eq!(failure.code, "check-failed");
        assert_eq!(failure.check.as_deref(), Some("a-check"));
        let named = |culprit| serde_json::to_string(&of(culprit).party).unwrap();
        let all = [Culprit::from(2), Culprit::Dealer, Culprit::Unknown].map(named);
        assert_eq!(all, ["2", "\"dealer\"", "\"unknown\""]);
        let sent = serde_json::to_string(&failure).unwrap();
        let come: CliError = serde_json::from_str(&sent).unwrap();
        assert_eq!((come.check, come.party), (failure.check, failure.party));
    }

    #[test]
    fn what_the_system_has_none_left_of_is_nobodys_mistake() {
        let os = std::io::Error::from_raw_os_error;
        for (error, class) in [
            (os(24), ErrorClass::System),
            (os(23), ErrorClass::System),
            (os(28), ErrorClass::Unwritten),
            (os(27), ErrorClass::Unwritten),
            (os(2), ErrorClass::Usage),
            (std::io::ErrorKind::FileTooLarge.into(), ErrorClass::Usage),
        ] {
            assert_eq!(CliError::io("cannot", &error).class, class, "{error}");
        }
    }

    #[test]
    fn an_error_is_one_line_and_has_nothing_that_a_terminal_obeys() {
        let failure =
            CliError::usage("no file a\x1b[2J\nhint: b\u{9b}31m\u{202e}").with_hint("c\r");
        let shown = "error: no file a\\u{1b}[2J\\nhint: b\\u{9b}31m\\u{202e}\nhint: c\\r";
        assert_eq!(failure.to_string(), shown);
    }

    #[test]
    fn errors_map_to_whose_turn_it_is() {
        let cases = [
            (Error::misbehaved(1, A_CHECK), ErrorClass::Misbehaved),
            (Error::incompatible("rho", "40", "80"), ErrorClass::Incompatible),
            (Error::transport(1, TransportReason::Closed), ErrorClass::Peer),
            (Error::invalid_input("x"), ErrorClass::Usage),
            (Error::store("x"), ErrorClass::Usage),
            (Error::internal("x"), ErrorClass::Internal),
            (Error::system("x"), ErrorClass::System),
            (Error::Full(Fault::new("disk-full", "x")), ErrorClass::Unwritten),
        ];
        for (error, class) in cases {
            assert_eq!(CliError::from(error).class, class);
        }
        let failure = CliError::from(Error::incompatible("rho", "40", "80"));
        assert!(failure.hint.unwrap().contains("--rho"));
    }
}
