//! `ywz` among two and three parties, in which party 0 evaluates, and the half-gates form of `wrk`,
//! in which party 1 does.

#![expect(clippy::ptr_arg, reason = "an adversary may also change the length")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use symbolon_authenticated::{wrk, ywz};
use symbolon_engine::GateForm;
use symbolon_transport::adversary::{Action, FnAdversary};

use crate::MASKED;
use crate::common::{Setting, careless};
use crate::stage::{Cheat, GATES, Row, Stage};

const LABELS: &str = "input labels";
const GARBLED: &str = "garbled gates";
const VALUES: &str = "masked values, label digest, chi";
const AUTHENTICATION: &str = "circuit authentication";
const OUTPUTS: &str = "output masks";

/// The size of the masked values of all AND outputs in bytes.
const BITS: usize = GATES / 8;

fn stage(parties: u16) -> Stage {
    Stage::new(Setting {
        protocol: &ywz::SPEC,
        form: GateForm::HalfGates,
        parties,
        ..Setting::default()
    })
}

fn exchanged() -> Stage {
    Stage::new(Setting { protocol: &wrk::SPEC, form: GateForm::HalfGates, ..Setting::default() })
}

fn message(kind: &'static str, change: fn(&mut Vec<u8>)) -> FnAdversary {
    FnAdversary::new().on_message(kind, 0, move |payload| {
        change(payload);
        Action::Send
    })
}

fn none() -> Vec<Cheat> {
    Vec::new()
}

/// Returns a garbler that ignores whether its labels match the evaluator's values.
fn garbler(kind: &'static str, change: fn(&mut Vec<u8>)) -> Vec<Cheat> {
    vec![(1, 0, careless(message(kind, change)))]
}

/// Returns colluding garblers, the first one with a cheat.
fn league(kind: &'static str, change: fn(&mut Vec<u8>)) -> Vec<Cheat> {
    vec![(1, 0, careless(message(kind, change))), (2, 0, careless(FnAdversary::new()))]
}

/// Flips the last bit of 𝒢_0 of the first gate, which is used exactly if its left input is masked
/// as 1.
fn half_gate(p: &mut Vec<u8>) {
    p[0] ^= 1;
}

/// Flips the bit b of the last gate.
fn pointer(p: &mut Vec<u8>) {
    *p.last_mut().unwrap() ^= 0x80;
}

/// Changes the label of the first wire, which is the evaluator's.
fn label(p: &mut Vec<u8>) {
    p[0] ^= 0x80;
}

/// Flips the first bit.
fn first(p: &mut Vec<u8>) {
    p[0] ^= 1;
}

/// Flips the last bit, which belongs to a digest if there is one.
fn last(p: &mut Vec<u8>) {
    *p.last_mut().unwrap() ^= 1;
}

/// Cheat: `ywz` 2, 3; `wrk` half-gates | – | nothing | no difference | 0
#[test]
fn honest_runs() {
    for (stage, parties) in [(stage(2), 2), (exchanged(), 2), (stage(3), 3)] {
        for honest in 0..parties {
            stage.assert_private(Row { honest, noticed: 0.0, prepare: &none, evaluate: &none });
        }
    }
}

/// Step 9: a wrong label for a wire of the evaluator, sent only if its masked input is 1.
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
                label(payload);
            }
            Action::Send
        });
    vec![(1, 0, adversary)]
}

/// Steps 8, 9, 12 and 13, by the only garbler against the evaluator.
/// Cheat: `ywz` 2, G | steps 8 to 13 | half-gates, b, labels, z, output masks | no difference |
/// 1/2, 7/8, 1
#[test]
fn lies_of_the_garbler() {
    let stage = stage(2);
    let row = |noticed, prepare: fn() -> Vec<Cheat>, evaluate: fn() -> Vec<Cheat>| {
        let (prepare, evaluate) = (&prepare, &evaluate);
        stage.assert_private(Row { honest: 0, noticed, prepare, evaluate });
    };
    let just_careless: fn() -> Vec<Cheat> = || garbler(GARBLED, |_| ());
    row(0.5, || garbler(GARBLED, half_gate), just_careless);
    row(1.0, || garbler(GARBLED, pointer), just_careless);
    row(0.5, none, wrong_label_for_a_one);
    // A wrong label leads to three wrong ones, each of which may have the right last bit.
    row(0.875, none, || garbler(LABELS, label));
    row(1.0, none, || garbler(AUTHENTICATION, last));
    row(1.0, none, || garbler(OUTPUTS, first));
    row(1.0, none, || garbler(OUTPUTS, last));
}

/// As above, by two colluding garblers.
/// Cheat: `ywz` 3, n − 1 G | steps 8, 12 | half-gates, b and z of two garblers in league | no
/// difference | 1/2, 1
#[test]
fn lies_of_garblers_in_league() {
    let stage = stage(3);
    let row = |noticed, prepare: fn() -> Vec<Cheat>, evaluate: fn() -> Vec<Cheat>| {
        let (prepare, evaluate) = (&prepare, &evaluate);
        stage.assert_private(Row { honest: 0, noticed, prepare, evaluate });
    };
    let just_careless: fn() -> Vec<Cheat> = || league(GARBLED, |_| ());
    row(0.5, || league(GARBLED, half_gate), just_careless);
    row(1.0, || league(GARBLED, pointer), just_careless);
    row(1.0, none, || league(AUTHENTICATION, last));
}

