//! Encrypts an existing store, or changes its key.
//!
//! All remaining material is copied into another *body* under the new keys. Then `store.toml` is
//! replaced, which says how the store is protected and which body is current. That replacement is
//! the commit point:
//!
//! - A crash before it leaves the old body unchanged and current. The copy is removed when the
//!   store is opened or encrypted again, and is never used.
//! - After it, only the new body is current. Its index contains everything that the old one did:
//!   used material stays used, revoked groups stay revoked. A crash leaves files of the old body,
//!   which are wiped when the store is opened again.
//!
//! A process that had the store open would continue with the old body: it would mark its material
//! as used there, and would not see what another process marks in the new body. So every process
//! that has the store open holds a shared lock on `open`, and encryption needs the exclusive one.
//! This also keeps a failed check from revoking a group in the old body only.

use std::path::Path;
use std::sync::Arc;

use symbolon_primitives::stack;

use crate::access::{self, Mode};
use crate::body::{discard_body, make_directories};
use crate::consumed::Opened;
use crate::files::{self, Flock};
use crate::home::{at_home, core, find, open_path};
use crate::index::{Core, Locked};
use crate::item_writer::SectionWriter;
use crate::record::{ItemState, Record};
use crate::{ItemId, Protection, Result, Store, StoreError, fault};

impl Store {
    /// Encrypts a store under `protection`; nobody may have it open. `before` is its present
    /// protection, possibly none. All remaining material is kept, and everything used stays used.
    ///
    /// Files of an unprotected store are overwritten before they are removed. Disks and file
    /// systems that write elsewhere still keep the old bytes.
    ///
    /// Damaged items become void.
    ///
    /// # Errors
    /// [`StoreError::InUse`] if somebody has the store open; [`StoreError::Invalid`] if
    /// `protection` is none; otherwise as [`Store::open`], or an I/O error. After an error the
    /// store is either unchanged or encrypted, never both.
    pub fn encrypt(
        directory: impl AsRef<Path>,
        before: &Protection,
        protection: &Protection,
    ) -> Result<()> {
        let _stack = stack::Guard;
        if matches!(protection, Protection::None) {
            let what = "name a passphrase or a key file to encrypt the store with";
            return Err(StoreError::Invalid(what.to_string()));
        }
        // Used material is not copied, and leftovers of a crash must not interfere. They are
        // removed under the old protection: without a key, unfinished items are overwritten, too.
        Store::open(directory.as_ref(), before)?.gc()?;
        let directory = find(directory.as_ref())?;
        let _alone = alone(&directory)?;
        let (manifest, old) = at_home(directory.clone(), before)?;
        let old = Arc::new(old);
        let mut locked = old.exclusive()?;
        let (mut next, root) = manifest.next(&directory, protection)?;
        let new = core(directory.clone(), &next, root);
        discard_body(&new.body, true)?;
        files::make_directory(&new.body)?;
        make_directories(&new.body)?;
        let damaged = copy_items(&old, &new, &locked)?;
        if !damaged.is_empty() {
            let is_damaged = |record: &Record| damaged.contains(&record.meta.id());
            let reason = "it was damaged when the store was encrypted";
            let edits = locked.voiding(is_damaged, reason);
            locked.commit(&edits)?;
        }
        new.adopt(&locked)?;
        files::sync_directory(&new.body)?;
        files::sync_directory(&directory)?;
        fault::point("encrypt.body");
        next.save(&directory, &new.root)?;
        fault::point("encrypt.switched");
        drop(locked);
        discard_body(&old.body, false)?;
        fault::point("encrypt.removed");
        Ok(())
    }
}

/// Acquires the exclusive lock on `open`, which excludes every other user of the store.
fn alone(directory: &Path) -> Result<Flock> {
    let path = open_path(directory);
    // Some network file systems lock a file exclusively only if it is open for writing.
    let lock = Flock::try_exclusive(access::open(&path, Mode::Write)?, &path)?;
    let what = "another process works with it; try again when that has ended";
    lock.ok_or_else(|| StoreError::InUse { path: directory.to_path_buf(), what })
}

/// Copies the remaining material of all items, and returns the damaged items.
fn copy_items(old: &Arc<Core>, new: &Core, locked: &Locked<'_>) -> Result<Vec<ItemId>> {
    let mut damaged = Vec::new();
    for (id, record) in &locked.content.items {
        if record.state != ItemState::Available {
            continue;
        }
        match copy_item(old, new, *id, record) {
            Ok(()) => fault::point("encrypt.item"),
            Err(StoreError::DamagedItem { .. }) => {
                files::discard(&new.item(id), true)?;
                damaged.push(*id);
            }
            Err(other) => return Err(other),
        }
    }
    files::sync_directory(&new.items())?;
    Ok(damaged)
}

fn copy_item(old: &Arc<Core>, new: &Core, id: ItemId, record: &Record) -> Result<()> {
    let opened = Arc::new(Opened::open(old, id, record)?);
    let directory = new.item(&id);
    files::make_directory(&directory)?;
    for (section, file) in record.files.iter().enumerate() {
        let mut writer = SectionWriter::create(new, id, (&directory, section), file.frame)?;
        opened.all(section).each(|bytes| writer.put(bytes))?;
        writer.close()?;
    }
    files::sync_directory(&directory)
}
