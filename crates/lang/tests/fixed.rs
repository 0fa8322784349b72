//! Errors of functions of fixed-point numbers, in several formats.

mod common;

use symbolon_circuit::eval_ports;

/// Returns a function's circuit, as a function of numbers.
fn function(name: &str, int: u32, frac: u32) -> impl Fn(f64) -> f64 {
    let ty = format!("fixed<{int}, {frac}>");
    let text = format!("fn main(x: {ty} from 0) -> (y: {ty} to all) {{ std::fixed::{name}(x) }}");
    let circuit = common::circuit(&text);
    let (width, unit) = (int + frac, 2f64.powi(frac as i32));
    move |x| {
        let raw = (x * unit) as i64;
        let bits = (0..width).map(|place| raw >> place & 1 == 1).collect();
        let outputs = eval_ports(&circuit, &[bits]).expect("inputs fit");
        let raw = outputs[0].iter().rev().fold(0u64, |sum, &bit| sum << 1 | u64::from(bit));
        // The top bit is the sign.
        let raw = (raw << (64 - width)) as i64 >> (64 - width);
        raw as f64 / unit
    }
}

/// Formats, each with the largest distance from 0 of numbers whose exponential is not too large.
const FORMATS: [(u32, u32, f64); 6] =
    [(16, 16, 10.3), (12, 20, 7.6), (32, 10, 21.4), (8, 8, 4.8), (40, 20, 27.0), (24, 4, 15.9)];

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
        for x in numbers(-most, most, frac) {
            let off = (exp(x) - x.exp()).abs();
            let allowed = (x.abs() / 2.0 + 3.0) * unit * x.exp() + unit;
            assert!(off <= allowed, "fixed<{int}, {frac}>: e^{x} is off by {off}");
        }
    }
    // Numbers whose error is far more than a few units of the last place.
    for (int, frac, x) in [(16, 16, 9.7975), (12, 20, 5.9), (32, 10, 18.55)] {
        let unit = 2f64.powi(-frac);
        let x = (x / unit).floor() * unit;
        let off = (function("exp", int, frac as u32)(x) - x.exp()).abs();
        assert!(off <= (x / 2.0 + 3.0) * unit * x.exp() + unit, "e^{x} is off by {off}");
    }
}

#[test]
fn the_other_functions_are_a_few_units_off_at_most() {
    for (int, frac, _) in FORMATS {
        let unit = 2f64.powi(-(frac as i32));
        let top = 2f64.powi(int as i32 - 1) - 1.0;
        let reaches = top.min(30.0);
        for (name, low, high) in
            [("sqrt", 0.0, top), ("ln", unit, top), ("sigmoid", -reaches, reaches)]
        {
            let exact = |x: f64| match name {
                "sqrt" => x.sqrt(),
                "ln" => x.ln(),
                _ => 1.0 / (1.0 + (-x).exp()),
            };
            let computed = function(name, int, frac);
            let near = numbers(low.max(-4.0), high.min(4.0), frac);
            for x in numbers(low, high, frac).into_iter().chain(near) {
                let off = (computed(x) - exact(x)).abs() / unit;
                assert!(off <= 3.0, "fixed<{int}, {frac}>: {name} of {x} is off by {off} units");
            }
        }
    }
}
