//! JSON of secret values.

use std::io::{self, Write};

use serde::Serialize;
use zeroize::Zeroizing;

/// Returns a value as JSON, which is wiped when dropped.
///
/// The length is measured first, so that the text is never reallocated, which would leave copies.
///
/// # Errors
/// That of the value's own `Serialize`. Its text may contain the value.
pub(crate) fn to_text(value: &(impl Serialize + ?Sized)) -> serde_json::Result<Zeroizing<String>> {
    let mut length = Length(0);
    serde_json::to_writer(&mut length, value)?;
    let mut text = Zeroizing::new(Vec::with_capacity(length.0));
    serde_json::to_writer(&mut *text, value)?;
    let text = String::from_utf8(std::mem::take(&mut *text)).expect("JSON is UTF-8");
    Ok(text.into())
}

/// Counts the bytes written.
struct Length(usize);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_written_in_one_piece() {
        let long = "a \"quoted\" text ".repeat(100);
        let text = to_text(&long).unwrap();
        assert_eq!(*text, serde_json::to_string(&long).unwrap());
        assert_eq!(text.capacity(), text.len(), "it never grew");
    }
}
