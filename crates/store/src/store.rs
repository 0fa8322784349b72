//! The store: creating, opening and resetting it, listing, taking and voiding its items.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use symbolon_primitives::stack;

use crate::access::{self, Mode};
use crate::body::{make_directories, remove_stale};
use crate::consumed::{ConsumedItem, Wanted};
use crate::files::{self, Flock};
use crate::home::{at_home, core, find, open_path, use_store};
use crate::index::{Age, Core, Locked};
use crate::item_writer::ItemWriter;
use crate::keys::Protection;
use crate::location::StoreLocation;
use crate::manifest::Manifest;
use crate::record::{
    Edit, ItemState, Pair, Record, SealedRelation, open_relation, seal_relation, shorten,
};
use crate::{Filter, GroupId, ItemId, ItemKind, ItemMeta, Result, Section, StoreError, fault};

/// One party's open store. Clones share it; any number of processes may have it open.
#[derive(Clone)]
pub struct Store {
    pub(crate) core: Arc<Core>,
}

/// An item that can be taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AvailableItem {
    /// The item's name, the same on all parties.
    pub id: ItemId,
    /// The session under whose global keys it was made.
    pub group: GroupId,
    /// The remaining metadata; `meta.counts` holds the original number of records.
    pub meta: ItemMeta,
    /// The first record of each count that this store has not handed out.
    pub next: Vec<u64>,
    /// The first sequence number that is still unused here for prepared items of its group; all
    /// later ones are unused too.
    pub next_prepared: u64,
}

/// A listed item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The item's name.
    pub id: ItemId,
    /// Its metadata.
    pub meta: ItemMeta,
    /// Whether it can still be used.
    pub state: ItemState,
    /// The first record of each count that was never handed out.
    pub next: Vec<u64>,
    /// The bytes of all its sections, whether or not their files are still there.
    pub bytes: u64,
    /// When it was finished, in seconds since 1970.
    pub created: u64,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("directory", &self.core.directory).finish_non_exhaustive()
    }
}

