//! Wiping what calls that have returned left on the stack.
//!
//! Kernels, hashes and libraries keep secrets in registers, and compilers put registers and
//! arguments on the stack where they like. No type wipes that. A thread's stack is not wiped when
//! the thread ends, either: the C library keeps it for the next thread. So each thread overwrites
//! the part of its stack that such calls have used when it is done with them.

use std::hint::black_box;

/// How many bytes of the stack are wiped: more than the calls take, as the test that searches the
/// memory shows. A thread needs as much of its stack free.
const DEPTH: usize = 128 << 10;

/// How many bytes one frame of the wipe takes.
const FRAME: usize = 16 << 10;

/// Overwrites the stack below the caller's frame.
pub fn wipe() {
    frame(DEPTH / FRAME);
}

#[inline(never)]
fn frame(left: usize) {
    let mut bytes = [0u8; FRAME];
    // The compiler has to believe that the bytes are read.
    black_box(&mut bytes);
    if left > 1 {
        frame(left - 1);
    }
    // Otherwise the call above might be a tail call, which reuses this frame.
    black_box(&mut bytes);
}

/// When it is dropped, wipes as much of the stack below the function that holds it as a hash over a
/// short text takes: one frame of the wipe instead of all of them, for functions that are called
/// often.
#[derive(Debug)]
pub struct ShallowGuard;

impl Drop for ShallowGuard {
    fn drop(&mut self) {
        frame(1);
    }
}

/// Runs `work` in a frame of its own, and wipes the stack that it took, also when it panics.
#[inline(never)]
pub fn wiped<R>(work: impl FnOnce() -> R) -> R {
    let _guard = Guard;
    call(work)
}

/// Keeps the variables of `work` out of the frame of [`wiped`], which is not overwritten.
#[inline(never)]
fn call<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// When it is dropped, wipes the stack below the function that holds it. That function's own
/// variables are not wiped.
#[derive(Debug)]
pub struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        wipe();
    }
}
