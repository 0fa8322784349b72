//! Records of triples: each consists of two registers, x and z.

use std::arch::x86_64::*;

use super::{load, load_pair, store, store_pair, transpose_lanes};
use crate::backend::portable;
use crate::buckets::{Buckets, Place, Records, Rows};
use crate::prefetch::prefetch_early;
use crate::{Block, mask64};

/// The kernel of [`scatter_triples`](crate::bucket_kernels::scatter_triples).
#[target_feature(enable = "avx2")]
pub(in super::super) fn scatter_triples(
    rows: &Rows<'_>,
    [phi, s]: [&mut [Block]; 2],
    to: Place<'_>,
) {
    let Place { records, peers, peer } = to;
    let (phi_pairs, phi_rest) = phi.as_chunks_mut::<2>();
    let (s_pairs, s_rest) = s.as_chunks_mut::<2>();
    let pairs = phi_pairs.len();
    // Closures over rows here would not be inlined.
    let mut twos = [&[][..]; 6];
    for (twos, row) in twos.iter_mut().zip(rows.all()) {
        *twos = &row.as_chunks::<2>().0[..pairs];
    }
    let mut places = records.iter_mut().skip(peer).step_by(peers);
    for (p, (phi, s)) in phi_pairs.iter_mut().zip(s_pairs).enumerate() {
        let mut row_pairs = [_mm256_setzero_si256(); 6];
        for (pair, row) in row_pairs.iter_mut().zip(twos) {
            *pair = load_pair(&row[p]);
        }
        let [mx, kx, my, ky, mz, kz] = row_pairs;
        let (y, z) = (_mm256_xor_si256(my, ky), _mm256_xor_si256(mz, kz));
        store_pair(phi, _mm256_xor_si256(load_pair(phi), y));
        store_pair(s, _mm256_xor_si256(load_pair(s), z));
        let both = transpose_lanes([mx, kx]).into_iter().zip(transpose_lanes([mz, kz]));
        for ((x, z), place) in both.zip(&mut places) {
            store_pair(&mut place.x, x);
            store_pair(&mut place.z, z);
        }
    }
    let records = &mut records[2 * pairs * peers..];
    let to = Place { records, peers, peer };
    portable::scatter_triples(&rows.from(2 * pairs), [phi_rest, s_rest], to);
}

/// The kernel of [`sum_buckets`](crate::bucket_kernels::sum_buckets).
#[target_feature(enable = "avx2")]
pub(in super::super) fn sum_buckets(
    records: Records<'_>,
    peer: usize,
    buckets: &Buckets<'_>,
    [x_macs, x_keys, z_macs, z_keys]: [&mut [Block]; 4],
) {
    let size = buckets.size;
    let correction = load_pair(&[Block::ZERO, buckets.correction]);
    let mut ahead = buckets.ahead.chunks(size);
    let mut f = 0;
    let sums = x_macs.iter_mut().zip(x_keys).zip(z_macs.iter_mut().zip(z_keys));
    for (k, (members, sums)) in buckets.members.chunks_exact(size).zip(sums).enumerate() {
        for &triple in ahead.next().unwrap_or_default() {
            records.of_all(triple).iter().for_each(prefetch_early);
        }
        let corrected = mask(buckets.corrected >> k & 1 == 1);
        let (mut x, mut z) = (_mm256_setzero_si256(), _mm256_and_si256(correction, corrected));
        for (i, &member) in members.iter().enumerate() {
            let record = records.get(member, peer);
            let own = load_pair(&record.x);
            let absorbs = i == 0 && buckets.absorbing;
            let d = !absorbs && buckets.d[f / 64] >> (f % 64) & 1 == 1;
            f += usize::from(!absorbs);
            let product = _mm256_and_si256(own, mask(d));
            x = _mm256_xor_si256(x, own);
            z = _mm256_xor_si256(z, _mm256_xor_si256(load_pair(&record.z), product));
        }
        let ((x_mac, x_key), (z_mac, z_key)) = sums;
        add_lanes([x_mac, x_key], x);
        add_lanes([z_mac, z_key], z);
    }
}

/// Returns all ones if `bit`, else zero.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(bit: bool) -> __m256i {
    _mm256_set1_epi64x(mask64(bit).cast_signed())
}

/// Adds one lane to each block.
#[inline]
#[target_feature(enable = "avx2")]
fn add_lanes([first, second]: [&mut Block; 2], lanes: __m256i) {
    store(first, _mm_xor_si128(load(first), _mm256_castsi256_si128(lanes)));
    store(second, _mm_xor_si128(load(second), _mm256_extracti128_si256::<1>(lanes)));
}
