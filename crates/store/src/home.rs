//! The store's own directory: what is checked before anything else in the store is read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::access::{self, Mode};
use crate::body::{body_path, check_directories};
use crate::files::Flock;
use crate::frame::Sealing;
use crate::index::Core;
use crate::keys::{Lock, Protection, RootKey};
use crate::location::StoreLocation;
use crate::manifest::Manifest;
use crate::{Result, StoreError};

/// Returns the absolute path of an existing store's directory, which others must not be able to
/// write.
pub(crate) fn find(directory: &Path) -> Result<PathBuf> {
    match directory.canonicalize() {
        Ok(found) => access::check_directory(&found).map(|()| found),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            Err(StoreError::NotAStore { path: directory.to_path_buf() })
        }
        Err(e) => Err(StoreError::io("find", directory, &e)),
    }
}

/// Returns the path of the file on which everyone who has the store open holds a lock.
pub(crate) fn open_path(directory: &Path) -> PathBuf {
    directory.join("open")
}

/// Takes the shared lock that marks the store as open; returns `None` if there is no such file.
pub(crate) fn use_store(directory: &Path) -> Result<Option<Flock>> {
    let path = open_path(directory);
    let Some(file) = access::open_if_there(&path, Mode::Read)? else { return Ok(None) };
    let lock = Flock::try_shared(file, &path)?;
    let what = "it is being encrypted; try again later";
    let in_use = || StoreError::InUse { path: directory.to_path_buf(), what };
    lock.map(Some).ok_or_else(in_use)
}

/// Builds the core of the store in `directory` from its manifest and root key.
pub(crate) fn core(directory: PathBuf, manifest: &Manifest, root: RootKey) -> Core {
    let sealing = match manifest.protection {
        Lock::Nothing => Sealing::Checksum,
        _ => Sealing::Encryption,
    };
    let body = body_path(&directory, manifest.body);
    Core { directory, body, in_use: None, store: manifest.store, root, sealing }
}

/// Loads the store in `directory`, and checks that it is where it was made.
pub(crate) fn at_home(directory: PathBuf, protection: &Protection) -> Result<(Manifest, Core)> {
    let (manifest, root) = Manifest::load(&directory, protection)?;
    let lock = Core::lock_path(&directory);
    if fs::symlink_metadata(&lock).is_err() {
        return Err(StoreError::damaged(&lock, "is missing"));
    }
    let core = core(directory, &manifest, root);
    access::check_directory(&core.body)?;
    check_directories(&core.body)?;
    if let Some(what) = manifest.host.differs(&StoreLocation::current(&manifest.store, &lock)?) {
        return Err(StoreError::Moved { path: core.directory, what });
    }
    Ok((manifest, core))
}
