use proptest::prelude::*;

use super::*;
use crate::testing::{arbitrary_circuit, bits};
use crate::{Circuit, CircuitError, Step, Type, eval_bits};

fn error(text: &str) -> (usize, String) {
    match read(text.as_bytes()) {
        Err(CircuitError::Parse { line, reason }) => (line, reason),
        other => panic!("expected a parse error, got {other:?}"),
    }
}

fn fashion(text: &str) -> Circuit {
    let (circuit, format) = read(text.as_bytes()).expect("a circuit");
    assert_eq!(format, Format::Fashion);
    circuit
}

/// Evaluates on the bits of a number, wire 0 the lowest.
fn eval(circuit: &Circuit, input: u32) -> u32 {
    let inputs: Vec<bool> = (0..circuit.main().inputs).map(|i| input >> i & 1 == 1).collect();
    let outputs = eval_bits(circuit, &inputs);
    outputs.iter().enumerate().map(|(i, &bit)| u32::from(bit) << i).sum()
}

#[test]
fn fashion_gates() {
    let circuit = fashion(
        "6 12\n2 2 2\n2 3 2\n\n2 1 0 1 4 XOR\n1 1 4 5 INV\n1 1 1 6 EQ\n4 2 0 2 1 3 7 8 MAND\n\
         1 1 7 9 EQW\n4 2 5 8 6 4 10 11 MAND\n",
    );
    assert_eq!(
        circuit.inputs().iter().map(|i| (&*i.name, i.owner.number())).collect::<Vec<_>>(),
        [("in0", 0), ("in1", 1)]
    );
    assert_eq!(circuit.outputs()[1].ty, Type::Uint(2));
    for x in 0..16 {
        let (a, b, c, d) = (x & 1, x >> 1 & 1, x >> 2 & 1, x >> 3 & 1);
        let (w4, w7, w8) = (a ^ b, a & b, c & d);
        let expected = [w7, w8, w7, (w4 ^ 1), w8 & w4];
        // Wires 7 to 11.
        let expected: u32 = expected.iter().enumerate().map(|(i, bit)| bit << i).sum();
        assert_eq!(eval(&circuit, x), expected, "input {x:04b}");
    }
}

#[test]
fn a_copy_costs_no_gate() {
    let circuit = fashion("2 4\n1 2\n1 2\n1 1 1 2 EQW\n1 1 0 3 EQW");
    assert!(circuit.main().steps.is_empty());
    assert_eq!(circuit.main().outputs, [1, 0]);
}

#[test]
fn old_gates_of_the_wild() {
    let text = "7 9\n1 1 7\n\n2 1 0 1 2 AND\n2 1 0 1 3 NAND\n2 1 0 1 4 OR\n2 1 0 1 5 NOR\n\
                2 1 0 1 6 XOR\n2 1 0 1 7 XNOR\n1 1 0 8 NOT\n";
    let (circuit, format) = read(text.as_bytes()).expect("a circuit");
    assert_eq!(format, Format::Old);
    for x in 0..4u32 {
        let (a, b) = (x & 1, x >> 1);
        let bits = [a & b, a & b ^ 1, a | b, (a | b) ^ 1, a ^ b, a ^ b ^ 1, a ^ 1];
        let expected: u32 = bits.iter().enumerate().map(|(i, bit)| bit << i).sum();
        assert_eq!(eval(&circuit, x), expected);
    }
    let ands = circuit.main().steps.iter().filter(|s| matches!(s, Step::And { .. })).count();
    assert_eq!(ands, 4, "one AND gate for each gate that is not linear");
}

#[test]
fn formats_are_told_apart_by_the_third_line() {
    // Both second lines are three numbers.
    let (old, format) = read(b"1 3\n1 1 1\n2 1 0 1 2 AND").expect("old");
    assert_eq!((format, old.inputs().len()), (Format::Old, 2));
    let (new, format) = read(b"1 3\n2 1 1\n1 1\n2 1 0 1 2 AND").expect("fashion");
    assert_eq!((format, new.inputs().len()), (Format::Fashion, 2));
    assert_eq!(old.main(), new.main());
    let (_, format) = read(b"0 3\n2 1 1").expect("an old file without gates");
    assert_eq!(format, Format::Old);
}

