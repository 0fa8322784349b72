//! A garbler's proof of its half-gates to the evaluator, after the evaluator has proven its masked
//! values: steps 11 and 12, for a whole circuit at once, or chunk by chunk
//! ([`crate::gates::streaming`] explains why this is sound).

use std::collections::VecDeque;
use std::ops::Range;

use symbolon_circuit::{Cursor, Plan};
use symbolon_engine::decode_bits;
use symbolon_garbling::wires::WireStore;
use symbolon_primitives::block_xor::append_blocks;
use symbolon_primitives::{
    BitVec, Block, BlockHasher, Delta, PolyHash, same_digest, stack, xor_key_masked, xor_masked,
};
use symbolon_transport::{Channel, Culprit, Error, Result, threads};
use zeroize::Zeroizing;

use super::{
    checks, messages,
    online::{AuthenticOutputs, Authenticated},
};
use crate::gates::{garbled_table::make_room, masked_gates::LOOKAHEAD, streaming::Segment};

/// The evaluator's masked values, with χ and the digest that proves that they match this party's
/// labels.
struct MaskedValues {
    bits: BitVec,
    digest: [u8; 32],
    chi: Block,
}

impl MaskedValues {
    /// Step 11 for `n` gates: receives the masked values.
    ///
    /// Paper: YWZ20, Fig. 7, 11; §2.6 | masked values, proven by their labels
    fn receive(channel: &mut Channel, n: usize) -> Result<MaskedValues> {
        let bytes = channel.recv(messages::MASKED_VALUES, BitVec::byte_len(n) + 32 + 16)?;
        let (bits, rest) = bytes.split_at(BitVec::byte_len(n));
        let bits = decode_bits(channel, n, bits)?;
        let (digest, chi) = rest.split_first_chunk().expect("a digest and chi");
        let chi = Block::from_bytes(chi.try_into().expect("16 bytes"));
        Ok(MaskedValues { bits, digest: *digest, chi })
    }

    /// Returns the expected digest.
    ///
    /// Paper: YWZ20, Fig. 7, 11; §2.6
    fn expected(&self, labels: &[Block], delta: Block) -> [u8; 32] {
        let mut hasher = BlockHasher::new("symbolon ywz labels 1");
        let mut chosen = Zeroizing::new([Block::ZERO; 1024]);
        for (labels, first) in labels.chunks(chosen.len()).zip((0..).step_by(1024)) {
            let chosen = &mut chosen[..labels.len()];
            chosen.copy_from_slice(labels);
            xor_key_masked(chosen, &self.bits, first, delta);
            hasher.update(chosen);
        }
        hasher.finish()
    }
}

/// The pass over masked values, and the state for their proof and that of the gates.
pub(super) struct Proof<'a> {
    cursor: Cursor<'a>,
    slots: MaskedBits,
    /// The evaluator's index among the peers.
    evaluator: usize,
    delta: Delta,
    authenticated: Authenticated,
}

/// The number of gates proven at a time.
const SUMMED: usize = 1024;

/// From this many gates on, two threads prove them, if there are as many lanes.
pub(super) const TWO_THREADS: usize = 8192;

impl<'a> Proof<'a> {
    /// Starts from the masked inputs.
    pub fn new(plan: &'a Plan, inputs: &BitVec, evaluator: usize, delta: &Delta) -> Self {
        let mut slots = MaskedBits(vec![false; plan.slots()]);
        for (w, slot) in slots.0[plan.input_slots()].iter_mut().enumerate() {
            *slot = inputs.get(w);
        }
        Proof {
            cursor: plan.cursor(),
            slots,
            evaluator,
            delta: delta.clone(),
            authenticated: Authenticated::default(),
        }
    }

