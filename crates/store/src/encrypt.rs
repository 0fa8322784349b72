//! Encrypting a store that is there, or giving it another key.
//!
//! Everything that is left is copied into another *body*, under the new keys; then `store.toml` is
//! replaced, which says how the store is protected and which body counts. That is the moment at
//! which it happens:
//!
//! - A crash before it leaves the old body as it was, which alone counts. What was copied is
//!   removed when the store is opened or encrypted again, and nothing in it is ever used.
//! - From it on, only the new body counts, whose index knows all that the old one knew: what was
//!   used stays used, what is revoked stays revoked. A crash leaves files of the old body, which
//!   are wiped when the store is opened again.
//!
//! A process that had the store open would go on with the old body, mark there what it takes, and
//! find there what another one marks in the new body. So everyone who has a store open holds a lock
//! on `open`, and this needs that lock alone. Nor can a failed check meanwhile revoke a group in
//! the old body only.

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
    /// Encrypts a store that nobody has open, under `protection`; it was protected by `before`
    /// until now, also not at all. All that is left in it stays, and everything used stays used.
    ///
    /// Files of a store that was not protected are overwritten before they are removed. Disks and
    /// file systems that write elsewhere keep old bytes all the same.
    ///
    /// Items that are damaged become void.
    ///
    /// # Errors
    /// [`StoreError::InUse`] if somebody has the store open; [`StoreError::Invalid`] if
    /// `protection` is none; otherwise as [`Store::open`], and what the disk refuses. The store is
    /// then as it was before, or encrypted: never both.
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
        // What is used is not copied, and what a crash left is in nobody's way. It goes as the old
        // protection asks: without a key, half-written items are overwritten, too.
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

/// The lock that only one has who has the store open alone.
fn alone(directory: &Path) -> Result<Flock> {
    let path = open_path(directory);
    // Only a file that is open for writing can be locked exclusively on some network file systems.
    let lock = Flock::try_exclusive(access::open(&path, Mode::Write)?, &path)?;
    let what = "another process works with it; try again when that has ended";
    lock.ok_or_else(|| StoreError::InUse { path: directory.to_path_buf(), what })
}

/// Copies what is left of all items; returns those that are damaged.
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
