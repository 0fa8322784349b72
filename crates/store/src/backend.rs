//! The bytes under the database: in memory to be read, in the file to be written.
//!
//! The database's own file backend locks the file, in a way that a process started by another thread at the
//! wrong moment keeps locked. The store has its own lock, so these do without.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use redb::StorageBackend;

/// A copy of the database file, whose digest is that of the bytes which are read.
#[derive(Debug)]
pub(crate) struct Image(Mutex<Vec<u8>>);

impl Image {
    pub fn new(bytes: Vec<u8>) -> Self {
        Image(Mutex::new(bytes))
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// `length` bytes from `offset` on, if there are so many.
fn range(offset: u64, length: usize, there: usize) -> io::Result<std::ops::Range<usize>> {
    let start = usize::try_from(offset).ok();
    let end = start.and_then(|start| start.checked_add(length)).filter(|end| *end <= there);
    match (start, end) {
        (Some(start), Some(end)) => Ok(start..end),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

impl StorageBackend for Image {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = self.bytes();
        out.copy_from_slice(&bytes[range(offset, out.len(), bytes.len())?]);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut bytes = self.bytes();
        // Reading needs little room beyond the file; a damaged one can claim to be of any size.
        let most = 4 * bytes.len() + (16 << 20);
        let length = usize::try_from(length).ok().filter(|length| *length <= most);
        bytes.resize(length.ok_or(io::ErrorKind::OutOfMemory)?, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut bytes = self.bytes();
        let range = range(offset, data.len(), bytes.len())?;
        bytes[range].copy_from_slice(data);
        Ok(())
    }
}

/// The database file, under the store's lock.
#[derive(Debug)]
pub(crate) struct Unlocked(Mutex<File>);

impl Unlocked {
    pub fn open(path: &Path) -> Result<Self, redb::StorageError> {
        Ok(Unlocked(Mutex::new(File::options().read(true).write(true).open(path)?)))
    }

    fn file(&self) -> MutexGuard<'_, File> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl StorageBackend for Unlocked {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file().metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut file = self.file();
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.file().set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file().sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut file = self.file();
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(data)
    }
}
