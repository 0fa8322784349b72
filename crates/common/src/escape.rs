//! Characters that a terminal must not receive, because it obeys them instead of showing them: the
//! command and the library for C print nothing, and no error, without this.

use std::borrow::Cow;
use std::fmt;

use crate::invisible::is_invisible;

/// Returns whether a terminal does anything but show a character: control characters, and those
/// that reorder others or are invisible.
pub fn obeyed(c: char) -> bool {
    c.is_control() || is_invisible(c)
}

/// Returns text that is safe for a terminal: names of files and circuits, and what peers say, are
/// chosen by others.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| obeyed(c) && !matches!(c, '\n' | '\t'), |c| c.escape_default().to_string())
}

/// Does the same for text that must be one line.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, obeyed, |c| c.escape_default().to_string())
}

/// Shows at most this many bytes of a text, as one line: names in files, what users typed in the
/// wrong place, and what peers say can be long.
#[derive(Clone, Copy, Debug)]
pub struct Excerpt<'a>(pub &'a str, pub usize);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut room = self.1;
        for c in self.0.chars() {
            let escape = obeyed(c);
            let cost = if escape { c.escape_default().len() } else { c.len_utf8() };
            if cost > room {
                return f.write_str("…");
            }
            room -= cost;
            if escape { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
        }
        Ok(())
    }
}

/// Returns a text with these characters escaped like this.
pub fn escaped(
    text: &str,
    which: impl Fn(char) -> bool,
    escape: impl Fn(char) -> String,
) -> Cow<'_, str> {
    if !text.contains(&which) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| if which(c) { escape(c) } else { c.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_obeyed_is_escaped_and_nothing_else() {
        let text = "a\u{1b}[31m\n\t\u{202e}é…\u{0}\u{7f}\u{85}";
        assert_eq!(one_line(text), "a\\u{1b}[31m\\n\\t\\u{202e}é…\\u{0}\\u{7f}\\u{85}");
        assert_eq!(printable("a\n\tb\r"), "a\n\tb\\r");
        assert!(matches!(one_line("plain, text"), Cow::Borrowed(_)));
    }

    #[test]
    fn excerpts_are_escaped_and_cut() {
        let shown = |text, most| Excerpt(text, most).to_string();
        assert_eq!(shown("plain, text", 100), "plain, text");
        assert_eq!(shown("a\x1b[31m\nb", 100), "a\\u{1b}[31m\\nb");
        assert_eq!(shown("abcdef", 3), "abc…");
        assert_eq!(shown("aéé", 3), "aé…");
        assert_eq!(shown("ab\u{202e}", 4), "ab…");
    }
}
