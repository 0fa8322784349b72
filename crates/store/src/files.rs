//! File helpers that the standard library lacks: private modes, atomic replacement, durable
//! directory entries, removal of files that held secrets.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::access::Mode;
use crate::{Result, StoreError, access, fault};

/// Creates a directory that only its owner may enter. It may exist already.
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

/// Lists the subdirectories of a directory.
pub(crate) fn directories(path: &Path) -> Result<Vec<PathBuf>> {
    let failed = |e: &std::io::Error| StoreError::io("read", path, e);
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(|e| failed(&e))? {
        let entry = entry.map_err(|e| failed(&e))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Makes the entries of a directory durable across a crash of the machine.
pub(crate) fn sync_directory(path: &Path) -> Result<()> {
    // Moved a directory cannot be opened as a file, and renames are written through.
    #[cfg(unix)]
    File::open(path).and_then(|d| d.sync_all()).map_err(|e| StoreError::io("flush", path, &e))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Atomically replaces a file by one with these bytes: at any instant either the complete old file
/// or the complete new file exists.
///
/// The new file survives a power failure only once its directory has been flushed.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    let fresh = path.with_file_name(name);
    remove_if_there(&fresh)?;
    if let Err(error) = overwrite(&fresh, bytes) {
        let _ = fs::remove_file(&fresh);
        return Err(error);
    }
    fs::rename(&fresh, path).map_err(|e| StoreError::io("write", path, &e))
}

/// Writes and flushes a file, replacing its content. Empties it on failure, so that what was
/// written takes no room. Returns the file's metadata afterwards.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) -> Result<Metadata> {
    let mut file = access::open(path, Mode::Create)?;
    let written = (|| {
        file.set_len(0)?;
        fault::write("replace.write")?;
        file.write_all(bytes)?;
        file.sync_all()?;
        file.metadata()
    })();
    written.map_err(|e| {
        let _ = file.set_len(0);
        StoreError::io("write", path, &e)
    })
}

/// Removes a file if it exists.
pub(crate) fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", path, &e)),
        _ => Ok(()),
    }
}

/// Reads a file of at most `limit` bytes; returns `None` if it does not exist.
pub(crate) fn read_small(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let file = access::open_if_there(path, Mode::Read)?;
    file.map(|file| read_bounded(file, path, limit)).transpose()
}

/// Reads a file of at most `limit` bytes to its end. Allocates memory for the bytes actually read,
/// not for the length that the file claims.
pub(crate) fn read_bounded(file: File, path: &Path, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|e| StoreError::io("read", path, &e))?;
    if bytes.len() as u64 > limit {
        return Err(StoreError::damaged(path, "is far too long"));
    }
    Ok(bytes)
}

/// A lock on a file, released when dropped.
///
/// Closing the file releases the lock too, but only with the last copy of the file descriptor: a
/// process that another thread starts briefly holds a copy.
#[derive(Debug)]
pub(crate) struct Flock(File);

impl Flock {
    /// Waits for an exclusive lock.
    pub fn exclusive(file: File, path: &Path) -> Result<Self> {
        file.lock().map_err(|e| StoreError::io("lock", path, &e))?;
        Ok(Flock(file))
    }

    /// Waits for a shared lock.
    pub fn shared(file: File, path: &Path) -> Result<Self> {
        file.lock_shared().map_err(|e| StoreError::io("lock", path, &e))?;
        Ok(Flock(file))
    }

    /// Tries to take an exclusive lock; returns `None` if somebody holds a lock.
    pub fn try_exclusive(file: File, path: &Path) -> Result<Option<Self>> {
        Self::tried(file.try_lock(), file, path)
    }

    /// Tries to take a shared lock; returns `None` if somebody holds an exclusive lock.
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

    /// Returns the locked file.
    pub fn file(&mut self) -> &mut File {
        &mut self.0
    }
}

impl Drop for Flock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// The result of discarding files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discarded {
    /// They are gone, and this many bytes were freed.
    Gone(u64),
    /// As `Gone`, but somebody else removed the directory, or there was none.
    GoneBefore(u64),
    /// Somebody is still reading them.
    Busy,
}

