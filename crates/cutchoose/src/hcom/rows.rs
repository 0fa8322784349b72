//! Commitments in memory, and as bytes for a store.
//!
//! Both sides take XORs in the same order, because a commitment is identified by its place in the
//! list.

use std::ops::Range;

use symbolon_primitives::{Block, prefetch};

use super::{Params, wiped::WipedVec};

/// Commitments at the committer: strings, and their rows of V. Wiped on drop.
#[derive(Clone)]
pub struct Committed {
    values: WipedVec<Block>,
    rows: Commitments,
}

/// Commitments at the receiver: rows of W, which have the form of the committer's rows of V. Wiped
/// on drop.
#[derive(Clone)]
pub struct Commitments {
    words: usize,
    rows: WipedVec<u64>,
}

impl Committed {
    /// Returns an empty list for these parameters.
    pub fn new(params: &Params) -> Committed {
        Committed { values: WipedVec::default(), rows: Commitments::new(params) }
    }

    /// Returns commitments with these rows, to zero.
    pub fn to_zeros(rows: Commitments) -> Committed {
        let mut values = WipedVec::default();
        values.grow(rows.rows.len() / rows.words);
        Committed { values, rows }
    }

    /// Appends `n` zero strings and rows and returns them, to be filled in.
    pub(super) fn room(&mut self, n: usize) -> (&mut [Block], &mut [u64]) {
        (self.values.grow(n), self.rows.room(n))
    }

    /// Returns the rows of V.
    pub fn rows(&self) -> &Commitments {
        &self.rows
    }

    /// Prefetches the row of commitment `i`.
    pub fn prefetch(&self, i: usize) {
        self.rows.prefetch(i);
    }

    /// Returns the number of commitments.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the strings.
    pub fn values(&self) -> &[Block] {
        &self.values
    }

    /// Replaces the string of commitment `i`, but not its row. The committer must tell the receiver
    /// the difference, which the receiver adds to the claimed string.
    ///
    /// # Panics
    /// If there is no such commitment.
    pub fn set_value(&mut self, i: usize, value: Block) {
        self.values[i] = value;
    }

    /// Returns commitments to sums of these, each sum given by its terms' numbers.
    ///
    /// # Panics
    /// If there is no such commitment.
    #[must_use]
    pub fn sums(&self, sums: &[Vec<u32>]) -> Committed {
        let mut values = WipedVec::default();
        for (which, value) in sums.iter().zip(values.grow(sums.len())) {
            *value = which.iter().fold(Block::ZERO, |sum, &i| sum ^ self.values[i as usize]);
        }
        Committed { values, rows: self.rows.sums(sums) }
    }

    /// Appends the XOR of these commitments. The XOR of none is a commitment to 0 that both sides
    /// know.
    ///
    /// # Panics
    /// If a commitment does not exist, or has other parameters.
    pub fn push_xor(&mut self, parts: &[(&Committed, usize)]) {
        let sum = parts.iter().fold(Block::ZERO, |sum, (from, i)| sum ^ from.values[*i]);
        self.values.grow(1)[0] = sum;
        self.rows.add_up(parts.iter().map(|(from, i)| (&from.rows, *i)));
    }

    /// Returns the bytes of a stored commitment.
    pub fn record_bytes(params: &Params) -> usize {
        16 + Commitments::record_bytes(params)
    }

    /// Appends commitment `i` to `record`, as [`record_bytes`](Committed::record_bytes) bytes.
    ///
    /// # Panics
    /// If there is no such commitment.
    pub fn write_record(&self, i: usize, record: &mut Vec<u8>) {
        record.extend_from_slice(&self.values[i].to_bytes());
        self.rows.write_record(i, record);
    }

    /// Appends the commitment in a record.
    ///
    /// # Panics
    /// If the record has another length.
    pub fn push_record(&mut self, record: &[u8]) {
        let (head, row) = record.split_at(16);
        self.values.grow(1)[0] = Block::from_bytes(head.try_into().expect("16 bytes"));
        self.rows.push_record(row);
    }
}

impl Commitments {
    /// Returns an empty list for these parameters.
    pub fn new(params: &Params) -> Commitments {
        Commitments { words: params.row_words(), rows: WipedVec::default() }
    }

