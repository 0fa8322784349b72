//! TLS 1.3 over TCP, with both sides' keys pinned.
//!
//! There are no certificate authorities: the peer is the holder of the private key for a pinned
//! fingerprint. A side that may prove one of several keys proves the first that the other accepts;
//! the other names those that it accepts as if they were authorities. The verifiers here compare
//! fingerprints and leave the handshake's signature to rustls; names and dates in certificates are
//! ignored. There is no session resumption and no early data.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustls::client::ResolvesClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, Connection,
    DigitallySignedStruct, DistinguishedName, OtherError, ServerConfig, ServerConnection,
    SignatureScheme,
};

use crate::keys::{AcceptedKey, Fingerprint, Identity};
use crate::raw::{Sink, Source, Tried};
use crate::tcp::{DeadlineStream, SocketReader, SocketWriter};
use crate::{Error, Result, TransportReason};

/// The amount of plaintext encrypted under the lock at once, which bounds the wait of the reading
/// side.
const PORTION: usize = 64 << 10;

/// The amount of ciphertext that is read or written at once.
const BATCH: usize = 256 << 10;

/// The label of the exported keying material.
const EXPORTER: &[u8] = b"EXPORTER-symbolon-session-v1";

/// A certificate whose key is not the pinned one.
#[derive(Debug, thiserror::Error)]
#[error("the peer's key has fingerprint {found}, expected {expected}")]
struct NotPinned {
    found: String,
    expected: String,
}

/// Accepts only the pinned keys; without pins, any peer that proves possession of its key.
///
/// Check: connection | TLS with both keys pinned, preamble | a stranger, another version | –
#[derive(Debug)]
struct Pins {
    pins: Option<Vec<AcceptedKey>>,
    /// What the peer is told about them; empty if it is told nothing.
    hints: Vec<DistinguishedName>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pins {
    fn check(&self, certificate: &CertificateDer<'_>) -> std::result::Result<(), rustls::Error> {
        let found = Fingerprint::of(certificate)
            .map_err(|_| rustls::Error::InvalidCertificate(CertificateError::BadEncoding))?;
        let Some(pins) = &self.pins else { return Ok(()) };
        let now = SystemTime::now();
        if let Some(key) = pins.iter().find(|key| key.fingerprint == found) {
            return match key.until.filter(|_| !key.is_accepted_at(now)) {
                None => Ok(()),
                Some(until) => {
                    let (time, not_after) = (unix_time(now), unix_time(until));
                    let error = CertificateError::ExpiredContext { time, not_after };
                    Err(rustls::Error::InvalidCertificate(error))
                }
            };
        }
        let valid = pins.iter().filter(|key| key.is_accepted_at(now));
        let expected: Vec<_> = valid.map(|key| key.fingerprint.to_string()).collect();
        let error = NotPinned { found: found.to_string(), expected: expected.join(" or ") };
        let error = CertificateError::Other(OtherError(Arc::new(error)));
        Err(rustls::Error::InvalidCertificate(error))
    }
}

fn unix_time(time: SystemTime) -> UnixTime {
    UnixTime::since_unix_epoch(time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

/// Returns the name by which a peer is told that a key is accepted: a common name with the
/// fingerprint.
fn hint(fingerprint: &Fingerprint) -> DistinguishedName {
    // A set of one sequence of the attribute 2.5.4.3 and a UTF-8 text of 64 bytes.
    let mut name = vec![0x31, 73, 0x30, 71, 0x06, 3, 0x55, 4, 3, 0x0c, 64];
    name.extend_from_slice(fingerprint.to_string().as_bytes());
    DistinguishedName::in_sequence(&name)
}

/// This side's keys. Presents the first that the peer accepts, and the first of all if it says
/// nothing of them.
#[derive(Debug)]
struct OwnKeys(Vec<(DistinguishedName, Arc<CertifiedKey>)>);

impl OwnKeys {
    fn choose(&self, accepted: impl Fn(&DistinguishedName) -> bool) -> Option<Arc<CertifiedKey>> {
        let chosen = self.0.iter().find(|(name, _)| accepted(name)).or(self.0.first());
        chosen.map(|(_, key)| key.clone())
    }
}

impl ResolvesClientCert for OwnKeys {
    fn resolve(
        &self,
        accepted: &[&[u8]],
        _schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        self.choose(|name| accepted.contains(&name.as_ref()))
    }

    fn has_certs(&self) -> bool {
        !self.0.is_empty()
    }
}

impl ResolvesServerCert for OwnKeys {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let accepted = hello.certificate_authorities().unwrap_or_default();
        self.choose(|name| accepted.iter().any(|other| other.as_ref() == name.as_ref()))
    }
}

/// The methods that both verifiers share.
macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _message: &[u8],
            _cert: &CertificateDer<'_>,
            _dss: &DigitallySignedStruct,
        ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
            Err(rustls::Error::General("TLS 1.2 is not spoken here".to_string()))
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
            rustls::crypto::verify_tls13_signature(message, cert, dss, &self.algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.algorithms.supported_schemes()
        }
    };
}

