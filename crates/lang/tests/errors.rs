//! Each error code: a program that has it, and the same program corrected.

use crate::common::errors_of;
use symbolon_lang::{Options, compile_text};

/// Code, what the message says, the body of `main` that has it, and the corrected body.
const CASES: [(&str, &str, &str, &str); 20] = [
    ("E01", "expected `;`", "let x = 1u8 x", "let x = 1u8; x"),
    ("E01", "no closing", "let x = \"abc; a", "let x = \"abc\"; a"),
    ("E02", "there is no value `lost`", "lost", "a"),
    ("E02", "no field", "let s = S { x: 1 }; s.y", "let s = S { x: 1 }; s.x"),
    ("E03", "expected `u8`, found `bool`", "let x: u8 = a == 1; x", "let x = (a == 1) as u8; x"),
    ("E03", "is not an array", "a[0]", "[a][0]"),
    ("E03", "must be known here", "let x = zero(); x.0", "let x: (u8, u8) = zero(); x.0"),
    ("E03", "takes 1 values", "one(a, a)", "one(a)"),
    ("E04", "does not fit", "a + 256", "a + 255"),
    ("E04", "the index is 4", "[a; 4][4]", "[a; 4][3]"),
    ("E04", "bounds of a loop", "for i in 0..a { } a", "for i in 0..3 { } a"),
    ("E04", "never holds", "assert(1 == 2, \"no\"); a", "assert(1 == 1, \"no\"); a"),
    (
        "E05",
        "values out",
        "match a { 0..=99 => 1, 101..=255 => 2 }",
        "match a { 0..100 => 1, 100..=255 => 2 }",
    ),
    (
        "E05",
        "values out",
        "match Some(a) { Some(x) => x }",
        "match Some(a) { Some(x) => x, None => 1 }",
    ),
    (
        "E05",
        "does not match all",
        "let Some(x) = Some(a); x",
        "if let Some(x) = Some(a) { x } else { 0 }",
    ),
    ("E06", "not `mut`", "let x = a; x = 1; x", "let mut x = a; x = 1; x"),
    ("E06", "is in no loop", "break; a", "for i in 0..2 { break; } a"),
    ("E06", "calls itself", "again(a)", "shrinks::<3>(a)"),
    ("E07", "at most 65536 bits", "let x = a as u65537; a", "let x = a as u65536; a"),
    ("E07", "256 deep", "grows::<9>(a)", "shrinks::<9>(a)"),
];

fn program(body: &str) -> String {
    let again = "fn again(x: u8) -> u8 { if x > 0 { again(x - 1) } else { x } }";
    let grows = "fn grows<const N: usize>(x: u8) -> u8 { grows::<N + 1>(x) }";
    format!(
        "struct S {{ x: u8 }}
fn one(x: u8) -> u8 {{ x }}
{}
{}
fn shrinks<const N: usize>(x: u8) -> u8 {{ if N == 0 {{ x }} else {{ shrinks::<N - 1>(x) }} }}
fn main(a: u8 from 0) -> (r: u8 to all) {{ {body} }}",
        // These are errors even where nothing calls them.
        if body.contains("again") { again } else { "" },
        if body.contains("grows") { grows } else { "" }
    )
}

#[test]
fn every_error_has_its_code_and_a_way_to_mend_it() {
    for (code, message, wrong, right) in CASES {
        let found = errors_of(&program(wrong));
        assert!(found.contains(&format!("error[{code}]")), "{code}: {found}");
        assert!(found.contains(message), "{message}: {found}");
        if let Err(errors) = compile_text(&program(right), &Options::default()) {
            panic!("{right}\n{errors}");
        }
    }
    let ports = "fn main(a: u8 from 0, b: u8) -> (r: u8 to all) { a }";
    assert!(errors_of(ports).contains("error[E08]"));
    let mended = ports.replace("b: u8", "b: u8 from 1");
    assert!(compile_text(&mended, &Options::default()).is_ok());
}

