//! How many round trips a run takes over a long link, by phase: scripts of all parties, which
//! `forecast` compares with runs, are played over a link whose messages take half a round trip, and
//! on machines that take no time.

use symbolon_circuit::{Circuit, builtin};
use symbolon_engine::forecast::Way;
use symbolon_engine::{GateForm, OtExtension, RunTerms, SEGMENT_GATES, TreeDepth};
use symbolon_protocols::{Protocol, Rho};
use symbolon_transport::script::{LinkModel, play};

use crate::common::{self, Setting};
use crate::forecast::of;

/// Returns the round trips of each phase, at the party that ends last.
fn round_trips(protocol: Protocol, circuit: &Circuit, parties: u16) -> Vec<(&'static str, f64)> {
    let setting = Setting { parties, ..of(protocol) };
    let terms = RunTerms { rho: Rho::Bits40, executions: 1, options: setting.options };
    let way = Way {
        parties,
        form: if parties == 2 { GateForm::FourRow } else { GateForm::HalfGates },
        ot: OtExtension::SoftSpoken { k: TreeDepth::Four },
        terms,
        together: 1,
        segment_gates: SEGMENT_GATES,
    };
    let forecast = protocol.forecast(&common::compiled(setting, circuit), &way).unwrap();
    let link = LinkModel { trip: 0.5, byte: 0.0 };
    let played = play(&forecast.scripts, link, |_| 0.0).unwrap();
    let end = |phases: &Vec<(&str, f64)>| phases.iter().map(|(_, trips)| trips).sum::<f64>();
    played.into_iter().max_by(|a, b| end(a).total_cmp(&end(b))).unwrap()
}

/// One AES-128 with four rows, after the connection: base OTs and trees; the masks, and for the
/// triples draws, U, d, V, commitments and what they open; openings and rows; masked inputs,
/// labels, and what the garbler learns.
#[test]
fn two_parties_wait_no_longer_than_this() {
    let circuit = builtin::by_name("aes128").unwrap();
    let trips = round_trips(Protocol::Wrk, &circuit, 2);
    assert_eq!(trips, [("setup", 1.5), ("independent", 4.0), ("dependent", 1.0), ("online", 2.0)]);
}

/// As above, with the check of global keys and all echoes.
#[test]
fn three_parties_wait_no_longer_than_this() {
    let circuit = builtin::by_name("auction:3x16").unwrap();
    let trips = round_trips(Protocol::Ywz, &circuit, 3);
    assert_eq!(trips, [("setup", 5.5), ("independent", 5.5), ("dependent", 0.5), ("online", 3.5)]);
}
