//! The storage backend of the database: it works in memory and does no file I/O.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

/// The bytes of a database file. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// The maximum length, in bytes.
    most: usize,
}

impl Image {
    pub fn new(bytes: Vec<u8>) -> Self {
        // A transaction needs little more than the current size, and frees it at its end; a forged
        // file can claim any size.
        let most = bytes.len().saturating_mul(4).saturating_add(64 << 20);
        Image { bytes: Arc::new(Mutex::new(bytes)), most }
    }

    /// Takes the bytes out.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Returns the range of `length` bytes from `offset` on, if `there` bytes contain it.
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
        Ok(self.lock().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = self.lock();
        out.copy_from_slice(&bytes[range(offset, out.len(), bytes.len())?]);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).ok().filter(|length| *length <= self.most);
        self.lock().resize(length.ok_or(io::ErrorKind::OutOfMemory)?, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut bytes = self.lock();
        let range = range(offset, data.len(), bytes.len())?;
        bytes[range].copy_from_slice(data);
        Ok(())
    }
}
