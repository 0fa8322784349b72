//! Programs that are refused because they would not mean what they seem to, and their neighbours,
//! which compile and mean it.

use crate::common::{compute, errors_of};
use symbolon_lang::{Options, compile_text};

/// Checks that all programs are refused with this code and a message that has this text.
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

/// Returns a `main` that takes a number of this type and gives one.
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
    refused("E05", "does not match all", &[&program("let (A, y) = (c, 1u8); y")]);
    let whole = program("match c { A => 1, B | L => 2, _ => 3 }");
    for (input, result) in [("1.5", "1"), ("2.5", "2"), ("3.25", "3"), ("-8", "2")] {
        assert_eq!(compute(&whole, &[input]), [result]);
    }
    let options = Options::default();
    let checked = symbolon_lang::with_stack(|| {
        let loader = symbolon_lang::source::NoModules;
        symbolon_lang::check("main.sym", &whole, &loader, &options).errors
    })
    .expect("a thread");
    assert!(checked.list().is_empty(), "no case is unreachable");
}

#[test]
fn lengths_see_what_hides_a_name() {
    let inner = "fn f<const N: usize>(c: u8) -> u8 {
    const N: usize = 9;
    let a = [c; N];
    let b: [u8; N] = a;
    let d = [c; N + 0];
    sum([1u8; N]) as u8 + a[8] + b[8] + d[8] - 3 * c
}
fn main(c: u8 from 0) -> (r: u8 to all) { f::<2>(c) }";
    assert_eq!(compute(inner, &["1"]), ["9"]);
    let looped = "fn f<const N: usize>(c: u8) -> u8 {
    let mut s = c;
    for N in 5..7 { let a: [u8; N] = [1; N]; s += sum(a) as u8; }
    s + sum([1u8; N]) as u8
}
fn main(c: u8 from 0) -> (r: u8 to all) { f::<2>(c) }";
    assert_eq!(compute(looped, &["0"]), ["13"]);
    for body in [
        "let n = c; let s = [c, c, c, c][n..n + 2]; s[0]",
        "let n = c as usize; [c; n][0]",
        "let n = c as usize; [c; n + 1][0]",
        "const n: usize = 1; let n = c as usize; [c; n][0]",
        "match c { n => [c; n + 1][0] }",
        "let n = c as usize; const m = n + 1; [c; m][0]",
        "let n = c as usize; [i as u8 for i in 0..n][0]",
    ] {
        let body = format!("const n: usize = 1; {}", main_of("u8", body));
        let found = errors_of(&body);
        assert!(found.contains("E04") || found.contains("E03"), "{body}\n{found}");
    }
    let found = errors_of(&format!("const n = 1; {}", main_of("u32", "let n = c; [c; n][0]")));
    assert!(found.contains("not a constant"), "{found}");
    // A name that hides nothing here, or no longer.
    compiles(&format!("const n = 2; {}", main_of("u8", "let x = { let n = c; n }; [x; n][1]")));
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
fn const_parameters_have_the_type_they_are_declared_with() {
    let wraps = "fn f<const N: u8>() -> [bool; (N + 200) as usize] { [true; (N + 200) as usize] }
fn main(c: u8 from 0) -> (r: u32 to all) { count(f::<100>()) as u32 + c as u32 }";
    assert_eq!(compute(wraps, &["1"]), ["45"]);
    for (item, call, result) in [
        ("fn f<const N: u8>() -> u64 { N as u64 } const T: u8 = 7;", "f::<T>()", "7"),
        (
            "fn f<const N: u8>() -> u64 { if N == 0 { 0 } else { f::<N - 1>() + 2 } }",
            "f::<3>()",
            "6",
        ),
        ("fn f<const B: bool>() -> u64 { if B { 1 } else { f::<!B>() + 1 } }", "f::<false>()", "2"),
        (
            "fn f<const N: u64>() -> u64 { N }",
            "f::<18446744073709551615>()",
            "18446744073709551615",
        ),
        ("fn f<const N: u64>() -> u64 { N } const T: u64 = 1 << 40;", "f::<T>()", "1099511627776"),
        ("fn f<const N: u4>() -> u64 { N as u64 }", "f::<15>()", "15"),
        ("fn f<const N: u8>(a: [u8; N]) -> u64 { N as u64 }", "f([1, 2, 3])", "3"),
        ("fn f<const M: usize, const N: u<M>>() -> u64 { N as u64 }", "f::<4, 15>()", "15"),
        ("type Small = u4; fn f<const N: Small>() -> u64 { (N + 1) as u64 }", "f::<15>()", "0"),
        ("fn f<const N: usize>() -> u64 { N as u64 }", "f::<{ 1 + 2 }>()", "3"),
    ] {
        let program = format!("{item} fn main(c: u64 from 0) -> (r: u64 to all) {{ c + {call} }}");
        assert_eq!(compute(&program, &["0"]), [result], "{program}");
    }
    for (item, call, code) in [
        ("fn f<const N: u8>() -> u64 { N as u64 }", "f::<300>()", "E04"),
        ("fn f<const N: u4>(a: [u8; N]) -> u64 { N as u64 }", "f([0; 16])", "E04"),
        ("fn f<const B: bool>() -> u64 { 1 }", "f::<2>()", "E03"),
        ("fn f<const B: bool>() -> u64 { 1 }", "f::<1>()", "E03"),
        ("fn f<const N: usize>() -> u64 { 1 }", "f::<true>()", "E03"),
        (
            "fn f<const N: usize>() -> u64 { 1 } fn g<const B: bool>() -> u64 { f::<B>() }",
            "g::<true>()",
            "E03",
        ),
        ("fn f<const N: u8>() -> u64 { if N == 300 { 1 } else { 2 } }", "f::<3>()", "E04"),
        ("fn f<const N: usize>() -> u64 { 1 } const T: u8 = 1;", "f::<T>()", "E03"),
        ("fn f<const N: i8>() -> u64 { 1 }", "f::<1>()", "E03"),
        ("fn f<const N: u80>() -> u64 { 1 }", "f::<100000000000000000000>()", "E07"),
        (
            "struct S<const N: u4> { a: [u8; N] } fn f(s: S<16>) -> u64 { 1 }",
            "f(S { a: [0; 16] })",
            "E04",
        ),
    ] {
        let program = format!("{item} fn main(c: u64 from 0) -> (r: u64 to all) {{ c + {call} }}");
        let found = errors_of(&program);
        assert!(found.contains(&format!("error[{code}]")), "{program}\n{found}");
    }
    for item in [
        "struct S<const N: S<1>> { a: u8 } fn f(s: S<2>) -> u8 { s.a }",
        "type A = S<1, 2>; struct S<const N: A, const M: A> { a: u8 } fn f(s: A) -> u8 { s.a }",
        "fn f<const N: u<f::<1>()>>() -> usize { 1 } fn g() -> usize { f::<2>() + f::<3>() }",
    ] {
        let found = errors_of(&format!("{item} {}", main_of("u8", "c")));
        assert!(found.contains("error[E03]"), "{item}\n{found}");
    }
    // Nothing calls these: they are checked with samples.
    compiles(&format!(
        "fn f<const B: bool>() -> u8 {{ 1 }} fn g<const N: u2>() -> u8 {{ f::<true>() }} {}",
        main_of("u8", "c")
    ));
}

