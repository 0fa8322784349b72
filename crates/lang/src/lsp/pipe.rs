//! Messages of an editor from bytes, whatever the bytes are: what is no message is skipped, and the
//! next one is found.

use std::io::{self, BufRead};

use lsp_server::{ErrorCode, Message};
use serde_json::Value;

use crate::MAX_SOURCE;

/// A message has at most this many bytes; a longer one is skipped while it arrives.
pub const MAX_MESSAGE: u64 = 4 * MAX_SOURCE as u64;

/// A message has at most this many values: each takes many times the memory of its text.
const MAX_VALUES: usize = 1 << 20;

/// What is kept of a line, or of a message that is skipped, to find a header in it.
const TAIL: usize = 1 << 10;

/// The name of the only header that counts.
const LENGTH: &[u8] = b"content-length";

/// What has arrived.
pub enum Incoming {
    /// A message.
    Message(Message),
    /// Something else, and the answer to it, if it may have been a request.
    Refused(Option<Value>),
}

/// Reads messages.
///
/// JSON has no line breaks inside of texts, and no bare words but three. So a line that ends with
/// `Content-Length: N` is in no message: wherever it occurs, the next message begins.
pub struct Reader<R> {
    inner: R,
    /// Bytes to be read before those of `inner`, from the place on.
    back: Vec<u8>,
    place: usize,
}

impl<R: BufRead> Reader<R> {
    /// Creates a reader.
    pub fn new(inner: R) -> Self {
        Reader { inner, back: Vec::new(), place: 0 }
    }

    /// Returns what arrives next, or `None` at the end.
    ///
    /// # Errors
    /// When the bytes cannot be read.
    pub fn next(&mut self) -> io::Result<Option<Incoming>> {
        let mut length = None;
        loop {
            let Some(line) = self.line()? else { return Ok(None) };
            if let Some((_, found)) = header(&line) {
                length = Some(found);
                continue;
            }
            match length {
                Some(length) if line.is_empty() => return self.body(length),
                // Another header.
                Some(_) => {}
                None if line.is_empty() => {}
                None => {
                    let is_header = line.iter().all(|byte| (b' '..=b'~').contains(byte))
                        && !line.starts_with(b"{");
                    if !is_header {
                        return Ok(Some(refused(ErrorCode::ParseError, "no `Content-Length`")));
                    }
                }
            }
        }
    }

    fn fill(&mut self) -> io::Result<&[u8]> {
        if self.place < self.back.len() {
            return Ok(&self.back[self.place..]);
        }
        loop {
            match self.inner.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(_) => break,
            }
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        if self.place < self.back.len() {
            self.place += count;
        } else {
            self.inner.consume(count);
        }
    }

    /// Puts bytes back before the others.
    fn put_back(&mut self, bytes: &[u8]) {
        let rest = self.back.split_off(self.place.min(self.back.len()));
        self.back = [bytes, &rest].concat();
        self.place = 0;
    }

    /// Returns the next line without its end, or the last part of a long one; `None` at the end.
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        loop {
            let bytes = self.fill()?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let count = end.map_or(bytes.len(), |end| end + 1);
            line.extend_from_slice(&bytes[..count]);
            self.consume(count);
            line.drain(..line.len().saturating_sub(TAIL));
            if end.is_some() {
                line.pop();
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(Some(line));
            }
        }
    }

    /// Reads a message of this length, or up to the header of the next one.
    fn body(&mut self, length: u64) -> io::Result<Option<Incoming>> {
        let keep = length <= MAX_MESSAGE;
        let (mut bytes, mut read) = (Vec::new(), 0u64);
        while read < length {
            let most = usize::try_from(length - read).unwrap_or(usize::MAX);
            let part = self.fill()?;
            if part.is_empty() {
                return Ok(None);
            }
            let count = part.len().min(most);
            let seen = bytes.len();
            bytes.extend_from_slice(&part[..count]);
            self.consume(count);
            read += count as u64;
            if let Some(start) = next_header(&bytes, seen) {
                let rest = bytes.split_off(start);
                self.put_back(&rest);
                return Ok(Some(refused(ErrorCode::ParseError, "the message is cut short")));
            }
            if !keep {
                bytes.drain(..bytes.len().saturating_sub(TAIL));
            }
        }
        if !keep {
            let why = format!("the message is longer than {MAX_MESSAGE} bytes");
            return Ok(Some(refused(ErrorCode::InvalidRequest, &why)));
        }
        let begun = begun_header(&bytes).to_vec();
        let message = parse(bytes);
        if matches!(message, Incoming::Refused(_)) {
            self.put_back(&begun);
        }
        Ok(Some(message))
    }
}

