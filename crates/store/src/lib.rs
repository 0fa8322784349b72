//! The on-disk store of preprocessing material of one party: material is used once, whatever
//! happens.
//!
//! The store knows nothing of protocols. An **item** is some sections of bytes with a [`ItemMeta`]:
//! either a *pool*, from which ranges of records are taken front to back, or a *prepared* one,
//! which is taken as a whole. A **group** is all that was made under one session's global keys; a
//! failed check [revokes](Store::revoke_group) all of it.
//!
//! ```
//! use symbolon_store::*;
//!
//! # fn main() -> Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("store");
//! let store = Store::create(&path, &Protection::passphrase("correct horse battery staple"))?;
//! let meta = ItemMeta {
//!     kind: ItemKind::Pool,
//!     protocol: "wrk".to_string(),
//!     group: [7; 32],
//!     party: 0.into(),
//!     peers: vec![ItemPeer { party: 1.into(), fingerprint: None }],
//!     dealer: None,
//!     rho: 40,
//!     circuit: None,
//!     name: None,
//!     sequence: 0,
//!     counts: Vec::new(),
//!     components: Vec::new(),
//! };
//! let mut item_writer = store.begin(meta, &[Section::Records { counter: 0, bits: 128 }],
//! DEFAULT_FRAME)?; item_writer.section(0).put(&[0; 100 * 16])?;
//! item_writer.finish(vec![100])?;
//!
//! let item = &store.available_items(&Filter { rho: Some(40), ..Filter::default() })?[0];
//! let taken = store.take_range(item.id, &[0], &[10])?;
//! // From here on, whatever happens, nobody gets these ten records again.
//! let mut record = [0; 16];
//! taken.read(0, taken.bytes(0))?.fill(&mut record)?;
//! assert!(store.take_range(item.id, &[0], &[10]).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! # On disk
//! ```text
//! store.toml            format, name, protection, place; written last when a store is made
//! lock                  locked during each transaction; its inode is part of the store's place
//! open                  locked, among others, by everyone who has the store open
//! index-0.redb          the index: records, used names, revoked groups (an embedded database);
//! index-1.redb          two files in turns
//! head                  the digest of the right one, and which file it is itself: replacing it is
//!                       what makes a transaction happen
//! items/ID/0.bin …      the sections of an item
//! drafts/RANDOM/        items being written
//! groups/ID.lock        locks on groups
//! ```
//! A store that was [encrypted](Store::encrypt) later has all but the first three in `body-N`,
//! whose number is in `store.toml`.
//!
//! # Why nothing is used twice
//! Material leaves the store only as a [`ConsumedItem`], and that exists only after these steps:
//!
//! 1. *The exclusive lock.* A transaction holds the lock on `lock` from reading the index to the
//!    end of writing it, so of two processes, or threads, that want the same records one sees what
//!    the other has marked. The operating system releases the lock of a process that dies.
//! 2. *An index that can be believed.* The index must have the digest that the head gives. One that
//!    is damaged, exchanged for another store's, older or newer is refused, and with it everything
//!    in the store. The head must be the very file that it names, so that an older head with its
//!    index is refused, too.
//! 3. *The mark on disk.* The new index, in which the records are marked, is written to the other
//!    file and flushed; then a new head with its digest, and with its own inode number and birth
//!    time, is written to a new file, flushed, moved over the old one, and the directory flushed. A
//!    crash before the move leaves everything as it was, and
//!    nothing was handed out. From the move on, only the new index counts: no crash and no recovery
//!    brings back the old one.
//! 4. Only now does `take_*` return, and the caller can send something. A crash before that wastes
//!    what was marked.
//!
//! An item becomes visible by a transaction of the same form, after its files and directories were
//! flushed. Names of items (of group, kind, sequence number) are never given twice, and nothing can
//! be added to a revoked group. Frames are bound to their place in one file of one item of one
//! store, so files that are exchanged among items or stores are damage.
//!
//! A *copy* of a store is the same material twice. Stores are bound to machine and file
//! ([`StoreError::Moved`]), and to their latest state where it was written
//! ([`StoreError::RolledBack`]); [`Store::reset_ownership`] makes a copy, or a store that was put
//! back, usable by voiding everything in it. For the same reason items cannot be exported
//! ([`Store::describe`]).
//!
//! A store that belongs to another user, or that others can write to, is refused
//! ([`StoreError::Unsafe`]), and so is anything but a plain file or directory in it.
//!
//! # Encrypting what is there
//! [`Store::encrypt`] makes another body with everything in it, under the new keys, and then
//! replaces `store.toml`, which says how the store is protected and which body counts. Until then
//! the old body counts, afterwards the new one, and never both: nobody has the store open
//! meanwhile, since everyone who does holds a lock on `open`, so nobody uses the old body later.
//! The process that opens the store next removes a body that does not count.
//!
//! # What no store can do
//! - Notice that the **whole file system** or machine went back to an earlier state (a snapshot
//!   that was restored, a clone of a virtual machine): everything it could look at went back, too.
//!   Reset its ownership after that. The peers' stores still refuse records that *they* have handed
//!   out before.
//! - Notice, on systems other than Unix, that head and index were put back in place.
//! - Protect an unprotected store from its owner. Without passphrase or key file, tags find damage
//!   and mistakes; anyone who can write to the store can forge them. With either, forging takes the
//!   key, except that a superuser can put old files back: by setting the clock, or by writing to
//!   the disk under the file system.
//! - Be sure that removed files are gone. Files of unprotected stores are overwritten first, but
//!   disks and file systems that write elsewhere keep old bytes; those of protected stores are only
//!   removed, and anyone who gets hold of the key *and* the raw disk reads them.
//! - Work where locks or flushes do not: some network file systems pretend.

mod about;
mod access;
mod backend;
mod body;
mod commit_pointer;
mod consumed;
mod draft;
mod encrypt;
mod error;
#[cfg(any(test, feature = "faults"))]
pub mod fault;
#[cfg(not(any(test, feature = "faults")))]
mod fault;
mod files;
mod frame;
mod home;
mod identity;
mod index;
mod item_writer;
mod keys;
mod location;
mod maintenance;
mod manifest;
mod meta;
mod record;
mod scratch;
mod serde_hex;
mod store;

pub use consumed::{ConsumedItem, SectionReader};
pub use draft::Draft;
pub use error::{Cause, Result, StoreError};
pub use item_writer::{ClosedItem, ItemWriter, SectionWriter};
pub use keys::{Protection, create_key_file};
pub use maintenance::{Collected, GroupLock, Progress};
pub use manifest::FORMAT as FORMAT_VERSION;
pub use meta::{
    DEFAULT_FRAME, FRAMES, Filter, GroupId, ItemComponent, ItemId, ItemKind, ItemMeta, ItemPeer,
    MAX_COUNTERS, MAX_PEERS, MAX_SECTIONS, Section,
};
pub use record::ItemState;
pub use scratch::{Scratch, ScratchReader, Secrecy};
pub use store::{AvailableItem, Entry, Store};
pub use symbolon_errors::PartyId;

/// The decoders of a store's files, for fuzzing. No part of the interface.
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::about::About;
    pub use crate::commit_pointer::CommitPointer;
    pub use crate::frame::{FileKeys, HEADER, Header, Sealing};
    pub use crate::keys::RootKey;
    pub use crate::manifest::Manifest;
    pub use crate::record::Record;
}

/// Seconds since 1970; 0 before.
fn now() -> u64 {
    let age = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    age.map(|age| age.as_secs()).unwrap_or(0)
}
