//! Reads what a user names: files, pipes and standard input, each with a limit that has a name.

use std::io::{IsTerminal, Read};
use std::path::Path;

use symbolon::files;
use symbolon::zeroize::Zeroizing;

use crate::error::{CliError, CliResult};

/// What is read, and how long it may be.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Its name, for errors.
    what: &'static str,
    /// In bytes.
    bytes: u64,
}

/// A circuit file: some forty million gates.
pub const CIRCUIT: Limit = Limit { what: "a circuit", bytes: 1 << 30 };

/// A settings file.
pub const SETTINGS: Limit = Limit { what: "settings", bytes: 64 << 20 };

/// An input's value, or one value per line: a million-bit value in any form fits many times.
pub const VALUE: Limit = Limit { what: "a value", bytes: 256 << 20 };

/// Reads a file, or the pipe that a shell makes of `<(command)`.
///
/// # Errors
/// A failure that names the file and never its contents.
pub fn read(path: &Path, limit: Limit) -> CliResult<Zeroizing<Vec<u8>>> {
    files::read(path, limit.bytes).map_err(|error| {
        CliError::io(format!("cannot read {} from {}", limit.what, path.display()), &error)
    })
}

/// Reads text like [`read`].
///
/// # Errors
/// Those of [`read`], and when it is not text.
pub fn read_text(path: &Path, limit: Limit) -> CliResult<Zeroizing<String>> {
    text(&read(path, limit)?, limit, &path.display().to_string())
}

/// Reads standard input to its end.
///
/// # Errors
/// A failure when it is a device other than a terminal, too long, or not text.
pub fn read_standard_input(limit: Limit) -> CliResult<Zeroizing<String>> {
    let name = "standard input";
    let input = std::io::stdin();
    if !input.is_terminal() && is_device() {
        return Err(CliError::usage(format!(
            "cannot read {} from {name}: it is a device",
            limit.what
        )));
    }
    let mut input = input.lock();
    let bytes = files::read_all(&mut input.by_ref(), limit.bytes)
        .map_err(|error| CliError::io(format!("cannot read {} from {name}", limit.what), &error))?;
    text(&bytes, limit, name)
}

fn text(bytes: &[u8], limit: Limit, name: &str) -> CliResult<Zeroizing<String>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Zeroizing::new(text.to_string())),
        Err(_) => {
            Err(CliError::usage(format!("cannot read {} from {name}: it is not text", limit.what)))
        }
    }
}

/// Returns whether standard input is a device, which may have no end.
#[cfg(unix)]
fn is_device() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileTypeExt;
    let copy = std::io::stdin().as_fd().try_clone_to_owned();
    let about = copy.and_then(|copy| std::fs::File::from(copy).metadata());
    about.is_ok_and(|about| {
        about.file_type().is_char_device() || about.file_type().is_block_device()
    })
}

#[cfg(not(unix))]
fn is_device() -> bool {
    false
}
