//! Describes a circuit in words, so that parties with different circuits learn what differs.
//!
//! Only the digest decides. The words are terms of the handshake that precede it: if two circuits
//! differ, the error names the first difference and both circuits.

use std::fmt::Write;

use symbolon_circuit::{Circuit, Receivers, Step};
use symbolon_transport::PartyId;

/// The maximum length of a list that is sent in words. Longer ones are sent as a digest.
const LONGEST: usize = 1500;

/// Separates the items of a list. No port name contains it, because it is replaced there.
const SEPARATOR: char = '\n';

/// Returns the parts of the circuit as named terms.
pub(crate) fn parts(circuit: &Circuit) -> [(&'static str, String); 3] {
    let inputs = circuit
        .inputs()
        .iter()
        .map(|input| format!("`{}`: {}, owned by party {}", input.name, input.ty, input.owner));
    let outputs = circuit.outputs().iter().map(|output| {
        let to = match &output.to {
            Receivers::All => "all parties".to_string(),
            Receivers::Only(parties) if parties.is_empty() => "nobody".to_string(),
            Receivers::Only(parties) => {
                let list: Vec<String> = parties.iter().map(PartyId::to_string).collect();
                format!("party {}", list.join(" and "))
            }
        };
        format!("`{}`: {}, learnt by {to}", output.name, output.ty)
    });
    [
        ("circuit input", list(inputs)),
        ("circuit output", list(outputs)),
        ("circuit gates", gates(circuit)),
    ]
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| item.replace(SEPARATOR, " ")).collect();
    let text = items.join(&SEPARATOR.to_string());
    match text.len() {
        0..=LONGEST => text,
        _ => format!("{} of them, digest {}", items.len(), blake3::hash(text.as_bytes())),
    }
}

/// Returns the gate counts of all components, each counted once however often it is called. This
/// needs no plan.
fn gates(circuit: &Circuit) -> String {
    let (mut and, mut xor, mut other) = (0u64, 0u64, 0u64);
    for step in circuit.components().iter().flat_map(|component| &component.steps) {
        match step {
            Step::And { .. } => and += 1,
            Step::Xor { .. } => xor += 1,
            _ => other += 1,
        }
    }
    let mut text = format!("{and} AND, {xor} XOR, {other} others");
    if circuit.components().len() > 1 {
        let _ = write!(text, " in {} components", circuit.components().len());
    }
    text
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::builtin;

    use super::*;

    #[test]
    fn ports_and_gates_are_described() {
        let circuit = builtin::by_name("add:8").unwrap();
        let circuit = circuit.with_receivers(vec![Receivers::only([1])]).unwrap();
        let [inputs, outputs, gates] = parts(&circuit).map(|(_, text)| text);
        let expected = "`x`: u8, owned by party 0\n`y`: u8, owned by party 1";
        assert_eq!(inputs, expected);
        assert_eq!(outputs, "`sum`: u8, learnt by party 1");
        assert!(gates.starts_with("7 AND, "), "{gates}");
    }

    #[test]
    fn long_lists_are_short_terms() {
        let items = (0..1000).map(|number| format!("`input {number}`: u32"));
        assert!(list(items).starts_with("1000 of them, digest "));
    }
}
