//! With two lanes, a circuit of several chunks sends its masks' openings on the second lane while
//! the first carries garbled gates. With material of several batches, the masks of one batch are
//! drawn before the triples of the previous one.

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{self, Setting};
use symbolon_authenticated::{wrk, ywz};
use symbolon_circuit::{Circuit, Receivers};
use symbolon_engine::{GateForm, ProtocolSpec};
use symbolon_transport::adversary::{Action, FnAdversary};

/// The number of AND gates in a chunk.
const CHUNK: u32 = 8192;

const OPENINGS: &str = "Beaver: d, e";
const GARBLED: [&str; 2] = ["garbled table", "garbled gates"];
const DRAWN: &str = "aBit: check";

fn circuit(parties: u16, ands: u32) -> Circuit {
    match parties {
        2 => common::two_layers(ands / 2, Receivers::All),
        n => common::circuit_of(ands / 2, n),
    }
}

fn inputs(circuit: &Circuit) -> Vec<Vec<bool>> {
    let bits = |(party, input): (usize, &symbolon_circuit::Input)| {
        (0..input.ty.width() as usize).map(|i| (i * i + party * i + i / 3) % 5 < 3).collect()
    };
    circuit.inputs().iter().enumerate().map(bits).collect()
}

#[test]
fn all_protocols_compute_what_they_should() {
    for (protocol, parties, form, known) in [
        (&wrk::SPEC, 2, GateForm::FourRow, false),
        (&wrk::SPEC, 2, GateForm::FourRow, true),
        (&wrk::SPEC, 2, GateForm::HalfGates, true),
        (&ywz::SPEC, 3, GateForm::HalfGates, false),
        (&ywz::SPEC, 3, GateForm::HalfGates, true),
    ] {
        let circuit = circuit(parties, 2 * CHUNK + 600);
        for lanes in [2, 3] {
            let setting = Setting { protocol, parties, form, known, lanes, ..Setting::default() };
            common::assert_runs(setting, &circuit, &inputs(&circuit));
        }
    }
}

/// Returns how many messages of openings, and of garbled gates, both parties send on each of two
/// lanes.
fn on_lanes(protocol: &'static ProtocolSpec, ands: u32) -> [[usize; 2]; 2] {
    let setting = Setting { protocol, lanes: 2, ..Setting::default() };
    let circuit = circuit(2, ands);
    let seen = Arc::new(Mutex::new([[0; 2]; 2]));
    let ended = common::run_all(setting, &circuit, &inputs(&circuit), |nets| {
        for net in nets {
            for (lane, peers) in net.lanes.iter_mut().enumerate() {
                let seen = seen.clone();
                let count = FnAdversary::new().on_outgoing(move |kind, _, _| {
                    let mut seen = seen.lock().unwrap();
                    seen[lane][0] += usize::from(kind == OPENINGS);
                    seen[lane][1] += usize::from(GARBLED.contains(&kind));
                    Action::Send
                });
                peers[0].set_adversary(Box::new(count));
            }
        }
    });
    assert!(ended.iter().all(|ended| ended.outputs.is_ok()));
    *seen.lock().unwrap()
}

/// The gates of a single chunk use only the first lane, which saves a thread; more chunks use one
/// lane for each kind of message.
#[test]
fn openings_have_the_second_lane_when_there_are_chunks_to_run_ahead() {
    for protocol in [&wrk::SPEC, &ywz::SPEC] {
        assert_eq!(on_lanes(protocol, CHUNK), [[2, 8], [0, 0]]);
        assert_eq!(on_lanes(protocol, CHUNK + 2), [[0, 9], [4, 0]]);
    }
}

/// On one thread the first chunk is garbled after the openings of the first seven chunks are sent,
/// and before the next ones.
#[test]
fn the_masks_run_ahead_of_garbling() {
    let setting = Setting { lanes: 2, ..Setting::default() };
    let circuit = circuit(2, 8 * CHUNK);
    let (ahead, wait) = mpsc::channel();
    let masks = FnAdversary::new().on_message(OPENINGS, 7, move |_| {
        ahead.send(()).unwrap();
        Action::Send
    });
    let labels = FnAdversary::new().on_message(GARBLED[0], 0, move |_| {
        wait.recv_timeout(Duration::from_secs(60)).expect("the masks wait for garbled gates");
        Action::Send
    });
    let ended = common::run_all(setting, &circuit, &inputs(&circuit), |nets| {
        nets.iter_mut().flat_map(|net| net.lanes.iter_mut().flatten()).for_each(|channel| {
            channel.set_timeout(Duration::from_secs(60));
        });
        nets[0].lanes[1][0].set_adversary(Box::new(masks));
        nets[0].lanes[0][0].set_adversary(Box::new(labels));
    });
    assert!(ended.iter().all(|ended| ended.outputs.is_ok()));
}

/// Batches of a few gates, few of which have both of their inputs' masks from the same batch: the
/// pass that computes them must be where the threads that make the material expect it.
#[test]
fn material_is_made_in_several_batches() {
    for (protocol, parties, form) in [
        (&wrk::SPEC, 2, GateForm::FourRow),
        (&wrk::SPEC, 2, GateForm::HalfGates),
        (&ywz::SPEC, 2, GateForm::HalfGates),
        (&ywz::SPEC, 3, GateForm::HalfGates),
    ] {
        let circuit = circuit(parties, 70);
        let inputs = inputs(&circuit);
        for (lanes, segment) in [(2, 1), (2, 35), (3, 9), (3, 69), (3, 70)] {
            let known = true;
            let setting = Setting { protocol, parties, form, lanes, known, ..Setting::default() };
            let ended = common::run_all(setting, &circuit, &inputs, |nets| {
                nets.iter_mut().for_each(|net| net.segment_gates = segment);
            });
            for (party, ended) in (0..).zip(ended) {
                let expected = common::expected(&circuit, party, &inputs);
                assert_eq!(ended.outputs.unwrap(), expected, "{lanes} lanes, {segment} gates");
            }
        }
    }
}

/// Returns for how many draws of correlated OTs party 0 has sent its part before it sends the first
/// U of each batch's triples.
fn draws_before_triples(lanes: usize) -> Vec<usize> {
    let setting = Setting { lanes, known: true, ..Setting::default() };
    let circuit = circuit(2, 48);
    let seen = Arc::new(Mutex::new((0, Vec::new())));
    let log = seen.clone();
    let count = FnAdversary::new().on_outgoing(move |kind, _, _| {
        let (draws, before) = &mut *log.lock().unwrap();
        *draws += usize::from(kind == DRAWN);
        if kind == "leaky AND: U" {
            before.push(*draws);
        }
        Action::Send
    });
    let ended = common::run_all(setting, &circuit, &inputs(&circuit), |nets| {
        nets.iter_mut().for_each(|net| net.segment_gates = 16);
        nets[0].makers()[0][0].set_adversary(Box::new(count));
    });
    assert!(ended.iter().all(|ended| ended.outputs.is_ok()));
    let (_, before) = &*seen.lock().unwrap();
    before.clone()
}

/// Three batches, each with a draw of masks, one for the check of triples and one of triples. The
/// first has the masks of the inputs, too. With spare lanes the masks of the next batch are drawn
/// before the triples.
#[test]
fn masks_are_drawn_a_batch_ahead() {
    assert_eq!(draws_before_triples(1), [3, 6, 9]);
    assert_eq!(draws_before_triples(2), [4, 7, 9]);
}
