//! The three phases of every protocol, as types that are consumed: each phase takes what the
//! previous one made, so nothing can be used twice or out of order.
//!
//! ```text
//! Engine ──preprocess(demand)──▶ Preprocessed ──prepare(circuit)──▶ Prepared ──evaluate(inputs)──▶
//! outputs
//! ```

use std::io::Write;

use symbolon_circuit::{Circuit, Input, PartyId};
use symbolon_primitives::BitVec;
use symbolon_transport::{Error, Result};

use crate::{Compiled, Components, Network, PoolSink};

/// Upper bounds on what a circuit will need. The function-independent phase may know nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The number of AND gates.
    pub and_gates: u64,
    /// The number of input bits of each party, by party number.
    pub input_bits: Vec<u64>,
}

impl Demand {
    /// Returns exactly what one garbled evaluation of `circuit` among `parties` parties needs.
    pub fn of(circuit: &Compiled, parties: u16) -> Demand {
        let mut input_bits = vec![0; parties as usize];
        for Input { ty, owner, .. } in circuit.circuit().inputs() {
            if let Some(bits) = input_bits.get_mut(owner.index()) {
                *bits += ty.width();
            }
        }
        Demand { and_gates: circuit.plan().and_count(), input_bits }
    }

    /// Returns the demand of a number of executions.
    ///
    /// # Errors
    /// `InvalidInput` if that cannot be counted.
    pub fn times(self, executions: usize) -> Result<Demand> {
        let times = |n: u64| {
            n.checked_mul(executions as u64)
                .ok_or_else(|| Error::invalid_input("too many executions at a time"))
        };
        let input_bits = self.input_bits.into_iter().map(times).collect::<Result<_>>()?;
        Ok(Demand { and_gates: times(self.and_gates)?, input_bits })
    }

    /// Returns the number of input bits of each of `parties` parties.
    ///
    /// # Errors
    /// `InvalidInput` if they do not fit into memory.
    pub fn input_counts(&self, parties: u16) -> Result<Vec<usize>> {
        let bits = |party| self.input_bits.get(usize::from(party)).copied().unwrap_or(0);
        (0..parties).map(|party| small(bits(party))).collect()
    }
}

/// Converts a number of bits or gates that must fit into memory.
///
/// # Errors
/// `InvalidInput` if it does not.
#[inline]
pub fn small(n: u64) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::InvalidInput("the circuit is too large".into()))
}

/// A party's inputs: the bits of each input of the circuit (index = wire within the input) if this
/// party owns it, `None` otherwise. With several executions side by side, their bits follow one
/// another.
pub type InputBits = Vec<Option<BitVec>>;

/// What a party learns: the bits of each output of the circuit if this party receives it, `None`
/// otherwise. With several executions side by side, their bits follow one another.
pub type OutputBits = Vec<Option<BitVec>>;

/// An input of a part of a reactive computation that is linked to an output of an earlier part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The index of the input.
    pub input: usize,
    /// The index of the part among all parts that the engine has evaluated.
    pub part: usize,
    /// The index of the output of that part. It may be an output that nobody learns.
    pub output: usize,
}

/// Receives each of several prepared evaluations, for example to store it.
pub type EachPrepared<'a> = dyn FnMut(&mut Network, Box<dyn Prepared>) -> Result<()> + 'a;

/// One party of a protocol after the set-up (base OTs, global keys).
///
/// An engine can preprocess any number of times. After any error, in this phase or in a later one
/// of anything it made, its set-up is dead: every further call is rejected, on the engine and on
/// everything it made. Each of these wipes its global keys, base OTs and everything derived from
/// them when it is dropped, and no later than at the next call on it.
pub trait Engine: Send {
    /// Runs phase 1, function-independent: makes what any circuit within `demand` will consume.
    ///
    /// # Errors
    /// `PeerMisbehaved` if a check fails, `Transport` if the connection is lost; `InvalidInput` if
    /// the protocol prepares only known circuits.
    fn preprocess(&mut self, _: &mut Network, _: &Demand) -> Result<Box<dyn Preprocessed>> {
        circuit_only()
    }

    /// Runs phase 1 for a known circuit: makes, with less traffic, what one evaluation of
    /// `circuit`, and of no other circuit, will consume.
    ///
    /// # Errors
    /// As [`preprocess`](Engine::preprocess).
    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Preprocessed>>;

