//! Long-term keys, which identify a party to its peers.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;
use std::time::SystemTime;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use zeroize::{Zeroize, Zeroizing};

use crate::text::printable;
use crate::{Error, Result, files};

/// The length limit of a key file, in bytes.
const MAX_FILE: u64 = 64 << 10;

/// The fingerprint of a public key: SHA-256 of the certificate's SubjectPublicKeyInfo (DER).
///
/// Written as 64 lower-case hexadecimal digits, as printed by `openssl x509 -pubkey -noout |
/// openssl pkey -pubin -outform der | sha256sum`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Returns the fingerprint of a certificate's key.
    ///
    /// # Errors
    /// The text says why it is not a certificate.
    pub(crate) fn of(certificate: &CertificateDer<'_>) -> std::result::Result<Self, String> {
        let parsed = rustls::server::ParsedCertificate::try_from(certificate)
            .map_err(|e| format!("not a usable certificate: {e}"))?;
        let key = parsed.subject_public_key_info();
        Ok(Fingerprint(Sha256::digest(key.as_ref()).into()))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl FromStr for Fingerprint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text.trim(), &mut bytes).map_err(|_| {
            Error::invalid_input(format!(
                "`{}` is not a fingerprint: 64 hexadecimal digits are needed",
                printable(text)
            ))
        })?;
        Ok(Fingerprint(bytes))
    }
}

/// A key that a peer may prove to hold, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AcceptedKey {
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// When it is accepted no longer; `None` if that time is not known.
    pub until: Option<SystemTime>,
}

impl From<Fingerprint> for AcceptedKey {
    fn from(fingerprint: Fingerprint) -> Self {
        AcceptedKey { fingerprint, until: None }
    }
}

impl AcceptedKey {
    /// Returns whether the key is accepted at this time.
    pub fn is_accepted_at(&self, time: SystemTime) -> bool {
        self.until.is_none_or(|until| time < until)
    }

    /// Reads a time as RFC 3339 writes it, such as `2026-12-31T00:00:00Z`.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] if it is none.
    pub fn read_until(text: &str) -> Result<SystemTime> {
        let time = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| {
            let shown = printable(text);
            Error::invalid_input(format!("`{shown}` is no time such as 2026-12-31T00:00:00Z"))
        })?;
        Ok(time.into())
    }
}

/// A party's key pair (Ed25519) with a self-signed certificate.
///
/// Names and dates in the certificate are meaningless: peers recognise each other by
/// [`Fingerprint`]. The private key is wiped when dropped.
pub struct Identity {
    certificate: CertificateDer<'static>,
    /// The private key, as PKCS #8 in DER.
    key: Zeroizing<Vec<u8>>,
    fingerprint: Fingerprint,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

impl Identity {
    /// Generates a new key pair.
    ///
    /// # Errors
    /// [`Error::Internal`] if the operating system gives no randomness.
    pub fn generate() -> Result<Self> {
        let failed = |e: rcgen::Error| Error::internal(format!("cannot make a key: {e}"));
        let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).map_err(failed)?;
        let names = vec!["symbolon".to_string()];
        let parameters = rcgen::CertificateParams::new(names).map_err(failed)?;
        let certificate = parameters.self_signed(&pair).map_err(failed)?;
        let key = Zeroizing::new(pair.serialize_der());
        Self::new(certificate.der().clone(), key)
    }

    fn new(certificate: CertificateDer<'static>, key: Zeroizing<Vec<u8>>) -> Result<Self> {
        let fingerprint = Fingerprint::of(&certificate).map_err(Error::store)?;
        Ok(Identity { certificate, key, fingerprint })
    }

