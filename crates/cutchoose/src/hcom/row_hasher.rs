//! The hash of an opening's rows.

use blake3::{Hash, Hasher};
use zeroize::{Zeroize, Zeroizing};

/// Bytes that are hashed side by side: sixteen of the hash's chunks.
const SPAN: usize = 16 << 10;

/// Words that may wait: what is hashed at a time, and the longest row.
const ROOM: usize = SPAN / 8 + 64;

/// Rows wait until there are enough to hash whole chunks side by side, which takes a third of the
/// time of chunk after chunk.
pub(super) struct RowHasher {
    hasher: Box<Hasher>,
    /// [`ROOM`] words, of which the first `filled` wait.
    waiting: Zeroizing<Vec<u64>>,
    filled: usize,
    /// Bytes that `waiting` begins with and that were hashed already.
    hashed: usize,
    /// Bytes that have to be hashed until the next chunks begin.
    missing: usize,
}

impl RowHasher {
    pub fn new(hasher: Hasher) -> RowHasher {
        let waiting = Zeroizing::new(vec![0; ROOM]);
        RowHasher { hasher: Box::new(hasher), waiting, filled: 0, hashed: 0, missing: SPAN }
    }

    /// Hashes what comes before the first row.
    pub fn start(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.missing -= bytes.len();
    }

    /// The place of the next row, which the caller overwrites.
    pub fn row(&mut self, words: usize) -> &mut [u64] {
        let first = self.filled;
        self.filled += words;
        &mut self.waiting[first..self.filled]
    }

    /// Adds any number of rows.
    pub fn rows(&mut self, mut rows: &[u64]) {
        while !rows.is_empty() {
            // After a flush there is room for the longest row at least.
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
        // Words stay where they are in a word, so the rest of one waits whole.
        let (words, rest) = (end / 8, end % 8);
        self.waiting.copy_within(words..self.filled, 0);
        self.filled -= words;
        (self.hashed, self.missing) = (rest, SPAN);
    }

    /// The hash of everything.
    pub fn finish(mut self) -> Hash {
        let bytes: &[u8] = bytemuck::cast_slice(&self.waiting[..self.filled]);
        self.hasher.update(&bytes[self.hashed..]);
        self.hasher.finalize()
    }
}

impl Drop for RowHasher {
    fn drop(&mut self) {
        self.hasher.zeroize();
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
