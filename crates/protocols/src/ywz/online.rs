//! The messages of the online phase that every party sends and receives.

use symbolon_circuit::{Circuit, PartyId};
use symbolon_interaction::{BroadcastLog, confirm_broadcasts};
use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Channel, Culprit, Error, Result};

use super::checks;
use crate::{
    OutputBits,
    gates::wire_shares::WireShares,
    io_wires::{self, OutputDecoder, OutputWires},
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
        let theirs = io_wires::receive_bits(channel, MASKED_INPUTS, n)?;
        log.note(channel.peer(), &theirs.to_bytes());
        masked.push(theirs);
    }
    confirm_broadcasts(channels, &log.digest())?;
    masked.insert(me.index(), own);
    Ok(io_wires::interleave(circuit, &masked.iter().collect::<Vec<_>>()))
}

/// Step 13: opens the masks of the others' outputs, and returns this party's outputs, from the
/// masked values of all outputs.
pub(super) fn open_outputs(
    channels: &mut [Channel],
    circuit: &Circuit,
    masks: &WireShares,
    masked: &[bool],
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
    let mut decoder = OutputDecoder::new(&wires, masks, masked);
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
