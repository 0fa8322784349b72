//! A garbler: every party but the evaluator (the paper's P_2 … P_n).

use std::io::Write;
use std::ops::Range;

use symbolon_circuit::{Cursor, PartyId, Plan};
use symbolon_engine::{
    Compiled, InputBits, Network, OutputBits, Prepared,
    codec::{Reader, Writer},
    phases::{self, small},
};
use symbolon_garbling::wires::{WireStore, ZeroLabels};
use symbolon_garbling::{choose, four_row};
use symbolon_primitives::{BitVec, Block, Delta, reserve_wiped};
use symbolon_transport::{Channel, Result};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{
    hash::LabelHash,
    messages, online,
    proof::{Proof, StreamedProof, TWO_THREADS},
    rows::HalfGates,
};
#[cfg(feature = "measure")]
use crate::gates::pseudorandom::Blocks;
use crate::gates::{
    correlations::PartySecrets,
    garbled_table::{MESSAGE, make_room},
    io_wires,
    masked_gates::{MaskedGateStream, MaskedGates, chunk_sizes},
    pipeline,
    streaming::Streaming,
    wire_shares::WireShares,
};

/// Runs phase 2: sends the garbled gates to the evaluator.
pub(super) fn prepare(
    mut secrets: PartySecrets,
    mut masks: Box<dyn MaskedGateStream + '_>,
    net: &mut Network,
    circuit: &Compiled,
) -> Result<Box<dyn Prepared>> {
    let plan = circuit.plan();
    let mut pass = GarblePass::new(plan, &secrets, net);
    let evaluator = pass.half.evaluator;
    let gates = small(plan.and_count())?;
    make_room(&mut pass.half.outputs, gates);
    let mut macs = ProofMacs::with_capacity(gates);
    let input_labels = pass.labels.slots[plan.input_slots()].to_vec();
    let keep = |gates: &_, _| macs.push(gates, evaluator);
    let garble = |peers: &mut [Channel], gates: &_, ()| pass.chunk(&mut peers[evaluator], gates);
    pipeline::run(&mut *masks, plan, net, keep, garble)?;
    Ok(Box::new(GarblerSecrets {
        evaluator,
        delta: secrets.delta.clone(),
        own_masks: std::mem::take(&mut secrets.own_masks),
        input_labels,
        output_masks: masks.outputs(),
        gates: Gates { labels: std::mem::take(&mut pass.half.outputs), macs },
    }))
}

/// Runs all phases at once.
pub(super) fn stream(
    mut streaming: Streaming<'_>,
    net: &mut Network,
    circuit: &Compiled,
    inputs: &InputBits,
) -> Result<OutputBits> {
    let (circuit, plan) = circuit.planned();
    let delta = streaming.secrets.delta.clone();
    let mut pass = GarblePass::new(plan, &streaming.secrets, net);
    let evaluator = pass.half.evaluator;
    let own = io_wires::masked_inputs(inputs, &streaming.secrets.own_masks);
    let masked = online::broadcast_inputs(net.peers(), circuit, own)?;
    let labels = choose(&pass.labels.slots[plan.input_slots()], &masked, &delta);
    net.peers()[evaluator].send(messages::LABELS, Block::as_bytes(&labels))?;
    let mut proof = StreamedProof::new(Proof::new(plan, &masked, evaluator, &delta));
    loop {
        let mut segment = streaming.next_segment(net)?;
        let mut proof = proof.segment();
        loop {
            proof.keep_up(net.peers(), &segment)?;
            let Some(gates) = segment.next(net)? else { break };
            segment.keep_proof(&gates, evaluator);
            pass.half.outputs = proof.room(gates.len());
            pass.chunk(&mut net.peers()[evaluator], &gates)?;
            proof.await_values(std::mem::take(&mut pass.half.outputs));
            segment.recycle(gates);
        }
        proof.finish(net.peers(), segment)?;
        if streaming.is_done() {
            break;
        }
    }
    drop(pass);
    let masks = streaming.outputs()?;
    let outputs = proof.finish(plan);
    online::open_outputs(net.peers(), circuit, &masks, outputs, *delta)
}

/// The pass over the labels: step 8.
#[derive(ZeroizeOnDrop)]
pub(crate) struct GarblePass<'p> {
    #[zeroize(skip)]
    cursor: Cursor<'p>,
    labels: ZeroLabels,
    first_tweak: u64,
    half: HalfGates,
    /// Buffers that are reused from batch to batch.
    inputs: Vec<Block>,
    rows: Vec<Block>,
    /// A chunk's rows for the other garblers.
    sealed: Vec<Vec<Block>>,
}

