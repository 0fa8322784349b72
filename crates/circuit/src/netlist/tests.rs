use proptest::prelude::*;

use super::*;
use crate::builder::and_count;
use crate::{eval_bits, read_circuit};

fn circuit(text: &str) -> Circuit {
    read_circuit(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}")).0
}

fn refused(text: &str, reason: &str) {
    let error = read_circuit(text.as_bytes()).expect_err(text).to_string();
    assert!(error.contains(reason), "{text}: {error}");
}

fn bits(value: u32, n: usize) -> Vec<bool> {
    (0..n).map(|i| value >> i & 1 == 1).collect()
}

/// Returns a BLIF file of one cover.
fn cover(inputs: usize, rows: &[String], value: u8) -> String {
    let names: Vec<String> = (0..inputs).map(|i| format!("x[{i}]")).collect();
    let names = names.join(" ");
    let rows: String = rows.iter().map(|row| format!("{row} {value}\n")).collect();
    format!(".model m\n.inputs {names}\n.outputs y\n.names {names} y\n{rows}.end\n")
}

/// Returns a netlist of one module with these ports and cells.
fn json(ports: &str, cells: &str) -> String {
    format!(
        r#"{{"creator": "Yosys", "modules": {{"m": {{"attributes": {{}}, "ports": {{{ports}}},
        "cells": {{{cells}}}, "netnames": {{}}}}}}}}"#
    )
}

