//! The parameters of bucketing against exact integer arithmetic.

use num_bigint::BigUint;
use symbolon_preprocessing::bucketing::{Batch, plan, smallest_batch, smallest_batch_anchored};
use symbolon_preprocessing::laand::ULength;

fn choose(n: u64, k: u64) -> BigUint {
    let product = |range: std::ops::RangeInclusive<u64>| {
        range.fold(BigUint::from(1u8), |product, i| product * i)
    };
    product(n - k + 1..=n) / product(1..=k)
}

/// Returns 2^k − 1.
fn ones(k: u64) -> BigUint {
    (BigUint::from(1u8) << k) - 1u8
}

/// Returns whether P(n, B) ≤ 2^-ρ. With w = n·C(t, B)/C(nB, B) this is w·(2^ρ − 1) ≤ 2^t − 1, for
/// every t. The ratio of neighbouring t decreases with t, so the maximum is where it passes 1, far
/// below 4B.
fn is_enough(n: u64, bucket: u64, rho: u64) -> bool {
    let all = choose(n * bucket, bucket);
    (bucket..=(4 * bucket).min(n * bucket))
        .all(|t| choose(t, bucket) * n * ones(rho) <= &all * ones(t))
}

/// Returns the same for anchored triples: w = t₁·C(t₂, B−1)/C(n(B−1), B−1), t = t₁ + t₂.
fn is_enough_anchored(n: u64, bucket: u64, rho: u64) -> bool {
    let others = bucket - 1;
    let all = choose(n * others, others);
    let free = others..=(4 * others).min(n * others);
    let mut tries = free.flat_map(|t2| (1..=4.min(n)).map(move |t1| (t1, t2)));
    tries.all(|(t1, t2)| choose(t2, others) * t1 * ones(rho) <= &all * ones(t1 + t2))
}

#[test]
fn smallest_batches_are_exact() {
    for (rho, buckets) in [(40, 3..=8), (64, 3..=9), (80, 4..=9)] {
        for bucket in buckets {
            let n = smallest_batch(bucket, rho).unwrap() as u64;
            let (bucket, rho) = (bucket as u64, u64::from(rho));
            assert!(is_enough(n, bucket, rho), "rho {rho} B {bucket} n {n}");
            assert!(!is_enough(n - 1, bucket, rho), "rho {rho} B {bucket} n {n}");
            let n = smallest_batch_anchored(bucket as usize, rho as u32).unwrap() as u64;
            assert!(is_enough_anchored(n, bucket, rho), "anchored: rho {rho} B {bucket} n {n}");
            assert!(
                !is_enough_anchored(n - 1, bucket, rho),
                "anchored: rho {rho} B {bucket} n {n}"
            );
        }
    }
}

/// Formats `280 747`; from ten million on `1.15·10⁹`.
fn readable(n: usize) -> String {
    let digits = n.to_string();
    if digits.len() > 7 {
        let exponent = (digits.len() - 1).to_string();
        let raised = |c: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c as usize - '0' as usize).unwrap();
        let exponent: String = exponent.chars().map(raised).collect();
        return format!("{:.2}·10{exponent}", n as f64 / 10f64.powi(digits.len() as i32 - 1));
    }
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(|group| std::str::from_utf8(group).unwrap()).collect::<Vec<_>>().join(" ")
}

/// The table in `docs/protocols.md`: the n from which each bucket size is used, and the bytes of an
/// AND.
#[test]
fn the_page_has_these_sizes() {
    let page = include_str!("../../../docs/protocols.md");
    for (name, rho, known) in [
        ("ρ = 40", 40, false),
        ("ρ = 64", 64, false),
        ("ρ = 80", 80, false),
        ("ρ = 40, known circuit", 40, true),
    ] {
        let smallest = if known { smallest_batch_anchored } else { smallest_batch };
        let [three, four, five] = [3, 4, 5].map(|b| readable(smallest(b, rho).unwrap()));
        // Correlated OTs by IKNP, U, and d.
        let bytes = [3usize, 4, 5].map(|b| {
            let (mask, u) = (usize::from(!known), ULength::for_rho(rho).bytes());
            let bits = 8 * (16 * (3 * b + mask) + u * b) + 2 * b - 2 + mask;
            (bits as f64 / 8.0).round().to_string()
        });
        let row = format!("| {name} | {three} | {four} | {five} | {} |\n", bytes.join(" / "));
        assert!(page.contains(&row), "docs/protocols.md should have {row}");
    }
}

