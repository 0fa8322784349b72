//! Order of evaluation: left to right, also where something is left or fails on the way.

use symbolon_circuit::{Circuit, eval_ports, format_value, parse_value};
use symbolon_lang::interp::{Interp, Stop, decode, encode};
use symbolon_lang::source::NoModules;
use symbolon_lang::tir::Tir;
use symbolon_lang::{Options, check, lower_entry, lower_entry_as_repeats, with_stack};

/// Returns the outputs of a program or the text with which it fails. The interpreter, the circuit,
/// and the circuit in which all loops that can be repeats are must agree.
fn run(text: &str, inputs: &[&str]) -> String {
    with_stack(|| run_within(text, inputs)).expect("a thread")
}

fn run_within(text: &str, inputs: &[&str]) -> String {
    let mut checked = check("main.sym", text, &NoModules, &Options::default());
    let mut errors = std::mem::take(&mut checked.errors);
    assert_eq!(errors.errors(), 0, "{}", errors.render(&checked.sources, false));
    let entry = checked.entry.take().expect("it has a main");
    let (tir, result) = (&checked.tir, entry.outputs[0].ty);
    let Ok((circuit, _)) = lower_entry(tir, &entry, &mut errors, false) else {
        panic!("{}", errors.render(&checked.sources, false))
    };
    let Ok(repeats) = lower_entry_as_repeats(tir, &entry, &mut errors) else {
        panic!("{}", errors.render(&checked.sources, false))
    };
    let ports = circuit.inputs().iter().zip(inputs);
    let bits: Vec<Vec<bool>> =
        ports.map(|(input, text)| parse_value(input, text).expect("a value")).collect();
    let found = outcome(tir, &circuit, &bits);
    assert_eq!(outcome(tir, &repeats, &bits), found, "as repeats: {inputs:?}\n{text}");
    let types = entry.inputs.iter().map(|input| input.ty);
    let values = types.zip(&bits).map(|(ty, bits)| decode(&tir.shapes, ty, bits)).collect();
    let instance = tir.instances[entry.instance].clone().expect("it is checked");
    let interpreted = match Interp::new(tir).run(&instance, values) {
        Ok(value) => {
            let mut bits = Vec::new();
            encode(&tir.shapes, result, &value, &mut bits);
            format_value(&circuit.outputs()[0].ty, &bits).to_string()
        }
        Err(Stop::Assert(place)) => tir.asserts[place as usize].0.clone(),
        Err(stop) => panic!("{stop:?}: {inputs:?}\n{text}"),
    };
    assert_eq!(found, interpreted, "circuit and interpreter: {inputs:?}\n{text}");
    found
}

fn outcome(tir: &Tir, circuit: &Circuit, bits: &[Vec<bool>]) -> String {
    let outputs = eval_ports(circuit, bits).expect("inputs fit");
    let number = |bits: &[bool]| bits.iter().rev().fold(0, |n, &bit| 2 * n + usize::from(bit));
    for (output, bits) in circuit.outputs().iter().zip(&outputs) {
        if output.name == Circuit::FAILURE && number(bits) > 0 {
            return tir.asserts[number(bits) / 2].0.clone();
        }
    }
    format_value(&circuit.outputs()[0].ty, &outputs[0]).to_string()
}

#[test]
fn a_loop_after_what_leaves_the_round_in_the_same_statement_is_not_run() {
    let text = "fn main(c: bool from 0) -> (x: u8 to all) {
        let mut x = 0u8;
        for i in 0..2 {
            let y = { if c { break; } 1u8 } + { for j in 0..3 { x += 1; } 2 };
            x += y;
        }
        x
    }";
    assert_eq!(run(text, &["true"]), "0");
    assert_eq!(run(text, &["false"]), "12");
    let text = "fn main(o: Option<u8> from 0) -> (x: u8 to all) {
        let mut x = 0u8;
        for i in 0..2 {
            if (match o { Some(v) => v, None => continue }) != 3 { for j in 0..3 { x += 1; } }
        }
        x
    }";
    assert_eq!(run(text, &["null"]), "0");
    assert_eq!(run(text, &["3"]), "0");
    assert_eq!(run(text, &["4"]), "6");
}

