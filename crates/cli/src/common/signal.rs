//! The signal that interrupts this process.

use std::sync::atomic::{AtomicI32, Ordering};

/// The signal that came first, 0 for none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// SIGINT's number on every Unix.
const INTERRUPT: i32 = 2;

/// Records a signal; returns whether another one came before.
#[cfg(unix)]
pub fn came_before(signal: i32) -> bool {
    SIGNAL.swap(signal, Ordering::SeqCst) != 0
}

/// Returns whether a signal has come.
pub fn came() -> bool {
    SIGNAL.load(Ordering::SeqCst) != 0
}

/// Returns the shell's code for a signal: 128 plus its number.
pub fn exit_code() -> u8 {
    let signal = match SIGNAL.load(Ordering::SeqCst) {
        0 => INTERRUPT,
        signal => signal,
    };
    128 + (signal & 0x7f) as u8
}
