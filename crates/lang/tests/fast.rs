//! Floating-point numbers without subnormal ones, and AES-GCM, compared with the standards.

use crate::common::{bits, circuit, function};

/// Returns the result of single precision, if `exact` is at least the least normal number.
fn flushed(exact: f64, nearest: f32) -> f32 {
    match exact.abs() < f64::from(f32::MIN_POSITIVE) {
        true => 0f32.copysign(nearest),
        false => nearest,
    }
}

#[test]
fn fast_functions_have_no_subnormal_numbers() {
    let text = "use std::float::fast;
    fn main(x: f32 from 0, y: f32 from 1) -> (r: [f32; 5] to all, e: [f32; 4] to all, n: [f32; 4] to all) {
        (
            [fast::add(x, y), fast::sub(x, y), fast::mul(x, y), fast::div(x, y), fast::sqrt(x)],
            [fast::exp(x), fast::ln(x), fast::sin(x), fast::cos(x)],
            [std::float::exp(x), std::float::ln(x), std::float::sin(x), std::float::cos(x)],
        )
    }";
    let circuit = circuit(text);
    let computed = function(&circuit);
    let least = f32::MIN_POSITIVE;
    let read = |text: &str| -> Vec<f32> {
        let parts = text.trim_matches(['[', ']']).split(", ");
        parts.map(|part| part.trim_matches('"').parse().expect("a number")).collect()
    };
    let below_one = 1.0 - f32::EPSILON / 2.0;
    let mut numbers = vec![0.0, 1.0, 3.7, least, least * 1.5, least / 2.0, 1e-45, 1e-20, 1e20];
    // Products with these round up to the least normal number.
    numbers.extend([below_one, f32::MAX, f32::INFINITY, 87.3, 87.34, 95.0, 103.9]);
    numbers.extend(numbers.clone().iter().map(|x| -x));
    numbers.push(f32::NAN);
    let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    let flush = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
    for &x in &numbers {
        for &y in &numbers {
            let out = computed(&[&format!("{x:?}"), &format!("{y:?}")]);
            let (a, b) = (flush(x), flush(y));
            let (wide_a, wide_b) = (f64::from(a), f64::from(b));
            let expected = [
                flushed(wide_a + wide_b, a + b),
                flushed(wide_a - wide_b, a - b),
                flushed(wide_a * wide_b, a * b),
                flushed(wide_a / wide_b, a / b),
                a.sqrt(),
            ];
            for (found, expected) in read(&out[0]).into_iter().zip(expected) {
                assert!(same(found, expected), "{x:?} {y:?}: {found:?} for {expected:?}");
            }
            let (fast, full) = (read(&out[1]), read(&out[2]));
            let ln = if x.is_subnormal() { f32::NEG_INFINITY } else { full[1] };
            let expected = [flush(full[0]), ln, flush(full[2]), full[3]];
            for (found, expected) in fast.into_iter().zip(expected) {
                assert!(same(found, expected), "of {x:?}: {found:?} for {expected:?}");
            }
        }
    }
}

#[test]
fn fast_functions_of_doubles() {
    let text = "use std::float::fast;
    fn main(x: f64 from 0) -> (r: [f64; 4] to all, n: [f64; 4] to all) {
        (
            [fast::exp(x), fast::ln(x), fast::sin(x), fast::mul(x, 0.5)],
            [std::float::exp(x), std::float::ln(x), std::float::sin(x), x * 0.5],
        )
    }";
    let circuit = circuit(text);
    let read = |text: &str| -> Vec<f64> {
        let parts = text.trim_matches(['[', ']']).split(", ");
        parts.map(|part| part.trim_matches('"').parse().expect("a number")).collect()
    };
    let computed = function(&circuit);
    let flush = |x: f64| if x.is_subnormal() { 0f64.copysign(x) } else { x };
    for x in [0f64, 1.5, -1.5, -708.3, -708.4, -720.0, -744.0, 710.0, 1e-310, -1e-310, 3e-308] {
        let out = computed(&[&format!("{x:?}")]);
        let (fast, full) = (read(&out[0]), read(&out[1]));
        let ln = if x.is_subnormal() { f64::NEG_INFINITY } else { full[1] };
        let expected = [flush(full[0]), ln, flush(full[2]), flush(full[3])];
        let shown = |values: &[f64]| format!("{values:?}");
        assert_eq!(shown(&fast), shown(&expected), "of {x:?}");
    }
}

fn bytes(hex: &str) -> String {
    let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).expect("digits");
    format!("{:?}", (0..hex.len()).step_by(2).map(byte).collect::<Vec<_>>())
}

/// Test cases 1, 2 and 4 of the paper on which NIST SP 800-38D is based.
#[test]
fn aes_gcm_has_the_published_values() {
    let zeros = ["00".repeat(16), "00".repeat(12)];
    let empty = "fn main(k: [u8; 16] from 0, n: [u8; 12] from 1) -> (t: [u8; 16] to all) {
        std::crypto::aes_gcm::seal(k, n, [0u8; 0], [0u8; 0]).1
    }";
    let found = bits(&circuit(empty), &[&bytes(&zeros[0]), &bytes(&zeros[1])]);
    assert_eq!(found, [bytes("58e2fccefa7e3061367f1d57a4e7455a")]);
    let one = "fn main(k: [u8; 16] from 0, n: [u8; 12] from 1, p: [u8; 16] from 1)
        -> (c: [u8; 16] to all, t: [u8; 16] to all) {
        std::crypto::aes_gcm::seal(k, n, [0u8; 0], p)
    }";
    let found = bits(
        &circuit(one),
        &[&zeros[0], &zeros[1], &zeros[0]].map(|hex| bytes(hex)).each_ref().map(String::as_str),
    );
    let sealed = ["0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf"];
    assert_eq!(found, sealed.map(bytes));

    let both = "use std::crypto::aes_gcm;
    fn main(k: [u8; 16] from 0, n: [u8; 12] from 1, h: [u8; 20] from 1, p: [u8; 60] from 1, bad: [u8; 16] from 1)
        -> (c: [u8; 60] to all, t: [u8; 16] to all, back: Option<[u8; 60]> to all) {
        let (c, t) = aes_gcm::seal(k, n, h, p);
        (c, t, aes_gcm::open(k, n, h, c, t ^ bad))
    }";
    let circuit = circuit(both);
    let text = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
    let mut inputs = [
        "feffe9928665731c6d6a8f9467308308",
        "cafebabefacedbaddecaf888",
        "feedfacedeadbeeffeedfacedeadbeefabaddad2",
        text,
        &zeros[0],
    ]
    .map(bytes);
    let found = bits(&circuit, &inputs.each_ref().map(String::as_str));
    let cipher = "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
                  21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091";
    let tag = "5bc94fbc3221a5db94fae95ae7121a47";
    assert_eq!(found, [bytes(cipher), bytes(tag), bytes(text)]);
    // One bit of the tag is wrong.
    inputs[4] = bytes("00000000000000000000000000000080");
    let found = bits(&circuit, &inputs.each_ref().map(String::as_str));
    assert_eq!(found[2], "null");
}
