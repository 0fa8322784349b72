//! Bits of many executions side by side.

use std::ops::Range;

use symbolon_garbling::wires::WireStore;
use symbolon_primitives::{bytes_of_rows, mask64, rows_of_bytes};
use zeroize::ZeroizeOnDrop;

/// A matrix of bits: one row per wire, with one bit per execution, packed in words, least
/// significant bit first. Unused bits of a row's last word are zero.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Slices {
    executions: usize,
    /// The number of words in a row.
    words: usize,
    rows: Vec<u64>,
}

impl Slices {
    /// Returns rows of zeros for this many executions.
    pub fn zeros(rows: usize, executions: usize) -> Slices {
        let words = executions.div_ceil(64);
        Slices { executions, words, rows: vec![0; rows * words] }
    }

    /// Returns the number of executions.
    pub fn executions(&self) -> usize {
        self.executions
    }

    /// Returns one row.
    pub fn row(&self, row: usize) -> &[u64] {
        &self.rows[row * self.words..][..self.words]
    }

    /// Returns one row for writing; the unused bits must stay zero.
    pub fn row_mut(&mut self, row: usize) -> &mut [u64] {
        &mut self.rows[row * self.words..][..self.words]
    }

    /// Sets all bits of a row to `bit`.
    pub fn fill(&mut self, row: usize, bit: bool) {
        let (ones, mask) = (Ones(self.executions), mask64(bit));
        for (i, word) in self.row_mut(row).iter_mut().enumerate() {
            *word = ones.word(i) & mask;
        }
    }
}

impl WireStore for Slices {
    fn xor(&mut self, a: usize, b: usize, out: usize) {
        let [a, b, out] = [a, b, out].map(|row| row * self.words);
        for i in 0..self.words {
            self.rows[out + i] = self.rows[a + i] ^ self.rows[b + i];
        }
    }

    fn not(&mut self, a: usize, out: usize) {
        self.copy(a..a + 1, out);
        let ones = Ones(self.executions);
        for (i, word) in self.row_mut(out).iter_mut().enumerate() {
            *word ^= ones.word(i);
        }
    }

    fn constant(&mut self, value: bool, out: usize) {
        self.fill(out, value);
    }

    fn copy(&mut self, from: Range<usize>, out: usize) {
        let words = self.words;
        self.rows.copy_within(from.start * words..from.end * words, out * words);
    }
}

/// A row of this many ones.
struct Ones(usize);

impl Ones {
    fn word(&self, i: usize) -> u64 {
        match self.0 - (64 * i).min(self.0) {
            0 => 0,
            left @ 1..64 => (1 << left) - 1,
            _ => u64::MAX,
        }
    }
}

/// Writes the first `n` bits of `from`, whose other bits must be zero, to `into` from bit `at` on.
/// The bits there must be zero.
pub(crate) fn put(into: &mut [u64], at: usize, from: &[u64], n: usize) {
    let (first, shift) = (at / 64, at % 64);
    for (i, &word) in from[..n.div_ceil(64)].iter().enumerate() {
        into[first + i] |= word << shift;
        if shift != 0
            && let Some(next) = into.get_mut(first + i + 1)
        {
            *next |= word >> (64 - shift);
        }
    }
}

/// Reads `n` bits of `from` from bit `at` on into `into`, and zeros to the end of its last word.
pub(crate) fn get(from: &[u64], at: usize, into: &mut [u64], n: usize) {
    let (first, shift) = (at / 64, at % 64);
    for (i, word) in into[..n.div_ceil(64)].iter_mut().enumerate() {
        *word = from[first + i] >> shift;
        if shift != 0
            && let Some(next) = from.get(first + i + 1)
        {
            *word |= next << (64 - shift);
        }
        *word &= Ones(n).word(i);
    }
}

/// Returns for each execution, rounded up to a multiple of 64, the byte in its column of at most
/// eight rows; the first row gives the least significant bit.
pub(crate) fn columns<'a>(rows: impl Iterator<Item = &'a [u64]>, out: &mut [u8], zeros: &'a [u64]) {
    let mut all = [zeros; 8];
    all.iter_mut().zip(rows).for_each(|(to, row)| *to = row);
    bytes_of_rows(all, out);
}

