//! Small things about files that the standard library leaves to its users: private modes, replacing
//! a file as a whole, making directory entries last, removing what held secrets.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use crate::{Result, StoreError, fault};

/// Creates a directory that only its owner may enter; it may exist already.
pub(crate) fn make_directory(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(e) => Err(StoreError::io("create", path, &e)),
        Ok(()) => Ok(()),
    }
}

/// Creates a file that only its owner may read; it must not exist.
pub(crate) fn create_private(path: &Path) -> Result<File> {
    private(path, OpenOptions::new().read(true).write(true).create_new(true))
}

/// Opens a file for reading and writing, creating it for its owner only.
pub(crate) fn open_or_create_private(path: &Path) -> Result<File> {
    private(path, OpenOptions::new().read(true).write(true).create(true).truncate(false))
}

fn private(path: &Path, options: &mut OpenOptions) -> Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path).map_err(|e| StoreError::io("create", path, &e))
}

/// Makes the entries of a directory survive a crash of the machine.
pub(crate) fn sync_directory(path: &Path) -> Result<()> {
    // Elsewhere a directory cannot be opened as a file, and renames are written through.
    #[cfg(unix)]
    File::open(path).and_then(|d| d.sync_all()).map_err(|e| StoreError::io("flush", path, &e))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Replaces a file by one with these bytes: at any instant either the old or the new one is there,
/// whole.
///
/// The new one is sure to be there after a power failure only once the directory has been flushed.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    let fresh = path.with_file_name(name);
    overwrite(&fresh, bytes)?;
    fs::rename(&fresh, path).map_err(|e| StoreError::io("write", path, &e))
}

/// Writes a file, whatever was in it before, and flushes it. If that fails, it is removed.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = (|| {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        fault::write("replace.write")?;
        file.write_all(bytes)?;
        file.sync_all()
    })();
    written.map_err(|e| {
        let _ = fs::remove_file(path);
        StoreError::io("write", path, &e)
    })
}

/// Reads a file of at most `limit` bytes; none if there is no file.
pub(crate) fn read_small(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let failed = |e: &io::Error| StoreError::io("read", path, e);
    let file = match File::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|e| failed(&e))?,
    };
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|e| failed(&e))?;
    if bytes.len() as u64 > limit {
        return Err(StoreError::damaged(path, "is far too long"));
    }
    Ok(Some(bytes))
}

/// A lock on a file, released when dropped.
///
/// Closing the file would release it too, but only when the last copy of the file descriptor is
/// closed: a process that another thread starts has one for a moment.
#[derive(Debug)]
pub(crate) struct Flock(File);

impl Flock {
    /// Waits for a lock that nobody else has.
    pub fn exclusive(file: File, path: &Path) -> Result<Self> {
        file.lock().map_err(|e| StoreError::io("lock", path, &e))?;
        Ok(Flock(file))
    }

    /// Waits for a lock that only others of this sort have.
    pub fn shared(file: File, path: &Path) -> Result<Self> {
        file.lock_shared().map_err(|e| StoreError::io("lock", path, &e))?;
        Ok(Flock(file))
    }

    /// A lock that nobody else has; none if somebody has one.
    pub fn try_exclusive(file: File, path: &Path) -> Result<Option<Self>> {
        Self::tried(file.try_lock(), file, path)
    }

    /// A lock that only others of this sort have; none if somebody has an exclusive one.
    pub fn try_shared(file: File, path: &Path) -> Result<Option<Self>> {
        Self::tried(file.try_lock_shared(), file, path)
    }

    fn tried(
        result: std::result::Result<(), TryLockError>,
        file: File,
        path: &Path,
    ) -> Result<Option<Self>> {
        match result {
            Ok(()) => Ok(Some(Flock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(StoreError::io("lock", path, &e)),
        }
    }

    /// The file that is locked.
    pub fn file(&mut self) -> &mut File {
        &mut self.0
    }
}

impl Drop for Flock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// What became of files that are needed no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discarded {
    /// They are gone; so many bytes were freed.
    Gone(u64),
    /// Somebody is still reading them.
    Busy,
}

/// Removes a directory of files that nobody reads any more.
///
/// Readers hold a shared lock on the files they read. With `wipe`, files are overwritten before
/// they are removed: the best one can do, though a disk or file system that writes elsewhere keeps
/// the old bytes.
pub(crate) fn discard(directory: &Path, wipe: bool) -> Result<Discarded> {
    let failed = |e: &io::Error| StoreError::io("remove", directory, e);
    let entries = match fs::read_dir(directory) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Discarded::Gone(0)),
        other => other.map_err(|e| failed(&e))?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| failed(&e))?.path();
        let options = OpenOptions::new().read(true).write(wipe).open(&path);
        let file = match options {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            other => other.map_err(|e| StoreError::io("remove", &path, &e))?,
        };
        match Flock::try_exclusive(file, &path)? {
            Some(lock) => files.push((path, lock)),
            None => return Ok(Discarded::Busy),
        }
    }
    let mut freed = 0;
    for (path, mut lock) in files {
        let file = lock.file();
        freed += file.metadata().map(|m| m.len()).unwrap_or(0);
        if wipe {
            // A disk that refuses keeps the bytes; removing the file is still right.
            let _ = wipe_file(file);
        }
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io("remove", &path, &e));
            }
            _ => fault::point("discard.file"),
        }
    }
    match fs::remove_dir(directory) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(&e)),
        _ => fault::point("discard.directory"),
    }
    Ok(Discarded::Gone(freed))
}

fn wipe_file(file: &mut File) -> io::Result<()> {
    let length = file.metadata()?.len();
    file.rewind()?;
    io::copy(&mut io::repeat(0).take(length), file)?;
    file.sync_data()
}
