//! Inputs and outputs at the edge of a garbling protocol: masked inputs, and outputs that exist
//! only once they are checked.

use symbolon_circuit::{Circuit, PartyId};
use symbolon_engine::{InputBits, OutputBits, decode_bits};
use symbolon_preprocessing::open_bits;
use symbolon_primitives::{BitVec, Block, same_digest};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroizing;

use super::wire_shares::WireShares;
use crate::{checks, messages::OUTPUT_MASKS};

/// Returns the number of input bits of `party`.
pub(crate) fn input_bits(circuit: &Circuit, party: PartyId) -> usize {
    let own = circuit.inputs().iter().filter(|input| input.owner == party);
    own.map(|input| input.ty.width() as usize).sum()
}

/// Returns the bits of this party's inputs, concatenated and masked.
pub(crate) fn masked_inputs(inputs: &InputBits, masks: &BitVec) -> BitVec {
    let mut masked = BitVec::with_capacity(masks.len());
    inputs.iter().flatten().for_each(|bits| masked.extend_from(bits));
    masked.xor_assign(masks);
    masked
}

/// Combines the masked bits of each party, by party number, to those of all input wires.
pub(crate) fn interleave(circuit: &Circuit, parties: &[&BitVec]) -> BitVec {
    let mut masked = BitVec::zeros(0);
    let mut taken = vec![0; parties.len()];
    for input in circuit.inputs() {
        let owner = input.owner.index();
        for _ in 0..input.ty.width() {
            masked.push(parties[owner].get(taken[owner]));
            taken[owner] += 1;
        }
    }
    masked
}

/// The output wires that one party learns, as indices into the outputs' joined bits.
pub(crate) struct OutputWires {
    party: PartyId,
    indices: Vec<usize>,
}

impl OutputWires {
    pub fn of(circuit: &Circuit, party: PartyId) -> Self {
        let mut indices = Vec::new();
        let mut next = 0;
        for output in circuit.outputs() {
            let width = output.ty.width() as usize;
            if output.to.contains(party) {
                indices.extend(next..next + width);
            }
            next += width;
        }
        OutputWires { party, indices }
    }

    pub fn len(&self) -> usize {
        self.indices.len()
    }

    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Returns the indices, in order.
    pub fn indices(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.indices.iter().copied()
    }

    /// Packs a bit of each wire, given its index.
    pub fn pack(&self, bit: impl Fn(usize) -> bool) -> BitVec {
        let mut bits = BitVec::with_capacity(self.len());
        self.indices().for_each(|w| bits.push(bit(w)));
        bits
    }
}

/// A peer's shares of output masks, with the digest of their MACs.
pub(crate) struct Opening {
    pub shares: BitVec,
    pub digest: [u8; 32],
}

/// Returns this party's shares of the masks of `wires`, and the digest of their MACs under the Δ of
/// the peer with index `peer`.
pub(crate) fn open_shares(
    wires: &OutputWires,
    masks: &WireShares,
    peer: usize,
) -> (BitVec, [u8; 32]) {
    let macs =
        Zeroizing::new(wires.indices().map(|w| masks.auth(w)[peer][0]).collect::<Vec<Block>>());
    (wires.pack(|w| masks.bit(w)), open_bits::digest_of(&macs))
}

/// Sends this party's shares of the masks of the outputs that the peer with index `peer` learns, if
/// any.
pub(crate) fn send_output_masks(
    channel: &mut Channel,
    circuit: &Circuit,
    masks: &WireShares,
    peer: usize,
) -> Result<()> {
    let wires = OutputWires::of(circuit, channel.peer());
    if wires.is_empty() {
        return Ok(());
    }
    let (shares, digest) = open_shares(&wires, masks, peer);
    channel.send_parts(OUTPUT_MASKS, &[&Zeroizing::new(shares.to_bytes()), &digest])
}

/// Receives a peer's shares of the masks of this party's outputs.
pub(crate) fn receive_output_masks(channel: &mut Channel, wires: &OutputWires) -> Result<Opening> {
    let mut bytes = Zeroizing::new(channel.recv(OUTPUT_MASKS, BitVec::byte_len(wires.len()) + 32)?);
    let digest = bytes.split_off(BitVec::byte_len(wires.len()));
    let shares = decode_bits(channel, wires.len(), &bytes)?;
    Ok(Opening { shares, digest: digest.try_into().expect("32 bytes were split off") })
}

/// Own outputs in the process of being unmasked, which needs every peer's shares of the masks.
pub(crate) struct OutputDecoder<'a> {
    masks: &'a WireShares,
    wires: &'a OutputWires,
    bits: BitVec,
    /// The number of peers whose openings have passed their check.
    checked: usize,
}

impl<'a> OutputDecoder<'a> {
    /// Starts from the masked values of all outputs and this party's shares of their masks.
    pub fn new(wires: &'a OutputWires, masks: &'a WireShares, masked: &[bool]) -> Self {
        let bits = wires.pack(|w| masked[w] ^ masks.bit(w));
        OutputDecoder { masks, wires, bits, checked: 0 }
    }

    /// Checks and adds the shares of the peer with index `peer`.
    ///
    /// Check: outputs | `output mask MAC` | a lie about an output | 2^-127; `tinytable` as its
    /// tables
    pub fn add(
        &mut self,
        channel: &Channel,
        peer: usize,
        opening: &Opening,
        delta: Block,
    ) -> Result<()> {
        let keys = self.wires.indices().map(|w| self.masks.auth(w)[peer][1]).enumerate();
        let macs = Zeroizing::new(
            keys.map(|(k, key)| key ^ delta.select(opening.shares.get(k))).collect::<Vec<Block>>(),
        );
        if !same_digest(&open_bits::digest_of(&macs), &opening.digest) {
            return Err(Error::misbehaved(channel.peer(), checks::OUTPUT_MASK));
        }
        self.bits.xor_assign(&opening.shares);
        self.checked += 1;
        Ok(())
    }

    /// Returns the outputs, once every peer's opening has been added.
    ///
    /// # Panics
    /// If one is missing: that is a defect of the protocol's code, and must not release anything.
    pub fn finish(self) -> Verified {
        assert_eq!(self.checked, self.masks.peers(), "an output mask was not opened by every peer");
        Verified { bits: self.bits }
    }
}

/// Output bits, unmasked with shares that have passed the check of their MACs. `wrk` and `ywz`
/// release outputs only from this type, and make it only from masked outputs that have passed a
/// check of their own.
pub(crate) struct Verified {
    bits: BitVec,
}

impl Verified {
    /// Returns the outputs of the party that `wires` belongs to.
    ///
    /// Paper: YWZ20, Fig. 7, 13 | outputs
    pub fn release(self, circuit: &Circuit, wires: &OutputWires) -> OutputBits {
        let mut next = 0;
        let release = |output: &symbolon_circuit::Output| {
            output.to.contains(wires.party).then(|| {
                let start = next;
                next += output.ty.width() as usize;
                self.bits.slice(start..next)
            })
        };
        circuit.outputs().iter().map(release).collect()
    }
}

/// Returns the outputs of a party that learns none.
pub(crate) fn no_outputs(circuit: &Circuit) -> OutputBits {
    vec![None; circuit.outputs().len()]
}
