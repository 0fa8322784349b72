//! Standard error, which progress bars and lines of text share.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use indicatif::MultiProgress;

/// The bars on the terminal, if there are any.
static BARS: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// Shows these bars from now on, or none.
pub fn set_bars(bars: Option<MultiProgress>) {
    *BARS.lock().unwrap_or_else(PoisonError::into_inner) = bars;
}

/// Runs `work`, such as writing to the terminal, while no bars are on it.
pub fn without_bars<T>(work: impl FnOnce() -> T) -> T {
    let bars = BARS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bars {
        Some(bars) => bars.suspend(work),
        None => work(),
    }
}

/// Writes to standard error, above the bars if there are any. Ignores errors: nobody needs to be
/// reading.
pub fn write(bytes: &[u8]) {
    without_bars(|| drop(std::io::stderr().lock().write_all(bytes)));
}
