//! What a party does with correlations.

use symbolon_engine::{Compiled, Demand, InputBits, Network, OutputBits, Prepared, ProtocolSpec};
use symbolon_transport::Result;

use super::{
    correlations::{Correlations, PartySecrets, RandomCorrelations},
    mask_pass::{BeaverTriples, MaskPass},
    masked_gates::MaskedGateStream,
    streaming::Streaming,
    triples::TripleQueue,
};

/// A party of a protocol.
#[derive(Clone, Copy)]
pub(crate) struct Role {
    pub spec: ProtocolSpec,
    pub gates: GateRole,
}

impl Role {
    /// Returns the demand of the executions of a circuit that are prepared together in the session
    /// of `net`.
    pub fn demand(&self, net: &Network, circuit: &Compiled) -> Result<Demand> {
        self.spec.demand(net, circuit)
    }
}

/// How a party continues from correlations.
#[derive(Clone, Copy)]
pub(crate) enum GateRole {
    /// It garbles, or evaluates what others garble, one execution at a time.
    Garbling(GarblingRole),
    /// It makes its own material from random triples.
    Tables(fn(RandomCorrelations, &mut Network, &Compiled) -> Result<Box<dyn Prepared>>),
}

/// Prepares a circuit for one evaluation, from its masked gates.
pub(crate) type Prepare = for<'a> fn(
    PartySecrets,
    Box<dyn MaskedGateStream + 'a>,
    &mut Network,
    &'a Compiled,
) -> Result<Box<dyn Prepared>>;

/// A garbler or an evaluator.
#[derive(Clone, Copy)]
pub(crate) struct GarblingRole {
    /// Runs the function-dependent phase.
    pub prepare: Prepare,
    /// Runs all phases at once.
    pub stream: fn(Streaming<'_>, &mut Network, &Compiled, &InputBits) -> Result<OutputBits>,
}

impl GarblingRole {
    /// Runs the function-dependent phase, with the masked gates of a pass over the circuit.
    pub fn prepare_with<B: BeaverTriples>(
        self,
        correlations: Correlations<TripleQueue<B>>,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Prepared>> {
        let (secrets, pass) = MaskPass::start(circuit, correlations);
        (self.prepare)(secrets, Box::new(pass), net, circuit)
    }
}
