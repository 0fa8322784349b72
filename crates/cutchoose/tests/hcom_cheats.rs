//! Cheating committers, at small parameters, where guesses of Δ often succeed, and at real ones.
//!
//! A guess is always that Δ is 0 at the places in question, or 1 where a test says so. The first
//! tests look at the receiver's Δ and assert that a cheat is caught exactly if the guess is wrong.
//! The other tests compare rates with the predicted ones.
#![allow(missing_docs)]

mod common;

use common::{Session, forged, lightest, params, places};
use symbolon_cutchoose::checks::OPENING;
use symbolon_cutchoose::hcom::{Commitments, Committed, FieldBits, Params};
use symbolon_ot::checks::{CONSISTENCY, PUNCTURED_TREE};
use symbolon_primitives::{BitVec, Block};
use symbolon_transport::adversary::{Rate, assert_noticed};
use symbolon_transport::checks::FRAMING;
use symbolon_transport::{Check, Error};

const ROWS: usize = 100;

/// Bytes of a column for draws of `ROWS`: 128 rows and the 256 that are discarded.
const STRIDE: usize = 48;

fn caught<T>(result: Result<T, Error>, check: Check) {
    assert_noticed(&result, 0, check);
}

/// Whether Δ is `ones` at all k bits of these places.
fn delta_is(session: &Session, params: &Params, places: &[usize], ones: bool) -> bool {
    let k = params.k().bits();
    places.iter().all(|place| (0..k).all(|j| session.delta.get(place * k + j) == ones))
}

/// Makes the committer's corrections wrong at these parity places, in the last row only. The
/// committer guesses that Δ is all ones there if `ones`, else zeros.
///
/// The last row's coefficients are (0, 1), so adapting the check takes no χ.
fn wrong_corrections(session: &mut Session, params: &Params, parity: &[usize], ones: bool) {
    let (parity, k, columns) = (parity.to_vec(), params.k().bits(), params.columns());
    let adversary = symbolon_transport::adversary::FnAdversary::new().on_state(move |at, data| {
        for place in &parity {
            if at == "commitments: correction" {
                data[(place - 128 + 1) * STRIDE - 1] ^= 0x80;
            } else if at == "commitments: hashes" && ones {
                (0..k).for_each(|j| data[16 * (columns + place * k + j) + 15] ^= 0x80);
            }
        }
    });
    session.channels.0.set_adversary(Box::new(adversary));
}

/// Cheat: committer | correction | one place of the code, with a guess of its Δ | `commitment
/// consistency` | unless Δ is guessed there
#[test]
fn a_wrong_correction_is_caught_unless_delta_is_guessed() {
    for (k, rho) in [(FieldBits::One, 4), (FieldBits::Two, 8), (FieldBits::Four, 40)] {
        let params = params(k, rho);
        let mut passed = 0;
        for seed in 0..60 {
            let mut session = Session::new(&params, seed);
            let place = 128 + seed as usize % params.code().parity_bits();
            let ones = seed % 2 == 1;
            wrong_corrections(&mut session, &params, &[place], ones);
            let result = session.random(ROWS);
            if delta_is(&session, &params, &[place], ones) {
                assert!(result.is_ok());
                passed += 1;
            } else {
                caught(result, CONSISTENCY);
                // After that the session is dead, though the committer is honest again.
                session.tamper_state("none", |_| {});
                caught(session.random(ROWS), CONSISTENCY);
            }
        }
        assert!(passed > 0 || k == FieldBits::Four);
    }
}

/// Corrections are wrong at all places of the code, which is too much to guess.
/// Cheat: committer | correction | all places | `commitment consistency` | always
#[test]
fn wrong_corrections_everywhere() {
    for k in FieldBits::ALL {
        for rho in [40, 64, 80] {
            let params = params(k, rho);
            let mut session = Session::new(&params, 1);
            session.tamper_state("commitments: correction", move |c| c.fill(0x5a));
            caught(session.random(ROWS), CONSISTENCY);
        }
    }
}

