//! The library, compared with what Rust or other crates compute.

use crate::common::{bits, circuit, compute, errors_of, function};
use symbolon_circuit::builder::and_count;
use symbolon_circuit::{Circuit, Plan, eval_words};

/// Numbers for tests, the same each time.
fn numbers(seed: u64, count: usize, below: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    (0..count).map(|_| next()).collect()
}

fn list(values: &[u64]) -> String {
    format!("{values:?}")
}

#[test]
fn every_module_is_free_of_errors() {
    for path in symbolon_lang::library_modules() {
        let name = path.replace('/', "::");
        let text = format!("use std::{name};\nfn main(a: bool from 0) -> (b: bool to all) {{ a }}");
        if name != "prelude" {
            circuit(&text);
        }
    }
}

#[test]
fn sorts_sort() {
    for n in [1, 2, 3, 5, 8, 13] {
        let text = format!(
            "fn main(a: [u8; {n}] from 0) -> (s: [u8; {n}] to all, k: ([u2; {n}], [u8; {n}]) to all) {{
                (std::sort::sort(a), std::sort::by_key([x as u2 for x in a], a))
            }}"
        );
        let values = numbers(n, n as usize, 256);
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let mut by_key = values.clone();
        by_key.sort_by_key(|x| x % 4);
        let keys: Vec<u64> = by_key.iter().map(|x| x % 4).collect();
        let expected = [list(&sorted), format!("[{}, {}]", list(&keys), list(&by_key))];
        assert_eq!(compute(&text, &[&list(&values)]), expected);
    }
}

#[test]
fn merge_and_smallest() {
    let text =
        "fn main(a: [u8; 5] from 0, b: [u8; 6] from 1) -> (m: [u8; 11] to all, s: [u8; 2] to all) {
        (std::sort::merge(a, b), std::sort::smallest::<u8, 5, 2>(a))
    }";
    let out = compute(text, &["[1, 4, 9, 9, 200]", "[0, 4, 5, 6, 199, 255]"]);
    assert_eq!(out, ["[0, 1, 4, 4, 5, 6, 9, 9, 199, 200, 255]", "[1, 4]"]);
}

#[test]
fn joins_give_common_rows_in_order() {
    for (n, m) in [(1, 1), (2, 3), (4, 4), (5, 9), (7, 2)] {
        let text = format!(
            "fn main(a: [(u8, u4); {n}] from 0, b: [(u8, u6); {m}] from 1)
                -> (r: [Option<(u8, u4, u6)>; min({n}, {m})] to all, u: [Option<(u8, u4, u6)>; min({n}, {m})] to all) {{
                (std::psi::join(a, b), std::psi::join_unsorted(rev(a), rev(b)))
            }}"
        );
        for seed in 0..6 {
            let table = |seed, count: usize| {
                let mut keys = numbers(seed, 3 * count, 14);
                keys.sort_unstable();
                keys.dedup();
                keys.truncate(count);
                while keys.len() < count {
                    keys.push(keys.last().map_or(0, |last| last + 1));
                }
                keys
            };
            let (a, b) = (table(seed, n), table(seed + 100, m));
            let row = |key: &u64| match (
                a.iter().position(|k| k == key),
                b.iter().position(|k| k == key),
            ) {
                (Some(i), Some(j)) => Some(format!("[{key}, {}, {}]", i + 1, j + 20)),
                _ => None,
            };
            let mut rows: Vec<String> = a.iter().filter_map(row).collect();
            rows.resize(n.min(m), "null".into());
            let show = |keys: &[u64], base: usize| {
                let rows: Vec<String> = keys
                    .iter()
                    .enumerate()
                    .map(|(i, key)| format!("[{key}, {}]", i + base))
                    .collect();
                format!("[{}]", rows.join(", "))
            };
            let expected = format!("[{}]", rows.join(", "));
            let out = compute(&text, &[&show(&a, 1), &show(&b, 20)]);
            assert_eq!(out[..2], [expected.clone(), expected], "{a:?} {b:?}");
        }
    }
}

#[test]
fn a_join_of_keys_that_do_not_ascend_fails() {
    let text = "fn main(a: [u8; 3] from 0, b: [u8; 2] from 1) -> (r: [Option<u8>; 2] to all) {
        std::psi::intersect(a, b)
    }";
    assert_eq!(compute(text, &["[1, 2, 3]", "[2, 3]"]), ["[2, 3]", "0"]);
    assert_eq!(compute(text, &["[1, 3, 3]", "[2, 3]"])[0], "[null, null]");
}