    /// Receives and checks the evaluator's masked values of the next gates, given their labels and
    /// rows of MACs. Returns the z that proves the gates to the evaluator (step 12a, c), which must
    /// be sent only if the evaluator's own proof is right.
    ///
    /// A wrong label may be a lie of the evaluator, or a consequence of another garbler's rows.
    ///
    /// Paper: YWZ20, Fig. 7, 12; §2.6 | circuit authentication, at a garbler
    ///
    /// Check: `ywz`: masked values | `masked value label`, at each garbler | flipped masked
    /// values | 2^-127
    pub fn prove<'m>(
        &mut self,
        channels: &mut [Channel],
        labels: &[Block],
        macs: impl Iterator<Item = [&'m [Block]; 3]>,
        two_threads: bool,
    ) -> Result<Block> {
        let values = MaskedValues::receive(&mut channels[self.evaluator], labels.len())?;
        let delta = self.delta.clone();
        let digest = || values.expected(labels, *delta);
        let (z, mut beside) = threads::beside(two_threads.then_some(digest), stack::wiped, || {
            self.sum(&values, labels.len(), macs)
        })?;
        let panicked = |_| Error::internal("a thread of this party panicked");
        let mut digest = beside.pop().unwrap_or_else(|| Ok(digest())).map_err(panicked)?;
        channels[self.evaluator].tamper_state("masked value label", &mut digest);
        if !same_digest(&digest, &values.digest) {
            return Err(Error::misbehaved(Culprit::among(channels), checks::LABEL));
        }
        self.authenticated.add(labels.len());
        Ok(z)
    }

    /// Step 12c: sends the evaluator the results of [`prove`](Proof::prove), for one run of gates
    /// after the other.
    pub fn send(&self, channels: &mut [Channel], zs: &[Block]) -> Result<()> {
        channels[self.evaluator].send(messages::AUTHENTICATION, Block::as_bytes(zs))?;
        channels[self.evaluator].flush()
    }

    /// Returns z of the next `n` gates, given their rows of MACs on λ_α, λ_β and λ_αβ ⊕ λ_γ, piece
    /// by piece.
    ///
    /// Paper: YWZ20, Fig. 7, 12; §2.6
    fn sum<'m>(
        &mut self,
        values: &MaskedValues,
        n: usize,
        macs: impl Iterator<Item = [&'m [Block]; 3]>,
    ) -> Block {
        let [left, right] = self.inputs(values, n);
        let mut hash = PolyHash::new(values.chi);
        let mut ts = Zeroizing::new(Vec::with_capacity(SUMMED));
        let mut done = 0;
        for rows in macs {
            let [alpha, beta, row0] = rows.map(|row| row.chunks(SUMMED));
            for ((alpha, beta), row0) in alpha.zip(beta).zip(row0) {
                let gates = done..done + row0.len();
                done = gates.end;
                ts.clear();
                append_blocks(&mut ts, row0);
                xor_masked(&mut ts, &left.slice(gates.clone()), 0, beta);
                xor_masked(&mut ts, &right.slice(gates), 0, alpha);
                hash.update(&ts);
            }
        }
        hash.finish()
    }

    /// Returns the masked values of the left and the right inputs of the next `n` gates.
    fn inputs(&mut self, values: &MaskedValues, n: usize) -> [BitVec; 2] {
        let [mut left, mut right] = [(); 2].map(|()| BitVec::with_capacity(n));
        while left.len() < n {
            let batch = self.cursor.next_batch().expect("the plan holds every gate");
            self.slots.free_gates(batch.base, batch.linear);
            let slots = &mut self.slots.0[batch.base..];
            for ands in batch.ands.chunks(64) {
                let (mut u, mut v) = (0, 0);
                for (k, and) in ands.iter().enumerate() {
                    u |= u64::from(slots[and.a as usize]) << k;
                    v |= u64::from(slots[and.b as usize]) << k;
                    slots[and.out as usize] = values.bits.get(left.len() + k);
                }
                left.push_word(u, ands.len());
                right.push_word(v, ands.len());
            }
        }
        [left, right]
    }

    /// Returns the outputs, once the masked values of every gate are proven.
    pub fn finish(mut self, plan: &Plan) -> AuthenticOutputs {
        self.slots.finish(self.cursor);
        let masked = plan.output_slots().iter().map(|&slot| self.slots.0[slot as usize]).collect();
        self.authenticated.outputs(plan, masked)
    }
}