impl ServerCertVerifier for Pins {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        self.check(end_entity).map(|()| ServerCertVerified::assertion())
    }

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        (!self.hints.is_empty()).then_some(&self.hints)
    }

    signatures! {}
}

impl ClientCertVerifier for Pins {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.hints
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> std::result::Result<ClientCertVerified, rustls::Error> {
        self.check(end_entity).map(|()| ClientCertVerified::assertion())
    }

    signatures! {}
}

/// The configuration for TLS connections, created once.
#[derive(Clone)]
pub(crate) struct TlsSetup {
    provider: Arc<CryptoProvider>,
    keys: Arc<OwnKeys>,
    fingerprints: Vec<Fingerprint>,
    /// Whether peers are told which of their keys are accepted.
    tells: bool,
}

impl TlsSetup {
    /// Uses one key, and tells peers nothing about theirs.
    pub(crate) fn new(identity: &Identity) -> Result<Self> {
        Ok(TlsSetup { tells: false, ..TlsSetup::of_several([identity])? })
    }

    /// Uses the first of several keys that the peer accepts.
    pub(crate) fn of_several<'a>(
        identities: impl IntoIterator<Item = &'a Identity>,
    ) -> Result<Self> {
        let mut provider = ring::default_provider();
        // AES-128 matches the protocols' security level, and is the fastest.
        provider.cipher_suites = vec![
            ring::cipher_suite::TLS13_AES_128_GCM_SHA256,
            ring::cipher_suite::TLS13_AES_256_GCM_SHA384,
            ring::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        ];
        let (mut keys, mut fingerprints) = (Vec::new(), Vec::new());
        for identity in identities {
            let fingerprint = identity.fingerprint();
            keys.push((hint(&fingerprint), Arc::new(identity.certified()?)));
            fingerprints.push(fingerprint);
        }
        let (provider, keys) = (Arc::new(provider), Arc::new(OwnKeys(keys)));
        Ok(TlsSetup { provider, keys, fingerprints, tells: true })
    }

    /// Returns the fingerprints of this side's keys.
    pub(crate) fn fingerprints(&self) -> &[Fingerprint] {
        &self.fingerprints
    }

    fn pins(&self, pins: Option<&[AcceptedKey]>) -> Arc<Pins> {
        let algorithms = self.provider.signature_verification_algorithms;
        let now = SystemTime::now();
        let told =
            pins.unwrap_or_default().iter().filter(|key| self.tells && key.is_accepted_at(now));
        let hints = told.map(|key| hint(&key.fingerprint)).collect();
        Arc::new(Pins { pins: pins.map(<[_]>::to_vec), hints, algorithms })
    }

    /// Returns the listening side's configuration, which accepts these peers, or with `None`
    /// anybody with a key.
    pub(crate) fn server(&self, pins: Option<&[AcceptedKey]>) -> Result<Arc<ServerConfig>> {
        let mut config = ServerConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(setup_failed)?
            .with_client_cert_verifier(self.pins(pins))
            .with_cert_resolver(self.keys.clone());
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        Ok(Arc::new(config))
    }

    /// Returns the dialling side's configuration, which accepts a peer with one of these keys.
    pub(crate) fn client(&self, pins: &[AcceptedKey]) -> Result<Arc<ClientConfig>> {
        let mut config = ClientConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(setup_failed)?
            .dangerous()
            .with_custom_certificate_verifier(self.pins(Some(pins)))
            .with_client_cert_resolver(self.keys.clone());
        config.resumption = rustls::client::Resumption::disabled();
        config.enable_sni = false;
        Ok(Arc::new(config))
    }
}

fn setup_failed(error: rustls::Error) -> Error {
    Error::internal(format!("cannot set up TLS: {error}"))
}

