//! Descriptions of protocols: each has one [`ProtocolSpec`] in its own module, and one line in the
//! [registry](crate::Protocol).

use symbolon_circuit::PartyId;
use symbolon_transport::{Check, Error, Message, Result};

use crate::{
    Batch, Compiled, Demand, Engine, GateForm, Network, Prepared,
    codec::Reader,
    component_pool::{ComponentPools, ComponentTerms},
    gates::role::GateRole,
};

/// The description of a protocol.
pub(crate) struct ProtocolSpec {
    /// The name in commands, configuration and the handshake.
    pub name: &'static str,
    /// The number in stored data.
    pub code: u8,
    /// The minimum and the maximum number of parties.
    pub parties: [u16; 2],
    /// The forms of its gates, the one with the fewest rounds first.
    pub forms: &'static [GateForm],
    /// The roles of party 0 and of every other party, for messages to people.
    pub roles: [&'static str; 2],
    /// The party whose Δ ends in n mod 2, while all others' end in 1: the one that evaluates, if the
    /// others garble.
    pub evaluator: PartyId,
    /// The name of the protocol whose pools serve this one.
    pub pools: &'static str,
    /// The demand of several executions side by side; `None` if the protocol runs one at a time.
    pub batches: Option<fn(&Compiled, Batch) -> Result<Demand>>,
    /// The formula for the bytes it sends for a circuit after the triples are made, if there is
    /// one: see [`Protocol::bytes_after_triples`](crate::Protocol::bytes_after_triples).
    pub bytes: Option<BytesAfterTriples>,
    /// The protocol's own messages.
    pub messages: &'static [Message],
    /// The protocol's own checks.
    pub checks: &'static [Check],
    /// Whether the parties choose the length of the MACs on opened bits.
    pub has_mac_length: bool,
    /// Whether the parties choose how they intersect their results.
    pub has_psi_form: bool,
    /// Whether κ_b, the bound on leaked bits, can differ from ρ.
    pub has_kappa_b: bool,
    /// Whether several evaluations can be online at a time over one connection.
    pub runs_in_flight: bool,
    /// How many batches of a circuit, at most some number, share one cut-and-choose: see
    /// [`Protocol::batches_together`](crate::Protocol::batches_together).
    pub batches_together: Option<BatchesTogether>,
    /// Whether outputs of an evaluation can be inputs of a later one without being opened: see
    /// [`Engine::evaluate_part`].
    pub continues: bool,
    /// The pools of components, for a protocol that garbles components chosen by the parties.
    pub components: Option<ComponentPools>,
    /// The source of its material.
    pub engine: EngineSource,
    /// Reads back what a party saved after phase 2.
    pub load: Load,
}

impl ProtocolSpec {
    /// Returns the demand of the executions of a circuit that are prepared together.
    pub fn demand(&self, circuit: &Compiled, parties: u16, batch: Batch) -> Result<Demand> {
        match self.batches {
            Some(demand) => demand(circuit, batch),
            None if batch.executions == 1 => Ok(Demand::of(circuit, parties)),
            None => Err(Error::InvalidInput(format!("{} runs one execution at a time", self.name))),
        }
    }
}

/// Returns the bytes that a number of parties send for a circuit in some form.
pub(crate) type BytesAfterTriples = fn(&Compiled, u16, GateForm) -> u64;

/// Returns how many batches of a circuit share one cut-and-choose, at most the given number.
pub(crate) type BatchesTogether = fn(&Compiled, ComponentTerms<'_>, usize) -> Result<usize>;

/// Reads back a circuit that was prepared in some form.
pub(crate) type Load = fn(&Network, GateForm, &Compiled, Reader<'_>) -> Result<Box<dyn Prepared>>;

/// The source of a protocol's material.
pub(crate) enum EngineSource {
    /// The common engine of protocols on AND gates, in which this is a party's role.
    Gates(fn(PartyId, GateForm) -> GateRole),
    /// The protocol's own engine, from this set-up. It has no pools and no dealer.
    Own(fn(&mut Network) -> Result<Box<dyn Engine>>),
}

/// A party of a protocol on AND gates.
#[derive(Clone, Copy)]
pub(crate) struct Role {
    pub spec: &'static ProtocolSpec,
    pub gates: GateRole,
}

impl Role {
    /// Returns the demand of the executions of a circuit that are prepared together in the session
    /// of `net`.
    pub fn demand(&self, net: &Network, circuit: &Compiled) -> Result<Demand> {
        self.spec.demand(circuit, net.parties(), net.batch)
    }
}
