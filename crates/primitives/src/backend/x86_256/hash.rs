//! The re-keyed hash with VAES, two keys per register: the parts around the rounds of
//! [`hash_kernel`](mod@crate::backend::hash_kernel).

use std::arch::x86_64::*;
use std::arch::x86_64::{
    _mm256_aesenc_epi128 as encrypt, _mm256_aesenclast_epi128 as encrypt_last,
    _mm256_setzero_si256 as zero, _mm256_xor_si256 as xor,
};

use super::{broadcast, load_pair as load, store_pair as store, transpose_lanes};
use crate::Block;
use crate::backend::{RCON, hash_kernel, lanes_kernel, x86};
use crate::tweaks::Tweaks;

hash_kernel!("avx2,vaes", __m256i, 2);
lanes_kernel!("avx2,vaes", __m256i);

#[target_feature(enable = "avx2,vaes")]
pub(in super::super) fn hash<const SIGMA: bool>(
    start: Block,
    tweaks: Tweaks<'_>,
    group: usize,
    xs: &mut [Block],
) {
    if xs.len() < 2 * group {
        return x86::hash::<SIGMA>(start, tweaks, group, xs);
    }
    // As much at a time as it takes to hide the latency; more would only spill registers.
    match group {
        1 => hash_groups::<SIGMA, 1, 2>(start, tweaks, xs),
        2 => hash_groups::<SIGMA, 2, 1>(start, tweaks, xs),
        4 => hash_groups::<SIGMA, 4, 2>(start, tweaks, xs),
        _ => hash_groups::<SIGMA, 8, 1>(start, tweaks, xs),
    }
}

/// Hashes groups of `GROUP` blocks: small ones `8 * N` at a time, others `2 * N`, then two, then
/// the rest in narrow registers.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn hash_groups<const SIGMA: bool, const GROUP: usize, const N: usize>(
    start: Block,
    tweaks: Tweaks<'_>,
    xs: &mut [Block],
) {
    let Some(wide_tweaks) = WideTweaks::new(start, tweaks, xs.len() / GROUP) else {
        return x86::hash::<SIGMA>(start, tweaks, GROUP, xs);
    };
    let (sets, tail) = xs.split_at_mut(xs.len() / (2 * GROUP) * (2 * GROUP));
    let (sets, _) = sets.as_chunks_mut::<2>().0.as_chunks_mut::<GROUP>();
    let mut g = 0;
    let mut rest = sets;
    if GROUP <= 2 {
        let (chunks, left) = rest.split_at_mut(rest.len() / (4 * N) * (4 * N));
        for chunk in chunks.as_chunks_mut::<4>().0.as_chunks_mut::<N>().0 {
            let mut keys = [[zero(); 4]; N];
            for keys in &mut keys {
                *keys = wide_tweaks.keys(g);
                g += 8;
            }
            let hashes = hash_lanes(keys, |n, i| inputs::<SIGMA, GROUP>(&chunk[n][i]));
            let sets = chunk.as_flattened_mut().iter_mut();
            for (set, hashes) in sets.zip(hashes.as_flattened()) {
                write(set, *hashes);
            }
        }
        rest = left;
    } else {
        let (chunks, left) = rest.as_chunks_mut::<N>();
        for chunk in chunks {
            hash_few::<SIGMA, GROUP, N>(wide_tweaks.keys(g), chunk);
            g += 2 * N;
        }
        rest = left;
    }
    for set in rest {
        let keys = wide_tweaks.keys(g);
        hash_few::<SIGMA, GROUP, 1>(keys, std::array::from_mut(set));
        g += 2;
    }
    if !tail.is_empty() {
        x86::hash::<SIGMA>(start, tweaks.after(g), GROUP, tail);
    }
}

/// Tweaks that become keys, two per register.
#[derive(Clone, Copy)]
struct WideTweaks<'a> {
    /// The start, in both lanes.
    start: __m256i,
    /// The tweak of group 0 in both lanes, if the others count up from it without a carry between
    /// their halves.
    first: __m256i,
    /// The list of tweaks, if they do not count up.
    list: Option<&'a [Block]>,
}