#[test]
fn any_nesting_ends_in_an_error() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("-", ""),
        ("!", ""),
        ("if a {", "}"),
        ("a[", "]"),
        ("f(", ")"),
    ] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let text = format!("fn main(a: u8 from 0) -> (r: u8 to all) {{ {deep} }}");
        assert!(errors_of(&text).contains("error[E0"), "{open}");
    }
    for link in [" + a", ".x", "[0]", " as u8", "(a)", " == a && a"] {
        let text =
            format!("fn main(a: u8 from 0) -> (r: u8 to all) {{ a{} }}", link.repeat(100_000));
        assert!(errors_of(&text).contains("error[E0"), "{link}");
    }
    let types = format!(
        "fn main(a: {}u8{} from 0) -> (r: u8 to all) {{ 1 }}",
        "[".repeat(100_000),
        "; 1]".repeat(100_000)
    );
    assert!(errors_of(&types).contains("error[E07]"));
    let patterns =
        format!("fn f(a: u8) {{ let {}x{} = a; }}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(errors_of(&patterns).contains("error[E07]"));
}

#[test]
fn what_would_be_too_large_is_refused_at_once() {
    for text in [
        "fn main(a: [u8; 4000000000] from 0) -> (r: u8 to all) { a[0] }",
        "fn main(a: u8 from 0) -> (r: u8 to all) { let x = [[[a; 100000]; 100000]; 100000]; x[0][0][0] }",
        "fn main(a: u8 from 0) -> (r: u8 to all) { let x = [i for i in 0..4000000000]; a }",
        "fn f<const N: usize>(a: u8) -> u8 { f::<N + 1>(a) + 1 } fn main(a: u8 from 0) -> (r: u8 to all) { f::<0>(a) }",
        "const N: usize = g(0); fn g(x: usize) -> usize { let mut n = x; for i in 0..4000000000 { n += 1; } n } fn main(a: [u8; N] from 0) -> (r: u8 to all) { a[0] }",
        "fn main(a: u60000 from 0) -> (r: u60000 to all) { a * a * a }",
        "struct S { s: S } fn main(a: S from 0) -> (r: u8 to all) { 1 }",
        "struct S<T> { s: Option<S<(T, T)>> } fn main(a: S<u8> from 0) -> (r: u8 to all) { 1 }",
        "type A = B; type B = A; fn main(a: A from 0) -> (r: u8 to all) { 1 }",
        "const A = B; const B = A; fn main(a: u8 from 0) -> (r: u8 to all) { A }",
        "struct S<T> { s: Option<S<(T, T)>> } fn main(a: S<u8> from 0) -> (r: u8 to all) { 1 }",
        "fn f<T>(x: T) -> u8 { f((x, x)) } fn main(a: u8 from 0) -> (r: u8 to all) { f(a) }",
        "use std::main; use a::b; fn main(a: u8 from 0) -> (r: u8 to all) { b(a) }",
        "fn main(a: (u8, [(); 4000000000]) from 0) -> (r: u8 to all) { a.0 }",
        "const A = [[0u8; 0]; 4000000000]; fn main(a: u8 from 0) -> (r: u8 to all) { a }",
        "type A = (A, A); fn main(a: A from 0) -> (r: u8 to all) { 1 }",
        "type A = (B, B, B); type B = (A, A, A); fn main(a: A from 0) -> (r: B to all) { a }",
    ] {
        errors_of(text);
    }
    let doubled: String = (1..60).map(|i| format!("let x{i} = (x{0}, x{0}); ", i - 1)).collect();
    let shared: String = (1..60).map(|i| format!("let x{i} = two(x{0}, x{0}); ", i - 1)).collect();
    for first in ["u8", "Option"] {
        let aliases: String =
            (1..60).map(|i| format!("type A{i} = (A{0}, A{0}); ", i - 1)).collect();
        let last = "fn main(a: u8 from 0) -> (r: u8 to all) { let x: A59 = zero(); a }";
        let found = errors_of(&format!("type A0 = {first}; {aliases} {last}"));
        assert!(found.contains("this type is too large"), "{found}");
    }
    let nested: String =
        (1..28).map(|i| format!("struct A{i} {{ a: A{0}, b: A{0} }} ", i - 1)).collect();
    let units = |last: u32| {
        format!(
            "struct A0 {{ a: [(); 8] }} {nested}
fn main(a: (u8, A{last}) from 0) -> (r: u8 to all) {{ a.0 }}"
        )
    };
    assert!(errors_of(&units(27)).contains("more than 2^30 bits or parts"));
    assert!(compile_text(&units(12), &Options::default()).is_ok());
    for body in [doubled, shared] {
        errors_of(&format!(
            "fn two<T>(a: T, b: T) -> (T, T) {{ (a, b) }}
            fn main(a: u8 from 0) -> (r: u8 to all) {{ let x0 = a; {body} a }}"
        ));
    }
}

