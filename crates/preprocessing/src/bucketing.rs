//! How many leaky triples make one good triple: exact parameters of bucketing.
//!
//! Of the n·B leaky triples of a batch an adversary may try to know t, each attempt going unnoticed
//! with probability 1/2. They are then thrown at random into n buckets of size B. A bucket's triple is
//! known only if all B in it are. The probability to know at least one and not to be noticed is at
//! most
//!
//! ```text
//! P(n, B) = max over t in [B, nB] of  2^-t · n · C(t, B) / C(nB, B)
//! ```
//!
//! (Wang–Ranellucci–Katz 2017, §6, with leakage of the x share as in Yang–Wang–Zhang 2020, App. D).
//! # Tied triples
//! Where the first triple of each bucket, its head, is made for that bucket (on a given factor, when the circuit is
//! known), only the other n(B − 1) are thrown. An adversary tries t₁ of the tied ones, whose buckets it
//! knows, and t₂ of the others. A bucket is known if its tied triple is among the t₁ and all its others are
//! among the t₂; each of the t₁ buckets is so with probability C(t₂, B−1)/C(n(B−1), B−1):
//!
//! ```text
//! P'(n, B) = max over t₁ ≥ 1, t₂ ≥ B−1 of  2^-(t₁+t₂) · t₁ · C(t₂, B−1) / C(n(B−1), B−1)
//! ```
//!
//! That falls with n, and is within a small factor of P: the tied triples are fewer to aim at by choice, but
//! a random bucket was hit by any of B triples, too. So heads are tied, on fresh factors, wherever a batch is large enough
//! for that by itself: what is not thrown needs no place where it is looked for at random.
//!
//! Several batches under one Δ need no union bound: an attempt in any batch that goes wrong ends all of
//! them, so spreading t attempts over batches only multiplies the risk.

/// One batch of triples: how many come out, and how many leaky ones go into each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Triples that come out.
    pub triples: usize,
    /// Leaky triples per bucket.
    pub bucket: usize,
    /// Whether the first leaky triple of each bucket is made for it, on a given factor or a fresh one, and not thrown.
    pub tied: bool,
}

impl Batch {
    /// Leaky triples that go in.
    pub fn leaky(self) -> usize {
        self.triples * self.bucket
    }

    /// How many of them are not thrown: the heads of tied buckets.
    pub fn heads(self) -> usize {
        if self.tied { self.triples } else { 0 }
    }

    /// How many triples of each bucket are thrown.
    pub fn thrown(self) -> usize {
        self.bucket - usize::from(self.tied)
    }
}

/// A leaky triple that is thrown is one record of 64 bytes per peer and 16 or 32 for its y, and a bucket's sums, where its head
/// lies, are 96; each is 9 or 17 bytes besides. A batch has about this many of both (90 MB), so that memory does not grow with the
/// number of triples, or as many as the smallest batch has of which buckets of three can be made ...
const TARGET_RECORDS: usize = 900_000;

/// ... nor with that of peers: at most this many (360 MB), where the bucket size or [`LEAST_LEAKY`] allows
/// no fewer. At ρ = 40 that is B = 3 up to six parties. With more B = 4 computes no longer, in a third of
/// the memory; it sends a third more.
const MAX_RECORDS: usize = 1 << 22;

/// A batch costs a dozen round trips whatever its size: with fewer leaky triples than this a long link
/// would wait more than work. Fewer are not faster on a short one either.
const LEAST_LEAKY: usize = 1 << 18;

/// log2 P(n, B).
pub fn log2_failure(n: usize, bucket: usize) -> f64 {
    let total = (n * bucket) as f64;
    let b = bucket as f64;
    // 2^-t·C(t, B) grows while (t+1)/(t+1−B) > 2, that is up to t = 2B − 1, and falls from there.
    let t = (2.0 * b).min(total);
    let choose_ratio: f64 = (0..bucket).map(|i| ((t - i as f64) / (total - i as f64)).log2()).sum();
    (n as f64).log2() - t + choose_ratio
}

