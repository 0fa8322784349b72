//! Sections in an unnamed temporary file, encrypted under a key that only this process's memory
//! holds.
//!
//! Each section is written once and read back once, in order. It is meant for data that do not fit
//! into memory. Nothing survives the process: the file and the key vanish with it, so a crash
//! wastes the data. [`Secrecy`] says whether the file is encrypted.
//!
//! Frames of all sections are written in the order in which they fill up. Only memory records which
//! frames belong to which section. A frame that was read leaves its place to a later one. Each
//! frame has a number of its own, and a tag for this number that takes the key to compute, so a
//! modified file is detected.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

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

/// A file that sections of many makers share, so that many sections take one file. It is made for
/// the first section, and vanishes with the last.
pub struct SharedScratch {
    shared: Mutex<Weak<Shared>>,
    secrecy: Secrecy,
}

/// Sections that are being written.
pub struct Scratch {
    shared: Arc<Shared>,
    sections: Vec<Waiting>,
    /// Buffer for a sealed frame on its way to the file.
    sealed: Vec<u8>,
}

/// A finished section, to be read once. One frame of it is in memory and is wiped after use.
pub struct ScratchReader {
    /// The remaining frames.
    frames: Frames,
    frame: Zeroizing<Vec<u8>>,
    /// How many bytes of the frame were read.
    read: usize,
}

struct Shared {
    places: Mutex<Places>,
    keys: FileKeys,
    /// The number of bytes that sealing adds to a frame.
    overhead: usize,
}

/// The file, and which of its places are taken.
struct Places {
    file: File,
    /// How many frames were ever sealed.
    sealed: u64,
    /// The places that were ever taken: those before this one.
    end: u64,
    /// Those among them that are free again.
    free: Vec<u64>,
}

/// A frame in the file.
#[derive(Clone, Copy)]
struct Frame {
    /// No other frame that is sealed under the same keys has this number.
    number: u64,
    place: u64,
    /// Bytes before sealing.
    length: usize,
}

/// Frames of a section, in order. Their places are free again when they are dropped.
struct Frames {
    shared: Arc<Shared>,
    frames: VecDeque<Frame>,
}

/// A section being written: its frames in the file, and the bytes that do not fill a frame yet.
struct Waiting {
    frames: Frames,
    rest: Zeroizing<Vec<u8>>,
}

impl SharedScratch {
    /// A file that is not made yet.
    pub const fn new(secrecy: Secrecy) -> SharedScratch {
        SharedScratch { shared: Mutex::new(Weak::new()), secrecy }
    }

    /// Creates empty sections in the file.
    ///
    /// # Errors
    /// An I/O error.
    pub fn sections(&self, sections: usize) -> io::Result<Scratch> {
        let mut latest = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = match latest.upgrade() {
            Some(shared) => shared,
            None => Arc::new(Shared::new(self.secrecy)?),
        };
        *latest = Arc::downgrade(&shared);
        Ok(Scratch::of(shared, sections))
    }
}

impl Scratch {
    /// Creates empty sections in a file in the system's temporary directory (`TMPDIR`).
    ///
    /// # Errors
    /// An I/O error.
    pub fn new(sections: usize, secrecy: Secrecy) -> io::Result<Scratch> {
        Ok(Scratch::of(Arc::new(Shared::new(secrecy)?), sections))
    }

    fn of(shared: Arc<Shared>, sections: usize) -> Scratch {
        let waiting = || Waiting {
            frames: Frames { shared: shared.clone(), frames: VecDeque::new() },
            rest: Zeroizing::default(),
        };
        let sections = std::iter::repeat_with(waiting).take(sections).collect();
        let sealed = Vec::with_capacity(FRAME + shared.overhead);
        Scratch { shared, sections, sealed }
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
        let Waiting { frames, rest } = &mut self.sections[section];
        let frame = self.shared.places().take(rest.len());
        frames.frames.push_back(frame);
        self.sealed.clear();
        self.sealed.extend_from_slice(rest);
        self.shared.keys.seal(frame.number, false, &mut self.sealed).map_err(io::Error::other)?;
        self.shared.at(frame)?.file.write_all(&self.sealed)?;
        rest.clear();
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
        let reader = |waiting: Waiting| ScratchReader {
            frames: waiting.frames,
            frame: Zeroizing::default(),
            read: 0,
        };
        Ok(self.sections.into_iter().map(reader).collect())
    }
}