#[test]
fn a_loop_after_a_return_in_the_same_statement_is_not_run() {
    let text = "fn f(c: bool, a: [u8; 2]) -> (u8, u8) {
        let mut x = 0u8;
        let y = { if c { return (x, 7); } 1u8 } + { for v in a { if v == 9 { break; } x += v; } x };
        (x, y)
    }
    fn main(c: bool from 0, a: [u8; 2] from 0) -> (r: (u8, u8) to all) { f(c, a) }";
    assert_eq!(run(text, &["true", "[4, 5]"]), "[0, 7]");
    assert_eq!(run(text, &["false", "[4, 5]"]), "[9, 10]");
    assert_eq!(run(text, &["false", "[4, 9]"]), "[4, 5]");
    assert_eq!(run(text, &["false", "[9, 9]"]), "[0, 1]");
}

#[test]
fn what_an_inner_loop_leaves_is_its_own() {
    let text = "fn main(c: bool from 0, d: bool from 0, e: bool from 0) -> (x: u8 to all) {
        let mut x = 0u8;
        for i in 0..3 {
            x += { if c { continue; } 1u8 } + { for j in 0..3 {
                if d { break; }
                if e { return x + 100; }
                x += 10;
            } 2 };
        }
        x
    }";
    assert_eq!(run(text, &["true", "true", "true"]), "0");
    assert_eq!(run(text, &["false", "true", "true"]), "9");
    assert_eq!(run(text, &["false", "false", "true"]), "100");
    assert_eq!(run(text, &["false", "false", "false"]), "99");
}

