//! Where a store is, so that a copy of it at another place is noticed.
//!
//! A copied store is the one way to use material twice that no care on one disk prevents. A store
//! therefore remembers three things about its place, and is refused where one of them differs:
//!
//! - the **machine**: a hash of `/etc/machine-id`, as systemd asks applications to use it;
//! - the **inode** of the file `lock` inside the store: `cp`, `rsync`, `tar`, a backup make a new
//!   file, even on the same machine, while renaming or moving the directory within its file system
//!   keeps it;
//! - when that file was **born**, in nanoseconds, where the file system says: no tool can set it,
//!   and inode numbers alone can repeat when files are unpacked onto a fresh disk.
//!
//! A file system that numbers its files anew whenever it is mounted (some over a network) is no
//! place for a store. Device numbers, mount points and host names are left out: they change without
//! anything being copied. What is not known on either side is not compared. A clone of a whole
//! virtual machine or disk keeps all three and cannot be told from the original by anything that is
//! on the disk.
//!
//! An earlier state that is written *over* the store keeps all three as well. That is noticed by
//! the head, see [`crate::commit_pointer`].

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::access::Mode;
use crate::{Result, StoreError, access, serde_hex};

/// Where a store is, as far as it can be known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreLocation {
    /// A hash of the machine's identity and the store's.
    #[serde(with = "serde_hex::option", skip_serializing_if = "Option::is_none")]
    pub machine: Option<[u8; 32]>,
    /// The inode number of the lock file, in decimal: TOML has no unsigned numbers of 64 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inode: Option<String>,
    /// When the lock file was born, in nanoseconds since 1970, in decimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub born: Option<String>,
}

impl StoreLocation {
    /// Where the store `store` with this lock file is now.
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

    /// What tells this place from another; none if nothing does.
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
    // Images that are cloned on purpose ship an empty one, or "uninitialized".
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