    /// Runs phases 1 and 2 for `count` evaluations of `circuit`, each of which can be kept and run
    /// separately. They are prepared together if that makes them cheaper, otherwise one after
    /// another. Passes each to `each` as soon as it is ready, so that it need not stay in memory.
    /// `each` may also evaluate it at once; then it must do so at every party.
    ///
    /// # Errors
    /// As for both phases, and any error of `each`.
    fn prepare_each(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        count: usize,
        each: &mut EachPrepared<'_>,
    ) -> Result<()> {
        each_by_itself(self, net, circuit, count, each)
    }

    /// Runs all three phases for one part of a reactive computation. The engine keeps its outputs,
    /// including those that nobody learns, and inputs of later parts can be `links` to them; the
    /// links are chosen between parts. A linked input has the width of its output, and no party
    /// provides it, not even its owner. All parties must call this with the same circuit and links.
    ///
    /// # Errors
    /// `InvalidInput` if the protocol keeps no outputs, or a link does not fit, before anything is
    /// sent; otherwise as for the three phases.
    fn evaluate_part(
        &mut self,
        _: &mut Network,
        _: &Compiled,
        _: &[Link],
        _: &InputBits,
    ) -> Result<OutputBits> {
        Err(Error::invalid_input("this protocol keeps no outputs for a later circuit"))
    }

    /// Runs all three phases at once, with fresh material: evaluates `circuit` on this party's
    /// `inputs` and returns what it may learn. If the protocol can, it prepares and evaluates gates
    /// segment by segment, in memory that grows only with the number of live wires. All parties
    /// must call this if one does.
    ///
    /// # Errors
    /// As for the three phases.
    fn stream(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        one_by_one(self, net, circuit, inputs)
    }

    /// Runs phase 1 into a pool: makes as much as `demand` says and passes it to `sink` batch by
    /// batch. Only for an engine that has made nothing yet and will make nothing more, because
    /// gates are numbered by their position in the pool.
    ///
    /// # Errors
    /// As [`preprocess`](Engine::preprocess), and any error of `sink`.
    fn fill(&mut self, _: &mut Network, _: &Demand, _: &mut dyn PoolSink) -> Result<()> {
        circuit_only()
    }

    /// Runs phase 1 for components of known kinds, without a known circuit.
    ///
    /// # Errors
    /// As [`preprocess`](Engine::preprocess).
    fn preprocess_components(
        &mut self,
        _: &mut Network,
        _: &Components,
    ) -> Result<Box<dyn Preprocessed>> {
        Err(no_components())
    }

    /// Runs phase 1 for components into a pool: passes the material to `sink` as it is made. The
    /// pool may be used only after this returned, because what was written before is not checked
    /// yet. Only for an engine that has made nothing yet and will make nothing more.
    ///
    /// # Errors
    /// As [`preprocess`](Engine::preprocess), and any error of `sink`.
    fn fill_components(
        &mut self,
        _: &mut Network,
        _: &Components,
        _: &mut dyn PoolSink,
    ) -> Result<()> {
        Err(no_components())
    }

    /// Returns the name of everything made under this engine's global keys: the session id of its
    /// set-up. A failed check ends all of it.
    fn group(&self) -> [u8; 32];
}

/// Function-independent material, not yet bound to a circuit.
pub trait Preprocessed: Send {
    /// Runs phase 2, function-dependent: binds the material to `circuit`, which must be the same at
    /// every party (the handshake has ensured this).
    ///
    /// # Errors
    /// `InvalidInput` if the circuit needs more than the material holds, or is not the one it was
    /// made for; `PeerMisbehaved` and `Transport` as for every phase.
    fn prepare(self: Box<Self>, net: &mut Network, circuit: &Compiled)
    -> Result<Box<dyn Prepared>>;

    /// Returns whether the material is bound to its circuit already, so that
    /// [`prepare`](Preprocessed::prepare) has no work and sends nothing.
    fn is_prepared(&self) -> bool {
        false
    }
}

/// A circuit prepared for one evaluation.
pub trait Prepared: Send {
    /// Runs phase 3, online: evaluates on this party's `inputs` and returns what it may learn.
    /// Outputs exist only after every check that guards them has passed.
    ///
    /// # Errors
    /// `InvalidInput` if one of this party's inputs is missing or has a wrong width, or if an input
    /// of another party is given (before anything is sent); `PeerMisbehaved` and `Transport` as for
    /// every phase.
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits>;

    /// Runs phase 3 in steps, for several evaluations that are online at a time ([`InFlight`]).
    /// Sends the first messages.
    ///
    /// # Errors
    /// As [`evaluate`](Prepared::evaluate); `InvalidInput` if the protocol has only one evaluation
    /// online at a time.
    ///
    /// [`InFlight`]: crate::InFlight
    fn start(
        self: Box<Self>,
        _: &mut Network,
        _: &Compiled,
        _: &InputBits,
    ) -> Result<Box<dyn Online>> {
        Err(Error::invalid_input("this protocol has one evaluation online at a time"))
    }