/// Does the inverse: converts bits 0 to 7 of bytes, every `stride`-th of which belongs to the next
/// execution, to words of rows.
pub(crate) fn rows_of(bytes: &[u8], stride: usize, executions: usize, out: &mut Vec<[u64; 8]>) {
    out.resize(executions.div_ceil(64), [0; 8]);
    if stride == 1 && executions.is_multiple_of(64) {
        return rows_of_bytes(&bytes[..executions], out);
    }
    let mut padded = Vec::with_capacity(executions.next_multiple_of(64));
    match stride {
        1 => padded.extend_from_slice(&bytes[..executions]),
        _ => padded.extend(bytes.iter().step_by(stride).take(executions)),
    }
    padded.resize(executions.next_multiple_of(64), 0);
    rows_of_bytes(&padded, out);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_put_anywhere_is_got_back(
            words in prop::collection::vec(any::<u64>(), 4),
            n in 0usize..=256,
            at in 0usize..200,
        ) {
            let mut row = [0; 4];
            get(&words, 0, &mut row, n);
            let mut all = [0; 8];
            put(&mut all, at, &row, n);
            let mut back = [u64::MAX; 4];
            get(&all, at, &mut back, n);
            prop_assert_eq!(&back[..n.div_ceil(64)], &row[..n.div_ceil(64)]);
            let ones = |words: &[u64]| words.iter().map(|word| word.count_ones()).sum::<u32>();
            prop_assert_eq!(ones(&all), ones(&row[..n.div_ceil(64)]));
        }

        #[test]
        fn rows_become_columns_and_back(
            bytes in prop::collection::vec(any::<u8>(), 1..300),
            stride in 1usize..4,
        ) {
            let executions = bytes.len().div_ceil(stride);
            let mut words = Vec::new();
            rows_of(&bytes, stride, executions, &mut words);
            let row = |i: usize| words.iter().map(|word| word[i]).collect::<Vec<u64>>();
            let rows: Vec<Vec<u64>> = (0..8).map(row).collect();
            for (execution, byte) in bytes.iter().step_by(stride).enumerate() {
                for (i, row) in rows.iter().enumerate() {
                    prop_assert_eq!(row[execution / 64] >> (execution % 64) & 1, u64::from(byte >> i & 1));
                }
            }
            let (mut back, zeros) = (vec![1; 64 * words.len()], vec![0; words.len()]);
            columns(rows.iter().map(Vec::as_slice), &mut back, &zeros);
            prop_assert!(back[..executions].iter().eq(bytes.iter().step_by(stride)));
            prop_assert!(back[executions..].iter().all(|byte| *byte == 0));
            columns(rows[..3].iter().map(Vec::as_slice), &mut back, &zeros);
            let low = bytes.iter().step_by(stride).map(|byte| byte & 7);
            prop_assert!(back[..executions].iter().copied().eq(low));
        }

        #[test]
        fn rows_are_copied_in_order(executions in 1usize..200, first in 0usize..4, n in 0usize..3) {
            let mut slices = Slices::zeros(8, executions);
            for row in 0..6 {
                slices.row_mut(row)[0] = row as u64 & 1;
                slices.row_mut(row)[(executions - 1) / 64] |= u64::from(row > 2);
            }
            let before: Vec<Vec<u64>> = (0..8).map(|row| slices.row(row).to_vec()).collect();
            slices.copy(first..first + n, 5);
            for row in 0..8 {
                let from = if (5..5 + n).contains(&row) { row - 5 + first } else { row };
                prop_assert_eq!(slices.row(row), &before[from][..]);
            }
        }

        #[test]
        fn unused_bits_stay_zero(executions in 1usize..200) {
            let mut slices = Slices::zeros(3, executions);
            slices.fill(0, true);
            slices.not(0, 1);
            slices.xor(0, 1, 2);
            let ones = |row: usize| -> u32 {
                slices.row(row).iter().map(|word| word.count_ones()).sum()
            };
            prop_assert_eq!([ones(0), ones(1), ones(2)], [executions as u32, 0, executions as u32]);
        }
    }
}
