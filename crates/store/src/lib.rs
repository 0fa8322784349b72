//! The on-disk store of one party's preprocessing material. It ensures that material is used at
//! most once, whatever happens.
//!
//! The store knows nothing of protocols. An **item** consists of sections of bytes and an
//! [`ItemMeta`]. It is either a *pool*, from which ranges of records are taken front to back, or a
//! *prepared* item, which is taken as a whole. A **group** is all material made under one session's
//! global keys; a failed check [revokes](Store::revoke_group) all of it.
//!
//! ```
//! use std::io::Read;
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
//! let sections = [Section::Records { counter: 0, bits: 128 }];
//! let mut item_writer = store.begin(meta, &sections, DEFAULT_FRAME)?;
//! item_writer.section(0).put(&[0; 100 * 16])?;
//! item_writer.finish(vec![100])?;
//!
//! let item = &store.available_items(&Filter { rho: Some(40), ..Filter::default() })?[0];
//! let taken = store.take_range(item.id, &[0], &[10])?;
//! // From here on, whatever happens, nobody gets these ten records again.
//! let mut record = [0; 16];
//! taken.read(0, taken.bytes(0))?.read_exact(&mut record).expect("ten records were taken");
//! assert!(store.take_range(item.id, &[0], &[10]).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! # On disk
//! ```text
//! store.toml            format, name, protection, place; written last when a store is made
//! lock                  locked during each transaction; its inode is part of the store's place
//! open                  locked by everyone who has the store open
//! index-0.redb          the index: records, used names, revoked groups (an embedded database);
//! index-1.redb          its two files, used in turns
//! head                  the digest of the current file, and the identity of the head's own file:
//!                       replacing it commits a transaction
//! items/ID/0.bin …      the sections of an item
//! items/draft-RANDOM/ … files that garbage collection is removing
//! drafts/RANDOM/        items being written
//! groups/ID.lock        locks on groups
//! ```
//! A store that was [encrypted](Store::encrypt) later has everything but the first three in
//! `body-N`; `store.toml` gives the number.
//!
//! # Why nothing is used twice
//! Material leaves the store only as a [`ConsumedItem`], which exists only after these steps:
//!
//! 1. *The exclusive lock.* A transaction holds the lock on `lock` from reading the index until the
//!    new index is written. So when two processes or threads want the same records, the second sees
//!    what the first has marked. The operating system releases the lock of a process that dies.
//! 2. *An authenticated index.* The index must have the digest that the head gives. A damaged,
//!    older or newer index, or one from another store, is rejected, and with it everything in the
//!    store. The head must be the very file that it names, so an older head with its index is
//!    rejected, too.
//! 3. *The mark on disk.* The new index, in which the records are marked, is written to the other
//!    file and flushed. Then a new head with its digest, its own inode number and birth time is
//!    written to a new file, flushed and moved over the old one, and the directory is flushed. A
//!    crash before the move leaves everything unchanged, and nothing was handed out. After the move
//!    only the new index is valid: no crash and no recovery brings back the old one.
//! 4. Only then does `take_*` return, and the caller can send something. A crash before that wastes
//!    the marked material.
//!
//! A transaction of the same form makes an item visible, after its files and directories were
//! flushed. An item's name (derived from group, kind and sequence number) is never given twice, and
//! nothing can be added to a revoked group. Frames are bound to their position in one file of one
//! item of one store, so files exchanged among items or stores are reported as damage.
//!
//! A *copy* of a store would use the same material twice. So stores are bound to machine and file
//! ([`StoreError::Moved`]), and to their latest state at that place ([`StoreError::RolledBack`]).
//! [`Store::reset_ownership`] makes a copied or restored store usable by voiding everything in it.
//! For the same reason items cannot be exported ([`Store::describe`]).
//!
//! A store that belongs to another user, or that others can write to, is rejected
//! ([`StoreError::Unsafe`]), and so is anything but a regular file or directory in it.
//!
//! # Encrypting an existing store
//! [`Store::encrypt`] makes another body with everything in it under the new keys, and then
//! replaces `store.toml`, which says how the store is protected and which body is current. Until
//! then the old body is current, afterwards the new one, and never both. Everyone who has the store
//! open holds a lock on `open`, so nobody has it open meanwhile, and nobody uses the old body
//! later. The next process that opens the store removes a body that is not current.
//!
//! # What no store can do
//! - Notice that the **whole file system** or machine was rolled back to an earlier state (a
//!   restored snapshot, a clone of a virtual machine): everything it could look at went back, too.
//!   Reset its ownership after that. The peers' stores still reject records that *they* have handed
//!   out before.
//! - Notice, on systems other than Unix, that head and index were restored in place.
//! - Protect an unprotected store from its owner. Without passphrase or key file, tags detect
//!   damage and mistakes, but anyone who can write to the store can forge them. With either,
//!   forging takes the key, except that a superuser can restore old files by setting the clock, or
//!   by writing to the disk below the file system.
//! - Guarantee that removed files are gone. Files of unprotected stores are overwritten first, but
//!   disks and file systems that write elsewhere keep old bytes. Files of protected stores are only
//!   removed, and anyone who gets the key *and* the raw disk can read them.
//! - Work where locks or flushes do not: some network file systems only pretend to lock or flush.

mod about;
mod access;
mod backend;
mod body;
mod collect;
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
mod item_id;
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

pub use collect::Collected;
pub use consumed::{ConsumedItem, SectionReader};
pub use draft::Draft;
pub use error::{Cause, Result, StoreError};
pub use item_id::ItemId;
pub use item_writer::{ClosedItem, ItemWriter, SectionWriter};
pub use keys::{Protection, create_key_file};
pub use maintenance::{GroupLock, Progress};
pub use manifest::FORMAT as FORMAT_VERSION;
pub use meta::{
    DEFAULT_FRAME, FRAMES, Filter, GroupId, ItemComponent, ItemKind, ItemMeta, ItemPeer,
    MAX_COUNTERS, MAX_PEERS, MAX_SECTIONS, Section,
};
pub use record::{ItemState, Pair};
pub use scratch::{Scratch, ScratchReader, Secrecy, SharedScratch};
pub use store::{AvailableItem, Entry, Store};
pub use symbolon_common::PartyId;

/// The decoders of a store's files, for fuzzing. Not part of the public interface.
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::about::About;
    pub use crate::commit_pointer::CommitPointer;
    pub use crate::frame::{FileKeys, HEADER, Header, Sealing};
    pub use crate::keys::RootKey;
    pub use crate::manifest::Manifest;
    pub use crate::record::Record;
}

/// Returns the time in seconds since 1970; 0 for a clock before 1970.
fn now() -> u64 {
    let age = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    age.map(|age| age.as_secs()).unwrap_or(0)
}
