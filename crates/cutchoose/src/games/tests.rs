use symbolon_primitives::{Block, Challenge, Prg};
use symbolon_transport::adversary::Rate;

use super::*;
use crate::{Buckets, CheckSet};

impl Game {
    /// Returns, for each bucket size, the sizes with the fewest objects, as long as larger buckets
    /// save objects. Bucket sizes ascend, and numbers of objects descend.
    fn choices(&self) -> Result<Vec<Sizes>> {
        let mut choices = Vec::new();
        let mut most = Sizes::MOST;
        for bucket in 1.. {
            if bucket * self.buckets >= most {
                break;
            }
            if let Some(sizes) = self.fewest_up_to(bucket, most) {
                most = sizes.objects - 1;
                choices.push(sizes);
            }
        }
        if choices.is_empty() {
            return Err(self.too_many());
        }
        Ok(choices)
    }

    /// Whether buckets of `bucket` out of `objects` objects are enough.
    fn holds(&self, bucket: u64, objects: u64) -> bool {
        self.holds_from(&mut self.bad_buckets(bucket), objects, &mut 0)
    }

    /// Returns log2 of the chance of an adversary that makes `bad` bad objects, in a single try.
    fn log2_chance_of(&self, bucket: u64, objects: u64, bad: u64) -> f64 {
        self.chance(&mut self.bad_buckets(bucket), objects).bounds(bad).log2()
    }

    /// Returns the number of bad objects that is best for the adversary in a single try.
    fn worst(&self, bucket: u64, objects: u64) -> u64 {
        self.chance(&mut self.bad_buckets(bucket), objects).peak(0)
    }

    /// Returns log2 of P, in a single try, of an adversary that makes as many bad objects as is
    /// best for it.
    fn log2_chance(&self, bucket: u64, objects: u64) -> f64 {
        self.log2_chance_of(bucket, objects, self.worst(bucket, objects))
    }

    /// Returns log2 of W of an adversary that makes `bad` bad objects.
    fn log2_all_tries_of(&self, bucket: u64, objects: u64, bad: u64) -> f64 {
        let mut buckets = self.bad_buckets(bucket);
        let bounds = self.chance(&mut buckets, objects).win_and_unnoticed(bad);
        let [win, unnoticed] = bounds.map(|bounds| bounds.log2().exp2());
        if win == 0.0 { f64::NEG_INFINITY } else { (win / (1.0 - unnoticed + win)).log2() }
    }

    /// Returns the largest W.
    fn log2_all_tries(&self, bucket: u64, objects: u64) -> f64 {
        let all = 1..=self.worst(bucket, objects);
        let all = all.map(|bad| self.log2_all_tries_of(bucket, objects, bad));
        all.fold(f64::NEG_INFINITY, f64::max)
    }
}

fn fewest(goal: Goal, buckets: u64, rho: u32) -> (u64, u64) {
    let game = Game::new(goal, buckets, rho).unwrap();
    let sizes = game.best(Costs::FEWEST_OBJECTS).unwrap();
    assert_eq!(sizes.buckets, buckets);
    (sizes.bucket, sizes.objects)
}

/// (α, L) with the smallest L, computed by another program. The papers count a single try.
#[test]
fn published_sizes() {
    use Goal::{MajorityGood, MajorityGoodHalfCaught, OneGood};
    let one_good = [
        (1, (19, 44)),
        (16, (10, 235)),
        (128, (7, 1_169)),
        (1_024, (6, 6_860)),
        (32_768, (4, 151_797)),
    ];
    for (n, expected) in one_good {
        assert_eq!(fewest(OneGood, n, 40), expected, "one good, {n}");
    }
    let majority = [(1, (45, 123)), (16, (21, 534)), (128, (15, 2_435)), (1_024, (11, 13_265))];
    for (n, expected) in majority {
        assert_eq!(fewest(MajorityGood, n, 40), expected, "majority, {n}");
    }
    let half = [(1, (55, 188)), (16, (25, 703)), (128, (17, 2_923)), (1_024, (11, 15_260))];
    for (n, expected) in half {
        assert_eq!(fewest(MajorityGoodHalfCaught, n, 40), expected, "half caught, {n}");
    }
}

