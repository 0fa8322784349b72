//! `dualex` against the reference evaluation, with its real parameters.

use crate::common::apart::session;
use crate::common::{self, Setting, chosen, inputs_of, receivers, run_all};
use proptest::prelude::*;
use symbolon_circuit::{Circuit, Plan, Receivers, bristol, builtin, eval_ports};
use symbolon_copies::dualex::{
    self,
    forecast::{Forecast, Plans},
    options::{DualExOptions, KappaBPer, PsiForm},
};
use symbolon_engine::{Compiled, Demand, GateForm, Network, OutputBits, Rho};
use symbolon_primitives::BitVec;
use symbolon_transport::{Error, Result};

fn setting(executions: usize, psi: PsiForm) -> Setting {
    with(executions, DualExOptions { psi, ..DualExOptions::default() })
}

fn with(executions: usize, options: DualExOptions) -> Setting {
    let (protocol, options) = (&dualex::SPEC, chosen(options));
    Setting { protocol, form: GateForm::HalfGates, executions, options, ..Setting::default() }
}

fn bits(seed: u64, n: usize) -> Vec<bool> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 40 & 1 == 1
    };
    (0..n).map(next).collect()
}

/// Returns inputs of this many executions, joined.
fn inputs(circuit: &Circuit, executions: usize, seed: u64) -> Vec<Vec<bool>> {
    let width = |k: usize| circuit.inputs()[k].ty.width() as usize * executions;
    (0..circuit.inputs().len()).map(|k| bits(seed + k as u64, width(k))).collect()
}

/// Returns what `party` should learn from this many executions.
fn expected(circuit: &Circuit, party: u16, all: &[Vec<bool>], executions: usize) -> OutputBits {
    let mut outputs: OutputBits = circuit
        .outputs()
        .iter()
        .map(|port| port.to.contains(party).then(BitVec::default))
        .collect();
    for i in 0..executions {
        let part = |bits: &Vec<bool>| {
            let width = bits.len() / executions;
            bits[i * width..(i + 1) * width].to_vec()
        };
        let values = eval_ports(circuit, &all.iter().map(part).collect::<Vec<_>>()).unwrap();
        for (output, values) in outputs.iter_mut().zip(values) {
            if let Some(output) = output {
                output.extend(values);
            }
        }
    }
    outputs
}

