//! The description of a protocol: each has one [`ProtocolSpec`] in its own module, and one line in
//! the [registry](crate::Protocol).

use symbolon_circuit::PartyId;
use symbolon_transport::{Check, Error, Message, Result};

use crate::{
    Batch, Compiled, Demand, Engine, GateForm, Network, Prepared, codec::Reader,
    component_pool::ComponentPools, gates::role::GateRole,
};

/// A protocol.
pub(crate) struct ProtocolSpec {
    /// The name in commands, configuration and the handshake.
    pub name: &'static str,
    /// The number that identifies it in stored data.
    pub code: u8,
    /// The fewest and the most parties.
    pub parties: [u16; 2],
    /// The forms in which its gates come, the one with the fewest rounds first.
    pub forms: &'static [GateForm],
    /// What party 0 does, and what every other party does, for messages to users.
    pub roles: [&'static str; 2],
    /// The party whose Δ has the odd last bit: the one that evaluates, in protocols where the
    /// others garble.
    pub evaluator: PartyId,
    /// The name of the protocol whose pools serve this one.
    pub pools: &'static str,
    /// Returns how much several executions side by side take. `None` if the protocol runs one at a
    /// time.
    pub batches: Option<fn(&Compiled, Batch) -> Result<Demand>>,
    /// How many bytes it sends for a circuit after the triples are made, if there is a formula: see
    /// [`Protocol::bytes_after_triples`](crate::Protocol::bytes_after_triples).
    pub bytes: Option<BytesAfterTriples>,
    /// Its own messages.
    pub messages: &'static [Message],
    /// Its own checks.
    pub checks: &'static [Check],
    /// Whether the length of the MACs on opened bits can be chosen.
    pub has_mac_length: bool,
    /// Whether parties choose how they intersect what they got.
    pub has_psi_form: bool,
    /// Whether κ_b, the bound on leaked bits, can differ from ρ.
    pub has_kappa_b: bool,
    /// Whether several evaluations can be online at a time over one connection.
    pub runs_in_flight: bool,
    /// Whether outputs of an evaluation can be inputs of a later one without being opened:
    /// [`Engine::evaluate_part`].
    pub continues: bool,
    /// The pools of components, for a protocol that garbles components.
    pub components: Option<ComponentPools>,
    /// What makes its material.
    pub engine: EngineSource,
    /// Reads back what a party saved after phase 2.
    pub load: Load,
}

impl ProtocolSpec {
    /// Returns what the executions of a circuit that are prepared together take.
    pub fn demand(&self, circuit: &Compiled, parties: u16, batch: Batch) -> Result<Demand> {
        match self.batches {
            Some(demand) => demand(circuit, batch),
            None if batch.executions == 1 => Ok(Demand::of(circuit, parties)),
            None => Err(Error::InvalidInput(format!("{} runs one execution at a time", self.name))),
        }
    }
}

/// Returns how many bytes a number of parties send for a circuit in some form.
pub(crate) type BytesAfterTriples = fn(&Compiled, u16, GateForm) -> u64;

/// Reads back a circuit that was prepared in some form.
pub(crate) type Load = fn(&Network, GateForm, &Compiled, Reader<'_>) -> Result<Box<dyn Prepared>>;

/// What makes the material of a protocol.
pub(crate) enum EngineSource {
    /// The engine of protocols on AND gates; the function returns a party's role in it.
    Gates(fn(PartyId, GateForm) -> GateRole),
    /// An engine of its own, from this set-up. It has no pools of gates and no dealer.
    Own(fn(&mut Network) -> Result<Box<dyn Engine>>),
}

/// A party of a protocol on AND gates.
#[derive(Clone, Copy)]
pub(crate) struct Role {
    pub spec: &'static ProtocolSpec,
    pub gates: GateRole,
}

impl Role {
    /// Returns what the executions of a circuit that are prepared together in the session of `net`
    /// take.
    pub fn demand(&self, net: &Network, circuit: &Compiled) -> Result<Demand> {
        self.spec.demand(circuit, net.parties(), net.batch)
    }
}
