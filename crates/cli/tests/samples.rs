//! The fuzz targets, without a fuzzer: every sample, and samples with random changes. `.ci/long
//! fuzz` runs the targets with one.

use std::{
    fs,
    path::{Path, PathBuf},
};

use proptest::{
    collection::vec,
    prelude::*,
    sample::Index,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

#[path = "../../../fuzz/src/lib.rs"]
mod fuzz;

/// Bytes that mean something in one of the formats.
const BYTES: [u8; 14] = *b"\0\n\r 0\"=[\\-,\x7f\x80\xff";

/// The folder of the fuzz targets' workspace.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// Returns the samples of a target.
fn samples(target: &str) -> Vec<Vec<u8>> {
    let files = fs::read_dir(workspace().join("corpus").join(target)).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{target} has no samples");
    files.into_iter().map(|file| fs::read(file).unwrap()).collect()
}

/// A change of a sample.
#[derive(Debug, Clone)]
enum Change {
    /// Another byte in a place.
    Replace(Index, u8),
    /// A flipped bit.
    Flip(Index),
    /// A byte more.
    Insert(Index, u8),
    /// The bytes between two places are gone.
    Remove(Index, Index),
    /// The bytes between two places come twice.
    Double(Index, Index),
    /// The rest is that of another sample from a place in it.
    Join(Index, Index, Index),
}

impl Change {
    fn any() -> impl Strategy<Value = Change> {
        let place = any::<Index>;
        let byte = || prop_oneof![any::<u8>(), proptest::sample::select(&BYTES[..])];
        prop_oneof![
            4 => (place(), byte()).prop_map(|(at, byte)| Change::Replace(at, byte)),
            2 => place().prop_map(Change::Flip),
            2 => (place(), byte()).prop_map(|(at, byte)| Change::Insert(at, byte)),
            2 => (place(), place()).prop_map(|(one, other)| Change::Remove(one, other)),
            1 => (place(), place()).prop_map(|(one, other)| Change::Double(one, other)),
            1 => (place(), place(), place()).prop_map(|(at, of, from)| Change::Join(at, of, from)),
        ]
    }

    fn apply(&self, bytes: &mut Vec<u8>, samples: &[Vec<u8>]) {
        let places = bytes.len() + 1;
        let between = |one: &Index, other: &Index| {
            let [one, other] = [one, other].map(|place| place.index(places));
            one.min(other)..one.max(other)
        };
        match self {
            Change::Insert(at, byte) => bytes.insert(at.index(places), *byte),
            Change::Remove(one, other) => drop(bytes.drain(between(one, other))),
            Change::Double(one, other) => {
                let range = between(one, other);
                let (end, twice) = (range.end, bytes[range].to_vec());
                bytes.splice(end..end, twice);
            }
            Change::Join(at, of, from) => {
                let other = &samples[of.index(samples.len())];
                bytes.truncate(at.index(places));
                bytes.extend_from_slice(&other[from.index(other.len() + 1)..]);
            }
            Change::Replace(..) | Change::Flip(_) if bytes.is_empty() => {}
            Change::Replace(at, byte) => bytes[at.index(places - 1)] = *byte,
            Change::Flip(bit) => {
                let bit = bit.index(8 * bytes.len());
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}

/// Checks every sample of a target, and as many changed samples.
///
/// The changes are the same in every run, so that a failure is due to what changed in the code.
fn check(target: &str, cases: u32) {
    let (_, check) = fuzz::TARGETS.iter().find(|(name, _)| *name == target).unwrap();
    let samples = samples(target);
    samples.iter().for_each(|sample| check(sample));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let changed = (any::<Index>(), vec(Change::any(), 1..5)).prop_map(|(of, changes)| {
        let mut bytes = samples[of.index(samples.len())].clone();
        changes.iter().for_each(|change| change.apply(&mut bytes, &samples));
        bytes
    });
    let ended = TestRunner::new_with_rng(config, rng).run(&changed, |bytes| {
        check(&bytes);
        Ok(())
    });
    if let Err(failed) = ended {
        panic!("{target}: {failed}");
    }
}

/// Calls `check` with the sample, with each part of it that is missing a piece, and with each byte
/// replaced or doubled.
fn change_each_byte(sample: &[u8], check: fuzz::Check) {
    for at in 0..sample.len() {
        check(&sample[..at]);
        check(&sample[at..]);
        check(&[&sample[..at], &sample[at + 1..]].concat());
        check(&[&sample[..=at], &sample[at..]].concat());
        for byte in BYTES {
            let mut other = sample.to_vec();
            other[at] = byte;
            check(&other);
        }
    }
}

#[test]
fn each_byte_of_short_texts_may_change() {
    for (target, check) in [
        ("live_request", fuzz::live_request::check as fuzz::Check),
        ("settings", fuzz::settings::check),
    ] {
        samples(target).iter().for_each(|sample| change_each_byte(sample, check));
    }
}

macro_rules! targets {
    ($($target:ident: $cases:expr;)*) => {
        $(
            #[test]
            fn $target() {
                check(stringify!($target), $cases);
            }
        )*

        /// The targets that have a test above.
        const TESTED: &[&str] = &[$(stringify!($target)),*];
    };
}

targets! {
    bristol: 5_000;
    clients: 5_000;
    dealer: 5_000;
    handshake: 5_000;
    live_request: 5_000;
    lsp: 200;
    native: 5_000;
    netlist: 2_000;
    packed_bits: 5_000;
    peer: 50;
    prepared: 500;
    service: 2_000;
    settings: 2_000;
    store_file: 5_000;
    sym: 300;
    sym_words: 500;
    value: 5_000;
    value_file: 5_000;
}

#[test]
fn every_target_is_tested_and_is_a_program_of_the_fuzzer() {
    let named: Vec<&str> = fuzz::TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(named, TESTED);
    let folder = workspace();
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let mut programs: Vec<String> = fs::read_dir(folder.join("fuzz_targets"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    programs.sort();
    assert_eq!(programs, named.iter().map(|name| format!("{name}.rs")).collect::<Vec<_>>());
    for name in named {
        let path = format!("fuzz_targets/{name}.rs");
        assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"{path}\"")), "{name}");
        let program = fs::read_to_string(folder.join(path)).unwrap();
        let calls = format!("fuzz_target!(|data: &[u8]| symbolon_fuzz::{name}::check(data))");
        assert!(program.contains(&calls), "{program}");
    }
}