impl Store {
    /// Creates a store in a directory that does not exist, is empty, or holds a store whose
    /// creation was interrupted.
    ///
    /// # Errors
    /// [`StoreError::NotCreated`] if there is a store or something else; [`StoreError::Unsafe`] if
    /// somebody else owns the directory or can write to it; an I/O error.
    pub fn create(directory: impl AsRef<Path>, protection: &Protection) -> Result<Self> {
        let _stack = stack::Guard;
        let directory = directory.as_ref();
        let path = directory.to_path_buf();
        if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(|e| StoreError::io("create", parent, &e))?;
        }
        files::make_directory(directory)?;
        let directory = absolute(directory)?;
        access::check_directory(&directory)?;
        refuse_strangers(&directory)?;
        let lock_path = Core::lock_path(&directory);
        let _lock = Flock::exclusive(access::open(&lock_path, Mode::Create)?, &lock_path)?;
        if Manifest::path(&directory).exists() {
            return Err(StoreError::NotCreated { path, what: "there is a store already" });
        }
        make_directories(&directory)?;
        fault::point("create.directories");
        let (mut manifest, root) = Manifest::new(&directory, protection)?;
        manifest.host = StoreLocation::current(&manifest.store, &lock_path)?;
        let mut core = core(directory.clone(), &manifest, root);
        drop(access::open(&open_path(&directory), Mode::Create)?);
        core.in_use = use_store(&directory)?;
        core.create()?;
        // The manifest is written last, because a directory without one is not a store.
        manifest.save(&directory, &core.root)?;
        fault::point("create.manifest");
        if let Some(parent) = directory.parent() {
            files::sync_directory(parent)?;
        }
        Ok(Store { core: Arc::new(core) })
    }

    /// Opens a store, and completes what a crash interrupted.
    ///
    /// # Errors
    /// [`StoreError::NotAStore`], [`StoreError::Locked`] (a wrong key, or none),
    /// [`StoreError::Version`], [`StoreError::Moved`] (a copy), [`StoreError::RolledBack`],
    /// [`StoreError::Damaged`]; [`StoreError::Unsafe`] if somebody else owns the store or can write
    /// to it; an I/O error.
    pub fn open(directory: impl AsRef<Path>, protection: &Protection) -> Result<Self> {
        let _stack = stack::Guard;
        let directory = find(directory.as_ref())?;
        // The lock is taken before anything is read, so that nobody encrypts the store afterwards.
        let in_use = use_store(&directory)?;
        let (manifest, mut core) = at_home(directory, protection)?;
        if in_use.is_none() {
            return Err(StoreError::damaged(&open_path(&core.directory), "is missing"));
        }
        core.in_use = in_use;
        let store = Store { core: Arc::new(core) };
        store.core.content(false)?;
        remove_stale(&store.core, manifest.body)?;
        Ok(store)
    }

    /// Opens a store, or creates it if there is none.
    ///
    /// # Errors
    /// As [`Store::open`] and [`Store::create`].
    pub fn open_or_create(directory: impl AsRef<Path>, protection: &Protection) -> Result<Self> {
        match Self::open(&directory, protection) {
            Err(StoreError::NotAStore { .. }) => match Self::create(&directory, protection) {
                // Another process created it first.
                Err(StoreError::NotCreated { .. })
                    if Manifest::path(directory.as_ref()).exists() =>
                {
                    Self::open(&directory, protection)
                }
                other => other,
            },
            other => other,
        }
    }

    /// Makes a copied, restored or damaged store usable at its present location, and voids all
    /// material in it.
    ///
    /// Another copy, or this store before it was restored, may have used the material, and damage
    /// may hide that it was used. So none of it is used here. The price is all material in the
    /// store, and the peers' shares of it become useless, too. This needs the same key as before.
    ///
    /// # Errors
    /// As [`Store::open`], except that copies, restored stores and a damaged index are accepted.
    pub fn reset_ownership(directory: impl AsRef<Path>, protection: &Protection) -> Result<Self> {
        let _stack = stack::Guard;
        let directory = find(directory.as_ref())?;
        let in_use = use_store(&directory)?;
        let (mut manifest, root) = Manifest::load(&directory, protection)?;
        drop(access::open(&Core::lock_path(&directory), Mode::Create)?);
        drop(access::open(&open_path(&directory), Mode::Create)?);
        let mut core = core(directory.clone(), &manifest, root);
        files::make_directory(&core.body)?;
        make_directories(&core.body)?;
        core.in_use = match in_use {
            Some(lock) => Some(lock),
            None => use_store(&directory)?,
        };
        let store = Store { core: Arc::new(core) };
        let core = &store.core;
        match core.enter(core.lock()?, Age::Any) {
            Ok(mut locked) => {
                let reason =
                    "the store was copied, put back or damaged, and its ownership was reset";
                let edits = locked.voiding(|_| true, reason);
                // This also renews the head if nothing is left to void.
                locked.renew(&edits)?;
            }
            // The old index is discarded.
            Err((StoreError::Damaged { .. }, _lock)) => core.create()?,
            Err((other, _)) => return Err(other),
        }
        // The manifest is written last: until then the copy is rejected.
        manifest.host = StoreLocation::current(&manifest.store, &Core::lock_path(&directory))?;
        manifest.save(&directory, &core.root)?;
        store.gc()?;
        Ok(store)
    }

    /// Rewrites the head of a restored store so that it passes as the latest one, as if files could
    /// not be told from their copies.
    ///
    /// # Errors
    /// The manifest or the head does not belong to this store.
    #[cfg(any(test, feature = "faults"))]
    pub fn pass_for_latest(directory: &Path, protection: &Protection) -> Result<()> {
        let (manifest, root) = Manifest::load(directory, protection)?;
        core(directory.to_path_buf(), &manifest, root).pass_for_latest()
    }

    /// Returns the store's directory, absolute.
    pub fn directory(&self) -> &Path {
        &self.core.directory
    }

    /// Starts a new item.
    ///
    /// `meta.counts` must be empty; the counts are given when the item is finished. `sections` says
    /// what each section holds. Their files consist of frames of `frame` bytes (by default
    /// [`crate::DEFAULT_FRAME`]), which are read and checked as a whole.
    ///
    /// # Errors
    /// [`StoreError::Exists`] and [`StoreError::RevokedGroup`]; [`StoreError::Invalid`] for invalid
    /// metadata or sections; an I/O error.
    pub fn begin(&self, meta: ItemMeta, sections: &[Section], frame: u32) -> Result<ItemWriter> {
        ItemWriter::begin(&self.core, meta, sections, frame)
    }

    /// Lists the available items that match, in the order of sequence numbers.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] if nothing could be marked as used; [`StoreError::Damaged`].
    pub fn available_items(&self, filter: &Filter) -> Result<Vec<AvailableItem>> {
        let mut content = self.core.content(true)?;
        let numbers = std::mem::take(&mut content.numbers);
        let fitting = content.items.into_iter().filter(|(_, record)| {
            record.state == ItemState::Available && filter.fits(&record.meta)
        });
        let mut available_items: Vec<AvailableItem> = fitting
            .map(|(id, record)| {
                let Record { meta, next, .. } = record;
                let next_prepared = numbers.get(&(meta.group, ItemKind::Prepared));
                let next_prepared = next_prepared.copied().unwrap_or(0);
                AvailableItem { id, group: meta.group, meta, next, next_prepared }
            })
            .collect();
        available_items.sort_by_key(|item| (item.meta.sequence, item.id));
        Ok(available_items)
    }

    /// Takes a prepared item. It is marked as used on disk before this returns.
    ///
    /// # Errors
    /// [`StoreError::AlreadyUsed`], [`StoreError::Void`], [`StoreError::Unknown`], and
    /// [`StoreError::DamagedItem`] if a file is missing or has a wrong length or header; nothing is
    /// marked in these cases. After any other error the item may or may not be marked, and must not
    /// be used.
    pub fn take_prepared(&self, id: ItemId) -> Result<ConsumedItem> {
        self.take_one(ItemKind::Prepared, Wanted { id, from: &[0], upto: &[1] })
    }

    /// Takes several prepared items in one commit, which takes hardly longer than for one.
    ///
    /// # Errors
    /// As [`Store::take_prepared`], about the first item that cannot be taken; [`AlreadyUsed`] also
    /// if one is named twice.
    ///
    /// [`AlreadyUsed`]: StoreError::AlreadyUsed
    pub fn take_all_prepared(&self, ids: &[ItemId]) -> Result<Vec<ConsumedItem>> {
        let mut named = HashSet::new();
        if let Some(twice) = ids.iter().find(|id| !named.insert(**id)) {
            return Err(StoreError::AlreadyUsed { item: *twice, what: String::new() });
        }
        let wanted = ids.iter().map(|&id| Wanted { id, from: &[0], upto: &[1] });
        ConsumedItem::take(&self.core, ItemKind::Prepared, &wanted.collect::<Vec<_>>())
    }

    /// Takes records `from[i]..upto[i]` of each count of a pool. Everything before `upto` is marked
    /// as used on disk before this returns.
    ///
    /// Records between those already handed out and `from` are skipped for good, because the peers
    /// may have used them.
    ///
    /// # Errors
    /// [`StoreError::AlreadyUsed`] if `from` is before what was handed out; otherwise as
    /// [`Store::take_prepared`].
    pub fn take_range(&self, id: ItemId, from: &[u64], upto: &[u64]) -> Result<ConsumedItem> {
        self.take_one(ItemKind::Pool, Wanted { id, from, upto })
    }

    fn take_one(&self, kind: ItemKind, wanted: Wanted<'_>) -> Result<ConsumedItem> {
        let item = wanted.id;
        let mut taken = ConsumedItem::take(&self.core, kind, &[wanted])?;
        taken.pop().ok_or(StoreError::Unknown { item })
    }

    /// Makes items unusable and removes their files. Items that are already used or void stay so.
    ///
    /// # Errors
    /// [`StoreError::Unknown`], and then none is voided; an I/O error.
    pub fn void(&self, ids: &[ItemId], reason: &str) -> Result<()> {
        let locked = self.core.exclusive()?;
        if let Some(item) = ids.iter().find(|id| !locked.content.items.contains_key(id)) {
            return Err(StoreError::Unknown { item: *item });
        }
        let edits = locked.voiding(|record| ids.contains(&record.meta.id()), reason);
        self.commit_void(locked, edits)
    }

    /// Revokes a group, as must happen after any failed check: everything in it becomes void, its
    /// files are removed, and nothing can be added to it ever again.
    ///
    /// # Errors
    /// An I/O error. If it came late, the group is revoked nevertheless; call this again.
    pub fn revoke_group(&self, group: &GroupId, reason: &str) -> Result<()> {
        let locked = self.core.exclusive()?;
        let mut edits = locked.voiding(|record| record.meta.group == *group, reason);
        if !locked.content.revoked.contains_key(group) {
            edits.push(Edit::Revoke(*group, shorten(reason)));
        }
        self.commit_void(locked, edits)
    }

    /// Returns the relations that this store keeps: of each party and peer the secrets, the latest
    /// first. The store only keeps them.
    ///
    /// # Errors
    /// [`StoreError::Damaged`]; an I/O error.
    pub fn relations(&self) -> Result<Vec<(Pair, Vec<[u8; 32]>)>> {
        let kept = self.core.content(false)?.relations.into_iter();
        Ok(kept.map(|(pair, all)| (pair, self.opened(&all))).collect())
    }

    fn opened(&self, all: &[SealedRelation]) -> Vec<[u8; 32]> {
        all.iter().map(|sealed| open_relation(&self.core.root, sealed)).collect()
    }

    /// Replaces the relations of a party with a peer.
    ///
    /// # Errors
    /// [`StoreError::Damaged`]; an I/O error.
    pub fn set_relations(&self, pair: Pair, all: &[[u8; 32]]) -> Result<()> {
        let mut locked = self.core.exclusive()?;
        if locked.content.relations.get(&pair).is_some_and(|known| self.opened(known) == all) {
            return Ok(());
        }
        let seal = |secret| seal_relation(&self.core.root, secret);
        let all = all.iter().map(seal).collect::<Result<Vec<_>>>()?;
        locked.commit(&[Edit::Relate(pair, all)])
    }

    fn commit_void(&self, mut locked: Locked<'_>, edits: Vec<Edit>) -> Result<()> {
        let ids: Vec<ItemId> = edits
            .iter()
            .filter_map(|edit| match edit {
                Edit::Put(id, _) => Some(*id),
                _ => None,
            })
            .collect();
        // Files that cannot be removed keep no others from being removed.
        let remove = || {
            // A process that is reading one took it before; garbage collection removes the files
            // later.
            let discard = |id| files::discard(&self.core.item(id), self.core.wipes()).map(drop);
            let ended: Vec<Result<()>> = ids.iter().map(discard).collect();
            ended.into_iter().collect::<Result<()>>()
        };
        match locked.commit(&edits) {
            // Removing the files makes room, and also makes the material unusable.
            Err(StoreError::Full { .. }) => {
                let removed = remove();
                locked.commit(&edits)?;
                removed?;
            }
            other => other?,
        }
        drop(locked);
        fault::point("void.committed");
        remove()
    }

    /// Lists all items, including used and void ones until they are collected, in the order in
    /// which they were made. Works on a read-only store.
    ///
    /// # Errors
    /// [`StoreError::Damaged`]; an I/O error.
    pub fn list(&self) -> Result<Vec<Entry>> {
        let content = self.core.content(false)?;
        let mut entries: Vec<Entry> =
            content.items.into_iter().map(|(id, record)| entry(id, record)).collect();
        entries.sort_by_key(|entry| (entry.created, entry.meta.sequence, entry.id));
        Ok(entries)
    }

    /// Returns the public facts about an item as JSON: metadata, state and sizes, nothing secret.
    ///
    /// The store never exports the material itself. A file can be copied, and no metadata and no
    /// care of one store keeps two others from importing the same material: using it twice under
    /// one Δ reveals the inputs. Material belongs where it was made. Only a whole store can move,
    /// because its directory can be renamed within its file system.
    ///
    /// # Errors
    /// [`StoreError::Unknown`]; [`StoreError::Damaged`].
    pub fn describe(&self, id: ItemId) -> Result<String> {
        let content = self.core.content(false)?;
        let record = content.items.get(&id).ok_or(StoreError::Unknown { item: id })?;
        let mut value = serde_json::to_value(record)
            .map_err(|e| StoreError::Invalid(format!("cannot write JSON: {e}")))?;
        value["id"] = serde_json::Value::String(id.to_string());
        Ok(value.to_string())
    }
}

