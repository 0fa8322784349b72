//! How many leaky triples make one good triple: exact parameters of bucketing.
//!
//! The n·B leaky triples of a batch are B streams of n. When all are fixed, a coin shifts each
//! stream but the first, by a distance of its own. Then bucket i has number i of each stream.
//!
//! An adversary may try to learn any of the triples, a_j of stream j; each attempt goes unnoticed
//! with probability 1/2. It knows a bucket's triple only if it knows all B in the bucket. The
//! probability to know at least one and to stay unnoticed is at most
//!
//! ```text
//! 2^-t · w    with    w = a_1·a_2·…·a_B / n^(B−1)    and    t = a_1 + … + a_B
//! ```
//!
//! With further batches under the same Δ, an unnoticed adversary tries again. The bound is P(n, B),
//! the maximum over all a_j of 2^-t·w / (1 − 2^-t·(1 − w)). One attempt in each stream is best:
//!
//! ```text
//! P(n, B) = 1 / ((2^B − 1)·n^(B−1) + 1)
//! ```
//!
//! `docs/proofs/bucketing.md` proves it. The first stream does not move, so its triples may be made
//! for their buckets, on shares that are given.
//!
//! Departure: buckets | a random permutation of all triples, one batch | streams shifted by a coin,
//! of which the first stays; several batches under one Δ | an exact formula for shifts
//! (`docs/proofs/bucketing.md#shifts`) and several batches
//! (`docs/proofs/bucketing.md#several-batches`)

/// The size of a batch: how many triples it yields, and how many leaky ones each of them takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number of resulting triples, and of leaky triples in a stream.
    pub triples: usize,
    /// The number of leaky triples per bucket, and of streams.
    pub bucket: usize,
}

impl Batch {
    /// Returns whether the buckets of this batch reach 2^-`rho`.
    pub fn reaches(self, rho: u32) -> bool {
        self.bucket >= 2 && self.triples > 0 && is_enough(self.triples, self.bucket, rho)
    }

    /// Returns the number of leaky triples consumed.
    pub fn leaky(self) -> usize {
        self.triples * self.bucket
    }

    /// Returns the number of leaky triples in the streams that are shifted.
    pub fn shifted(self) -> usize {
        self.triples * (self.bucket - 1)
    }
}

/// The target number of leaky triples in a batch, with all peers together. One of a shifted stream
/// takes 80 or 96 bytes per peer, one of the first, where the bucket's sums will be, 96, and each
/// another 9 or 17 bytes. This target (90 MB) keeps memory independent of the number of triples,
/// unless the smallest batch with buckets of three needs more.
const TARGET_LEAKY: usize = 900_000;

/// The maximum number of leaky triples in a batch, with all peers together, which keeps memory
/// independent of the number of peers (500 MB), unless the bucket size or [`LEAST_LEAKY`] requires
/// more. At ρ = 40 this is just enough for B = 3 among six parties. With more parties, B = 4 needs
/// no more computing and a third of the memory, but sends a third more.
const MAX_LEAKY: usize = 5_950_000;

/// A batch costs a dozen round trips whatever its size: with fewer leaky triples than this, waiting
/// would dominate on a long link. On a short link fewer are not faster either.
const LEAST_LEAKY: usize = 1 << 18;

/// Returns P(n, B): the success probability of the best attempts in any number of batches.
///
/// Paper: WRK17, §6; YWZ20, App. D | bucketing bound, here for shifts
pub fn failure(n: usize, bucket: usize) -> f64 {
    1.0 / ((bucket as f64).exp2() - 1.0).mul_add((n as f64).powi(bucket as i32 - 1), 1.0)
}

/// Returns whether P(n, B) is at most 2^-`rho`, exactly: (2^B − 1)·n^(B−1) ≥ 2^ρ − 1. A left side
/// of more than 128 bits is enough.
fn is_enough(n: usize, bucket: usize, rho: u32) -> bool {
    let ones = |bits: u32| 1u128.checked_shl(bits).map(|power| power - 1);
    let Some(least) = ones(rho) else { return false };
    let Ok(bucket) = u32::try_from(bucket) else { return true };
    let tuples = (n as u128).checked_pow(bucket - 1);
    let product = tuples.zip(ones(bucket)).and_then(|(tuples, ones)| tuples.checked_mul(ones));
    product.is_none_or(|product| product >= least)
}

/// Returns the smallest n for which buckets of size `bucket` reach 2^-`rho`, if there is one below
/// 2^40.
pub fn smallest_batch(bucket: usize, rho: u32) -> Option<usize> {
    let (mut low, mut high) = (0, 1usize << 40);
    if bucket < 2 || !is_enough(high, bucket, rho) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_enough(middle, bucket, rho) { high = middle } else { low = middle }
    }
    Some(high)
}

