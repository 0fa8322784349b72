//! Calls whose arguments have constants.

use symbolon_circuit::builder::and_count;
use symbolon_circuit::{eval_ports, parse_value};

use crate::common::{bits, circuit};

/// Returns a program in which `call` calls a component twice, so that it stays one.
fn calling(mark: &str, call: &str) -> String {
    format!(
        "{mark} fn part(x: u32, y: u32) -> u32 {{ (x * y) ^ (x / (y | 1)) ^ x }}
        fn main(a: u32 from 0, b: u32 from 1) -> (r: u32 to all) {{
            part(a, b) ^ part(b, a) ^ {call}
        }}"
    )
}

fn part(x: u32, y: u32) -> u32 {
    x.wrapping_mul(y) ^ (x / (y | 1)) ^ x
}

const PAIRS: [[u32; 2]; 4] = [[0, 0], [5, 3], [u32::MAX, 77], [1 << 31, u32::MAX]];

#[test]
fn what_constants_decide_takes_no_gates() {
    for mark in ["", "#[component]"] {
        let ands = |text: &str| and_count(&circuit(text));
        let base = ands(&calling(mark, "0"));
        let general = ands(&calling(mark, "part(a ^ b, b)")) - base;
        let variant = ands(&calling(mark, "part(b, 7)")) - base;
        assert!(variant < general / 2, "{variant} of {general}");
        // Other bits that are constants: a number that was narrow.
        let narrow = ands(&calling(mark, "part(a, b as u8 as u32)")) - base;
        assert!(narrow < general * 3 / 4, "{narrow} of {general}");
        // The same constants again are the same component.
        let two = circuit(&calling(mark, "part(b, 7) ^ part(a, 7)"));
        assert_eq!(and_count(&two) - base, 2 * variant);
        let named = |name: &&str| name.contains("part with constants");
        let names = two.components().iter().map(|component| component.name.as_str());
        let expected = if mark.is_empty() { 0..2 } else { 1..2 };
        assert!(expected.contains(&names.filter(named).count()));
        for [a, b] in PAIRS {
            let expected = part(a, b) ^ part(b, a) ^ part(b, 7) ^ part(a, 7);
            let found = bits(&two, &[&a.to_string(), &b.to_string()]);
            assert_eq!(found[0], expected.to_string());
        }
    }
}

/// A component that fails for some constants says which assert failed, and only where it is called.
#[test]
fn asserts_of_variants_hold_as_those_of_the_function() {
    let text = "#[component]
    fn checked(x: u32, least: u32) -> u32 {
        assert(x >= least, \"small\");
        (x - least) * (least ^ 5) * x
    }
    fn main(a: u32 from 0, b: u32 from 1) -> (r: u32 to all) {
        let mut sum = checked(a, b);
        if a > 10 { sum += checked(a, 20); }
        sum
    }";
    let circuit = circuit(text);
    let names: Vec<&str> = circuit.components().iter().map(|part| part.name.as_str()).collect();
    assert!(names.contains(&"checked with constants 1"), "{names:?}");
    assert_eq!(bits(&circuit, &["5", "2"])[0], ((5u32 - 2) * (2 ^ 5) * 5).to_string());
    assert_eq!(bits(&circuit, &["21", "0"])[0], (21 * 5 * 21 + (20 ^ 5) * 21).to_string());
    let fails = |given: [&str; 2]| {
        let inputs = circuit.inputs().iter().zip(given);
        let inputs: Vec<_> = inputs.map(|(port, text)| parse_value(port, text).unwrap()).collect();
        let outputs = eval_ports(&circuit, &inputs).unwrap();
        let mut ports = circuit.outputs().iter().zip(&outputs);
        ports.any(|(output, bits)| circuit.failure(output, bits).is_some())
    };
    assert!(fails(["15", "0"]) && fails(["5", "6"]));
    assert!(!fails(["20", "20"]) && !fails(["10", "10"]));
}

/// Writing a function again for each of very many constants would take longer than it saves.
#[test]
fn few_variants_are_written() {
    let calls: Vec<String> = (0..200).map(|k| format!("part(a, {})", 3 * k + 1)).collect();
    let text = calling("#[component]", &calls.join(" ^ "));
    let circuit = circuit(&text);
    let variants = circuit.components().iter().filter(|c| c.name.contains("with constants"));
    assert!((1..=16).contains(&variants.count()));
    for [a, b] in PAIRS {
        let all = (0..200).map(|k| part(a, 3 * k + 1)).fold(part(a, b) ^ part(b, a), |x, y| x ^ y);
        assert_eq!(bits(&circuit, &[&a.to_string(), &b.to_string()])[0], all.to_string());
    }
}