    /// Returns the fingerprint that peers pin.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Writes the certificate and the private key to one PEM file that only its owner may read.
    ///
    /// # Errors
    /// [`Error::Store`] if the file exists already and `overwrite` is not set, or cannot be
    /// written.
    pub fn save(&self, path: impl AsRef<Path>, overwrite: bool) -> Result<()> {
        let path = path.as_ref();
        let failed = |e: std::io::Error| {
            let shown = path.display();
            if e.kind() == std::io::ErrorKind::AlreadyExists {
                Error::store(format!("{shown} exists already; it is not overwritten unless forced"))
            } else {
                let text = format!("cannot write the key file {shown}: {e}");
                Error::of_system(&e, text, Error::Store)
            }
        };
        let mut text = Zeroizing::new(String::with_capacity(4096));
        push_pem(&mut text, "CERTIFICATE", &self.certificate);
        push_pem(&mut text, "PRIVATE KEY", &self.key);
        if !overwrite {
            return write_new(path, text.as_bytes()).map_err(failed);
        }
        // The old key is there until the new one is on disk.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let mut beside = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        let written = beside.write_all(text.as_bytes()).and_then(|()| beside.as_file().sync_all());
        written.map_err(failed)?;
        beside.persist(path).map_err(|e| failed(e.error))?;
        Ok(())
    }

    /// Reads a file that [`Identity::save`] wrote.
    ///
    /// # Errors
    /// [`Error::Store`] if the file cannot be read, others than its owner may read it, or it does
    /// not hold a certificate and its private key.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let wrong = |what: &dyn fmt::Display| {
            Error::store(format!("cannot use the key file {}: {what}", path.display()))
        };
        let unread = |e: std::io::Error| {
            let text = format!("cannot use the key file {}: {e}", path.display());
            Error::of_system(&e, text, Error::Store)
        };
        let mut file = files::open(path).map_err(unread)?;
        #[cfg(unix)]
        {
            let metadata = file.metadata().map_err(|e| wrong(&e))?;
            let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
            if mode & 0o077 != 0 {
                return Err(wrong(&"others may read it; make it private with chmod 600"));
            }
        }
        let text = files::read_all(&mut file, MAX_FILE).map_err(unread)?;
        Self::from_pem(&text).map_err(|what| wrong(&what))
    }

    /// Decodes the certificate and key from PEM text.
    pub(crate) fn from_pem(text: &[u8]) -> std::result::Result<Self, String> {
        let certificate = CertificateDer::from_pem_slice(text)
            .map_err(|_| "it holds no PEM certificate".to_string())?;
        let mut decoded = PrivatePkcs8KeyDer::from_pem_slice(text)
            .map_err(|_| "it holds no PEM private key".to_string())?;
        let key = Zeroizing::new(decoded.secret_pkcs8_der().to_vec());
        // It does not wipe itself when it is dropped.
        decoded.zeroize();
        let identity = Self::new(certificate, key).map_err(|e| e.to_string())?;
        let signer = identity.signing_key()?;
        let public = signer.public_key().ok_or("its private key is of an unknown kind")?;
        if Fingerprint(Sha256::digest(public.as_ref()).into()) != identity.fingerprint {
            return Err("its certificate and private key do not belong together".to_string());
        }
        Ok(identity)
    }

    fn signing_key(
        &self,
    ) -> std::result::Result<std::sync::Arc<dyn rustls::sign::SigningKey>, String> {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.as_slice()));
        rustls::crypto::ring::sign::any_supported_type(&key)
            .map_err(|_| "its private key cannot be used".to_string())
    }

    /// Returns the certificate and key in the form that the TLS layer expects.
    pub(crate) fn certified(&self) -> Result<rustls::sign::CertifiedKey> {
        let key =
            self.signing_key().map_err(|e| Error::store(format!("this party's key file: {e}")))?;
        Ok(rustls::sign::CertifiedKey::new(vec![self.certificate.clone()], key))
    }
}

/// Writes a file that only its owner may read. It is always new: an existing one would keep its
/// mode, and a process that has it open could read the key.
fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Returns an identity that presents `shown`'s certificate without its private key.
#[cfg(test)]
pub(crate) fn impostor(shown: &Identity, own: &Identity) -> Identity {
    Identity {
        certificate: shown.certificate.clone(),
        key: own.key.clone(),
        fingerprint: shown.fingerprint,
    }
}

