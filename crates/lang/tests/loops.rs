//! Loops that stay loops in the circuit: they do what the written-out rounds do, take no more ANDs,
//! and take the memory of one round.

use symbolon_circuit::builder::and_count;
use symbolon_circuit::{Circuit, Stats, eval_bits};
use symbolon_lang::{Options, compile_text};

/// Compiles a program in which `FOR` begins a loop.
fn compiled(text: &str) -> Circuit {
    compile_text(&text.replace("FOR ", "for "), &Options::default())
        .unwrap_or_else(|errors| panic!("{errors}"))
}

/// Returns the circuit as it is, and with every loop unrolled.
fn both(text: &str) -> [Circuit; 2] {
    [compiled(text), compiled(&text.replace("FOR ", "#[unroll] for "))]
}

fn bits(seed: u64, count: usize) -> Vec<bool> {
    let mut state = seed;
    let mut bit = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 60 & 1 == 1
    };
    (0..count).map(|_| bit()).collect()
}

fn repeats(circuit: &Circuit) -> usize {
    circuit.components().iter().map(|component| component.repeats.len()).sum()
}

/// A function that is a component: 1 056 ANDs or so.
const MIX: &str = "#[component]
fn mix(a: u32, b: u32, k: u32) -> u32 { (a * b) ^ (a + k) }
";

/// Checks that a program has `expected` repeats, computes the same as without them and takes at
/// most `more` additional ANDs.
fn check(body: &str, expected: usize, more: u64) -> Circuit {
    let [repeated, unrolled] = both(&format!("{MIX}{body}"));
    assert_eq!(repeats(&repeated), expected, "{body}");
    assert_eq!(repeats(&unrolled), 0, "{body}");
    for seed in 0..20 {
        let inputs = bits(seed, repeated.main().inputs as usize);
        assert_eq!(eval_bits(&repeated, &inputs), eval_bits(&unrolled, &inputs), "{body}");
    }
    assert!(and_count(&repeated) <= and_count(&unrolled) + more, "{body}");
    repeated
}

#[test]
fn loops_of_calls_stay_calls() {
    // Carried, an element, fixed, a counter with an offset of its own, and a constant.
    let circuit = check(
        "fn main(a: [u32; 9] from 0, b: u32 from 1) -> (x: u32 to all) {
             let mut x = b;
             FOR y in a { x = mix(x, y ^ b, 7); }
             FOR i in 3..8 { x = mix(x, a[i], i); }
             FOR i in 3..8 { x = mix(x, a[i + 1] ^ a[i - 2], i as u32); }
             x
         }",
        3,
        0,
    );
    assert!(circuit.main().calls.is_empty());
    // Loops in loops.
    check(
        "fn main(a: [[u32; 4]; 3] from 0, b: u32 from 1) -> (x: u32 to all) {
             let mut x = b ^ 5;
             FOR row in a { FOR y in row { x = mix(x, y, b); } x = mix(x, 3, row[2]); }
             x
         }",
        2,
        0,
    );
    // Only a part of what is carried changes.
    check(
        "fn main(a: [u32; 6] from 0, b: u32 from 1) -> (x: [u32; 4] to all) {
             let mut x = [b; 4];
             FOR y in a { x[2] = mix(x[2], x[1], y); x[1] = x[2]; }
             x
         }",
        1,
        0,
    );
}

#[test]
fn what_rounds_give_becomes_an_array() {
    let repeated = compiled(&format!(
        "{MIX}fn main(a: [u32; 3] from 0, b: u32 from 1) -> (x: [(bool, u32); 3] to all) {{
             [(true, mix(y, b, 1)) for y in a]
         }}"
    ));
    let unrolled = compiled(&format!(
        "{MIX}fn main(a: [u32; 3] from 0, b: u32 from 1) -> (x: [(bool, u32); 3] to all) {{
             [(true, mix(a[0], b, 1)), (true, mix(a[1], b, 1)), (true, mix(a[2], b, 1))]
         }}"
    ));
    assert_eq!((repeats(&repeated), repeats(&unrolled)), (1, 0));
    assert_eq!(and_count(&repeated), and_count(&unrolled));
    for seed in 0..20 {
        let inputs = bits(seed, 4 * 32);
        assert_eq!(eval_bits(&repeated, &inputs), eval_bits(&unrolled, &inputs));
    }
}

