//! Programs that are refused because they would not mean what they seem to, and their neighbours,
//! which compile and mean it.

mod common;

use common::{compute, errors_of};
use symbolon_lang::{Options, compile_text};

/// Refuses all, with this code, and something of this message.
fn refused(code: &str, says: &str, programs: &[&str]) {
    for program in programs {
        let found = errors_of(program);
        assert!(found.contains(&format!("error[{code}]")), "{program}\n{found}");
        assert!(found.contains(says), "{program}\n{found}");
    }
}

fn compiles(program: &str) {
    if let Err(errors) = compile_text(program, &Options::default()) {
        panic!("{program}\n{errors}");
    }
}

/// A `main` that takes a number of this type and gives one.
fn main_of(ty: &str, body: &str) -> String {
    format!("fn main(c: {ty} from 0) -> (r: {ty} to all) {{ {body} }}")
}

#[test]
fn floats_have_no_remainder() {
    for body in ["let mut x = c; x %= 2.0; x", "c % 2.0"] {
        refused("E03", "an integer or a `fixed`", &[&main_of("f32", body)]);
    }
    let fixed = main_of("fixed<8, 8>", "let mut x = c; x %= 2.0; x");
    assert_eq!(compute(&fixed, &["5.5"]), ["1.5"]);
}

#[test]
fn the_least_number_is_a_literal_only_under_a_minus() {
    for body in [
        "let x: i8 = 128; x",
        "c + 128",
        "if c < 128 { c } else { 0 }",
        "-(c + 128)",
        "-!128",
        "128i8",
        "let x: i8 = 129; x",
        "-129",
        "match c { 128 => 1, _ => 2 }",
        "match c { -129 => 1, _ => 2 }",
        "match c { -128..=128 => 1 }",
    ] {
        refused("E04", "does not fit in `i8`", &[&main_of("i8", body)]);
    }
    for body in ["c + 8", "c + 8.0", "-8.1", "-9"] {
        refused("E04", "does not fit in `fixed<4, 4>`", &[&main_of("fixed<4, 4>", body)]);
    }
    for (ty, body, result) in [
        ("i8", "-128", "-128"),
        ("i8", "-(128)", "-128"),
        ("i8", "- 128i8", "-128"),
        ("i8", "-128 as i8", "-128"),
        ("i8", "match c { -128 => 1, -127..=127 => 2 }", "2"),
        ("i8", "match c { -128..=-1 => 1, 0..=127 => 2 }", "2"),
        ("fixed<4, 4>", "-8", "-8"),
        ("fixed<4, 4>", "-8.0", "-8"),
        ("i1", "-1", "-1"),
    ] {
        let found = compute(&main_of(ty, body), &["0"]);
        assert_eq!(found[0].trim_end_matches(".0"), result, "{body}");
    }
}

#[test]
fn a_fixed_constant_in_a_pattern_is_one_value() {
    let program = |body: &str| {
        format!(
            "const A: fixed<4, 4> = 1.5; const B: fixed<4, 4> = 2.5; const L: fixed<4, 4> = -8.0;
fn main(c: fixed<4, 4> from 0) -> (r: u8 to all) {{ {body} }}"
        )
    };
    refused("E05", "leaves values out", &[&program("match c { A => 1, B => 2 }")]);
    refused("E05", "does not fit all", &[&program("let (A, y) = (c, 1u8); y")]);
    let whole = program("match c { A => 1, B | L => 2, _ => 3 }");
    for (input, result) in [("1.5", "1"), ("2.5", "2"), ("3.25", "3"), ("-8", "2")] {
        assert_eq!(compute(&whole, &[input]), [result]);
    }
    let options = Options::default();
    let checked = symbolon_lang::with_stack(|| {
        let loader = symbolon_lang::source::NoModules;
        symbolon_lang::check("main.sym", &whole, &loader, &options).errors
    });
    assert!(checked.list().is_empty(), "no case is unreachable");
}

#[test]
fn names_of_the_language_are_refused() {
    let with = |item: &str| format!("{item} {}", main_of("u8", "c"));
    for item in [
        "fn zero() -> u8 { 7 }",
        "fn clog2(n: u8) -> u8 { n }",
        "fn assert(c: bool) {}",
        "const PARTIES = 3;",
        "pub const PARTIES: usize = 3;",
        "type u9 = u3;",
        "type bool = u8;",
        "struct usize { a: u8 }",
        "enum f32 { A, B }",
        "type f64 = u8;",
        "struct fixed<T> { a: T }",
        "struct u<T> { a: T }",
        "fn f<u8>(x: u8) -> u8 { x }",
        "struct S<i7> { a: i7 }",
    ] {
        refused("E02", "name of the language", &[&with(item)]);
    }
    for item in [
        "fn u9() -> u8 { 7 }",
        "struct S { zero: u8 } impl S { fn zero(self) -> u8 { self.zero } }",
        "fn f(zero: u8, clog2: u8) -> u8 { zero + clog2 }",
        "use std::fixed;",
        "type u09 = u8;",
    ] {
        compiles(&with(item));
    }
}

#[test]
fn no_name_stands_twice() {
    let with = |item: &str, body: &str| format!("{item} {}", main_of("u8", body));
    let s = "struct S { a: u8, b: u8 }";
    for (item, body) in [
        (s, "match (S { a: c, b: c }) { S { a: 1, a: 9, b } => b, _ => 2 }"),
        ("struct S { a: u8, a: u8 }", "c"),
        ("enum E { A, A(u8) }", "c"),
        ("fn f(x: u8, x: u8) -> u8 { x }", "c"),
        ("fn f(x: u8) -> (a: u8 to all, a: u8 to all) { (x, x) }", "c"),
        ("", "let (x, x) = (c, c); x"),
        (s, "let S { a, b: a } = S { a: c, b: c }; a"),
        ("", "match (c, c) { (x, x) => x }"),
        ("", "match (c, c) { (x, y) | (x, x) => x }"),
        ("", "for (x, x) in [(c, c)] { } c"),
        ("fn f<const N: usize, const N: usize>() -> u8 { 1 }", "c"),
        ("struct P<T, T> { a: T }", "c"),
        ("enum P<T, T> { A(T) }", "c"),
        ("struct P<T> { a: T } impl<T> P<T> { fn f<T>(self, x: T) -> T { x } }", "c"),
        ("parties a, a;", "c"),
    ] {
        refused("E02", "twice", &[&with(item, body)]);
    }
    compiles(&with("", "match (c, c) { (1, x) | (x, _) => x }"));
    compiles(
        &with("", "let (x, (y, _)) = (c, (c, _one())); let x = x + y; x")
            .replace("fn main", "fn _one() -> u8 { 1 } fn main"),
    );
}

#[test]
fn integers_without_bits_are_zero() {
    for (ty, body) in [
        ("f32", "((c as i0) as i8) as f32"),
        ("f64", "((c as u0) as i8) as f64"),
        ("f32", "(c as i0) as f32"),
        ("f32", "const X: i0 = 3.5f32 as i0; X as f32"),
        ("f32", "if (c as i0) < 0 { 1.0 } else { 0.0 }"),
        ("f32", "match c as i0 { 0 => 0.0, _ => 1.0 }"),
        ("i8", "if (c as i0) < 0 { 1 } else { 0 }"),
    ] {
        let found = compute(&main_of(ty, body), &["5"]);
        assert_eq!(found[0].trim_end_matches(".0"), "0", "{body}");
    }
    refused("E04", "does not fit in `i0`", &[&main_of("i8", "if (c as i0) < 1 { 1 } else { 0 }")]);
}
