//! Transposition by GFNI and byte shuffles, 128 columns at a time.
//!
//! Let row i = 8r + t (r below 16, t below 8) and column j = 8c + s. The rows with r = 4ρ + l, l
//! below 4, are loaded side by side, one per lane: register (ρ, t), lane l, byte c. Three rounds of
//! interleaving over t make 8×8 bit squares of fixed r and c. GF2P8AFFINEQB transposes a square,
//! because multiplying a matrix by the eight unit vectors lists its columns. Two rounds over ρ then
//! collect the bytes r = 0 … 15 of a column.
//!
//! Unsafe: rows at a stride; stores of 64 bytes | `Tile::new` checks once that the last row is
//! within the slice, and `row` checks the number; a reference to 64 bytes

use std::arch::x86_64::*;

use super::{load_bytes, store};
use crate::Block;

/// The number of bytes of a row fetched at once if the cache requires it: a cache line.
const LINE: usize = 64;

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(in super::super) fn transpose_128(cols: &[u8], stride: usize, out: &mut [Block]) {
    let mut done = 0;
    let mut out = out;
    // Rows that are a power of two apart share a few sets of the cache, and would evict each other
    // before a whole line is used.
    if stride.is_multiple_of(1024) {
        let mut lines = [[0; LINE]; 128];
        let (chunks, rest) = out.as_chunks_mut::<{ 8 * LINE }>();
        for chunk in chunks {
            for (i, line) in lines.iter_mut().enumerate() {
                line.copy_from_slice(&cols[i * stride + done..][..LINE]);
            }
            transpose_tiles(lines.as_flattened(), LINE, chunk);
            done += LINE;
        }
        out = rest;
    }
    transpose_tiles(&cols[done..], stride, out);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose_tiles(cols: &[u8], stride: usize, out: &mut [Block]) {
    for (t, square) in out.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        transpose_square(Tile::new(&cols[16 * t..], stride), square);
    }
}

/// 128 rows of 16 bytes, `stride` apart. The bounds are checked once for all rows.
#[derive(Clone, Copy)]
struct Tile<'a> {
    bytes: &'a [u8],
    stride: usize,
}

impl<'a> Tile<'a> {
    #[inline]
    fn new(bytes: &'a [u8], stride: usize) -> Tile<'a> {
        let need = stride.checked_mul(127).and_then(|last| last.checked_add(16));
        assert!(
            need.is_some_and(|need| need <= bytes.len()),
            "the tile's rows lie within the matrix"
        );
        Tile { bytes, stride }
    }

    /// Returns row `i` in all four lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn row(self, i: usize) -> __m512i {
        assert!(i < 128);
        // SAFETY: `new` has checked that 16 bytes from 127 * stride lie within the slice, hence
        // also those from i * stride; the load wants no alignment.
        let row = unsafe { _mm_loadu_si128(self.bytes.as_ptr().add(i * self.stride).cast()) };
        _mm512_broadcast_i32x4(row)
    }

    /// Returns rows `i`, `i + 8`, `i + 16` and `i + 24`, one per lane.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn four_rows(self, i: usize) -> __m512i {
        let x = _mm512_mask_mov_epi64(self.row(i), 0b0000_1100, self.row(i + 8));
        let x = _mm512_mask_mov_epi64(x, 0b0011_0000, self.row(i + 16));
        _mm512_mask_mov_epi64(x, 0b1100_0000, self.row(i + 24))
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose_square(tile: Tile<'_>, out: &mut [Block; 128]) {
    let squares =
        [bit_squares(tile, 0), bit_squares(tile, 32), bit_squares(tile, 64), bit_squares(tile, 96)];
    let index = [gather_index(0), gather_index(1)];
    let (quads, _) = out.as_chunks_mut::<4>();
    for (m, quads) in quads.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let [a, b, c, d] = [squares[0][m], squares[1][m], squares[2][m], squares[3][m]];
        let low = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
        let high = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
        store(&mut quads[0], _mm512_permutex2var_epi8(low.0, index[0], low.1));
        store(&mut quads[1], _mm512_permutex2var_epi8(low.0, index[1], low.1));
        store(&mut quads[2], _mm512_permutex2var_epi8(high.0, index[0], high.1));
        store(&mut quads[3], _mm512_permutex2var_epi8(high.0, index[1], high.1));
    }
}

