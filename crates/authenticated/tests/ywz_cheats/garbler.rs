//! Cheating garblers: tables, labels, and the proof that they are right.

use symbolon_transport::adversary::FnAdversary;

use super::tools::*;

/// Runs a garbler that changes its message to the evaluator, and ignores its own labels.
fn cheat(
    parties: u16,
    garbler: u16,
    kind: &'static str,
    change: impl FnMut(&mut Vec<u8>) + Send + 'static,
) -> Run {
    run(parties, vec![(garbler, 0, careless(message(kind, change)))])
}

/// Like [`cheat`], with all other garblers colluding: only the evaluator is honest.
fn in_league(
    parties: u16,
    garbler: u16,
    kind: &'static str,
    change: impl FnMut(&mut Vec<u8>) + Send + 'static,
) -> Run {
    let others = (1..parties).filter(|&other| other != garbler);
    let mut cheats = vec![(garbler, 0, careless(message(kind, change)))];
    cheats.extend(others.map(|other| (other, 0, careless(FnAdversary::new()))));
    run(parties, cheats)
}

/// Returns the offset of the rows for the other garbler with index `other`.
fn rows(other: usize) -> usize {
    16 * GATES * (2 + 4 * other)
}

/// Returns the offset of the bits b.
fn pointers(parties: u16) -> usize {
    rows(usize::from(parties) - 2)
}

/// Step 12: a wrong z of one garbler, or of all but one. Always caught.
/// Cheat: 2, 3, 5; G, n − 1 G | step 12 | a wrong z | `circuit authentication` | always
#[test]
fn wrong_z() {
    for parties in PARTIES {
        for byte in [0, 15] {
            cheat(parties, parties - 1, AUTHENTICATION, move |z| z[byte] ^= 0x10)
                .assert_caught(AUTHENTICATION_CHECK);
        }
        in_league(parties, 1, AUTHENTICATION, |z| z.fill(0)).assert_caught(AUTHENTICATION_CHECK);
    }
}

/// Step 8: a wrong b, in the first and in the last layer. The masked value of that gate is wrong:
/// no label of an honest garbler matches it, and the evaluator's check fails. Always caught.
/// Cheat: 2, 3, 5; G | step 8 | a wrong b | `masked value label`, `circuit authentication` | always
#[test]
fn wrong_pointer_bit() {
    for parties in PARTIES {
        for gate in if parties == 5 { vec![WIDTH] } else { vec![0, GATES - 1] } {
            let flip = move |p: &mut Vec<u8>| p[pointers(parties) + gate / 8] ^= 1 << (gate % 8);
            cheat(parties, POINTER, GARBLED, flip).assert_caught_by_one_of(&CHECKS);
            in_league(parties, POINTER, GARBLED, flip).assert_caught(AUTHENTICATION_CHECK);
        }
    }
}

/// Step 8, the first garbler: the last bit of one half-gate of one gate, which would flip the
/// masked value. Caught exactly if the half-gate is used: 𝒢_0 if Λ_α = 1, 𝒢_1 if Λ_β = 1.
/// Cheat: 2, 3, 5; G | step 8 | one half-gate of the first garbler | `masked value label`, `circuit
/// authentication` | 1/2, if it is used
#[test]
fn flipped_half_gate_of_the_pointer() {
    let mut caught = [0; 2];
    for k in 0..24usize {
        let (half, gate) = (k % 2, k % WIDTH);
        let flip = move |p: &mut Vec<u8>| p[16 * (2 * gate + half)] ^= 1;
        let parties = [2, 3, 5][k % 3];
        let run = in_league(parties, POINTER, GARBLED, flip);
        let used = run.masked_inputs(gate)[half];
        caught[usize::from(used)] += 1;
        if used {
            run.assert_caught(AUTHENTICATION_CHECK);
        } else {
            run.assert_harmless();
        }
    }
    assert!(caught.iter().all(|&count| count > 0), "{caught:?}");
}

/// Step 8, any other garbler: its half-gates affect only its own labels, on which no honest party
/// relies except where they open its rows for others. In the last layer they open nothing, so this
/// is harmless.
/// Cheat: 3, 5; G | step 8 | half-gates of another garbler, last layer | none: harmless | never
#[test]
fn wrong_half_gates_of_another_garbler_in_the_last_layer() {
    for (parties, garbler) in [(3, 2), (5, 4)] {
        cheat(parties, garbler, GARBLED, |p| {
            p[16 * 2 * WIDTH..16 * 2 * GATES].iter_mut().for_each(|byte| *byte ^= 0x5a);
        })
        .assert_harmless();
    }
}

/// Step 8: two of the four rows for another garbler, of one gate. The victim's label is wrong
/// exactly if one of them is opened, and the victim always catches that.
/// Cheat: 3, 5; G | step 8 | two rows for another garbler | `masked value label` | 1/2, if one is
/// opened
#[test]
fn flipped_rows_for_another_garbler() {
    let mut caught = [0; 2];
    for k in 0..24usize {
        // The victim is the first of the other garblers.
        let (parties, garbler) = [(3, 1), (3, 2), (5, 4)][k % 3];
        let (gate, row) = (k % WIDTH, k / 2 % 4);
        let other = row ^ [1, 2, 3][k % 3];
        let flip = move |p: &mut Vec<u8>| {
            for row in [row, other] {
                p[rows(0) + 16 * (4 * gate + row)] ^= 1;
            }
        };
        let run = cheat(parties, garbler, GARBLED, flip);
        let [u, v] = run.masked_inputs(gate).map(usize::from);
        let used = [row, other].contains(&(2 * u + v));
        caught[usize::from(used)] += 1;
        if used {
            run.assert_caught(LABEL_CHECK);
        } else {
            run.assert_harmless();
        }
    }
    assert!(caught.iter().all(|&count| count > 0), "{caught:?}");
}