#[test]
fn the_known_smallest_batches() {
    assert_eq!([3, 4, 5].map(|b| smallest_batch(b, 40)), [280_747, 3_052, 320].map(Some));
    assert_eq!([4, 5].map(|b| smallest_batch(b, 64)), [781_122, 20_444].map(Some));
    assert_eq!(smallest_batch(5, 80), Some(327_093));
    // Computed by hand: the best t is 3, with w = 3/(2n − 1), which must be at most 7/(2^40 − 1).
    assert_eq!(smallest_batch(2, 40), Some((3 * (1usize << 40) / 7).div_ceil(2) + 1));
    // A single triple leaks with probability 1/2, and below 2^40 no number of pairs suffices for
    // 2^-64.
    assert_eq!([(0, 40), (1, 40), (2, 64)].map(|(b, rho)| smallest_batch(b, rho)), [None; 3]);
}

#[test]
fn plans_at_the_edges() {
    let one = |triples, bucket| vec![Batch { triples, bucket, anchored: false }];
    let anchored = |triples, bucket| vec![Batch { triples, bucket, anchored: true }];
    assert_eq!(plan(0, 40, 1), []);
    assert_eq!(plan(319, 40, 1), one(320, 5), "rounded up to what a bucket of five needs");
    assert_eq!(plan(320, 40, 1), one(320, 5));
    assert_eq!(plan(345, 40, 1), one(345, 5));
    assert_eq!(
        plan(346, 40, 1),
        anchored(346, 5),
        "large enough for anchors that are not shuffled"
    );
    assert_eq!(plan(2_441, 40, 1), anchored(2_441, 5));
    // From here on 3 052 buckets of four cost less than n of five.
    assert_eq!(plan(2_442, 40, 1), one(3_052, 4));
    assert_eq!(plan(3_053, 40, 1), one(3_053, 4));
    assert_eq!(plan(210_560, 40, 1), anchored(210_560, 4));
    assert_eq!(plan(210_561, 40, 1), one(280_747, 3));
    // Several batches, as equal as possible, each large enough on its own.
    let million: Vec<Batch> = [333_334, 333_333, 333_333]
        .map(|triples| Batch { triples, bucket: 3, anchored: true })
        .into();
    assert_eq!(plan(1_000_000, 40, 1), million);
}

#[test]
fn plans_among_many() {
    // Triples, bucket, batches and peers, and whether they are anchored.
    for (n, bucket, peers, batches, anchored) in [
        // A batch of 900 000 records would be too small for buckets of three.
        (1_000_000, 3, 2, vec![333_334, 333_333, 333_333], true),
        // Two batches of 300 000 would have to be shuffled completely; one would have too many
        // records.
        (600_000, 3, 4, vec![300_000; 2], false),
        // Rather than seven of 285 715.
        (2_000_000, 3, 4, [vec![333_334; 2], vec![333_333; 4]].concat(), true),
        // One batch would have 6·10⁶ records. Two of the smallest size cost less than buckets of
        // four.
        (500_000, 3, 4, vec![280_747; 2], false),
        // Here they would cost more.
        (300_000, 4, 5, vec![60_000; 5], true),
        // 2^18 leaky triples per batch, and 4.22·10⁶ records.
        (1_000_000, 4, 15, vec![62_500; 16], true),
        (100_000, 4, 63, [vec![16_667; 4], vec![16_666; 2]].concat(), true),
    ] {
        let batches: Vec<Batch> =
            batches.into_iter().map(|triples| Batch { triples, bucket, anchored }).collect();
        assert_eq!(plan(n, 40, peers), batches, "{n} triples, {peers} peers");
    }
    // Small plans do not depend on the number of peers.
    for n in [1, 320, 2_436, 6_400] {
        assert_eq!(plan(n, 40, 15), plan(n, 40, 1));
    }
}

#[test]
fn no_cheaper_single_batch_exists() {
    for rho in [40, 64, 80] {
        for n in [1, 2, 7, 50, 200, 1_000, 20_000] {
            let leaky: usize = plan(n, rho, 1).iter().map(|batch| batch.leaky()).sum();
            for bucket in 2..=rho as usize + 1 {
                // The smallest size of at least n that this bucket allows, by exact arithmetic, as
                // long as it could be cheaper.
                let cheaper = (n..).take_while(|m| m * bucket < leaky);
                let allowed = cheaper
                    .into_iter()
                    .find(|&m| is_enough(m as u64, bucket as u64, u64::from(rho)));
                assert_eq!(allowed, None, "rho {rho} n {n}: {leaky} leaky, B {bucket} allows less");
            }
        }
    }
}