/// A correction that is changed in transit gives another challenge.
/// Cheat: committer | correction | changed on its way: another challenge | `commitment consistency`
/// | always
#[test]
fn another_correction_than_the_challenge_s() {
    let params = params(FieldBits::Two, 40);
    for at in [0, 1_000, 69 * STRIDE - 1] {
        let mut session = Session::new(&params, 2);
        session.tamper_message("commitments: correction", move |c| c[at] ^= 1);
        caught(session.random(ROWS), CONSISTENCY);
    }
}

/// The combination of the strings, the digest, or the whole check is wrong.
/// Cheat: committer | check | the combination of the strings, the digest, all of it | `commitment
/// consistency` | always
#[test]
fn a_wrong_check() {
    for k in FieldBits::ALL {
        let params = params(k, 40);
        let bytes = params.check_bytes();
        for at in (0..bytes).step_by(97).chain([bytes - 1, bytes - 32]) {
            let mut session = Session::new(&params, at as u128);
            session.tamper_state("commitments: check", move |check| check[at] ^= 1);
            caught(session.random(ROWS), CONSISTENCY);
        }
        let mut session = Session::new(&params, 3);
        session.tamper_state("commitments: check", |check| check.fill(3));
        caught(session.random(ROWS), CONSISTENCY);
    }
}

/// Messages of every kind are too short or too long.
/// Cheat: committer | every message | short and long | `message framing` | always
#[test]
fn short_and_long_messages() {
    let params = params(FieldBits::Four, 40);
    for longer in [false, true] {
        let tampered = |kind| {
            let mut session = Session::new(&params, 4);
            session.tamper_message(kind, move |message: &mut Vec<u8>| {
                if longer {
                    message.push(0);
                } else {
                    message.pop();
                }
            });
            session
        };
        for kind in ["commitments: correction", "commitments: check"] {
            caught(tampered(kind).random(3), FRAMING);
        }
        for kind in ["strings", "commitments: proof"] {
            let mut session = tampered(kind);
            let (own, theirs) = session.random(3).unwrap();
            caught(session.open(&own, &theirs), FRAMING);
        }
    }
}

/// A wrong string with the honest proof passes exactly if Δ is 0 wherever the codewords differ;
/// with a proof for ones, exactly if Δ is all ones there.
/// Cheat: committer | opening | another string, with a guess of Δ where the codewords differ |
/// `commitment opening` | unless Δ is guessed there
#[test]
fn a_wrong_string_is_caught_unless_delta_is_guessed() {
    for (k, rho) in [(FieldBits::One, 4), (FieldBits::Two, 4), (FieldBits::Four, 40)] {
        let params = params(k, rho);
        let difference = lightest_or_one(&params);
        let changed = places(&params, difference);
        let mut passed = 0;
        for seed in 0..80 {
            let mut session = Session::new(&params, 500 + seed);
            let ones = seed % 2 == 1;
            let (own, theirs) = session.random(10).unwrap();
            let lie = lying(&params, &own, 3, difference, ones);
            let result = session.open(&lie, &theirs);
            if delta_is(&session, &params, &changed, ones) {
                assert_eq!(result.unwrap(), lie.values());
                passed += 1;
            } else {
                caught(result, OPENING);
            }
        }
        assert!(passed > 0 || k == FieldBits::Four);
    }
}

fn lightest_or_one(params: &Params) -> Block {
    if params.code().distance() <= 4 { lightest(params) } else { Block::ONE }
}

/// Returns the list with `difference` added to one string, and its row adapted to a Δ that is all
/// ones, if `ones`, or else zeros, where the codewords differ.
fn lying(params: &Params, own: &Committed, at: usize, difference: Block, ones: bool) -> Committed {
    let (k, changed) = (params.k().bits(), places(params, difference));
    forged(params, own, |i, value, row| {
        if i == at {
            *value ^= difference.0;
            for column in changed.iter().flat_map(|place| place * k..(place + 1) * k) {
                row[column / 64] ^= u64::from(ones) << (column % 64);
            }
        }
    })
}