#[test]
fn a_histogram_counts_nothing_beyond_its_numbers() {
    let program =
        "fn main(c: [u8; 3] from 0) -> (r: [u2; 300] to all) { std::stats::histogram(c) }";
    let found = compute(program, &["[9, 1, 44]"]).join("");
    let counts: Vec<&str> = found.trim_matches(['[', ']']).split(", ").collect();
    assert_eq!(counts.len(), 300);
    for (place, count) in counts.iter().enumerate() {
        assert_eq!(*count, if [1, 9, 44].contains(&place) { "1" } else { "0" }, "{place}");
    }
}

#[test]
fn a_variable_that_is_assigned_to_is_no_constant() {
    let looped = "fn main(c: bool from 0) -> (r: u8 to all) {
    let a = [1u8, 2, 4, 8];
    let mut s = 0u8;
    for mut i in 0..4 { if c { i = 0; } s += a[i]; }
    s
}";
    assert_eq!(compute(looped, &["true"]), ["4"]);
    assert_eq!(compute(looped, &["false"]), ["15"]);
    let matched = "fn main(c: bool from 0) -> (r: u8 to all) {
    let a = [1u8, 2, 4, 8];
    match 3usize { mut i => { if c { i = 0; } a[i] } }
}";
    assert_eq!(compute(matched, &["true"]), ["1"]);
    assert_eq!(compute(matched, &["false"]), ["8"]);
    let bound = looped.replace("s += a[i];", "for k in 0..i { s += 1; }");
    refused("E04", "bounds of a loop", &[&bound]);
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

