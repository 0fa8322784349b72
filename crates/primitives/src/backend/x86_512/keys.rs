//! Keys of authenticated bits, four per register.

use std::arch::x86_64::*;

use super::hash::in_order;
use super::{broadcast, load, store};
use crate::Block;

/// The kernel of [`Backend::key_sums`](crate::Backend::key_sums) for as many whole fours of bits as
/// there are; returns how many bits of each list it has processed.
#[target_feature(enable = "avx512f")]
pub(in super::super) fn key_sums<const LISTS: usize>(
    delta: Block,
    bits: [&[bool]; LISTS],
    auths: [&[[Block; 2]]; LISTS],
    sums: &mut [[Block; LISTS]],
) -> usize {
    let delta = broadcast(delta);
    let sums = sums.as_chunks_mut::<4>().0;
    // Closures over lists here would not be inlined.
    let (mut bits_of, mut auths_of) = ([&[][..]; LISTS], [&[][..]; LISTS]);
    for list in 0..LISTS {
        bits_of[list] = &bits[list].as_chunks::<4>().0[..sums.len()];
        auths_of[list] = &auths[list].as_chunks::<4>().0[..sums.len()];
    }
    for (k, sums) in sums.iter_mut().enumerate() {
        let mut out = [_mm512_setzero_si512(); LISTS];
        for (list, out) in out.iter_mut().enumerate() {
            let [low, high] = auths_of[list][k].as_flattened().as_chunks::<4>().0 else {
                unreachable!("eight blocks are two fours");
            };
            let keys = _mm512_shuffle_i64x2::<0b11_01_11_01>(load(low), load(high));
            let bits = u32::from_le_bytes(bits_of[list][k].map(u8::from));
            let bits = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bits as i32));
            let bits = _mm512_permutexvar_epi64(
                _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0),
                _mm512_castsi256_si512(bits),
            );
            let masks = _mm512_sub_epi64(_mm512_setzero_si512(), bits);
            *out = _mm512_xor_si512(keys, _mm512_and_si512(delta, masks));
        }
        let quads = sums.as_flattened_mut().as_chunks_mut::<4>().0;
        for (quad, out) in quads.iter_mut().zip(in_order(out)) {
            store(quad, out);
        }
    }
    4 * sums.len()
}
