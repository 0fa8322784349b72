//! The kernels in plain Rust: the specification that all others must match.
//!
//! Here, too, time depends only on lengths.

use ::aes::Aes128;
use ::aes::cipher::array::Array;
use ::aes::cipher::{BlockCipherEncrypt, KeyInit};

use zeroize::Zeroize;

use crate::selected_sums::{Keys, SelectedSums};
use crate::tweaks::Tweaks;
use crate::{Block, mask64};

pub(super) fn expand(key: Block) -> Aes128 {
    Aes128::new(&key.to_bytes().into())
}

pub(super) fn encrypt(aes: &Aes128, blocks: &mut [Block]) {
    let bytes: &mut [[u8; 16]] = bytemuck::cast_slice_mut(blocks);
    aes.encrypt_blocks(Array::cast_slice_from_core_mut(bytes));
}

pub(super) fn counter(aes: &Aes128, first: u128, out: &mut [Block]) {
    for (i, block) in out.iter_mut().enumerate() {
        *block = Block(first.wrapping_add(i as u128));
    }
    encrypt(aes, out);
}

pub(super) fn hash<const SIGMA: bool>(
    start: Block,
    tweaks: Tweaks<'_>,
    group: usize,
    xs: &mut [Block],
) {
    for (g, chunk) in xs.chunks_exact_mut(group).enumerate() {
        let aes = expand(start ^ Block(tweaks.get(g)));
        for x in chunk {
            let y = if SIGMA { sigma(*x) } else { *x };
            *x = y;
            encrypt(&aes, std::slice::from_mut(x));
            *x ^= y;
        }
    }
}

/// Returns σ(hi ‖ lo) = (hi ⊕ lo) ‖ hi.
fn sigma(x: Block) -> Block {
    Block((x.0 ^ x.0 << 64) & !u128::from(u64::MAX) | x.0 >> 64)
}

/// Returns the lower half of [`carryless`]. It takes every fourth bit at a time, so that the sums
/// in the integer product, at most 16 ones where it matters, do not carry into the next relevant
/// bit. No single bit is examined.
fn carryless_low(a: u64, b: u64) -> u64 {
    const FOURTH: u64 = 0x1111_1111_1111_1111;
    let part = |x: u64, i: usize| x & FOURTH << i;
    (0..4).fold(0, |sum, out| {
        let products = (0..4).map(|i| part(a, i).wrapping_mul(part(b, (4 + out - i) % 4)));
        sum | part(products.fold(0, |all, product| all ^ product), out)
    })
}

/// Returns the 127-bit product of two polynomials of degree below 64. The upper half is the lower
/// half of the product of the reversed factors.
fn carryless(a: u64, b: u64) -> u128 {
    let high = carryless_low(a.reverse_bits(), b.reverse_bits()).reverse_bits() >> 1;
    u128::from(high) << 64 | u128::from(carryless_low(a, b))
}

pub(super) fn bytes_of_rows(rows: [&[u64]; 8], out: &mut [[u8; 64]]) {
    for (word, out) in out.iter_mut().enumerate() {
        let rows = rows.map(|row| row[word].to_le_bytes());
        for (i, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
            *out = transposed(u64::from_le_bytes(rows.map(|row| row[i]))).to_le_bytes();
        }
    }
}

pub(super) fn rows_of_bytes(bytes: &[[u8; 64]], out: &mut [[u64; 8]]) {
    for (bytes, out) in bytes.iter().zip(out) {
        let mut rows = [[0; 8]; 8];
        for (i, eight) in bytes.as_chunks().0.iter().enumerate() {
            let columns = transposed(u64::from_le_bytes(*eight)).to_le_bytes();
            rows.iter_mut().zip(columns).for_each(|(row, column)| row[i] = column);
        }
        *out = rows.map(u64::from_le_bytes);
    }
}

/// Returns the transpose of a matrix of 8 × 8 bits, one row per byte.
fn transposed(x: u64) -> u64 {
    let swap = |x: u64, mask: u64, by: u32| {
        let differ = (x ^ x >> by) & mask;
        x ^ differ ^ differ << by
    };
    let x = swap(x, 0x00aa_00aa_00aa_00aa, 7);
    let x = swap(x, 0x0000_cccc_0000_cccc, 14);
    swap(x, 0x0000_0000_f0f0_f0f0, 28)
}