    /// Appends `n` zero rows and returns them, to be filled in.
    pub(super) fn room(&mut self, n: usize) -> &mut [u64] {
        self.rows.grow(n * self.words)
    }

    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Prefetches the row of commitment `i`.
    pub fn prefetch(&self, i: usize) {
        let row = &self.rows[i * self.words..][..self.words];
        row.iter().step_by(8).chain(row.last()).for_each(prefetch);
    }

    /// Writes the sum of the rows of some commitments to `row`.
    pub(super) fn sum_to(&self, which: impl Iterator<Item = usize>, row: &mut [u64]) {
        sum_to(&self.rows, which, row);
    }

    /// Returns the rows of a range of commitments, one after the other.
    pub(super) fn range(&self, range: Range<usize>) -> &[u64] {
        &self.rows[range.start * self.words..range.end * self.words]
    }

    /// Returns commitments to sums of these, each sum given by its terms' numbers.
    ///
    /// # Panics
    /// If there is no such commitment.
    #[must_use]
    pub fn sums(&self, sums: &[Vec<u32>]) -> Commitments {
        let mut new = Commitments { words: self.words, rows: WipedVec::default() };
        let rows = new.room(sums.len()).chunks_mut(self.words);
        for (which, row) in sums.iter().zip(rows) {
            sum_to(&self.rows, which.iter().map(|&i| i as usize), row);
        }
        new
    }

    /// Appends the XOR of these commitments. The XOR of none is a commitment to 0 that both sides
    /// know.
    ///
    /// # Panics
    /// If a commitment does not exist, or has other parameters.
    pub fn push_xor(&mut self, parts: &[(&Commitments, usize)]) {
        self.add_up(parts.iter().copied());
    }

    fn add_up<'a>(&mut self, parts: impl Iterator<Item = (&'a Commitments, usize)>) {
        let words = self.words;
        let row = self.room(1);
        for (from, i) in parts {
            same_words(words, from.words);
            xor(row, &from.rows, i);
        }
    }

    /// Returns the bytes of a stored commitment.
    pub fn record_bytes(params: &Params) -> usize {
        8 * params.row_words()
    }

    /// Appends commitment `i` to `record`, as [`record_bytes`](Commitments::record_bytes) bytes.
    ///
    /// # Panics
    /// If there is no such commitment.
    pub fn write_record(&self, i: usize, record: &mut Vec<u8>) {
        record.extend_from_slice(bytemuck::cast_slice(&self.rows[i * self.words..][..self.words]));
    }

    /// Appends the commitment in a record.
    ///
    /// # Panics
    /// If the record has another length.
    pub fn push_record(&mut self, record: &[u8]) {
        bytemuck::cast_slice_mut(self.room(1)).copy_from_slice(record);
    }
}

fn same_words(words: usize, others: usize) {
    assert!(words == others, "commitments of other parameters");
}

/// Writes the sum of some of these rows to `row`, which is as long as each of them.
fn sum_to(rows: &[u64], which: impl Iterator<Item = usize>, row: &mut [u64]) {
    match row.len() {
        // The row lengths of the default parameters at ρ = 40, 64 and 80.
        7 => sum_of::<7>(rows, which, row),
        8 => sum_of::<8>(rows, which, row),
        9 => sum_of::<9>(rows, which, row),
        _ => {
            row.fill(0);
            which.for_each(|i| xor(row, rows, i));
        }
    }
}

fn sum_of<const WORDS: usize>(rows: &[u64], which: impl Iterator<Item = usize>, row: &mut [u64]) {
    let rows = rows.as_chunks::<WORDS>().0;
    let mut sum = [0; WORDS];
    for i in which {
        sum.iter_mut().zip(&rows[i]).for_each(|(sum, word)| *sum ^= word);
    }
    row.copy_from_slice(&sum);
}

/// Adds row `i` of `rows` to `row`; all rows have the same length.
fn xor(row: &mut [u64], rows: &[u64], i: usize) {
    let words = row.len();
    for (row, other) in row.iter_mut().zip(&rows[i * words..][..words]) {
        *row ^= other;
    }
}
