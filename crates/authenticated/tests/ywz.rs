//! `ywz` among n parties against the reference evaluation.

use crate::common::{self, Setting, assert_runs, circuit, receivers};
use proptest::prelude::*;
use symbolon_authenticated::ywz;
use symbolon_circuit::Receivers;
use symbolon_engine::Rho;

fn setting(parties: u16) -> Setting {
    Setting { protocol: &ywz::SPEC, parties, ..Setting::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn random_circuits(
        widths in prop::collection::vec(1u32..6, 2..5),
        steps in prop::collection::vec(any::<(u8, u32, u32)>(), 0..80),
        outputs in prop::collection::vec(
            (prop::collection::vec(any::<u32>(), 1..6), receivers(4)), 1..4),
        bits in prop::collection::vec(any::<bool>(), 24),
        known: bool,
    ) {
        let parties = widths.len() as u16;
        let outputs = outputs
            .into_iter()
            .map(|(wires, to)| match to {
                Receivers::Only(set) => {
                    (wires, Receivers::Only(set.into_iter().filter(|p| *p < parties.into()).collect()))
                }
                all => (wires, all),
            })
            .collect();
        let circuit = circuit(&widths, &steps, outputs);
        let all: Vec<Vec<bool>> =
            widths.iter().zip(bits.chunks(6)).map(|(&w, b)| b[..w as usize].to_vec()).collect();
        assert_runs(Setting { known, ..setting(parties) }, &circuit, &all);
    }
}

#[test]
fn calls_pass_long_runs_of_wires() {
    for (parties, known) in [(2, false), (2, true), (3, false), (3, true)] {
        let setting = Setting { known, ..setting(parties) };
        let (circuit, all) = common::long_runs(setting);
        assert_runs(setting, &circuit, &all);
    }
}

#[test]
fn many_parties_every_rho_and_several_lanes() {
    let steps: Vec<_> = (0..200u32).map(|i| ((i % 5) as u8, i * 7 + 1, i * 11 + 3)).collect();
    let outputs =
        vec![((150..180).collect(), Receivers::All), (vec![190, 191], Receivers::only([1]))];
    let circuit = circuit(&[8, 8], &steps, outputs);
    let all = [vec![true; 8], vec![false, true, false, true, false, true, true, true]];
    let known = true;
    for (parties, rho, lanes) in [
        (2, Rho::Bits40, 2),
        (2, Rho::Bits80, 1),
        (3, Rho::Bits64, 2),
        (5, Rho::Bits40, 1),
        (8, Rho::Bits40, 1),
    ] {
        assert_runs(Setting { rho, lanes, known, ..setting(parties) }, &circuit, &all);
    }
}
