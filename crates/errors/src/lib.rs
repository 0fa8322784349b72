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

/// Whose turn it is to act on an error. The command's exit codes follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The caller's: an argument or a file is unusable.
    Usage,
    /// The caller's: a store, or a key file, cannot be read, written or trusted.
    Store,
    /// The peer's: it is absent, gone, silent, or holds another key.
    Peer,
    /// Both sides': they were asked for different computations.
    Incompatible,
    /// Nobody's: a peer cheated, or somebody changed its bytes.
    Misbehaved,
    /// This program's: a defect.
    Internal,
    /// This machine's: it has no file descriptors, memory or threads left.
    System,
    /// This machine's: a disk is full.
    Unwritten,
    /// Nobody's: the caller cancelled the run.
    Interrupted,
}

impl ErrorClass {
    /// A stable name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorClass::Usage => "usage",
            ErrorClass::Store => "store",
            ErrorClass::Peer => "peer",
            ErrorClass::Incompatible => "incompatible",
            ErrorClass::Misbehaved => "misbehaved",
            ErrorClass::Internal => "internal",
            ErrorClass::System => "system",
            ErrorClass::Unwritten => "unwritten",
            ErrorClass::Interrupted => "interrupted",
        }
    }
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