#[test]
fn an_assert_in_a_loop_that_is_not_run_does_not_fail() {
    for of in ["0..3", "[0u8, 1, 2]"] {
        let text = format!(
            "fn main(c: bool from 0) -> (x: u8 to all) {{
            let mut x = 0u8;
            for i in 0..2 {{
                let y = {{ if c {{ break; }} 1u8 }}
                    + {{ for j in {of} {{ assert(!c, \"c\"); x += 1; }} 2 }};
                x += y;
            }}
            x
        }}"
        );
        assert_eq!(run(&text, &["true"]), "0");
        assert_eq!(run(&text, &["false"]), "12");
    }
}

#[test]
fn an_assert_that_never_holds_may_stand_where_nothing_comes() {
    let text = "fn main(c: bool from 0) -> (x: u8 to all) {
        for i in 0..2 {
            let y = { if c { break; } 1u8 } + { assert(false, \"no c\"); 2 };
        }
        7
    }";
    assert_eq!(run(text, &["true"]), "7");
    assert_eq!(run(text, &["false"]), "no c");
}

#[test]
fn what_a_loop_goes_over_can_leave_the_loop_around() {
    let text = |leave: &str| {
        format!(
            "fn main(o: Option<[u8; 2]> from 0) -> (x: u8 to all) {{
            let mut x = 0u8;
            for i in 0..2 {{
                for v in (match o {{ Some(a) => a, None => {leave} }}) {{ x += v + 1; }}
                x += 10;
            }}
            x + 1
        }}"
        )
    };
    for (leave, null) in [("break", "1"), ("continue", "1"), ("return 5", "5")] {
        assert_eq!(run(&text(leave), &["null"]), null);
        assert_eq!(run(&text(leave), &["[1, 2]"]), "31");
    }
}

#[test]
fn rounds_that_differ_are_not_run_either() {
    let text = "fn main(c: bool from 0, a: [u8; 4] from 0) -> (x: u8 to all) {
        let mut x = 0u8;
        for i in 0..2 {
            x += { if c { break; } 1u8 } + { for j in 0..3 { x += sum(a[j..j + 2]) as u8; } 2 };
        }
        x
    }";
    assert_eq!(run(text, &["true", "[1, 2, 3, 4]"]), "0");
    assert_eq!(run(text, &["false", "[1, 2, 3, 4]"]), "36");
}

#[test]
fn a_loop_of_calls_after_a_break_is_not_run() {
    let text = "#[component]
    fn f(x: u8) -> u8 { assert(x != 77, \"77\"); x * x + 1 }
    fn main(c: bool from 0, a: u8 from 0) -> (x: u8 to all) {
        let mut x = a;
        for i in 0..2 {
            let y = { if c { break; } 1u8 } + { for j in 0..4 { x = f(x); } 2 };
            x += y;
        }
        x
    }";
    let f = |x: u8| x.wrapping_mul(x).wrapping_add(1);
    let round = |x| f(f(f(f(x)))).wrapping_add(3);
    assert_eq!(run(text, &["true", "77"]), "77");
    assert_eq!(run(text, &["false", "77"]), "77");
    assert_eq!(run(text, &["true", "5"]), "5");
    assert_eq!(run(text, &["false", "2"]), round(round(2)).to_string());
}

#[test]
fn an_array_is_evaluated_before_its_index() {
    let text = "fn main(a: u8 from 0) -> (r: u8 to all) {
        let mut x = a;
        [x, 1, 2][{ x += 1; 0 }] * 10 + x
    }";
    assert_eq!(run(text, &["1"]), "12");
    let text = "fn main(i: u8 from 0) -> (r: u8 to all) {
        let mut x = 1u8;
        [x, 4, 5][{ x += 1; i }] * 10 + x
    }";
    assert_eq!(run(text, &["0"]), "12");
    assert_eq!(run(text, &["2"]), "52");
    assert_eq!(run(text, &["3"]), "2");
}

#[test]
fn what_is_missing_first_is_reported() {
    let text = "fn main(a: Option<[u8; 3]> from 0, i: Option<u2> from 0) -> (r: u8 to all) {
        a.expect(\"no array\")[i.expect(\"no index\")]
    }";
    assert_eq!(run(text, &["null", "null"]), "no array");
    assert_eq!(run(text, &["[1, 2, 3]", "null"]), "no index");
    assert_eq!(run(text, &["[1, 2, 3]", "2"]), "3");
    let text = "fn main(a: [[u8; 3]; 2] from 0, i: Option<u1> from 0, j: Option<u2> from 0)
        -> (r: u8 to all) {
        a[i.expect(\"no i\")][j.expect(\"no j\")]
    }";
    let a = "[[1, 2, 3], [4, 5, 6]]";
    assert_eq!(run(text, &[a, "null", "null"]), "no i");
    assert_eq!(run(text, &[a, "1", "null"]), "no j");
    assert_eq!(run(text, &[a, "1", "1"]), "5");
}

#[test]
fn an_array_is_as_it_was_before_its_index() {
    for place in ["a", "s.0"] {
        let text = format!(
            "fn main(b: [u8; 3] from 0, i: u8 from 0) -> (r: u8 to all) {{
            let mut a = b;
            let mut s = (b, 0u8);
            let x = {place}[{{ {place}[1] = 50; i }}];
            x + 100 * ({place}[1] / 50)
        }}"
        );
        assert_eq!(run(&text, &["[1, 2, 3]", "0"]), "101");
        assert_eq!(run(&text, &["[1, 2, 3]", "1"]), "102");
        assert_eq!(run(&text, &["[1, 2, 3]", "3"]), "100");
    }
    let text = "fn main(b: [u8; 3] from 0) -> (r: u8 to all) {
        let mut a = b;
        a[{ a = [7, 8, 9]; 1 }] * 10 + a[1]
    }";
    assert_eq!(run(text, &["[1, 2, 3]"]), "28");
}

#[test]
fn an_index_that_leaves_comes_after_its_array() {
    let text = "fn main(o: Option<u8> from 0, a: [u8; 2] from 0) -> (r: (u8, u8) to all) {
        let (mut x, mut y) = (0u8, 0u8);
        for i in 0..2 {
            y += { x += 1; [x, a[1]] }[match o { Some(i) => i, None => break }];
        }
        (x, y)
    }";
    assert_eq!(run(text, &["null", "[3, 4]"]), "[1, 0]");
    assert_eq!(run(text, &["0", "[3, 4]"]), "[2, 3]");
    assert_eq!(run(text, &["1", "[3, 4]"]), "[2, 8]");
}

