//! The cheating receiver of correlated OT: each test is one cheat, and the check that must catch
//! it.
//!
//! The tests know Δ, so they assert "caught with probability 1/2" exactly: caught if and only if
//! the bit of Δ is 1. No outcome here depends on luck.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use symbolon_ot::Workspace;
use symbolon_ot::checks::EXTENSION;
use symbolon_ot::cot::GlobalKey;
use symbolon_ot::iknp::COLUMNS;
use symbolon_primitives::{BitVec, Block, Delta};
use symbolon_transport::adversary::{Action, FnAdversary};
use symbolon_transport::{Error, Meter, memory_lanes};

use crate::common::{Direction, assert_caught, assert_correlated, prg, tampered};

const ROWS: usize = 100;

/// Bytes of a column for draws of `ROWS`: 128 rows and the 128 that are discarded.
const STRIDE: usize = 32;

fn choices() -> BitVec {
    BitVec::random(ROWS, &mut prg(77))
}

/// Performs a draw with another matrix u, which the cheater's own challenge covers: its state is
/// changed, not its message.
fn draw_with_u(
    direction: &mut Direction,
    mut change: impl FnMut(&mut [u8]) + Send + 'static,
) -> Result<(Vec<Block>, Vec<Block>), Error> {
    direction.channels.1.set_adversary(Box::new(FnAdversary::new().on_state(move |point, u| {
        if point == "iknp: u" {
            change(u);
        }
    })));
    direction.draw(&choices())
}

/// Performs a draw with another first message of `kind`.
fn draw_bent(
    direction: &mut Direction,
    kind: &'static str,
    change: impl FnMut(&mut Vec<u8>) + Send + 'static,
) -> Result<(Vec<Block>, Vec<Block>), Error> {
    direction.channels.1.set_adversary(tampered(kind, 0, change));
    direction.draw(&choices())
}

/// IKNP, message u: another choice bit in one row of one column. The column hashes catch it exactly
/// if Δ has a 1 there; otherwise the sender does not use the column of u, and the draw is right.
/// Cheat: 2, IKNP | u | another choice bit in one column | `OT extension consistency` | if Δ has a
/// 1 there: 1/2
#[test]
fn another_choice_bit_in_one_column() {
    let mut caught = 0;
    for column in 0..COLUMNS {
        let mut direction = Direction::new(1);
        let row = (7 * column) % ROWS;
        let result = draw_with_u(&mut direction, move |u| {
            u[column * STRIDE + row / 8] ^= 1 << (row % 8);
        });
        if direction.delta.0 >> column & 1 == 1 {
            assert_caught(result, 1, EXTENSION);
            caught += 1;
        } else {
            let (keys, macs) = result.unwrap();
            assert_correlated(direction.delta, &choices(), &keys, &macs);
        }
    }
    assert_eq!(caught, Direction::new(1).delta.0.count_ones());
}

/// IKNP, message u: other choice bits in all rows of one column. They are caught exactly if Δ has a
/// 1 there.
/// Cheat: 2, IKNP | u | all choice bits of one column | `OT extension consistency` | if Δ has a 1
/// there: 1/2
#[test]
fn another_column() {
    for column in 0..COLUMNS {
        let mut direction = Direction::new(2);
        let result = draw_with_u(&mut direction, move |u| {
            u[column * STRIDE..][..STRIDE].iter_mut().for_each(|byte| *byte ^= 0xff);
        });
        assert_eq!(result.is_err(), direction.delta.0 >> column & 1 == 1, "column {column}");
        if result.is_err() {
            assert_caught(result, 1, EXTENSION);
        }
    }
}

/// IKNP, message u and check: the best possible cheat. It uses another x in each of k columns, and
/// adapts t̃ for the columns whose bit of Δ is guessed to be 1. It passes exactly if all k guesses
/// are right.
///
/// The changed row is one of the last 128, whose coefficient is 1, so adapting t̃ takes no χ.
/// Cheat: 2, IKNP | u, check | k columns, and t̃ adapted to guesses of Δ | `OT extension
/// consistency` | 1 − 2^-k, if a guess is wrong
#[test]
fn guesses_in_many_columns() {
    let mut prg = prg(3);
    for k in [1, 2, 3, 8, 40, COLUMNS] {
        for wrong in [0, 1, k / 2] {
            let mut direction = Direction::new(4 + k as u128);
            let columns: Vec<usize> =
                prg.permutation(COLUMNS)[..k].iter().map(|&c| c as usize).collect();
            // The first `wrong` guesses are wrong, the others right.
            let guess = |(nth, &column): (usize, &usize)| {
                (column, (direction.delta.0 >> column & 1 == 1) ^ (nth < wrong))
            };
            let guesses: Vec<(usize, bool)> = columns.iter().enumerate().map(guess).collect();
            direction.channels.1.set_adversary(guessing(guesses));
            let result = direction.draw(&choices());
            if wrong == 0 {
                let (keys, macs) = result.unwrap();
                assert_correlated(direction.delta, &choices(), &keys, &macs);
            } else {
                assert_caught(result, 1, EXTENSION);
            }
        }
    }
}

