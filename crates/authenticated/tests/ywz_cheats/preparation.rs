//! Steps 1 to 7: cheats in the set-up, in authenticated bits, and in openings, in a complete run.

use symbolon_transport::adversary::{Action, FnAdversary};

use super::tools::*;

/// A different Δ towards one peer than towards the others. Always caught, in the set-up.
/// Cheat: 3; one | set-up | another Δ towards one party, in a whole run; n = 5 too | `global key
/// consistency` | always
#[test]
fn another_delta_towards_one_peer() {
    for (parties, cheater, victim) in [(3, 0, 2), (3, 1, 0), (5, 4, 2)] {
        let adversary = FnAdversary::new().on_state(|point, delta| {
            if point == "set-up: delta" {
                delta[3] ^= 0x20;
            }
        });
        run(parties, vec![(cheater, victim, adversary)]).assert_caught("global key consistency");
    }
}

/// Different choice bits in every column of any draw towards one peer. Always caught.
/// Cheat: 3, 5; one | any draw | other choice bits in every column, in a whole run | `OT extension
/// consistency` | always
#[test]
fn inconsistent_choice_bits_in_any_draw() {
    // The global-key check, input masks, the check of leaky triples, the leaky triples, gate masks;
    // towards a larger party number also the draw from which the other direction starts.
    for (parties, cheater, victim, draws) in [(3, 0, 2, 6), (3, 1, 0, 5), (5, 3, 4, 6)] {
        for index in 0..=draws {
            let mut draw = 0;
            let adversary = FnAdversary::new().on_state(move |point, u| {
                if point == "iknp: u" {
                    if draw == index {
                        let column = u.len() / 128;
                        u.iter_mut().step_by(column).for_each(|byte| *byte ^= 1);
                    }
                    draw += 1;
                }
            });
            let run = run(parties, vec![(cheater, victim, adversary)]);
            if index < draws {
                run.assert_caught("OT extension consistency");
            } else {
                // There are no more draws.
                run.assert_harmless();
            }
        }
    }
}

/// The message with the bits, the message with the proof of their MACs at its end and the proof's
/// size in bytes, and the check.
const OPENINGS: [(&str, (&str, usize), &str); 2] = [
    ("Beaver: d, e", ("Beaver: d, e", 32), "Beaver MAC"),
    ("bucketing: d", ("bucketing: MACs", 16), "bucketing MAC"),
];

/// A lie in one opened bit, towards one peer, towards all, and by all but one towards that one.
/// Always caught.
/// Cheat: `ywz` 2, 3, 5; one and n − 1 | Beaver, Fig. 16 | a lie in one opened bit, in a whole run
/// | `Beaver MAC`, `bucketing MAC` | always
#[test]
fn lie_in_one_opened_bit() {
    for parties in PARTIES {
        for (kind, _, check) in OPENINGS {
            let lie = || message(kind, |p| p[0] ^= 0x40);
            for cheater in if parties == 5 { vec![3] } else { vec![0, 1] } {
                let all = peers(parties, cheater);
                for victims in [&all[..1], &all[all.len() - 1..], &all] {
                    let cheats = victims.iter().map(|&victim| (cheater, victim, lie()));
                    run(parties, cheats.collect()).assert_caught(check);
                }
                let league = all.iter().map(|&peer| (peer, cheater, lie()));
                run(parties, league.collect()).assert_caught(check);
            }
        }
    }
}

/// A lie with a made-up proof, and honest bits with one. Always caught.
/// Cheat: `ywz` 2, 3 | Beaver, Fig. 16 | a made-up proof, with a lie and without | `Beaver MAC`,
/// `bucketing MAC` | always
#[test]
fn made_up_proof() {
    for parties in [2, 3] {
        for (bits, (macs, bytes), check) in OPENINGS {
            for lie in [0, 1] {
                let adversary = FnAdversary::new().on_outgoing(move |kind, index, p| {
                    if kind == bits && index == 0 {
                        p[0] ^= lie;
                    }
                    if kind == macs && index == 0 {
                        let proof = p.len() - bytes;
                        p[proof..].fill(0x33);
                    }
                    Action::Send
                });
                run(parties, vec![(1, 0, adversary)]).assert_caught(check);
            }
        }
    }
}

/// The echo of broadcasts is wrong towards one peer, at every point at which there is an echo.
/// Always caught.
/// Cheat: 3; one | every echo | a wrong echo towards one party | `broadcast echo` | always
#[test]
fn wrong_echo() {
    // The draw, y and z of the global keys' check; input masks; the draw, d and V of triples; gate
    // masks; masked inputs.
    const ECHOES: usize = 9;
    for index in 0..=ECHOES {
        let adversary = FnAdversary::new().on_message("broadcast echo", index, |p| {
            p[0] ^= 1;
            Action::Send
        });
        let run = run(3, vec![(2, 1, adversary)]);
        if index < ECHOES {
            run.assert_caught(ECHO_CHECK);
        } else {
            run.assert_harmless();
        }
    }
}