#[test]
fn other_operands_are_evaluated_from_left_to_right() {
    let text = "fn f(a: u16, b: u16) -> u16 { a * 10 + b }
    struct W { v: u16 }
    impl W { fn times(self, by: u16) -> u16 { self.v * by } }
    fn main(a: u16 from 0) -> (r: [u16; 6] to all) {
        let mut x = a;
        let call = f({ x += 1; x }, { x += 1; x });
        let mut w = W { v: x };
        let method = w.times({ w.v = 0; 9 }) * 10 + w.v;
        x = 0;
        let tuple = (x, { x += 1; x }, x);
        let binary = x * 10 + { x += 1; x };
        let mut b = [0u16; 4];
        b[{ x += 1; x } % 4] = { x += 1; x };
        let slice = { x += 1; [x, x + 1, x + 2] }[1..3];
        [call, method, tuple.0 * 100 + tuple.1 * 10 + tuple.2, binary, b[3], slice[0] * 10 + x]
    }";
    assert_eq!(run(text, &["1"]), "[23, 270, 11, 12, 4, 65]");
}

#[test]
fn an_operator_that_assigns_reads_its_place_last() {
    let text = "fn main(a: [u8; 2] from 0, i: u1 from 0) -> (r: ([u8; 2], u8) to all) {
        let mut b = a;
        let mut x = 3u8;
        x += { x = 5; 1 };
        b[{ b[0] += 1; i }] *= { b[1] = 7; 10 };
        (b, x)
    }";
    assert_eq!(run(text, &["[1, 2]", "0"]), "[[20, 7], 6]");
    assert_eq!(run(text, &["[1, 2]", "1"]), "[[2, 70], 6]");
}

const FIELDS: &str = "struct S { a: u8, b: u8, c: u8 }";

#[test]
fn fields_are_evaluated_as_written() {
    let text = format!(
        "{FIELDS}
        fn main(a: u8 from 0) -> (r: u8 to all) {{
        let mut x = a;
        let s = S {{ b: {{ x += 1; x }}, a: {{ x *= 10; x }}, c: 0 }};
        s.a + 100 * s.b
    }}"
    );
    // 20 + 200
    assert_eq!(run(&text, &["1"]), "220");
    // What only reads comes after what changes.
    let text = format!(
        "{FIELDS}
        fn main(a: u8 from 0) -> (r: S to all) {{
        let mut x = a;
        S {{ c: x, b: {{ x += 1; x }}, a: x }}
    }}"
    );
    assert_eq!(run(&text, &["1"]), "{\"a\": 2, \"b\": 2, \"c\": 1}");
}

#[test]
fn of_fields_that_fail_the_first_written_is_reported() {
    let text = format!(
        "{FIELDS}
        fn g(x: Option<u8>) -> u8 {{ x.expect(\"no a\") }}
        fn main(x: Option<u8> from 0, y: Option<u8> from 0) -> (r: u8 to all) {{
        let s = S {{ b: y.expect(\"no b\"), c: 1, a: g(x) }};
        s.a + 10 * s.b
    }}"
    );
    assert_eq!(run(&text, &["null", "null"]), "no b");
    assert_eq!(run(&text, &["null", "1"]), "no a");
    assert_eq!(run(&text, &["1", "null"]), "no b");
    assert_eq!(run(&text, &["1", "2"]), "21");
}

#[test]
fn a_field_that_leaves_keeps_later_ones_from_being_evaluated() {
    let text = format!(
        "{FIELDS}
        fn main(c: bool from 0, o: Option<u8> from 0) -> (r: u8 to all) {{
        let mut x = 0u8;
        for i in 0..2 {{
            let s = S {{
                c: {{ x += 1; x }},
                b: {{ if c {{ break; }} 4 }},
                a: {{ for j in 0..2 {{ x += o.expect(\"none\"); }} x }},
            }};
            x += s.a + s.b + s.c;
        }}
        x
    }}"
    );
    assert_eq!(run(&text, &["true", "null"]), "1");
    assert_eq!(run(&text, &["false", "null"]), "none");
    // 1, then 3 + 3 + 4 + 1; 12, then 14 + 14 + 4 + 12.
    assert_eq!(run(&text, &["false", "1"]), "44");
}

#[test]
fn constant_structures_stay_constants_in_any_order() {
    let text = format!(
        "{FIELDS}
        fn two() -> u8 {{ 2 }}
        const K: S = S {{ c: two(), b: 1, a: two() + 1 }};
        fn main(x: u8 from 0) -> (r: u8 to all) {{
        let k = S {{ c: two(), a: 0, b: 1 }};
        [5, 6, x][k.c] + K.a
    }}"
    );
    assert_eq!(run(&text, &["7"]), "10");
}