#[test]
fn tables_without_rows_have_nothing_in_common() {
    let program = "use std::psi::{compact, intersect};
fn main(c: u8 from 0) -> (r: u8 to all) {
    let none: [Option<u8>; 0] = [];
    let nothing: [u8; 0] = [];
    let one = compact([Some(c)]);
    let a = intersect([c], nothing);
    let b = intersect(nothing, nothing);
    count([x.is_some() for x in compact(none)]) as u8
        + count([x.is_some() for x in a]) as u8
        + count([x.is_some() for x in b]) as u8
        + match one[0] { Some(x) => x, None => 0 }
}";
    assert_eq!(compute(program, &["5"]), ["5"]);
}

#[test]
fn a_number_of_parties_that_is_none_is_refused() {
    let text = "fn main(c: [u8; PARTIES] from each) -> (r: u8 to all) { c[0] }";
    for (value, good) in
        [("abc", false), ("1", false), ("300", false), ("0", false), ("-2", false), ("3", true)]
    {
        let constants = vec![("PARTIES".to_string(), value.to_string())];
        let options = Options { constants, ..Options::default() };
        match compile_text(text, &options) {
            Ok(circuit) => {
                assert!(good, "{value}");
                assert_eq!(circuit.inputs().len(), 3);
            }
            Err(errors) => {
                let shown = errors.to_string();
                assert!(!good && shown.contains("E04") && shown.contains("PARTIES"), "{shown}");
            }
        }
    }
}

#[test]
fn a_computed_length_is_the_one_found_elsewhere() {
    let g = "fn g(n: usize) -> usize { n * 2 }";
    let s = "struct S<const N: usize> { b: [u8; N], a: [u8; g(N)] }";
    let literal = |length: usize| {
        format!(
            "{g} {s} fn main(x: [u8; {length}] from 0, y: [u8; 2] from 0) -> \
             (o: u8 to all, p: u8 to all) {{ let s = S {{ a: x, b: y }}; let t = (s, 77u8); \
             (s.a[0], t.1) }}"
        )
    };
    let call = |item: &str, length: usize| {
        format!(
            "{g} {item} fn main(x: [u8; {length}] from 0, y: [u8; 2] from 0) -> (o: u8 to all) \
             {{ f(x, y) }}"
        )
    };
    let body = "(a: [u8; g(N)], b: [u8; N]) -> u8 { a[3] + b[0] }";
    let plain = format!("fn f<const N: usize>{body}");
    let component = format!("#[component] {plain}");
    let cast = plain.replace("g(N)", "N as usize * 2");
    let narrow = cast.replace("N: usize", "N: u8");
    for length in [3, 5] {
        let says = format!("this is 4, where {length} is expected");
        refused("E03", &says, &[&literal(length)]);
        for item in [&plain, &component, &cast, &narrow] {
            refused("E03", &says, &[&call(item, length)]);
        }
    }
    assert_eq!(compute(&literal(4), &["[6, 7, 8, 9]", "[1, 2]"]), ["6", "77"]);
    for item in [&plain, &component, &cast, &narrow] {
        assert_eq!(compute(&call(item, 4), &["[6, 7, 8, 9]", "[1, 2]"]), ["10"]);
    }
    // A wrong constant is one error.
    let wrong = call(&plain.replace("g(N)", "g(N) / 0 + N[0]"), 4);
    assert!(!errors_of(&wrong).contains("is expected"), "{}", errors_of(&wrong));
}

