//! The steps of the online phase (Fig. 15, execution stage), each for one or more executions whose
//! messages are sent together. [`steps`](super::steps) has their order.

use std::sync::Arc;

use symbolon_engine::{
    Compiled, Network, OutputBits, decode_bits, parallel::allow_gates, receive_bits,
};
use symbolon_garbling::{adaptive::evaluate_adaptively_side_by_side, side_by_side};
use symbolon_primitives::{
    BitVec, Block, CommitContext, Commitment, Opening, Prg, Seed, commit, reserve_wiped,
    same_digest, verify,
};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroizing;

use super::{
    checks,
    execution::{Execution, Lengths, PeerCircuit},
    function::Function,
    garble::{Leaf, LeafHash, PairDigest, instance},
    messages,
    ot::Blocks,
    outputs::{self, Reconciled, TranslationsChecked},
    params::Params,
    psi::{CommittedTerms, Shape},
    reconcile::{Candidate, Reconciliation, Set},
};
use crate::dualex::options::PsiForm;

/// Prepared executions of one circuit.
pub(super) struct PreparedExecutions {
    /// The digest of the circuit.
    pub digest: [u8; 32],
    /// The session that prepared them.
    pub session: [u8; 32],
    /// The circuit's form, which executions of one preparation share.
    pub function: Arc<Function>,
    /// The lengths of the executions' parts.
    pub lengths: Lengths,
    /// The executions.
    pub executions: Vec<Execution>,
}

impl PreparedExecutions {
    /// Returns an empty list of executions of `circuit` in the session of `net`.
    ///
    /// # Errors
    /// As [`Compiled::masked`].
    pub fn none(net: &Network, circuit: &Compiled, params: &Params) -> Result<PreparedExecutions> {
        let function = circuit.derived::<Function>()?;
        let lengths = Lengths::new(net.me, &function, params);
        let (digest, session, executions) = (circuit.digest(), net.session, Vec::new());
        Ok(PreparedExecutions { digest, session, function, lengths, executions })
    }

    /// Returns `execution` alone, for the same circuit and session.
    pub fn with(&self, execution: Execution) -> PreparedExecutions {
        let PreparedExecutions { digest, session, lengths, .. } = *self;
        let (function, executions) = (self.function.clone(), vec![execution]);
        PreparedExecutions { digest, session, function, lengths, executions }
    }
}

/// A party in the online phase.
pub(super) struct Online<'a> {
    pub prepared: &'a PreparedExecutions,
    pub channel: &'a mut Channel,
    pub prg: &'a mut Prg,
}

/// The candidates of an execution and the sets made from them.
pub(super) struct Sets {
    candidates: Vec<Candidate>,
    /// The set of this party as a receiver.
    receiver: Set,
    /// Its set as a sender.
    sender: Set,
}

/// A commitment to sums, with its opening.
pub(super) struct CommittedSums {
    commitment: Commitment,
    opening: Opening,
    sums: Blocks,
}

/// The bits that commit both parties to their sets: d of each receiver, and in the asynchronous
/// form s ⊕ π of each sender.
pub(super) struct Items {
    own: [BitVec; 2],
    theirs: [BitVec; 2],
}

