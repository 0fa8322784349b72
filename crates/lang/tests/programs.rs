//! Small programs: what they compute, and what is refused.

use crate::common::{self, circuit, compute as run, errors_of as errors};

#[test]
fn arithmetic_wraps() {
    let text = "fn main(a: u8 from 0, b: u8 from 1) -> (s: u8 to all, p: u8 to all, l: bool to 0) {
        (a + b, a * b, a < b)
    }";
    assert_eq!(run(text, &["200", "100"]), ["44", "32", "false"]);
}

#[test]
fn a_secret_return_leaves_the_function() {
    let text = "fn f(a: u8) -> u8 { if a > 10 { return 1; } let b = a * 2; b }
    fn main(a: u8 from 0) -> (r: u8 to all) { f(a) }";
    assert_eq!(run(text, &["11"]), ["1"]);
    assert_eq!(run(text, &["7"]), ["14"]);
}

#[test]
fn a_secret_break_leaves_the_loop() {
    let text = "fn main(a: [u8; 4] from 0, k: u8 from 1) -> (at: u8 to all, sum: u8 to all) {
        let mut at = 4;
        let mut sum = 0u8;
        for i in 0..4 {
            if a[i] == 9 { continue; }
            if a[i] == k { at = i as u8; break; }
            sum += a[i];
        }
        (at, sum)
    }";
    assert_eq!(run(text, &["[5, 9, 7, 6]", "7"]), ["2", "5"]);
    assert_eq!(run(text, &["[5, 9, 7, 6]", "1"]), ["4", "18"]);
}

#[test]
fn a_secret_index_beyond_reads_zero_and_writes_nothing() {
    let text = "fn main(a: [u8; 3] from 0, i: u8 from 1) -> (v: u8 to all, b: [u8; 3] to all) {
        let mut b = a;
        b[i] += 1;
        (a[i], b)
    }";
    assert_eq!(run(text, &["[5, 6, 7]", "1"]), ["6", "[5, 7, 7]"]);
    assert_eq!(run(text, &["[5, 6, 7]", "3"]), ["0", "[5, 6, 7]"]);
}

#[test]
fn a_failed_assert_zeroes_outputs_and_is_named() {
    let text = "fn main(a: u8 from 0, b: u8 from 1) -> (s: u8 to all) {
        assert(a < 10, \"a is large\");
        if b > 3 { assert(b < 10, \"b is large\"); }
        a + b
    }";
    assert_eq!(run(text, &["4", "5"]), ["9", "0"]);
    assert_eq!(run(text, &["10", "50"]), ["0", "1"]);
    assert_eq!(run(text, &["4", "50"]), ["0", "2"]);
    let circuit = circuit(text);
    assert_eq!(circuit.failures()[1].text, "b is large");
    assert_eq!(circuit.failures()[1].line, 3);
}

#[test]
fn options_match_and_compare() {
    let text = "fn main(a: Option<u8> from 0, b: Option<i8> from 1)
        -> (x: u8 to all, y: Option<u8> to all, z: bool to all) {
        let y = match (a, b) { (Some(x), Some(_)) => Some(x + 1), (Some(x), None) => Some(x), _ => None };
        (a.unwrap_or(7), y, b < Some(0))
    }";
    assert_eq!(run(text, &["null", "-1"]), ["7", "null", "true"]);
    assert_eq!(run(text, &["3", "1"]), ["3", "4", "false"]);
    assert_eq!(run(text, &["3", "null"]), ["3", "3", "true"]);
}

#[test]
fn structures_variants_and_methods() {
    let text = "struct Point { x: i8, y: i8 }
    enum Shape { Empty, Dot(Point), Bar(i8, bool) }
    impl Point { fn sum(self) -> i8 { self.x + self.y } }
    fn main(s: Shape from 0, p: Point from 1) -> (r: i8 to all, q: Point to all) {
        let r = match s {
            Shape::Empty => -1,
            Shape::Dot(p) => p.sum(),
            Shape::Bar(w, true) => w,
            Shape::Bar(w, false) => -w,
        };
        (r, Point { y: p.x, x: p.y })
    }";
    let p = "{\"x\": 3, \"y\": -4}";
    assert_eq!(run(text, &["Empty", p]), ["-1", "{\"x\": -4, \"y\": 3}"]);
    assert_eq!(run(text, &["{\"Dot\": [{\"x\": 30, \"y\": -4}]}", p])[0], "26");
    assert_eq!(run(text, &["{\"Bar\": [9, false]}", p])[0], "-9");
}

#[test]
fn generic_functions_infer_their_lengths() {
    let text =
        "fn total<const W: usize, const N: usize>(a: [u<W>; N]) -> u<W + clog2(N)> { sum(a) }
    fn pow<const E: usize>(x: u16) -> u16 { if E == 0 { 1 } else { x * pow::<E - 1>(x) } }
    fn main(a: [u8; 5] from 0) -> (s: u11 to all, n: u3 to all, p: u16 to all, sq: u16 to all) {
        (total(a), count([x > 3 for x in a]), pow::<3>(a[0] as u16), square(a[1]))
    }";
    assert_eq!(run(text, &["[7, 255, 255, 1, 255]"]), ["773", "4", "343", "65025"]);
}

#[test]
fn slices_in_loops_are_checked_round_by_round() {
    let text = "fn main(a: [u8; 6] from 0) -> (r: [u10; 3] to all) {
        let mut r = [0; 3];
        for i in 0..3 { r[i] = sum(a[2 * i..2 * i + 2]) as u10; }
        r
    }";
    assert_eq!(run(text, &["[1, 2, 3, 4, 255, 255]"]), ["[3, 7, 510]"]);
}

#[test]
fn fixed_point_numbers() {
    let text = "type Q = fixed<8, 8>;
    fn main(a: Q from 0, b: Q from 1) -> (p: Q to all, d: Q to all, i: i8 to all) {
        (a * b + 0.5, a / b, a as i8)
    }";
    assert_eq!(run(text, &["1.5", "-2.25"]), ["-2.875", "-0.6640625", "1"]);
    assert_eq!(run(text, &["-1.5", "0.5"])[2], "-2");
}

#[test]
fn division_by_zero_and_shifts_past_the_width() {
    let text = "fn main(a: i8 from 0, b: i8 from 1, s: u8 from 1)
        -> (q: i8 to all, r: i8 to all, l: i8 to all, h: i8 to all) {
        (a / b, a % b, a << s, a >> s)
    }";
    assert_eq!(run(text, &["-7", "2", "1"]), ["-3", "-1", "-14", "-4"]);
    assert_eq!(run(text, &["-7", "0", "9"]), ["-1", "-7", "0", "-1"]);
    assert_eq!(run(text, &["-128", "-1", "8"]), ["-128", "0", "0", "-1"]);
}

#[test]
fn shares_and_each() {
    let text = "fn main(k: u8 from share, b: [u8; PARTIES] from each) -> (r: u8 to all, o: [u8; PARTIES] to each) {
        (k, [x + k for x in b])
    }";
    assert_eq!(run(text, &["5", "6", "1", "2"]), ["3", "4", "5"]);
}