#[test]
fn an_array_from_a_range_has_the_elements_of_its_length() {
    let program = |ty: &str, length: usize, of: &str| {
        format!(
            "fn main(a: {ty} from 0) -> (o: [{ty}; {length}] to all, p: {ty} to all) \
             {{ ([a + i for i in {of}], 7) }}"
        )
    };
    for (ty, length, of, result) in [
        ("u40", 1, "0..1 + (1 << 32 >> 30)", "[5]"),
        ("u4", 16, "0..8 * 2", "[5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4]"),
        ("u4", 16, "0..=15", "[5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4]"),
        ("u4", 2, "4 * 5 - 6..8 * 2", "[3, 4]"),
        ("i4", 2, "3..=4 + 4 - 4", "[-8, -7]"),
        ("u4", 1, "8 * 2..=8 * 3 - 8 - 1 + 1", ""),
    ] {
        if result.is_empty() {
            refused("E04", "does not fit in `u4`", &[&program(ty, length, of)]);
        } else {
            assert_eq!(compute(&program(ty, length, of), &["5"]), [result, "7"], "{of}");
        }
    }
    refused("E04", "does not fit in `i4`", &[&program("i4", 9, "0..3 * 3")]);
    let none = "fn main(a: u4 from 0) -> (o: u4 to all) {
    let none = [a + i for i in 8 * 2..8 * 2];
    a + sum(none) as u4
}";
    assert_eq!(compute(none, &["5"]), ["5"]);
}

