//! The evaluator, party 1 (P_B).

use std::io::Write;

use symbolon_circuit::{Circuit, Linear, Plan};
use symbolon_preprocessing::Share;
use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroize;

use super::{
    EVALUATOR, online,
    table::{self, ROWS, RowHash},
};
use crate::{
    InputBits, Network, OutputBits, Prepared, Rho,
    codec::{Reader, Writer, first_tweak},
    labels,
    masks::{self, Chunk, MaskWalk},
    material::Material,
    phases,
    ports::{self, OutputWires},
    share_rows::ShareRows,
};

/// Phase 2: masks, products, and the garbled gates, received.
pub(super) fn prepare(
    mut material: Material,
    net: &mut Network,
    circuit: &Circuit,
    plan: &Plan,
) -> Result<Box<dyn Prepared>> {
    let mut masks = MaskWalk::new(circuit, plan, &material);
    let mac_bytes = table::mac_bytes(net.rho);
    let (mut tables, mut message) = (Vec::new(), Vec::new());
    while let Some(chunk) = masks.next_chunk(net.peers(), &mut material)? {
        tables.push(Table::receive(&mut net.peers()[0], &chunk, mac_bytes, &mut message)?);
        masks.recycle(chunk);
    }
    Ok(Box::new(Ready {
        session: net.session,
        delta: material.delta,
        mac_bytes,
        first_tweak: material.first_tweak,
        own_masks: material.own_masks(circuit),
        output_masks: masks.outputs(),
        tables,
    }))
}

/// The garbled rows of a chunk, with the evaluator's shares already in them.
struct Table {
    /// Row i of gate g at 4g + i: what the label's hash is to be XORed with.
    labels: Vec<Block>,
    /// The same for the cut MAC of r; 16 spare bytes at the end.
    macs: Vec<u8>,
    /// Bit i of entry g: the evaluator's bit s of row i.
    bits: Vec<u8>,
}

impl Table {
    /// Receives a chunk's table and XORs the own MAC M\[s\] and key K\[r\] into each row: what is left
    /// after hashing is the label itself, and r times the cut Δ_B. `message` is memory that is kept for it.
    fn receive(
        channel: &mut Channel,
        chunk: &Chunk,
        mac_bytes: usize,
        message: &mut Vec<Block>,
    ) -> Result<Table> {
        let gates = chunk.len();
        let (label_bytes, mac_section) =
            (table::label_bytes(gates), table::mac_section_bytes(gates, mac_bytes));
        message.resize((label_bytes + mac_section).div_ceil(16) + 1, Block::ZERO);
        let bytes = Block::as_bytes_mut(message);
        channel.recv_into("garbled table", &mut bytes[..label_bytes + mac_section])?;
        let macs = &bytes[label_bytes..];

        let mut own_macs = Vec::with_capacity(mac_section + 16);
        let mut bits = Vec::with_capacity(gates);
        let mut labels = Vec::with_capacity(ROWS * gates);
        let one = Share { bit: true, ..Share::default() };
        for g in 0..gates {
            let mut nibble = 0;
            for (row, share) in table::rows(chunk, g, one).into_iter().enumerate() {
                let mac = table::take(macs, ROWS * g + row, mac_bytes);
                table::put(&mut own_macs, mac ^ table::cut(share.key, mac_bytes), mac_bytes);
                nibble |= u8::from(share.bit) << row;
                labels.push(share.mac);
            }
            bits.push(nibble);
        }
        own_macs.resize(mac_section + 16, 0);
        for (own, sent) in labels.chunks_exact_mut(ROWS).zip(message.chunks_exact(ROWS - 1)) {
            for (own, sent) in own[1..].iter_mut().zip(sent) {
                *own ^= *sent;
            }
        }
        Ok(Table { labels, macs: own_macs, bits })
    }
}

/// The evaluator after phase 2.
struct Ready {
    /// The session in which the circuit was garbled, which keys the rows' hashes.
    session: [u8; 32],
    delta: Block,
    mac_bytes: usize,
    first_tweak: u64,
    own_masks: BitVec,
    output_masks: ShareRows,
    tables: Vec<Table>,
}

impl Prepared for Ready {
    /// Steps 5 to 8: one message to the garbler, one from it; one more to it if it learns any output.
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Circuit,
        plan: &Plan,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        phases::check_inputs(circuit, net.me, inputs, 1)?;
        let own = ports::masked_inputs(inputs, &self.own_masks);
        let channel = &mut net.peers()[0];
        channel.send(online::MASKED_INPUTS, &own.to_bytes())?;
        let wires = OutputWires::of(circuit, channel.me());
        let message = GarblerMessage::receive(channel, circuit, wires.len())?;
        let masked = ports::interleave(circuit, &[&message.masked, &own]);

