//! What a terminal must not be sent: characters that it obeys instead of showing them.

use std::borrow::Cow;

/// Whether a terminal does something else with a character than to show it: control characters, and
/// those that turn the order of others around or hide.
pub fn obeyed(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || turns
}

/// Text as a terminal may have it: names of files and circuits, and what peers say, are somebody
/// else's choice.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| obeyed(c) && !matches!(c, '\n' | '\t'), |c| c.escape_default().to_string())
}

/// The same of what is to be one line.
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
