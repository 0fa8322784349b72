//! The server of the page: GET of two paths, with limits on bytes, time and connections, so that a
//! stranger can only hold up the page.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use subtle::ConstantTimeEq;
use symbolon::NoThread;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;

use super::view;
use crate::common::error::{CliError, CliResult};

/// The most bytes and headers of a request.
const HEAD: usize = 8192;
const HEADERS: usize = 64;

/// How long a connection may take to send its request, and again to read the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most connections at a time.
const CONNECTIONS: usize = 16;

/// How often, and for how long, is read what follows a request.
const REST: usize = 8;
const MOMENT: Duration = Duration::from_millis(200);

/// Room for an answer in memory.
const MEMORY: usize = 64 << 10;

/// Who may see the page.
#[derive(Clone)]
pub struct Access {
    /// What the query must contain; `None` on loopback, where the name of the host is checked
    /// instead.
    pub token: Option<String>,
}

impl Access {
    /// Creates a fresh token, unless only this machine can connect.
    pub fn new(loopback: bool) -> CliResult<Access> {
        let token = if loopback { None } else { Some(random()?) };
        Ok(Access { token })
    }

    /// Returns the address to open in a browser.
    pub fn url(&self, address: SocketAddr) -> String {
        let token = self.token.as_ref().map_or(String::new(), |token| format!("?token={token}"));
        format!("http://{address}/{token}")
    }

    /// Checks whether a request may be answered: by its host, against DNS rebinding, or by its
    /// token, which another site's page does not know.
    fn admits(&self, host: &str, query: &str) -> Result<(), StatusCode> {
        let Some(token) = &self.token else {
            return match is_this_machine(host) {
                true => Ok(()),
                false => Err(StatusCode::MISDIRECTED_REQUEST),
            };
        };
        let mut given = query.split('&').filter_map(|pair| pair.strip_prefix("token="));
        let given = given.next().unwrap_or_default();
        match bool::from(given.as_bytes().ct_eq(token.as_bytes())) {
            true => Ok(()),
            false => Err(StatusCode::FORBIDDEN),
        }
    }
}

/// Returns whether a `Host` names loopback, with any port, since tunnels have others.
fn is_this_machine(host: &str) -> bool {
    let port = |rest: &str| rest.is_empty() || rest.starts_with(':');
    ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|name| host.to_ascii_lowercase().strip_prefix(name).is_some_and(port))
}

fn random() -> CliResult<String> {
    let mut bytes = [0; 16];
    let none = |error| CliError::system(format!("no random bytes: {error}"));
    getrandom::fill(&mut bytes).map_err(none)?;
    Ok(hex::encode(bytes))
}

/// What a request asks for.
enum Asked {
    /// The page.
    Page,
    /// Its current contents.
    Now,
}

/// Serves until the process ends.
pub fn start(listener: TcpListener, access: Arc<Access>) -> CliResult<()> {
    let failed = |error| CliError::io("--live: cannot wait for requests", &error);
    listener.set_nonblocking(true).map_err(failed)?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let serve = move || runtime.block_on(accept(listener, access));
    let thread = std::thread::Builder::new().name("symbolon-live".to_string()).spawn(serve);
    Ok(thread.map(drop).map_err(NoThread)?)
}

async fn accept(listener: TcpListener, access: Arc<Access>) {
    // Only an end of the process makes this fail.
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // The system has run out of something: the run needs it more.
            tokio::time::sleep(Duration::from_millis(200)).await;
            continue;
        };
        let Ok(place) = places.clone().try_acquire_owned() else { continue };
        let access = access.clone();
        tokio::spawn(async move {
            // A client that hangs up gets no answer.
            let _ = serve(stream, access).await;
            drop(place);
        });
    }
}

/// Answers one request. A connection that is closed with unread bytes may lose the answer, so what
/// else comes is read for a moment.
async fn serve(stream: TcpStream, access: Arc<Access>) -> std::io::Result<()> {
    let stream = stream.into_std()?;
    let mut rest = TcpStream::from_std(stream.try_clone()?)?;
    let answered = answer(TcpStream::from_std(stream)?, access);
    if tokio::time::timeout(PATIENCE * 2, answered).await.is_err() {
        return Ok(());
    }
    rest.shutdown().await?;
    let mut scrap = [0; HEAD];
    let read = async {
        for _ in 0..REST {
            if rest.read(&mut scrap).await? == 0 {
                break;
            }
        }
        Ok(())
    };
    tokio::time::timeout(MOMENT, read).await.unwrap_or(Ok(()))
}

