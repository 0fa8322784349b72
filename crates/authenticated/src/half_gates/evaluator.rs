//! The evaluator (the paper's P_1).
//!
//! Timing: labels, own shares, Δ | **indices** are masked values, which are uniform and independent
//! of inputs

use std::io::Write;
use std::ops::Range;

use symbolon_circuit::{And, Batch, Cursor, PartyId, Plan};
use symbolon_engine::{
    Compiled, InputBits, Network, OutputBits, Prepared,
    codec::{Reader, Writer, first_tweak},
    decode_bits, phases,
};
use symbolon_garbling::four_row;
use symbolon_garbling::half_gates::{self, RUN};
use symbolon_garbling::wires::WireStore;
use symbolon_primitives::{BitVec, Block, BlockHasher, Delta, PolyHash, Prg, reserve_wiped};
use symbolon_transport::{Channel, Error, Message, Result, Step};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::{
    hash::LabelHash,
    messages,
    online::{self, AuthenticOutputs, Authenticated},
};
#[cfg(feature = "measure")]
use crate::gates::pseudorandom::Blocks;
use crate::gates::{
    correlations::PartySecrets,
    garbled_table::{GarbledTable, TableReader, make_room},
    io_wires,
    masked_gates::{MaskedGateStream, MaskedGates, chunk_sizes},
    streaming::Streaming,
    wire_shares::WireShares,
};

/// Runs phase 2: receives the garbled gates.
pub(super) fn prepare(
    mut secrets: PartySecrets,
    mut masks: Box<dyn MaskedGateStream + '_>,
    net: &mut Network,
    circuit: &Compiled,
) -> Result<Box<dyn Prepared>> {
    let plan = circuit.plan();
    let garblers = net.peers().len();
    let tables = TableReader::new(garblers).receive_all(&mut *masks, plan, net)?;
    Ok(Box::new(GarbledCircuit {
        session: net.session,
        delta: secrets.delta.clone(),
        chi: fresh_chi()?,
        first_tweak: secrets.first_tweak,
        own_masks: std::mem::take(&mut secrets.own_masks),
        output_masks: masks.outputs(),
        tables,
    }))
}

fn fresh_chi() -> Result<Block> {
    Ok(Prg::from_os().map_err(|e| Error::Internal(e.to_string()))?.block())
}

/// Runs all phases at once.
pub(super) fn stream(
    mut streaming: Streaming<'_>,
    net: &mut Network,
    circuit: &Compiled,
    inputs: &InputBits,
) -> Result<OutputBits> {
    let (circuit, plan) = circuit.planned();
    let PartySecrets { delta, first_tweak, own_masks, .. } = &streaming.secrets;
    let (delta, first_tweak) = (delta.clone(), *first_tweak);
    let garblers = online::garblers(net.parties(), net.me);
    let own = io_wires::masked_inputs(inputs, own_masks);
    let masked = online::broadcast_inputs(net.peers(), circuit, own)?;
    let mut pass = EvalPass::new(plan, &net.session, first_tweak, &garblers);
    pass.evaluation.receive_labels(plan, net.peers(), &masked)?;
    let (mut table, mut reader) = (Table::default(), TableReader::new(garblers.len()));
    loop {
        let mut segment = streaming.next_segment(net)?;
        let mut told = Vec::new();
        while let Some(gates) = segment.next(net)? {
            // Every chunk has a fresh χ, which nobody else sees before all of its tables are here.
            let mut values = Values::new(fresh_chi()?, garblers.len());
            reader.receive(&mut table, net.peers(), &gates)?;
            segment.recycle(gates);
            pass.chunk(&table, *delta, &mut values);
            told.push(values.tell(net.peers())?);
        }
        pass.authenticate(net.peers(), told)?;
        segment.finish();
        if streaming.is_done() {
            break;
        }
    }
    let masks = streaming.outputs()?;
    let outputs = pass.finish(plan);
    online::open_outputs(net.peers(), circuit, &masks, outputs, *delta)
}

