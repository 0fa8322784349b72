//! Asking for memory before it is needed.
//!
//! Unsafe: the prefetch instructions | they read nothing and cannot fault

/// The bytes of a cache line, as far as asking for memory goes.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Starts to bring `value` into the caches; a hint that changes nothing else.
///
/// A value longer than a cache line is asked for line by line.
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

/// The same for the L2 cache alone, long ahead: it can wait for many more lines at a time
/// than the first, which is what counts where memory is gathered at random.
#[inline]
pub fn prefetch_early<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    each_line(value, |line| {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: as above.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line) };
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
