//! Batches and draws made by several threads: correct results stay correct, and an error in any
//! thread's part is caught like one in a single thread's.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use symbolon_transport::Culprit;
use symbolon_transport::adversary::FnAdversary;

use super::*;
use crate::checks;
use mesh::{message, state};

/// Enough leaky triples that two threads have several chunks each, the last one short.
const BATCH: Batch = Batch { triples: 5_000, bucket: 3 };

/// Runs two parties on two lanes; the cheater has an adversary for each of its lanes.
fn cheat<T: Send>(
    cheater: u16,
    adversaries: [FnAdversary; 2],
    f: impl Fn(&mut Preprocessor, &mut Lanes) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let mut parties = parties(2, 2, 71);
    let lanes = parties[usize::from(cheater)].lanes.iter_mut();
    for (lane, adversary) in lanes.zip(adversaries) {
        lane[0].set_adversary(Box::new(adversary));
    }
    run(parties, f).into_iter().map(|(_, result)| result).collect()
}

/// Returns for each of two lanes an adversary that changes S of those `triples` that the lane
/// makes.
fn wrong_s(triples: &[usize]) -> [FnAdversary; 2] {
    let chunks = BATCH.leaky().div_ceil(laand::CHUNK);
    let lane_len = chunks.div_ceil(2) * laand::CHUNK;
    [0, 1].map(|lane| {
        let own = triples.iter().filter(|&&triple| triple / lane_len == lane);
        let own: Vec<usize> = own.map(|triple| triple % lane_len).collect();
        let mut first = 0;
        state("leaky AND: S", move |s| {
            let n = s.len() / 8;
            for place in own.iter().filter_map(|&triple| triple.checked_sub(first)) {
                if place < n {
                    s[8 * place + 5] ^= 8;
                }
            }
            first += n;
        })
    })
}

/// Fig. 14 step 5: the same error in the first S of each thread's part of V. If both threads used
/// the same coefficients, the two errors would cancel. The check of step 5 always catches it.
/// Cheat: 2, two lanes | Fig. 14, step 5 | the same error in an S of each thread's part, or of
/// one's | `leaky AND` | always
#[test]
fn errors_in_s_that_would_cancel_between_threads() {
    // The parts of V are cut at multiples of the number of products that are summed at a time.
    let second = BATCH.leaky().div_ceil(2).next_multiple_of(2048);
    assert!(second < BATCH.leaky());
    for cheater in [0, 1] {
        for wrong in [&[0, second][..], &[second]] {
            let ended = cheat(cheater, wrong_s(wrong), |open, lanes| open.triples(lanes, BATCH));
            mesh::assert_caught(&ended, &[cheater], checks::LEAKY_AND);
        }
    }
}

/// Fig. 16: one wrong opened d in each thread's part. The sum of MACs always catches it.
/// Cheat: 2, two lanes | Fig. 16 | a lie in one opened bit of any thread's part | `bucketing MAC` |
/// always
#[test]
fn a_lie_in_any_threads_opened_bits() {
    let bits = BATCH.triples * (BATCH.bucket - 1);
    for cheater in [0, 1] {
        for bit in [0, bits / 2 - 200, bits / 2 + 200, bits - 1] {
            let lie = message("bucketing: d", move |d| d[bit / 8] ^= 1 << (bit % 8));
            let ended =
                cheat(cheater, [lie, FnAdversary::new()], |open, lanes| open.triples(lanes, BATCH));
            mesh::assert_caught(&ended, &[cheater], "bucketing MAC");
        }
    }
}

/// Fig. 4: inconsistent bits in the second lane's part of a large draw. The column hashes always
/// catch it.
/// Cheat: 2, two lanes | Fig. 4, step 6 | a wrong x̃ in the second lane's part of a large draw |
/// `OT extension consistency` | always
#[test]
fn other_bits_on_the_second_lane() {
    for cheater in [0, 1] {
        let lie = message("aBit: check", |hashes| hashes[0] ^= 1);
        let ended = cheat(cheater, [FnAdversary::new(), lie], |open, lanes| {
            open.shares(lanes, MAX_DRAW + 2)
        });
        mesh::assert_caught(&ended, &[cheater], symbolon_ot::checks::EXTENSION);
    }
}

/// A draw that fits on one lane is made on that lane alone: the other lanes send nothing.
#[test]
fn small_draws_stay_on_one_lane() {
    for (shares, both) in [(MAX_DRAW, false), (MAX_DRAW + 1, true)] {
        let sent = Arc::new(AtomicUsize::new(0));
        let counted = sent.clone();
        let second = message("aBit: check", move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let drawn =
            cheat(0, [FnAdversary::new(), second], |open, lanes| open.shares(lanes, shares));
        assert!(drawn.iter().all(Result::is_ok));
        assert_eq!(sent.load(Ordering::Relaxed) > 0, both, "{shares} shares");
    }
}

/// The number of lanes changes only which lane makes what, not the correctness of the results.
#[test]
fn large_draws_are_right_on_any_number_of_lanes() {
    for (n, lanes, shares) in [
        (2, 2, MAX_DRAW + 1),
        (2, 3, 2 * MAX_DRAW),
        (2, 2, 6 * MAX_DRAW + 77),
        (3, 2, MAX_DRAW + 9),
    ] {
        let made =
            all_end_well(run(parties(n, lanes, 72), |open, lanes| open.shares(lanes, shares)));
        assert!(made.iter().all(|made| made.len() == shares));
        assert_shared(&made.iter().collect::<Vec<_>>(), &deltas(n, 72));
        let ones = values(&made.iter().collect::<Vec<_>>()).to_bools();
        let ones = ones.iter().filter(|&&bit| bit).count();
        assert!(ones.abs_diff(shares / 2) < shares / 20, "{ones} of {shares}");
    }
}

#[test]
fn given_factors_are_right_on_several_threads() {
    for (n, lanes) in [(2, 2), (3, 3)] {
        let made = all_end_well(run(parties(n, lanes, 73), |open, lanes| {
            let b = open.shares(lanes, BATCH.triples)?;
            open.triples_on(lanes, BATCH, b, None)
        }));
        assert_triples(&made.iter().collect::<Vec<_>>(), &deltas(n, 73));
    }
}

#[test]
fn a_failed_check_is_told_before_a_broken_channel() {
    let broken = || Err(Error::internal("a channel"));
    let caught = || Err(Error::misbehaved(1, symbolon_transport::checks::FRAMING));
    for ended in
        [vec![broken(), caught()], vec![caught(), broken()], vec![Ok(()), caught(), broken()]]
    {
        assert!(matches!(
            crate::threads::first_failure(ended),
            Err(Error::PeerMisbehaved { culprit: Culprit::Party(party), .. }) if party == 1
        ));
    }
    assert!(matches!(
        crate::threads::first_failure(vec![Ok(()), broken()]),
        Err(Error::Internal(_))
    ));
    assert!(crate::threads::first_failure(vec![Ok(()), Ok(())]).is_ok());
}