impl<'a> WideTweaks<'a> {
    /// Returns the tweaks of `groups` groups; `None` if a low half overflows, because there is no
    /// 128-bit addition. That happens once in 2^64 tweaks, and is detected here once for all
    /// groups.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(start: Block, tweaks: Tweaks<'a>, groups: usize) -> Option<WideTweaks<'a>> {
        let start = broadcast(&start);
        match tweaks {
            Tweaks::From(first) if first as u64 > u64::MAX - groups as u64 => None,
            Tweaks::From(first) => {
                Some(WideTweaks { start, first: broadcast(&Block(first)), list: None })
            }
            Tweaks::List(list) => {
                let list = Some(bytemuck::cast_slice(list));
                Some(WideTweaks { start, first: zero(), list })
            }
        }
    }

    /// Returns the keys of groups `g .. g + 2 * N`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn keys<const N: usize>(&self, g: usize) -> [__m256i; N] {
        let mut keys = [self.start; N];
        if let Some(list) = self.list {
            for (key, pair) in keys.iter_mut().zip(list[g..g + 2 * N].as_chunks().0) {
                *key = xor(*key, load(pair));
            }
        } else {
            let g = _mm256_set_epi64x(0, g as i64, 0, g as i64);
            let first = _mm256_add_epi64(self.first, g);
            for (key, i) in keys.iter_mut().zip((0..).step_by(2)) {
                let tweaks = _mm256_add_epi64(first, _mm256_set_epi64x(0, i + 1, 0, i));
                *key = xor(*key, tweaks);
            }
        }
        keys
    }
}

/// The number of gates that [`half_gates`] makes at a time.
const GATES: usize = 4;

/// The kernel of [`Backend::half_gates`](crate::Backend::half_gates) for as many whole runs of
/// [`GATES`] as there are, or for none if tweaks carry; returns the number of gates. One register
/// holds the labels of a gate, and another the same labels plus Δ, under the same keys, so only the
/// sums need permutations.
#[target_feature(enable = "avx2,vaes")]
pub(in super::super) fn half_gates(
    (start, first, delta): (Block, u128, Block),
    pairs: &[[Block; 2]],
    message: &mut [[Block; 2]],
    labels: &mut [Block],
) -> usize {
    let Some(tweaks) = WideTweaks::new(start, Tweaks::From(first), 2 * pairs.len()) else {
        return 0;
    };
    let delta = sigma(broadcast(&delta));
    let pairs = pairs.as_chunks::<GATES>().0;
    let message = message.as_chunks_mut::<GATES>().0;
    let labels = labels.as_chunks_mut::<GATES>().0;
    for (run, ((pairs, message), labels)) in pairs.iter().zip(message).zip(labels).enumerate() {
        let g = 2 * GATES * run;
        let [hashes] = hash_lanes([tweaks.keys(g)], |_, i| {
            let input = sigma(load(&pairs[i]));
            [input, xor(input, delta)]
        });
        for ((message, pair), [zero, one]) in message.iter_mut().zip(pairs).zip(hashes) {
            let pair = load(pair);
            // Zero for α, α for β.
            let alpha = _mm256_permute2x128_si256::<0x08>(pair, pair);
            let half = xor(xor(zero, one), alpha);
            store(message, xor(load(message), half));
        }
        for (j, labels) in labels.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let [alphas, betas] = in_order([hashes[2 * j][0], hashes[2 * j + 1][0]]);
            let sum = xor(alphas, betas);
            store(labels, xor(load(labels), sum));
        }
    }
    pairs.len() * GATES
}

/// The number of triples that [`leaky_hashes`] makes at a time.
const TRIPLES: usize = 16;