/// Step 8: all rows for another garbler, of one gate, in either layer. Always caught, by the victim
/// alone if all others collude.
/// Cheat: 3, 5; G, n − 1 with E | step 8 | all rows for another garbler | `masked value label` |
/// always
#[test]
fn wrong_rows_for_another_garbler() {
    for (parties, garbler, place, victim) in [(3, 1, 0, 2), (3, 2, 0, 1), (5, 4, 1, 2)] {
        for gate in [0, GATES - 1] {
            let flip = move |p: &mut Vec<u8>| {
                let first = rows(place) + 64 * gate;
                p[first..first + 64].iter_mut().for_each(|byte| *byte ^= 0x81);
            };
            cheat(parties, garbler, GARBLED, flip).assert_caught(LABEL_CHECK);
            let others = (1..parties).filter(|&other| other != garbler && other != victim);
            let mut cheats = vec![(garbler, 0, careless(message(GARBLED, flip)))];
            cheats.extend(others.map(|other| (other, 0, careless(FnAdversary::new()))));
            run(parties, cheats).assert_caught(LABEL_CHECK);
        }
    }
}

/// Step 8: garbage, zeros, and the right half-gates shifted by one gate. Caught unless every masked
/// value is right by chance (2^-32).
/// Cheat: 2, 3, 5; G | step 8 | garbage, zeros, gates moved by one | `masked value label`, `circuit
/// authentication` | 1 − 2^-32
#[test]
fn garbage_table() {
    for parties in PARTIES {
        let changes: [fn(&mut Vec<u8>); 3] = [
            |p| {
                let end = p.len() - GATES / 8;
                p[..end].iter_mut().zip(0u32..).for_each(|(b, i)| *b = ((i * i) >> 3) as u8);
            },
            |p| p.fill(0),
            |p| p[..32 * GATES].rotate_left(32),
        ];
        for change in changes.into_iter().take(if parties == 5 { 1 } else { 3 }) {
            cheat(parties, POINTER, GARBLED, change).assert_caught_by_one_of(&CHECKS);
            in_league(parties, POINTER, GARBLED, change).assert_caught(AUTHENTICATION_CHECK);
        }
    }
}

/// Step 9: labels other than the masked inputs', of all wires; by the first garbler, and by another
/// one, whose labels open its rows for the first. Caught unless every masked value is right by
/// chance (2^-32).
/// Cheat: 2, 3, 5; G | step 9 | other labels than the masked inputs' | `masked value label`,
/// `circuit authentication` | 1 − 2^-32
#[test]
fn wrong_input_labels() {
    for parties in PARTIES {
        for garbler in if parties == 5 { vec![3] } else { vec![1, parties - 1] } {
            let change = |p: &mut Vec<u8>| p.iter_mut().step_by(16).for_each(|byte| *byte ^= 0x80);
            cheat(parties, garbler, LABELS, change).assert_caught_by_one_of(&CHECKS);
            in_league(parties, garbler, LABELS, change).assert_caught(AUTHENTICATION_CHECK);
        }
    }
}

/// Step 9: a masked input is flipped only in the message to the evaluator, and the labels of the
/// other value are sent. With two parties these do not match what the garbler proves; with more,
/// this is not a consistent broadcast.
/// Cheat: 2, 3, 5; G | step 9 | equivocated masked input | `broadcast echo`; n = 2: `masked value
/// label` | always
#[test]
fn equivocated_masked_input() {
    for parties in PARTIES {
        for garbler in if parties == 5 { vec![2] } else { vec![1, parties - 1] } {
            let check = if parties > 2 { ECHO_CHECK } else { AUTHENTICATION_CHECK };
            let flips: fn(&mut Vec<u8>) = |p| p.iter_mut().for_each(|byte| *byte ^= 0xff);
            cheat(parties, garbler, MASKED, flips).assert_caught(check);
            if parties > 2 {
                let victim = if garbler == 1 { 2 } else { 1 };
                let flip = message(MASKED, |p| p[0] ^= 1);
                run(parties, vec![(garbler, victim, flip)]).assert_caught(ECHO_CHECK);
            }
        }
    }
}

/// Short, long and empty messages. The framing always catches them.
/// Cheat: 2, 3; G | steps 8, 9, 12 | short, long, empty | `message framing` | always
#[test]
fn short_and_long() {
    for parties in [2, 3] {
        for kind in [MASKED, GARBLED, LABELS, AUTHENTICATION] {
            let changes: [fn(&mut Vec<u8>); 3] =
                [|p| p.truncate(p.len() - 1), |p| p.clear(), |p| p.push(0)];
            for change in changes {
                cheat(parties, parties - 1, kind, change).assert_caught(FRAMING);
            }
        }
    }
}
