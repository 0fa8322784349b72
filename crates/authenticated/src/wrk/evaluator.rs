//! The evaluator, party 1 (P_B).
//!
//! Timing: labels, own shares, Δ | **indices** are masked values, which are uniform and independent
//! of inputs; errors of all rows are collected before a verdict

use std::io::Write;
use std::ops::Range;

use symbolon_circuit::{And, Batch, Circuit, Cursor, Plan};
use symbolon_engine::{
    Compiled, InputBits, Network, OutputBits, Prepared, Rho,
    codec::{Reader, Writer, first_tweak},
    decode_bits, phases,
};
use symbolon_garbling::four_row::{self, ROWS, RowHash, TruncatedMac};
use symbolon_garbling::half_gates::RUN;
use symbolon_garbling::wires::WireStore;
use symbolon_primitives::{BitVec, Block, Delta, prefetch, wipe_list};
use symbolon_transport::{Channel, Error, Message, Result, Step};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{EVALUATOR, checks, messages, rows};
#[cfg(feature = "measure")]
use crate::gates::pseudorandom::Blocks;
use crate::{
    gates::{
        correlations::PartySecrets,
        garbled_table::{GarbledTable, TableReader, make_room},
        io_wires::{self, Opening, OutputWires, Verified},
        masked_gates::{MaskedGateStream, MaskedGates, chunk_sizes},
        streaming::Streaming,
        wire_shares::WireShares,
    },
    messages::MASKED_INPUTS,
};

/// Runs phase 2: receives the garbled gates.
pub(super) fn prepare(
    mut secrets: PartySecrets,
    mut masks: Box<dyn MaskedGateStream + '_>,
    net: &mut Network,
    circuit: &Compiled,
) -> Result<Box<dyn Prepared>> {
    let plan = circuit.plan();
    let keys = Keys::new(net, &secrets);
    let tables = TableReader::new(keys.mac_bytes).receive_all(&mut *masks, plan, net)?;
    Ok(Box::new(GarbledCircuit {
        keys,
        own_masks: std::mem::take(&mut secrets.own_masks),
        output_masks: masks.outputs(),
        tables,
    }))
}

/// Runs all phases at once.
pub(super) fn stream(
    mut streaming: Streaming<'_>,
    net: &mut Network,
    compiled: &Compiled,
    inputs: &InputBits,
) -> Result<OutputBits> {
    let (circuit, plan) = compiled.planned();
    let keys = Keys::new(net, &streaming.secrets);
    let own = io_wires::masked_inputs(inputs, &streaming.secrets.own_masks);
    let channel = &mut net.peers()[0];
    channel.send(MASKED_INPUTS, &own.to_bytes())?;
    let (theirs, _) = InputLabels::receive(channel, circuit, messages::INPUTS_AND_LABELS_FIRST, 0)?;
    let mut pass = EvalPass::new(compiled, &keys, &own, theirs);
    let (mut table, mut reader) = (Table::default(), TableReader::new(keys.mac_bytes));
    loop {
        let mut segment = streaming.next_segment(net)?;
        while let Some(gates) = segment.next(net)? {
            reader.receive(&mut table, net.peers(), &gates)?;
            segment.recycle(gates);
            pass.chunk(&table);
        }
        pass.check(&net.peers()[0])?;
        segment.finish();
        if streaming.is_done() {
            break;
        }
    }
    let masks = streaming.outputs()?;
    let channel = &mut net.peers()[0];
    let outputs = pass.finish(plan, channel)?;
    outputs.send_to_garbler(channel, circuit, &masks)?;
    let wires = OutputWires::of(circuit, channel.me());
    if wires.is_empty() {
        return Ok(io_wires::no_outputs(circuit));
    }
    let opening = io_wires::receive_output_masks(channel, &wires)?;
    let verified = outputs.unmask(channel, &wires, &masks, &opening, *keys.delta)?;
    Ok(verified.release(circuit, &wires))
}

