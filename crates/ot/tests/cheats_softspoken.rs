//! The cheating receiver of SoftSpoken correlated OT.
//!
//! The tests know Δ, so they assert "caught unless guessed" exactly. No outcome here depends on
//! luck.

use symbolon_ot::checks::{self, EXTENSION};
use symbolon_ot::cot::GlobalKey;
use symbolon_ot::{OtExtension, TreeDepth, pprf, setup};
use symbolon_primitives::{BitVec, Block, Delta};
use symbolon_transport::Error;
use symbolon_transport::adversary::{Action, FnAdversary};

use crate::common::{
    Direction, SESSION, assert_caught, assert_correlated, both, channels, prg, tampered,
};

const ROWS: usize = 100;

/// Bytes of a column for draws of `ROWS`: 128 rows and the 128 that are discarded.
const STRIDE: usize = 32;

fn choices() -> BitVec {
    BitVec::random(ROWS, &mut prg(77))
}

fn draw_bent(
    direction: &mut Direction,
    adversary: FnAdversary,
) -> Result<(Vec<Block>, Vec<Block>), Error> {
    direction.channels.1.set_adversary(Box::new(adversary));
    direction.draw(&choices())
}

/// Returns an adversary that changes the correction. The cheater's own challenge covers the change.
fn with_u(mut change: impl FnMut(&mut [u8]) + Send + 'static) -> FnAdversary {
    FnAdversary::new().on_state(move |point, u| {
        if point == "softspoken: u" {
            change(u);
        }
    })
}

/// Returns a direction whose Δ has `value` as its block number `tree` and is random elsewhere.
fn with_block(k: TreeDepth, seed: u128, tree: usize, value: u128) -> Direction {
    let at = tree * k.bits();
    let mask = (k.leaves() as u128 - 1) << at;
    let delta = Block(prg(seed).block().0 & !mask | value << at);
    Direction::made((OtExtension::SoftSpoken { k }, seed), delta, 1, Default::default())
}

fn assert_right(direction: &Direction, result: Result<(Vec<Block>, Vec<Block>), Error>) {
    let (keys, macs) = result.unwrap();
    assert_correlated(direction.delta, &choices(), &keys, &macs);
}

/// Message u: another choice bit in one row of one block. It passes exactly if the block of Δ is 0,
/// which has probability 2^-k: all values of the block but one are caught.
/// Cheat: 2, SoftSpoken | u | another choice bit in one block of k bits of Δ | `OT extension
/// consistency` | 1 − 2^-k, unless Δ is 0 there
#[test]
fn another_choice_bit_in_one_block() {
    for k in TreeDepth::ALL {
        let (mut caught, tree) = (0, k.trees() / 2);
        for value in 0..k.leaves() as u128 {
            let mut direction = with_block(k, 1, tree, value);
            let row = 7 * value as usize % ROWS;
            let adversary = with_u(move |u| u[tree * STRIDE + row / 8] ^= 1 << (row % 8));
            let result = draw_bent(&mut direction, adversary);
            if value == 0 {
                assert_right(&direction, result);
            } else {
                assert_caught(result, 1, EXTENSION);
                caught += 1;
            }
        }
        assert_eq!(caught, k.leaves() - 1);
    }
}

/// Message u: another choice bit in each block in turn is caught unless Δ is 0 there.
/// Cheat: 2, SoftSpoken | u | each block in turn | `OT extension consistency` | unless Δ is 0 there
#[test]
fn every_block_is_checked() {
    for k in TreeDepth::ALL {
        for tree in 0..k.trees() {
            for value in [0, 1, k.leaves() as u128 - 1] {
                let mut direction = with_block(k, 2, tree, value);
                let adversary = with_u(move |u| {
                    u[tree * STRIDE..][..STRIDE].iter_mut().for_each(|byte| *byte ^= 0xff);
                });
                let result = draw_bent(&mut direction, adversary);
                assert_eq!(result.is_err(), value != 0, "{k:?}, tree {tree}, block {value}");
            }
        }
    }
}

/// Message u and check: the best possible cheat. It uses another x in some blocks, and adapts t̃ to
/// a guess of their bits of Δ. It passes exactly if all bits of all these blocks are guessed
/// correctly, and then the draw is one of the x in the other blocks.
///
/// The changed row is one of the last 128, whose coefficient is 1, so adapting t̃ takes no χ.
/// Cheat: 2, SoftSpoken | u, check | some blocks, and t̃ adapted to guesses of Δ | `OT extension
/// consistency` | if a guess is wrong
#[test]
fn guesses_in_many_blocks() {
    let mut random = prg(3);
    for k in TreeDepth::ALL {
        for blocks in [1, 2, k.trees() / 2, k.trees()] {
            let ot_extension = OtExtension::SoftSpoken { k };
            let seed = random.block().0;
            let trees: Vec<usize> =
                random.permutation(k.trees())[..blocks].iter().map(|&t| t as usize).collect();
            let bits: Vec<usize> =
                trees.iter().flat_map(|t| t * k.bits()..(t + 1) * k.bits()).collect();
            // All guesses are right, or one bit of one block is wrong.
            let wrong = bits[random.below(bits.len() as u64) as usize];
            for wrong in [None, Some(wrong)] {
                let mut direction = Direction::by(ot_extension, seed);
                let delta = direction.delta.0;
                let guessed_one: Vec<usize> = bits
                    .iter()
                    .copied()
                    .filter(|&i| (delta >> i & 1 == 1) ^ (wrong == Some(i)))
                    .collect();
                let others = trees.clone();
                let adversary = with_u(move |u| {
                    others.iter().for_each(|tree| u[(tree + 1) * STRIDE - 1] ^= 0x80);
                });
                let adversary = adversary.on_message("correlated OT: check", 0, move |check| {
                    guessed_one.iter().for_each(|i| check[16 * (1 + i) + 15] ^= 0x80);
                    Action::Send
                });
                let result = draw_bent(&mut direction, adversary);
                match wrong {
                    None => assert_right(&direction, result),
                    Some(_) => assert_caught(result, 1, EXTENSION),
                }
            }
        }
    }
}

