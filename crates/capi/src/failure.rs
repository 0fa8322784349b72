//! How a call ended: the command's exit codes, and errors that say more.

use std::ffi::{CString, c_char};

use symbolon::escape::one_line;
use symbolon::{Culprit, Error, ErrorClass};
use symbolon_service::CallError;

use crate::pointers::{c_string, free};

/// How a call ended: the exit codes of the command.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All is well.
    Ok = 0,
    /// An argument, a file, a key or a store is unusable; nothing was computed.
    Usage = 2,
    /// A peer is absent, gone, silent, or holds another key.
    Peer = 3,
    /// The parties were asked for different computations.
    Incompatible = 4,
    /// A check failed: a peer cheated, or its bytes were changed on the way. No output was
    /// released.
    Misbehaved = 5,
    /// An assert of the program failed: all outputs are zero.
    Assert = 6,
    /// A defect of this library.
    Internal = 70,
    /// This machine has no file descriptors, memory or threads left.
    System = 71,
    /// A disk is full.
    Unwritten = 74,
    /// The call was cancelled.
    Interrupted = 130,
}

impl Status {
    /// Whose turn it is to act on an error of this class.
    pub fn of(class: ErrorClass) -> Status {
        match class {
            ErrorClass::Usage | ErrorClass::Store => Status::Usage,
            ErrorClass::Peer => Status::Peer,
            ErrorClass::Incompatible => Status::Incompatible,
            ErrorClass::Misbehaved => Status::Misbehaved,
            ErrorClass::Assert => Status::Assert,
            ErrorClass::System => Status::System,
            ErrorClass::Unwritten => Status::Unwritten,
            ErrorClass::Interrupted => Status::Interrupted,
            _ => Status::Internal,
        }
    }
}

/// An error. It never holds a value of an input or a key.
pub struct Failure {
    pub(crate) status: Status,
    text: CString,
    code: CString,
    check: Option<CString>,
    party: i32,
}

/// How the work of a call ended.
pub type Ended = Result<(), Box<Failure>>;

impl From<Error> for Box<Failure> {
    fn from(error: Error) -> Self {
        Box::new(Failure {
            status: Status::of(error.class()),
            text: c_string(&one_line(&error.to_string())),
            code: c_string(error.code()),
            check: error.check().map(|check| c_string(check.code())),
            party: match error.culprit() {
                Some(Culprit::Party(party)) => party.number().into(),
                _ => -1,
            },
        })
    }
}

impl From<CallError> for Box<Failure> {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Run(error) => error.into(),
            error => Box::new(Failure {
                status: Status::of(error.class()),
                text: c_string(&one_line(&error.to_string())),
                code: c_string(error.code()),
                check: None,
                party: error.party().map_or(-1, |party| party.number().into()),
            }),
        }
    }
}

impl Failure {
    /// An assert of a program that did not hold.
    pub(crate) fn assert(text: &str) -> Box<Failure> {
        let (status, code) = (Status::Assert, c_string("assert"));
        let text = c_string(&one_line(text));
        Box::new(Failure { status, text, code, check: None, party: -1 })
    }
}

/// What an error says, or `none` where there is no error.
///
/// # Safety
/// `error` is null, or from a call and not freed.
unsafe fn of<T>(error: *const Failure, none: T, get: impl FnOnce(&Failure) -> T) -> T {
    // SAFETY: the caller's promise.
    unsafe { error.as_ref() }.map_or(none, get)
}

/// What went wrong, as one line: what names and peers contribute is escaped, so that a terminal
/// can be given it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_error_text(error: *const Failure) -> *const c_char {
    // SAFETY: the rules for callers.
    unsafe { of(error, std::ptr::null(), |error| error.text.as_ptr()) }
}

/// A name for programs, which never changes: what went wrong within the class, such as
/// `timed-out`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_error_code(error: *const Failure) -> *const c_char {
    // SAFETY: the rules for callers.
    unsafe { of(error, std::ptr::null(), |error| error.code.as_ptr()) }
}

/// The code of the check that failed; null if none did.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_error_check(error: *const Failure) -> *const c_char {
    // SAFETY: the rules for callers.
    unsafe {
        of(error, std::ptr::null(), |error| {
            error.check.as_ref().map_or(std::ptr::null(), |c| c.as_ptr())
        })
    }
}

/// The party that the error names, accused or not; -1 if it names none or several.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_error_party(error: *const Failure) -> i32 {
    // SAFETY: the rules for callers.
    unsafe { of(error, -1, |error| error.party) }
}

/// Frees an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn symbolon_error_free(error: *mut Failure) {
    // SAFETY: the rules for callers.
    unsafe { free(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assert_names_a_file_in_one_line() {
        let failure = Failure::assert("too large (a\u{1b}[2J\nb.sym, line 1)");
        assert_eq!(failure.text.to_str(), Ok("too large (a\\u{1b}[2J\\nb.sym, line 1)"));
    }
}
