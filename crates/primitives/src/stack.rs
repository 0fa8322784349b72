//! Wiping what calls that have returned left on the stack.
//!
//! Kernels, hashes and libraries keep secrets in registers, and compilers put registers and arguments on the stack where they
//! like. No type wipes that. A thread's stack is not wiped when the thread ends, either: the C library keeps it for the next
//! thread. So each thread overwrites the part of its stack that such calls have used when it is done with them.

use std::hint::black_box;

/// How deep calls below a [`Guard`] are wiped: more than any of them takes (a test looks for what is left).
const DEPTH: usize = 128 << 10;

/// How much one frame of the wipe takes. Several smaller frames let the stack of a thread that has little be used up to its end.
const FRAME: usize = 16 << 10;

/// Overwrites the stack below the caller's frame.
pub fn wipe() {
    frame(DEPTH / FRAME);
}

#[inline(never)]
fn frame(left: usize) {
    let mut bytes = [0u8; FRAME];
    // The compiler has to believe that somebody reads them.
    black_box(&mut bytes);
    if left > 1 {
        frame(left - 1);
    }
    // Not a tail call, which could reuse the frame.
    black_box(&mut bytes);
}

/// Runs `work` in a frame of its own, and wipes the stack that it took, also when it panics.
#[inline(never)]
pub fn wiped<R>(work: impl FnOnce() -> R) -> R {
    let _guard = Guard;
    call(work)
}

/// Keeps the work's variables out of the frame of [`wiped`], which is not overwritten.
#[inline(never)]
fn call<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Wipes the stack below it when it is dropped.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        wipe();
    }
}
