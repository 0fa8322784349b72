//! Items being written: invisible until they are finished.
//!
//! A draft has its own directory, `drafts/RANDOM`, with a file that its process keeps locked (an
//! unlocked one belonged to a process that died), and a file that describes the future item.
//! [`ItemWriter::finish`] flushes all files, moves the directory to `items/ID` under the store's
//! lock and then enters the item into the index; [`ClosedItem::publish_all`] enters several with
//! one commit. A crash before that leaves files that no item refers to; garbage collection removes
//! them.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::about::About;
use crate::access::Mode;
use crate::files::Flock;
use crate::frame::{FileKeys, Header};
use crate::index::{Core, Locked};
use crate::keys::random;
use crate::meta::{FRAMES, MAX_COUNTERS, MAX_SECTIONS};
use crate::record::{Edit, ItemState, Record, SectionFile};
use crate::{ItemId, ItemMeta, Result, Section, StoreError, access, fault, files};

/// An item being written. Dropping it removes its files. A store without a key overwrites them
/// first, because they may hold the Δ of a group whose other items are in use.
pub struct ItemWriter {
    core: Arc<Core>,
    id: ItemId,
    meta: ItemMeta,
    holds: Vec<Section>,
    sections: Vec<SectionWriter>,
    directory: PathBuf,
    /// Held as long as this process works on the item.
    lock: Option<Flock>,
    /// Whether the files have become those of an item.
    moved: bool,
}

/// A complete item on disk, invisible until it is [published](ClosedItem::publish). Dropping it
/// removes it.
#[derive(Debug)]
pub struct ClosedItem {
    writer: ItemWriter,
    record: Record,
}

impl std::fmt::Debug for ItemWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ItemWriter").field("id", &self.id).finish_non_exhaustive()
    }
}

impl ItemWriter {
    pub(crate) fn begin(
        core: &Arc<Core>,
        meta: ItemMeta,
        sections: &[Section],
        frame: u32,
    ) -> Result<Self> {
        meta.check(false).map_err(StoreError::Invalid)?;
        check_sections(sections, frame)?;
        let id = meta.id();
        let directory = core.drafts().join(hex::encode(random::<16>()?));
        // The store's lock prevents garbage collection before the draft is locked itself.
        let locked = core.exclusive()?;
        refuse_known(&locked, &meta)?;
        fault::write("begin.directory").map_err(|e| StoreError::io("create", &directory, &e))?;
        files::make_directory(&directory)?;
        fault::point("begin.directory");
        let mut item_writer = ItemWriter {
            core: core.clone(),
            id,
            meta,
            holds: sections.to_vec(),
            sections: Vec::with_capacity(sections.len()),
            directory,
            lock: None,
            moved: false,
        };
        let path = item_writer.directory.join("lock");
        item_writer.lock = Flock::try_exclusive(access::open(&path, Mode::New)?, &path)?;
        About::of(&item_writer.meta).save(&item_writer.directory)?;
        drop(locked);
        for section in 0..sections.len() {
            let directory = &item_writer.directory;
            let writer = SectionWriter::create(core, id, (directory, section), frame)?;
            item_writer.sections.push(writer);
        }
        fault::point("begin.files");
        Ok(item_writer)
    }

    /// Returns the writer of a section, counted from 0.
    ///
    /// # Panics
    /// There is no such section among those passed to [`Store::begin`](crate::Store::begin).
    pub fn section(&mut self, index: usize) -> &mut SectionWriter {
        &mut self.sections[index]
    }

    /// Finishes the item with `counts` records of each sort (`[1]` for a prepared one). When this
    /// returns, the item is on disk and can be taken from.
    ///
    /// # Errors
    /// As [`close`](ItemWriter::close) and [`ClosedItem::publish`]. The item is then lost.
    pub fn finish(self, counts: Vec<u64>) -> Result<ItemId> {
        self.close(counts)?.publish()
    }