/// With real parameters a wrong string is always caught, whether it is sent or known to the
/// receiver.
/// Cheat: committer | opening | another string at ρ = 40, 64, 80, sent or known | `commitment
/// opening` | always
#[test]
fn wrong_strings_at_real_parameters() {
    for k in FieldBits::ALL {
        for rho in [40, 64, 80] {
            let params = params(k, rho);
            for bit in [0, 64, 127] {
                let mut session = Session::new(&params, bit);
                let (own, theirs) = session.random(10).unwrap();
                let lie = lying(&params, &own, 5, Block(1 << bit), bit == 64);
                if bit == 127 {
                    caught(session.prove(&own, &theirs, lie.values()), OPENING);
                } else {
                    caught(session.open(&lie, &theirs), OPENING);
                }
                // The session is dead.
                caught(session.open(&own, &theirs), OPENING);
            }
        }
    }
}

/// A commitment is opened first correctly and then to another string, or to both in one opening.
/// Cheat: committer | opening | one commitment opened to two strings | `commitment opening` |
/// always
#[test]
fn a_commitment_is_not_opened_in_two_ways() {
    for k in FieldBits::ALL {
        let params = params(k, 40);
        let mut session = Session::new(&params, 6);
        let (own, theirs) = session.random(10).unwrap();
        session.open(&own, &theirs).unwrap();
        let lie = lying(&params, &own, 2, Block(1), true);
        caught(session.open(&lie, &theirs), OPENING);

        let mut session = Session::new(&params, 7);
        let (own, theirs) = session.random(10).unwrap();
        let (mut twice, mut twice_theirs) = (own.clone(), theirs.clone());
        let lie = lying(&params, &own, 2, Block(1), false);
        (0..lie.len()).for_each(|i| twice.push_xor(&[(&lie, i)]));
        (0..lie.len()).for_each(|i| twice_theirs.push_xor(&[(&theirs, i)]));
        caught(session.open(&twice, &twice_theirs), OPENING);
    }
}

/// The opened XOR is not the agreed one: it is of other commitments, has one too many, or another
/// order.
/// Cheat: committer | opening | another XOR than agreed, or another order | `commitment opening` |
/// always
#[test]
fn a_forged_xor() {
    let params = params(FieldBits::Four, 40);
    type Parts = &'static [usize];
    let cases: [(Parts, Parts); 4] =
        [(&[0, 1], &[0, 2]), (&[0, 1, 2], &[0, 1]), (&[], &[4]), (&[5], &[])];
    for (claimed, agreed) in cases {
        let mut session = Session::new(&params, 8);
        let (own, theirs) = session.random(10).unwrap();
        let (mut xor, mut xor_theirs) = (Committed::new(&params), Commitments::new(&params));
        xor.push_xor(&claimed.iter().map(|i| (&own, *i)).collect::<Vec<_>>());
        xor_theirs.push_xor(&agreed.iter().map(|i| (&theirs, *i)).collect::<Vec<_>>());
        caught(session.open(&xor, &xor_theirs), OPENING);
    }
    let mut session = Session::new(&params, 9);
    let (own, theirs) = session.random(2).unwrap();
    let mut swapped = Committed::new(&params);
    swapped.push_xor(&[(&own, 1)]);
    swapped.push_xor(&[(&own, 0)]);
    caught(session.open(&swapped, &theirs), OPENING);
}

/// The proof is of an earlier opening, or wrong, or a string is changed in transit.
/// Cheat: committer | opening | an earlier proof, a wrong one, changed strings | `commitment
/// opening` | always
#[test]
fn a_wrong_proof() {
    let params = params(FieldBits::Two, 40);
    let mut session = Session::new(&params, 10);
    let (own, theirs) = session.random(4).unwrap();
    // Now the receiver counts one opening more than the committer.
    drop(session.receiver.opening());
    caught(session.open(&own, &theirs), OPENING);
    for at in [0, 31] {
        let mut session = Session::new(&params, 11);
        let (own, theirs) = session.random(4).unwrap();
        session.tamper_message("commitments: proof", move |proof| proof[at] ^= 0x10);
        caught(session.open(&own, &theirs), OPENING);
    }
    let mut session = Session::new(&params, 12);
    session.tamper_message("strings", |values| values[17] ^= 1);
    let (own, theirs) = session.random(4).unwrap();
    caught(session.open(&own, &theirs), OPENING);
}

