//! Transposition by shifts and byte shuffles, 256 columns at a time.
//!
//! Let row i = 8r + t (r below 16, t below 8) and column j = 8c + s. Eight registers with the rows
//! of one r, byte c each, form eight rows of 8×8 bit squares: swapping bits between registers
//! transposes them all, so that register s has at byte c, bit t. Then the bytes of each s are
//! transposed, 16 by 16 in each lane: first the registers of r and r + 8 are interleaved, the lower
//! halves for c below 8 and the upper ones for the others, then follow three rounds among eight
//! registers.
//!
//! Unsafe: rows at a stride | `Tile::new` checks once that the last row is within the slice; `row`
//! checks the number

use std::arch::x86_64::*;

use zeroize::Zeroize;

use super::{load_bytes, load_wide, load_words, store, store_words};
use crate::Block;
use crate::backend::portable;

/// The number of bytes of a row fetched at once if the cache requires it: a cache line.
const LINE: usize = 64;

#[target_feature(enable = "avx2")]
pub(in super::super) fn transpose_128(cols: &[u8], stride: usize, out: &mut [Block]) {
    let mut done = 0;
    let mut out = out;
    let mut squares = [[_mm256_setzero_si256(); 16]; 8];
    // Rows that are a power of two apart share a few sets of the cache, and would evict each other
    // before a whole line is used.
    if stride.is_multiple_of(1024) {
        let mut lines = [[0; LINE]; 128];
        let (chunks, rest) = out.as_chunks_mut::<{ 8 * LINE }>();
        for chunk in chunks {
            for (i, line) in lines.iter_mut().enumerate() {
                line.copy_from_slice(&cols[i * stride + done..][..LINE]);
            }
            transpose_tiles(lines.as_flattened(), LINE, &mut squares, chunk);
            done += LINE;
        }
        out = rest;
    }
    transpose_tiles(&cols[done..], stride, &mut squares, out);
    squares.zeroize();
}

/// By s and r: the bytes c of two tiles, one tile per lane.
type Squares = [[__m256i; 16]; 8];

#[inline]
#[target_feature(enable = "avx2")]
fn transpose_tiles(cols: &[u8], stride: usize, squares: &mut Squares, out: &mut [Block]) {
    let (pairs, rest) = out.as_chunks_mut::<256>();
    for (t, out) in pairs.iter_mut().enumerate() {
        let rows = Tile::new(&cols[32 * t..], stride, 32);
        for r in 0..16 {
            let bits = transposed_bits(rows.eight_wide_rows(8 * r));
            squares.iter_mut().zip(bits).for_each(|(square, bits)| square[r] = bits);
        }
        let (first, second) = out.split_at_mut(128);
        for (s, square) in squares.iter().enumerate() {
            for (c, column) in transposed_bytes(square).into_iter().enumerate() {
                store(&mut first[8 * c + s], _mm256_castsi256_si128(column));
                store(&mut second[8 * c + s], _mm256_extracti128_si256::<1>(column));
            }
        }
    }
    if let [out] = rest.as_chunks_mut::<128>().0 {
        let rows = Tile::new(&cols[32 * pairs.len()..], stride, 16);
        for r in 0..16 {
            let bits = transposed_bits(rows.eight_rows(8 * r));
            squares.iter_mut().zip(bits).for_each(|(square, bits)| square[r] = bits);
        }
        for (s, square) in squares.iter().enumerate() {
            for (c, column) in transposed_bytes(square).into_iter().enumerate() {
                store(&mut out[8 * c + s], _mm256_castsi256_si128(column));
            }
        }
    }
}

/// 128 rows of `width` bytes, 16 or 32, `stride` apart. The bounds are checked once for all rows.
#[derive(Clone, Copy)]
struct Tile<'a> {
    bytes: &'a [u8],
    stride: usize,
    width: usize,
}

impl<'a> Tile<'a> {
    #[inline]
    fn new(bytes: &'a [u8], stride: usize, width: usize) -> Tile<'a> {
        let need = stride.checked_mul(127).and_then(|last| last.checked_add(width));
        assert!(
            need.is_some_and(|need| need <= bytes.len()),
            "the tile's rows lie within the matrix"
        );
        Tile { bytes, stride, width }
    }

    /// Returns `N` bytes of row `i`.
    #[inline]
    fn row<const N: usize>(self, i: usize) -> &'a [u8; N] {
        assert!(i < 128 && N <= self.width);
        // SAFETY: `new` has checked that `width` bytes from 127 * stride lie within the slice,
        // hence also those from i * stride, and N is no more.
        unsafe { &*self.bytes.as_ptr().add(i * self.stride).cast() }
    }

    /// Loads rows `i` to `i + 7` of two tiles.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn eight_wide_rows(self, i: usize) -> [__m256i; 8] {
        let mut rows = [_mm256_setzero_si256(); 8];
        for (t, row) in rows.iter_mut().enumerate() {
            *row = load_wide(self.row(i + t));
        }
        rows
    }

    /// Loads the same rows of one tile.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn eight_rows(self, i: usize) -> [__m256i; 8] {
        let mut rows = [_mm256_setzero_si256(); 8];
        for (t, row) in rows.iter_mut().enumerate() {
            *row = _mm256_zextsi128_si256(load_bytes(self.row(i + t)));
        }
        rows
    }
}

