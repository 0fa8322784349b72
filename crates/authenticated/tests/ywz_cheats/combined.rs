//! Cheats of two colluding parties, in different steps of a complete run or covering for each
//! other.

use symbolon_transport::Error;
use symbolon_transport::adversary::{FnAdversary, Rate};

use super::tools::*;

const LEAKY_CHECK: &str = "leaky AND";

/// Fig. 14 and step 13: one garbler guesses an x of the evaluator in a leaky AND, the other one
/// lies about an output mask at the end. Always caught: in the preparation if x is 1, half of the
/// time, and otherwise at the end.
/// Cheat: 3; two G | Fig. 14, then step 13 | a guess of an x by one, a lie about an output mask by
/// the other | `leaky AND` if x = 1, else `output mask MAC` | always; 1/2 early
#[test]
fn a_guess_of_one_and_a_late_lie_of_the_other() {
    let mut early = Rate::default();
    for run_ in 0..48 {
        let (guesser, liar) = [(1, 2), (2, 1)][run_ % 2];
        let guess = message("leaky AND: U", |u| u[3] ^= 0x10);
        let lie = message(OUTPUTS, |p| p[1] ^= 0x80);
        let run = run(3, vec![(guesser, 0, guess), (liar, 0, lie)]);
        run.assert_caught_by_one_of(&[LEAKY_CHECK, OUTPUT_CHECK]);
        let at = |check: &str| match &run.ended[0].outputs {
            Err(Error::PeerMisbehaved { check: at, .. }) => at.name() == check,
            _ => false,
        };
        early.note(at(LEAKY_CHECK));
    }
    early.assert_predicted(0.5, "caught in the preparation");
    early.assert_tells(0.5, 0.05);
    early.assert_tells(0.5, 0.95);
}

/// Step 12: errors in the z of two garblers that cancel. The evaluator checks only their sum, and
/// everything else is right: nobody notices, and the outputs are right.
/// Cheat: 3; two G | step 12 | errors in the z of two garblers that cancel; that do not | nobody,
/// and outputs are right; `circuit authentication` | never; always
#[test]
fn errors_in_z_of_two_garblers_that_cancel() {
    for byte in [0, 15] {
        let wrong = || message(AUTHENTICATION, move |z| z[byte] ^= 0x10);
        run(3, vec![(1, 0, wrong()), (2, 0, wrong())]).assert_harmless();
        run(3, vec![(1, 0, wrong()), (2, 0, message(AUTHENTICATION, |z| z[7] ^= 0x10))])
            .assert_caught(AUTHENTICATION_CHECK);
    }
}

/// Fig. 5: a different Δ only towards an accomplice, which does not report it. The honest party,
/// towards which both use the right Δ, always catches it in the set-up.
/// Cheat: 3; two | Fig. 5 | another Δ towards an accomplice alone | `global key consistency` |
/// always
#[test]
fn another_delta_towards_an_accomplice() {
    for (honest, cheater, accomplice) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        let other = FnAdversary::new().on_state(|point, delta| {
            if point == "set-up: delta" {
                delta[5] ^= 4;
            }
        });
        let run =
            run(3, vec![(cheater, accomplice, other), (accomplice, honest, FnAdversary::new())]);
        run.assert_caught("global key consistency");
    }
}
