//! Rows of MACs and keys, four to a register.

use std::arch::x86_64::*;

use super::hash::in_order;
use super::select::{quad_mask, quad_masks};
use super::{XOR3, load, store};
use crate::Block;
use crate::backend::portable;

#[target_feature(enable = "avx512f")]
pub(in super::super) fn xor_blocks(out: &mut [Block], values: &[Block]) {
    let ((out, out_tail), (values, tail)) = (out.as_chunks_mut::<4>(), values.as_chunks::<4>());
    for (out, values) in out.iter_mut().zip(values) {
        store(out, _mm512_xor_si512(load(out), load(values)));
    }
    portable::xor_blocks(out_tail, tail);
}

#[target_feature(enable = "avx512f")]
pub(in super::super) fn xor_sums(out: &mut [Block], a: &[Block], b: &[Block]) {
    let (out, out_tail) = out.as_chunks_mut::<4>();
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        store(out, _mm512_ternarylogic_epi64::<XOR3>(load(out), load(a), load(b)));
    }
    portable::xor_sums(out_tail, a_tail, b_tail);
}

#[target_feature(enable = "avx512f")]
pub(in super::super) fn interleave_blocks(macs: &[Block], keys: &[Block], out: &mut [[Block; 2]]) {
    let (out, out_tail) = out.as_chunks_mut::<4>();
    let ((macs, macs_tail), (keys, keys_tail)) = (macs.as_chunks::<4>(), keys.as_chunks::<4>());
    for (out, (macs, keys)) in out.iter_mut().zip(macs.iter().zip(keys)) {
        write(out, [load(macs), load(keys)]);
    }
    portable::interleave_blocks(macs_tail, keys_tail, out_tail);
}

#[target_feature(enable = "avx512f,bmi2")]
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
        let masks = quad_masks(word);
        // No closures over rows here: they would be calls.
        let ((macs, macs_tail), (keys, keys_tail)) = (macs.as_chunks::<4>(), keys.as_chunks::<4>());
        let (more_macs, more_macs_tail) = more_macs.as_chunks::<4>();
        let (more_keys, more_keys_tail) = more_keys.as_chunks::<4>();
        let (out, out_tail) = out.as_chunks_mut::<4>();
        let quads = macs.iter().zip(keys).zip(more_macs.iter().zip(more_keys));
        for (q, (out, ((macs, keys), (more_macs, more_keys)))) in
            out.iter_mut().zip(quads).enumerate()
        {
            let (mask, macs, keys) = (quad_mask(masks, q), load(macs), load(keys));
            let macs = _mm512_mask_xor_epi64(macs, mask, macs, load(more_macs));
            let keys = _mm512_mask_xor_epi64(keys, mask, keys, load(more_keys));
            write(out, [macs, keys]);
        }
        if !out_tail.is_empty() {
            let words = [word >> (4 * out.len())];
            let more = [more_macs_tail, more_keys_tail];
            portable::interleave_masked([macs_tail, keys_tail], &words, more, out_tail);
        }
    }
}

/// Four MACs and four keys, in turns.
#[inline]
#[target_feature(enable = "avx512f")]
fn write(out: &mut [[Block; 2]; 4], rows: [__m512i; 2]) {
    let quads: &mut [[Block; 4]; 2] = bytemuck::cast_mut(out);
    let [first, second] = in_order(rows);
    store(&mut quads[0], first);
    store(&mut quads[1], second);
}
