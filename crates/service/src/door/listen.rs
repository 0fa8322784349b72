//! Where requests come in.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use symbolon::{Error, Result, files};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio_rustls::TlsAcceptor;
use zeroize::Zeroizing;

use super::addresses::{Addresses, Visitor};
use super::tls::acceptor;
use super::{DoorConfig, PublicDoorConfig, Token};

/// The maximum number of connections; more wait.
const MAX_CONNECTIONS: usize = 512;

/// How long a connection may take for the head of a request, also for the next one.
const HEAD: Duration = Duration::from_secs(10);

/// The maximum size of the head of a request, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// How long replies that are due may take when the door closes.
const GOODBYE: Duration = Duration::from_secs(2);

/// The length limit of a file with a token.
const MAX_TOKEN: u64 = 4096;

pub(super) enum Listener {
    Loopback(std::net::TcpListener),
    Public(std::net::TcpListener, Option<TlsAcceptor>),
    #[cfg(unix)]
    Socket(std::os::unix::net::UnixListener, RemovedFile),
}

/// The file of a socket, which is removed when the door closes.
pub(super) struct RemovedFile(PathBuf);

impl Drop for RemovedFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Reads a token from a file that only its owner may read.
///
/// # Errors
/// `Store` if the file cannot be read, or others may read it; `InvalidInput` if it has no token.
pub fn read_token(path: &Path) -> Result<Token> {
    let wrong = |what: &dyn std::fmt::Display| {
        Error::store(format!("the token {}: {what}", path.display()))
    };
    let mut file = files::open(path).map_err(|error| wrong(&error))?;
    #[cfg(unix)]
    {
        let about = file.metadata().map_err(|error| wrong(&error))?;
        if std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o077 != 0 {
            return Err(wrong(&"others may read it; make it private with chmod 600"));
        }
    }
    let bytes = files::read_all(&mut file, MAX_TOKEN).map_err(|error| wrong(&error))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| wrong(&error))?;
    Token::new(Zeroizing::new(text.trim().to_string()))
}

impl Listener {
    pub(super) fn bind_public(config: &PublicDoorConfig) -> Result<Listener> {
        let address = config.address;
        let refuse = |why: &dyn std::fmt::Display| {
            Error::InvalidInput(format!("the clients' door {address}: {why}"))
        };
        if config.tls.is_none() && !address.ip().is_loopback() {
            return Err(refuse(
                &"without a certificate it is for loopback alone, as behind a proxy that has one",
            ));
        }
        let tls = config.tls.as_ref().map(acceptor).transpose()?;
        let bound = std::net::TcpListener::bind(address);
        let bound = bound.and_then(|socket| socket.set_nonblocking(true).map(|()| socket));
        Ok(Listener::Public(bound.map_err(|error| refuse(&error))?, tls))
    }

    pub(super) fn bind(config: &DoorConfig) -> Result<Listener> {
        match config {
            DoorConfig::Loopback(address, _) => {
                if !address.ip().is_loopback() {
                    return Err(Error::InvalidInput(format!(
                        "the door {address} would be open to the network: use 127.0.0.1 or [::1]"
                    )));
                }
                let bound = std::net::TcpListener::bind(address);
                let bound = bound.and_then(|socket| socket.set_nonblocking(true).map(|()| socket));
                let failed = |error| Error::InvalidInput(format!("the door {address}: {error}"));
                Ok(Listener::Loopback(bound.map_err(failed)?))
            }
            DoorConfig::Socket(path) => bind_socket(path),
        }
    }

    pub(super) fn address(&self) -> Option<SocketAddr> {
        match self {
            Listener::Loopback(socket) | Listener::Public(socket, _) => socket.local_addr().ok(),
            #[cfg(unix)]
            Listener::Socket(..) => None,
        }
    }