/// log2 P'(n, B), of tied triples.
pub fn log2_failure_tied(n: usize, bucket: usize) -> f64 {
    let others = bucket - 1;
    let free = (n * others) as f64;
    // 2^-t₁·t₁ is largest, 1/2, at t₁ = 1; the rest as above, with B − 1 for B.
    let t = (2.0 * others as f64).min(free);
    let choose_ratio: f64 = (0..others).map(|i| ((t - i as f64) / (free - i as f64)).log2()).sum();
    choose_ratio - t - 1.0
}

/// The smallest n for which buckets of size `bucket` reach 2^-`rho`, if there is one below 2^40.
pub fn smallest_batch(bucket: usize, rho: u32) -> Option<usize> {
    smallest(bucket, rho, log2_failure)
}

/// The same for tied triples.
pub fn smallest_batch_tied(bucket: usize, rho: u32) -> Option<usize> {
    smallest(bucket, rho, log2_failure_tied)
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

/// Batches that give at least `n` triples among a party and `peers` others, at statistical security
/// 2^-`rho`, from the fewest leaky ones that memory allows.
///
/// Small numbers round n up or take a larger bucket, whichever costs less; so do many peers, whose
/// records would not fit. No batch ever uses a bucket size that its own number of triples does not allow.
pub fn plan(n: usize, rho: u32, peers: usize) -> Vec<Batch> {
    batches(n, rho, peers, false)
}

/// The same for tied triples. Where numbers are rounded up, the first leaky triples of the last buckets
/// have to be made on something, too.
pub fn plan_tied(n: usize, rho: u32, peers: usize) -> Vec<Batch> {
    batches(n, rho, peers, true)
}

fn batches(n: usize, rho: u32, peers: usize, tied: bool) -> Vec<Batch> {
    let allowed = if tied { smallest_batch_tied } else { smallest_batch };
    if n == 0 {
        return Vec::new();
    }
    // In authenticated bits: three for a leaky triple, two for one on a given factor.
    let bits = |bucket: usize| 3 * bucket - usize::from(tied);
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
        // Larger buckets make no fewer triples of more.
        if total == n {
            break;
        }
    }
    let [total, bucket, fewest, smallest] =
        best.expect("with B = rho + 1 a single triple is enough");
    // Slightly larger batches, if there are enough triples for them, are tied.
    let enough = |&smallest: &usize| smallest <= total / fewest;
    let smallest = smallest_batch_tied(bucket, rho).filter(enough).unwrap_or(smallest);
    let target = (TARGET_RECORDS / peers.max(1)).max(LEAST_LEAKY);
    // As few batches as memory allows, as many as the smallest batch allows, sizes as equal as can be.
    let wanted = (total * bucket).div_ceil(target);
    let batches = wanted.min(total / smallest).max(fewest);
    let (size, larger) = (total / batches, total % batches);
    let batch = |triples| {
        let large = log2_failure_tied(triples, bucket) <= -f64::from(rho);
        Batch { triples, bucket, tied: tied || large }
    };
    (0..batches).map(|i| batch(size + usize::from(i < larger))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_batches_are_the_known_ones() {
        for (rho, known) in [
            (40, [276_325, 3_044, 320]),
            (64, [1_132_000_000, 779_083, 20_434]),
            (80, [290_000_000_000, 31_410_000, 326_933]),
        ] {
            for (bucket, n) in (3..).zip(known) {
                let found = smallest_batch(bucket, rho).unwrap();
                // The larger ones are known to three or four digits only.
                let tolerance = if n > 1_000_000 { n / 1000 } else { 0 };
                assert!(found.abs_diff(n) <= tolerance, "rho {rho} B {bucket}: {found}, known {n}");
            }
        }
    }

    #[test]
    fn the_maximum_over_t_is_at_twice_the_bucket() {
        for n in [5usize, 40, 320] {
            for bucket in 2..6 {
                let by_scan = (bucket..=n * bucket)
                    .map(|t| {
                        let ratio: f64 = (0..bucket)
                            .map(|i| ((t - i) as f64 / (n * bucket - i) as f64).log2())
                            .sum();
                        (n as f64).log2() - t as f64 + ratio
                    })
                    .fold(f64::NEG_INFINITY, f64::max);
                assert!((by_scan - log2_failure(n, bucket)).abs() < 1e-9, "n {n} B {bucket}");
            }
        }
    }

    #[test]
    fn tied_triples_fail_as_often_as_the_definition_says() {
        for n in [5usize, 40, 320] {
            for bucket in 2..6 {
                let (others, free) = (bucket - 1, n * (bucket - 1));
                let known = |t: usize| -> f64 {
                    (0..others).map(|i| (t - i) as f64 / (free - i) as f64).product()
                };
                let by_scan = (1..=20.min(n))
                    .flat_map(|t1| (others..=free).map(move |t2| (t1, t2)))
                    .map(|(t1, t2)| (t1 as f64 * known(t2)).log2() - (t1 + t2) as f64)
                    .fold(f64::NEG_INFINITY, f64::max);
                let found = log2_failure_tied(n, bucket);
                assert!((by_scan - found).abs() < 1e-9, "n {n} B {bucket}: {by_scan}, {found}");
            }
        }
    }

    /// Two tied triples, buckets of two, an adversary that tries everything: by listing what can happen.
    #[test]
    fn a_small_case_by_hand() {
        // One of each is tried (1/4), and the two meet in one of the two possible orders.
        assert_eq!(log2_failure_tied(2, 2), (0.25f64 * 0.5).log2());
        // Both free ones are tried and all survive: no better, 2^-3 · 1.
        assert_eq!((0.125f64).log2(), log2_failure_tied(2, 2));
    }

    /// For B = 3, 4, 5 at ρ = 40.
    const KNOWN_TIED: [usize; 3] = [321_060, 3_368, 345];

    #[test]
    fn the_smallest_batches_of_tied_triples() {
        assert_eq!([3, 4, 5].map(|b| smallest_batch_tied(b, 40)), KNOWN_TIED.map(Some));
        for (bucket, n) in (3..).zip(KNOWN_TIED) {
            assert!(log2_failure_tied(n - 1, bucket) > -40.0);
        }
    }

    #[test]
    fn every_planned_batch_is_allowed_and_together_they_suffice() {
        for (rho, peers) in [5, 12, 40, 64, 80]
            .into_iter()
            .flat_map(|rho| [1, 2, 4, 5, 6, 15, 63, 255].map(|peers| (rho, peers)))
        {
            for n in [1, 2, 10, 319, 320, 3_044, 6_400, 100_000, 276_324, 300_000, 10_223_616] {
                for (batches, failure) in [
                    (plan(n, rho, peers), log2_failure as fn(usize, usize) -> f64),
                    (plan_tied(n, rho, peers), log2_failure_tied),
                ] {
                    assert!(batches.iter().map(|b| b.triples).sum::<usize>() >= n);
                    for batch in &batches {
                        let failure = if batch.tied { log2_failure_tied } else { failure };
                        let what = || format!("rho {rho} n {n} peers {peers}: {batch:?}");
                        let failure = failure(batch.triples, batch.bucket);
                        assert!(failure <= -f64::from(rho), "{}", what());
                        assert!(batch.leaky() * peers <= MAX_RECORDS, "{}", what());
                    }
                }
            }
        }
    }

    /// Heads are thrown where a batch is too small for them to be tied, and only there.
    #[test]
    fn heads_are_tied_in_large_batches() {
        for (n, tied) in [(320, false), (344, false), (345, true), (3_044, false), (3_368, true)] {
            assert!(plan(n, 40, 1).iter().all(|batch| batch.tied == tied), "{n}");
            assert!(plan_tied(n, 40, 1).iter().all(|batch| batch.tied), "{n}");
        }
        let of_five = plan(2_000_000, 40, 4);
        assert!(of_five.len() == 6 && of_five.iter().all(|batch| batch.tied));
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
