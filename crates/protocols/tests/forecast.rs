//! Forecasts against real runs of all parties over memory channels: bytes, messages and rounds of
//! every phase.

use symbolon_circuit::{Circuit, Receivers, builtin};
use symbolon_engine::forecast::Way;
use symbolon_engine::{GateForm, OtExtension, RunTerms, SEGMENT_GATES, TreeDepth};
use symbolon_protocols::tinytable::options::{Commitment, TinyTableOptions};
use symbolon_protocols::{Protocol, Rho};

use crate::common::{self, Setting, run_all};

const FERRET: OtExtension = OtExtension::Ferret;

/// Runs all phases, and compares each with the forecast.
#[track_caller]
fn assert_forecast(circuit: &Circuit, setting: Setting) {
    let all: Vec<Vec<bool>> = (0..setting.parties)
        .map(|party| {
            let own = circuit.inputs().iter().filter(|input| input.owner == party);
            let bits: u64 = own.map(|input| input.ty.width()).sum();
            vec![true; bits as usize * setting.executions]
        })
        .collect();
    let ended = run_all(setting, circuit, &all, |_| ());
    let terms =
        RunTerms { rho: setting.rho, executions: setting.executions, options: setting.options };
    let forms = setting.protocol.forms();
    let form = if forms.contains(&setting.form) { setting.form } else { forms[0] };
    let way = Way {
        parties: setting.parties,
        form,
        ot: setting.ot,
        terms,
        together: 1,
        segment_gates: setting.segment_gates.unwrap_or(SEGMENT_GATES),
    };
    let forecast = setting.protocol.forecast(&common::compiled(setting, circuit), &way).unwrap();
    for (party, (ended, script)) in ended.iter().zip(&forecast.scripts).enumerate() {
        ended.outputs.as_ref().unwrap();
        for told in script.phases() {
            // A protocol that makes material for the circuit alone has no phase before it.
            let phases = ended.phases.iter().filter(|phase| {
                let of_both = ["independent", "dependent"].contains(&phase.phase.as_str());
                phase.phase == told.phase
                    || (!forecast.exact_rounds && told.phase == "dependent" && of_both)
            });
            let sent: u64 = phases.clone().map(|phase| phase.bytes_sent).sum();
            let what = format!("{:?} {form}, party {party}, {}", setting.protocol, told.phase);
            if forecast.within_percent > 0 {
                let most = told.sent.bytes / 20 + 2_000;
                assert!(sent.abs_diff(told.sent.bytes) <= most, "{what}: {sent}, {told:?}");
                continue;
            }
            assert_eq!(sent, told.sent.bytes, "{what}");
            let messages: u64 = phases.clone().map(|phase| phase.messages_sent).sum();
            assert_eq!(messages, told.sent.messages, "{what}");
            let rounds: u64 = phases.map(|phase| phase.rounds).sum();
            if forecast.exact_rounds && setting.lanes == 1 {
                assert_eq!(rounds, told.rounds, "{what}: rounds");
            }
        }
    }
}

pub(crate) fn of(protocol: Protocol) -> Setting {
    Setting {
        protocol: match protocol {
            Protocol::Wrk => &symbolon_protocols::wrk::SPEC,
            Protocol::Ywz => &symbolon_protocols::ywz::SPEC,
            Protocol::TinyTable => &symbolon_protocols::tinytable::SPEC,
            Protocol::Duplo => &symbolon_protocols::duplo::SPEC,
            Protocol::DualEx => &symbolon_protocols::dualex::SPEC,
        },
        known: true,
        ..Setting::default()
    }
}

#[test]
fn garbling_between_two_is_forecast() {
    for (to, width) in [(Receivers::All, 9), (Receivers::only([0]), 200), (Receivers::only([1]), 1)]
    {
        let circuit = common::two_layers(width, to);
        for (protocol, form) in [
            (Protocol::Wrk, GateForm::FourRow),
            (Protocol::Wrk, GateForm::HalfGates),
            (Protocol::Ywz, GateForm::HalfGates),
        ] {
            for ot in OtExtension::ALL {
                assert_forecast(&circuit, Setting { form, ot, ..of(protocol) });
            }
        }
    }
    for rho in [Rho::Bits64, Rho::Bits80] {
        let circuit = common::two_layers(30, Receivers::All);
        assert_forecast(&circuit, Setting { rho, ..of(Protocol::Wrk) });
    }
}

/// Several chunks of gates and of leaky triples, and draws of masks; with threads, too, whose
/// messages are the same.
#[test]
fn long_circuits_are_forecast() {
    let circuit = common::two_layers(9_000, Receivers::All);
    for form in [GateForm::FourRow, GateForm::HalfGates] {
        for lanes in [1, 3] {
            assert_forecast(&circuit, Setting { form, lanes, ..of(Protocol::Wrk) });
        }
    }
}