/// The garbled rows of a chunk, which already include the evaluator's shares. During construction
/// it contains only the first gates.
#[derive(Default)]
struct Table {
    /// Row i of gate g at 4g + i: the block to be XORed with the label's hash.
    labels: Vec<Block>,
    /// The bytes to be XORed for the truncated MAC of r, in the same order; 16 spare bytes at the
    /// end.
    macs: Vec<u8>,
    /// Bit i of entry g: the evaluator's bit s of row i.
    bits: Vec<u8>,
}

impl Drop for Table {
    fn drop(&mut self) {
        wipe_list(&mut self.labels);
        wipe_list(&mut self.macs);
        wipe_list(&mut self.bits);
    }
}

impl ZeroizeOnDrop for Table {}

impl GarbledTable for Table {
    /// The size of a MAC in bytes.
    type Shape = usize;

    const MESSAGE: Message = messages::GARBLED_TABLE;

    fn restart(&mut self, gates: usize, mac_bytes: usize) {
        let macs = four_row::mac_section_bytes(gates, mac_bytes) + 16;
        make_room(&mut self.labels, ROWS * gates);
        make_room(&mut self.macs, macs);
        self.macs.resize(macs, 0);
        make_room(&mut self.bits, gates);
    }

    fn begin(&mut self, gates: &MaskedGates, end: usize, mac_bytes: usize) {
        match four_row::are_words(mac_bytes) {
            true => self.begin_with::<u64>(gates, end, mac_bytes),
            false => self.begin_with::<u128>(gates, end, mac_bytes),
        }
    }

    fn message_bytes(gates: usize, _: usize, mac_bytes: usize) -> usize {
        four_row::label_bytes(gates) + four_row::mac_section_bytes(gates, mac_bytes)
    }

    fn add(
        &mut self,
        _: &Channel,
        _: usize,
        gates: Range<usize>,
        message: &[Block],
        mac_bytes: usize,
    ) -> Result<()> {
        let message = &Block::as_bytes(message)[..Table::message_bytes(gates.len(), 0, mac_bytes)];
        let (labels, macs) = message.split_at(four_row::label_bytes(gates.len()));
        let own = self.labels[ROWS * gates.start..ROWS * gates.end].as_chunks_mut::<ROWS>().0;
        let sent: &[[Block; ROWS - 1]] = bytemuck::cast_slice(labels);
        for ([_, own @ ..], sent) in own.iter_mut().zip(sent) {
            for (own, sent) in own.iter_mut().zip(sent) {
                *own ^= *sent;
            }
        }
        let own = &mut self.macs[four_row::mac_section_bytes(gates.start, mac_bytes)..];
        for (own, sent) in own.iter_mut().zip(macs) {
            *own ^= sent;
        }
        Ok(())
    }
}

impl Table {
    /// Starts each row with this party's MAC M\[s\] and key K\[r\]. Once the garbler's part and the
    /// hash are added, what remains is the label itself, and r times the truncated Δ_B.
    ///
    /// Paper: WRK17, Fig. 2, 4(c) | the evaluator's rows
    fn begin_with<M: TruncatedMac>(&mut self, gates: &MaskedGates, end: usize, mac_bytes: usize) {
        for g in self.bits.len()..end {
            // A closure here would not be inlined, and called for every gate.
            let [row0, alpha, beta] =
                [gates.lambda_ab_c.pair(g), gates.lambda_a.pair(g), gates.lambda_b.pair(g)];
            self.labels.extend(four_row::rows(row0.mac.0, alpha.mac.0, beta.mac.0));
            let [key_row0, key_alpha, key_beta] =
                [row0, alpha, beta].map(|share| M::of(share.key.0, mac_bytes));
            let keys = four_row::rows(key_row0, key_alpha, key_beta);
            for (row, key) in keys.into_iter().enumerate() {
                key.put_at(&mut self.macs, ROWS * g + row, mac_bytes);
            }
            let bits = four_row::rows(row0.bit, alpha.bit, beta.bit);
            // The evaluator absorbs the constant 1 in row 3.
            let bits = (0..).zip(bits).fold(1 << 3, |all, (row, bit)| all ^ u8::from(bit) << row);
            self.bits.push(bits);
        }
    }
}

/// The keys with which garbled rows are opened.
struct Keys {
    /// The session in which the circuit was garbled, which keys the rows' hashes.
    session: [u8; 32],
    delta: Delta,
    mac_bytes: usize,
    first_tweak: u64,
}