/// A chunk of garbled gates from all garblers, with the evaluator's own part of them. During
/// construction it contains only the first gates.
#[derive(Default, ZeroizeOnDrop)]
struct Table {
    /// For each gate and garbler i: 𝒢_0 ⊕ M_i[λ_β], 𝒢_1 ⊕ M_i[λ_α], M_i[λ_αβ ⊕ λ_γ], with the MACs
    /// of this party's shares.
    half_gates: Vec<[Block; 3]>,
    /// Rows of garbler i for the other garbler with index j, 4 per gate: `sealed[i·others + j]`.
    sealed: Vec<Vec<Block>>,
    /// The bits b_γ.
    pointers: BitVec,
    /// For each gate, this party's shares of λ_α, λ_β, λ_αβ ⊕ λ_γ.
    own: Vec<[bool; 3]>,
    /// The sums of the keys for these shares.
    keys: Vec<[Block; 3]>,
}

impl GarbledTable for Table {
    /// The number of garblers.
    type Shape = usize;

    const MESSAGE: Message = messages::GARBLED_GATES;

    fn restart(&mut self, gates: usize, garblers: usize) {
        make_room(&mut self.half_gates, gates * garblers);
        self.sealed.resize_with(garblers * (garblers - 1), Vec::new);
        self.sealed.iter_mut().for_each(|rows| make_room(rows, 4 * gates));
        self.pointers = BitVec::with_capacity(gates);
        make_room(&mut self.own, gates);
        make_room(&mut self.keys, gates);
    }

    fn begin(&mut self, gates: &MaskedGates, end: usize, _: usize) {
        let range = self.own.len()..end;
        for g in range.clone() {
            let [beta, alpha, row0] =
                [&gates.lambda_b, &gates.lambda_a, &gates.lambda_ab_c].map(|rows| rows.auth(g));
            let macs = beta.iter().zip(alpha).zip(row0);
            self.half_gates.extend(macs.map(|((beta, alpha), row0)| [beta[0], alpha[0], row0[0]]));
        }
        let rows = [&gates.lambda_a, &gates.lambda_b, &gates.lambda_ab_c];
        self.own.extend(range.clone().map(|g| rows.map(|rows| rows.bit(g))));
        let sum = |auths: &[[Block; 2]]| auths.iter().fold(Block::ZERO, |sum, auth| sum ^ auth[1]);
        self.keys.extend(range.map(|g| rows.map(|rows| sum(rows.auth(g)))));
    }

    fn message_bytes(gates: usize, garbler: usize, garblers: usize) -> usize {
        let pointers = if garbler == 0 { BitVec::byte_len(gates) } else { 0 };
        16 * blocks_of(gates, garblers) + pointers
    }

    fn add(
        &mut self,
        channel: &Channel,
        garbler: usize,
        gates: Range<usize>,
        message: &[Block],
        garblers: usize,
    ) -> Result<()> {
        let (n, others) = (gates.len(), garblers - 1);
        if garbler == 0 {
            let (blocks, end) =
                (16 * blocks_of(n, garblers), Table::message_bytes(n, garbler, garblers));
            let pointers = &Block::as_bytes(message)[blocks..end];
            self.pointers.extend_from(&decode_bits(channel, n, pointers)?);
        }
        let half_gates = self.half_gates[gates.start * garblers..gates.end * garblers].iter_mut();
        let sent = message.as_chunks().0;
        for ([g0, g1, _], &[sent0, sent1]) in half_gates.skip(garbler).step_by(garblers).zip(sent) {
            *g0 ^= sent0;
            *g1 ^= sent1;
        }
        for (j, rows) in self.sealed[garbler * others..][..others].iter_mut().enumerate() {
            rows.extend_from_slice(&message[n * (2 + 4 * j)..][..4 * n]);
        }
        Ok(())
    }
}

/// Returns the number of blocks in a message of this many gates: two half-gates, and four rows for
/// each other garbler.
fn blocks_of(gates: usize, garblers: usize) -> usize {
    gates * (2 + 4 * (garblers - 1))
}

/// The evaluator after phase 2.
struct GarbledCircuit {
    /// The session in which the circuit was garbled, which keys the labels' hashes.
    session: [u8; 32],
    delta: Delta,
    /// χ of step 11, which nobody is told before.
    chi: Block,
    first_tweak: u64,
    own_masks: BitVec,
    output_masks: WireShares,
    tables: Vec<Table>,
}

