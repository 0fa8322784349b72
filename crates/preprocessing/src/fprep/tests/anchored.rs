//! Triples with given right factors: those of the anchors, which are the first stream.

use symbolon_transport::adversary::{FnAdversary, Rate};

use super::*;
use crate::checks;
use mesh::message;

fn of(triples: usize, bucket: usize) -> Batch {
    Batch { triples, bucket }
}

/// Makes shares for all but the last `zeros` triples of a batch, and triples on them.
fn made_on(
    open: &mut Preprocessor,
    lanes: &mut Lanes,
    batch: Batch,
    zeros: usize,
) -> Result<(AuthShares, Triples)> {
    let real = open.shares(lanes, batch.triples - zeros)?;
    let mut given = AuthShares::zeros(batch.triples, lanes[0].len());
    for k in 0..real.len() {
        given.bits.set(k, real.bits.get(k));
        for (to, from) in given.towards.iter_mut().zip(&real.towards) {
            (to.macs[k], to.keys[k]) = (from.macs[k], from.keys[k]);
        }
    }
    let triples = open.triples_on(lanes, batch, given.clone(), None)?;
    Ok((given, triples))
}

#[test]
fn triples_have_the_given_factors_and_are_right() {
    // One triple, a few, and enough for the given ones to end within a chunk, at its end, and on
    // another lane.
    for (n, triples, bucket, lanes, zeros) in [
        (2, 1, 41, 1, 0),
        (2, 1, 2, 3, 1),
        (2, 100, 5, 2, 7),
        (2, laand::CHUNK, 2, 2, 0),
        (2, 11_000, 3, 3, 4_000),
        (3, 1, 2, 1, 0),
        (3, 4_000, 3, 2, 1),
        (5, 100, 4, 2, 50),
    ] {
        let batch = of(triples, bucket);
        let ended = run(parties(n, lanes, 1), |open, lanes| made_on(open, lanes, batch, zeros));
        let made = all_end_well(ended);
        assert_triples(&made.iter().map(|made| &made.1).collect::<Vec<_>>(), &deltas(n, 1));
        for (given, triples) in &made {
            assert_eq!(triples.b.bits.to_bools(), given.bits.to_bools());
            for (b, given) in triples.b.towards.iter().zip(&given.towards) {
                assert!(b.macs == given.macs && b.keys == given.keys);
            }
        }
    }
}

/// Memory that is used again changes nothing.
#[test]
fn triples_in_old_memory_are_right() {
    for (n, triples, bucket, lanes) in
        [(2, 1, 41, 1), (2, 100, 5, 2), (2, 11_000, 3, 3), (3, 4_000, 3, 2), (5, 100, 4, 2)]
    {
        let made = all_end_well(run(parties(n, lanes, 2), |open, lanes| {
            let first = open.triples(lanes, of(triples, bucket))?;
            open.recycle(first.clone());
            Ok([first, open.triples(lanes, of(triples, bucket))?])
        }));
        for batch in [0, 1] {
            let of_parties: Vec<_> = made.iter().map(|made| &made[batch]).collect();
            assert_triples(&of_parties, &deltas(n, 2));
        }
        // Both are random, so they are equal with probability 2^-100.
        let [first, second] = &made[0];
        assert!(triples < 100 || first.b.bits.to_bools() != second.b.bits.to_bools());
    }
}

#[test]
fn products_are_added_to_given_shares() {
    for (n, triples, bucket, lanes) in [(2, 100, 5, 2), (2, 5_000, 3, 1), (3, 1, 2, 1)] {
        let made = all_end_well(run(parties(n, lanes, 3), |open, lanes| {
            let [b, onto] = [open.shares(lanes, triples)?, open.shares(lanes, triples)?];
            let batch = of(triples, bucket);
            let mut made = open.triples_on(lanes, batch, b, Some(onto.clone()))?;
            let AuthShares { bits, towards } = &mut made.c;
            assert!(bits.to_bools() != onto.bits.to_bools() || triples == 1);
            // Without them, the products that remain are right.
            bits.xor_assign(&onto.bits);
            for (sums, onto) in towards.iter_mut().zip(&onto.towards) {
                let (macs, keys) = (sums.macs.iter_mut(), sums.keys.iter_mut());
                macs.zip(&onto.macs)
                    .chain(keys.zip(&onto.keys))
                    .for_each(|(sum, &onto)| *sum ^= onto);
            }
            Ok(made)
        }));
        assert_triples(&made.iter().collect::<Vec<_>>(), &deltas(n, 3));
    }
}