#[test]
fn whole_numbers() {
    let text = "use std::num::{checked_add, checked_sub, checked_mul, sat_add, sat_sub, sat_mul, isqrt, narrow, divmod};
    fn main(a: u8 from 0, b: u8 from 1) -> (
        r: ((Option<u8>, Option<u8>, Option<u8>), (u8, u8, u8), u4, Option<u4>, (u8, u8)) to all
    ) {
        ((checked_add(a, b), checked_sub(a, b), checked_mul(a, b)),
            (sat_add(a, b), sat_sub(a, b), sat_mul(a, b)), isqrt(a), narrow(a), divmod(a, b))
    }";
    let compiled = circuit(text);
    for (a, b) in
        [(0u8, 0u8), (255, 1), (16, 16), (15, 17), (99, 100), (100, 99), (255, 255), (14, 3)]
    {
        let show = |x: Option<u8>| x.map_or("null".into(), |x| x.to_string());
        let root = (0..=15u32).rev().find(|r| r * r <= u32::from(a)).unwrap();
        let expected = format!(
            "[[{}, {}, {}], [{}, {}, {}], {root}, {}, [{}, {}]]",
            show(a.checked_add(b)),
            show(a.checked_sub(b)),
            show(a.checked_mul(b)),
            a.saturating_add(b),
            a.saturating_sub(b),
            a.saturating_mul(b),
            show((a < 16).then_some(a)),
            a.checked_div(b).unwrap_or(255),
            a.checked_rem(b).unwrap_or(a),
        );
        assert_eq!(bits(&compiled, &[&a.to_string(), &b.to_string()]), [expected]);
    }
}

#[test]
fn single_bits() {
    let text = "use std::bits::{rotl, rotr, clz, to_bits, from_bits, gf2_mul};
    fn main(a: u8 from 0, b: u8 from 1) -> (r: (u8, u8, u4, [bool; 8], i8, u16) to all) {
        (rotl(a, 3), rotr(a, 3), clz(a), to_bits(a), from_bits(to_bits(a)), gf2_mul(a, b))
    }";
    let bits = "[true, true, false, true, false, true, false, false]";
    assert_eq!(compute(text, &["43", "3"]), [format!("[89, 101, 2, {bits}, 43, 125]")]);
}

#[test]
fn statistics() {
    let text = "use std::stats::{mean, median, mode, histogram, quantile};
    fn main(a: [u8; 7] from 0) -> (r: (u8, u8, u8, [u3; 4], u8) to all) {
        (mean(a), median(a), mode(a), histogram::<8, 7, 4>(a), quantile::<u8, 7, 9, 10>(a))
    }";
    assert_eq!(compute(text, &["[3, 1, 2, 3, 250, 3, 1]"]), ["[37, 3, 3, [0, 2, 1, 3], 250]"]);
}

#[test]
fn fixed_point_functions_are_near() {
    let text = "type Q = fixed<12, 20>;
    fn main(x: Q from 0) -> (s: Q to all, e: Q to all, l: Q to all, q: Q to all) {
        (std::fixed::sqrt(x), std::fixed::exp(x), std::fixed::ln(x), std::fixed::sigmoid(x))
    }";
    let compiled = circuit(text);
    for x in [0.001, 0.5, 1.0, 1.5, 2.75, 6.0, -0.3, -4.2, -20.0] {
        // What the type can hold.
        let x = (x * 1048576.0_f64).round() / 1048576.0;
        let out = bits(&compiled, &[&format!("{x}")]);
        let value = |i: usize| out[i].parse::<f64>().unwrap();
        let near = |found: f64, wanted: f64| {
            assert!((found - wanted).abs() < 2e-5 * (1.0 + wanted.abs()), "{x}: {found} {wanted}");
        };
        near(value(1), f64::exp(x));
        near(value(3), 1.0 / (1.0 + f64::exp(-x)));
        if x > 0.0 {
            near(value(0), f64::sqrt(x));
            near(value(2), f64::ln(x));
        }
    }
}

