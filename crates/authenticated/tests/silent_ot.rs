//! Whole runs over silent OT: against the reference evaluation, and with a party that cheats in an
//! expansion before, between and after what others of its messages depend on.

use crate::common::{self, Setting, assert_runs, circuit, receivers};
use proptest::prelude::*;
use symbolon_authenticated::{tinytable, wrk, ywz};
use symbolon_circuit::Receivers;
use symbolon_engine::{GateForm, OtExtension, ProtocolSpec, Rho};
use symbolon_transport::adversary::{Action, FnAdversary};

fn silent(protocol: &'static ProtocolSpec, parties: u16) -> Setting {
    Setting { protocol, parties, ot: OtExtension::Ferret, ..Setting::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn random_circuits_over_silent_ot(
        widths in prop::collection::vec(1u32..6, 2..4),
        steps in prop::collection::vec(any::<(u8, u32, u32)>(), 0..80),
        outputs in prop::collection::vec(
            (prop::collection::vec(any::<u32>(), 1..6), receivers(2)), 1..4),
        bits in prop::collection::vec(any::<bool>(), 18),
        (known, streams, lanes) in any::<(bool, bool, bool)>(),
        rho in prop::sample::select(vec![Rho::Bits40, Rho::Bits64, Rho::Bits80]),
        form in prop::sample::select(GateForm::ALL.to_vec()),
    ) {
        let parties = widths.len() as u16;
        let circuit = circuit(&widths, &steps, outputs);
        let all: Vec<Vec<bool>> =
            widths.iter().zip(bits.chunks(6)).map(|(&w, b)| b[..w as usize].to_vec()).collect();
        let segment_gates = streams.then_some(20);
        let lanes = 1 + usize::from(lanes);
        let protocol = if parties == 2 { &wrk::SPEC } else { &ywz::SPEC };
        let setting = Setting { known, lanes, rho, form, segment_gates, ..silent(protocol, parties) };
        assert_runs(setting, &circuit, &all);
    }
}

/// Bits of one party's inputs.
fn bits(width: usize, party: usize) -> Vec<bool> {
    (0..width).map(|i| (i * i + party * i + i / 3) % 5 < 3).collect()
}

/// Several batches, draws and lanes, more than the first expansion gives, and segments.
#[test]
fn long_circuits_over_silent_ot() {
    let width = 20_000;
    let circuit = common::two_layers(width as u32, Receivers::All);
    let inputs = [bits(width, 0), bits(width, 1)];
    for (protocol, form, lanes, segment_gates) in [
        (&wrk::SPEC, GateForm::FourRow, 1, None),
        (&wrk::SPEC, GateForm::HalfGates, 3, None),
        (&ywz::SPEC, GateForm::HalfGates, 2, Some(9_000)),
        (&wrk::SPEC, GateForm::FourRow, 1, Some(15_000)),
    ] {
        let setting = Setting { form, lanes, segment_gates, ..silent(protocol, 2) };
        assert_runs(setting, &circuit, &inputs);
    }
    let circuit = common::circuit_of(4_000, 3);
    let inputs = [bits(4_000, 0), bits(4_000, 1), bits(4_000, 2)];
    for (lanes, segment_gates) in [(1, None), (2, Some(3_000))] {
        let setting = Setting { lanes, segment_gates, ..silent(&ywz::SPEC, 3) };
        assert_runs(setting, &circuit, &inputs);
    }
}

#[test]
fn tables_over_silent_ot() {
    let circuit = common::two_layers(300, Receivers::All);
    let inputs = [bits(300, 0), bits(300, 1)];
    assert_runs(silent(&tinytable::SPEC, 2), &circuit, &inputs);
}

/// Runs `circuit` while a party changes one of its messages to a peer on the first lane. The peer
/// must catch it.
#[track_caller]
fn assert_expansion_caught(
    setting: Setting,
    width: usize,
    (kind, number): (&'static str, usize),
    (cheater, victim): (u16, u16),
) {
    let circuit = match setting.parties {
        2 => common::two_layers(width as u32, Receivers::All),
        n => common::circuit_of(width as u32, n),
    };
    let all: Vec<Vec<bool>> =
        (0..usize::from(setting.parties)).map(|party| bits(width, party)).collect();
    let cheat = FnAdversary::new().on_message(kind, number, |payload| {
        payload[17] ^= 1;
        Action::Send
    });
    let ended = common::run_all(setting, &circuit, &all, |nets| {
        let peers = &mut nets[usize::from(cheater)].lanes[0];
        let to_victim = peers.iter_mut().find(|channel| channel.peer() == victim).unwrap();
        to_victim.set_adversary(Box::new(cheat));
    });
    common::assert_caught(&ended[usize::from(victim)], cheater, "silent OT consistency");
    assert!(ended.iter().all(|ended| ended.outputs.is_err()));
}

/// The first expansion; those of the round after it; and one between the segments of a stream, when
/// tables of earlier segments are out.
/// Cheat: `wrk`, `ywz` 2, Ferret | any expansion of a run | a wrong sum, or a wrong answer |
/// `silent OT consistency` | always
#[test]
fn a_wrong_expansion_ends_a_run() {
    for kind in ["ferret: sums", "ferret: answer"] {
        for cheater in [0, 1] {
            let pair = (cheater, 1 - cheater);
            assert_expansion_caught(silent(&wrk::SPEC, 2), 50, (kind, 0), pair);
            assert_expansion_caught(silent(&ywz::SPEC, 2), 20_000, (kind, 1), pair);
            let stream = Setting { segment_gates: Some(9_000), ..silent(&wrk::SPEC, 2) };
            assert_expansion_caught(stream, 20_000, (kind, 1), pair);
        }
    }
}

/// Cheat: `ywz` 3, one, Ferret | any expansion of a run | a wrong sum or answer towards one of
/// two | `silent OT consistency` | always
#[test]
fn a_wrong_expansion_towards_one_of_two() {
    for kind in ["ferret: sums", "ferret: answer"] {
        for (cheater, victim) in [(0, 2), (2, 0), (1, 2)] {
            assert_expansion_caught(silent(&ywz::SPEC, 3), 20, (kind, 0), (cheater, victim));
        }
    }
}

/// A garbler whose Δ in the trees is not the one of its labels.
/// Cheat: `ywz` 2, Ferret | an expansion of a run | trees for another Δ | `silent OT consistency` |
/// always
#[test]
fn trees_for_another_delta_end_a_run() {
    let circuit = common::two_layers(50, Receivers::All);
    for cheater in [0, 1] {
        let ended =
            common::run_all(silent(&ywz::SPEC, 2), &circuit, &[bits(50, 0), bits(50, 1)], |nets| {
                let other = FnAdversary::new().on_state(|point, delta| {
                    if point == "ferret: delta" {
                        delta[9] ^= 8;
                    }
                });
                nets[cheater].lanes[0][0].set_adversary(Box::new(other));
            });
        let cheater = cheater as u16;
        common::assert_caught(&ended[usize::from(1 - cheater)], cheater, "silent OT consistency");
    }
}