/// Message u is changed in transit, so the two sides' challenges differ: always caught, even where
/// Δ's block is 0.
/// Cheat: 2, SoftSpoken | u | u changed on its way: another challenge | `OT extension consistency`
/// | always
#[test]
fn another_u_than_the_challenge_s() {
    for k in TreeDepth::ALL {
        for value in [0, 1] {
            let mut direction = with_block(k, 8, 1, value);
            let flip = |u: &mut Vec<u8>| {
                u[STRIDE] ^= 1;
                Action::Send
            };
            let adversary = FnAdversary::new().on_message("softspoken: u", 0, flip);
            assert_caught(draw_bent(&mut direction, adversary), 1, EXTENSION);
        }
    }
}

/// The check's message: a wrong x̃ or column hash is always caught.
/// Cheat: 2, SoftSpoken | check | a wrong x̃ or column hash | `OT extension consistency` | always
#[test]
fn wrong_check() {
    for k in TreeDepth::ALL {
        let ot_extension = OtExtension::SoftSpoken { k };
        for at in (0..16).chain((0..128).map(|column| 16 * (1 + column) + 5)) {
            let mut direction = Direction::by(ot_extension, 9);
            direction
                .channels
                .1
                .set_adversary(tampered("correlated OT: check", 0, move |p| p[at] ^= 4));
            assert_caught(direction.draw(&choices()), 1, EXTENSION);
        }
    }
}

/// Message u is a byte or a row too short or too long, or of another extension: always caught by
/// the framing.
/// Cheat: 2, SoftSpoken | u | a row short or long, another extension's u | `message framing` |
/// always
#[test]
fn short_and_long() {
    for k in TreeDepth::ALL {
        for change in [
            |u: &mut Vec<u8>| u.truncate(u.len() - 1),
            |u: &mut Vec<u8>| u.truncate(u.len() / 2),
            |u: &mut Vec<u8>| u.clear(),
            |u: &mut Vec<u8>| u.extend_from_within(..),
        ] {
            let mut direction = Direction::by(OtExtension::SoftSpoken { k }, 12);
            direction.channels.1.set_adversary(tampered("softspoken: u", 0, change));
            assert_caught(direction.draw(&choices()), 1, "message framing");
        }
    }
}

/// A lane's messages are sent on another lane of the same session, which has other streams, so the
/// check fails.
/// Cheat: 2, SoftSpoken | u, check | another lane's messages | `OT extension consistency` | always
#[test]
fn another_lane_s_draw() {
    for k in TreeDepth::ALL {
        let (ot_extension, delta) = (OtExtension::SoftSpoken { k }, prg(17).block());
        let mut ours = Direction::made((ot_extension, 17), delta, 1, Default::default());
        let theirs = Direction::made((ot_extension, 17), delta, 2, Default::default());
        ours.receiver = theirs.receiver;
        assert_caught(ours.draw(&choices()), 1, EXTENSION);
    }
}

/// The tree sender's message in a whole set-up: the other party catches a wrong hash or τ,
/// whichever party cheats. It catches a wrong sum exactly if its bit of Δ makes it use the sum.
/// Cheat: 2, SoftSpoken | trees | a wrong hash, τ or sum | `punctured tree consistency` | always; a
/// sum if Δ uses it
#[test]
fn wrong_trees() {
    let whole = |channel: &mut symbolon_transport::Channel, ot_extension| {
        let mut prg = prg(u128::from(channel.me()) + 40);
        let delta = prg.block();
        let lanes = setup::both_directions(
            channel,
            &SESSION,
            &GlobalKey::new(Delta::new(delta)),
            1,
            ot_extension,
            &mut prg,
        );
        (delta, lanes.map(drop))
    };
    for k in TreeDepth::ALL {
        let ot_extension = OtExtension::SoftSpoken { k };
        // The hash; the first tree's τ; the two sums of its level 1.
        let places = [pprf::message_bytes(k) - 1, (k.bits() - 1) * 32, 0, 16];
        let mut outcomes = [0, 0];
        for cheat in [0, 1] {
            for (case, at) in places.into_iter().enumerate() {
                let (mut a, mut b) = channels();
                let adversary = tampered("softspoken: pprf", 0, move |message| message[at] ^= 1);
                if cheat == 0 {
                    a.set_adversary(adversary)
                } else {
                    b.set_adversary(adversary)
                }
                let (first, second) = both(
                    (a, b),
                    |channel| whole(channel, ot_extension),
                    |c| whole(c, ot_extension),
                );
                let (delta, result) = if cheat == 0 { second } else { first };
                let bit = (delta.0 >> 1 & 1) as usize;
                if case < 2 || bit != case - 2 {
                    assert_caught(result, cheat, checks::PUNCTURED_TREE);
                    outcomes[0] += 1;
                } else {
                    result.unwrap();
                    outcomes[1] += 1;
                }
            }
        }
        assert_eq!(outcomes, [6, 2]);
    }
}
