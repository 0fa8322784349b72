//! Requests to a door, for programs that wait for the reply.

use std::fmt;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper::{Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use symbolon::escape::one_line;
use tokio::io::{AsyncRead, AsyncWrite};
use zeroize::{Zeroize, Zeroizing};

use crate::door::DoorConfig;

/// How long a reply may take beside the time that its request waits.
const TIME: Duration = Duration::from_secs(30);

/// The maximum size of a reply, in bytes.
const MAX_REPLY: usize = 1 << 30;

/// Sends requests to the door of a node.
#[derive(Clone, Debug)]
pub struct Client {
    door: DoorConfig,
}

/// A reply; its body is wiped when dropped.
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Zeroizing<Vec<u8>>,
}

/// Why there is no reply. It never holds what was sent.
#[derive(Debug)]
pub struct NoReply(String);

impl fmt::Display for NoReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoReply {}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("status", &self.status).finish_non_exhaustive()
    }
}

impl Client {
    /// Creates a client of the door at this place.
    pub fn new(door: DoorConfig) -> Client {
        Client { door }
    }

    /// Sends a GET request, or with a body a POST request, whose reply may take `wait` more than
    /// one that is ready.
    ///
    /// # Errors
    /// The door cannot be reached, or does not reply as HTTP.
    pub fn ask(
        &self,
        path: &str,
        body: Option<Zeroizing<Vec<u8>>>,
        wait: Duration,
    ) -> Result<Reply, NoReply> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| self.failed(&error))?;
        let reply = async {
            match tokio::time::timeout(TIME + wait, self.send(path, body)).await {
                Ok(reply) => reply,
                Err(_) => Err(self.failed(&"it does not reply in time")),
            }
        };
        runtime.block_on(reply)
    }

    fn failed(&self, why: &dyn fmt::Display) -> NoReply {
        let place = match &self.door {
            DoorConfig::Socket(path) => path.display().to_string(),
            DoorConfig::Loopback(address, _) => address.to_string(),
        };
        NoReply(format!("the door {}: {why}", one_line(&place)))
    }

    async fn send(&self, path: &str, body: Option<Zeroizing<Vec<u8>>>) -> Result<Reply, NoReply> {
        match &self.door {
            #[cfg(unix)]
            DoorConfig::Socket(socket) => {
                let connected = tokio::net::UnixStream::connect(socket).await;
                self.talk(connected.map_err(|error| self.failed(&error))?, path, body).await
            }
            #[cfg(not(unix))]
            DoorConfig::Socket(_) => Err(self.failed(&"this system has no Unix sockets")),
            DoorConfig::Loopback(address, _) => {
                let connected = tokio::net::TcpStream::connect(address).await;
                self.talk(connected.map_err(|error| self.failed(&error))?, path, body).await
            }
        }
    }

    async fn talk(
        &self,
        connection: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        path: &str,
        body: Option<Zeroizing<Vec<u8>>>,
    ) -> Result<Reply, NoReply> {
        let token = match &self.door {
            DoorConfig::Loopback(_, token) => Some(token.expose()),
            DoorConfig::Socket(_) => None,
        };
        let asked = Asked { host: "door", path, token, body, limit: MAX_REPLY };
        let reply = exchange(connection, asked).await.map_err(|why| self.failed(&why))?;
        match reply.status == StatusCode::UNAUTHORIZED {
            true => Err(self.failed(&"it does not accept the token")),
            false => Ok(reply),
        }
    }
}

/// A request: GET, or with a body POST.
pub(crate) struct Asked<'a> {
    pub host: &'a str,
    pub path: &'a str,
    pub token: Option<&'a str>,
    pub body: Option<Zeroizing<Vec<u8>>>,
    /// The maximum size of the reply's body.
    pub limit: usize,
}

/// Sends a request over a connection of its own, and returns the reply.
pub(crate) async fn exchange(
    connection: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    asked: Asked<'_>,
) -> Result<Reply, String> {
    let failed = |error: hyper::Error| error.to_string();
    let (mut sender, talk) = handshake(TokioIo::new(connection)).await.map_err(failed)?;
    tokio::spawn(talk);
    let method = if asked.body.is_some() { Method::POST } else { Method::GET };
    let request = Request::builder().method(method).uri(asked.path);
    let mut request = request.header(header::HOST, asked.host);
    if asked.body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    if let Some(token) = asked.token {
        let bearer = Zeroizing::new(format!("Bearer {token}"));
        request = request.header(header::AUTHORIZATION, bearer.as_str());
    }
    let body = Full::new(asked.body.map_or_else(Bytes::new, Bytes::from_owner));
    let request = request.body(body).map_err(|error| error.to_string())?;
    let reply = sender.send_request(request).await.map_err(failed)?;
    let status = reply.status();
    let body = Limited::new(reply.into_body(), asked.limit).collect().await;
    let bytes = body.map_err(|error| error.to_string())?.to_bytes();
    let copy = Zeroizing::new(bytes.to_vec());
    if let Ok(mut bytes) = bytes.try_into_mut() {
        bytes.zeroize();
    }
    Ok(Reply { status: status.as_u16(), body: copy })
}
