//! Sections in an unnamed temporary file, encrypted under a key that only this process's memory
//! holds.
//!
//! Each section is written once and read back once, in order. It is meant for data that do not fit
//! into memory. Nothing survives the process: the file and the key vanish with it, so a crash
//! wastes the data. [`Secrecy`] says whether the file is encrypted.
//!
//! Frames of all sections follow one another in the order in which they fill up. Only memory
//! records which frames belong to which section. Each frame has a tag for its position that takes
//! the key to compute, so a modified file is detected.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zeroize::Zeroizing;

use crate::ItemId;
use crate::frame::{FileKeys, Header, Sealing};
use crate::keys::{self, RootKey};

/// The size of a frame in bytes; small, because every section keeps one in memory.
const FRAME: usize = 1 << 16;

/// Whether the data are secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// Secret: they are encrypted.
    Secret,
    /// Public: they are not encrypted, which takes a fifth of the time.
    Public,
}

/// Sections that are being written.
pub struct Scratch {
    shared: Arc<Shared>,
    sections: Vec<Waiting>,
    /// The number of frames in the file.
    frames: u64,
    /// Buffer for a sealed frame on its way to the file.
    sealed: Vec<u8>,
}

/// A finished section, to be read once. One frame of it is in memory and is wiped after use.
pub struct ScratchReader {
    shared: Arc<Shared>,
    /// The indices and lengths of the remaining frames.
    frames: VecDeque<(u64, usize)>,
    frame: Zeroizing<Vec<u8>>,
    /// How many bytes of the frame were read.
    read: usize,
}

struct Shared {
    file: Mutex<File>,
    keys: FileKeys,
    /// The number of bytes that sealing adds to a frame.
    overhead: usize,
}

/// A section being written: its frames in the file, and the bytes that do not fill a frame yet.
struct Waiting {
    frames: VecDeque<(u64, usize)>,
    rest: Zeroizing<Vec<u8>>,
}

impl Scratch {
    /// Creates empty sections in a file in the system's temporary directory (`TMPDIR`).
    ///
    /// # Errors
    /// An I/O error.
    pub fn new(sections: usize, secrecy: Secrecy) -> io::Result<Scratch> {
        let file = Mutex::new(tempfile::tempfile()?);
        let random = || keys::random::<32>().map_err(io::Error::other);
        let (secret, store) = (Zeroizing::new(random()?), [0; 16]);
        let sealing = match secrecy {
            Secrecy::Secret => Sealing::Encryption,
            Secrecy::Public => Sealing::Checksum,
        };
        let overhead = sealing.overhead();
        let header = Header {
            sealing,
            store,
            item: ItemId([0; 16]),
            section: 0,
            frame: FRAME as u32,
            salt: random()?,
        };
        let keys = FileKeys::new(&RootKey::derive(&*secret, &store), &header);
        let waiting = || Waiting { frames: VecDeque::new(), rest: Zeroizing::default() };
        Ok(Scratch {
            shared: Arc::new(Shared { file, keys, overhead }),
            sections: std::iter::repeat_with(waiting).take(sections).collect(),
            frames: 0,
            sealed: Vec::with_capacity(FRAME + overhead),
        })
    }

    /// Appends to a section.
    ///
    /// # Errors
    /// An I/O error; `NotFound` if there is no such section.
    pub fn write(&mut self, section: usize, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let waiting = self.sections.get_mut(section).ok_or(io::ErrorKind::NotFound)?;
            if waiting.rest.capacity() < FRAME {
                // The full capacity is reserved at once: growing would leave copies.
                waiting.rest.reserve_exact(FRAME);
            }
            let (now, later) = bytes.split_at(bytes.len().min(FRAME - waiting.rest.len()));
            waiting.rest.extend_from_slice(now);
            bytes = later;
            if waiting.rest.len() == FRAME {
                self.flush(section)?;
            }
        }
        Ok(())
    }

    /// Writes the buffered bytes of a section as a frame.
    fn flush(&mut self, section: usize) -> io::Result<()> {
        let (index, waiting) = (self.frames, &mut self.sections[section]);
        self.sealed.clear();
        self.sealed.extend_from_slice(&waiting.rest);
        self.shared.keys.seal(index, false, &mut self.sealed).map_err(io::Error::other)?;
        self.shared.at(index)?.write_all(&self.sealed)?;
        waiting.frames.push_back((index, waiting.rest.len()));
        waiting.rest.clear();
        self.frames += 1;
        Ok(())
    }

    /// Finishes writing; returns a reader for each section.
    ///
    /// # Errors
    /// An I/O error.
    pub fn finish(mut self) -> io::Result<Vec<ScratchReader>> {
        for section in 0..self.sections.len() {
            if !self.sections[section].rest.is_empty() {
                self.flush(section)?;
            }
        }
        let shared = self.shared;
        let reader = |waiting: Waiting| ScratchReader {
            shared: shared.clone(),
            frames: waiting.frames,
            frame: Zeroizing::default(),
            read: 0,
        };
        Ok(self.sections.into_iter().map(reader).collect())
    }
}