/// Transposes eight rows of 32 bit squares to eight columns.
#[inline]
#[target_feature(enable = "avx2")]
fn transposed_bits(mut rows: [__m256i; 8]) -> [__m256i; 8] {
    for i in 0..4 {
        swap_bits::<4>(&mut rows, [i, i + 4], _mm256_set1_epi8(0x0f));
    }
    for i in [0, 1, 4, 5] {
        swap_bits::<2>(&mut rows, [i, i + 2], _mm256_set1_epi8(0x33));
    }
    for i in [0, 2, 4, 6] {
        swap_bits::<1>(&mut rows, [i, i + 1], _mm256_set1_epi8(0x55));
    }
    rows
}

/// Swaps the upper bits of each group in one row with the lower bits in another; `mask` selects the
/// lower ones.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_bits<const BY: i32>(rows: &mut [__m256i; 8], [a, b]: [usize; 2], mask: __m256i) {
    let differ = _mm256_xor_si256(_mm256_srli_epi16::<BY>(rows[a]), rows[b]);
    let differ = _mm256_and_si256(differ, mask);
    rows[a] = _mm256_xor_si256(rows[a], _mm256_slli_epi16::<BY>(differ));
    rows[b] = _mm256_xor_si256(rows[b], differ);
}

/// Transposes the matrix of 16 × 16 bytes in each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn transposed_bytes(rows: &[__m256i; 16]) -> [__m256i; 16] {
    let zero = _mm256_setzero_si256();
    let (mut lower, mut upper) = ([zero; 8], [zero; 8]);
    for i in 0..8 {
        lower[i] = _mm256_unpacklo_epi8(rows[i], rows[i + 8]);
        upper[i] = _mm256_unpackhi_epi8(rows[i], rows[i + 8]);
    }
    for _ in 0..3 {
        lower = interleaved(lower);
        upper = interleaved(upper);
    }
    let mut columns = [zero; 16];
    columns[..8].copy_from_slice(&lower);
    columns[8..].copy_from_slice(&upper);
    columns
}

/// Runs a round of the perfect shuffle: interleaving the bytes of registers i and i + 4 into 2i and
/// 2i + 1 rotates the 7-bit index (register ‖ byte within the lane) by one.
#[inline]
#[target_feature(enable = "avx2")]
fn interleaved(a: [__m256i; 8]) -> [__m256i; 8] {
    let mut b = a;
    for i in 0..4 {
        b[2 * i] = _mm256_unpacklo_epi8(a[i], a[i + 4]);
        b[2 * i + 1] = _mm256_unpackhi_epi8(a[i], a[i + 4]);
    }
    b
}

/// The number of words of a row processed at a time.
const WORDS: usize = 4;

#[target_feature(enable = "avx2")]
pub(in super::super) fn bytes_of_rows(rows: [&[u64]; 8], out: &mut [[u8; 64]]) {
    let fours = rows.map(|row| row.as_chunks::<WORDS>().0);
    let (chunks, rest) = out.as_chunks_mut::<WORDS>();
    for (k, out) in chunks.iter_mut().enumerate() {
        // A closure here would not be inlined.
        let mut bytes = [_mm256_setzero_si256(); 8];
        for (bytes, row) in bytes.iter_mut().zip(fours) {
            *bytes = load_words(&row[k]);
        }
        bytes = transposed_bits(bytes);
        // Byte p of register s goes to byte 8p + s.
        for _ in 0..3 {
            bytes = interleaved(bytes);
        }
        let blocks: &mut [[u8; 16]; 4 * WORDS] = bytemuck::cast_mut(out);
        let (first, second) = blocks.split_at_mut(8);
        for ((first, second), bytes) in first.iter_mut().zip(second).zip(bytes) {
            [*first, *second] = bytemuck::cast(bytes);
        }
    }
    portable::bytes_of_rows(rows.map(|row| &row[WORDS * chunks.len()..]), rest);
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn rows_of_bytes(bytes: &[[u8; 64]], out: &mut [[u64; 8]]) {
    let ((chunks, bytes), (out, rest)) = (bytes.as_chunks::<WORDS>(), out.as_chunks_mut::<WORDS>());
    for (bytes, out) in chunks.iter().zip(out) {
        let blocks: &[[u8; 16]; 4 * WORDS] = bytemuck::cast_ref(bytes);
        let mut rows = [_mm256_setzero_si256(); 8];
        for (i, row) in rows.iter_mut().enumerate() {
            *row = _mm256_set_m128i(load_bytes(&blocks[i + 8]), load_bytes(&blocks[i]));
        }
        // Byte 8p + s goes to byte p of register s: the index is rotated the rest of the way.
        for _ in 0..4 {
            rows = interleaved(rows);
        }
        let [a, b, c, d, e, f, g, h] = transposed_bits(rows);
        for (half, rows) in [[a, b, c, d], [e, f, g, h]].into_iter().enumerate() {
            for (out, words) in out.iter_mut().zip(transposed_words(rows)) {
                store_words(&mut out.as_chunks_mut().0[half], words);
            }
        }
    }
    portable::rows_of_bytes(bytes, rest);
}

/// Transposes a matrix of 4 × 4 words.
#[inline]
#[target_feature(enable = "avx2")]
fn transposed_words([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (even, odd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    let (more_even, more_odd) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
    let [first, third] = super::transpose_lanes([even, more_even]);
    let [second, fourth] = super::transpose_lanes([odd, more_odd]);
    [first, second, third, fourth]
}
