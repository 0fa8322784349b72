//! `store.toml`: what a process must know before it can read anything else in a store.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::keys::{Lock, Protection, RootKey, random, same_tag};
use crate::location::StoreLocation;
use crate::{Result, StoreError, files, serde_hex};

/// The format of stores that this program writes and reads. Stores of any other are refused.
pub const FORMAT: u64 = 8;
/// The maximum length of a manifest, in bytes.
const MAX_MANIFEST: u64 = 64 << 10;
/// Appended to errors about a manifest that cannot be trusted.
const UNREADABLE: &str = " (without it the store cannot be reset, only removed)";
const NAME: &str = "store.toml";

/// The content of `store.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The format of everything in the store.
    pub format: u64,
    /// The store's name, random.
    #[serde(with = "serde_hex")]
    pub store: [u8; 16],
    /// When it was made, in seconds since 1970.
    pub created: u64,
    /// The current body of the store: 0 is the store's own directory.
    #[serde(default)]
    pub body: u64,
    /// The protection of the store.
    pub protection: Lock,
    /// Where the store was made, or where its ownership was last reset.
    #[serde(default)]
    pub host: StoreLocation,
    /// Tags that detect a wrong key, and damage.
    pub check: Check,
}

/// The tags that authenticate a manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// A tag over the store's name alone: it shows whether the key is right.
    #[serde(with = "serde_hex")]
    pub key: [u8; 32],
    /// A tag over everything else in the file.
    #[serde(with = "serde_hex")]
    pub all: [u8; 32],
}

impl Manifest {
    /// Returns the path of the manifest of the store in `directory`.
    pub(crate) fn path(directory: &Path) -> PathBuf {
        directory.join(NAME)
    }

    /// Creates the manifest and root key of a new store, not yet written and not yet bound to a
    /// location.
    pub(crate) fn new(directory: &Path, protection: &Protection) -> Result<(Self, RootKey)> {
        let store = random()?;
        let lock = Lock::new(protection)?;
        let root = lock.open(protection, &store, directory)?;
        let created = crate::now();
        let (host, check) = (StoreLocation::default(), Check::default());
        let manifest =
            Manifest { format: FORMAT, store, created, body: 0, protection: lock, host, check };
        Ok((manifest, root))
    }

    /// Decodes a manifest. Does not check its tags.
    ///
    /// # Errors
    /// `Err(Ok(format))` if the manifest has another format; otherwise `Err(Err(reason))`.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, std::result::Result<u64, String>> {
        /// The part that is the same in all formats.
        #[derive(Deserialize)]
        struct Version {
            format: u64,
        }
        let wrong = |what: &str| Err(what.to_string());
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("is not text"))?;
        let version: Version = toml::from_str(text).map_err(|_| wrong("names no format"))?;
        if version.format != FORMAT {
            return Err(Ok(version.format));
        }
        let manifest: Manifest = toml::from_str(text).map_err(|_| wrong("has invalid content"))?;
        manifest.protection.check().map_err(Err)?;
        if manifest.body > i64::MAX as u64 {
            return Err(wrong("names an impossible body"));
        }
        Ok(manifest)
    }

    /// Reads and checks the manifest of the store in `directory`.
    ///
    /// # Errors
    /// There is no store, it has another format, the key is wrong, or the file is damaged.
    pub(crate) fn load(directory: &Path, protection: &Protection) -> Result<(Self, RootKey)> {
        let path = Self::path(directory);
        let Some(bytes) = files::read_small(&path, MAX_MANIFEST)? else {
            return Err(StoreError::NotAStore { path: directory.to_path_buf() });
        };
        let manifest = Self::decode(&bytes).map_err(|wrong| match wrong {
            Ok(found) => {
                let path = directory.to_path_buf();
                StoreError::Version { path, found, supported: FORMAT }
            }
            Err(what) => StoreError::damaged(&path, what + UNREADABLE),
        })?;
        let root = manifest.protection.open(protection, &manifest.store, directory)?;
        let expected = manifest.tags(&root)?;
        let right_key = same_tag(&expected.key, &manifest.check.key);
        if !right_key && manifest.protection != Lock::Nothing {
            return Err(StoreError::Locked {
                path: directory.to_path_buf(),
                what:
                    "the passphrase or key file is not the one it was made with (or store.toml is \
                       damaged): give the right one"
                        .to_string(),
            });
        }
        if !right_key || !same_tag(&expected.all, &manifest.check.all) {
            return Err(StoreError::damaged(&path, "was changed".to_string() + UNREADABLE));
        }
        Ok((manifest, root))
    }

    /// Returns the manifest of the same store with its next body, protected by `protection`; not
    /// yet written.
    pub(crate) fn next(
        &self,
        directory: &Path,
        protection: &Protection,
    ) -> Result<(Self, RootKey)> {
        let lock = Lock::new(protection)?;
        let root = lock.open(protection, &self.store, directory)?;
        Ok((Manifest { body: self.body + 1, protection: lock, ..self.clone() }, root))
    }

    /// Writes the manifest of the store in `directory`, and replaces an older one atomically.
    pub(crate) fn save(&mut self, directory: &Path, root: &RootKey) -> Result<()> {
        self.check = self.tags(root)?;
        files::replace(&Self::path(directory), self.text()?.as_bytes())?;
        files::sync_directory(directory)
    }

    fn text(&self) -> Result<String> {
        toml::to_string(self).map_err(|e| StoreError::Invalid(format!("cannot write {NAME}: {e}")))
    }

    fn tags(&self, root: &RootKey) -> Result<Check> {
        let bare = Manifest { check: Check::default(), ..self.clone() };
        Ok(Check {
            key: root.tag("key check", &self.store),
            all: root.tag("manifest", bare.text()?.as_bytes()),
        })
    }
}
