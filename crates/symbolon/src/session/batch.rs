//! Many evaluations of one circuit, in windows that run side by side where the protocol can.

use symbolon_circuit::{Circuit, PartyId};
use symbolon_protocols::{Batch, Compiled, InFlight, InputBits, OutputBits, Protocol};
use symbolon_transport::{Error, Result};
use zeroize::Zeroize;

use super::{Kind, PreparedCircuit, Session};
use crate::{Inputs, Outputs, report::ONLINE};

/// About how many triples a window may take: what material is made for at a time, and is held in
/// memory.
const TRIPLES: u64 = 1 << 20;

impl Session {
    /// Everything at once, for as many evaluations of the circuit as
    /// [`Config::executions`](crate::Config::executions) says: `inputs` gives this party's inputs
    /// of one after the other, `each` takes what it learns of one after the other.
    ///
    /// The work is done in windows, so that memory does not follow the number of evaluations.
    /// [`TinyTable`](crate::Protocol::TinyTable) runs those of a window side by side, bit-sliced,
    /// [`Duplo`](crate::Protocol::Duplo) and [`DualEx`](crate::Protocol::DualEx) prepare and run
    /// them together; other protocols run one at a time. Outputs of a window are released when all
    /// its checks have passed, or those of each evaluation after its own with
    /// [`Config::in_flight`](crate::Config::in_flight).
    ///
    /// # Errors
    /// As [`evaluate`](Session::evaluate); `InvalidInput` when there are fewer inputs than
    /// evaluations; what `each` fails with. All of them end the session, but for a call in a
    /// session in parts, which is refused without harm.
    pub fn evaluate_batch(
        &mut self,
        inputs: impl IntoIterator<Item = Result<Inputs>>,
        each: impl FnMut(Outputs) -> Result<()>,
    ) -> Result<()> {
        self.only(Kind::Run)?;
        let done = self.evaluate_windows(inputs, each);
        // Whatever comes next is one evaluation again.
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

    /// Phase 3 of several prepared circuits, of which as many are online at a time as
    /// [`Config::in_flight`](crate::Config::in_flight) says, or one: `inputs` gives this party's
    /// inputs of one after the other, `each` takes what it learns of one after the other, when the
    /// checks of that one have passed.
    ///
    /// # Errors
    /// As [`run`](Session::run); `InvalidInput` when there are fewer inputs than prepared circuits;
    /// what `each` fails with.
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

    /// One phase after the other, on the joined inputs of a window.
    fn phases_on(&mut self, inputs: &InputBits) -> Result<OutputBits> {
        let material = self.preprocess_circuit()?;
        let ready = self.prepare(material)?;
        self.phase(ONLINE, |parts| {
            let super::Parts { network, circuit, .. } = parts;
            ready.inner.evaluate(network, circuit, inputs)
        })
    }

    /// How many evaluations are run side by side.
    fn window(&self) -> Result<u64> {
        let one = Batch { executions: 1, ..self.network.batch };
        window((self.protocol, one), &self.circuit, self.parties())
    }

    /// Ends the session when something outside of a phase failed: the peer is waiting.
    fn kept<T>(&mut self, done: Result<T>) -> Result<T> {
        done.or_else(|error| self.phase(ONLINE, |_| Err(error)))
    }
}

/// How many evaluations of a large batch [`Session::evaluate_batch`] prepares and runs together.
///
/// # Errors
/// `InvalidInput` when the protocol cannot run this circuit.
pub fn executions_together(protocol: Protocol, circuit: &Circuit, parties: u16) -> Result<u64> {
    window((protocol, Batch::default()), &Compiled::new(circuit), parties)
}

/// The same, of which one takes `one`.
fn window((protocol, one): (Protocol, Batch), circuit: &Compiled, parties: u16) -> Result<u64> {
    if !protocol.runs_batches() {
        return Ok(1);
    }
    let need = protocol.demand_of(circuit, parties, one)?;
    let window = TRIPLES / need.and_gates.max(1);
    Ok(if window > 64 { window / 64 * 64 } else { window.max(1) })
}

/// The inputs of several evaluations, side by side; wiped when dropped.
pub(crate) struct Joined {
    pub bits: InputBits,
}

impl Joined {
    /// Takes the inputs of the next `n` evaluations.
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

/// The outputs of several evaluations, one by one.
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
