//! Records of triples: four at a time where they are written, one and a half registers each where they are gathered.

use std::arch::x86_64::*;

use super::{XOR3, load, store, transpose_lanes};
use crate::Block;
use crate::backend::portable;
use crate::prefetch::prefetch_early;
use crate::records::{BucketSums, Buckets, Place, Record, Records, Rows};

/// The kernel of [`lay_out`](crate::records::lay_out).
#[target_feature(enable = "avx512f,avx512vl")]
pub(in super::super) fn lay_out(rows: &Rows<'_>, [phi, s]: [&mut [Block]; 2], to: Place<'_>) {
    let Place { records, peers, peer } = to;
    let fours = rows.all().map(|row| row.as_chunks::<4>().0);
    let quads = fours[0].len();
    let (phi_quads, phi_rest) = phi.as_chunks_mut::<4>();
    let (s_quads, s_rest) = s.as_chunks_mut::<4>();
    for q in 0..quads {
        let [mx, my, mz, kx, ky, kz] = fours.map(|row| load(&row[q]));
        let (phi, s) = (&mut phi_quads[q], &mut s_quads[q]);
        store(phi, _mm512_ternarylogic_epi64::<XOR3>(load(phi), my, ky));
        store(s, _mm512_ternarylogic_epi64::<XOR3>(load(s), mz, kz));
        let firsts = transpose_lanes([mx, my, mz, kx]);
        // Keys of y and z of two records each.
        let low = _mm512_permutex2var_epi64(ky, _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0), kz);
        let high = _mm512_permutex2var_epi64(ky, _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4), kz);
        let records = &mut records[4 * q * peers..][..4 * peers];
        if peers == 1 {
            let lines = [
                firsts[0],
                _mm512_shuffle_i64x2::<0b01_00_01_00>(low, firsts[1]),
                _mm512_shuffle_i64x2::<0b11_10_11_10>(firsts[1], low),
                firsts[2],
                _mm512_shuffle_i64x2::<0b01_00_01_00>(high, firsts[3]),
                _mm512_shuffle_i64x2::<0b11_10_11_10>(firsts[3], high),
            ];
            let places = bytemuck::cast_slice_mut::<Record, [Block; 4]>(records);
            for (place, line) in places.iter_mut().zip(lines) {
                store(place, line);
            }
        } else {
            let pairs = [
                _mm512_castsi512_si256(low),
                _mm512_extracti64x4_epi64::<1>(low),
                _mm512_castsi512_si256(high),
                _mm512_extracti64x4_epi64::<1>(high),
            ];
            let records = records.iter_mut().skip(peer).step_by(peers);
            for ((record, first), pair) in records.zip(firsts).zip(pairs) {
                let blocks: &mut [Block; 6] = bytemuck::cast_mut(record);
                let (first_blocks, pair_blocks) = blocks.as_chunks_mut::<4>();
                store(&mut first_blocks[0], first);
                // SAFETY: the last two of the six blocks.
                unsafe { _mm256_storeu_si256(pair_blocks.as_mut_ptr().cast(), pair) };
            }
        }
    }
    let records = &mut records[4 * quads * peers..];
    let to = Place { records, peers, peer };
    portable::lay_out(&rows.from(4 * quads), [phi_rest, s_rest], to);
}

/// The kernel of [`sum_buckets`](crate::records::sum_buckets). A record's first register holds the MACs and the key of x,
/// its second one the keys of y and z.
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
pub(in super::super) fn sum_buckets(
    records: Records<'_>,
    peer: usize,
    buckets: &Buckets<'_>,
    sums: &mut BucketSums<'_>,
) {
    let size = buckets.size;
    let correction = _mm256_broadcast_i64x2(bytemuck::cast(buckets.correction));
    let mut ahead = buckets.ahead.chunks(size);
    let [opened_macs, opened_keys] = &mut sums.opened;
    let mut opened = opened_macs.iter_mut().zip(opened_keys.iter_mut());
    let mut f = 0;
    for (k, members) in buckets.members.chunks_exact(size).enumerate() {
        for &triple in ahead.next().unwrap_or_default() {
            records.of_all(triple).iter().for_each(prefetch_early);
        }
        let ((first, first_keys), others) = match buckets.heads {
            None => (load_record(records.get(members[0], peer)), &members[1..]),
            Some([macs, keys]) => {
                let [mac, key] = [macs[k], keys[k]].map(bytemuck::cast);
                let y = _mm512_maskz_broadcast_i64x2(Y_MAC, mac);
                ((y, _mm256_zextsi128_si256(key)), members)
            }
        };
        let corrected = (buckets.corrected >> k & 1) as u8 * Z_KEY;
        let mut total = first;
        let mut total_keys = _mm256_mask_xor_epi64(first_keys, corrected, first_keys, correction);
        for &other in others {
            let (blocks, keys) = load_record(records.get(other, peer));
            let d = (buckets.d[f / 64] >> (f % 64) & 1) as u8;
            f += 1;
            if let Some((mac, key)) = opened.next() {
                let macs = _mm512_xor_si512(first, blocks);
                *mac = block(_mm512_extracti64x2_epi64::<1>(macs));
                *key = block(_mm256_castsi256_si128(_mm256_xor_si256(first_keys, keys)));
            }
            // d·x, for MACs in the place of z's, for keys as well.
            let product = _mm512_maskz_shuffle_i64x2::<0>(d * Z_MAC, blocks, blocks);
            let key_of_x = _mm512_extracti64x2_epi64::<3>(blocks);
            let key_product = _mm256_maskz_broadcast_i64x2(d * Z_KEY, key_of_x);
            let (kept, kept_keys) =
                (_mm512_maskz_mov_epi64(!Y_MAC, blocks), _mm256_maskz_mov_epi64(Z_KEY, keys));
            total = _mm512_ternarylogic_epi64::<XOR3>(total, kept, product);
            total_keys = _mm256_ternarylogic_epi64::<XOR3>(total_keys, kept_keys, key_product);
        }
        let made = [
            [_mm512_castsi512_si128(total), _mm512_extracti64x2_epi64::<3>(total)],
            [_mm512_extracti64x2_epi64::<1>(total), _mm256_castsi256_si128(total_keys)],
            [_mm512_extracti64x2_epi64::<2>(total), _mm256_extracti64x2_epi64::<1>(total_keys)],
        ];
        // Of heads only y is in the sum so far.
        let in_place = if buckets.heads.is_some() { [true, false, true] } else { [false; 3] };
        for ((rows, made), in_place) in sums.made.iter_mut().zip(made).zip(in_place) {
            if let Some([macs, keys]) = rows {
                macs[k] = block(made[0]) ^ macs[k].select(in_place);
                keys[k] = block(made[1]) ^ keys[k].select(in_place);
            }
        }
    }
}

/// The words of y's MAC in a record's first register.
const Y_MAC: u8 = 0b0000_1100;
/// The words of z's MAC there.
const Z_MAC: u8 = 0b0011_0000;
/// The words of z's key in the second register.
const Z_KEY: u8 = 0b1100;

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn load_record(record: &Record) -> (__m512i, __m256i) {
    let blocks: &[Block; 6] = bytemuck::cast_ref(record);
    let (first, pair) = blocks.as_chunks::<4>();
    // SAFETY: the last two of the six blocks.
    let pair = unsafe { _mm256_loadu_si256(pair.as_ptr().cast()) };
    (load(&first[0]), pair)
}

#[inline]
#[target_feature(enable = "sse2")]
fn block(value: __m128i) -> Block {
    Block(bytemuck::cast(value))
}
