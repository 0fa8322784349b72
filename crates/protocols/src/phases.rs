//! The three phases that every protocol has, as types that are consumed: what one phase makes is
//! what the next one takes, so that nothing can be used twice or out of order.
//!
//! ```text
//! Engine ──preprocess(demand)──▶ Preprocessed ──prepare(circuit)──▶ Prepared ──evaluate(inputs)──▶
//! outputs
//! ```

use std::io::Write;

use symbolon_circuit::{Circuit, Input, PartyId};
use symbolon_transport::{Error, Result};

use crate::{Compiled, Components, Network, PoolSink};

/// Upper bounds on what a circuit will need; all that the function-independent phase may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// AND gates.
    pub and_gates: u64,
    /// Input bits of each party, by party number.
    pub input_bits: Vec<u64>,
}

impl Demand {
    /// Returns exactly what one garbled evaluation of `circuit` among `parties` parties takes.
    pub fn of(circuit: &Compiled, parties: u16) -> Demand {
        let mut input_bits = vec![0; parties as usize];
        for Input { ty, owner, .. } in circuit.circuit().inputs() {
            if let Some(bits) = input_bits.get_mut(owner.index()) {
                *bits += ty.width();
            }
        }
        Demand { and_gates: circuit.plan().and_count(), input_bits }
    }

    /// Returns what `executions` such executions take.
    ///
    /// # Errors
    /// `InvalidInput` when that is more than can be counted.
    pub(crate) fn times(self, executions: usize) -> Result<Demand> {
        let times = |n: u64| {
            n.checked_mul(executions as u64)
                .ok_or_else(|| Error::invalid_input("too many executions at a time"))
        };
        let input_bits = self.input_bits.into_iter().map(times).collect::<Result<_>>()?;
        Ok(Demand { and_gates: times(self.and_gates)?, input_bits })
    }

    /// Returns how many input bits each of `parties` parties has.
    pub(crate) fn input_counts(&self, parties: u16) -> Result<Vec<usize>> {
        let bits = |party| self.input_bits.get(usize::from(party)).copied().unwrap_or(0);
        (0..parties).map(|party| small(bits(party))).collect()
    }
}

/// Converts a number of bits or gates, which must fit into memory.
pub(crate) fn small(n: u64) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::InvalidInput("the circuit is too large".into()))
}

/// A party's inputs: for each input of the circuit, its bits (index = wire within the input) if
/// this party owns it, `None` otherwise. The bits of several executions side by side follow one
/// another.
pub type InputBits = Vec<Option<Vec<bool>>>;

/// What a party learns: for each output of the circuit, its bits if this party receives it, `None`
/// otherwise. The bits of several executions side by side follow one another.
pub type OutputBits = Vec<Option<Vec<bool>>>;

/// An input of a part of a reactive computation that is an output of an earlier part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The index of the input.
    pub input: usize,
    /// The index of the part among all parts that the engine has evaluated.
    pub part: usize,
    /// The index of the output of that part. It may be one that nobody learns.
    pub output: usize,
}

/// What is done with each of several prepared evaluations, for instance storing it.
pub type EachPrepared<'a> = dyn FnMut(&mut Network, Box<dyn Prepared>) -> Result<()> + 'a;

/// One party of a protocol whose set-up (base OTs, global keys) is done.
///
/// An engine can preprocess any number of times. After any error, in this phase or in a later phase
/// of anything that the engine made, its set-up is dead: global keys, base OTs and everything
/// derived from them are wiped by the next call at the latest, and every further call is refused.
pub trait Engine: Send {
    /// Phase 1, function-independent: makes the material that any circuit within `demand` will use
    /// up.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails, `Transport` when the peer is gone; `InvalidInput` when
    /// the protocol prepares known circuits only.
    fn preprocess(&mut self, _: &mut Network, _: &Demand) -> Result<Box<dyn Preprocessed>> {
        circuit_only()
    }

    /// Phase 1 for a circuit that is known already: with less traffic, makes the material for one
    /// evaluation of `circuit`, and of no other circuit.
    ///
    /// # Errors
    /// As [`preprocess`](Engine::preprocess).
    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Preprocessed>>;

    /// Phases 1 and 2 for `count` evaluations of `circuit`, each of which can be kept and run by
    /// itself. They are prepared together if that is cheaper, otherwise one after another. Passes
    /// each evaluation to `each` as soon as it is ready, so that it need not stay in memory.
    ///
    /// # Errors
    /// As in both phases, and the errors of `each`.
    fn prepare_each(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        count: usize,
        each: &mut EachPrepared<'_>,
    ) -> Result<()> {
        each_by_itself(self, net, circuit, count, each)
    }

    /// All three phases for one part of a reactive computation. The engine keeps the outputs of the
    /// part, including those that nobody learns, and inputs of later parts can be linked to them;
    /// the links are chosen between parts. A linked input has the width of its output, and no party
    /// gives it, whichever party owns it. All parties must call this with the same circuit and
    /// links.
    ///
    /// # Errors
    /// `InvalidInput` when the protocol keeps no outputs, or a link does not fit, before anything
    /// is sent; otherwise as in the three phases.
    fn evaluate_part(
        &mut self,
        _: &mut Network,
        _: &Compiled,
        _: &[Link],
        _: &InputBits,
    ) -> Result<OutputBits> {
        Err(Error::invalid_input("this protocol keeps no outputs for a later circuit"))
    }

