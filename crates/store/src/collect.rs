//! Garbage collection: the removal of files that nothing needs.
//!
//! Overwriting files takes long, and while the store is locked nobody can take an item. So
//! [`Store::gc`] only renames directories under the store's lock, to `items/draft-RANDOM`,
//! `items/item-RANDOM` and `items/orphan-RANDOM`. No item has such a name, so nobody writes or
//! reads there any more. Once it has released the lock, it overwrites and removes the files. If it
//! dies before it has removed all, the next collection finds the directories by their names. If two
//! collections find the same directory, the one that removes it counts it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::access::{self, Mode};
use crate::files::{self, Discarded, Flock, directories};
use crate::index::Core;
use crate::keys::random;
use crate::record::{Content, Edit, ItemState};
use crate::{ItemId, Result, Store, StoreError, fault};

/// What [`Store::gc`] removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Used and void items, which are no longer listed.
    pub items: Vec<ItemId>,
    /// Unfinished items whose processes died.
    pub drafts: usize,
    /// Directories of items that the index never had.
    pub orphans: usize,
    /// Directories that were kept because somebody is writing, reading or removing them.
    pub busy: usize,
    /// The bytes that were freed.
    pub bytes: u64,
}

impl Store {
    /// Removes unneeded files: used and void items, unfinished items whose processes died, and
    /// files that belong to nothing. Whatever other processes use stays, and they can use the store
    /// while files are overwritten.
    ///
    /// The names of items stay used forever, and revoked groups stay revoked.
    ///
    /// # Errors
    /// [`StoreError::Damaged`]; an I/O error.
    pub fn gc(&self) -> Result<Collected> {
        let mut locked = self.core.exclusive()?;
        let finished = locked.content.items.iter().filter(|(_, r)| r.state != ItemState::Available);
        let items: Vec<ItemId> = finished.map(|(id, _)| *id).collect();
        let edits: Vec<_> = items.iter().map(|id| Edit::Forget(*id)).collect();
        locked.commit(&edits)?;
        let mut unneeded = Unneeded { core: &self.core, directories: Vec::new(), busy: 0 };
        let found = unneeded.find(&locked.content);
        let needed = |group: &str| {
            let mut items = locked.content.items.values();
            items.any(|record| hex::encode(record.meta.group) == group)
        };
        // An error keeps nothing from being removed that is set aside.
        let mut done = found.and(collect_locks(&self.core.groups(), needed));
        drop(locked);
        let mut collected = Collected { items, busy: unneeded.busy, ..Collected::default() };
        for (directory, kind) in unneeded.directories {
            match files::discard(&directory, self.core.wipes()) {
                Ok(discarded) => collected.count(kind, discarded),
                Err(error) => done = done.and(Err(error)),
            }
        }
        done.map(|()| collected)
    }
}

impl Collected {
    fn count(&mut self, kind: Kind, discarded: Discarded) {
        match discarded {
            Discarded::Gone(bytes) => {
                self.bytes += bytes;
                match kind {
                    Kind::Draft => self.drafts += 1,
                    // It was counted when its record was removed.
                    Kind::Item => {}
                    Kind::Orphan => self.orphans += 1,
                }
            }
            Discarded::GoneBefore(bytes) => self.bytes += bytes,
            Discarded::Busy => self.busy += 1,
        }
    }
}

/// What was in a directory that nothing needs.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Draft,
    Item,
    Orphan,
}

impl Kind {
    /// Returns how the names of directories that are set aside begin.
    fn prefix(self) -> &'static str {
        match self {
            Kind::Draft => "draft-",
            Kind::Item => "item-",
            Kind::Orphan => "orphan-",
        }
    }

    /// Returns the kind of a directory that is set aside; `None` for any other.
    fn of(name: &str) -> Option<Kind> {
        let kinds = [Kind::Draft, Kind::Item, Kind::Orphan];
        kinds.into_iter().find(|kind| name.starts_with(kind.prefix()))
    }
}

/// Directories that nothing needs, set aside where nobody else finds them.
struct Unneeded<'a> {
    core: &'a Core,
    directories: Vec<(PathBuf, Kind)>,
    /// How many others somebody is writing, reading or removing.
    busy: usize,
}

impl Unneeded<'_> {
    /// Finds all of them. The caller holds the store's lock, so nobody begins, finishes or opens an
    /// item meanwhile.
    fn find(&mut self, content: &Content) -> Result<()> {
        for directory in directories(&self.core.drafts())? {
            // Nothing of an unfinished item was used, but it may hold the Δ that it shares with
            // items that were.
            self.set_aside(&directory, Kind::Draft)?;
        }
        let mut unlisted = Vec::new();
        for directory in directories(&self.core.items())? {
            let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if let Some(kind) = Kind::of(name) {
                self.directories.push((directory, kind));
                continue;
            }
            let id = name.parse::<ItemId>().ok();
            if !id.is_some_and(|id| content.items.contains_key(&id)) {
                unlisted.push((directory, id));
            }
        }
        let used = content.used_before(&unlisted.iter().filter_map(|(_, id)| *id).collect());
        for (directory, id) in unlisted {
            let is_used = id.is_some_and(|id| used.contains(&id));
            self.set_aside(&directory, if is_used { Kind::Item } else { Kind::Orphan })?;
        }
        Ok(())
    }

    fn set_aside(&mut self, directory: &Path, kind: Kind) -> Result<()> {
        if files::is_in_use(directory, self.core.wipes())? {
            self.busy += 1;
            return Ok(());
        }
        let name = format!("{}{}", kind.prefix(), hex::encode(random::<16>()?));
        let aside = self.core.items().join(name);
        match fs::rename(directory, &aside) {
            Ok(()) => self.directories.push((aside, kind)),
            // Its last reader or its writer has just removed it.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(StoreError::io("move", directory, &e)),
        }
        fault::point("collect.aside");
        Ok(())
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
