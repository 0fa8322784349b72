//! What is being written: a file in the directory of every unfinished item says what it will be.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::access::{self, Mode};
use crate::files::{self, Flock};
use crate::maintenance::directories;
use crate::{ItemMeta, Result, Store, StoreError, fault};

/// No file about an unfinished item is longer, in bytes: enough for 256 parties with fingerprints.
const MAX_ABOUT: u64 = 64 << 10;

/// An item that is being written, or was when its process died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// What it will be, without counts; none where its process died before it said so, or the file
    /// is damaged.
    pub meta: Option<ItemMeta>,
    /// The bytes of its files so far.
    pub bytes: u64,
    /// When it was begun, in seconds since 1970; 0 where that is not known.
    pub begun: u64,
    /// Whether its process still works on it. Otherwise [`Store::gc`] removes it.
    pub alive: bool,
}

/// What the file about an unfinished item says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// What the item will be.
    pub meta: ItemMeta,
    /// When it was begun, in seconds since 1970.
    pub begun: u64,
}

impl About {
    pub(crate) fn of(meta: &ItemMeta) -> About {
        About { meta: meta.clone(), begun: crate::now() }
    }

    pub(crate) fn path(directory: &Path) -> PathBuf {
        directory.join("about")
    }

    pub(crate) fn save(&self, directory: &Path) -> Result<()> {
        let path = Self::path(directory);
        let text = serde_json::to_vec(self)
            .map_err(|e| StoreError::Invalid(format!("cannot write JSON: {e}")))?;
        let mut file = access::open(&path, Mode::New)?;
        fault::write("begin.files")
            .and_then(|()| file.write_all(&text))
            .map_err(|e| StoreError::io("write", &path, &e))
    }

    /// Reads what a file about an unfinished item says.
    ///
    /// # Errors
    /// It says something else.
    pub fn decode(bytes: &[u8]) -> std::result::Result<About, String> {
        let about: About =
            serde_json::from_slice(bytes).map_err(|_| "does not say what it must".to_string())?;
        about.meta.check(false)?;
        Ok(about)
    }
}

impl Store {
    /// What is being written now, by any process, and what processes that died left half-written,
    /// in the order of their beginning. Works on a store that cannot be written.
    ///
    /// Nobody vouches for what is said of it: it is for people who want to see how far things are.
    ///
    /// # Errors
    /// [`StoreError::Damaged`]; what the disk refuses.
    pub fn drafts(&self) -> Result<Vec<Draft>> {
        // Under the lock, so that nobody begins or finishes an item meanwhile.
        let (_, _lock) = self.core.shared(false)?;
        let mut drafts = Vec::new();
        for directory in directories(&self.core.drafts())? {
            let path = About::path(&directory);
            let about = match files::read_small(&path, MAX_ABOUT) {
                Ok(bytes) => bytes.and_then(|bytes| About::decode(&bytes).ok()),
                Err(StoreError::Damaged { .. } | StoreError::Unsafe { .. }) => None,
                Err(other) => return Err(other),
            };
            let path = directory.join("lock");
            let alive = match access::open_if_there(&path, Mode::Read) {
                Ok(Some(file)) => Flock::try_shared(file, &path)?.is_none(),
                Ok(None) | Err(StoreError::Unsafe { .. }) => false,
                Err(other) => return Err(other),
            };
            let begun = about.as_ref().map_or(0, |about| about.begun);
            let meta = about.map(|about| about.meta);
            drafts.push(Draft { meta, bytes: length(&directory)?, begun, alive });
        }
        drafts.sort_by_key(|draft| draft.begun);
        Ok(drafts)
    }
}

/// The bytes of all sections in a directory.
fn length(directory: &Path) -> Result<u64> {
    let failed = |e: &std::io::Error| StoreError::io("read", directory, e);
    let mut bytes: u64 = 0;
    for entry in fs::read_dir(directory).map_err(|e| failed(&e))? {
        let path = entry.map_err(|e| failed(&e))?.path();
        if path.extension().is_some_and(|extension| extension == "bin")
            && let Ok(metadata) = fs::symlink_metadata(&path)
        {
            bytes = bytes.saturating_add(metadata.len());
        }
    }
    Ok(bytes)
}