impl Prepared for GarbledCircuit {
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
        let garblers = online::garblers(net.parties(), net.me);
        let meter = net.meter.clone();
        let channels = net.peers();
        let masked = online::broadcast_inputs(channels, circuit, own)?;
        let mut pass = EvalPass::new(plan, &self.session, self.first_tweak, &garblers);
        pass.evaluation.receive_labels(plan, channels, &masked)?;
        let mut values = Values::new(self.chi, garblers.len());
        meter.begin_step(Step::Gates, plan.and_count());
        for table in &self.tables {
            pass.chunk(table, *self.delta, &mut values);
            meter.advance(Step::Gates, table.half_gates.len() as u64);
        }
        let told = values.tell(channels)?;
        pass.authenticate(channels, vec![told])?;
        let outputs = pass.finish(plan);
        online::open_outputs(channels, circuit, &self.output_masks, outputs, *self.delta)
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut out = Writer(out);
        out.bytes(&self.session)?;
        out.list(&[*self.delta, self.chi])?;
        out.u64(self.first_tweak)?;
        out.bits(&self.own_masks)?;
        self.output_masks.save(&mut out)?;
        self.tables.iter().try_for_each(|table| table.save(&mut out))
    }
}

impl Table {
    fn save(&self, out: &mut Writer<'_>) -> Result<()> {
        out.list(&self.half_gates)?;
        self.sealed.iter().try_for_each(|rows| out.list(rows))?;
        out.bits(&self.pointers)?;
        for which in 0..3 {
            let bits: Vec<bool> = self.own.iter().map(|bits| bits[which]).collect();
            out.bits(&BitVec::from_bools(&bits))?;
        }
        out.list(&self.keys)
    }

    fn load(gates: usize, garblers: usize, from: &mut Reader<'_>) -> Result<Table> {
        let half_gates = from.list(gates * garblers)?;
        let rows = (0..garblers * (garblers - 1)).map(|_| from.list(4 * gates));
        let sealed = rows.collect::<Result<Vec<_>>>()?;
        let pointers = from.bits(gates)?;
        let bits = [from.bits(gates)?, from.bits(gates)?, from.bits(gates)?];
        let keys = from.list(gates)?;
        let own = (0..gates).map(|g| bits.each_ref().map(|bits| bits.get(g))).collect();
        Ok(Table { half_gates, sealed, pointers, own, keys })
    }
}

/// Reads back what [`Prepared::save`] wrote.
pub(super) fn load(
    me: PartyId,
    parties: u16,
    circuit: &Compiled,
    mut from: Reader<'_>,
) -> Result<Box<dyn Prepared>> {
    let (circuit, plan) = circuit.planned();
    let garblers = usize::from(parties) - 1;
    let mut ready = GarbledCircuit {
        session: from.array()?,
        delta: from.delta()?,
        chi: from.block()?,
        first_tweak: first_tweak(&mut from, plan)?,
        own_masks: from.bits(io_wires::input_bits(circuit, me))?,
        output_masks: WireShares::load(plan.output_slots().len(), garblers, &mut from)?,
        tables: Vec::new(),
    };
    for gates in chunk_sizes(plan) {
        ready.tables.push(Table::load(gates, garblers, &mut from)?);
    }
    Ok(Box::new(ready))
}

/// The pass over masked values and labels: step 10.
struct EvalPass<'p> {
    cursor: Cursor<'p>,
    evaluation: Evaluation,
    authenticated: Authenticated,
}

/// The wires under evaluation, and the state for hashing their gates.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Evaluation {
    wires: Wires,
    #[zeroize(skip)]
    hashes: Vec<LabelHash>,
    first_tweak: u64,
    /// Buffers: per garbler the hashed labels of α and β, and per pair of garblers the hashed rows.
    halves: Vec<Vec<Block>>,
    rows: Vec<Vec<Block>>,
    new: Vec<Block>,
    ts: Vec<Block>,
}

/// The masked values and the labels of the live wires. NOT flips Λ and keeps the labels; those of a
/// constant are 0.
#[derive(ZeroizeOnDrop)]
struct Wires {
    garblers: usize,
    #[zeroize(skip)]
    masked: Vec<bool>,
    /// The label of garbler i on slot s, at `s·garblers + i`.
    labels: Vec<Block>,
}

impl WireStore for Wires {
    /// Paper: YWZ20, Fig. 7, 10
    fn xor(&mut self, a: usize, b: usize, out: usize) {
        let n = self.garblers;
        self.masked[out] = self.masked[a] ^ self.masked[b];
        for i in 0..n {
            self.labels[out * n + i] = self.labels[a * n + i] ^ self.labels[b * n + i];
        }
    }

