//! Many evaluations of one circuit, in windows that run side by side if the protocol can.

use symbolon_circuit::{Circuit, PartyId};
use symbolon_protocols::{Batch, Compiled, InFlight, InputBits, OutputBits, Protocol};
use symbolon_transport::{Error, Result};
use zeroize::Zeroize;

use super::{Kind, PreparedCircuit, Session};
use crate::{Inputs, Outputs, report::ONLINE};

/// The approximate number of triples in a window, whose material is made together and held in
/// memory.
const TRIPLES: u64 = 1 << 20;

impl Session {
    /// Runs all phases for as many evaluations of the circuit as
    /// [`Config::executions`](crate::Config::executions) says. `inputs` yields this party's inputs
    /// for each evaluation in turn, and `each` receives its outputs in turn.
    ///
    /// The work is done in windows, so that memory does not grow with the number of evaluations.
    /// [`TinyTable`](crate::Protocol::TinyTable) runs the evaluations of a window side by side,
    /// bit-sliced. [`Duplo`](crate::Protocol::Duplo) and [`DualEx`](crate::Protocol::DualEx)
    /// prepare and run them together. Other protocols run one at a time. The outputs of a window
    /// are released once all its checks have passed; with
    /// [`Config::in_flight`](crate::Config::in_flight), those of each evaluation once its own
    /// checks have passed.
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
        self.network.batch.executions = 1;
        done
    }

    fn evaluate_windows(
        &mut self,
        inputs: impl IntoIterator<Item = Result<Inputs>>,
        mut each: impl FnMut(Outputs) -> Result<()>,
    ) -> Result<()> {
        let mut inputs = inputs.into_iter();
        let window = self.window()?;
        let mut left = self.executions;
        while left > 0 {
            let now = window.min(left) as usize;
            if self.in_flight.is_some() {
                let prepared = self.prepare_apart(now)?;
                self.run_in_flight(prepared, inputs.by_ref(), &mut each)?;
                left -= now as u64;
                continue;
            }
            let joined = Joined::next(self.circuit.circuit(), self.network.me, &mut inputs, now);
            let joined = self.kept(joined)?;
            self.network.batch.executions = now;
            let bits = if self.streams() {
                self.stream(&joined.bits)?
            } else {
                self.phases_on(&joined.bits)?
            };
            let (circuit, me) = (self.circuit().clone(), self.party());
            let taken = split(&circuit, me, bits, now)?.into_iter().try_for_each(&mut each);
            self.kept(taken)?;
            left -= now as u64;
        }
        Ok(())
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

    /// Returns how many evaluations run side by side.
    fn window(&self) -> Result<u64> {
        let one = Batch { executions: 1, ..self.network.batch };
        window((self.protocol, one), &self.circuit, self.parties())
    }

    /// Ends the session if something outside of a phase failed, because the peer is waiting.
    fn kept<T>(&mut self, done: Result<T>) -> Result<T> {
        done.or_else(|error| self.phase(ONLINE, |_| Err(error)))
    }
}

/// Returns how many evaluations of a large batch [`Session::evaluate_batch`] prepares and runs
/// together.
///
/// # Errors
/// `InvalidInput` if the protocol cannot run this circuit.
pub fn executions_together(protocol: Protocol, circuit: &Circuit, parties: u16) -> Result<u64> {
    window((protocol, Batch::default()), &Compiled::new(circuit), parties)
}

/// As [`executions_together`], given the batch `one` of a single evaluation.
fn window((protocol, one): (Protocol, Batch), circuit: &Compiled, parties: u16) -> Result<u64> {
    if !protocol.runs_batches() {
        return Ok(1);
    }
    let need = protocol.demand_of(circuit, parties, one)?;
    // A bit of an input or an output takes about as much memory as a gate.
    let outputs = circuit.circuit().outputs().iter().map(|output| output.ty.width());
    let bits = need.input_bits.iter().copied().chain(outputs).fold(0, u64::saturating_add);
    let window = TRIPLES / need.and_gates.max(bits).max(1);
    Ok(if window > 64 { window / 64 * 64 } else { window.max(1) })
}

/// The inputs of several evaluations, side by side; wiped when dropped.
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
            *bits = (input.owner == party).then(|| Vec::with_capacity(room));
        }
        for _ in 0..n {
            let next = inputs
                .next()
                .ok_or_else(|| Error::invalid_input("there are fewer inputs than evaluations"))??;
            next.check(circuit, party)?;
            for (to, from) in joined.bits.iter_mut().zip(next.bits()) {
                if let (Some(to), Some(from)) = (to, from) {
                    to.extend_from_slice(from);
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

impl Drop for Joined {
    fn drop(&mut self) {
        self.bits.iter_mut().flatten().for_each(Zeroize::zeroize);
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
        let part = |bits: &Vec<bool>| {
            let width = bits.len() / n;
            bits[i * width..(i + 1) * width].to_vec()
        };
        bits.iter().map(|bits| bits.as_ref().map(part)).collect()
    };
    (0..n).map(|i| Outputs::new(circuit, party, part(i))).collect()
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::{Receivers, Type, builder::Builder, builtin};

    use super::*;

    #[test]
    fn windows_are_bounded_by_gates_and_by_inputs_and_outputs() {
        let together = |circuit: &Circuit| {
            executions_together(Protocol::TinyTable, circuit, 2).expect("it runs batches")
        };
        let aes = builtin::by_name("aes128").unwrap();
        assert_eq!(together(&aes), TRIPLES / 6400 / 64 * 64);
        let mut b = Builder::new("wires");
        let (x, y) = (b.input("x", Type::Uint(2048), 0), b.input("y", Type::Uint(2048), 1));
        let xor = b.xor(&x, &y);
        b.output("xor", &xor, Type::Uint(2048), Receivers::All);
        assert_eq!(together(&b.finish().unwrap()), TRIPLES / 6144 / 64 * 64);
    }
}
