//! What protocols send for a circuit, by forecast.

use serde::Serialize;
use symbolon_circuit::Circuit;
use symbolon_protocols::forecast::{INDEPENDENT, SETUP, Way};
use symbolon_protocols::{Compiled, OtExtension, RunTerms, TreeDepth};

use crate::plan::Combination;

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
    /// All parties together, at ρ = 40, to make the triples, with the OT extension `ot`; zero for a
    /// protocol without triples.
    pub triple_bytes: u64,
    /// By how many percent `bytes` may differ from a run; zero if they are exact.
    pub within_percent: u8,
    /// The OT extension: the one for connections without a limit on bandwidth.
    pub ot: &'static str,
}

impl ProtocolBytes {
    /// Returns the bytes of a whole run, without the set-up.
    pub fn total(&self) -> u64 {
        self.triple_bytes.saturating_add(self.bytes)
    }
}

/// The OT extension that the bytes are for: the one that parties choose on a fast link.
const OT: OtExtension = OtExtension::SoftSpoken { k: TreeDepth::Four };

/// Returns what the protocols that can run a circuit among this many parties send for one
/// evaluation, phase by phase.
pub fn protocol_bytes(circuit: &Circuit, parties: u16) -> Vec<ProtocolBytes> {
    let circuit = Compiled::new(circuit);
    let ways = Combination::all(parties).filter(|way| way.ot == OT && way.option.is_none());
    ways.filter_map(|way| of(&circuit, parties, way)).collect()
}

/// Returns what one evaluation sends in this way, if the protocol can run the circuit.
fn of(circuit: &Compiled, parties: u16, way: Combination) -> Option<ProtocolBytes> {
    let Combination { protocol, form, ot, .. } = way;
    // Only phases that are apart can be told apart.
    let segment_gates = u64::MAX;
    let terms = RunTerms::default();
    let way = Way { parties, form, ot, terms, together: 1, segment_gates };
    let forecast = protocol.forecast(circuit, &way).ok()?;
    let (mut bytes, mut triple_bytes) = (0u64, 0u64);
    for phase in forecast.scripts.iter().flat_map(|script| script.phases()) {
        let sum = match phase.phase {
            SETUP => continue,
            INDEPENDENT => &mut triple_bytes,
            _ => &mut bytes,
        };
        *sum = sum.saturating_add(phase.sent.bytes);
    }
    Some(ProtocolBytes {
        protocol: protocol.name(),
        form: (protocol.forms().len() > 1).then(|| form.name()),
        bytes,
        triple_bytes,
        within_percent: forecast.within_percent,
        ot: ot.name(),
    })
}

#[cfg(test)]
mod tests {
    use symbolon_protocols::Protocol;
    use symbolon_transport::SimulatedLink;

    use super::*;
    use crate::plan::{PlanRequest, Rates, alternatives};

    #[test]
    fn every_form_of_a_protocol_has_its_bytes() {
        let circuit = symbolon_circuit::builtin::by_name("add:32").unwrap();
        let all = protocol_bytes(&circuit, 2);
        for protocol in Protocol::ALL {
            let forms = all.iter().filter(|one| one.protocol == protocol.name()).count();
            assert_eq!(forms, protocol.forms().len(), "{protocol:?}");
        }
        let triples = |one: &ProtocolBytes| one.triple_bytes > 0;
        assert!(all.iter().all(|one| triples(one) != ["duplo", "dualex"].contains(&one.protocol)));
        let three = protocol_bytes(&circuit, 3);
        assert!(three.iter().all(|one| one.protocol == "ywz" && one.bytes > 0), "{three:?}");
    }

    /// A plan has the same bytes.
    #[test]
    fn there_is_one_forecast() {
        let circuit = symbolon_circuit::builtin::by_name("aes128").unwrap();
        let request = PlanRequest::over(SimulatedLink::LAN);
        let ways = alternatives(&Compiled::new(&circuit), request, &Rates::built_in()).unwrap();
        for bytes in protocol_bytes(&circuit, 2) {
            let is_same = |form: &str| bytes.form.is_none_or(|own| own == form);
            let way = ways.iter().find(|one| {
                let way = one.way;
                let is_usual = way.ot == OT && way.option.is_none();
                way.protocol.name() == bytes.protocol && is_usual && is_same(way.form.name())
            });
            assert_eq!(way.unwrap().bytes, bytes.total(), "{bytes:?}");
        }
    }
}
