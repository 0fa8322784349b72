//! The file of events. It may be a pipe whose reader is slow, stuck or absent: it is waited for,
//! but no longer than for a peer.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use symbolon::circuit::PartyId;

use super::event::Event;
use crate::common::error::{CliError, CliResult, ErrorClass};
use crate::common::output::tell;
use crate::common::signal;

/// How often a pipe that is not ready is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// The file of events.
pub struct EventFile {
    path: PathBuf,
    /// How long a reader may take.
    timeout: Duration,
    /// `None` after a reader took longer.
    file: Mutex<Option<File>>,
}

/// A line of the file.
#[derive(Serialize)]
struct Line<'e> {
    /// Seconds since 1970.
    time: f64,
    party: Option<PartyId>,
    #[serde(flatten)]
    event: &'e Event,
}

impl EventFile {
    /// Opens or creates the file, to append to it. Waits for the reader of a pipe.
    ///
    /// # Errors
    /// A failure of the class `Unwritten` when nobody reads the pipe within `timeout`, another one
    /// when the file cannot be written.
    pub fn open(path: &Path, timeout: Duration) -> CliResult<EventFile> {
        let file = Mutex::new(Some(open(path, timeout)?));
        Ok(EventFile { path: path.to_path_buf(), timeout, file })
    }

    /// Writes an event of a party, or of the command itself: a whole line at once, so that a reader
    /// never sees half of one for long. After a reader that took too long nothing more is written.
    ///
    /// # Errors
    /// Those of the file, such as a full disk.
    pub fn write(&self, party: Option<PartyId>, event: &Event) -> std::io::Result<()> {
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let time = (time.as_secs_f64() * 1000.0).round() / 1000.0;
        let mut line = serde_json::to_vec(&Line { time, party, event })?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = file.as_mut() else { return Ok(()) };
        let written = write(open, &line, self.timeout);
        if written.as_ref().is_err_and(|error| error.kind() == ErrorKind::TimedOut) {
            *file = None;
            tell(&format!(
                "warning: nobody has read from {} for {} s: no more events are written\n",
                self.path.display(),
                self.timeout.as_secs_f64()
            ));
            return Ok(());
        }
        written
    }
}

/// Returns the failure for a file that cannot be written.
pub fn unwritable(path: &Path, error: &std::io::Error) -> CliError {
    CliError::io(format!("cannot write {}", path.display()), error)
}

fn open(path: &Path, timeout: Duration) -> CliResult<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    never_block(&mut options);
    let deadline = Instant::now() + timeout;
    loop {
        let error = match options.open(path) {
            Ok(file) => return Ok(file),
            Err(error) => error,
        };
        if !lacks_reader(path, &error) {
            return Err(unwritable(path, &error));
        }
        if Instant::now() >= deadline {
            let text = format!(
                "nobody opened the pipe {} to read events within {} s",
                path.display(),
                timeout.as_secs_f64()
            );
            let hint = "start its reader first; --timeout sets how long to wait for it";
            return Err(CliError::new(ErrorClass::Unwritten, text).with_hint(hint));
        }
        CliError::if_interrupted()?;
        std::thread::sleep(LOOK);
    }
}

/// Makes the file return an error where it would wait.
#[cfg(unix)]
fn never_block(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
}

#[cfg(not(unix))]
fn never_block(_options: &mut OpenOptions) {}

/// Returns whether a pipe could not be opened only because nobody has opened its other end.
#[cfg(unix)]
fn lacks_reader(path: &Path, error: &std::io::Error) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let is_pipe = || std::fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo());
    error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) && is_pipe()
}

#[cfg(not(unix))]
fn lacks_reader(_path: &Path, _error: &std::io::Error) -> bool {
    false
}

/// Writes all of it; waits no longer than `timeout` for a reader to make room, and not at all once
/// a signal has come.
fn write(file: &mut File, mut bytes: &[u8], timeout: Duration) -> std::io::Result<()> {
    let mut deadline = None;
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => {
                bytes = &bytes[n..];
                deadline = None;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let deadline = *deadline.get_or_insert_with(|| Instant::now() + timeout);
                if signal::came() || Instant::now() >= deadline {
                    return Err(ErrorKind::TimedOut.into());
                }
                std::thread::sleep(LOOK);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