#[test]
fn linear_models() {
    let text = "use std::ml::{dot, linear, matmul, argmin};
    fn main(a: [i16; 3] from 0, b: [i16; 3] from 1) -> (r: (i16, i16, u2, [[i16; 2]; 2]) to all) {
        (dot(a, b), linear(a, 100, b), argmin(a), matmul([a[0..2], b[0..2]], [[1, 2], [3, 4]]))
    }";
    assert_eq!(
        compute(text, &["[3, -7, 5]", "[2, 4, -1]"]),
        ["[-27, 73, 1, [[-18, -22], [14, 20]]]"]
    );
}

#[test]
fn texts() {
    let text = "fn main(a: [u8; 6] from 0, b: [u8; 7] from 1) -> (r: (u3, Option<usize>) to all) {
        (std::text::edit_distance(a, b), std::text::find(b, \"tti\"))
    }";
    // kitten, sitting
    let out =
        compute(text, &["[107, 105, 116, 116, 101, 110]", "[115, 105, 116, 116, 105, 110, 103]"]);
    assert_eq!(out, ["[3, 2]"]);
}

#[test]
fn aes_is_aes_with_as_many_gates_as_the_best() {
    use aes::cipher::{BlockCipherEncrypt, KeyInit};
    let text = "use std::crypto::aes128;
    fn main(key: [u8; 16] from 0, block: [u8; 16] from 1) -> (out: [u8; 16] to all) {
        aes128::encrypt(aes128::expand(key), block)
    }";
    let compiled = circuit(text);
    assert_eq!(and_count(&compiled), 6400);
    let (key, block) = (numbers(1, 16, 256), numbers(2, 16, 256));
    let bytes = |values: &[u64]| -> [u8; 16] { std::array::from_fn(|i| values[i] as u8) };
    let mut expected = bytes(&block).into();
    aes::Aes128::new(&bytes(&key).into()).encrypt_block(&mut expected);
    let expected: Vec<u64> = expected.iter().map(|&byte| byte.into()).collect();
    assert_eq!(bits(&compiled, &[&list(&key), &list(&block)]), [list(&expected)]);
}

#[test]
fn sha256_is_sha256() {
    use sha2::Digest;
    for n in [1, 55, 56, 64, 100] {
        let text = format!(
            "fn main(a: [u8; {n}] from 0) -> (h: [u8; 32] to all) {{ std::crypto::sha256(a) }}"
        );
        let bytes: Vec<u8> = numbers(n as u64, n, 256).iter().map(|&x| x as u8).collect();
        let shown: Vec<u64> = bytes.iter().map(|&x| x.into()).collect();
        let hash: Vec<u64> = sha2::Sha256::digest(&bytes).iter().map(|&x| x.into()).collect();
        assert_eq!(compute(&text, &[&list(&shown)]), [list(&hash)], "{n} bytes");
    }
}

#[test]
fn a_bound_is_demanded() {
    let found =
        errors_of("fn main(a: [bool; 2] from 0) -> (r: bool to all) { std::ml::dot(a, a) }");
    assert!(found.contains("is not a `Num`"), "{found}");
}

/// Returns the processor's results for two numbers, in the order of the programs below.
fn host(x: f64, y: f64) -> String {
    let (a, b) = (x as f32, y as f32);
    let show = |x: f64| if x.is_finite() { format!("{x:?}") } else { format!("\"{x:?}\"") };
    let single = |x: f32| if x.is_finite() { format!("{x:?}") } else { format!("\"{x:?}\"") };
    let doubles = [x + y, x - y, x * y, x / y, x.sqrt()].map(show).join(", ");
    let singles = [a + b, a - b, a * b, a / b, a.sqrt()].map(single).join(", ");
    let truths = [x < y, x <= y, x == y, x != y, x > y, x >= y].map(|t| t.to_string()).join(", ");
    let integers = format!("{}, {}, {}", x as i32, x as u8, a as i64);
    format!("[[{doubles}], [{singles}], [{truths}], [{integers}]]")
}

#[test]
fn floats_equal_the_processors() {
    let text = "fn main(x: f64 from 0, y: f64 from 1)
        -> (r: ([f64; 5], [f32; 5], [bool; 6], (i32, u8, i64)) to all) {
        let (a, b) = (x as f32, y as f32);
        (
            [x + y, x - y, x * y, x / y, std::float::sqrt(x)],
            [a + b, a - b, a * b, a / b, std::float::sqrt(a)],
            [x < y, x <= y, x == y, x != y, x > y, x >= y],
            (x as i32, x as u8, a as i64),
        )
    }";
    let circuit = circuit(text);
    let hard = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.1,
        1e-310,
        -5e-324,
        1e308,
        3.4e38,
        1e-45,
        255.5,
        -2147483649.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let computed = function(&circuit);
    for x in hard {
        for y in hard {
            let inputs = [format!("{x:?}"), format!("{y:?}")];
            let found = computed(&[&inputs[0], &inputs[1]]);
            assert_eq!(found, [host(x, y)], "{x:?} {y:?}");
        }
    }
}

#[test]
fn floats_in_sorts_and_compound_values() {
    let text = "fn main(x: [f32; 6] from 0)
        -> (s: [f32; 6] to all, less: bool to all, same: bool to all, none: bool to all) {
        let zero: (f32, bool) = (0.0, true);
        let other = (-0.0f32, true);
        (
            std::sort::sort(x),
            (x[0], 1u8) < (x[1], 0u8),
            zero == other && Some(x[2]) != None,
            Some(x[3]) < Some(x[3]) || Some(x[3]) == Some(x[3]),
        )
    }";
    let out = compute(text, &["[2.5, 3, -0.0, NaN, 0, -inf]"]);
    let expected = ["[\"-inf\", -0.0, 0.0, 2.5, 3.0, \"NaN\"]", "true", "true", "false"];
    assert_eq!(out, expected);
}

#[test]
fn float_literals_take_the_type_they_need() {
    let text = "const C: f32 = 0.1;
        fn main(x: f64 from 0) -> (a: f32 to all, b: f64 to all, c: f64 to all, n: bool to all) {
            (C + 2, x * 1e300, std::float::copysign(3.0, -x), std::float::is_nan(x / 0))
        }";
    assert_eq!(compute(text, &["0"]), ["2.1", "0.0", "-3.0", "true"]);
    assert!(errors_of("fn main(x: f32 from 0) -> (y: f32 to all) { x + 1e39 }").contains("E04"));
    assert!(errors_of("fn main(x: f32 from 0) -> (y: f32 to all) { x % 2.0 }").contains("E03"));
    assert!(errors_of("fn main(x: f32 from 0) -> (y: f64 to all) { x }").contains("as f64"));
}

/// Returns the bytes that a program gives, in hexadecimal.
fn hex_of(text: &str, inputs: &[&str]) -> String {
    let out = compute(text, inputs).swap_remove(0);
    let bytes = out.trim_matches(['[', ']']).split(", ");
    bytes.map(|byte| format!("{:02x}", byte.parse::<u8>().expect("a byte"))).collect()
}

#[test]
fn published_digests() {
    let long = (0..150u8).collect::<Vec<u8>>();
    for (function, bytes, text, digest) in [
        ("sha1", 20, &b"abc"[..], "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "sha512",
            64,
            b"abc",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        (
            "sha3_256",
            32,
            b"abc",
            "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
        ),
        ("sha3_224", 28, b"abc", "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf"),
        (
            "sha3_384",
            48,
            b"abc",
            "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b2\
             98d88cea927ac7f539f1edf228376d25",
        ),
        (
            "sha3_512",
            64,
            b"abc",
            "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
             10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
        ),
        ("sha3_224", 28, &[0xa3; 200], "9376816aba503f72f96ce7eb65ac095deee3be4bf9bbc2a1cb7e11e0"),
        (
            "sha3_256",
            32,
            &[0xa3; 200],
            "79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787",
        ),
        (
            "sha3_384",
            48,
            &[0xa3; 200],
            "1881de2ca7e41ef95dc4732b8f5f002b189cc1e42b74168ed1732649ce1dbcdd\
             76197a31fd55ee989f2d7050dd473e8f",
        ),
        (
            "sha3_512",
            64,
            &[0xa3; 200],
            "e76dfad22084a8b1467fcf2ffa58361bec7628edf5f3fdc0e4805dc48caeeca8\
             1b7c13c30adf52a3659584739a2df46be589c51ca1a4a8416df6545a1ce8ba00",
        ),
        ("sha512", 64, &long, &sha512_hex(&long)),
    ] {
        let program = format!(
            "fn main(t: [u8; {}] from 0) -> (d: [u8; {bytes}] to all) {{ std::crypto::{function}(t) }}",
            text.len()
        );
        assert_eq!(hex_of(&program, &[&format!("{text:?}")]), digest, "{function}");
    }
}

#[test]
fn sha3_is_generic_over_its_length() {
    let program = |bytes: usize| {
        format!(
            "fn main(t: [u8; 3] from 0) -> (d: [u8; {bytes}] to all) {{ std::crypto::sha3(t) }}"
        )
    };
    let digest = hex_of(&program(28), &["[97, 98, 99]"]);
    assert_eq!(digest, "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf");
    let error = errors_of(&program(31));
    assert!(error.contains("the constant fails: SHA-3 gives 28, 32, 48 or 64 bytes"), "{error}");
}

fn sha512_hex(text: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha512::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn chacha20_and_hmac_as_published() {
    let key: Vec<u8> = (0..32).collect();
    let nonce = [0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0];
    let block = "fn main(k: [u8; 32] from 0, n: [u8; 12] from 1) -> (b: [u8; 70] to all) {
        std::crypto::chacha20(k, 1, n, [0; 70])
    }";
    let stream = hex_of(block, &[&format!("{key:?}"), &format!("{nonce:?}")]);
    let expected = "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e\
                    d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e";
    assert_eq!(stream[..128], *expected);
    let mac = "fn main(k: [u8; 4] from 0, t: [u8; 28] from 1) -> (m: [u8; 32] to all) {
        std::crypto::hmac_sha256(k, t)
    }";
    let (key, text) = (b"Jefe", b"what do ya want for nothing?");
    assert_eq!(
        hex_of(mac, &[&format!("{key:?}"), &format!("{text:?}")]),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
}

#[test]
fn an_hmac_from_the_states_of_its_key_takes_two_blocks() {
    let states = "fn main(k: [u8; 4] from 0) -> (s: [[u32; 8]; 2] to 0) {
        std::crypto::hmac_sha256_states(k)
    }";
    let states = compute(states, &[&format!("{:?}", b"Jefe")]).swap_remove(0);
    let mac = "fn main(s: [[u32; 8]; 2] from 0, t: [u8; 28] from 1) -> (m: [u8; 32] to all) {
        std::crypto::hmac_sha256_from(s, t)
    }";
    assert_eq!(
        hex_of(mac, &[&states, &format!("{:?}", b"what do ya want for nothing?")]),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
    assert_eq!(and_count(&circuit(mac)), 44_542);
}

#[test]
fn switches_reach_every_permutation() {
    for (n, switches, permutations) in [(1, 0, 1), (2, 1, 2), (3, 3, 6), (4, 5, 24), (5, 8, 120)] {
        let text = format!(
            "fn main(a: [u4; {n}] from 0, s: [bool; {switches}] from 1) -> (r: [u4; {n}] to all) {{
                std::shuffle::permute(a, s)
            }}"
        );
        if switches == 0 {
            // No input has no bits.
            continue;
        }
        let circuit = circuit(&text);
        let switched = function(&circuit);
        let items: Vec<u64> = (1..=n).collect();
        let mut reached = std::collections::BTreeSet::new();
        for setting in 0..1u32 << switches {
            let setting: Vec<bool> = (0..switches).map(|i| setting >> i & 1 == 1).collect();
            let out = switched(&[&list(&items), &format!("{setting:?}")]).swap_remove(0);
            let mut sorted: Vec<u64> =
                out.trim_matches(['[', ']']).split(", ").map(|x| x.parse().unwrap()).collect();
            sorted.sort_unstable();
            assert_eq!(sorted, items, "{setting:?}");
            reached.insert(out);
        }
        assert_eq!(reached.len(), permutations, "{n}");
        assert_eq!(and_count(&circuit), 4 * switches as u64);
    }
}

