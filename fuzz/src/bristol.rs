//! Circuit files: whatever is read can be written and read again, and is the same function.

use symbolon_circuit::bristol::{Format, read, write_fashion, write_old};
use symbolon_circuit::{Circuit, Layered, Plan, eval_words};

/// 64 evaluations on inputs that depend on the wire only, the same with look-ups and without.
fn outputs(circuit: &Circuit) -> Vec<u64> {
    let word = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
    let inputs: Vec<u64> = (0..u64::from(circuit.main().inputs)).map(word).collect();
    let outputs = eval_words(&Plan::with_lookups(circuit), &inputs);
    assert_eq!(eval_words(&Plan::new(circuit), &inputs), outputs);
    let layered = Layered::new(circuit).expect("a small circuit");
    assert_eq!(layered.output_slots().len(), outputs.len());
    outputs
}

/// Checks what is made of these bytes.
pub fn check(data: &[u8]) {
    let Ok((circuit, format)) = read(data) else { return };
    let mut text = Vec::new();
    match format {
        Format::Fashion => write_fashion(&circuit, &mut text).expect("writing to memory"),
        // The old format cannot write constants without inputs; nothing else may go wrong.
        Format::Old => match write_old(&circuit, &mut text) {
            Ok(()) => {}
            Err(_) if circuit.inputs().is_empty() => return,
            Err(error) => panic!("{error}"),
        },
    }
    let (again, found) = read(&text).expect("what was written can be read");
    assert_eq!(found, format);
    assert_eq!(outputs(&again), outputs(&circuit));
}
