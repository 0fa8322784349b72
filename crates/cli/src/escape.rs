//! Characters that a terminal must not receive, because it obeys them instead of showing them.

use std::borrow::Cow;

/// Returns whether a terminal does anything but show a character: control characters, and those
/// that reorder others or are invisible.
pub fn obeyed(c: char) -> bool {
    c.is_control() || symbolon_lang::invisible::is_invisible(c)
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