/// Returns how far a result is from the true value, in units of its last place.
fn ulps(result: f32, truth: f64) -> f64 {
    if f64::from(result) == truth || result.is_nan() && truth.is_nan() {
        return 0.0;
    }
    let next = f32::from_bits(result.abs().to_bits() + 1) - result.abs();
    (f64::from(result) - truth).abs() / f64::from(next)
}

#[test]
fn exp_and_ln_are_within_a_unit_of_the_last_place() {
    let text = "fn main(x: f32 from 0) -> (e: f32 to all, l: f32 to all) {
        (std::float::exp(x), std::float::ln(x))
    }";
    let circuit = circuit(text);
    let read = |text: &str| text.trim_matches('"').parse::<f32>().expect("a number");
    let mut cases = vec![0.0, -0.0, 1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-45, 3.4e38];
    cases.extend([88.72283, 88.72284, -103.97, -104.5, -87.4, -200.0, 0.99999994, 1.0000001]);
    let words = numbers(7, 1200, 1 << 31);
    for pair in words.chunks(2) {
        let unit = pair[1] as f32 / (1u64 << 30) as f32 - 1.0;
        cases.push(match pair[0] % 3 {
            0 => unit * 100.0,
            1 => 1.0 + unit / (1 << (pair[0] / 3 % 20)) as f32,
            _ => f32::from_bits(pair[1] as u32 & 0x7fff_ffff),
        });
    }
    let computed = function(&circuit);
    for x in cases {
        let out = computed(&[&format!("{x:?}")]);
        let (e, l) = (f64::from(x).exp(), f64::from(x).ln());
        let (e, l) = if e > f64::from(f32::MAX) { (f64::INFINITY, l) } else { (e, l) };
        assert!(ulps(read(&out[0]), e) < 1.0, "exp({x:?}) = {} for {e}", out[0]);
        assert!(ulps(read(&out[1]), l) < 1.0, "ln({x:?}) = {} for {l}", out[1]);
    }
}