/// Reads a request and answers it, or what is none.
async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin, access: Arc<Access>) {
    let respond = |request: Request<Incoming>| {
        let access = access.clone();
        async move { response(&access, &request) }
    };
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(PATIENCE).keep_alive(false);
    // Who has asked may say that nothing follows.
    server.half_close(true);
    server.max_buf_size(HEAD).max_headers(HEADERS).title_case_headers(true);
    // What is no request has been answered, too.
    let _ = server.serve_connection(TokioIo::new(stream), service_fn(respond)).await;
}

/// Returns what a request asks for, or the status that refuses it.
fn route<B>(access: &Access, request: &Request<B>) -> Result<Asked, StatusCode> {
    if request.method() != Method::GET {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (Some(host), None, None) = (hosts.next(), hosts.next(), request.uri().authority()) else {
        return Err(StatusCode::BAD_REQUEST);
    };
    let host = host.to_str().map_err(|_| StatusCode::BAD_REQUEST)?;
    access.admits(host, request.uri().query().unwrap_or_default())?;
    match request.uri().path() {
        "/" => Ok(Asked::Page),
        "/now" => Ok(Asked::Now),
        _ => Err(StatusCode::NOT_FOUND),
    }
}

fn response<B>(access: &Access, request: &Request<B>) -> std::io::Result<Response<Full<Bytes>>> {
    let (status, kind, body, nonce) = match route(access, request) {
        Ok(Asked::Page) => {
            let nonce = random().map_err(|failure| std::io::Error::other(failure.message))?;
            (StatusCode::OK, "text/html", view::page(&nonce), Some(nonce))
        }
        Ok(Asked::Now) => (StatusCode::OK, "text/html", view::now(), None),
        Err(status) => (status, "text/plain", format!("{}\n", reason(status)), None),
    };
    let script = nonce.map_or("'none'".to_string(), |nonce| format!("'nonce-{nonce}'"));
    let policy = format!(
        "default-src 'none'; script-src {script}; style-src 'unsafe-inline'; connect-src 'self'; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    );
    let response = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, format!("{kind}; charset=utf-8"))
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::ALLOW, "GET")
        .header(header::CONTENT_SECURITY_POLICY, policy)
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::REFERRER_POLICY, "no-referrer")
        .header("Cross-Origin-Resource-Policy", "same-origin")
        .body(Full::from(body));
    response.map_err(std::io::Error::other)
}

/// Returns the status with which bytes are answered when nothing follows them; 400 also where they
/// are not answered.
pub fn status(access: Access, bytes: &[u8]) -> std::io::Result<u16> {
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let answer = runtime.block_on(async {
        let (mut own, theirs) = tokio::io::duplex(bytes.len().max(MEMORY));
        own.write_all(bytes).await?;
        own.shutdown().await?;
        answer(theirs, Arc::new(access)).await;
        let mut answer = [0; MEMORY];
        let length = own.read(&mut answer).await?;
        std::io::Result::Ok(String::from_utf8_lossy(&answer[..length]).into_owned())
    })?;
    Ok(answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(400))
}

fn reason(status: StatusCode) -> &'static str {
    match status {
        StatusCode::FORBIDDEN => "Forbidden: the token in the command's output is missing",
        StatusCode::MISDIRECTED_REQUEST => {
            "Misdirected Request: the host is not this machine's loopback"
        }
        status => status.canonical_reason().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_asked_by_its_own_names_and_others_with_the_token() {
        let asked = |access: &Access, line: &str, host: &str| {
            let request = format!("{line} HTTP/1.1\r\nHost: {host}\r\n\r\n");
            status(access.clone(), request.as_bytes()).unwrap()
        };
        let own = Access { token: None };
        for host in ["localhost", "127.0.0.1:80", "[::1]:80", "LOCALHOST:1"] {
            assert_eq!(asked(&own, "GET /", host), 200, "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", ""] {
            assert_eq!(asked(&own, "GET /", host), 421, "{host}");
        }
        let far = Access { token: Some("5ec4e7".to_string()) };
        for (path, expected) in [
            ("/?token=5ec4e7", 200),
            ("/now?a=b&token=5ec4e7", 200),
            ("/?token=5ec4e8", 403),
            ("/?token=5ec4e", 403),
            ("/?token=", 403),
            ("/", 403),
            ("/no?token=5ec4e8", 403),
            ("/no?token=5ec4e7", 404),
        ] {
            assert_eq!(asked(&far, &format!("GET {path}"), "a"), expected, "{path}");
        }
        assert_eq!(asked(&far, "POST /?token=5ec4e7", "a"), 405);
        assert_eq!(asked(&own, "GET /", "localhost\r\nHost: localhost"), 400);
        assert_eq!(asked(&own, "GET http://localhost/", "localhost"), 400);
        for wrong in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\x16\x03\x01\x02\0\x01", b"GET / HT", b""] {
            assert_eq!(status(own.clone(), wrong).unwrap(), 400);
        }
    }
}
