//! Complete attacks on bucketing, at a ρ so small that they succeed: as often as the formula
//! predicts, and never more often than 2^-ρ.
//!
//! The cheater guesses that the honest party's x is 0 in some leaky triples, and sends a wrong U
//! for each. If it is not caught it knows these shares. Then the triples are shuffled into buckets.
//! If a bucket contains only guessed triples, the cheater knows the honest party's share of that
//! triple's a. From what is opened when the triple is used, it learns a share of a gate's mask, and
//! with it a wire of the honest party.
//!
//! Everything follows the protocol: batches planned for that ρ, leaky triples, their check, the
//! coin and the shuffle. The cheater determines from its own data alone what it has won.

use std::sync::{Arc, Mutex};

use symbolon_primitives::Challenge;
use symbolon_transport::Culprit;
use symbolon_transport::adversary::{Action, FnAdversary, Rate};

use super::*;
use crate::aand::shuffle::shuffled;
use crate::{bucketing, checks};
use mesh::message;

/// The party that attacks party 0.
const CHEATER: u16 = 1;

/// Returns the error of the victim among `parties` if a guess is wrong.
fn caught(parties: u16) -> Error {
    let culprit = if parties == 2 { Culprit::from(CHEATER) } else { Culprit::Unknown };
    Error::misbehaved(culprit, checks::LEAKY_AND)
}

/// The guessed leaky triples: how many anchors, if there are any, and how many of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Guess {
    anchored: usize,
    free: usize,
}

impl Guess {
    fn count(self) -> usize {
        self.anchored + self.free
    }

    /// Returns the positions of the guessed triples in the batch.
    fn places(self, batch: Batch) -> Vec<usize> {
        let free = if batch.anchored { batch.triples } else { 0 };
        (0..self.anchored).chain(free..free + self.free).collect()
    }

    /// Returns the probability that some bucket contains only guessed triples, by inclusion and
    /// exclusion over the buckets that are won.
    fn wins(self, batch: Batch) -> f64 {
        let (buckets, shuffled, all) = match batch.anchored {
            false => (batch.triples, batch.bucket, batch.leaky()),
            true => (self.anchored, batch.bucket - 1, batch.triples * (batch.bucket - 1)),
        };
        let mut sum = 0.0;
        let mut term = -1.0;
        for won in 0..buckets {
            // Adds one bucket: its choice, and the probability that its triples are guessed, too.
            term *= -((buckets - won) as f64) / (won + 1) as f64;
            for place in won * shuffled..(won + 1) * shuffled {
                let left = self.free.saturating_sub(place) as f64;
                term *= left / (all - place) as f64;
            }
            sum += term;
        }
        sum
    }

    /// Returns the probability that no guess is wrong, and a bucket is won.
    fn succeeds(self, batch: Batch) -> f64 {
        0.5f64.powi(self.count() as i32) * self.wins(batch)
    }

    /// Returns the probability of winning eventually, if the attack is repeated in every batch
    /// until it wins or is noticed.
    fn succeeds_in_the_end(self, batch: Batch) -> f64 {
        let (passes, wins) = (0.5f64.powi(self.count() as i32), self.wins(batch));
        passes * wins / (1.0 - passes * (1.0 - wins))
    }

    /// Returns the guess that succeeds most often.
    fn best(batch: Batch) -> Guess {
        // More guesses are wrong too often, because each halves the probability.
        let most = 5 * batch.bucket;
        let (anchored, free) = match batch.anchored {
            false => (0, batch.leaky()),
            true => (batch.triples, batch.leaky() - batch.triples),
        };
        let all = (0..=anchored.min(most))
            .flat_map(|anchored| (0..=free.min(most)).map(move |free| Guess { anchored, free }));
        let of = |guess: &Guess| guess.succeeds_in_the_end(batch);
        let better = |a: &Guess, b: &Guess| of(a).total_cmp(&of(b));
        all.max_by(better).expect("there are guesses")
    }
}

