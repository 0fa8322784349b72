//! Maintenance of a store: verification, garbage collection, and locks on groups.

use std::fs;
use std::path::Path;

use crate::access::{self, Mode};
use crate::consumed::Opened;
use crate::files::{self, Discarded, Flock, directories};
use crate::record::{Edit, ItemState};
use crate::{GroupId, ItemId, Result, Store, StoreError};

/// The progress of [`Store::verify`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The item being read.
    pub item: ItemId,
    /// The bytes read so far, of all items.
    pub done: u64,
    /// The bytes to be read, of all items.
    pub total: u64,
}

/// What [`Store::gc`] removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Used and void items, which are no longer listed.
    pub items: Vec<ItemId>,
    /// Unfinished items whose processes died.
    pub drafts: usize,
    /// Directories of items without a record.
    pub orphans: usize,
    /// Directories that were kept because somebody is writing or reading them.
    pub busy: usize,
    /// The bytes that were freed.
    pub bytes: u64,
}

/// A lock on a group across all processes. It is released when it is dropped or the process ends.
#[derive(Debug)]
pub struct GroupLock {
    group: GroupId,
    _lock: Flock,
}

impl GroupLock {
    /// Returns the locked group.
    pub fn group(&self) -> &GroupId {
        &self.group
    }
}

impl Store {
    /// Locks a group for one run, so that checks under one Δ run one after another. Returns `None`
    /// if another process or another part of this one holds the lock.
    ///
    /// # Errors
    /// [`StoreError::RevokedGroup`]; an I/O error.
    pub fn lock_group(&self, group: &GroupId) -> Result<Option<GroupLock>> {
        // The store's lock keeps others from removing the file between opening and locking it.
        let locked = self.core.exclusive()?;
        if let Some(reason) = locked.content.revoked.get(group) {
            let (group, reason) = (hex::encode(group), reason.clone());
            return Err(StoreError::RevokedGroup { group, reason });
        }
        let path = self.core.groups().join(format!("{}.lock", hex::encode(group)));
        let file = access::open(&path, Mode::Create)?;
        let lock = Flock::try_exclusive(file, &path)?;
        Ok(lock.map(|lock| GroupLock { group: *group, _lock: lock }))
    }

    /// Reads and checks every frame of every available item, and returns a result for each. Changes
    /// nothing: the caller should [void](Store::void) damaged items. [`StoreError::damaged_item`]
    /// tells them from items that could not be read.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the index cannot be trusted; an I/O error.
    pub fn verify(&self, mut progress: impl FnMut(Progress)) -> Result<Vec<(ItemId, Result<()>)>> {
        let available = |state: &ItemState| *state == ItemState::Available;
        let items: Vec<_> = {
            let content = self.core.content(false)?;
            content.items.into_iter().filter(|(_, record)| available(&record.state)).collect()
        };
        let total = items.iter().map(|(_, record)| record.bytes()).sum();
        let mut done = 0;
        let mut report = Vec::with_capacity(items.len());
        for (id, _) in items {
            // Opening under the lock prevents reporting files as missing that are being removed.
            let (content, lock) = self.core.shared(false)?;
            let opened = match content.items.get(&id) {
                Some(record) if available(&record.state) => Opened::open(&self.core, id, record),
                _ => continue,
            };
            drop(lock);
            let checked = opened.and_then(|opened| {
                opened.check(|bytes| {
                    done += bytes;
                    progress(Progress { item: id, done, total });
                })
            });
            report.push((id, checked));
        }
        Ok(report)
    }

    /// Removes unneeded files: used and void items, unfinished items whose processes died, and
    /// files that belong to nothing. Whatever other processes use stays.
    ///
    /// The names of items stay used forever, and revoked groups stay revoked.
    ///
    /// # Errors
    /// [`StoreError::Damaged`]; an I/O error.
    pub fn gc(&self) -> Result<Collected> {
        let mut collected = Collected::default();
        let mut locked = self.core.exclusive()?;
        let finished = locked.content.items.iter().filter(|(_, r)| r.state != ItemState::Available);
        collected.items = finished.map(|(id, _)| *id).collect();
        let edits: Vec<_> = collected.items.iter().map(|id| Edit::Forget(*id)).collect();
        locked.commit(&edits)?;
        // The lock is still held, so nobody begins, finishes or opens an item meanwhile.
        for directory in directories(&self.core.drafts())? {
            // Nothing of an unfinished item was used, but it may hold the Δ that it shares with
            // items that were.
            if collected.count(files::discard(&directory, self.core.wipes())?) {
                collected.drafts += 1;
            }
        }
        for directory in directories(&self.core.items())? {
            let name = directory.file_name().and_then(|name| name.to_str());
            let id = name.and_then(|name| name.parse::<ItemId>().ok());
            if id.is_some_and(|id| locked.content.items.contains_key(&id)) {
                continue;
            }
            let known = id.is_some_and(|id| collected.items.contains(&id));
            if collected.count(files::discard(&directory, self.core.wipes())?) && !known {
                collected.orphans += 1;
            }
        }
        let needed = |group: &str| {
            let mut items = locked.content.items.values();
            items.any(|record| hex::encode(record.meta.group) == group)
        };
        collect_locks(&self.core.groups(), needed)?;
        Ok(collected)
    }
}

impl Collected {
    /// Counts the result, and returns whether the files were removed.
    fn count(&mut self, discarded: Discarded) -> bool {
        match discarded {
            Discarded::Gone(bytes) => {
                self.bytes += bytes;
                true
            }
            Discarded::Busy => {
                self.busy += 1;
                false
            }
        }
    }
}

/// Removes lock files of groups that have no items and are not locked.
fn collect_locks(path: &Path, needed: impl Fn(&str) -> bool) -> Result<()> {
    for entry in fs::read_dir(path).map_err(|e| StoreError::io("read", path, &e))? {
        let path = entry.map_err(|e| StoreError::io("read", path, &e))?.path();
        let group = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if needed(group) {
            continue;
        }
        if let Ok(file) = access::open(&path, Mode::Read)
            && Flock::try_exclusive(file, &path)?.is_some()
        {
            // The caller holds the store's lock, so nobody has opened this file to lock it.
            fs::remove_file(&path).map_err(|e| StoreError::io("remove", &path, &e))?;
        }
    }
    Ok(())
}
