//! A garbler: every party but the evaluator (the paper's P_2 … P_n).

use std::io::Write;
use std::ops::Range;
use std::thread;

use symbolon_circuit::{Circuit, Cursor, Linear, PartyId, Plan};
use symbolon_primitives::{
    BitVec, Block, BlockHasher, PolyHash, add_key_where, add_where, same_digest,
};
use symbolon_transport::{Channel, Error, Result};
use zeroize::{Zeroize, Zeroizing};

use super::{half_gates::HalfGates, hash::LabelHash, online};
#[cfg(feature = "measure")]
use crate::kernels;
use crate::{
    InputBits, Network, OutputBits, Prepared, beside,
    codec::{Reader, Writer},
    labels::{self, MESSAGE},
    masks::{self, Chunk, GateMacs, MaskWalk},
    material::{Material, small},
    phases, ports,
    share_rows::ShareRows,
    stream::Supply,
};

/// Phase 2: masks, products, and the garbled gates, sent to the evaluator.
pub(super) fn prepare(
    mut material: Material,
    net: &mut Network,
    circuit: &Circuit,
    plan: &Plan,
) -> Result<Box<dyn Prepared>> {
    let evaluator = material.seat.evaluator_place().expect("a garbler is not the evaluator");
    let mut masks = MaskWalk::new(circuit, plan, &material);
    let mut garbling = Garbling::new(plan, &material, net, (material.seat.evaluator, evaluator));
    let gates = small(plan.and_count())?;
    masks.keep_macs(evaluator, gates);
    labels::make_room(&mut garbling.half.outputs, gates);
    let input_labels = garbling.slots[plan.input_slots()].to_vec();
    let deal = |peers: &mut [Channel], chunk: &_, _| garbling.chunk(&mut peers[evaluator], chunk);
    beside::each_chunk(&mut masks, &mut material, net, |_| (), deal)?;
    Ok(Box::new(Ready {
        evaluator,
        delta: material.delta,
        own_masks: material.own_masks(circuit),
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
    mut supply: Supply<'_>,
    net: &mut Network,
    (circuit, plan): (&Circuit, &Plan),
    inputs: &InputBits,
) -> Result<OutputBits> {
    let (delta, seat) = (supply.material.delta, supply.material.seat);
    let evaluator = seat.evaluator_place().expect("a garbler is not the evaluator");
    let mut masks = supply.walk(circuit, plan);
    let mut garbling = Garbling::new(plan, &supply.material, net, (seat.evaluator, evaluator));
    let own = ports::masked_inputs(inputs, &supply.material.own_masks(circuit));
    let masked = online::broadcast_inputs(net.peers(), circuit, own)?;
    let labels = labels::chosen(&garbling.slots[plan.input_slots()], &masked, delta);
    net.peers()[evaluator].send(online::LABELS, Block::as_bytes(&labels))?;
    let mut authentication = Authentication::new(plan, &masked);
    loop {
        supply.refill(net)?;
        let gates = small(supply.material.left)?;
        masks.keep_macs(evaluator, gates);
        labels::make_room(&mut garbling.half.outputs, gates);
        while let Some(chunk) = supply.next_chunk(&mut masks, net)? {
            garbling.chunk(&mut net.peers()[evaluator], &chunk)?;
            masks.recycle(chunk);
        }
        let macs = supply.material.used().map(|(batch, range)| {
            let lists = [&batch.alpha, &batch.triples.b, &batch.triples.c];
            lists.map(|shares| &shares.towards[evaluator].macs[range.clone()])
        });
        authentication.prove(net, (evaluator, delta), &garbling.half.outputs, macs)?;
        if supply.is_last() {
            break;
        }
    }
    drop(garbling);
    let masks = supply.finish(masks);
    let outputs = authentication.finish(plan);
    online::open_outputs(net.peers(), circuit, (&masks, &outputs), delta)
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
        material: &Material,
        net: &Network,
        (evaluator, place): (PartyId, usize),
    ) -> Self {
        let garblers = online::garblers(net.parties(), evaluator);
        let hash = LabelHash::new(&net.session, net.me, &garblers);
        let is_pointer = garblers.first() == Some(&net.me);
        Garbling {
            cursor: plan.cursor(),
            slots: labels::fresh(plan, material.seed),
            first_tweak: material.first_tweak,
            inputs: Vec::new(),
            rows: Vec::new(),
            sealed: vec![Vec::new(); hash.others()],
            half: HalfGates::new((place, is_pointer), material.delta, hash),
        }
    }

    /// Garbles a chunk and sends it to the evaluator.
    fn chunk(&mut self, channel: &mut Channel, chunk: &Chunk) -> Result<()> {
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
    fn batch(&mut self, chunk: &Chunk, done: usize) -> usize {
        let batch = self.cursor.next_batch().expect("the plan holds every gate of the chunk");
        let slots = &mut self.slots[batch.base..];
        batch.linear.iter().for_each(|&linear| labels::step(slots, linear, self.half.delta));
        self.inputs.clear();
        if !self.sealed.is_empty() {
            for and in batch.ands {
                let (alpha, beta) = (slots[and.a as usize], slots[and.b as usize]);
                self.inputs.extend(labels::row_inputs(alpha, beta, self.half.delta));
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
    fn seal(&mut self, chunk: &Chunk, done: usize, gates: usize, (first, other): (u64, usize)) {
        self.rows.clear();
        self.rows.extend_from_slice(&self.inputs);
        self.half.hash.rows(other, first, 4, &mut self.rows);
        // Peers are the evaluator and the other garblers, these in the same order.
        let place = other + usize::from(other >= self.half.evaluator);
        for (k, rows) in self.rows.chunks_exact(4).take(gates).enumerate() {
            let mac = |shares: &ShareRows| shares.auth(done + k)[place][0];
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
struct Ready {
    /// The evaluator's place among the peers.
    evaluator: usize,
    delta: Block,
    own_masks: BitVec,
    input_labels: Vec<Block>,
    output_masks: ShareRows,
    gates: Gates,
}

/// What a garbler keeps of AND gates for the online phase.
#[derive(Default)]
struct Gates {
    /// L_γ,0.
    labels: Vec<Block>,
    /// M_1[λ_α], M_1[λ_β], M_1[λ_αβ ⊕ λ_γ]: authenticate the gate to the evaluator.
    macs: GateMacs,
}

impl Gates {
    /// The rows of M_1[λ_α], M_1[λ_β], M_1[λ_αβ ⊕ λ_γ].
    fn rows(&self) -> [&[Block]; 3] {
        [&self.macs.alpha, &self.macs.beta, &self.macs.row0]
    }

    /// M_1[λ_α], M_1[λ_β], M_1[λ_αβ ⊕ λ_γ] of each gate.
    fn macs(&self) -> impl Iterator<Item = [Block; 3]> {
        let GateMacs { alpha, beta, row0 } = &self.macs;
        let gates = alpha.iter().zip(beta).zip(row0);
        gates.map(|((&alpha, &beta), &row0)| [alpha, beta, row0])
    }
}

impl Drop for Gates {
    fn drop(&mut self) {
        self.labels.zeroize();
    }
}

impl Prepared for Ready {
    /// Steps 9 to 13.
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Circuit,
        plan: &Plan,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        phases::check_inputs(circuit, net.me, inputs, 1)?;
        let own = ports::masked_inputs(inputs, &self.own_masks);
        let masked = online::broadcast_inputs(net.peers(), circuit, own)?;
        let labels = labels::chosen(&self.input_labels, &masked, self.delta);
        net.peers()[self.evaluator].send(online::LABELS, Block::as_bytes(&labels))?;

        let mut authentication = Authentication::new(plan, &masked);
        let (labels, rows) = (&self.gates.labels, std::iter::once(self.gates.rows()));
        authentication.prove(net, (self.evaluator, self.delta), labels, rows)?;
        let outputs = authentication.finish(plan);
        online::open_outputs(net.peers(), circuit, (&self.output_masks, &outputs), self.delta)
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut out = Writer(out);
        out.blocks(&[self.delta])?;
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
    let mut ready = Ready {
        evaluator,
        delta: from.block()?,
        own_masks: from.bits(ports::input_bits(circuit, me))?,
        input_labels: from.blocks(plan.input_slots().len())?,
        output_masks: ShareRows::load(outputs, peers, &mut from)?,
        gates: Gates::default(),
    };
    for gates in masks::chunk_sizes(plan) {
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

/// The evaluator's masked values, with the digest by which it proves them to be those that the own labels stand for, and χ.
struct MaskedValues {
    bits: BitVec,
    digest: [u8; 32],
    chi: Block,
}

impl MaskedValues {
    /// Step 11, of `n` gates.
    fn receive(channel: &mut Channel, n: usize) -> Result<MaskedValues> {
        let bytes = channel.recv(online::MASKED_VALUES, BitVec::byte_len(n) + 32 + 16)?;
        let (bits, rest) = bytes.split_at(BitVec::byte_len(n));
        let bits = ports::decode_bits(channel, n, bits)?;
        let (digest, chi) = rest.split_first_chunk().expect("a digest and chi");
        let chi = Block::from_bytes(chi.try_into().expect("16 bytes"));
        Ok(MaskedValues { bits, digest: *digest, chi })
    }

    /// What the digest has to be.
    fn expected(&self, labels: &[Block], delta: Block) -> [u8; 32] {
        let mut hasher = BlockHasher::new("symbolon ywz labels 1");
        let mut chosen = Zeroizing::new([Block::ZERO; 1024]);
        for (labels, first) in labels.chunks(chosen.len()).zip((0..).step_by(1024)) {
            let chosen = &mut chosen[..labels.len()];
            chosen.copy_from_slice(labels);
            add_key_where(chosen, &self.bits, first, delta);
            hasher.update(chosen);
        }
        hasher.finish()
    }
}

/// The walk over masked values: steps 11 and 12, of all gates at once or of one part after the other.
struct Authentication<'a> {
    cursor: Cursor<'a>,
    slots: Vec<bool>,
}

/// Gates that are proven at a time.
const SUMMED: usize = 1024;

/// So many gates or more are proven on two threads, if there are as many lanes.
const TWO_THREADS: usize = 8192;

impl<'a> Authentication<'a> {
    /// Starts from the masked inputs.
    fn new(plan: &'a Plan, inputs: &BitVec) -> Self {
        let mut slots = vec![false; plan.slots()];
        for (w, slot) in slots[plan.input_slots()].iter_mut().enumerate() {
            *slot = inputs.get(w);
        }
        Authentication { cursor: plan.cursor(), slots }
    }

    /// Receives and checks the evaluator's masked values of the next gates, whose labels and rows of MACs these are, and proves them
    /// to it by z (step 12a, c), which it is sent only if its own proof is right.
    ///
    /// A wrong label may be the evaluator's lie, or what another garbler's rows made of it.
    fn prove<'m>(
        &mut self,
        net: &mut Network,
        (evaluator, delta): (usize, Block),
        labels: &[Block],
        macs: impl Iterator<Item = [&'m [Block]; 3]>,
    ) -> Result<()> {
        let values = MaskedValues::receive(&mut net.peers()[evaluator], labels.len())?;
        let two_threads = net.lanes.len() > 1 && labels.len() >= TWO_THREADS;
        let (mut digest, z) = thread::scope(|scope| {
            let digest = || values.expected(labels, delta);
            let beside = two_threads.then(|| scope.spawn(digest));
            let z = self.sum(&values, labels.len(), macs);
            let digest = beside.map_or_else(|| Ok(digest()), |beside| beside.join());
            digest.map(|digest| (digest, z))
        })
        .map_err(|_| Error::internal("a thread of this party panicked"))?;
        let channels = net.peers();
        channels[evaluator].bend_state("masked value label", &mut digest);
        if !same_digest(&digest, &values.digest) {
            return Err(Error::misbehaved(online::culprit(channels), online::LABEL_CHECK));
        }
        channels[evaluator].send(online::AUTHENTICATION, &z.to_bytes())?;
        channels[evaluator].flush()
    }

    /// z of the next `n` gates, of which these are the rows of MACs on λ_α, λ_β and λ_αβ ⊕ λ_γ, piece by piece.
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
                ts.extend_from_slice(row0);
                add_where(&mut ts, &left.slice(gates.clone()), 0, beta);
                add_where(&mut ts, &right.slice(gates), 0, alpha);
                hash.update(&ts);
            }
        }
        hash.finish()
    }

    /// The masked values of the left and the right inputs of the next `n` gates.
    fn inputs(&mut self, values: &MaskedValues, n: usize) -> [BitVec; 2] {
        let [mut left, mut right] = [(); 2].map(|()| BitVec::with_capacity(n));
        while left.len() < n {
            let batch = self.cursor.next_batch().expect("the plan holds every gate");
            let slots = &mut self.slots[batch.base..];
            batch.linear.iter().for_each(|&linear| step_masked(slots, linear));
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

    /// The masked values of the outputs, once those of every gate are here.
    fn finish(mut self, plan: &Plan) -> Vec<bool> {
        while let Some(batch) = self.cursor.next_batch() {
            let slots = &mut self.slots[batch.base..];
            batch.linear.iter().for_each(|&linear| step_masked(slots, linear));
        }
        plan.output_slots().iter().map(|&slot| self.slots[slot as usize]).collect()
    }
}

fn step_masked(slots: &mut [bool], linear: Linear) {
    match linear {
        Linear::Xor { a, b, out } => slots[out as usize] = slots[a as usize] ^ slots[b as usize],
        Linear::Inv { a, out } => slots[out as usize] = !slots[a as usize],
        Linear::Copy { from, out, len } => {
            slots.copy_within(from as usize..(from + len) as usize, out as usize);
        }
        Linear::Const { value, out } => slots[out as usize] = value,
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        self.delta.zeroize();
        self.own_masks.zeroize();
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
        let delta = blocks.array::<1>()[0].with_lsb(true);
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
