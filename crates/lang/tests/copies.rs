//! Comprehensions that only copy, and library functions that divide large arrays into components.

use crate::common::{bits, circuit, compute, errors_of};
use symbolon_circuit::builder::and_count;

/// Each kind of what a round may copy, at places that the counter decides.
#[test]
fn comprehensions_that_copy_give_what_they_say() {
    let program = "struct Pair { a: u8, b: (u4, bool) }
enum Side { Left(u8), Right(u4) }
fn main(m: [[u8; 3]; 2] from 0, x: u8 from 1) -> (flipped: [[u8; 2]; 3] to all,
    picked: [u8; 6] to all, pairs: [(u8, u4); 3] to all, wide: [u16; 3] to all,
    sides: [Side; 4] to all, numbers: [(u8, u8); 4] to all, rest: [u8; 2] to all) {
    let flat = [m[i / 3][i % 3] for i in 0..6];
    let pairs = [Pair { a: flat[2 * i], b: (flat[2 * i + 1] as u4, true) } for i in 0..3];
    let both = (flat, x);
    (
        [[m[0][i], m[1][i]] for i in 0..3],
        [if i < 2 { flat[5 - i] } else if i == 3 { x } else { both.0[i] } for i in 0..6],
        [(p.a, p.b.0) for p in pairs],
        [(m[1][i] as u16) << 3 | 5 for i in 0..3],
        [if i % 2 == 0 {
            Side::Left(flat[i])
        } else {
            Side::Right(pairs[i / 2].b.0)
        } for i in 0..4],
        [(i as u8 * 7, x) for i in 250..254],
        [a for (a, b) in [(flat[i], i) for i in 1..3]],
    )
}";
    let found = compute(program, &["[[1, 2, 3], [250, 5, 22]]", "9"]);
    let expected = [
        "[[1, 250], [2, 5], [3, 22]]",
        "[22, 5, 3, 9, 5, 22]",
        "[[1, 2], [3, 10], [5, 6]]",
        "[2005, 45, 181]",
        r#"[{"Left": [1]}, {"Right": [2]}, {"Left": [3]}, {"Right": [10]}]"#,
        "[[214, 9], [221, 9], [228, 9], [235, 9]]",
        "[2, 3]",
    ];
    assert_eq!(found, expected);
    let beyond = "fn main(a: [u8; 4] from 0) -> (r: [u8; 4] to all) { [a[i + 1] for i in 0..4] }";
    assert!(errors_of(beyond).contains("the array has 4 elements"));
}

/// Written out round by round, these would take more than 2^25 steps.
#[test]
fn copies_take_few_steps() {
    let circuit = circuit(
        "fn main(a: [u8; 1000000] from 0) -> (r: [u8; 1000000] to all) {
    [if i % 2 == 0 { a[i + 1] } else { a[i - 1] } for i in 0..1000000]
}",
    );
    assert_eq!(and_count(&circuit), 0);
}

fn list<T: std::fmt::Debug>(values: &[T]) -> String {
    format!("{values:?}")
}

fn numbers(count: usize, most: u64) -> Vec<u64> {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % most
    };
    (0..count).map(|_| next()).collect()
}

/// Larger sorts consist of smaller ones, also where the number of items is no power of two.
#[test]
fn sorts_of_many_items_are_sorted_and_stable() {
    for n in [257usize, 513, 1100] {
        let keys = numbers(n, 200);
        let text = format!(
            "fn main(k: [u8; {n}] from 0) -> (s: [u8; {n}] to all, o: [u16; {n}] to all) {{
    let (keys, order) = std::sort::by_key(k, [i as u16 for i in 0..{n}]);
    (std::sort::sort(k), order)
}}"
        );
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| keys[i]);
        let sorted: Vec<u64> = order.iter().map(|&i| keys[i]).collect();
        assert_eq!(compute(&text, &[&list(&keys)]), [list(&sorted), list(&order)], "{n}");
    }
}

/// More pairs of rows than are compacted in one component.
#[test]
fn joins_of_many_rows_keep_their_order() {
    let (n, m) = (1400usize, 1100usize);
    let text = format!(
        "fn main(a: [(u16, u8); {n}] from 0, b: [(u16, bool); {m}] from 1)
    -> (r: [Option<(u16, u8, bool)>; {m}] to all, c: [Option<u8>; 1200] to all) {{
    let some = [if a[i].1 < 100 {{ Some(a[i].1) }} else {{ None }} for i in 0..1200];
    (std::psi::join(a, b), std::psi::compact(some))
}}"
    );
    let a: Vec<(u64, u64)> = (0..n as u64).map(|i| (3 * i, i % 200)).collect();
    let b: Vec<(u64, bool)> = (0..m as u64).map(|i| (2 * i + 1, i % 3 == 0)).collect();
    let mut expected: Vec<String> = Vec::new();
    for (key, value) in &a {
        if let Some((_, other)) = b.iter().find(|(other, _)| other == key) {
            expected.push(format!("[{key}, {value}, {other}]"));
        }
    }
    assert!(expected.len() > 300);
    let circuit = circuit(&text);
    let given = |text: String| text.replace('(', "[").replace(')', "]");
    let found = bits(&circuit, &[&given(list(&a)), &given(list(&b))]);
    let rows = format!("[{}, null", expected.join(", "));
    assert!(found[0].starts_with(&rows), "{}", &found[0][..200]);
    assert_eq!(found[0].matches("null").count(), m - expected.len());
    let kept: Vec<u64> = a[..1200].iter().map(|row| row.1).filter(|&x| x < 100).collect();
    assert!(found[1].starts_with(list(&kept).trim_end_matches(']')), "{}", &found[1][..200]);
    assert_eq!(found[1].matches("null").count(), 1200 - kept.len());
}

/// Refused when all passes shared one component.
#[test]
fn sorts_and_joins_of_large_tables_compile() {
    circuit(
        "fn main(k: [u64; 16384] from 0, v: [u64; 16384] from 1)
    -> (k: [u64; 16384] to all, v: [u64; 16384] to all) { std::sort::by_key(k, v) }",
    );
    circuit(
        "fn main(a: [(u64, u64); 16384] from 0, b: [(u64, u64); 16384] from 1)
    -> (r: [Option<(u64, u64, u64)>; 16384] to all) { std::psi::join(a, b) }",
    );
}