impl Keys {
    fn new(net: &Network, secrets: &PartySecrets) -> Self {
        Keys {
            session: net.session,
            delta: secrets.delta.clone(),
            mac_bytes: rows::mac_bytes(net.rho),
            first_tweak: secrets.first_tweak,
        }
    }
}

/// The evaluator after phase 2.
struct GarbledCircuit {
    keys: Keys,
    own_masks: BitVec,
    output_masks: WireShares,
    tables: Vec<Table>,
}

impl Prepared for GarbledCircuit {
    /// Runs steps 5 to 8: one message to the garbler, one from it, and another one to it if it
    /// learns any output.
    fn evaluate(
        mut self: Box<Self>,
        net: &mut Network,
        compiled: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        let (circuit, plan) = compiled.planned();
        phases::check_inputs(circuit, net.me, inputs, 1)?;
        let own = io_wires::masked_inputs(inputs, &self.own_masks);
        let channel = &mut net.peers()[0];
        channel.send(MASKED_INPUTS, &own.to_bytes())?;
        let wires = OutputWires::of(circuit, channel.me());
        let (theirs, opening) = receive_garbler_message(channel, circuit, wires.len())?;
        let mut pass = EvalPass::new(compiled, &self.keys, &own, theirs);
        channel.meter().begin_step(Step::Gates, plan.and_count());
        // Each table is wiped while it is still in the cache.
        for table in self.tables.drain(..) {
            pass.chunk(&table);
            channel.meter().advance(Step::Gates, table.bits.len() as u64);
        }
        let outputs = pass.finish(plan, channel)?;
        outputs.send_to_garbler(channel, circuit, &self.output_masks)?;
        if wires.is_empty() {
            return Ok(io_wires::no_outputs(circuit));
        }
        let masks = &self.output_masks;
        let verified = outputs.unmask(channel, &wires, masks, &opening, *self.keys.delta)?;
        Ok(verified.release(circuit, &wires))
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut out = Writer(out);
        out.bytes(&self.keys.session)?;
        out.list(&[*self.keys.delta])?;
        out.u64(self.keys.first_tweak)?;
        out.bits(&self.own_masks)?;
        self.output_masks.save(&mut out)?;
        for table in &self.tables {
            out.list(&table.labels)?;
            out.bytes(&table.macs)?;
            out.bytes(&table.bits)?;
        }
        Ok(())
    }
}

/// Reads back what [`Prepared::save`] wrote.
pub(super) fn load(
    rho: Rho,
    circuit: &Compiled,
    mut from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let (circuit, plan) = circuit.planned();
    let mac_bytes = rows::mac_bytes(rho);
    let mut ready = GarbledCircuit {
        keys: Keys {
            session: from.array()?,
            delta: from.delta()?,
            mac_bytes,
            first_tweak: first_tweak(&mut from, plan)?,
        },
        own_masks: from.bits(io_wires::input_bits(circuit, EVALUATOR))?,
        output_masks: WireShares::load(plan.output_slots().len(), 1, &mut from)?,
        tables: Vec::new(),
    };
    for gates in chunk_sizes(plan) {
        ready.tables.push(Table {
            labels: from.list(ROWS * gates)?,
            macs: from.list(four_row::mac_section_bytes(gates, mac_bytes) + 16)?,
            bits: from.list(gates)?,
        });
    }
    Ok(Box::new(ready))
}

/// Λ of the garbler's input wires, and the labels of all input wires.
struct InputLabels {
    masked: BitVec,
    labels: Zeroizing<Vec<Block>>,
}

impl InputLabels {
    /// Returns their size in bytes, with this many bits of masked inputs.
    fn bytes(circuit: &Circuit, masked: usize) -> usize {
        BitVec::byte_len(masked) + 16 * circuit.main().inputs as usize
    }