#[test]
fn a_slice_ends_within_an_array_whose_length_is_found_later() {
    let make = "fn make<const N: usize>() -> [u8; N] { [7; N] }";
    let program = |array: &str, length: usize| {
        format!(
            "{make} fn main(c: u8 from 0) -> (r: [u8; 5] to all) {{ let a = {array}; \
             let s = a[0..5]; let b: [u8; {length}] = a; s }}"
        )
    };
    for array in ["make()", "{ let z: [u8; _] = zero(); z }"] {
        refused("E04", "the slice ends at 5, the array at 3", &[&program(array, 3)]);
        compiles(&program(array, 5));
    }
    let unknown = program("make()", 5).replace("let b: [u8; 5] = a;", "");
    assert!(errors_of(&unknown).contains("error[E03]"));
    refused(
        "E07",
        "a range includes at most",
        &["fn f<const N: u64>(x: [u8; 4]) -> u8 { x[0..=N][0] }
fn main(x: [u8; 4] from 0) -> (o: u8 to all) { f::<18446744073709551615>(x) }"],
    );
}

#[test]
fn errors_in_constants_from_outside_show_their_text() {
    let set = |text: &str, value: &str| {
        let constants = vec![("N".to_string(), value.to_string())];
        let options = Options { constants, ..Options::default() };
        match compile_text(text, &options) {
            Ok(_) => panic!("{value} compiles"),
            Err(errors) => errors.to_string(),
        }
    };
    for comment in ["//éééééééééé", "// a comment that is not about it"] {
        let text = format!("{comment}\npub const N: u8;\n{}", main_of("u8", "c + N"));
        for (value, says) in
            [("300", "fit in `u8`"), ("2 + é", "unreadable"), ("7 + true", "found `bool`")]
        {
            let found = set(&text, value);
            assert!(found.contains(says), "{found}");
            assert!(!found.contains(comment), "{found}");
            assert_eq!(found.contains(value), value != "2 + é", "{found}");
        }
        assert!(set(&text, "300").contains("--const N:1:1"));
    }
}

#[test]
fn a_constant_assert_that_fails_in_a_component_is_an_error_where_it_is_certainly_called() {
    let program = |body: &str| {
        format!(
            "#[component]
fn f<const N: usize>(x: u8) -> u8 {{ assert(N < 5, \"too long\"); x + 1 }}
#[component]
fn g(x: u8) -> u8 {{ f::<9>(x) * 2 }}
#[component]
fn h(x: u8) -> u8 {{ let mut y = x; for i in 0..3 {{ y = f::<9>(y); }} y }}
{}",
            main_of("u8", body)
        )
    };
    for body in [
        "f::<9>(c)",
        "g(c)",
        "h(c)",
        "let mut x = c; for i in 0..3 { x = g(x); } x",
        "assert(c < 9, \"large\"); g(c)",
    ] {
        refused("E04", "this never holds: too long", &[&program(body)]);
    }
    for body in [
        "if c == 0 { g(c) } else { 1 }",
        "if c == 0 { h(c) } else { 1 }",
        "if c != 0 { return 1; } g(c)",
        "for i in 0..3 { if c != i { return 1; } return h(c); } 2",
    ] {
        let program = program(body);
        assert_eq!(compute(&program, &["7"]), ["1", "0"], "{body}");
        assert_eq!(compute(&program, &["0"])[0], "0", "{body}");
        assert_ne!(compute(&program, &["0"])[1], "0", "{body}");
    }
}

#[test]
fn what_is_decided_early_has_types_too() {
    for body in [
        "if 1 { c } else { true }",
        "if 1 && true { c } else { 1 }",
        "let y = if true { c }; c",
        "if true { c }",
        "[c; true + 1][0]",
        "[c; 1 + (2 > 1)][0]",
        "[c; T][0]",
        "[c; clog2(T)][0]",
        "if 1 == T { c } else { 1 }",
        "if N { c } else { 1 }",
    ] {
        let program = format!("const T: bool = true; const N = 1; {}", main_of("u8", body));
        refused("E03", "expected", &[&program]);
    }
    let program = "const T: bool = true;
const N = 3;
fn f<const N: usize, const B: bool>(x: u8) -> u8 {
    if N > 0 && B != false || !T { f::<N - 1, !!B>(x) + 1 } else { x }
}
fn g<const B: bool>(x: u8) -> u8 { if B & T { g::<false & B>(x) + 1 } else { x } }
fn main(c: u8 from 0) -> (r: u8 to all) {
    if T { return f::<N, T>(c) + g::<T>(0); }
    0
}";
    assert_eq!(compute(program, &["5"]), ["9"]);
}

#[test]
fn an_integer_literal_is_no_infinity() {
    let large = format!("1{}", "0".repeat(45));
    refused(
        "E04",
        "too large",
        &[&main_of("f32", &large), &main_of("f32", &format!("c + {large}"))],
    );
    compiles(&main_of("f64", &large));
    refused("E04", "too large", &[&main_of("f64", &format!("1{}", "0".repeat(400)))]);
    let least = format!("-{}", u128::MAX);
    refused("E04", "too large", &[&main_of("f32", &least)]);
    compiles(&main_of("f32", "340282346638528859811704183484516925440"));
}

#[test]
fn a_literal_that_is_cast_may_name_its_type() {
    for (ty, body, help) in [
        ("u64", "4294967296 as u64", "write `4294967296u64`"),
        ("u64", "c + (4294967296) as u64", "write `4294967296u64`"),
        ("i64", "0x1_0000_0000 as i64", "write `4294967296i64`"),
        ("f64", "10000000000 as f64", "write `10000000000f64`"),
    ] {
        refused("E04", "does not fit in `u32`", &[&main_of(ty, body)]);
        refused("E04", help, &[&main_of(ty, body)]);
        let typed = help.split('`').nth(1).expect("a literal");
        compiles(&main_of(ty, typed));
    }
    for (ty, body) in [("u8", "4294967296 as u8"), ("u64", "(4294967296 + 1) as u64")] {
        let found = errors_of(&main_of(ty, body));
        assert!(found.contains("does not fit") && !found.contains("write"), "{found}");
    }
}