/// Returns where a header begins that ends this line, and the length that it gives.
fn header(line: &[u8]) -> Option<(usize, u64)> {
    let line = line.trim_ascii_end();
    let digits = line.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, digits) = line.split_at(line.len() - digits);
    let before = before.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
    let start = before.len().checked_sub(LENGTH.len())?;
    if digits.is_empty() || !before[start..].eq_ignore_ascii_case(LENGTH) {
        return None;
    }
    let digit =
        |number: u64, byte: &u8| number.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
    Some((start, digits.iter().fold(0, digit)))
}

/// Returns where a header begins whose line ends at a line feed from this place on.
fn next_header(bytes: &[u8], from: usize) -> Option<usize> {
    let mut place = from;
    while let Some(found) = bytes[place..].iter().position(|&byte| byte == b'\n') {
        let end = place + found;
        let tail = end.saturating_sub(TAIL);
        let before = bytes[tail..end].iter().rposition(|&byte| byte == b'\n');
        let start = before.map_or(tail, |before| tail + before + 1);
        if let Some((at, _)) = header(&bytes[start..end]) {
            return Some(start + at);
        }
        place = end + 1;
    }
    None
}

/// Returns the end of a message if a header may begin in it.
fn begun_header(bytes: &[u8]) -> &[u8] {
    let tail = &bytes[bytes.len().saturating_sub(64)..];
    let begins = |start: &usize| {
        let rest = &tail[*start..];
        let (name, after) = rest.split_at(rest.len().min(LENGTH.len()));
        name.eq_ignore_ascii_case(&LENGTH[..name.len()])
            && after.iter().all(|&byte| matches!(byte, b':' | b' ' | b'\r' | b'0'..=b'9'))
    };
    (0..tail.len()).find(begins).map_or(&[], |start| &tail[start..])
}

/// Returns the message that a text is.
fn parse(bytes: Vec<u8>) -> Incoming {
    if values(&bytes) > MAX_VALUES {
        let why = format!("the message has more than {MAX_VALUES} values");
        return refused(ErrorCode::InvalidRequest, &why);
    }
    let Ok(text) = String::from_utf8(bytes) else {
        return refused(ErrorCode::ParseError, "the message is not UTF-8");
    };
    let text = without_lone_surrogates(text);
    if let Ok(message) = serde_json::from_str(&text) {
        return Incoming::Message(message);
    }
    match serde_json::from_str::<Value>(&text) {
        Err(error) => refused(ErrorCode::ParseError, &error.to_string()),
        // Nobody waits for an answer to what has no method, such as a response to nothing.
        Ok(Value::Object(fields)) if !fields.contains_key("method") => Incoming::Refused(None),
        Ok(value) => {
            let id = value.get("id").filter(|id| id.is_string() || id.is_number());
            let id = id.cloned().unwrap_or(Value::Null);
            answer(id, ErrorCode::InvalidRequest, "this is not a message of JSON-RPC")
        }
    }
}

/// Returns at most how many values a text of JSON has.
fn values(text: &[u8]) -> usize {
    let (mut count, mut inside, mut escaped) = (1, false, false);
    for &byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = inside,
            b'"' => inside = !inside,
            b',' | b'[' | b'{' | b':' => count += usize::from(!inside),
            _ => {}
        }
    }
    count
}

