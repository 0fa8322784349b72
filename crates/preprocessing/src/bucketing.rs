//! How many leaky triples make one good triple: exact parameters of bucketing.
//!
//! Of the n·B leaky triples of a batch an adversary may try to learn t; each attempt goes unnoticed
//! with probability 1/2. The triples are then shuffled into n buckets of size B. The adversary
//! knows a bucket's triple only if it knows all B in the bucket. The probability to know at least
//! one and to stay unnoticed is at most
//!
//! ```text
//! 2^-t · w(t)    with    w(t) = n · C(t, B) / C(nB, B)
//! ```
//!
//! (Wang–Ranellucci–Katz 2017, §6, with leakage of the x share as in Yang–Wang–Zhang 2020, App. D).
//!
//! With further batches under the same Δ, an unnoticed adversary tries again. The bound is P(n, B),
//! the maximum over t of 2^-t·w / (1 − 2^-t·(1 − w)), which is attained at t = 2B − 1.
//!
//! If the first triple of each bucket (its anchor) is made for that bucket, only the other n(B − 1)
//! triples are shuffled, and w becomes w'(t₁, t₂) = t₁·C(t₂, B−1)/C(n(B−1), B−1).
//! `docs/proofs/bucketing.md` proves both bounds.
//!
//! Departure: buckets | all triples are shuffled, in one batch | the first of each bucket is not,
//! in large batches; several batches under one Δ | exact formulas for anchored triples
//! (`docs/proofs/bucketing.md#anchored-triples`) and several batches
//! (`docs/proofs/bucketing.md#several-batches`)

/// The size of a batch: how many triples it yields, and how many leaky ones each of them takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number of resulting triples.
    pub triples: usize,
    /// The number of leaky triples per bucket.
    pub bucket: usize,
    /// Whether the first leaky triple of each bucket, its anchor, is made for the bucket, with a
    /// given or fresh y, and is not shuffled.
    pub anchored: bool,
}

impl Batch {
    /// Returns whether the buckets of this batch reach 2^-`rho`.
    pub fn reaches(self, rho: u32) -> bool {
        let Batch { triples, bucket, anchored } = self;
        let log2_failure = if anchored { log2_failure_anchored } else { log2_failure };
        bucket >= 2 && triples > 0 && log2_failure(triples, bucket) <= -f64::from(rho)
    }

    /// Returns the number of leaky triples consumed.
    pub fn leaky(self) -> usize {
        self.triples * self.bucket
    }

    /// Returns the number of anchors, which are not shuffled.
    pub fn anchors(self) -> usize {
        if self.anchored { self.triples } else { 0 }
    }

    /// Returns the number of shuffled triples per bucket.
    pub fn shuffled(self) -> usize {
        self.bucket - usize::from(self.anchored)
    }
}

/// The target number of records and bucket sums in a batch. A shuffled leaky triple takes one
/// record of 64 bytes per peer and 16 or 32 bytes for its y. The sums of a bucket, which contain
/// its anchor, take 96 bytes. Each takes another 9 or 17 bytes. This target (90 MB) keeps memory
/// independent of the number of triples, unless the smallest batch with buckets of three needs
/// more.
const TARGET_RECORDS: usize = 900_000;

/// The maximum number of records in a batch, which keeps memory independent of the number of peers
/// (360 MB), unless the bucket size or [`LEAST_LEAKY`] requires more. At ρ = 40 this is just enough
/// for B = 3 among six parties. With more parties, B = 4 needs no more computing and a third of the
/// memory, but sends a third more.
const MAX_RECORDS: usize = 4_220_000;

/// A batch costs a dozen round trips whatever its size: with fewer leaky triples than this, waiting
/// would dominate on a long link. On a short link fewer are not faster either.
const LEAST_LEAKY: usize = 1 << 18;

/// Returns log2 P(n, B): the success probability of the best attempts in any number of batches.
///
/// Paper: WRK17, §6; YWZ20, App. D | bucketing bound
pub fn log2_failure(n: usize, bucket: usize) -> f64 {
    let total = n * bucket;
    let t = (2 * bucket - 1).min(total);
    with_further_tries((n as f64).log2() + log2_all_among(t, bucket, total), t)
}

/// Returns log2 P'(n, B), for anchored batches.
///
/// Paper: WRK17, §6; YWZ20, App. D
pub fn log2_failure_anchored(n: usize, bucket: usize) -> f64 {
    let others = bucket - 1;
    let free = n * others;
    let t = (2 * others - 1).min(free);
    with_further_tries(log2_all_among(t, others, free), 1 + t)
}

/// Returns log2 of C(t, k)/C(all, k): the probability that k of `all` are among a given t.
fn log2_all_among(t: usize, k: usize, all: usize) -> f64 {
    (0..k).map(|i| ((t - i) as f64 / (all - i) as f64).log2()).sum()
}

/// Returns log2 of 2^-t·w / (1 − 2^-t·(1 − w)).
fn with_further_tries(log2_w: f64, t: usize) -> f64 {
    let log2_first = log2_w - t as f64;
    log2_first - (1.0 - (-(t as f64)).exp2() + log2_first.exp2()).log2()
}