        let evaluation = Evaluation::new(plan, &self, &masked, message.labels);
        let outputs = evaluation.run(plan, &self.tables, channel)?;

        let for_garbler = OutputWires::of(circuit, channel.peer());
        if !for_garbler.is_empty() {
            outputs.send_to_garbler(channel, &for_garbler, &self.output_masks)?;
        }
        if wires.is_empty() {
            return Ok(ports::no_outputs(circuit));
        }
        let opening = ports::Opening { shares: message.shares, digest: message.digest };
        let mut unmasking = ports::Unmasking::new(&wires, &self.output_masks, &outputs.masked);
        unmasking.add(channel, 0, &opening, self.delta)?;
        Ok(unmasking.finish().release(circuit, &wires))
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut out = Writer(out);
        out.bytes(&self.session)?;
        out.blocks(&[self.delta])?;
        out.u64(self.first_tweak)?;
        out.bits(&self.own_masks)?;
        self.output_masks.save(&mut out)?;
        for table in &self.tables {
            out.blocks(&table.labels)?;
            out.bytes(&table.macs)?;
            out.bytes(&table.bits)?;
        }
        Ok(())
    }
}

/// Reads back what [`Prepared::save`] wrote.
pub(super) fn load(
    rho: Rho,
    circuit: &Circuit,
    plan: &Plan,
    mut from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let mac_bytes = table::mac_bytes(rho);
    let mut ready = Ready {
        session: from.array()?,
        delta: from.block()?,
        mac_bytes,
        first_tweak: first_tweak(&mut from, plan)?,
        own_masks: from.bits(ports::input_bits(circuit, EVALUATOR))?,
        output_masks: ShareRows::load(plan.output_slots().len(), 1, &mut from)?,
        tables: Vec::new(),
    };
    for gates in masks::chunk_sizes(plan) {
        ready.tables.push(Table {
            labels: from.blocks(ROWS * gates)?,
            macs: from.bytes(table::mac_section_bytes(gates, mac_bytes) + 16)?,
            bits: from.bytes(gates)?,
        });
    }
    Ok(Box::new(ready))
}

impl Drop for Table {
    fn drop(&mut self) {
        self.labels.zeroize();
        self.macs.zeroize();
        self.bits.zeroize();
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        self.delta.zeroize();
        self.own_masks.zeroize();
    }
}

/// The garbler's one online message.
struct GarblerMessage {
    masked: BitVec,
    labels: Vec<Block>,
    shares: BitVec,
    digest: [u8; 32],
}

impl GarblerMessage {
    fn receive(channel: &mut Channel, circuit: &Circuit, outputs: usize) -> Result<Self> {
        let theirs = ports::input_bits(circuit, channel.peer());
        let wires = circuit.main().inputs as usize;
        let mut bytes = channel.recv(
            online::INPUTS_AND_LABELS,
            BitVec::byte_len(theirs) + 16 * wires + BitVec::byte_len(outputs) + 32,
        )?;
        let mut take = |n: usize| {
            let rest = bytes.split_off(n);
            std::mem::replace(&mut bytes, rest)
        };
        let masked = take(BitVec::byte_len(theirs));
        let mut labels = vec![Block::ZERO; wires];
        Block::as_bytes_mut(&mut labels).copy_from_slice(&take(16 * wires));
        let shares = take(BitVec::byte_len(outputs));
        let digest = bytes.try_into().expect("what is left is the digest");
        let masked = ports::decode_bits(channel, theirs, &masked)?;
        let shares = ports::decode_bits(channel, outputs, &shares)?;
        Ok(GarblerMessage { masked, labels, shares, digest })
    }
}

/// The walk over masked values and labels: step 7.
struct Evaluation {
    slots: Vec<Wire>,
    hash: RowHash,
    first_tweak: u64,
    mac_bytes: usize,
    /// Δ_B, cut as the MACs are.
    delta: u128,
    /// Not zero once any MAC was neither of the two that it may be.
    wrong: u128,
    inputs: Vec<Block>,
    macs: Vec<Block>,
}

impl Drop for Evaluation {
    fn drop(&mut self) {
        self.slots.iter_mut().for_each(|wire| wire.label.zeroize());
        self.delta.zeroize();
        self.inputs.zeroize();
        self.macs.zeroize();
    }
}

/// A wire under evaluation.
#[derive(Clone, Copy, Default)]
struct Wire {
    label: Block,
    /// Λ, the masked value: what the evaluator may know.
    masked: bool,
}

