//! Lines and numbers of a file that may hold anything.

use crate::CircuitError;

/// A line that is neither blank nor a comment.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    /// 1-based, counting all lines.
    pub(super) number: usize,
    text: &'a [u8],
}

impl<'a> Line<'a> {
    /// Returns the line's words, separated by spaces and tabs.
    pub(super) fn words(self) -> impl Iterator<Item = &'a [u8]> {
        self.text.split(|&byte| is_space(byte)).filter(|word| !word.is_empty())
    }

    /// Returns an error at this line.
    pub(super) fn error(self, reason: impl Into<String>) -> CircuitError {
        CircuitError::Parse { line: self.number, reason: reason.into() }
    }

    /// Takes the next word as a number that fits a `u32`.
    pub(super) fn number(
        self,
        words: &mut impl Iterator<Item = &'a [u8]>,
        what: &str,
    ) -> Result<u32, CircuitError> {
        let word = words.next().ok_or_else(|| self.error(format!("{what} is missing")))?;
        self.parse(word, what)
    }

    /// Reads a word as a number that fits a `u32`.
    pub(super) fn parse(self, word: &[u8], what: &str) -> Result<u32, CircuitError> {
        let digit = |byte: &u8| byte.is_ascii_digit().then(|| u32::from(byte - b'0'));
        let mut value = 0u32;
        for byte in word {
            let Some(digit) = digit(byte) else {
                return Err(self.error(format!("{what}: {} is not a number", quote(word))));
            };
            value = value
                .checked_mul(10)
                .and_then(|v| v.checked_add(digit))
                .ok_or_else(|| self.error(format!("{what}: {} is too large", quote(word))))?;
        }
        Ok(value)
    }
}

/// Returns a word in a form fit for messages: escaped, and cut if long.
pub(super) fn quote(word: &[u8]) -> String {
    const SHOWN: usize = 24;
    let cut = if word.len() > SHOWN { "…" } else { "" };
    format!("`{}{cut}`", word[..word.len().min(SHOWN)].escape_ascii())
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// Returns whether a line is a comment: it begins with `//` or `#`.
pub(crate) fn is_comment(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"//") || line.starts_with(b"#")
}

/// The lines of a file, without blank ones and comments.
pub(super) struct Lines<'a> {
    rest: Option<&'a [u8]>,
    number: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Lines { rest: Some(text), number: 0 }
    }

    /// Returns an error for a file that ends too early.
    pub(super) fn ended(&self, reason: impl Into<String>) -> CircuitError {
        CircuitError::Parse { line: self.number.max(1), reason: reason.into() }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        loop {
            let rest = self.rest?;
            let (text, rest) = match rest.iter().position(|&byte| byte == b'\n') {
                Some(end) => (&rest[..end], Some(&rest[end + 1..])),
                None => (rest, None),
            };
            // The empty rest after the last line break is not a line.
            if rest.is_none() && text.is_empty() {
                self.rest = None;
                return None;
            }
            self.rest = rest;
            self.number += 1;
            if text.iter().any(|&byte| !is_space(byte)) && !is_comment(text) {
                return Some(Line { number: self.number, text });
            }
        }
    }
}
