//! Bits of many executions side by side.

use zeroize::Zeroize;

/// A matrix of bits: a row for each wire, in it a bit for each execution, packed in words, the least
/// significant bit first. Unused bits of a row's last word are zero.
pub(crate) struct Slices {
    lanes: usize,
    /// Words of a row.
    words: usize,
    rows: Vec<u64>,
}

impl Slices {
    /// Rows of zeros for so many executions.
    pub fn zeros(rows: usize, lanes: usize) -> Slices {
        let words = lanes.div_ceil(64);
        Slices { lanes, words, rows: vec![0; rows * words] }
    }

    /// How many executions there are.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[u64] {
        &self.rows[row * self.words..][..self.words]
    }

    /// One row, writable; the unused bits must stay zero.
    pub fn row_mut(&mut self, row: usize) -> &mut [u64] {
        &mut self.rows[row * self.words..][..self.words]
    }

    /// Row `out` becomes row `a` ⊕ row `b`; they may be the same.
    pub fn xor(&mut self, a: usize, b: usize, out: usize) {
        let [a, b, out] = [a, b, out].map(|row| row * self.words);
        for i in 0..self.words {
            self.rows[out + i] = self.rows[a + i] ^ self.rows[b + i];
        }
    }

    /// Row `out` becomes row `from`.
    pub fn copy(&mut self, from: usize, out: usize) {
        let start = from * self.words;
        self.rows.copy_within(start..start + self.words, out * self.words);
    }

    /// Flips all bits of a row.
    pub fn flip(&mut self, row: usize) {
        let (start, ones) = (row * self.words, Ones(self.lanes));
        for (i, word) in self.rows[start..start + self.words].iter_mut().enumerate() {
            *word ^= ones.word(i);
        }
    }

    /// Makes all bits of a row equal.
    pub fn fill(&mut self, row: usize, bit: bool) {
        self.row_mut(row).fill(0);
        if bit {
            self.flip(row);
        }
    }
}

impl Drop for Slices {
    fn drop(&mut self) {
        self.rows.zeroize();
    }
}

/// A row of so many ones.
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

/// Writes the first `n` bits of `from`, all others of which are zero, to `into` from bit `at`. The bits there
/// must be zero.
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

/// Reads `n` bits of `from` from bit `at` to `into`, and zeros to the end of its last word.
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

/// For each execution the byte whose bits stand in its column of at most eight rows, the first row's the least
/// significant.
pub(crate) fn columns<'a>(rows: impl Iterator<Item = &'a [u64]>, out: &mut [u8]) {
    let mut all: [&[u64]; 8] = [&[]; 8];
    all.iter_mut().zip(rows).for_each(|(to, row)| *to = row);
    for (word, out) in out.chunks_mut(64).enumerate() {
        let rows = all.map(|row| row.get(word).map_or([0; 8], |word| word.to_le_bytes()));
        for (i, out) in out.chunks_mut(8).enumerate() {
            let square = transposed(u64::from_le_bytes(rows.map(|row| row[i])));
            out.copy_from_slice(&square.to_le_bytes()[..out.len()]);
        }
    }
}

/// The other way round: bits 0 to 7 of bytes, of which every `stride`-th belongs to the next execution, as rows.
pub(crate) fn rows_of(
    bytes: &[u8],
    stride: usize,
    lanes: usize,
    mut row: impl FnMut(usize, usize, u64),
) {
    for word in 0..lanes.div_ceil(64) {
        let mut rows = [[0; 8]; 8];
        for (i, eight) in (64 * word..lanes.min(64 * word + 64)).step_by(8).enumerate() {
            let mut square = [0; 8];
            match bytes[eight * stride..].first_chunk() {
                Some(eight) if stride == 1 => square = *eight,
                _ => square
                    .iter_mut()
                    .zip(bytes[eight * stride..].iter().step_by(stride))
                    .for_each(|(to, byte)| *to = *byte),
            }
            let columns = transposed(u64::from_le_bytes(square)).to_le_bytes();
            rows.iter_mut().zip(columns).for_each(|(row, column)| row[i] = column);
        }
        rows.into_iter().enumerate().for_each(|(i, bytes)| row(i, word, u64::from_le_bytes(bytes)));
    }
}

/// The transpose of a matrix of 8 × 8 bits, a row in each byte.
fn transposed(x: u64) -> u64 {
    let swap = |x: u64, mask: u64, by: u32| {
        let differ = (x ^ x >> by) & mask;
        x ^ differ ^ differ << by
    };
    let x = swap(x, 0x00aa_00aa_00aa_00aa, 7);
    let x = swap(x, 0x0000_cccc_0000_cccc, 14);
    swap(x, 0x0000_0000_f0f0_f0f0, 28)
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
            let lanes = bytes.len().div_ceil(stride);
            let mut rows = vec![vec![0; lanes.div_ceil(64)]; 8];
            rows_of(&bytes, stride, lanes, |row, word, bits| rows[row][word] = bits);
            for (lane, byte) in bytes.iter().step_by(stride).enumerate() {
                for (i, row) in rows.iter().enumerate() {
                    prop_assert_eq!(row[lane / 64] >> (lane % 64) & 1, u64::from(byte >> i & 1));
                }
            }
            let mut back = vec![0; lanes];
            columns(rows.iter().map(Vec::as_slice), &mut back);
            prop_assert!(back.iter().eq(bytes.iter().step_by(stride)));
            columns(rows[..3].iter().map(Vec::as_slice), &mut back);
            prop_assert!(back.iter().copied().eq(bytes.iter().step_by(stride).map(|byte| byte & 7)));
        }

        #[test]
        fn unused_bits_stay_zero(lanes in 1usize..200) {
            let mut slices = Slices::zeros(3, lanes);
            slices.fill(0, true);
            slices.copy(0, 1);
            slices.flip(1);
            slices.xor(0, 1, 2);
            let ones = |row: usize| -> u32 {
                slices.row(row).iter().map(|word| word.count_ones()).sum()
            };
            prop_assert_eq!([ones(0), ones(1), ones(2)], [lanes as u32, 0, lanes as u32]);
        }
    }
}
