//! Selective failure: a garbler corrupts only some rows, and observes whether the evaluator aborts.
//!
//! Which row is opened depends on masked values, which are uniform whatever the inputs are. So
//! whether the evaluator aborts reveals nothing about its input.

use std::sync::{Arc, Mutex};

use symbolon_circuit::Plan;
use symbolon_transport::adversary::{Action, FnAdversary, Rate};

use super::tools::*;
use crate::common::{self, Ended, Setting};

/// Returns the input wires that the first gate of the table reads: (of the garbler, of the
/// evaluator).
fn first_gate() -> (usize, usize) {
    let circuit = circuit();
    let plan = Plan::new(&circuit);
    let mut cursor = plan.cursor();
    let batch = cursor.next_batch().expect("there are gates");
    assert!(batch.linear.is_empty() && batch.ands.len() == WIDTH, "the first layer comes first");
    let wire = |slot: u32| slot as usize - plan.input_slots().start;
    let (a, b) = (wire(batch.ands[0].a), wire(batch.ands[0].b));
    assert!(a < WIDTH && (WIDTH..2 * WIDTH).contains(&b));
    (a, b - WIDTH)
}

/// Runs with a garbler that changes its table; also returns which row of the first gate was opened,
/// if the run got that far.
fn spoil(
    evaluators: &[bool],
    mut change: impl FnMut(&mut Vec<u8>) + Send + 'static,
) -> ([Ended; 2], usize) {
    let masked: Arc<Mutex<[Vec<u8>; 2]>> = Arc::default();
    let (garblers, evaluator_s) = (masked.clone(), masked.clone());
    let garbler = FnAdversary::new()
        .on_outgoing(move |kind, _, payload| {
            match kind {
                TABLE => change(payload),
                LABELS => garblers.lock().unwrap()[0].clone_from(payload),
                _ => {}
            }
            Action::Send
        })
        .on_incoming(move |kind, _, payload| {
            if kind == MASKED {
                evaluator_s.lock().unwrap()[1] = payload.to_vec();
            }
        });
    let [a, _] = inputs();
    let all = [a, evaluators.to_vec()];
    let ended = common::run_bent(Setting::default(), &circuit(), &all, by(0, garbler));
    let bit = |bytes: &[u8], wire: usize| usize::from(bytes[wire / 8] >> (wire % 8) & 1);
    let (a, b) = first_gate();
    let masked = masked.lock().unwrap();
    (ended, 2 * bit(&masked[0], a) + bit(&masked[1], b))
}

/// Asserts that it was caught if the row was opened, and that both outputs are right otherwise.
#[track_caller]
fn assert_caught_if(opened: bool, ended: &[Ended; 2]) {
    if opened {
        assert_caught(ended, 0, TABLE_CHECK);
        return;
    }
    for (party, ended) in (0..).zip(ended) {
        assert_eq!(ended.outputs.as_ref().unwrap(), &right(party));
    }
}

/// Step 4d, one bit of the label in one row of one gate: caught in the next layer exactly if that
/// row is opened, one time in four.
/// Cheat: G | step 4d | one row's label | `garbled table MAC` | 1/4, if that row is opened
#[test]
fn one_flipped_label() {
    flipped_label(64).assert_predicted(0.25, "caught");
}

/// Step 4d, one bit of the MAC in one row of one gate: caught exactly if that row is opened, one
/// time in four.
/// Cheat: G | step 4d | one row's MAC | `garbled table MAC` | 1/4, if that row is opened
#[test]
fn one_flipped_mac() {
    flipped_mac(64).assert_predicted(0.25, "caught");
}

/// As above, often enough to detect half or twice the rate.
/// Cheat: G | step 4d | one row's label or MAC, many times | `garbled table MAC` | 1/4
#[test]
#[ignore = "half a minute"]
fn many_flipped_rows() {
    for (rate, what) in
        [(flipped_label(1_600), "label, caught"), (flipped_mac(1_600), "MAC, caught")]
    {
        rate.assert_predicted(0.25, what);
        rate.assert_tells(0.25, 0.14);
        rate.assert_tells(0.25, 0.37);
    }
}

fn flipped_label(runs: usize) -> Rate {
    let run = |i: usize| {
        let row = 1 + i % 3;
        let (ended, opened) = spoil(&inputs()[1], move |table| table[16 * (row - 1) + 7] ^= 0x20);
        assert_caught_if(opened == row, &ended);
        opened == row
    };
    (0..runs).map(run).collect()
}

fn flipped_mac(runs: usize) -> Rate {
    let run = |i: usize| {
        let row = i % 4;
        let (ended, opened) = spoil(&inputs()[1], move |table| table[MACS + MAC * row] ^= 1);
        assert_caught_if(opened == row, &ended);
        opened == row
    };
    (0..runs).map(run).collect()
}

/// The two rows of the first gate with Λ_b = 1 are corrupted, against an evaluator whose input bits
/// are all 0 and one whose bits are all 1: caught exactly if such a row is opened, and equally
/// often.
/// Cheat: G | step 4d | two rows, for either input of E | `garbled table MAC` | 1/2 for either
/// input
#[test]
fn ending_does_not_depend_on_the_input() {
    let circuit = circuit();
    let rates = [false, true].map(|bit| {
        let theirs = [bit; WIDTH];
        let runs = (0..96).map(|_| {
            let (ended, opened) = spoil(&theirs, |table| {
                table[MACS + MAC] ^= 1;
                table[MACS + 3 * MAC] ^= 1;
            });
            let caught = ended[1].outputs.is_err();
            assert_eq!(caught, opened % 2 == 1);
            if caught {
                common::assert_caught(&ended[1], 0, TABLE_CHECK);
            } else {
                let all = [inputs()[0].clone(), theirs.to_vec()];
                let right = common::expected(&circuit, 1, &all);
                assert_eq!(ended[1].outputs.as_ref().unwrap(), &right);
            }
            caught
        });
        let rate: Rate = runs.collect();
        rate.assert_predicted(0.5, &format!("caught, input bits {bit}"));
        // If aborting depended on the input, the rates would be never and always.
        rate.assert_tells(0.5, 0.1);
        rate.assert_tells(0.5, 0.9);
        rate
    });
    assert!(rates[0].same(rates[1]) >= Rate::SIGNIFICANCE, "{rates:?}");
}