    /// Receives them in a message that ends with `more` bytes, which are returned, too.
    fn receive(
        channel: &mut Channel,
        circuit: &Circuit,
        message: Message,
        more: usize,
    ) -> Result<(Self, Zeroizing<Vec<u8>>)> {
        let theirs = io_wires::input_bits(circuit, channel.peer());
        let all = InputLabels::bytes(circuit, theirs);
        let mut bytes = Zeroizing::new(channel.recv(message, all + more)?);
        let rest = Zeroizing::new(bytes.split_off(all));
        let (masked, from) = bytes.split_at(BitVec::byte_len(theirs));
        let mut labels = Zeroizing::new(vec![Block::ZERO; circuit.main().inputs as usize]);
        Block::as_bytes_mut(&mut labels).copy_from_slice(from);
        Ok((InputLabels { masked: decode_bits(channel, theirs, masked)?, labels }, rest))
    }
}

/// Receives the garbler's only online message, after all tables.
///
/// Paper: WRK17, Fig. 2, 5–6 | inputs, at the evaluator
fn receive_garbler_message(
    channel: &mut Channel,
    circuit: &Circuit,
    outputs: usize,
) -> Result<(InputLabels, Opening)> {
    let shares = BitVec::byte_len(outputs);
    let (inputs, mut rest) =
        InputLabels::receive(channel, circuit, messages::INPUTS_AND_LABELS, shares + 32)?;
    let digest = rest.split_off(shares);
    let shares = decode_bits(channel, outputs, &rest)?;
    let digest = digest.try_into().expect("what is left is the digest");
    Ok((inputs, Opening { shares, digest }))
}

/// The pass over masked values and labels: step 7.
struct EvalPass<'p> {
    cursor: Cursor<'p>,
    evaluation: Evaluation,
}

/// The wires under evaluation, and the state for opening their gates.
pub(crate) struct Evaluation {
    wires: Wires,
    hash: RowHash,
    first_tweak: u64,
    mac_bytes: usize,
    /// Δ_B.
    delta: Delta,
    /// Nonzero once any MAC was neither of its two valid values.
    wrong: u128,
    /// For a run of gates: the hash inputs of the opened rows, then the hashes for labels; and the
    /// hashes for MACs.
    inputs: [Block; RUN],
    macs: [Block; RUN],
}

impl Drop for Evaluation {
    fn drop(&mut self) {
        self.wires.0.iter_mut().for_each(|wire| wire.0.zeroize());
        self.inputs.zeroize();
        self.macs.zeroize();
    }
}

/// How many gates before its turn a gate's rows are asked for.
const AHEAD: usize = 64;

/// A wire under evaluation: the low and the high word of its label, and Λ, the masked value, which
/// the evaluator may know. As words they are XORed in vector registers; a number of 128 bits and a
/// `bool` are not.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Wire([u64; 4]);

impl Wire {
    #[inline]
    fn new(label: Block, masked: bool) -> Self {
        Wire([label.0 as u64, (label.0 >> 64) as u64, u64::from(masked), 0])
    }

    #[inline]
    fn label(self) -> Block {
        let [low, high, ..] = self.0;
        Block(u128::from(high) << 64 | u128::from(low))
    }

    #[inline]
    fn masked(self) -> bool {
        self.0[2] != 0
    }
}

/// The live wires. NOT flips Λ and keeps the label; the label of a constant is 0.
struct Wires(Vec<Wire>);

impl WireStore for Wires {
    /// Paper: WRK17, Fig. 2, 7(a) | XOR gates
    #[inline]
    fn xor(&mut self, a: usize, b: usize, out: usize) {
        let (Wire(a), Wire(b)) = (self.0[a], self.0[b]);
        self.0[out] = Wire(std::array::from_fn(|word| a[word] ^ b[word]));
    }

    #[inline]
    fn not(&mut self, a: usize, out: usize) {
        let Wire(mut words) = self.0[a];
        words[2] ^= 1;
        self.0[out] = Wire(words);
    }

    #[inline]
    fn constant(&mut self, value: bool, out: usize) {
        self.0[out] = Wire::new(Block::ZERO, value);
    }

    #[inline]
    fn copy(&mut self, from: Range<usize>, out: usize) {
        self.0.copy_within(from, out);
    }
}