#[test]
fn a_width_of_zero_is_no_port() {
    let (circuit, _) = read(b"1 3\n2 0 1\n2 1 0 1 2 AND").expect("a circuit");
    assert_eq!(circuit.inputs().len(), 1);
    let (circuit, _) = read(b"1 3\n0 2 1\n2 1 0 1 2 AND").expect("a circuit");
    assert_eq!((&*circuit.inputs()[0].name, circuit.inputs()[0].owner.number()), ("in1", 1));
}

#[test]
fn spaces_and_line_ends_do_not_matter() {
    let plain = fashion("1 3\n2 1 1\n1 1\n2 1 0 1 2 XOR\n");
    for text in [
        "1 3\r\n2 1 1\r\n1 1\r\n\r\n2 1 0 1 2 XOR\r\n",
        "\n\n1 3\n\n2 1 1 \n1  1\t\n\n\n  2 1 0 1 2 XOR  \n\n\n",
        "1 3\n2 1 1\n1 1\n2 1 0 1 2 xor",
        "1 3\n2 1 1\n1 1\n2 1 0 0000000000000000001 2 XOR",
    ] {
        assert_eq!(fashion(text), plain);
    }
}

#[test]
fn wrong_files_are_refused_with_line_and_reason() {
    let head = "2 4\n2 1 1\n1 1\n";
    let cases = [
        ("", 1, "empty"),
        ("\n\n", 2, "empty"),
        ("2", 1, "wires is missing"),
        ("2 x\n", 1, "`x` is not a number"),
        ("-2 4\n", 1, "`-2` is not a number"),
        ("2 4 6\n", 1, "two numbers"),
        ("2 99999999999\n", 1, "too large"),
        ("2 4\n", 1, "widths are missing"),
        ("2 4\n3 1 1\n1 1\n", 2, "3 inputs declared, 2 widths"),
        ("2 4\n4294967295 1 1\n1 1\n", 2, "widths given"),
        ("2 4\n2 1 1\n2 1\n", 3, "2 outputs declared, 1 widths"),
        ("2 4\n2 4 1\n1 1\n", 2, "5 input bits, but only 4 wires"),
        ("2 4\n2 1 1\n1 5\n", 2, "5 output bits"),
        ("2 4\n1 1\n2 1 0 1 2 XOR\n", 2, "width of the output is missing"),
        ("2 4\n1 1 1 1\n2 1 0 1 2 XOR\n", 2, "three numbers"),
        (&format!("{head}2 1 0 1 2 XOR\n"), 4, "after 1 of 2 gates"),
        (&format!("{head}2 1 0 1 2 XOR\n1 1 2 3 INV\n\n1 1 2 3 INV\n"), 7, "more lines than the 2"),
        (&format!("{head}2 1 0 3 2 XOR\n1 1 2 3 INV\n"), 4, "wire 3 is read before"),
        (&format!("{head}2 1 0 1 2 XOR\n1 1 3 3 INV\n"), 5, "wire 3 is read before"),
        (&format!("{head}2 1 0 4 2 XOR\n"), 4, "wire 4: only 4 declared"),
        (&format!("{head}2 1 0 1 4 XOR\n"), 4, "wire 4: only 4 declared"),
        (&format!("{head}2 1 0 1 1 XOR\n"), 4, "wire 1 is written twice"),
        (&format!("{head}2 1 0 1 2 XOR\n2 1 0 1 2 AND\n"), 5, "wire 2 is written twice"),
        (&format!("{head}2 1 0 1 2 XOZ\n"), 4, "unknown gate `XOZ`"),
        (&format!("{head}2 1 0 1 2\n"), 4, "unknown gate `2`"),
        (&format!("{head}2 1\n"), 4, "a gate has"),
        (&format!("{head}1 1 0 2 XOR\n"), 4, "cannot have 1 inputs"),
        (&format!("{head}2 1 0 1 INV\n"), 4, "cannot have 2 inputs"),
        (&format!("{head}3 1 0 1 1 2 MAND\n"), 4, "cannot have 3 inputs"),
        (&format!("{head}0 0 MAND\n"), 4, "cannot have 0 inputs"),
        (&format!("{head}4294967294 2147483647 MAND\n"), 4, "0 wires given"),
        (&format!("{head}2 1 0 1 XOR\n"), 4, "2 wires given"),
        (&format!("{head}1 1 2 2 EQ\n"), 4, "a constant is 0 or 1"),
        ("2 5\n2 1 1\n1 1\n2 1 0 1 2 XOR\n1 1 2 4 INV\n", 1, "5 wires declared, 4 written"),
    ];
    for (text, line, reason) in cases {
        let found = error(text);
        assert!(found.0 == line && found.1.contains(reason), "{text:?}: {found:?}");
    }
}