#[test]
fn sin_and_cos_are_within_a_unit_of_the_last_place() {
    let text = "fn main(x: f32 from 0) -> (s: f32 to all, c: f32 to all) {
        (std::float::sin(x), std::float::cos(x))
    }";
    let circuit = circuit(text);
    let read = |text: &str| text.trim_matches('"').parse::<f32>().expect("a number");
    let mut cases = vec![0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    // The nearest of all to a multiple of a right angle, and where small numbers begin.
    cases.extend([16367173.0 * 2f32.powi(72), 0.00024414062, 0.00024414065, 1e-45, f32::MAX]);
    for pair in numbers(11, 600, 1 << 31).chunks(2) {
        let unit = pair[1] as f32 / (1u64 << 30) as f32 - 1.0;
        cases.push(match pair[0] % 3 {
            0 => unit * 10.0,
            1 => (pair[0] % 4096) as f32 * std::f32::consts::FRAC_PI_2,
            _ => f32::from_bits(pair[1] as u32 & 0x7fff_ffff),
        });
    }
    let computed = function(&circuit);
    for x in cases {
        let out = computed(&[&format!("{x:?}")]);
        let (s, c) = f64::from(x).sin_cos();
        assert!(ulps(read(&out[0]), s) < 1.0, "sin({x:?}) = {} for {s}", out[0]);
        assert!(ulps(read(&out[1]), c) < 1.0, "cos({x:?}) = {} for {c}", out[1]);
    }
    assert_eq!(bits(&circuit, &["-0.0"]), ["-0.0", "1.0"]);
}

