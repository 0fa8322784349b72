//! Random programs: every protocol computes what evaluation in the clear does. The writer is that
//! of the compiler's tests, which compare many more programs with the interpreter.

#[path = "../../lang/tests/random/choices.rs"]
mod choices;
#[path = "../../lang/tests/random/rounds.rs"]
mod rounds;
#[path = "../../lang/tests/random/statements.rs"]
mod statements;
#[path = "../../lang/tests/random/writer.rs"]
mod writer;

use std::path::Path;

use symbolon_lang::{Options, compile_text};

use crate::common::{Ended, symbolon_in};
use writer::{Random, program};

const PROTOCOLS: [&[&str]; 6] = [
    &["wrk", "--form", "four-row"],
    &["wrk", "--form", "half-gates"],
    &["ywz"],
    &["tinytable"],
    &["duplo"],
    &["dualex"],
];

/// Returns random values of a program's inputs, as raw bits; `None` if it does not compile, as some
/// random programs do not, or has more gates than are quickly run.
fn inputs(text: &str, seed: u64, most: u64) -> Option<Vec<String>> {
    let circuit = compile_text(text, &Options::default()).ok()?;
    if symbolon::circuit::builder::and_count(&circuit) > most {
        return None;
    }
    let mut random = Random(seed);
    let one = |input: &symbolon::circuit::Input| {
        let bits = (0..input.ty.width()).map(|_| if random.one_in(2) { '1' } else { '0' });
        format!("{}=bits:{}", input.name, bits.collect::<String>())
    };
    Some(circuit.inputs().iter().map(one).collect())
}

/// Returns the lines that say what came out.
fn told(ended: &Ended) -> (i32, Vec<String>) {
    let lines = ended.out.lines().filter(|line| line.contains(" = "));
    (ended.code, lines.map(str::to_string).collect())
}

/// Runs a program with protocols from number `first` on, and compares; returns whether it ran.
fn compare(folder: &Path, text: &str, seed: u64, (first, count): (usize, usize)) -> bool {
    let Some(inputs) = inputs(text, seed, 20_000) else { return false };
    std::fs::write(folder.join("p.sym"), text).expect("written");
    let inputs: Vec<&str> = inputs.iter().flat_map(|input| ["--input", input]).collect();
    let run = |words: &[&str]| symbolon_in(folder, "", &[words, &inputs].concat());
    let clear = run(&["circuit", "eval", "p.sym"]);
    assert!([0, 6].contains(&clear.code), "{seed}: {}\n{text}", clear.err);
    for protocol in (first..first + count).map(|place| PROTOCOLS[place % PROTOCOLS.len()]) {
        let words = ["local", "p.sym", "--transport", "memory", "--protocol"];
        let found = run(&[&words, protocol].concat());
        assert_eq!(told(&found), told(&clear), "{seed} {protocol:?}: {}\n{text}", found.err);
    }
    true
}

fn compare_all(seeds: std::ops::Range<u64>, protocols: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ran = 0;
    for seed in seeds.clone() {
        let text = match seed % 3 {
            0 => rounds::program(seed),
            kind => program(seed, kind == 1),
        };
        let from = seed as usize * protocols;
        ran += usize::from(compare(folder.path(), &text, seed, (from, protocols)));
    }
    assert!(3 * ran > seeds.count(), "only {ran} were run");
}

#[test]
fn every_protocol_computes_random_programs() {
    compare_all(0..9, 2);
}

#[test]
#[ignore = "takes minutes"]
fn every_protocol_computes_some_hundred_random_programs() {
    compare_all(100..400, PROTOCOLS.len());
}
