//! Netlists of other programs, BLIF and Yosys' JSON: read or refused, and what is read can be
//! written as a file of our own, planned and evaluated.

#![no_main]

use libfuzzer_sys::fuzz_target;
use symbolon_circuit::{Plan, eval_words, native, read_circuit};

/// Enough for any netlist of a few kilobytes.
const MOST_GATES: u64 = 1 << 22;

fn check(text: &[u8]) {
    let Ok((circuit, _)) = read_circuit(text) else { return };
    let mut bytes = Vec::new();
    native::write(&circuit, &mut bytes).expect("writing to memory");
    assert_eq!(native::read(&bytes).as_ref(), Ok(&circuit));
    let plan = Plan::new(&circuit);
    assert!(plan.counts().gates() < MOST_GATES, "{} gates", plan.counts().gates());
    let inputs = vec![0x5a5a_a5a5_0ff0_1234; circuit.main().inputs as usize];
    assert_eq!(eval_words(&plan, &inputs), eval_words(&Plan::with_lookups(&circuit), &inputs));
}

fuzz_target!(|data: &[u8]| {
    check(data);
    check(&[b".model m\n", data].concat());
});