fn assert_runs(setting: Setting, circuit: &Circuit, seed: u64) {
    let executions = setting.executions;
    let all = inputs(circuit, executions, seed);
    for (party, ended) in (0..).zip(run_all(setting, circuit, &all, |_| ())) {
        let outputs = ended.outputs.unwrap_or_else(|error| panic!("{party}: {error}"));
        assert!(outputs == expected(circuit, party, &all, executions), "party {party}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn random_circuits(
        steps in prop::collection::vec(any::<(u8, u32, u32)>(), 0..60),
        to in [receivers(2), receivers(2)],
        executions in 1usize..4,
        psi in prop::sample::select(&PsiForm::ALL),
        seed in 0u64..1 << 40,
    ) {
        let [first, second] = to;
        let outputs = vec![(vec![3, 20, 7], first), (vec![60, 5], second)];
        let circuit = common::circuit(&[4, 5], &steps, outputs);
        assert_runs(setting(executions, psi), &circuit, seed);
    }
}

#[test]
fn circuits_without_outputs_or_inputs_of_a_party() {
    let step = |out: u32| (0, out, out + 1);
    for (widths, to) in [
        ([3, 1], Receivers::All),
        ([1, 3], Receivers::only([0])),
        ([2, 2], Receivers::Only(vec![])),
    ] {
        let circuit = common::circuit(&widths, &[step(0), step(1)], vec![(vec![2, 3, 4], to)]);
        assert_runs(setting(2, PsiForm::Synchronous), &circuit, 5);
    }
    // All inputs belong to party 1, then to party 0.
    for owner in [1, 0] {
        let circuit = common::two_layers(5, Receivers::only([0]));
        let circuit = circuit.with_owners(&[owner; 2]).unwrap();
        assert_runs(setting(2, PsiForm::Synchronous), &circuit, 5);
    }
}

#[test]
fn builtin_circuits_and_every_rho() {
    for (name, executions, psi, rho, lanes) in [
        ("add:8", 40, PsiForm::Synchronous, Rho::Bits40, 1),
        ("add:8", 3, PsiForm::Asynchronous, Rho::Bits64, 2),
        ("add:16", 2, PsiForm::Synchronous, Rho::Bits80, 1),
        ("aes128", 4, PsiForm::Synchronous, Rho::Bits40, 3),
        ("sort:8x16", 1, PsiForm::Asynchronous, Rho::Bits40, 1),
    ] {
        let circuit = builtin::by_name(name).unwrap();
        assert_runs(Setting { rho, lanes, ..setting(executions, psi) }, &circuit, 9);
    }
}

/// κ_b differs from ρ, smaller and larger, in both forms of the intersection.
#[test]
fn kappa_b_is_apart_from_rho() {
    for (name, executions, psi, kappa_b, rho) in [
        ("add:8", 12, PsiForm::Synchronous, Rho::Bits40, Rho::Bits80),
        ("add:16", 2, PsiForm::Asynchronous, Rho::Bits40, Rho::Bits64),
        ("add:8", 3, PsiForm::Synchronous, Rho::Bits64, Rho::Bits40),
        ("add:8", 1, PsiForm::Asynchronous, Rho::Bits80, Rho::Bits40),
    ] {
        let circuit = builtin::by_name(name).unwrap();
        let kappa_b = Some(kappa_b);
        let options = DualExOptions { psi, kappa_b, ..DualExOptions::default() };
        assert_runs(Setting { rho, ..with(executions, options) }, &circuit, 9);
    }
}

/// A smaller κ_b needs fewer circuits at the same ρ, and so does a bound for each execution alone,
/// in a batch and one by one. What is sent is what is forecast.
#[test]
fn circuits_follow_kappa_b() {
    let circuit = common::two_layers(3, Receivers::All);
    let compiled = Compiled::new(&circuit);
    let sent = |one_by_one: bool, rho, kappa_b, kappa_b_per| {
        let options = DualExOptions { psi: PsiForm::Synchronous, kappa_b, kappa_b_per };
        let setting = Setting { rho, ..with(if one_by_one { 1 } else { 8 }, options) };
        let plans = Plans { rho, executions: 8, options, one_by_one, ot: setting.ot };
        let forecast = Forecast::new(&circuit, plans).unwrap();
        let ended = session(setting, 1, vec![(); 2], |net, ()| {
            let mut engine = dualex::SPEC.set_up(net)?;
            let [before, _] = net.meter.bytes();
            if one_by_one {
                engine.prepare_each(net, &compiled, 8, &mut |_, _| Ok(()))?;
            } else {
                engine.preprocess_for(net, &compiled)?;
            }
            Ok(net.meter.bytes()[0] - before)
        });
        let sent = *ended[0].as_ref().unwrap();
        assert_eq!(sent, forecast.offline[0]);
        sent
    };
    for one_by_one in [false, true] {
        let [all, each] = [KappaBPer::Preparation, KappaBPer::Execution]
            .map(|per| sent(one_by_one, Rho::Bits40, None, per));
        assert!(each < all);
        let sent = |rho, kappa_b| sent(one_by_one, rho, kappa_b, KappaBPer::default());
        assert!(sent(Rho::Bits80, Some(Rho::Bits40)) < sent(Rho::Bits80, None));
        assert!(sent(Rho::Bits40, Some(Rho::Bits80)) > sent(Rho::Bits40, None));
        assert_eq!(sent(Rho::Bits40, Some(Rho::Bits40)), sent(Rho::Bits40, None));
    }
}

/// All built-in circuits that are small enough, with one execution each.
#[test]
#[ignore = "minutes: cargo test -p symbolon-copies --test copies dualex -- --ignored"]
fn every_builtin_circuit_runs() {
    let mut run = 0;
    for entry in builtin::catalogue() {
        let circuit = builtin::by_name(entry.example).unwrap();
        let too_large = Plan::new(&circuit).and_count() > 200_000;
        if too_large || circuit.inputs().iter().any(|input| input.owner > 1.into()) {
            continue;
        }
        assert_runs(setting(1, PsiForm::Synchronous), &circuit, 3);
        run += 1;
    }
    assert!(run > 10, "{run} circuits");
}

/// Files written by others, if they are next to the repository.
#[test]
#[ignore = "minutes: cargo test -p symbolon-copies --test copies dualex -- --ignored"]
fn every_sample_file_runs() {
    let mut run = 0;
    let files = common::sample_files();
    for file in &files {
        let read = bristol::read(&std::fs::read(file).unwrap());
        let (circuit, _) = read.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        if Plan::new(&circuit).and_count() > 100_000 {
            continue;
        }
        let owners: Vec<u16> = (0..circuit.inputs().len() as u16).map(|k| k % 2).collect();
        let circuit = circuit.with_owners(&owners).unwrap();
        assert_runs(setting(1, PsiForm::Synchronous), &circuit, 3);
        run += 1;
    }
    assert!(files.is_empty() || run > 0, "none of {files:?}");
}

/// Executions are prepared in one session, stored, and evaluated in another.
#[test]
fn prepared_executions_are_stored_and_loaded() {
    let circuit = common::two_layers(7, Receivers::only([1]));
    let compiled = Compiled::new(&circuit);
    for psi in PsiForm::ALL {
        let setting = setting(2, psi);
        let saved = session(setting, 1, vec![(); 2], |net, ()| {
            let mut engine = setting.protocol.set_up(net)?;
            let prepared = engine.preprocess_for(net, &compiled)?;
            let prepared = prepared.prepare(net, &compiled)?;
            let mut bytes = Vec::new();
            setting.protocol.save_prepared(net, &compiled, prepared, &mut bytes)?;
            Ok(bytes)
        });
        let saved: Vec<Vec<u8>> = saved.into_iter().map(Result::unwrap).collect();
        let all = inputs(&circuit, 2, 8);
        let ended = session(setting, 2, saved.clone(), |net, saved| {
            let from = &mut saved.as_slice();
            let prepared = setting.protocol.load_prepared(net, &compiled, from)?;
            prepared.evaluate(net, &compiled, &inputs_of(&circuit, net.me.number(), &all))
        });
        for (party, ended) in (0..).zip(ended) {
            assert_eq!(ended.unwrap(), expected(&circuit, party, &all, 2));
        }
        // Truncated, extended, for the other form, or of the other party: rejected.
        let ended = session(setting, 3, saved, |net, mut saved| {
            let load = |net: &Network, bytes: &[u8]| {
                setting.protocol.load_prepared(net, &compiled, &mut &*bytes).map(drop)
            };
            assert!(matches!(load(net, &saved[..saved.len() - 1]), Err(Error::Store(_))));
            net.me = net.me.other_of_two();
            assert!(matches!(load(net, &saved), Err(Error::Store(_))));
            net.me = net.me.other_of_two();
            let other = PsiForm::ALL.into_iter().find(|other| *other != psi).unwrap();
            net.options = DualExOptions { psi: other, ..DualExOptions::default() }.into();
            assert!(matches!(load(net, &saved), Err(Error::Store(_))));
            net.options = setting.options.clone();
            // The highest byte of the bucket's number, which is above the limit then.
            let mut numbered = saved.clone();
            numbered[70 + 32 + 8 + 1 + 7] = 0xff;
            assert!(matches!(load(net, &numbered), Err(Error::Store(_))));
            saved.push(0);
            assert!(matches!(load(net, &saved), Err(Error::Store(_))));
            Ok(())
        });
        assert!(ended.iter().all(Result::is_ok));
    }
}

#[test]
fn what_it_does_not_have_is_refused() {
    let circuit = common::two_layers(3, Receivers::All);
    let setting = setting(1, PsiForm::Synchronous);
    let ended = session(setting, 1, vec![(); 2], |net, ()| {
        let compiled = Compiled::new(&circuit);
        let demand = Demand { and_gates: 128, input_bits: vec![8, 8] };
        let refused = |error: Option<Error>| {
            assert!(matches!(error, Some(Error::InvalidInput(_))), "{error:?}");
        };
        refused(setting.protocol.set_up(net)?.preprocess(net, &demand).err());
        let mut pool = common::apart::Pool::default();
        refused(setting.protocol.set_up(net)?.fill(net, &demand, &mut pool).err());
        let range = common::apart::range(&demand, 0);
        refused(setting.protocol.from_pool(net, &range, &mut pool).err());
        net.executions = 0;
        refused(setting.protocol.set_up(net)?.preprocess_for(net, &compiled).err());
        net.executions = 1;
        net.form = GateForm::FourRow;
        refused(setting.protocol.set_up(net).err());
        Ok(())
    });
    assert!(ended.iter().all(Result::is_ok));
}
