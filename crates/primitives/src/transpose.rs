//! Transposition of bit matrices of 128 rows.

use crate::{Backend, Block};

/// Transposes a bit matrix of 128 rows and `out.len()` columns.
///
/// Row `i` starts at byte `cols[i * stride]`, its bit `j` being bit `j % 8` of byte `j / 8`; that
/// bit becomes bit `i` of `out[j]`.
///
/// A stride that is a large power of two makes all rows compete for the same few sets of the cache and
/// takes up to three times as long; an odd multiple of 64 is best.
///
/// # Panics
/// If `out.len()` is not a multiple of 128 or exceeds `8 * stride`, or if `cols` ends before the last
/// row's `out.len() / 8` bytes.
pub fn transpose_128(cols: &[u8], stride: usize, out: &mut [Block]) {
    Backend::active().transpose_128(cols, stride, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prg;

    #[test]
    fn agrees_with_a_bit_loop() {
        let mut prg = Prg::from_seed(Block(4));
        let shapes = [(0, 5), (128, 0), (128, 3), (256, 0), (384, 7), (640, 48), (1152, 1)];
        // Multiples of 1024 bytes, with a whole number of 512 columns and without.
        let colliding = [(128, 1008), (512, 960), (1152, 880), (8320, 1008)];
        for (columns, extra) in shapes.into_iter().chain(colliding) {
            let stride = columns / 8 + extra;
            // The last row need not have its padding.
            let mut cols = vec![0u8; 127 * stride + columns / 8 + 1];
            prg.fill(&mut cols);
            // An odd address, so that no version can count on alignment.
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