#[test]
fn a_body_that_could_not_be_read_has_no_other_type() {
    for body in ["match a { 0..=255 => 2 } + match a { _ => 0 }", "a +", "{ let x = a; x x }"] {
        let found = errors_of(&format!("fn main(a: u8 from 0) -> (r: u8 to all) {{ {body} }}"));
        assert!(found.contains("error[E01]") && !found.contains("E03"), "{found}");
    }
    // What was read ends without a value.
    let found = errors_of("fn main(a: u8 from 0) -> (r: u8 to all) { let x = ; let y = 1u8; }");
    assert!(found.contains("error[E01]") && found.contains("error[E03]"), "{found}");
}

#[test]
fn arguments_are_not_read_again_without_end() {
    let mut deep = format!("[{}][0]", vec!["1"; 1000].join(", "));
    for _ in 0..12 {
        deep = format!("f::<([u8; {deep}], 1)>()");
    }
    let found = errors_of(&format!("fn main(a: u8 from 0) -> (r: u8 to all) {{ {deep} }}"));
    assert!(found.contains("fewer ambiguous arguments"), "{found}");
    // Brackets around constants are read twice, and fine.
    let sum = vec!["f::<(1 + 2)>()"; 200].join(" + ");
    let main = format!("fn main(a: usize from 0) -> (r: usize to all) {{ {sum} }}");
    let program = format!("fn f<const N: usize>() -> usize {{ N }} {main}");
    assert!(compile_text(&program, &Options::default()).is_ok());
}

/// Texts made of the examples: tokens left out, doubled, exchanged, or replaced by those of others.
#[test]
fn no_broken_program_breaks_the_compiler() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sym");
    let texts: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).expect("text"))
        .map(|text| text.replace("= 1000", "= 5").replace("= 500", "= 6").replace("= 1024", "= 2"))
        .collect();
    let split = |text: &str| -> Vec<String> {
        let mut errors = symbolon_lang::diag::Diagnostics::default();
        let tokens = symbolon_lang::lex::lex(0, text, &mut errors);
        let of = |span: symbolon_lang::source::Span| {
            text[span.start as usize..span.end as usize].to_string()
        };
        tokens.iter().map(|token| of(token.span)).collect()
    };
    let all: Vec<Vec<String>> = texts.iter().map(|text| split(text)).collect();
    let mut state = 1u64;
    let mut below = move |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let mut compiled = 0;
    for round in 0..600 {
        let mut tokens = all[round % all.len()].clone();
        for _ in 0..1 + below(3) {
            let place = below(tokens.len());
            match below(4) {
                0 => drop(tokens.remove(place)),
                1 => tokens.insert(place, tokens[place].clone()),
                2 => {
                    let other = below(tokens.len());
                    tokens.swap(place, other);
                }
                _ => {
                    let other = &all[below(all.len())];
                    tokens[place] = other[below(other.len())].clone();
                }
            }
        }
        let text = tokens.join(" ");
        compiled += u32::from(compile_text(&text, &Options::default()).is_ok());
        if let Ok(formatted) = symbolon_lang::fmt::format(&text) {
            assert_eq!(
                symbolon_lang::fmt::format(&formatted).ok(),
                Some(formatted.clone()),
                "{text}"
            );
        }
    }
    assert!((1..400).contains(&compiled), "{compiled}");
}

