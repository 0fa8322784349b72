//! What a party holds of one prepared execution, and how it is stored.

use symbolon_garbling::adaptive::Ending;
use symbolon_primitives::{BitVec, Block, Delta, Seed};
use symbolon_transport::{PartyId, Result};
use zeroize::Zeroizing;

use super::{
    function::Function,
    garble::{Digest, OwnCircuit},
    label_hashes::LabelHashes,
    ot::Blocks,
    params::{Params, item_bits},
    psi::{CommittedTerms, PsiForm, Receiver, Sender, Shape},
    tables::Table,
};
use crate::codec::{Reader, Writer, damaged};

/// A bucket in each direction, from which an execution is made.
pub(super) struct Bucket {
    /// Its number among those of the session.
    pub number: u64,
    /// This party's circuits.
    pub own: Vec<OwnCircuit>,
    /// The peer's circuits.
    pub theirs: Vec<PeerCircuit>,
    /// The XORs of leaves of this party's encoding and the digest of the pairs, for each of the
    /// peer's circuits.
    pub encoded: Vec<(Vec<Digest>, Digest)>,
    /// What the output labels of the peer's bucket are compared with.
    pub output_hashes: LabelHashes,
    /// M·c of the bucket's first OT.
    pub input_mask: Zeroizing<BitVec>,
}

impl Bucket {
    /// The bucket with the OTs for its intersection.
    pub fn into_execution(self, psi: (Sender, Receiver)) -> Execution {
        let Bucket { number, own, theirs, output_hashes, input_mask, .. } = self;
        Execution { number, own, input_mask, theirs, output_hashes, psi }
    }
}

/// A bucket of circuits in each direction, ready for one evaluation.
pub(super) struct Execution {
    /// Its number among the buckets of the session that prepared it.
    pub number: u64,
    /// This party's circuits of the bucket.
    pub own: Vec<OwnCircuit>,
    /// M·c of the bucket's first OT, by which this party's inputs are masked.
    pub input_mask: Zeroizing<BitVec>,
    /// The peer's circuits of the bucket.
    pub theirs: Vec<PeerCircuit>,
    /// What the output labels of the peer's bucket are compared with.
    pub output_hashes: LabelHashes,
    /// The OTs for the intersection, as a sender and as a receiver.
    pub psi: (Sender, Receiver),
}

/// A circuit that the peer garbled.
pub(super) struct PeerCircuit {
    /// Its number.
    pub number: u64,
    /// The masked table.
    pub table: Table,
    /// What follows it.
    pub ending: Ending,
    /// T: added to the circuit's output labels, gives those of the bucket. The first circuit has
    /// none: its labels are the bucket's.
    pub translation: Vec<[Block; 2]>,
    /// The XORs of the leaves of the peer's inputs.
    pub inputs: Vec<Digest>,
    /// M·δ: by how much that order differs from the one of the bucket's first circuit.
    pub shift: BitVec,
    /// The same of this party's announced input.
    pub announced: Vec<Digest>,
    /// The digest of the pairs of all these leaves, the peer's in its order.
    pub pairs: Digest,
    /// The commitments to R and to the outputs' seed.
    pub seeds: [Digest; 2],
    /// The labels of this party's input mask, M·c.
    pub mask_labels: Blocks,
}

/// The lengths of all that is stored.
#[derive(Clone, Copy)]
pub(super) struct Lengths {
    /// B.
    pub bucket: usize,
    /// ℓ.
    pub item_bits: usize,
    /// How reconciliation values are intersected.
    pub psi: PsiForm,
    /// Input bits of this party and of the peer.
    pub inputs: [usize; 2],
    /// Output bits.
    pub outputs: usize,
    /// AND gates.
    pub gates: usize,
}

impl Lengths {
    /// The lengths for party `me`.
    pub fn new(me: PartyId, function: &Function, params: &Params) -> Lengths {
        Lengths::of(me, function, (params.bucket(), params.kappa_s), params.psi)
    }

    /// The same for buckets of this size, and κ_s.
    pub fn of(
        me: PartyId,
        function: &Function,
        (bucket, kappa_s): (usize, u32),
        psi: PsiForm,
    ) -> Lengths {
        let [first, second] = function.inputs;
        Lengths {
            bucket,
            item_bits: item_bits(bucket, kappa_s, psi),
            psi,
            inputs: if me == 0 { [first, second] } else { [second, first] },
            outputs: function.outputs,
            gates: function.plan.and_count() as usize,
        }
    }

    /// The shape of intersection `number`.
    pub fn shape<'a>(&self, session: &'a [u8; 32], number: u64) -> Shape<'a> {
        Shape { session, number, values: self.bucket, bits: self.item_bits }
    }
}

