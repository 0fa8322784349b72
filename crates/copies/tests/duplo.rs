//! `duplo` against the reference evaluation: both parties over channels, with real parameters.

use std::time::Duration;

use crate::common::apart::session;
use crate::common::{self, Ended, Setting, expected, run_all};
use proptest::prelude::*;
use symbolon_circuit::builder::{Builder, ComponentBuilder, Word};
use symbolon_circuit::{Circuit, Receivers, Type, bristol, builtin};
use symbolon_copies::duplo::{
    self,
    forecast::{Forecast, Plans},
    options::DuploOptions,
};
use symbolon_engine::{Compiled, Demand, Options, OutputBits, Rho};
use symbolon_transport::{Error, Result};

fn named(names: &[&str]) -> &'static Options {
    common::chosen(DuploOptions::components(names.iter().copied()))
}

fn setting() -> Setting {
    Setting { protocol: &duplo::SPEC, known: true, ..Setting::default() }
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
        for to in [Receivers::All, Receivers::only([0]), Receivers::only([1])] {
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
        "auction:2x4",
        "hamming:9",
        "aes128",
        "aes128:sbox-expanded",
        "cbcmac:2",
        "sort:4x5",
        "matmul:2x4",
        "matmul:4x2/2",
        "random:300/30",
        "sha1",
    ];
    for (seed, name) in (0..).zip(names) {
        let circuit = builtin::by_name(name).unwrap_or_else(|error| panic!("{name}: {error}"));
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

/// Returns what both parties save of a circuit that they prepare together.
fn saved(setting: Setting, circuit: &Compiled) -> Vec<Vec<u8>> {
    let prepared = session(setting, 22, vec![(); 2], |net, ()| {
        let mut engine = setting.protocol.set_up(net)?;
        let material = engine.preprocess_for(net, circuit)?;
        let prepared = material.prepare(net, circuit)?;
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
        let compiled = Compiled::new(&circuit);
        let all = random_inputs(&circuit, 8);
        let saved = saved(setting(), &compiled);
        let ended = session(setting(), 33, saved, |net, saved| {
            let mut saved = saved.as_slice();
            let prepared = duplo::SPEC.load_prepared(net, &compiled, &mut saved)?;
            prepared.evaluate(net, &compiled, &common::inputs_of(&circuit, net.me.number(), &all))
        });
        for (party, outputs) in (0..).zip(ended) {
            assert_eq!(outputs.unwrap(), expected(&circuit, party, &all), "party {party}");
        }
    }
}

#[test]
fn damaged_files_are_refused() {
    let circuit = builtin::by_name("add:2").unwrap();
    let compiled = Compiled::new(&circuit);
    let saved = saved(setting(), &compiled);
    let other = builtin::by_name("add:3").unwrap();
    for (party, net) in common::mesh(setting()).into_iter().enumerate() {
        let bytes = &saved[party];
        let load = |circuit: &Circuit, mut bytes: &[u8]| {
            let circuit = Compiled::new(circuit);
            duplo::SPEC.load_prepared(&net, &circuit, &mut bytes).map(drop)
        };
        assert_eq!(load(&circuit, bytes), Ok(()));
        let longer = [&bytes[..], &[0]].concat();
        for damaged in [&bytes[..bytes.len() - 1], &bytes[..100], &longer, &saved[1 - party]] {
            assert!(matches!(load(&circuit, damaged), Err(Error::Store(_))));
        }
        assert!(matches!(load(&other, bytes), Err(Error::Store(_))));
    }
}

/// Runs every circuit file in the sample directory that is `small` or, otherwise, every one that is
/// not.
fn run_files(small: bool) {
    let mut run = 0;
    let files = common::sample_files();
    for file in &files {
        let (circuit, _) = bristol::read(&std::fs::read(file).unwrap()).unwrap();
        if (Compiled::new(&circuit).plan().and_count() <= 10_000) == small {
            eprintln!("{}", file.display());
            assert_runs(setting(), &circuit, &random_inputs(&circuit, 3));
            run += 1;
        }
    }
    assert!(files.is_empty() || run > 0, "none of {files:?}");
}

#[test]
fn small_sample_files_run() {
    run_files(true);
}

#[test]
#[ignore = "takes a minute"]
fn large_sample_files_run() {
    run_files(false);
}

/// Returns a circuit of three kinds of components, connected in every possible way: an input of a
/// component is a wire, a sum, a negation, a constant, the same as another one, or from several
/// sources; outputs are scattered over several components, their sums, and inputs.
fn three_kinds() -> Circuit {
    let mut c = ComponentBuilder::new("product");
    let (x, y) = (c.input(8), c.input(8));
    let z = c.mul(&x, &y);
    c.output(&z);
    let product = c.finish().unwrap();
    let mut c = ComponentBuilder::new("both");
    let (x, y) = (c.input(8), c.input(8));
    let (low, high) = (c.and(&x, &y), c.add(&x, &y));
    c.output(&low);
    c.output(&high);
    let both = c.finish().unwrap();
    let mut c = ComponentBuilder::new("squares");
    let x = c.input(8);
    let square = c.mul(&x, &x);
    let fourth = c.mul(&square, &square);
    c.output(&fourth);
    let squares = c.finish().unwrap();

    let mut b = Builder::new("three kinds");
    let [x, y, z] =
        [("x", 0), ("y", 1), ("z", 0)].map(|(name, owner)| b.input(name, Type::Uint(8), owner));
    let first = b.call_one(&product, &[&x, &y]);
    // Every second bit comes from one source, and one bit appears twice.
    let interleaved: Word =
        (0..8).map(|i| if i % 2 == 0 { first[i] } else { y[i.min(5)] }).collect();
    let outputs = b.call(&both, &[&interleaved, &z]);
    let [low, high] = &outputs[..] else { panic!("two outputs") };
    let ones = Word::constant(8, 0xff);
    let (sum, turned) = (b.xor(low, high), b.xor(&first, &ones));
    let fourth = b.call_one(&squares, &[&sum]);
    let constant = Word::constant(8, 0b1010_0110);
    let again = b.call_one(&product, &[&constant, &turned]);
    let twice = b.call_one(&product, &[&fourth, &fourth]);
    let last = b.call_one(&squares, &[&again]);
    // AND gates outside of all components.
    let leftover = b.and(&last, &twice);
    let scattered: Word =
        (0..8).map(|i| [first[i], low[i], last[i], x[i], leftover[i]][i % 5]).collect();
    let mixed = b.xor(&scattered, &again);
    b.output("scattered", &scattered, Type::Uint(8), Receivers::All);
    b.output("mixed", &mixed, Type::Uint(8), Receivers::only([0]));
    b.output("leftover", &leftover, Type::Uint(8), Receivers::only([1]));
    b.output("twice", &twice, Type::Uint(8), Receivers::All);
    b.finish().unwrap()
}

#[test]
fn components_of_three_kinds_are_connected_in_every_way() {
    let circuit = three_kinds();
    let all: &[&[&str]] = &[&["product", "both", "squares"], &["product"], &[], &["three kinds"]];
    for (seed, &components) in (0..).zip(all) {
        let setting = Setting { options: named(components), ..setting() };
        assert_runs(setting, &circuit, &random_inputs(&circuit, seed));
    }
}

#[test]
fn several_threads_compute_the_same() {
    let circuit = builtin::by_name("cbcmac:2").unwrap();
    for lanes in [2, 4] {
        assert_runs(Setting { lanes, ..setting() }, &circuit, &random_inputs(&circuit, 6));
    }
}

/// One cut-and-choose for several preparations, each of which is saved and run separately, in any
/// order; some are never run.
#[test]
fn what_is_prepared_together_is_run_one_by_one() {
    for executions in [1, 2] {
        let setting = Setting { executions, ..setting() };
        let circuit = three_kinds();
        let compiled = Compiled::new(&circuit);
        let saved = session(setting, 55, vec![(); 2], |net, ()| {
            let mut engine = setting.protocol.set_up(net)?;
            let mut saved = Vec::new();
            engine.prepare_each(net, &compiled, 4, &mut |net, prepared| {
                let mut bytes = Vec::new();
                setting.protocol.save_prepared(net, &compiled, prepared, &mut bytes)?;
                saved.push(bytes);
                Ok(())
            })?;
            Ok(saved)
        });
        let saved: Vec<Vec<Vec<u8>>> = saved.into_iter().map(Result::unwrap).collect();
        for number in [2, 0, 3] {
            let one = |seed| random_inputs(&circuit, 10 * number as u64 + seed);
            let all: Vec<_> = (0..executions as u64).map(one).collect();
            let joined: Vec<Vec<bool>> = (0..all[0].len())
                .map(|input| all.iter().flat_map(|all| all[input].clone()).collect())
                .collect();
            let saved = saved.iter().map(|saved| saved[number].clone()).collect();
            let ended = session(setting, 60 + number as u8, saved, |net, saved: Vec<u8>| {
                let mut saved = saved.as_slice();
                let prepared = duplo::SPEC.load_prepared(net, &compiled, &mut saved)?;
                let inputs = common::inputs_of(&circuit, net.me.number(), &joined);
                prepared.evaluate(net, &compiled, &inputs)
            });
            for (party, outputs) in (0..).zip(ended) {
                let each = all.iter().map(|all| expected(&circuit, party, all));
                let mut together: OutputBits = vec![None; circuit.outputs().len()];
                for (output, bits) in each.flat_map(|each| each.into_iter().enumerate()) {
                    if let Some(bits) = bits {
                        together[output].get_or_insert_default().extend_from(&bits);
                    }
                }
                assert_eq!(outputs.unwrap(), together, "party {party}");
            }
        }
    }
}

/// Prepared circuits record the components from which they are made.
#[test]
fn other_components_than_were_prepared_are_refused() {
    let circuit = three_kinds();
    let compiled = Compiled::new(&circuit);
    let with = |names| Setting { options: named(names), ..setting() };
    let saved = saved(with(&["product"]), &compiled);
    for (components, fits) in [(&["product"], true), (&["squares"], false)] {
        for (party, net) in common::mesh(with(components)).into_iter().enumerate() {
            let mut bytes = saved[party].as_slice();
            let loaded = duplo::SPEC.load_prepared(&net, &compiled, &mut bytes);
            assert_eq!(loaded.is_ok(), fits, "{components:?}");
        }
    }
}

/// A million garbled components, each an AND gate, one after the other.
#[test]
#[ignore = "takes a minute and 2.5 GB"]
fn a_million_components_run() {
    let mut c = ComponentBuilder::new("step");
    let (x, y) = (c.input(1), c.input(1));
    let both = c.and(&x, &y);
    c.output(&both);
    let step = c.finish().unwrap();
    let mut b = Builder::new("steps");
    let [x, y] = [("x", 0), ("y", 1)].map(|(name, owner)| b.input(name, Type::Uint(1), owner));
    let mut last = x;
    for _ in 0..1_000_000 {
        let opposite = b.xor(&last, &Word::constant(1, 1));
        last = b.call_one(&step, &[&opposite, &y]);
    }
    b.output("last", &last, Type::Uint(1), Receivers::All);
    let circuit = b.finish().unwrap();
    let setting = Setting { options: named(&["step"]), ..setting() };
    let names = ["step".to_string()];
    let forecast = Forecast::new(&circuit, Plans { components: &names, ..Plans::default() });
    assert_eq!(forecast.unwrap().components[0].sizes.buckets, 1_000_000);
    let all = [vec![true], vec![true]];
    let ended = run_all(setting, &circuit, &all, |nets| {
        let channels = nets.iter_mut().flat_map(|net| net.lanes.iter_mut().flatten());
        // A party waits while the other makes millions of commitments.
        channels.for_each(|channel| channel.set_timeout(Duration::from_secs(120)));
    });
    for (party, ended) in (0..).zip(ended) {
        assert_eq!(ended.outputs.unwrap(), expected(&circuit, party, &all), "party {party}");
    }
}

/// The peak memory of whole processes, in KiB.
#[test]
fn memory_is_as_was_measured() {
    for (name, components, measured) in [
        ("matmul:16x32/4", &["block-product-4x32", "block-sum-4x32"][..], 1_123_040),
        // Its tables wait in a file.
        ("matmul:16x32/16", &["block-product-16x32"], 406_064),
    ] {
        let circuit = builtin::by_name(name).unwrap();
        let components: Vec<String> = components.iter().map(|name| name.to_string()).collect();
        let plans = Plans { components: &components, ..Plans::default() };
        let told = Forecast::new(&circuit, plans).unwrap().memory / 1024;
        assert!((measured * 4 / 5..=measured * 6 / 5).contains(&told), "{name}: {told}");
    }
}

/// Features that are independent of any circuit are rejected before anything is sent.
#[test]
fn pools_and_dealers_are_refused() {
    assert!(!duplo::SPEC.has_pools());
    let none = Demand { and_gates: 1, input_bits: vec![1, 1] };
    let ended = session(setting(), 44, vec![(); 2], |net, ()| {
        let mut engine = duplo::SPEC.set_up(net)?;
        engine.preprocess(net, &none).map(drop)
    });
    assert!(ended.iter().all(|ended| matches!(ended, Err(Error::InvalidInput(_)))));
}

/// Bytes per AES-128 that the garbler sends, against Table 4 of the paper and our own limits:
/// executions, the paper's bytes ahead of time and online, and our maximum ahead of time.
#[test]
fn fewer_bytes_are_sent_than_in_the_papers_table_4() {
    let circuit = builtin::by_name("aes128").unwrap();
    let rows: [(usize, u64, u64, u64); 4] = [
        (1, 12_940_000, 19_360, 4_600_000),
        (32, 2_600_000, 18_970, 2_400_000),
        (128, 1_960_000, 18_960, 1_700_000),
        (1024, 1_590_000, 18_960, 1_400_000),
    ];
    for (count, paper, paper_online, most) in rows {
        let Forecast { components, made, connected, online, .. } =
            Forecast::new(&circuit, Plans { count, ..Plans::default() }).unwrap();
        assert_eq!(components.len(), 1, "AES-128 stays whole");
        let n = count as u64;
        let (ahead, online) = ((made.garbler + connected.garbler) / n, online.garbler / n);
        assert!(ahead < paper && ahead <= most, "{count}: {ahead}");
        assert!(online < paper_online, "{count}: {online}");
    }
}
