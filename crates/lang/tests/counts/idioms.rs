//! What people write often: as a newcomer writes it, and as somebody would who knows what gates
//! cost. The compiler makes the first as cheap as the second.

use std::fmt::Write;

use symbolon_circuit::builder::and_count;
use symbolon_circuit::{Circuit, Evaluator, lower_lookups};

use crate::common;

/// One thing in two forms.
struct Idiom {
    name: &'static str,
    /// The parameters and results of `main`.
    ports: &'static str,
    newcomer: &'static str,
    expert: &'static str,
}

const fn idiom(
    name: &'static str,
    ports: &'static str,
    newcomer: &'static str,
    expert: &'static str,
) -> Idiom {
    Idiom { name, ports, newcomer, expert }
}

const TITLE: &str = "
## Idioms
What people write often, as a newcomer writes it and as an expert would who counts gates, with the AND gates of both. A test makes sure that the
first takes at most 1.05 times those of the second.

| idiom | a newcomer's | AND gates | an expert's | AND gates |
| --- | --- | --- | --- | --- |
";

const ALL: &[Idiom] = &[
    idiom(
        "nested conditions",
        "(c: bool from 0, d: bool from 1, x: u32 from 0, v: u32 from 1) -> (r: u32 to all)",
        "let mut r = x; if c { if d { r = v; } } r",
        "if c & d { v } else { x }",
    ),
    idiom(
        "a chain of `else if`",
        "(c: [bool; 3] from 0, x: u32 from 0, v: [u32; 3] from 1) -> (r: u32 to all)",
        "if c[0] { v[0] } else if c[1] { v[1] } else if c[2] { v[2] } else { x }",
        "let mut r = x; for i in 0..3 { r ^= if c[2 - i] { r ^ v[2 - i] } else { 0 }; } r",
    ),
    idiom(
        "arms of a `match` that write different variables",
        "(op: u2 from 0, v: u32 from 0, x: [u32; 4] from 1) -> (r: [u32; 4] to all)",
        "let mut r = x; match op { 0 => { r[0] = v; }, 1 => { r[1] = v; }, 2 => { r[2] = v; }, _ => { r[3] = v; } } r",
        "let mut r = x; r[op] = v; r",
    ),
    idiom(
        "a `match` of constants",
        "(x: u4 from 0) -> (r: u8 to all)",
        "match x { 0 => 17, 1 => 200, 2 => 3, 3 => 99, 4 => 5, 5 => 128, 6 => 77, 7 => 31, 8 => 9, 9 => 64, 10 => 201, 11 => 12, 12 => 45, 13 => 90, 14 => 250, _ => 1 }",
        "const T: [u8; 16] = [17, 200, 3, 99, 5, 128, 77, 31, 9, 64, 201, 12, 45, 90, 250, 1]; T[x]",
    ),
    idiom(
        "`break`",
        "(b: [bool; 16] from 0, d: [u32; 16] from 1) -> (r: u32 to all)",
        "let mut r = 0; for i in 0..16 { if b[i] { break; } r += d[i]; } r",
        "let (mut r, mut go) = (0, true); for i in 0..16 { go = go & !b[i]; r += if go { d[i] } else { 0 }; } r",
    ),
    idiom(
        "`continue`",
        "(b: [bool; 16] from 0, d: [u32; 16] from 1) -> (r: u32 to all)",
        "let mut r = 0; for i in 0..16 { if b[i] { continue; } r += d[i]; } r",
        "let mut r = 0; for i in 0..16 { r += if b[i] { 0 } else { d[i] }; } r",
    ),
    idiom(
        "`return` in a loop",
        "(b: [bool; 8] from 0, d: [u32; 8] from 1) -> (r: u32 to all)",
        "for i in 0..8 { if b[i] { return d[i]; } } 7",
        "let mut r = 7; for i in 0..8 { if b[7 - i] { r = d[7 - i]; } } r",
    ),
    idiom(
        "a write to an array under a condition",
        "(a: [u16; 10] from 0, w: bool from 1, i: u8 from 1, v: u16 from 1) -> (r: [u16; 10] to all)",
        "let mut r = a; if w { r[i] = v; } r",
        "let mut r = a; r[if w { i } else { 255 }] = v; r",
    ),
    idiom(
        "`min` and `max`",
        "(a: u32 from 0, b: u32 from 1) -> (low: u32 to all, high: u32 to all)",
        "(min(a, b), max(a, b))",
        "let d = if b < a { a ^ b } else { 0 }; (a ^ d, b ^ d)",
    ),
    idiom(
        "quotient and remainder",
        "(a: u32 from 0, b: u32 from 1) -> (q: u32 to all, r: u32 to all)",
        "(a / b, a % b)",
        "std::num::divmod(a, b)",
    ),
    idiom(
        "`<`, `==` and `>`",
        "(a: u32 from 0, b: u32 from 1) -> (l: bool to all, e: bool to all, g: bool to all)",
        "(a < b, a == b, a > b)",
        "let (l, e) = (a < b, a == b); (l, e, !(l | e))",
    ),
    idiom(
        "majority, as in SHA-2",
        "(x: u32 from 0, y: u32 from 1, z: u32 from 1) -> (r: u32 to all)",
        "(x & y) ^ (x & z) ^ (y & z)",
        "((x ^ y) & (x ^ z)) ^ x",
    ),
    idiom(
        "majority of three votes",
        "(x: bool from 0, y: bool from 1, z: bool from 1) -> (r: bool to all)",
        "x && y || y && z || x && z",
        "((x ^ y) & (x ^ z)) ^ x",
    ),
    idiom(
        "choice, as in SHA-2",
        "(x: u32 from 0, y: u32 from 1, z: u32 from 1) -> (r: u32 to all)",
        "(x & y) | (!x & z)",
        "z ^ (x & (y ^ z))",
    ),
    idiom(
        "AES's S-box, computed",
        "(x: u8 from 0) -> (r: u8 to all)",
        "const T: [u8; 256] = sbox_table(); T[x]",
        "std::crypto::aes128::sbox(x)",
    ),
    idiom(
        "its inverse",
        "(x: u8 from 0) -> (r: u8 to all)",
        "const T: [u8; 256] = inverse_of(sbox_table()); T[x]",
        "inverse_affine(std::crypto::aes128::sbox(inverse_affine(x)))",
    ),
    idiom(
        "inversion in GF(2⁸)",
        "(x: u8 from 0) -> (r: u8 to all)",
        "const T: [u8; 256] = inverses(); T[x]",
        "inverse_affine(std::crypto::aes128::sbox(x))",
    ),
    idiom(
        "a power of two",
        "(n: u5 from 0) -> (r: u32 to all)",
        "1u32 << n",
        "let mut r = [false; 32]; r[n] = true; std::bits::from_bits(r)",
    ),
    idiom(
        "a power of two by `pow`",
        "(n: u5 from 0) -> (r: u32 to all)",
        "2u32.pow(n as u32)",
        "1u32 << n",
    ),
    idiom(
        "division by a power of two",
        "(x: i32 from 0) -> (q: i32 to all, r: i32 to all)",
        "(x / 8, x % 8)",
        "let q = (x + if x < 0 { 7 } else { 0 }) >> 3; (q, x - (q << 3))",
    ),
    idiom(
        "multiplication by a constant",
        "(x: u32 from 0) -> (a: u32 to all, b: u32 to all)",
        "(x * 10, x * 255)",
        "((x << 3) + (x << 1), (x << 8) - x)",
    ),
    idiom(
        "comparison with a constant",
        "(x: u32 from 0) -> (a: bool to all, b: bool to all)",
        "(x >= 64, x < 1000 && x != 0)",
        "(x >> 6 != 0, x - 1 < 999)",
    ),
    idiom(
        "a count",
        "(b: [bool; 64] from 0) -> (n: u32 to all)",
        "let mut n = 0u32; for x in b { if x { n += 1; } } n",
        "count(b) as u32",
    ),
    idiom(
        "a count of what equals",
        "(a: [u8; 32] from 0, q: u8 from 1) -> (n: u32 to all)",
        "let mut n = 0u32; for x in a { n += (x == q) as u32; } n",
        "count([x == q for x in a]) as u32",
    ),
    idiom(
        "one more under a condition",
        "(c: bool from 0, x: u32 from 1) -> (r: u32 to all)",
        "if c { x + 1 } else { x }",
        "x + c as u32",
    ),
    idiom(
        "sum or difference",
        "(c: bool from 0, x: i32 from 0, y: i32 from 1) -> (r: i32 to all)",
        "if c { x - y } else { x + y }",
        "x + (y ^ if c { -1 } else { 0 }) + c as i32",
    ),
    idiom(
        "up or down",
        "(b: [bool; 16] from 0) -> (n: i32 to all)",
        "let mut n = 0i32; for x in b { if x { n += 1; } else { n -= 1; } } n",
        "2 * (count(b) as i32) - 16",
    ),
    idiom(
        "a sum of short numbers",
        "(a: [u8; 16] from 0) -> (s: u32 to all)",
        "let mut s = 0u32; for x in a { s += x as u32; } s",
        "sum(a) as u32",
    ),
    idiom(
        "a sum of what fits",
        "(a: [u16; 16] from 0, c: [bool; 16] from 1) -> (s: u32 to all)",
        "let mut s = 0u32; for i in 0..16 { if c[i] { s += a[i] as u32; } } s",
        "sum([if c[i] { a[i] } else { 0 } for i in 0..16]) as u32",
    ),
    idiom(
        "place of the largest",
        "(a: [u32; 16] from 0) -> (m: u32 to all, at: u4 to all)",
        "let (mut m, mut at) = (a[0], 0); for i in 1..16 { if a[i] > m { m = a[i]; at = i as u4; } } (m, at)",
        "let mut m = a[0]; let mut at = 0u4; for i in 1..16 { let c = m < a[i]; m ^= if c { m ^ a[i] } else { 0 }; at ^= if c { at ^ i as u4 } else { 0 }; } (m, at)",
    ),
    idiom(
        "a histogram",
        "(a: [u3; 16] from 0) -> (h: [u32; 8] to all)",
        "let mut h = [0u32; 8]; for x in a { h[x] += 1; } h",
        "let h = std::stats::histogram::<3, 16, 8>(a); [n as u32 for n in h]",
    ),
    idiom(
        "any and all",
        "(a: [u8; 16] from 0, q: u8 from 1) -> (r: bool to all, s: bool to all)",
        "let (mut r, mut s) = (false, true); for x in a { if x == q { r = true; } else { s = false; } } (r, s)",
        "let e = [x == q for x in a]; (e.any(), e.all())",
    ),
    idiom(
        "contains",
        "(a: [u8; 16] from 0, q: u8 from 1) -> (r: bool to all)",
        "for x in a { if x == q { return true; } } false",
        "a.contains(q)",
    ),
    idiom(
        "find",
        "(a: [u8; 16] from 0, q: u8 from 1) -> (r: Option<u32> to all)",
        "for i in 0..16 { if a[i] == q { return Some(i as u32); } } None",
        "a.find(q)",
    ),
    idiom(
        "absolute difference",
        "(a: u32 from 0, b: u32 from 1) -> (r: u32 to all)",
        "if a > b { a - b } else { b - a }",
        "abs_diff(a, b)",
    ),
    idiom(
        "clamp",
        "(x: i32 from 0, a: i32 from 1, b: i32 from 1) -> (r: i32 to all)",
        "if x < a { a } else if x > b { b } else { x }",
        "let y = if x > b { b } else { x }; if x < a { a } else { y }",
    ),
    idiom(
        "median of three",
        "(a: u32 from 0, b: u32 from 1, c: u32 from 1) -> (r: u32 to all)",
        "std::sort::sort([a, b, c])[1]",
        "max(min(a, b), min(max(a, b), c))",
    ),
    idiom(
        "median of three by nested conditions",
        "(a: u32 from 0, b: u32 from 1, c: u32 from 1) -> (r: u32 to all)",
        "if a < b { if b < c { b } else if a < c { c } else { a } } else if a < c { a } else if b < c { c } else { b }",
        "max(min(a, b), min(max(a, b), c))",
    ),
    idiom(
        "the same values in several arms",
        "(c: [bool; 3] from 0, x: u32 from 0, y: u32 from 1) -> (r: u32 to all)",
        "if c[0] { if c[1] { x } else { y } } else if c[2] { y } else { x }",
        "if (c[0] & c[1]) ^ (!c[0] & !c[2]) { x } else { y }",
    ),
    idiom(
        "swap under a condition",
        "(c: bool from 0, x: u32 from 0, y: u32 from 1) -> (a: u32 to all, b: u32 to all)",
        "let (mut a, mut b) = (x, y); if c { let t = a; a = b; b = t; } (a, b)",
        "let d = if c { x ^ y } else { 0 }; (x ^ d, y ^ d)",
    ),
    idiom(
        "number of ones",
        "(x: u32 from 0) -> (n: u32 to all)",
        "let mut n = 0u32; for i in 0..32 { n += x >> i & 1; } n",
        "x.count_ones()",
    ),
    idiom(
        "leading zeros",
        "(x: u32 from 0) -> (n: u32 to all)",
        "let mut n = 0u32; for i in 0..32 { if x >> (31 - i) & 1 == 1 { break; } n += 1; } n",
        "x.leading_zeros()",
    ),
    idiom(
        "reversal of bits",
        "(x: u32 from 0) -> (r: u32 to all)",
        "let mut r = 0u32; for i in 0..32 { r = r << 1 | x >> i & 1; } r",
        "x.reverse_bits()",
    ),
    idiom(
        "rotation by a secret",
        "(x: u32 from 0, n: u5 from 1) -> (r: u32 to all)",
        "x << n | x >> (32 - n as u32)",
        "x.rotate_left(n as u32)",
    ),
    idiom(
        "modulo a constant",
        "(x: u32 from 0) -> (r: u32 to all)",
        "x % 1000",
        "let q = (std::num::mul_wide(x, 274877907u32) >> 38) as u32; x - q * 1000",
    ),
    idiom(
        "division by a constant",
        "(x: u32 from 0) -> (r: u32 to all)",
        "x / 10",
        "(std::num::mul_wide(x, 0xcccccccdu32) >> 35) as u32",
    ),
    idiom(
        "scalar product",
        "(a: [u16; 8] from 0, b: [u16; 8] from 1) -> (r: u32 to all)",
        "let mut r = 0u32; for i in 0..8 { r += a[i] as u32 * b[i] as u32; } r",
        "sum([std::num::mul_wide(a[i], b[i]) for i in 0..8]) as u32",
    ),
    idiom(
        "sums of prefixes",
        "(a: [u32; 16] from 0) -> (r: [u32; 16] to all)",
        "let mut r = [0u32; 16]; let mut s = 0; for i in 0..16 { s += a[i]; r[i] = s; } r",
        "let mut r = a; for i in 1..16 { r[i] = r[i - 1] + a[i]; } r",
    ),
    idiom(
        "largest",
        "(a: [u32; 16] from 0) -> (m: u32 to all)",
        "let mut m = 0; for x in a { if x > m { m = x; } } m",
        "let mut m = a[0]; for i in 1..16 { m = max(m, a[i]); } m",
    ),
    idiom(
        "look-up in a table",
        "(h: [u32; 64] from 0, i: u8 from 1) -> (r: u32 to all)",
        "let mut r = 0; for k in 0..64 { if i == k as u8 { r = h[k]; } } r",
        "h[i]",
    ),
    idiom(
        "saturation",
        "(a: u32 from 0, b: u32 from 1) -> (r: u32 to all)",
        "let s = a + b; if s < a { 0xffffffff } else { s }",
        "a.saturating_add(b)",
    ),
    idiom(
        "absolute value",
        "(x: i32 from 0) -> (r: i32 to all)",
        "if x < 0 { -x } else { x }",
        "abs(x) as i32",
    ),
];