    fn not(&mut self, a: usize, out: usize) {
        self.copy(a..a + 1, out);
        self.masked[out] ^= true;
    }

    fn constant(&mut self, value: bool, out: usize) {
        let n = self.garblers;
        self.masked[out] = value;
        self.labels[out * n..][..n].fill(Block::ZERO);
    }

    fn copy(&mut self, from: Range<usize>, out: usize) {
        let n = self.garblers;
        self.masked.copy_within(from.clone(), out);
        self.labels.copy_within(from.start * n..from.end * n, out * n);
    }
}

/// Returns the slots of α, β and γ of a batch's gates.
fn slots_of(batch: &Batch<'_>) -> Vec<[usize; 3]> {
    let slots = |and: &And| [and.a, and.b, and.out].map(|slot| batch.base + slot as usize);
    batch.ands.iter().map(slots).collect()
}

/// The results of evaluating AND gates that are checked together.
struct Values {
    chi: Block,
    /// Λ of their outputs, in order.
    bits: BitVec,
    /// For each garbler, the digest of its labels on these outputs.
    digests: Vec<BlockHasher>,
    /// z_1.
    z: PolyHash,
}

impl Values {
    /// Starts without gates, to be checked at χ.
    fn new(chi: Block, garblers: usize) -> Self {
        let digests = (0..garblers).map(|_| BlockHasher::new("symbolon ywz labels 1")).collect();
        Values { chi, bits: BitVec::zeros(0), digests, z: PolyHash::new(chi) }
    }

    /// Step 11: proves the masked values to the garblers, and sends them χ.
    fn tell(self, channels: &mut [Channel]) -> Result<Told> {
        let bits = self.bits.to_bytes();
        for (channel, digest) in channels.iter_mut().zip(self.digests) {
            let parts: [&[u8]; 3] = [&bits, &digest.finish(), &self.chi.to_bytes()];
            channel.send_parts(messages::MASKED_VALUES, &parts)?;
            channel.flush()?;
        }
        Ok(Told { gates: self.bits.len(), z: self.z.finish() })
    }
}

/// A run of gates whose masked values the garblers were sent, with z_1.
struct Told {
    gates: usize,
    z: Block,
}

impl<'p> EvalPass<'p> {
    /// Starts the pass over the gates that this session garbled, numbered from `first_tweak`.
    fn new(plan: &'p Plan, session: &[u8; 32], first_tweak: u64, garblers: &[PartyId]) -> Self {
        let n = garblers.len();
        let wires = Wires {
            garblers: n,
            masked: vec![false; plan.slots()],
            labels: vec![Block::ZERO; plan.slots() * n],
        };
        let hash = |&garbler: &PartyId| LabelHash::new(session, garbler, garblers);
        let hashes = garblers.iter().map(hash).collect();
        EvalPass {
            cursor: plan.cursor(),
            evaluation: Evaluation::new(wires, hashes, first_tweak),
            authenticated: Authenticated::default(),
        }
    }

    /// Evaluates the gates of the next table, into `values`.
    fn chunk(&mut self, table: &Table, delta: Block, values: &mut Values) {
        let mut done = 0;
        while done < table.own.len() {
            let batch = self.cursor.next_batch().expect("the plan holds every gate of the table");
            done += self.evaluation.batch(&batch, table, done, delta, values);
        }
    }

    /// Step 12: lets the garblers prove these runs of gates. z of each run must be zero on its own,
    /// independently of the others.
    ///
    /// Paper: YWZ20, Fig. 7, 12; §2.6 | circuit authentication, at the evaluator
    ///
    /// Check: `ywz`: gates | `circuit authentication`, at the evaluator: a polynomial hash over all
    /// gates, or over each streamed chunk | wrong gates and masked values | (ANDs)·2^-128 + 2^-127
    fn authenticate(&mut self, channels: &mut [Channel], mut told: Vec<Told>) -> Result<()> {
        let mut theirs = vec![Block::ZERO; told.len()];
        for channel in channels.iter_mut() {
            channel.recv_into(messages::AUTHENTICATION, Block::as_bytes_mut(&mut theirs))?;
            told.iter_mut().zip(&theirs).for_each(|(run, &theirs)| run.z ^= theirs);
        }
        let any = told.iter().fold(0, |any, run| any | run.z.0);
        if !Block(any).ct_eq(&Block::ZERO) {
            return Err(online::unauthentic(channels));
        }
        self.authenticated.add(told.iter().map(|run| run.gates).sum());
        Ok(())
    }

