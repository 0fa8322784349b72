//! Values of very many bits: inputs from files, read in loops.

use symbolon_circuit::builder::and_count;
use symbolon_circuit::{Circuit, eval_packed};

use crate::common::{circuit, errors_of};

/// Elements of 4 096 bits: together more than are ever listed.
const N: usize = 10_000;

/// Element `i` of an input; `seed` says which one.
fn element(seed: u64, i: usize) -> u64 {
    (i as u64 + 1).wrapping_mul(seed) >> 7
}

/// Returns an input of [`N`] elements, whose low words are those of [`element`].
fn input(seed: u64) -> Vec<u64> {
    let mut words = vec![0; N * 64];
    for (i, word) in words.iter_mut().step_by(64).enumerate() {
        *word = element(seed, i);
    }
    words
}

/// Evaluates a circuit with the inputs `a` and `b`, of one output.
fn output(circuit: &Circuit, inputs: &[&[u64]]) -> u64 {
    let outputs = eval_packed(circuit, inputs).expect("inputs fit");
    outputs[0][0]
}

#[test]
fn vast_inputs_are_read_in_loops() {
    let (a, b) = (input(0x9e37_79b9_7f4a_7c15), input(0xc2b2_ae3d_27d4_eb4f));
    let (a, b) = (&a[..], &b[..]);
    let of_a = |i| element(0x9e37_79b9_7f4a_7c15, i);
    let of_b = |i| element(0xc2b2_ae3d_27d4_eb4f, i);
    let sum = |each: &dyn Fn(usize) -> u64| (0..N).map(each).fold(0, u64::wrapping_add);
    let low = |value: u64| value & 0xffff;
    let of_each = sum(&|i| low(of_a(i)));
    let of_both = sum(&|i| low(of_a(i)) & low(of_b(i)));
    let cases = [
        ("let mut n = y; for v in a { n += (v as u16) as u64; } n", of_each + 5),
        ("let mut n = 0; for i in 0..N { n += (a[i] as u16) as u64; } n", of_each),
        ("let mut n = y; for i in 0..N { n += ((a[i] & b[i]) as u16) as u64; } n", of_both + 5),
        ("sum([v as u16 for v in a]) as u64 + y", of_each + 5),
        ("count([v as u1 == 1 for v in a]) as u64", sum(&|i| of_a(i) & 1)),
        (
            "let (c, d) = both(a, b); let mut n = y; for v in c { n += (v as u16) as u64; } n",
            of_each + 5,
        ),
        ("let p = Pair { a, b }; added(p.b[1..N], y)", sum(&|i| low(of_b(i))) - low(of_b(0)) + 5),
        (
            "let c = [v ^ b[0] for v in a]; let mut n = y; for v in c { n += (v as u16) as u64; } n",
            sum(&|i| low(of_a(i) ^ of_b(0))) + 5,
        ),
        (
            "let mut n = y; for v in [a, b] { n += (v[N - 1] as u16) as u64; } n",
            low(of_a(N - 1)) + low(of_b(N - 1)) + 5,
        ),
    ];
    for (body, expected) in cases {
        let text = format!(
            "const N = {N};
            type T = [u4096; N];
            struct Pair {{ a: T, b: T }}
            fn both(a: T, b: T) -> (T, T) {{ (a, b) }}
            #[component]
            fn added(x: [u4096; N - 1], y: u64) -> u64 {{
                let mut n = y; for v in x {{ n += (v as u16) as u64; }} n
            }}
            fn main(a: T from 0, b: T from 1, y: u64 from 1) -> (r: u64 to all) {{ {body} }}"
        );
        assert_eq!(output(&circuit(&text), &[a, b, &[5]]), expected, "{body}");
    }
    let each = format!(
        "fn main(x: [[u4096; {N}]; 2] from each, y: u64 from 1) -> (r: u64 to all) {{
            let mut n = y;
            for list in x {{ for v in list {{ n += (v as u16) as u64; }} }}
            n
        }}"
    );
    let expected = of_each + sum(&|i| low(of_b(i))) + 5;
    assert_eq!(output(&circuit(&each), &[a, b, &[5]]), expected);
}

/// Ten million values take no more steps than a few.
#[test]
fn counts_and_sums_of_ten_million_values_compile() {
    let cases = [
        ("u32", "let mut n = 0u32; for v in x { if v < y as u32 { n += 1; } } n as u64"),
        ("u32", "let mut n = y; for v in x { n += v as u64; } n"),
        ("u32", "sum(x) as u64 + y"),
        ("bool", "count(x) as u64 + y"),
        ("u8", "let mut h = [y as u32; 4]; for v in x { h[v & 3] += 1; } h[1] as u64"),
        ("u8", "let big = [v > y as u8 for v in x]; count(big) as u64"),
    ];
    for (ty, body) in cases {
        let text = format!(
            "fn main(x: [{ty}; 10_000_000] from 0, y: u64 from 1) -> (r: u64 to all) {{ {body} }}"
        );
        let circuit = circuit(&text);
        let width: u64 = ty.trim_start_matches('u').parse().unwrap_or(1);
        assert_eq!(u64::from(circuit.main().inputs), 10_000_000 * width + 64, "{body}");
        assert!(and_count(&circuit) > 9_000_000, "{body}");
        assert!(circuit.main().steps.len() < 4_000_000, "{body}");
    }
}

#[test]
fn vast_values_are_not_listed() {
    let bodies = [
        "(x == z) as u8",
        "let c = !x; c[0]",
        "x[y as u32]",
        "let mut c = x; c[7] = y; c[7]",
        "let mut c = x; for i in 0..N { c[i] += 1; } c[9]",
        "let mut c = x; if y == 1 { c = z; } c[0]",
        "let c = if y == 1 { x } else { z }; c[0]",
        "let c = [y; N]; c[3]",
        "let c = zero::<[u8; N]>(); c[3] + y",
        "let c = [x[0..N - 1], z[1..N]]; let d = c[y as u32]; d[5]",
        "early(x, z, y)[1]",
        "let mut n = y; for (v, w) in zip(x, z) { n += v & w; } n",
    ];
    for body in bodies {
        let found = errors_of(&format!(
            "const N = 30_000_000;
            fn early(x: [u8; N], z: [u8; N], y: u8) -> [u8; N] {{ if y == 1 {{ return x; }} z }}
            fn main(x: [u8; N] from 0, z: [u8; N] from 1, y: u8 from 1) -> (r: u8 to all) {{ {body} }}"
        ));
        let is_limit = found.contains("a list of more than 2^25 bits")
            || found.contains("more than 2^25 steps")
            || found.contains("larger than 2^27 wires");
        assert!(found.contains("error[E07]") && is_limit, "{body}: {found}");
    }
    let whole = "fn main(x: [u8; 30_000_000] from 0) -> (r: [u8; 30_000_000] to 1) { x }";
    assert!(errors_of(whole).contains("the outputs have more than 2^27 bits"));
    let shared = "fn main(x: [u8; 30_000_000] from share) -> (r: u8 to all) { x[0] }";
    assert!(errors_of(shared).contains("a list of more than 2^25 bits"));
    let types = "fn main(x: [u8; 140_000_000] from 0) -> (r: u8 to all) { x[0] }";
    assert!(errors_of(types).contains("more than 2^30 bits or parts"));
}