impl Shared {
    /// Returns the file, positioned at a frame.
    fn at(&self, index: u64) -> io::Result<MutexGuard<'_, File>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(index * (FRAME + self.overhead) as u64))?;
        Ok(file)
    }

    /// Reads and verifies a frame.
    fn open(&self, index: u64, frame: &mut Zeroizing<Vec<u8>>) -> io::Result<()> {
        self.at(index)?.read_exact(frame)?;
        let opened = self.keys.open(index, false, frame);
        opened.map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))
    }
}

impl Read for ScratchReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.read == self.frame.len() {
            let Some((index, length)) = self.frames.pop_front() else { return Ok(0) };
            let overhead = self.shared.overhead;
            if self.frame.capacity() == 0 {
                self.frame.reserve_exact(FRAME + overhead);
            }
            self.frame.resize(length + overhead, 0);
            self.read = 0;
            if let Err(error) = self.shared.open(index, &mut self.frame) {
                // Nothing of a frame that was not verified is read later, and it is not skipped.
                self.frame.clear();
                self.frames.push_front((index, length));
                return Err(error);
            }
        }
        let rest = &self.frame[self.read..];
        let n = rest.len().min(bytes.len());
        bytes[..n].copy_from_slice(&rest[..n]);
        self.read += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns test content for a section.
    fn content(section: usize, bytes: usize) -> Vec<u8> {
        (0..bytes).map(|i| (i * 31 + section * 7) as u8).collect()
    }

    fn filled(lengths: &[usize], secrecy: Secrecy) -> Vec<ScratchReader> {
        let mut scratch = Scratch::new(lengths.len(), secrecy).unwrap();
        let all: Vec<Vec<u8>> =
            lengths.iter().enumerate().map(|(section, &n)| content(section, n)).collect();
        let mut from = vec![0; all.len()];
        // Writes pieces of all sections in turn.
        while from.iter().zip(lengths).any(|(from, all)| from < all) {
            for (section, all) in all.iter().enumerate() {
                let end = all.len().min(from[section] + 10_007 * (section + 1));
                scratch.write(section, &all[from[section]..end]).unwrap();
                from[section] = end;
            }
        }
        scratch.finish().unwrap()
    }

    #[test]
    fn sections_come_back_in_any_order() {
        let lengths = [0, 1, FRAME, FRAME + 1, 5 * FRAME - 1, 300_000];
        for secrecy in [Secrecy::Secret, Secrecy::Public] {
            let mut readers: Vec<_> = filled(&lengths, secrecy).into_iter().enumerate().collect();
            readers.reverse();
            for (section, mut reader) in readers {
                let mut all = Vec::new();
                reader.read_to_end(&mut all).unwrap();
                assert_eq!(all, content(section, lengths[section]), "section {section}");
                assert_eq!(reader.read(&mut [0; 8]).unwrap(), 0);
            }
        }
    }

    #[test]
    fn a_section_that_is_not_there_is_refused() {
        let mut scratch = Scratch::new(2, Secrecy::Public).unwrap();
        assert_eq!(scratch.write(2, b"x").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    /// The file reveals no secrets, and a modified one is rejected.
    #[test]
    fn the_file_is_sealed() {
        for secrecy in [Secrecy::Secret, Secrecy::Public] {
            let mut scratch = Scratch::new(1, secrecy).unwrap();
            let content = [0x5a; 3 * FRAME];
            scratch.write(0, &content).unwrap();
            let shared = scratch.shared.clone();
            let frame = FRAME + shared.overhead;
            let mut bytes = Vec::new();
            shared.at(0).unwrap().read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes.len(), 3 * frame);
            let plain = bytes.windows(16).any(|part| part == &content[..16]);
            assert_eq!(plain, secrecy == Secrecy::Public);
            // The first two frames change places.
            bytes.rotate_left(frame);
            shared.at(0).unwrap().write_all(&bytes).unwrap();
            let mut reader = scratch.finish().unwrap().remove(0);
            // Reading again neither skips the frame nor returns what is in it.
            for _ in 0..2 {
                let error = reader.read(&mut [0; 8]).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            }
        }
    }
}