#[test]
fn streamed_circuits_are_forecast() {
    let circuit = builtin::by_name("mult-schoolbook:128").unwrap();
    for form in [GateForm::FourRow, GateForm::HalfGates] {
        for segment in [4_000, 9_000] {
            let segment_gates = Some(segment);
            assert_forecast(&circuit, Setting { form, segment_gates, ..of(Protocol::Wrk) });
        }
    }
}

#[test]
fn garbling_among_several_is_forecast() {
    for parties in [3, 5] {
        let circuit = common::circuit_of(20, parties);
        for ot in [FERRET, OtExtension::Iknp, OtExtension::SoftSpoken { k: TreeDepth::Four }] {
            assert_forecast(&circuit, Setting { parties, ot, ..of(Protocol::Ywz) });
        }
    }
    let circuit = common::circuit_of(4_000, 3);
    let setting = Setting { parties: 3, ..of(Protocol::Ywz) };
    assert_forecast(&circuit, setting);
    assert_forecast(&circuit, Setting { segment_gates: Some(3_000), ..setting });
}

/// Silent OT: expansions in the set-up, several in one round, between segments, and for numbers of
/// inputs that differ.
#[test]
fn expansions_are_forecast() {
    let circuit = common::two_layers(60_000, Receivers::only([1]));
    let wrk = Setting { ot: FERRET, ..of(Protocol::Wrk) };
    for segment_gates in [None, Some(25_000)] {
        assert_forecast(&circuit, Setting { segment_gates, ..wrk });
    }
    let circuit = common::circuit_of(4_000, 3);
    let ywz = Setting { parties: 3, ot: FERRET, ..of(Protocol::Ywz) };
    for segment_gates in [None, Some(3_000)] {
        assert_forecast(&circuit, Setting { segment_gates, ..ywz });
    }
    let circuit = builtin::by_name("aes128:sbox-expanded").unwrap();
    assert_forecast(&circuit, Setting { ot: FERRET, ..of(Protocol::TinyTable) });
}

/// A protocol that draws without knowing what its peer draws refuses silent OT.
#[test]
fn the_others_have_no_silent_ot() {
    let circuit = common::two_layers(3, Receivers::All);
    for protocol in [Protocol::Duplo, Protocol::DualEx] {
        let setting = Setting { ot: FERRET, ..of(protocol) };
        let ended = run_all(setting, &circuit, &[vec![true; 3], vec![true; 3]], |_| ());
        for party in ended {
            let refused = party.outputs.unwrap_err().to_string();
            assert!(refused.contains("has no OT ferret"), "{refused}");
        }
    }
}

#[test]
fn tables_are_forecast() {
    for (circuit, executions) in [
        (common::two_layers(13, Receivers::All), 1),
        (common::two_layers(13, Receivers::only([1])), 5),
        (builtin::by_name("aes128:sbox-expanded").unwrap(), 1),
        (builtin::by_name("aes128:expanded").unwrap(), 3),
    ] {
        let setting = Setting { executions, ..of(Protocol::TinyTable) };
        assert_forecast(&circuit, setting);
        let commitment = Commitment::Code;
        let options = TinyTableOptions { commitment, ..TinyTableOptions::default() };
        assert_forecast(&circuit, Setting { options: common::chosen(options), ..setting });
    }
}

/// More windows of corrections than are sent ahead, and the larger codes of a larger ρ.
#[test]
fn long_tables_under_a_code_are_forecast() {
    let options = TinyTableOptions { commitment: Commitment::Code, ..TinyTableOptions::default() };
    let options = common::chosen(options);
    let circuit = builtin::by_name("aes128:sbox-expanded").unwrap();
    for (rho, executions) in [(Rho::Bits40, 4), (Rho::Bits80, 1)] {
        let setting = Setting { executions, options, rho, ..of(Protocol::TinyTable) };
        assert_forecast(&circuit, setting);
    }
}

#[test]
fn dual_executions_are_forecast() {
    for (name, executions) in [("add:8", 1), ("add:16", 5), ("aes128", 2)] {
        let circuit = builtin::by_name(name).unwrap();
        for ot in [OtExtension::Iknp, OtExtension::SoftSpoken { k: TreeDepth::Eight }] {
            assert_forecast(&circuit, Setting { executions, ot, ..of(Protocol::DualEx) });
        }
    }
}

#[test]
fn components_are_forecast_to_within_a_twentieth() {
    for (name, executions) in [("aes128", 1), ("aes128", 4), ("sort:16x16", 1)] {
        let circuit = builtin::by_name(name).unwrap();
        let ot = OtExtension::SoftSpoken { k: TreeDepth::Four };
        assert_forecast(&circuit, Setting { executions, ot, ..of(Protocol::Duplo) });
    }
}
