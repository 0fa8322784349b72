//! Texts and positions in them, as editors count.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent};

use crate::source::Span;

/// What a column counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of 16 bits, the editors' default.
    Utf16,
}

/// A text with the places where its lines begin.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The text.
    pub text: String,
    lines: Vec<usize>,
    /// How many units of 16 bits are before each block of [`BLOCK`] bytes.
    blocks: Vec<usize>,
}

/// Columns in long lines are counted from the start of their block of this many bytes.
const BLOCK: usize = 1 << 10;

impl Text {
    /// Creates a text.
    pub fn new(text: String) -> Text {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(breaks.map(|(place, _)| place + 1)).collect();
        let mut before = 0;
        let blocks = text.as_bytes().chunks(BLOCK).map(|block| {
            let start = before;
            before += block.iter().map(|&byte| wide_units(byte)).sum::<usize>();
            start
        });
        let blocks = blocks.collect();
        Text { text, lines, blocks }
    }

    /// Returns how many units of 16 bits are before a byte.
    fn wide_before(&self, offset: usize) -> usize {
        let block = (offset / BLOCK).min(self.blocks.len().saturating_sub(1));
        let rest = &self.text.as_bytes()[block * BLOCK..offset];
        let before = self.blocks.get(block).copied().unwrap_or(0);
        before + rest.iter().map(|&byte| wide_units(byte)).sum::<usize>()
    }

    /// Returns the byte at a position; positions past a line's end count as its end.
    pub fn offset(&self, position: Position, encoding: Encoding) -> usize {
        let Some(&start) = self.lines.get(position.line as usize) else { return self.text.len() };
        let end =
            self.lines.get(position.line as usize + 1).map_or(self.text.len(), |next| next - 1);
        let mut column = 0;
        for (place, c) in self.text[start..end].char_indices() {
            if column >= position.character as usize {
                return start + place;
            }
            column += units(c, encoding);
        }
        end
    }

    /// Returns the position of a byte.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.lines.partition_point(|&start| start <= offset) - 1;
        let start = self.lines[line];
        let column = match encoding {
            Encoding::Utf8 => offset - start,
            Encoding::Utf16 => self.wide_before(offset) - self.wide_before(start),
        };
        Position::new(line as u32, column as u32)
    }

    /// Returns the range of a place.
    pub fn range(&self, span: Span, encoding: Encoding) -> Range {
        let start = self.position(span.start as usize, encoding);
        Range::new(start, self.position(span.end as usize, encoding))
    }

    /// Returns the range of the whole text.
    pub fn whole(&self, encoding: Encoding) -> Range {
        Range::new(Position::new(0, 0), self.position(self.text.len(), encoding))
    }

    /// Returns the text after a change.
    pub fn changed(mut self, change: TextDocumentContentChangeEvent, encoding: Encoding) -> Text {
        let Some(range) = change.range else { return Text::new(change.text) };
        let start = self.offset(range.start, encoding);
        let end = self.offset(range.end, encoding).max(start);
        self.text.replace_range(start..end, &change.text);
        Text::new(self.text)
    }
}

/// Returns how many units of 16 bits a character has, by its first byte; 0 for its other bytes.
fn wide_units(byte: u8) -> usize {
    match byte {
        0x80..=0xbf => 0,
        0xf0.. => 2,
        _ => 1,
    }
}

fn units(c: char, encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => c.len_utf8(),
        Encoding::Utf16 => c.len_utf16(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_what_was_agreed() {
        let text = Text::new("a\n// \u{1f600}é x\n".into());
        let x = text.text.find('x').unwrap();
        assert_eq!(text.position(x, Encoding::Utf16), Position::new(1, 7));
        assert_eq!(text.position(x, Encoding::Utf8), Position::new(1, 10));
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            assert_eq!(text.offset(text.position(x, encoding), encoding), x);
        }
        let long = Text::new(format!("{}x", "\u{1f600}é ".repeat(BLOCK)));
        for (offset, _) in long.text.char_indices().filter(|(place, _)| place % 97 < 9) {
            let wide = long.text[..offset].encode_utf16().count();
            let position = long.position(offset, Encoding::Utf16);
            assert_eq!(position, Position::new(0, wide as u32));
        }
        assert_eq!(text.offset(Position::new(0, 99), Encoding::Utf16), 1);
        assert_eq!(text.offset(Position::new(99, 0), Encoding::Utf16), text.text.len());
    }

    #[test]
    fn a_change_replaces_its_range() {
        let range = Some(Range::new(Position::new(1, 0), Position::new(1, 2)));
        let change = TextDocumentContentChangeEvent { range, range_length: None, text: "x".into() };
        let text = Text::new("ab\ncd\nef".into()).changed(change, Encoding::Utf16);
        assert_eq!(text.text, "ab\nx\nef");
        assert_eq!(text.position(5, Encoding::Utf16), Position::new(2, 0));
    }
}
