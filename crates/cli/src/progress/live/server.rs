//! The server of the page: GET of two paths, with limits on bytes, time and connections, so that a
//! stranger can only hold up the page.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use subtle::ConstantTimeEq;
use symbolon::NoThread;

use super::view;
use crate::common::error::{CliError, CliResult};

/// The most bytes and headers of a request.
const HEAD: usize = 8192;
const HEADERS: usize = 64;

/// How long a connection may take to send its request, and again to read the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most connections at a time.
const CONNECTIONS: usize = 16;

/// Who may see the page.
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
    fn admits(&self, host: &str, query: &str) -> Result<(), u16> {
        let Some(token) = &self.token else {
            return if is_this_machine(host) { Ok(()) } else { Err(421) };
        };
        let mut given = query.split('&').filter_map(|pair| pair.strip_prefix("token="));
        let given = given.next().unwrap_or_default();
        match bool::from(given.as_bytes().ct_eq(token.as_bytes())) {
            true => Ok(()),
            false => Err(403),
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

/// Serves until the process ends.
pub fn start(listener: TcpListener, access: Arc<Access>) -> CliResult<()> {
    let open = Arc::new(AtomicUsize::new(0));
    let accept = move || {
        loop {
            let Ok((stream, _)) = listener.accept() else {
                // The system has run out of something: the run needs it more.
                std::thread::sleep(Duration::from_millis(200));
                continue;
            };
            if open.fetch_add(1, Ordering::SeqCst) >= CONNECTIONS {
                open.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let (place, access) = (Place(open.clone()), access.clone());
            let serve = move || {
                let _place = place;
                // A client that hangs up gets no answer.
                let _ = serve(&stream, &access);
            };
            // If no thread can be started, the closure is dropped, and with it the place and the
            // connection.
            let _ = std::thread::Builder::new().name("symbolon-live".to_string()).spawn(serve);
        }
    };
    let thread = std::thread::Builder::new().name("symbolon-live".to_string()).spawn(accept);
    Ok(thread.map(drop).map_err(NoThread)?)
}

/// One of the few places for connections; free again when dropped.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What a request asks for.
enum Asked {
    /// The page.
    Page,
    /// Its current contents.
    Now,
}

/// Reads a request and answers it.
fn serve(stream: &TcpStream, access: &Access) -> std::io::Result<()> {
    let asked = read(stream, access, Instant::now() + PATIENCE)?;
    let (status, kind, body, nonce) = match asked {
        Ok(Asked::Page) => {
            let nonce = random().map_err(|failure| std::io::Error::other(failure.message))?;
            (200, "text/html", view::page(&nonce), nonce)
        }
        Ok(Asked::Now) => (200, "text/html", view::now(), String::new()),
        Err(status) => (status, "text/plain", format!("{}\n", reason(status)), String::new()),
    };
    let script = match &nonce[..] {
        "" => "'none'".to_string(),
        nonce => format!("'nonce-{nonce}'"),
    };
    let head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\nCache-Control: no-store\r\nAllow: GET\r\n\
         Content-Security-Policy: default-src 'none'; script-src {script}; \
         style-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; \
         base-uri 'none'; form-action 'none'\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\r\n",
        reason(status),
        body.len()
    );
    write(stream, [head, body].concat().as_bytes(), Instant::now() + PATIENCE)?;
    stream.shutdown(Shutdown::Write)?;
    // A connection that is closed with unread bytes may lose the answer.
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut stream = stream;
    let mut scrap = [0; HEAD];
    for _ in 0..8 {
        if stream.read(&mut scrap)? == 0 {
            break;
        }
    }
    Ok(())
}

fn read(
    mut stream: &TcpStream,
    access: &Access,
    deadline: Instant,
) -> std::io::Result<Result<Asked, u16>> {
    let mut head = [0; HEAD];
    let mut filled = 0;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Err(408));
        }
        stream.set_read_timeout(Some(left))?;
        let read = match stream.read(&mut head[filled..]) {
            Err(error) if is_late(&error) => return Ok(Err(408)),
            read => read?,
        };
        filled += read;
        match parse(access, &head[..filled]) {
            Some(asked) => return Ok(asked),
            None if read == 0 => return Ok(Err(400)),
            None if filled == HEAD => return Ok(Err(431)),
            None => {}
        }
    }
}

fn is_late(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

/// Writes all of it before the deadline, however slowly the other side reads.
fn write(mut stream: &TcpStream, mut bytes: &[u8], deadline: Instant) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        let written = stream.write(bytes)?;
        if written == 0 {
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
    }
    Ok(())
}

/// Returns what a request asks for, or the status that refuses it; `None` while it is incomplete.
fn parse(access: &Access, bytes: &[u8]) -> Option<Result<Asked, u16>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Partial) => return None,
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => return Some(Err(431)),
        Err(_) => return Some(Err(400)),
    }
    Some(route(access, &request))
}

fn route(access: &Access, request: &httparse::Request<'_, '_>) -> Result<Asked, u16> {
    if request.method != Some("GET") {
        return Err(405);
    }
    let mut hosts = request.headers.iter().filter(|one| one.name.eq_ignore_ascii_case("host"));
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(400) };
    let host = std::str::from_utf8(host.value).map_err(|_| 400u16)?;
    let target = request.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    access.admits(host, query)?;
    match path {
        "/" => Ok(Asked::Page),
        "/now" => Ok(Asked::Now),
        _ => Err(404),
    }
}

/// Returns the status with which bytes are answered when nothing follows them.
pub fn status(access: &Access, bytes: &[u8]) -> u16 {
    match parse(access, bytes) {
        Some(Ok(_)) => 200,
        Some(Err(status)) => status,
        None => 400,
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden: the token in the command's output is missing",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        421 => "Misdirected Request: the host is not this machine's loopback",
        _ => "Request Header Fields Too Large",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_asked_by_its_own_names_and_others_with_the_token() {
        let asked = |access: &Access, line: &str, host: &str| {
            status(access, format!("{line} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
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
        assert_eq!(status(&own, b"GET / HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status(&own, b"\x16\x03\x01\x02\0\x01"), 400);
    }
}
