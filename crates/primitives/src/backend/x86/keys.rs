//! Keys of authenticated bits, two per register.

use std::arch::x86_64::*;

use super::{broadcast, load_pair, store_pair, transpose_lanes};
use crate::Block;

/// The kernel of [`Backend::key_sums`](crate::Backend::key_sums) for as many whole fours of bits as
/// there are; returns how many bits of each list it has processed.
#[target_feature(enable = "avx2")]
pub(in super::super) fn key_sums<const LISTS: usize>(
    delta: Block,
    bits: [&[bool]; LISTS],
    auths: [&[[Block; 2]]; LISTS],
    sums: &mut [[Block; LISTS]],
) -> usize {
    let delta = broadcast(&delta);
    let sums = sums.as_chunks_mut::<4>().0;
    // Closures over lists here would not be inlined.
    let (mut bits_of, mut auths_of) = ([&[][..]; LISTS], [&[][..]; LISTS]);
    for list in 0..LISTS {
        bits_of[list] = &bits[list].as_chunks::<4>().0[..sums.len()];
        auths_of[list] = &auths[list].as_chunks::<4>().0[..sums.len()];
    }
    for (k, sums) in sums.iter_mut().enumerate() {
        let mut out = [[_mm256_setzero_si256(); 2]; LISTS];
        for (list, out) in out.iter_mut().enumerate() {
            let bits = u32::from_le_bytes(bits_of[list][k].map(u8::from));
            let bits = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bits.cast_signed()));
            let masks = _mm256_sub_epi64(_mm256_setzero_si256(), bits);
            let masks = [
                _mm256_permute4x64_epi64::<0b01_01_00_00>(masks),
                _mm256_permute4x64_epi64::<0b11_11_10_10>(masks),
            ];
            for ((out, auths), mask) in
                out.iter_mut().zip(auths_of[list][k].as_chunks().0).zip(masks)
            {
                let [first, second]: &[[Block; 2]; 2] = auths;
                let [_, keys] = transpose_lanes([load_pair(first), load_pair(second)]);
                *out = _mm256_xor_si256(keys, _mm256_and_si256(delta, mask));
            }
        }
        let pairs = sums.as_flattened_mut().as_chunks_mut::<2>().0;
        for (half, pairs) in pairs.as_chunks_mut::<LISTS>().0.iter_mut().enumerate() {
            match &mut pairs[..] {
                [pair] => store_pair(pair, out[0][half]),
                [first, second] => {
                    let [a, b] = transpose_lanes([out[0][half], out[1][half]]);
                    store_pair(first, a);
                    store_pair(second, b);
                }
                _ => unreachable!("one or two lists"),
            }
        }
    }
    4 * sums.len()
}
