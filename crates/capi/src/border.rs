//! The border to C: no panic crosses it, errors cross it as handles, and work that needs stack does
//! not use the caller's.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use symbolon::Error;
use symbolon_primitives::stack;

use crate::failure::{Ended, Failure, Status};
use crate::pointers::{Lent, free};

/// The bytes of stack of a call that computes: what the main thread of a program usually has.
/// Memory is taken only for what is touched.
const STACK: usize = 8 << 20;

/// Does the work of a function that C calls: a panic ends here, and an error goes to `error`.
///
/// # Safety
/// `error` is null, or a pointer to be written to.
pub unsafe fn call(error: *mut *mut Failure, work: impl FnOnce() -> Ended) -> Status {
    let (status, failure) = match caught(work) {
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

/// Does the same as [`call`], on a thread of its own, for functions that compute or wait: C may
/// call them from a thread with little stack. The caller waits until the work ends.
///
/// # Safety
/// `error` is null, or a pointer to be written to. What `work` has of C may be used by another
/// thread while the caller waits.
pub unsafe fn compute(error: *mut *mut Failure, work: impl FnOnce() -> Ended) -> Status {
    // SAFETY: the caller's promise, and this function waits for the thread.
    let work = unsafe { Lent::new(work) };
    let on_a_thread = || {
        thread::scope(|scope| {
            let work = move || caught(|| stack::wiped(|| work.take()()));
            let thread = thread::Builder::new().name("symbolon-call".to_string()).stack_size(STACK);
            match thread.spawn_scoped(scope, work) {
                Ok(thread) => thread.join().unwrap_or_else(|_| Err(panicked())),
                Err(error) => {
                    Err(Error::system(format!("the system gives no thread: {error}")).into())
                }
            }
        })
    };
    // SAFETY: the caller's promise.
    unsafe { call(error, on_a_thread) }
}

/// Takes a handle back and drops it on a thread of its own, as [`compute`] does; without one, here.
///
/// # Safety
/// `handle` came from `give`, and nobody uses it any more.
pub unsafe fn free_beside<T>(handle: *mut T) {
    if handle.is_null() {
        return;
    }
    let begun = AtomicBool::new(false);
    let work = || {
        begun.store(true, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { free(handle) };
        Ok(())
    };
    // SAFETY: nothing is written, and handles may change threads.
    let _ = unsafe { compute(std::ptr::null_mut(), work) };
    // A handle whose drop panicked is gone, too.
    if !begun.load(Ordering::Relaxed) {
        // SAFETY: the caller's promise; nothing has freed it.
        unsafe { free(handle) };
    }
}

/// Does work, and makes a panic an error.
fn caught(work: impl FnOnce() -> Ended) -> Ended {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(panicked()))
}

fn panicked() -> Box<Failure> {
    Error::internal("a panic; its text is on standard error").into()
}
