//! Short programs that would take very long, very much memory or too much of the stack: each ends
//! in an error that says so, and its neighbours compile.

use crate::common::{compute, errors_of};
use symbolon_lang::{Options, compile_text};

const MAIN: &str = "fn main(a: u8 from 0) -> (r: u8 to all) { a }";

/// Returns a sum that nests 500 deep, with this at its bottom.
fn deep(bottom: &str) -> String {
    let ones = " + 1".repeat(250);
    format!("(({bottom}){ones}){ones}")
}

#[test]
fn deep_expressions_that_call_each_other_are_refused() {
    let computed = deep("f(n - 1)");
    let written = deep("f::<N - 1>(x)");
    let checked = deep("if N == 0 { 0 } else { const K: usize = f::<N - 1>(); K }");
    for program in [
        format!(
            "const A: usize = f(1000);
fn f(n: usize) -> usize {{ if n == 0 {{ 0 }} else {{ {computed} }} }} {MAIN}"
        ),
        format!(
            "fn f<const N: usize>(x: u8) -> u8 {{ if N == 0 {{ x }} else {{ {written} }} }}
fn main(a: u8 from 0) -> (r: u8 to all) {{ f::<100>(a) }}"
        ),
        format!(
            "fn f<const N: usize>() -> usize {{ {checked} }}
const A: usize = f::<100>(); {MAIN}"
        ),
    ] {
        let found = errors_of(&program);
        assert!(found.contains("error[E07]") && found.contains("nest more than 2^15"), "{found}");
    }
    let shallow = format!(
        "fn f<const N: usize>(x: u8) -> u8 {{ if N == 0 {{ x }} else {{ {written} }} }}
fn main(a: u8 from 0) -> (r: u8 to all) {{ f::<3>(a) }}"
    );
    assert_eq!(compute(&shallow, &["4"]), ["224"]);
}

#[test]
fn operators_on_wide_constants_count_as_many_steps() {
    let program = |rounds: u32| {
        format!(
            "const A: bool = f();
fn f() -> bool {{ let mut n: u65536 = 3; for i in 0..{rounds} {{ n = n * n + 1; }} n > 5 }} {MAIN}"
        )
    };
    assert!(errors_of(&program(3000)).contains("constants take more than 10^8 steps"));
    assert!(compile_text(&program(100), &Options::default()).is_ok());
}

#[test]
fn copies_of_large_values_count_as_many_steps() {
    let found = errors_of(
        "fn main(a: u8 from 0) -> (r: u8 to all) {
    let mut x = [[0u8; 1000]; 1000];
    let mut y = x;
    #[unroll]
    for i in 0..10000 { y = x; x = y; }
    a ^ y[0][0]
}",
    );
    assert!(found.contains("more than 2^25 steps"), "{found}");
}

/// An element of a large array is written or read without a copy of the array.
#[test]
fn elements_of_large_arrays_take_few_steps() {
    let filled = "fn main(a: u8 from 0) -> (r: u8 to all) {
    let mut x = [0u32; 65536];
    for i in 0..65536 { x[i] = i as u32; }
    a ^ (x[65535] as u8) ^ (x[4] as u8)
}";
    assert_eq!(compute(filled, &["1"]), ["250"]);
    let read = "const T: [u32; 65536] = [i as u32 for i in 0..65536];
fn main(a: u32 from 0) -> (r: u32 to all) {
    let mut x = a;
    for i in 1..65536 { x = x ^ T[i]; }
    x ^ T[7]
}";
    assert_eq!(compute(read, &["8"]), ["15"]);
}

/// What keeps an old value does not see what is written in place.
#[test]
fn values_that_are_kept_stay_when_a_variable_is_written_in_place() {
    let program = "type Row = [u8; 3];
fn main(a: u8 from 0) -> (k: Row to all, m: Row to all, x: Row to all, r: u8 to all,
    p: Row to all, n: Row to all) {
    let mut x = [a, 2, 3];
    let kept = x;
    x[0] = 5;
    x[1] = 6;
    if a > 7 { x[0] = a; x[2] = 9; } else { x[1] = a; x[1] += 1; }
    let merged = x;
    let read = x[{ x = [0; 3]; x[1] = 1; 1 }];
    let pair = ((x, a), 4u8);
    let mut nested = pair;
    nested.0.0[2] = 8;
    (kept, merged, x, read, pair.0.0, nested.0.0)
}";
    for (a, expected) in [
        ("8", ["[8, 2, 3]", "[8, 6, 9]", "[0, 1, 0]", "6", "[0, 1, 0]", "[0, 1, 8]"]),
        ("4", ["[4, 2, 3]", "[5, 5, 3]", "[0, 1, 0]", "5", "[0, 1, 0]", "[0, 1, 8]"]),
    ] {
        assert_eq!(compute(program, &[a]), expected);
    }
}