/// Rindal and Rosulek's Lemma 1, for κ_b = 40: N, B and the smallest number of circuits.
#[test]
fn sizes_for_a_given_bucket() {
    for (n, bucket, objects) in
        [(32, 6, 430), (128, 5, 1_137), (1_024, 4, 5_664), (1_024, 5, 5_593)]
    {
        let game = Game::new(Goal::OneGoodInGivenBucket, n, 40).unwrap();
        assert_eq!(game.fewest_objects(bucket).unwrap().unwrap().objects, objects);
        // Allowing no bad bucket at all takes log2(n) bits more, and hardly more than that for all
        // tries together.
        let all = Game::new(Goal::OneGood, n, 40).unwrap().fewest_objects(bucket).unwrap().unwrap();
        let more = Game::new(Goal::OneGoodInGivenBucket, n, 40 + n.ilog2()).unwrap();
        let more = more.fewest_objects(bucket).unwrap().unwrap();
        assert!(all.objects >= more.objects && all.objects <= more.objects * 1_002 / 1_000);
        assert!(more.objects > objects);
    }
}

/// Sizes for all tries together, computed by another program. For a single try, some would have
/// fewer objects: 13 947, 7 063, 151 719; 13 264, 43 506, 518 290.
#[test]
fn sizes_for_all_tries() {
    use Goal::{MajorityGood, MajorityGoodHalfCaught, OneGood};
    for (goal, n, bucket, objects) in [
        (OneGood, 32, 7, 455),
        (OneGood, 128, 6, 1_292),
        (OneGood, 128, 7, 1_169),
        (OneGood, 1_000, 4, 13_952),
        (OneGood, 1_024, 5, 7_064),
        (OneGood, 32_768, 4, 151_797),
        (MajorityGood, 128, 15, 2_435),
        (MajorityGood, 1_024, 11, 13_265),
        (MajorityGood, 4_096, 9, 43_513),
        (MajorityGood, 65_536, 7, 518_529),
        (MajorityGoodHalfCaught, 16, 25, 703),
        (MajorityGoodHalfCaught, 20, 17, 953),
    ] {
        let game = Game::new(goal, n, 40).unwrap();
        assert_eq!(game.fewest_objects(bucket).unwrap().unwrap().objects, objects, "{n}");
        assert!(game.holds(bucket, objects) && !game.holds(bucket, objects - 1));
    }
}

/// The smallest L holds, one less does not, and the chance is on the right side of the bound.
#[test]
fn the_fewest_objects_are_the_fewest() {
    for goal in Goal::ALL {
        for (n, rho) in [(1, 1), (1, 7), (2, 40), (3, 17), (20, 64), (500, 80)] {
            let game = Game::new(goal, n, rho).unwrap();
            let choices = game.choices().unwrap();
            assert!(choices.is_sorted_by(|a, b| a.bucket < b.bucket && a.objects > b.objects));
            for sizes in &choices {
                let Sizes { bucket, objects, .. } = *sizes;
                assert!(game.holds(bucket, objects));
                let chance = |objects| match goal {
                    Goal::OneGoodInGivenBucket => game.log2_chance(bucket, objects),
                    _ => game.log2_all_tries(bucket, objects),
                };
                assert!(chance(objects) <= -f64::from(rho) + 1e-9);
                if objects > sizes.bucketed() + 1 {
                    assert!(!game.holds(bucket, objects - 1));
                    assert!(chance(objects - 1) > -f64::from(rho) - 1e-9);
                }
            }
            let fewest = game.best(Costs::FEWEST_OBJECTS).unwrap();
            assert_eq!(Some(&fewest), choices.last());
        }
    }
}

/// A chance of exactly 2^-ρ is small enough, but intervals cannot decide this.
#[test]
fn at_the_boundary_fractions_decide() {
    // One bucket of one object is bad with probability 1/L.
    for rho in [1, 10, 31] {
        let game = Game::new(Goal::OneGood, 1, rho).unwrap();
        assert_eq!(game.fewest_objects(1).unwrap().unwrap().objects, 1 << rho);
        assert!(!game.holds(1, (1 << rho) - 1));
    }
    // As one of three games, it may be bad with a third of that probability.
    let game = Game::new(Goal::OneGood, 1, 10).unwrap().among(3).unwrap();
    assert_eq!(game.fewest_objects(1).unwrap().unwrap().objects, 3 << 10);
}

/// The number of games is not truncated to 32 bits.
#[test]
fn more_than_four_billion_games_share_the_bound() {
    let game = Game::new(Goal::OneGood, 50, 40).unwrap();
    let same = Game::new(Goal::OneGood, 50, 73).unwrap();
    assert_eq!(game.among(1 << 33).unwrap().choices().unwrap(), same.choices().unwrap());
}

#[test]
fn several_games_share_the_bound() {
    for goal in Goal::ALL {
        let alone = Game::new(goal, 50, 43).unwrap();
        let eight = Game::new(goal, 50, 40).unwrap().among(8).unwrap();
        assert_eq!(alone.choices().unwrap(), eight.choices().unwrap());
        let (seven, nine) = (eight.among(7).unwrap(), eight.among(9).unwrap());
        let objects = |game: Game| game.best(Costs::FEWEST_OBJECTS).unwrap().objects;
        assert!(objects(seven) <= objects(eight) && objects(eight) <= objects(nine));
        assert!(objects(seven) < objects(nine));
    }
}

