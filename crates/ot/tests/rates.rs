//! Cheats in correlated OT that guess Δ are noticed as often as predicted.
//!
//! The tests of cheats know Δ, and assert that each guess is caught exactly if it is wrong. Here Δ
//! is random, and the rates are compared with the predicted ones: [`Rate`] says how.

use symbolon_ot::checks::{self, EXTENSION};
use symbolon_ot::cot::GlobalKey;
use symbolon_ot::{OtExtension, TreeDepth, setup};
use symbolon_primitives::{BitVec, Delta};
use symbolon_transport::adversary::{Action, FnAdversary, Rate};

use crate::common::{Direction, SESSION, assert_caught, both, channels, prg, tampered};

const ROWS: usize = 100;

/// Bytes of a column for draws of `ROWS`: 128 rows and the 128 that are discarded.
const STRIDE: usize = 32;

/// Returns how often a guess goes unnoticed. The cheat uses another choice bit in each of `blocks`
/// blocks, and adapts the hashes of these columns to a Δ that is all ones there, if `ones`, or else
/// zeros.
fn unnoticed(ot_extension: OtExtension, blocks: usize, ones: bool, runs: u64) -> Rate {
    let (point, width) = match ot_extension {
        OtExtension::Iknp => ("iknp: u", 1),
        OtExtension::SoftSpoken { k } => ("softspoken: u", k.bits()),
        OtExtension::Ferret => unreachable!("its guesses are in src/ferret"),
    };
    let choices = BitVec::random(ROWS, &mut prg(77));
    let run = |seed: u64| {
        let mut direction = Direction::by(ot_extension, 5_000 + u128::from(seed));
        // The last row's coefficient is 1, so adapting the hashes takes no χ.
        let adversary = FnAdversary::new().on_state(move |at, u| {
            if at == point {
                (0..blocks).for_each(|block| u[(block + 1) * STRIDE - 1] ^= 0x80);
            }
        });
        let adversary = adversary.on_message("correlated OT: check", 0, move |check| {
            (0..blocks * width).filter(|_| ones).for_each(|i| check[16 * (1 + i) + 15] ^= 0x80);
            Action::Send
        });
        direction.channels.1.set_adversary(Box::new(adversary));
        let result = direction.draw(&choices);
        let passed = result.is_ok();
        if !passed {
            assert_caught(result, 1, EXTENSION);
        }
        passed
    };
    (0..runs).map(run).collect()
}

/// A guess of k columns of IKNP goes unnoticed with probability 2^-k, whether zeros or ones are
/// guessed.
/// Cheat: 2, IKNP | u, check | guessed columns for random Δ, k = 1 to 4 | `OT extension
/// consistency` | 1 − 2^-k
#[test]
fn guesses_of_columns() {
    for (columns, runs) in [(1, 200), (2, 200), (3, 450), (4, 1_200)] {
        for ones in [false, true] {
            let rate = unnoticed(OtExtension::Iknp, columns, ones, runs);
            let predicted = 0.5f64.powi(columns as i32);
            rate.assert_predicted(predicted, &format!("{columns} columns unnoticed, ones {ones}"));
            rate.assert_tells(predicted, predicted / 4.0);
            rate.assert_tells(predicted, (3.0 * predicted).min(0.75));
        }
    }
}

/// A guess of blocks of SoftSpoken, of k bits each, goes unnoticed with probability 2^-k for each
/// block, not 1/2.
/// Cheat: 2, SoftSpoken | u, check | guessed blocks for random Δ | `OT extension consistency` | 1 −
/// 2^-(guessed bits)
#[test]
fn guesses_of_blocks() {
    for (k, blocks, runs) in
        [(TreeDepth::Two, 1, 200), (TreeDepth::Two, 2, 500), (TreeDepth::Four, 1, 500)]
    {
        let bits = (k.bits() * blocks) as i32;
        let rate = unnoticed(OtExtension::SoftSpoken { k }, blocks, blocks == 2, runs);
        let what = format!("{blocks} blocks of {} bits unnoticed", k.bits());
        let predicted = 0.5f64.powi(bits);
        rate.assert_predicted(predicted, &what);
        rate.assert_tells(predicted, 4.0 * predicted);
        rate.assert_tells(predicted, 0.0);
    }
}

/// A wrong sum in a tree of the set-up is used with probability 1/2, because one bit of Δ decides.
/// Cheat: 2, SoftSpoken | trees | a wrong sum for random Δ | `punctured tree consistency` | 1/2
#[test]
fn a_guess_in_a_tree() {
    let caught = caught_in_a_tree(TreeDepth::Two, 200);
    caught.assert_predicted(0.5, "caught");
    caught.assert_tells(0.5, 0.25);
    caught.assert_tells(0.5, 0.75);
}

/// Returns how often a wrong sum in the first tree is noticed.
fn caught_in_a_tree(k: TreeDepth, runs: u128) -> Rate {
    let ot_extension = OtExtension::SoftSpoken { k };
    let run = |seed: u128| {
        let (mut a, b) = channels();
        a.set_adversary(tampered("softspoken: pprf", 0, |message| message[0] ^= 1));
        let party = |channel: &mut symbolon_transport::Channel| {
            let mut prg = prg(seed << 8 | u128::from(channel.me()));
            let key = GlobalKey::new(Delta::new(prg.block()));
            setup::both_directions(channel, &SESSION, &key, 1, ot_extension, &mut prg).map(drop)
        };
        let (_, honest) = both((a, b), party, party);
        if honest.is_err() {
            assert_caught(honest.clone(), 0, checks::PUNCTURED_TREE);
        }
        honest.is_err()
    };
    (1..=runs).map(run).collect()
}

/// The same cheats as above, often enough to tell a rate from half of it, and from less than twice
/// of it.
/// Cheat: 2, both | u, trees | guesses in columns, blocks and trees, many times | `OT extension
/// consistency`, `punctured tree consistency` | 1 − 2^-(guessed bits)
#[test]
#[ignore = "a minute"]
fn many_guesses() {
    for columns in 1..=6 {
        let predicted = 0.5f64.powi(columns);
        let runs = (400.0 / predicted) as u64;
        for ones in [false, true] {
            let rate = unnoticed(OtExtension::Iknp, columns as usize, ones, runs);
            rate.assert_predicted(predicted, &format!("{columns} columns unnoticed, ones {ones}"));
            rate.assert_tells(predicted, 0.5 * predicted);
            rate.assert_tells(predicted, 1.7 * predicted);
        }
    }
    for (k, blocks) in [(TreeDepth::Two, 1), (TreeDepth::Two, 2), (TreeDepth::Four, 1)] {
        let predicted = 0.5f64.powi((k.bits() * blocks) as i32);
        let runs = (400.0 / predicted) as u64;
        let rate = unnoticed(OtExtension::SoftSpoken { k }, blocks, blocks == 2, runs);
        let what = format!("{blocks} blocks of {} bits unnoticed", k.bits());
        rate.assert_predicted(predicted, &what);
        rate.assert_tells(predicted, 0.5 * predicted);
        rate.assert_tells(predicted, 1.7 * predicted);
    }
    for k in [TreeDepth::Two, TreeDepth::Four] {
        let caught = caught_in_a_tree(k, 800);
        caught.assert_predicted(0.5, &format!("trees of {} bits, caught", k.bits()));
        caught.assert_tells(0.5, 0.3);
        caught.assert_tells(0.5, 0.7);
    }
}