#[test]
fn ten_errors_are_told_at_once() {
    let text = "fn f(a: u8, b: u16) -> u8 {
        let x = a + b;
        let y: bool = a;
        let z = unknown;
        a[0];
        a.f;
        if a { }
        let w = 300u8;
        x = 3;
        break;
        g(1)
    }
    fn g(a: bool, b: bool) -> u8 { 0 }";
    let found = errors(text);
    assert_eq!(found.matches("error[").count(), 10, "{found}");
    assert!(found.contains("help: convert it: `as u8`"), "{found}");
}

#[test]
fn a_prefix_binds_tighter_than_a_cast() {
    let text =
        "fn main(x: i4 from 0, c: bool from 1) -> (n: i8 to all, t: u4 to all, m: i8 to all) {
        (-x as i8, !c as u4, -3 as i8)
    }";
    // The negative of the least number is itself.
    assert_eq!(run(text, &["-8", "true"]), ["-8", "0", "-3"]);
    assert_eq!(run(text, &["5", "false"]), ["-5", "1", "-3"]);
}

#[test]
fn an_unrolled_loop_writes_out_what_it_calls() {
    let text = |mark: &str, unroll: &str| {
        format!(
            "{mark} fn f(a: u32, i: u32) -> u32 {{ (a * a + i) * (a + i) }}
            fn main(a: u32 from 0) -> (r: u32 to all) {{
                let mut x = a;
                {unroll} for i in 0..3 {{ x = f(x, i); }}
                x
            }}"
        )
    };
    let components = |mark, unroll| {
        let circuit = common::circuit(&text(mark, unroll));
        let all: Vec<u32> = ["0", "5", "4294967295"]
            .map(|a| common::bits(&circuit, &[a])[0].parse().expect("a number"))
            .to_vec();
        let f = |a: u32, i: u32| a.wrapping_mul(a).wrapping_add(i).wrapping_mul(a.wrapping_add(i));
        let expected = [0, 5, u32::MAX].map(|a| (0..3).fold(a, f));
        assert_eq!(all, expected);
        circuit.components().len()
    };
    // The function, the loop's body and the main component.
    assert_eq!(components("", ""), 3);
    assert_eq!(components("", "#[unroll]"), 1);
    assert_eq!(components("#[component]", "#[unroll]"), 2);
}