/// Removes a directory of files unless somebody still reads one.
///
/// Readers hold a shared lock on the files they read. With `wipe`, files are overwritten before
/// they are removed. This is best effort: a disk or file system that writes elsewhere keeps the old
/// bytes. A file that cannot be removed does not stop the removal of the others.
pub(crate) fn discard(directory: &Path, wipe: bool) -> Result<Discarded> {
    let failed = |e: &io::Error| StoreError::io("remove", directory, e);
    if fs::symlink_metadata(directory).is_ok_and(|found| !found.is_dir()) {
        // The target of a link is not ours.
        return remove_if_there(directory).map(|()| Discarded::Gone(0));
    }
    let entries = match fs::read_dir(directory) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Discarded::GoneBefore(0)),
        other => other.map_err(|e| failed(&e))?,
    };
    let mode = if wipe { Mode::Write } else { Mode::Read };
    let (mut files, mut failure) = (Vec::new(), None);
    for entry in entries {
        let path = entry.map_err(|e| failed(&e))?.path();
        match access::open_if_there(&path, mode) {
            Ok(None) => {}
            // This is not our file, and the target of a link is not ours to wipe.
            Err(StoreError::Unsafe { .. }) => files.push((path, None)),
            Ok(Some(file)) => match Flock::try_exclusive(file, &path)? {
                Some(lock) => files.push((path, Some(lock))),
                None => return Ok(Discarded::Busy),
            },
            Err(other) => failure = failure.or(Some(other)),
        }
    }
    let mut freed = 0;
    for (path, mut lock) in files {
        let mut length = 0;
        if let Some(file) = lock.as_mut().map(Flock::file) {
            length = file.metadata().map(|m| m.len()).unwrap_or(0);
            if wipe {
                // If wiping fails the bytes remain on disk; removing the file is still right.
                let _ = wipe_file(file);
            }
        }
        match fs::remove_file(&path) {
            Ok(()) => freed += length,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => failure = failure.or(Some(StoreError::io("remove", &path, &e))),
        }
        fault::point("discard.file");
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    let discarded = match fs::remove_dir(directory) {
        Ok(()) => Discarded::Gone(freed),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Discarded::GoneBefore(freed),
        Err(e) => return Err(failed(&e)),
    };
    fault::point("discard.directory");
    Ok(discarded)
}

/// Returns whether somebody holds a lock on a file in a directory, as everyone does who writes or
/// reads an item. The arguments are those of [`discard`].
pub(crate) fn is_in_use(directory: &Path, wipe: bool) -> Result<bool> {
    let failed = |e: &io::Error| StoreError::io("read", directory, e);
    let entries = match fs::read_dir(directory) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        other => other.map_err(|e| failed(&e))?,
    };
    let mode = if wipe { Mode::Write } else { Mode::Read };
    for entry in entries {
        let path = entry.map_err(|e| failed(&e))?.path();
        // `discard` says what is wrong with a file that cannot be opened.
        if let Ok(Some(file)) = access::open_if_there(&path, mode)
            && Flock::try_exclusive(file, &path)?.is_none()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn wipe_file(file: &mut File) -> io::Result<()> {
    let length = file.metadata()?.len();
    file.rewind()?;
    io::copy(&mut io::repeat(0).take(length), file)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_removed_does_not_keep_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("item");
        // The system lists directory entries in arbitrary order.
        for name in 0..8 {
            fs::create_dir_all(directory.join(format!("{name}.d"))).unwrap();
            fs::write(directory.join(format!("{name}.f")), "secret").unwrap();
        }
        discard(&directory, true).unwrap_err();
        let left = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_type());
        assert!(left.map(|kind| kind.unwrap()).all(|kind| kind.is_dir()));
        fs::read_dir(&directory).unwrap().for_each(|d| fs::remove_dir(d.unwrap().path()).unwrap());
        assert_eq!(discard(&directory, true).unwrap(), Discarded::Gone(0));
        assert!(!directory.exists());
    }
}
