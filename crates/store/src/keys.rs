//! Passphrases and key files, and the keys derived from them.

use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use argon2::{Algorithm, Argon2, Params, Version};
use serde::{Deserialize, Serialize};
use symbolon_primitives::{Secret, stack, watch};
use zeroize::{Zeroize, Zeroizing};

use crate::access::Mode;
use crate::{Cause, Result, StoreError, access, serde_hex};

/// The maximum length of a key file, in bytes.
const MAX_KEY_FILE: u64 = 64 << 10;
/// The minimum length of a key file, in bytes.
const MIN_KEY_FILE: u64 = 32;

/// The maximum length of a passphrase, in bytes.
const MAX_PASSPHRASE: usize = 4096;

/// How a store's files are protected against anyone who can read the disk.
#[derive(Clone)]
pub enum Protection {
    /// No encryption: files have checksums, and modes that keep other users out.
    None,
    /// Encrypted under a passphrase, stretched with Argon2id (64 MiB, three passes).
    Passphrase(Zeroizing<String>),
    /// Encrypted under the content of a file, such as [`create_key_file`] makes.
    KeyFile(PathBuf),
}

impl Protection {
    /// Returns encryption under this passphrase.
    pub fn passphrase(text: impl Into<String>) -> Self {
        Protection::Passphrase(Zeroizing::new(text.into()))
    }

    /// Reads the passphrase from the first line of a file.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the file is not a regular file, belongs to another user, or can
    /// be read by others, or if its first line is empty, longer than 4 KiB or not UTF-8.
    pub fn passphrase_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let wrong = |what: &str| {
            let path = path.display();
            StoreError::Invalid(format!("cannot use the passphrase file {path}: {what}"))
        };
        let file = access::open_secret(path).map_err(|what| wrong(&what))?;
        let mut line = read_line(file).map_err(|e| StoreError::io("read", path, &e))?;
        if line.len() > MAX_PASSPHRASE {
            return Err(wrong("its first line is too long"));
        }
        while line.last() == Some(&b'\r') {
            line.pop();
        }
        match std::str::from_utf8(&line) {
            Ok("") => Err(wrong("its first line is empty")),
            Ok(text) => Ok(Protection::passphrase(text)),
            Err(_) => Err(wrong("its first line is not UTF-8 text")),
        }
    }
}

impl fmt::Debug for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Protection::None => f.write_str("None"),
            Protection::Passphrase(_) => f.write_str("Passphrase(..)"),
            Protection::KeyFile(path) => f.debug_tuple("KeyFile").field(path).finish(),
        }
    }
}

/// Writes a new random key to a file that only its owner may read.
///
/// Keep the file apart from the store: anyone with both can read the store.
///
/// Timing: the key | digits are computed, no table is indexed by the key
///
/// # Errors
/// The file exists already, or cannot be written.
pub fn create_key_file(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let key = Zeroizing::new(random::<32>()?);
    let mut text = Zeroizing::new(String::with_capacity(65));
    text.extend(key.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit));
    text.push('\n');
    let mut file = access::open(path, Mode::New)?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(|e| StoreError::io("write", path, &e))
}

/// Reads the bytes up to the first line feed, or slightly more than a passphrase may have. Uses a
/// single buffer that is wiped: a buffered reader would leave a copy.
fn read_line(mut file: File) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let mut line = Zeroizing::new(vec![0; MAX_PASSPHRASE + 2]);
    let mut length = 0;
    loop {
        let n = match file.read(&mut line[length..]) {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let end = line[length..length + n].iter().position(|byte| *byte == b'\n');
        length += end.unwrap_or(n);
        if end.is_some() || n == 0 {
            line.truncate(length);
            return Ok(line);
        }
    }
}

/// Returns the hexadecimal digit of a number below 16. It is computed, because the key would index
/// a table.
fn digit(nibble: u8) -> char {
    let letter = 9u8.wrapping_sub(nibble) >> 7;
    char::from(b'0' + nibble + letter * (b'a' - b'0' - 10))
}

/// Compares tags in constant time, because a forger may be trying to guess one of them.
///
/// Timing: both tags | `blake3::Hash` compares all bytes
pub(crate) fn same_tag(a: &[u8; 32], b: &[u8; 32]) -> bool {
    blake3::Hash::from_bytes(*a) == blake3::Hash::from_bytes(*b)
}

/// Returns random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|e| StoreError::Io {
        what: "get",
        path: PathBuf::from("randomness"),
        why: Cause::from(&std::io::Error::other(e.to_string())),
    })?;
    Ok(bytes)
}

/// A store's protection, as its manifest states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "by", deny_unknown_fields)]
pub enum Lock {
    /// No protection.
    Nothing,
    /// A passphrase, stretched with Argon2id.
    Passphrase {
        /// Fresh for every store.
        #[serde(with = "serde_hex")]
        salt: [u8; 32],
        /// The memory, in KiB.
        memory: u32,
        /// The number of passes over the memory.
        passes: u32,
        /// The number of lanes.
        lanes: u32,
    },
    /// The content of a file.
    KeyFile {
        /// Fresh for every store.
        #[serde(with = "serde_hex")]
        salt: [u8; 32],
    },
}

