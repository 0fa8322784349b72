//! Maintenance of a store: verification, and locks on groups.

use crate::access::{self, Mode};
use crate::consumed::Opened;
use crate::files::Flock;
use crate::record::ItemState;
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

/// A lock on a group across all processes. It is released when it is dropped or the process ends.
#[derive(Debug)]
pub struct GroupLock {
    _lock: Flock,
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
        Ok(lock.map(|lock| GroupLock { _lock: lock }))
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
}