#[test]
fn shares_that_do_not_fit_are_refused() {
    let ended = run(parties(2, 1, 2), |open, lanes| {
        let shares = open.shares(lanes, 5)?;
        let fitting = open.triples_on(lanes, of(5, 3), shares.clone(), None)?;
        let refused = [
            open.triples_on(lanes, of(4, 3), shares.clone(), None).err(),
            open.triples_on(lanes, of(5, 3), shares.clone(), Some(shares.slice(0..4))).err(),
        ];
        Ok((fitting.len(), refused))
    });
    for (fitting, refused) in all_end_well(ended) {
        assert_eq!(fitting, 5);
        assert!(refused.iter().all(|e| matches!(e, Some(Error::InvalidInput(_)))), "{refused:?}");
    }
}

/// A wrong U for an anchored triple: caught exactly if the honest party's x is 1, as for any other
/// triple.
/// Cheat: 2, known circuit | KRRW18 §5.2 | a wrong U for a triple on a given mask | `leaky AND` |
/// 1/2, if x = 1
#[test]
fn wrong_u_on_an_anchored_triple() {
    let mut caught = Rate::default();
    for seed in 0..200 {
        let cheater = seed as u16 % 2;
        let mut parties = parties(2, 1, seed);
        let adversary = message("leaky AND: U", move |u| u[U * 3 + 2] ^= 1);
        mesh::cheat(&mut parties[usize::from(cheater)].lanes, 1 - cheater, adversary);
        let ended = run(parties, |open, lanes| made_on(open, lanes, of(7, 3), 0));
        let (open, result) = &ended[usize::from(1 - cheater)];
        caught.note(open.laand.own_x(3));
        if open.laand.own_x(3) {
            let expected = Error::misbehaved(cheater, checks::LEAKY_AND);
            assert_eq!(result.as_ref().err(), Some(&expected));
        } else {
            let made: Vec<&Triples> = ended.iter().map(|e| &e.1.as_ref().unwrap().1).collect();
            assert_triples(&made, &deltas(2, seed));
        }
    }
    caught.assert_predicted(0.5, "caught");
    caught.assert_tells(0.5, 0.25);
    caught.assert_tells(0.5, 0.75);
}

/// A party that uses bits other than the given ones makes a wrong product only where x = 1. But its
/// bit is opened in bucketing, and its MAC does not fit.
/// Cheat: 2, known circuit | KRRW18 §5.2 | another factor than the given one | `bucketing MAC` |
/// always
#[test]
fn another_factor_than_the_given_one() {
    for seed in 100..120 {
        let ended = run(parties(2, 1, seed), |open, lanes| {
            let mut shares = open.shares(lanes, 7)?;
            if lanes[0][0].me() == 1 {
                shares.bits.set(3, !shares.bits.get(3));
            }
            open.triples_on(lanes, of(7, 3), shares, None)
        });
        assert_eq!(ended[0].1.as_ref().err(), Some(&Error::misbehaved(1, checks::BUCKETING)));
    }
}

/// A lie about any d = y_1 ⊕ y_k, of whose MACs half the bits are there.
/// Cheat: 2, known circuit | Fig. 16 | a lie in one opened bit | `bucketing MAC` | always
#[test]
fn a_lie_in_bucketing() {
    for (cheater, bit) in
        [0, 1].into_iter().flat_map(|cheater| (0..14).map(move |bit| (cheater, bit)))
    {
        let mut parties = parties(2, 1, 15);
        let adversary: FnAdversary = message("bucketing: d", move |d| d[bit / 8] ^= 1 << (bit % 8));
        mesh::cheat(&mut parties[usize::from(cheater)].lanes, 1 - cheater, adversary);
        let ended = run(parties, |open, lanes| made_on(open, lanes, of(7, 3), 0));
        let expected = Error::misbehaved(cheater, checks::BUCKETING);
        assert_eq!(ended[usize::from(1 - cheater)].1.as_ref().err(), Some(&expected));
    }
}