#[test]
fn constant_tables_go_with_the_counter() {
    check(
        "const K: [u32; 6] = [3, 1, 4, 1, 5, 9];
         fn main(b: u32 from 1) -> (x: u32 to all) {
             let mut x = b;
             FOR i in 0..6 { x = mix(x, b, K[i]); }
             x
         }",
        1,
        0,
    );
}

#[test]
fn asserts_in_loops_tell_the_first_failure() {
    let body = "#[component]
         fn checked(a: u32, b: u32) -> u32 { assert(a != b, \"equal\"); mix(a, b, 1) }
         fn main(a: [u32; 3] from 0, b: u32 from 1) -> (x: u32 to all) {
             let mut x = b;
             FOR y in a { assert(y != 5, \"five\"); x = checked(x, y); }
             x
         }";
    let [repeated, unrolled] = both(&format!("{MIX}{body}"));
    // The assert in the loop itself has gates of its own; in a function of its own it has not.
    assert_eq!(repeats(&repeated), 0);
    drop(unrolled);
    let body = body.replace("assert(y != 5, \"five\");", "");
    let [repeated, unrolled] = both(&format!("{MIX}{body}"));
    assert_eq!((repeats(&repeated), repeats(&unrolled)), (1, 0));
    for (first, failure) in [(7u32, true), (8, false)] {
        let words = [first, 9, 10, 7];
        let inputs: Vec<bool> =
            words.iter().flat_map(|word| (0..32).map(move |bit| word >> bit & 1 == 1)).collect();
        let outputs = eval_bits(&repeated, &inputs);
        assert_eq!(outputs, eval_bits(&unrolled, &inputs));
        assert_eq!(outputs[32..].iter().any(|&bit| bit), failure);
    }
}

#[test]
fn counters_that_must_be_constant_unroll_the_loop() {
    let bodies = [
        // A shift, a bound of another loop, a place that is written, a choice, and a product.
        "FOR i in 0..6 { x = mix(x >> i, b, 1); }",
        "FOR i in 0..6 { FOR j in 0..i { x = mix(x, b, j); } }",
        "let mut y = [b; 6]; FOR i in 0..6 { y[i] = mix(x, b, i); }
         FOR i in 0..6 { x = x ^ y[i]; }",
        "FOR i in 0..6 { if i == 3 { x = mix(x, b, 1); } }",
        "FOR i in 0..6 { x = mix(x, i * i, 1); }",
        "FOR i in 0..6 { x = mix(x, a[i / 2], 1); }",
    ];
    for body in bodies {
        let text = format!(
            "fn main(a: [u32; 6] from 0, b: u32 from 1) -> (x: u32 to all) {{
                 let mut x = b;
                 {body}
                 x
             }}"
        );
        let [repeated, unrolled] = both(&format!("{MIX}{text}"));
        assert!(and_count(&repeated) <= and_count(&unrolled), "{body}");
        for seed in 0..5 {
            let inputs = bits(seed, 7 * 32);
            assert_eq!(eval_bits(&repeated, &inputs), eval_bits(&unrolled, &inputs), "{body}");
        }
    }
    // An index beyond the array is the error that it was.
    let beyond = format!(
        "{MIX}fn main(a: [u32; 6] from 0) -> (x: u32 to all) {{
             let mut x = 0;
             for i in 0..7 {{ x = mix(x, a[i], 1); }}
             x
         }}"
    );
    let errors = compile_text(&beyond, &Options::default()).unwrap_err().to_string();
    assert!(errors.contains("the index is 6, the array has 6 elements"), "{errors}");
}

#[test]
fn what_leaves_a_loop_early_is_written_out() {
    check(
        "fn main(a: [u32; 5] from 0, b: u32 from 1) -> (x: u32 to all) {
             let mut x = b;
             FOR y in a { if y > b { break; } x = mix(x, y, 1); }
             x
         }",
        0,
        0,
    );
}

#[test]
fn large_loops_are_not_unrolled() {
    // 20 000 rounds of 64-bit products: 40 million ANDs.
    let text = "fn main(a: [u64; 20000] from 0, b: u64 from 1) -> (x: u64 to all) {
        let mut x = b;
        FOR y in a { x = x * y + b; }
        x
    }";
    let circuit = compiled(text);
    assert_eq!(repeats(&circuit), 1);
    let steps: usize = circuit.components().iter().map(|c| c.steps.len()).sum();
    assert!(steps < 100_000, "{steps} steps");
    assert!(and_count(&circuit) > 40_000_000);
    // A counter that is not computed with does not prevent a repeat; one that is would take more
    // gates.
    let text = "fn main(a: [u64; 4] from 0) -> (x: u64 to all) {
        let mut x = a[0];
        FOR i in 0..4000 { x = x * (i as u64 + 1) + a[i % 4]; }
        x
    }";
    assert_eq!(repeats(&compiled(text)), 0);
}

