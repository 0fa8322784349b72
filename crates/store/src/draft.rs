//! What is being written, by this process and others.

use std::fs;
use std::path::Path;

use crate::about::{About, MAX_ABOUT};
use crate::access::{self, Mode};
use crate::files::{self, Flock, directories};
use crate::{ItemMeta, Result, Store, StoreError};

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
