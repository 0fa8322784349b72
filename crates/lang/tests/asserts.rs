//! Asserts on the inputs of one party, which it finds to fail by itself.

use crate::common::circuit;
use symbolon_circuit::{Circuit, Plan, certain_failures, eval_ports, parse_value};

/// Returns the texts of the asserts that a party finds with these inputs: those of the others are
/// empty.
fn found(circuit: &Circuit, given: &[&str]) -> Vec<String> {
    let known = circuit.inputs().iter().zip(given);
    let known: Vec<Option<Vec<bool>>> = known
        .map(|(input, text)| (!text.is_empty()).then(|| parse_value(input, text).unwrap()))
        .collect();
    let failures = certain_failures(circuit, &Plan::new(circuit), &known);
    failures.iter().map(|failure| failure.text.clone()).collect()
}

#[test]
fn every_party_finds_its_own_assert_whatever_precedes_it() {
    let program = "parties p, q, r;\n\
        fn main(a: u8 from p, b: u8 from q, c: u8 from r) -> (d: u8 to all) {\n\
        assert((a ^ b) != c, \"sum\");\n\
        assert(a < 10, \"a\");\n\
        assert(b < 10, \"b\");\n\
        assert(a != b, \"same\");\n\
        assert(c < 10, \"c\");\n\
        assert(a + b + c != 0, \"zero\");\n\
        a }";
    let circuit = circuit(program);
    for (given, own) in [
        (["10", "", ""], "a"),
        (["", "10", ""], "b"),
        (["", "", "10"], "c"),
        (["10", "3", ""], "a"),
    ] {
        assert!(found(&circuit, &given).contains(&own.to_string()), "{own}");
    }
    for given in [["9", "", ""], ["", "9", ""], ["", "", "9"], ["", "", ""], ["1", "2", ""]] {
        assert!(found(&circuit, &given).is_empty(), "{given:?}");
    }
    // Two that know both of their inputs.
    assert!(found(&circuit, &["7", "7", ""]).contains(&"same".to_string()));
    assert_eq!(found(&circuit, &["1", "1", "0"]), ["sum"]);
    let all = |texts: [&str; 3]| {
        let inputs = circuit.inputs().iter().zip(texts);
        let bits: Vec<_> = inputs.map(|(input, text)| parse_value(input, text).unwrap()).collect();
        let outputs = eval_ports(&circuit, &bits).unwrap();
        let failures = circuit.outputs().iter().zip(&outputs);
        let mut failures = failures.filter_map(|(output, bits)| circuit.failure(output, bits));
        failures.next().map(|failure| failure.text.clone())
    };
    for (texts, text) in [
        (["1", "2", "3"], Some("sum")),
        (["10", "2", "3"], Some("a")),
        (["1", "10", "3"], Some("b")),
        (["1", "1", "3"], Some("same")),
        (["1", "2", "10"], Some("c")),
        (["1", "2", "253"], Some("c")),
        (["1", "2", "4"], None),
    ] {
        assert_eq!(all(texts).as_deref(), text, "{texts:?}");
    }
}

#[test]
fn asserts_in_functions_and_loops_are_found() {
    let program = "fn check(list: [u8; 20]) {\n\
        for i in 0..19 { assert(list[i] < list[i + 1], \"not sorted\"); } }\n\
        #[component]\n\
        fn limited(x: u8, limit: u8) -> u8 { assert(x < limit, \"beyond the limit\"); x * x }\n\
        fn main(a: [u8; 20] from 0, b: u8 from 1) -> (c: u8 to all) {\n\
        let first = limited(b, 100);\n\
        check(a);\n\
        if b > 3 { assert(a[0] != 7, \"seven\"); }\n\
        let second = limited(a[19], 200);\n\
        first + second }";
    let circuit = circuit(program);
    let list = |last: u8| {
        let mut all: Vec<String> = (1..20).map(|i| i.to_string()).collect();
        all.push(last.to_string());
        all.join(",")
    };
    assert!(found(&circuit, &[&list(20), ""]).is_empty());
    assert!(found(&circuit, &[&list(19), ""]).contains(&"not sorted".to_string()));
    assert!(found(&circuit, &[&list(200), ""]).contains(&"beyond the limit".to_string()));
    assert_eq!(found(&circuit, &["", "100"]), ["beyond the limit"]);
    assert!(found(&circuit, &["", "99"]).is_empty());
    // Whether this one is reached depends on the other party.
    let sevens = (7..27).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    assert!(found(&circuit, &[&sevens, ""]).is_empty());
}