/// Returns the outputs of a circuit of one 64-bit input and outputs of 64 bits, for many inputs.
fn words(circuit: &Circuit, inputs: &[u64]) -> Vec<Vec<u64>> {
    let plan = Plan::with_lookups(circuit);
    let mut results = Vec::new();
    for chunk in inputs.chunks(64) {
        let bit = |bit: u32| {
            chunk.iter().enumerate().map(|(lane, word)| (word >> bit & 1) << lane).sum::<u64>()
        };
        let wires = eval_words(&plan, &(0..64).map(bit).collect::<Vec<_>>());
        results.extend((0..chunk.len()).map(|lane| {
            let port = |wires: &[u64]| {
                wires.iter().rev().fold(0, |word, wire| word << 1 | wire >> lane & 1)
            };
            wires.chunks(64).map(port).collect()
        }));
    }
    results
}

#[test]
fn functions_of_f64_are_a_neighbour_of_the_true_value() {
    let text =
        "fn main(x: f64 from 0) -> (e: f64 to all, l: f64 to all, s: f64 to all, c: f64 to all) {
        (std::float::exp(x), std::float::ln(x), std::float::sin(x), std::float::cos(x))
    }";
    let circuit = circuit(text);
    let names = ["exp", "ln", "sin", "cos"];
    let rows = include_str!("data/f64.txt").lines().filter(|line| !line.starts_with('#'));
    let hex = |text: &str| u64::from_str_radix(text, 16).expect("hexadecimal");
    let rows: Vec<(usize, u64, u64)> = rows
        .map(|row| {
            let parts: Vec<&str> = row.split(' ').collect();
            let name = names.iter().position(|name| *name == parts[0]).expect("a function");
            (name, hex(parts[1]), hex(parts[2]))
        })
        .collect();
    assert!((0..4).all(|name| rows.iter().filter(|row| row.0 == name).count() >= 160));
    let inputs: Vec<u64> = rows.iter().map(|row| row.1).collect();
    for ((name, x, below), out) in rows.into_iter().zip(words(&circuit, &inputs)) {
        // Bits of floats count up away from zero.
        let (name, x, result) = (names[name], f64::from_bits(x), out[name]);
        let shown = f64::from_bits(result);
        assert!(result.wrapping_sub(below) <= 1, "{name}({x:?}) = {shown:?}, {below:016x}");
    }

    // Exact, or without a number near the value.
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let cases = [
        (0.0, [Some(1.0), Some(-inf), Some(0.0), Some(1.0)]),
        (-0.0, [Some(1.0), Some(-inf), Some(-0.0), Some(1.0)]),
        (1.0, [None, Some(0.0), None, None]),
        (-1.0, [None, Some(nan), None, None]),
        (inf, [Some(inf), Some(inf), Some(nan), Some(nan)]),
        (-inf, [Some(0.0), Some(nan), Some(nan), Some(nan)]),
        (nan, [Some(nan); 4]),
        (709.7827128933841, [Some(inf), None, None, None]),
        (-745.2, [Some(0.0), Some(nan), None, None]),
        (f64::MIN, [Some(0.0), Some(nan), None, None]),
        (f64::MAX, [Some(inf), None, None, None]),
    ];
    let inputs = cases.map(|(x, _)| f64::to_bits(x));
    for ((x, truths), out) in cases.into_iter().zip(words(&circuit, &inputs)) {
        for ((name, truth), result) in names.into_iter().zip(truths).zip(out) {
            let result = f64::from_bits(result);
            let same = truth.is_none_or(|truth| {
                result.to_bits() == truth.to_bits() || result.is_nan() && truth.is_nan()
            });
            assert!(same, "{name}({x:?}) = {result:?}");
        }
    }
}

