//! Asking for memory before it is needed.

/// Starts to bring `value` into the caches; a hint that changes nothing else.
///
/// A value longer than a cache line is asked for line by line.
#[inline]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let start = std::ptr::from_ref(value).cast::<i8>();
        for line in 0..size_of::<T>().div_ceil(LINE) {
            // SAFETY: a prefetch reads nothing and cannot fault, whatever the address; this one is
            // within `value`. Every x86-64 CPU has SSE.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * LINE)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
