//! The doors of a node: HTTP with JSON. Applications come in by a Unix socket, or by loopback with a
//! token; clients come in from anywhere, where all they can do is submit values and ask for answers.

mod addresses;
mod api;
mod body;
mod listen;
mod public;
mod tls;
mod types;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use symbolon::{Error, NoThread, Result};
use tokio::sync::oneshot;
use zeroize::Zeroizing;

use crate::node::Node;
pub use api::openapi;
pub use listen::read_token;
pub use tls::Certificate;
pub use types::{CallReply, ErrorReply, FailureReply, State};

/// Where applications reach a node.
#[derive(Clone, Debug)]
pub enum DoorConfig {
    /// A Unix socket, in a folder that only the node's user may enter.
    Socket(PathBuf),
    /// An address of loopback, for those who know the token.
    Loopback(SocketAddr, Token),
}

/// Where clients reach a node.
#[derive(Clone, Debug)]
pub struct PublicDoorConfig {
    /// Where it listens; an address of loopback if it has no certificate.
    pub address: SocketAddr,
    /// Its certificate, for HTTPS.
    pub tls: Option<Certificate>,
    /// The origins, such as `https://auction.example`, whose pages may use the door; `*` for all.
    pub origins: Vec<String>,
    /// The addresses of all parties' doors for clients, by number, as clients are told; none if
    /// they know them from elsewhere.
    pub nodes: Vec<String>,
}

/// What an application must know to use a door on loopback.
#[derive(Clone)]
pub struct Token(Arc<Zeroizing<String>>);

impl Token {
    /// The least length of a token, in bytes.
    pub const MIN: usize = 16;

    /// Creates a token.
    ///
    /// # Errors
    /// `InvalidInput` if the text is too short, or has characters that no header can have.
    pub fn new(text: Zeroizing<String>) -> Result<Token> {
        let graphic = text.bytes().all(|byte| byte.is_ascii_graphic());
        match text.len() >= Token::MIN && graphic {
            true => Ok(Token(Arc::new(text))),
            false => Err(Error::InvalidInput(format!(
                "a token has at least {} visible ASCII characters, without spaces",
                Token::MIN
            ))),
        }
    }

    /// Returns whether a header presents the token.
    ///
    /// Timing: tokens | their hashes are compared, in constant time
    fn is_in(&self, header: Option<&[u8]>) -> bool {
        let Some(given) = header.and_then(|header| header.strip_prefix(b"Bearer ")) else {
            return false;
        };
        // Hashes compare themselves in constant time.
        blake3::hash(given) == blake3::hash(self.0.as_bytes())
    }

    /// Returns the token's text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

/// An open door. It closes when it is dropped, after the replies that are due.
#[derive(Debug)]
pub struct Door {
    address: Option<SocketAddr>,
    close: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Door {
    /// Opens the door of a node.
    ///
    /// # Errors
    /// `InvalidInput` if the address is not of loopback, others may enter the socket's folder, or
    /// the place is taken; `System` if the system gives no thread.
    pub fn open(node: Arc<Node>, config: &DoorConfig) -> Result<Door> {
        let listener = listen::Listener::bind(config)?;
        let token = match config {
            DoorConfig::Socket(_) => None,
            DoorConfig::Loopback(_, token) => Some(token.clone()),
        };
        Door::serve(listener, api::router(node, token))
    }

    /// Opens the door of a node for clients.
    ///
    /// # Errors
    /// `InvalidInput` if the address is taken, or is not of loopback and has no certificate, or the
    /// certificate or an origin is wrong; `System` if the system gives no thread.
    pub fn open_public(node: Arc<Node>, config: &PublicDoorConfig) -> Result<Door> {
        let router = public::router(node, config)?;
        Door::serve(listen::Listener::bind_public(config)?, router)
    }

    fn serve(listener: listen::Listener, router: axum::Router) -> Result<Door> {
        let address = listener.address();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::System(no_runtime(&error)))?;
        let (close, closed) = oneshot::channel();
        let serve = move || runtime.block_on(listener.serve(router, closed));
        let thread = std::thread::Builder::new().name("symbolon-door".to_string()).spawn(serve);
        let thread = thread.map_err(NoThread)?;
        Ok(Door { address, close: Some(close), thread: Some(thread) })
    }

    /// Returns the address, with the actual port; none for a Unix socket.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }
}

fn no_runtime(error: &std::io::Error) -> symbolon::Fault {
    symbolon::Fault::new("system", format!("cannot wait for requests: {error}")).caused_by_io(error)
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Some(close) = self.close.take() {
            let _ = close.send(());
        }
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}
