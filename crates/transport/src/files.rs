//! Reads files that a user names, with a limit on their size, and without ever waiting for a file
//! that has no content.
//!
//! What counts is the type of the open file and the number of bytes read. The length in a file's
//! metadata only refuses one that is too long, such as a sparse one, before anything is read.
//! Regular files and anonymous pipes are accepted; a shell creates the latter for
//! `<(command)` and `command |`. Named pipes, devices, sockets and directories are rejected.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use zeroize::Zeroizing;

/// The size of the first allocation, in bytes.
const FIRST: usize = 16 << 10;

/// Opens a file for reading without waiting.
///
/// # Errors
/// An error of the system, or `InvalidInput` with a sentence about what is there instead of a file.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    // Without this flag, opening a named pipe would wait for a writer.
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits() as i32,
    );
    let file = options.open(path)?;
    readable(&file)?;
    Ok(file)
}

fn refuse(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, not a file"))
}

#[cfg(unix)]
fn readable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(())
    } else if kind.is_fifo() {
        pipe(file)
    } else if kind.is_dir() {
        Err(refuse("a directory"))
    } else if kind.is_char_device() || kind.is_block_device() {
        Err(refuse("a device"))
    } else {
        Err(refuse("something else"))
    }
}

#[cfg(not(unix))]
fn readable(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() { Ok(()) } else { Err(refuse("something else")) }
}

/// Accepts a pipe without a name in any directory, and makes its reads wait for the writer.
#[cfg(target_os = "linux")]
fn pipe(file: &File) -> io::Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl, fstatfs};
    /// The file system of anonymous pipes.
    const PIPEFS: i64 = 0x5049_5045;
    #[allow(clippy::unnecessary_cast)]
    if fstatfs(file)?.f_type as i64 != PIPEFS {
        return Err(refuse("a named pipe"));
    }
    fcntl_setfl(file, fcntl_getfl(file)? - OFlags::NONBLOCK)?;
    Ok(())
}

#[cfg(all(unix, not(target_os = "linux")))]
fn pipe(_: &File) -> io::Result<()> {
    Ok(())
}

/// Reads all bytes, at most `limit`. The result and its buffers are wiped when dropped.
///
/// # Errors
/// An error of the system; `FileTooLarge` if there are more bytes.
pub fn read_all(from: &mut impl Read, limit: u64) -> io::Result<Zeroizing<Vec<u8>>> {
    read_checked(from, limit, |_, _| Ok(()))
}

/// Reads like [`read_all`], and calls `check` after each piece, with all bytes so far and the
/// number of those that are old: at its error nothing more is read.
///
/// # Errors
/// As [`read_all`]; those of `check`.
pub fn read_checked(
    from: &mut impl Read,
    limit: u64,
    check: impl Fn(&[u8], usize) -> io::Result<()>,
) -> io::Result<Zeroizing<Vec<u8>>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX - 1);
    let mut bytes = Zeroizing::new(Vec::with_capacity(FIRST.min(limit + 1)));
    loop {
        if bytes.len() == bytes.capacity() {
            // Growing in place would leave the old content in memory, unwiped.
            let mut larger = Vec::with_capacity(bytes.len().saturating_mul(2).min(limit + 1));
            larger.extend_from_slice(&bytes);
            bytes = Zeroizing::new(larger);
        }
        let (old, room) = (bytes.len(), bytes.capacity().min(limit + 1) - bytes.len());
        match from.by_ref().take(room as u64).read_to_end(&mut bytes)? {
            0 => return Ok(bytes),
            _ if bytes.len() > limit => return Err(too_long()),
            _ => check(&bytes, old)?,
        }
    }
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "it is too long")
}

/// Refuses a file whose metadata say that it has more than `limit` bytes, whether or not they take
/// room on a disk.
///
/// # Errors
/// An error of the system; `FileTooLarge`.
pub fn within(file: &File, limit: u64) -> io::Result<()> {
    let about = file.metadata()?;
    if about.is_file() && about.len() > limit { Err(too_long()) } else { Ok(()) }
}

/// Opens a file and reads all of it, at most `limit` bytes.
///
/// # Errors
/// As [`open`], [`within`] and [`read_all`].
pub fn read(path: &Path, limit: u64) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut file = open(path)?;
    within(&file, limit)?;
    read_all(&mut file, limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_to_their_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for length in [0, 1, FIRST - 1, FIRST, FIRST + 1, 5 * FIRST] {
            let content: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            std::fs::write(&path, &content).unwrap();
            assert_eq!(*read(&path, length as u64).unwrap(), content);
            assert_eq!(*read(&path, 1 << 40).unwrap(), content);
            if length > 0 {
                let error = read(&path, length as u64 - 1).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{length}");
            }
        }
    }

    #[test]
    fn the_limit_is_of_bytes_that_came() {
        let mut endless = io::repeat(7);
        assert_eq!(read_all(&mut endless, 1000).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    /// If it were read, this would take minutes and a gigabyte.
    #[test]
    fn a_sparse_file_is_refused_unread() {
        const LIMIT: u64 = 1 << 30;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        File::create(&path).unwrap().set_len(LIMIT << 12).unwrap();
        let error = within(&File::open(&path).unwrap(), LIMIT).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        let begun = std::time::Instant::now();
        assert_eq!(read(&path, LIMIT).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert!(begun.elapsed() < std::time::Duration::from_millis(100));
    }

    #[test]
    fn nothing_is_read_after_a_check_has_failed() {
        let mut zeros = io::repeat(0);
        let error = read_checked(&mut zeros, 1 << 40, |bytes, old| {
            assert!(bytes.len() <= FIRST && old == 0);
            Err(refuse("zeros"))
        });
        assert!(error.unwrap_err().to_string().contains("zeros"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_named_pipes_and_directories_are_no_files() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        for (path, what) in [
            (Path::new("/dev/zero"), "a device"),
            (Path::new("/dev/null"), "a device"),
            (folder.path(), "a directory"),
            (&fifo, "a named pipe"),
        ] {
            let error = read(path, 100).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    /// A shell creates such a pipe for `<(command)`: it is opened again by its descriptor.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_anonymous_pipe_is_waited_for() {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        let (reader, mut writer) = io::pipe().unwrap();
        let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
        let writing = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(50));
            writer.write_all(b"1234").unwrap();
        });
        assert_eq!(*read(Path::new(&path), 10).unwrap(), b"1234");
        writing.join().unwrap();
    }
}
