//! Many evaluations of one circuit, in windows that run side by side if the protocol can.

use symbolon_circuit::{Circuit, PartyId};
use symbolon_primitives::BitVec;
use symbolon_protocols::{Compiled, InFlight, InputBits, Network, OutputBits, Prepared, RunTerms};
use symbolon_transport::{Error, Result};
use zeroize::ZeroizeOnDrop;

use super::windows::{BatchPlan, BatchWindows};
use super::{Kind, PreparedCircuit, Session, counted, interrupted};
use crate::report::{DEPENDENT, ONLINE};
use crate::{Inputs, Outputs};

impl Session {
    /// Runs all phases for as many evaluations of the circuit as
    /// [`Config::executions`](crate::Config::executions) says. `inputs` yields this party's inputs
    /// for each evaluation in turn, and `each` receives its outputs in turn.
    ///
    /// The work is done in windows, so that memory is bounded whatever the number of evaluations.
    /// [`TinyTable`](crate::Protocol::TinyTable) runs the evaluations of a window side by side,
    /// bit-sliced. [`Duplo`](crate::Protocol::Duplo) and [`DualEx`](crate::Protocol::DualEx)
    /// prepare and run them together, and as many windows of `duplo` as have room share one
    /// cut-and-choose. Other protocols run one at a time. The outputs of a window are released once
    /// all its checks have passed; with [`Config::in_flight`](crate::Config::in_flight), those of
    /// each evaluation once its own checks have passed.
    ///
    /// # Errors
    /// As [`evaluate`](Session::evaluate); `InvalidInput` if there are fewer inputs than
    /// evaluations; any error of `each`. All of them end the session, except for a call in a
    /// session in parts, which is rejected without harm.
    pub fn evaluate_batch(
        &mut self,
        inputs: impl IntoIterator<Item = Result<Inputs>>,
        each: impl FnMut(Outputs) -> Result<()>,
    ) -> Result<()> {
        self.only(Kind::Run)?;
        let done = self.evaluate_windows(inputs, each);
        // Later calls run one evaluation again.
        self.network.executions = 1;
        done
    }

    fn evaluate_windows(
        &mut self,
        inputs: impl IntoIterator<Item = Result<Inputs>>,
        mut each: impl FnMut(Outputs) -> Result<()>,
    ) -> Result<()> {
        let mut inputs = inputs.into_iter();
        let terms = RunTerms::of(&self.network);
        let (circuit, parties) = (&self.circuit, self.parties());
        let plan = BatchPlan::new(self.protocol, circuit, parties, terms, self.executions);
        for BatchWindows { windows, executions, times } in self.kept(plan)?.windows() {
            let n = executions as usize;
            for _ in 0..times {
                if self.in_flight.is_some() {
                    let prepared = self.prepare_apart(n)?;
                    self.run_in_flight(prepared, inputs.by_ref(), &mut each)?;
                } else if windows > 1 {
                    self.run_windows(windows as usize, n, &mut inputs, &mut each)?;
                } else {
                    self.run_window(n, &mut inputs, &mut each)?;
                }
            }
        }
        Ok(())
    }

    /// Runs all phases of one window of `n` evaluations.
    fn run_window(
        &mut self,
        n: usize,
        inputs: &mut impl Iterator<Item = Result<Inputs>>,
        each: &mut impl FnMut(Outputs) -> Result<()>,
    ) -> Result<()> {
        let joined = Joined::next(self.circuit.circuit(), self.network.me, inputs, n);
        let joined = self.kept(joined)?;
        self.network.executions = n;
        let bits =
            if self.streams() { self.stream(&joined.bits)? } else { self.phases_on(&joined.bits)? };
        let (circuit, me) = (self.circuit().clone(), self.party());
        let taken = split(&circuit, me, bits, n)?.into_iter().try_for_each(each);
        self.kept(taken)
    }

    /// Runs all phases of several windows of `n` evaluations, which are prepared together. Each of
    /// them runs before the next one is ready.
    fn run_windows(
        &mut self,
        windows: usize,
        n: usize,
        inputs: &mut impl Iterator<Item = Result<Inputs>>,
        each: &mut impl FnMut(Outputs) -> Result<()>,
    ) -> Result<()> {
        // Inputs that are missing or do not fit are an error before the first window is prepared.
        let first = Joined::next(self.circuit.circuit(), self.network.me, inputs, n);
        let mut first = Some(self.kept(first)?);
        self.network.executions = n;
        let mut run = |network: &mut Network, circuit: &Compiled, prepared: Box<dyn Prepared>| {
            let joined = match first.take() {
                Some(first) => first,
                None => Joined::next(circuit.circuit(), network.me, inputs, n)?,
            };
            let bits = counted(network, ONLINE, |network| {
                prepared.evaluate(network, circuit, &joined.bits)
            })?;
            let outputs = split(circuit.circuit(), network.me, bits, n)?;
            outputs.into_iter().try_for_each(&mut *each)
        };
        let (mut left, mut last) = (windows, None);
        self.phase(DEPENDENT, |parts| {
            let super::Parts { engine, network, circuit } = parts;
            engine.prepare_each(network, circuit, windows, &mut |network, prepared| {
                left -= 1;
                if left == 0 {
                    last = Some(prepared);
                    return Ok(());
                }
                interrupted(network, DEPENDENT, |network| run(network, circuit, prepared))
            })
        })?;
        // Nothing is left to prepare, so the last window does not interrupt the phase.
        let last = last.ok_or_else(|| Error::internal("too few windows were prepared"));
        let done = last.and_then(|last| run(&mut self.network, &self.circuit, last));
        self.kept(done)
    }

