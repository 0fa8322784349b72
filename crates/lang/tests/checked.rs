//! `#[checked]` functions: what does not fit fails.

use crate::common::{bits, circuit, errors_of, function};

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
        let computed = function(&circuit);
        for (a, b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b))) {
            let found = computed(&[&a.to_string(), &b.to_string()]);
            assert_eq!(outcome(&found), shown(rust(a, b)), "{body}: {a} {b}");
        }
    }
    for (body, rust) in unsigned {
        let circuit = program("u8", body);
        let computed = function(&circuit);
        for (a, b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b))) {
            let (a, b) = (a as u8, b as u8);
            let found = computed(&[&a.to_string(), &b.to_string()]);
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

/// Every fault is found in a program that is checked as a whole, in its constants too, and named
/// with its line.
#[test]
fn a_whole_program_is_checked() {
    let program = circuit(
        "#![checked]
        fn add(a: u8) -> u8 { a + 200 }
        fn main(a: u8 from 0) -> (r: u8 to all) {
            if a > 100 { add(a) } else { a + 150 }
        }",
    );
    assert_eq!(outcome(&bits(&program, &["101"])), None);
    assert_eq!(outcome(&bits(&program, &["100"])), Some("250".into()));
    let failures: Vec<(&str, u32)> =
        program.failures().iter().map(|found| (&*found.text, found.line)).collect();
    assert!(failures.contains(&("`a + 200` does not fit", 2)), "{failures:?}");
    assert!(failures.contains(&("`a + 150` does not fit", 4)), "{failures:?}");
    let narrowed = circuit(
        "#![checked]
        fn main(a: u16 from 0, b: [u8; 3] from 1) -> (r: u8 to all) {
            b[a as u8] / (a as u8) + a.wrapping_add(65535) as u8
        }",
    );
    for (a, wanted) in [("1", Some("5")), ("2", Some("4")), ("0", None), ("3", None), ("256", None)]
    {
        let found = outcome(&bits(&narrowed, &[a, "[4, 5, 6]"]));
        assert_eq!(found.as_deref(), wanted, "{a}");
    }
    for constant in ["const N: u8 = 200 + 100;", "const N: u8 = 300u16 as u8;"] {
        let main = "fn main(a: u8 from 0) -> (r: u8 to all) { a }";
        let inside = constant.replace("const", "const M: u8 = 3; const");
        for text in [
            format!("#![checked]\n{constant}\n{main}"),
            format!("#[checked]\n{}", main.replace("{ a }", &format!("{{\n{inside} a }}"))),
        ] {
            let found = errors_of(&text);
            assert!(found.contains("does not fit") && found.contains("E04"), "{found}");
        }
    }
}

/// Compares `checked_cast` with whether the exact number is one of the type.
#[test]
fn casts_give_none_for_what_does_not_fit() {
    let ends = |signed: bool, width: u32| match signed {
        true => (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1),
        false => (0, (1i64 << width) - 1),
    };
    let types = [(false, 3), (true, 3), (false, 7), (true, 7), (false, 8), (true, 8), (true, 9)];
    let name = |(signed, width): (bool, u32)| format!("{}{width}", if signed { "i" } else { "u" });
    for from in types {
        let program = types.iter().map(|&to| format!("o{0}: Option<{0}> to all", name(to)));
        let ports: Vec<String> = program.collect();
        let values = vec!["a.checked_cast()"; types.len()].join(", ");
        let program = circuit(&format!(
            "fn main(a: {} from 0) -> ({}) {{ ({values}) }}",
            name(from),
            ports.join(", ")
        ));
        for a in ends(from.0, from.1).0..=ends(from.0, from.1).1 {
            let found = bits(&program, &[&a.to_string()]);
            for (&to, found) in types.iter().zip(found) {
                let (low, high) = ends(to.0, to.1);
                let wanted = if (low..=high).contains(&a) { a.to_string() } else { "null".into() };
                assert_eq!(found, wanted, "{a}: {} to {}", name(from), name(to));
            }
        }
    }
    let fixed = circuit(
        "type Q = fixed<4, 2>;
        fn main(a: fixed<6, 3> from 0, b: i8 from 1) -> (
            q: Option<Q> to all, n: Option<u3> to all, m: Option<Q> to all, k: Option<i8> to all
        ) {
            (a.checked_cast(), a.checked_cast(), b.checked_cast(), a.checked_cast::<i8>())
        }",
    );
    for (a, b, wanted) in [
        ("7.875", "7", ["7.75", "7", "7.0", "7"]),
        ("8", "8", ["null", "null", "null", "8"]),
        ("-8", "-8", ["-8.0", "null", "-8.0", "-8"]),
        ("-8.125", "-9", ["null", "null", "null", "-9"]),
        ("-0.125", "0", ["-0.25", "null", "0.0", "-1"]),
    ] {
        assert_eq!(bits(&fixed, &[a, b]), wanted, "{a} {b}");
    }
}

#[test]
fn powers_are_those_of_rust() {
    let program = circuit(
        "fn main(a: u8 from 0, b: i8 from 0, n: u3 from 1) -> (u: Option<u8> to all, i: Option<i8> to all) {
            (a.checked_pow(n as u32), b.checked_pow(n as u32))
        }",
    );
    for number in 0..=255u8 {
        for power in 0..8 {
            let signed = number as i8;
            let found =
                bits(&program, &[&number.to_string(), &signed.to_string(), &power.to_string()]);
            let wanted = [
                number.checked_pow(power).map_or("null".into(), |n| n.to_string()),
                signed.checked_pow(power).map_or("null".into(), |n| n.to_string()),
            ];
            assert_eq!(found, wanted, "{number} {signed} {power}");
        }
    }
}
