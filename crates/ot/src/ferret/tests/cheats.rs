//! Cheats in expansions and draws. Tests that know the places of the noise assert "caught unless
//! guessed" exactly.

use symbolon_transport::adversary::{Action, FnAdversary, Rate, assert_noticed};

use super::*;
use crate::checks::EXTENSION;

/// A wrong sum at any level, with or without the cheater's own hashes following it.
/// Cheat: 2, Ferret | sums | a wrong sum for a level of a tree | `silent OT consistency` | always
#[test]
fn wrong_sums() {
    for level in 0..TINY.height {
        for in_transit in [false, true] {
            let mut direction = Direction::new(TINY, IKNP, 20);
            let at = 16 * (5 * TINY.height + level) + 3;
            let adversary = if in_transit {
                FnAdversary::new().on_message("ferret: sums", 0, move |sums| {
                    sums[at] ^= 1;
                    Action::Send
                })
            } else {
                FnAdversary::new().on_state(move |point, sums| {
                    if point == "ferret: sums" {
                        sums[at] ^= 1;
                    }
                })
            };
            direction.channels.0.set_adversary(Box::new(adversary));
            assert_noticed(&direction.expand().1, 0, SILENT);
            assert_eq!(direction.receiver.available(), 0);
            assert!(matches!(
                direction.expand().1,
                Err(Error::Internal(_) | Error::Transport { .. } | Error::PeerMisbehaved { .. })
            ));
        }
    }
}

/// The best guess: the sum of one tree's last level is wrong by ε. The receiver's leaf α, and the
/// one that differs from it in the last bit, are then wrong by ε. The cheater adds their χ for a
/// guess of α's other bits to V, and passes exactly if the guess is right.
fn guess_of_a_place(height: usize, seed: u128, guess: usize) -> bool {
    let params = LpnParams::tiny(40, 60, height);
    let (tree, epsilon) = (7, Block(1 << 77 | 5));
    let mut direction = Direction::new(params, IKNP, seed);
    let (mut chi, half) = (Block::ZERO, 1 << (height - 1));
    let of = |bytes: &[u8], i: usize| Block::from_bytes(bytes[16 * i..][..16].try_into().unwrap());
    let changed = FnAdversary::new().on_state(move |point, bytes| {
        let mut add = |i: usize, value: Block| {
            let sum = of(bytes, i) ^ value;
            bytes[16 * i..][..16].copy_from_slice(&sum.to_bytes());
        };
        match point {
            "ferret: sums" => add(tree * height + height - 1, epsilon),
            "ferret: V" => add(0, chi),
            "ferret: chi" => chi = of(bytes, guess) ^ of(bytes, guess + half),
            "ferret: rho" => chi = gf128::mul(gf128::mul(of(bytes, tree), epsilon), chi),
            _ => (),
        }
    });
    direction.channels.0.set_adversary(Box::new(changed));
    let offered = direction.run(
        |s, a| {
            s.plan(1);
            s.offer(a)
        },
        |r, b| {
            r.plan(1);
            r.send_base(b)?;
            r.challenge(b)
        },
    );
    offered.0.unwrap();
    offered.1.unwrap();
    let right = direction.alpha(tree) % half == guess;
    let answered = direction.run(|s, a| s.answer(a), |r, b| r.accept(b));
    match right {
        true => answered.1.unwrap(),
        false => assert_noticed(&answered.1, 0, SILENT),
    }
    right
}

/// Cheat: 2, Ferret | sums, answer | sums that fit some places, and V for a guess of a place |
/// `silent OT consistency` | 1 − 2^-(h − 1), for trees of 2^h leaves
#[test]
fn guesses_of_a_place() {
    for (height, runs) in [(3, 600), (4, 1_200)] {
        let run = |seed: u64| guess_of_a_place(height, 1000 + u128::from(seed), 1);
        let rate: Rate = (0..runs).map(run).collect();
        let predicted = 0.5f64.powi(height as i32 - 1);
        rate.assert_predicted(predicted, &format!("places of {height} bits, unnoticed"));
        rate.assert_tells(predicted, predicted / 2.5);
        rate.assert_tells(predicted, 2.0 * predicted);
    }
}

/// A wrong hash of V, one of another expansion, or one that is too short or long.
/// Cheat: 2, Ferret | answer | a wrong hash; that of the expansion before | `silent OT consistency`
/// | always
#[test]
fn wrong_answers() {
    for replay in [false, true] {
        let mut direction = Direction::new(TINY, IKNP, 30);
        let mut before: Option<Vec<u8>> = None;
        direction.channels.0.set_adversary(Box::new(FnAdversary::new().on_state(
            move |point, answer| {
                if point == "ferret: answer" {
                    match &before {
                        None => before = Some(answer.to_vec()),
                        Some(before) if replay => answer.copy_from_slice(before),
                        Some(_) => answer[31] ^= 0x80,
                    }
                }
            },
        )));
        let (one, other) = direction.expand();
        one.unwrap();
        other.unwrap();
        assert_noticed(&direction.expand().1, 0, SILENT);
    }
}

