//! A program made ready, and its online phase (MAIN of Appendix A).
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
use symbolon_cutchoose::hcom::{OwnLater, OwnOpening, TheirLater, TheirOpening};
use symbolon_primitives::Block;
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroizing;

use super::assemble::{self, GarblerKeys};
use super::buckets::View;
use super::commit::{Committed, Received};
use super::components::Wire;
use super::ends::{Ends, Wired};
use super::engine::{commitments, peer, threads};
use super::evaluate::{CommonOffset, Evaluated, GarbledProgram};
use super::inputs;
use super::oblivious::Transfers;
use super::outputs;
use super::params::{BucketSizes, Games};
use super::pool;
use super::preprocess::{EvaluatorCopies, GarblerCopies, PartBuckets};
use super::program::{EVALUATOR, GARBLER, Program, Task, ToGarbler};
use super::recover::{self, Recovered};
use super::store;
use crate::codec::{Reader, Writer};
use crate::{Compiled, InputBits, Network, OutputBits, Prepared, phases::check_inputs};

/// The garbler before the inputs are known.
pub(super) struct GarblerReady {
    digest: [u8; 32],
    program: Arc<Program>,
    origin: Origin,
    keys: GarblerKeys,
    online: OwnLater,
}

/// The evaluator before the inputs are known.
pub(super) struct EvaluatorReady {
    digest: [u8; 32],
    program: Arc<Program>,
    origin: Origin,
    pub garbled: GarbledProgram,
    transfers: Transfers,
    received: Received,
    online: TheirLater,
}

impl GarblerCopies {
    /// The function-dependent phase of a part.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    pub fn connect(
        &self,
        channel: &mut Channel,
        proof: OwnOpening,
        part: usize,
        online: OwnLater,
    ) -> Result<GarblerReady> {
        let GarblerCopies { program, places, committed, .. } = self;
        let parts = GarblerParts {
            digest: self.digest,
            program: program.clone(),
            origin: Origin::Made(program.parts),
            ends: Ends::of(View { program, places, part }),
        };
        parts.connect(channel, committed, proof, online)
    }
}

impl EvaluatorCopies {
    /// The function-dependent phase of a part, whose buckets are filled.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails; `Transport` when the peer is gone.
    pub fn connect(
        &self,
        channel: &mut Channel,
        proof: TheirOpening,
        (part, buckets): (usize, PartBuckets),
        online: TheirLater,
    ) -> Result<EvaluatorReady> {
        let EvaluatorCopies { program, places, received, .. } = self;
        let view = View { program, places, part };
        let parts = EvaluatorParts {
            digest: self.digest,
            program: program.clone(),
            origin: Origin::Made(program.parts),
            ends: Ends::of(view),
            buckets,
            transfers: self.transfers.part(view.transfers()),
        };
        parts.connect(channel, received, proof, online)
    }
}

/// What the garbler connects to a circuit.
pub(super) struct GarblerParts {
    /// Of the circuit.
    pub digest: [u8; 32],
    pub program: Arc<Program>,
    pub origin: Origin,
    pub ends: Ends,
}

impl GarblerParts {
    /// The function-dependent phase: solders the slots, and takes what is needed online out of all
    /// that is committed to.
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
        let GarblerParts { digest, program, origin, ends } = self;
        let wired = Wired { program: &program, ends: &ends };
        let mut opening = committed.opening(proof);
        assemble::open(channel, &mut opening, wired)?;
        opening.prove(channel)?;
        channel.flush()?;
        let keys = GarblerKeys::new(wired, committed);
        Ok(GarblerReady { digest, program, origin, keys, online })
    }
}

/// What the evaluator connects to a circuit.
pub(super) struct EvaluatorParts {
    /// Of the circuit.
    pub digest: [u8; 32],
    pub program: Arc<Program>,
    pub origin: Origin,
    pub ends: Ends,
    pub buckets: PartBuckets,
    pub transfers: Transfers,
}

impl EvaluatorParts {
    /// The function-dependent phase.
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
        let EvaluatorParts { digest, program, origin, ends, buckets, transfers } = self;
        let wired = Wired { program: &program, ends: &ends };
        let mut claims = received.claims(proof);
        let solderings = assemble::claim(channel, &mut claims, wired)?;
        claims.check(channel)?;
        let received = assemble::online(wired, received);
        let PartBuckets { authenticators, slots, tables } = buckets;
        let garbled = GarbledProgram { slots, tables, solderings, authenticators };
        Ok(EvaluatorReady { digest, program, origin, garbled, transfers, received, online })
    }
}