/// 10^9 gates in a moment, and few bytes.
#[test]
fn a_thousand_million_gates_take_the_memory_of_one_round() {
    let text = "fn main(b: u64 from 0) -> (x: u64 to all) {
        let mut x = b;
        FOR _ in 0..130000 { x = x * (x + 3); }
        x
    }";
    let circuit = compiled(text);
    let plan = symbolon_circuit::Plan::new(&circuit);
    assert!(plan.counts().gates() >= 1_000_000_000, "{}", plan.counts().gates());
    assert!(plan.slots() < 10_000, "{} slots", plan.slots());
    let steps: usize = circuit.components().iter().map(|c| c.steps.len()).sum();
    assert!(steps < 100_000, "{steps} steps");
}

/// Loops of calls chain the same depth, whether or not they are written out.
#[test]
fn depth_is_that_of_the_rounds() {
    let [repeated, unrolled] = both(&format!(
        "{MIX}fn main(a: [u32; 5] from 0, b: u32 from 1) -> (x: u32 to all) {{
             let mut x = b;
             FOR y in a {{ x = mix(x, y, 1); }}
             x
         }}"
    ));
    assert_eq!(Stats::of(&repeated).and_depth, Stats::of(&unrolled).and_depth);
}

/// Returns the most memory that this process has taken, in MB.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1000
}

/// Prints how long programs take to compile: run it alone, in release, with `--nocapture`.
#[test]
#[ignore = "a measurement; see CONTRIBUTING.md"]
fn times_to_compile() {
    let cbcmac = std::fs::read_to_string("../../examples/sym/cbcmac.sym").expect("an example");
    let power = "fn main(b: u64 from 0) -> (x: u64 to all) {
        let mut x = b;
        for _ in 0..130000 { x = x * (x + 3); }
        x
    }";
    let sort = "fn main(a: [u32; 2048] from 0) -> (b: [u32; 2048] to all) { std::sort::sort(a) }";
    for (name, text) in
        [("cbcmac of 1024 blocks", &cbcmac[..]), ("x (x + 3)", power), ("sort", sort)]
    {
        let start = std::time::Instant::now();
        let circuit = compiled(text);
        let compiled = start.elapsed();
        let start = std::time::Instant::now();
        let gates = symbolon_circuit::Plan::new(&circuit).counts().gates();
        let (planned, memory) = (start.elapsed(), most_memory());
        eprintln!("{name}: {gates} gates, {compiled:?}, planned in {planned:?}, {memory} MB");
        assert!(gates > 1_000_000);
    }
}

#[test]
fn what_a_loop_may_call_is_looked_up_once() {
    // Twenty calls of twenty calls, eight times over, in a branch that is not taken.
    let mut program = "#[inline] fn f9(x: u8) -> u8 { x }\n".to_string();
    for i in (0..9).rev() {
        let calls = vec![format!("f{}(x)", i + 1); 20].join(" + ");
        program += &format!("#[inline] fn f{i}(x: u8) -> u8 {{ {calls} }}\n");
    }
    program += "fn main(a: u8 from 0) -> (x: u8 to all) {
    let mut x = a;
    for i in 0..3 { if i > 5 { x = f0(x); } }
    x
}";
    assert_eq!(repeats(&compiled(&program)), 0);
}

