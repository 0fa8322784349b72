//! The garbler, party 0 (P_A).

use std::io::Write;

use symbolon_circuit::{Circuit, Cursor, PartyId, Plan};
use symbolon_primitives::{BitVec, Block, Delta};
use symbolon_transport::{Channel, Result};
use zeroize::{Zeroize, Zeroizing};

use super::{
    online,
    rows::Rows,
    table::{self, RowHash},
};
#[cfg(feature = "measure")]
use crate::kernels;
use crate::{
    InputBits, Network, OutputBits, Prepared,
    codec::{Reader, Writer},
    gates::correlations::Correlations,
    gates::mask_pass::{MaskPass, MaskedGates},
    gates::pipeline,
    gates::streaming::Streaming,
    gates::wire_shares::WireShares,
    io_wires::{self, OutputWires},
    labels, phases,
};

/// Phase 2: masks, products, and the garbled gates, sent to the evaluator.
pub(super) fn prepare(
    mut correlations: Correlations,
    net: &mut Network,
    circuit: &Circuit,
    plan: &Plan,
) -> Result<Box<dyn Prepared>> {
    let mut masks = MaskPass::new(circuit, plan, &correlations);
    let mut garbling = Garbling::new(plan, &correlations, net);
    let input_labels = garbling.slots[plan.input_slots()].to_vec();
    let deal = |peers: &mut [Channel], chunk: &_, _| garbling.chunk(&mut peers[0], chunk);
    pipeline::run(&mut masks, &mut correlations, net, |_| (), deal)?;
    let output_labels = garbling.finish(plan);
    Ok(Box::new(GarblerSecrets {
        delta: correlations.delta.clone(),
        own_masks: correlations.own_masks(circuit),
        input_labels,
        output_masks: masks.outputs(),
        output_labels,
    }))
}

/// All phases at once.
pub(super) fn stream(
    mut streaming: Streaming<'_>,
    net: &mut Network,
    (circuit, plan): (&Circuit, &Plan),
    inputs: &InputBits,
) -> Result<OutputBits> {
    let mut masks = streaming.walk(circuit, plan);
    let mut garbling = Garbling::new(plan, &streaming.correlations, net);
    let delta = streaming.correlations.delta.clone();
    let own = io_wires::masked_inputs(inputs, &streaming.correlations.own_masks(circuit));
    let channel = &mut net.peers()[0];
    let masked = receive_masked_inputs(channel, circuit, &own)?;
    let labels = labels::chosen(&garbling.slots[plan.input_slots()], &masked, *delta);
    channel.send_parts(
        online::INPUTS_AND_LABELS_FIRST,
        &[&own.to_bytes(), Block::as_bytes(&labels)],
    )?;
    loop {
        streaming.refill(net)?;
        while let Some(chunk) = streaming.next_chunk(&mut masks, net)? {
            garbling.chunk(&mut net.peers()[0], &chunk)?;
            masks.recycle(chunk);
        }
        if streaming.is_last() {
            break;
        }
    }
    let output_labels = Zeroizing::new(garbling.finish(plan));
    let output_masks = streaming.finish(masks);
    let channel = &mut net.peers()[0];
    io_wires::send_output_masks(channel, circuit, &output_masks, 0)?;
    channel.flush()?;
    outputs(channel, circuit, (&output_masks, &output_labels), *delta)
}

/// Step 5: the evaluator's masked inputs, put together with the `own`.
fn receive_masked_inputs(channel: &mut Channel, circuit: &Circuit, own: &BitVec) -> Result<BitVec> {
    let n = io_wires::input_bits(circuit, channel.peer());
    let theirs = io_wires::receive_bits(channel, online::MASKED_INPUTS, n)?;
    Ok(io_wires::interleave(circuit, &[own, &theirs]))
}

/// The garbler's own outputs, from the masks and labels of all.
fn outputs(
    channel: &mut Channel,
    circuit: &Circuit,
    (masks, labels): (&WireShares, &[Block]),
    delta: Block,
) -> Result<OutputBits> {
    let wires = OutputWires::of(circuit, channel.me());
    if wires.is_empty() {
        return Ok(io_wires::no_outputs(circuit));
    }
    let verified = online::receive_garbler_outputs(channel, &wires, masks, labels, delta)?;
    Ok(verified.release(circuit, &wires))
}

/// The walk over the labels: step 4d.
pub(crate) struct Garbling<'a> {
    cursor: Cursor<'a>,
    slots: Vec<Block>,
    first_tweak: u64,
    rows: Rows,
}

impl<'a> Garbling<'a> {
    /// Chooses the input labels.
    fn new(plan: &'a Plan, correlations: &Correlations, net: &Network) -> Self {
        Garbling {
            cursor: plan.cursor(),
            slots: labels::fresh(plan, *correlations.seed),
            first_tweak: correlations.first_tweak,
            rows: Rows::new(
                correlations.delta.clone(),
                RowHash::new(&net.session),
                table::mac_bytes(net.rho),
            ),
        }
    }