    /// Runs phase 3 of several prepared circuits, with as many online at a time as
    /// [`Config::in_flight`](crate::Config::in_flight) says, or one. `inputs` yields this party's
    /// inputs for each circuit in turn, and `each` receives its outputs in turn, once the checks of
    /// that evaluation have passed.
    ///
    /// # Errors
    /// As [`run`](Session::run); `InvalidInput` if there are fewer inputs than prepared circuits;
    /// any error of `each`.
    pub fn run_in_flight(
        &mut self,
        prepared: Vec<PreparedCircuit>,
        inputs: impl IntoIterator<Item = Result<Inputs>>,
        mut each: impl FnMut(Outputs) -> Result<()>,
    ) -> Result<()> {
        for ready in &prepared {
            self.own(ready.job, "prepared circuit")?;
        }
        let limit = self.in_flight.unwrap_or(1);
        let (mut prepared, mut inputs) = (prepared.into_iter(), inputs.into_iter());
        self.phase(ONLINE, |parts| {
            let super::Parts { network, circuit, .. } = parts;
            let (me, count) = (network.me, prepared.len() as u64);
            InFlight::new(circuit, limit)?.evaluate(
                network,
                count,
                |_| {
                    let joined = Joined::next(circuit.circuit(), me, &mut inputs, 1)?;
                    let ready = prepared.next();
                    let ready = ready.ok_or_else(|| Error::internal("too few were prepared"))?;
                    Ok((ready.inner, joined))
                },
                |bits| each(Outputs::new(circuit.circuit(), me, bits)?),
            )
        })
    }

    /// Runs one phase after the other on the joined inputs of a window.
    fn phases_on(&mut self, inputs: &InputBits) -> Result<OutputBits> {
        let material = self.preprocess_circuit()?;
        let ready = self.prepare(material)?;
        self.phase(ONLINE, |parts| {
            let super::Parts { network, circuit, .. } = parts;
            ready.inner.evaluate(network, circuit, inputs)
        })
    }

    /// Ends the session if something outside of a phase failed, because the peer is waiting.
    fn kept<T>(&mut self, done: Result<T>) -> Result<T> {
        done.or_else(|error| self.phase(ONLINE, |_| Err(error)))
    }
}

/// The inputs of several evaluations, side by side; wiped when dropped.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Joined {
    pub bits: InputBits,
}

impl Joined {
    /// Joins the inputs of the next `n` evaluations.
    pub fn next(
        circuit: &Circuit,
        party: PartyId,
        inputs: &mut impl Iterator<Item = Result<Inputs>>,
        n: usize,
    ) -> Result<Joined> {
        let mut joined = Joined { bits: vec![None; circuit.inputs().len()] };
        for (input, bits) in circuit.inputs().iter().zip(&mut joined.bits) {
            let room = usize::try_from(input.ty.width()).unwrap_or(usize::MAX).saturating_mul(n);
            *bits = (input.owner == party).then(|| BitVec::with_capacity(room));
        }
        for _ in 0..n {
            let next = inputs
                .next()
                .ok_or_else(|| Error::invalid_input("there are fewer inputs than evaluations"))??;
            next.check(circuit, party)?;
            for (to, from) in joined.bits.iter_mut().zip(next.bits()) {
                if let (Some(to), Some(from)) = (to, from) {
                    to.extend_from(from);
                }
            }
        }
        Ok(joined)
    }
}

impl AsRef<InputBits> for Joined {
    fn as_ref(&self) -> &InputBits {
        &self.bits
    }
}

/// Splits joined outputs into those of each evaluation.
pub(crate) fn split(
    circuit: &Circuit,
    party: PartyId,
    bits: OutputBits,
    n: usize,
) -> Result<Vec<Outputs>> {
    let part = |i: usize| -> OutputBits {
        let part = |bits: &BitVec| {
            let width = bits.len() / n;
            bits.slice(i * width..(i + 1) * width)
        };
        bits.iter().map(|bits| bits.as_ref().map(part)).collect()
    };
    (0..n).map(|i| Outputs::new(circuit, party, part(i))).collect()
}