/// A table of two bits in and three out, and two look-ups in it.
const LOOKUPS: &str = "\
3 9
1 2
2 1 4
TABLE 1 1 1 0
TABLE 2 3 0 5 7 2

1 1 0 2 LUT:0
2 3 0 1 5 3 7 LUT:1
2 3 7 2 6 8 4 LUT:1
";

#[test]
fn look_ups_in_declared_tables() {
    let circuit = fashion(LOOKUPS);
    assert_eq!(circuit.tables().len(), 2);
    let table = |index: u32| [0, 5, 7, 2][index as usize];
    for x in 0..4 {
        let not = x & 1 ^ 1;
        // Wires 5, 3 and 7, then 6, 8 and 4.
        let first = table(x);
        let second = table(first >> 2 | not << 1);
        // Wires 4 to 8.
        let bits = [second >> 2, first, second, first >> 2, second >> 1];
        let expected: u32 = bits.iter().enumerate().map(|(i, bit)| (bit & 1) << i).sum();
        assert_eq!(eval(&circuit, x), expected, "input {x:02b}");
    }
    let mut written = Vec::new();
    write_fashion(&circuit, &mut written).expect("memory");
    assert!(String::from_utf8_lossy(&written).contains("TABLE 2 3 0 5 7 2\n\n1 1 0 "));
    let (again, _) = read(&written).expect("what was written");
    assert_eq!(again.tables(), circuit.tables());
    // The case of letters does not matter, nor do leading zeros.
    let other = LOOKUPS.replace("TABLE 2 3 0 5", "table 2 3 000 05").replace("LUT:1", "lut:01");
    assert_eq!(fashion(&other), circuit);
}

