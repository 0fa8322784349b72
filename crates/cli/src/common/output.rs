//! Standard output and standard error.

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::common::error::{CliError, CliResult};
use crate::common::screen;
use symbolon::escape::{escaped, obeyed, printable};

/// Writes to standard output; a reader that has closed it is not an error.
///
/// # Errors
/// An internal failure when writing fails otherwise.
pub fn print(text: &str) -> CliResult<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(printable(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::unwritten("cannot write to standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Whether the command is to print JSON, and whether it has.
static JSON_WANTED: AtomicBool = AtomicBool::new(false);
static JSON_PRINTED: AtomicBool = AtomicBool::new(false);

/// Requests that a failure be printed as JSON, unless something else was printed first.
pub fn want_json() {
    JSON_WANTED.store(true, Ordering::Relaxed);
}

/// Returns whether standard output is to have a JSON document and has none yet.
pub fn lacks_json() -> bool {
    JSON_WANTED.load(Ordering::Relaxed) && !JSON_PRINTED.load(Ordering::Relaxed)
}

/// Prints a result as one JSON document.
///
/// # Errors
/// Those of [`print()`].
pub fn print_json(result: &impl Serialize) -> CliResult<()> {
    JSON_PRINTED.store(true, Ordering::Relaxed);
    let mut text = serde_json::to_string_pretty(result)
        .map_err(|error| CliError::internal(format!("cannot write JSON: {error}")))?;
    text.push('\n');
    // These characters occur only within strings, where JSON can escape them.
    print(&escaped(&text, |c| obeyed(c) && c != '\n', |c| format!("\\u{:04x}", u32::from(c))))
}

/// Writes to standard error, and ignores errors: nobody needs to be reading.
pub fn tell(text: &str) {
    screen::write(printable(text).as_bytes());
}

/// Reports a failure, also as JSON if that was requested; returns the exit code.
pub fn report(failure: &CliError) -> ExitCode {
    tell(&format!("{failure}\n"));
    if lacks_json() {
        let _ = print_json(&failure.json());
    }
    ExitCode::from(failure.exit_code())
}