/// Plans batches that yield at least `n` triples among a party and `peers` others, at statistical
/// security 2^-`rho`, from the fewest authenticated bits that memory allows.
///
/// For a small n the plan rounds n up or takes a larger bucket, whichever is cheaper; likewise for
/// many peers, whose triples would not fit. No batch uses a bucket size that its own number of
/// triples does not allow.
///
/// Check: bucketing | shifts by coin toss; exact bucket sizes | what leaky ANDs leaked | 2^-ρ
pub fn plan(n: usize, rho: u32, peers: usize) -> Vec<Batch> {
    // Three bits for a leaky triple.
    batches(n, rho, peers, |bucket| 3 * bucket)
}

/// Returns the same for triples on given y, which need no bits for the y of the first stream. If
/// numbers are rounded up, the last triples need some y, too.
pub fn plan_on(n: usize, rho: u32, peers: usize) -> Vec<Batch> {
    batches(n, rho, peers, |bucket| 3 * bucket - 1)
}

/// Plans batches, given how many bits a triple takes from a bucket of some size.
fn batches(n: usize, rho: u32, peers: usize, bits: impl Fn(usize) -> usize) -> Vec<Batch> {
    if n == 0 {
        return Vec::new();
    }
    // A single triple fits, whatever the number of peers.
    let most = (MAX_LEAKY / peers.max(1)).max(rho as usize + 1);
    let mut best: Option<[usize; 4]> = None;
    for bucket in 2..=rho as usize + 1 {
        let smallest = smallest_batch(bucket, rho).filter(|smallest| smallest * bucket <= most);
        let Some(smallest) = smallest else { continue };
        let fewest = n.div_ceil(most / bucket);
        let total = n.max(fewest * smallest);
        if best.is_none_or(|[total_, bucket_, ..]| total * bits(bucket) < total_ * bits(bucket_)) {
            best = Some([total, bucket, fewest, smallest]);
        }
        // Larger buckets yield no fewer triples from more leaky ones.
        if total == n {
            break;
        }
    }
    let [total, bucket, fewest, smallest] =
        best.expect("with B = rho + 1 a single triple is enough");
    let target = (TARGET_LEAKY / peers.max(1)).max(LEAST_LEAKY);
    // As few batches as memory allows, at most as many as the smallest batch size allows, and sizes
    // as equal as possible.
    let wanted = (total * bucket).div_ceil(target);
    let batches = wanted.min(total / smallest).max(fewest);
    let (size, larger) = (total / batches, total % batches);
    let batch = |i| Batch { triples: size + usize::from(i < larger), bucket };
    (0..batches).map(batch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_batches_are_the_known_ones() {
        for (rho, bucket, n) in [
            (40, 3, 396_325),
            (40, 4, 4_186),
            (40, 5, 434),
            (64, 4, 1_071_379),
            (64, 5, 27_775),
            (80, 5, 444_386),
        ] {
            assert_eq!(smallest_batch(bucket, rho), Some(n), "rho {rho} B {bucket}");
        }
        // At even ρ, 2^ρ − 1 is three times the number of pairs: the bound is met exactly.
        assert_eq!(smallest_batch(2, 10), Some(341));
        assert_eq!(3 * 341 + 1, 1 << 10);
    }

    /// By definition: t attempts, each of which goes unnoticed with probability 1/2, and success
    /// with probability `w`.
    fn succeeds(t: usize, w: f64) -> f64 {
        let unnoticed = 0.5f64.powi(t as i32);
        unnoticed * w / (1.0 - unnoticed * (1.0 - w))
    }

    /// Returns all lists of this many numbers from 1 to `most`.
    fn lists(streams: usize, most: usize) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for _ in 0..streams {
            let longer = |list: Vec<usize>| (1..=most).map(move |a| [&list[..], &[a]].concat());
            all = all.into_iter().flat_map(longer).collect();
        }
        all
    }

    /// Returns the union bound for these numbers of attempts, one for each stream.
    fn union_bound(attempts: &[usize], n: usize) -> f64 {
        let product: usize = attempts.iter().product();
        product as f64 / (n as f64).powi(attempts.len() as i32 - 1)
    }

    #[test]
    fn batches_fail_as_often_as_the_definition_says() {
        for n in [1usize, 2, 5, 40, 434] {
            for bucket in 2..6 {
                let of = |attempts: Vec<usize>| {
                    succeeds(attempts.iter().sum(), union_bound(&attempts, n))
                };
                let by_scan = lists(bucket, n.min(5)).into_iter().map(of).fold(0.0, f64::max);
                let found = failure(n, bucket);
                assert!((by_scan / found - 1.0).abs() < 1e-9, "n {n} B {bucket}: {by_scan}");
            }
        }
    }

    /// Every placement of attempts in a small batch, and every shift: no placement succeeds more
    /// often than the formula says, and one attempt in each stream as often.
    #[test]
    fn no_placement_beats_the_formula() {
        for (n, bucket) in [(1usize, 2usize), (3, 2), (5, 2), (3, 3), (4, 3), (2, 4)] {
            let placements = 1usize << (n * bucket);
            let shifts = n.pow(bucket as u32 - 1);
            let wins = |placement: usize, shift: usize| {
                let stream = |j: usize| placement >> (j * n);
                (0..n).any(|i| {
                    let is_attempted = |j: usize| {
                        let distance = if j == 0 { 0 } else { shift / n.pow(j as u32 - 1) % n };
                        stream(j) >> ((i + distance) % n) & 1 == 1
                    };
                    (0..bucket).all(is_attempted)
                })
            };
            let best = (0..placements).map(|placement| {
                let won = (0..shifts).filter(|&shift| wins(placement, shift)).count();
                succeeds(placement.count_ones() as usize, won as f64 / shifts as f64)
            });
            let best = best.filter(|p| !p.is_nan()).fold(0.0, f64::max);
            let formula = failure(n, bucket);
            assert!((best / formula - 1.0).abs() < 1e-9, "n {n} B {bucket}: {best}, {formula}");
        }
    }

    /// Computes the best success probability with k more batches from that with k − 1. It converges
    /// to the formula, and never exceeds it.
    #[test]
    fn tries_in_many_batches_come_up_to_the_formula() {
        for (n, bucket) in [(2usize, 2usize), (5, 2), (40, 2), (7, 3), (40, 3), (100, 4)] {
            let formula = failure(n, bucket);
            let all = lists(bucket, n.min(4));
            let best = |later: f64| {
                let of = |attempts: &Vec<usize>| {
                    let w = union_bound(attempts, n).min(1.0);
                    let t: usize = attempts.iter().sum();
                    0.5f64.powi(t as i32) * (w + (1.0 - w) * later)
                };
                all.iter().map(of).fold(0.0, f64::max)
            };
            let by_batches: Vec<f64> =
                std::iter::successors(Some(best(0.0)), |&later| Some(best(later)))
                    .take(60)
                    .collect();
            let (single, many) = (by_batches[0], by_batches[59]);
            assert!(by_batches.iter().all(|&p| p <= formula * (1.0 + 1e-12)), "n {n} B {bucket}");
            assert!((many / formula - 1.0).abs() < 1e-9, "n {n} B {bucket}: {many}, {formula}");
            assert!(single < formula, "n {n} B {bucket}: {single}, {formula}");
        }
    }

    /// Two triples in buckets of two, with an adversary that tries everything.
    #[test]
    fn a_small_case_by_hand() {
        // It tries one of each stream (1/4), and the two meet with one of two shifts; if not, it
        // tries again: p = 1/8 + p/8.
        assert!((failure(2, 2) - 1.0 / 7.0).abs() < 1e-12);
        // It tries one of the first and both of the second: in a single batch this is as good,
        // 2^-3 · 1, and in more batches no better.
        assert!(failure(2, 2) > 0.125);
    }

    #[test]
    fn every_planned_batch_is_allowed_and_together_they_suffice() {
        for (rho, peers) in [5, 12, 40, 64, 80]
            .into_iter()
            .flat_map(|rho| [1, 2, 4, 5, 6, 15, 63, 255].map(|peers| (rho, peers)))
        {
            for n in [1, 2, 10, 433, 434, 4_186, 6_400, 100_000, 396_324, 500_000, 10_223_616] {
                for batches in [plan(n, rho, peers), plan_on(n, rho, peers)] {
                    assert!(batches.iter().map(|b| b.triples).sum::<usize>() >= n);
                    for batch in &batches {
                        let what = || format!("rho {rho} n {n} peers {peers}: {batch:?}");
                        assert!(batch.reaches(rho), "{}", what());
                        assert!(batch.leaky() * peers <= MAX_LEAKY, "{}", what());
                    }
                }
            }
        }
    }

    #[test]
    fn a_batch_that_is_one_too_small_is_refused() {
        for (rho, bucket) in [(40, 3), (40, 5), (64, 4), (80, 5)] {
            let triples = smallest_batch(bucket, rho).unwrap();
            assert!(Batch { triples, bucket }.reaches(rho), "{bucket}");
            assert!(!Batch { triples: triples - 1, bucket }.reaches(rho), "{bucket}");
        }
        for (triples, bucket) in [(0, 3), (1 << 39, 1), (1 << 39, 0), (1, 39)] {
            assert!(!Batch { triples, bucket }.reaches(40), "{triples}, {bucket}");
        }
        assert!(Batch { triples: 1, bucket: 40 }.reaches(40));
        assert!(!Batch { triples: 1 << 39, bucket: 9 }.reaches(200));
    }

    #[test]
    fn there_is_a_plan_whatever_the_number_of_peers() {
        for peers in [0, 1 << 16, usize::MAX] {
            assert!(plan(3, 80, peers).iter().map(|b| b.triples).sum::<usize>() >= 3);
        }
    }

    #[test]
    fn large_numbers_use_buckets_of_three_at_forty_bits_while_they_fit() {
        for (peers, bucket) in [(1, 3), (2, 3), (4, 3), (5, 3), (6, 4), (15, 4), (255, 4)] {
            assert!(plan(1_000_000, 40, peers).iter().all(|b| b.bucket == bucket), "{peers}");
        }
        assert!(plan(6_400, 40, 1).iter().all(|b| b.bucket == 4));
    }
}
