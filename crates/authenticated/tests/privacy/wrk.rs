//! `wrk` with four rows: party 0 garbles, party 1 evaluates.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use symbolon_authenticated::wrk;
use symbolon_engine::GateForm;
use symbolon_transport::adversary::{Action, FnAdversary};

use crate::MASKED;
use crate::common::Setting;
use crate::stage::{Cheat, GATES, Row, Stage, WIDTH};

const TABLE: &str = "garbled table";
pub const LABELS: &str = "masked inputs, labels, output masks";
const RETURNED: &str = "outputs for the garbler";

/// The size of a MAC in a row at ρ = 40 in bytes, and the offset of the MACs in a garbled table.
const MAC: usize = 5;
const MACS: usize = 48 * GATES;

/// The size of one party's masked inputs, and of shares of its outputs, in bytes.
const BITS: usize = WIDTH / 8;

fn stage() -> Stage {
    Stage::new(Setting { protocol: &wrk::SPEC, form: GateForm::FourRow, ..Setting::default() })
}

fn by(cheater: u16, kind: &'static str, change: fn(&mut Vec<u8>)) -> Vec<Cheat> {
    let adversary = FnAdversary::new().on_message(kind, 0, move |payload| {
        change(payload);
        Action::Send
    });
    vec![(cheater, 1 - cheater, adversary)]
}

fn none() -> Vec<Cheat> {
    Vec::new()
}

/// Runs a garbler that cheats in what it prepares and in the evaluation.
#[track_caller]
fn garbler(stage: &Stage, noticed: f64, prepare: fn() -> Vec<Cheat>, evaluate: fn() -> Vec<Cheat>) {
    stage.assert_private(Row { honest: 1, noticed, prepare: &prepare, evaluate: &evaluate });
}

#[track_caller]
fn evaluator(stage: &Stage, noticed: f64, evaluate: fn() -> Vec<Cheat>) {
    stage.assert_private(Row { honest: 0, noticed, prepare: &none, evaluate: &evaluate });
}

/// Cheat: `wrk` | – | nothing | no difference | 0
#[test]
fn honest_runs() {
    let stage = stage();
    garbler(&stage, 0.0, none, none);
    evaluator(&stage, 0.0, none);
}

/// Step 4d: rows are corrupted in a gate that reads an input of the evaluator. The evaluator
/// notices if it opens one of them, depending on its masked input, which is 0 as often as 1.
/// Cheat: `wrk`, G | step 4d | rows spoiled for one masked input | no difference | 1/4, 1/2, 1
#[test]
fn spoiled_rows() {
    let stage = stage();
    // The MACs of both rows with Λ_b = 1, and with Λ_b = 0.
    garbler(&stage, 0.5, || by(0, TABLE, |table| spoil_macs(table, &[1, 3])), none);
    garbler(&stage, 0.5, || by(0, TABLE, |table| spoil_macs(table, &[0, 2])), none);
    // One row's MAC; one row's label, which the next layer needs; all.
    garbler(&stage, 0.25, || by(0, TABLE, |table| spoil_macs(table, &[2])), none);
    garbler(&stage, 0.25, || by(0, TABLE, |table| table[7] ^= 0x20), none);
    garbler(&stage, 1.0, || by(0, TABLE, |table| table.fill(0x33)), none);
}

/// Flips the MACs of these rows of the first gate.
fn spoil_macs(table: &mut [u8], rows: &[usize]) {
    rows.iter().for_each(|row| table[MACS + MAC * row] ^= 1);
}

/// Step 5: a wrong label for a wire of the evaluator, sent only if its masked input is 1.
fn wrong_label_for_a_one() -> Vec<Cheat> {
    let one = Arc::new(AtomicBool::new(false));
    let seen = one.clone();
    let adversary = FnAdversary::new()
        .on_incoming(move |kind, _, payload| {
            if kind == MASKED {
                seen.store(payload[0] & 1 == 1, Ordering::Relaxed);
            }
        })
        .on_outgoing(move |kind, _, payload| {
            if kind == LABELS && one.load(Ordering::Relaxed) {
                payload[BITS + 16 * WIDTH] ^= 1;
            }
            Action::Send
        });
    vec![(0, 1, adversary)]
}

/// Steps 5 and 8: the garbler's online message.
/// Cheat: `wrk`, G | steps 5, 8 | labels, masked inputs, output shares, digests | no difference |
/// 1/2, 1
#[test]
fn lies_of_the_garbler() {
    let stage = stage();
    garbler(&stage, 0.5, none, wrong_label_for_a_one);
    for lie in [
        // A masked input, a label, a share of an output mask, their digest; two swapped labels, and
        // openings that are all made up.
        (|| by(0, LABELS, |p| p[0] ^= 1)) as fn() -> Vec<Cheat>,
        || by(0, LABELS, |p| p[BITS + 16 * WIDTH] ^= 1),
        || by(0, LABELS, |p| p[BITS + 32 * WIDTH] ^= 1),
        || by(0, LABELS, |p| *p.last_mut().unwrap() ^= 1),
        || by(0, LABELS, |p| p[BITS + 16 * WIDTH..][..32].rotate_left(16)),
        || by(0, LABELS, |p| p[BITS + 32 * WIDTH..].fill(0x55)),
    ] {
        garbler(&stage, 1.0, none, lie);
    }
}

/// Steps 6 and 8: the evaluator's messages. After a masked input other than the one meant, the
/// evaluator is caught in its own lie, and the garbler learns of that.
/// Cheat: `wrk`, E | steps 6, 8 | masked inputs, returned outputs, digests | no difference | 1
#[test]
fn lies_of_the_evaluator() {
    let stage = stage();
    for lie in [
        (|| by(1, MASKED, |p| p[0] ^= 1)) as fn() -> Vec<Cheat>,
        || by(1, RETURNED, |p| p[0] ^= 1),
        || by(1, RETURNED, |p| p[BITS] ^= 1),
        || by(1, RETURNED, |p| *p.last_mut().unwrap() ^= 1),
        || by(1, RETURNED, |p| p.fill(0)),
    ] {
        evaluator(&stage, 1.0, lie);
    }
}