/// Creates a connection of the dialling side.
pub(crate) fn dialled(config: Arc<ClientConfig>) -> Result<Connection> {
    let name = ServerName::try_from("symbolon").map_err(|e| Error::internal(e.to_string()))?;
    Ok(ClientConnection::new(config, name).map_err(setup_failed)?.into())
}

/// Creates a connection of the listening side.
pub(crate) fn accepted(config: Arc<ServerConfig>) -> Result<Connection> {
    Ok(ServerConnection::new(config).map_err(setup_failed)?.into())
}

/// Runs the TLS handshake.
pub(crate) fn shake_hands(
    connection: &mut Connection,
    stream: &mut DeadlineStream<'_>,
    limit: Duration,
) -> std::result::Result<(), TransportReason> {
    while connection.is_handshaking() {
        connection.complete_io(stream).map_err(|e| io_reason(&e, limit))?;
    }
    Ok(())
}

/// Returns the fingerprint of the key that the peer proved to hold.
pub(crate) fn peer_fingerprint(connection: &Connection) -> Option<Fingerprint> {
    Fingerprint::of(connection.peer_certificates()?.first()?).ok()
}

/// Returns keying material bound to this connection.
pub(crate) fn binding(connection: &Connection) -> Result<[u8; 32]> {
    connection
        .export_keying_material([0; 32], EXPORTER, None)
        .map_err(|e| Error::internal(format!("cannot export keying material: {e}")))
}

/// Returns what an I/O error of the TLS layer means.
pub(crate) fn io_reason(error: &io::Error, waited: Duration) -> TransportReason {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(inner) => tls_reason(inner),
        None => crate::tcp::reason(error, waited),
    }
}

fn tls_reason(error: &rustls::Error) -> TransportReason {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(inner))) => {
            match inner.downcast_ref::<NotPinned>() {
                Some(NotPinned { found, expected }) => {
                    TransportReason::WrongKey { found: found.clone(), expected: expected.clone() }
                }
                None => TransportReason::io(inner.to_string()),
            }
        }
        rustls::Error::InvalidCertificate(CertificateError::ExpiredContext {
            not_after, ..
        }) => TransportReason::KeyExpired { until: not_after.as_secs() },
        rustls::Error::AlertReceived(AlertDescription::CertificateExpired) => {
            TransportReason::OwnKeyExpired
        }
        rustls::Error::AlertReceived(
            AlertDescription::CertificateUnknown
            | AlertDescription::BadCertificate
            | AlertDescription::AccessDenied,
        ) => TransportReason::OwnKeyRefused,
        other => TransportReason::io(format!("TLS: {other}")),
    }
}

