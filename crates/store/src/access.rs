//! Opens the files of a store. It accepts only regular files and real directories that belong to
//! this user or the superuser and that nobody else can write to.
//!
//! Anyone who can write to a store can restore used material, or replace a file by a link, a FIFO
//! or a device. A link would redirect reads, overwrites and wipes to another file; opening a FIFO
//! would block forever; reading a device may never end. So this module opens every file without
//! blocking and without following a link in the last path component, and checks the open file
//! before it is used.
//!
//! Check: store | owner, mode and type of every file and directory | other users; links, FIFOs,
//! devices | –

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use crate::{Result, StoreError};

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// For reading.
    Read,
    /// For reading and writing.
    Write,
    /// For reading and writing. A missing file is created, accessible to its owner only.
    Create,
    /// For reading and writing. The file must not exist; it is created, accessible to its owner
    /// only.
    New,
}

impl Mode {
    fn options(self) -> OpenOptions {
        let mut options = OpenOptions::new();
        options.read(true).write(self != Mode::Read);
        options.create(self == Mode::Create).create_new(self == Mode::New);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options
    }

    /// Returns the verb that an error message uses for the failed operation.
    fn verb(self) -> &'static str {
        match self {
            Mode::Read | Mode::Write => "open",
            Mode::Create | Mode::New => "create",
        }
    }
}

/// Opens one of the store's own files.
///
/// # Errors
/// [`StoreError::Unsafe`] if it is not a regular file, belongs to another user, or can be written
/// by others; an I/O error.
pub(crate) fn open(path: &Path, mode: Mode) -> Result<File> {
    match try_open(path, mode)? {
        Ok(file) => Ok(file),
        Err(e) => Err(StoreError::io(mode.verb(), path, &e)),
    }
}

/// Opens a file like [`open`], but returns `None` if it does not exist.
pub(crate) fn open_if_there(path: &Path, mode: Mode) -> Result<Option<File>> {
    match try_open(path, mode)? {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(StoreError::io(mode.verb(), path, &e)),
    }
}

fn try_open(path: &Path, mode: Mode) -> Result<io::Result<File>> {
    let mut options = mode.options();
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file = match options.open(path) {
        Ok(file) => file,
        // Links, sockets and FIFOs opened for writing fail here, each with a different error.
        Err(e) => {
            return match fs::symlink_metadata(path) {
                Ok(found) if mode != Mode::New => check_file(path, &found).map(|()| Err(e)),
                _ => Ok(Err(e)),
            };
        }
    };
    let metadata = file.metadata().map_err(|e| StoreError::io("look at", path, &e))?;
    check_file(path, &metadata)?;
    Ok(Ok(file))
}

fn check_file(path: &Path, metadata: &Metadata) -> Result<()> {
    if !metadata.is_file() {
        let what = if metadata.is_symlink() {
            "is a symbolic link; a store's own files are regular files"
        } else {
            "is not a regular file"
        };
        return unsafe_to_use(path, what);
    }
    check_owner(path, metadata)
}

/// Checks one of the store's own directories.
///
/// # Errors
/// As [`open`].
pub(crate) fn check_directory(path: &Path) -> Result<()> {
    let metadata = fs::symlink_metadata(path).map_err(|e| StoreError::io("look at", path, &e))?;
    if !metadata.is_dir() {
        return unsafe_to_use(path, "is not a directory");
    }
    check_owner(path, &metadata)
}

/// Checks a directory like [`check_directory`], but accepts a missing one.
pub(crate) fn check_directory_if_there(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => check_directory(path),
    }
}

/// Checks that only the owner can write, and that the owner is this user or the superuser, who can
/// write in any case.
fn check_owner(path: &Path, metadata: &Metadata) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if !is_trusted(metadata.uid()) {
            return unsafe_to_use(path, "belongs to another user; use the store as that user");
        }
        if metadata.mode() & 0o022 != 0 {
            return unsafe_to_use(
                path,
                "can be written to by others; make it private with chmod go-w",
            );
        }
    }
    #[cfg(not(unix))]
    let _ = (path, metadata);
    Ok(())
}

#[cfg(unix)]
fn is_trusted(owner: u32) -> bool {
    owner == 0 || owner == rustix::process::geteuid().as_raw()
}

fn unsafe_to_use(path: &Path, what: &'static str) -> Result<()> {
    Err(StoreError::Unsafe { path: path.to_path_buf(), what })
}

/// Opens a secret file that the user names, such as a key. The path may contain links, but the file
/// must be a regular file of this user that nobody else can read or write.
///
/// # Errors
/// The text says why the file cannot be used.
pub(crate) fn open_secret(path: &Path) -> std::result::Result<File, String> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file = options.open(path).map_err(|e| e.to_string())?;
    let metadata = file.metadata().map_err(|e| e.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_string());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if metadata.mode() & 0o077 != 0 {
            let what = "others may read it; make it private with chmod 600";
            return Err(what.to_string());
        }
        if !is_trusted(metadata.uid()) {
            return Err("it belongs to another user".to_string());
        }
    }
    Ok(file)
}
