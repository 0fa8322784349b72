//! Words as the standards' byte strings: the most significant part first.

use crate::builder::Word;

/// Splits a word into words of `unit` bits, the most significant first.
pub(super) fn big_endian(word: &Word, unit: usize) -> Vec<Word> {
    let mut units = word.split(unit);
    units.reverse();
    units
}

/// The inverse of [`big_endian`].
pub(super) fn from_big_endian(units: &[Word]) -> Word {
    Word::join(units.iter().rev())
}
