//! The commit pointer (the file `head`): it says which index is current.
//!
//! An embedded database recovers from a crash by rolling back to its last complete transaction, and
//! damage can roll it back further than what was promised to be on disk. This store would then hand
//! out material twice. So the database never recovers anything: a transaction writes a new database
//! file, flushes it, and then replaces this small file, which holds the digest of the current
//! database file. The replacement commits the transaction. An index with any other digest is
//! rejected, whether it is damaged, older or newer.
//!
//! # A restored head
//! Digests alone cannot tell an older state from the latest one if head *and* index are restored
//! together (`cp -a backup/. store/`). So a head names its own file: every transaction writes a new
//! file that contains its own inode number and birth time, and moves it over the old one. A
//! restored head names a file that no longer exists, and is rejected:
//!
//! - `cp` over the head keeps the file and changes its content: the file is not the one it names.
//! - `rsync`, `tar` and similar tools create a new file, which is younger than the one it names.
//! - Many file systems give a removed file's inode number to the next new file, so heads alternate
//!   between two numbers. Their birth times still differ: a new head that was born in the same
//!   clock tick as the old one is created again.
//! - Where the file system reports no birth time, the last change of the index (its ctime) replaces
//!   it: the head is written after the index and names that time, and writing the index again
//!   changes it. On such a file system, `chmod` or a new hard link also changes it, which makes the
//!   store unusable.
//! - An old head under another hard link could be moved back, and would be the file that it names.
//!   So heads are emptied once they are replaced, and so are old indices.
//!
//! A rollback of the whole file system, disk or machine cannot be detected.

use std::fs::{self, Metadata};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::access::Mode;
use crate::identity::{self, Identity};
use crate::keys::{RootKey, same_tag};
use crate::{Result, StoreError, access, fault, files, serde_hex};

/// The maximum length of a head, in bytes.
const MAX_HEAD: u64 = 4096;
/// The length of the tag and its line end.
const TAG: usize = 65;
/// The number of attempts to create a head with a new birth time, one millisecond apart. Together
/// they last longer than a tick of any clock that stamps files in nanoseconds.
const ATTEMPTS: u32 = 100;

/// The contents of the file `head`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitPointer {
    /// The number of the last transaction.
    pub generation: u64,
    /// The digest of the database file.
    #[serde(with = "serde_hex")]
    pub digest: [u8; 32],
    /// The identity of the file that the head itself was written to.
    pub file: Identity,
    /// When the database file was last changed, in nanoseconds since 1970.
    pub changed: Option<u64>,
}

impl CommitPointer {
    /// Creates a head for the database file with this digest, in its present state.
    /// [`save`](Self::save) sets the head's own file.
    pub(crate) fn new(generation: u64, digest: [u8; 32], database: &Metadata) -> Self {
        let changed = identity::changed(database);
        CommitPointer { generation, digest, file: Identity::default(), changed }
    }

    /// Returns the path of the head of the store in `directory`.
    pub(crate) fn path(directory: &Path) -> PathBuf {
        directory.join("head")
    }

    /// Splits a head into its tag and the rest, and decodes the rest. Does not check the tag.
    ///
    /// # Errors
    /// The bytes are not a head.
    pub fn decode(bytes: &[u8]) -> std::result::Result<([u8; 32], &[u8], Self), &'static str> {
        let (tag, rest) = bytes.split_at_checked(TAG).ok_or("is too short")?;
        let mut out = [0; 32];
        if tag[64] != b'\n' || hex::decode_to_slice(&tag[..64], &mut out).is_err() {
            return Err("does not begin with a checksum");
        }
        let head = serde_json::from_slice(rest).map_err(|_| "has invalid content")?;
        Ok((out, rest, head))
    }

    /// Loads the head, and returns the identity of its file too.
    pub(crate) fn load(directory: &Path, root: &RootKey) -> Result<(Self, Identity)> {
        let path = Self::path(directory);
        let missing = || StoreError::damaged(&path, "is missing");
        let file = access::open_if_there(&path, Mode::Read)?.ok_or_else(missing)?;
        let metadata = file.metadata().map_err(|e| StoreError::io("look at", &path, &e))?;
        let bytes = files::read_bounded(file, &path, MAX_HEAD)?;
        let (tag, rest, head) =
            Self::decode(&bytes).map_err(|what| StoreError::damaged(&path, what))?;
        if !same_tag(&root.tag("head", rest), &tag) {
            return Err(StoreError::damaged(&path, "was changed, or is another store's"));
        }
        Ok((head, Identity::of(&metadata)))
    }

    /// Returns whether a head found in `file` was written to that file, and the database file has
    /// not been changed since.
    ///
    /// Check: store | the head names its own file, by inode and birth | a store, or its head and
    /// index, restored in place | –
    pub(crate) fn is_latest(&self, file: Identity, database: &Metadata) -> bool {
        if file.inode.is_none() {
            // This operating system reports nothing that could be compared.
            return true;
        }
        self.file.inode == file.inode
            && match (self.file.born, file.born) {
                (Some(named), Some(found)) => named == found,
                _ => self.changed == identity::changed(database),
            }
    }

    /// Replaces the head by a new file that names itself. The new head is on disk when this
    /// returns.
    pub(crate) fn save(mut self, directory: &Path, root: &RootKey) -> Result<()> {
        let path = Self::path(directory);
        let fresh = path.with_file_name("head.new");
        let before = fs::symlink_metadata(&path).ok().and_then(|old| Identity::of(&old).born);
        let old = access::open_if_there(&path, Mode::Write).ok().flatten();
        let (mut file, identity) = create_younger(&fresh, before)?;
        fault::point("head.created");
        self.file = identity;
        let rest = serde_json::to_vec(&self)
            .map_err(|e| StoreError::Invalid(format!("cannot write the head: {e}")))?;
        let mut bytes = hex::encode(root.tag("head", &rest)).into_bytes();
        bytes.push(b'\n');
        bytes.extend_from_slice(&rest);
        let written = fault::write("replace.write")
            .and_then(|()| file.write_all(&bytes))
            .and_then(|()| file.sync_all());
        if let Err(e) = written {
            let _ = fs::remove_file(&fresh);
            return Err(StoreError::io("write", &fresh, &e));
        }
        fault::point("head.written");
        fs::rename(&fresh, &path).map_err(|e| StoreError::io("write", &path, &e))?;
        files::sync_directory(directory)?;
        // The old head can only be reached through another hard link, which must not restore it.
        if let Some(old) = old {
            let _ = old.set_len(0);
        }
        Ok(())
    }
}

