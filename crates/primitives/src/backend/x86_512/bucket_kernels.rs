//! Records of triples: each is one register, and four of them are the columns of four rows.

use std::arch::x86_64::*;

use super::select::{quad_mask, quad_masks};
use super::{XOR3, broadcast, load, load_tail, store, store_tail, transpose_lanes};
use crate::Block;
use crate::backend::portable;
use crate::buckets::{Buckets, Place, Record, Records, Rows};
use crate::prefetch::prefetch_early;

/// The kernel of [`scatter_triples`](crate::bucket_kernels::scatter_triples).
#[target_feature(enable = "avx512f,avx512vl")]
pub(in super::super) fn scatter_triples(
    rows: &Rows<'_>,
    [phi, s]: [&mut [Block]; 2],
    to: Place<'_>,
) {
    let Place { records, peers, peer } = to;
    let (phi_quads, phi_rest) = phi.as_chunks_mut::<4>();
    let (s_quads, s_rest) = s.as_chunks_mut::<4>();
    let quads = phi_quads.len();
    // Closures over rows here would not be inlined.
    let mut fours = [&[][..]; 6];
    for (fours, row) in fours.iter_mut().zip(rows.all()) {
        *fours = &row.as_chunks::<4>().0[..quads];
    }
    let mut places = records.iter_mut().skip(peer).step_by(peers);
    for (q, (phi, s)) in phi_quads.iter_mut().zip(s_quads).enumerate() {
        let mut row_quads = [_mm512_setzero_si512(); 6];
        for (quad, row) in row_quads.iter_mut().zip(fours) {
            *quad = load(&row[q]);
        }
        let [mx, kx, my, ky, mz, kz] = row_quads;
        store(phi, _mm512_ternarylogic_epi64::<XOR3>(load(phi), my, ky));
        store(s, _mm512_ternarylogic_epi64::<XOR3>(load(s), mz, kz));
        for (record, place) in transpose_lanes([mx, kx, mz, kz]).into_iter().zip(&mut places) {
            store(bytemuck::cast_mut(place), record);
        }
    }
    let records = &mut records[4 * quads * peers..];
    let to = Place { records, peers, peer };
    portable::scatter_triples(&rows.from(4 * quads), [phi_rest, s_rest], to);
}

/// The kernel of [`sum_buckets`](crate::bucket_kernels::sum_buckets).
#[target_feature(enable = "avx512f,avx512dq,avx512vl,bmi2")]
pub(in super::super) fn sum_buckets(
    records: Records<'_>,
    peer: usize,
    buckets: &Buckets<'_>,
    sums: [&mut [Block]; 4],
) {
    let size = buckets.size;
    let correction = broadcast(buckets.correction);
    let corrected = quad_masks(buckets.corrected);
    let mut ahead = buckets.ahead.chunks(size);
    let mut rows = sums.map(|row| row.chunks_mut(4));
    let mut f = 0;
    for (q, four) in buckets.members.chunks(4 * size).enumerate() {
        let mut totals = [_mm512_setzero_si512(); 4];
        for (total, members) in totals.iter_mut().zip(four.chunks_exact(size)) {
            for &triple in ahead.next().unwrap_or_default() {
                records.of_all(triple).iter().for_each(prefetch_early);
            }
            for (i, &member) in members.iter().enumerate() {
                let record = load_record(records.get(member, peer));
                let absorbs = i == 0 && buckets.absorbing;
                let d = !absorbs && buckets.d[f / 64] >> (f % 64) & 1 == 1;
                f += usize::from(!absorbs);
                // d·x is added in the position of z.
                let z = u8::from(d).wrapping_neg() & 0xf0;
                let product = _mm512_maskz_shuffle_i64x2::<0b01_00_01_00>(z, record, record);
                *total = _mm512_ternarylogic_epi64::<XOR3>(*total, record, product);
            }
        }
        let [x_macs, x_keys, z_macs, z_keys] = transpose_lanes(totals);
        let corrected = quad_mask(corrected, q);
        let z_keys = _mm512_mask_xor_epi64(z_keys, corrected, z_keys, correction);
        for (row, sums) in rows.iter_mut().zip([x_macs, x_keys, z_macs, z_keys]) {
            let row = row.next().unwrap_or_default();
            if let [row] = row.as_chunks_mut::<4>().0 {
                store(row, _mm512_xor_si512(load(row), sums));
            } else {
                store_tail(row, _mm512_xor_si512(load_tail(row), sums));
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_record(record: &Record) -> __m512i {
    load(bytemuck::cast_ref(record))
}
