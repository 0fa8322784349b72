//! What a party holds for one prepared execution, and its stored form.

use symbolon_engine::codec::{Reader, Writer, damaged};
use symbolon_garbling::adaptive::Ending;
use symbolon_primitives::{BitVec, Block, Delta, Seed};
use symbolon_transport::{PartyId, Result};
use zeroize::Zeroizing;

use super::{
    function::Function,
    garble::{Digest, NUMBERS, OwnCircuit},
    label_hashes::LabelHashes,
    ot::Blocks,
    params::{Params, item_bits},
    psi::{CommittedTerms, Receiver, Sender, Shape},
    tables::Table,
};
use crate::dualex::options::PsiForm;

/// The two buckets of an execution, one in each direction, while it is prepared.
pub(super) struct Bucket {
    /// Its number within the session.
    pub number: u64,
    /// This party's circuits.
    pub own: Vec<OwnCircuit>,
    /// The peer's circuits.
    pub theirs: Vec<PeerCircuit>,
    /// For each of the peer's circuits, the leaf XORs of this party's encoding and the digest of
    /// the leaf pairs.
    pub encoded: Vec<(Vec<Digest>, Digest)>,
    /// The hashes against which the output labels of the peer's bucket are checked.
    pub output_hashes: LabelHashes,
    /// M·c for the OT choices c of the bucket's first circuit: the mask of this party's inputs.
    pub input_mask: Zeroizing<BitVec>,
}

impl Bucket {
    /// Returns the execution that this bucket and the OTs for its intersection make up.
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
    /// M·c for the OT choices c of the bucket's first circuit: the mask of this party's inputs.
    pub input_mask: Zeroizing<BitVec>,
    /// The peer's circuits of the bucket.
    pub theirs: Vec<PeerCircuit>,
    /// The hashes against which the output labels of the peer's bucket are checked.
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
    /// The masked decoding and translations, sent after the table.
    pub ending: Ending,
    /// T: maps the circuit's output labels to the bucket's by XOR. Empty for the first circuit,
    /// whose labels are the bucket's.
    pub translation: Vec<[Block; 2]>,
    /// The leaf XORs of the peer's inputs.
    pub inputs: Vec<Digest>,
    /// M·δ: the difference between the leaf orders of the peer's inputs in this circuit and in the
    /// bucket's first one.
    pub shift: BitVec,
    /// The leaf XORs of this party's announced input.
    pub announced: Vec<Digest>,
    /// The digest of the leaf pairs of both inputs; the peer's pairs are in the order of M·c.
    pub pairs: Digest,
    /// The leaves of R and of the output seed.
    pub seeds: [Digest; 2],
    /// The labels of this party's input mask, M·c.
    pub mask_labels: Blocks,
}

/// The lengths that determine the size of a stored execution.
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
    /// Returns the lengths for party `me`.
    pub fn new(me: PartyId, function: &Function, params: &Params) -> Lengths {
        Lengths::of(me, function, (params.bucket(), params.kappa_s), params.psi)
    }

    /// Returns the lengths for party `me`, from the bucket size and κ_s.
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

    /// Returns the shape of intersection `number`.
    pub fn shape<'a>(&self, session: &'a [u8; 32], number: u64) -> Shape<'a> {
        Shape { session, number, values: self.bucket, bits: self.item_bits }
    }
}

