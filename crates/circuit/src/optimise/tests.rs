//! The same function with fewer gates.

use proptest::prelude::*;

use super::*;
use crate::builder::{Bit, Gates};
use crate::builtin::by_name;
use crate::{Receivers, Type, reference};

/// Compares both on inputs that differ from call to call.
fn same_function(one: &Circuit, other: &Circuit, rounds: u64) {
    let width: u64 = one.inputs().iter().map(|input| input.ty.width()).sum();
    let mut state = 1u64;
    for _ in 0..rounds {
        let bits: Vec<bool> = (0..width)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                state >> 63 == 1
            })
            .collect();
        assert_eq!(reference::eval(one, &bits), reference::eval(other, &bits));
    }
}

#[test]
fn textbook_adders_lose_their_extra_gates() {
    // Carries as (x ∧ y) ∨ (c ∧ (x ⊕ y)): two ANDs and an OR a bit.
    let mut b = Builder::new("adder");
    let (x, y) = (b.input("x", Type::Uint(32), 0), b.input("y", Type::Uint(32), 1));
    let (mut sum, mut carry) = (Vec::new(), Bit::ZERO);
    for i in 0..32 {
        let half = b.xor_bit(x[i], y[i]);
        sum.push(b.xor_bit(half, carry));
        let both = b.and_bit(x[i], y[i]);
        let through = b.and_bit(half, carry);
        carry = b.or_bit(both, through);
    }
    b.output("sum", &sum.into(), Type::Uint(32), Receivers::All);
    let circuit = b.finish().unwrap();
    assert!(and_count(&circuit) > 80);
    let better = optimise(&circuit).unwrap();
    same_function(&circuit, &better, 50);
    assert_eq!(and_count(&better), 31);
}

#[test]
fn selections_by_two_products_become_one() {
    let mut b = Builder::new("choose");
    let x = b.input("x", Type::Uint(16), 0);
    let y = b.input("y", Type::Uint(16), 1);
    let choice = b.input("choice", Type::Uint(1), 1)[0];
    let (left, right) = (b.and_each(choice, &x), b.and_each(!choice, &y));
    let chosen = b.or(&left, &right);
    b.output("chosen", &chosen, Type::Uint(16), Receivers::All);
    let circuit = b.finish().unwrap();
    let better = optimise(&circuit).unwrap();
    same_function(&circuit, &better, 50);
    assert_eq!(and_count(&better), 16);
}

#[test]
fn majorities_that_share_a_product_take_one_and_each() {
    // As hash functions write them: b ∧ c of a step is a ∧ b of the step before. The chain is
    // longer than a window.
    const STEPS: usize = 420;
    let mut b = Builder::new("majorities");
    let mut state = ["x", "y", "z"].map(|name| b.input(name, Type::Uint(32), 0));
    let fresh = b.input("fresh", Type::Uint(32), 1);
    for _ in 0..STEPS {
        let [x, y, z] = state;
        let products = [b.and(&x, &y), b.and(&x, &z), b.and(&y, &z)];
        let sum = b.xor(&products[0], &products[1]);
        let majority = b.xor(&sum, &products[2]);
        state = [b.add(&fresh, &majority), x, y];
    }
    for (name, word) in ["x", "y", "z"].iter().zip(&state) {
        b.output(*name, word, Type::Uint(32), Receivers::All);
    }
    let circuit = b.finish().unwrap();
    assert!(circuit.components()[0].steps.len() > 3 << 15);
    let better = optimise(&circuit).unwrap();
    same_function(&circuit, &better, 2);
    assert_eq!(and_count(&better), STEPS as u64 * 63);
}

#[test]
fn built_in_circuits_keep_their_function_and_do_not_grow() {
    for name in ["aes128", "aes128:sbox", "mul:40", "div:16", "cbcmac:2", "sort:8x8", "random:400"]
    {
        let circuit = by_name(name).unwrap();
        let better = optimise(&circuit).unwrap();
        assert!(and_count(&better) <= and_count(&circuit), "{name}");
        assert_eq!(better.inputs(), circuit.inputs());
        same_function(&circuit, &better, 8);
    }
}

