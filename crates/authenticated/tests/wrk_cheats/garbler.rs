//! The cheating garbler: its table, its labels, and its openings.

use symbolon_circuit::{Circuit, Receivers, Step};
use symbolon_transport::adversary::CheckName;

use super::tools::*;
use crate::common::{self, Setting};

/// Step 4d, the labels in the same rows of all gates: the wrong labels hash to wrong MACs in the
/// next layer. Caught unless no gate of the first layer opens a changed row: 2^-24 for two rows of
/// four, 4^-24 for three.
/// Cheat: G | step 4d | one label flipped in the same rows of all gates | `garbled table MAC` | 1 −
/// 2^-24 for two rows
#[test]
fn flipped_labels_in_every_gate() {
    for rows in [&[1usize, 2][..], &[1, 3], &[2, 3], &[1, 2, 3]] {
        let ended = cheat(
            0,
            message(TABLE, 0, move |table| {
                for gate in 0..GATES {
                    // Row 0 is not sent: it is zero.
                    rows.iter().for_each(|row| table[48 * gate + 16 * (row - 1)] ^= 1);
                }
            }),
        );
        assert_caught(&ended, 0, TABLE_CHECK);
    }
}

/// Step 4d, one bit in the MACs of all four rows of one gate: every bit of the first gate's, and
/// the first and the last bit of a later gate's and of the last gate's. Always caught, when that
/// gate is evaluated.
/// Cheat: G | step 4d | MACs of all four rows of one gate | `garbled table MAC` | always
#[test]
fn flipped_mac() {
    for (gate, step) in [(0, 1), (WIDTH, 8 * MAC - 1), (GATES - 1, 8 * MAC - 1)] {
        for bit in (0..8 * MAC).step_by(step) {
            let ended = cheat(
                0,
                message(TABLE, 0, move |table| {
                    for row in 0..4 {
                        table[MACS + (4 * gate + row) * MAC + bit / 8] ^= 1 << (bit % 8);
                    }
                }),
            );
            assert_caught(&ended, 0, TABLE_CHECK);
        }
    }
}

/// Step 4d: a table of garbage, of zeros, and the right one with its gates shifted by one. Always
/// caught (2^-40 for each gate).
/// Cheat: G | step 4d | garbage, zeros, gates moved by one | `garbled table MAC` | always
#[test]
fn garbage_table() {
    let changes: [fn(&mut Vec<u8>); 3] = [
        |table| table.iter_mut().zip(0u32..).for_each(|(b, i)| *b = ((i * i) >> 3) as u8),
        |table| table.fill(0),
        |table| {
            table[..MACS].rotate_left(48);
            table[MACS..].rotate_left(4 * MAC);
        },
    ];
    for change in changes {
        assert_caught(&cheat(0, message(TABLE, 0, change)), 0, TABLE_CHECK);
    }
}

/// Returns the circuit with other steps in place of its first gate. If there is one more step, its
/// result, wire `EXTRA`, comes after all others.
fn another_circuit(first: &[Step]) -> Circuit {
    let right = circuit();
    let mut steps = right.main().steps.clone();
    steps.splice(..1, first.iter().cloned());
    common::of_steps(WIDTH as u32, steps, right.main().outputs.clone(), Receivers::All)
}

/// The first wire that [`circuit`] does not have.
const EXTRA: u32 = 5 * WIDTH as u32;

/// The first evaluator's wire, and the result of the first gate.
const B: u32 = WIDTH as u32;
const T: u32 = 2 * WIDTH as u32;

/// Step 4d, garbled for another circuit: the first gate reads ¬b. The masks are the same, so the
/// openings pass, but the evaluator's label hashes to no valid MAC. Always caught.
/// Cheat: G | step 4d | garbled for a circuit with a NOT more | `garbled table MAC` | always
#[test]
fn garbled_for_a_circuit_with_a_not_more() {
    let inverted = Step::Inv { a: B, out: EXTRA };
    let other = another_circuit(&[inverted, Step::And { a: 0, b: EXTRA, out: T }]);
    assert_garbled_for(&other, TABLE_CHECK);
}

/// Steps 4a and 4d, garbled for another circuit: the first gate reads another wire, with another
/// mask. The opened shares do not belong together. The MACs of d and e always catch it.
/// Cheat: G | steps 4a, 4d | garbled for a circuit with other wires | `Beaver MAC` | always
#[test]
fn garbled_for_a_circuit_with_other_wires() {
    let other = another_circuit(&[Step::And { a: 1, b: B, out: T }]);
    assert_garbled_for(&other, "Beaver MAC");
}

#[track_caller]
fn assert_garbled_for(other: &Circuit, check: impl CheckName) {
    let inputs = inputs();
    let ended =
        common::run_apart(Setting::default(), [other, &circuit()], [&inputs, &inputs], |_| ());
    assert_caught(&ended, 0, check);
}

