//! `text<N>`: literals, methods, conversions, patterns, and what is refused.

use crate::common::{bits, circuit, compute as run, errors_of as errors};
use symbolon_circuit::{Type, format_value, parse_value};
use symbolon_lang::source::NoModules;
use symbolon_lang::testing::run_tests;
use symbolon_lang::{Options, check, with_stack};

#[test]
fn ports_are_texts() {
    let program = "fn main(a: text<8> from 0, b: Option<text<3>> from 1)
        -> (t: text<8> to all, rows: [(text<3>, bool); 1] to all) {
        (a, [(b.unwrap_or(\"?\"), a == \"Zoë\")])
    }";
    let circuit = circuit(program);
    assert_eq!(circuit.inputs()[0].ty, Type::Text(8));
    assert_eq!(circuit.outputs()[0].ty.to_string(), "text<8>");
    assert_eq!(bits(&circuit, &["Zoë", "null"]), ["\"Zoë\"", "[[\"?\", true]]"]);
    assert_eq!(bits(&circuit, &["\"null\"", "abc"]), ["\"null\"", "[[\"abc\", false]]"]);
}

#[test]
fn literals_take_the_type_that_is_needed() {
    let program = "const WHO: text<6> = \"bob\";
    struct Row { name: text<4>, other: [u8; 2] }
    fn same<const N: usize>(a: text<N>, b: text<N>) -> bool { a == b }
    fn main(a: text<6> from 0, c: bool from 1) -> (r: [bool; 6] to all, t: text<4> to all) {
        let row = Row { name: if c { \"yes\" } else { \"no\" }, other: \"ab\" };
        let given: text<_> = \"abc\";
        let t: [text<6>; 2] = [\"x\", \"\"];
        let r = [a == WHO, \"bob\" == a, same(a, \"bob\"), given == \"abc\", a == t[1], a == \"bob\" as text<6>];
        (r, row.name)
    }";
    let all = "[true, true, true, true, false, true]";
    assert_eq!(run(program, &["bob", "true"]), [all, "\"yes\""]);
    let none = "[false, false, false, true, true, false]";
    assert_eq!(run(program, &["", "false"]), [none, "\"no\""]);
}

#[test]
fn the_order_is_that_of_the_bytes() {
    let program =
        "fn main(a: text<4> from 0, b: text<4> from 1) -> (lt: bool to all, m: text<4> to all) {
        (a < b, max(a, b))
    }";
    for (a, b) in
        [("a", "b"), ("a", "aa"), ("", "a"), ("Z", "a"), ("ab", "b"), ("z", "é"), ("a", "a")]
    {
        assert_eq!(run(program, &[a, b]), [(a < b).to_string(), format!("\"{b}\"")], "{a} {b}");
        assert_eq!(run(program, &[b, a]), [(b < a).to_string(), format!("\"{b}\"")], "{a} {b}");
    }
}

#[test]
fn methods_of_texts() {
    let program = "fn main(a: text<6> from 0, b: text<3> from 1)
        -> (len: u3 to all, empty: bool to all, starts: bool to all, has: bool to all,
            fixed: [bool; 3] to all, lower: text<6> to all, cut: text<2> to all, wide: text<9> to all) {
        let fixed = [a.starts_with(\"ab\"), a.contains(\"cd\"), a.contains(\"\")];
        (a.len(), a.is_empty(), a.starts_with(b), a.contains(b), fixed, a.to_ascii_lowercase(),
            a.resize(), a.resize())
    }";
    let circuit = circuit(program);
    for a in ["", "a", "ab", "abcd", "xabcd", "AbC[d", "cdcdcd", "xxxxcd", "ééé"] {
        for b in ["", "a", "ab", "abc", "cd", "d", "xyz"] {
            let fixed = [a.starts_with("ab"), a.contains("cd"), true];
            let expected = [
                a.len().to_string(),
                a.is_empty().to_string(),
                a.starts_with(b).to_string(),
                a.contains(b).to_string(),
                format!("{fixed:?}"),
                format!("\"{}\"", a.to_ascii_lowercase()),
                format!(
                    "\"{}\"",
                    a.chars().take(if a.is_ascii() { 2 } else { 1 }).collect::<String>()
                ),
                format!("\"{a}\""),
            ];
            assert_eq!(bits(&circuit, &[a, b]), expected, "{a} {b}");
        }
    }
}

#[test]
fn texts_are_converted_from_and_to_bytes() {
    let program = "fn main(a: text<3> from 0, b: [u8; 3] from 1)
        -> (x: [u8; 3] to all, y: text<3> to all, z: bool to all, n: u8 to all) {
        (a as [u8; 3], b as text<3>, a as [u8; 3] == \"abc\" && (b as text).is_empty(), a.as_bytes()[0])
    }";
    let out = run(program, &["abc", "[0, 0, 0]"]);
    assert_eq!(out, ["[97, 98, 99]", "\"\"", "true", "97"]);
    // What is no text is shown all the same.
    let out = run(program, &["abc", "[255, 98, 0]"]);
    assert_eq!(out[1], "\"hex:0062ff\"");
}

#[test]
fn patterns_are_texts() {
    let program = "fn main(a: text<5> from 0, b: [u8; 3] from 1) -> (x: u8 to all, y: u8 to all) {
        let x = match a { \"GET\" | \"HEAD\" => 1, \"POST\" => 2, \"\" => 3, _ => 4 };
        let y = match b { \"abc\" => 1, [first, ..] => first };
        (x, y)
    }";
    for (a, x) in [("GET", 1), ("HEAD", 1), ("POST", 2), ("", 3), ("GETS", 4), ("get", 4)] {
        assert_eq!(run(program, &[a, "[97, 98, 99]"]), [x.to_string(), "1".into()], "{a}");
    }
    assert_eq!(run(program, &["x", "[97, 98, 98]"]), ["4", "97"]);
}

#[test]
fn the_interpreter_agrees() {
    let program = "#[test]
    fn lengths(a: text<5>) { assert(a.len() <= 5 && (a.len() == 0) == a.is_empty(), \"length\"); }
    #[test]
    fn parts(a: text<4>, b: text<2>) {
        assert(!a.starts_with(b) || a.contains(b), \"a start is a part\");
        assert((a as [u8; 4]) as text<4> == a && a.resize::<9>().resize() == a, \"a way back\");
        assert((a < b.resize()) == ((a as [u8; 4]) < (b.resize::<4>() as [u8; 4])), \"order\");
    }";
    with_stack(|| {
        let checked = check("main.sym", program, &NoModules, &Options::default());
        let results = run_tests(&checked, 1);
        assert_eq!(results.len(), 2);
        assert!(results.iter().all(|result| result.wrong.is_none()), "{results:?}");
    })
    .expect("a thread");
}

#[test]
fn what_is_no_text_is_refused() {
    let main = |body: &str| {
        format!("fn main(a: text<3> from 0, n: u8 from 1) -> (r: bool to all) {{ {body} }}")
    };
    for (body, reason) in [
        ("a == \"long\"", "this text has 4 bytes, more than `text<3>` holds"),
        ("\"ëë\" == a", "this text has 4 bytes"),
        ("a == \"a\\0\"", "has no zero bytes"),
        ("a == n", "expected `text<3>`, found `u8`"),
        ("let b: text<4> = a; true", "expected `text<4>`, found `text<3>`"),
        ("(a as text<4>) == \"x\"", "write `t.resize()`"),
        ("(a as [u8; 4])[0] == 1", "a `text<3>` cannot become a `[u8; 4]`"),
        ("(a as u24) == 1", "converted from and to `[u8; N]`"),
        ("match a { \"abc\" => true }", "leaves values out"),
        ("match a { \"abcd\" => true, _ => false }", "more than `text<3>` holds"),
        ("match n { \"a\" => true, _ => false }", "expected `u8`, found `[u8; 1]`"),
        ("a + a == a", "expected a number"),
    ] {
        let errors = errors(&main(body));
        assert!(errors.contains(reason), "{body}: {errors}");
    }
}

/// Names that programs already use keep their meaning.
#[test]
fn other_texts_stay_what_they_were() {
    let own = "type text = u8;
    fn main(a: u16 from 0, text: u8 from 1) -> (r: bool to all, t: text to all) {
        (a as text < 9, text)
    }";
    assert_eq!(run(own, &["265", "7"]), ["false", "7"]);
    let named = "struct text { bytes: [u8; 1] }
    fn main(a: text from 0) -> (r: text to all) { a }";
    assert_eq!(run(named, &["{\"bytes\": [97]}"]), ["{\"bytes\": [97]}"]);
    let module = "use std::text;
    fn main(a: [u8; 4] from 0, b: text<2> from 1) -> (at: Option<usize> to all, e: bool to all) {
        (text::find(a, \"b\"), b.is_empty())
    }";
    assert_eq!(run(module, &["[97, 98, 98, 0]", "x"]), ["1", "false"]);
}

#[test]
fn a_longer_room_costs_eight_gates_a_byte_to_compare() {
    let ands = |text: &str| symbolon_circuit::builder::and_count(&circuit(text));
    let main = |body: &str| {
        format!("fn main(a: text<32> from 0, b: text<32> from 1) -> (r: bool to all) {{ {body} }}")
    };
    assert_eq!(ands(&main("a == b")), 255);
    assert_eq!(ands(&main("a == \"alice@example.org\"")), 255);
    assert_eq!(ands(&main("a.starts_with(\"E11\")")), 23);
    let input = circuit(&main("a == b")).inputs()[0].clone();
    let bits = parse_value(&input, "a").expect("a text");
    assert_eq!(format_value(&input.ty, &bits).to_string(), "\"a\"");
}

/// A shell takes the quotation marks away.
#[test]
fn a_constant_is_set_to_a_text_with_and_without_quotation_marks() {
    let program = "pub const NAME: text<5> = \"bob\"; const OTHER: text<5> = \"other\";
        fn main(a: text<5> from 0) -> (r: bool to all, o: text<5> to all) { (a == NAME, OTHER) }";
    let set = |value: &str| {
        let constants = vec![("NAME".to_string(), value.to_string())];
        let options = Options { constants, ..Options::default() };
        with_stack(|| {
            let errors = check("p.sym", program, &NoModules, &options);
            (errors.errors.errors() > 0).then(|| errors.errors.render(&errors.sources, false))
        })
        .expect("a thread")
    };
    for fits in ["alice", "\"alice\"", "b\"alice\"", "b", "Zoë", "", "a b,c", "OTHER", "\\n"] {
        assert_eq!(set(fits), None, "{fits}");
    }
    for long in ["alicia", "\"alicia\""] {
        let found = set(long).expect("it is too long");
        assert!(found.contains("this text has 6 bytes, more than `text<5>` holds"), "{found}");
    }
    assert!(set("\"alice").expect("it does not end").contains("unreadable"));
}
