//! A prepared program, and its online phase (MAIN of Appendix A).
//!
//! ```text
//! G                                                          E
//!                                                       ◀──  masked inputs
//! own keys, the evaluator's inputs and the indicator
//! bits of its outputs opened                            ──▶  checks, evaluates
//!                                                       ◀──  keys of the garbler's outputs
//! ```

use std::io::Write;
use std::sync::Arc;

use symbolon_circuit::Plan;
use symbolon_circuit::components::Wire;
use symbolon_cutchoose::hcom::{OwnLater, OwnOpening, TheirLater, TheirOpening};
use symbolon_engine::{
    Compiled, InputBits, Network, OutputBits, Prepared, codec::Writer, parallel::allow_gates,
    phases::check_inputs,
};
use symbolon_primitives::Block;
use symbolon_transport::{Channel, Result};
use zeroize::Zeroizing;

use super::assemble::{self, GarblerKeys};
use super::commit::{Committed, Received};
use super::common_offset::CommonOffset;
use super::endpoints::{Endpoints, Wired};
use super::evaluate::{Evaluated, FilledBuckets, GarbledProgram};
use super::inputs;
use super::oblivious::Transfers;
use super::outputs;
use super::program::{EVALUATOR, GARBLER, Origin, Program, ToGarbler};
use super::recover::{self, Recovered};
use super::state::peer;
use super::store;

/// The garbler's prepared program, before the inputs are known.
pub(super) struct GarblerReady {
    pub digest: [u8; 32],
    pub program: Arc<Program>,
    pub origin: Origin,
    pub keys: GarblerKeys,
    pub online: OwnLater,
}

/// The evaluator's prepared program, before the inputs are known.
pub(super) struct EvaluatorReady {
    pub digest: [u8; 32],
    pub program: Arc<Program>,
    pub origin: Origin,
    pub garbled: GarbledProgram,
    pub transfers: Transfers,
    pub received: Received,
    pub online: TheirLater,
}

/// What the garbler connects to a circuit.
pub(super) struct GarblerPreparation {
    /// The digest of the circuit.
    pub digest: [u8; 32],
    pub program: Arc<Program>,
    pub origin: Origin,
    pub endpoints: Endpoints,
}

impl GarblerPreparation {
    /// Runs the function-dependent phase: solders the slots, and extracts what is needed online
    /// from all commitments.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    pub fn connect(
        self,
        channel: &mut Channel,
        committed: &Committed,
        proof: OwnOpening,
        online: OwnLater,
    ) -> Result<GarblerReady> {
        let GarblerPreparation { digest, program, origin, endpoints } = self;
        let wired = Wired { program: &program, endpoints: &endpoints };
        let mut opening = committed.opening(proof);
        assemble::open(channel, &mut opening, wired)?;
        opening.prove(channel)?;
        channel.flush()?;
        let keys = GarblerKeys::new(wired, committed);
        Ok(GarblerReady { digest, program, origin, keys, online })
    }
}

/// What the evaluator connects to a circuit.
pub(super) struct EvaluatorPreparation {
    /// The digest of the circuit.
    pub digest: [u8; 32],
    pub program: Arc<Program>,
    pub origin: Origin,
    pub endpoints: Endpoints,
    pub buckets: FilledBuckets,
    pub transfers: Transfers,
}

impl EvaluatorPreparation {
    /// Runs the function-dependent phase.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails; `Transport` when the peer is gone.
    pub fn connect(
        self,
        channel: &mut Channel,
        received: &Received,
        proof: TheirOpening,
        online: TheirLater,
    ) -> Result<EvaluatorReady> {
        let EvaluatorPreparation { digest, program, origin, endpoints, buckets, transfers } = self;
        let wired = Wired { program: &program, endpoints: &endpoints };
        let mut claims = received.claims(proof);
        let solderings = assemble::claim(channel, &mut claims, wired)?;
        claims.check(channel)?;
        let received = assemble::online(wired, received);
        let FilledBuckets { authenticators, slots } = buckets;
        let garbled = GarbledProgram { slots, solderings, authenticators };
        Ok(EvaluatorReady { digest, program, origin, garbled, transfers, received, online })
    }
}

