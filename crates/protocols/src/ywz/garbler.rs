//! A garbler: every party but the evaluator (the paper's P_2 … P_n).

use std::io::Write;
use std::ops::Range;

use symbolon_circuit::{Circuit, Cursor, PartyId, Plan};
use symbolon_primitives::{BitVec, Block, Delta};
use symbolon_transport::{Channel, Result};
use zeroize::Zeroize;

use super::{
    half_gates::HalfGates,
    hash::LabelHash,
    online,
    proof::{Proof, StreamedProof, TWO_THREADS},
};
#[cfg(feature = "measure")]
use crate::kernels;
use crate::{
    InputBits, Network, OutputBits, Prepared,
    codec::{Reader, Writer},
    gates::correlations::{Correlations, small},
    gates::mask_pass::{self, MaskPass, MaskedGates, ProofMacs},
    gates::pipeline,
    gates::streaming::Streaming,
    gates::wire_shares::WireShares,
    io_wires,
    labels::{self, MESSAGE},
    phases,
};

/// Phase 2: masks, products, and the garbled gates, sent to the evaluator.
pub(super) fn prepare(
    mut correlations: Correlations,
    net: &mut Network,
    circuit: &Circuit,
    plan: &Plan,
) -> Result<Box<dyn Prepared>> {
    let evaluator =
        correlations.position.evaluator_place().expect("a garbler is not the evaluator");
    let mut masks = MaskPass::new(circuit, plan, &correlations);
    let mut garbling =
        Garbling::new(plan, &correlations, net, (correlations.position.evaluator, evaluator));
    let gates = small(plan.and_count())?;
    masks.keep_macs(evaluator, gates);
    labels::make_room(&mut garbling.half.outputs, gates);
    let input_labels = garbling.slots[plan.input_slots()].to_vec();
    let deal = |peers: &mut [Channel], chunk: &_, _| garbling.chunk(&mut peers[evaluator], chunk);
    pipeline::run(&mut masks, &mut correlations, net, |_| (), deal)?;
    Ok(Box::new(GarblerSecrets {
        evaluator,
        delta: correlations.delta.clone(),
        own_masks: correlations.own_masks(circuit),
        input_labels,
        output_masks: masks.outputs(),
        gates: Gates {
            labels: std::mem::take(&mut garbling.half.outputs),
            macs: masks.kept_macs(),
        },
    }))
}

/// All phases at once.
pub(super) fn stream(
    mut streaming: Streaming<'_>,
    net: &mut Network,
    (circuit, plan): (&Circuit, &Plan),
    inputs: &InputBits,
) -> Result<OutputBits> {
    let (delta, position) = (streaming.correlations.delta.clone(), streaming.correlations.position);
    let evaluator = position.evaluator_place().expect("a garbler is not the evaluator");
    let mut masks = streaming.walk(circuit, plan);
    let mut garbling =
        Garbling::new(plan, &streaming.correlations, net, (position.evaluator, evaluator));
    let own = io_wires::masked_inputs(inputs, &streaming.correlations.own_masks(circuit));
    let masked = online::broadcast_inputs(net.peers(), circuit, own)?;
    let labels = labels::chosen(&garbling.slots[plan.input_slots()], &masked, *delta);
    net.peers()[evaluator].send(online::LABELS, Block::as_bytes(&labels))?;
    let mut proof = StreamedProof::new(Proof::new(plan, &masked, (evaluator, &delta)));
    loop {
        streaming.refill(net)?;
        masks.keep_macs(evaluator, small(streaming.correlations.left)?);
        loop {
            proof.keep_up(net.peers(), &streaming.correlations)?;
            let Some(chunk) = streaming.next_chunk(&mut masks, net)? else { break };
            garbling.half.outputs = proof.room(chunk.len());
            garbling.chunk(&mut net.peers()[evaluator], &chunk)?;
            proof.await_values(std::mem::take(&mut garbling.half.outputs));
            masks.recycle(chunk);
        }
        proof.finish_stretch(net.peers(), &streaming.correlations)?;
        if streaming.is_last() {
            break;
        }
    }
    drop(garbling);
    let masks = streaming.finish(masks);
    let outputs = proof.finish(plan);
    online::open_outputs(net.peers(), circuit, (&masks, &outputs), *delta)
}

/// The walk over the labels: step 8.
pub(crate) struct Garbling<'a> {
    cursor: Cursor<'a>,
    slots: Vec<Block>,
    first_tweak: u64,
    half: HalfGates,
    /// Buffers that are kept from batch to batch.
    inputs: Vec<Block>,
    rows: Vec<Block>,
    /// A chunk's rows for the other garblers.
    sealed: Vec<Vec<Block>>,
}