/// Replaces escapes of half a character, which editors may send and no text can have, by U+FFFD,
/// which counts as much in their columns.
fn without_lone_surrogates(mut text: String) -> String {
    let unit = |text: &str, at: usize| -> Option<u16> {
        let hex = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(hex, 16).ok()
    };
    let mut place = 0;
    while let Some(found) = text[place..].find('\\') {
        let at = place + found;
        let low = || unit(&text, at + 6).is_some_and(|unit| (0xdc00..0xe000).contains(&unit));
        match unit(&text, at) {
            Some(0xd800..0xdc00) if low() => place = at + 12,
            Some(0xd800..0xe000) => {
                text.replace_range(at..at + 6, "\\ufffd");
                place = at + 6;
            }
            // The character after a backslash is not the beginning of an escape.
            _ => place = at + 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    text
}

fn refused(code: ErrorCode, why: &str) -> Incoming {
    answer(Value::Null, code, why)
}

fn answer(id: Value, code: ErrorCode, why: &str) -> Incoming {
    let error = serde_json::json!({ "code": code as i32, "message": why });
    Incoming::Refused(Some(serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error })))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn framed(body: &str) -> Vec<u8> {
        format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    /// Returns the methods of all messages, `?` for what was refused.
    fn methods(bytes: &[u8], chunk: usize) -> Vec<String> {
        let mut reader = Reader::new(io::BufReader::with_capacity(chunk, bytes));
        let mut found = Vec::new();
        while let Some(incoming) = reader.next().unwrap() {
            found.push(match incoming {
                Incoming::Message(Message::Notification(notification)) => notification.method,
                Incoming::Message(_) => "other".into(),
                Incoming::Refused(_) => "?".into(),
            });
            assert!(reader.back.len() <= bytes.len());
        }
        found
    }

    #[test]
    fn finds_the_next_message_after_anything() {
        let next = framed(r#"{"jsonrpc":"2.0","method":"next","params":{"a":"\ud83d\ude00"}}"#);
        let one = |text: &str| [text.as_bytes(), &next].concat();
        let body = |text: &str| [&framed(text)[..], &next].concat();
        let long = "x".repeat(5000);
        for (name, bytes, refused) in [
            ("no JSON", body("{"), true),
            ("a number", body("5"), true),
            ("a list", body("[]"), true),
            ("deep", body(&"[".repeat(100_000)), true),
            ("many values", body(&format!("[{}0]", "0,".repeat(MAX_VALUES))), true),
            ("not a message", body(r#"{"id":1.5,"method":7}"#), true),
            ("a response to nothing", body(r#"{"id":null,"result":1}"#), true),
            ("huge", one("Content-Length: 99999999999999\r\n\r\n{}"), true),
            (
                "larger than u64",
                one(&format!("Content-Length: 9{}\r\n\r\n{{}}", "9".repeat(99))),
                true,
            ),
            ("large", one("Content-Length: 4000000000\r\n\r\n{}"), true),
            ("too long", one("Content-Length: 70\r\n\r\n{}"), true),
            ("into the header's name", one("Content-Length: 10\r\n\r\n{}"), true),
            ("into the header's value", one("Content-Length: 19\r\n\r\n{}"), true),
            ("too short", one("Content-Length: 1\r\n\r\n{}"), true),
            ("long", one(&format!("Content-Length: 3\r\n\r\n{long}")), true),
            ("negative", one("Content-Length: -5\r\n\r\n{}"), false),
            ("no number", one("Content-Length: x\r\n\r\n"), false),
            ("no length", one("Content-Type: a\r\n\r\n{}"), false),
            ("no header", one("{}"), false),
            ("binary", one("\0\u{1}\n\n"), true),
            ("only line feeds", one("\n\n"), false),
            ("more headers", one("Content-Type: a; b=c\r\n"), false),
        ] {
            for chunk in [1, 7, 8192] {
                let found = methods(&bytes, chunk);
                assert_eq!(found.last().map(String::as_str), Some("next"), "{name}: {found:?}");
                let others = &found[..found.len() - 1];
                assert!(others.iter().all(|method| method == "?"), "{name}: {found:?}");
                assert!(!others.is_empty() || !refused, "{name}: {found:?}");
            }
        }
    }

    #[test]
    fn holds_little_of_a_message_that_is_too_long() {
        let header = format!("Content-Length: {}\r\n\r\n", MAX_MESSAGE + 1);
        let body = io::repeat(b' ').take(MAX_MESSAGE + 1);
        let next = framed(r#"{"jsonrpc":"2.0","method":"next"}"#);
        let stream = header.as_bytes().chain(body).chain(&next[..]);
        let mut reader = Reader::new(io::BufReader::new(stream));
        assert!(matches!(reader.next().unwrap(), Some(Incoming::Refused(Some(_)))));
        assert!(reader.back.capacity() <= 2 * TAIL);
        assert!(matches!(reader.next().unwrap(), Some(Incoming::Message(_))));
        assert!(reader.next().unwrap().is_none());
    }

    #[test]
    fn half_characters_become_replacements() {
        let mend = |text: &str| without_lone_surrogates(text.to_string());
        assert_eq!(mend(r"\ud800"), r"\ufffd");
        assert_eq!(mend(r"\udc00\ud800\u0041"), r"\ufffd\ufffd\u0041");
        assert_eq!(mend(r"\ud83d\ude00 \\ud800 \n"), r"\ud83d\ude00 \\ud800 \n");
        assert_eq!(mend(r"\u"), r"\u");
        assert_eq!(mend("\\é"), "\\é");
    }
}
