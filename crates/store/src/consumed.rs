//! Consumed material: marked as used on disk, and now readable.

use std::collections::BTreeSet;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use zeroize::Zeroizing;

use crate::access::{self, Mode};
use crate::files::{self, Discarded, Flock};
use crate::frame::{FileKeys, Geometry, HEADER, Header};
use crate::index::Core;
use crate::item_writer::section_path;
use crate::record::{Content, Edit, ItemState, Record, SectionFile};
use crate::{ItemId, ItemKind, ItemMeta, Result, StoreError, fault};

/// Material that was taken: only this process may use it, and nobody may use it again.
///
/// Once this and all its readers are dropped, the files of an exhausted item are removed.
#[derive(Debug)]
pub struct ConsumedItem {
    meta: ItemMeta,
    from: Vec<u64>,
    upto: Vec<u64>,
    /// The byte range of each section that belongs to the material taken.
    readable: Vec<Range<u64>>,
    opened: Arc<Opened>,
}

/// The open files of an item.
#[derive(Debug)]
pub(crate) struct Opened {
    core: Arc<Core>,
    id: ItemId,
    sections: Vec<OpenSection>,
    /// Whether nothing is left of the item, so that its files are removed with this.
    exhausted: bool,
}

/// An open file of an item, locked against removal.
struct OpenSection {
    path: PathBuf,
    file: Mutex<Flock>,
    keys: FileKeys,
    geometry: Geometry,
}

impl std::fmt::Debug for OpenSection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenSection").field("path", &self.path).finish_non_exhaustive()
    }
}

/// What is to be taken of an item: records `from[i]..upto[i]` of each count.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub id: ItemId,
    pub from: &'a [u64],
    pub upto: &'a [u64],
}

impl ConsumedItem {
    /// Marks parts of different items as used on disk, in one commit, and opens them. After an
    /// error before the commit none is marked.
    pub(crate) fn take(
        core: &Arc<Core>,
        kind: ItemKind,
        wanted: &[Wanted<'_>],
    ) -> Result<Vec<ConsumedItem>> {
        let mut locked = core.exclusive()?;
        // The files are opened under the store's lock and before anything is marked. So unreadable
        // material is not wasted, and nobody removes the files meanwhile.
        let open = |wanted: &Wanted<'_>| {
            let record = record(&locked.content, wanted.id)?;
            ConsumedItem::open(core, record, kind, wanted)
        };
        let opened = wanted.iter().map(open).collect::<Result<Vec<_>>>()?;
        fault::point("take.checked");
        let (mut items, edits): (Vec<ConsumedItem>, Vec<Edit>) = opened.into_iter().unzip();
        locked.commit(&edits)?;
        fault::point("take.committed");
        for item in &mut items {
            if let Some(opened) = Arc::get_mut(&mut item.opened) {
                opened.exhausted = item.upto == item.meta.counts;
            }
        }
        Ok(items)
    }

    /// Opens what is to be taken; returns it with the edit that marks it.
    fn open(
        core: &Arc<Core>,
        record: &Record,
        kind: ItemKind,
        &Wanted { id, from, upto }: &Wanted<'_>,
    ) -> Result<(ConsumedItem, Edit)> {
        check_range(id, record, kind, from, upto)?;
        let counts = &record.meta.counts;
        let ranges =
            record.files.iter().map(|file| file.holds.bytes(file.bytes, from, upto, counts));
        let readable =
            ranges.collect::<std::result::Result<_, _>>().map_err(StoreError::Invalid)?;
        let opened = Arc::new(Opened::open(core, id, record)?);
        let state = if upto == counts { ItemState::Used } else { ItemState::Available };
        let marked = Record { next: upto.to_vec(), state, ..record.clone() };
        let (from, upto) = (from.to_vec(), upto.to_vec());
        let item = ConsumedItem { meta: record.meta.clone(), from, upto, readable, opened };
        Ok((item, Edit::Put(id, Box::new(marked))))
    }

    /// Returns the item's name.
    pub fn id(&self) -> ItemId {
        self.opened.id
    }

    /// Returns the item's metadata.
    pub fn meta(&self) -> &ItemMeta {
        &self.meta
    }

    /// Returns the first record taken of each count.
    pub fn from(&self) -> &[u64] {
        &self.from
    }

    /// Returns the first record of each count that was not taken.
    pub fn upto(&self) -> &[u64] {
        &self.upto
    }

    /// Returns the number of sections.
    pub fn sections(&self) -> usize {
        self.readable.len()
    }

    /// Returns the byte range of a section that may be read: the records taken, or all of a
    /// [`crate::Section::Whole`]. The range is empty if there is no such section.
    pub fn bytes(&self, section: usize) -> Range<u64> {
        self.readable.get(section).cloned().unwrap_or(0..0)
    }

