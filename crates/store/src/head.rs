//! The head: which index is the right one.
//!
//! An embedded database recovers from a crash by going back to its last whole transaction, and
//! damage can make it go back further than what was promised to be on disk. For this store that
//! would mean to hand out material twice. So the database never recovers anything: a transaction
//! makes a new database file, flushes it, and then replaces this small file, which holds the digest
//! of the right one. That is the moment at which the transaction happens. An index of another
//! digest, be it damaged, older or newer, is none.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::keys::{RootKey, same_tag};
use crate::{Result, StoreError, files, hexed};

/// No head is longer, in bytes.
const MAX_HEAD: u64 = 4096;
/// The length of its tag, and the end of the line.
const TAG: usize = 65;

/// What the head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The number of the last transaction.
    pub generation: u64,
    /// The digest of the database file.
    #[serde(with = "hexed")]
    pub digest: [u8; 32],
}

impl Head {
    /// The path of the head of the store in `directory`.
    pub(crate) fn path(directory: &Path) -> PathBuf {
        directory.join("head")
    }

    /// Splits a head into its tag and the rest, and reads the rest; the tag is not checked yet.
    ///
    /// # Errors
    /// The bytes are no head.
    pub fn decode(bytes: &[u8]) -> std::result::Result<([u8; 32], &[u8], Self), &'static str> {
        let (tag, rest) = bytes.split_at_checked(TAG).ok_or("is too short")?;
        let mut out = [0; 32];
        if tag[64] != b'\n' || hex::decode_to_slice(&tag[..64], &mut out).is_err() {
            return Err("does not begin with a checksum");
        }
        let head = serde_json::from_slice(rest).map_err(|_| "does not say what it must")?;
        Ok((out, rest, head))
    }

    pub(crate) fn load(directory: &Path, root: &RootKey) -> Result<Self> {
        let path = Self::path(directory);
        let Some(bytes) = files::read_small(&path, MAX_HEAD)? else {
            return Err(StoreError::damaged(&path, "is missing"));
        };
        let (tag, rest, head) =
            Self::decode(&bytes).map_err(|what| StoreError::damaged(&path, what))?;
        if !same_tag(&root.tag("head", rest), &tag) {
            return Err(StoreError::damaged(&path, "was changed, or is another store's"));
        }
        Ok(head)
    }

    /// Replaces the head, on disk when this returns.
    pub(crate) fn save(&self, directory: &Path, root: &RootKey) -> Result<()> {
        let rest = serde_json::to_vec(self)
            .map_err(|e| StoreError::Invalid(format!("cannot write the head: {e}")))?;
        let mut bytes = hex::encode(root.tag("head", &rest)).into_bytes();
        bytes.push(b'\n');
        bytes.extend_from_slice(&rest);
        files::replace(&Self::path(directory), &bytes)?;
        files::sync_directory(directory)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Protection, Store};

    use super::*;

    /// A head whose tag is right, by somebody who has the key, but which says another number than the index; and
    /// one whose tag is wrong in one digit, or which was changed in one.
    #[test]
    fn a_head_fits_its_tag_and_its_index() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("store");
        let store = Store::create(&directory, &Protection::None).unwrap();
        let root = &store.core.root;
        let head = Head::load(&directory, root).unwrap();
        let right = std::fs::read(Head::path(&directory)).unwrap();

        // The same file of an index is meant, since there are two.
        Head { generation: head.generation + 2, ..head }.save(&directory, root).unwrap();
        let error = store.list().unwrap_err().to_string();
        assert!(error.contains("does not fit its head"), "{error}");

        let digits = right.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit());
        for (at, digit) in digits {
            let mut changed = right.clone();
            changed[at] = if *digit == b'0' { b'1' } else { digit - 1 };
            std::fs::write(Head::path(&directory), changed).unwrap();
            assert!(Head::load(&directory, root).is_err(), "byte {at}");
        }
        std::fs::write(Head::path(&directory), right).unwrap();
        assert_eq!(Head::load(&directory, root).unwrap(), head);
    }
}