/// The cheapest of all choices, found by trying all.
#[test]
fn costs_choose_between_fewer_objects_and_smaller_buckets() {
    for goal in Goal::ALL {
        for n in [1, 16, 128] {
            let game = Game::new(goal, n, 40).unwrap();
            let choices = game.choices().unwrap();
            let mut chosen = Vec::new();
            for (made, bucketed) in [(1, 0), (1, 1), (2, 1), (1, 3), (1, 50), (0, 1)] {
                let costs = Costs { made, bucketed };
                let expected = choices.iter().min_by_key(|s| (costs.of(s), s.bucket)).unwrap();
                assert_eq!(&game.best(costs).unwrap(), expected, "{goal:?} {n} {costs:?}");
                chosen.push(expected.bucket);
            }
            assert!(chosen[0] > chosen[4], "{goal:?} {n}: {chosen:?}");
        }
    }
}

#[test]
fn bad_parameters_are_errors() {
    let refused = |result: Result<_>| assert!(matches!(result, Err(Error::InvalidInput(_))));
    refused(Game::new(Goal::OneGood, 0, 40).map(drop));
    refused(Game::new(Goal::OneGood, 1 << 32, 40).map(drop));
    refused(Game::new(Goal::OneGood, 1, 0).map(drop));
    refused(Game::new(Goal::OneGood, 1, 257).map(drop));
    let game = Game::new(Goal::OneGood, 8, 40).unwrap();
    refused(game.among(0).map(drop));
    refused(game.fewest_objects(0).map(drop));
    assert_eq!(game.fewest_objects(1).unwrap(), None);
    assert_eq!(game.fewest_objects(u64::MAX).unwrap(), None);
    // Buckets for which no number of objects is enough.
    let many = Game::new(Goal::MajorityGood, u32::MAX.into(), 40).unwrap();
    refused(many.choices().map(drop));
    refused(many.best(Costs::FEWEST_OBJECTS).map(drop));
}

/// Sizes for millions of buckets can be computed: few objects are opened, and many bad objects are
/// best for the adversary.
#[test]
fn large_games() {
    for (goal, n) in [
        (Goal::OneGood, 32_768),
        (Goal::OneGood, 10_000_000),
        (Goal::OneGoodInGivenBucket, 1_000_000),
        (Goal::MajorityGood, 1_000_000),
        (Goal::MajorityGoodHalfCaught, 1_000_000),
    ] {
        let sizes = Game::new(goal, n, 40).unwrap().best(Costs::FEWEST_OBJECTS).unwrap();
        assert!(sizes.opened() < sizes.bucketed(), "{goal:?} {sizes:?}");
    }
}

/// How a game ends for the adversary.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Caught,
    Wins,
    /// It may try again.
    Nothing,
}

/// Plays a game; returns whether an adversary with `bad` bad objects wins.
fn play(goal: Goal, sizes: &Sizes, bad: usize, prg: &mut Prg) -> bool {
    end(goal, sizes, bad, prg) == End::Wins
}

/// Plays a game against an adversary with `bad` bad objects.
fn end(goal: Goal, sizes: &Sizes, bad: usize, prg: &mut Prg) -> End {
    let mut coin = || {
        let mut seed = [0; 32];
        prg.fill(&mut seed);
        Challenge::from_seed32(seed)
    };
    let set = CheckSet::draw(sizes, coin()).unwrap();
    let buckets = Buckets::draw(sizes, &set, coin()).unwrap();
    let opened = set.opened().filter(|i| *i < bad).count();
    let unnoticed = match goal {
        Goal::MajorityGoodHalfCaught => (0..opened).all(|_| prg.bool()),
        _ => opened == 0,
    };
    let spoil = goal.spoil(sizes.bucket) as usize;
    let spoiled = |bucket: &[u32]| bucket.iter().filter(|i| (**i as usize) < bad).count() >= spoil;
    let wins = match goal {
        Goal::OneGoodInGivenBucket => spoiled(buckets.bucket(0)),
        _ => buckets.iter().any(spoiled),
    };
    match (unnoticed, wins) {
        (false, _) => End::Caught,
        (true, true) => End::Wins,
        (true, false) => End::Nothing,
    }
}

