//! What both parties need online: masked inputs, and outputs that exist only once they are checked.

use symbolon_circuit::{Circuit, PartyId};
use symbolon_preprocessing::{Share, exchange};
use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Channel, Error, Result};

use crate::{InputBits, OutputBits};

/// The evaluator's one online message: Λ of its input wires.
pub(super) const MASKED_INPUTS: &str = "masked inputs";

/// The garbler's one online message: Λ of its input wires, the labels of all input wires, and the
/// opening of its shares of the masks of the evaluator's output wires.
pub(super) const INPUTS_AND_LABELS: &str = "masked inputs, labels, output masks";

/// What the evaluator returns when the garbler learns an output: Λ of those wires, its shares of their
/// masks, and a digest of labels and MACs.
pub(super) const GARBLER_OUTPUTS: &str = "outputs for the garbler";

/// The names of the checks.
pub(super) const TABLE_CHECK: &str = "garbled table MAC check";
pub(super) const OUTPUT_CHECK: &str = "output mask MAC check";
pub(super) const GARBLER_OUTPUT_CHECK: &str = "returned output label and MAC check";

/// How many input bits `party` has.
pub(super) fn input_bits(circuit: &Circuit, party: PartyId) -> usize {
    let own = circuit.inputs().iter().filter(|input| input.owner == party);
    own.map(|input| input.ty.width() as usize).sum()
}

/// The own inputs' bits, joined, masked.
pub(super) fn masked_inputs(inputs: &InputBits, masks: &BitVec) -> BitVec {
    let mut masked = BitVec::zeros(0);
    for (k, &bit) in inputs.iter().flatten().flatten().enumerate() {
        masked.push(bit ^ masks.get(k));
    }
    masked
}

/// The masked bits of all input wires, from those of the two parties.
pub(super) fn interleave(circuit: &Circuit, me: PartyId, own: &BitVec, theirs: &BitVec) -> BitVec {
    let mut masked = BitVec::zeros(0);
    let mut taken = [0, 0];
    for input in circuit.inputs() {
        let (source, taken) =
            if input.owner == me { (own, &mut taken[0]) } else { (theirs, &mut taken[1]) };
        for _ in 0..input.ty.width() {
            masked.push(source.get(*taken));
            *taken += 1;
        }
    }
    masked
}

/// Receives `n` packed bits.
pub(super) fn receive_bits(channel: &mut Channel, kind: &'static str, n: usize) -> Result<BitVec> {
    let bytes = channel.recv(kind, BitVec::byte_len(n))?;
    decode_bits(channel, n, &bytes)
}

/// Decodes `n` packed bits that the peer sent.
pub(super) fn decode_bits(channel: &Channel, n: usize, bytes: &[u8]) -> Result<BitVec> {
    BitVec::from_bytes(n, bytes)
        .ok_or_else(|| Error::misbehaved(channel.peer(), "padding of packed bits"))
}

/// The output wires that one party learns, as indices into the outputs' joined bits.
pub(super) struct OutputWires {
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

    /// Picks these wires' entries.
    pub fn pick<T: Copy>(&self, all: &[T]) -> Vec<T> {
        self.indices.iter().map(|&w| all[w]).collect()
    }
}

/// The own shares of the masks of `wires`, and the digest of their MACs.
pub(super) fn open_shares(wires: &OutputWires, masks: &[Share]) -> (BitVec, [u8; 32]) {
    let shares = wires.pick(masks);
    let bits: Vec<bool> = shares.iter().map(|share| share.bit).collect();
    let macs: Vec<Block> = shares.iter().map(|share| share.mac).collect();
    (BitVec::from_bools(&bits), exchange::digest_of(&macs))
}

/// Checks the peer's shares of the masks of the own output `wires` and unmasks: step 8 of Fig. 2.
pub(super) fn check_opened(
    channel: &Channel,
    wires: &OutputWires,
    masks: &[Share],
    opened: (&BitVec, [u8; 32]),
    masked: &[bool],
    delta: Block,
) -> Result<Verified> {
    let (theirs, digest) = opened;
    let shares = wires.pick(masks);
    let macs: Vec<Block> = shares
        .iter()
        .enumerate()
        .map(|(k, share)| share.key ^ delta.select(theirs.get(k)))
        .collect();
    if exchange::digest_of(&macs) != digest {
        return Err(Error::misbehaved(channel.peer(), OUTPUT_CHECK));
    }
    Ok(Verified::unmask(&shares, theirs, masked))
}

/// The garbler's side of its own outputs (YWZ20 step 11): the labels prove the masked bits, the MACs the
/// evaluator's shares of the masks.
pub(super) fn receive_garbler_outputs(
    channel: &mut Channel,
    wires: &OutputWires,
    masks: &[Share],
    labels: &[Block],
    delta: Block,
) -> Result<Verified> {
    let n = wires.len();
    let bytes = channel.recv(GARBLER_OUTPUTS, 2 * BitVec::byte_len(n) + 32)?;
    let (masked, rest) = bytes.split_at(BitVec::byte_len(n));
    let (theirs, digest) = rest.split_at(BitVec::byte_len(n));
    let (masked, theirs) = (decode_bits(channel, n, masked)?, decode_bits(channel, n, theirs)?);
    let shares = wires.pick(masks);
    let expected: Vec<Block> = wires
        .pick(labels)
        .iter()
        .enumerate()
        .map(|(k, &label)| label ^ delta.select(masked.get(k)))
        .chain(shares.iter().enumerate().map(|(k, s)| s.key ^ delta.select(theirs.get(k))))
        .collect();
    if exchange::digest_of(&expected) != digest {
        return Err(Error::misbehaved(channel.peer(), GARBLER_OUTPUT_CHECK));
    }
    Ok(Verified::unmask(&shares, &theirs, &masked.to_bools()))
}

/// Output bits whose every check has passed: the only thing from which outputs are released. Made by
/// the two functions above, and only at their end.
pub(super) struct Verified {
    bits: Vec<bool>,
}

impl Verified {
    fn unmask(shares: &[Share], theirs: &BitVec, masked: &[bool]) -> Self {
        let bits = shares.iter().zip(masked).enumerate();
        Verified { bits: bits.map(|(k, (s, &m))| m ^ s.bit ^ theirs.get(k)).collect() }
    }

    /// The outputs of the party that `wires` belongs to.
    pub fn release(self, circuit: &Circuit, wires: &OutputWires) -> OutputBits {
        let mut bits = self.bits.into_iter();
        let release = |output: &symbolon_circuit::Output| {
            let width = output.ty.width() as usize;
            output.to.contains(wires.party).then(|| bits.by_ref().take(width).collect())
        };
        circuit.outputs().iter().map(release).collect()
    }
}

/// What a party gets that learns no output.
pub(super) fn no_outputs(circuit: &Circuit) -> OutputBits {
    vec![None; circuit.outputs().len()]
}
