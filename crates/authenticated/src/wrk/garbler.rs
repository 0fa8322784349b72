//! The garbler, party 0 (P_A).

use std::io::Write;

use symbolon_circuit::{Circuit, Cursor, PartyId, Plan};
use symbolon_engine::{
    Compiled, InputBits, Network, OutputBits, Prepared,
    codec::{Reader, Writer},
    phases, receive_bits,
};
use symbolon_garbling::choose;
use symbolon_garbling::wires::{WireStore, ZeroLabels};
use symbolon_primitives::{BitVec, Block, Delta};
use symbolon_transport::{Channel, Result};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::{
    messages, online,
    rows::{self, Rows},
};
#[cfg(feature = "measure")]
use crate::gates::pseudorandom::Blocks;
use crate::{
    gates::{
        correlations::PartySecrets,
        io_wires::{self, OutputWires},
        masked_gates::{MaskedGateStream, MaskedGates},
        pipeline,
        streaming::Streaming,
        wire_shares::WireShares,
    },
    messages::MASKED_INPUTS,
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
    let input_labels = pass.labels.slots[plan.input_slots()].to_vec();
    let garble = |peers: &mut [Channel], gates: &_, ()| pass.chunk(&mut peers[0], gates);
    pipeline::run(&mut *masks, plan, net, |_, _| (), garble)?;
    let output_labels = pass.finish(plan);
    Ok(Box::new(GarblerSecrets {
        delta: secrets.delta.clone(),
        own_masks: std::mem::take(&mut secrets.own_masks),
        input_labels,
        output_masks: masks.outputs(),
        output_labels,
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
    let mut pass = GarblePass::new(plan, &streaming.secrets, net);
    let delta = streaming.secrets.delta.clone();
    let own = io_wires::masked_inputs(inputs, &streaming.secrets.own_masks);
    let channel = &mut net.peers()[0];
    let masked = receive_masked_inputs(channel, circuit, &own)?;
    let labels = choose(&pass.labels.slots[plan.input_slots()], &masked, &delta);
    channel.send_parts(
        messages::INPUTS_AND_LABELS_FIRST,
        &[&own.to_bytes(), Block::as_bytes(&labels)],
    )?;
    loop {
        let mut segment = streaming.next_segment(net)?;
        while let Some(gates) = segment.next(net)? {
            pass.chunk(&mut net.peers()[0], &gates)?;
            segment.recycle(gates);
        }
        segment.finish();
        if streaming.is_done() {
            break;
        }
    }
    let output_labels = Zeroizing::new(pass.finish(plan));
    let output_masks = streaming.outputs()?;
    let channel = &mut net.peers()[0];
    io_wires::send_output_masks(channel, circuit, &output_masks, 0)?;
    channel.flush()?;
    outputs(channel, circuit, &output_masks, &output_labels, *delta)
}

/// Step 5: receives the evaluator's masked inputs, and combines them with the `own` ones.
///
/// Paper: WRK17, Fig. 2, 5–6 | inputs, at the garbler
fn receive_masked_inputs(channel: &mut Channel, circuit: &Circuit, own: &BitVec) -> Result<BitVec> {
    let n = io_wires::input_bits(circuit, channel.peer());
    let theirs = receive_bits(channel, MASKED_INPUTS, n)?;
    Ok(io_wires::interleave(circuit, &[own, &theirs]))
}

/// Returns the garbler's own outputs, from the masks and labels of all outputs.
fn outputs(
    channel: &mut Channel,
    circuit: &Circuit,
    masks: &WireShares,
    labels: &[Block],
    delta: Block,
) -> Result<OutputBits> {
    let wires = OutputWires::of(circuit, channel.me());
    if wires.is_empty() {
        return Ok(io_wires::no_outputs(circuit));
    }
    let verified = online::receive_garbler_outputs(channel, &wires, masks, labels, delta)?;
    Ok(verified.release(circuit, &wires))
}

/// The pass over the labels: step 4d.
pub(crate) struct GarblePass<'p> {
    cursor: Cursor<'p>,
    labels: ZeroLabels,
    first_tweak: u64,
    rows: Rows,
}

impl<'p> GarblePass<'p> {
    /// Starts with fresh input labels.
    fn new(plan: &'p Plan, secrets: &PartySecrets, net: &Network) -> Self {
        GarblePass {
            cursor: plan.cursor(),
            labels: secrets.input_labels(plan, &net.session),
            first_tweak: secrets.first_tweak,
            rows: Rows::new(
                secrets.delta.clone(),
                rows::row_hash(&net.session),
                rows::mac_bytes(net.rho),
            ),
        }
    }

    /// Garbles a chunk and sends its table.
    fn chunk(&mut self, channel: &mut Channel, gates: &MaskedGates) -> Result<()> {
        let mut done = 0;
        while done < gates.len() {
            // The pass over the masks uses the same plan and ends its chunk between two batches.
            done += self.batch(gates, done);
            self.rows.send(channel, done == gates.len())?;
        }
        Ok(())
    }

    /// Returns the labels of the outputs, after the last chunk.
    fn finish(mut self, plan: &Plan) -> Vec<Block> {
        self.labels.outputs(plan, self.cursor)
    }

    /// Garbles the next batch of the plan, from gate `done` of the chunk on; returns the number of
    /// gates.
    fn batch(&mut self, gates: &MaskedGates, done: usize) -> usize {
        let batch = self.cursor.next_batch().expect("the plan holds every gate of the chunk");
        self.labels.free_gates(batch.base, batch.linear);
        let first = self.first_tweak + batch.first_and;
        self.rows.garble(&mut self.labels.slots[batch.base..], batch.ands, gates, done, first);
        batch.ands.len()
    }
}

/// The garbler after phase 2.
#[derive(ZeroizeOnDrop)]
struct GarblerSecrets {
    delta: Delta,
    own_masks: BitVec,
    input_labels: Vec<Block>,
    output_masks: WireShares,
    output_labels: Vec<Block>,
}

impl Prepared for GarblerSecrets {
    /// Runs steps 5, 6 and 8: one message to the evaluator, after its masked inputs have arrived,
    /// and one back if the garbler learns any output.
    ///
    /// Paper: WRK17, Fig. 2, 5–6
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        let circuit = circuit.circuit();
        phases::check_inputs(circuit, net.me, inputs, 1)?;
        let own = io_wires::masked_inputs(inputs, &self.own_masks);
        let channel = &mut net.peers()[0];
        let masked = receive_masked_inputs(channel, circuit, &own)?;
        let labels = choose(&self.input_labels, &masked, &self.delta);
        let for_evaluator = OutputWires::of(circuit, channel.peer());
        let (shares, proof) = io_wires::open_shares(&for_evaluator, &self.output_masks, 0);
        let shares = Zeroizing::new(shares.to_bytes());
        channel.send_parts(
            messages::INPUTS_AND_LABELS,
            &[&own.to_bytes(), Block::as_bytes(&labels), &shares, &proof],
        )?;
        channel.flush()?;
        outputs(channel, circuit, &self.output_masks, &self.output_labels, *self.delta)
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut out = Writer(out);
        out.list(&[*self.delta])?;
        out.bits(&self.own_masks)?;
        out.list(&self.input_labels)?;
        self.output_masks.save(&mut out)?;
        out.list(&self.output_labels)
    }
}

/// Reads back what [`Prepared::save`] wrote.
pub(super) fn load(circuit: &Compiled, mut from: Reader<'_>) -> Result<Box<dyn Prepared>> {
    let (circuit, plan) = circuit.planned();
    let outputs = plan.output_slots().len();
    Ok(Box::new(GarblerSecrets {
        delta: from.delta()?,
        own_masks: from.bits(io_wires::input_bits(circuit, GARBLER))?,
        input_labels: from.list(plan.input_slots().len())?,
        output_masks: WireShares::load(outputs, 1, &mut from)?,
        output_labels: from.list(outputs)?,
    }))
}

/// The garbler's party number.
const GARBLER: PartyId = PartyId::new(0);

#[cfg(feature = "measure")]
impl<'p> GarblePass<'p> {
    /// Returns a closure that garbles all gates of a plan on pseudorandom data, with MACs of 40
    /// bits.
    pub(crate) fn kernel(plan: &'p Plan) -> impl FnMut() + use<'p> {
        let gates = plan.and_count() as usize;
        let mut blocks = Blocks::new();
        let chunk = blocks.chunk(gates);
        let delta = Delta::new(blocks.array::<1>()[0].with_lsb(true));
        let mut pass = GarblePass {
            cursor: plan.cursor(),
            labels: ZeroLabels { slots: blocks.many(plan.slots()), delta: delta.clone() },
            first_tweak: 1,
            rows: Rows::new(delta, rows::row_hash(&[7; 32]), 5),
        };
        move || {
            pass.cursor = plan.cursor();
            pass.rows.clear();
            let mut done = 0;
            while done < gates {
                done += pass.batch(&chunk, done);
            }
        }
    }
}