/// Large arrays at secret places take the gates of the decoder alone; the rest repeats.
#[test]
fn large_arrays_at_secret_places_are_repeats() {
    let body = "fn main(a: [u8; 20000] from 0, i: u16 from 1, v: u8 from 1)
             -> (o: [u8; 20000] to all, x: u8 to all) {
             let mut a = a;
             let x = a[i];
             a[i] = v;
             a[i ^ 1] += 3;
             (a, x)
         }";
    let circuit = compiled(body);
    assert!(repeats(&circuit) >= 3, "{}", repeats(&circuit));
    assert!(circuit.main().steps.len() < 600_000, "{}", circuit.main().steps.len());
    // One AND for each bit of an element but one, or for each bit, and those of the decoder.
    assert!(and_count(&circuit) < 20_000 * (8 + 9 + 8 + 9) + 1_000, "{}", and_count(&circuit));
    for i in [0u32, 1, 4095, 19_998, 19_999, 20_000, 65_535] {
        let mut inputs = bits(u64::from(i), 160_000);
        let mut array: Vec<u32> = inputs
            .chunks(8)
            .map(|b| b.iter().rev().fold(0, |n, &b| 2 * n + u32::from(b)))
            .collect();
        inputs.extend((0..16).map(|bit| i >> bit & 1 == 1));
        inputs.extend((0..8).map(|bit| 77 >> bit & 1 == 1));
        let at = i as usize;
        let read = array.get(at).copied().unwrap_or(0);
        if let Some(element) = array.get_mut(at) {
            *element = 77;
        }
        if let Some(element) = array.get_mut(at ^ 1) {
            *element = (*element + 3) & 255;
        }
        array.push(read);
        let found: Vec<u32> = eval_bits(&circuit, &inputs)
            .chunks(8)
            .map(|b| b.iter().rev().fold(0, |n, &b| 2 * n + u32::from(b)))
            .collect();
        assert!(found == array, "{i}");
    }
}

/// Returns the steps of all components together.
fn steps(circuit: &Circuit) -> usize {
    circuit.components().iter().map(|component| component.steps.len()).sum()
}

/// Sorts, merges, compaction, sums and counts take memory by their text and data, not by their
/// gates. Each took more steps than these limits tenfold, or was refused.
#[test]
fn what_the_size_of_data_repeats_is_not_written_out() {
    let main = "fn main";
    for (text, most, ands) in [
        // 139 263 comparators of 64 + 64 ANDs.
        ("(a: [u64; 4096] from 0) -> (o: [u64; 4096] to all) { std::sort::sort(a) }", 1_500_000, Some(17_825_664)),
        (
            "(a: [u32; 4000] from 0, b: [u32; 4000] from 1) -> (c: [Option<u32>; 4000] to 0) {
                std::psi::intersect(a, b)
            }",
            3_000_000,
            None,
        ),
        (
            "(v: [u32; 1000000] from 0, q: u32 from 1) -> (c: u32 to all) {
                let mut c = 0u32; for x in v { if x == q { c += 1; } } c
            }",
            40_000,
            None,
        ),
        (
            "(v: [u16; 1000000] from 0, w: u16 from 1) -> (m: u40 to all) {
                let mut m = 0u40; for x in v { if x > w { m += x as u40; } } m
            }",
            40_000,
            None,
        ),
        // Each element is the one before and another.
        (
            "(a: [u64; 50000] from 0) -> (o: [u64; 50000] to all) {
                let mut out = a; for i in 1..50000 { out[i] += out[i - 1]; } out
            }",
            300_000,
            Some(49_999 * 63),
        ),
        (
            "(a: [[u32; 32]; 32] from 0, b: [[u32; 32]; 32] from 1) -> (c: [[u32; 32]; 32] to all) {
                let mut c = [[0u32; 32]; 32];
                for i in 0..32 { for j in 0..32 { for k in 0..32 { c[i][j] += a[i][k] * b[k][j]; } } }
                c
            }",
            6_000_000,
            None,
        ),
    ] {
        let circuit = compiled(&format!("{main}{text}"));
        assert!(steps(&circuit) < most, "{}: {text}", steps(&circuit));
        assert!(ands.is_none_or(|ands| and_count(&circuit) == ands), "{}", and_count(&circuit));
    }
}

/// Also of a large result nothing is left if an assert fails.
#[test]
fn a_large_result_is_zero_if_an_assert_fails() {
    let circuit = compiled(
        "fn main(a: [u8; 9001] from 0, b: u8 from 1) -> (r: [u8; 9001] to all) {
             assert(b != 3, \"three\");
             a
         }",
    );
    assert!(repeats(&circuit) > 0);
    for b in [3u8, 4] {
        let mut inputs = bits(5, 8 * 9001);
        inputs.extend((0..8).map(|bit| b >> bit & 1 == 1));
        let outputs = eval_bits(&circuit, &inputs);
        let (result, failure) = outputs.split_at(8 * 9001);
        assert_eq!(failure.contains(&true), b == 3);
        match b {
            3 => assert!(!result.contains(&true)),
            _ => assert!(*result == inputs[..8 * 9001]),
        }
    }
}

