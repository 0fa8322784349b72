//! Text from a peer, made safe to print.

use std::fmt;

/// The maximum number of bytes of a peer's text that are shown.
pub(crate) const SHOWN: usize = 256;

/// Shows at most `max` bytes of a text, with everything but printable ASCII escaped.
///
/// A peer chooses its text, and a terminal that prints it must not interpret it.
pub(crate) struct Printable<'a>(pub(crate) &'a str, pub(crate) usize);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut room = self.1;
        for c in self.0.chars() {
            let plain = c == ' ' || c.is_ascii_graphic();
            // Our own sentences contain these characters, in the names of units, for example.
            let plain = plain || matches!(c, '…' | '×' | 'µ');
            let cost = if plain { c.len_utf8() } else { c.escape_default().count() };
            if cost > room {
                return f.write_str("…");
            }
            room -= cost;
            if plain {
                write!(f, "{c}")?;
            } else {
                write!(f, "{}", c.escape_default())?;
            }
        }
        Ok(())
    }
}

/// Escapes `text` and truncates it to [`SHOWN`] bytes.
pub(crate) fn printable(text: &str) -> String {
    Printable(text, SHOWN).to_string()
}

/// Escapes and truncates bytes that should be text but may be anything.
pub(crate) fn printable_bytes(bytes: &[u8], max: usize) -> String {
    // Each replaced byte takes up to three, so truncating first bounds the work.
    let head = &bytes[..bytes.len().min(max)];
    Printable(&String::from_utf8_lossy(head), max).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_cuts() {
        assert_eq!(printable("plain, text"), "plain, text");
        assert_eq!(printable("a\x1b[31m\nb"), "a\\u{1b}[31m\\nb");
        assert_eq!(Printable("abcdef", 3).to_string(), "abc…");
        assert_eq!(Printable("ab\u{202e}", 4).to_string(), "ab…");
        assert_eq!(printable_bytes(&[b'x', 0xff, 0], 100), "x\\u{fffd}\\u{0}");
    }
}