impl GarblerReady {
    /// The online phase, on inputs that fit.
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

/// What the evaluator has from elsewhere before the online phase.
#[derive(Clone, Default)]
pub(super) struct Linked<'a> {
    /// The keys of the linked inputs.
    pub keys: &'a [(Wire, Block)],
    /// Δ_ot, if it is known already.
    pub common_offset: CommonOffset,
}

/// What the evaluator has after the online phase.
pub(super) struct Played {
    pub outputs: OutputBits,
    pub evaluated: Evaluated,
    pub recovered: Recovered,
}

impl EvaluatorReady {
    /// The online phase, on inputs that fit.
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
        let EvaluatorReady { program, garbled, transfers, received, online, .. } = self;
        let threads = threads(net);
        let channel = peer(net)?;
        let bits = program.input_bits(inputs);
        inputs::mask(channel, &transfers, &bits)?;
        let authenticators = &garbled.authenticators;
        let mut claims = received.claims(online.opening());
        let keys = inputs::get(channel, &mut claims, &program, &transfers, &bits)?;
        let indicators = outputs::get_indicators(channel, &mut claims, &program)?;
        claims.check(channel)?;
        let mut wires = Zeroizing::new(vec![Block::ZERO; program.wires()]);
        let keys = keys.on_wires(&program).chain(linked.keys.iter().copied());
        inputs::accept(channel, authenticators, keys, &mut wires)?;
        let start = Evaluated { wires, common_offset: linked.common_offset };
        let evaluated = garbled.evaluate(&program, (channel.peer(), threads), start)?;
        let mut recovered = recover::recover((&program, plan), authenticators, &evaluated, &bits);
        let values = outputs::values(&program, &evaluated.wires, &indicators, &recovered);
        outputs::give_back(channel, &mut recovered)?;
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

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut to = Writer(out);
        store::write_head(&mut to, &self.program, &self.origin)?;
        store::write_garbled(&mut to, &self.garbled, &self.transfers)?;
        self.received.save(&mut to)?;
        to.bytes(&self.online.to_bytes())
    }
}

/// Reads back what a party saved.
pub(super) fn load(
    net: &Network,
    circuit: &Compiled,
    mut from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let origin = store::read_origin(&mut from)?;
    let (program, buckets) = match &origin {
        Origin::Made(parts) => made(net, circuit, *parts)?,
        Origin::Pool(kinds, buckets) => {
            let program = pool::program(net, circuit, kinds).map_err(|_| store::other_program())?;
            (program, buckets.clone())
        }
    };
    store::check_program(&mut from, &program)?;
    let program = Arc::new(program);
    let digest = circuit.digest();
    let params = commitments(net.rho.bits())?;
    let sums = 1 + program.inputs[1].len() + program.to_evaluator.len();
    if net.me == GARBLER {
        let (inputs, indicators, outputs) = store::read_keys(&mut from, &program)?;
        let online = Committed::load(&mut from, params, sums)?;
        let keys = GarblerKeys { inputs, indicators, outputs, online };
        let online = OwnLater::from_bytes(from.array()?);
        Ok(Box::new(GarblerReady { digest, program, origin, keys, online }))
    } else {
        let (garbled, transfers) = store::read_garbled(&mut from, &program, &buckets)?;
        let received = Received::load(&mut from, params.clone(), sums)?;
        let online = Zeroizing::new(from.bytes(TheirLater::bytes(&params))?);
        let online = TheirLater::from_bytes(&params, &online)
            .ok_or_else(|| Error::internal("a record of another length than was read"))?;
        let ready =
            EvaluatorReady { digest, program, origin, garbled, transfers, received, online };
        Ok(Box::new(ready))
    }
}

/// The program of one of so many parts that were prepared together, and the sizes of its buckets.
fn made(net: &Network, circuit: &Compiled, parts: usize) -> Result<(Program, BucketSizes)> {
    let games = Games::new(net.rho.bits());
    let (executions, components) = (net.batch.executions, &net.components[..]);
    let sized = |parts| {
        let task = Task { executions, parts, games, components, linked: &[] };
        let program = Program::new(circuit.circuit(), task)?;
        let buckets = program.params(games)?.buckets();
        Ok((program, buckets))
    };
    match sized(parts) {
        // `prepare` refuses such a number, so nobody wrote it.
        Err(Error::InvalidInput(_)) if parts > 1 && sized(1).is_ok() => {
            Err(store::impossible_parts())
        }
        sized => sized,
    }
}

/// What a prepared circuit was made of: what has to be known to find its program again.
pub(super) enum Origin {
    /// A cut-and-choose for so many parts, which share it.
    Made(usize),
    /// Components of a pool: the kinds of the program, and the sizes of the buckets.
    Pool(Vec<[u8; 32]>, BucketSizes),
}