impl Execution {
    /// Writes the execution.
    ///
    /// # Errors
    /// `Store` when `out` fails.
    pub fn save(&self, out: &mut Writer<'_>) -> Result<()> {
        out.u64(self.number)?;
        for circuit in &self.own {
            out.u64(circuit.number)?;
            out.list(&[*circuit.delta, *circuit.nonce, *circuit.output_seed])?;
            out.list(&circuit.own)?;
            out.list(&circuit.announced)?;
        }
        out.bits(&self.input_mask)?;
        for circuit in &self.theirs {
            out.u64(circuit.number)?;
            out.list(&circuit.table.to_vec()?)?;
            out.list(&circuit.ending.decoding)?;
            out.list(&circuit.ending.translations)?;
            out.list(&circuit.translation)?;
            out.list(&circuit.inputs)?;
            out.bits(&circuit.shift)?;
            out.list(&circuit.announced)?;
            out.bytes(&circuit.pairs)?;
            out.list(&circuit.seeds)?;
            out.list(&circuit.mask_labels)?;
        }
        out.list(&self.output_hashes.sums)?;
        out.bytes(&self.output_hashes.pairs)?;
        let (sender, receiver) = &self.psi;
        out.list(&sender.pairs)?;
        if let Some(terms) = &sender.committed {
            out.bits(&terms.order)?;
            out.list(&[*terms.pads])?;
        }
        out.bits(&receiver.choices)?;
        out.list(&receiver.messages)?;
        out.list(&receiver.leaves)
    }

    /// Reads an execution.
    ///
    /// # Errors
    /// `Store` when the data is damaged.
    pub fn load(from: &mut Reader<'_>, lengths: &Lengths) -> Result<Execution> {
        let Lengths { bucket, inputs: [own_bits, peer_bits], outputs, .. } = *lengths;
        let number = read_number(from)?;
        let mut own = Vec::with_capacity(bucket);
        for _ in 0..bucket {
            let number = read_number(from)?;
            let delta: Delta = from.delta()?;
            if !delta.lsb() {
                return Err(damaged("a garbling offset is even"));
            }
            let [nonce, output_seed] = [seed(from)?, seed(from)?];
            let labels = Blocks::new(from.list(own_bits)?);
            let announced = Blocks::new(from.list(peer_bits)?);
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
        let sums = from.list(outputs)?;
        let output_hashes = LabelHashes { sums, pairs: from.array()? };
        let psi = intersection(from, lengths)?;
        Ok(Execution { number, own, input_mask, theirs, output_hashes, psi })
    }
}

/// Reads the peer's circuit at `place` in a bucket.
fn peer_circuit(from: &mut Reader<'_>, lengths: &Lengths, place: usize) -> Result<PeerCircuit> {
    let Lengths { inputs: [own_bits, peer_bits], outputs, gates, .. } = *lengths;
    let number = read_number(from)?;
    let table = Table::held(from.list(gates)?);
    let decoding = from.list(Ending::decoding_blocks(outputs))?;
    let translations = from.list(outputs)?;
    Ok(PeerCircuit {
        number,
        table,
        ending: Ending { decoding, translations },
        translation: from.list(if place == 0 { 0 } else { outputs })?,
        inputs: from.list(peer_bits)?,
        shift: from.bits(peer_bits)?,
        announced: from.list(own_bits)?,
        pairs: from.array()?,
        seeds: [from.array()?, from.array()?],
        mask_labels: Blocks::new(from.list(own_bits)?),
    })
}

fn intersection(from: &mut Reader<'_>, lengths: &Lengths) -> Result<(Sender, Receiver)> {
    let shape = lengths.shape(&[0; 32], 0);
    let committed = lengths.psi == PsiForm::Asynchronous;
    let pairs = from.list(shape.ots())?;
    let terms = match committed {
        true => Some(CommittedTerms { order: from.bits(shape.ots())?, pads: seed(from)? }),
        false => None,
    };
    let choices = Zeroizing::new(from.bits(shape.ots())?);
    let messages = Blocks::new(from.list(shape.ots())?);
    let leaves = from.list(if committed { shape.terms() } else { 0 })?;
    Ok((Sender { pairs, committed: terms }, Receiver { choices, messages, leaves }))
}

/// Reads the number of a circuit or bucket, which tweaks are made of.
fn read_number(from: &mut Reader<'_>) -> Result<u64> {
    match from.u64()? {
        number if number < NUMBERS => Ok(number),
        _ => Err(damaged("a circuit or bucket has no such number")),
    }
}

fn seed(from: &mut Reader<'_>) -> Result<Seed> {
    let mut seed = Seed::default();
    *seed = from.block()?;
    Ok(seed)
}