    /// Closes the item with `counts` records of each sort (`[1]` for a prepared one). When this
    /// returns, all of it is on disk, but nobody can take from it yet.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the sections' lengths do not match the counts; an I/O error, now
    /// or while the sections were written. The item is then lost.
    pub fn close(mut self, counts: Vec<u64>) -> Result<ClosedItem> {
        self.meta.counts = counts;
        let next = vec![0; self.meta.counts.len()];
        let mut record = Record {
            meta: self.meta.clone(),
            state: ItemState::Available,
            next,
            created: crate::now(),
            files: Vec::with_capacity(self.sections.len()),
        };
        for (index, (mut writer, &holds)) in self.sections.drain(..).zip(&self.holds).enumerate() {
            if (writer.item, writer.section) != (self.id, index) {
                return Err(StoreError::Invalid("writers of sections were exchanged".to_string()));
            }
            record.files.push(SectionFile { holds, frame: writer.frame, bytes: writer.bytes });
            writer.close()?;
        }
        record.check(self.id).map_err(|what| StoreError::Invalid(format!("the item {what}")))?;
        fault::point("finish.flushed");
        files::sync_directory(&self.directory)?;
        Ok(ClosedItem { writer: self, record })
    }

    /// Moves the files to where those of items are. A commit has to follow.
    fn move_files(&mut self) -> Result<()> {
        let target = self.core.item(&self.id);
        // No record refers to these files: a crash between moving and committing left them.
        if files::discard(&target, self.core.wipes())? == files::Discarded::Busy {
            return Err(StoreError::Exists { item: self.id });
        }
        let path = self.directory.join("lock");
        self.lock = None;
        fs::remove_file(&path).map_err(|e| StoreError::io("remove", &path, &e))?;
        files::remove_if_there(&About::path(&self.directory))?;
        fault::point("finish.unlocked");
        fs::rename(&self.directory, &target)
            .map_err(|e| StoreError::io("move", &self.directory, &e))?;
        self.moved = true;
        fault::point("finish.moved");
        Ok(())
    }
}

impl ClosedItem {
    /// Returns the name of the future item.
    pub fn id(&self) -> ItemId {
        self.writer.id
    }

    /// Enters the item into the store. When this returns, the item can be taken from.
    ///
    /// # Errors
    /// As [`ClosedItem::publish_all`].
    pub fn publish(self) -> Result<ItemId> {
        let id = self.id();
        ClosedItem::publish_all(vec![self])?;
        Ok(id)
    }

    /// Enters items of one store at once. When this returns, all can be taken from; after a crash,
    /// all or none.
    ///
    /// # Errors
    /// [`StoreError::Exists`] and [`StoreError::RevokedGroup`] if that has happened in the
    /// meantime; [`StoreError::Invalid`] if the items are of several stores; an I/O error. All of
    /// them are then lost.
    pub fn publish_all(mut items: Vec<ClosedItem>) -> Result<()> {
        let Some(first) = items.first() else { return Ok(()) };
        let core = first.writer.core.clone();
        if items.iter().any(|item| !Arc::ptr_eq(&item.writer.core, &core)) {
            return Err(StoreError::Invalid("the items are of several stores".to_string()));
        }
        let mut locked = core.exclusive()?;
        for (place, item) in items.iter().enumerate() {
            refuse_known(&locked, &item.record.meta)?;
            if items[..place].iter().any(|other| other.id() == item.id()) {
                return Err(StoreError::Exists { item: item.id() });
            }
        }
        items.iter_mut().try_for_each(|item| item.writer.move_files())?;
        files::sync_directory(&core.items())?;
        files::sync_directory(&core.drafts())?;
        fault::point("finish.renamed");
        let entered = items.into_iter().map(|item| Edit::Put(item.id(), Box::new(item.record)));
        locked.commit(&entered.collect::<Vec<_>>())?;
        fault::point("finish.committed");
        Ok(())
    }
}

impl Drop for ItemWriter {
    fn drop(&mut self) {
        self.sections.clear();
        self.lock = None;
        if !self.moved {
            // Garbage collection removes what cannot be removed now.
            let _ = files::discard(&self.directory, self.core.wipes());
        }
    }
}

