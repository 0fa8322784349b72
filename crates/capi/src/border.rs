//! The border to C: no panic crosses it, and errors cross it as handles.

use std::panic::{AssertUnwindSafe, catch_unwind};

use symbolon::Error;

use crate::failure::{Ended, Failure, Status};

/// Does the work of a function that C calls: a panic ends here, and an error goes to `error`.
///
/// # Safety
/// `error` is null, or a pointer to be written to.
pub unsafe fn call(error: *mut *mut Failure, work: impl FnOnce() -> Ended) -> Status {
    let ended = catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::internal("a panic; its text is on standard error").into()));
    let (status, failure) = match ended {
        Ok(()) => (Status::Ok, None),
        Err(failure) => (failure.status, Some(failure)),
    };
    if !error.is_null() {
        let failure = failure.map_or(std::ptr::null_mut(), Box::into_raw);
        // SAFETY: not null, so it is to be written to.
        unsafe { error.write(failure) };
    }
    status
}