impl Lock {
    /// Creates a lock for a new store.
    pub(crate) fn new(protection: &Protection) -> Result<Self> {
        Ok(match protection {
            Protection::None => Lock::Nothing,
            // RFC 9106, second recommended option, but with one lane, because our implementation
            // has one thread.
            Protection::Passphrase(_) => {
                Lock::Passphrase { salt: random()?, memory: 64 << 10, passes: 3, lanes: 1 }
            }
            Protection::KeyFile(_) => Lock::KeyFile { salt: random()? },
        })
    }

    /// Checks that the parameters, which come from a file, do not ask for an absurd effort.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        match *self {
            Lock::Passphrase { memory, passes, lanes, .. }
                if memory > 1 << 20 || passes > 64 || lanes > 16 =>
            {
                Err("has out-of-range key-derivation parameters".to_string())
            }
            _ => Ok(()),
        }
    }

    /// Derives the root key of the store `store` in the directory `path` from `protection`.
    ///
    /// Timing: passphrase | **depends**: Argon2id's addresses. An observer of the caches who has
    /// the salt can test guesses
    pub(crate) fn open(
        &self,
        protection: &Protection,
        store: &[u8; 16],
        path: &Path,
    ) -> Result<RootKey> {
        let locked = |what: &str| {
            Err(StoreError::Locked { path: path.to_path_buf(), what: what.to_string() })
        };
        match (self, protection) {
            (Lock::Nothing, Protection::None) => Ok(RootKey::derive(b"nothing", store)),
            (Lock::Nothing, _) => {
                locked("it is not protected, so give neither a passphrase nor a key file")
            }
            (Lock::Passphrase { salt, memory, passes, lanes }, Protection::Passphrase(text)) => {
                let mut key = Secret::new([0; 32]);
                let stretched =
                    Params::new(*memory, *passes, *lanes, Some(32)).and_then(|params| {
                        Argon2::new(Algorithm::Argon2id, Version::V0x13, params).hash_password_into(
                            text.as_bytes(),
                            salt,
                            &mut *key,
                        )
                    });
                match stretched {
                    Ok(()) => Ok(RootKey::derive(&*key, store)),
                    Err(e) => locked(&format!("the passphrase cannot be stretched: {e}")),
                }
            }
            (Lock::Passphrase { .. }, _) => locked("it is protected by a passphrase: give that"),
            (Lock::KeyFile { salt }, Protection::KeyFile(file)) => {
                let mut content = read_key_file(file)?;
                content.extend_from_slice(salt);
                Ok(RootKey::derive(&content, store))
            }
            (Lock::KeyFile { .. }, _) => locked("it is protected by a key file: give that"),
        }
    }
}

fn read_key_file(path: &Path) -> Result<Zeroizing<Vec<u8>>> {
    let failed = |e: &std::io::Error| StoreError::io("read", path, e);
    let wrong = |what: &str| {
        StoreError::Invalid(format!("cannot use the key file {}: {what}", path.display()))
    };
    let file = access::open_secret(path).map_err(|what| wrong(&what))?;
    // The capacity covers the longest file and the salt: growing would leave unwiped copies.
    let mut content = Zeroizing::new(Vec::with_capacity(MAX_KEY_FILE as usize + 64));
    file.take(MAX_KEY_FILE + 1).read_to_end(&mut content).map_err(|e| failed(&e))?;
    match content.len() as u64 {
        n if n > MAX_KEY_FILE => Err(wrong("it is too long")),
        n if n < MIN_KEY_FILE => Err(wrong("it is too short for a key")),
        _ => Ok(content),
    }
}

/// The root of all keys of a store. It is wiped when dropped. In a store without protection it is
/// public.
pub struct RootKey(Secret<[u8; 32]>);

impl RootKey {
    /// Derives one store's root key from a secret.
    pub fn derive(secret: &[u8], store: &[u8; 16]) -> Self {
        RootKey(subkey("symbolon store root v1", store, secret))
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns a tag over `bytes` for one purpose.
    pub(crate) fn tag(&self, purpose: &'static str, bytes: &[u8]) -> [u8; 32] {
        let _stack = stack::ShallowGuard;
        let mut hasher = self.hasher(purpose);
        let tag = *hasher.update(bytes).finalize().as_bytes();
        hasher.zeroize();
        tag
    }

    /// Returns a hasher that computes a tag for one purpose.
    pub(crate) fn hasher(&self, purpose: &'static str) -> blake3::Hasher {
        blake3::Hasher::new_keyed(&subkey("symbolon store tag v1", purpose.as_bytes(), &*self.0))
    }
}

impl fmt::Debug for RootKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RootKey(..)")
    }
}

fn subkey(context: &'static str, name: &[u8], secret: &[u8]) -> Secret<[u8; 32]> {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    hasher.update(&(name.len() as u64).to_le_bytes());
    hasher.update(name);
    hasher.update(secret);
    let mut key = Secret::new([0; 32]);
    let mut reader = hasher.finalize_xof();
    reader.fill(&mut *key);
    watch::tell("key of a store", &*key);
    reader.zeroize();
    hasher.zeroize();
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_files_are_hexadecimal() {
        let digits: String = (0..16).map(digit).collect();
        assert_eq!(digits, "0123456789abcdef");
    }

    #[test]
    fn comparison_sees_every_byte() {
        for i in 0..32 {
            let mut other = [7; 32];
            assert!(same_tag(&[7; 32], &other));
            other[i] ^= 1;
            assert!(!same_tag(&[7; 32], &other));
        }
    }
}
