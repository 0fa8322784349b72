//! An allocator that looks for an output in the memory that a thread frees.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The output that is looked for.
pub const SUM: u64 = 12_345_678_901_234_567_890;
const DIGITS: &[u8] = b"12345678901234567890";

thread_local! {
    static LOOKS: Cell<bool> = const { Cell::new(false) };
    static FOUND: Cell<bool> = const { Cell::new(false) };
}

struct Watching;

#[global_allocator]
static WATCHING: Watching = Watching;

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if LOOKS.get() {
            // SAFETY: the block belongs to the caller until it is freed below.
            let bytes = unsafe { std::slice::from_raw_parts(block, layout.size()) };
            FOUND.set(FOUND.get() || has_sum(bytes));
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Returns whether `bytes` contain [`SUM`], as digits or as a byte for each bit.
fn has_sum(bytes: &[u8]) -> bool {
    let is_bit = |(place, bit): (usize, &u8)| u64::from(*bit) == (SUM >> place) & 1;
    bytes.windows(DIGITS.len()).any(|part| part == DIGITS)
        || bytes.windows(64).any(|part| part.iter().enumerate().all(is_bit))
}

/// Returns whether this thread frees memory that contains [`SUM`] while it does `work`.
pub fn leaves_sum(work: impl FnOnce()) -> bool {
    FOUND.set(false);
    LOOKS.set(true);
    work();
    LOOKS.set(false);
    FOUND.get()
}