pub(super) fn carryless_products(words: &[u64], factor: u64, low: &mut [u64], high: &mut [u64]) {
    for (word, (low, high)) in words.iter().zip(low.iter_mut().zip(high)) {
        let product = carryless(*word, factor);
        (*low, *high) = (product as u64, (product >> 64) as u64);
    }
}

pub(super) fn tag_products(tags: &[u64], Keys(keys): Keys<'_>) -> [u128; 2] {
    keys.map(|keys| {
        let pairs = tags.chunks(2).zip(keys.as_chunks().0);
        pairs.fold(0, |sum, (tags, &[first, second])| {
            let next = tags.get(1).copied().unwrap_or_default();
            sum ^ carryless(tags[0] ^ first, next ^ second)
        })
    })
}

/// Selects the tags of one of the lists from number `start` on, which must begin a word of bits.
pub(super) fn select_tags(tags: SelectedSums<'_>, list: usize, start: usize, out: &mut [u64]) {
    let delta = if list == 0 { 0 } else { tags.delta };
    for (k, out) in (start..).zip(out) {
        let rows = tags.rows[list].map(|row| row[if row.len() == 1 { 0 } else { k }]);
        let mask = |bits: &[u64]| mask64(bits[k / 64] >> (k % 64) & 1 == 1);
        let [row, first, second] = rows;
        *out = row ^ first & mask(tags.bits[0]) ^ second & mask(tags.bits[1]);
        *out ^= delta & mask(tags.flips);
    }
}