impl Evaluation {
    fn new(plan: &Plan, ready: &Ready, masked: &BitVec, labels: Vec<Block>) -> Self {
        let mut slots = vec![Wire::default(); plan.slots()];
        for (w, (slot, label)) in slots[plan.input_slots()].iter_mut().zip(labels).enumerate() {
            *slot = Wire { label, masked: masked.get(w) };
        }
        Evaluation {
            slots,
            hash: RowHash::new(&ready.session),
            first_tweak: ready.first_tweak,
            mac_bytes: ready.mac_bytes,
            delta: table::cut(ready.delta, ready.mac_bytes),
            wrong: 0,
            inputs: Vec::new(),
            macs: Vec::new(),
        }
    }

    /// Evaluates all gates; the masked outputs exist only if every MAC was right.
    fn run(mut self, plan: &Plan, tables: &[Table], channel: &Channel) -> Result<MaskedOutputs> {
        let mut cursor = plan.cursor();
        let mut chunks = tables.iter();
        let mut chunk = chunks.next();
        let mut done = 0;
        while let Some(batch) = cursor.next_batch() {
            let slots = &mut self.slots[batch.base..];
            batch.linear.iter().for_each(|&linear| step(slots, linear));
            if batch.ands.is_empty() {
                continue;
            }
            if chunk.is_some_and(|table| done == table.bits.len()) {
                (chunk, done) = (chunks.next(), 0);
            }
            let table = chunk.expect("every gate has a row in some chunk");
            self.inputs.clear();
            self.inputs.extend(batch.ands.iter().map(|and| {
                labels::row_input(slots[and.a as usize].label, slots[and.b as usize].label)
            }));
            let first = self.first_tweak + batch.first_and;
            self.hash.hash(first, 1, &mut self.inputs, &mut self.macs);
            for (k, and) in batch.ands.iter().enumerate() {
                let gate = done + k;
                let (a, b) = (slots[and.a as usize].masked, slots[and.b as usize].masked);
                // Λ is public to the evaluator, and says nothing to it.
                let row = 2 * usize::from(a) + usize::from(b);
                let mac = table::cut(self.macs[k], self.mac_bytes)
                    ^ table::take(&table.macs, ROWS * gate + row, self.mac_bytes);
                let r = Block(mac).ct_eq(&Block(self.delta));
                self.wrong |= Block(mac).select(!r).0;
                slots[and.out as usize] = Wire {
                    label: self.inputs[k] ^ table.labels[ROWS * gate + row],
                    masked: r ^ (table.bits[gate] >> row & 1 == 1),
                };
            }
            done += batch.ands.len();
        }
        if self.wrong != 0 {
            return Err(Error::misbehaved(channel.peer(), online::TABLE_CHECK));
        }
        let outputs = plan.output_slots().iter().map(|&slot| self.slots[slot as usize]);
        let (masked, labels) = outputs.map(|wire| (wire.masked, wire.label)).unzip();
        Ok(MaskedOutputs { masked, labels })
    }
}

fn step(slots: &mut [Wire], linear: Linear) {
    match linear {
        Linear::Xor { a, b, out } => {
            let (a, b) = (slots[a as usize], slots[b as usize]);
            slots[out as usize] = Wire { label: a.label ^ b.label, masked: a.masked ^ b.masked };
        }
        Linear::Inv { a, out } => {
            let Wire { label, masked } = slots[a as usize];
            slots[out as usize] = Wire { label, masked: !masked };
        }
        Linear::Copy { from, out } => slots[out as usize] = slots[from as usize],
        Linear::Const { value, out } => {
            slots[out as usize] = Wire { label: Block::ZERO, masked: value };
        }
    }
}

/// Masked outputs and their labels, of a table whose every opened row had a right MAC.
struct MaskedOutputs {
    masked: Vec<bool>,
    labels: Vec<Block>,
}

impl MaskedOutputs {
    /// Returns the garbler's outputs to it, with their proof.
    fn send_to_garbler(
        &self,
        channel: &mut Channel,
        wires: &OutputWires,
        masks: &ShareRows,
    ) -> Result<()> {
        let shares: Vec<Share> = wires.indices().map(|w| masks.pair(w)).collect();
        let bits: Vec<bool> = shares.iter().map(|share| share.bit).collect();
        let labels = wires.indices().map(|w| self.labels[w]);
        let proof: Vec<Block> = labels.chain(shares.iter().map(|s| s.mac)).collect();
        let masked: Vec<bool> = wires.indices().map(|w| self.masked[w]).collect();
        channel.send_parts(
            online::GARBLER_OUTPUTS,
            &[
                &BitVec::from_bools(&masked).to_bytes(),
                &BitVec::from_bools(&bits).to_bytes(),
                &symbolon_preprocessing::exchange::digest_of(&proof),
            ],
        )?;
        channel.flush()
    }
}