#[test]
fn wrong_tables_and_look_ups_are_refused_with_line_and_reason() {
    let full = format!("TABLE 8 64{}\n\n", " ffffffffffffffff".repeat(256));
    assert_eq!(fashion(&LOOKUPS.replace("\n\n", &format!("\n{full}"))).tables().len(), 3);
    let cases = [
        ("TABLE 2 3 0 5 7 2", "TABLE", 5, "number of a table's inputs is missing"),
        ("TABLE 2 3 0 5 7 2", "TABLE 2", 5, "number of a table's outputs is missing"),
        ("TABLE 2 3 0 5 7 2", "TABLE 2 3", 5, "has 4 entries, 0 given"),
        ("TABLE 2 3 0 5 7 2", "TABLE 2 3 0 5 7 2 1", 5, "has 4 entries, 5 given"),
        ("TABLE 2 3 0 5 7 2", "TABLE 2 3 0 5 8 2", 5, "entry 2 of a table of 3 outputs"),
        ("TABLE 2 3 0 5 7 2", "TABLE 2 3 0 5 7 x2", 5, "`x2` is not hexadecimal"),
        ("TABLE 2 3 0 5 7 2", "TABLE 2 3 0 5 7 10000000000000000", 5, "is too large"),
        ("TABLE 2 3 0 5 7 2", "TABLE 0 3 0", 5, "1 to 8 inputs, not 0"),
        ("TABLE 2 3 0 5 7 2", "TABLE 9 3 0", 5, "1 to 8 inputs, not 9"),
        ("TABLE 2 3 0 5 7 2", "TABLE 4000000000 3 0", 5, "1 to 8 inputs"),
        ("TABLE 2 3 0 5 7 2", "TABLE 2 65 0 5 7 2", 5, "1 to 64 outputs, not 65"),
        ("TABLE 2 3 0 5 7 2", "TABLES 2 3 0 5 7 2", 5, "`TABLES` is not a number"),
        ("TABLE 2 3 0 5 7 2", "", 8, "table 1: only 1 declared"),
        ("1 1 0 2 LUT:0", "1 1 0 2 LUT:", 7, "unknown gate `LUT:`"),
        ("1 1 0 2 LUT:0", "1 1 0 2 LUT", 7, "unknown gate `LUT`"),
        ("1 1 0 2 LUT:0", "1 1 0 2 LUT:x", 7, "`x` is not a number"),
        ("1 1 0 2 LUT:0", "1 1 0 2 LUT:2", 7, "table 2: only 2 declared"),
        ("1 1 0 2 LUT:0", "1 1 0 2 LUT:1", 7, "`LUT:1` cannot have 1 inputs and 1"),
        ("1 1 0 2 LUT:0", "2 3 0 1 2 3 LUT:1", 7, "4 wires given"),
        ("1 1 0 2 LUT:0", "2 3 0 1 2 2 3 LUT:1", 7, "wire 2 is written twice"),
        ("1 1 0 2 LUT:0", "2 3 0 2 2 3 4 LUT:1", 7, "wire 2 is read before"),
        ("1 1 0 2 LUT:0", "1 1 0 2 LUT:0\nTABLE 1 1 1 0", 8, "tables come before the gates"),
        ("1 2\n2 1 4\n", "1 1 1\n", 3, "tables come before the gates, in Bristol Fashion"),
    ];
    for (from, to, line, reason) in cases {
        let text = LOOKUPS.replacen(from, to, 1);
        let found = error(&text);
        assert!(found.0 == line && found.1.contains(reason), "{text}: {found:?}");
    }
}

#[test]
fn the_old_format_has_gates_instead_of_look_ups() {
    let circuit = fashion(LOOKUPS);
    let mut text = Vec::new();
    write_old(&circuit, &mut text).expect("memory");
    let again = check_round_trip(&circuit, &text, Format::Old, 1);
    assert!(again.tables().is_empty());
}

