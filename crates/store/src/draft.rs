//! Items that this process and others are writing.

use std::fs;
use std::path::Path;

use crate::about::{About, MAX_ABOUT};
use crate::access::{self, Mode};
use crate::files::{self, Flock, directories};
use crate::{ItemMeta, Result, Store, StoreError};

/// An item that is being written, or whose process died while writing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The future item's metadata, without counts; `None` if its process died before it wrote them,
    /// or the file is damaged.
    pub meta: Option<ItemMeta>,
    /// The current size of its files, in bytes.
    pub bytes: u64,
    /// When writing began, in seconds since 1970; 0 if unknown.
    pub begun: u64,
    /// Whether its process is still writing. If not, [`Store::gc`] removes the draft.
    pub alive: bool,
}

impl Store {
    /// Lists the items that any process is writing, and those that dead processes left unfinished,
    /// in the order they were begun. Works on a read-only store.
    ///
    /// Nothing authenticates these data: they are progress information for people.
    ///
    /// # Errors
    /// [`StoreError::Damaged`]; an I/O error.
    pub fn drafts(&self) -> Result<Vec<Draft>> {
        // The lock keeps others from beginning or finishing an item meanwhile.
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

/// Returns the total size of all sections in a directory, in bytes.
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
