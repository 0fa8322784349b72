//! File identities that no copying tool can reproduce.

use std::fs::Metadata;

use serde::{Deserialize, Serialize};

/// Identifies a file within its file system, as far as the operating system provides the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The inode number. Many file systems give the number of a removed file to the next one.
    pub inode: Option<u64>,
    /// When the file was made, in nanoseconds since 1970. No tool can set it.
    pub born: Option<u64>,
}

impl Identity {
    /// Returns the identity of an open file. It is unknown where files have no inode numbers:
    /// there, a new file may get the birth time of the file it replaces.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        return Identity {
            inode: Some(std::os::unix::fs::MetadataExt::ino(metadata)),
            born: born(metadata),
        };
        #[cfg(not(unix))]
        {
            let _ = metadata;
            Identity::default()
        }
    }
}

#[cfg(unix)]
fn born(metadata: &Metadata) -> Option<u64> {
    if crate::fault::hides_births() {
        return None;
    }
    let age = metadata.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(age.as_nanos()).ok()
}

/// Returns when a file was last changed in any way (its ctime), in nanoseconds since 1970. Tools
/// can set the modification time of a file's content, but not this time.
pub(crate) fn changed(metadata: &Metadata) -> Option<u64> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let seconds = u64::try_from(metadata.ctime()).ok()?;
        let nanoseconds = u64::try_from(metadata.ctime_nsec()).ok()?;
        seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}
