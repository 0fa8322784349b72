//! Transposition by byte shuffles and MOVMSKB.

use std::arch::x86_64::*;

use super::load_bytes;
use crate::Block;
use crate::backend::portable;

#[target_feature(enable = "avx2")]
pub(in super::super) fn transpose_128(cols: &[u8], stride: usize, out: &mut [Block]) {
    for (tile, square) in out.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        let words: &mut [[u32; 4]; 128] = bytemuck::cast_mut(square);
        for quarter in 0..4 {
            let rows = &cols[32 * quarter * stride + 16 * tile..];
            let bytes = byte_columns(rows, stride);
            for (c, &column) in bytes.iter().enumerate() {
                // MOVMSKB takes the top bit of each byte, and doubling brings up the next.
                let mut column = column;
                for s in (0..8).rev() {
                    words[8 * c + s][quarter] = _mm256_movemask_epi8(column) as u32;
                    column = _mm256_add_epi8(column, column);
                }
            }
        }
    }
}

/// The 16 byte columns of 32 rows of 16 bytes: byte `i` of column `c` is byte `c` of row `i`.
#[inline]
#[target_feature(enable = "avx2")]
fn byte_columns(rows: &[u8], stride: usize) -> [__m256i; 16] {
    let mut a = [_mm256_setzero_si256(); 16];
    for (i, pair) in a.iter_mut().enumerate() {
        let (low, high) = (row(rows, i * stride), row(rows, (i + 16) * stride));
        *pair = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
    }
    // Four rounds of the perfect shuffle: interleaving registers i and i + 8 into 2i and 2i + 1 rotates
    // the index (register ‖ byte) by one bit, and four rotations exchange its halves.
    for _ in 0..4 {
        let mut b = a;
        for i in 0..8 {
            b[2 * i] = _mm256_unpacklo_epi8(a[i], a[i + 8]);
            b[2 * i + 1] = _mm256_unpackhi_epi8(a[i], a[i + 8]);
        }
        a = b;
    }
    a
}

#[inline]
#[target_feature(enable = "avx2")]
fn row(rows: &[u8], at: usize) -> __m128i {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&rows[at..at + 16]);
    load_bytes(&bytes)
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn bytes_of_rows(rows: [&[u64]; 8], out: &mut [[u8; 64]]) {
    portable::bytes_of_rows(rows, out);
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn rows_of_bytes(bytes: &[[u8; 64]], out: &mut [[u64; 8]]) {
    portable::rows_of_bytes(bytes, out);
}
