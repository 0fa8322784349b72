//! The messages of the online phase that every party sends and receives.

use symbolon_circuit::{Circuit, PartyId};
use symbolon_preprocessing::bits::{BroadcastLog, confirm_broadcasts};
use symbolon_primitives::BitVec;
use symbolon_transport::{Channel, Error, Result, SOMEBODY};

use crate::ports::{self, Opening, OutputWires};
use crate::share_rows::ShareRows;

/// Every party's broadcast: Λ of its input wires.
pub(super) const MASKED_INPUTS: &str = "masked inputs";

/// A garbler to the evaluator: its labels of all input wires.
pub(super) const LABELS: &str = "input labels";

/// The evaluator to each garbler: Λ of all AND outputs, their labels' digest, χ.
pub(super) const MASKED_VALUES: &str = "masked values, label digest, chi";

/// A garbler to the evaluator: z.
pub(super) const AUTHENTICATION: &str = "circuit authentication";

/// A party to one that learns an output: its shares of the outputs' masks, and their MACs' digest.
pub(super) const OUTPUT_MASKS: &str = "output masks";

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
        let n = ports::input_bits(circuit, channel.peer());
        let theirs = ports::receive_bits(channel, MASKED_INPUTS, n)?;
        log.note(channel.peer(), &theirs.to_bytes());
        masked.push(theirs);
    }
    confirm_broadcasts(channels, &log.digest())?;
    masked.insert(me as usize, own);
    Ok(ports::interleave(circuit, &masked.iter().collect::<Vec<_>>()))
}

/// Step 13a, sending: the own shares of the masks of the outputs that the peer in place `peer` learns.
pub(super) fn send_output_masks(
    channel: &mut Channel,
    circuit: &Circuit,
    masks: &ShareRows,
    peer: usize,
) -> Result<()> {
    let wires = OutputWires::of(circuit, channel.peer());
    if wires.is_empty() {
        return Ok(());
    }
    let (shares, digest) = ports::open_shares(&wires, masks, peer);
    channel.send_parts(OUTPUT_MASKS, &[&shares.to_bytes(), &digest])
}

/// Step 13a, receiving: a peer's shares of the masks of the own outputs.
pub(super) fn receive_output_masks(channel: &mut Channel, wires: &OutputWires) -> Result<Opening> {
    let mut bytes = channel.recv(OUTPUT_MASKS, BitVec::byte_len(wires.len()) + 32)?;
    let digest = bytes.split_off(BitVec::byte_len(wires.len()));
    let shares = ports::decode_bits(channel, wires.len(), &bytes)?;
    Ok(Opening { shares, digest: digest.try_into().expect("32 bytes were split off") })
}

/// A failed check of the evaluator's on all garblers together.
pub(super) fn unauthentic(channels: &[Channel]) -> Error {
    Error::misbehaved(culprit(channels), AUTHENTICATION_CHECK)
}
