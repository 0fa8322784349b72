//! Step 13: opened output masks, the last messages of all, from the evaluator and from garblers, to
//! either.

use symbolon_transport::adversary::{Action, FnAdversary};
use symbolon_transport::{Culprit, Error};

use super::tools::*;

/// The size of a party's shares of the masks in bytes.
const BITS: usize = WIDTH / 8;

/// Returns pairs of cheater and victim: evaluator and garbler, garbler and evaluator, garbler and
/// garbler.
fn pairs(parties: u16) -> Vec<(u16, u16)> {
    match parties {
        2 => vec![(0, 1), (1, 0)],
        3 => vec![(0, 1), (0, 2), (1, 0), (2, 0), (1, 2), (2, 1)],
        _ => vec![(0, 2), (3, 0), (4, 1)],
    }
}

/// A flipped share with the honest digest, an honest share with a wrong digest, and both made up.
/// The party that learns the output always catches it.
/// Cheat: 2, 3, 5; one | step 13 | a flipped output share with and without its MAC | `output mask
/// MAC` | always
#[test]
fn wrong_output_mask() {
    let changes: [fn(&mut Vec<u8>); 4] = [
        |p| p[BITS - 1] ^= 0x80,
        |p| p[BITS] ^= 1,
        |p| p[BITS + 31] ^= 0x80,
        |p| {
            p[0] ^= 2;
            p[BITS..].fill(0xaa);
        },
    ];
    for parties in PARTIES {
        for (k, (cheater, victim)) in pairs(parties).into_iter().enumerate() {
            for change in changes.into_iter().skip(k % 3).step_by(3) {
                run(parties, vec![(cheater, victim, message(OUTPUTS, change))])
                    .assert_caught_at_the_end(victim, OUTPUT_CHECK);
            }
        }
    }
}

/// All but one collude, with the same flip: an even number cancels, but each is a lie. Always
/// caught.
/// Cheat: 3, 5; n − 1 | step 13 | a flipped output share of all but one | `output mask MAC` |
/// always
#[test]
fn wrong_output_masks_of_all_but_one() {
    for (parties, victim) in [(3, 0), (3, 1), (5, 0), (5, 3)] {
        let lie = |cheater| (cheater, victim, message(OUTPUTS, |p| p[0] ^= 1));
        run(parties, peers(parties, victim).into_iter().map(lie).collect())
            .assert_caught(OUTPUT_CHECK);
    }
}

/// The digest is missing, or the message is short or long. The framing always catches it.
/// Cheat: 3; one | step 13 | the MAC withheld, short, long | `message framing` | always
#[test]
fn short_and_long() {
    let changes: [fn(&mut Vec<u8>); 4] =
        [|p| p.truncate(p.len() - 1), |p| p.truncate(BITS), |p| p.clear(), |p| p.push(0)];
    for (k, (cheater, victim)) in pairs(3).into_iter().enumerate() {
        for change in changes.into_iter().skip(k % 2).step_by(2) {
            run(3, vec![(cheater, victim, message(OUTPUTS, change))])
                .assert_caught_at_the_end(victim, FRAMING);
        }
    }
}

/// Nothing is opened: the victim has no output and accuses nobody.
/// Cheat: 3; one | step 13 | nothing opened | no output, nobody accused | always
#[test]
fn output_mask_withheld() {
    for (cheater, victim) in pairs(3) {
        let close = FnAdversary::new().on_message(OUTPUTS, 0, |_| Action::Close);
        let run = run(3, vec![(cheater, victim, close)]);
        let ended = &run.ended[usize::from(victim)].outputs;
        assert!(matches!(ended, Err(Error::Transport { .. })), "{ended:?}");
    }
}

/// Bits after the last one of any packed message: a message has only one form.
/// Cheat: 3; one | steps 8 to 13 | bits after the last | `padding of packed bits` | always
#[test]
fn garbage_behind_packed_bits() {
    const ODD: usize = 5;
    let circuit = circuit_of(ODD as u32, 3);
    let inputs = vec![vec![true; ODD]; 3];
    for (kind, cheater, victim) in [
        (MASKED, 0, 1),
        (MASKED, 1, 2),
        (GARBLED, 1, 0),
        (VALUES, 0, 2),
        (OUTPUTS, 0, 1),
        (OUTPUTS, 1, 0),
    ] {
        let adversary = message(kind, move |p| {
            let place = match kind {
                GARBLED => p.len() - 1,
                VALUES => p.len() - 48 - 1,
                _ => 0,
            };
            p[place] ^= 0x80;
        });
        let run = run_circuit(&circuit, &inputs, vec![(cheater, victim, adversary)]);
        let ended = &run.ended[usize::from(victim)].outputs;
        let error = ended.as_ref().err();
        let failed = error.and_then(|error| Some((error.culprit()?, error.check()?.name())));
        assert_eq!(failed, Some((Culprit::Party(cheater.into()), PADDING)), "{kind}");
    }
}