/// Returns a carry of (x ∧ y) ∨ (c ∧ (x ⊕ y)), with three ANDs.
fn textbook_carry(g: &mut Gates, x: Bit, y: Bit, carry: Bit) -> Bit {
    let half = g.xor_bit(x, y);
    let both = g.and_bit(x, y);
    let through = g.and_bit(half, carry);
    g.or_bit(both, through)
}

#[test]
fn components_are_optimised_as_they_are_finished() {
    let build = |optimised: bool| {
        let mut c = ComponentBuilder::new("carry");
        let (x, y, carry) = (c.input(3), c.input(3), c.input(1));
        let mut last = carry[0];
        for i in 0..3 {
            last = textbook_carry(&mut c, x[i], y[i], last);
        }
        c.output(&[last, x[0]]);
        c.output(&[y[1]]);
        let part = if optimised { c.finish_optimised() } else { c.finish() }.unwrap();
        let mut b = Builder::new("main");
        let x = b.input("x", Type::Uint(3), 0);
        let y = b.input("y", Type::Uint(3), 1);
        let mut results = Vec::new();
        let mut carry = Bit::ZERO;
        for _ in 0..2 {
            let out = b.call(&part, &[&x, &y, &[carry]]);
            carry = textbook_carry(&mut b, out[0][0], out[1][0], out[0][1]);
            results.push(carry);
        }
        b.output("r", &results.into(), Type::Uint(2), Receivers::All);
        if optimised { b.finish_optimised() } else { b.finish() }.unwrap()
    };
    let (plain, better) = (build(false), build(true));
    assert_eq!(better.main().calls.len(), 2);
    for place in 0..64 {
        let bits: Vec<bool> = (0..6).map(|i| place >> i & 1 == 1).collect();
        assert_eq!(reference::eval(&plain, &bits), reference::eval(&better, &bits));
    }
    assert_eq!((and_count(&plain), and_count(&better)), (24, 8));
    assert_eq!(build(true).digest(), better.digest());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_circuits_keep_their_function(
        operations in prop::collection::vec((0u8..4, any::<[u8; 3]>()), 1..120),
    ) {
        let mut b = Builder::new("random");
        let x = b.input("x", Type::Uint(6), 0);
        let mut bits = x.to_vec();
        for (operation, places) in operations {
            let pick = |i: usize| {
                let bit = bits[bits.len() - 1 - usize::from(places[i] >> 1) % bits.len().min(12)];
                if places[i] & 1 == 1 { !bit } else { bit }
            };
            let (x, y, z) = (pick(0), pick(1), pick(2));
            let bit = match operation {
                0 => b.xor_bit(x, y),
                1 => b.and_bit(x, y),
                2 => b.or_bit(x, y),
                _ => {
                    let (one, other) = (b.and_bit(x, y), b.and_bit(x, z));
                    b.xor_bit(one, other)
                }
            };
            bits.push(bit);
        }
        let outputs: Word = bits.iter().rev().take(5).copied().collect();
        b.output("y", &outputs, Type::Uint(outputs.width() as u32), Receivers::All);
        let circuit = b.finish().unwrap();
        let better = optimise(&circuit).unwrap();
        prop_assert!(and_count(&better) <= and_count(&circuit));
        for place in 0..64 {
            let bits: Vec<bool> = (0..6).map(|i| place >> i & 1 == 1).collect();
            prop_assert_eq!(reference::eval(&better, &bits), reference::eval(&circuit, &bits));
        }
    }
}

#[test]
fn nothing_is_rewritten_without_effort() {
    let carry = || {
        let mut c = ComponentBuilder::new("carry");
        let word = c.input(3);
        let next = textbook_carry(&mut c, word[0], word[1], word[2]);
        c.output(&[next]);
        c
    };
    let (mut none, mut some) = (0, 1_000);
    assert_eq!(carry().finish_within(&mut none).unwrap().and_count(), 3);
    assert_eq!(carry().finish_within(&mut some).unwrap().and_count(), 1);
    assert!(some < 1_000);
}
