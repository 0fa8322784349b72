//! What tests of cheats saw, written down where somebody asks for it.
//!
//! Where the environment variable `SYMBOLON_CHEATS` names a file, each line of it is either a row
//! of a table in Markdown, of a rate, or the word `caught` and the test in which a cheat was.

use std::fs::File;
use std::io::Write;
use std::panic::Location;

/// The environment variable that names the file.
const FILE: &str = "SYMBOLON_CHEATS";

/// Notes that a cheat was caught in the test that calls this, if anybody asked for it.
///
/// # Panics
/// When that cannot be written down.
#[track_caller]
pub fn note_caught() {
    let test = test();
    line(|| format!("caught {test}\n"));
}

/// The file and the name of the running test: the caller's, as far as functions track theirs.
#[track_caller]
pub(super) fn test() -> String {
    let file = Location::caller().file();
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("?");
    format!("{file}::{}", name.rsplit("::").next().unwrap_or(name))
}

/// Adds a line, in one write, so that tests at the same time do not mix theirs.
pub(super) fn line(text: impl FnOnce() -> String) {
    if let Some(path) = std::env::var_os(FILE) {
        let file = File::options().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(text().as_bytes()))
            .expect("a place for what was seen");
    }
}