/// The state shared by the reading and the writing half of a TLS connection.
///
/// The lock is held while bytes are encrypted or decrypted, never while the socket is used.
struct Shared(Mutex<Connection>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Splits an established connection into a channel's source and sink.
pub(crate) fn split(
    socket: TcpStream,
    mut connection: Connection,
) -> (Box<dyn Source>, Arc<dyn Sink>) {
    connection.set_buffer_limit(None);
    let writer = SocketWriter::new(socket);
    let shared = Arc::new(Shared(Mutex::new(connection)));
    let source = TlsSource {
        reader: writer.reader(),
        shared: shared.clone(),
        cipher: vec![0; BATCH],
        start: 0,
        end: 0,
        // This is a lower bound: the first read finds what came with the preamble.
        plain: 0,
    };
    let sink = TlsSink { writer, shared, backlog: Mutex::default() };
    (Box::new(source), Arc::new(sink))
}

/// Decrypts on the caller's thread.
struct TlsSource {
    reader: SocketReader,
    shared: Arc<Shared>,
    /// Ciphertext that was received and not yet decrypted: `start .. end`.
    cipher: Vec<u8>,
    start: usize,
    end: usize,
    /// The number of decrypted bytes that rustls holds for us.
    plain: usize,
}

impl Source for TlsSource {
    fn read(
        &mut self,
        dst: &mut [u8],
        wait: Duration,
    ) -> std::result::Result<usize, TransportReason> {
        let mut begun = None;
        loop {
            if let Some(n) = self.decrypt(dst)? {
                return Ok(n);
            }
            // Records without content must not keep the time-out from expiring.
            let left = wait.saturating_sub(begun.get_or_insert_with(Instant::now).elapsed());
            if left.is_zero() {
                return Err(TransportReason::TimedOut(wait));
            }
            self.start = 0;
            self.end = 0;
            self.end = self.reader.read(&mut self.cipher, left)?;
        }
    }

    fn ready(&self) -> usize {
        self.plain
    }

    fn has_input(&mut self) -> bool {
        // An honest peer that has nothing to say sends no records either.
        self.plain > 0 || self.start < self.end || self.reader.has_input()
    }
}

impl TlsSource {
    /// Fills as much of `dst` as is already here; returns `None` if nothing is.
    fn decrypt(&mut self, dst: &mut [u8]) -> std::result::Result<Option<usize>, TransportReason> {
        let mut filled = 0;
        while filled < dst.len() {
            // The lock is taken anew for about every record, so that the writing half gets its
            // turn.
            let mut connection = self.shared.lock();
            match connection.reader().read(&mut dst[filled..]) {
                Ok(0) => {
                    return if filled > 0 {
                        Ok(Some(filled))
                    } else {
                        Err(TransportReason::Closed)
                    };
                }
                Ok(n) => {
                    filled += n;
                    self.plain = self.plain.saturating_sub(n);
                    continue;
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                // The connection ended without a TLS close notification.
                Err(e) => return Err(crate::tcp::reason(&e, Duration::ZERO)),
            }
            if self.start == self.end {
                break;
            }
            loop {
                let mut input = &self.cipher[self.start..self.end];
                let n = connection
                    .read_tls(&mut input)
                    .map_err(|e| TransportReason::io(format!("TLS: {e}")))?;
                self.start += n;
                let state = connection.process_new_packets().map_err(|e| tls_reason(&e))?;
                self.plain = state.plaintext_bytes_to_read();
                if self.plain > 0 || state.peer_has_closed() || self.start == self.end {
                    break;
                }
            }
        }
        Ok((filled > 0).then_some(filled))
    }
}

/// Ciphertext that the socket has not taken yet.
#[derive(Default)]
struct Backlog {
    bytes: Vec<u8>,
    start: usize,
}

impl Backlog {
    fn clear(&mut self) {
        self.bytes.clear();
        self.start = 0;
    }
}

/// Encrypts and sends, on the writer thread or, if that is idle, on the caller's.
struct TlsSink {
    writer: SocketWriter,
    shared: Arc<Shared>,
    backlog: Mutex<Backlog>,
}

impl TlsSink {
    fn backlog(&self) -> MutexGuard<'_, Backlog> {
        self.backlog.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn encrypt(&self, data: &[u8], out: &mut Backlog) -> std::result::Result<(), TransportReason> {
        let failed = |e: io::Error| io_reason(&e, Duration::ZERO);
        let mut connection = self.shared.lock();
        connection.writer().write_all(data).map_err(failed)?;
        while connection.wants_write() {
            connection.write_tls(&mut out.bytes).map_err(failed)?;
        }
        Ok(())
    }
}

impl Sink for TlsSink {
    fn write(&self, data: &[u8]) -> std::result::Result<(), TransportReason> {
        let mut backlog = self.backlog();
        for portion in data.chunks(PORTION) {
            self.encrypt(portion, &mut backlog)?;
            if backlog.bytes.len() >= BATCH - PORTION {
                self.writer.write(&backlog.bytes[backlog.start..])?;
                backlog.clear();
            }
        }
        self.writer.write(&backlog.bytes[backlog.start..])?;
        backlog.clear();
        Ok(())
    }

    fn at_once(&self) -> usize {
        // Encrypting more than this is work for another core.
        16 << 10
    }

    fn try_write(&self, data: &[u8]) -> std::result::Result<Tried, TransportReason> {
        let mut backlog = self.backlog();
        self.encrypt(data, &mut backlog)?;
        let rest = &backlog.bytes[backlog.start..];
        let n = self.writer.write_now(&[IoSlice::new(rest)])?;
        if n == rest.len() {
            backlog.clear();
            return Ok(Tried::Done);
        }
        backlog.start += n;
        Ok(Tried::Taken(data.len()))
    }

    fn close(&self) {
        self.shared.lock().send_close_notify();
        let mut backlog = self.backlog();
        if self.encrypt(&[], &mut backlog).is_ok() {
            let _ = self.writer.write(&backlog.bytes[backlog.start..]);
            backlog.clear();
        }
        self.writer.close();
    }

    fn linger(&self, quiet: Duration, most: Duration) {
        self.writer.linger(quiet, most);
    }

    fn kill(&self) {
        self.writer.kill();
    }

    fn stop_reading(&self) {
        self.writer.stop_reading();
    }

    fn set_timeout(&self, timeout: Duration) {
        self.writer.set_timeout(timeout);
    }
}