    /// Computes the free gates after the last AND gate. Returns the outputs, once every gate is
    /// authenticated.
    fn finish(self, plan: &Plan) -> AuthenticOutputs {
        let EvalPass { cursor, mut evaluation, authenticated } = self;
        evaluation.wires.finish(cursor);
        let masked = &evaluation.wires.masked;
        let masked = plan.output_slots().iter().map(|&slot| masked[slot as usize]).collect();
        authenticated.outputs(plan, masked)
    }
}

impl Evaluation {
    fn new(wires: Wires, hashes: Vec<LabelHash>, first_tweak: u64) -> Self {
        let n = wires.garblers;
        Evaluation {
            wires,
            hashes,
            first_tweak,
            halves: vec![Vec::new(); n],
            rows: vec![Vec::new(); n * (n - 1)],
            new: Vec::new(),
            ts: Vec::new(),
        }
    }

    /// Step 9b: receives the labels.
    ///
    /// Paper: YWZ20, Fig. 7, 9 | masked inputs, labels
    fn receive_labels(
        &mut self,
        plan: &Plan,
        channels: &mut [Channel],
        masked: &BitVec,
    ) -> Result<()> {
        let inputs = plan.input_slots();
        for (i, channel) in channels.iter_mut().enumerate() {
            let mut labels = Zeroizing::new(vec![Block::ZERO; inputs.len()]);
            channel.recv_into(messages::LABELS, Block::as_bytes_mut(&mut labels))?;
            for (slot, label) in inputs.clone().zip(labels.iter().copied()) {
                self.wires.labels[slot * self.wires.garblers + i] = label;
            }
        }
        for (w, slot) in inputs.enumerate() {
            self.wires.masked[slot] = masked.get(w);
        }
        Ok(())
    }

    /// Evaluates a batch of the plan, from gate `done` of the table on; returns the number of
    /// gates.
    fn batch(
        &mut self,
        batch: &Batch<'_>,
        table: &Table,
        done: usize,
        delta: Block,
        values: &mut Values,
    ) -> usize {
        self.wires.free_gates(batch.base, batch.linear);
        let ands = slots_of(batch);
        self.gates(table, done, &ands, self.first_tweak + batch.first_and);
        self.ts.clear();
        reserve_wiped(&mut self.ts, ands.len());
        for (k, &[a, b, out]) in ands.iter().enumerate() {
            let (u, v, value) =
                (self.wires.masked[a], self.wires.masked[b], self.wires.masked[out]);
            values.bits.push(value);
            // Step 12b: t^1 and M_1[t^1].
            let [alpha, beta, row0] = table.own[done + k];
            let [key_alpha, key_beta, key_row0] = table.keys[done + k];
            let t = (u & v) ^ value ^ (u & beta) ^ (v & alpha) ^ row0;
            self.ts.push(key_beta.select(u) ^ key_alpha.select(v) ^ key_row0 ^ delta.select(t));
        }
        values.z.update(&self.ts);
        for (i, digest) in values.digests.iter_mut().enumerate() {
            self.new.clear();
            reserve_wiped(&mut self.new, ands.len());
            self.new
                .extend(ands.iter().map(|and| self.wires.labels[and[2] * self.wires.garblers + i]));
            digest.update(&self.new);
        }
        ands.len()
    }

    /// Evaluates gates that are independent of each other, from gate `done` of the table on; the
    /// first gate has number `first`.
    fn gates(&mut self, table: &Table, done: usize, ands: &[[usize; 3]], first: u64) {
        for (run, ands) in ands.chunks(RUN).enumerate() {
            let from = RUN * run;
            self.hash_inputs(ands, first + from as u64);
            if self.wires.garblers == 1 {
                self.alone(table, done + from, ands);
                continue;
            }
            for (k, &[a, b, out]) in ands.iter().enumerate() {
                let g = done + from + k;
                self.gate(table, g, k, [a, b, out]);
                self.wires.masked[out] =
                    table.pointers.get(g) ^ self.wires.labels[out * self.wires.garblers].lsb();
            }
        }
    }