/// What the tables are computed with.
const HELPERS: &str = "
fn gf_mul(a: u8, b: u8) -> u8 {
    let mut p = 0u15;
    for i in 0..8 { if b >> i & 1 == 1 { p ^= (a as u15) << i; } }
    for i in rev(8..15) { if p >> i & 1 == 1 { p ^= 0x11b << (i - 8); } }
    p as u8
}
fn inverses() -> [u8; 256] {
    let mut table = [0; 256];
    let mut powers = [1u8; 255];
    for i in 1..255 { powers[i] = gf_mul(powers[i - 1], 3); }
    for i in 0..255 { table[powers[i]] = powers[(255 - i) % 255]; }
    table
}
fn rotated(x: u8, by: u8) -> u8 { x << by | x >> (8 - by) }
fn sbox_table() -> [u8; 256] {
    [x ^ rotated(x, 1) ^ rotated(x, 2) ^ rotated(x, 3) ^ rotated(x, 4) ^ 0x63 for x in inverses()]
}
fn inverse_of(table: [u8; 256]) -> [u8; 256] {
    let mut inverse = [0u8; 256];
    for i in 0..256 { inverse[table[i]] = i as u8; }
    inverse
}
fn inverse_affine(x: u8) -> u8 { rotated(x, 1) ^ rotated(x, 3) ^ rotated(x, 6) ^ 5 }
";