#[test]
fn rotations_take_any_amount() {
    let text = "use std::bits::{rotl, rotr};
    fn main(a: u8 from 0, b: u7 from 0, by: u8 from 1) -> (r: (u8, u8, u7, u7) to all) {
        (rotl(a, by as u32), rotr(a, by as u32), rotl(b, by as u32), rotr(b, by as u32))
    }";
    let circuit = circuit(text);
    for by in [0u32, 1, 3, 7, 8, 9, 20, 255] {
        let (a, b) = (0x9du8, 0x4bu32);
        let turn = |b: u32, by: u32| (b << by | b >> (7 - by)) & 127;
        let (left, right) = (turn(b, by % 7), turn(b, (7 - by % 7) % 7));
        let expected = format!("[{}, {}, {left}, {right}]", a.rotate_left(by), a.rotate_right(by));
        let inputs = [a.to_string(), b.to_string(), by.to_string()];
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        assert_eq!(bits(&circuit, &inputs), [expected], "{by}");
    }
}

#[test]
fn casts_of_wide_numbers_reach_the_ends_of_floats() {
    let text = "fn main(x: u200 from 0, y: fixed<2, 200> from 0, z: f32 from 1)
        -> (a: f32 to all, b: f32 to all, c: u200 to all, d: fixed<2, 200> to all) {
        (x as f32, y as f32, z as u200, z as fixed<2, 200>)
    }";
    let circuit = circuit(text);
    let least = 2f64.powi(-149);
    let exact = |x: f64| format!("{x:.200}");
    let trimmed = |x: f64| exact(x).trim_end_matches('0').to_string();
    let most = "340282346638528859811704183484516925440";
    // The largest number, and halfway to the next, which would be 2^128.
    let cases = [
        (most, exact(least), "3.4028235e38", [r#"3.4028235e38"#, "1e-45", most, "1.9999"]),
        (
            "340282356779733661637539395458142568448",
            exact(least / 2.0),
            "1e-45",
            [r#""inf""#, "0.0", "0", &trimmed(least)],
        ),
        ("1", exact(least * 0.75), "-2.5", ["1.0", "1e-45", "0", "-2.0"]),
    ];
    for (x, y, z, expected) in cases {
        let out = bits(&circuit, &[x, &y, z]);
        assert_eq!(out[..3], expected[..3], "{x} {y} {z}");
        assert!(out[3].starts_with(expected[3]), "{} is not {}", out[3], expected[3]);
    }
}