/// The offset of the rows for the other garbler, in the table of one of two.
const ROWS: usize = 16 * 2 * GATES;

/// Step 8: two of the four rows for the other garbler, in the first gate, which reads an input of
/// that garbler. It notices exactly if one of them is opened. The evaluator colludes.
/// Cheat: `ywz` 3, n − 1 with E | step 8 | rows for another garbler | no difference | 1/2
#[test]
fn spoiled_rows_for_another_garbler() {
    let stage = stage(3);
    let spoiled: fn() -> Vec<Cheat> = || {
        let spoil =
            message(GARBLED, |p| [1, 3].into_iter().for_each(|row| p[ROWS + 16 * row] ^= 1));
        vec![(2, 0, careless(spoil))]
    };
    let evaluate: fn() -> Vec<Cheat> = || vec![(2, 0, careless(FnAdversary::new()))];
    stage.assert_private(Row { honest: 1, noticed: 0.5, prepare: &spoiled, evaluate: &evaluate });
}

/// Steps 9, 11 and 13, by the evaluator against the only garbler, in either role.
/// Cheat: `ywz` 2, E; `wrk` half-gates | steps 9, 11, 13 | masked values and inputs, h_i, χ, output
/// masks | no difference | 1
#[test]
fn lies_of_the_evaluator() {
    for (stage, honest) in [(stage(2), 1), (exchanged(), 0)] {
        let lies: [fn(&mut Vec<u8>); 4] = [
            first,
            |p| p[BITS - 1] ^= 0x80,
            // The labels' digest, and χ.
            |p| p[BITS] ^= 1,
            last,
        ];
        for lie in lies {
            let evaluate = || vec![(1 - honest, honest, message(VALUES, lie))];
            stage.assert_private(Row { honest, noticed: 1.0, prepare: &none, evaluate: &evaluate });
        }
        for kind in [MASKED, OUTPUTS] {
            let evaluate = || vec![(1 - honest, honest, message(kind, first))];
            stage.assert_private(Row { honest, noticed: 1.0, prepare: &none, evaluate: &evaluate });
        }
    }
}

/// As above, by the evaluator and a colluding garbler, against the other one: a masked value, a
/// false broadcast, an output mask.
/// Cheat: `ywz` 3, n − 1 with E | steps 9, 11, 13 | masked values and inputs, h_i, χ, output masks,
/// with a garbler in league | no difference | 1
#[test]
fn lies_of_the_evaluator_in_league() {
    let stage = stage(3);
    for kind in [VALUES, MASKED, OUTPUTS] {
        let evaluate = || vec![(0, 2, message(kind, first)), (1, 0, careless(FnAdversary::new()))];
        stage.assert_private(Row { honest: 2, noticed: 1.0, prepare: &none, evaluate: &evaluate });
    }
}

/// Step 9: one of two honest parties receives a different masked input of a garbler; either of them
/// is tried.
/// Cheat: `ywz` 3, G | step 9 | an equivocated masked input | no difference | 1
#[test]
fn equivocated_masked_input() {
    let stage = stage(3);
    for victim in [0, 2] {
        let evaluate = || vec![(1, victim, message(MASKED, first))];
        for honest in [0, 2] {
            let (prepare, evaluate) = (&none, &evaluate);
            stage.assert_private(Row { honest, noticed: 1.0, prepare, evaluate });
        }
    }
}

/// Four of five parties collude, against the evaluator and against a garbler.
/// Cheat: `ywz` 5, n − 1 | steps 8, 11 | a half-gate of garblers in league; a masked value of E in
/// league | no difference | 1/2, 1
#[test]
fn four_of_five_in_league() {
    let stage = stage(5);
    let garblers = |kind, change: fn(&mut Vec<u8>)| -> Vec<Cheat> {
        let others = (2..5).map(|garbler| (garbler, 0, careless(FnAdversary::new())));
        let mut cheats = vec![(1, 0, careless(message(kind, change)))];
        cheats.extend(others);
        cheats
    };
    let prepare = || garblers(GARBLED, half_gate);
    let evaluate = || garblers(GARBLED, |_| ());
    let row = Row { honest: 0, noticed: 0.5, prepare: &prepare, evaluate: &evaluate };
    stage.assert_private(row);

    let evaluate = || {
        let mut cheats = vec![(0, 4, message(VALUES, first))];
        cheats.extend((1..4).map(|garbler| (garbler, 0, careless(FnAdversary::new()))));
        cheats
    };
    let row = Row { honest: 4, noticed: 1.0, prepare: &none, evaluate: &evaluate };
    stage.assert_private(row);
}