fn absolute(directory: &Path) -> Result<PathBuf> {
    directory.canonicalize().map_err(|e| StoreError::io("find", directory, &e))
}

/// Rejects a directory that contains anything that a store does not create.
fn refuse_strangers(directory: &Path) -> Result<()> {
    const OURS: [&str; 12] = [
        "store.toml",
        "store.toml.new",
        "lock",
        "open",
        "index-0.redb",
        "index-1.redb",
        "head",
        "head.new",
        "items",
        "drafts",
        "groups",
        "lost+found",
    ];
    let failed = |e: &std::io::Error| StoreError::io("read", directory, e);
    for entry in fs::read_dir(directory).map_err(|e| failed(&e))? {
        let name = entry.map_err(|e| failed(&e))?.file_name();
        if !OURS.iter().any(|ours| name == *ours) {
            let path = directory.to_path_buf();
            return Err(StoreError::NotCreated { path, what: "there are other files in it" });
        }
    }
    let items = directory.join("items");
    if !Manifest::path(directory).exists()
        && fs::read_dir(items).is_ok_and(|mut d| d.next().is_some())
    {
        let path = directory.to_path_buf();
        return Err(StoreError::NotCreated {
            path,
            what: "there is material in it, but no store.toml",
        });
    }
    Ok(())
}

fn entry(id: ItemId, record: Record) -> Entry {
    let bytes = record.bytes();
    let Record { meta, state, next, created, .. } = record;
    Entry { id, meta, state, next, bytes, created }
}
