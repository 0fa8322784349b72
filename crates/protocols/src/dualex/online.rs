//! The online phase (Fig. 15, execution stage), of one or more executions at once: their messages go
//! together.
//!
//! | message | |
//! | --- | --- |
//! | 1 | x̂ = x ⊕ M·c_1, the masked inputs |
//! | 2 | labels for both parties' inputs in the own circuits, and R |
//! | 3, 4 | both sets are committed to (one message in the asynchronous form) |
//! | 5 | output labels are opened and checked |
//! | 6 | the intersection is opened |

use std::convert::Infallible;
use std::io::Write;

use symbolon_primitives::{
    BitVec, Block, CommitContext, Commitment, Opening, Prg, Seed, commit, same_digest, verify,
};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroizing;

use super::{
    checks,
    execution::{Execution, Lengths, PeerCircuit},
    function::Function,
    garble::{Leaf, LeafHash, instance, output_labels},
    messages,
    ot::Blocks,
    outputs::{self, Reconciled, TranslationsChecked},
    psi::{CommittedTerms, PsiForm, Shape},
    reconcile::{Candidate, Reconciliation},
};
use crate::{
    Compiled, InputBits, Network, OutputBits, Prepared,
    codec::Writer,
    io_wires::{decode_bits, receive_bits},
    phases,
};

/// Executions that are prepared.
pub(super) struct PreparedExecutions {
    /// The digest of the circuit.
    pub digest: [u8; 32],
    /// The session that prepared them.
    pub session: [u8; 32],
    /// The circuit's form.
    pub function: Function,
    /// The lengths of what is held.
    pub lengths: Lengths,
    /// The executions.
    pub executions: Vec<Execution>,
}

impl PreparedExecutions {
    /// Each by itself.
    pub fn apart(self) -> Vec<Box<dyn Prepared>> {
        let PreparedExecutions { digest, session, function, lengths, executions } = self;
        let alone = |execution| -> Box<dyn Prepared> {
            let (function, executions) = (function.clone(), vec![execution]);
            Box::new(PreparedExecutions { digest, session, function, lengths, executions })
        };
        executions.into_iter().map(alone).collect()
    }
}

impl Prepared for PreparedExecutions {
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        circuit.must_be(&self.digest)?;
        phases::check_inputs(circuit.circuit(), net.me, inputs, self.executions.len())?;
        let mut prg = Prg::from_os().map_err(|e| Error::internal(format!("no randomness: {e}")))?;
        let session = net.session;
        let channel = &mut net.peers()[0];
        Online { prepared: &self, session: &session, channel, prg: &mut prg }.run(inputs)
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let mut out = Writer(out);
        out.bytes(&self.session)?;
        out.u64(self.lengths.bucket as u64)?;
        out.bytes(&[self.lengths.psi as u8])?;
        self.executions.iter().try_for_each(|execution| execution.save(&mut out))
    }
}

/// A party online.
struct Online<'a> {
    prepared: &'a PreparedExecutions,
    /// The session in which the circuit is evaluated.
    session: &'a [u8; 32],
    channel: &'a mut Channel,
    prg: &'a mut Prg,
}

/// The candidates of an execution and the sets that are made of them.
struct Sets {
    candidates: Vec<Candidate>,
    /// As a receiver, and as a sender.
    sets: [Vec<u128>; 2],
}

