//! What all crates share: the numbers of parties, classes that say whose turn it is to act on an
//! error, and escapes for what errors quote.
//!
//! A crate below the transport implements [`Classified`] for its error. The transport's error,
//! which the library for users returns, can then be made from it.

pub mod escape;
pub mod invisible;
mod party;

use std::error::Error;
use std::fmt;
use std::io;

pub use party::PartyId;

macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident: $name:literal, $code:literal;)*) => {
        /// Whose turn it is to act on an error. The command's exit codes and C's statuses follow
        /// from it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
        #[non_exhaustive]
        pub enum ErrorClass {
            $($(#[$doc])* $class,)*
        }

        impl ErrorClass {
            /// A stable name for programs.
            pub const fn name(self) -> &'static str {
                match self {
                    $(ErrorClass::$class => $name,)*
                }
            }

            /// The exit code of a command that ends with such an error.
            pub const fn exit_code(self) -> u8 {
                match self {
                    $(ErrorClass::$class => $code,)*
                }
            }
        }
    };
}

classes! {
    /// The caller's: an argument or a file is unusable.
    Usage: "usage", 2;
    /// The caller's: a store, or a key file, cannot be read, written or trusted.
    Store: "store", 2;
    /// The peer's: it is absent, gone, silent, or holds another key.
    Peer: "peer", 3;
    /// Both sides': they were asked for different computations.
    Incompatible: "incompatible", 4;
    /// Nobody's: a peer cheated, or somebody changed its bytes.
    Misbehaved: "misbehaved", 5;
    /// Nobody's: an assert of the program failed. No error of the library has this class.
    Assert: "assert", 6;
    /// This program's: a defect.
    Internal: "internal", 70;
    /// This machine's: it has no file descriptors, memory, threads or processes left.
    System: "system", 71;
    /// This machine's: it killed the process of a party. Only the command finds this.
    Killed: "killed", 72;
    /// This machine's: the process of a party is stopped. Only the command finds this.
    Stopped: "stopped", 73;
    /// This machine's: a disk is full.
    Unwritten: "unwritten", 74;
    /// Nobody's: the caller cancelled the run.
    Interrupted: "interrupted", 130;
}

/// An error that knows its class.
pub trait Classified: Error + Send + Sync + 'static {
    /// Whose turn it is to act.
    fn class(&self) -> ErrorClass;

    /// A stable name for programs, in kebab case: what went wrong within the class.
    fn code(&self) -> &'static str;
}

/// The system gave no thread. What it lacks may also be memory for the thread's stack: it does not
/// say which.
#[derive(Debug)]
pub struct NoThread(pub io::Error);

impl fmt::Display for NoThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot start a thread: {}", self.0)
    }
}

impl Error for NoThread {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

impl Classified for NoThread {
    fn class(&self) -> ErrorClass {
        ErrorClass::System
    }

    fn code(&self) -> &'static str {
        "system"
    }
}

/// A resource of which the operating system has none left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// File descriptors or memory.
    System,
    /// Room on a disk, or in this user's share of it.
    Disk,
}

/// The resource that an error of the operating system says has run out, if it is about one.
pub fn shortage(error: &io::Error) -> Option<Shortage> {
    use io::ErrorKind;
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

/// The same for an error that has one of the operating system somewhere below it.
pub fn shortage_below(error: &(dyn Error + 'static)) -> Option<Shortage> {
    let mut next = Some(error);
    while let Some(error) = next {
        let io = error.downcast_ref::<io::Error>();
        if let Some(found) = io.and_then(shortage) {
            return Some(found);
        }
        // An error inside an I/O error is not among its sources itself.
        next = match io.and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}
