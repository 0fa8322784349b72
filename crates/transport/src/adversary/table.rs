//! Records what tests of cheats observed, on request.
//!
//! If the environment variable `SYMBOLON_CHEATS` names a file, each of its lines is either a row of
//! a Markdown table about a rate, or the word `caught` and the test in which a cheat was caught.

use std::fs::File;
use std::io::Write;
use std::panic::Location;

/// The environment variable that names the file.
const FILE: &str = "SYMBOLON_CHEATS";

/// Records that a cheat was caught in the calling test, if requested.
///
/// # Panics
/// If the record cannot be written.
#[track_caller]
pub fn note_caught() {
    let test = test();
    line(|| format!("caught {test}\n"));
}

/// Returns the file and the name of the running test. The file is that of the caller, if functions
/// track theirs.
#[track_caller]
pub(super) fn test() -> String {
    let file = Location::caller().file();
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("?");
    format!("{file}::{}", name.rsplit("::").next().unwrap_or(name))
}

/// Appends a line in a single write, so that concurrent tests do not mix their lines.
pub(super) fn line(text: impl FnOnce() -> String) {
    if let Some(path) = std::env::var_os(FILE) {
        let file = File::options().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(text().as_bytes()))
            .expect("a place for what was seen");
    }
}