    /// Serves requests until `closed` is told.
    pub(super) async fn serve(self, router: Router, mut closed: oneshot::Receiver<()>) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let (close, closing) = watch::channel(());
        let served = async {
            match self {
                Listener::Loopback(socket) => {
                    let socket = tokio::net::TcpListener::from_std(socket)?;
                    loop {
                        let place = places.clone().acquire_owned().await;
                        let (connection, _) = or_pause(socket.accept().await).await;
                        let Some(connection) = connection else { continue };
                        let _ = connection.set_nodelay(true);
                        start(connection, router.clone(), place, closing.clone());
                    }
                }
                Listener::Public(socket, tls) => {
                    let socket = tokio::net::TcpListener::from_std(socket)?;
                    let addresses = Arc::new(Addresses::default());
                    loop {
                        let place = places.clone().acquire_owned().await;
                        let (connection, from) = or_pause(socket.accept().await).await;
                        let (Some(connection), Some(from)) = (connection, from) else { continue };
                        let Some(visit) = Addresses::admit(&addresses, from.ip()) else { continue };
                        let router = router.clone().layer(Extension(Visitor(visit.clone())));
                        let place = (place, visit);
                        match tls.clone() {
                            None => start(connection, router, place, closing.clone()),
                            Some(tls) => start_tls(connection, tls, router, place, closing.clone()),
                        }
                    }
                }
                #[cfg(unix)]
                Listener::Socket(socket, _file) => {
                    let socket = tokio::net::UnixListener::from_std(socket)?;
                    loop {
                        let place = places.clone().acquire_owned().await;
                        let (connection, _) = or_pause(socket.accept().await).await;
                        let Some(connection) = connection else { continue };
                        start(connection, router.clone(), place, closing.clone());
                    }
                }
            }
        };
        let served: std::result::Result<std::io::Result<()>, ()> = tokio::select! {
            served = served => Ok(served),
            _ = &mut closed => Err(()),
        };
        if let Ok(Err(error)) = served {
            tracing::error!(target: crate::LOG, %error, "the door is shut");
        }
        let _ = close.send(());
        let all = places.acquire_many(MAX_CONNECTIONS as u32);
        let _ = tokio::time::timeout(GOODBYE, all).await;
    }
}

/// Returns what was accepted, or waits a moment: without free file descriptors nothing helps.
async fn or_pause<T, A>(accepted: std::io::Result<(T, A)>) -> (Option<T>, Option<A>) {
    match accepted {
        Ok((connection, address)) => (Some(connection), Some(address)),
        Err(error) => {
            tracing::warn!(target: crate::LOG, %error, "cannot accept a request");
            tokio::time::sleep(Duration::from_millis(20)).await;
            (None, None)
        }
    }
}

/// Serves one connection with TLS.
fn start_tls<P: Send + 'static>(
    connection: tokio::net::TcpStream,
    tls: TlsAcceptor,
    router: Router,
    place: P,
    closing: watch::Receiver<()>,
) {
    tokio::spawn(async move {
        match tokio::time::timeout(HEAD, tls.accept(connection)).await {
            Ok(Ok(connection)) => start(connection, router, place, closing),
            Ok(Err(error)) => tracing::debug!(target: crate::LOG, %error, "no handshake"),
            Err(_) => {}
        }
    });
}

/// Serves one connection. When the door closes, it ends after the reply that is due.
fn start<S, P>(connection: S, router: Router, place: P, mut closing: watch::Receiver<()>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    P: Send + 'static,
{
    tokio::spawn(async move {
        let service = TowerToHyperService::new(router);
        let served = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(MAX_HEAD)
            .serve_connection(TokioIo::new(connection), service);
        tokio::pin!(served);
        let ended = tokio::select! {
            ended = served.as_mut() => ended,
            _ = closing.changed() => {
                served.as_mut().graceful_shutdown();
                served.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(target: crate::LOG, %error, "a request was cut off");
        }
        drop(place);
    });
}

#[cfg(not(unix))]
fn bind_socket(_: &Path) -> Result<Listener> {
    Err(Error::InvalidInput("this system has no Unix sockets: use loopback and a token".into()))
}

/// Binds a Unix socket where only this user can reach it.
#[cfg(unix)]
fn bind_socket(path: &Path) -> Result<Listener> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
    use std::os::unix::net::{UnixListener, UnixStream};

    let refuse = |what: &dyn std::fmt::Display| {
        Err(Error::InvalidInput(format!("the socket {}: {what}", path.display())))
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let about = match std::fs::metadata(folder) {
        Ok(about) => about,
        Err(error) => return refuse(&error),
    };
    if about.permissions().mode() & 0o077 != 0 {
        return refuse(&"others may enter its folder; make it private with chmod 700");
    }
    if about.uid() != rustix::process::geteuid().as_raw() {
        return refuse(&"its folder belongs to another user");
    }
    // What a node left that was killed is removed; a living one's is not.
    let old = std::fs::symlink_metadata(path);
    if old.is_ok_and(|old| old.file_type().is_socket()) {
        if UnixStream::connect(path).is_ok() {
            return refuse(&"another node serves it");
        }
        let _ = std::fs::remove_file(path);
    }
    let bound = UnixListener::bind(path).and_then(|socket| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    });
    match bound {
        Ok(socket) => Ok(Listener::Socket(socket, RemovedFile(path.to_path_buf()))),
        Err(error) => refuse(&error),
    }
}