fn json_port(name: &str, direction: &str, bits: &str) -> String {
    format!(r#""{name}": {{"direction": "{direction}", "bits": [{bits}]}}"#)
}

fn json_cell(name: &str, kind: &str, pins: &[(&str, &str)]) -> String {
    let pins: Vec<String> = pins.iter().map(|(pin, bit)| format!(r#""{pin}": [{bit}]"#)).collect();
    let pins = pins.join(", ");
    format!(r#""{name}": {{"type": "{kind}", "parameters": {{}}, "connections": {{{pins}}}}}"#)
}

proptest! {
    #[test]
    fn a_cover_is_the_function_that_its_rows_say(
        inputs in 0usize..11,
        rows in prop::collection::vec(prop::collection::vec(0u8..4, 11), 0..12),
        value in 0u8..2,
        seeds in prop::collection::vec(any::<u32>(), 32),
    ) {
        let rows: Vec<String> = rows
            .iter()
            .map(|row| row[..inputs].iter().map(|sign| ['0', '1', '-', '-'][*sign as usize]).collect())
            .collect();
        let circuit = circuit(&cover(inputs, &rows, value));
        for seed in seeds {
            let given = bits(seed, inputs);
            let matches = |row: &String| {
                row.chars().zip(&given).all(|(sign, bit)| sign == '-' || (sign == '1') == *bit)
            };
            let covered = rows.iter().any(matches);
            let expected = if rows.is_empty() { false } else { covered == (value == 1) };
            prop_assert_eq!(eval_bits(&circuit, &given), [expected]);
        }
    }

    #[test]
    fn any_netlist_is_read_or_refused(
        text in "(\\.(model|inputs|outputs|names|end|conn)( [ab]| a\\[[01]\\])*\n|[01-]{0,3} [01]\n){0,9}",
    ) {
        let _ = read_circuit(format!(".model m\n{text}").as_bytes());
    }
}

#[test]
fn two_inputs_take_one_and_gate_at_most() {
    for truth in 0..16u32 {
        let rows: Vec<String> = (0..4)
            .filter(|index| truth >> index & 1 == 1)
            .map(|index| format!("{}{}", index & 1, index >> 1))
            .collect();
        let circuit = circuit(&cover(2, &rows, 1));
        let linear = (truth.count_ones() & 1) == 0;
        assert_eq!(and_count(&circuit), u64::from(!linear), "{truth:04b}");
        for index in 0..4 {
            assert_eq!(eval_bits(&circuit, &bits(index, 2)), [truth >> index & 1 == 1]);
        }
    }
}

#[test]
fn wide_sums_are_free_and_other_covers_are_look_ups() {
    let odd: Vec<String> =
        (0..8u32).filter(|i| i.count_ones() & 1 == 1).map(|i| format!("{i:03b}")).collect();
    let sum = circuit(&cover(3, &odd, 1));
    assert_eq!((and_count(&sum), sum.tables().len()), (0, 0));
    let majority = ["11-", "1-1", "-11"].map(String::from);
    let majority = circuit(&cover(3, &majority, 1));
    assert_eq!((and_count(&majority), majority.tables().len()), (0, 1));
}

#[test]
fn blif_bits_become_words() {
    let circuit = circuit(
        "# written by hand\n.model adder # one\n.inputs b a[2] a[0] \\\n a[1] c[1]\n.outputs s[1] \\\n\
         s[0] t\n.area 3\n.names s[0]\n1\n.names a[2] b s[1]\n11 1\n.names t\n.end\n",
    );
    let inputs: Vec<String> = circuit
        .inputs()
        .iter()
        .map(|port| format!("{}: {}, {}", port.name, port.ty, port.owner))
        .collect();
    assert_eq!(inputs, ["b: u1, 0", "a: u3, 1", "c[1]: u1, 1"]);
    let outputs: Vec<&str> = circuit.outputs().iter().map(|port| &port.name[..]).collect();
    assert_eq!((circuit.name(), outputs), ("adder", vec!["s", "t"]));
    // b and a[2].
    assert_eq!(eval_bits(&circuit, &bits(0b01001, 5)), [true, true, false]);
    assert_eq!(eval_bits(&circuit, &bits(0b01000, 5)), [true, false, false]);
}

/// Returns the ports' names and types, and the notes of a file.
fn ports_of(text: &str) -> (Vec<String>, Vec<String>) {
    let file = crate::read_circuit_file(text.as_bytes()).unwrap_or_else(|e| panic!("{e}: {text}"));
    let inputs = file.circuit.inputs().iter().map(|port| format!("{}: {}", port.name, port.ty));
    let outputs = file.circuit.outputs().iter().map(|port| format!("{}: {}", port.name, port.ty));
    (inputs.chain(outputs).collect(), file.notes)
}

const UP: &str = ".model up\n.inputs a[2] a[1] a[0] b[4] b[5]\n.outputs y[0] y[1] y[2]\n\
    .conn a[2] y[0]\n.conn a[1] y[1]\n.conn b[5] y[2]\n.end\n";

#[test]
fn vectors_that_are_counted_upwards_are_not_reversed_in_silence() {
    let all = ["a: u3", "b: u2", "y: u3"].map(String::from).to_vec();
    // Yosys lists the lowest bit first: a is declared as [0:2], b as [5:4].
    let by_yosys = format!("# Generated by Yosys 0.23\n\n{UP}");
    let (ports, notes) = ports_of(&by_yosys);
    assert_eq!(ports, all);
    assert_eq!(notes, ["port `a` is counted upwards, from 0 to 2: bit 2 is its lowest"]);
    // a = 1, b = 2: a[2] and b[5].
    assert_eq!(eval_bits(&circuit(&by_yosys), &bits(0b10001, 5)), [true, false, true]);

    let (ports, notes) = ports_of(UP);
    assert_eq!(ports, all);
    let [note] = &notes[..] else { panic!("{notes:?}") };
    assert!(note.contains("port `a`") && note.contains("bit 0 is taken for its lowest"), "{note}");
    // a = 4: a[2].
    assert_eq!(eval_bits(&circuit(UP), &bits(0b10100, 5)), [true, false, true]);
}

#[test]
fn bits_with_escaped_names_are_integers_in_both_formats() {
    let expected = ["x: u2", "w: u2", "z[1]: u1", "s: u2"].map(String::from).to_vec();
    let blif = ".model m\n.inputs x[0] x[1] w[7] w[8] z[1]\n.outputs s[0] s[1]\n\
        .conn x[1] s[0]\n.conn w[7] s[1]\n.end\n";
    assert_eq!(ports_of(blif), (expected.clone(), vec![]));
    let ports = [
        json_port("x[1]", "input", "3"),
        json_port("x[0]", "input", "2"),
        json_port("w[7]", "input", "4"),
        json_port("w[8]", "input", "5"),
        json_port("z[1]", "input", "6"),
        json_port("s[0]", "output", "3"),
        json_port("s[1]", "output", "4"),
    ];
    let json = json(&ports.join(","), "");
    assert_eq!(ports_of(&json), (expected, vec![]));
    for value in 0..32 {
        let given = bits(value, 5);
        assert_eq!(eval_bits(&circuit(&json), &given), eval_bits(&circuit(blif), &given));
        assert_eq!(eval_bits(&circuit(&json), &given), [given[1], given[2]]);
    }
}

#[test]
fn bits_that_are_no_word_stay_apart() {
    for (inputs, expected) in [
        ("a[0] a[2]", vec!["a[0]: u1", "a[2]: u1"]),
        ("a[0] a[1] a", vec!["a[0]: u1", "a[1]: u1", "a: u1"]),
        ("a[00] a[1]", vec!["a[00]: u1", "a[1]: u1"]),
        ("a[18446744073709551615] a[0]", vec!["a[18446744073709551615]: u1", "a[0]: u1"]),
        ("a[0][1] a[0][0]", vec!["a[0]: u2"]),
    ] {
        let text = format!(".model m\n.inputs {inputs}\n.outputs y\n.names y\n1\n.end\n");
        let (ports, _) = ports_of(&text);
        assert_eq!(ports[..ports.len() - 1], expected, "{inputs}");
    }
    let wide = [json_port("a[0]", "input", "2, 3"), json_port("a[1]", "input", "4")];
    let (ports, _) = ports_of(&json(&wide.join(","), ""));
    assert_eq!(ports, ["a[0]: u2", "a[1]: u1"]);
}

#[test]
fn outputs_without_a_value_are_refused_in_both_formats() {
    let undefined = "# Generated by Yosys\n.model m\n.inputs a\n.outputs y u\n.names $false\n\
        .names $undef\n.names a y\n0 1\n.names $undef u\n1 1\n.end\n";
    refused(undefined, "output `u`: a bit without a value (x or z: run `setundef -zero` in Yosys)");
    let ports = [
        json_port("a", "input", "2"),
        json_port("y", "output", "2"),
        json_port("u", "output", "\"x\""),
    ];
    refused(&json(&ports.join(","), ""), "port `u` has a bit without a value");
    // Nothing depends on it here.
    assert_eq!(eval_bits(&circuit(&undefined.replace("$undef u", "a u")), &[true]), [false, true]);
}

#[test]
fn long_chains_in_any_order_take_no_stack() {
    let length = 200_000;
    let mut text = format!(".model m\n.inputs n0\n.outputs n{length}\n");
    for i in (0..length).rev() {
        text.push_str(&format!(".names n{i} n{}\n0 1\n", i + 1));
    }
    assert_eq!(eval_bits(&circuit(&text), &[true]), [true]);
}

#[test]
fn wrong_blif_files_are_refused_with_line_and_reason() {
    let head = ".model m\n.inputs a b\n.outputs y\n";
    let cases = [
        (".latch a y re c 0\n", "line 4: a latch"),
        (".subckt adder x=a y=y\n", "line 4: a cell of another model"),
        (".gate nand2 A=a B=b O=y\n", "line 4: a cell"),
        (".model n\n", "line 4: a second model"),
        (".end\n.model n\n", "line 5: something follows"),
        (".names\n", "line 4: .names without an output"),
        (".names a y\n1 1\n.names b y\n1 1\n.end\n", "line 6: net `y` has two drivers"),
        (".names b a\n1 1\n.end\n", "line 4: net `a` has two drivers"),
        (".names a y\n1\n", "line 5: a row has the signs"),
        (".names a y\n11 1\n", "line 5: 2 signs for 1 inputs"),
        (".names a y\n2 1\n", "line 5: a row is made of"),
        (".names a y\n1 x\n", "line 5: a row ends with"),
        (".names a y\n1 1\n0 0\n", "line 6: all rows"),
        ("11 1\n", "line 4: a row of a cover"),
        (".inputs a\n", "net `a` has two drivers"),
        (".conn a\n", ".conn takes two"),
        (".exdc\n", "`.exdc` is not read"),
        ("", "net `y` has no driver"),
        (".names c y\n1 1\n", "net `c` has no driver"),
        (".names y b y\n11 1\n", "net `y` depends on itself"),
        (".names c y\n1 1\n.names a y c\n11 1\n", "depends on itself"),
        (".outputs y\n.names a y\n1 1\n", "`y` is empty or repeated"),
    ];
    for (body, reason) in cases {
        refused(&format!("{head}{body}"), reason);
    }
    refused(".inputs a\n", "no .model");
}

#[test]
fn every_known_cell_computes_its_function() {
    type Two = fn(bool, bool) -> bool;
    let cells: [(&str, Two); 8] = [
        ("$_AND_", |a, b| a & b),
        ("$_OR_", |a, b| a | b),
        ("$_XOR_", |a, b| a ^ b),
        ("$_NAND_", |a, b| !(a & b)),
        ("$_NOR_", |a, b| !(a | b)),
        ("$_XNOR_", |a, b| !(a ^ b)),
        ("$_ANDNOT_", |a, b| a & !b),
        ("$_ORNOT_", |a, b| a | !b),
    ];
    let ports = [json_port("a", "input", "2"), json_port("b", "input", "3")].join(",");
    let ports = format!("{ports},{}", json_port("y", "output", "9"));
    for (kind, expected) in cells {
        let cell = json_cell("c", kind, &[("A", "2"), ("B", "3"), ("Y", "9")]);
        let circuit = circuit(&json(&ports, &cell));
        for (a, b) in [(false, false), (true, false), (false, true), (true, true)] {
            assert_eq!(eval_bits(&circuit, &[a, b]), [expected(a, b)], "{kind}");
        }
        assert!(and_count(&circuit) <= 1);
    }
    let ports = [json_port("abs", "input", "2, 3, 4"), json_port("y", "output", "5, 6, 7, \"1\"")];
    let cells = [
        json_cell("out", "$_NOT_", &[("A", "5"), ("Y", "6")]),
        json_cell("buf", "$_BUF_", &[("A", "\"0\""), ("Y", "7")]),
        json_cell("mux", "$_MUX_", &[("A", "2"), ("B", "3"), ("S", "4"), ("Y", "5")]),
    ];
    let circuit = circuit(&json(&ports.join(","), &cells.join(",")));
    for value in 0..8 {
        let mux = if value >> 2 == 1 { value >> 1 & 1 } else { value & 1 } == 1;
        assert_eq!(eval_bits(&circuit, &bits(value, 3)), [mux, !mux, false, true]);
    }
}

#[test]
fn notes_of_dissolved_modules_are_skipped() {
    let ports = [json_port("a", "input", "2"), json_port("y", "output", "9")].join(",");
    let note = json_cell("sub", "$scopeinfo", &[]);
    let cells = format!("{note},{}", json_cell("n", "$_NOT_", &[("A", "2"), ("Y", "9")]));
    assert_eq!(eval_bits(&circuit(&json(&ports, &cells)), &[true]), [false]);
}

#[test]
fn ports_of_a_netlist_keep_their_order_and_sign() {
    let ports = r#""z": {"direction": "input", "signed": 1, "bits": [2, 3]},
        "none": {"direction": "input", "bits": []},
        "a": {"direction": "input", "offset": 4, "upto": 1, "bits": [4]},
        "y": {"direction": "output", "bits": [4, 2]}"#;
    let circuit = circuit(&json(ports, ""));
    let ports: Vec<String> =
        circuit.inputs().iter().map(|port| format!("{}: {}", port.name, port.ty)).collect();
    assert_eq!((circuit.name(), ports), ("m", vec!["z: i2".into(), "a: u1".into()]));
    assert_eq!(eval_bits(&circuit, &[true, false, false]), [false, true]);
}

#[test]
fn of_several_modules_the_top_is_read() {
    let module = |top: &str, bits: &str| {
        let attributes = format!(r#""src": "a.v:1", "top": {top}"#);
        let port = json_port("y", "output", bits);
        format!(r#"{{"attributes": {{{attributes}}}, "ports": {{{port}}}, "cells": {{}}}}"#)
    };
    let file = |a: &str, b: &str| {
        let (a, b) = (module(a, r#""1""#), module(b, r#""0", "0""#));
        format!(r#"{{"modules": {{"a": {a}, "b": {b}}}}}"#)
    };
    let one = format!("\"{:032b}\"", 1);
    assert_eq!(circuit(&file("0", &one)).outputs()[0].ty, Type::Uint(2));
    assert_eq!(circuit(&file("1", "\"0\"")).outputs()[0].ty, Type::Uint(1));
    for (a, b) in [("0", "0"), ("1", "1")] {
        refused(&file(a, b), "hierarchy -top");
    }
    refused(r#"{"modules": {}}"#, "needs one module");
}

#[test]
fn wrong_netlists_are_refused_with_the_cell_and_reason() {
    let y = json_port("y", "output", "9");
    let ports = format!("{},{y}", json_port("a", "input", "2"));
    let cell = |kind: &str, pins: &[(&str, &str)]| json(&ports, &json_cell("$c", kind, pins));
    let not = json_cell("n", "$_NOT_", &[("A", "2"), ("Y", "9")]);
    let cases = [
        (cell("$_DFF_P_", &[]), "cell `$c` of type `$_DFF_P_` keeps state"),
        (cell("$_DLATCH_N_", &[]), "keeps state"),
        (cell("$add", &[]), "`$add` is not known: run `synth -flatten; abc -g AND,XOR"),
        (cell("$_NOT_", &[("A", "2")]), "needs one bit at its pin Y"),
        (cell("$_NOT_", &[("A", "2, 2"), ("Y", "9")]), "needs one bit at its pin A"),
        (cell("$_NOT_", &[("A", "\"x\""), ("Y", "9")]), "cell `$c` has a bit without a value"),
        (cell("$_NOT_", &[("A", "9"), ("Y", "9")]), "net 9 depends on itself"),
        (cell("$_NOT_", &[("A", "7"), ("Y", "9")]), "net 7 has no driver"),
        (cell("$_NOT_", &[("A", "2"), ("Y", "2")]), "drives a net that has a driver"),
        (cell("$_NOT_", &[("A", "2"), ("Y", "\"0\"")]), "drives a net that has a driver"),
        (cell("$_NOT_", &[("A", "\"q\""), ("Y", "9")]), "line 2: not a netlist"),
        (json(&ports, &format!("{not},{}", not.replace("\"n\"", "\"o\""))), "cell `o`"),
        (json(&json_port("p", "inout", "2"), ""), "port `p` is `inout`"),
        (json(&json_port("p", "input", "2, 2"), ""), "a bit of input `p` has two drivers"),
        (json(&json_port("p", "output", "\"z\""), ""), "port `p` has a bit without a value"),
        (
            json(&format!("{ports},{y}"), &not),
            "line 1: not a netlist in Yosys' JSON: `a key is given twice: y at",
        ),
        (json(&ports, &format!("{not},{not}")), "key is given twice: n"),
        (json(&ports, &not.replace("\"Y\"", "\"A\": [2], \"Y\"")), "key is given twice: A"),
        (
            json(&ports, &not).replace("\"m\"", "\"m\": {\"ports\": {}, \"cells\": {}}, \"m\""),
            "key is given twice: m",
        ),
        ("{".to_string(), "not a netlist"),
        ("{}".to_string(), "missing field"),
        (format!("{{\"modules\": {}", "[".repeat(100_000)), "not a netlist"),
        (json(&ports, &not) + "{}", "trailing"),
    ];
    for (text, reason) in cases {
        refused(&text, reason);
    }
}

/// A half adder: the sum is !(a & b) & !(!a & !b).
const HALF: &str =
    "aag 5 2 0 2 3\n2\n4\n10\n6\n6 2 4\n8 3 5\n10 9 7\ni0 a\ni1 b\no0 sum\no1 carry\nc\nany text\n";

#[test]
fn aiger_in_text_and_bytes_is_the_same_circuit() {
    // The gates of a binary file: 6 = 4 & 2, 8 = 5 & 3, 10 = 9 & 7, as differences.
    let mut bytes = b"aig 5 2 0 2 3\n10\n6\n".to_vec();
    bytes.extend([2, 2, 3, 2, 1, 2]);
    bytes.extend(b"i0 a\ni1 b\no0 sum\no1 carry\nc\n");
    let text = circuit(HALF);
    let (binary, _) = read_circuit(&bytes).unwrap();
    for read in [&text, &binary] {
        let names: Vec<&str> = read.inputs().iter().map(|port| &*port.name).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(read.outputs()[1].name, "carry");
        for value in 0..4 {
            let sum = (value & 1) + (value >> 1);
            assert_eq!(eval_bits(read, &bits(value, 2)), bits(sum, 2), "{value}");
        }
        assert_eq!(and_count(read), 2);
    }
    // Constants, an inverted output and bits of a word.
    let text = "aag 2 2 0 3 0\n2\n4\n3\n0\n1\ni0 x[0]\ni1 x[1]\n";
    let read = circuit(text);
    assert_eq!((&*read.inputs()[0].name, read.inputs().len()), ("x", 1));
    let names: Vec<&str> = read.outputs().iter().map(|port| &*port.name).collect();
    assert_eq!(names, ["o0", "o1", "o2"]);
    assert_eq!(eval_bits(&read, &bits(1, 2)), [false, false, true]);
}

#[test]
fn what_is_no_combinational_aiger_is_refused() {
    for (text, reason) in [
        ("aag 1 0 1 0 0\n2 3\n", "latches"),
        ("aag 1 1 0 0 0 1\n2\n3\n", "properties"),
        ("aag 1 1 0 1\n2\n2\n", "five numbers"),
        ("aag 1 1 0 x 0\n", "numbers"),
        ("aag 4000000000 0 0 0 0\n", "more variables"),
        ("aig 99999999 99999999 0 0 0\n", "more variables"),
        ("aag 1 2 0 0 0\n2\n4\n", "do not match M"),
        ("aig 3 1 0 0 1\n", "do not match M"),
        ("aag 1 1 0 1 0\n2\n", "ends early"),
        ("aag 1 1 0 1 0\n2\n4\n", "at most 3"),
        ("aag 1 1 0 1 0\n3\n2\n", "cannot be an input"),
        ("aag 1 1 0 1 0\n0\n2\n", "cannot be an input"),
        ("aag 2 1 0 1 1\n2\n4\n2 2 2\n", "cannot be a gate"),
        ("aag 2 1 0 1 1\n2\n4\n5 2 2\n", "cannot be a gate"),
        ("aag 2 1 0 1 0\n2\n4\n", "has no driver"),
        ("aag 3 1 0 1 2\n2\n4\n4 6 2\n6 4 2\n", "depends on itself"),
        ("aag 1 1 0 1 0\n2\n2\ni1 a\n", "is not the name"),
        ("aag 1 1 0 1 0\n2\n2\ni0 a\ni0 b\n", "is not the name"),
        ("aag 1 1 0 1 0\n2 2\n2\n", "a line of 1 literals"),
        ("aig 2 1 0 1 1\n4\n", "gate 0"),
        ("aig 2 1 0 1 1\n4\n\u{0}\u{0}", "gate 0"),
        ("aig 2 1 0 1 1\n4\n\u{1}\u{4}", "gate 0"),
        ("aig 2 1 0 1 1\n4\n\u{5}\u{0}", "gate 0"),
    ] {
        refused(text, reason);
    }
    assert!(read_circuit(b"aig 2 1 0 1 1\n4\n\xff\xff\xff\xff\xff\xff\xff").is_err());
}

#[test]
fn a_bench_is_the_circuit_that_it_says() {
    let text =
        "# c17\nINPUT(G1)\nINPUT(G2)\nINPUT(G3)\nINPUT(G6)\nINPUT(G7)\n\nOUTPUT(G22)\nOUTPUT(G23)\n
        G10 = NAND(G1, G3)\nG11 = nand(G3,G6)\nG16 = NAND(G2, G11)\nG19 = NAND(G11, G7)
        G22 = NAND(G10, G16)  # late\nG23 = NAND(G16, G19)\n";
    let read = circuit(text);
    for value in 0..32 {
        let [g1, g2, g3, g6, g7] = bits(value, 5)[..] else { unreachable!("there are five") };
        let (g10, g11) = (!(g1 & g3), !(g3 & g6));
        let (g16, g19) = (!(g2 & g11), !(g11 & g7));
        assert_eq!(eval_bits(&read, &bits(value, 5)), [!(g10 & g16), !(g16 & g19)]);
    }
    let gates = ["AND", "NAND", "OR", "NOR", "XOR", "XNOR"];
    let mut text = "INPUT(a[0])\nINPUT(a[1])\nINPUT(a[2])\n".to_string();
    for gate in gates {
        text += &format!("OUTPUT({gate})\n{gate} = {gate}(a[0], a[1], a[2])\n");
    }
    text += "OUTPUT(n)\nn = NOT(b)\nb = BUFF(a[2])\nOUTPUT(one)\none = vdd\n";
    let read = circuit(&text);
    assert_eq!(read.inputs().len(), 1);
    for value in 0..8u32 {
        let (and, or, xor) = (value == 7, value > 0, value.count_ones() % 2 == 1);
        let wanted = [and, !and, or, !or, xor, !xor, value < 4, true];
        assert_eq!(eval_bits(&read, &bits(value, 3)), wanted, "{value}");
    }
}

#[test]
fn what_is_no_combinational_bench_is_refused() {
    for (text, reason) in [
        ("INPUT(a)\nOUTPUT(b)\n", "has no driver"),
        ("INPUT(a)\nOUTPUT(b)\nb = AND(a, c)\n", "net `c` has no driver"),
        ("INPUT(a)\nOUTPUT(b)\nb = NOT(c)\nc = NOT(b)\n", "depends on itself"),
        ("INPUT(a)\nOUTPUT(b)\nb = DFF(a)\n", "flip-flop"),
        ("INPUT(a)\nOUTPUT(b)\nb = LUT 0x1 ( a )\n", "look-up"),
        ("INPUT(a)\nOUTPUT(b)\nb = MAJ(a, a, a)\n", "is not known"),
        ("INPUT(a)\nOUTPUT(b)\nb = NOT(a, a)\n", "takes one net"),
        ("INPUT(a)\nOUTPUT(b)\nb = AND()\n", "is not the name"),
        ("INPUT(a)\nINPUT(a)\n", "two drivers"),
        ("INPUT(a)\na = NOT(a)\n", "two drivers"),
        ("INPUT a\n", "is missing"),
        ("INPUT(a)\nWIRE(b)\n", "a line is"),
    ] {
        refused(text, reason);
    }
}
