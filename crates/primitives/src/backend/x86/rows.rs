//! Rows of MACs and keys, two to a register.

use std::arch::x86_64::*;

use super::select::{next_pair_mask, spread};
use super::{load_pair, store_pair, transpose_lanes};
use crate::Block;
use crate::backend::portable;

#[target_feature(enable = "avx2")]
pub(in super::super) fn add_blocks(out: &mut [Block], values: &[Block]) {
    let ((out, out_tail), (values, tail)) = (out.as_chunks_mut::<2>(), values.as_chunks::<2>());
    for (out, values) in out.iter_mut().zip(values) {
        store_pair(out, _mm256_xor_si256(load_pair(out), load_pair(values)));
    }
    portable::add_blocks(out_tail, tail);
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn add_sums(out: &mut [Block], a: &[Block], b: &[Block]) {
    let (out, out_tail) = out.as_chunks_mut::<2>();
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<2>(), b.as_chunks::<2>());
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        let sum = _mm256_xor_si256(load_pair(a), load_pair(b));
        store_pair(out, _mm256_xor_si256(load_pair(out), sum));
    }
    portable::add_sums(out_tail, a_tail, b_tail);
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn pair_up(macs: &[Block], keys: &[Block], out: &mut [[Block; 2]]) {
    let (out, out_tail) = out.as_chunks_mut::<2>();
    let ((macs, macs_tail), (keys, keys_tail)) = (macs.as_chunks::<2>(), keys.as_chunks::<2>());
    for (out, (macs, keys)) in out.iter_mut().zip(macs.iter().zip(keys)) {
        write(out, [load_pair(macs), load_pair(keys)]);
    }
    portable::pair_up(macs_tail, keys_tail, out_tail);
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn pair_up_where(
    rows: [&[Block]; 2],
    words: &[u64],
    more: [&[Block]; 2],
    out: &mut [[Block; 2]],
) {
    let [macs, keys, more_macs, more_keys] =
        [rows[0], rows[1], more[0], more[1]].map(|row| row.chunks(64));
    let rows = macs.zip(keys).zip(more_macs.zip(more_keys));
    for ((&word, out), ((macs, keys), (more_macs, more_keys))) in
        words.iter().zip(out.chunks_mut(64)).zip(rows)
    {
        let mut bits = spread(word);
        let rows = [macs, keys, more_macs, more_keys];
        let pairs = rows.map(|row| row.as_chunks::<2>().0);
        let (out, out_tail) = out.as_chunks_mut::<2>();
        for (p, out) in out.iter_mut().enumerate() {
            let [macs, keys, more_macs, more_keys] = pairs;
            let mask = next_pair_mask(&mut bits);
            let mac = _mm256_and_si256(mask, load_pair(&more_macs[p]));
            let key = _mm256_and_si256(mask, load_pair(&more_keys[p]));
            let mac = _mm256_xor_si256(mac, load_pair(&macs[p]));
            write(out, [mac, _mm256_xor_si256(key, load_pair(&keys[p]))]);
        }
        if !out_tail.is_empty() {
            let done = 2 * out.len();
            let [macs, keys, more_macs, more_keys] = rows.map(|row| &row[done..]);
            let words = [word >> done];
            portable::pair_up_where([macs, keys], &words, [more_macs, more_keys], out_tail);
        }
    }
}

/// Two MACs and two keys, in turns.
#[inline]
#[target_feature(enable = "avx2")]
fn write(out: &mut [[Block; 2]; 2], rows: [__m256i; 2]) {
    for (out, pair) in out.iter_mut().zip(transpose_lanes(rows)) {
        store_pair(out, pair);
    }
}
