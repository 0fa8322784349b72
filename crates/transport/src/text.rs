//! Text for people: that of a peer, made safe to print, and times.

use symbolon_common::escape::Excerpt;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The maximum number of bytes of a peer's text that are shown.
pub(crate) const SHOWN: usize = 256;

/// Escapes `text` and truncates it to [`SHOWN`] bytes.
pub(crate) fn printable(text: &str) -> String {
    Excerpt(text, SHOWN).to_string()
}

/// Escapes and truncates bytes that should be text but may be anything.
pub(crate) fn printable_bytes(bytes: &[u8], max: usize) -> String {
    // Each replaced byte takes up to three, so truncating first bounds the work.
    let head = &bytes[..bytes.len().min(max)];
    Excerpt(&String::from_utf8_lossy(head), max).to_string()
}

/// Formats a time as RFC 3339 does, in UTC and whole seconds.
pub(crate) fn utc(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().map(OffsetDateTime::from_unix_timestamp);
    let text = time.and_then(|time| time.ok()?.format(&Rfc3339).ok());
    text.unwrap_or_else(|| format!("{seconds} seconds after 1970"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_shown() {
        assert_eq!(printable_bytes(&[b'x', 0xff, 0], 100), "x\u{fffd}\\u{0}");
        assert_eq!(printable_bytes(&[0xff; 100], 6), "\u{fffd}\u{fffd}…");
    }
}