impl<'p> EvalPass<'p> {
    /// Starts from the masked inputs: this party's `own`, and `theirs`.
    fn new(circuit: &'p Compiled, keys: &Keys, own: &BitVec, theirs: InputLabels) -> Self {
        let (circuit, plan) = circuit.planned();
        let masked = io_wires::interleave(circuit, &[&theirs.masked, own]);
        let mut slots = vec![Wire::default(); plan.slots()];
        let inputs = slots[plan.input_slots()].iter_mut().zip(theirs.labels.iter().copied());
        for (w, (slot, label)) in inputs.enumerate() {
            *slot = Wire::new(label, masked.get(w));
        }
        EvalPass { cursor: plan.cursor(), evaluation: Evaluation::new(slots, keys) }
    }

    /// Evaluates the gates of the next table. Records wrong MACs for [`check`](EvalPass::check).
    fn chunk(&mut self, table: &Table) {
        let mut done = 0;
        while done < table.bits.len() {
            let batch = self.cursor.next_batch().expect("the plan holds every gate of the chunk");
            self.evaluation.wires.free_gates(batch.base, batch.linear);
            self.evaluation.gates(&batch, table, done);
            done += batch.ands.len();
        }
    }

    /// Checks that the MAC of every row opened so far was right.
    ///
    /// Check: `wrk` | `garbled table MAC`: every opened row | wrong rows; wrong labels that
    /// reach a later gate | 2^-ρ
    fn check(&self, channel: &Channel) -> Result<()> {
        if self.evaluation.wrong != 0 {
            return Err(Error::misbehaved(channel.peer(), checks::GARBLED_TABLE));
        }
        Ok(())
    }

    /// Computes the free gates after the last AND gate. Returns the masked outputs only if every
    /// MAC was right.
    fn finish(self, plan: &Plan, channel: &Channel) -> Result<MaskedOutputs> {
        self.check(channel)?;
        let EvalPass { cursor, mut evaluation } = self;
        evaluation.wires.finish(cursor);
        let outputs = plan.output_slots().iter().map(|&slot| evaluation.wires.0[slot as usize]);
        let (masked, labels): (_, Vec<Block>) =
            outputs.map(|wire| (wire.masked(), wire.label())).unzip();
        Ok(MaskedOutputs { masked, labels: Zeroizing::new(labels) })
    }
}

impl Evaluation {
    fn new(slots: Vec<Wire>, keys: &Keys) -> Self {
        Evaluation {
            wires: Wires(slots),
            hash: rows::row_hash(&keys.session),
            first_tweak: keys.first_tweak,
            mac_bytes: keys.mac_bytes,
            delta: keys.delta.clone(),
            wrong: 0,
            inputs: [Block::ZERO; RUN],
            macs: [Block::ZERO; RUN],
        }
    }

    /// Evaluates the AND gates of a batch, from gate `done` of the table on.
    fn gates(&mut self, batch: &Batch<'_>, table: &Table, done: usize) {
        for (run, ands) in batch.ands.chunks(RUN).enumerate() {
            let from = RUN * run;
            let first = self.first_tweak + batch.first_and + from as u64;
            match four_row::are_words(self.mac_bytes) {
                true => self.open_rows::<u64>(batch.base, ands, table, done + from, first),
                false => self.open_rows::<u128>(batch.base, ands, table, done + from, first),
            }
        }
    }