fn check_sections(sections: &[Section], frame: u32) -> Result<()> {
    let invalid = |what: String| Err(StoreError::Invalid(what));
    if sections.is_empty() || sections.len() > MAX_SECTIONS {
        return invalid(format!("an item has between 1 and {MAX_SECTIONS} sections"));
    }
    if !FRAMES.contains(&frame) {
        let (least, most) = (FRAMES.start(), FRAMES.end());
        return invalid(format!("a frame has between {least} and {most} bytes"));
    }
    let sensible = |section: &Section| match *section {
        Section::Whole => true,
        Section::Records { counter, bits } => counter < MAX_COUNTERS && bits > 0,
    };
    if !sections.iter().all(sensible) {
        return invalid("a section holds records of no bits, or of no counter".to_string());
    }
    Ok(())
}

/// Rejects items of a revoked group, and names that are in use or were used.
fn refuse_known(locked: &Locked<'_>, meta: &ItemMeta) -> Result<()> {
    if let Some(reason) = locked.content.revoked.get(&meta.group) {
        let (group, reason) = (hex::encode(meta.group), reason.clone());
        return Err(StoreError::RevokedGroup { group, reason });
    }
    if locked.content.is_taken(meta) {
        return Err(StoreError::Exists { item: meta.id() });
    }
    Ok(())
}

/// Writes one section of an item, frame by frame. Errors of [`Write`] carry a [`StoreError`].
pub struct SectionWriter {
    item: ItemId,
    section: usize,
    path: PathBuf,
    file: File,
    keys: FileKeys,
    frame: u32,
    /// The number of bytes written so far.
    bytes: u64,
    /// The number of frames in the file.
    frames: u64,
    /// The frame being filled, wiped when dropped. Its capacity includes the tag, so it never
    /// reallocates.
    buffer: Zeroizing<Vec<u8>>,
    /// An earlier error, which makes the file useless.
    failed: Option<StoreError>,
}

impl std::fmt::Debug for SectionWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("SectionWriter");
        out.field("item", &self.item).field("section", &self.section).finish_non_exhaustive()
    }
}

impl SectionWriter {
    /// Creates the file for a section of the item in `directory`.
    pub(crate) fn create(
        core: &Core,
        item: ItemId,
        (directory, section): (&Path, usize),
        frame: u32,
    ) -> Result<Self> {
        let header = Header {
            sealing: core.sealing,
            store: core.store,
            item,
            section: section as u32,
            frame,
            salt: random()?,
        };
        let keys = FileKeys::new(&core.root, &header);
        let path = section_path(directory, section);
        let mut file = access::open(&path, Mode::New)?;
        fault::write("begin.files")
            .and_then(|()| file.write_all(&keys.header()))
            .map_err(|e| StoreError::io("write", &path, &e))?;
        let room = frame as usize + header.sealing.overhead();
        Ok(SectionWriter {
            item,
            section,
            path,
            file,
            keys,
            frame,
            bytes: 0,
            frames: 0,
            buffer: Zeroizing::new(Vec::with_capacity(room)),
            failed: None,
        })
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// An I/O error. The item is then lost.
    pub fn put(&mut self, mut bytes: &[u8]) -> Result<()> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        while !bytes.is_empty() {
            // Since more bytes follow, this frame is not the last one.
            if self.buffer.len() == self.frame as usize {
                self.write_frame(false)?;
            }
            let room = self.frame as usize - self.buffer.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.buffer.extend_from_slice(now);
            self.bytes += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    fn write_frame(&mut self, last: bool) -> Result<()> {
        let written = self
            .keys
            .seal(self.frames, last, &mut self.buffer)
            .map_err(io::Error::other)
            .and_then(|()| fault::write("write.frame"))
            .and_then(|()| self.file.write_all(&self.buffer));
        if let Err(e) = written {
            let error = StoreError::io("write", &self.path, &e);
            self.failed = Some(error.clone());
            return Err(error);
        }
        fault::point("write.frame");
        self.frames += 1;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the last frame and flushes the file to disk.
    pub(crate) fn close(&mut self) -> Result<()> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.write_frame(true)?;
        fault::write("finish.flushed")
            .and_then(|()| self.file.sync_all())
            .map_err(|e| StoreError::io("write", &self.path, &e))
    }
}

impl Write for SectionWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes)?;
        Ok(bytes.len())
    }

    /// Does nothing: only full frames and the last frame are written.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the file of a section of the item in `directory`.
pub(crate) fn section_path(directory: &Path, section: usize) -> PathBuf {
    directory.join(format!("{section}.bin"))
}