/// Returns an adversary that flips the last row of each column, and adapts its hash if the column's
/// bit of Δ is guessed to be 1.
fn guessing(guesses: Vec<(usize, bool)>) -> Box<FnAdversary> {
    let adapted = guesses.clone();
    let adversary = FnAdversary::new().on_state(move |point, u| {
        if point == "iknp: u" {
            guesses.iter().for_each(|(column, _)| u[(column + 1) * STRIDE - 1] ^= 0x80);
        }
    });
    Box::new(adversary.on_message("correlated OT: check", 0, move |check| {
        for (column, _) in adapted.iter().filter(|(_, guess)| *guess) {
            check[16 * (1 + column) + 15] ^= 0x80;
        }
        Action::Send
    }))
}

/// Message u is changed in transit, so the two sides' challenges differ: always caught.
/// Cheat: 2, IKNP | u | u changed on its way: another challenge | `OT extension consistency` |
/// always
#[test]
fn another_u_than_the_challenge_s() {
    for column in 0..COLUMNS {
        let mut direction = Direction::new(8);
        let result = draw_bent(&mut direction, "iknp: u", move |u| u[column * STRIDE] ^= 1);
        assert_caught(result, 1, EXTENSION);
    }
}

/// The check's message: a wrong x̃ shifts every column where Δ has a 1, and is always caught.
/// Cheat: 2, IKNP | check | a wrong x̃ | `OT extension consistency` | always
#[test]
fn wrong_x() {
    for bit in 0..128 {
        let mut direction = Direction::new(9);
        let result = draw_bent(&mut direction, "correlated OT: check", move |p| {
            p[bit / 8] ^= 1 << (bit % 8)
        });
        assert_caught(result, 1, EXTENSION);
    }
}

/// The check's message: one wrong column hash t̃ is always caught, whatever Δ's bit is.
/// Cheat: 2, IKNP | check | one wrong column hash | `OT extension consistency` | always
#[test]
fn wrong_column_hash() {
    for column in 0..COLUMNS {
        let mut direction = Direction::new(10);
        let result = draw_bent(&mut direction, "correlated OT: check", move |p| {
            p[16 * (1 + column) + 5] ^= 4
        });
        assert_caught(result, 1, EXTENSION);
    }
}

/// The check's message: a made-up check is always caught.
/// Cheat: 2, IKNP | check | all of it made up | `OT extension consistency` | always
#[test]
fn made_up_check() {
    for fill in [0, 0xff, 0x5a] {
        let mut direction = Direction::new(11);
        assert_caught(
            draw_bent(&mut direction, "correlated OT: check", move |p| p.fill(fill)),
            1,
            EXTENSION,
        );
    }
}

/// Message u or check is a byte or a row too short or too long: always caught by the framing.
/// Cheat: 2, IKNP | u, check | a short or long matrix or check | `message framing` | always
#[test]
fn short_and_long() {
    for kind in ["iknp: u", "correlated OT: check"] {
        for change in [
            |p: &mut Vec<u8>| p.truncate(p.len() - 1),
            |p: &mut Vec<u8>| p.truncate(p.len() - 16),
            |p: &mut Vec<u8>| p.clear(),
            |p: &mut Vec<u8>| p.push(0),
            |p: &mut Vec<u8>| p.extend([0; 2048]),
        ] {
            let mut direction = Direction::new(12);
            assert_caught(draw_bent(&mut direction, kind, change), 1, "message framing");
        }
    }
}