/// The outcome of an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The victim noticed.
    Caught,
    /// The victim did not notice, but no bucket was won.
    Missed,
    /// The cheater knows a share.
    Won,
}

/// Runs one attack.
fn attack(parties_: u16, batch: Batch, guess: Guess, seed: u128) -> Outcome {
    let places = guess.places(batch);
    let mut parties = parties(parties_, 1, seed);
    let wrong = places.clone();
    let adversary = message("leaky AND: U", move |u| {
        wrong.iter().for_each(|place| u[U * place + 3] ^= 0x10);
    });
    let anchors = Arc::new(Mutex::new(Vec::new()));
    let seen = anchors.clone();
    let adversary = adversary.on_state(move |point, keys| {
        if point == "bucketing: keys of the heads" {
            *seen.lock().unwrap() = keys.to_vec();
        }
    });
    mesh::cheat(&mut parties[usize::from(CHEATER)].lanes, 0, adversary);
    let ended = run(parties, |open, lanes| match batch.anchored {
        false => open.triples(lanes, batch),
        true => {
            let given = open.shares(lanes, batch.triples)?;
            open.triples_on(lanes, batch, given, None)
        }
    });
    let (victim, cheater) = (&ended[0], &ended[usize::from(CHEATER)]);
    let right = places.iter().all(|&place| !victim.0.laand.own_x(place));
    let of_victim = match &victim.1 {
        Ok(of_victim) => of_victim,
        Err(error) => {
            assert_eq!(*error, caught(parties_));
            assert!(!right, "caught by right guesses");
            return Outcome::Caught;
        }
    };
    assert!(right, "a wrong guess went unnoticed");
    let of_cheater = cheater.1.as_ref().expect("nobody noticed");
    let anchors = anchors.lock().unwrap();
    let known = known(&cheater.0, of_cheater, anchors.as_chunks().0, &places, batch);
    for &k in &known {
        assert!(!of_victim.a.bits.get(k), "the cheater thought to know a share");
    }
    if known.is_empty() { Outcome::Missed } else { Outcome::Won }
}

/// Returns the triples whose share of the victim the cheater knows, if all of its guesses were
/// right. A share's key is the sum of its bucket's keys, so the cheater recognises the buckets by
/// its own keys.
fn known(
    open: &Preprocessor,
    made: &Triples,
    anchors: &[[u8; 16]],
    places: &[usize],
    batch: Batch,
) -> Vec<usize> {
    let key = |place: usize| match anchors.get(place) {
        Some(&anchor) => Block::from_bytes(anchor),
        None => open.laand.records().get((place - anchors.len()) as u32, 0).x[1],
    };
    let keys: Vec<Block> = places.iter().map(|&place| key(place)).collect();
    let won = |k: &usize| is_sum(made.a.towards[0].keys[*k], &keys, batch.bucket);
    (0..batch.triples).filter(won).collect()
}

/// Repeats the attack in one batch after another under the same Δ, until it is noticed or wins;
/// returns the number of the batch in which it won.
fn attack_again_and_again(batch: Batch, guess: Guess, batches: usize, seed: u128) -> Option<usize> {
    let places = guess.places(batch);
    let mut parties = parties(2, 1, seed);
    let won = Arc::new(Mutex::new(None));
    let (wrong, has_won) = (places.clone(), won.clone());
    let adversary = FnAdversary::new().on_outgoing(move |kind, _, u| {
        if kind == "leaky AND: U" && has_won.lock().unwrap().is_none() {
            wrong.iter().for_each(|place| u[U * place + 3] ^= 0x10);
        }
        Action::Send
    });
    mesh::cheat(&mut parties[usize::from(CHEATER)].lanes, 0, adversary);
    // Whether the victim's x matched the cheater's guesses, by batch.
    let right = Mutex::new(Vec::new());
    let ended = run(parties, |open, lanes| {
        let cheats = lanes[0][0].me() == CHEATER;
        for number in 0..batches {
            let made = open.triples(lanes, batch);
            if !cheats {
                right.lock().unwrap().push(places.iter().all(|&p| !open.laand.own_x(p)));
            }
            let made = made?;
            let mut won = won.lock().unwrap();
            if cheats && won.is_none() && !known(open, &made, &[], &places, batch).is_empty() {
                *won = Some(number);
            }
        }
        Ok(())
    });
    let won = *won.lock().unwrap();
    let right = right.into_inner().unwrap();
    let tried = won.map_or(batches, |number| number + 1);
    let all_right = right.len() >= tried && right[..tried].iter().all(|&right| right);
    let expected = if all_right { Ok(()) } else { Err(caught(2)) };
    assert_eq!(ended[0].1, expected, "caught exactly when a guess is wrong");
    won
}

