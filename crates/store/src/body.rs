//! Bodies: the directories that hold the content of a store. Exactly one body is current; `encrypt`
//! creates the next one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::access::{self, Mode};
use crate::files::{self, directories};
use crate::index::Core;
use crate::{Result, StoreError};

pub(crate) const DIRECTORIES: [&str; 3] = ["items", "drafts", "groups"];

/// Returns the directory of a body of the store in `directory`.
pub(crate) fn body_path(directory: &Path, body: u64) -> PathBuf {
    match body {
        0 => directory.to_path_buf(),
        number => directory.join(format!("body-{number}")),
    }
}

pub(crate) fn make_directories(directory: &Path) -> Result<()> {
    for name in DIRECTORIES {
        files::make_directory(&directory.join(name))?;
    }
    check_directories(directory)
}

pub(crate) fn check_directories(directory: &Path) -> Result<()> {
    DIRECTORIES.iter().try_for_each(|name| access::check_directory(&directory.join(name)))
}

/// Removes bodies that are not current, which a crash during encryption left. A store that is not
/// writable keeps them.
pub(crate) fn remove_stale(core: &Core, counts: u64) -> Result<()> {
    let stale = stale(core, counts)?;
    if stale.is_empty() {
        return Ok(());
    }
    // Only one process removes them, and nobody can encrypt the store while it is open here.
    let _locked = match core.exclusive() {
        Err(StoreError::ReadOnly { .. }) => return Ok(()),
        other => other?,
    };
    stale.iter().try_for_each(|body| discard_body(body, *body != core.directory))
}

/// Returns the directories of the bodies that are not current.
fn stale(core: &Core, counts: u64) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if counts > 0 && fs::symlink_metadata(core.directory.join("items")).is_ok() {
        found.push(core.directory.clone());
    }
    let is_body = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix("body-"));
        number.is_some_and(|number| number.parse::<u64>().is_ok())
    };
    let current = body_path(&core.directory, counts);
    let bodies = directories(&core.directory)?.into_iter();
    found.extend(bodies.filter(|path| is_body(path) && *path != current));
    Ok(found)
}

/// Overwrites and removes everything in a body, and its directory unless it is the store's own.
/// Directories go last, because they show that something is left to remove.
pub(crate) fn discard_body(body: &Path, with_directory: bool) -> Result<()> {
    if fs::symlink_metadata(body).is_err() {
        return Ok(());
    }
    // Overwriting keeps an old head from being found through another hard link.
    for name in ["head", "head.new", "index-0.redb", "index-1.redb"] {
        let path = body.join(name);
        match access::open_if_there(&path, Mode::Write) {
            Ok(Some(file)) => drop(file.set_len(0)),
            Ok(None) | Err(StoreError::Unsafe { .. }) => {}
            Err(other) => return Err(other),
        }
        files::remove_if_there(&path)?;
    }
    for name in DIRECTORIES.iter().rev() {
        let path = body.join(name);
        if fs::symlink_metadata(&path).is_err() {
            continue;
        }
        for inner in directories(&path)? {
            files::discard(&inner, true)?;
        }
        files::discard(&path, true)?;
    }
    match with_directory {
        true => fs::remove_dir(body).map_err(|e| StoreError::io("remove", body, &e)),
        false => Ok(()),
    }
}