impl Execution {
    /// Writes it.
    ///
    /// # Errors
    /// `Store` when `out` fails.
    pub fn save(&self, out: &mut Writer<'_>) -> Result<()> {
        out.u64(self.number)?;
        for circuit in &self.own {
            out.u64(circuit.number)?;
            out.blocks(&[*circuit.delta, *circuit.nonce, *circuit.output_seed])?;
            out.blocks(&circuit.own)?;
            out.blocks(&circuit.announced)?;
        }
        out.bits(&self.input_mask)?;
        for circuit in &self.theirs {
            out.u64(circuit.number)?;
            out.blocks(circuit.table.to_vec()?.as_flattened())?;
            out.blocks(&circuit.ending.decoding)?;
            out.blocks(circuit.ending.translations.as_flattened())?;
            out.blocks(circuit.translation.as_flattened())?;
            circuit.inputs.iter().try_for_each(|digest| out.bytes(digest))?;
            out.bits(&circuit.shift)?;
            circuit.announced.iter().try_for_each(|digest| out.bytes(digest))?;
            out.bytes(&circuit.pairs)?;
            digests(out, &[circuit.seeds])?;
            out.blocks(&circuit.mask_labels)?;
        }
        self.output_hashes.sums.iter().try_for_each(|sum| out.bytes(sum))?;
        out.bytes(&self.output_hashes.pairs)?;
        let (sender, receiver) = &self.psi;
        out.blocks(sender.pairs.as_flattened())?;
        if let Some(terms) = &sender.committed {
            out.bits(&terms.order)?;
            out.blocks(&[*terms.pads])?;
        }
        out.bits(&receiver.choices)?;
        out.blocks(&receiver.messages)?;
        digests(out, &receiver.leaves)
    }

    /// Reads it back.
    ///
    /// # Errors
    /// `Store` when it is not what was written.
    pub fn load(from: &mut Reader<'_>, lengths: &Lengths) -> Result<Execution> {
        let Lengths { bucket, inputs: [own_bits, peer_bits], outputs, .. } = *lengths;
        let number = from.u64()?;
        let mut own = Vec::with_capacity(bucket);
        for _ in 0..bucket {
            let number = from.u64()?;
            let delta: Delta = from.delta()?;
            if !delta.lsb() {
                return Err(damaged("a garbling offset is even"));
            }
            let [nonce, output_seed] = [seed(from)?, seed(from)?];
            let labels = Blocks::new(from.blocks(own_bits)?);
            let announced = Blocks::new(from.blocks(peer_bits)?);
            let encoded = Blocks::default();
            own.push(OwnCircuit {
                number,
                delta,
                own: labels,
                announced,
                encoded,
                nonce,
                output_seed,
            });
        }
        let input_mask = Zeroizing::new(from.bits(own_bits)?);
        let theirs =
            (0..bucket).map(|l| peer_circuit(from, lengths, l)).collect::<Result<Vec<_>>>()?;
        let sums = (0..outputs).map(|_| from.array()).collect::<Result<_>>()?;
        let output_hashes = LabelHashes { sums, pairs: from.array()? };
        let psi = intersection(from, lengths)?;
        Ok(Execution { number, own, input_mask, theirs, output_hashes, psi })
    }
}

/// Reads circuit `place` of a bucket.
fn peer_circuit(from: &mut Reader<'_>, lengths: &Lengths, place: usize) -> Result<PeerCircuit> {
    let Lengths { inputs: [own_bits, peer_bits], outputs, gates, .. } = *lengths;
    let number = from.u64()?;
    let table = Table::held(pairs(from, gates)?);
    let decoding = from.blocks(Ending::decoding_blocks(outputs))?;
    let translations = pairs(from, outputs)?;
    Ok(PeerCircuit {
        number,
        table,
        ending: Ending { decoding, translations },
        translation: pairs(from, if place == 0 { 0 } else { outputs })?,
        inputs: (0..peer_bits).map(|_| from.array()).collect::<Result<_>>()?,
        shift: from.bits(peer_bits)?,
        announced: (0..own_bits).map(|_| from.array()).collect::<Result<_>>()?,
        pairs: from.array()?,
        seeds: read_digests(from, 1)?[0],
        mask_labels: Blocks::new(from.blocks(own_bits)?),
    })
}

fn intersection(from: &mut Reader<'_>, lengths: &Lengths) -> Result<(Sender, Receiver)> {
    let shape = lengths.shape(&[0; 32], 0);
    let committed = lengths.psi == PsiForm::Asynchronous;
    let pairs = pairs(from, shape.ots())?;
    let terms = match committed {
        true => Some(CommittedTerms { order: from.bits(shape.ots())?, pads: seed(from)? }),
        false => None,
    };
    let choices = Zeroizing::new(from.bits(shape.ots())?);
    let messages = Blocks::new(from.blocks(shape.ots())?);
    let leaves = read_digests(from, if committed { shape.terms() } else { 0 })?;
    Ok((Sender { pairs, committed: terms }, Receiver { choices, messages, leaves }))
}

fn digests(out: &mut Writer<'_>, digests: &[[Digest; 2]]) -> Result<()> {
    digests.iter().flatten().try_for_each(|digest| out.bytes(digest))
}

fn read_digests(from: &mut Reader<'_>, n: usize) -> Result<Vec<[Digest; 2]>> {
    (0..n).map(|_| Ok([from.array()?, from.array()?])).collect()
}

fn seed(from: &mut Reader<'_>) -> Result<Seed> {
    let mut seed = Seed::default();
    *seed = from.block()?;
    Ok(seed)
}

fn pairs(from: &mut Reader<'_>, n: usize) -> Result<Vec<[Block; 2]>> {
    // Those of OTs are secret, and the copy that is returned is wiped by whom it goes to.
    Ok(Blocks::new(from.blocks(2 * n)?).as_chunks().0.to_vec())
}