impl GarblerReady {
    /// Runs the online phase on inputs that fit.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails; `Transport` when the peer is gone.
    pub fn play(self, net: &mut Network, inputs: &InputBits) -> Result<OutputBits> {
        let GarblerReady { program, keys, online, .. } = self;
        let channel = peer(net)?;
        let mut opening = keys.online.opening(online.opening());
        let bits = program.input_bits(inputs);
        inputs::give(channel, &mut opening, &keys, &bits)?;
        outputs::open_indicators(channel, &mut opening, &program)?;
        opening.prove(channel)?;
        channel.flush()?;
        let ands = program.graph.slots.iter().map(|slot| program.graph.kinds[slot.kind].ands());
        // A bucket seldom has more copies.
        allow_gates(channel, 16 * ands.sum::<usize>() as u64);
        let bits = outputs::take_back(channel, &program, &keys)?;
        let numbers = program.to_garbler.iter().map(|&(number, _): &(usize, ToGarbler)| number);
        Ok(program.output_bits(GARBLER, numbers, &bits))
    }
}

impl Prepared for GarblerReady {
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        circuit.must_be(&self.digest)?;
        check_inputs(circuit.circuit(), net.me, inputs, self.program.executions)?;
        self.play(net, inputs)
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut to = Writer(out);
        store::write_head(&mut to, &self.program, &self.origin)?;
        store::write_keys(&mut to, &self.keys)?;
        self.keys.online.save(&mut to)?;
        to.bytes(&self.online.to_bytes())
    }
}

/// What the evaluator brings from earlier parts to the online phase.
#[derive(Clone, Default)]
pub(super) struct Linked<'a> {
    /// The keys of the linked inputs.
    pub keys: &'a [(Wire, Block)],
    /// Δ_ot, if it is known already.
    pub common_offset: CommonOffset,
}

/// What the evaluator holds after the online phase.
pub(super) struct Played {
    pub outputs: OutputBits,
    pub evaluated: Evaluated,
    pub recovered: Recovered,
}

impl EvaluatorReady {
    /// Runs the online phase on inputs that fit.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails; `Transport` when the peer is gone.
    pub fn play(
        self,
        net: &mut Network,
        plan: &Plan,
        inputs: &InputBits,
        linked: Linked<'_>,
    ) -> Result<Played> {
        let EvaluatorReady { program, mut garbled, transfers, received, online, .. } = self;
        let threads = net.garbling_threads();
        let channel = peer(net)?;
        let bits = program.input_bits(inputs);
        inputs::mask(channel, &transfers, &bits)?;
        let authenticators = &garbled.authenticators;
        let mut claims = received.claims(online.opening());
        let keys = inputs::get(channel, &mut claims, &program, &transfers, &bits)?;
        let indicators = outputs::get_indicators(channel, &mut claims, &program)?;
        let checked = claims.check(channel)?;
        let mut wires = Zeroizing::new(vec![Block::ZERO; program.wires()]);
        let keys = keys.on_wires(&program).chain(linked.keys.iter().copied());
        inputs::accept(channel, authenticators, keys, &mut wires)?;
        let mut differences = vec![Block::ZERO; program.wires()];
        for wire in program.unbound_wires() {
            differences[wire] = authenticators.difference(wire);
        }
        let start = Evaluated { wires, differences, common_offset: linked.common_offset };
        let evaluated = garbled.evaluate(&program, (channel.peer(), threads), start)?;
        let authenticators = &garbled.authenticators;
        let mut recovered = recover::recover((&program, plan), authenticators, &evaluated, &bits);
        let values = outputs::values(&program, &evaluated.wires, &indicators, &recovered, &checked);
        outputs::give_back(channel, &mut recovered, &checked)?;
        let numbers = program.to_evaluator.iter().copied();
        let outputs = program.output_bits(EVALUATOR, numbers, &values);
        Ok(Played { outputs, evaluated, recovered })
    }
}

impl Prepared for EvaluatorReady {
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        circuit.must_be(&self.digest)?;
        check_inputs(circuit.circuit(), net.me, inputs, self.program.executions)?;
        Ok(self.play(net, circuit.plan(), inputs, Linked::default())?.outputs)
    }

    fn save(mut self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut to = Writer(out);
        store::write_head(&mut to, &self.program, &self.origin)?;
        self.garbled.save(&mut to, &self.program, &self.transfers)?;
        self.received.save(&mut to)?;
        to.bytes(&self.online.to_bytes())
    }
}