    /// Returns a reader for these bytes of a section, counted from its start. It checks each frame
    /// before it releases any byte of it. The reader may outlive this item.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if these bytes were not taken.
    pub fn read(&self, section: usize, bytes: Range<u64>) -> Result<SectionReader> {
        let readable = self.bytes(section);
        let inside = readable.start <= bytes.start && bytes.end <= readable.end;
        if section >= self.sections() || bytes.start > bytes.end || !(inside || bytes.is_empty()) {
            return Err(StoreError::Invalid(format!(
                "bytes {}..{} of section {section} of item {} were not taken: {}..{} were",
                bytes.start,
                bytes.end,
                self.id(),
                readable.start,
                readable.end
            )));
        }
        Ok(SectionReader::new(self.opened.clone(), section, bytes))
    }

    /// Reads everything that was taken once, to detect damage before anything depends on the
    /// material.
    ///
    /// # Errors
    /// [`StoreError::DamagedItem`]; an I/O error.
    pub fn check(&self) -> Result<()> {
        for (section, bytes) in self.readable.iter().enumerate() {
            SectionReader::new(self.opened.clone(), section, bytes.clone()).each(|_| Ok(()))?;
        }
        Ok(())
    }

    /// Ends the use. If nothing is left of the item, its files are removed, unless somebody still
    /// reads them. Dropping does the same, but cannot report errors.
    ///
    /// # Errors
    /// An I/O error. The material stays used, and garbage collection tries again.
    pub fn done(self) -> Result<()> {
        match Arc::into_inner(self.opened) {
            Some(mut opened) => opened.finish(),
            None => Ok(()),
        }
    }
}

fn record(content: &Content, id: ItemId) -> Result<&Record> {
    match content.items.get(&id) {
        Some(record) => Ok(record),
        None if !content.used_before(&BTreeSet::from([id])).is_empty() => {
            Err(StoreError::AlreadyUsed { item: id, what: String::new() })
        }
        None => Err(StoreError::Unknown { item: id }),
    }
}

fn check_range(
    id: ItemId,
    record: &Record,
    kind: ItemKind,
    from: &[u64],
    upto: &[u64],
) -> Result<()> {
    match &record.state {
        ItemState::Void(reason) => {
            return Err(StoreError::Void { item: id, reason: reason.clone() });
        }
        ItemState::Used => return Err(StoreError::AlreadyUsed { item: id, what: String::new() }),
        ItemState::Available => {}
    }
    let invalid = |what: String| Err(StoreError::Invalid(format!("item {id} {what}")));
    let counts = &record.meta.counts;
    if record.meta.kind != kind {
        return invalid(match kind {
            ItemKind::Pool => "is a prepared one, which is taken as a whole".to_string(),
            ItemKind::Prepared => "is a pool, of which ranges are taken".to_string(),
        });
    }
    if from.len() != counts.len() || upto.len() != counts.len() {
        return invalid(format!("has {} counts, so a range of each is taken", counts.len()));
    }
    for i in 0..counts.len() {
        if from[i] > upto[i] || upto[i] > counts[i] {
            return invalid(format!(
                "has {} records of count {i}: {}..{} is not a range of them",
                counts[i], from[i], upto[i]
            ));
        }
        if from[i] < record.next[i] {
            let what = format!(
                " up to record {} of count {i}, so that {}..{} cannot be taken",
                record.next[i], from[i], upto[i]
            );
            return Err(StoreError::AlreadyUsed { item: id, what });
        }
    }
    if from == upto {
        return invalid("is not used by taking nothing".to_string());
    }
    Ok(())
}

impl Opened {
    /// Opens the files of an item and checks their lengths and headers. The caller holds the
    /// store's lock.
    pub fn open(core: &Arc<Core>, id: ItemId, record: &Record) -> Result<Self> {
        access::check_directory_if_there(&core.item(&id))?;
        let sections = record.files.iter().enumerate();
        let sections = sections
            .map(|(section, file)| OpenSection::open(core, id, section, file))
            .collect::<Result<_>>()?;
        Ok(Opened { core: core.clone(), id, sections, exhausted: false })
    }