/// An unnoticed attack that misses is repeated in the next batch, up to four times. It wins as
/// often as predicted, including after earlier misses.
/// Cheat: 2, adapts | Fig. 16 | guesses that passed without filling a bucket, made again in the
/// next batch, until one wins | 2^-ρ at most, over all batches | by formula
#[test]
fn attacks_made_again_after_a_miss_succeed_as_often_as_predicted() {
    const BATCHES: usize = 4;
    let batch = Batch { triples: 3, bucket: 2, anchored: false };
    let guess = Guess { anchored: 0, free: 2 };
    let (passes, wins) = (0.5f64.powi(2), guess.wins(batch));
    let miss = passes * (1.0 - wins);
    let won_in = |number: i32| miss.powi(number) * passes * wins;
    let runs: Vec<Option<usize>> = (0..1_500)
        .map(|run| attack_again_and_again(batch, guess, BATCHES, 700_000 + run))
        .collect();
    let won: Rate = runs.iter().map(Option::is_some).collect();
    let predicted: f64 = (0..BATCHES as i32).map(won_in).sum();
    won.assert_predicted(predicted, "won in any of four batches");
    won.assert_at_most(bucketing::log2_failure(batch.triples, batch.bucket).exp2());
    let later: Rate = runs.iter().map(|won| won.is_some_and(|number| number > 0)).collect();
    later.assert_predicted(predicted - won_in(0), "won after a miss");
    later.assert_tells(predicted - won_in(0), 0.0);
}

/// Plays the game alone, with the real shuffle, over as many batches as it takes. The formula
/// counts every further attempt, and there are enough games to distinguish it from the formula for
/// a single batch.
/// Cheat: 2, adapts | Fig. 16 | guesses repeated in any number of batches, as a game with the
/// shuffle alone | 2^-ρ at most, over all batches | by formula
#[test]
fn games_with_any_number_of_tries_come_up_to_the_formula() {
    let mut prg = Prg::from_seed(Block(fresh(77)));
    let batch = Batch { triples: 4, bucket: 2, anchored: true };
    let guess = Guess { anchored: 1, free: 1 };
    let mut play = || loop {
        if prg.block().0 & 3 != 0 {
            return false;
        }
        let order = shuffled(batch, prg.block(), 1).unwrap();
        // The first bucket's anchor is guessed, and so is the first of the others.
        if order[0] == 0 {
            return true;
        }
    };
    let won: Rate = (0..60_000).map(|_| play()).collect();
    let formula = bucketing::log2_failure_anchored(batch.triples, batch.bucket).exp2();
    won.assert_predicted(formula, "won in any number of batches");
    won.assert_tells(formula, guess.succeeds(batch));
}

/// Returns whether `sum` is the sum of `count` of these blocks.
fn is_sum(sum: Block, of: &[Block], count: usize) -> bool {
    match of {
        _ if count == 0 => sum == Block::ZERO,
        [] => false,
        [first, others @ ..] => {
            is_sum(sum ^ *first, others, count - 1) || is_sum(sum, others, count)
        }
    }
}

fn attacks(parties: u16, batch: Batch, guess: Guess, runs: u64) -> Vec<Outcome> {
    (0..runs).map(|seed| attack(parties, batch, guess, 10_000 + u128::from(seed))).collect()
}

/// The terms of a plan for a single batch.
#[derive(Clone, Copy, Debug)]
struct Terms {
    rho: u32,
    triples: usize,
    anchored: bool,
}

