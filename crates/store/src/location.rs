//! The location of a store, which exposes copies at another place.
//!
//! Copying a store is the one way to use material twice that no care on one disk prevents. So a
//! store records three facts about its location, and is rejected if one of them differs:
//!
//! - the **machine**: a hash of `/etc/machine-id`, in the way systemd asks applications to use it;
//! - the **inode** of the file `lock` inside the store: `cp`, `rsync`, `tar` and backups create a
//!   new file, even on the same machine, while renaming or moving the directory within its file
//!   system keeps it;
//! - the **birth time** of that file, in nanoseconds, where the file system reports it: no tool can
//!   set it, and inode numbers alone can repeat when files are unpacked onto a fresh disk.
//!
//! A file system that renumbers its files at every mount (some network file systems do) cannot hold
//! a store. Device numbers, mount points and host names are not compared, because they change
//! without any copying. A fact that is unknown on either side is not compared. A clone of a whole
//! virtual machine or disk keeps all three facts, and nothing on the disk tells it from the
//! original.
//!
//! An earlier state that is written *over* the store keeps all three as well. The head detects
//! that; see [`crate::commit_pointer`].

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::access::Mode;
use crate::{Result, StoreError, access, serde_hex};

/// The location of a store, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreLocation {
    /// A hash of the machine's identity and the store's name.
    #[serde(with = "serde_hex::option", skip_serializing_if = "Option::is_none")]
    pub machine: Option<[u8; 32]>,
    /// The inode number of the lock file, in decimal, because TOML has no unsigned 64-bit integers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inode: Option<String>,
    /// The birth time of the lock file, in nanoseconds since 1970, in decimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub born: Option<String>,
}

impl StoreLocation {
    /// Returns the present location of the store `store` with this lock file.
    pub(crate) fn current(store: &[u8; 16], lock: &Path) -> Result<Self> {
        let metadata = access::open(lock, Mode::Read)?
            .metadata()
            .map_err(|e| StoreError::io("look at", lock, &e))?;
        let born = metadata.created().ok();
        let born = born.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        #[cfg(unix)]
        let inode = Some(std::os::unix::fs::MetadataExt::ino(&metadata).to_string());
        #[cfg(not(unix))]
        let inode = None;
        Ok(StoreLocation {
            machine: machine_id().map(|id| {
                let mut hasher = blake3::Hasher::new_derive_key("symbolon store machine v1");
                *hasher.update(store).update(id.as_bytes()).finalize().as_bytes()
            }),
            inode,
            born: born.map(|age| age.as_nanos().to_string()),
        })
    }

    /// Returns the first difference between two locations; `None` if they match.
    pub(crate) fn differs(&self, other: &StoreLocation) -> Option<&'static str> {
        fn differ<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
            matches!((a, b), (Some(a), Some(b)) if a != b)
        }
        if differ(&self.machine, &other.machine) {
            return Some("it was made on another machine");
        }
        if differ(&self.inode, &other.inode) || differ(&self.born, &other.born) {
            return Some("its files are not the ones that were made with it");
        }
        None
    }
}

fn machine_id() -> Option<String> {
    let text = std::fs::read_to_string("/etc/machine-id").ok()?;
    let id = text.trim();
    // Images made for cloning ship an empty machine ID, or "uninitialized".
    (id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit())).then(|| id.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_noticed_and_what_is_unknown_is_not_compared() {
        let here = StoreLocation {
            machine: Some([1; 32]),
            inode: Some("12".to_string()),
            born: Some("34".to_string()),
        };
        assert_eq!(here.differs(&here), None);
        assert_eq!(here.differs(&StoreLocation::default()), None);
        assert_eq!(StoreLocation::default().differs(&here), None);
        let machine = StoreLocation { machine: Some([2; 32]), ..here.clone() };
        assert!(here.differs(&machine).unwrap().contains("another machine"));
        let inode = StoreLocation { inode: Some("13".to_string()), ..here.clone() };
        assert!(here.differs(&inode).unwrap().contains("files"));
        let born = StoreLocation { born: Some("35".to_string()), ..here.clone() };
        assert!(here.differs(&born).unwrap().contains("files"));
    }
}