    /// Reads and checks every frame, and passes the size of each to `progress`.
    pub fn check(self, mut progress: impl FnMut(u64)) -> Result<()> {
        let opened = Arc::new(self);
        for (index, section) in opened.sections.iter().enumerate() {
            let bytes = 0..section.geometry.bytes;
            SectionReader::new(opened.clone(), index, bytes).each(|part| {
                progress(part.len() as u64);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Returns a reader of a whole section.
    pub fn all(self: &Arc<Self>, section: usize) -> SectionReader {
        let bytes = 0..self.sections[section].geometry.bytes;
        SectionReader::new(self.clone(), section, bytes)
    }

    fn finish(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.exhausted) {
            return Ok(());
        }
        // Our own locks would block the removal.
        self.sections.clear();
        match files::discard(&self.core.item(&self.id), self.core.wipes())? {
            // Somebody still uses an earlier part; garbage collection removes the files later.
            Discarded::Busy | Discarded::Gone(_) | Discarded::GoneBefore(_) => Ok(()),
        }
    }

    fn frame(&self, section: usize, index: u64, buffer: &mut Vec<u8>) -> Result<()> {
        let file = &self.sections[section];
        file.frame(index, buffer, |frame, what| StoreError::DamagedItem {
            item: self.id,
            section,
            frame: Some(frame),
            what,
        })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // Garbage collection removes what cannot be removed now.
        let _ = self.finish();
    }
}

impl OpenSection {
    fn open(core: &Core, id: ItemId, section: usize, known: &SectionFile) -> Result<Self> {
        let damaged = |what| Err(StoreError::DamagedItem { item: id, section, frame: None, what });
        let path = section_path(&core.item(&id), section);
        let failed = |e: &io::Error| StoreError::io("read", &path, e);
        let Some(file) = access::open_if_there(&path, Mode::Read)? else {
            return damaged("its file is missing");
        };
        let Some(mut lock) = Flock::try_shared(file, &path)? else {
            return damaged("its file is being removed");
        };
        let file = lock.file();
        let overhead = core.sealing.overhead();
        let geometry = Geometry { bytes: known.bytes, frame: known.frame, overhead };
        let length = file.metadata().map_err(|e| failed(&e))?.len();
        if geometry.file() != Some(length) {
            return damaged("its file has the wrong length");
        }
        let mut bytes = [0; HEADER];
        file.read_exact(&mut bytes).map_err(|e| failed(&e))?;
        let header = match Header::decode(&bytes) {
            Ok(header) => header,
            Err(what) => return damaged(what),
        };
        let expected = Header {
            sealing: core.sealing,
            store: core.store,
            item: id,
            section: section as u32,
            frame: known.frame,
            salt: header.salt,
        };
        if header != expected {
            return damaged("its file belongs to another store, item or section");
        }
        let keys = FileKeys::new(&core.root, &header);
        if !keys.expects(&bytes) {
            return damaged("the start of its file is damaged");
        }
        Ok(OpenSection { path, file: Mutex::new(lock), keys, geometry })
    }

    fn frame(
        &self,
        index: u64,
        buffer: &mut Vec<u8>,
        damaged: impl Fn(u64, &'static str) -> StoreError,
    ) -> Result<()> {
        let (start, length) = self.geometry.place(index);
        buffer.resize(length, 0);
        let read = {
            let mut lock = self.file.lock().unwrap_or_else(|e| e.into_inner());
            let file = lock.file();
            file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(buffer))
        };
        match read {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(damaged(index, "the file ends too early"));
            }
            Err(e) => return Err(StoreError::io("read", &self.path, &e)),
        }
        let last = index + 1 == self.geometry.frames();
        self.keys.open(index, last, buffer).map_err(|what| {
            buffer.clear();
            damaged(index, what)
        })
    }
}

/// Reads bytes of a section that were taken. Errors of [`Read`] carry a [`StoreError`].
#[derive(Debug)]
pub struct SectionReader {
    opened: Arc<Opened>,
    section: usize,
    /// The range still to be read, counted from the start of the section.
    left: Range<u64>,
    /// A checked frame, wiped when dropped. Its capacity includes the tag, so it never reallocates.
    buffer: Zeroizing<Vec<u8>>,
    /// The index of that frame.
    index: Option<u64>,
}

impl SectionReader {
    fn new(opened: Arc<Opened>, section: usize, left: Range<u64>) -> Self {
        SectionReader { opened, section, left, buffer: Zeroizing::new(Vec::new()), index: None }
    }

    /// Passes all remaining bytes to `take`, one decrypted chunk at a time.
    pub(crate) fn each(mut self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        // An empty section has one frame too, which proves that it is empty.
        if self.opened.sections[self.section].geometry.bytes == 0 {
            self.opened.frame(self.section, 0, &mut self.buffer)?;
        }
        while !self.left.is_empty() {
            let part = self.available()?;
            take(part)?;
            self.left.start += part.len() as u64;
        }
        Ok(())
    }

    /// Returns the checked bytes that come next; empty at the end.
    fn available(&mut self) -> Result<&[u8]> {
        if self.left.is_empty() {
            return Ok(&[]);
        }
        let geometry = self.opened.sections[self.section].geometry;
        let frame = u64::from(geometry.frame);
        let index = self.left.start / frame;
        if self.index != Some(index) {
            self.index = None;
            let room = (frame.min(geometry.bytes) as usize) + geometry.overhead;
            let missing = room.saturating_sub(self.buffer.len());
            self.buffer.reserve_exact(missing);
            self.opened.frame(self.section, index, &mut self.buffer)?;
            self.index = Some(index);
        }
        let start = (self.left.start - index * frame) as usize;
        let end = (self.left.end - index * frame).min(self.buffer.len() as u64) as usize;
        Ok(&self.buffer[start..end])
    }
}

impl Read for SectionReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let part = self.available()?;
        let n = part.len().min(out.len());
        out[..n].copy_from_slice(&part[..n]);
        self.left.start += n as u64;
        Ok(n)
    }
}
