//! Sums and counts of very many numbers: blocks are added in rounds, with as many ANDs as full
//! adders take in any order.

use crate::common::{bits, circuit};
use symbolon_circuit::builder::and_count;
use symbolon_circuit::{Circuit, Stats};

/// Returns `n` numbers below 2^32 that look random.
fn numbers(n: u64) -> Vec<u64> {
    (0..n).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).collect()
}

fn list<T: std::fmt::Debug>(values: &[T]) -> String {
    format!("{values:?}")
}

/// Returns the ANDs of columns of these many bits, carries included, modulo 2^n for n columns.
fn adders(columns: &[usize]) -> u64 {
    let mut ands = 0;
    let mut carries = 0;
    for bits in &columns[..columns.len() - 1] {
        carries = (bits + carries) / 2;
        ands += carries as u64;
    }
    ands
}

fn is_small(circuit: &Circuit) -> bool {
    let steps: usize = circuit.components().iter().map(|component| component.steps.len()).sum();
    (steps as u64) < Stats::of(circuit).wires / 4
}

#[test]
fn a_large_sum_is_added_in_blocks() {
    // Sums that keep all bits, and sums modulo 2^32.
    for (n, ty, result, as_ty) in [
        (2_500, "u32", "u<32 + clog2(2500)>", ""),
        (2_500, "u32", "u32", "as u32"),
        (30_011, "u3", "u<3 + clog2(30011)>", ""),
        (100_000, "u1", "u<1 + clog2(100000)>", ""),
    ] {
        let width: u32 = ty[1..].parse().unwrap();
        let text =
            format!("fn main(a: [{ty}; {n}] from 0) -> (r: {result} to all) {{ sum(a) {as_ty} }}");
        let circuit = circuit(&text);
        let values: Vec<u64> = numbers(n).iter().map(|value| value % (1 << width)).collect();
        let sum: u64 = values.iter().sum();
        let expected = if as_ty.is_empty() { sum } else { sum % (1 << 32) };
        assert_eq!(bits(&circuit, &[&list(&values)]), [expected.to_string()], "{text}");
        let mut columns = vec![n as usize; width as usize];
        columns.resize(circuit.outputs()[0].ty.width() as usize, 0);
        assert!(and_count(&circuit) <= adders(&columns), "{text}: {}", and_count(&circuit));
        assert!(is_small(&circuit), "{text}");
    }
}

#[test]
fn a_large_count_is_added_in_blocks() {
    let n: u64 = 70_001;
    let text = format!(
        "fn main(a: [bool; {n}] from 0) -> (r: u<clog2({n} + 1)> to all, q: u32 to all) {{
    (count(a), count([!x for x in a]) as u32 + count(a) as u32)
}}"
    );
    let circuit = circuit(&text);
    let values: Vec<bool> = numbers(n).iter().map(|value| value % 3 == 0).collect();
    let ones = values.iter().filter(|value| **value).count();
    assert_eq!(bits(&circuit, &[&list(&values)]), [ones.to_string(), n.to_string()]);
    // Equal counts are made once.
    let one = n - u64::from(n.count_ones());
    assert!(and_count(&circuit) <= 2 * one + 32, "{}", and_count(&circuit));
}

/// Gates of equal or constant bits fold, so these are not added in blocks.
#[test]
fn sums_of_equal_numbers_and_constants_take_few_gates() {
    for (elements, most) in [("b for i in 0..70000", 0), ("i % 7 == 3 for i in 0..70000", 0)] {
        let text =
            format!("fn main(b: bool from 0) -> (r: u32 to all) {{ count([{elements}]) as u32 }}");
        assert_eq!(and_count(&circuit(&text)), most, "{elements}");
    }
    // Wires and zeros in turns.
    let text = "fn main(a: [bool; 70000] from 0) -> (r: u32 to all) {
    count([if i % 2 == 0 { a[i] } else { false } for i in 0..70000]) as u32
}";
    let circuit = circuit(text);
    let values: Vec<bool> = (0..70_000).map(|i| i % 4 < 3).collect();
    assert_eq!(bits(&circuit, &[&list(&values)]), ["35000"]);
}