impl<'p> GarblePass<'p> {
    /// Starts with fresh input labels.
    fn new(plan: &'p Plan, secrets: &PartySecrets, net: &Network) -> Self {
        let evaluator = secrets.position.evaluator_index().expect("a garbler is not the evaluator");
        let garblers = online::garblers(net.parties(), secrets.position.evaluator);
        let hash = LabelHash::new(&net.session, net.me, &garblers);
        let is_pointer = garblers.first() == Some(&net.me);
        GarblePass {
            cursor: plan.cursor(),
            labels: secrets.input_labels(plan, &net.session),
            first_tweak: secrets.first_tweak,
            inputs: Vec::new(),
            rows: Vec::new(),
            sealed: vec![Vec::new(); hash.others()],
            half: HalfGates::new(evaluator, is_pointer, secrets.delta.clone(), hash),
        }
    }

    /// Garbles a chunk and sends it to the evaluator.
    fn chunk(&mut self, channel: &mut Channel, chunk: &MaskedGates) -> Result<()> {
        self.half.clear();
        self.sealed.iter_mut().for_each(Vec::clear);
        let (mut done, mut sent) = (0, 0);
        while done < chunk.len() {
            // The pass over the masks uses the same plan and ends its chunk between two batches.
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
        channel.send_parts(messages::GARBLED_GATES, &parts)?;
        channel.flush()
    }

    /// Garbles the next batch of the plan, from gate `done` of the chunk on; returns the number of
    /// gates.
    fn batch(&mut self, chunk: &MaskedGates, done: usize) -> usize {
        let batch = self.cursor.next_batch().expect("the plan holds every gate of the chunk");
        self.labels.free_gates(batch.base, batch.linear);
        let ZeroLabels { slots, delta } = &mut self.labels;
        let slots = &mut slots[batch.base..];
        self.inputs.clear();
        if !self.sealed.is_empty() {
            reserve_wiped(&mut self.inputs, 4 * batch.ands.len());
            for and in batch.ands {
                let (alpha, beta) = (slots[and.a as usize], slots[and.b as usize]);
                self.inputs.extend(four_row::row_inputs(alpha, beta, **delta));
            }
        }
        let first = self.first_tweak + batch.first_and;
        self.half.garble(slots, batch.ands, chunk, done, first);
        let gates = done..done + batch.ands.len();
        for other in 0..self.sealed.len() {
            self.seal(chunk, gates.clone(), first, other);
        }
        gates.len()
    }

    /// Computes the rows that contain the MACs of this party's shares under the Δ of another
    /// garbler; the first of these gates has number `first`.
    ///
    /// Paper: YWZ20, Fig. 6, 8 | rows with MACs for the other garblers
    fn seal(&mut self, chunk: &MaskedGates, gates: Range<usize>, first: u64, other: usize) {
        self.rows.clear();
        reserve_wiped(&mut self.rows, self.inputs.len());
        self.rows.extend_from_slice(&self.inputs);
        self.half.hash.rows(other, first, 4, &mut self.rows);
        // Peers are the evaluator and the other garblers, the latter in the same order.
        let peer = other + usize::from(other >= self.half.evaluator);
        for (g, rows) in gates.zip(self.rows.chunks_exact(4)) {
            let mac = |shares: &WireShares| shares.auth(g)[peer][0];
            let [alpha, beta, row0] =
                [&chunk.lambda_a, &chunk.lambda_b, &chunk.lambda_ab_c].map(mac);
            self.sealed[other].extend([
                rows[0] ^ row0,
                rows[1] ^ row0 ^ alpha,
                rows[2] ^ row0 ^ beta,
                rows[3] ^ row0 ^ alpha ^ beta,
            ]);
        }
    }
}

/// A garbler after phase 2.
#[derive(ZeroizeOnDrop)]
struct GarblerSecrets {
    /// The evaluator's index among the peers.
    evaluator: usize,
    delta: Delta,
    own_masks: BitVec,
    input_labels: Vec<Block>,
    output_masks: WireShares,
    gates: Gates,
}

/// What a garbler keeps of AND gates for the online phase.
#[derive(Default, ZeroizeOnDrop)]
struct Gates {
    /// The labels L_γ,0.
    labels: Vec<Block>,
    macs: ProofMacs,
}

/// The MACs towards the evaluator that authenticate gates to it, gate by gate: M_1[λ_α], M_1[λ_β],
/// M_1[λ_αβ ⊕ λ_γ].
#[derive(Default, ZeroizeOnDrop)]
struct ProofMacs([Vec<Block>; 3]);

impl ProofMacs {
    fn with_capacity(gates: usize) -> Self {
        ProofMacs([(); 3].map(|()| Vec::with_capacity(gates)))
    }

