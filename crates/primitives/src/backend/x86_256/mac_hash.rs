//! Sums of products of tags by VPCLMULQDQ, four tags at a time.

use std::arch::x86_64::*;

use super::gf128::xor_lanes;
use super::{load_words, store_words};
use crate::backend::x86::{self, next_quad_mask, spread};
use crate::mac_hash::{Keys, SelectedSums};

#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq")]
pub(in super::super) fn carryless_products(
    words: &[u64],
    factor: u64,
    low: &mut [u64],
    high: &mut [u64],
) {
    let (fours, rest) = words.as_chunks::<4>();
    let whole = words.len() - rest.len();
    let factors = _mm256_set1_epi64x(factor.cast_signed());
    let out = low.as_chunks_mut::<4>().0.iter_mut().zip(high.as_chunks_mut::<4>().0);
    for (words, (low, high)) in fours.iter().zip(out) {
        let words = load_words(words);
        let even = _mm256_clmulepi64_epi128::<0x00>(words, factors);
        let odd = _mm256_clmulepi64_epi128::<0x01>(words, factors);
        store_words(low, _mm256_unpacklo_epi64(even, odd));
        store_words(high, _mm256_unpackhi_epi64(even, odd));
    }
    x86::carryless_products(rest, factor, &mut low[whole..], &mut high[whole..]);
}

/// The sums of products under either set of keys, in the lanes.
#[derive(Clone, Copy)]
struct Sums([__m256i; 2]);

impl Sums {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new() -> Sums {
        Sums([_mm256_setzero_si256(); 2])
    }

    /// Adds the products of pairs of tags side by side.
    #[inline]
    #[target_feature(enable = "avx2,vpclmulqdq")]
    fn add(&mut self, tags: __m256i, keys: [__m256i; 2]) {
        for (sum, keys) in self.0.iter_mut().zip(keys) {
            let keyed = _mm256_xor_si256(tags, keys);
            *sum = _mm256_xor_si256(*sum, _mm256_clmulepi64_epi128::<0x10>(keyed, keyed));
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn finish(self) -> [u128; 2] {
        [bytemuck::cast(xor_lanes(self.0[0])), bytemuck::cast(xor_lanes(self.0[1]))]
    }
}

#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq")]
pub(in super::super) fn tag_products(tags: &[u64], keys: Keys<'_>) -> [u128; 2] {
    let mut sums = Sums::new();
    let (fours, rest) = tags.as_chunks::<4>();
    let (first, second) = (keys.0[0].as_chunks::<4>().0, keys.0[1].as_chunks::<4>().0);
    for (tags, (first, second)) in fours.iter().zip(first.iter().zip(second)) {
        sums.add(load_words(tags), [load_words(first), load_words(second)]);
    }
    let rest = x86::tag_products(rest, keys.from(tags.len() - rest.len()));
    let [first, second] = sums.finish();
    [first ^ rest[0], second ^ rest[1]]
}

#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq")]
pub(in super::super) fn selected_tag_products(
    tags: SelectedSums<'_>,
    (keys, n): (Keys<'_>, usize),
) -> [[u128; 2]; 2] {
    let whole = n / 64 * 64;
    let mut sums = if tags.is_shared() {
        [words::<true>(tags, 0, keys, n / 64), words::<true>(tags, 1, keys, n / 64)]
    } else {
        [words::<false>(tags, 0, keys, n / 64), words::<false>(tags, 1, keys, n / 64)]
    };
    if whole < n {
        let rest = x86::selected_tag_products(tags.from(whole), (keys.from(whole), n - whole));
        let both = sums.as_flattened_mut().iter_mut().zip(rest.as_flattened());
        both.for_each(|(sum, rest)| *sum ^= rest);
    }
    sums
}

/// The products of a list's tags that belong to this many whole words of bits.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn words<const SHARED: bool>(
    tags: SelectedSums<'_>,
    list: usize,
    keys: Keys<'_>,
    n: usize,
) -> [u128; 2] {
    let mut sums = Sums::new();
    let delta = spread(if list == 0 { 0 } else { tags.delta });
    // No closures here: they would be calls.
    let (mut same, mut rows) = ([delta; 3], [&[][..]; 3]);
    for ((same, chunks), row) in same.iter_mut().zip(&mut rows).zip(tags.rows[list]) {
        *same = spread(row[0]);
        *chunks = row.as_chunks::<64>().0;
    }
    let keys = [keys.0[0].as_chunks::<64>().0, keys.0[1].as_chunks::<64>().0];
    for word in 0..n {
        let (mut c, mut d) = (spread(tags.bits[0][word]), spread(tags.bits[1][word]));
        let mut flips = spread(tags.flips[word]);
        for four in 0..16 {
            let row = |row: usize| match SHARED {
                true => same[row],
                false => load_four(&rows[row][word], four),
            };
            let first = _mm256_and_si256(row(1), next_quad_mask(&mut c));
            let second = _mm256_and_si256(row(2), next_quad_mask(&mut d));
            let flip = _mm256_and_si256(delta, next_quad_mask(&mut flips));
            let sum = _mm256_xor_si256(_mm256_xor_si256(row(0), first), second);
            let keys = [load_four(&keys[0][word], four), load_four(&keys[1][word], four)];
            sums.add(_mm256_xor_si256(sum, flip), keys);
        }
    }
    sums.finish()
}

/// Words 4·`four` to 4·`four` + 3.
#[inline]
#[target_feature(enable = "avx2")]
fn load_four(words: &[u64; 64], four: usize) -> __m256i {
    load_words(&words.as_chunks().0[four])
}