/// Transposes the bit squares of 32 rows of 16 bytes, starting at row `first`: byte 8h + s of lane
/// l of register m is column 8(2m + h) + s, with the rows 8l + t as its bits t.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn bit_squares(tile: Tile<'_>, first: usize) -> [__m512i; 8] {
    let mut x = [_mm512_setzero_si512(); 8];
    for (t, x) in x.iter_mut().enumerate() {
        // The instruction counts a matrix's rows from the last byte.
        *x = tile.four_rows(first + 7 - t);
    }
    let mut y = x;
    for i in 0..4 {
        y[i] = _mm512_unpacklo_epi8(x[2 * i], x[2 * i + 1]);
        y[i + 4] = _mm512_unpackhi_epi8(x[2 * i], x[2 * i + 1]);
    }
    for i in 0..2 {
        for half in [0, 4] {
            x[half + i] = _mm512_unpacklo_epi16(y[half + 2 * i], y[half + 2 * i + 1]);
            x[half + i + 2] = _mm512_unpackhi_epi16(y[half + 2 * i], y[half + 2 * i + 1]);
        }
    }
    let units = _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64);
    for pair in 0..4 {
        let low = _mm512_unpacklo_epi32(x[2 * pair], x[2 * pair + 1]);
        let high = _mm512_unpackhi_epi32(x[2 * pair], x[2 * pair + 1]);
        y[2 * pair] = _mm512_gf2p8affine_epi64_epi8::<0>(units, low);
        y[2 * pair + 1] = _mm512_gf2p8affine_epi64_epi8::<0>(units, high);
    }
    y
}

/// Returns, for each byte r of each column u of four, the position in two registers whose lanes l
/// have the 32-bit words (ρ, q), (ρ + 1, q), (ρ, q + 1), (ρ + 1, q + 1) of ρ = 0 and 2, where byte
/// u of the word is column u; `odd` selects q + 1.
#[inline]
#[target_feature(enable = "avx512f")]
fn gather_index(odd: usize) -> __m512i {
    const fn table(odd: usize) -> [u8; 64] {
        let mut out = [0; 64];
        let mut p = 0;
        while p < 64 {
            let (u, r) = (p / 16, p % 16);
            let (rho, l) = (r / 4, r % 4);
            out[p] = (64 * (rho / 2) + 16 * l + 4 * (2 * odd + rho % 2) + u) as u8;
            p += 1;
        }
        out
    }
    const TABLES: [[u8; 64]; 2] = [table(0), table(1)];
    super::load_bytes(&TABLES[odd])
}

/// The eight unit vectors, the lowest bit first, in each word.
const UNITS: i64 = 0x8040_2010_0804_0201_u64.cast_signed();

/// Returns the index table of a shuffle: byte b of the result is byte `from(b)`.
const fn shuffle(reverse: bool) -> [u8; 64] {
    let mut from = [0; 64];
    let mut b = 0;
    while b < 64 {
        let (i, k) = (b / 8, b % 8);
        // Byte i of row k; a matrix lists its rows from the last one.
        from[b as usize] = if reverse { 8 * (7 - k) + i } else { 8 * k + i };
        b += 1;
    }
    from
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(in super::super) fn bytes_of_rows(rows: [&[u64]; 8], out: &mut [[u8; 64]]) {
    const LAST_FIRST: [u8; 64] = shuffle(true);
    let (shuffle, units) = (load_bytes(&LAST_FIRST), _mm512_set1_epi64(UNITS));
    let mut all = rows;
    for row in &mut all {
        *row = &row[..out.len()];
    }
    for (k, out) in out.iter_mut().enumerate() {
        // A closure here would not be inlined.
        let mut words = [0; 8];
        for (word, row) in words.iter_mut().zip(all) {
            *word = row[k];
        }
        let squares = _mm512_permutexvar_epi8(shuffle, load_bytes(bytemuck::cast_ref(&words)));
        store_bytes(out, _mm512_gf2p8affine_epi64_epi8::<0>(units, squares));
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(in super::super) fn rows_of_bytes(bytes: &[[u8; 64]], out: &mut [[u64; 8]]) {
    const ROWS: [u8; 64] = shuffle(false);
    let reverse = _mm512_set_epi64(
        0x3839_3a3b_3c3d_3e3f,
        0x3031_3233_3435_3637,
        0x2829_2a2b_2c2d_2e2f,
        0x2021_2223_2425_2627,
        0x1819_1a1b_1c1d_1e1f,
        0x1011_1213_1415_1617,
        0x0809_0a0b_0c0d_0e0f,
        0x0001_0203_0405_0607,
    );
    let (rows, units) = (load_bytes(&ROWS), _mm512_set1_epi64(UNITS));
    for (bytes, out) in bytes.iter().zip(out) {
        // A matrix lists its rows from the last one.
        let squares = _mm512_permutexvar_epi8(reverse, load_bytes(bytes));
        let squares = _mm512_gf2p8affine_epi64_epi8::<0>(units, squares);
        store_bytes(bytemuck::cast_mut(out), _mm512_permutexvar_epi8(rows, squares));
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_bytes(bytes: &mut [u8; 64], value: __m512i) {
    // SAFETY: the reference is valid for 64 bytes, and the store wants no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), value) }
}