#[test]
fn claims_are_not_believed() {
    for text in [
        "4294967295 4294967295\n1 4294967295\n1 1\n",
        "4294967295 4294967295\n1 4000000000\n1 4000000000\n",
        "0 3000000000\n1 3000000000\n1 1\n",
        "3000000000 3000000001\n1 1\n1 1\n",
        "3000000000 3000000001\n1 0 1\n1 1 0 1 INV\n",
    ] {
        error(text);
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    for bytes in [&b"\0\0\0"[..], b"1 3\n2 1 1\n1 1\n2 1 0 1 2 X\0R", b"\xff\xfe 1", b"1 3\n1 \xc3"]
    {
        let Err(CircuitError::Parse { reason, .. }) = read(bytes) else {
            panic!("{bytes:?} was read")
        };
        assert!(reason.is_ascii(), "{reason}");
    }
    let long = "9".repeat(100_000);
    assert!(
        error(&format!("{long} 1")).1.len() < 100,
        "an overlong number is not repeated in full"
    );
}

/// Checks what a file keeps of a circuit: ports without names, and the function.
fn check_round_trip(circuit: &Circuit, text: &[u8], format: Format, seed: u64) -> Circuit {
    let (again, found) = read(text).expect("what was written can be read");
    assert_eq!(found, format);
    assert_eq!(again.main().inputs, circuit.main().inputs);
    for seed in seed..seed + 8 {
        let inputs = bits(seed, circuit.main().inputs as usize);
        assert_eq!(eval_bits(&again, &inputs), eval_bits(circuit, &inputs));
    }
    again
}

proptest! {
    #[test]
    fn fashion_round_trip(circuit in arbitrary_circuit(), seed in any::<u64>()) {
        let mut text = Vec::new();
        write_fashion(&circuit, &mut text)?;
        let again = check_round_trip(&circuit, &text, Format::Fashion, seed >> 1);
        let (before, after) = (crate::Stats::of(&circuit), crate::Stats::of(&again));
        prop_assert_eq!(
            (before.and, before.xor, before.inv, before.constants, before.and_depth),
            (after.and, after.xor, after.inv, after.constants, after.and_depth)
        );
        prop_assert_eq!(crate::LookupCount::of(&circuit), crate::LookupCount::of(&again));
        prop_assert_eq!(again.tables(), circuit.tables());
        // A second round trip changes nothing but the order of what the plan may reorder.
        let mut second = Vec::new();
        write_fashion(&again, &mut second)?;
        check_round_trip(&circuit, &second, Format::Fashion, seed >> 1);
    }

    #[test]
    fn old_round_trip(circuit in arbitrary_circuit(), seed in any::<u64>()) {
        let mut text = Vec::new();
        match write_old(&circuit, &mut text) {
            Ok(()) => {
                let again = check_round_trip(&circuit, &text, Format::Old, seed >> 1);
                prop_assert_eq!(
                    crate::Stats::of(&again).and,
                    crate::Plan::new(&circuit).and_count()
                );
            }
            Err(error) => {
                prop_assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
                prop_assert!(circuit.inputs().is_empty());
            }
        }
    }

    #[test]
    fn anything_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }

    /// A good file with one byte changed: read or refused, and what is read can be evaluated.
    #[test]
    fn damaged_files_are_read_or_refused(
        circuit in arbitrary_circuit(),
        at in any::<proptest::sample::Index>(),
        byte in proptest::sample::select(b"0123456789 \n-XORANDEQINVMLUT:BLE\0\xff".to_vec()),
    ) {
        let mut text = Vec::new();
        write_fashion(&circuit, &mut text)?;
        let at = at.index(text.len());
        text[at] = byte;
        if let Ok((circuit, _)) = read(&text) {
            eval_bits(&circuit, &vec![false; circuit.main().inputs as usize]);
        }
    }
}

#[test]
fn writing_keeps_outputs_on_the_gates_that_compute_them() {
    let text = "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
    let mut written = Vec::new();
    write_fashion(&fashion(text), &mut written).expect("memory");
    assert_eq!(String::from_utf8_lossy(&written), text);
    let mut written = Vec::new();
    write_old(&fashion(text), &mut written).expect("memory");
    assert_eq!(String::from_utf8_lossy(&written), "1 3\n1 1 1\n\n2 1 0 1 2 AND\n");
}

#[test]
fn comment_lines_are_skipped() {
    let text = "// made by hand\n# two lines\n\n3 6\n  # inputs\n2 1 3\n// outputs\n2 1 1\n\n\
        2 1 0 2 4 AND\n#2 1 1 1 5 AND\n2 1 1 3 5 XOR\n//\n";
    let (circuit, format) = read(text.replace("3 6", "2 6").as_bytes()).unwrap();
    assert_eq!((format, circuit.inputs().len()), (Format::Fashion, 2));
    // Lines are counted with them, and only whole lines are comments.
    let error = read(text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("line 13: the file ends after 2 of 3 gates"), "{error}");
    let error = read(b"1 3\n2 1 1\n1 1\n2 1 0 1 2 AND // and\n").unwrap_err().to_string();
    assert!(error.contains("line 4"), "{error}");
    let (_, format) = read(b"# old\n1 3\n# widths\n1 1 1\n// a gate\n2 1 0 1 2 AND\n").unwrap();
    assert_eq!(format, Format::Old);
}

#[test]
fn inputs_without_bits_leave_their_numbers_to_the_others() {
    for (widths, names) in [("2 0 2", vec!["in1"]), ("3 1 0 1", vec!["in0", "in2"])] {
        let text = format!("1 3\n{widths}\n1 1\n\n2 1 0 1 2 AND\n");
        let (circuit, _) = read(text.as_bytes()).unwrap();
        let inputs: Vec<&str> = circuit.inputs().iter().map(|input| &input.name[..]).collect();
        assert_eq!(inputs, names, "{widths}");
    }
}
