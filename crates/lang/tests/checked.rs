//! `#[checked]` functions: what does not fit fails.

mod common;

use common::{bits, circuit, errors_of};

/// Returns whether a run did not fail, and its result.
fn outcome(outputs: &[String]) -> Option<String> {
    match outputs.get(1).map(|number| &**number) {
        None | Some("0") => Some(outputs[0].clone()),
        Some(_) => {
            assert!(outputs[0].chars().all(|c| !c.is_ascii_digit() || c == '0'), "{outputs:?}");
            None
        }
    }
}

fn shown<T: ToString>(value: Option<T>) -> Option<String> {
    value.map(|value| value.to_string())
}

type Signed = fn(i8, i8) -> Option<i8>;
type Unsigned = fn(u8, u8) -> Option<u8>;

#[test]
fn operators_fail_where_those_of_rust_do() {
    let signed: [(&str, Signed); 9] = [
        ("a + b", i8::checked_add),
        ("a - b", i8::checked_sub),
        ("a * b", i8::checked_mul),
        ("a / b", i8::checked_div),
        ("a % b", |a, b| (b != 0).then(|| a.wrapping_rem(b))),
        ("a << (b as u8)", |a, b| u8::try_from(b).ok().and_then(|b| a.checked_shl(b.into()))),
        ("-a + 0 * b", |a, b| a.checked_neg().filter(|_| b < i8::MAX || b > 0)),
        ("(a as u8 - b as u8) as i8", |a, b| {
            let (a, b) = (u8::try_from(a).ok()?, u8::try_from(b).ok()?);
            a.checked_sub(b).and_then(|d| i8::try_from(d).ok())
        }),
        ("(a as i16 * 2 + b as i16) as i8", |a, b| {
            i8::try_from(i16::from(a) * 2 + i16::from(b)).ok()
        }),
    ];
    let unsigned: [(&str, Unsigned); 5] = [
        ("a + b", u8::checked_add),
        ("a - b", u8::checked_sub),
        ("a * b", u8::checked_mul),
        ("a / b", u8::checked_div),
        ("a >> b", |a, b| a.checked_shr(b.into())),
    ];
    let numbers = [-128i8, -127, -65, -64, -12, -11, -2, -1, 0, 1, 2, 7, 8, 11, 63, 64, 100, 127];
    let program = |ty: &str, body: &str| {
        circuit(&format!(
            "#[checked] fn main(a: {ty} from 0, b: {ty} from 1) -> (r: {ty} to all) {{ {body} }}"
        ))
    };
    for (body, rust) in signed {
        let circuit = program("i8", body);
        for (a, b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b))) {
            let found = bits(&circuit, &[&a.to_string(), &b.to_string()]);
            assert_eq!(outcome(&found), shown(rust(a, b)), "{body}: {a} {b}");
        }
    }
    for (body, rust) in unsigned {
        let circuit = program("u8", body);
        for (a, b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b))) {
            let (a, b) = (a as u8, b as u8);
            let found = bits(&circuit, &[&a.to_string(), &b.to_string()]);
            assert_eq!(outcome(&found), shown(rust(a, b)), "{body}: {a} {b}");
        }
    }
}

#[test]
fn fixed_point_numbers_fail_beyond_their_range() {
    for (body, a, b, wanted) in [
        ("a + b", "3.5", "0.25", Some("3.75")),
        ("a + b", "3.5", "0.5", None),
        ("a - b", "-4", "0.25", None),
        ("a * b", "-2", "2", Some("-4.0")),
        ("a * b", "2", "2", None),
        ("a / b", "1", "0.25", None),
        ("a / b", "-1", "0.25", Some("-4.0")),
        ("a / b", "1", "0", None),
        ("-a + b", "-4", "0", None),
        ("(a as i4) as fixed<3, 2> + b", "3.5", "0", Some("3.0")),
        ("((a as fixed<5, 2>) * 2 + (b as fixed<5, 2>)) as fixed<3, 2>", "2.25", "-1", Some("3.5")),
        ("((a as fixed<5, 2>) * 2 + (b as fixed<5, 2>)) as fixed<3, 2>", "2.25", "0", None),
    ] {
        let ty = "fixed<3, 2>";
        let circuit = circuit(&format!(
            "#[checked] fn main(a: {ty} from 0, b: {ty} from 1) -> (r: {ty} to all) {{ {body} }}"
        ));
        let found = outcome(&bits(&circuit, &[a, b]));
        assert_eq!(found.as_deref(), wanted, "{body}: {a} {b}");
    }
}

#[test]
fn indices_beyond_the_array_fail_and_assignments_are_checked() {
    let program = circuit(
        "#[checked]
        fn main(a: [u8; 3] from 0, i: u4 from 1) -> (r: [u8; 3] to all) {
            let mut b = a;
            b[i] += 10;
            b[2 - i as u3] -= 1;
            b
        }",
    );
    for (a, i, wanted) in [
        ([1, 2, 3], 0, Some([11, 2, 2])),
        ([1, 2, 3], 2, Some([0, 2, 13])),
        ([1, 2, 0], 0, None),
        ([246, 2, 3], 0, None),
        ([1, 2, 3], 3, None),
        ([1, 2, 3], 15, None),
    ] {
        let found = bits(&program, &[&format!("{a:?}"), &i.to_string()]);
        assert_eq!(outcome(&found), wanted.map(|wanted| format!("{wanted:?}")), "{a:?} {i}");
    }
}

#[test]
fn only_marked_functions_and_taken_branches_are_checked() {
    let program = circuit(
        "fn wraps(a: u8) -> u8 { a + 200 }
        #[checked]
        fn main(a: u8 from 0) -> (r: u8 to all) {
            if a > 100 { wraps(a) } else { a + 150 }
        }",
    );
    assert_eq!(outcome(&bits(&program, &["101"])), Some("45".into()));
    assert_eq!(outcome(&bits(&program, &["100"])), Some("250".into()));
    let certain = circuit("#[checked] fn main(a: u8 from 0) -> (r: u9 to all) { a as u9 + 256 }");
    assert_eq!(certain.outputs().len(), 1, "nothing can fail");
}

#[test]
fn a_constant_that_does_not_fit_is_an_error_with_its_line() {
    let found = errors_of(
        "#[checked]
        fn main(a: u8 from 0) -> (r: u8 to all) {
            const N: u8 = 200;
            a + N * 2
        }",
    );
    assert!(found.contains("`N * 2` does not fit") && found.contains(":4:17"), "{found}");
}