pub(super) fn selected_tag_products(
    tags: SelectedSums<'_>,
    (keys, n): (Keys<'_>, usize),
) -> [[u128; 2]; 2] {
    let mut words = vec![0; n];
    let products = [0, 1].map(|list| {
        select_tags(tags, list, 0, &mut words);
        tag_products(&words, keys)
    });
    words.zeroize();
    products
}

/// A polynomial of degree below 256 that is not yet reduced.
#[derive(Clone, Copy, Default)]
pub(super) struct Wide {
    low: u128,
    high: u128,
}

impl Wide {
    /// Adds a product, computed as three small products by Karatsuba's rule.
    pub(super) fn add_product(&mut self, a: Block, b: Block) {
        let halves = |x: Block| (x.0 as u64, (x.0 >> 64) as u64);
        let ((a0, a1), (b0, b1)) = (halves(a), halves(b));
        let (low, high) = (carryless(a0, b0), carryless(a1, b1));
        let middle = carryless(a0 ^ a1, b0 ^ b1) ^ low ^ high;
        self.low ^= low ^ middle << 64;
        self.high ^= high ^ middle >> 64;
    }

    /// Reduces modulo X^128 + X^7 + X^2 + X + 1: replaces X^128 by X^7 + X^2 + X + 1, and again for
    /// the seven bits that overflow.
    pub(super) fn reduce(self) -> Block {
        let h = self.high;
        let over = h >> 127 ^ h >> 126 ^ h >> 121;
        let fold = |x: u128| x ^ x << 1 ^ x << 2 ^ x << 7;
        Block(self.low ^ fold(h) ^ fold(over))
    }
}

pub(super) fn inner_product(a: &[Block], b: &[Block]) -> Block {
    let mut sum = Wide::default();
    for (&x, &y) in a.iter().zip(b) {
        sum.add_product(x, y);
    }
    sum.reduce()
}

pub(super) fn words_inner_product(words: &[u64], coeffs: &[Block]) -> Block {
    let mut sum = Wide::default();
    for (&word, &coeff) in words.iter().zip(coeffs) {
        sum.add_product(Block(word.into()), coeff);
    }
    sum.reduce()
}

#[inline(always)]
pub(super) fn truncate_u64(blocks: &[Block], out: &mut [u64]) {
    out.iter_mut().zip(blocks).for_each(|(low, block)| *low = block.0 as u64);
}

#[inline(always)]
pub(super) fn xor_blocks(out: &mut [Block], values: &[Block]) {
    out.iter_mut().zip(values).for_each(|(out, &value)| *out ^= value);
}

#[inline(always)]
pub(super) fn xor_sums(out: &mut [Block], a: &[Block], b: &[Block]) {
    for (out, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out ^= a ^ b;
    }
}

#[inline(always)]
pub(super) fn interleave_blocks(macs: &[Block], keys: &[Block], out: &mut [[Block; 2]]) {
    for (out, (&mac, &key)) in out.iter_mut().zip(macs.iter().zip(keys)) {
        *out = [mac, key];
    }
}

#[inline(always)]
pub(super) fn interleave_masked(
    [macs, keys]: [&[Block]; 2],
    words: &[u64],
    [more_macs, more_keys]: [&[Block]; 2],
    out: &mut [[Block; 2]],
) {
    let rows = macs.iter().zip(keys).zip(more_macs.iter().zip(more_keys));
    for (i, (out, ((&mac, &key), (&more_mac, &more_key)))) in out.iter_mut().zip(rows).enumerate() {
        let bit = words[i / 64] >> (i % 64) & 1 == 1;
        *out = [mac ^ more_mac.select(bit), key ^ more_key.select(bit)];
    }
}

#[inline(always)]
pub(super) fn lsbs(words: &[u64], out: &mut [u64]) {
    for (out, words) in out.iter_mut().zip(words.chunks(64)) {
        *out = words.iter().rev().fold(0, |bits, word| bits << 1 | word & 1);
    }
}

#[inline(always)]
pub(super) fn xor_masked(out: &mut [Block], words: &[u64], values: &[Block]) {
    for ((&word, out), values) in words.iter().zip(out.chunks_mut(64)).zip(values.chunks(64)) {
        for (i, (out, value)) in out.iter_mut().zip(values).enumerate() {
            *out ^= value.select(word >> i & 1 == 1);
        }
    }
}

#[inline(always)]
pub(super) fn xor_words_masked(out: &mut [u64], words: &[u64], values: &[u64]) {
    for ((&word, out), values) in words.iter().zip(out.chunks_mut(64)).zip(values.chunks(64)) {
        for (i, (out, value)) in out.iter_mut().zip(values).enumerate() {
            *out ^= value & mask64(word >> i & 1 == 1);
        }
    }
}

#[inline(always)]
pub(super) fn xor_key_masked(out: &mut [Block], words: &[u64], value: Block) {
    for (&word, out) in words.iter().zip(out.chunks_mut(64)) {
        for (i, out) in out.iter_mut().enumerate() {
            *out ^= value.select(word >> i & 1 == 1);
        }
    }
}

pub(super) fn column_hash(cols: &[u8], stride: usize, coeffs: &[Block], out: &mut [Block; 128]) {
    for (i, hash) in out.iter_mut().enumerate() {
        let row = &cols[i * stride..][..16 * coeffs.len()];
        let mut sum = Wide::default();
        for (bytes, &coeff) in row.as_chunks().0.iter().zip(coeffs) {
            sum.add_product(Block::from_bytes(*bytes), coeff);
        }
        *hash = sum.reduce();
    }
}

pub(super) fn transpose_128(cols: &[u8], stride: usize, out: &mut [Block]) {
    for (t, square) in out.as_chunks_mut().0.iter_mut().enumerate() {
        for (i, block) in square.iter_mut().enumerate() {
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&cols[i * stride + 16 * t..][..16]);
            *block = Block::from_bytes(bytes);
        }
        transpose_square(square);
    }
}

/// Transposes a 128×128 matrix by swapping off-diagonal squares of side 64, 32, … 1.
fn transpose_square(m: &mut [Block; 128]) {
    let mut side = 64;
    // The bits whose position has the bit `side` clear.
    let mut mask = u128::from(u64::MAX);
    while side > 0 {
        for i in (0..128).filter(|i| i & side == 0) {
            let swap = (m[i].0 >> side ^ m[i + side].0) & mask;
            m[i].0 ^= swap << side;
            m[i + side].0 ^= swap;
        }
        side /= 2;
        mask ^= mask << side;
    }
}
