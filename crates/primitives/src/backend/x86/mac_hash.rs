//! Sums of products of tags with PCLMULQDQ.

use std::arch::x86_64::*;

use zeroize::Zeroize;

use crate::backend::portable;
use crate::selected_sums::{Keys, SelectedSums};

#[target_feature(enable = "pclmulqdq,avx2")]
pub(in super::super) fn carryless_products(
    words: &[u64],
    factor: u64,
    low: &mut [u64],
    high: &mut [u64],
) {
    let factor = _mm_set_epi64x(0, factor.cast_signed());
    let (twos, rest) = words.as_chunks::<2>();
    let (low, low_rest) = low.as_chunks_mut::<2>();
    let (high, high_rest) = high.as_chunks_mut::<2>();
    for (words, (low, high)) in twos.iter().zip(low.iter_mut().zip(high)) {
        let words = bytemuck::cast(*words);
        let even = _mm_clmulepi64_si128::<0x00>(words, factor);
        let odd = _mm_clmulepi64_si128::<0x01>(words, factor);
        *low = bytemuck::cast(_mm_unpacklo_epi64(even, odd));
        *high = bytemuck::cast(_mm_unpackhi_epi64(even, odd));
    }
    if let ([word], [low], [high]) = (rest, low_rest, high_rest) {
        let word = _mm_set_epi64x(0, word.cast_signed());
        [*low, *high] = bytemuck::cast(_mm_clmulepi64_si128::<0x00>(word, factor));
    }
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(in super::super) fn tag_products(tags: &[u64], Keys(keys): Keys<'_>) -> [u128; 2] {
    let mut sums = [_mm_setzero_si128(); 2];
    let pairs = keys[0].as_chunks::<2>().0.iter().zip(keys[1].as_chunks::<2>().0);
    for (tags, (first, second)) in tags.chunks(2).zip(pairs) {
        let next = tags.get(1).copied().unwrap_or_default();
        let tags = _mm_set_epi64x(next.cast_signed(), tags[0].cast_signed());
        for (sum, keys) in sums.iter_mut().zip([first, second]) {
            let keyed = _mm_xor_si128(tags, bytemuck::cast(*keys));
            *sum = _mm_xor_si128(*sum, _mm_clmulepi64_si128::<0x10>(keyed, keyed));
        }
    }
    sums.map(bytemuck::cast)
}

#[target_feature(enable = "pclmulqdq,avx2")]
pub(in super::super) fn selected_tag_products(
    tags: SelectedSums<'_>,
    (keys, n): (Keys<'_>, usize),
) -> [[u128; 2]; 2] {
    let mut sums = [[0; 2]; 2];
    let mut words = [0; 64];
    for start in (0..n).step_by(64) {
        let now = 64.min(n - start);
        for (list, sums) in sums.iter_mut().enumerate() {
            portable::select_tags(tags, list, start, &mut words[..now]);
            let part = tag_products(&words[..now], keys.from(start));
            *sums = [sums[0] ^ part[0], sums[1] ^ part[1]];
        }
    }
    words.zeroize();
    sums
}
