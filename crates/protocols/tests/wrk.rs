//! `wrk` between two parties against the reference evaluation.
#![allow(missing_docs)]

mod common;

use common::{Setting, assert_runs, circuit, receivers};
use proptest::prelude::*;
use symbolon_circuit::Receivers;
use symbolon_protocols::{Generator, Rho};

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
        assert_runs(Setting { known, ..Setting::default() }, &circuit, &all);
    }
}

#[test]
fn every_rho_and_several_lanes() {
    let steps: Vec<_> = (0..200u32).map(|i| ((i % 5) as u8, i * 7 + 1, i * 11 + 3)).collect();
    let circuit = circuit(&[8, 8], &steps, vec![((150..200).collect(), Receivers::All)]);
    let all = [vec![true; 8], vec![false, true, false, true, false, true, true, true]];
    for rho in [Rho::Bits40, Rho::Bits64, Rho::Bits80] {
        for lanes in [1, 3] {
            let known = lanes == 1;
            assert_runs(Setting { rho, lanes, known, ..Setting::default() }, &circuit, &all);
        }
    }
}

#[test]
fn every_generator() {
    let steps: Vec<_> = (0..300u32).map(|i| ((i % 7) as u8, i * 5 + 2, i * 13 + 1)).collect();
    let circuit = circuit(&[8, 8], &steps, vec![((200..250).collect(), Receivers::All)]);
    let all = [vec![true, true, false, true, false, false, true, false], vec![false; 8]];
    for ot in Generator::ALL {
        for lanes in [1, 2] {
            assert_runs(Setting { ot, lanes, ..Setting::default() }, &circuit, &all);
        }
    }
}
