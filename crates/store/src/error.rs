//! Errors of a store, and what to do about them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use symbolon_common::{Classified, ErrorClass, Shortage, shortage_below};

use crate::ItemId;

/// The result of store operations.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Why a store or an item in it cannot be used. Every message ends with advice.
///
/// No variant ever holds a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store at this path.
    #[error("{} is not a store: create one there first", path.display())]
    NotAStore {
        /// The directory asked for.
        path: PathBuf,
    },
    /// A store cannot be created where there is one already, or where other files are.
    #[error("cannot create a store at {}: {what}; choose another directory", path.display())]
    NotCreated {
        /// The directory asked for.
        path: PathBuf,
        /// What is in the way.
        what: &'static str,
    },
    /// The passphrase or key file does not open this store, is missing, or is not needed.
    #[error("cannot unlock the store {}: {what}", path.display())]
    Locked {
        /// The store's directory.
        path: PathBuf,
        /// What was wrong with the protection given, and what to give.
        what: String,
    },
    /// The store was written by another version of this program.
    #[error(
        "the store {} has format {found}, this program knows {supported}: use the program that made \
         it, or make a new store and new material",
        path.display()
    )]
    Version {
        /// The store's directory.
        path: PathBuf,
        /// The format the store claims.
        found: u64,
        /// The format this program reads and writes.
        supported: u64,
    },
    /// The store was copied or moved here, so another copy may have used its material.
    #[error(
        "the store {} does not belong here: {what}. It was copied, restored or moved; another copy may \
         have used its material, which must never be used twice. Use it where it was made, or reset \
         its ownership here, which voids all material in it",
        path.display()
    )]
    Moved {
        /// The store's directory.
        path: PathBuf,
        /// What differs from where the store was made.
        what: &'static str,
    },
    /// Files of the store were restored in place to an earlier state.
    #[error(
        "the store {} was rolled back to an earlier state: {what}. What it says is left may have \
         been used since, and must never be used twice. Reset its ownership, which voids all \
         material in it",
        path.display()
    )]
    RolledBack {
        /// The store's directory.
        path: PathBuf,
        /// How this was detected.
        what: &'static str,
    },
    /// Somebody else can change, or has replaced, a file or directory of the store.
    #[error("the store cannot be used safely: {} {what}", path.display())]
    Unsafe {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        what: &'static str,
    },
    /// The store cannot be written, so nothing in it could be marked as used.
    #[error(
        "the store needs {} to be writable, and it is not ({why}): nothing is offered from a store in \
         which nothing can be marked as used; make it writable for this user",
        path.display()
    )]
    ReadOnly {
        /// The file or directory that cannot be written.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        why: Cause,
    },
    /// The disk, or this user's share of it, is full.
    #[error(
        "no space left to write {} ({why}): free some space, for instance by collecting what is used, \
         and try again; what the store held before is unharmed",
        path.display()
    )]
    Full {
        /// The file that could not be written.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        why: Cause,
    },
    /// The operating system reported another error.
    #[error("cannot {what} {}: {why}", path.display())]
    Io {
        /// What was tried, as a verb.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        why: Cause,
    },
    /// A file that all items depend on is damaged, missing, from another store, or out of date.
    #[error(
        "the store cannot be trusted: {} {what}. Nothing in it is used; reset its ownership, which voids all \
         material in it, or remove it and make a new one",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file of one item is damaged, truncated, missing or belongs to another item.
    #[error(
        "item {item}, section {section}{}: {what}. It cannot be used: make new material",
        Frame(*frame)
    )]
    DamagedItem {
        /// The item.
        item: ItemId,
        /// The section, counted from 0.
        section: usize,
        /// The frame in it, counted from 0; `None` if the error concerns the whole file.
        frame: Option<u64>,
        /// What is wrong.
        what: &'static str,
    },
    /// The store has no item of this name.
    #[error("the store holds no item {item}: list what it holds")]
    Unknown {
        /// The item asked for.
        item: ItemId,
    },
    /// The item, or the requested part of it, was handed out before.
    #[error("item {item} was used already{what}: material is used once; take other material")]
    AlreadyUsed {
        /// The item.
        item: ItemId,
        /// Which part, as a clause; empty for the whole item.
        what: String,
    },
    /// The item was declared unusable.
    #[error("item {item} is void ({reason}): take other material")]
    Void {
        /// The item.
        item: ItemId,
        /// Why, in the words of the caller that voided it.
        reason: String,
    },
    /// A check failed in this group: no material under its keys may be used or added.
    #[error("the group {group} is dead ({reason}): make material in a new session")]
    RevokedGroup {
        /// The group, as hexadecimal digits.
        group: String,
        /// Why it was revoked.
        reason: String,
    },
    /// The store has or had an item of the same group, kind and sequence number.
    #[error("the store has, or had, item {item} already: count sequence numbers up within a group")]
    Exists {
        /// The item.
        item: ItemId,
    },
    /// Somebody has the store open, or is encrypting it.
    #[error("the store {} is in use: {what}", path.display())]
    InUse {
        /// The store's directory.
        path: PathBuf,
        /// By whom, and what to do.
        what: &'static str,
    },
    /// The caller's request is invalid.
    #[error("{0}")]
    Invalid(String),
}