/// Returns the smallest n for which buckets of size `bucket` reach 2^-`rho`, if there is one below
/// 2^40.
pub fn smallest_batch(bucket: usize, rho: u32) -> Option<usize> {
    smallest(bucket, rho, log2_failure)
}

/// Returns the same for anchored batches.
pub fn smallest_batch_anchored(bucket: usize, rho: u32) -> Option<usize> {
    smallest(bucket, rho, log2_failure_anchored)
}

fn smallest(bucket: usize, rho: u32, log2_failure: fn(usize, usize) -> f64) -> Option<usize> {
    let enough = |n: usize| log2_failure(n, bucket) <= -f64::from(rho);
    let (mut low, mut high) = (0, 1usize << 40);
    if bucket < 2 || !enough(high) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// Plans batches that yield at least `n` triples among a party and `peers` others, at statistical
/// security 2^-`rho`, from the fewest leaky triples that memory allows.
///
/// For a small n the plan rounds n up or takes a larger bucket, whichever is cheaper; likewise for
/// many peers, whose records would not fit. No batch uses a bucket size that its own number of
/// triples does not allow.
///
/// Check: bucketing | permutation by coin toss; exact bucket sizes, with a formula of their own for
/// anchored triples | what leaky ANDs leaked | 2^-ρ
pub fn plan(n: usize, rho: u32, peers: usize) -> Vec<Batch> {
    batches(n, rho, peers, false)
}

/// Returns the same for anchored batches. If numbers are rounded up, the anchors of the last
/// buckets need some y, too.
pub fn plan_anchored(n: usize, rho: u32, peers: usize) -> Vec<Batch> {
    batches(n, rho, peers, true)
}

fn batches(n: usize, rho: u32, peers: usize, anchored: bool) -> Vec<Batch> {
    let allowed = if anchored { smallest_batch_anchored } else { smallest_batch };
    if n == 0 {
        return Vec::new();
    }
    // In authenticated bits: three for a leaky triple, two for one on a given factor.
    let bits = |bucket: usize| 3 * bucket - usize::from(anchored);
    // A single triple fits, whatever the number of peers.
    let most = (MAX_RECORDS / peers.max(1)).max(rho as usize + 1);
    let mut best: Option<[usize; 4]> = None;
    for bucket in 2..=rho as usize + 1 {
        let smallest = allowed(bucket, rho).filter(|smallest| smallest * bucket <= most);
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
    // If there are enough triples for slightly larger batches, they are anchored.
    let enough = |&smallest: &usize| smallest <= total / fewest;
    let smallest = smallest_batch_anchored(bucket, rho).filter(enough).unwrap_or(smallest);
    let target = (TARGET_RECORDS / peers.max(1)).max(LEAST_LEAKY);
    // As few batches as memory allows, at most as many as the smallest batch size allows, and sizes
    // as equal as possible.
    let wanted = (total * bucket).div_ceil(target);
    let batches = wanted.min(total / smallest).max(fewest);
    let (size, larger) = (total / batches, total % batches);
    let batch = |triples| {
        let large = log2_failure_anchored(triples, bucket) <= -f64::from(rho);
        Batch { triples, bucket, anchored: anchored || large }
    };
    (0..batches).map(|i| batch(size + usize::from(i < larger))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_batches_are_the_known_ones() {
        for (rho, known) in [
            (40, [280_747, 3_052, 320]),
            (64, [1_149_900_000, 781_122, 20_444]),
            (80, [294_380_000_000, 31_490_000, 327_093]),
        ] {
            for (bucket, n) in (3..).zip(known) {
                let found = smallest_batch(bucket, rho).unwrap();
                // The larger numbers are published to only three or four digits.
                let tolerance = if n > 1_000_000 { n / 1000 } else { 0 };
                assert!(found.abs_diff(n) <= tolerance, "rho {rho} B {bucket}: {found}, known {n}");
            }
        }
    }

    /// By definition: t attempts, each of which goes unnoticed with probability 1/2, and success
    /// with probability `w`.
    fn succeeds(t: usize, w: f64) -> f64 {
        let unnoticed = 0.5f64.powi(t as i32);
        unnoticed * w / (1.0 - unnoticed * (1.0 - w))
    }

    #[test]
    fn batches_fail_as_often_as_the_definition_says() {
        for n in [1usize, 2, 5, 40, 320] {
            for bucket in 2..6 {
                let all = n * bucket;
                let w = |t: usize| n as f64 * log2_all_among(t, bucket, all).exp2();
                let by_scan =
                    (bucket..=all).map(|t| succeeds(t, w(t)).log2()).fold(f64::MIN, f64::max);
                let found = log2_failure(n, bucket);
                assert!((by_scan - found).abs() < 1e-9, "n {n} B {bucket}: {by_scan}, {found}");
            }
        }
    }

    /// Computes the best success probability with k more batches from that with k − 1. It converges
    /// to the formula, and never exceeds it.
    #[test]
    fn tries_in_many_batches_come_up_to_the_formula() {
        for (n, bucket) in [(2usize, 2usize), (5, 2), (40, 2), (7, 3), (40, 3), (100, 4)] {
            let all = n * bucket;
            let formula = log2_failure(n, bucket).exp2();
            let best = |later: f64| {
                let of = |t: usize| {
                    let w = (n as f64 * log2_all_among(t, bucket, all).exp2()).min(1.0);
                    0.5f64.powi(t as i32) * (w + (1.0 - w) * later)
                };
                (bucket..=all).map(of).fold(0.0, f64::max)
            };
            let by_batches: Vec<f64> =
                std::iter::successors(Some(best(0.0)), |&later| Some(best(later)))
                    .take(60)
                    .collect();
            let (single, many) = (by_batches[0], by_batches[59]);
            assert!(by_batches.iter().all(|&p| p <= formula * (1.0 + 1e-12)), "n {n} B {bucket}");
            assert!((many / formula - 1.0).abs() < 1e-9, "n {n} B {bucket}: {many}, {formula}");
            assert!(single < formula || n == 2, "n {n} B {bucket}: {single}, {formula}");
        }
    }

    #[test]
    fn tied_triples_fail_as_often_as_the_definition_says() {
        for n in [5usize, 40, 320] {
            for bucket in 2..6 {
                let (others, free) = (bucket - 1, n * (bucket - 1));
                let w = |t1: usize, t2| t1 as f64 * log2_all_among(t2, others, free).exp2();
                let by_scan = (1..=20.min(n))
                    .flat_map(|t1| (others..=free).map(move |t2| (t1, t2)))
                    .map(|(t1, t2)| succeeds(t1 + t2, w(t1, t2)).log2())
                    .fold(f64::NEG_INFINITY, f64::max);
                let found = log2_failure_anchored(n, bucket);
                assert!((by_scan - found).abs() < 1e-9, "n {n} B {bucket}: {by_scan}, {found}");
            }
        }
    }

    /// Enumerates all cases of two anchored triples in buckets of two, with an adversary that tries
    /// everything.
    #[test]
    fn a_small_case_by_hand() {
        // The adversary tries one of each kind (1/4), and the two meet in one of the two possible
        // orders; if not, it tries again.
        let close = |p: f64| (log2_failure_anchored(2, 2) - p.log2()).abs() < 1e-12;
        assert!(close(0.125 + 0.125 / 7.0) && close(1.0 / 7.0));
        // It tries both shuffled triples, and all attempts survive: in a single batch this is as
        // good, 2^-3 · 1, and in more batches no better.
        assert!(log2_failure_anchored(2, 2) > -3.0);
    }

    /// The known values for B = 3, 4, 5 at ρ = 40.
    const KNOWN_ANCHORED: [usize; 3] = [331_590, 3_386, 346];

    #[test]
    fn the_smallest_batches_of_anchored_triples() {
        assert_eq!([3, 4, 5].map(|b| smallest_batch_anchored(b, 40)), KNOWN_ANCHORED.map(Some));
        for (bucket, n) in (3..).zip(KNOWN_ANCHORED) {
            assert!(log2_failure_anchored(n - 1, bucket) > -40.0);
        }
    }

    #[test]
    fn every_planned_batch_is_allowed_and_together_they_suffice() {
        for (rho, peers) in [5, 12, 40, 64, 80]
            .into_iter()
            .flat_map(|rho| [1, 2, 4, 5, 6, 15, 63, 255].map(|peers| (rho, peers)))
        {
            for n in [1, 2, 10, 319, 320, 3_052, 6_400, 100_000, 280_746, 300_000, 10_223_616] {
                for (batches, failure) in [
                    (plan(n, rho, peers), log2_failure as fn(usize, usize) -> f64),
                    (plan_anchored(n, rho, peers), log2_failure_anchored),
                ] {
                    assert!(batches.iter().map(|b| b.triples).sum::<usize>() >= n);
                    for batch in &batches {
                        let failure = if batch.anchored { log2_failure_anchored } else { failure };
                        let what = || format!("rho {rho} n {n} peers {peers}: {batch:?}");
                        let failure = failure(batch.triples, batch.bucket);
                        assert!(failure <= -f64::from(rho), "{}", what());
                        assert!(batch.leaky() * peers <= MAX_RECORDS, "{}", what());
                    }
                }
            }
        }
    }

    /// Small batches have no anchors; all others do.
    #[test]
    fn anchors_are_used_in_large_batches() {
        for (n, anchored) in
            [(320, false), (345, false), (346, true), (3_052, false), (3_386, true)]
        {
            assert!(plan(n, 40, 1).iter().all(|batch| batch.anchored == anchored), "{n}");
            assert!(plan_anchored(n, 40, 1).iter().all(|batch| batch.anchored), "{n}");
        }
        let of_five = plan(2_000_000, 40, 4);
        assert!(of_five.len() == 6 && of_five.iter().all(|batch| batch.anchored));
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