    /// Evaluates at most `RUN` gates, from gate `g` of the table on; the first gate has number
    /// `first`.
    ///
    /// Paper: WRK17, Fig. 2, 7(b) | AND gates
    fn open_rows<M: TruncatedMac>(
        &mut self,
        base: usize,
        ands: &[And],
        table: &Table,
        g: usize,
        first: u64,
    ) {
        let slots = &mut self.wires.0[base..];
        // Tables come from memory that no cache holds, and narrow layers read a few gates of them.
        for gate in g..g + ands.len() {
            if let Some(row) = table.labels.get(ROWS * (gate + AHEAD)) {
                prefetch(row);
            }
        }
        let (inputs, macs) = (&mut self.inputs[..ands.len()], &mut self.macs[..ands.len()]);
        for ((input, mac), and) in inputs.iter_mut().zip(&mut *macs).zip(ands) {
            *input =
                four_row::row_input(slots[and.a as usize].label(), slots[and.b as usize].label());
            *mac = *input;
        }
        self.hash.hash(first, 1, inputs, macs);
        let delta = M::of(*self.delta, self.mac_bytes);
        for (k, ((and, hash), mac)) in ands.iter().zip(inputs).zip(macs).enumerate() {
            let gate = g + k;
            let [a, b] = [and.a, and.b].map(|slot| slots[slot as usize].masked());
            // Λ is public to the evaluator, and reveals nothing to it.
            let row = 2 * usize::from(a) + usize::from(b);
            let sent = M::take(&table.macs, ROWS * gate + row, self.mac_bytes);
            let mac = M::of(*mac, self.mac_bytes) ^ sent;
            let r = mac.is(delta);
            self.wrong |= mac.only_if(!r).widened().0;
            slots[and.out as usize] = Wire::new(
                *hash ^ table.labels[ROWS * gate + row],
                r ^ (table.bits[gate] >> row & 1 == 1),
            );
        }
    }
}

/// Masked outputs and their labels, from a table whose opened rows all had a right MAC.
struct MaskedOutputs {
    masked: Vec<bool>,
    labels: Zeroizing<Vec<Block>>,
}

impl MaskedOutputs {
    /// Returns the garbler's outputs to it, with their proof, if it learns any.
    fn send_to_garbler(
        &self,
        channel: &mut Channel,
        circuit: &Circuit,
        masks: &WireShares,
    ) -> Result<()> {
        let wires = OutputWires::of(circuit, channel.peer());
        if wires.is_empty() {
            return Ok(());
        }
        let labels = wires.indices().map(|w| self.labels[w]);
        let macs = wires.indices().map(|w| masks.auth(w)[0][0]);
        let proof = Zeroizing::new(labels.chain(macs).collect::<Vec<Block>>());
        channel.send_parts(
            messages::GARBLER_OUTPUTS,
            &[
                &wires.pack(|w| self.masked[w]).to_bytes(),
                &Zeroizing::new(wires.pack(|w| masks.bit(w)).to_bytes()),
                &symbolon_preprocessing::open_bits::digest_of(&proof),
            ],
        )?;
        channel.flush()
    }

    /// Returns this party's outputs, once the garbler's shares of their masks have passed their
    /// check.
    ///
    /// Paper: WRK17, Fig. 2, 8 | outputs
    fn unmask(
        &self,
        channel: &Channel,
        wires: &OutputWires,
        masks: &WireShares,
        opening: &Opening,
        delta: Block,
    ) -> Result<Verified> {
        let mut decoder = io_wires::OutputDecoder::new(wires, masks, &self.masked);
        decoder.add(channel, 0, opening, delta)?;
        Ok(decoder.finish())
    }
}

#[cfg(feature = "measure")]
impl Evaluation {
    /// Returns a closure that evaluates all AND gates of a plan on pseudorandom data, with MACs of
    /// 40 bits.
    pub(crate) fn kernel<'a>(plan: &'a Plan) -> impl FnMut() + use<'a> {
        let gates = plan.and_count() as usize;
        let mut blocks = Blocks::new();
        let bits = blocks.bits(plan.slots()).to_bools();
        let labels = blocks.many(plan.slots());
        let wires = labels.into_iter().zip(bits).map(|(label, masked)| Wire::new(label, masked));
        let mac_bytes = 5;
        let macs = blocks.many(gates * ROWS);
        let table = Table {
            labels: blocks.many(ROWS * gates),
            macs: Block::as_bytes(&macs)[..four_row::mac_section_bytes(gates, mac_bytes) + 16]
                .to_vec(),
            bits: Block::as_bytes(&macs)[..gates].to_vec(),
        };
        let delta = Delta::new(blocks.array::<1>()[0]);
        let keys = Keys { session: [7; 32], delta, mac_bytes, first_tweak: 1 };
        let mut evaluation = Evaluation::new(wires.collect(), &keys);
        move || {
            let mut cursor = plan.cursor();
            let mut done = 0;
            while let Some(batch) = cursor.next_batch() {
                evaluation.gates(&batch, &table, done);
                done += batch.ands.len();
            }
        }
    }
}
