//! Transposition of bit matrices of 128 rows.

use crate::{Backend, Block};

/// Transposes a bit matrix of 128 rows and `out.len()` columns.
///
/// Row `i` starts at byte `cols[i * stride]`. Its bit `j` is bit `j % 8` of byte `j / 8`, and
/// becomes bit `i` of `out[j]`.
///
/// With a stride that is a large power of two, all rows compete for the same few sets of the cache,
/// which takes up to three times as long; an odd multiple of 64 is best.
///
/// # Panics
/// If `out.len()` is not a multiple of 128 or exceeds `8 * stride`, or if `cols` ends before the
/// last row's `out.len() / 8` bytes.
pub fn transpose_128(cols: &[u8], stride: usize, out: &mut [Block]) {
    Backend::active().transpose_128(cols, stride, out);
}

/// Returns the columns of eight rows of bits as bytes: bit l of row i becomes bit i of byte l,
/// where bit l of a row is bit l % 64 of its word l / 64.
///
/// # Panics
/// If there are not 64 bytes for each word of a row, or the rows have different lengths.
pub fn bytes_of_rows(rows: [&[u64]; 8], out: &mut [u8]) {
    Backend::active().bytes_of_rows(rows, out);
}

/// Does the inverse: for each 64 bytes, writes eight words; word i holds bit i of these bytes.
///
/// # Panics
/// If the number of bytes is not a multiple of 64, or there is not room for exactly as many groups
/// of words.
pub fn rows_of_bytes(bytes: &[u8], out: &mut [[u64; 8]]) {
    Backend::active().rows_of_bytes(bytes, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prg;

    #[test]
    fn agrees_with_a_bit_loop() {
        let mut prg = Prg::from_seed(Block(4));
        let shapes = [(0, 5), (128, 0), (128, 3), (256, 0), (384, 7), (640, 48), (1152, 1)];
        // Multiples of 1024 bytes, with and without a multiple of 512 columns.
        let colliding = [(128, 1008), (512, 960), (1152, 880), (8320, 1008)];
        for (columns, extra) in shapes.into_iter().chain(colliding) {
            let stride = columns / 8 + extra;
            // The last row need not be padded.
            let mut cols = vec![0u8; 127 * stride + columns / 8 + 1];
            prg.fill(&mut cols);
            // The address is odd, so that no version can rely on alignment.
            let cols = &cols[1..];
            let expected: Vec<Block> = (0..columns)
                .map(|j| {
                    (0..128).fold(Block::ZERO, |acc, i| {
                        let bit = cols[i * stride + j / 8] >> (j % 8) & 1;
                        acc ^ Block(u128::from(bit) << i)
                    })
                })
                .collect();
            for backend in Backend::available() {
                let mut out = vec![Block(1); columns];
                backend.transpose_128(cols, stride, &mut out);
                assert_eq!(out, expected, "{backend:?} {columns}+{extra}");
            }
            let mut out = vec![Block(1); columns];
            transpose_128(cols, stride, &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn eight_rows_become_bytes_and_back() {
        let mut prg = Prg::from_seed(Block(5));
        for words in [0, 1, 2, 3, 4, 5, 7, 8, 9] {
            let rows: [Vec<u64>; 8] = [(); 8].map(|()| (0..words).map(|_| prg.u64()).collect());
            for backend in Backend::available() {
                let mut out = vec![1; 64 * words];
                backend.bytes_of_rows(rows.each_ref().map(Vec::as_slice), &mut out);
                for (lane, byte) in out.iter().enumerate() {
                    for (i, row) in rows.iter().enumerate() {
                        assert_eq!(byte >> i & 1, (row[lane / 64] >> (lane % 64) & 1) as u8);
                    }
                }
                let mut back = vec![[1; 8]; words];
                backend.rows_of_bytes(&out, &mut back);
                for (word, back) in back.iter().enumerate() {
                    assert_eq!(*back, rows.each_ref().map(|row| row[word]), "{backend:?}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "multiple of 128")]
    fn refuses_a_ragged_output() {
        transpose_128(&[0; 4096], 32, &mut [Block::ZERO; 64]);
    }

    #[test]
    #[should_panic(expected = "longer than the stride")]
    fn refuses_overlapping_rows() {
        transpose_128(&[0; 4096], 16, &mut [Block::ZERO; 256]);
    }

    #[test]
    #[should_panic(expected = "matrix of")]
    fn refuses_a_short_matrix() {
        transpose_128(&[0; 2047], 16, &mut [Block::ZERO; 128]);
    }
}
