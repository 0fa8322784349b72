//! The parameters of bucketing against exact integer arithmetic.

use num_bigint::BigUint;
use symbolon_preprocessing::bucketing::{Batch, plan, plan_on, smallest_batch};
use symbolon_preprocessing::laand::ULength;

/// Returns 2^k − 1.
fn ones(k: u64) -> BigUint {
    (BigUint::from(1u8) << k) - 1u8
}

/// Returns whether P(n, B) ≤ 2^-ρ by definition. With w = Π a_j/n^(B−1) this is w·(2^ρ − 1) ≤
/// 2^t − 1, for all a_j ≥ 1 and their sum t. Doubling an a_j more than doubles the right side, so
/// the maximum is far below 4. The a_j are in ascending order here.
fn is_enough(n: u64, bucket: u64, rho: u64) -> bool {
    let tuples = BigUint::from(n).pow(bucket as u32 - 1);
    let mut lists = vec![(1u64, 0u64, 1u64)];
    for _ in 0..bucket {
        let longer = |(product, t, last): (u64, u64, u64)| {
            (last..=4.min(n)).map(move |a| (product * a, t + a, a))
        };
        lists = lists.into_iter().flat_map(longer).collect();
    }
    lists.into_iter().all(|(product, t, _)| ones(rho) * product <= &tuples * ones(t))
}

#[test]
fn smallest_batches_are_exact() {
    for (rho, buckets) in [(40, 2..=8), (64, 3..=9), (80, 4..=9)] {
        for bucket in buckets {
            let n = smallest_batch(bucket, rho).unwrap() as u64;
            let (bucket, rho) = (bucket as u64, u64::from(rho));
            assert!(is_enough(n, bucket, rho), "rho {rho} B {bucket} n {n}");
            assert!(!is_enough(n - 1, bucket, rho), "rho {rho} B {bucket} n {n}");
        }
    }
}

/// Formats `396 325`; from ten million on `1.15·10⁹`.
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
        let [three, four, five] = [3, 4, 5].map(|b| readable(smallest_batch(b, rho).unwrap()));
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
    assert_eq!([3, 4, 5].map(|b| smallest_batch(b, 40)), [396_325, 4_186, 434].map(Some));
    assert_eq!([4, 5].map(|b| smallest_batch(b, 64)), [1_071_379, 27_775].map(Some));
    assert_eq!(smallest_batch(5, 80), Some(444_386));
    // By hand: 3·n + 1 must be at least 2^40, which it is exactly.
    assert_eq!(smallest_batch(2, 40), Some(((1 << 40) - 1) / 3));
    // A single leaky triple leaks with probability 1/2, and below 2^40 no number of pairs suffices
    // for 2^-64.
    assert_eq!([(0, 40), (1, 40), (2, 64)].map(|(b, rho)| smallest_batch(b, rho)), [None; 3]);
}

#[test]
fn plans_at_the_edges() {
    let one = |triples, bucket| vec![Batch { triples, bucket }];
    assert_eq!(plan(0, 40, 1), []);
    assert_eq!(plan(361, 40, 1), one(361, 6));
    assert_eq!(plan(362, 40, 1), one(434, 5), "rounded up to what a bucket of five needs");
    assert_eq!(plan_on(361, 40, 1), one(434, 5), "a given y makes a difference");
    assert_eq!(plan(434, 40, 1), one(434, 5));
    assert_eq!(plan(3_348, 40, 1), one(3_348, 5));
    // From here on 4 186 buckets of four cost less than n of five.
    assert_eq!(plan(3_349, 40, 1), one(4_186, 4));
    assert_eq!(plan(4_187, 40, 1), one(4_187, 4));
    assert_eq!(plan(297_243, 40, 1), [one(148_622, 4), one(148_621, 4)].concat());
    assert_eq!(plan(297_244, 40, 1), one(396_325, 3));
    // Several batches, as equal as possible, each large enough on its own.
    assert_eq!(plan(792_649, 40, 1), one(792_649, 3));
    assert_eq!(plan(792_651, 40, 1), [one(396_326, 3), one(396_325, 3)].concat());
    assert_eq!(plan(1_000_000, 40, 1), one(500_000, 3).repeat(2));
}

#[test]
fn plans_among_many() {
    // Triples, bucket, batches and peers.
    for (n, bucket, peers, batches) in [
        // Batches of 900 000 leaky triples would be too small for buckets of three.
        (1_000_000, 3, 2, vec![500_000; 2]),
        // One batch would have 7.2·10⁶ leaky triples with all peers.
        (600_000, 3, 4, vec![396_325; 2]),
        (2_000_000, 3, 4, vec![400_000; 5]),
        // Two of the smallest size with buckets of three would cost more.
        (500_000, 4, 4, vec![62_500; 8]),
        // Here one costs less.
        (300_000, 3, 5, vec![396_325]),
        // 2^18 leaky triples per batch, and 5.95·10⁶ with all peers.
        (1_000_000, 4, 15, vec![62_500; 16]),
        (100_000, 4, 63, vec![20_000; 5]),
    ] {
        let batches: Vec<Batch> =
            batches.into_iter().map(|triples| Batch { triples, bucket }).collect();
        assert_eq!(plan(n, 40, peers), batches, "{n} triples, {peers} peers");
    }
    // Small plans do not depend on the number of peers.
    for n in [1, 434, 2_436, 6_400] {
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
