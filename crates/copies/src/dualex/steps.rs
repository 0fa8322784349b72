//! The online phase as steps, so that several executions can be online at a time over one
//! connection.
//!
//! | message | |
//! | --- | --- |
//! | 1 | x̂ = x ⊕ M·c_1, the masked inputs |
//! | 2 | labels for both parties' inputs in this party's circuits, and R |
//! | 3, 4 | both sets are committed to (one message in the asynchronous form) |
//! | 5 | output labels are opened and checked |
//! | 6 | the intersection is opened |
//!
//! Each step receives one of these messages and sends the next. Between steps, messages of other
//! executions may be sent and received, in an order that both parties know
//! ([`InFlight`](symbolon_engine::InFlight)).
//!
//! # Several executions in flight
//! Each execution has its own state, and nothing passes from one to another: the order of its
//! messages, the checks before the intersection is opened and the release of its outputs are the
//! same as for an execution alone. A peer cannot use its messages for one execution in another,
//! because everything they are checked against is bound to the number of the circuit, bucket or
//! intersection and to the session that prepared it. The commitments to sums are also bound to the
//! session that runs the execution (`context`).

use std::io::Write;

use symbolon_engine::{
    Compiled, InputBits, Network, OutputBits, Prepared,
    codec::Writer,
    phases::{self, Online as _},
};
use symbolon_primitives::{BitVec, CommitContext, Commitment, Prg};
use symbolon_transport::{Error, PartyId, Result};
use zeroize::Zeroizing;

use super::{
    messages,
    online::{CommittedSums, Items, Online, PreparedExecutions, Sets},
};
use crate::dualex::options::PsiForm;

/// Executions in the online phase whose messages are sent together.
pub(super) struct Run {
    prepared: PreparedExecutions,
    prg: Prg,
    /// A digest of the session that prepared the executions and the session that runs them.
    session: [u8; 32],
    /// This party's inputs.
    own: Vec<Zeroizing<Vec<bool>>>,
    /// This party's masked inputs.
    announced: BitVec,
    state: State,
}

/// The message sent last, with everything that the next steps need.
enum State {
    MaskedInputs,
    Labels { theirs: BitVec },
    Items { sets: Vec<Sets>, own: [BitVec; 2] },
    Sums { sets: Vec<Sets>, own: CommittedSums },
    Seeds { sets: Vec<Sets>, fixed: Fixed },
    Opening { sets: Vec<Sets>, fixed: Fixed },
    Ended,
}

/// What fixes both parties' sets.
enum Fixed {
    Synchronous(CommittedSums, Commitment),
    Asynchronous(Items),
}

impl Prepared for PreparedExecutions {
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        let mut run = Run::start(*self, net, circuit, inputs)?;
        loop {
            if let Some(outputs) = run.step(net)? {
                return Ok(outputs);
            }
        }
    }

    fn start(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<Box<dyn phases::Online>> {
        Ok(Box::new(Run::start(*self, net, circuit, inputs)?))
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut out = Writer(out);
        out.bytes(&self.session)?;
        out.u64(self.lengths.bucket as u64)?;
        out.bytes(&[self.lengths.psi as u8])?;
        self.executions.iter().try_for_each(|execution| execution.save(&mut out))
    }
}

impl Run {
    /// Sends the masked inputs.
    ///
    /// # Errors
    /// `InvalidInput` when the inputs do not fit, before anything is sent; `Transport`.
    pub fn start(
        prepared: PreparedExecutions,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<Run> {
        circuit.must_be(&prepared.digest)?;
        let n = prepared.executions.len();
        phases::check_inputs(circuit.circuit(), net.me, inputs, n)?;
        let mut prg = Prg::from_os().map_err(|e| Error::internal(format!("no randomness: {e}")))?;
        let me = (net.me, inputs);
        let own: Vec<Zeroizing<Vec<bool>>> =
            (0..n).map(|i| prepared.function.inputs_of(me, (i, n), &mut prg)).collect();
        let mut hasher = blake3::Hasher::new_derive_key("symbolon dualex online 1");
        hasher.update(&prepared.session).update(&net.session);
        let session = *hasher.finalize().as_bytes();
        let channel = &mut net.peers()[0];
        let announced = Online { prepared: &prepared, channel, prg: &mut prg }.announce(&own)?;
        Ok(Run { prepared, prg, session, own, announced, state: State::MaskedInputs })
    }
}

/// Returns the context to which the commitment to a party's sums is bound.
fn context<'a>(
    prepared: &PreparedExecutions,
    session: &'a [u8; 32],
    party: PartyId,
) -> CommitContext<'a> {
    let index = prepared.executions.first().map_or(0, |first| first.number);
    CommitContext { domain: messages::PSI_SUMS.name(), session, party: party.number(), index }
}

impl phases::Online for Run {
    fn step(&mut self, net: &mut Network) -> Result<Option<OutputBits>> {
        let Run { prepared, prg, session, own: inputs, announced, state } = self;
        let channel = &mut net.peers()[0];
        let (me, peer) = (channel.me(), channel.peer());
        let prepared = &*prepared;
        let mut online = Online { prepared, channel, prg };
        *state = match std::mem::replace(state, State::Ended) {
            State::MaskedInputs => {
                let theirs = online.hear()?;
                online.send_labels(inputs, &theirs)?;
                State::Labels { theirs }
            }
            State::Labels { theirs } => {
                let sets = online.evaluate_all(announced, &theirs)?;
                let own = online.send_items(&sets)?;
                State::Items { sets, own }
            }
            State::Items { sets, own } => {
                let items = online.hear_items(own)?;
                match prepared.lengths.psi {
                    PsiForm::Synchronous => {
                        let own =
                            online.commit_sums(&sets, &items, &context(prepared, session, me))?;
                        State::Sums { sets, own }
                    }
                    PsiForm::Asynchronous => {
                        online.send_seeds()?;
                        State::Seeds { sets, fixed: Fixed::Asynchronous(items) }
                    }
                }
            }
            State::Sums { sets, own } => {
                let theirs = online.hear_commitment(&own)?;
                online.send_seeds()?;
                State::Seeds { sets, fixed: Fixed::Synchronous(own, theirs) }
            }
            State::Seeds { sets, fixed } => {
                let checked = online.check_translations()?;
                match &fixed {
                    Fixed::Synchronous(own, _) => online.open_sums(&checked, own)?,
                    Fixed::Asynchronous(items) => online.open_terms(&checked, items)?,
                }
                State::Opening { sets, fixed }
            }
            State::Opening { sets, fixed } => {
                let sums = match &fixed {
                    Fixed::Synchronous(_, theirs) => {
                        online.hear_sums(theirs, &context(prepared, session, peer))?
                    }
                    Fixed::Asynchronous(items) => online.hear_terms(items)?,
                };
                return online.release(&sets, &sums, inputs).map(Some);
            }
            State::Ended => return Err(Error::internal("this execution has ended")),
        };
        Ok(None)
    }
}