#[test]
fn each_try_at_a_repeat_counts_as_many_steps() {
    let program = |rounds: u32| {
        format!(
            "#[component]
fn f(x: u8) -> u8 {{ x * x + 1 }}
fn main(a: u8 from 0) -> (r: u8 to all) {{
    let mut x = a;
    #[unroll]
    for i in 0..{rounds} {{ for j in 0..2 {{ x = f(x); }} }}
    x
}}"
        )
    };
    let found = errors_of(&program(600_000));
    assert!(found.contains("more than 2^25 steps"), "{found}");
    assert!(compile_text(&program(10), &Options::default()).is_ok());
}

/// Refused before it takes the time: a selection for each of 16 million bits that are constants.
#[test]
fn writes_to_secret_places_of_large_arrays_are_refused_at_once() {
    let program = |len: u32, at: &str| {
        format!(
            "fn main(a: [u8; {len}] from 0, i: u32 from 1) -> (o: [u8; {len}] to all) {{
    let mut b = a; b[{at}] = 1; b
}}"
        )
    };
    let zeros = program(2_000_000, "i").replace("= a;", "= [0u8; 2000000];");
    let found = errors_of(&zeros.replace("] = 1", "] = a[0]"));
    assert!(found.contains("error[E07]") && found.contains("2^25 steps"), "{found}");
    assert!(found.contains(":2:"), "{found}");
    for at in ["7", "i"] {
        assert!(compile_text(&program(2_000_000, at), &Options::default()).is_ok(), "{at}");
    }
    assert!(compile_text(&program(2_000, "i"), &Options::default()).is_ok());
}

/// Returns types that double: `A14` has 2^14 parts of type `first`.
fn doubled(first: &str) -> String {
    let aliases: String = (1..=14).map(|i| format!("type A{i} = (A{0}, A{0}); ", i - 1)).collect();
    format!("type A0 = {first}; {aliases}")
}

#[test]
fn functions_with_large_types_are_limited_in_all() {
    // A step takes less time with wide tuples than with nested pairs.
    let wide = |part: &str| format!("({})", vec![part; 128].join(", "));
    let lets: String = (1..=6).map(|i| format!("let x{i}: Large = x{}; ", i - 1)).collect();
    let program = |last: u32| {
        format!(
            "type Row = {}; type Large = {};
fn f<const N: usize>(x0: Large) -> u8 {{ {lets} if N == 0 {{ 0 }} else {{ f::<N - 1>(x0) }} }}
fn main(a: u8 from 0) -> (r: u8 to all) {{ let x: Large = zero(); f::<{last}>(x) + a }}",
            wide("bool"),
            wide("Row")
        )
    };
    let found = errors_of(&program(200));
    assert!(found.contains("error[E07]") && found.contains("or there are too many"), "{found}");
    assert!(compile_text(&program(2), &Options::default()).is_ok());
}

#[test]
fn messages_show_a_part_of_a_long_type() {
    let long = "S".repeat(500);
    let types = doubled(&long);
    let found = errors_of(&format!(
        "struct {long} {{ x: u8 }} {types}
fn main(a: u8 from 0) -> (r: u8 to all) {{ let x: A14 = a; a }}"
    ));
    assert!(found.contains("error[E03]") && found.contains('…'), "{found}");
    assert!(found.len() < 10_000, "{}", found.len());
}

/// Samples are for functions that nothing calls, so they end without an error.
#[test]
fn samples_of_functions_that_nothing_calls_are_limited_in_all() {
    let program = |spin: &str| {
        format!(
            "fn spin(n: usize) -> usize {{ let mut m = n; for i in 0..4000000000 {{ m += 1; }} m }}
{spin}
fn wrong<T>(a: T) -> u8 {{ lost }} {MAIN}"
        )
    };
    let slow = "fn slow<const N: usize>(a: u8) -> u8 { const K: usize = spin(N); a + K as u8 }";
    assert!(compile_text(&program(slow), &Options::default()).is_ok());
    assert!(errors_of(&program("")).contains("lost"));
}

