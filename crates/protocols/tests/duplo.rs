//! `duplo` against the reference evaluation: both parties over channels, at real parameters.
#![allow(missing_docs)]

mod common;

use std::path::Path;

use common::apart::session;
use common::{Ended, Setting, expected, run_all};
use proptest::prelude::*;
use symbolon_circuit::{Circuit, Plan, Receivers, bristol, builtin};
use symbolon_protocols::{Demand, Protocol, Rho};
use symbolon_transport::{Error, Result};

fn setting() -> Setting {
    Setting { protocol: Protocol::Duplo, known: true, ..Setting::default() }
}

fn assert_runs(setting: Setting, circuit: &Circuit, all: &[Vec<bool>]) -> Vec<Ended> {
    let ended = run_all(setting, circuit, all, |_| ());
    for (party, ended) in (0..).zip(&ended) {
        let outputs = ended.outputs.as_ref().unwrap_or_else(|error| panic!("{party}: {error}"));
        assert!(outputs == &expected(circuit, party, all), "party {party}");
    }
    ended
}

fn bits(seed: u64, n: usize) -> Vec<bool> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 40 & 1 == 1
    };
    (0..n).map(next).collect()
}

fn random_inputs(circuit: &Circuit, seed: u64) -> Vec<Vec<bool>> {
    let inputs = (seed..).zip(circuit.inputs());
    inputs.map(|(seed, input)| bits(seed, input.ty.width() as usize)).collect()
}

#[test]
fn both_parties_learn_what_they_are_to() {
    for rho in [Rho::Bits40, Rho::Bits80] {
        for to in [Receivers::All, Receivers::Only(vec![0]), Receivers::Only(vec![1])] {
            let circuit = builtin::by_name("add:8").unwrap();
            let receivers = vec![to; circuit.outputs().len()];
            let circuit = circuit.with_receivers(receivers).unwrap();
            let all = random_inputs(&circuit, 5);
            assert_runs(Setting { rho, ..setting() }, &circuit, &all);
        }
    }
}

/// Small forms of the built-in circuits.
#[test]
fn built_in_circuits() {
    let names = [
        "add:16",
        "mul:6",
        "auction:3",
        "hamming:9",
        "aes128",
        "aes128:sbox-expanded",
        "cbcmac:2",
        "sort:4x5",
        "matmul:2x4",
        "random:300/30",
        "sha1",
    ];
    for (seed, name) in (0..).zip(names) {
        let Ok(circuit) = builtin::by_name(name) else { continue };
        assert_runs(setting(), &circuit, &random_inputs(&circuit, seed));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn random_circuits(
        steps in prop::collection::vec(any::<(u8, u32, u32)>(), 0..40),
        outputs in prop::collection::vec((prop::collection::vec(any::<u32>(), 1..5), common::receivers(2)), 1..4),
        seed: u64,
    ) {
        let circuit = common::circuit(&[3, 4], &steps, outputs);
        let all = random_inputs(&circuit, seed);
        assert_runs(setting(), &circuit, &all);
    }
}

/// What both parties save of a circuit that they prepare together.
fn saved(setting: Setting, (circuit, plan): (&Circuit, &Plan)) -> Vec<Vec<u8>> {
    let prepared = session(setting, 22, vec![(); 2], |net, ()| {
        let mut engine = setting.protocol.set_up(net)?;
        let material = engine.preprocess_for(net, circuit, plan)?;
        let prepared = material.prepare(net, circuit, plan)?;
        let mut bytes = Vec::new();
        setting.protocol.save_prepared(net, circuit, prepared, &mut bytes)?;
        Ok(bytes)
    });
    prepared.into_iter().map(Result::unwrap).collect()
}

#[test]
fn prepared_circuits_are_run_in_another_session() {
    for name in ["add:8", "cbcmac:2"] {
        let circuit = builtin::by_name(name).unwrap();
        let plan = Plan::new(&circuit);
        let all = random_inputs(&circuit, 8);
        let saved = saved(setting(), (&circuit, &plan));
        let ended = session(setting(), 33, saved, |net, saved| {
            let mut saved = saved.as_slice();
            let prepared = Protocol::Duplo.load_prepared(net, &circuit, &plan, &mut saved)?;
            prepared.evaluate(net, &circuit, &plan, &common::inputs_of(&circuit, net.me, &all))
        });
        for (party, outputs) in (0..).zip(ended) {
            assert_eq!(outputs.unwrap(), expected(&circuit, party, &all), "party {party}");
        }
    }
}

#[test]
fn damaged_files_are_refused() {
    let circuit = builtin::by_name("add:2").unwrap();
    let plan = Plan::new(&circuit);
    let saved = saved(setting(), (&circuit, &plan));
    let other = builtin::by_name("add:3").unwrap();
    for (party, net) in common::mesh(setting()).into_iter().enumerate() {
        let bytes = &saved[party];
        let load = |circuit: &Circuit, mut bytes: &[u8]| {
            let plan = Plan::new(circuit);
            Protocol::Duplo.load_prepared(&net, circuit, &plan, &mut bytes).map(drop)
        };
        assert_eq!(load(&circuit, bytes), Ok(()));
        let longer = [&bytes[..], &[0]].concat();
        for damaged in [&bytes[..bytes.len() - 1], &bytes[..100], &longer, &saved[1 - party]] {
            assert!(matches!(load(&circuit, damaged), Err(Error::Store(_))));
        }
        assert!(matches!(load(&other, bytes), Err(Error::Store(_))));
    }
}

#[test]
fn circuits_of_files() {
    let given = std::env::var_os("SYMBOLON_TEST_CIRCUITS").map(std::path::PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/circuits");
    let folder = given.unwrap_or(beside);
    for name in [
        "bristol/adder_32bit.txt",
        "bristol/AES-non-expanded.txt",
        "bristol-fashion/adder64.txt",
        "bristol-fashion/mult64.txt",
        "bristol-fashion/zero_equal.txt",
        "bristol-fashion/sha256.txt",
    ] {
        let Ok(text) = std::fs::read(folder.join(name)) else {
            eprintln!("skipped: no file {name} in {}", folder.display());
            continue;
        };
        let (circuit, _) = bristol::read(&text).unwrap();
        assert_runs(setting(), &circuit, &random_inputs(&circuit, 3));
    }
}

/// What has nothing to do with a circuit is refused before anything is sent.
#[test]
fn pools_and_dealers_are_refused() {
    assert!(!Protocol::Duplo.has_pools() && !Protocol::Duplo.has_mac_length());
    let none = Demand { and_gates: 1, input_bits: vec![1, 1] };
    let ended = session(setting(), 44, vec![(); 2], |net, ()| {
        let mut engine = Protocol::Duplo.set_up(net)?;
        engine.preprocess(net, &none).map(drop)
    });
    assert!(ended.iter().all(|ended| matches!(ended, Err(Error::InvalidInput(_)))));
}
