//! What is hashed by [`UniversalMacHash`](crate::UniversalMacHash), and its keys.

use std::fmt;

/// Two lists of tags that are sums, selected by the same bits. Tag k of a list is `[0][k]` of its
/// rows, plus `[1][k]` if bit k of `bits[0]` is set, plus `[2][k]` if bit k of `bits[1]` is set;
/// and in the second list plus `delta` if bit k of `flips` is set.
///
/// Bit k is bit k % 64 of word k / 64. A row with one tag repeats it for all k.
#[derive(Clone, Copy)]
pub struct SelectedSums<'a> {
    /// By list: the rows to select from.
    pub rows: [[&'a [u64]; 3]; 2],
    /// The bits that select the second and the third row.
    pub bits: [&'a [u64]; 2],
    /// The bits that select `delta`.
    pub flips: &'a [u64],
    /// A single tag.
    pub delta: u64,
}

impl fmt::Debug for SelectedSums<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SelectedSums(..)")
    }
}

impl<'a> SelectedSums<'a> {
    /// Returns whether a row repeats one tag.
    pub(crate) fn is_shared(&self) -> bool {
        self.rows[0][0].len() == 1
    }

    /// Returns the rest from tag `start` on, which must begin a word of bits.
    pub(crate) fn from(mut self, start: usize) -> SelectedSums<'a> {
        if !self.is_shared() {
            for row in self.rows.as_flattened_mut() {
                *row = &row[start..];
            }
        }
        let [first, second] = &mut self.bits;
        for words in [first, second, &mut self.flips] {
            *words = &words[start / 64..];
        }
        self
    }

    pub(crate) fn check(&self, n: usize) {
        let long = self.rows[0][0].len();
        assert!(
            (long == 1 || long == n) && self.rows.as_flattened().iter().all(|r| r.len() == long),
            "rows of one tag, or of {n}"
        );
        let words = n.div_ceil(64);
        assert!(
            self.bits.iter().chain([&self.flips]).all(|bits| bits.len() >= words),
            "bits for {n} tags"
        );
    }
}

/// The keys of an even number of positions: of the first set, and of the second.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a>(pub [&'a [u64]; 2]);

impl<'a> Keys<'a> {
    /// Returns the rest from a position on.
    pub(crate) fn from(self, start: usize) -> Keys<'a> {
        Keys(self.0.map(|keys| &keys[start..]))
    }
}