impl Online<'_> {
    fn run(mut self, inputs: &InputBits) -> Result<OutputBits> {
        let prepared = self.prepared;
        let (n, me) = (prepared.executions.len(), self.channel.me());
        let own: Vec<Zeroizing<Vec<bool>>> =
            (0..n).map(|i| prepared.function.inputs_of((me, inputs), (i, n), self.prg)).collect();
        let [announced, theirs] = self.announce(&own)?;
        self.send_labels(&own, &theirs)?;
        let mut sets = Vec::with_capacity(n);
        for (i, execution) in prepared.executions.iter().enumerate() {
            let (announced, theirs) = (self.part(&announced, i, 0), self.part(&theirs, i, 1));
            sets.push(self.evaluate(execution, &announced, &theirs)?);
        }
        let found = self.intersect(&sets)?;
        let mut outputs = prepared.function.no_outputs(me);
        for ((sets, found), own) in sets.iter().zip(&found).zip(&own) {
            let peer = self.channel.peer();
            let reconciled = Reconciled::new(peer, &sets.candidates, &sets.sets[0], found)?;
            let values = Zeroizing::new(reconciled.values());
            prepared.function.release(me, &values, own, &mut outputs);
        }
        Ok(outputs)
    }

    /// The bits of execution `i` among those of all, this party's or the peer's.
    fn part(&self, bits: &BitVec, i: usize, whose: usize) -> BitVec {
        let width = self.prepared.lengths.inputs[whose];
        bits.slice(i * width..(i + 1) * width)
    }

    /// Exchanges the masked inputs; returns this party's and the peer's.
    fn announce(&mut self, own: &[Zeroizing<Vec<bool>>]) -> Result<[BitVec; 2]> {
        let mut announced = BitVec::zeros(0);
        for (bits, execution) in own.iter().zip(&self.prepared.executions) {
            let mut masked = BitVec::from_bools(bits);
            masked.xor_assign(&execution.input_mask);
            announced.extend_from(&masked);
        }
        self.channel.send(messages::MASKED_INPUTS, &announced.to_bytes())?;
        let n = own.len() * self.prepared.lengths.inputs[1];
        let theirs = receive_bits(self.channel, messages::MASKED_INPUTS, n)?;
        Ok([announced, theirs])
    }

    /// Sends the labels of the own inputs and of the peer's masked ones in all own circuits. The
    /// peer's input is fixed, so R may go, too.
    fn send_labels(&mut self, own: &[Zeroizing<Vec<bool>>], theirs: &BitVec) -> Result<()> {
        for (i, (bits, execution)) in own.iter().zip(&self.prepared.executions).enumerate() {
            let theirs = self.part(theirs, i, 1);
            let mut message = Blocks::default();
            for circuit in &execution.own {
                let label = |zero: &Block, bit| *zero ^ circuit.delta.select(bit);
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

    /// Receives the labels for the peer's circuits of an execution, and evaluates them.
    fn evaluate(
        &mut self,
        execution: &Execution,
        announced: &BitVec,
        theirs: &BitVec,
    ) -> Result<Sets> {
        let Lengths { inputs: [own_bits, peer_bits], bucket, item_bits, .. } =
            self.prepared.lengths;
        let mut labels = vec![Block::ZERO; bucket * (peer_bits + own_bits + 1)];
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
        let own = output_labels(&execution.output_seed, self.prepared.lengths.outputs);
        let reconciliation = Reconciliation {
            bucket: (&self.prepared.session, peer, execution.number),
            own: &own,
            theirs: &execution.output_hashes,
            bits: item_bits,
        };
        let mut candidates = Vec::with_capacity(bucket);
        for (circuit, labels) in
            execution.theirs.iter().zip(labels.chunks(peer_bits + own_bits + 1))
        {
            let (values, labels) = self.evaluate_circuit(circuit, labels);
            candidates.push(reconciliation.candidate(values, &labels, self.prg));
        }
        let sets = [(); 2].map(|()| reconciliation.set(&candidates, self.prg));
        Ok(Sets { candidates, sets })
    }

    /// Whether labels of a circuit are those that were committed to: for the peer's inputs, those
    /// that its masked inputs and the order of this circuit demand.
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
        let mut good = true;
        for (t, (label, leaves)) in inputs.iter().zip(&circuit.inputs).enumerate() {
            let leaf = hash.leaf(Leaf::Own, t, places.get(t), *label);
            good &= same_digest(&leaf, &leaves[usize::from(places.get(t))]);
        }
        for (t, (label, leaves)) in rest.iter().zip(&circuit.announced).enumerate() {
            let leaf = hash.leaf(Leaf::Announced, t, announced.get(t), *label);
            good &= same_digest(&leaf, &leaves[usize::from(announced.get(t))]);
        }
        let nonce = rest[announced.len()];
        good & same_digest(&hash.leaf(Leaf::Nonce, 0, false, nonce), &circuit.seeds[0])
    }

    /// Evaluates a circuit: the values of its outputs, and what should be the labels of the bucket.
    fn evaluate_circuit(&self, circuit: &PeerCircuit, labels: &[Block]) -> (BitVec, Blocks) {
        let PreparedExecutions { session, function, lengths, .. } = self.prepared;
        let peer = self.channel.peer();
        let (inputs, rest) = labels.split_at(lengths.inputs[1]);
        let (announced, nonce) = rest.split_at(lengths.inputs[0]);
        let own =
            announced.iter().zip(circuit.mask_labels.iter()).map(|(label, mask)| *label ^ *mask);
        let own = Blocks::new(own.collect());
        let parts = if peer == 0 { [inputs, &own] } else { [&own, inputs] };
        let inputs = Blocks::new(parts.concat());
        let instance = instance(&function.plan, session, peer, circuit.number);
        let mut table = &circuit.table[..];
        let evaluated =
            instance.evaluate_adaptively(&Seed::new(nonce[0]), &inputs, &circuit.ending, |gates| {
                let (next, behind) = table.split_at(gates.len());
                gates.copy_from_slice(next);
                table = behind;
                Ok::<_, Infallible>(())
            });
        let Ok((values, mut labels)) = evaluated;
        for (wire, (label, [zero, one])) in labels.iter_mut().zip(&circuit.translation).enumerate()
        {
            *label ^= *zero ^ (*zero ^ *one).select(values.get(wire));
        }
        (values, labels)
    }

    /// Intersects all sets with the peer's; for each, the places of what it has, too.
    fn intersect(&mut self, sets: &[Sets]) -> Result<Vec<Vec<usize>>> {
        let sums = match self.prepared.lengths.psi {
            PsiForm::Synchronous => self.synchronous(sets)?,
            PsiForm::Asynchronous => self.asynchronous(sets)?,
        };
        let peer = self.channel.peer();
        let executions = self.prepared.executions.iter().zip(&sums);
        let found = executions.map(|(execution, sums)| {
            let shape = self.shape(execution);
            shape.matches(&shape.expected(peer, &execution.psi.1), sums)
        });
        Ok(found.collect())
    }

    fn shape(&self, execution: &Execution) -> Shape<'_> {
        self.prepared.lengths.shape(&self.prepared.session, execution.number)
    }

    /// The values of all sets as a receiver, masked by the choices of their OTs.
    fn receiver_items(&self, sets: &[Sets]) -> BitVec {
        let mut items = BitVec::zeros(0);
        for (sets, execution) in sets.iter().zip(&self.prepared.executions) {
            let choices = &execution.psi.1.choices;
            items.extend_from(&self.shape(execution).masked(&sets.sets[0], choices));
        }
        items
    }

    /// Fig. 13: returns the peer's sums for each execution.
    fn synchronous(&mut self, sets: &[Sets]) -> Result<Vec<Vec<Block>>> {
        let ots = self.prepared.lengths.shape(&[0; 32], 0).ots();
        let own = self.receiver_items(sets);
        self.channel.send(messages::PSI_ITEMS, &own.to_bytes())?;
        let theirs = receive_bits(self.channel, messages::PSI_ITEMS, own.len())?;

        let me = self.channel.me();
        let mut sums = Blocks::default();
        for (i, (sets, execution)) in sets.iter().zip(&self.prepared.executions).enumerate() {
            let d = theirs.slice(i * ots..(i + 1) * ots);
            let of_execution = self.shape(execution).sums(me, &execution.psi.0, &sets.sets[1], &d);
            sums.extend_from_slice(&of_execution);
        }
        let index = self.prepared.executions.first().map_or(0, |first| first.number);
        let context = |party| CommitContext {
            domain: messages::PSI_SUMS.name(),
            session: self.session,
            party,
            index,
        };
        let (own, opening) = commit(&context(me), Block::as_bytes(&sums), self.prg);
        self.channel.send(messages::PSI_SUMS, &own.0)?;
        let peer = self.channel.peer();
        let theirs = Commitment(self.channel.recv_array(messages::PSI_SUMS)?);
        if theirs == own {
            return Err(Error::misbehaved(peer, checks::PSI_OPENED));
        }

        let checked = self.check_translations()?;
        self.open(&checked, &[&opening.nonce, Block::as_bytes(&sums)])?;
        let mut opened = self.channel.recv(messages::PSI_OPENING, 32 + 16 * sums.len())?;
        let value = opened.split_off(32);
        let opening = Opening { nonce: opened.try_into().expect("32 bytes were split off") };
        if !verify(&context(peer), &theirs, &opening, &value) {
            return Err(Error::misbehaved(peer, checks::PSI_OPENED));
        }
        let values = self.prepared.lengths.bucket.pow(2);
        Ok(blocks(&value).chunks(values).map(<[Block]>::to_vec).collect())
    }

    /// Fig. 14: returns the peer's sums for each execution.
    fn asynchronous(&mut self, sets: &[Sets]) -> Result<Vec<Vec<Block>>> {
        let own = self.receiver_items(sets);
        let mut ordered = BitVec::zeros(0);
        for (sets, execution) in sets.iter().zip(&self.prepared.executions) {
            let terms = committed(execution)?;
            ordered.extend_from(&self.shape(execution).masked(&sets.sets[1], &terms.order));
        }
        self.channel.send_parts(messages::PSI_ITEMS, &[&own.to_bytes(), &ordered.to_bytes()])?;
        let half = BitVec::byte_len(own.len());
        let theirs = self.channel.recv(messages::PSI_ITEMS, 2 * half)?;
        let (items, order) = theirs.split_at(half);
        let items = decode_bits(self.channel, own.len(), items)?;
        let their_order = decode_bits(self.channel, own.len(), order)?;

        let checked = self.check_translations()?;
        let (me, peer) = (self.channel.me(), self.channel.peer());
        let ots = self.prepared.lengths.shape(&[0; 32], 0).ots();
        let part = |bits: &BitVec, i: usize| bits.slice(i * ots..(i + 1) * ots);
        for (i, execution) in self.prepared.executions.iter().enumerate() {
            let shape = self.shape(execution);
            let terms = committed(execution)?;
            let places = shape.opened_places(&part(&items, i), &part(&ordered, i));
            let padded = Zeroizing::new(shape.padded_terms(me, &execution.psi.0, terms));
            let opened: Vec<Block> = padded
                .iter()
                .enumerate()
                .map(|(k, pair)| pair[usize::from(places.get(k))])
                .collect();
            self.open(&checked, &[Block::as_bytes(&opened)])?;
        }
        let mut sums = Vec::with_capacity(sets.len());
        for (i, execution) in self.prepared.executions.iter().enumerate() {
            let bytes =
                self.channel.recv(messages::PSI_OPENING, 16 * self.shape(execution).terms())?;
            let (shape, opened) = (self.shape(execution), blocks(&bytes));
            let places = shape.opened_places(&part(&own, i), &part(&their_order, i));
            let opened = shape.open(peer, &execution.psi.1.leaves, &places, &opened);
            sums.push(opened.ok_or_else(|| Error::misbehaved(peer, checks::PSI_OPENED))?);
        }
        Ok(sums)
    }

    fn check_translations(&mut self) -> Result<TranslationsChecked> {
        outputs::exchange(self.channel, &self.prepared.session, &self.prepared.executions)
    }

    /// Opens the intersection to the peer, which takes that its translations were checked.
    fn open(&mut self, _: &TranslationsChecked, parts: &[&[u8]]) -> Result<()> {
        self.channel.send_parts(messages::PSI_OPENING, parts)
    }
}

fn committed(execution: &Execution) -> Result<&CommittedTerms> {
    let terms = execution.psi.0.committed.as_ref();
    terms.ok_or_else(|| Error::internal("no terms were committed to"))
}

fn blocks(bytes: &[u8]) -> Vec<Block> {
    bytes.as_chunks::<16>().0.iter().map(|block| Block::from_bytes(*block)).collect()
}
