//! The programs of `examples/sym`: expected outputs, and their own tests.

mod common;

use std::path::Path;

use common::bits;
use symbolon_circuit::Circuit;
use symbolon_lang::source::{Folder, read_source};
use symbolon_lang::testing::run_tests;
use symbolon_lang::{Options, check, compile, with_stack};

fn options(constants: &[(&str, &str)]) -> Options {
    let constants = constants.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    Options { constants: constants.collect(), ..Options::default() }
}

fn program(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sym").join(name);
    read_source(&path).expect("it is there")
}

fn example(name: &str, constants: &[(&str, &str)]) -> Circuit {
    match compile(name, &program(name), &Folder(".".into()), &options(constants)) {
        Ok(circuit) => circuit,
        Err(errors) => panic!("{errors}"),
    }
}

fn outputs(name: &str, constants: &[(&str, &str)], inputs: &[&str]) -> Vec<String> {
    bits(&example(name, constants), inputs)
}

#[test]
fn psi_adds_up_debts() {
    let a = "[[3, 10], [7, 20], [9, 30], [12, 4294967295]]";
    let b = "[[1, 5], [7, 6], [12, 4294967295], [13, 1]]";
    let out = outputs("psi.sym", &[("N", "4")], &[a, b]);
    assert_eq!(out, ["[[7, 26], [12, 8589934590], null, null]", "0"]);
}

#[test]
fn auction_finds_winner_and_second_price() {
    let out = outputs("auction.sym", &[("PARTIES", "4")], &["30", "90", "70", "90"]);
    assert_eq!(out, ["1", "0", "90", "0", "0"]);
}

#[test]
fn salaries_have_a_threshold() {
    let of = |inputs: &[&str]| outputs("salaries.sym", &[("PARTIES", "7")], inputs);
    let six = of(&["100", "null", "300", "50", "70", "1000", "80"]);
    assert_eq!(six, ["266", "100", "0"]);
    let four = of(&["100", "null", "300", "null", "70", "1000", "null"]);
    assert_eq!(four, ["0", "0", "1"]);
}

#[test]
fn score_is_a_logistic_regression() {
    let w: Vec<String> = (0..20).map(|i| format!("{}", f64::from(i - 10) / 8.0)).collect();
    let x: Vec<String> = (0..20).map(|i| format!("{}", f64::from(i % 3) / 2.0)).collect();
    let z: f64 =
        (0..20).map(|i| f64::from(i - 10) / 8.0 * f64::from(i % 3) / 2.0).sum::<f64>() + 0.25;
    let list = |values: &[String]| format!("[{}]", values.join(", "));
    let out = outputs("score.sym", &[], &[&list(&w), "0.25", &list(&x)]);
    let score: f64 = out[0].parse().expect("a number");
    assert!((score - 1.0 / (1.0 + f64::exp(-z))).abs() < 1e-4, "{score} {z}");
}

#[test]
fn nearest_takes_the_majority_of_five() {
    let point = |at: i32, class: u8| {
        format!("{{\"at\": [{at}, 0, 0, 0, 0, 0, 0, -{at}], \"class\": {class}}}")
    };
    let points: Vec<String> = [(1, 3), (2, 3), (50, 1), (3, 2), (60, 1), (4, 3), (5, 2), (70, 1)]
        .map(|(at, class)| point(at, class))
        .into();
    let out = outputs(
        "nearest.sym",
        &[("N", "8")],
        &[&format!("[{}]", points.join(", ")), "[0, 0, 0, 0, 0, 0, 0, 0]"],
    );
    assert_eq!(out, ["3"]);
}

#[test]
fn edit_counts_changes() {
    let out = outputs("edit.sym", &[("N", "4")], &["[1, 2, 3, 4]", "[2, 3, 4, 5]"]);
    assert_eq!(out, ["2"]);
}

#[test]
fn cbcmac_calls_one_component() {
    use aes::cipher::{BlockCipherEncrypt, KeyInit};
    let circuit = example("cbcmac.sym", &[]);
    assert_eq!(circuit.main().calls.len(), 1024);
    let steps = circuit.components().iter().find(|component| component.name == "step");
    let ands = steps.map(|step| {
        step.steps.iter().filter(|step| matches!(step, symbolon_circuit::Step::And { .. })).count()
    });
    assert_eq!(ands, Some(5120));
    let small = example("cbcmac.sym", &[("BLOCKS", "3")]);
    let key: [u8; 16] = std::array::from_fn(|i| i as u8 * 7);
    let cipher = aes::Aes128::new(&key.into());
    let mut state = [0u8; 16];
    let mut message = Vec::new();
    for block in 0..3u8 {
        let bytes: [u8; 16] = std::array::from_fn(|i| block * 50 + i as u8);
        message.push(format!("{bytes:?}"));
        let mut next = std::array::from_fn::<u8, 16, _>(|i| state[i] ^ bytes[i]).into();
        cipher.encrypt_block(&mut next);
        state = next.into();
    }
    let message = format!("[{}]", message.join(", "));
    assert_eq!(bits(&small, &[&format!("{key:?}"), &message]), [format!("{state:?}")]);
}

#[test]
fn vote_counts_marks() {
    let yes = "[false, true, false, false]";
    let no = "[true, false, false, false]";
    let of = |inputs: &[&str]| outputs("vote.sym", &[("PARTIES", "3")], inputs);
    assert_eq!(of(&[yes, no, yes]), ["[1, 2, 0, 0]", "0"]);
    assert_eq!(of(&[yes, "[true, true, false, false]", yes]), ["[0, 0, 0, 0]", "1"]);
}

#[test]
fn programs_pass_their_own_tests() {
    with_stack(|| {
        let text = program("vote.sym");
        let checked = check("vote.sym", &text, &Folder(".".into()), &Options::default());
        let results = run_tests(&checked, 1);
        assert_eq!(results.len(), 1);
        assert!(results.iter().all(|result| result.wrong.is_none()), "{results:?}");
    });
}

#[test]
fn the_large_sizes_compile() {
    for name in ["psi.sym", "nearest.sym", "edit.sym"] {
        let circuit = example(name, &[]);
        assert!(symbolon_circuit::builder::and_count(&circuit) > 10_000, "{name}");
    }
}

#[test]
fn the_costs_of_lines_sum_up_to_the_circuit() {
    for (name, parties) in [("vote.sym", 3), ("score.sym", 2), ("edit.sym", 2), ("cbcmac.sym", 2)] {
        let text = program(name);
        let options = Options { parties: Some(parties), ..Options::default() };
        let report = with_stack(|| {
            let (circuit, costs, sources) =
                symbolon_lang::compile_here(name, &text, &Folder(".".into()), &options, true)
                    .unwrap_or_else(|errors| panic!("{errors}"));
            let report =
                symbolon_lang::cost::report(&circuit, &costs.expect("asked for"), &sources);
            assert_eq!(report.ands, symbolon_circuit::builder::and_count(&circuit), "{name}");
            report
        });
        let lines: u64 = report.lines.iter().map(|line| line.ands).sum();
        assert_eq!(lines - report.unused, report.ands, "{name}");
        assert!(report.unused * 10 < report.ands, "{name}: {}", report.unused);
    }
}