/// The masked values of the live wires.
struct MaskedBits(Vec<bool>);

impl WireStore for MaskedBits {
    fn xor(&mut self, a: usize, b: usize, out: usize) {
        self.0[out] = self.0[a] ^ self.0[b];
    }

    fn not(&mut self, a: usize, out: usize) {
        self.0[out] = !self.0[a];
    }

    fn constant(&mut self, value: bool, out: usize) {
        self.0[out] = value;
    }

    fn copy(&mut self, from: Range<usize>, out: usize) {
        self.0.copy_within(from, out);
    }
}

/// The proof of a circuit's gates, segment by segment.
pub(super) struct StreamedProof<'a> {
    proof: Proof<'a>,
    /// Lists whose memory is reused for later chunks.
    spare: Vec<Zeroizing<Vec<Block>>>,
}

impl<'a> StreamedProof<'a> {
    pub fn new(proof: Proof<'a>) -> Self {
        StreamedProof { proof, spare: Vec::new() }
    }

    /// Starts the proof of the next segment.
    pub fn segment(&mut self) -> SegmentProof<'_, 'a> {
        SegmentProof { streamed: self, awaited: VecDeque::new(), proven: 0, zs: Vec::new() }
    }

    /// Returns the outputs, after the last segment.
    pub fn finish(self, plan: &Plan) -> AuthenticOutputs {
        self.proof.finish(plan)
    }
}

/// The proof of a segment's gates, chunk by chunk while later chunks are garbled.
///
/// The evaluator sends a chunk's masked values once it has evaluated the chunk, and its openings
/// run [`LOOKAHEAD`] chunks ahead of that: chunk c's values come between its openings for chunk c +
/// `LOOKAHEAD` and the next ones, in one stream. So they are received exactly then: earlier would
/// wait for more than garbling needs, and later would break the order.
pub(super) struct SegmentProof<'s, 'a> {
    streamed: &'s mut StreamedProof<'a>,
    /// L_γ,0 of the gates of each chunk that is garbled and not proven.
    awaited: VecDeque<Zeroizing<Vec<Block>>>,
    /// The number of gates proven, and z of each of their chunks.
    proven: usize,
    zs: Vec<Block>,
}

impl SegmentProof<'_, '_> {
    /// Returns an empty list for the labels L_γ,0 of the next chunk, with room for this many.
    pub fn room(&mut self, gates: usize) -> Vec<Block> {
        let mut list = self.streamed.spare.pop().unwrap_or_default();
        make_room(&mut *list, gates);
        std::mem::take(&mut *list)
    }

    /// Records that the gates with these labels are garbled and sent.
    pub fn await_values(&mut self, labels: Vec<Block>) {
        self.awaited.push_back(Zeroizing::new(labels));
    }

    /// Proves the chunk whose masked values precede the openings of the next chunk, if there is
    /// one.
    pub fn keep_up(&mut self, channels: &mut [Channel], segment: &Segment<'_, '_>) -> Result<()> {
        if self.awaited.len() > LOOKAHEAD { self.prove_next(channels, segment) } else { Ok(()) }
    }

    /// Proves the rest of the segment, and sends the evaluator z of all its chunks. It sends them
    /// only after all masked values are proven right, and each separately, because in a sum a later
    /// part could compensate for a wrong one.
    pub fn finish(mut self, channels: &mut [Channel], segment: Segment<'_, '_>) -> Result<()> {
        while !self.awaited.is_empty() {
            self.prove_next(channels, &segment)?;
        }
        segment.finish();
        self.streamed.proof.send(channels, &self.zs)
    }

    fn prove_next(&mut self, channels: &mut [Channel], segment: &Segment<'_, '_>) -> Result<()> {
        let Some(labels) = self.awaited.pop_front() else { return Ok(()) };
        let proof = &mut self.streamed.proof;
        let gates = self.proven..self.proven + labels.len();
        self.proven = gates.end;
        let macs = segment.proof_macs(gates, proof.evaluator);
        self.zs.push(proof.prove(channels, &labels, macs, false)?);
        self.streamed.spare.push(labels);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
