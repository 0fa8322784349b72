//! The live page, and what strangers send to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Child;
use std::time::Duration;

use crate::common::{self, command};

/// A command with a live page.
struct Shown {
    child: Child,
    address: SocketAddr,
    /// What comes after the `/` in the page's address.
    query: String,
}

impl Shown {
    /// Starts a command that keeps its page after the end.
    fn start(words: &[&str]) -> Shown {
        let mut child = command(words).args(["--live-linger", "60"]).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let url = loop {
            let line = lines.next().expect("a line about the page").expect("text");
            if let Some(url) = line.strip_prefix("live page: http://") {
                break url.to_string();
            }
        };
        // The command must not wait for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let (address, query) = url.split_once('/').expect("a path");
        Shown { child, address: address.parse().expect("an address"), query: query.to_string() }
    }

    /// Returns the server's answer to these bytes.
    fn answer(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).expect("the page is there");
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // The server may have refused already.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(&self, target: &str, host: &str) -> String {
        self.answer(format!("GET /{target} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
    }

    /// Returns what the page shows after the end.
    fn end(&self) -> String {
        loop {
            let page = self.get(&format!("now{}", self.query), "localhost");
            if page.contains("id=\"ended\"") {
                return page;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const SECRET: &str = "3735928559";

fn sum(live: &str) -> Shown {
    let (x, y) = (format!("x={SECRET}"), "y=1");
    Shown::start(&["local", "add:32", "--input", &x, "--input", y, "--live", live])
}

#[test]
fn the_page_shows_phases_and_costs_and_nothing_secret() {
    let shown = sum("0");
    assert!(shown.address.ip().is_loopback());
    let page = shown.get(&shown.query, "localhost");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("symbolon local add:32"), "{page}");
    for header in ["default-src 'none'", "Cache-Control: no-store", "nosniff"] {
        assert!(page.contains(header), "no `{header}` in {page}");
    }
    let end = shown.end();
    for part in [
        "Making the circuit add:32",
        "phases so far",
        "Finished",
        "Party 0",
        "Party 1",
        "dependent",
        "online",
        "Report",
        "Log",
    ] {
        assert!(end.contains(part), "no `{part}` in {end}");
    }
    assert!(!end.contains('–'), "every phase has ended and told its bytes: {end}");
    // Input, output, and both in hexadecimal.
    for secret in [SECRET, "3735928560", "deadbeef", "deadbef0"] {
        assert!(!page.contains(secret) && !end.contains(secret), "{secret}");
    }
}

#[test]
fn bench_shows_its_report_with_plots() {
    let words = ["bench", "add:8", "--repeat", "1", "--transport", "memory", "--live", "0"];
    let end = Shown::start(&words).end();
    assert!(end.contains("All measurements") && end.contains("<svg"), "{end}");
}

/// Cheat: a stranger, a foreign web page | the live page | other hosts, methods and paths,
/// malformed, long and silent requests | refused within limits; the run goes on | always
#[test]
fn strangers_get_no_page_and_disturb_nothing() {
    let shown = sum("0");
    let status = |bytes: &[u8]| shown.answer(bytes).chars().skip(9).take(3).collect::<String>();
    assert_eq!(status(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "421");
    assert_eq!(status(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "405");
    assert_eq!(status(b"GET /etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n"), "404");
    assert_eq!(status(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), "400");
    let huge = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "a".repeat(100_000));
    assert_eq!(status(huge.as_bytes()), "431");
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: 1\r\n".repeat(200));
    assert_eq!(status(many.as_bytes()), "431");
    // Silent connections take all places, and have to leave them.
    let silent: Vec<_> = (0..40).map(|_| TcpStream::connect(shown.address)).collect();
    let page = loop {
        let page = shown.get("", "localhost");
        if !page.is_empty() {
            break page;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    drop(silent);
    assert!(shown.end().contains("Finished"));
}

/// Cheat: a stranger | the live page | no token, or another | the token | always
#[test]
fn other_machines_need_the_token() {
    let shown = sum("0.0.0.0:0");
    assert!(shown.query.starts_with("?token="), "{}", shown.query);
    let host = shown.address.to_string();
    for query in ["", "?token=", "?token=0123456789abcdef0123456789abcdef"] {
        let refused = shown.get(query, &host);
        assert!(refused.starts_with("HTTP/1.1 403"), "{query}: {refused}");
        assert!(!refused.contains("Party"), "{refused}");
    }
    assert!(shown.get(&shown.query, &host).starts_with("HTTP/1.1 200"));
}

#[test]
fn addresses_that_cannot_be_are_refused_at_once() {
    for address in ["nowhere", "256.0.0.1:80", "70000", "192.0.2.1:0"] {
        let words = ["local", "add:8", "--input", "x=1", "--input", "y=1", "--live", address];
        common::symbolon(&words).expect(2);
    }
    let words = ["local", "add:8", "--input", "x=1", "--input", "y=1", "--live-linger", "1"];
    common::symbolon(&words).expect(2).says(&["--live-linger"]);
}
