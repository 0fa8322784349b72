//! The messages of the online phase that every party sends and receives.

use symbolon_circuit::{Circuit, PartyId};
use symbolon_interaction::{BroadcastLog, confirm_broadcasts};
use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Channel, Error, Result, SOMEBODY};

use crate::{
    OutputBits,
    gates::wire_shares::WireShares,
    io_wires::{self, OutputDecoder, OutputWires},
};

/// Every party's broadcast: Λ of its input wires.
pub(super) const MASKED_INPUTS: &str = "masked inputs";

/// A garbler to the evaluator: its labels of all input wires.
pub(super) const LABELS: &str = "input labels";

/// The evaluator to each garbler: Λ of all AND outputs, their labels' digest, χ.
pub(super) const MASKED_VALUES: &str = "masked values, label digest, chi";

/// A garbler to the evaluator: z.
pub(super) const AUTHENTICATION: &str = "circuit authentication";

/// The names of the checks.
pub(super) const LABEL_CHECK: &str = "masked value label";
pub(super) const AUTHENTICATION_CHECK: &str = "circuit authentication";

/// All garblers' party numbers, ascending.
pub(super) fn garblers(parties: u16, evaluator: PartyId) -> Vec<PartyId> {
    (0..parties).filter(|&party| party != evaluator).collect()
}

/// The party that a failed check points at, when it cannot tell peers apart.
pub(super) fn culprit(channels: &[Channel]) -> u16 {
    if let [peer] = channels { peer.peer() } else { SOMEBODY }
}

/// Step 9a: broadcasts the own masked inputs; returns the masked bits of all input wires.
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
    masked.insert(me as usize, own);
    Ok(io_wires::interleave(circuit, &masked.iter().collect::<Vec<_>>()))
}

/// Step 13: opens the masks of the others' outputs, and gets the own outputs, from the masked
/// values of all.
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

/// A failed check of the evaluator's on all garblers together.
pub(super) fn unauthentic(channels: &[Channel]) -> Error {
    Error::misbehaved(culprit(channels), AUTHENTICATION_CHECK)
}
