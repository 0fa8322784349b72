//! The journal: which state the index must be in, and what is to be done again if it is not.
//!
//! An embedded database recovers from a crash by going back to its last whole transaction, and a damaged
//! page can make it go back further than what was promised to be on disk. For this store that would mean
//! to hand out material twice. So next to the database there is a small file that is always replaced
//! as a whole. Before a transaction it says **intended**: the number of the transaction, and the edits that use
//! something up. Afterwards it says **done**: the digest of the database file as it was closed. The next to
//! open the index finds either the database exactly as it was left, or an intention, whose edits it carries out if the
//! database does not have them. A database that is older fits neither.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::keys::RootKey;
use crate::record::Edit;
use crate::{Result, StoreError, files, hexed};

/// No journal is longer, in bytes: the edits of a transaction on some hundred thousand items.
const MAX_JOURNAL: u64 = 256 << 20;

/// What the journal says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Journal {
    /// Transaction `generation` is complete, and the database was closed.
    Done {
        /// The number of the last transaction.
        generation: u64,
        /// The digest of the database file.
        #[serde(with = "hexed")]
        digest: [u8; 32],
    },
    /// Transaction `generation` may have begun.
    Intended {
        /// Its number.
        generation: u64,
        /// What is to be carried out if the transaction is lost.
        redo: Vec<Edit>,
    },
}

impl Journal {
    /// The path of the journal of the store in `directory`.
    pub(crate) fn path(directory: &Path) -> PathBuf {
        directory.join("journal")
    }

    /// Splits a journal into its tag and the rest, and reads the rest; the tag is not checked yet.
    ///
    /// # Errors
    /// The bytes are no journal.
    pub fn decode(bytes: &[u8]) -> std::result::Result<([u8; 32], &[u8], Self), &'static str> {
        let (tag, rest) = bytes.split_at_checked(65).ok_or("is too short")?;
        let mut out = [0; 32];
        hex::decode_to_slice(&tag[..64], &mut out).map_err(|_| "does not begin with a checksum")?;
        let journal = serde_json::from_slice(rest).map_err(|_| "does not say what it must")?;
        Ok((out, rest, journal))
    }

    pub(crate) fn load(directory: &Path, root: &RootKey) -> Result<Self> {
        let path = Self::path(directory);
        let Some(bytes) = files::read_small(&path, MAX_JOURNAL)? else {
            return Err(StoreError::damaged(&path, "is missing"));
        };
        let (tag, rest, journal) =
            Self::decode(&bytes).map_err(|what| StoreError::damaged(&path, what))?;
        if root.tag("journal", rest) != tag {
            return Err(StoreError::damaged(&path, "was changed, or is another store's"));
        }
        Ok(journal)
    }

    /// Replaces the journal. It lasts over a power failure once the directory is flushed.
    pub(crate) fn save(&self, directory: &Path, root: &RootKey) -> Result<()> {
        let rest = serde_json::to_vec(self)
            .map_err(|e| StoreError::Invalid(format!("cannot write the journal: {e}")))?;
        if rest.len() as u64 + 65 > MAX_JOURNAL {
            return Err(StoreError::Invalid("too many changes of the store at once".to_string()));
        }
        let mut bytes = hex::encode(root.tag("journal", &rest)).into_bytes();
        bytes.push(b'\n');
        bytes.extend_from_slice(&rest);
        files::replace(&Self::path(directory), &bytes)
    }
}