#[test]
fn generic_functions_are_checked_where_nothing_calls_them() {
    let program =
        |function: &str| format!("{function} fn main(a: u8 from 0) -> (r: u8 to all) {{ a }}");
    for (function, code, says) in [
        ("fn f<const N: usize>(a: [u8; N]) -> u8 { b }", "E02", "no value `b`"),
        ("fn f<T>(a: T) -> u8 { let x: bool = 1u8; 2 }", "E03", "expected `bool`"),
        ("fn f<T: Num>(a: T) -> T { break; a }", "E06", "is in no loop"),
        ("fn f<T: Num>(a: T) -> T { g::<T>(a) } fn g<T>(a: T) -> T { lost }", "E02", "lost"),
        ("struct S<T> { x: T } impl<T> S<T> { fn f(self) -> T { lost } }", "E02", "lost"),
    ] {
        let found = errors_of(&program(function));
        assert!(found.contains(code) && found.contains(says), "{function}: {found}");
    }
    // What some arguments allow is not an error, and samples leave no trace in the circuit.
    let plain = compile_text(&program(""), &Options::default()).map(|c| c.digest()).ok();
    for function in [
        "fn f<const N: usize>(a: [u8; N]) -> u8 { a[3] }",
        "fn f<T>(a: T) -> T { if a { a } else { !a } }",
        "fn f<T>(a: T) -> T { a + 1 }",
        "fn f<T>(a: T) -> u8 { a.x }",
        "fn f<const W: usize>(a: u<W>) -> bool { assert(a > 0, \"zero\"); (a >> 60) == 0 }",
        "fn f<const N: usize>(a: [u8; N]) -> u8 { if N == 0 { 0 } else { f(a[1..N]) + a[0] } }",
    ] {
        let circuit = compile_text(&program(function), &Options::default());
        assert_eq!(circuit.map(|c| c.digest()).ok(), plain, "{function}");
    }
}

#[test]
fn a_loop_that_goes_far_beyond_a_limit_is_refused_after_a_few_rounds() {
    let program = |body: &str| {
        format!(
            "fn main(a: u256 from 0, b: u256 from 1) -> (c: u256 to all) {{
    let mut c = a;
    {body}
    c
}}"
        )
    };
    // The place is the loop's bounds: a statement's would show that the limit itself was reached.
    for (body, place) in [
        ("for i in 0..1000000 { c = c * b + c; if c == 7 { break; } }", "3:14"),
        ("#[unroll] for i in 0..80 { #[unroll] for j in 0..20 { c = c * b + c; } }", "3:24"),
        ("#[unroll] for x in [b; 65536] { c = c * x + a; }", "3:24"),
        ("#[unroll] for i in 0..1000000000 { c = c ^ b; }", "3:24"),
    ] {
        let found = errors_of(&program(body));
        let says = found.contains("larger than 2^27 wires") || found.contains("2^25 steps");
        assert!(says && found.contains(&format!(":{place}")), "{body}: {found}");
    }
    // As repeats they fit.
    for body in [
        "for i in 0..1000000 { c = c * b + c; }",
        "for x in [b; 65536] { c = c * x + a; }",
        "for i in 0..1000000000 { c = c ^ b; }",
    ] {
        let compiled = compile_text(&program(body), &Options::default());
        assert!(compiled.is_ok(), "{body}: {}", errors_of(&program(body)));
    }
    // Rounds that shrink or stop fit, however many there are.
    for body in [
        "for i in 0..100000 { if i < 25 { c = c * b + c; } }",
        "for i in 0..100000 { if i == 25 { break; } c = c * b + c; }",
        "for i in 0..9000 { for j in i * 2..11 { c = c * b + c; } }",
    ] {
        let compiled = compile_text(&program(body), &Options::default());
        assert!(compiled.is_ok(), "{body}: {}", errors_of(&program(body)));
    }
}