/// An error of the operating system. Two are equal if their messages are equal.
#[derive(Clone, Debug)]
pub struct Cause(Arc<io::Error>);

impl From<&io::Error> for Cause {
    fn from(error: &io::Error) -> Self {
        Cause(Arc::new(match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(error.kind(), error.to_string()),
        }))
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Cause {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Cause {}

impl Classified for StoreError {
    /// Returns [`ErrorClass::System`] when the system has run out of a resource.
    fn class(&self) -> ErrorClass {
        match (self, shortage_below(self)) {
            (StoreError::Full { .. }, _) | (_, Some(Shortage::Disk)) => ErrorClass::Unwritten,
            (_, Some(Shortage::System)) => ErrorClass::System,
            _ => ErrorClass::Store,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            StoreError::NotAStore { .. } => "store-missing",
            StoreError::NotCreated { .. } => "store-not-created",
            StoreError::Locked { .. } => "store-locked",
            StoreError::Version { .. } => "store-version",
            StoreError::Moved { .. } => "store-moved",
            StoreError::RolledBack { .. } => "store-restored",
            StoreError::Unsafe { .. } => "store-unsafe",
            StoreError::ReadOnly { .. } => "store-read-only",
            StoreError::Full { .. } => "disk-full",
            StoreError::Io { .. } => "store-io",
            StoreError::Damaged { .. } => "store-damaged",
            StoreError::DamagedItem { .. } => "item-damaged",
            StoreError::Unknown { .. } => "item-unknown",
            StoreError::AlreadyUsed { .. } => "item-used",
            StoreError::Void { .. } => "item-void",
            StoreError::RevokedGroup { .. } => "group-dead",
            StoreError::Exists { .. } => "item-exists",
            StoreError::InUse { .. } => "store-in-use",
            StoreError::Invalid(_) => "store-request",
        }
    }
}

/// Displays ", frame 3", or nothing.
struct Frame(Option<u64>);

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(index) => write!(f, ", frame {index}"),
            None => Ok(()),
        }
    }
}

impl StoreError {
    /// Wraps the operating system's error on an attempt to `what` the file `path`.
    pub(crate) fn io(what: &'static str, path: &Path, error: &io::Error) -> Self {
        use io::ErrorKind::{
            FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
        };
        let (path, why) = (path.to_path_buf(), Cause::from(error));
        match error.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => StoreError::Full { path, why },
            ReadOnlyFilesystem | PermissionDenied => StoreError::ReadOnly { path, why },
            _ => StoreError::Io { what, path, why },
        }
    }

    /// Returns the item whose damaged file `error` reports, even if readers passed the error on;
    /// `None` for any other error. The caller should [void](crate::Store::void) the item, so that
    /// nobody tries it again.
    pub fn damaged_item(error: &(dyn std::error::Error + 'static)) -> Option<ItemId> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(StoreError::DamagedItem { item, .. }) = error.downcast_ref() {
                return Some(*item);
            }
            // `source` does not return the error inside an I/O error.
            next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
                Some(inner) => Some(inner),
                None => error.source(),
            };
        }
        None
    }

    /// Returns the error for a defect in a file that all items depend on.
    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        StoreError::Damaged { path: path.to_path_buf(), what: what.into() }
    }
}

impl From<StoreError> for io::Error {
    fn from(error: StoreError) -> Self {
        io::Error::other(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_item_is_named_through_readers() {
        let item = ItemId([7; 16]);
        let damaged =
            StoreError::DamagedItem { item, section: 0, frame: Some(3), what: "is damaged" };
        assert_eq!(StoreError::damaged_item(&damaged), Some(item));
        assert_eq!(StoreError::damaged_item(&io::Error::from(damaged)), Some(item));
        let other = StoreError::Unknown { item };
        assert_eq!(StoreError::damaged_item(&other), None);
    }

    #[test]
    fn a_shortage_of_descriptors_is_about_this_machine_and_not_about_the_store() {
        let path = Path::new("store");
        let class = |code| {
            let error = StoreError::io("open", path, &io::Error::from_raw_os_error(code));
            // The class survives the way through a reader.
            let back = io::Error::from(error.clone()).downcast::<StoreError>().unwrap();
            assert_eq!(back.class(), error.class());
            error.class()
        };
        assert_eq!([class(24), class(23)], [ErrorClass::System; 2]);
        assert_eq!(
            [class(28), class(13), class(5)],
            [ErrorClass::Unwritten, ErrorClass::Store, ErrorClass::Store,]
        );
    }
}