    /// All three phases at once, with fresh material: evaluates `circuit` on this party's `inputs`
    /// and returns what it may learn. If the protocol can, it prepares and evaluates the gates
    /// piece by piece, in memory that depends on the live wires. All parties must call this if one
    /// does.
    ///
    /// # Errors
    /// As in the three phases.
    fn stream(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        one_by_one(self, net, circuit, inputs)
    }

    /// Phase 1 into a pool: makes as much as `demand` says and passes it to `sink` as it is made,
    /// batch by batch. Only for an engine that has made nothing yet and will make nothing more,
    /// since gates are numbered by their place in the pool.
    ///
    /// # Errors
    /// As [`preprocess`](Engine::preprocess), and the errors of `sink`.
    fn fill(&mut self, _: &mut Network, _: &Demand, _: &mut dyn PoolSink) -> Result<()> {
        circuit_only()
    }

    /// Phase 1 for components of known kinds, before the circuit is known.
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

    /// Phase 1 for components of known kinds, into a pool: passes everything to `sink` as it is
    /// made. The pool may be used only after this has returned: what is written before is not
    /// checked yet. Only for an engine that has made nothing yet and will make nothing more.
    ///
    /// # Errors
    /// As [`preprocess`](Engine::preprocess), and the errors of `sink`.
    fn fill_components(
        &mut self,
        _: &mut Network,
        _: &Components,
        _: &mut dyn PoolSink,
    ) -> Result<()> {
        Err(no_components())
    }

    /// Returns the name of everything made under this engine's global keys: the id of the session
    /// of its set-up. A failed check ends all of it.
    fn group(&self) -> [u8; 32];
}

/// Function-independent material, not yet bound to a circuit.
pub trait Preprocessed: Send {
    /// Phase 2, function-dependent: binds the material to `circuit`, which must be the same at
    /// every party (the handshake ensures this).
    ///
    /// # Errors
    /// `InvalidInput` when the circuit needs more than the material holds, or is not the one it was
    /// made for; `PeerMisbehaved`, `Transport` as for every phase.
    fn prepare(self: Box<Self>, net: &mut Network, circuit: &Compiled)
    -> Result<Box<dyn Prepared>>;
}

/// A circuit made ready for one evaluation.
pub trait Prepared: Send {
    /// Phase 3, online: evaluates on this party's `inputs` and returns what it may learn. Outputs
    /// exist only after every check that guards them has passed.
    ///
    /// # Errors
    /// `InvalidInput` when one of this party's inputs is missing or has a wrong width, or an input
    /// of another party is given (before anything is sent); `PeerMisbehaved`, `Transport` as for
    /// every phase.
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits>;

    /// Phase 3 in steps, for several evaluations that are online at a time ([`InFlight`]). Sends
    /// the first messages.
    ///
    /// # Errors
    /// As [`evaluate`](Prepared::evaluate); `InvalidInput` when the protocol allows only one
    /// evaluation online at a time.
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

    /// Writes the prepared circuit to `out` instead, for
    /// [`Protocol::load_prepared`](crate::Protocol::load_prepared). The caller that keeps the bytes
    /// must ensure that they are loaded at most once, and that they stay intact and secret.
    ///
    /// # Errors
    /// `Store` when `out` fails.
    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()>;

    /// For measurements only: returns the online phase in a form that can be repeated. With a
    /// number, that many executions (a multiple of 64) share the material of the one that was
    /// prepared. **Both give away all inputs.**
    ///
    /// # Errors
    /// `InvalidInput` when the protocol, or what was prepared, does not support this.
    #[cfg(feature = "measure")]
    fn measured(self: Box<Self>, _shared_by: Option<usize>) -> Result<Box<dyn Measured>> {
        Err(Error::invalid_input("this cannot be measured again and again"))
    }
}

/// An evaluation that is online and proceeds in steps, the same number of them at each party. Steps
/// of several evaluations can alternate, in the same order at all parties.
pub trait Online: Send {
    /// Receives what the peers sent in their last step, and sends what comes next; returns this
    /// party's outputs in the last step, after every check of this evaluation has passed.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails, `Transport` when a peer is gone.
    fn step(&mut self, net: &mut Network) -> Result<Option<OutputBits>>;
}

/// An online phase that can be repeated, for measurements only.
#[cfg(feature = "measure")]
pub trait Measured: Send {
    /// Evaluates on the bits of this party's input wires, and returns the bits of the output wires
    /// that it learns. Both are ordered by wire; each wire has the bits of all executions.
    ///
    /// # Errors
    /// As [`Prepared::evaluate`].
    fn run(
        &self,
        net: &mut Network,
        circuit: &Circuit,
        inputs: &symbolon_primitives::BitVec,
    ) -> Result<symbolon_primitives::BitVec>;
}

/// [`Engine::stream`] for an engine that keeps everything.
pub(crate) fn one_by_one(
    engine: &mut (impl Engine + ?Sized),
    net: &mut Network,
    circuit: &Compiled,
    inputs: &InputBits,
) -> Result<OutputBits> {
    engine.preprocess_for(net, circuit)?.prepare(net, circuit)?.evaluate(net, circuit, inputs)
}

/// [`Engine::prepare_each`] for an engine that gains nothing from preparing together.
pub(crate) fn each_by_itself(
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

/// Returns the error of protocols that make no material for unknown circuits.
fn circuit_only<T>() -> Result<T> {
    Err(Error::invalid_input(
        "this protocol makes no material for numbers of gates: it has no pools of gates and no dealer",
    ))
}

fn no_components() -> Error {
    Error::invalid_input("this protocol has no components")
}

/// Checks that `inputs` holds exactly the inputs that `party` owns, with the right widths, for
/// `executions` executions.
pub(crate) fn check_inputs(
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
