//! The hash of an opening's rows.

use blake3::{Hash, Hasher};
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// How many bytes are hashed in parallel: sixteen BLAKE3 chunks.
const SPAN: usize = 16 << 10;

/// How many words may wait: one span, and the longest row.
const ROOM: usize = SPAN / 8 + 64;

/// Collects rows until it can hash whole chunks in parallel, which takes a third of the time of
/// hashing one chunk after another.
#[derive(ZeroizeOnDrop)]
pub(super) struct RowHasher {
    hasher: Box<Hasher>,
    /// [`ROOM`] words, of which the first `filled` wait.
    waiting: Zeroizing<Vec<u64>>,
    filled: usize,
    /// How many bytes at the start of `waiting` are already hashed.
    hashed: usize,
    /// How many bytes are missing until the current span is complete.
    missing: usize,
}

impl RowHasher {
    pub fn new(hasher: Hasher) -> RowHasher {
        let waiting = Zeroizing::new(vec![0; ROOM]);
        RowHasher { hasher: Box::new(hasher), waiting, filled: 0, hashed: 0, missing: SPAN }
    }

    /// Hashes bytes that precede the first row.
    pub fn start(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.missing -= bytes.len();
    }

    /// Returns the place of the next row, which the caller overwrites.
    pub fn row(&mut self, words: usize) -> &mut [u64] {
        let first = self.filled;
        self.filled += words;
        &mut self.waiting[first..self.filled]
    }

    /// Adds any number of rows.
    pub fn rows(&mut self, mut rows: &[u64]) {
        while !rows.is_empty() {
            // After a flush there is room for at least the longest row.
            let (now, later) = rows.split_at(rows.len().min(ROOM - self.filled));
            self.row(now.len()).copy_from_slice(now);
            self.flush();
            rows = later;
        }
    }

    /// Hashes rows if there are enough of them.
    pub fn flush(&mut self) {
        if 8 * self.filled - self.hashed < self.missing {
            return;
        }
        let bytes: &[u8] = bytemuck::cast_slice(&self.waiting);
        let end = self.hashed + self.missing;
        self.hasher.update(&bytes[self.hashed..end]);
        // Bytes keep their position in a word, so a partly hashed word waits as a whole.
        let (words, rest) = (end / 8, end % 8);
        self.waiting.copy_within(words..self.filled, 0);
        self.filled -= words;
        (self.hashed, self.missing) = (rest, SPAN);
    }

    /// Returns the hash of everything.
    pub fn finish(mut self) -> Hash {
        let bytes: &[u8] = bytemuck::cast_slice(&self.waiting[..self.filled]);
        self.hasher.update(&bytes[self.hashed..]);
        self.hasher.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_what_came_in_order() {
        for start in [0, 3, 52] {
            for words in [1, 5, 11, 16] {
                for rows in [0, 1, 2, 127, 1000, 5000] {
                    let (prefix, mut all) = (vec![7; start], vec![7; start]);
                    let mut hasher = RowHasher::new(Hasher::new());
                    hasher.start(&prefix);
                    for row in 0..rows {
                        let place = hasher.row(words);
                        place.iter_mut().zip(row..).for_each(|(word, i)| *word = i << 20 | 5);
                        all.extend_from_slice(bytemuck::cast_slice(place));
                        hasher.flush();
                    }
                    assert_eq!(hasher.finish(), blake3::hash(&all), "{start} {words} {rows}");
                    let mut hasher = RowHasher::new(Hasher::new());
                    hasher.start(&prefix);
                    let together: Vec<u64> = bytemuck::pod_collect_to_vec(&all[start..]);
                    let (first, others) = together.split_at(together.len() / 3);
                    hasher.rows(first);
                    hasher.rows(others);
                    assert_eq!(hasher.finish(), blake3::hash(&all), "{start} {words} {rows}");
                }
            }
        }
    }
}
