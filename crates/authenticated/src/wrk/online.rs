//! The messages of the online phase, and the garbler's check of its own outputs.

use symbolon_engine::decode_bits;
use symbolon_preprocessing::open_bits::digest_of;
use symbolon_primitives::{BitVec, Block, same_digest};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroizing;

use super::{checks, messages};
use crate::gates::{
    io_wires::{Opening, OutputDecoder, OutputWires, Verified},
    wire_shares::WireShares,
};

/// Receives and checks the garbler's own outputs (YWZ20 step 11): the labels prove the masked bits,
/// and the MACs prove the evaluator's shares of the masks.
///
/// Check: `wrk`: garbler's outputs | `returned output label and MAC` | a lie about an output |
/// 2^-127
pub(super) fn receive_garbler_outputs(
    channel: &mut Channel,
    wires: &OutputWires,
    masks: &WireShares,
    labels: &[Block],
    delta: Block,
) -> Result<Verified> {
    let n = wires.len();
    let bytes = channel.recv(messages::GARBLER_OUTPUTS, 2 * BitVec::byte_len(n) + 32)?;
    let (masked, rest) = bytes.split_at(BitVec::byte_len(n));
    let (shares, digest) = rest.split_at(BitVec::byte_len(n));
    let masked = decode_bits(channel, n, masked)?;
    let shares = decode_bits(channel, n, shares)?;
    let proofs = wires.indices().enumerate();
    let labels = proofs.clone().map(|(k, w)| labels[w] ^ delta.select(masked.get(k)));
    let macs = Zeroizing::new(
        proofs
            .map(|(k, w)| masks.pair(w).key.mac_of(shares.get(k), delta).0)
            .collect::<Vec<Block>>(),
    );
    let expected = Zeroizing::new(labels.chain(macs.iter().copied()).collect::<Vec<Block>>());
    if !digest.try_into().is_ok_and(|digest| same_digest(&digest_of(&expected), digest)) {
        return Err(Error::misbehaved(channel.peer(), checks::RETURNED_OUTPUT));
    }
    let mut all = vec![false; masks.len()];
    for (k, w) in wires.indices().enumerate() {
        all[w] = masked.get(k);
    }
    let opening = Opening { shares, digest: digest_of(&macs) };
    let mut decoder = OutputDecoder::new(wires, masks, &all);
    decoder.add(channel, 0, &opening, delta)?;
    Ok(decoder.finish())
}