/// XORs are free in the circuit, but each that is asked for is a step.
#[test]
fn calls_that_double_their_gates_are_refused() {
    let program = |last: u32| {
        let functions: String = (1..=last)
            .map(|i| format!("#[inline] fn f{i}(a: u8) -> u8 {{ f{0}(f{0}(a)) }}\n", i - 1))
            .collect();
        format!(
            "#[inline] fn f0(a: u8) -> u8 {{ a ^ (a << 1) ^ 5 }}\n{functions}
fn main(a: u8 from 0) -> (r: u8 to all) {{ f{last}(a) }}"
        )
    };
    let found = errors_of(&program(30));
    assert!(found.contains("2^25 steps") && found.contains("#[component]"), "{found}");
    assert!(compile_text(&program(8), &Options::default()).is_ok());
}

/// Each function calls the last one twice with other arguments, so that the gates double at each
/// level: XORs, which are free to run, XORs that exist already, and XORs of ANDs. What is asked for
/// is refused after a part of 2^25 gates, since each takes longer the more of them there are.
#[test]
fn functions_that_double_their_gates_are_refused_early() {
    let program = |last: u32, first: &str, next: &str| {
        let functions: String = (1..=last)
            .map(|i| {
                let next = next.replace("f(", &format!("f{}(", i - 1)).replace('I', &i.to_string());
                format!("#[inline] fn f{i}(x: u64) -> u64 {{ {next} }}\n")
            })
            .collect();
        format!(
            "#[inline] fn f0(x: u64) -> u64 {{ {first} }}\n{functions}
fn main(a: u64 from 0) -> (r: u64 to all) {{ f{last}(a) }}"
        )
    };
    for (first, next) in [
        ("x ^ (x << 1) ^ 5", "f(f(x))"),
        ("x ^ (x << 1) ^ 5", "f(x) ^ f(x << 1 ^ I)"),
        ("x ^ (x << 1) ^ 5", "f(x) ^ f(x ^ x << I)"),
        ("x & (x >> 1)", "f(x) ^ f(x ^ x << I)"),
        ("x ^ (x >> 7)", "f(x ^ x << 3) ^ f(x ^ x >> 5)"),
    ] {
        let found = errors_of(&program(40, first, next));
        assert!(found.contains("error[E07]") && found.contains("2^25 steps"), "{found}");
        assert!(compile_text(&program(8, first, next), &Options::default()).is_ok());
    }
    // The table of many ANDs no longer fits into the caches, so each takes longer.
    let crowd = |calls: &str| {
        program(16, "x & (x >> 1)", "f(x) & f(x ^ x << I)").replace("{ f16(a) }", calls)
    };
    let found = errors_of(&crowd("{ f16(a) ^ f16(a << 19) }"));
    assert!(found.contains("error[E07]") && found.contains("2^25 steps"), "{found}");
    assert!(compile_text(&crowd("{ f13(a) ^ f13(a << 19) }"), &Options::default()).is_ok());
    // One XOR of 64 bits in each of 2^17 calls: below 2^25 gates, and more steps than that.
    let many = errors_of(&program(17, "x ^ (x << 1)", "f(x) ^ f(x ^ x << I)"));
    assert!(many.contains("2^25 steps"), "{many}");
    assert!(
        compile_text(&program(14, "x ^ (x << 1)", "f(x) ^ f(x ^ x << I)"), &Options::default())
            .is_ok()
    );
}

/// Each round takes the steps of its decoder, so the second or third shows that all are too many.
#[test]
fn secret_writes_in_a_loop_with_a_break_are_refused_after_a_few_rounds() {
    let program = |rounds: u32| {
        format!(
            "fn main(a: [u8; 65536] from 0, i: [u32; {rounds}] from 1) -> (o: [u8; 65536] to all) {{
    let mut b = a;
    for x in i {{ if x == 77 {{ break; }} b[x] = 1; }}
    b
}}"
        )
    };
    let found = errors_of(&program(4096));
    assert!(found.contains("error[E07]") && found.contains(":3:14"), "{found}");
    assert!(compile_text(&program(2), &Options::default()).is_ok());
}