/// What follows from an error of syntax is told once that is mended: it may be no error then.
#[test]
fn an_error_of_syntax_is_told_alone() {
    let main = "fn main(a: u8 from 0) -> (r: u8 to all)";
    let programs = [
        format!(
            "struct P {{ x: u8 }}\nimpl P {{ const ZERO: u8 = 0; fn get(self) -> u8 {{ self.x }} }}\n{main} {{ P {{ x: a }}.get() + P::ZERO }}"
        ),
        format!("fn f<T>(x: T) -> T where T: Copy {{ x }}\n{main} {{ f(a) }}"),
        format!("struct P(u8, u8);\n{main} {{ let p = P(a, a); p.0 }}"),
        format!("{main} {{ fn f(x: u8) -> u8 {{ x + 1 }} f(a) }}"),
        format!("enum E {{ A = 1, B = 2 }}\n{main} {{ match E::A {{ E::A => 1, E::B => 2 }} }}"),
        format!(
            "struct P {{ x: u8 }}\nimpl P {{ fn inc(&mut self) {{ self.x += 1; }} }}\n{main} {{ let mut p = P {{ x: a }}; p.inc(); p.x }}"
        ),
        format!("mod m {{ fn f(x: u8) -> u8 {{ x }} }}\n{main} {{ m::f(a) }}"),
        format!("trait T {{ fn f(self) -> u8; }}\n{main} {{ a.f() }}"),
        format!("{main} {{ let f = |x: u8| x + 1; f(a) }}"),
        format!("{main} {{ let x = a + 1\n let y = x; y }}"),
        format!("#[inline]\nfn f() -> u8 {{ let x = (1; x }}\n{main} {{ a + f() }}"),
    ];
    for program in programs {
        let found = errors_of(&program);
        assert_eq!(found.matches("error[").count(), 1, "{program}\n{found}");
    }
    // Independent errors are all told.
    let found = errors_of(&format!("fn f( {{ 1 }}\n{main} {{ b }}\nfn g() -> u8 {{ let = 3; c }}"));
    assert_eq!(found.matches("error[").count(), 4, "{found}");
    let found = errors_of(&format!("#[inline]\nfn f() {{ if 1 {{ 2 }}\n{main} {{ b }}"));
    assert!(found.contains("no value `b`"), "{found}");
}

#[test]
fn newcomers_errors_say_what_to_write() {
    for (program, help) in [
        ("fn main(a: u8 from 0) { a }", "`-> (r: u8 to all)`"),
        ("fn main(a: u8 from 0) -> (r: u8 to all) { return; }", "write the value"),
        ("fn main(a: u8 from 0) -> (r: u8 to all) { a; }", "no `;` after it"),
        ("fn main(a: u8 from 0) -> (r: u8 to all) { a + 256 }", "the numbers 0 to 255"),
        ("fn main(a: i4 from 0) -> (r: i4 to all) { a + 8 }", "the numbers -8 to 7"),
        ("fn main(a: u8 from 0) -> (r: u8 to all) { let x = a\n let y = x; y }", "ends with `;`"),
        ("fn main(a: [u8; 4] from 0) -> (r: u8 to all) { a[4] }", "the last 3"),
        ("fn main(a: u8 from 0, a: u8 from 1) -> (r: u8 to all) { a }", "another name"),
    ] {
        let found = errors_of(program);
        assert!(found.contains(help), "{program}\n{found}");
    }
}
