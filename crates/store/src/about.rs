//! The file that describes an unfinished item; every draft directory has one.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::access::{self, Mode};
use crate::{ItemMeta, Result, StoreError, fault};

/// The maximum size of this file, in bytes: enough for 256 parties with fingerprints.
pub(crate) const MAX_ABOUT: u64 = 64 << 10;

/// The content of the file that describes an unfinished item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// What the item will be.
    pub meta: ItemMeta,
    /// When it was begun, in seconds since 1970.
    pub begun: u64,
}

impl About {
    pub(crate) fn of(meta: &ItemMeta) -> About {
        About { meta: meta.clone(), begun: crate::now() }
    }

    pub(crate) fn path(directory: &Path) -> PathBuf {
        directory.join("about")
    }

    pub(crate) fn save(&self, directory: &Path) -> Result<()> {
        let path = Self::path(directory);
        let text = serde_json::to_vec(self)
            .map_err(|e| StoreError::Invalid(format!("cannot write JSON: {e}")))?;
        let mut file = access::open(&path, Mode::New)?;
        fault::write("begin.files")
            .and_then(|()| file.write_all(&text))
            .map_err(|e| StoreError::io("write", &path, &e))
    }

    /// Decodes the file that describes an unfinished item.
    ///
    /// # Errors
    /// The bytes do not decode, or the metadata is invalid.
    pub fn decode(bytes: &[u8]) -> std::result::Result<About, String> {
        let about: About =
            serde_json::from_slice(bytes).map_err(|_| "has invalid content".to_string())?;
        about.meta.check(false)?;
        Ok(about)
    }
}