    /// Writes everything to `out` instead, for
    /// [`ProtocolSpec::load_prepared`](crate::ProtocolSpec::load_prepared). The caller that keeps
    /// the bytes must ensure their integrity and secrecy, and that they are loaded at most once.
    ///
    /// # Errors
    /// `Store` if `out` fails.
    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()>;

    /// Returns a repeatable online phase, only for measurements. With a number, that many
    /// executions (a multiple of 64) share the material of the prepared one. **Both reveal all
    /// inputs.**
    ///
    /// # Errors
    /// `InvalidInput` if the protocol, or this prepared circuit, has no such phase.
    #[cfg(feature = "measure")]
    fn measured(self: Box<Self>, _shared_by: Option<usize>) -> Result<Box<dyn Measured>> {
        Err(Error::invalid_input("this cannot be measured again and again"))
    }
}

/// An evaluation that is online and proceeds step by step, with the same number of steps at each
/// party. Steps of several evaluations can alternate, in the same order at all parties.
pub trait Online: Send {
    /// Receives what the peers sent in their last step, and sends the next messages. In the last
    /// step, returns this party's outputs, after every check of this evaluation has passed.
    ///
    /// # Errors
    /// `PeerMisbehaved` if a check fails, `Transport` if a connection is lost.
    fn step(&mut self, net: &mut Network) -> Result<Option<OutputBits>>;
}

/// A repeatable online phase, only for measurements.
#[cfg(feature = "measure")]
pub trait Measured: Send {
    /// Evaluates on the bits of this party's input wires: those of one wire in all executions, then
    /// those of the next. Returns the bits of the output wires that it learns in the same order.
    ///
    /// # Errors
    /// As [`Prepared::evaluate`].
    fn run(&self, net: &mut Network, circuit: &Circuit, inputs: &BitVec) -> Result<BitVec>;
}

/// Implements [`Engine::stream`] for an engine that keeps everything.
///
/// # Errors
/// As for the three phases.
pub fn one_by_one(
    engine: &mut (impl Engine + ?Sized),
    net: &mut Network,
    circuit: &Compiled,
    inputs: &InputBits,
) -> Result<OutputBits> {
    engine.preprocess_for(net, circuit)?.prepare(net, circuit)?.evaluate(net, circuit, inputs)
}

/// Implements [`Engine::prepare_each`] for an engine that gains nothing from preparing together.
///
/// # Errors
/// As [`Engine::prepare_each`].
pub fn each_by_itself(
    engine: &mut (impl Engine + ?Sized),
    net: &mut Network,
    circuit: &Compiled,
    count: usize,
    each: &mut EachPrepared<'_>,
) -> Result<()> {
    (0..count).try_for_each(|_| {
        let prepared = engine.preprocess_for(net, circuit)?.prepare(net, circuit)?;
        each(net, prepared)
    })
}

/// Rejects material for any circuit.
fn circuit_only<T>() -> Result<T> {
    Err(Error::invalid_input(
        "this protocol makes no material for numbers of gates: it has no pools of gates and no dealer",
    ))
}

fn no_components() -> Error {
    Error::invalid_input("this protocol has no components")
}

/// Checks that `inputs` contains exactly the inputs that `party` owns, with the right widths, for
/// this many executions.
///
/// # Errors
/// `InvalidInput` with the first input that is missing, another party's, or of a wrong width.
pub fn check_inputs(
    circuit: &Circuit,
    party: PartyId,
    inputs: &InputBits,
    executions: usize,
) -> Result<()> {
    let invalid = |reason: String| Err(Error::InvalidInput(reason));
    if inputs.len() != circuit.inputs().len() {
        return invalid(format!(
            "the circuit has {} inputs, {} were given",
            circuit.inputs().len(),
            inputs.len()
        ));
    }
    for (input, bits) in circuit.inputs().iter().zip(inputs) {
        match bits {
            None if input.owner == party => {
                return invalid(format!("input `{}` is ours and has no value", input.name));
            }
            Some(_) if input.owner != party => {
                return invalid(format!("input `{}` belongs to party {}", input.name, input.owner));
            }
            Some(bits) if bits.len() as u64 != input.ty.width() * executions as u64 => {
                let times = if executions == 1 { "" } else { " for each execution" };
                return invalid(format!(
                    "input `{}` takes {} bits{times}, {} were given",
                    input.name,
                    input.ty.width(),
                    bits.len()
                ));
            }
            _ => {}
        }
    }
    Ok(())
}