impl Online<'_> {
    /// Returns the bits of execution `i`: this party's if `whose` is 0, the peer's if it is 1.
    fn part(&self, bits: &BitVec, i: usize, whose: usize) -> BitVec {
        let width = self.prepared.lengths.inputs[whose];
        bits.slice(i * width..(i + 1) * width)
    }

    /// Sends this party's masked inputs and returns them.
    ///
    /// Paper: RR16, Fig. 15, Receiver's and Sender's Inputs | masked inputs and labels
    pub fn announce(&mut self, own: &[Zeroizing<Vec<bool>>]) -> Result<BitVec> {
        let mut announced = BitVec::zeros(0);
        for (bits, execution) in own.iter().zip(&self.prepared.executions) {
            let mut masked = BitVec::from_bools(bits);
            masked.xor_assign(&execution.input_mask);
            announced.extend_from(&masked);
        }
        self.channel.send(messages::MASKED_INPUTS, &announced.to_bytes())?;
        Ok(announced)
    }

    /// Receives the peer's masked inputs.
    pub fn hear(&mut self) -> Result<BitVec> {
        let PreparedExecutions { executions, lengths, .. } = self.prepared;
        receive_bits(self.channel, messages::MASKED_INPUTS, executions.len() * lengths.inputs[1])
    }

    /// Sends, for all own circuits, the labels of this party's inputs and of the peer's masked
    /// inputs. The peer's input is fixed, so R is sent too.
    ///
    /// Paper: RR16, Fig. 15, Receiver's and Sender's Inputs
    pub fn send_labels(&mut self, own: &[Zeroizing<Vec<bool>>], theirs: &BitVec) -> Result<()> {
        for (i, (bits, execution)) in own.iter().zip(&self.prepared.executions).enumerate() {
            let theirs = self.part(theirs, i, 1);
            let mut message = Blocks::default();
            for circuit in &execution.own {
                let label = |zero: &Block, bit| *zero ^ circuit.delta.select(bit);
                reserve_wiped(&mut message, circuit.own.len() + circuit.announced.len() + 1);
                message
                    .extend(circuit.own.iter().zip(&**bits).map(|(zero, bit)| label(zero, *bit)));
                let announced = circuit.announced.iter().enumerate();
                message.extend(announced.map(|(t, zero)| label(zero, theirs.get(t))));
                message.push(*circuit.nonce);
            }
            self.channel.send(messages::INPUT_LABELS, Block::as_bytes(&message))?;
        }
        Ok(())
    }

    /// Receives the labels for the peer's circuits and evaluates the circuits of all executions.
    pub fn evaluate_all(&mut self, announced: &BitVec, theirs: &BitVec) -> Result<Vec<Sets>> {
        let mut sets = Vec::with_capacity(self.prepared.executions.len());
        for (i, execution) in self.prepared.executions.iter().enumerate() {
            let (announced, theirs) = (self.part(announced, i, 0), self.part(theirs, i, 1));
            sets.push(self.evaluate(execution, &announced, &theirs)?);
        }
        Ok(sets)
    }

    /// Receives the labels of one execution and evaluates its circuits.
    ///
    /// Check: `dualex`: inputs | `input label`: commitments in the order of the OT choices |
    /// different inputs in circuits or directions | 2^-128
    fn evaluate(
        &mut self,
        execution: &Execution,
        announced: &BitVec,
        theirs: &BitVec,
    ) -> Result<Sets> {
        let Lengths { inputs: [own_bits, peer_bits], bucket, item_bits, .. } =
            self.prepared.lengths;
        let mut labels = Blocks::new(vec![Block::ZERO; bucket * (peer_bits + own_bits + 1)]);
        self.channel.recv_into(messages::INPUT_LABELS, Block::as_bytes_mut(&mut labels))?;
        let peer = self.channel.peer();
        let mut good = true;
        for (circuit, labels) in
            execution.theirs.iter().zip(labels.chunks(peer_bits + own_bits + 1))
        {
            good &= self.labels_fit(circuit, labels, announced, theirs);
        }
        if !good {
            return Err(Error::misbehaved(peer, checks::INPUT_LABEL));
        }
        // The output labels of this party's bucket are those of its first circuit.
        let own = &execution.own[0];
        let hash = LeafHash::new(&self.prepared.session, self.channel.me(), own.number);
        let own = hash.output_labels(&own.output_seed, self.prepared.lengths.outputs);
        let reconciliation = Reconciliation {
            bucket: (&self.prepared.session, peer, execution.number),
            own: &own,
            theirs: &execution.output_hashes,
            bits: item_bits,
        };
        let mut candidates = Vec::with_capacity(bucket);
        for (values, labels) in self.evaluate_circuits(&execution.theirs, &labels)? {
            candidates.push(reconciliation.candidate(values, &labels, self.prg));
        }
        let [receiver, sender] = [(); 2].map(|()| reconciliation.set(&candidates, self.prg));
        Ok(Sets { candidates, receiver, sender })
    }

    /// Whether the labels of a circuit are the committed ones. For the peer's inputs, its masked
    /// inputs and the order of this circuit determine which label must come.
    ///
    /// Paper: RR16, Fig. 15, Receiver's and Sender's Inputs
    fn labels_fit(
        &self,
        circuit: &PeerCircuit,
        labels: &[Block],
        announced: &BitVec,
        theirs: &BitVec,
    ) -> bool {
        let peer = self.channel.peer();
        let hash = LeafHash::new(&self.prepared.session, peer, circuit.number);
        let (inputs, rest) = labels.split_at(theirs.len());
        let mut places = theirs.clone();
        places.xor_assign(&circuit.shift);
        let mut pairs = PairDigest::new();
        pairs.add_opened(&hash.leaves(Leaf::Own, inputs), &places, &circuit.inputs);
        let (labels, nonce) = rest.split_at(announced.len());
        pairs.add_opened(&hash.leaves(Leaf::Announced, labels), announced, &circuit.announced);
        let good = same_digest(&pairs.finish(), &circuit.pairs);
        good & same_digest(&hash.seed(Leaf::Nonce, nonce[0]), &circuit.seeds[0])
    }

    /// Evaluates the circuits of a bucket. Returns for each circuit the values of its outputs, and
    /// the translated labels, which should be the bucket's.
    ///
    /// Paper: RR16, Fig. 15, Evaluate | a circuit of the bucket
    fn evaluate_circuits(
        &self,
        circuits: &[PeerCircuit],
        labels: &[Block],
    ) -> Result<Vec<(BitVec, Blocks)>> {
        let [own_bits, peer_bits] = self.prepared.lengths.inputs;
        let labels: Vec<&[Block]> = labels.chunks(peer_bits + own_bits + 1).collect();
        let side = side_by_side(&self.prepared.function.plan);
        let mut evaluated = Vec::with_capacity(circuits.len());
        for (circuits, labels) in circuits.chunks(side).zip(labels.chunks(side)) {
            self.evaluate_side_by_side(circuits, labels, &mut evaluated)?;
        }
        Ok(evaluated)
    }

    fn evaluate_side_by_side(
        &self,
        circuits: &[PeerCircuit],
        labels: &[&[Block]],
        evaluated: &mut Vec<(BitVec, Blocks)>,
    ) -> Result<()> {
        let PreparedExecutions { session, function, .. } = self.prepared;
        let peer = self.channel.peer();
        let instance =
            |circuit: &PeerCircuit| instance(&function.plan, session, peer, circuit.number);
        let instances: Vec<_> = circuits.iter().map(instance).collect();
        let each = circuits.iter().zip(labels);
        let inputs: Vec<_> =
            each.map(|(circuit, labels)| self.input_labels(circuit, labels)).collect();
        let inputs: Vec<_> = inputs.iter().map(|inputs| &inputs[..]).collect();
        let nonce = |labels: &&[Block]| Seed::new(*labels.last().expect("R comes with the labels"));
        let nonces: Vec<_> = labels.iter().map(nonce).collect();
        let endings: Vec<_> =
            nonces.iter().zip(circuits).map(|(nonce, circuit)| (nonce, &circuit.ending)).collect();
        let mut tables: Vec<_> = circuits.iter().map(|circuit| circuit.table.pieces()).collect();
        let outputs = evaluate_adaptively_side_by_side(&instances, &inputs, &endings, |pieces| {
            tables.iter_mut().zip(pieces).try_for_each(|(table, gates)| table(gates))
        })?;
        for ((values, mut labels), circuit) in outputs.into_iter().zip(circuits) {
            for (wire, (label, [zero, one])) in
                labels.iter_mut().zip(&circuit.translation).enumerate()
            {
                *label ^= *zero ^ (*zero ^ *one).select(values.get(wire));
            }
            evaluated.push((values, labels));
        }
        Ok(())
    }

    /// Returns the labels of a circuit's input wires, from the labels that its garbler sent.
    fn input_labels(&self, circuit: &PeerCircuit, labels: &[Block]) -> Blocks {
        let [own_bits, peer_bits] = self.prepared.lengths.inputs;
        let (inputs, rest) = labels.split_at(peer_bits);
        let announced = rest[..own_bits].iter().zip(circuit.mask_labels.iter());
        let own = Blocks::new(announced.map(|(label, mask)| *label ^ *mask).collect());
        let parts = if self.channel.peer() == 0 { [inputs, &own] } else { [&own, inputs] };
        Blocks::new(parts.concat())
    }

    fn shape(&self, execution: &Execution) -> Shape<'_> {
        self.prepared.lengths.shape(&self.prepared.session, execution.number)
    }

    /// Returns the values of all sets as a receiver, masked by the choices of their OTs.
    fn receiver_items(&self, sets: &[Sets]) -> BitVec {
        let mut items = BitVec::zeros(0);
        for (sets, execution) in sets.iter().zip(&self.prepared.executions) {
            let choices = &execution.psi.1.choices;
            items.extend_from(&self.shape(execution).masked(&sets.receiver, choices));
        }
        items
    }

    /// Returns the values of all sets as a sender, masked by the orders of their terms; empty in
    /// the synchronous form.
    fn sender_items(&self, sets: &[Sets]) -> Result<BitVec> {
        let mut items = BitVec::zeros(0);
        if self.prepared.lengths.psi == PsiForm::Asynchronous {
            for (sets, execution) in sets.iter().zip(&self.prepared.executions) {
                let terms = committed(execution)?;
                items.extend_from(&self.shape(execution).masked(&sets.sender, &terms.order));
            }
        }
        Ok(items)
    }

    /// Sends the items of all sets, and returns them.
    ///
    /// Paper: RR16, Fig. 14 | the asynchronous intersection
    pub fn send_items(&mut self, sets: &[Sets]) -> Result<[BitVec; 2]> {
        let items = [self.receiver_items(sets), self.sender_items(sets)?];
        let [receiver, sender] = items.each_ref().map(BitVec::to_bytes);
        self.channel.send_parts(messages::PSI_ITEMS, &[&receiver, &sender])?;
        Ok(items)
    }

    /// Receives the peer's items, which it finds by evaluating the circuits of all executions.
    pub fn hear_items(&mut self, own: [BitVec; 2]) -> Result<Items> {
        let PreparedExecutions { executions, lengths, .. } = self.prepared;
        allow_gates(self.channel, (executions.len() * lengths.bucket * lengths.gates) as u64);
        let [receiver, sender] = own.each_ref().map(BitVec::len);
        let half = BitVec::byte_len(receiver);
        let bytes = self.channel.recv(messages::PSI_ITEMS, half + BitVec::byte_len(sender))?;
        let (items, order) = bytes.split_at(half);
        let items = decode_bits(self.channel, receiver, items)?;
        let theirs = [items, decode_bits(self.channel, sender, order)?];
        Ok(Items { own, theirs })
    }

    /// Commits to the sums of a synchronous intersection under `context`.
    ///
    /// Paper: RR16, Fig. 13 | the synchronous intersection
    pub fn commit_sums(
        &mut self,
        sets: &[Sets],
        items: &Items,
        context: &CommitContext<'_>,
    ) -> Result<CommittedSums> {
        let me = self.channel.me();
        let mut sums = Blocks::default();
        for (i, (sets, execution)) in sets.iter().zip(&self.prepared.executions).enumerate() {
            let d = self.items_of(&items.theirs[0], i);
            let of_execution = self.shape(execution).sums(me, &execution.psi.0, &sets.sender, &d);
            sums.extend_from_slice(&of_execution);
        }
        let (commitment, opening) = commit(context, Block::as_bytes(&sums), self.prg);
        self.channel.send(messages::PSI_SUMS, &commitment.0)?;
        Ok(CommittedSums { commitment, opening, sums })
    }

    /// Receives the peer's commitment to its sums.
    pub fn hear_commitment(&mut self, own: &CommittedSums) -> Result<Commitment> {
        let theirs = Commitment(self.channel.recv_array(messages::PSI_SUMS)?);
        if theirs == own.commitment {
            return Err(Error::misbehaved(self.channel.peer(), checks::PSI_OPENED));
        }
        Ok(theirs)
    }

    /// Opens the committed sums to the peer, whose translations were checked.
    ///
    /// Paper: RR16, Fig. 13
    pub fn open_sums(&mut self, _: &TranslationsChecked, own: &CommittedSums) -> Result<()> {
        let parts = [&own.opening.nonce, Block::as_bytes(&own.sums)];
        self.channel.send_parts(messages::PSI_OPENING, &parts)
    }

    /// Receives the peer's sums for each execution and checks them against its commitment under
    /// `context`.
    ///
    /// Paper: RR16, Fig. 13
    pub fn hear_sums(
        &mut self,
        theirs: &Commitment,
        context: &CommitContext<'_>,
    ) -> Result<Vec<Vec<Block>>> {
        let values = self.prepared.lengths.bucket.pow(2);
        let n = self.prepared.executions.len();
        let mut opened = self.channel.recv(messages::PSI_OPENING, 32 + 16 * n * values)?;
        let value = opened.split_off(32);
        let opening = Opening { nonce: opened.try_into().expect("32 bytes were split off") };
        if !verify(context, theirs, &opening, &value) {
            return Err(Error::misbehaved(self.channel.peer(), checks::PSI_OPENED));
        }
        Ok(blocks(&value).chunks(values).map(<[Block]>::to_vec).collect())
    }

    /// Opens the terms of an asynchronous intersection to the peer, whose translations were
    /// checked.
    ///
    /// Paper: RR16, Fig. 14
    pub fn open_terms(&mut self, _: &TranslationsChecked, items: &Items) -> Result<()> {
        let me = self.channel.me();
        for (i, execution) in self.prepared.executions.iter().enumerate() {
            let shape = self.shape(execution);
            let (d, order) = (self.items_of(&items.theirs[0], i), self.items_of(&items.own[1], i));
            let places = shape.opened_places(&d, &order);
            let padded =
                Zeroizing::new(shape.padded_terms(me, &execution.psi.0, committed(execution)?));
            let chosen = padded.iter().enumerate();
            let opened: Vec<Block> =
                chosen.map(|(k, pair)| pair[usize::from(places.get(k))]).collect();
            self.channel.send(messages::PSI_OPENING, Block::as_bytes(&opened))?;
        }
        Ok(())
    }

    /// Receives the peer's terms and computes its sums for each execution.
    ///
    /// Paper: RR16, Fig. 14
    pub fn hear_terms(&mut self, items: &Items) -> Result<Vec<Vec<Block>>> {
        let peer = self.channel.peer();
        let mut sums = Vec::with_capacity(self.prepared.executions.len());
        for (i, execution) in self.prepared.executions.iter().enumerate() {
            let terms = self.shape(execution).terms();
            let bytes = self.channel.recv(messages::PSI_OPENING, 16 * terms)?;
            let (d, order) = (self.items_of(&items.own[0], i), self.items_of(&items.theirs[1], i));
            let shape = self.shape(execution);
            let places = shape.opened_places(&d, &order);
            let opened = shape.open(peer, &execution.psi.1.leaves, &places, &blocks(&bytes));
            sums.push(opened.ok_or_else(|| Error::misbehaved(peer, checks::PSI_OPENED))?);
        }
        Ok(sums)
    }

    /// Returns the items of execution `i`.
    fn items_of(&self, items: &BitVec, i: usize) -> BitVec {
        let ots = self.prepared.lengths.shape(&[0; 32], 0).ots();
        items.slice(i * ots..(i + 1) * ots)
    }

    /// Sends the seeds of this party's output labels.
    pub fn send_seeds(&mut self) -> Result<()> {
        outputs::send_seeds(self.channel, &self.prepared.executions)
    }

    /// Receives the peer's seeds and checks its translations.
    pub fn check_translations(&mut self) -> Result<TranslationsChecked> {
        outputs::check_seeds(self.channel, &self.prepared.session, &self.prepared.executions)
    }

    /// Returns the outputs of all executions if the peer's sums confirm them.
    pub fn release(
        &self,
        sets: &[Sets],
        sums: &[Vec<Block>],
        own: &[Zeroizing<Vec<bool>>],
    ) -> Result<OutputBits> {
        let PreparedExecutions { function, executions, .. } = self.prepared;
        let (me, peer) = (self.channel.me(), self.channel.peer());
        let mut outputs = function.no_outputs(me);
        for (((execution, sets), sums), own) in executions.iter().zip(sets).zip(sums).zip(own) {
            let shape = self.shape(execution);
            let found = shape.matches(&shape.expected(peer, &execution.psi.1), sums);
            let reconciled = Reconciled::new(peer, &sets.candidates, &sets.receiver, &found)?;
            let values = Zeroizing::new(reconciled.values());
            function.release(me, &values, own, &mut outputs);
        }
        Ok(outputs)
    }
}

fn committed(execution: &Execution) -> Result<&CommittedTerms> {
    let terms = execution.psi.0.committed.as_ref();
    terms.ok_or_else(|| Error::internal("no terms were committed to"))
}

fn blocks(bytes: &[u8]) -> Vec<Block> {
    bytes.as_chunks::<16>().0.iter().map(|block| Block::from_bytes(*block)).collect()
}