/// Cheat: 2, Ferret | every message | a byte short, nothing, twice the bytes | `message framing` |
/// always
#[test]
fn short_and_long() {
    let cheats: [fn(&mut Vec<u8>); 3] =
        [|bytes| bytes.truncate(bytes.len() - 1), Vec::clear, |bytes| bytes.extend_from_within(..)];
    for change in cheats {
        for kind in ["ferret: sums", "ferret: answer", "ferret: challenge", "ferret: bits"] {
            let mut direction = Direction::new(TINY, IKNP, 31);
            let by_sender = ["ferret: sums", "ferret: answer"].contains(&kind);
            let adversary = FnAdversary::new().on_message(kind, 0, move |bytes| {
                change(bytes);
                Action::Send
            });
            let channels = &mut direction.channels;
            let channel = if by_sender { &mut channels.0 } else { &mut channels.1 };
            channel.set_adversary(Box::new(adversary));
            let (keys, macs) = direction.draw(&BitVec::zeros(100));
            match by_sender {
                true => assert_noticed(&macs, 0, "message framing"),
                false => assert_noticed(&keys, 1, "message framing"),
            }
        }
    }
}

/// Cheat: 2, Ferret | every message | withheld, or sent twice | the time-out; `message framing` |
/// always
#[test]
fn withheld_and_repeated() {
    for kind in ["ferret: sums", "ferret: answer", "ferret: challenge", "ferret: bits"] {
        let by_sender = ["ferret: sums", "ferret: answer"].contains(&kind);
        for action in [Action::Stall, Action::Twice] {
            let mut direction = Direction::new(TINY, IKNP, 37);
            let (a, b) = (&mut direction.channels.0, &mut direction.channels.1);
            a.set_timeout(Duration::from_millis(500));
            b.set_timeout(Duration::from_millis(500));
            let adversary = FnAdversary::new().on_message(kind, 0, move |_| action);
            if by_sender { a } else { b }.set_adversary(Box::new(adversary));
            // Two draws: what comes twice is noticed when something else is awaited.
            let draws = [600, 600].map(|n| direction.draw(&BitVec::zeros(n)));
            let honest = draws.map(|(keys, macs)| if by_sender { macs } else { keys });
            let ended = honest.into_iter().find(Result::is_err).expect("a failure");
            match action {
                Action::Twice => assert_noticed(&ended, u16::from(!by_sender), "message framing"),
                _ => assert!(matches!(ended, Err(Error::Transport { .. })), "{kind}: {ended:?}"),
            }
        }
    }
}

/// Cheat: 2, Ferret | sums | those of the expansion before | `silent OT consistency` | always
#[test]
fn sums_of_the_expansion_before() {
    let mut direction = Direction::new(TINY, IKNP, 38);
    let mut before: Option<Vec<u8>> = None;
    let replay = FnAdversary::new().on_state(move |point, sums| {
        if point == "ferret: sums" {
            match &before {
                None => before = Some(sums.to_vec()),
                Some(before) => sums.copy_from_slice(before),
            }
        }
    });
    direction.channels.0.set_adversary(Box::new(replay));
    direction.expand().1.unwrap();
    assert_noticed(&direction.expand().1, 0, SILENT);
}

/// The receiver's bits changed: by itself, or on their way.
/// Cheat: 2, Ferret | bits | other bits than those of the check | `OT extension consistency` |
/// always
#[test]
fn wrong_bits() {
    for in_transit in [false, true] {
        for at in [0, 12, 20] {
            let mut direction = Direction::new(TINY, SOFT, 32);
            let adversary = match in_transit {
                true => FnAdversary::new().on_message("ferret: bits", 0, move |bits| {
                    bits[at] ^= 4;
                    Action::Send
                }),
                false => FnAdversary::new().on_state(move |point, bits| {
                    if point == "ferret: bits" {
                        bits[at] ^= 4;
                    }
                }),
            };
            direction.channels.1.set_adversary(Box::new(adversary));
            assert_noticed(&direction.draw(&BitVec::zeros(100)).0, 1, EXTENSION);
        }
    }
}

/// Cheat: 2, Ferret | check | a wrong x̃ or column hash | `OT extension consistency` | always
#[test]
fn wrong_check() {
    let mut direction = Direction::new(TINY, IKNP, 33);
    for at in (0..16).chain((0..COLUMNS).map(|column| 16 * (1 + column) + 5)) {
        // The first base has one draw with a check of its own.
        let index = usize::from(direction.sender.available() == 0);
        let adversary =
            FnAdversary::new().on_message("correlated OT: check", index, move |check| {
                check[at] ^= 4;
                Action::Send
            });
        direction.channels.1.set_adversary(Box::new(adversary));
        assert_noticed(&direction.draw(&BitVec::zeros(10)).0, 1, EXTENSION);
        direction = Direction::new(TINY, IKNP, 33);
    }
}

/// A cheat in the draws of the first base is caught by its own check.
/// Cheat: 2, Ferret | the first base | another choice bit in a column | `OT extension consistency`
/// | always, where Δ is not 0 there
#[test]
fn the_first_base_is_checked() {
    let mut direction = Direction::new(TINY, IKNP, 35);
    let column = direction.delta.0.trailing_zeros() as usize;
    let stride = column_bytes(TINY.base());
    direction.channels.1.set_adversary(Box::new(FnAdversary::new().on_state(move |point, u| {
        if point == "iknp: u" {
            u[column * stride] ^= 1;
        }
    })));
    assert_noticed(&direction.expand().0, 1, EXTENSION);
}