/// Step 4d, wrong labels of output wires, which no gate reads. The evaluator's outputs do not
/// depend on them, so it ends with the right ones. They prove only the garbler's own outputs, so
/// the garbler harms itself.
/// Cheat: G | step 4d | wrong labels of output wires | none: harmless to E | never
#[test]
fn wrong_output_labels_are_harmless() {
    let ended = cheat(
        0,
        message(TABLE, 0, |table| {
            table[48 * WIDTH..MACS].iter_mut().for_each(|byte| *byte ^= 0x55);
        }),
    );
    let [garbler, evaluator] = ended;
    assert_eq!(evaluator.outputs.unwrap(), right(1));
    // Row 0, whose label is not sent, may be the opened one of every last gate: 4^-24.
    common::assert_caught(&garbler, 1, RETURNED_CHECK);
}

/// Bytes of one party's masked inputs.
const BITS: usize = WIDTH / 8;

/// Step 5, a wrong label for one of the garbler's or the evaluator's wires: the gate that reads it
/// hashes to no valid MAC. Always caught, whatever the bit.
/// Cheat: G | step 5 | a wrong input label | `garbled table MAC` | always
#[test]
fn wrong_input_label() {
    for wire in [0, WIDTH - 1, WIDTH, 2 * WIDTH - 1] {
        for byte in [0, 15] {
            let ended = cheat(0, message(LABELS, 0, move |p| p[BITS + 16 * wire + byte] ^= 0x80));
            assert_caught(&ended, 0, TABLE_CHECK);
        }
    }
}

/// Step 5: the labels of two wires are swapped. Always caught.
/// Cheat: G | step 5 | two input labels exchanged | `garbled table MAC` | always
#[test]
fn swapped_input_labels() {
    let ended = cheat(0, message(LABELS, 0, |p| p[BITS..BITS + 32].rotate_left(16)));
    assert_caught(&ended, 0, TABLE_CHECK);
}

/// Step 5: a masked value Λ that does not match the label, so another row is opened with a label
/// that does not fit it. Always caught.
/// Cheat: G | step 5 | a masked input that does not fit its label | `garbled table MAC` | always
#[test]
fn masked_input_that_does_not_fit_its_label() {
    for wire in [0, WIDTH - 1] {
        let ended = cheat(0, message(LABELS, 0, move |p| p[wire / 8] ^= 1 << (wire % 8)));
        assert_caught(&ended, 0, TABLE_CHECK);
    }
}

/// Where the garbler's shares of the masks of output wires begin.
const SHARES: usize = BITS + 16 * 2 * WIDTH;

/// Step 8: a flipped share of an output mask, with the honest digest of the MACs. Always caught.
/// Cheat: G | step 8 | a flipped share of an output mask, with its MAC | `output mask MAC` | always
#[test]
fn flipped_output_share() {
    for bit in [0, WIDTH - 1] {
        let ended = cheat(0, message(LABELS, 0, move |p| p[SHARES + bit / 8] ^= 1 << (bit % 8)));
        assert_caught(&ended, 0, OUTPUT_CHECK);
    }
}

/// Step 8: a flipped share with a made-up digest, and an honest one with it. Always caught.
/// Cheat: G | step 8 | a flipped share without its MAC, a made-up digest | `output mask MAC` |
/// always
#[test]
fn output_share_with_a_made_up_digest() {
    for lie in [0, 1] {
        let ended = cheat(
            0,
            message(LABELS, 0, move |p| {
                p[SHARES] ^= lie;
                p[SHARES + BITS..].fill(0xaa);
            }),
        );
        assert_caught(&ended, 0, OUTPUT_CHECK);
    }
}

/// Step 8: the digest of the MACs is missing, or the message is short or long. The framing always
/// catches it; likewise for the table.
/// Cheat: G | steps 4d, 5, 8 | the MAC withheld, short, long | `message framing` | always
#[test]
fn short_and_long() {
    let without_digest: fn(&mut Vec<u8>) = |p| p.truncate(p.len() - 32);
    for change in LENGTHS.into_iter().chain([without_digest]) {
        assert_caught(&cheat(0, message(LABELS, 0, change)), 0, FRAMING);
        assert_caught(&cheat(0, message(TABLE, 0, change)), 0, FRAMING);
    }
}

/// Bits after the last one of masked inputs or shares: a message has only one form.
/// Cheat: G | steps 5, 8 | bits after the last | `padding of packed bits` | always
#[test]
fn garbage_behind_packed_bits() {
    const ODD: usize = 5;
    let circuit = common::two_layers(ODD as u32, Receivers::All);
    let inputs = [vec![true; ODD], vec![true; ODD]];
    for place in [0, 1 + 16 * 2 * ODD] {
        let adversary = message(LABELS, 0, move |p| p[place] ^= 0x80);
        let ended = common::run_bent(Setting::default(), &circuit, &inputs, by(0, adversary));
        common::assert_caught(&ended[1], 0, PADDING);
    }
}
