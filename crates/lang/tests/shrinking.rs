//! Tests that fail: with the smallest arguments, and at the line of their assert.

use symbolon_lang::source::NoModules;
use symbolon_lang::testing::run_tests;
use symbolon_lang::{Options, check, with_stack};

/// Returns what goes wrong in the only test of a program, if random numbers show it.
fn wrong(program: &str, seed: u64) -> Option<String> {
    with_stack(|| {
        let checked = check("p.sym", program, &NoModules, &Options::default());
        assert_eq!(
            checked.errors.list().len(),
            0,
            "{}",
            checked.errors.render(&checked.sources, false)
        );
        let results = run_tests(&checked, seed);
        results[0].wrong.as_ref().map(ToString::to_string)
    })
    .expect("a thread")
}

#[test]
fn counterexamples_are_the_smallest() {
    for (params, body, wanted) in [
        ("a: u32", "assert!(a < 1000);", "a = 1000"),
        ("a: i32", "assert!(a > -1000);", "a = -1000"),
        ("a: i16", "assert!(a == 0);", "a = 1"),
        ("a: i16", "assert!(a >= 0);", "a = -1"),
        ("a: u64, b: u64", "assert!(a == b);", "a = 1, b = 0"),
        ("a: u16, b: u16", "assert!(a != b);", "a = 0, b = 0"),
        // Both become smaller together, because they are too far from 0 to try all.
        ("a: u9, b: u9", "assert!(a < 400 || b != a);", "a = 400, b = 400"),
        ("a: u9, b: u9", "assert!(a < 400 || b + 5 != a);", "a = 400, b = 395"),
        (
            "a: [u8; 100]",
            "assert!(a[57] < 7);",
            &format!("a = [{}7{}]", "0, ".repeat(57), ", 0".repeat(42)),
        ),
        ("a: [u8; 3]", "assert!(a[0] <= a[1] || a[1] <= a[2]);", "a = [2, 1, 0]"),
        ("a: fixed<8, 8>", "assert!(a < 3.3);", "a = 4.0"),
        ("a: fixed<8, 8>", "assert!(a < 3.25 || a >= 4.0);", "a = 3.25"),
        ("a: f64", "assert!(a < 5.0);", "a = 5.0"),
        ("a: f64", "assert!(a > -5.0);", "a = -5.0"),
        ("a: bool, b: bool", "assert!(!a | b);", "a = true, b = false"),
        ("a: Option<u8>", "assert!(a.unwrap_or(0) < 9);", "a = 9"),
        ("a: E", "match a { E::C(x, _) => assert!(x == 3), _ => {} }", "a = {\"C\": [0, 0]}"),
        ("a: P", "assert!(a.y.1 < 9);", "a = {\"x\": 0, \"y\": [false, 9]}"),
    ] {
        let program = format!(
            "enum E {{ A, B(u8), C(u8, i4) }}
            struct P {{ x: u8, y: (bool, u8) }}
            #[test]
            fn t({params}) {{
                {body}
            }}"
        );
        let found: Vec<String> =
            (0..300).filter_map(|seed| wrong(&program, seed)).take(2).collect();
        assert!(!found.is_empty(), "{params} {body}: it fails");
        for found in found {
            assert!(found.starts_with("p.sym:5: it failed: "), "{params} {body}: {found}");
            assert!(found.ends_with(wanted), "{params} {body}: {found}");
        }
    }
}

/// From `cases/language/test_shrinking.sym`, where the counterexample was two numbers of 24 bits.
#[test]
fn a_failed_property_names_the_line_of_its_assert() {
    let program = "fn floor(a: i24, b: i24) -> (i24, i24) {
    let (q, r) = std::num::divmod(a, b);
    if r != 0 && (r < 0) != (b < 0) { (q - 1, r + b) } else { (q, r) }
}
#[test]
fn wrong(a: i24, b: i24) {
    let (q, r) = floor(a, b);
    assert(b == 0 || r >= 0, \"never negative\");
}
fn main(a: i24 from 0, b: i24 from 1) -> (q: i24 to all) { floor(a, b).0 }";
    let found = wrong(program, 0).expect("it fails");
    assert_eq!(found, "p.sym:8: it failed: never negative with a = 1, b = -2");
    let fine = "fn inner(a: u8) { assert(a < 3, \"small\"); }\n#[test(fails = \"small\")]\nfn t(a: u8) { inner(a); }";
    assert_eq!(wrong(fine, 0).expect("it fails"), "p.sym:3: it did not fail: small with a = 0");
    let other = "#[test(fails = \"small\")]\nfn t() {\n    assert(1 > 3, \"large\");\n}";
    assert!(wrong(other, 0).is_some_and(|wrong| wrong.contains("large")));
}