fn circuit(idiom: &Idiom, body: &str) -> Circuit {
    common::circuit(&format!("{HELPERS}fn main{} {{ {body} }}", idiom.ports))
}

fn ands(circuit: &Circuit) -> u64 {
    and_count(&lower_lookups(circuit))
}

/// Returns the table of all, for the page of the library.
pub fn table() -> String {
    let mut table = TITLE.to_string();
    for idiom in ALL {
        let Idiom { name, newcomer, expert, .. } = idiom;
        let counts = [newcomer, expert].map(|body| ands(&circuit(idiom, body)));
        let [newcomer, expert] = [newcomer, expert].map(|text| text.replace('|', "\\|"));
        let _ = writeln!(
            table,
            "| {name} | `{newcomer}` | {} | `{expert}` | {} |",
            counts[0], counts[1]
        );
    }
    table
}

/// Random bits; some of the numbers that they make are small, so that equal ones occur.
fn random(seed: &mut u64, bits: usize) -> Vec<bool> {
    let mut next = || {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 33
    };
    let few = next() % 3 == 0;
    (0..bits).map(|_| if few { next() % 8 == 0 } else { next() % 2 == 0 }).collect()
}

#[test]
fn a_newcomers_program_takes_at_most_a_twentieth_more_than_an_experts() {
    let mut failures = String::new();
    let mut seed = 1;
    for idiom in ALL {
        let [newcomer, expert] = [idiom.newcomer, idiom.expert].map(|body| circuit(idiom, body));
        let by = [&newcomer, &expert].map(Evaluator::new);
        for _ in 0..40 {
            let inputs: Vec<Vec<bool>> = newcomer
                .inputs()
                .iter()
                .map(|input| random(&mut seed, input.ty.width() as usize))
                .collect();
            let one = by[0].ports(&inputs).expect("inputs fit");
            let other = by[1].ports(&inputs).expect("inputs fit");
            assert_eq!(one, other, "{}: {inputs:?}", idiom.name);
        }
        let (newcomer, expert) = (ands(&newcomer), ands(&expert));
        if 20 * newcomer > 21 * expert {
            let _ = writeln!(failures, "{}: {newcomer}, not {expert}", idiom.name);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
