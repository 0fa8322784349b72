//! Characters that a terminal must not receive, because it obeys them instead of showing them: the
//! command and the library for C print nothing, and no error, without this.

use std::borrow::Cow;

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
}
