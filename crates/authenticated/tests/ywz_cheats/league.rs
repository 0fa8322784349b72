//! All parties but one collude against the honest one; the other files try the same cheats with one
//! cheater only.

use symbolon_transport::adversary::FnAdversary;

use super::tools::*;

/// Numbers of parties, and the honest one among them: the evaluator, and garblers.
const LEAGUES: [(u16, u16); 5] = [(3, 0), (3, 1), (3, 2), (5, 0), (5, 3)];

/// Runs all parties but one as cheaters, each with such an adversary towards the honest one.
fn all_but_one(parties: u16, honest: u16, adversary: impl Fn(u16) -> FnAdversary) -> Run {
    let cheats =
        peers(parties, honest).into_iter().map(|cheater| (cheater, honest, adversary(cheater)));
    run(parties, cheats.collect())
}

/// Steps 1 and 4: different choice bits in every column of one draw, by all towards the honest one.
/// Always caught.
/// Cheat: 3, 5; n − 1 | any draw | other choice bits in every column, towards the honest party |
/// `OT extension consistency` | always
#[test]
fn inconsistent_choice_bits_of_all_but_one() {
    for (parties, honest) in LEAGUES {
        for index in [0, 2] {
            let adversary = |_| {
                let mut draw = 0;
                FnAdversary::new().on_state(move |point, u| {
                    if point == "iknp: u" {
                        if draw == index {
                            let column = u.len() / 128;
                            u.iter_mut().step_by(column).for_each(|byte| *byte ^= 1);
                        }
                        draw += 1;
                    }
                })
            };
            all_but_one(parties, honest, adversary).assert_caught("OT extension consistency");
        }
    }
}

/// The same wrong echo by all others. Always caught: no echo of others can replace what the honest
/// party received.
/// Cheat: 3, 5; n − 1 | every echo | wrong echoes towards the honest party | `broadcast echo` |
/// always
#[test]
fn wrong_echoes_of_all_but_one() {
    for (parties, honest) in LEAGUES {
        all_but_one(parties, honest, |_| message("broadcast echo", |echo| echo[0] ^= 1))
            .assert_caught(ECHO_CHECK);
    }
}

/// Step 8, the bits b that only the first garbler sends are inverted in all gates, and all garblers
/// collude. The evaluator alone always catches it.
/// Cheat: 3, 5; n − 1 G | step 8 | all b, by garblers in league | `circuit authentication` | always
#[test]
fn wrong_pointer_bits_of_all_garblers() {
    for parties in [3, 5] {
        let turn = |garbler| match garbler {
            POINTER => {
                let turn = |p: &mut Vec<u8>| {
                    let end = p.len() - GATES / 8;
                    p[end..].iter_mut().for_each(|byte| *byte ^= 0xff);
                };
                careless(message(GARBLED, turn))
            }
            _ => careless(FnAdversary::new()),
        };
        all_but_one(parties, 0, turn).assert_caught(AUTHENTICATION_CHECK);
    }
}

/// Step 11: a wrong h_i for the honest garbler; all other garblers ignore errors. Always caught.
/// Cheat: 3, 5; n − 1 with E | step 11 | a wrong h_i with accomplices | `masked value label` |
/// always
#[test]
fn wrong_label_digest_with_accomplices() {
    for (parties, honest) in [(3, 1), (3, 2), (5, 1), (5, 4)] {
        for byte in [0, 31] {
            let change = move |p: &mut Vec<u8>| p[GATES / 8 + byte] ^= 1;
            let accomplices = (1..parties).filter(|&garbler| garbler != honest);
            let mut cheats = vec![(0, honest, message(VALUES, change))];
            cheats.extend(accomplices.map(|garbler| (garbler, 0, careless(FnAdversary::new()))));
            run(parties, cheats).assert_caught(LABEL_CHECK);
        }
    }
}