/// The set-up has wrong trees: a wrong total, or a wrong hash.
/// Cheat: committer | set-up | a wrong total or hash of the trees | `punctured tree consistency` |
/// always
#[test]
fn wrong_trees_of_commitments() {
    for k in [FieldBits::Two, FieldBits::Four] {
        let params = params(k, 40);
        for last in [true, false] {
            let delta = BitVec::zeros(params.columns());
            let result = Session::with(&params, 13, delta, |message| {
                let at = if last { message.len() - 1 } else { message.len() - 33 };
                message[at] ^= 1;
            });
            caught(result.map(drop), PUNCTURED_TREE);
        }
    }
}

/// A wrong sum in a tree is caught exactly if Δ makes the receiver use it.
/// Cheat: committer | set-up | a wrong sum of a tree | `punctured tree consistency` | if one bit of
/// Δ is 1: 1/2
#[test]
fn a_wrong_sum_of_a_tree_of_commitments() {
    let params = params(FieldBits::Two, 40);
    for seed in 0..20 {
        let delta = BitVec::random(params.columns(), &mut common::prg(seed));
        let unused = !delta.get(1);
        let result = Session::with(&params, 14, delta, |message| message[0] ^= 1).map(drop);
        if unused {
            assert!(result.is_ok());
        } else {
            caught(result, PUNCTURED_TREE);
        }
    }
}

/// Returns how often a cheat passes the consistency check, and how often it also passes the
/// opening. The cheat guesses Δ at `wrong` parity places in the check. If it is not caught, it
/// opens a commitment to a string whose codeword differs in as few places as possible, the guessed
/// places among them.
fn equivocated(params: &Params, wrong: usize, runs: u64) -> (Rate, Rate) {
    let difference = lightest(params);
    let changed = places(params, difference);
    let parity: Vec<usize> = changed.iter().copied().filter(|place| *place >= 128).collect();
    let (mut undetected, mut opened) = (Rate::default(), Rate::default());
    for seed in 0..runs {
        let mut session = Session::new(params, 10_000 + u128::from(seed));
        wrong_corrections(&mut session, params, &parity[..wrong], false);
        let Ok((own, theirs)) = session.random(ROWS) else {
            undetected.note(false);
            opened.note(false);
            continue;
        };
        undetected.note(true);
        let lie = lying(params, &own, 0, difference, false);
        opened.note(session.open(&lie, &theirs).is_ok());
    }
    (undetected, opened)
}

/// Guesses in the consistency check and in the opening add up: the cheat passes the check with
/// 2^(−k·wrong), and both with 2^(−k·d), however the guesses are spread.
/// Cheat: committer | correction, then opening | w guesses in the first, the rest in the second |
/// either check | passes the first with 2^(−k·w), both with 2^(−k·d), whatever w
#[test]
fn a_guess_anywhere_costs_the_same() {
    for (k, rho, wrong, runs) in [
        (FieldBits::One, 4, 0, 1_300),
        (FieldBits::One, 4, 1, 1_300),
        (FieldBits::One, 4, 2, 1_300),
        (FieldBits::Two, 4, 1, 1_300),
    ] {
        let params = params(k, rho);
        let (bits, d) = (k.bits() as i32, params.code().distance() as i32);
        let (undetected, opened) = equivocated(&params, wrong, runs);
        let (pass, open) = (0.5f64.powi(bits * wrong as i32), 0.5f64.powi(bits * d));
        undetected.assert_predicted(pass, &format!("k = {bits}, {wrong} wrong corrections pass"));
        opened.assert_predicted(open, &format!("k = {bits}, opened after {wrong} guesses"));
        opened.assert_tells(open, 2.0 * open);
        opened.assert_tells(open, 0.0);
    }
}
