//! Sums of products of tags by PCLMULQDQ.

use std::arch::x86_64::*;

use zeroize::Zeroize;

use crate::backend::portable;
use crate::tags::{Powers, Selected};

#[target_feature(enable = "pclmulqdq,sse2")]
pub(in super::super) fn carryless_products(
    words: &[u64],
    factor: u64,
    low: &mut [u64],
    high: &mut [u64],
) {
    let factor = _mm_set_epi64x(0, factor.cast_signed());
    for (&word, (low, high)) in words.iter().zip(low.iter_mut().zip(high)) {
        let word = _mm_set_epi64x(0, word.cast_signed());
        [*low, *high] = bytemuck::cast(_mm_clmulepi64_si128::<0x00>(word, factor));
    }
}

#[target_feature(enable = "pclmulqdq,sse2")]
pub(in super::super) fn tag_products(tags: &[u64], powers: Powers<'_>) -> [u128; 2] {
    let mut sums = [_mm_setzero_si128(); 2];
    for (&tag, (&low, &high)) in tags.iter().zip(powers.low.iter().zip(powers.high)) {
        let tag = _mm_set_epi64x(0, tag.cast_signed());
        let power = _mm_set_epi64x(high.cast_signed(), low.cast_signed());
        sums[0] = _mm_xor_si128(sums[0], _mm_clmulepi64_si128::<0x00>(tag, power));
        sums[1] = _mm_xor_si128(sums[1], _mm_clmulepi64_si128::<0x10>(tag, power));
    }
    sums.map(bytemuck::cast)
}

#[target_feature(enable = "pclmulqdq,sse2")]
pub(in super::super) fn selected_tag_products(tags: Selected<'_>, powers: Powers<'_>) -> [u128; 2] {
    let n = powers.low.len();
    let mut sums = [0; 2];
    let mut words = [0; 64];
    for start in (0..n).step_by(64) {
        let now = 64.min(n - start);
        portable::select_tags(tags, start, &mut words[..now]);
        let powers =
            Powers { low: &powers.low[start..start + now], high: &powers.high[start..start + now] };
        let part = tag_products(&words[..now], powers);
        sums = [sums[0] ^ part[0], sums[1] ^ part[1]];
    }
    words.zeroize();
    sums
}
