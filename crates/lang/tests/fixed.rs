//! Errors of functions of fixed-point numbers, in several formats.

use crate::common::{self, compute, errors_of};
use symbolon_circuit::{Plan, eval_words};

/// Returns a function's circuit, as a function of numbers, 64 of which are computed at a time.
fn function(name: &str, int: u32, frac: u32) -> impl Fn(&[f64]) -> Vec<f64> {
    let ty = format!("fixed<{int}, {frac}>");
    let text = format!("fn main(x: {ty} from 0) -> (y: {ty} to all) {{ std::fixed::{name}(x) }}");
    let circuit = common::circuit(&text);
    let (width, unit) = (int + frac, 2f64.powi(frac as i32));
    let plan = Plan::with_lookups(&circuit);
    move |numbers| {
        let computed = numbers.chunks(64).flat_map(|numbers| {
            let raw: Vec<i64> = numbers.iter().map(|x| (x * unit) as i64).collect();
            let word = |place: u32| {
                raw.iter().rev().fold(0, |word, raw| word << 1 | (raw >> place & 1) as u64)
            };
            let outputs = eval_words(&plan, &(0..width).map(word).collect::<Vec<_>>());
            (0..numbers.len()).map(move |number| {
                let bits = outputs[..width as usize].iter().rev();
                let raw = bits.fold(0u64, |sum, word| sum << 1 | word >> number & 1);
                // The top bit is the sign.
                let raw = (raw << (64 - width)) as i64 >> (64 - width);
                raw as f64 / unit
            })
        });
        computed.collect()
    }
}

/// Formats, each with the largest distance from 0 of numbers whose exponential is not too large.
const FORMATS: [(u32, u32, f64); 7] = [
    (16, 16, 10.3),
    (12, 20, 7.6),
    (32, 10, 21.4),
    (8, 8, 4.8),
    (40, 20, 27.0),
    (24, 4, 15.9),
    (2, 16, 0.69),
];

/// Numbers from `low` to `high` that the format has.
fn numbers(low: f64, high: f64, frac: u32) -> Vec<f64> {
    let unit = 2f64.powi(frac as i32);
    let step = (high - low) / 99.0;
    (0..100).map(|i| ((low + step * f64::from(i)) * unit).floor() / unit).collect()
}

/// Checks what the library says of `exp`. Its error grows with the number: x · log₂ e has F bits,
/// too.
#[test]
fn the_exponential_has_the_relative_error_that_is_documented() {
    for (int, frac, most) in FORMATS {
        let unit = 2f64.powi(-(frac as i32));
        let exp = function("exp", int, frac);
        let numbers = numbers(-most, most, frac);
        for (x, computed) in numbers.iter().zip(exp(&numbers)) {
            let off = (computed - x.exp()).abs();
            let allowed = (x.abs() / 2.0 + 3.0) * unit * x.exp() + unit;
            assert!(off <= allowed, "fixed<{int}, {frac}>: e^{x} is off by {off}");
        }
    }
    // Numbers whose error is far more than a few units of the last place.
    for (int, frac, x) in [(16, 16, 9.7975), (12, 20, 5.9), (32, 10, 18.55)] {
        let unit = 2f64.powi(-frac);
        let x = (x / unit).floor() * unit;
        let off = (function("exp", int, frac as u32)(&[x])[0] - x.exp()).abs();
        assert!(off <= (x / 2.0 + 3.0) * unit * x.exp() + unit, "e^{x} is off by {off}");
    }
}

#[test]
fn the_other_functions_are_a_few_units_off_at_most() {
    for (int, frac, _) in FORMATS {
        let unit = 2f64.powi(-(frac as i32));
        let top = 2f64.powi(int as i32 - 1) - unit.max(2f64.powi(-10));
        let reaches = top.min(30.0);
        for (name, low, high) in
            [("sqrt", 0.0, top), ("ln", unit, top), ("sigmoid", -reaches, reaches)]
        {
            let least = -2f64.powi(int as i32 - 1);
            let exact = |x: f64| match name {
                "sqrt" => x.sqrt(),
                "ln" => x.ln().max(least),
                _ => 1.0 / (1.0 + (-x).exp()),
            };
            let computed = function(name, int, frac);
            let mut all = numbers(low, high, frac);
            all.extend(numbers(low.max(-4.0), high.min(4.0), frac));
            for (&x, computed) in all.iter().zip(computed(&all)) {
                let off = (computed - exact(x)).abs() / unit;
                assert!(off <= 3.0, "fixed<{int}, {frac}>: {name} of {x} is off by {off} units");
            }
        }
    }
}

/// Returns a program that applies a function to a number of a format.
fn program(name: &str, int: u32, frac: u32) -> String {
    let ty = format!("fixed<{int}, {frac}>");
    format!("fn main(x: {ty} from 0) -> (y: {ty} to all) {{ std::fixed::{name}(x) }}")
}

#[test]
fn formats_that_hold_no_one_have_a_sigmoid() {
    for (int, x, least) in [(2, "0", 0.499), (2, "1.5", 0.817), (1, "0", 0.499), (1, "0.9", 0.71)] {
        let y: f64 = compute(&program("sigmoid", int, 16), &[x])[0].parse().expect("a number");
        assert!(y >= least && y < least + 0.002, "fixed<{int}, 16>: sigmoid of {x} is {y}");
    }
    let logistic = "type Q = fixed<2, 16>;
    fn main(w: [Q; 2] from 0, x: [Q; 2] from 1) -> (y: Q to all) { std::ml::logistic(w, 0.0, x) }";
    assert_eq!(compute(logistic, &["[0, 0]", "[0, 0]"]), ["0.5"]);
}

#[test]
fn a_format_without_a_bit_before_the_point_has_no_root_and_no_sigmoid() {
    for name in ["sqrt", "sigmoid"] {
        let error = errors_of(&program(name, 0, 16));
        assert!(error.contains("needs a bit before the point"), "{error}");
    }
    assert_eq!(compute(&program("sqrt", 1, 8), &["0.25"]), ["0.5"]);
}

#[test]
fn a_logarithm_that_does_not_fit_is_the_least_number() {
    for (int, frac, x, least) in [
        (4, 20, "0.000001", "-8.0"),
        (4, 20, "0.0002", "-8.0"),
        (4, 20, "0", "-8.0"),
        (1, 8, "0.25", "-1.0"),
        (0, 8, "0.25", "-0.5"),
    ] {
        let y = compute(&program("ln", int, frac), &[x]);
        assert_eq!(y, [least], "fixed<{int}, {frac}>: ln of {x}");
    }
    for (int, frac, x) in [(4, 20, "0.0004"), (5, 20, "0.000001")] {
        let y: f64 = compute(&program("ln", int, frac), &[x])[0].parse().expect("a number");
        let unit = 2f64.powi(-(frac as i32));
        let raw = (x.parse::<f64>().expect("a number") / unit).floor();
        assert!((y - (raw * unit).ln()).abs() <= 3.0 * unit, "ln of {x} is {y}");
    }
}

#[test]
fn the_logarithm_of_a_wide_number_is_as_exact() {
    let power = "28948022309329048855892746252171976963317496166410141009864396001978282409984";
    let y = &compute(&program("ln", 256, 16), &[power])[0];
    let off = y.parse::<f64>().expect("a number") - 254.0 * 2f64.ln();
    assert!(off.abs() <= 3.0 * 2f64.powi(-16), "it is off by {off}");
}
