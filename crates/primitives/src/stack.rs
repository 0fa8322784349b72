//! Wipes what calls that have returned left on the stack.
//!
//! Kernels, hashes and libraries keep secrets in registers, and compilers spill registers and
//! arguments to the stack wherever they like. No type wipes that. A thread's stack is not wiped
//! when the thread ends, either: the C library keeps it for the next thread. So each thread, when
//! it has finished such calls, overwrites the part of its stack that they used.

use std::hint::black_box;

/// The number of bytes of the stack that are wiped. It exceeds what the calls use, as the test that
/// searches the memory shows. A thread needs as much free stack.
const DEPTH: usize = 128 << 10;

/// The number of bytes in one frame of the wipe.
const FRAME: usize = 16 << 10;

/// Overwrites the stack below the caller's frame.
pub fn wipe() {
    frame(DEPTH / FRAME);
}

/// Uses this many bytes of the stack below the caller's frame.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn touch(bytes: usize) {
    frame(bytes.div_ceil(FRAME));
}

#[inline(never)]
fn frame(left: usize) {
    let mut bytes = [0u8; FRAME];
    // This makes the compiler assume that the bytes are read.
    black_box(&mut bytes);
    if left > 1 {
        frame(left - 1);
    }
    // Otherwise the call above might be a tail call, which reuses this frame.
    black_box(&mut bytes);
}

/// On drop, wipes as much of the stack below the function that holds it as a hash over a short text
/// uses: one frame of the wipe instead of all of them, for functions that are called often.
#[derive(Debug)]
pub struct ShallowGuard;

impl Drop for ShallowGuard {
    fn drop(&mut self) {
        frame(1);
    }
}

/// Runs `work` in its own frame, and wipes the stack that it used, even if it panics.
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

/// On drop, wipes the stack below the function that holds it. That function's own variables are not
/// wiped.
#[derive(Debug)]
pub struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        wipe();
    }
}