/// The kernel of [`Backend::leaky_hashes`](crate::Backend::leaky_hashes) for as many whole runs of
/// [`TRIPLES`] as there are; returns the number of triples, which is zero if tweaks carry. A
/// register holds the hash inputs of two triples, each lane under its own key, so nothing is
/// permuted.
#[target_feature(enable = "avx2,vaes")]
pub(in super::super) fn leaky_hashes(
    (starts, first, delta): ([Block; 2], u128, Block),
    auths: [&[Block]; 2],
    phi: &[Block],
    s: &mut [Block],
    u: &mut [Block],
) -> usize {
    let tweaks = (
        WideTweaks::new(starts[0], Tweaks::From(first), phi.len()),
        WideTweaks::new(starts[1], Tweaks::From(first), phi.len()),
    );
    let (Some(own_tweaks), Some(their_tweaks)) = tweaks else {
        return 0;
    };
    let delta = sigma(broadcast(&delta));
    let [macs, keys] = [auths[0].as_chunks::<TRIPLES>().0, auths[1].as_chunks::<TRIPLES>().0];
    let (phi, s) = (phi.as_chunks::<TRIPLES>().0, s.as_chunks_mut::<TRIPLES>().0);
    let (u, done) = (u.as_chunks_mut::<TRIPLES>().0, TRIPLES * s.len());
    let triples = macs.iter().zip(keys).zip(phi).zip(s.iter_mut().zip(u));
    for (run, (((macs, keys), phi), (s, u))) in triples.enumerate() {
        let g = TRIPLES * run;
        let (macs, keys) = (macs.as_chunks::<2>().0, keys.as_chunks::<2>().0);
        let their_keys = [their_tweaks.keys(g), their_tweaks.keys(g + 8)];
        let theirs = hash_lanes(their_keys, |n, i| [sigma(load(&macs[4 * n + i]))]);
        let rows = phi.as_chunks::<2>().0.iter().zip(s.as_chunks_mut::<2>().0);
        let mut out = rows.zip(u.as_chunks_mut::<2>().0);
        for (n, theirs) in theirs.iter().enumerate() {
            let [own] = hash_lanes([own_tweaks.keys(g + 8 * n)], |_, i| {
                let input = sigma(load(&keys[4 * n + i]));
                [input, xor(input, delta)]
            });
            for (([zero, one], [single]), ((phi, s), u)) in own.iter().zip(theirs).zip(&mut out) {
                let both = xor(*zero, *one);
                store(u, xor(load(phi), both));
                let mine = xor(*zero, *single);
                store(s, xor(load(s), mine));
            }
        }
    }
    done
}

/// Returns the next round keys of eight schedules, word by word.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn next_words(w: [__m256i; 4], rcon: i32) -> [__m256i; 4] {
    // RotWord, and the inverse of the ShiftRows that AESENCLAST will apply to four keys' words.
    let rotate = _mm256_broadcastsi128_si256(_mm_set_epi32(
        0x0007_0a0d,
        0x0c03_0609,
        0x080f_0205,
        0x040b_0e01,
    ));
    let rotated = _mm256_shuffle_epi8(w[3], rotate);
    let word = encrypt_last(rotated, _mm256_set1_epi32(rcon));
    // This takes more XORs than necessary, but w3, for which the next step waits, has only one
    // after the substitution.
    let (w01, w23) = (xor(w[0], w[1]), xor(w[2], w[3]));
    let w0 = xor(w[0], word);
    let w1 = xor(w01, word);
    let w2 = xor(w[2], w1);
    let w3 = xor(xor(w01, w23), word);
    [w0, w1, w2, w3]
}

/// Transposes the 4×4 matrix of 32-bit words in each lane of four registers.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_words([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (ab_low, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let (cd_low, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(ab_low, cd_low),
        _mm256_unpackhi_epi64(ab_low, cd_low),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Returns the next round keys of two schedules; see the 128-bit kernel.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn next_keys(keys: __m256i, rcon: i32) -> __m256i {
    let rotated = _mm256_shuffle_epi8(keys, _mm256_set1_epi32(0x0c0f_0e0d));
    let word = encrypt_last(rotated, _mm256_set1_epi32(rcon));
    let pairs = xor(keys, _mm256_bslli_epi128::<4>(keys));
    let prefix = xor(pairs, _mm256_bslli_epi128::<8>(pairs));
    xor(prefix, word)
}

/// Returns σ(hi ‖ lo) = (hi ⊕ lo) ‖ hi in each lane.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sigma(x: __m256i) -> __m256i {
    let high = _mm256_shuffle_epi32::<0b11_10_11_10>(x);
    xor(high, _mm256_bslli_epi128::<8>(x))
}

/// Converts from memory order to one group per lane: lane l of register j becomes block j of group
/// l.
#[inline]
#[target_feature(enable = "avx2")]
fn by_group<const GROUP: usize>(xs: [__m256i; GROUP]) -> [__m256i; GROUP] {
    let mut out = xs;
    for i in 0..GROUP / 2 {
        let (a, b) = (xs[i], xs[i + GROUP / 2]);
        [out[2 * i], out[2 * i + 1]] = transpose_lanes([a, b]);
    }
    out
}

/// The inverse of [`by_group`].
#[inline]
#[target_feature(enable = "avx2")]
fn in_order<const GROUP: usize>(xs: [__m256i; GROUP]) -> [__m256i; GROUP] {
    let mut out = xs;
    for i in 0..GROUP / 2 {
        let (a, b) = (xs[2 * i], xs[2 * i + 1]);
        [out[i], out[i + GROUP / 2]] = transpose_lanes([a, b]);
    }
    out
}
