//! All phases at once, segment by segment, against the reference evaluation.

use std::{sync::mpsc, time::Duration};

use crate::common::{self, Setting, assert_runs, circuit, receivers};
use proptest::prelude::*;
use symbolon_authenticated::{wrk, ywz};
use symbolon_circuit::{Receivers, builtin};
use symbolon_engine::{GateForm, OtExtension, Rho};
use symbolon_transport::adversary::{Action, FnAdversary};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn random_circuits_between_two(
        widths in [1u32..9, 1u32..9],
        steps in prop::collection::vec(any::<(u8, u32, u32)>(), 0..120),
        outputs in prop::collection::vec(
            (prop::collection::vec(any::<u32>(), 1..6), receivers(2)), 1..4),
        bits in prop::collection::vec(any::<bool>(), 16),
        segment_gates in 1u64..40,
        lanes in 1usize..4,
    ) {
        let circuit = circuit(&widths, &steps, outputs);
        let (a, b) = bits.split_at(8);
        let all = [a[..widths[0] as usize].to_vec(), b[..widths[1] as usize].to_vec()];
        for form in [GateForm::FourRow, GateForm::HalfGates] {
            let segment_gates = Some(segment_gates);
            assert_runs(Setting { form, segment_gates, lanes, ..Setting::default() }, &circuit, &all);
        }
    }

    #[test]
    fn random_circuits_among_several(
        widths in prop::collection::vec(1u32..6, 2..5),
        steps in prop::collection::vec(any::<(u8, u32, u32)>(), 0..80),
        outputs in prop::collection::vec(prop::collection::vec(any::<u32>(), 1..6), 1..4),
        everybody: bool,
        bits in prop::collection::vec(any::<bool>(), 24),
        segment_gates in 1u64..40,
        lanes in 1usize..4,
    ) {
        let parties = widths.len() as u16;
        let to = if everybody { Receivers::All } else { Receivers::only([parties - 1]) };
        let outputs = outputs.into_iter().map(|wires| (wires, to.clone())).collect();
        let circuit = circuit(&widths, &steps, outputs);
        let all: Vec<Vec<bool>> =
            widths.iter().zip(bits.chunks(6)).map(|(&w, b)| b[..w as usize].to_vec()).collect();
        let protocol = &ywz::SPEC;
        let segment_gates = Some(segment_gates);
        let setting = Setting { protocol, parties, segment_gates, lanes, ..Setting::default() };
        assert_runs(setting, &circuit, &all);
    }
}

/// For a circuit of free gates alone, nothing is made and no masks are computed.
#[test]
fn circuits_without_and_gates() {
    let steps: Vec<_> = (0..9u32).map(|i| (3, i, 15 - i)).collect();
    let circuit = common::circuit(&[8, 8], &steps, vec![((16..25).collect(), Receivers::All)]);
    assert_eq!(common::compiled(Setting::default(), &circuit).plan().and_count(), 0);
    let all = [vec![true; 8], vec![false, true, true, false, true, false, false, true]];
    for (protocol, lanes) in [(&wrk::SPEC, 1), (&wrk::SPEC, 2), (&ywz::SPEC, 1)] {
        let setting = Setting { protocol, lanes, segment_gates: Some(12), ..Setting::default() };
        assert_runs(setting, &circuit, &all);
    }
}

/// Each segment's triples are rounded up, so that the last of the planned batches has no gates left
/// to be used for: 46 batches of 3 386 for 150 000 gates. Nobody may wait for it.
#[test]
fn batches_that_no_gate_needs_are_not_made() {
    let circuit = common::two_layers(75_000, Receivers::All);
    let all = [vec![true; 75_000], vec![false; 75_000]];
    for lanes in [1, 2] {
        let segment_gates = Some(3_300);
        assert_runs(Setting { lanes, segment_gates, ..Setting::default() }, &circuit, &all);
    }
}

/// With separate lanes the next segment is made while this one is garbled: the first table is sent
/// only once the second segment's triples are in their buckets.
#[test]
fn the_next_stretch_is_made_meanwhile() {
    let circuit = common::two_layers(24, Receivers::All);
    let all = [vec![true; 24], vec![false; 24]];
    // Four segments of twelve gates.
    let setting = Setting { lanes: 3, segment_gates: Some(12), ..Setting::default() };
    let (made, wait) = mpsc::channel();
    let maker = FnAdversary::new().on_message("bucketing: d", 1, move |_| {
        made.send(()).unwrap();
        Action::Send
    });
    let walker = FnAdversary::new().on_message("garbled table", 0, move |_| {
        wait.recv_timeout(Duration::from_secs(60)).expect("the second segment_gates is not made");
        Action::Send
    });
    let ended = common::run_all(setting, &circuit, &all, |nets| {
        nets.iter_mut().flat_map(|net| net.lanes.iter_mut().flatten()).for_each(|channel| {
            channel.set_timeout(Duration::from_secs(60));
        });
        nets[0].lanes[0][0].set_adversary(Box::new(walker));
        nets[0].lanes[1][0].set_adversary(Box::new(maker));
    });
    assert!(ended.iter().all(|ended| ended.outputs.is_ok()));
}

/// Several segments, ended by plans with components, on more lanes and with every generator.
#[test]
fn components_lanes_and_generators() {
    let circuit = builtin::by_name("aes128").unwrap();
    let all = [vec![true; 128], (0..128).map(|i| i % 3 == 0).collect()];
    for (protocol, form, lanes, ot, rho) in [
        (&wrk::SPEC, GateForm::FourRow, 1, OtExtension::ALL[0], Rho::Bits40),
        (&wrk::SPEC, GateForm::HalfGates, 2, OtExtension::ALL[1], Rho::Bits64),
        (&ywz::SPEC, GateForm::HalfGates, 3, OtExtension::ALL[2], Rho::Bits80),
        (&wrk::SPEC, GateForm::FourRow, 2, OtExtension::Ferret, Rho::Bits40),
    ] {
        let segment_gates = Some(1500);
        let setting =
            Setting { protocol, form, lanes, ot, rho, segment_gates, ..Setting::default() };
        assert_runs(setting, &circuit, &all);
    }
}

/// A run in segments sends as much for its gates as the separate phases, plus a bounded number of
/// bytes per segment.
#[test]
fn one_stretch_costs_what_the_phases_do() {
    let circuit = common::two_layers(400, Receivers::All);
    let all = [vec![true; 400], vec![false; 400]];
    for (protocol, parties) in [(&wrk::SPEC, 2), (&ywz::SPEC, 2), (&ywz::SPEC, 3)] {
        let known = Setting { protocol, parties, known: true, ..Setting::default() };
        let streamed = Setting { segment_gates: Some(1 << 20), ..known };
        let [apart, at_once] = [known, streamed].map(|setting| {
            let all: Vec<_> = (0..circuit.inputs().len()).map(|i| all[i].clone()).collect();
            let ended = assert_runs(setting, &circuit, &all);
            let sent = |ended: &common::Ended| -> u64 {
                ended.phases.iter().map(|phase| phase.bytes_sent).sum()
            };
            ended.iter().map(sent).sum::<u64>()
        });
        // Masked inputs come before the first triples here, so the masks have an echo of their own.
        let echo = if parties > 2 { 6 * 40 } else { 0 };
        assert!(
            at_once.abs_diff(apart + echo) <= 200,
            "{protocol:?} {parties}: {apart}, {at_once}"
        );
    }
}
