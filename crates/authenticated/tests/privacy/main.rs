//! What a cheater sees of an honest party does not depend on that party's input, whether or not the
//! cheat is noticed; nor does it depend on the input whether the cheat is noticed.
//!
//! There is no input before the online phase: a type that does not contain it cannot send it. So
//! each row prepares a circuit, with or without a cheat, and evaluates it, with or without a cheat,
//! many times on fresh masks: in half of the runs the honest party's input bits are all 0, in the
//! other half they are all 1. Everything that it sends online is recorded, and compared:
//!
//! - kinds and lengths of its messages, and their order: exactly the same, as far as a run gets;
//! - every bit of every message, and every sum of two of the bits that are masked: Fisher's exact
//!   test, at 10^-6 for all of a row's bits together;
//! - how often it ends in an error: as often as predicted for either input, and equally often; and
//!   how often in which error, on which alone depends what it tells its peers.
//!
//! The last tests of this file have careless honest parties, which the comparison must expose.
//!
//! `duplo` and `dualex` are compared in the same way, with the sizes of cut-and-choose that a test
//! chooses (`privacy.rs` of each in `crates/copies`).
#![allow(missing_docs)]

#[path = "../../../engine/tests/common/mod.rs"]
mod common;
mod compare;
mod record;
mod stage;
mod tinytable;
mod wrk;
mod ywz;

use stage::{Cheat, Row, Stage};
use symbolon_engine::GateForm;
use symbolon_transport::adversary::{Action, FnAdversary};

use common::Setting;

/// The protocol of a setting that names none.
const PROTOCOL: &symbolon_engine::ProtocolSpec = &symbolon_authenticated::wrk::SPEC;

const MASKED: &str = "masked inputs";

/// An honest party that sends its first input bit unmasked, in three of four messages.
#[test]
fn an_input_in_a_message_is_found() {
    let adversary = |input: bool| {
        FnAdversary::new().on_outgoing(move |kind, _, payload| {
            if kind == MASKED && payload[1] & 3 != 0 {
                payload[0] = payload[0] & !1 | u8::from(input);
            }
            Action::Send
        })
    };
    let found = careless(adversary);
    assert!(found.contains("bit"), "{found}");
}

/// An honest party that uses a mask twice: each masked bit is uniform, but not their sum.
#[test]
fn a_mask_that_is_used_twice_is_found() {
    let adversary = |input: bool| {
        FnAdversary::new().on_outgoing(move |kind, _, payload| {
            if kind == MASKED {
                payload[0] = payload[0] & !2 | (payload[0] & 1 ^ u8::from(input)) << 1;
            }
            Action::Send
        })
    };
    assert!(careless(adversary).contains("sum"));
}

/// An honest party that sends a byte more for one input.
#[test]
fn a_length_that_depends_on_the_input_is_found() {
    let adversary = |input: bool| {
        FnAdversary::new().on_outgoing(move |kind, _, payload| {
            if kind == MASKED && input {
                payload.push(0);
            }
            Action::Send
        })
    };
    assert!(careless(adversary).contains("length"));
}

/// An honest party that gives up only for one input.
#[test]
fn an_error_that_depends_on_the_input_is_found() {
    let adversary = |input: bool| {
        let action = if input { Action::Close } else { Action::Send };
        FnAdversary::new().on_message(MASKED, 0, move |_| action)
    };
    assert!(careless(adversary).contains("error"));
}

/// An honest party that always ends in an error, but in one of its own for one input.
#[test]
fn an_error_that_names_the_input_is_found() {
    let adversary = |input: bool| {
        let action = if input { Action::Close } else { Action::Send };
        FnAdversary::new().on_message(MASKED, 0, move |_| action)
    };
    let evaluate = || -> Vec<Cheat> {
        let lie = FnAdversary::new().on_message(wrk::LABELS, 0, |payload| {
            payload[0] ^= 1;
            Action::Send
        });
        vec![(0, 1, lie)]
    };
    let row = Row { honest: 1, noticed: 1.0, prepare: &Vec::new, evaluate: &evaluate };
    assert!(careless_in(&row, adversary).contains("the error `"));
}

/// Returns what the comparison finds about an evaluator of `wrk` that sends what it should not.
fn careless(adversary: fn(bool) -> FnAdversary) -> String {
    let row = Row { honest: 1, noticed: 0.0, prepare: &Vec::new, evaluate: &Vec::new };
    careless_in(&row, adversary)
}

fn careless_in(row: &Row<'_>, adversary: fn(bool) -> FnAdversary) -> String {
    let setting = Setting {
        protocol: &symbolon_authenticated::wrk::SPEC,
        form: GateForm::FourRow,
        ..Setting::default()
    };
    let spoil = |input| -> Vec<Cheat> { vec![(1, 0, adversary(input))] };
    Stage::new(setting).compare_spoiled(row, &spoil).expect_err("nothing was found")
}