/// Returns the only planned batch. A batch that is planned as anchored is shuffled completely if
/// `anchored` is false.
fn planned(Terms { rho, triples, anchored }: Terms) -> Batch {
    let plan = if anchored { bucketing::plan_anchored } else { bucketing::plan };
    let [batch] = plan(triples, rho, 1)[..] else { panic!("one batch") };
    Batch { anchored, ..batch }
}

fn rate(outcomes: &[Outcome], of: impl Fn(Outcome) -> bool) -> Rate {
    outcomes.iter().map(|&outcome| of(outcome)).collect()
}

/// Runs many optimal attacks on a planned batch; they are noticed, and succeed, as often as
/// predicted.
fn assert_succeeds_as_predicted(parties: u16, terms: Terms, runs: u64) {
    let Terms { rho, triples, anchored } = terms;
    let batch = planned(terms);
    let guess = Guess::best(batch);
    let (predicted, allowed) = (guess.succeeds(batch), 0.5f64.powi(rho as i32));
    assert!(predicted <= allowed, "{batch:?}, {guess:?}: {predicted}");
    let outcomes = attacks(parties, batch, guess, runs);
    let won = rate(&outcomes, |outcome| outcome == Outcome::Won);
    let what = format!("ρ {rho}, {triples} triples, {parties} parties, anchored {anchored}");
    won.assert_predicted(predicted, &format!("{what}: won"));
    won.assert_at_most(allowed);
    won.assert_tells(predicted, 3.0 * predicted);
    won.assert_tells(predicted, predicted / 4.0);
    let survived = rate(&outcomes, |outcome| outcome != Outcome::Caught);
    survived.assert_predicted(0.5f64.powi(guess.count() as i32), &format!("{what}: unnoticed"));
}

/// ρ = 5, and a batch that is rounded up to seven triples in buckets of two.
/// Cheat: 2 | Fig. 16 | guesses of x that fill a bucket, ρ = 5, 7 triples | 2^-ρ at most | by
/// formula
#[test]
fn attacks_succeed_as_often_as_predicted() {
    assert_succeeds_as_predicted(2, Terms { rho: 5, triples: 7, anchored: false }, 3_000);
}

/// ρ = 5, and a single triple in a bucket of five: all must be guessed.
/// Cheat: 2 | Fig. 16 | guesses of x that fill the bucket of a single triple | 2^-ρ at most | by
/// formula
#[test]
fn attacks_on_a_single_triple_succeed_as_often_as_predicted() {
    assert_succeeds_as_predicted(2, Terms { rho: 5, triples: 1, anchored: false }, 3_000);
}

/// ρ = 5, and triples on given factors, whose buckets the cheater knows.
/// Cheat: 2, known circuit | Fig. 16 | guesses of x that fill a bucket of triples on given masks |
/// 2^-ρ at most | by formula
#[test]
fn attacks_on_anchored_triples_succeed_as_often_as_predicted() {
    assert_succeeds_as_predicted(2, Terms { rho: 5, triples: 7, anchored: true }, 3_000);
}

/// One cheater among three parties, against one of the others.
/// Cheat: 3; one | Fig. 16 | guesses of x that fill a bucket, among three | 2^-ρ at most | by
/// formula
#[test]
fn attacks_among_three_succeed_as_often_as_predicted() {
    assert_succeeds_as_predicted(3, Terms { rho: 5, triples: 2, anchored: false }, 2_000);
}

/// Cheat: 2 | Fig. 16 | guesses of x that fill a bucket, many times, ρ = 5 to 9 | 2^-ρ at most | by
/// formula
#[test]
#[ignore = "three minutes"]
fn many_attacks_succeed_as_often_as_predicted() {
    for anchored in [false, true] {
        for (rho, triples) in [(5, 7), (6, 3), (7, 20), (8, 40), (9, 100)] {
            let runs = if rho < 9 { 20_000 } else { 50_000 };
            assert_succeeds_as_predicted(2, Terms { rho, triples, anchored }, runs);
        }
    }
}

