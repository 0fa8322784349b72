//! Checks how many bytes a party sends against the forecast.

use symbolon_circuit::{Circuit, builtin};
use symbolon_engine::{Compiled, OtExtension, Prepared};
use symbolon_ot::draw_bytes;

use super::runs::example;
use super::tools::{Setting, apart, both, inputs_of, networks, prg, random_inputs};
use crate::dualex::options::{DualExOptions, KappaBPer, PsiForm};
use crate::dualex::{
    engine::set_up_own,
    forecast::{Forecast, Plans},
    function::Function,
};

/// Bytes of a message besides its content.
const FRAME: u64 = 8;

/// Returns the bytes that a party sends in the set-up: the base OTs of one direction, from which
/// the base OTs of the other are extended. IKNP needs nothing else.
fn set_up(party: usize) -> u64 {
    match party {
        // The point of the base OTs, and a draw whose choice bits are this party's own Δ.
        0 => 32 + draw_bytes(OtExtension::Iknp, 128) as u64 + 3 * FRAME,
        _ => 80 * 128 + FRAME,
    }
}

fn forecast(circuit: &Circuit, setting: Setting, one_by_one: bool, ot: OtExtension) -> Forecast {
    Forecast::of(&Function::of(circuit).unwrap(), &setting.params(), one_by_one, ot)
}

/// Runs all phases and compares what each party sends offline and online with the forecast.
fn assert_bytes(circuit: &Circuit, setting: Setting, one_by_one: bool) {
    let all = random_inputs(circuit, setting.sizes[0] as usize, &mut prg(1));
    let reports = both(networks(setting), [(); 2], &|net, ()| {
        net.meter.set_phase("set-up");
        let mut engine = set_up_own(net)?;
        net.meter.set_phase("offline");
        let compiled = Compiled::new(circuit);
        let prepared = engine.prepare_batch(net, &compiled, setting.params())?;
        net.meter.set_phase("online");
        let party = net.me.number();
        if one_by_one {
            for (prepared, one) in apart(prepared).into_iter().zip(all.chunks(1)) {
                prepared.evaluate(net, &compiled, &inputs_of(circuit, party, one))?;
            }
        } else {
            Box::new(prepared).evaluate(net, &compiled, &inputs_of(circuit, party, &all))?;
        }
        Ok(net.meter.report())
    });
    let Forecast { offline, online, .. } =
        forecast(circuit, setting, one_by_one, OtExtension::Iknp);
    let most = if setting.psi == PsiForm::Asynchronous { 5 } else { 6 };
    for (party, report) in reports.into_iter().enumerate() {
        let report = report.unwrap();
        let phase = |name: &str| report.iter().find(|phase| phase.phase == name).unwrap();
        let sent = ["offline", "online"].map(|name| phase(name).bytes_sent);
        assert_eq!(sent, [offline[party], online[party]], "party {party}, {setting:?}");
        let rounds = phase("online").rounds;
        assert!(one_by_one || rounds <= most, "{rounds} rounds, {setting:?}");
        let (sent, formula) = (phase("set-up").bytes_sent, set_up(party));
        assert!(sent.abs_diff(formula) <= formula / 20, "{sent}, not {formula}, party {party}");
    }
}

#[test]
fn a_party_sends_as_many_bytes_as_forecast() {
    for psi in PsiForm::ALL {
        let setting = Setting { psi, sizes: [12, 3, 60], ..Setting::default() };
        for one_by_one in [false, true] {
            assert_bytes(&example(), setting, one_by_one);
        }
        let aes = builtin::by_name("aes128").unwrap();
        assert_bytes(&aes, Setting { sizes: [3, 3, 12], ..setting }, false);
        // A party without inputs, and circuits that fill several draws of OTs.
        let add = builtin::by_name("add:64").unwrap();
        for owner in [0, 1] {
            let of_one = add.clone().with_owners(&[owner; 2]).unwrap();
            assert_bytes(&of_one, Setting { sizes: [1, 1, 3], ..setting }, false);
        }
        assert_bytes(&add, Setting { sizes: [4, 2, 190], lanes: 2, ..setting }, false);
    }
}

/// The figures for AES in docs/protocols.md: what a party sends for an execution, all phases, in
/// kilobytes.
#[test]
fn an_execution_of_aes_costs_as_much_as_documented() {
    let aes = builtin::by_name("aes128").unwrap();
    let kilobytes = |executions, kappa_b_per| {
        let options = DualExOptions { kappa_b_per, ..DualExOptions::default() };
        let plans = Plans { executions, options, ..Plans::default() };
        let forecast = Forecast::new(&aes, plans).unwrap();
        assert_eq!(forecast.executions, executions as u64);
        let sent = forecast.offline[0] + forecast.online[0];
        (sent as f64 / executions as f64 / 1e3).round() as u64
    };
    let page = include_str!("../../../../../docs/protocols.md");
    for per in KappaBPer::ALL {
        let cells = [1, 2, 8, 32, 128, 1024].map(|n| match kilobytes(n, per) {
            n if n < 1000 => n.to_string(),
            n => format!("{} {:03}", n / 1000, n % 1000),
        });
        let row = format!("| {} |\n", cells.join(" | "));
        assert!(page.contains(&row), "docs/protocols.md should have {row}");
    }
}
