//! Bytes that wait for the same process: sections in a file without a name, under a key that is in
//! this process's memory alone.
//!
//! What is written to each section is read back once, in order. Nothing of it outlives the process:
//! the file is gone with it, and so is the key. It is made for what does not fit into memory; a
//! crash wastes it. [`Secrecy`] says whether it is encrypted.
//!
//! Frames of all sections follow one another as they fill up. Which ones belong to a section is
//! only in memory, and each has a tag for its place, which takes the key to make: a file that
//! somebody changes is damage.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zeroize::Zeroizing;

use crate::ItemId;
use crate::frame::{FileKeys, Header, Sealing};
use crate::keys::{self, RootKey};

/// Bytes of a frame: few, as each section has one in memory.
const FRAME: usize = 1 << 16;

/// Whether what waits is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// It is encrypted.
    Secret,
    /// It is not, which takes a fifth of the time.
    Public,
}

/// Sections that are being written.
pub struct Scratch {
    shared: Arc<Shared>,
    sections: Vec<Waiting>,
    /// Frames in the file.
    frames: u64,
    /// A frame on its way to the file.
    sealed: Vec<u8>,
}

/// A section that was written, to be read once. A frame of it is in memory, and wiped.
pub struct ScratchReader {
    shared: Arc<Shared>,
    /// Where the frames are that are left, and their lengths.
    frames: VecDeque<(u64, usize)>,
    frame: Zeroizing<Vec<u8>>,
    /// How much of the frame was read.
    read: usize,
}

struct Shared {
    file: Mutex<File>,
    keys: FileKeys,
    /// Bytes that a frame grows by.
    overhead: usize,
}

/// A section so far: where its frames are, and what fills no frame yet.
struct Waiting {
    frames: VecDeque<(u64, usize)>,
    rest: Zeroizing<Vec<u8>>,
}

impl Scratch {
    /// So many empty sections, in a file of the system's folder for such files (`TMPDIR`).
    ///
    /// # Errors
    /// What the system fails with.
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
    /// What the file fails with; `NotFound` when there is no such section.
    pub fn write(&mut self, section: usize, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let waiting = self.sections.get_mut(section).ok_or(io::ErrorKind::NotFound)?;
            if waiting.rest.capacity() < FRAME {
                // Room for all of it from the beginning: growing would leave copies behind.
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

    /// Writes what waits of a section.
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

    /// All sections, each from its beginning.
    ///
    /// # Errors
    /// What the file fails with.
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
    /// The file at a frame.
    fn at(&self, index: u64) -> io::Result<MutexGuard<'_, File>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(index * (FRAME + self.overhead) as u64))?;
        Ok(file)
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
            self.shared.at(index)?.read_exact(&mut self.frame)?;
            let opened = self.shared.keys.open(index, false, &mut self.frame);
            opened.map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))?;
            self.read = 0;
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

    /// What is in a section.
    fn content(section: usize, bytes: usize) -> Vec<u8> {
        (0..bytes).map(|i| (i * 31 + section * 7) as u8).collect()
    }

    fn filled(lengths: &[usize], secrecy: Secrecy) -> Vec<ScratchReader> {
        let mut scratch = Scratch::new(lengths.len(), secrecy).unwrap();
        let all: Vec<Vec<u8>> =
            lengths.iter().enumerate().map(|(section, &n)| content(section, n)).collect();
        let mut from = vec![0; all.len()];
        // Pieces of all sections in turn.
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

    /// The file tells nothing of secrets, and is not believed when it was changed.
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
            let error = reader.read(&mut [0; 8]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
    }
}