/// The check is withheld, so the sender gets no keys. If u of the next draw comes instead, the
/// framing catches it.
/// Cheat: 2, IKNP | check | the check withheld | `message framing` | always
#[test]
fn check_withheld() {
    let mut direction = Direction::new(13);
    let drop = FnAdversary::new().on_message("correlated OT: check", 0, |_| Action::Drop);
    direction.channels.1.set_adversary(Box::new(drop));
    direction.channels.0.set_timeout(Duration::from_millis(30));
    assert!(matches!(direction.draw(&choices()), Err(Error::Transport { .. })));

    let mut direction = Direction::new(13);
    let mut macs = vec![Block::ZERO; ROWS];
    let drop = FnAdversary::new().on_message("correlated OT: check", 0, |_| Action::Drop);
    direction.channels.1.set_adversary(Box::new(drop));
    direction
        .receiver
        .extend(&mut direction.channels.1, &choices(), &mut macs, &mut Workspace::default())
        .unwrap();
    assert_caught(direction.draw(&choices()), 1, "message framing");
}

/// An earlier draw's two messages are replayed: the streams have moved on, so the check always
/// fails.
/// Cheat: 2, IKNP | u, check | an earlier draw replayed | `OT extension consistency` | always
#[test]
fn replayed_draw() {
    let mut direction = Direction::new(14);
    let mut first: HashMap<&'static str, Vec<u8>> = HashMap::new();
    let replay = move |kind, index, payload: &mut Vec<u8>| {
        if index == 0 {
            first.insert(kind, payload.clone());
        } else {
            payload.clone_from(&first[kind]);
        }
        Action::Send
    };
    direction.channels.1.set_adversary(Box::new(FnAdversary::new().on_outgoing(replay)));
    direction.draw(&choices()).unwrap();
    assert_caught(direction.draw(&choices()), 1, EXTENSION);
}

/// Two lanes under one Δ: after a failed check on one lane, nothing passes on either, so a cheater
/// cannot collect verdicts side by side.
/// Cheat: 2, two lanes | verdicts | an honest draw on another lane after a failed check | the
/// verdicts under one Δ | always
#[test]
fn a_failed_check_ends_every_lane() {
    let delta = prg(15).block();
    let guard = Arc::default();
    let mut first = Direction::with(15, delta, 1, Arc::clone(&guard));
    let mut second = Direction::with(16, delta, 2, guard);
    second.draw(&choices()).unwrap();
    assert_caught(draw_bent(&mut first, "correlated OT: check", |p| p[0] ^= 1), 1, EXTENSION);
    assert_caught(second.draw(&choices()), 1, EXTENSION);
    assert_caught(first.draw(&choices()), 1, EXTENSION);
}

/// Two colluding peers of one party: after the first peer's check has failed, the second peer's
/// honest draw does not pass either, and the error names the first peer.
/// Cheat: 3, peers in league | verdicts | an honest draw of another peer after a failed check | the
/// verdicts under one Δ | always
#[test]
fn a_failed_check_ends_every_peer() {
    let key = GlobalKey::new(Delta::new(prg(18).block()));
    let mut first = Direction::with(18, *key.delta, 1, Arc::clone(&key.guard));
    let mut second = Direction::with(19, *key.delta, 1, Arc::clone(&key.guard));
    let (mut ours, mut theirs) =
        memory_lanes((0, Meter::new()), (2, Meter::new()), 1, None).unwrap();
    second.channels = (ours.remove(0), theirs.remove(0));
    second.draw(&choices()).unwrap();
    assert_caught(draw_bent(&mut first, "correlated OT: check", |p| p[0] ^= 1), 1, EXTENSION);
    assert_caught(second.draw(&choices()), 1, EXTENSION);
}

/// A lane's messages are sent on another lane of the same session, where both lanes have the same
/// seeds. The challenge includes the lane, so the check always fails.
/// Cheat: 2, two lanes | u, check | another lane's messages | `OT extension consistency` | always
#[test]
fn another_lane_s_check() {
    let delta = prg(17).block();
    let mut ours = Direction::with(17, delta, 1, Arc::default());
    let mut theirs = Direction::with(17, delta, 2, Arc::default());
    let (mut macs, mut work) = (vec![Block::ZERO; ROWS], Workspace::default());
    theirs.receiver.extend(&mut ours.channels.1, &choices(), &mut macs, &mut work).unwrap();
    ours.channels.1.flush().unwrap();
    let mut keys = vec![Block::ZERO; ROWS];
    assert_caught(ours.sender.extend(&mut ours.channels.0, &mut keys, &mut work), 1, EXTENSION);
}