/// Creates a file whose birth time differs from that of the file it will replace. The other file
/// still holds its inode number, so no two heads of a store have both the same inode number and
/// birth time.
fn create_younger(path: &Path, before: Option<u64>) -> Result<(fs::File, Identity)> {
    let mut attempt = 0;
    loop {
        files::remove_if_there(path)?;
        let file = access::open(path, Mode::New)?;
        let metadata = file.metadata().map_err(|e| StoreError::io("look at", path, &e))?;
        let identity = Identity::of(&metadata);
        attempt += 1;
        if identity.born.is_none() || identity.born != before || attempt == ATTEMPTS {
            return Ok((file, identity));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use crate::{Protection, Store};

    #[test]
    fn a_head_is_the_latest_only_in_the_file_that_it_names() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("index");
        fs::write(&database, b"old").unwrap();
        let then = fs::metadata(&database).unwrap();
        let file = |inode, born| Identity { inode, born };
        let head = |own| CommitPointer { file: own, ..CommitPointer::new(1, [0; 32], &then) };
        let (one, other) = (file(Some(1), Some(10)), file(Some(2), Some(20)));
        assert!(head(one).is_latest(one, &then));
        // A copy over another file, a new file moved there, or a file that got the old inode
        // number.
        for wrong in [other, file(Some(2), Some(10)), file(Some(1), Some(20)), Identity::default()]
        {
            assert!(!head(wrong).is_latest(one, &then), "{wrong:?}");
        }
        // Without birth times the index decides.
        let nameless = file(Some(1), None);
        std::thread::sleep(Duration::from_millis(20));
        fs::write(&database, b"old").unwrap();
        let now = fs::metadata(&database).unwrap();
        for own in [one, nameless] {
            assert!(head(own).is_latest(nameless, &then), "{own:?}");
            assert!(!head(own).is_latest(nameless, &now), "{own:?}");
        }
        assert!(head(one).is_latest(one, &now), "births make changes of the index harmless");
        assert!(!head(file(Some(2), None)).is_latest(nameless, &then));
        // Without any file identity nothing can be compared.
        assert!(head(Identity::default()).is_latest(Identity::default(), &now));
    }

    use super::*;

    /// Files created in succession are born in the same clock tick.
    #[test]
    fn no_head_is_born_with_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("head.new");
        let mut before = None;
        for _ in 0..10 {
            let (_, file) = create_younger(&path, before).unwrap();
            assert!(file.born.is_none() || file.born != before);
            before = file.born;
        }
    }

    /// Rejects a head with a valid tag (forged with the key) whose generation differs from the
    /// index, and a head with one wrong digit in its tag or its content.
    #[test]
    fn a_head_fits_its_tag_and_its_index() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("store");
        let store = Store::create(&directory, &Protection::None).unwrap();
        let root = &store.core.root;
        let (head, file) = CommitPointer::load(&directory, root).unwrap();
        let right = std::fs::read(CommitPointer::path(&directory)).unwrap();

        // Adding two selects the same index file, since there are two.
        CommitPointer { generation: head.generation + 2, ..head }.save(&directory, root).unwrap();
        let error = store.list().unwrap_err().to_string();
        assert!(error.contains("does not fit its head"), "{error}");
        let (_, later) = CommitPointer::load(&directory, root).unwrap();
        assert_ne!(file.born, later.born, "a head is younger than the one before");

        let digits = right.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit());
        for (at, digit) in digits {
            let mut changed = right.clone();
            changed[at] = if *digit == b'0' { b'1' } else { digit - 1 };
            std::fs::write(CommitPointer::path(&directory), changed).unwrap();
            assert!(CommitPointer::load(&directory, root).is_err(), "byte {at}");
        }
        std::fs::write(CommitPointer::path(&directory), right).unwrap();
        let error = store.list().unwrap_err();
        assert!(matches!(error, StoreError::RolledBack { .. }), "{error}");
        assert_eq!(CommitPointer::load(&directory, root).unwrap().0, head);
    }
}
