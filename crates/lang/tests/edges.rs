//! The library's functions where their arguments are extreme: infinite, NaN, and large constants.

use crate::common::{bits, circuit, compute, errors_of, function};

/// Returns the hexadecimal bits of the sine and the cosine of a number with these bits.
fn sine_and_cosine(width: u32, inputs: &[u64]) -> Vec<Vec<String>> {
    let text = format!(
        "use std::bits::{{from_bits, to_bits}};
        fn main(x: u{width} from 0) -> (s: u{width} to all, c: u{width} to all) {{
            let x: f{width} = from_bits(to_bits(x));
            (from_bits(to_bits(std::float::sin(x))), from_bits(to_bits(std::float::cos(x))))
        }}"
    );
    let circuit = circuit(&text);
    let computed = function(&circuit);
    inputs.iter().map(|input| computed(&[&input.to_string()])).collect()
}

#[test]
fn a_sine_or_cosine_that_is_no_number_is_the_positive_quiet_nan() {
    let both = |nan: u64| vec![nan.to_string(), nan.to_string()];
    // Infinite ones, quiet ones and one with a payload, of both signs.
    let inputs = [0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xffc0_0000, 0xff80_0001];
    for (input, found) in inputs.iter().zip(sine_and_cosine(32, &inputs)) {
        assert_eq!(found, both(0x7fc0_0000), "{input:x}");
    }
    let high = 32;
    let inputs = inputs.map(|bits| match bits {
        0xff80_0001 => 0xfff0_0000_0000_0001,
        _ if bits & 0x40_0000 != 0 => (bits & 0x8000_0000 | 0x7ff8_0000) << high,
        _ => (bits & 0x8000_0000 | 0x7ff0_0000) << high,
    });
    for (input, found) in inputs.iter().zip(sine_and_cosine(64, &inputs)) {
        assert_eq!(found, both(0x7ff8_0000_0000_0000), "{input:x}");
    }
}

#[test]
fn a_sort_puts_the_sine_of_an_infinite_number_last() {
    let text = "fn main(x: [f32; 3] from 0) -> (r: [f32; 3] to all) {
        std::sort::sort([std::float::sin(y) for y in x])
    }";
    assert_eq!(compute(text, &["[\"-inf\", 0.0, \"inf\"]"]), ["[0.0, \"NaN\", \"NaN\"]"]);
}

#[test]
fn comparisons_with_nan_are_false_in_least_and_greatest() {
    let text = "fn main(x: [f32; 2] from 0) -> (r: [f32; 2] to all, i: u1 to all) {
        ([min(x[0], x[1]), max(x[0], x[1])], std::ml::argmin(x))
    }";
    let circuit = circuit(text);
    let nan = "\"NaN\"";
    let found = bits(&circuit, &[&format!("[{nan}, 1.0]")]);
    assert_eq!(found, [format!("[{nan}, {nan}]"), "0".to_string()]);
    assert_eq!(bits(&circuit, &[&format!("[1.0, {nan}]")]), ["[1.0, 1.0]", "0"]);
    assert_eq!(bits(&circuit, &["[2.0, 1.0]"]), ["[1.0, 2.0]", "1"]);
}

#[test]
fn quantiles_with_large_constants_do_not_wrap() {
    let text = |k: &str, q: &str| {
        format!(
            "fn main(a: [u8; 4] from 0) -> (r: u8 to all) {{
                std::stats::quantile::<u8, 4, {k}, {q}>(a)
            }}"
        )
    };
    for (k, q, expected) in [
        ("0", "1", "1"),
        ("1", "2", "3"),
        ("3000000000", "4000000000", "4"),
        ("1000000000", "4000000000", "2"),
        ("3000000000", "1", "4"),
    ] {
        assert_eq!(compute(&text(k, q), &["[4, 3, 2, 1]"]), [expected], "{k} of {q}");
    }
    let error = errors_of(&text("1", "0"));
    assert!(error.contains("a quantile needs Q of at least 1"), "{error}");
}