    /// Appends the MACs of a chunk towards the peer with this index.
    fn push(&mut self, gates: &MaskedGates, peer: usize) {
        let rows = [&gates.lambda_a, &gates.lambda_b, &gates.lambda_ab_c];
        for (macs, rows) in self.0.iter_mut().zip(rows) {
            reserve_wiped(macs, gates.len());
            macs.extend(rows.auths(0, gates.len()).map(|auth| auth[peer][0]));
        }
    }
}

impl Prepared for GarblerSecrets {
    /// Runs steps 9 to 13.
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        let (circuit, plan) = circuit.planned();
        phases::check_inputs(circuit, net.me, inputs, 1)?;
        let own = io_wires::masked_inputs(inputs, &self.own_masks);
        let masked = online::broadcast_inputs(net.peers(), circuit, own)?;
        let labels = choose(&self.input_labels, &masked, &self.delta);
        net.peers()[self.evaluator].send(messages::LABELS, Block::as_bytes(&labels))?;

        let mut proof = Proof::new(plan, &masked, self.evaluator, &self.delta);
        let Gates { labels, macs } = &self.gates;
        let rows = std::iter::once(macs.0.each_ref().map(|macs| &macs[..]));
        let two_threads = net.lanes.len() > 1 && labels.len() >= TWO_THREADS;
        let z = proof.prove(net.peers(), labels, rows, two_threads)?;
        proof.send(net.peers(), &[z])?;
        let outputs = proof.finish(plan);
        online::open_outputs(net.peers(), circuit, &self.output_masks, outputs, *self.delta)
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut out = Writer(out);
        out.list(&[*self.delta])?;
        out.bits(&self.own_masks)?;
        out.list(&self.input_labels)?;
        self.output_masks.save(&mut out)?;
        let Gates { labels, macs: ProofMacs([alpha, beta, row0]) } = &self.gates;
        let mut gates = labels.iter().zip(alpha).zip(beta).zip(row0);
        gates.try_for_each(|(((&label, &alpha), &beta), &row0)| {
            out.list(&[label, alpha, beta, row0])
        })
    }
}

/// Reads back what [`Prepared::save`] wrote, for the garbler among this many parties whose peer
/// with the index `evaluator` evaluates.
pub(super) fn load(
    me: PartyId,
    evaluator: usize,
    parties: u16,
    circuit: &Compiled,
    mut from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let (circuit, plan) = circuit.planned();
    let (outputs, peers) = (plan.output_slots().len(), usize::from(parties) - 1);
    let mut ready = GarblerSecrets {
        evaluator,
        delta: from.delta()?,
        own_masks: from.bits(io_wires::input_bits(circuit, me))?,
        input_labels: from.list(plan.input_slots().len())?,
        output_masks: WireShares::load(outputs, peers, &mut from)?,
        gates: Gates::default(),
    };
    for gates in chunk_sizes(plan) {
        let mut blocks = from.list(4 * gates)?;
        let Gates { labels, macs: ProofMacs(macs) } = &mut ready.gates;
        macs.iter_mut().chain([labels]).for_each(|list| reserve_wiped(list, gates));
        for &[label, ref macs @ ..] in blocks.as_chunks::<4>().0 {
            ready.gates.labels.push(label);
            ready.gates.macs.0.iter_mut().zip(macs).for_each(|(list, mac)| list.push(*mac));
        }
        blocks.zeroize();
    }
    Ok(Box::new(ready))
}

#[cfg(feature = "measure")]
impl<'p> GarblePass<'p> {
    /// Returns a closure that garbles all gates of a plan between two parties, on pseudorandom
    /// data.
    pub(crate) fn kernel(plan: &'p Plan) -> impl FnMut() + use<'p> {
        let gates = plan.and_count() as usize;
        let mut blocks = Blocks::new();
        let chunk = blocks.chunk(gates);
        let delta = Delta::new(blocks.array::<1>()[0].with_lsb(true));
        let hash = LabelHash::new(&[7; 32], 0.into(), &[0.into()]);
        let mut pass = GarblePass {
            cursor: plan.cursor(),
            labels: ZeroLabels { slots: blocks.many(plan.slots()), delta: delta.clone() },
            first_tweak: 1,
            half: HalfGates::new(0, true, delta, hash),
            inputs: Vec::new(),
            rows: Vec::new(),
            sealed: Vec::new(),
        };
        move || {
            pass.cursor = plan.cursor();
            pass.half.outputs.clear();
            pass.half.clear();
            let mut done = 0;
            while done < gates {
                done += pass.batch(&chunk, done);
            }
        }
    }
}
