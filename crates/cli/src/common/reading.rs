//! Reads what a user names: files, pipes and standard input, each with a limit that has a name.

use std::io::{ErrorKind, IsTerminal, Read};
use std::path::Path;

use symbolon::circuit::native;
use symbolon::files;
use symbolon::zeroize::Zeroizing;

use crate::common::error::{CliError, CliResult};

/// What is read, and how long it may be.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Its name, for errors.
    what: &'static str,
    /// In bytes.
    bytes: u64,
    content: Content,
}

/// What a file may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Text,
    /// Text, or a circuit in this project's own format.
    TextOrNative,
    Bytes,
}

/// A circuit file: some forty million gates.
pub const CIRCUIT: Limit =
    Limit { what: "a circuit", bytes: 1 << 30, content: Content::TextOrNative };

/// A settings file.
pub const SETTINGS: Limit = Limit { what: "settings", bytes: 64 << 20, content: Content::Text };

/// An input's value, or one value per line: a million-bit value in any form fits many times.
pub const VALUE: Limit = Limit { what: "a value", bytes: 256 << 20, content: Content::Text };

/// The bytes of an input's value, or of one value after another.
pub const VALUE_BYTES: Limit = Limit { what: "a value", bytes: 256 << 20, content: Content::Bytes };

/// Reads a file, or the pipe that a shell makes of `<(command)`.
///
/// # Errors
/// A failure that names the file and never its contents.
pub fn read(path: &Path, limit: Limit) -> CliResult<Zeroizing<Vec<u8>>> {
    let open = || {
        let file = files::open(path)?;
        files::within(&file, limit.bytes)?;
        Ok(file)
    };
    open().and_then(|mut file| limit.read_all(&mut file)).map_err(|error| {
        CliError::io(format!("cannot read {} from {}", limit.what, path.display()), &error)
    })
}

impl Limit {
    /// Reads to the end. Where there must be text, it ends at a zero byte, as in the hole of a
    /// sparse file.
    fn read_all(self, from: &mut impl Read) -> std::io::Result<Zeroizing<Vec<u8>>> {
        files::read_checked(from, self.bytes, |bytes, old| {
            let is_text = match self.content {
                Content::Text => true,
                Content::TextOrNative => !native::is_native(bytes),
                Content::Bytes => false,
            };
            match is_text && bytes[old..].contains(&0) {
                true => Err(std::io::Error::new(ErrorKind::InvalidData, "it is not text")),
                false => Ok(()),
            }
        })
    }
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
    let bytes = within(limit)
        .and_then(|()| limit.read_all(&mut input.lock()))
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
    use std::os::unix::fs::FileTypeExt;
    let about = standard_input().and_then(|file| file.metadata());
    about.is_ok_and(|about| {
        about.file_type().is_char_device() || about.file_type().is_block_device()
    })
}

/// Refuses a file as standard input that is too long.
#[cfg(unix)]
fn within(limit: Limit) -> std::io::Result<()> {
    standard_input().map_or(Ok(()), |file| files::within(&file, limit.bytes))
}

#[cfg(unix)]
fn standard_input() -> std::io::Result<std::fs::File> {
    use std::os::fd::AsFd;
    std::io::stdin().as_fd().try_clone_to_owned().map(std::fs::File::from)
}

#[cfg(not(unix))]
fn within(_: Limit) -> std::io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn is_device() -> bool {
    false
}
