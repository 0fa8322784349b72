//! Netlists of other programs, BLIF, Yosys' JSON, AIGER and `.bench`: read or refused, and what is
//! read can be written as a file of our own, planned and evaluated.

use symbolon_circuit::{Plan, eval_words, native, read_circuit};

/// Enough for any netlist of a few kilobytes.
const MOST_GATES: u64 = 1 << 22;

fn check_text(text: &[u8]) {
    let Ok((circuit, _)) = read_circuit(text) else { return };
    let mut bytes = Vec::new();
    native::write(&circuit, &mut bytes).expect("writing to memory");
    assert_eq!(native::read(&bytes).as_ref(), Ok(&circuit));
    let plan = Plan::new(&circuit);
    assert!(plan.counts().gates() < MOST_GATES, "{} gates", plan.counts().gates());
    let inputs = vec![0x5a5a_a5a5_0ff0_1234; circuit.main().inputs as usize];
    assert_eq!(eval_words(&plan, &inputs), eval_words(&Plan::with_lookups(&circuit), &inputs));
}

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    check_text(data);
    for start in [&b".model m\n"[..], b"aag ", b"aig ", b"INPUT(a)\n"] {
        check_text(&[start, data].concat());
    }
}