impl<'a> Garbling<'a> {
    /// Chooses the input labels.
    fn new(
        plan: &'a Plan,
        correlations: &Correlations,
        net: &Network,
        (evaluator, place): (PartyId, usize),
    ) -> Self {
        let garblers = online::garblers(net.parties(), evaluator);
        let hash = LabelHash::new(&net.session, net.me, &garblers);
        let is_pointer = garblers.first() == Some(&net.me);
        Garbling {
            cursor: plan.cursor(),
            slots: labels::fresh(plan, *correlations.seed),
            first_tweak: correlations.first_tweak,
            inputs: Vec::new(),
            rows: Vec::new(),
            sealed: vec![Vec::new(); hash.others()],
            half: HalfGates::new((place, is_pointer), correlations.delta.clone(), hash),
        }
    }

    /// Garbles a chunk and sends it to the evaluator.
    fn chunk(&mut self, channel: &mut Channel, chunk: &MaskedGates) -> Result<()> {
        self.half.clear();
        self.sealed.iter_mut().for_each(Vec::clear);
        let (mut done, mut sent) = (0, 0);
        while done < chunk.len() {
            // The masks' walk went over the same plan and ended its chunk between two batches.
            done += self.batch(chunk, done);
            while done - sent >= if done == chunk.len() { 1 } else { MESSAGE } {
                let gates = sent..done.min(sent + MESSAGE);
                sent = gates.end;
                self.send(channel, gates)?;
            }
        }
        Ok(())
    }

    /// Sends some gates of the chunk.
    fn send(&self, channel: &mut Channel, gates: Range<usize>) -> Result<()> {
        let Range { start, end } = gates;
        let pointers = match self.half.pointers.is_empty() {
            true => Vec::new(),
            false => self.half.pointers.slice(gates).to_bytes(),
        };
        let mut parts = vec![Block::as_bytes(&self.half.message[2 * start..2 * end])];
        parts.extend(self.sealed.iter().map(|rows| Block::as_bytes(&rows[4 * start..4 * end])));
        parts.push(&pointers);
        channel.send_parts("garbled gates", &parts)?;
        channel.flush()
    }

    /// Garbles the next batch of the walk, from gate `done` of `chunk` on; returns how many it took.
    fn batch(&mut self, chunk: &MaskedGates, done: usize) -> usize {
        let batch = self.cursor.next_batch().expect("the plan holds every gate of the chunk");
        let slots = &mut self.slots[batch.base..];
        batch.linear.iter().for_each(|&linear| labels::step(slots, linear, *self.half.delta));
        self.inputs.clear();
        if !self.sealed.is_empty() {
            for and in batch.ands {
                let (alpha, beta) = (slots[and.a as usize], slots[and.b as usize]);
                self.inputs.extend(labels::row_inputs(alpha, beta, *self.half.delta));
            }
        }
        let first = self.first_tweak + batch.first_and;
        self.half.garble(slots, batch.ands, (chunk, done), first);
        let gates = batch.ands.len();
        for other in 0..self.sealed.len() {
            self.seal(chunk, done, gates, (first, other));
        }
        gates
    }

    /// The rows that hold the MACs of the own shares under the Δ of another garbler.
    fn seal(
        &mut self,
        chunk: &MaskedGates,
        done: usize,
        gates: usize,
        (first, other): (u64, usize),
    ) {
        self.rows.clear();
        self.rows.extend_from_slice(&self.inputs);
        self.half.hash.rows(other, first, 4, &mut self.rows);
        // Peers are the evaluator and the other garblers, these in the same order.
        let place = other + usize::from(other >= self.half.evaluator);
        for (k, rows) in self.rows.chunks_exact(4).take(gates).enumerate() {
            let mac = |shares: &WireShares| shares.auth(done + k)[place][0];
            let (alpha, beta, row0) = (mac(&chunk.alpha), mac(&chunk.beta), mac(&chunk.row0));
            self.sealed[other].extend([
                rows[0] ^ row0,
                rows[1] ^ row0 ^ alpha,
                rows[2] ^ row0 ^ beta,
                rows[3] ^ row0 ^ alpha ^ beta,
            ]);
        }
    }
}

impl Drop for Garbling<'_> {
    fn drop(&mut self) {
        self.slots.zeroize();
        self.inputs.zeroize();
        self.rows.zeroize();
    }
}

/// A garbler after phase 2.
struct GarblerSecrets {
    /// The evaluator's place among the peers.
    evaluator: usize,
    delta: Delta,
    own_masks: BitVec,
    input_labels: Vec<Block>,
    output_masks: WireShares,
    gates: Gates,
}

/// What a garbler keeps of AND gates for the online phase.
#[derive(Default)]
struct Gates {
    /// L_γ,0.
    labels: Vec<Block>,
    /// M_1[λ_α], M_1[λ_β], M_1[λ_αβ ⊕ λ_γ]: authenticate the gate to the evaluator.
    macs: ProofMacs,
}