/// An adversary that is neither caught nor wins tries again. It wins as often as predicted for all
/// tries, which is more than twice as often as in a single try.
/// Cheat: 1 | several buckets | bad objects, in one cut-and-choose after the other until one is
/// opened | an opened bad object | W of `crates/cutchoose/src/games.rs`
#[test]
fn a_cheater_that_tries_again_wins_as_often_as_predicted() {
    let mut prg = Prg::from_seed(Block(7));
    for (goal, sizes, bad) in [
        // Two bad objects are in the same bucket with probability 1/7 exactly.
        (Goal::OneGood, Sizes { buckets: 4, bucket: 2, objects: 10 }, 2),
        (Goal::MajorityGood, Sizes { buckets: 3, bucket: 3, objects: 10 }, 2),
        (Goal::MajorityGoodHalfCaught, Sizes { buckets: 3, bucket: 3, objects: 12 }, 2),
    ] {
        let game = Game::new(goal, sizes.buckets, 1).unwrap();
        let Sizes { bucket, objects, .. } = sizes;
        let once = game.log2_chance_of(bucket, objects, bad as u64).exp2();
        let all = game.log2_all_tries_of(bucket, objects, bad as u64).exp2();
        assert!(all > 2.0 * once, "{goal:?}: {all}, {once}");
        assert!(game.log2_all_tries(bucket, objects).exp2() >= all);
        let session = |_| loop {
            match end(goal, &sizes, bad, &mut prg) {
                End::Nothing => {}
                end => break end == End::Wins,
            }
        };
        let rate: Rate = (0..6_000).map(session).collect();
        rate.assert_predicted(all, &format!("{goal:?}, all tries"));
        rate.assert_tells(all, once);
    }
}

/// With one bucket, or a given one, the formula is exact: an adversary wins as often as predicted,
/// with the best number of bad objects and with other numbers.
/// Cheat: 1 | one bucket, or a given one | bad objects, as many as is best and one more or less |
/// an opened bad object, or enough good ones in the bucket | the formula of
/// `crates/cutchoose/src/games.rs`
#[test]
fn a_cheater_wins_one_bucket_as_often_as_predicted() {
    let mut prg = Prg::from_seed(Block(5));
    for (goal, buckets, bucket, objects) in [
        (Goal::OneGood, 1, 2, 5),
        (Goal::OneGoodInGivenBucket, 4, 2, 11),
        (Goal::MajorityGood, 1, 5, 8),
        (Goal::MajorityGood, 1, 4, 7),
        (Goal::MajorityGoodHalfCaught, 1, 5, 9),
        (Goal::MajorityGoodHalfCaught, 1, 3, 8),
    ] {
        let game = Game::new(goal, buckets, 1).unwrap();
        let sizes = Sizes { buckets, bucket, objects };
        let worst = game.worst(bucket, objects);
        let best = game.log2_chance(bucket, objects);
        for bad in worst.saturating_sub(1)..=worst + 1 {
            let predicted = game.log2_chance_of(bucket, objects, bad).exp2();
            let rate: Rate =
                (0..6_000).map(|_| play(goal, &sizes, bad as usize, &mut prg)).collect();
            rate.assert_predicted(
                predicted,
                &format!("{goal:?} of {bucket}, {objects}, {bad} bad"),
            );
            assert!(predicted <= best.exp2() + 1e-12);
            if predicted > 0.0 {
                rate.assert_tells(predicted, 0.5 * predicted);
                rate.assert_tells(predicted, (1.6 * predicted).min(1.0));
            }
        }
    }
}

/// With several buckets the formula is an upper bound, whatever the number of bad objects.
/// Cheat: 1 | several buckets | every number of bad objects | an opened bad object, or enough good
/// ones in every bucket | at most the formula
#[test]
fn a_cheater_wins_any_of_several_buckets_no_more_often_than_predicted() {
    let mut prg = Prg::from_seed(Block(6));
    for (goal, buckets, bucket, objects) in [
        (Goal::OneGood, 3, 2, 9),
        (Goal::MajorityGood, 3, 3, 14),
        (Goal::MajorityGoodHalfCaught, 4, 3, 18),
    ] {
        let game = Game::new(goal, buckets, 1).unwrap();
        let sizes = Sizes { buckets, bucket, objects };
        let most = game.log2_chance(bucket, objects).exp2();
        for bad in 1..=objects as usize {
            let rate: Rate = (0..2_000).map(|_| play(goal, &sizes, bad, &mut prg)).collect();
            rate.assert_at_most(game.log2_chance_of(bucket, objects, bad as u64).exp2());
            rate.assert_at_most(most);
        }
        // The bound is not loose: with the best number of bad objects, the adversary wins more
        // often than half of it.
        let worst = game.worst(bucket, objects) as usize;
        let rate: Rate = (0..4_000).map(|_| play(goal, &sizes, worst, &mut prg)).collect();
        assert!(rate.measured() > most / 2.0, "{rate:?} {most}");
    }
}
