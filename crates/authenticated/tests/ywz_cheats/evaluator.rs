//! The cheating evaluator.

use symbolon_transport::adversary::FnAdversary;

use super::tools::*;

/// The size of the masked values of all AND outputs in bytes.
const BITS: usize = GATES / 8;

/// Returns sets of victims: the only garbler; the first of two, the second, both; the last of four.
fn victims(parties: u16) -> Vec<Vec<u16>> {
    match parties {
        2 => vec![vec![1]],
        3 => vec![vec![1], vec![2], vec![1, 2]],
        _ => vec![vec![parties - 1]],
    }
}

fn cheat(parties: u16, victims: &[u16], adversary: impl Fn() -> FnAdversary) -> Run {
    run(parties, victims.iter().map(|&garbler| (0, garbler, adversary())).collect())
}

/// Step 11: one masked value is flipped, towards one garbler or all. Its label always catches it.
/// Cheat: 2, 3, 5; E | step 11 | a flipped masked value, towards one or all | `masked value label`
/// | always
#[test]
fn flipped_masked_value() {
    for parties in PARTIES {
        for victims in victims(parties) {
            for gate in [0, GATES - 1] {
                let flip = || message(VALUES, move |p| p[gate / 8] ^= 1 << (gate % 8));
                cheat(parties, &victims, flip).assert_caught(LABEL_CHECK);
            }
        }
    }
}

/// Step 11: the digest h_i is changed, made up, or that of another garbler. Always caught.
/// Cheat: 2, 3, 5; E | step 11 | a wrong h_i | `masked value label` | always
#[test]
fn wrong_label_digest() {
    for parties in PARTIES {
        for victims in victims(parties) {
            let changes: [fn(&mut Vec<u8>); 3] = [
                |p| p[BITS] ^= 1,
                |p| p[BITS + 31] ^= 0x80,
                |p| {
                    p[0] ^= 1;
                    p[BITS..BITS + 32].fill(0x55);
                },
            ];
            for change in changes {
                cheat(parties, &victims, || message(VALUES, change)).assert_caught(LABEL_CHECK);
            }
        }
    }
}

/// Step 11, all but one garbler collude with the evaluator and ignore the error; the honest one
/// catches it.
/// Cheat: 3, 5; n − 1 with E | step 11 | a flipped masked value with accomplices | `masked value
/// label` | always
#[test]
fn flipped_masked_value_with_accomplices() {
    for (parties, honest) in [(3, 1), (3, 2), (5, 1), (5, 4)] {
        let accomplices = (1..parties).filter(|&garbler| garbler != honest);
        let mut cheats = vec![(0, honest, message(VALUES, |p| p[1] ^= 4))];
        cheats.extend(accomplices.map(|garbler| (garbler, 0, careless(FnAdversary::new()))));
        run(parties, cheats).assert_caught(LABEL_CHECK);
    }
}

/// Step 12: one garbler receives a different χ. The evaluator spoils its own check and gets no
/// output; the garblers have none either, and accuse nobody of a lost connection.
/// Cheat: 2, 3, 5; E | step 12 | another χ towards one garbler | E ruins its own check | always
#[test]
fn another_chi() {
    for parties in PARTIES {
        cheat(parties, &[parties - 1], || message(VALUES, |p| p[BITS + 32] ^= 1))
            .assert_broken_off();
    }
}

/// Step 9, a masked input is flipped only in the message. With more than two parties it is not a
/// consistent broadcast, and the cheater's own echo does not contain it either: the echo always
/// catches it. With two parties the evaluator gets labels that do not match what it evaluates, and
/// no label digest is right.
/// Cheat: 2, 3, 5; E | step 9 | a masked input flipped in the message | `broadcast echo`; n = 2:
/// `masked value label` | always
#[test]
fn flipped_masked_input() {
    for parties in PARTIES {
        for victims in victims(parties) {
            let check = if parties > 2 { ECHO_CHECK } else { LABEL_CHECK };
            cheat(parties, &victims, || message(MASKED, |p| p[0] ^= 1)).assert_caught(check);
        }
    }
}

/// Short, long and empty messages, and a missing proof. The framing always catches them.
/// Cheat: 2, 3; E | step 11 | short, long, empty; the proof withheld | `message framing` | always
#[test]
fn short_and_long() {
    for parties in [2, 3] {
        let changes: [fn(&mut Vec<u8>); 4] =
            [|p| p.truncate(p.len() - 1), |p| p.truncate(BITS), |p| p.clear(), |p| p.push(0)];
        for change in changes {
            cheat(parties, &[parties - 1], || message(VALUES, change)).assert_caught(FRAMING);
        }
    }
}
