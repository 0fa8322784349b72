//! `wrk` between two parties against the reference evaluation.

use crate::common::{self, Setting, assert_runs, circuit, receivers};
use proptest::prelude::*;
use symbolon_authenticated::ywz;
use symbolon_circuit::{Input, Plan, Receivers, builtin};
use symbolon_engine::{GateForm, OtExtension, Rho};
use symbolon_transport::Error;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn random_circuits(
        widths in [1u32..9, 1u32..9],
        steps in prop::collection::vec(any::<(u8, u32, u32)>(), 0..120),
        outputs in prop::collection::vec(
            (prop::collection::vec(any::<u32>(), 1..6), receivers(2)), 1..4),
        bits in prop::collection::vec(any::<bool>(), 16),
        known: bool,
    ) {
        let circuit = circuit(&widths, &steps, outputs);
        let (a, b) = bits.split_at(8);
        let all = [a[..widths[0] as usize].to_vec(), b[..widths[1] as usize].to_vec()];
        for form in GateForm::ALL {
            assert_runs(Setting { form, known, ..Setting::default() }, &circuit, &all);
        }
    }
}

#[test]
fn every_rho_and_several_lanes() {
    let steps: Vec<_> = (0..200u32).map(|i| ((i % 5) as u8, i * 7 + 1, i * 11 + 3)).collect();
    let circuit = circuit(&[8, 8], &steps, vec![((150..200).collect(), Receivers::All)]);
    let all = [vec![true; 8], vec![false, true, false, true, false, true, true, true]];
    for form in GateForm::ALL {
        for rho in [Rho::Bits40, Rho::Bits64, Rho::Bits80] {
            for lanes in [1, 3] {
                let setting = Setting { rho, lanes, form, known: lanes == 1, ..Setting::default() };
                assert_runs(setting, &circuit, &all);
            }
        }
    }
}

#[test]
fn every_generator() {
    let steps: Vec<_> = (0..300u32).map(|i| ((i % 7) as u8, i * 5 + 2, i * 13 + 1)).collect();
    let circuit = circuit(&[8, 8], &steps, vec![((200..250).collect(), Receivers::All)]);
    let all = [vec![true, true, false, true, false, false, true, false], vec![false; 8]];
    for ot in OtExtension::ALL {
        for lanes in [1, 2] {
            assert_runs(Setting { ot, lanes, ..Setting::default() }, &circuit, &all);
        }
    }
}

/// Every built-in circuit with at most this many AND gates.
const SMALL: u64 = 12_000;

#[test]
fn both_forms_compute_every_small_built_in() {
    let mut tried = 0;
    for entry in builtin::catalogue() {
        let circuit = builtin::by_name(entry.example).expect("the catalogue's example");
        let owned = circuit.inputs().iter().all(|input| input.owner < 2.into());
        let learnt = circuit.outputs().iter().all(|output| match &output.to {
            Receivers::All => true,
            Receivers::Only(parties) => parties.iter().all(|party| *party < 2.into()),
        });
        if !owned || !learnt || Plan::new(&circuit).and_count() > SMALL {
            continue;
        }
        tried += 1;
        let bits = |(place, input): (usize, &Input)| {
            (0..input.ty.width()).map(|i| (i * i + i / 3 + place as u64) % 5 < 2).collect()
        };
        let all: Vec<Vec<bool>> = circuit.inputs().iter().enumerate().map(bits).collect();
        for form in GateForm::ALL {
            assert_runs(Setting { form, ..Setting::default() }, &circuit, &all);
        }
    }
    assert!(tried >= 10, "only {tried} of the built-in circuits are small");
}

#[test]
fn calls_pass_long_runs_of_wires() {
    for form in GateForm::ALL {
        for known in [false, true] {
            let setting = Setting { form, known, ..Setting::default() };
            let (circuit, all) = common::long_runs(setting);
            assert_runs(setting, &circuit, &all);
        }
    }
}

#[test]
fn a_form_that_a_protocol_does_not_have_is_refused() {
    let [mut net, _other] = common::networks(Setting::default());
    net.form = GateForm::FourRow;
    let refused = ywz::SPEC.set_up(&mut net).map(drop);
    assert!(matches!(&refused, Err(Error::InvalidInput(why)) if why.contains("four-row")));
}