/// If buckets are too small by one, the same attack succeeds far more often than 2^-ρ, and the test
/// can tell.
/// Cheat: 2 | Fig. 16 | buckets too small on purpose: the attack is seen | above 2^-ρ | by formula
#[test]
fn attacks_on_small_buckets_succeed_too_often() {
    let planned = planned(Terms { rho: 5, triples: 2, anchored: false });
    let batch = Batch { bucket: planned.bucket - 1, ..planned };
    let guess = Guess::best(batch);
    let won = rate(&attacks(2, batch, guess, 500), |outcome| outcome == Outcome::Won);
    let (predicted, allowed) = (guess.succeeds(batch), 0.5f64.powi(5));
    assert!(predicted > allowed, "{batch:?}, {guess:?}: {predicted}");
    won.assert_predicted(predicted, "buckets too small on purpose: won");
    won.assert_tells(predicted, allowed);
}

/// For every plan, the best guess succeeds with probability at most 2^-ρ. This exact probability is
/// bounded by the formula in [`bucketing`], and is not far below it.
/// Cheat: 2 | Fig. 16 | every plan for ρ = 5 to 12: the best guess | 2^-ρ at most | exact, no runs
#[test]
fn no_plan_is_too_small() {
    let mut loosest: f64 = 0.0;
    for rho in 5..=12 {
        for triples in (1..64).chain([100, 300, 1_000]) {
            for anchored in [false, true] {
                let batch = planned(Terms { rho, triples, anchored });
                let log2 = Guess::best(batch).succeeds_in_the_end(batch).log2();
                let bound = match anchored {
                    false => bucketing::log2_failure(batch.triples, batch.bucket),
                    true => bucketing::log2_failure_anchored(batch.triples, batch.bucket),
                };
                assert!(log2 <= bound + 1e-9, "rho {rho}, {batch:?}: 2^{log2}, bound 2^{bound}");
                assert!(bound <= -f64::from(rho), "rho {rho}, {batch:?}: 2^{bound}");
                loosest = loosest.max(bound - log2);
            }
        }
    }
    assert!(loosest < 0.5, "2^{loosest} above the exact probability");
}

/// The shuffle alone, for ρ up to 12: right guesses win a bucket as often as predicted.
/// Cheat: 2 | Fig. 16 | the shuffle alone, ρ = 5 to 12 | 2^-ρ at most | by formula
#[test]
fn shuffles_fill_buckets_with_guesses_as_often_as_predicted() {
    let mut prg = Prg::from_seed(Block(fresh(12)));
    for (rho, triples) in [(5, 7), (6, 4), (8, 10), (10, 20), (12, 3), (12, 20)] {
        for anchored in [false, true] {
            let batch = planned(Terms { rho, triples, anchored });
            let guess = Guess::best(batch);
            let mut guessed = vec![false; batch.leaky()];
            guess.places(batch).into_iter().for_each(|place| guessed[place] = true);
            let predicted = guess.wins(batch);
            // There are enough runs to detect three times as many wins, or a third.
            let won: Rate = (0..(80.0 / predicted) as usize)
                .map(|_| {
                    let mut seed = [0; 32];
                    prg.fill(&mut seed);
                    let order =
                        shuffled(batch, Challenge::from_seed32(seed).into_block(), 1).unwrap();
                    let (anchors, guessed) = guessed.split_at(batch.anchors());
                    let mut buckets = order.chunks_exact(batch.shuffled()).enumerate();
                    buckets.any(|(bucket, shuffled)| {
                        *anchors.get(bucket).unwrap_or(&true)
                            && shuffled.iter().all(|&place| guessed[place as usize])
                    })
                })
                .collect();
            let what = format!("ρ {rho}, {triples} triples, anchored {anchored}: a bucket won");
            won.assert_predicted(predicted, &what);
            won.assert_tells(predicted, predicted / 3.0);
            won.assert_tells(predicted, predicted * 3.0);
        }
    }
}
