//! The registry of protocols: [`Protocol`] names each, and gives its description.
//!
//! The protocols are in crates below, the interface that they share in another below these.

use std::ops::Deref;

use symbolon_engine::ProtocolSpec;

#[cfg(feature = "measure")]
#[doc(hidden)]
pub use symbolon_authenticated::kernels;
pub use symbolon_authenticated::pool::{self, PoolLayout};
pub use symbolon_authenticated::{tinytable, wrk, ywz};
pub use symbolon_copies::{dualex, duplo};
pub use symbolon_engine::{
    Compiled, ComponentPlan, ComponentSection, Components, Connector, Dealer, Demand, EachPrepared,
    Engine, GateForm, InFlight, InputBits, Link, LoadTerms, Network, Online, OptionSpec, Options,
    OtExtension, OutputBits, PoolRange, PoolSink, PoolSource, Prepared, Preprocessed,
    ProtocolOption, Rho, RunTerms, SEGMENT_GATES, TreeDepth, forecast, options, phases,
};

/// The available protocols. Each dereferences to its [description](ProtocolSpec), through which it
/// is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Wang, Ranellucci, Katz 2017: two parties, authenticated garbling in two [forms](GateForm):
    /// four-row, with one message each way online, or half-gates.
    Wrk,
    /// Yang, Wang, Zhang 2020: any number of parties; with two parties, half-gates that are checked
    /// after evaluation.
    Ywz,
    /// Damgård, Nielsen, Nielsen, Ranellucci 2017: two parties, scrambled truth tables; one message
    /// per layer, one bit per AND gate, and many executions side by side.
    TinyTable,
    /// Kolesnikov, Nielsen, Rosulek, Trieu, Trifiletti 2017: two parties, cut-and-choose of garbled
    /// components, which are soldered into circuits.
    Duplo,
    /// Rindal, Rosulek 2016: two parties that both garble and evaluate; many executions of a
    /// circuit are prepared together, and each runs in a few messages.
    DualEx,
}

impl Deref for Protocol {
    type Target = ProtocolSpec;

    /// Returns the protocol's description: the table of all protocols.
    fn deref(&self) -> &ProtocolSpec {
        match self {
            Protocol::Wrk => &wrk::SPEC,
            Protocol::Ywz => &ywz::SPEC,
            Protocol::TinyTable => &tinytable::SPEC,
            Protocol::Duplo => &duplo::SPEC,
            Protocol::DualEx => &dualex::SPEC,
        }
    }
}

impl Protocol {
    /// Every protocol, in the order of lists.
    pub const ALL: &[Protocol] =
        &[Protocol::Wrk, Protocol::Ywz, Protocol::TinyTable, Protocol::Duplo, Protocol::DualEx];

    /// Returns the name in commands, configuration and the handshake.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns the protocol with this name.
    pub fn by_name(name: &str) -> Option<Protocol> {
        Protocol::ALL.iter().copied().find(|p| p.name() == name)
    }

    /// Returns the default protocol for this number of parties.
    pub fn for_parties(parties: usize) -> Protocol {
        if parties == 2 { Protocol::Wrk } else { Protocol::Ywz }
    }

    /// Returns the protocol whose pools serve this one: two-party pools of [`Ywz`](Protocol::Ywz)
    /// serve [`TinyTable`](Protocol::TinyTable), any other protocol has its own.
    pub fn pools(self) -> Protocol {
        Protocol::by_name(self.pools).unwrap_or(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pool is for a certain evaluator, so a protocol that takes another's pools has the same.
    #[test]
    fn pools_serve_protocols_with_their_evaluator() {
        for protocol in Protocol::ALL {
            let pools = protocol.pools();
            assert_eq!(pools.name(), protocol.pools, "a protocol by this name makes pools");
            assert_eq!(pools.evaluator(), protocol.evaluator());
        }
    }

    #[test]
    fn names_and_numbers_of_protocols_differ() {
        for (place, one) in Protocol::ALL.iter().enumerate() {
            assert_eq!(Protocol::by_name(one.name()), Some(*one));
            for other in &Protocol::ALL[place + 1..] {
                assert!(one.name() != other.name() && one.code != other.code);
            }
        }
    }
}