/// A number that starts at zero and grows little in each round has as many bits in all rounds as it
/// has in the end.
#[test]
fn a_count_over_many_rounds_is_as_narrow_as_its_result() {
    let count = |add: &str| {
        compiled(&format!(
            "fn main(v: [u32; 40000] from 0, q: u32 from 1) -> (c: u32 to all) {{
                 let mut c = 0u32;
                 FOR x in v {{ {add} }}
                 c
             }}"
        ))
    };
    for add in
        ["if x == q { c += 1; }", "c += (x == q) as u32;", "c = if x == q { 1 } else { 0 } + c;"]
    {
        let circuit = count(add);
        assert_eq!(repeats(&circuit), 1, "{add}");
        // 31 to compare, and 16 bits to add to.
        assert!(and_count(&circuit) < 40_000 * (31 + 16), "{add}: {}", and_count(&circuit));
        let mut inputs = vec![false; 40_001 * 32];
        inputs[40_000 * 32 + 3] = true;
        for equal in (0..40_000).step_by(7) {
            inputs[equal * 32 + 3] = true;
        }
        let found = eval_bits(&circuit, &inputs);
        let found = found.iter().rev().fold(0u64, |n, &bit| n << 1 | u64::from(bit));
        assert_eq!(found, 5715, "{add}");
    }
}

/// Rounds that share gates where they are written out, as those of a sum do, share them in the body
/// of a repeat, too: it has many rounds.
#[test]
fn bodies_of_several_rounds_share_what_rounds_share() {
    const N: usize = 40_003;
    type Expected = fn(&[u64], u64) -> u64;
    let cases: [(&str, u64, Expected); 6] = [
        ("for x in v { if x >= q { c += 1; } }", 8 + 2, |v, q| {
            v.iter().filter(|x| **x >= q).count() as u64
        }),
        ("for i in 0..N { if v[i] >= q { c += 1; } }", 8 + 2, |v, q| {
            v.iter().filter(|x| **x >= q).count() as u64
        }),
        (
            "for i in 1..N { if v[i - 1] == q { continue; } c += (v[i] == v[i - 1]) as u32; }",
            17,
            |v, q| v.windows(2).filter(|pair| pair[0] != q && pair[0] == pair[1]).count() as u64,
        ),
        ("for i in 0..N / 2 { c += (v[2 * i] > v[2 * i + 1]) as u32; }", 6, |v, _| {
            v.chunks_exact(2).filter(|pair| pair[0] > pair[1]).count() as u64
        }),
        ("for i in 0..N { if v[i] > q { c += i & 1; } }", 10, |v, q| {
            v.iter().enumerate().filter(|(i, x)| **x > q && i % 2 == 1).count() as u64
        }),
        ("for x in v { assert(x != 7, \"seven\"); if x >= q { c += 1; } }", 8 + 8 + 4, |v, q| {
            if v.contains(&7) { 0 } else { v.iter().filter(|x| **x >= q).count() as u64 }
        }),
    ];
    for (body, most, expected) in cases {
        let circuit = compiled(&format!(
            "const N: u32 = {N};
             fn main(v: [u8; N] from 0, q: u8 from 1) -> (c: u32 to all) {{ let mut c = 0u32; {body} c }}"
        ));
        assert!(repeats(&circuit) > 0, "{body}");
        assert!(and_count(&circuit) < most * N as u64, "{body}: {}", and_count(&circuit));
        for (seed, q) in [(1, 0), (2, 7), (3, 130), (4, 255)] {
            let mut inputs = bits(seed, 8 * N);
            if seed % 2 == 0 {
                // No sevens.
                inputs.iter_mut().step_by(8).for_each(|bit| *bit = false);
            }
            let values: Vec<u64> = inputs.chunks(8).map(number).collect();
            inputs.extend((0..8).map(|bit| q >> bit & 1 == 1));
            let found = eval_bits(&circuit, &inputs);
            assert_eq!(number(&found[..32]), expected(&values, q), "{body}, {q}");
        }
    }
}

/// A body without AND gates gains nothing by more rounds.
#[test]
fn bodies_of_free_gates_have_one_round() {
    let text = "fn main(v: [u32; 300000] from 0, q: u32 from 1) -> (c: u32 to all) {
        let mut c = q; for x in v { c ^= x; } c
    }";
    let circuit = compiled(text);
    assert_eq!(and_count(&circuit), 0);
    let rounds = circuit.main().repeats.iter().map(|repeat| repeat.count).max();
    assert!(rounds.is_some_and(|rounds| rounds > 200_000), "{rounds:?}");
}

fn number(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |n, &bit| n << 1 | u64::from(bit))
}
