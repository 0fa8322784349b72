//! The messages of the online phase that every party sends and receives, and the evidence without
//! which no output mask is opened.

use symbolon_circuit::{Circuit, PartyId, Plan};
use symbolon_engine::{OutputBits, receive_bits};
use symbolon_interaction::{BroadcastLog, confirm_broadcasts};
use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Channel, Culprit, Error, Result};

use super::checks;
use crate::{
    gates::{
        io_wires::{self, OutputDecoder, OutputWires},
        wire_shares::WireShares,
    },
    messages::MASKED_INPUTS,
};

/// Returns all garblers' party numbers, in ascending order.
pub(super) fn garblers(parties: u16, evaluator: PartyId) -> Vec<PartyId> {
    PartyId::all(parties).filter(|&party| party != evaluator).collect()
}

/// Step 9a: broadcasts this party's masked inputs; returns the masked bits of all input wires.
pub(super) fn broadcast_inputs(
    channels: &mut [Channel],
    circuit: &Circuit,
    own: BitVec,
) -> Result<BitVec> {
    let me = channels[0].me();
    let mut log = BroadcastLog::new(channels.len() + 1);
    log.note(me, &own.to_bytes());
    for channel in channels.iter_mut() {
        channel.send(MASKED_INPUTS, &own.to_bytes())?;
        channel.flush()?;
    }
    let mut masked = Vec::with_capacity(channels.len() + 1);
    for channel in channels.iter_mut() {
        let n = io_wires::input_bits(circuit, channel.peer());
        let theirs = receive_bits(channel, MASKED_INPUTS, n)?;
        log.note(channel.peer(), &theirs.to_bytes());
        masked.push(theirs);
    }
    confirm_broadcasts(channels, &log.digest())?;
    masked.insert(me.index(), own);
    Ok(io_wires::interleave(circuit, &masked.iter().collect::<Vec<_>>()))
}

/// Counts the AND gates whose check this party has passed: step 11's check at a garbler, step 12's
/// at the evaluator.
#[derive(Default)]
pub(super) struct Authenticated {
    gates: u64,
}

impl Authenticated {
    /// Adds gates whose check has just passed.
    pub fn add(&mut self, gates: usize) {
        self.gates += gates as u64;
    }

    /// Returns the outputs of `plan`, with these masked values, as [`open_outputs`] needs them.
    ///
    /// # Panics
    /// If a gate was not checked: that is a defect of the protocol's code, and must not release
    /// anything.
    pub fn outputs(self, plan: &Plan, masked: Vec<bool>) -> AuthenticOutputs {
        assert_eq!(self.gates, plan.and_count(), "a gate was not authenticated");
        AuthenticOutputs(masked)
    }
}

/// The masked values of all outputs, after the check of every AND gate.
pub(super) struct AuthenticOutputs(Vec<bool>);

/// Step 13: opens the masks of the others' outputs, and returns this party's outputs, from the
/// masked values of all outputs.
pub(super) fn open_outputs(
    channels: &mut [Channel],
    circuit: &Circuit,
    masks: &WireShares,
    AuthenticOutputs(masked): AuthenticOutputs,
    delta: Block,
) -> Result<OutputBits> {
    for (place, channel) in channels.iter_mut().enumerate() {
        io_wires::send_output_masks(channel, circuit, masks, place)?;
        channel.flush()?;
    }
    let wires = OutputWires::of(circuit, channels[0].me());
    if wires.is_empty() {
        return Ok(io_wires::no_outputs(circuit));
    }
    let mut decoder = OutputDecoder::new(&wires, masks, &masked);
    for (place, channel) in channels.iter_mut().enumerate() {
        let opening = io_wires::receive_output_masks(channel, &wires)?;
        decoder.add(channel, place, &opening, delta)?;
    }
    Ok(decoder.finish().release(circuit, &wires))
}

/// Returns the error of the evaluator's failed check on all garblers together.
pub(super) fn unauthentic(channels: &[Channel]) -> Error {
    Error::misbehaved(Culprit::among(channels), checks::AUTHENTICATION)
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::builtin;

    use super::*;

    #[test]
    #[should_panic(expected = "a gate was not authenticated")]
    fn outputs_need_the_check_of_every_gate() {
        let plan = Plan::new(&builtin::by_name("add:2").unwrap());
        let mut authenticated = Authenticated::default();
        authenticated.add(plan.and_count() as usize - 1);
        authenticated.outputs(&plan, Vec::new());
    }
}
