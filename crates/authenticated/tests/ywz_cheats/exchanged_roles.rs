//! The half-gates form of `wrk`: the same cheats with the roles exchanged. Party 0 is the only
//! garbler and party 1 the evaluator.

use symbolon_transport::adversary::FnAdversary;

use super::tools::*;

const GARBLER: u16 = 0;
const EVALUATOR: u16 = 1;

/// The size of the masked values of all AND outputs in bytes.
const BITS: usize = GATES / 8;

fn evaluator_cheats(adversary: FnAdversary) -> Run {
    run_wrk(vec![(EVALUATOR, GARBLER, adversary)])
}

/// Runs a cheating garbler that ignores its own labels.
fn garbler_cheats(kind: &'static str, change: impl FnMut(&mut Vec<u8>) + Send + 'static) -> Run {
    run_wrk(vec![(GARBLER, EVALUATOR, careless(message(kind, change)))])
}

/// Nobody cheats, and ignoring labels alone changes nothing.
#[test]
fn nobody_cheats() {
    run_wrk(Vec::new()).assert_harmless();
    run_wrk(vec![(GARBLER, EVALUATOR, careless(FnAdversary::new()))]).assert_harmless();
}

/// Step 11: a masked value is flipped, the digest is changed, or a masked input is flipped in the
/// message. The labels always catch it.
/// Cheat: E | steps 9, 11 | a flipped masked value or input, a wrong digest | `masked value label`
/// | always
#[test]
fn lies_of_the_evaluator() {
    for gate in [0, GATES - 1] {
        let flip = message(VALUES, move |p| p[gate / 8] ^= 1 << (gate % 8));
        evaluator_cheats(flip).assert_caught(LABEL_CHECK);
    }
    evaluator_cheats(message(VALUES, |p| p[BITS + 31] ^= 0x80)).assert_caught(LABEL_CHECK);
    evaluator_cheats(message(MASKED, |p| p[0] ^= 1)).assert_caught(LABEL_CHECK);
}

/// Step 12: a different χ. The evaluator spoils its own check; nobody has an output, and nobody is
/// accused.
/// Cheat: E | step 12 | another χ | E ruins its own check | always
#[test]
fn another_chi() {
    evaluator_cheats(message(VALUES, |p| p[BITS + 32] ^= 1)).assert_broken_off();
}

/// Step 12: a wrong z; step 8: a wrong b, in the first and in the last layer. Always caught.
/// Cheat: G | steps 8, 12 | a wrong z, a wrong b | `circuit authentication`, `masked value label` |
/// always
#[test]
fn wrong_z_and_wrong_pointer_bit() {
    garbler_cheats(AUTHENTICATION, |z| z[15] ^= 0x10).assert_caught(AUTHENTICATION_CHECK);
    for gate in [0, GATES - 1] {
        let end = 32 * GATES;
        garbler_cheats(GARBLED, move |p| p[end + gate / 8] ^= 1 << (gate % 8))
            .assert_caught(AUTHENTICATION_CHECK);
    }
}

/// Step 8: the last bit of one half-gate. Caught exactly if it is used: 𝒢_0 if Λ_α = 1, 𝒢_1 if
/// Λ_β = 1.
/// Cheat: G | step 8 | one half-gate | `circuit authentication`, `masked value label` | 1/2, if it
/// is used
#[test]
fn flipped_half_gate() {
    let mut caught = [0; 2];
    for k in 0..24usize {
        let (half, gate) = (k % 2, k % WIDTH);
        let run = garbler_cheats(GARBLED, move |p| p[16 * (2 * gate + half)] ^= 1);
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

/// Steps 8 and 9: a garbage table, labels of other values, masked inputs that do not match the
/// labels. Caught, except with probability 2^-16 that every masked value is right by chance.
/// Cheat: G | steps 8, 9 | a garbage table, labels of other values | `circuit authentication`,
/// `masked value label` | 1 − 2^-16
#[test]
fn garbage_of_the_garbler() {
    garbler_cheats(GARBLED, |p| p.fill(0)).assert_caught(AUTHENTICATION_CHECK);
    let change = |p: &mut Vec<u8>| p.iter_mut().step_by(16).for_each(|byte| *byte ^= 0x80);
    garbler_cheats(LABELS, change).assert_caught(AUTHENTICATION_CHECK);
    garbler_cheats(MASKED, |p| p.iter_mut().for_each(|byte| *byte ^= 0xff))
        .assert_caught(AUTHENTICATION_CHECK);
}

/// Step 13: a lie about an output mask, its digest, or both; short and long messages. The party
/// that learns the output catches it.
/// Cheat: one | step 13 | a wrong output mask or digest; short, long | `output mask MAC`, `message
/// framing` | always
#[test]
fn wrong_output_mask() {
    for (cheater, victim) in [(GARBLER, EVALUATOR), (EVALUATOR, GARBLER)] {
        let changes: [fn(&mut Vec<u8>); 2] = [|p| p[1] ^= 0x80, |p| p[WIDTH / 8] ^= 1];
        for change in changes {
            run_wrk(vec![(cheater, victim, message(OUTPUTS, change))])
                .assert_caught_at_the_end(victim, OUTPUT_CHECK);
        }
        run_wrk(vec![(cheater, victim, message(OUTPUTS, |p| p.push(0)))])
            .assert_caught_at_the_end(victim, FRAMING);
    }
}