    /// Garbles a chunk and sends its table.
    fn chunk(&mut self, channel: &mut Channel, chunk: &MaskedGates) -> Result<()> {
        let mut done = 0;
        while done < chunk.len() {
            // The masks' walk went over the same plan and ended its chunk between two batches.
            done += self.batch(chunk, done);
            self.rows.send(channel, done == chunk.len())?;
        }
        Ok(())
    }

    /// The free gates behind the last AND gate, and then the labels of the outputs.
    fn finish(&mut self, plan: &Plan) -> Vec<Block> {
        while let Some(batch) = self.cursor.next_batch() {
            let slots = &mut self.slots[batch.base..];
            batch.linear.iter().for_each(|&linear| labels::step(slots, linear, *self.rows.delta));
        }
        plan.output_slots().iter().map(|&slot| self.slots[slot as usize]).collect()
    }

    /// Garbles the next batch of the walk, from gate `done` of `chunk` on; returns how many it took.
    fn batch(&mut self, chunk: &MaskedGates, done: usize) -> usize {
        let batch = self.cursor.next_batch().expect("the plan holds every gate of the chunk");
        let slots = &mut self.slots[batch.base..];
        batch.linear.iter().for_each(|&linear| labels::step(slots, linear, *self.rows.delta));
        let first = self.first_tweak + batch.first_and;
        self.rows.garble(slots, batch.ands, (chunk, done), first);
        batch.ands.len()
    }
}

impl Drop for Garbling<'_> {
    fn drop(&mut self) {
        self.slots.zeroize();
    }
}

/// The garbler after phase 2.
struct GarblerSecrets {
    delta: Delta,
    own_masks: BitVec,
    input_labels: Vec<Block>,
    output_masks: WireShares,
    output_labels: Vec<Block>,
}

impl Prepared for GarblerSecrets {
    /// Steps 5, 6 and 8: one message to the evaluator, after its masked inputs are here; one back if
    /// the garbler learns any output.
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Circuit,
        _plan: &Plan,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        phases::check_inputs(circuit, net.me, inputs, 1)?;
        let own = io_wires::masked_inputs(inputs, &self.own_masks);
        let channel = &mut net.peers()[0];
        let masked = receive_masked_inputs(channel, circuit, &own)?;
        let labels = labels::chosen(&self.input_labels, &masked, *self.delta);
        let for_evaluator = OutputWires::of(circuit, channel.peer());
        let (shares, proof) = io_wires::open_shares(&for_evaluator, &self.output_masks, 0);
        channel.send_parts(
            online::INPUTS_AND_LABELS,
            &[&own.to_bytes(), Block::as_bytes(&labels), &shares.to_bytes(), &proof],
        )?;
        channel.flush()?;
        outputs(channel, circuit, (&self.output_masks, &self.output_labels), *self.delta)
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut out = Writer(out);
        out.blocks(&[*self.delta])?;
        out.bits(&self.own_masks)?;
        out.blocks(&self.input_labels)?;
        self.output_masks.save(&mut out)?;
        out.blocks(&self.output_labels)
    }
}

/// Reads back what [`Prepared::save`] wrote.
pub(super) fn load(
    circuit: &Circuit,
    plan: &Plan,
    mut from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let outputs = plan.output_slots().len();
    Ok(Box::new(GarblerSecrets {
        delta: from.delta()?,
        own_masks: from.bits(io_wires::input_bits(circuit, GARBLER))?,
        input_labels: from.blocks(plan.input_slots().len())?,
        output_masks: WireShares::load(outputs, 1, &mut from)?,
        output_labels: from.blocks(outputs)?,
    }))
}

/// The garbler's party number.
const GARBLER: PartyId = 0;

impl Drop for GarblerSecrets {
    fn drop(&mut self) {
        self.input_labels.zeroize();
        self.output_labels.zeroize();
    }
}

#[cfg(feature = "measure")]
impl<'a> Garbling<'a> {
    /// Garbles all gates of a plan again and again, on what is made up, with MACs of 40 bits.
    pub(crate) fn kernel(plan: &'a Plan) -> impl FnMut() + use<'a> {
        let gates = plan.and_count() as usize;
        let mut blocks = kernels::Blocks::new();
        let chunk = blocks.chunk(gates);
        let delta = Delta::new(blocks.array::<1>()[0].with_lsb(true));
        let mut garbling = Garbling {
            cursor: plan.cursor(),
            slots: blocks.many(plan.slots()),
            first_tweak: 1,
            rows: Rows::new(delta, RowHash::new(&[7; 32]), 5),
        };
        move || {
            garbling.cursor = plan.cursor();
            garbling.rows.clear();
            let mut done = 0;
            while done < gates {
                done += garbling.batch(&chunk, done);
            }
        }
    }
}