impl Shared {
    fn new(secrecy: Secrecy) -> io::Result<Shared> {
        let file = tempfile::tempfile()?;
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
        let places = Mutex::new(Places { file, sealed: 0, end: 0, free: Vec::new() });
        Ok(Shared { places, keys, overhead })
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the file, positioned at a frame.
    fn at(&self, frame: Frame) -> io::Result<MutexGuard<'_, Places>> {
        let mut places = self.places();
        places.file.seek(SeekFrom::Start(frame.place * (FRAME + self.overhead) as u64))?;
        Ok(places)
    }

    /// Reads and verifies a frame.
    fn open(&self, from: Frame, frame: &mut Zeroizing<Vec<u8>>) -> io::Result<()> {
        self.at(from)?.file.read_exact(frame)?;
        let opened = self.keys.open(from.number, false, frame);
        opened.map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))
    }
}

impl Places {
    /// Takes a place for a frame of `length` bytes.
    fn take(&mut self, length: usize) -> Frame {
        let number = self.sealed;
        self.sealed += 1;
        let place = self.free.pop().unwrap_or_else(|| {
            self.end += 1;
            self.end - 1
        });
        Frame { number, place, length }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.shared.places().free.extend(self.frames.iter().map(|frame| frame.place));
    }
}

impl Read for ScratchReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.read == self.frame.len() {
            let Some(&frame) = self.frames.frames.front() else { return Ok(0) };
            let overhead = self.frames.shared.overhead;
            if self.frame.capacity() == 0 {
                self.frame.reserve_exact(FRAME + overhead);
            }
            self.frame.resize(frame.length + overhead, 0);
            self.read = 0;
            if let Err(error) = self.frames.shared.open(frame, &mut self.frame) {
                // Nothing of a frame that was not verified is read later, and it is not skipped.
                self.frame.clear();
                return Err(error);
            }
            self.frames.frames.pop_front();
            self.frames.shared.places().free.push(frame.place);
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
            let first = Frame { number: 0, place: 0, length: FRAME };
            let mut bytes = Vec::new();
            shared.at(first).unwrap().file.read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes.len(), 3 * frame);
            let plain = bytes.windows(16).any(|part| part == &content[..16]);
            assert_eq!(plain, secrecy == Secrecy::Public);
            // The first two frames change places.
            bytes.rotate_left(frame);
            shared.at(first).unwrap().file.write_all(&bytes).unwrap();
            let mut reader = scratch.finish().unwrap().remove(0);
            // Reading again neither skips the frame nor returns what is in it.
            for _ in 0..2 {
                let error = reader.read(&mut [0; 8]).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            }
        }
    }

    /// Sections of one file are written while others are read. A section takes the places of those
    /// that were read or dropped, and the file vanishes with the last.
    #[test]
    fn a_shared_file_reuses_its_places() {
        let file = SharedScratch::new(Secrecy::Secret);
        let section = |number: usize| {
            let mut scratch = file.sections(1).unwrap();
            scratch.write(0, &content(number, 3 * FRAME + 1)).unwrap();
            scratch.finish().unwrap().remove(0)
        };
        let check = |number: usize, mut reader: ScratchReader| {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).unwrap();
            assert_eq!(all, content(number, 3 * FRAME + 1), "section {number}");
        };
        let mut last = section(0);
        let shared = Arc::downgrade(&last.frames.shared);
        for number in 1..20 {
            let next = section(number);
            match number % 3 {
                // Some are not read, or not to their end.
                0 => drop(last),
                1 => last.read_exact(&mut vec![0; FRAME + 7]).unwrap(),
                _ => check(number - 1, last),
            }
            last = next;
        }
        assert!(shared.ptr_eq(&Arc::downgrade(&last.frames.shared)), "all are in one file");
        assert_eq!(last.frames.shared.places().end, 8, "two sections at a time, of four frames");
        check(19, last);
        assert!(shared.upgrade().is_none(), "the file is gone");
        check(20, section(20));
    }
}