impl Gates {
    /// The rows of M_1[λ_α], M_1[λ_β], M_1[λ_αβ ⊕ λ_γ].
    fn rows(&self) -> [&[Block]; 3] {
        [&self.macs.alpha, &self.macs.beta, &self.macs.row0]
    }

    /// M_1[λ_α], M_1[λ_β], M_1[λ_αβ ⊕ λ_γ] of each gate.
    fn macs(&self) -> impl Iterator<Item = [Block; 3]> {
        let ProofMacs { alpha, beta, row0 } = &self.macs;
        let gates = alpha.iter().zip(beta).zip(row0);
        gates.map(|((&alpha, &beta), &row0)| [alpha, beta, row0])
    }
}

impl Drop for Gates {
    fn drop(&mut self) {
        self.labels.zeroize();
    }
}

impl Prepared for GarblerSecrets {
    /// Steps 9 to 13.
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Circuit,
        plan: &Plan,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        phases::check_inputs(circuit, net.me, inputs, 1)?;
        let own = io_wires::masked_inputs(inputs, &self.own_masks);
        let masked = online::broadcast_inputs(net.peers(), circuit, own)?;
        let labels = labels::chosen(&self.input_labels, &masked, *self.delta);
        net.peers()[self.evaluator].send(online::LABELS, Block::as_bytes(&labels))?;

        let mut proof = Proof::new(plan, &masked, (self.evaluator, &self.delta));
        let (labels, rows) = (&self.gates.labels, std::iter::once(self.gates.rows()));
        let two_threads = net.lanes.len() > 1 && labels.len() >= TWO_THREADS;
        let z = proof.prove(net.peers(), labels, rows, two_threads)?;
        proof.send(net.peers(), &[z])?;
        let outputs = proof.finish(plan);
        online::open_outputs(net.peers(), circuit, (&self.output_masks, &outputs), *self.delta)
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut out = Writer(out);
        out.blocks(&[*self.delta])?;
        out.bits(&self.own_masks)?;
        out.blocks(&self.input_labels)?;
        self.output_masks.save(&mut out)?;
        let mut gates = self.gates.labels.iter().zip(self.gates.macs());
        gates.try_for_each(|(&label, [alpha, beta, row0])| out.blocks(&[label, alpha, beta, row0]))
    }
}

/// Reads back what [`Prepared::save`] wrote, for the garbler among so many parties who has the evaluator
/// in this place among its peers.
pub(super) fn load(
    (me, evaluator, parties): (PartyId, usize, u16),
    circuit: &Circuit,
    plan: &Plan,
    mut from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let (outputs, peers) = (plan.output_slots().len(), usize::from(parties) - 1);
    let mut ready = GarblerSecrets {
        evaluator,
        delta: from.delta()?,
        own_masks: from.bits(io_wires::input_bits(circuit, me))?,
        input_labels: from.blocks(plan.input_slots().len())?,
        output_masks: WireShares::load(outputs, peers, &mut from)?,
        gates: Gates::default(),
    };
    for gates in mask_pass::chunk_sizes(plan) {
        let mut blocks = from.blocks(4 * gates)?;
        for &[label, alpha, beta, row0] in blocks.as_chunks().0 {
            let Gates { labels, macs } = &mut ready.gates;
            labels.push(label);
            macs.alpha.push(alpha);
            macs.beta.push(beta);
            macs.row0.push(row0);
        }
        blocks.zeroize();
    }
    Ok(Box::new(ready))
}

impl Drop for GarblerSecrets {
    fn drop(&mut self) {
        self.input_labels.zeroize();
    }
}

#[cfg(feature = "measure")]
impl<'a> Garbling<'a> {
    /// Garbles all gates of a plan again and again, between two parties, on what is made up.
    pub(crate) fn kernel(plan: &'a Plan) -> impl FnMut() + use<'a> {
        let gates = plan.and_count() as usize;
        let mut blocks = kernels::Blocks::new();
        let chunk = blocks.chunk(gates);
        let delta = Delta::new(blocks.array::<1>()[0].with_lsb(true));
        let hash = LabelHash::new(&[7; 32], 0, &[0]);
        let mut garbling = Garbling {
            cursor: plan.cursor(),
            slots: blocks.many(plan.slots()),
            first_tweak: 1,
            half: HalfGates::new((0, true), delta, hash),
            inputs: Vec::new(),
            rows: Vec::new(),
            sealed: Vec::new(),
        };
        move || {
            garbling.cursor = plan.cursor();
            garbling.half.outputs.clear();
            garbling.half.clear();
            let mut done = 0;
            while done < gates {
                done += garbling.batch(&chunk, done);
            }
        }
    }
}
