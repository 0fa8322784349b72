//! Standard error, which bars of progress and lines of text share.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use indicatif::MultiProgress;

/// The bars on the terminal, if there are any.
static BARS: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// Shows bars from now on, or no more.
pub fn set_bars(bars: Option<MultiProgress>) {
    *BARS.lock().unwrap_or_else(PoisonError::into_inner) = bars;
}

/// Writes to standard error, above the bars if there are any. Nobody needs to be reading.
pub fn write(bytes: &[u8]) {
    let bars = BARS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let write = || drop(std::io::stderr().lock().write_all(bytes));
    match bars {
        Some(bars) => bars.suspend(write),
        None => write(),
    }
}
