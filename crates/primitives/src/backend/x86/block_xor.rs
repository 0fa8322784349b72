//! Rows of MACs and keys, two to a register.

use std::arch::x86_64::*;

use super::select::{next_pair_mask, spread};
use super::{load_pair, store_pair, transpose_lanes};
use crate::Block;
use crate::backend::portable;

#[target_feature(enable = "avx2")]
pub(in super::super) fn xor_blocks(out: &mut [Block], values: &[Block]) {
    let ((out, out_tail), (values, tail)) = (out.as_chunks_mut::<2>(), values.as_chunks::<2>());
    for (out, values) in out.iter_mut().zip(values) {
        store_pair(out, _mm256_xor_si256(load_pair(out), load_pair(values)));
    }
    portable::xor_blocks(out_tail, tail);
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn xor_sums(out: &mut [Block], a: &[Block], b: &[Block]) {
    let (out, out_tail) = out.as_chunks_mut::<2>();
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<2>(), b.as_chunks::<2>());
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        let sum = _mm256_xor_si256(load_pair(a), load_pair(b));
        store_pair(out, _mm256_xor_si256(load_pair(out), sum));
    }
    portable::xor_sums(out_tail, a_tail, b_tail);
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn interleave_blocks(macs: &[Block], keys: &[Block], out: &mut [[Block; 2]]) {
    let (out, out_tail) = out.as_chunks_mut::<2>();
    let ((macs, macs_tail), (keys, keys_tail)) = (macs.as_chunks::<2>(), keys.as_chunks::<2>());
    for (out, (macs, keys)) in out.iter_mut().zip(macs.iter().zip(keys)) {
        write(out, [load_pair(macs), load_pair(keys)]);
    }
    portable::interleave_blocks(macs_tail, keys_tail, out_tail);
}

#[target_feature(enable = "avx2")]
pub(in super::super) fn interleave_masked(
    rows: [&[Block]; 2],
    words: &[u64],
    more: [&[Block]; 2],
    out: &mut [[Block; 2]],
) {
    let rows = rows[0].chunks(64).zip(rows[1].chunks(64));
    let more = more[0].chunks(64).zip(more[1].chunks(64));
    for ((&word, out), ((macs, keys), (more_macs, more_keys))) in
        words.iter().zip(out.chunks_mut(64)).zip(rows.zip(more))
    {
        let mut bits = spread(word);
        // No closures over rows here: they would be calls.
        let ((macs, macs_tail), (keys, keys_tail)) = (macs.as_chunks::<2>(), keys.as_chunks::<2>());
        let (more_macs, more_macs_tail) = more_macs.as_chunks::<2>();
        let (more_keys, more_keys_tail) = more_keys.as_chunks::<2>();
        let (out, out_tail) = out.as_chunks_mut::<2>();
        let pairs = macs.iter().zip(keys).zip(more_macs.iter().zip(more_keys));
        for (out, ((macs, keys), (more_macs, more_keys))) in out.iter_mut().zip(pairs) {
            let mask = next_pair_mask(&mut bits);
            let mac = _mm256_and_si256(mask, load_pair(more_macs));
            let key = _mm256_and_si256(mask, load_pair(more_keys));
            let mac = _mm256_xor_si256(mac, load_pair(macs));
            write(out, [mac, _mm256_xor_si256(key, load_pair(keys))]);
        }
        if !out_tail.is_empty() {
            let words = [word >> (2 * out.len())];
            let more = [more_macs_tail, more_keys_tail];
            portable::interleave_masked([macs_tail, keys_tail], &words, more, out_tail);
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
