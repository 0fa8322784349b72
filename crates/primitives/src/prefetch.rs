//! Prefetching of memory.
//!
//! Unsafe: the prefetch instructions | they read nothing and cannot fault

/// The size of a cache line for prefetching, in bytes.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Prefetches `value` into the caches; a hint without any other effect.
///
/// Prefetches every line of a value longer than a cache line.
#[inline]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    each_line(value, |line| {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault, whatever the address; this one is
        // within `value`. Every x86-64 CPU has SSE.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
    });
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Calls `ask` with an address in each line of `value`.
#[cfg(target_arch = "x86_64")]
#[inline]
fn each_line<T>(value: &T, ask: impl Fn(*const i8)) {
    let start = std::ptr::from_ref(value).cast::<i8>();
    for line in 0..size_of::<T>().div_ceil(LINE) {
        ask(start.wrapping_add(line * LINE));
    }
}