/// Returns the base-64 digit of a number below 64. It is computed, because the private key would
/// index a table.
///
/// Timing: private keys | digits are computed, no table is indexed by the key
fn base64_digit(number: u8) -> char {
    // The offset that is added from one number on, so that each range begins with its own digit.
    let from = |first: u8, more: u8| ((first - 1).wrapping_sub(number) >> 7).wrapping_neg() & more;
    let lower = from(26, b'a' - b'Z' - 1);
    let decimal = from(52, b'0'.wrapping_sub(b'z' + 1));
    let plus = from(62, b'+'.wrapping_sub(b'9' + 1));
    let slash = from(63, b'/' - b'+' - 1);
    let digit = [lower, decimal, plus, slash].into_iter().fold(b'A' + number, u8::wrapping_add);
    char::from(digit)
}

/// Appends DER bytes in PEM armour.
fn push_pem(text: &mut String, label: &str, der: &[u8]) {
    text.push_str(&format!("-----BEGIN {label}-----\n"));
    // 48 bytes give a line of 64 characters.
    for line in der.chunks(48) {
        for group in line.chunks(3) {
            let mut word = [0; 4];
            word[1..=group.len()].copy_from_slice(group);
            let word = u32::from_be_bytes(word);
            for i in 0..4 {
                let digit = base64_digit((word >> (18 - 6 * i) & 63) as u8);
                text.push(if i > group.len() { '=' } else { digit });
            }
        }
        text.push('\n');
    }
    text.push_str(&format!("-----END {label}-----\n"));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn save_and_load() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("me.key");
        let identity = Identity::generate().unwrap();
        identity.save(&path, false).unwrap();
        let loaded = Identity::load(&path).unwrap();
        assert_eq!(loaded.fingerprint(), identity.fingerprint());
        assert_eq!(*loaded.key, *identity.key);

        let other = Identity::generate().unwrap();
        assert_ne!(other.fingerprint(), identity.fingerprint());
        let refused = other.save(&path, false).unwrap_err();
        assert!(refused.to_string().contains("exists already"), "{refused}");
        assert_eq!(Identity::load(&path).unwrap().fingerprint(), identity.fingerprint());
        other.save(&path, true).unwrap();
        assert_eq!(Identity::load(&path).unwrap().fingerprint(), other.fingerprint());
        let files = std::fs::read_dir(folder.path()).unwrap();
        assert_eq!(files.count(), 1, "nothing is left beside it");
        assert!(!format!("{other:?}").contains("key:"));
    }

    #[cfg(unix)]
    #[test]
    fn key_files_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("me.key");
        Identity::generate().unwrap().save(&path, false).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Identity::load(&path).unwrap_err().to_string().contains("chmod 600"));
    }

    #[test]
    fn mixed_and_damaged_files_are_refused() {
        let (a, b) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        let mut mixed = String::new();
        push_pem(&mut mixed, "CERTIFICATE", &a.certificate);
        push_pem(&mut mixed, "PRIVATE KEY", &b.key);
        let error = Identity::from_pem(mixed.as_bytes()).unwrap_err();
        assert!(error.contains("do not belong together"), "{error}");
        let mut alone = String::new();
        push_pem(&mut alone, "CERTIFICATE", &a.certificate);
        assert!(Identity::from_pem(alone.as_bytes()).unwrap_err().contains("no PEM private key"));
        assert!(Identity::from_pem(b"").is_err());
    }

    #[test]
    fn fingerprints_are_hex() {
        let print = Identity::generate().unwrap().fingerprint();
        assert_eq!(print.to_string().parse::<Fingerprint>().unwrap(), print);
        assert_eq!(print.to_string().len(), 64);
        assert!("12".parse::<Fingerprint>().is_err());
        assert!("g".repeat(64).parse::<Fingerprint>().is_err());
    }

    #[test]
    fn digits_are_those_of_rfc_4648() {
        let digits: String = (0..64).map(base64_digit).collect();
        assert_eq!(digits, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    }

    #[test]
    fn pem_padding() {
        let mut text = String::new();
        push_pem(&mut text, "X", b"fooba");
        push_pem(&mut text, "X", b"foob");
        push_pem(&mut text, "X", b"foo");
        // The test vectors of RFC 4648.
        for vector in ["\nZm9vYmE=\n", "\nZm9vYg==\n", "\nZm9v\n"] {
            assert!(text.contains(vector), "{text}");
        }
    }
}