    /// Evaluates the gates of a run from a single garbler, without the rows that several garblers
    /// need; see [`Evaluation::gate`].
    fn alone(&mut self, table: &Table, g: usize, ands: &[[usize; 3]]) {
        let halves = self.halves[0].as_chunks().0;
        let gates = table.half_gates[g..][..ands.len()].iter();
        for ((k, (&[a, b, out], [h0, h1])), [g0, g1, own]) in
            ands.iter().zip(halves).enumerate().zip(gates)
        {
            let (u, v) = (self.wires.masked[a], self.wires.masked[b]);
            let label =
                half_gates::combine([*h0, *h1], [*g0, *g1], self.wires.labels[a], [u, v]) ^ *own;
            self.wires.labels[out] = label;
            self.wires.masked[out] = table.pointers.get(g + k) ^ label.lsb();
        }
    }

    /// Hashes the labels on the inputs of a run of gates, for every garbler.
    fn hash_inputs(&mut self, ands: &[[usize; 3]], first: u64) {
        let n = self.wires.garblers;
        for i in 0..n {
            let labels = |&[a, b, _]: &[usize; 3]| {
                [self.wires.labels[a * n + i], self.wires.labels[b * n + i]]
            };
            let halves = &mut self.halves[i];
            reserve_wiped(halves, (2 * ands.len()).saturating_sub(halves.len()));
            halves.resize(2 * ands.len(), Block::ZERO);
            for (halves, and) in halves.as_chunks_mut().0.iter_mut().zip(ands) {
                *halves = labels(and);
            }
            self.hashes[i].evaluate(first, halves);
            for j in 0..n - 1 {
                let rows = &mut self.rows[i * (n - 1) + j];
                rows.clear();
                reserve_wiped(rows, ands.len());
                rows.extend(ands.iter().map(|and| {
                    let [alpha, beta] = labels(and);
                    four_row::row_input(alpha, beta)
                }));
                self.hashes[i].rows(j, first, 1, rows);
            }
        }
    }

    /// Step 10c for gate `g` of the table, number `k` of its run: computes every garbler's label.
    ///
    /// Paper: YWZ20, Fig. 7, 10 | evaluation
    fn gate(&mut self, table: &Table, g: usize, k: usize, [a, b, out]: [usize; 3]) {
        let n = self.wires.garblers;
        let (u, v) = (self.wires.masked[a], self.wires.masked[b]);
        // Λ is public to the evaluator, and reveals nothing to it.
        let row = 2 * usize::from(u) + usize::from(v);
        for i in 0..n {
            let [g0, g1, own] = table.half_gates[g * n + i];
            let halves = &self.halves[i][2 * k..][..2];
            let hashes = [halves[0], halves[1]];
            let mut label =
                half_gates::combine(hashes, [g0, g1], self.wires.labels[a * n + i], [u, v]) ^ own;
            // The MACs of the other garblers' shares under this garbler's Δ.
            for other in (0..n).filter(|&other| other != i) {
                let place = i - usize::from(i > other);
                let pair = other * (n - 1) + place;
                label ^= self.rows[pair][k] ^ table.sealed[pair][4 * g + row];
            }
            self.wires.labels[out * n + i] = label;
        }
    }
}

#[cfg(feature = "measure")]
impl Evaluation {
    /// Returns a closure that evaluates all AND gates of a plan from one garbler, on pseudorandom
    /// data.
    pub(crate) fn kernel<'a>(plan: &'a Plan) -> impl FnMut() + use<'a> {
        let gates = plan.and_count() as usize;
        let mut blocks = Blocks::new();
        let table = Table {
            half_gates: (0..gates).map(|_| blocks.array()).collect(),
            sealed: Vec::new(),
            pointers: blocks.bits(gates),
            own: Vec::new(),
            keys: Vec::new(),
        };
        let wires = Wires {
            garblers: 1,
            masked: blocks.bits(plan.slots()).to_bools(),
            labels: blocks.many(plan.slots()),
        };
        let mut evaluation =
            Evaluation::new(wires, vec![LabelHash::new(&[7; 32], 0.into(), &[0.into()])], 1);
        move || {
            let mut cursor = plan.cursor();
            let mut done = 0;
            while let Some(batch) = cursor.next_batch() {
                evaluation.gates(&table, done, &slots_of(&batch), 1 + done as u64);
                done += batch.ands.len();
            }
        }
    }
}
