//! The certificate of the door for clients, which browsers must accept.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use symbolon::{Error, Result};
use tokio_rustls::TlsAcceptor;

/// The files of a certificate.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The certificate and those that it stands on, as PEM.
    pub chain: PathBuf,
    /// Its private key, as PEM.
    pub key: PathBuf,
}

/// Reads a certificate.
pub(super) fn acceptor(files: &Certificate) -> Result<TlsAcceptor> {
    let wrong = |path: &PathBuf, what: &dyn std::fmt::Display| {
        Error::InvalidInput(format!("the certificate {}: {what}", path.display()))
    };
    let Certificate { chain, key } = files;
    let certificates = CertificateDer::pem_file_iter(chain)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|error| wrong(chain, &error))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, &error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| wrong(chain, &error))?
        .with_no_client_auth()
        .with_single_cert(certificates, private)
        .map_err(|error| wrong(chain, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
