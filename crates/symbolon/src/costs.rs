//! What protocols send for a circuit, by formula.

use serde::Serialize;
use symbolon_circuit::Circuit;
use symbolon_protocols::{Compiled, OtExtension, Protocol, TreeDepth};

/// What a protocol sends for a circuit.
#[derive(Clone, Debug, Serialize)]
pub struct ProtocolBytes {
    /// The protocol.
    pub protocol: &'static str,
    /// How it garbles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<&'static str>,
    /// All parties together, at ρ = 40, in the function-dependent and online phases, without making
    /// triples.
    pub bytes: u64,
    /// All parties together, at ρ = 40, to make the triples, with the OT extension `ot`.
    pub triple_bytes: u64,
    /// The OT extension: the one for connections without a limit on bandwidth.
    pub ot: &'static str,
}

impl ProtocolBytes {
    /// Returns the bytes of a whole run, without the set-up.
    pub fn total(&self) -> u64 {
        self.triple_bytes.saturating_add(self.bytes)
    }
}

/// The OT extension that the bytes of triples are for: the one that parties choose on a fast link.
const OT: OtExtension = OtExtension::SoftSpoken { k: TreeDepth::Four };

/// Returns what the protocols that have a formula, and run among this many parties, send for one
/// evaluation of a circuit.
pub fn protocol_bytes(circuit: &Circuit, parties: u16) -> Vec<ProtocolBytes> {
    let circuit = Compiled::new(circuit);
    let run = Protocol::ALL.iter().filter(|protocol| protocol.parties().contains(&parties));
    let ways = run.flat_map(|protocol| protocol.forms().iter().map(move |form| (protocol, *form)));
    let bytes = ways.filter_map(|(protocol, form)| {
        let bytes = protocol.bytes_after_triples(&circuit, parties, form)?;
        let triple_bytes = protocol.bytes_of_triples(&circuit, parties, OT)?;
        let form = (protocol.forms().len() > 1).then(|| form.name());
        let (protocol, ot) = (protocol.name(), OT.name());
        Some(ProtocolBytes { protocol, form, bytes, triple_bytes, ot })
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_protocol_has_its_bytes() {
        let circuit = symbolon_circuit::builtin::by_name("add:32").unwrap();
        let all = protocol_bytes(&circuit, 2);
        let forms = |name: &str| all.iter().filter(|one| one.protocol == name).count();
        assert_eq!(forms("wrk"), Protocol::Wrk.forms().len());
        assert_eq!(forms("duplo"), 0, "it has no formula");
        assert!(all.iter().all(|one| one.total() > one.bytes && one.bytes > 0), "{all:?}");
        let three = protocol_bytes(&circuit, 3);
        assert!(three.iter().all(|one| one.protocol == "ywz"), "{three:?}");
    }
}
