//! Bucketing: each evaluation circuit is sent, checked against its commitment and put into its
//! bucket (Fig. 15, "Bucketing" and "Bucket Labels").
//!
//! The output labels O of a bucket are the labels d̂ of its first circuit. For every other circuit
//! the garbler sends the translation T = d̂ ⊕ O. For O it sends the XOR of each pair of label
//! hashes and the digest of all pairs, as it does for the input labels (`garble`). The evaluator
//! checks all of this online, when the seeds of d̂ are opened (`outputs`).

use std::collections::VecDeque;

use symbolon_cutchoose::draw::Buckets;
use symbolon_engine::parallel::{allow_gates, in_parallel};
use symbolon_garbling::{adaptive::Ending, component::ComponentDigest};
use symbolon_primitives::{BitVec, Block, Opening};
use symbolon_transport::{Error, Result, Step};
use zeroize::Zeroizing;

use super::{
    check::Committed,
    checks,
    execution::{Bucket, PeerCircuit},
    garble::{Contents, Digest, Garbled, LeafHash, Leaves, OwnCircuit},
    inputs::Inputs,
    label_hashes::LabelHashes,
    messages,
    ot::Blocks,
    preparation::Preparation,
};

/// How many gates of a table one message carries.
pub(super) const PIECE: usize = 1 << 15;

/// How many bytes of tables are garbled at a time, unless lanes or threads would stay empty: enough
/// that it pays to start the threads.
const AHEAD: usize = 8 << 20;

/// The most circuits that are garbled at a time: a circuit without gates takes memory, too.
const MOST: usize = 1024;

/// A table with two half-gates for each gate.
pub(super) type Table = Vec<[Block; 2]>;

/// This party's evaluation circuits, bucket after bucket. Several are garbled at a time, ahead of
/// their buckets: the circuits of one bucket would not fill all lanes of all threads.
pub(super) struct Outgoing<'a> {
    committed: &'a Committed,
    /// The circuits that are not garbled again yet.
    rest: &'a [u32],
    /// Those that are, and wait to be sent.
    pub ready: VecDeque<(Table, Garbled)>,
    /// Tables that were sent, whose memory the next ones reuse.
    spare: Vec<Table>,
}

impl<'a> Outgoing<'a> {
    /// Returns the circuits of these buckets.
    pub fn new(committed: &'a Committed, buckets: &'a Buckets) -> Outgoing<'a> {
        let (rest, ready) = (buckets.objects(), VecDeque::new());
        Outgoing { committed, rest, ready, spare: Vec::new() }
    }

    /// Returns the next circuit.
    ///
    /// # Errors
    /// `Internal` after the last circuit.
    fn next(&mut self, offline: &Preparation<'_>) -> Result<(Table, Garbled)> {
        if self.ready.is_empty() {
            self.garble(offline)?;
        }
        self.ready.pop_front().ok_or_else(|| Error::internal("no bucket has this circuit"))
    }

    /// Garbles the next circuits again, on all threads.
    fn garble(&mut self, offline: &Preparation<'_>) -> Result<()> {
        let (threads, at_a_time) = (offline.threads(), at_a_time(offline));
        let garbler = offline.garbler(offline.me());
        let side = garbler.side_by_side();
        let (first, gates) = (offline.first, offline.function.plan.and_count() as usize);
        let (now, rest) = self.rest.split_at(self.rest.len().min(at_a_time));
        self.rest = rest;
        let mut room = |_: &u32| {
            let mut table = self.spare.pop().unwrap_or_default();
            table.clear();
            table.reserve_exact(gates);
            table
        };
        let groups = now.chunks(side);
        let groups = groups.map(|group| (group, group.iter().map(&mut room).collect::<Vec<_>>()));
        let (committed, meter) = (self.committed, &offline.net.meter);
        let garbled = in_parallel(threads, groups.collect(), |(group, mut tables)| {
            let sources = group.iter().map(|&j| committed.source(first, j as usize));
            let sources: Vec<_> = sources.collect();
            let garbled = garbler.garble(&sources, |k, gates| tables[k].extend_from_slice(gates));
            meter.advance(Step::Gates, (gates * group.len()) as u64);
            tables.into_iter().zip(garbled).collect::<Vec<_>>()
        })?;
        self.ready.extend(garbled.into_iter().flatten());
        Ok(())
    }
}

/// Exchanges the circuits and labels of bucket `i` and returns the completed bucket. Buckets are
/// taken in order.
///
/// Paper: RR16, Fig. 15, Bucketing, Bucket Labels | circuits that stay, translations
///
/// # Errors
/// `PeerMisbehaved` when a circuit, or the labels of this party's encoding, do not match the
/// commitment; `Transport`.
pub(super) fn exchange(
    offline: &mut Preparation<'_>,
    outgoing: &mut Outgoing<'_>,
    inputs: &Inputs<'_>,
    i: usize,
) -> Result<Bucket> {
    let mut bucket = exchange_circuits(offline, outgoing, inputs, i)?;
    inputs.receive(offline, &mut bucket, i)?;
    Ok(bucket)
}

/// Exchanges everything of bucket `i`, except that the labels of this party's encoding still wait
/// to be received.
///
/// # Errors
/// As [`exchange`].
pub(super) fn exchange_circuits(
    offline: &mut Preparation<'_>,
    outgoing: &mut Outgoing<'_>,
    inputs: &Inputs<'_>,
    i: usize,
) -> Result<Bucket> {
    let me = offline.me();
    let peers = inputs.peers(i);
    allow_garbling(offline);
    let mut bucket = Bucket {
        number: offline.first + i as u64,
        own: send_circuits(offline, outgoing)?,
        theirs: Vec::with_capacity(peers.len()),
        encoded: Vec::with_capacity(peers.len()),
        output_hashes: LabelHashes { sums: Vec::new(), pairs: [0; 32] },
        input_mask: Zeroizing::new(offline.matrices[me].decode(&inputs.choices(i))),
    };
    // Everything is sent before anything is received.
    send_labels(offline, &mut bucket)?;
    inputs.send(offline, &mut bucket, i)?;
    for &j in peers {
        allow_garbling(offline);
        let (circuit, leaves) = receive_circuit(offline, outgoing.committed, j as usize)?;
        bucket.theirs.push(circuit);
        bucket.encoded.push(leaves);
    }
    receive_labels(offline, &mut bucket)?;
    Ok(bucket)
}

/// Returns how many circuits are garbled at a time: enough to fill the lanes of all threads, and
/// more if they are small.
fn at_a_time(offline: &Preparation<'_>) -> usize {
    let full = offline.threads() * offline.garbler(offline.me()).side_by_side();
    let bytes = full * offline.function.plan.and_count() as usize * size_of::<[Block; 2]>();
    full * (AHEAD / bytes.max(1)).min(MOST / full).max(1)
}

/// Lets the peer garble the circuits of its bucket before its next message, and as many more as
/// it garbles at a time. It reads nothing meanwhile.
fn allow_garbling(offline: &mut Preparation<'_>) {
    let circuits = offline.params.bucket() + at_a_time(offline);
    let gates = offline.function.plan.and_count();
    allow_gates(offline.channel(), gates * circuits as u64);
}

/// Sends the circuits of the next bucket, and returns what the garbler keeps of each.
fn send_circuits(
    offline: &mut Preparation<'_>,
    outgoing: &mut Outgoing<'_>,
) -> Result<Vec<OwnCircuit>> {
    let circuits = offline.params.bucket();
    let mut kept = Vec::with_capacity(circuits);
    for _ in 0..circuits {
        let (table, garbled) = outgoing.next(offline)?;
        let channel = offline.channel();
        for piece in table.chunks(PIECE) {
            channel.send(messages::TABLE, Block::as_bytes(piece.as_flattened()))?;
        }
        let parts: [&[u8]; 4] = [
            Block::as_bytes(&garbled.ending.decoding),
            Block::as_bytes(garbled.ending.translations.as_flattened()),
            &garbled.leaves.to_bytes(),
            &garbled.opening.nonce,
        ];
        channel.send_parts(messages::ENDING, &parts)?;
        outgoing.spare.push(table);
        kept.push(garbled.own);
    }
    Ok(kept)
}

/// Receives the peer's circuit `j` and checks it against its commitment. Returns the circuit, and
/// the leaf XORs and the pair digest of this party's encoding.
///
/// Check: `dualex`: circuits | `garbled circuit commitment` | another circuit than could have been
/// opened | 2^-128
fn receive_circuit(
    offline: &mut Preparation<'_>,
    committed: &Committed,
    j: usize,
) -> Result<(PeerCircuit, (Vec<Digest>, Digest))> {
    let me = offline.me();
    let [own_bits, peer_bits] = [me, 1 - me].map(|party| offline.function.inputs[party]);
    let encoded = offline.matrices[me].encoded();
    let outputs = offline.function.outputs;
    let mut table = offline.tables.room();
    let channel = offline.channel();
    let mut digest = ComponentDigest::default();
    for piece in table.chunks_mut(PIECE) {
        channel.recv_into(messages::TABLE, Block::as_bytes_mut(piece.as_flattened_mut()))?;
        digest.update(piece);
    }
    let of_table = digest.so_far();
    let decoding = Ending::decoding_blocks(outputs);
    let leaves = Leaves::byte_len(peer_bits, own_bits, encoded);
    let bytes = channel.recv(messages::ENDING, 16 * decoding + 32 * outputs + leaves + 32)?;
    let peer = channel.peer();
    let (blocks, rest) = bytes.split_at(16 * decoding + 32 * outputs);
    let (leaves, nonce) = rest.split_at(leaves);
    let blocks: Vec<Block> =
        blocks.as_chunks::<16>().0.iter().map(|block| Block::from_bytes(*block)).collect();
    let (decoding, translations) = blocks.split_at(decoding);
    let ending =
        Ending { decoding: decoding.to_vec(), translations: translations.as_chunks().0.to_vec() };
    let leaves = Leaves::from_bytes(leaves, peer_bits, own_bits, encoded);
    let opening = Opening { nonce: nonce.try_into().expect("32 bytes were split off") };
    let contents = Contents { table: digest.finish_with_ending(&ending), leaves: &leaves };
    let number = offline.first + j as u64;
    let garbler = offline.garbler(1 - me);
    if !garbler.verify(number, &committed.theirs[j], &opening, &contents) {
        return Err(Error::misbehaved(peer, checks::KEPT));
    }
    let Leaves { own: inputs, announced, encoded, seeds, pairs } = leaves;
    let circuit = PeerCircuit {
        number,
        table: offline.tables.keep(table, of_table)?,
        ending,
        translation: Vec::new(),
        inputs,
        shift: BitVec::zeros(peer_bits),
        announced,
        pairs: pairs[0],
        seeds,
        mask_labels: Blocks::default(),
    };
    Ok((circuit, (encoded, pairs[1])))
}

/// Sends the hashes of a bucket's output labels, and the translations of its circuits.
///
/// Paper: RR16, Fig. 15, Bucketing, Bucket Labels
fn send_labels(offline: &mut Preparation<'_>, bucket: &mut Bucket) -> Result<()> {
    let outputs = offline.function.outputs;
    let (first, others) = bucket.own.split_first().expect("no bucket is empty");
    let expand = |circuit: &OwnCircuit| {
        let hash = LeafHash::new(&offline.net.session, offline.net.me, circuit.number);
        hash.output_labels(&circuit.output_seed, outputs)
    };
    let labels = expand(first);
    let place = (&offline.net.session, offline.net.me, bucket.number);
    let hashes = LabelHashes::of(place, &labels);
    let mut message: Vec<u8> = hashes.sums.as_flattened().to_vec();
    message.extend_from_slice(&hashes.pairs);
    for circuit in others {
        let wanted = expand(circuit);
        for (wanted, labels) in wanted.iter().zip(labels.iter()) {
            message.extend_from_slice(&(wanted[0] ^ labels[0]).to_bytes());
            message.extend_from_slice(&(wanted[1] ^ labels[1]).to_bytes());
        }
    }
    offline.channel().send(messages::BUCKET_LABELS, &message)
}

/// Receives the peer's label hashes and translations.
fn receive_labels(offline: &mut Preparation<'_>, bucket: &mut Bucket) -> Result<()> {
    let outputs = offline.function.outputs;
    let (_, others) = bucket.theirs.split_first_mut().expect("no bucket is empty");
    let length = 32 * outputs + 32 + 32 * outputs * others.len();
    let theirs = offline.channel().recv(messages::BUCKET_LABELS, length)?;
    let (hashes, translations) = theirs.split_at(32 * outputs + 32);
    let (sums, pairs) = hashes.split_at(32 * outputs);
    bucket.output_hashes = LabelHashes {
        sums: sums.as_chunks().0.to_vec(),
        pairs: pairs.try_into().expect("32 bytes were split off"),
    };
    let mut pairs = translations.as_chunks::<32>().0.iter().map(|pair| {
        let halves = pair.as_chunks::<16>().0;
        [Block::from_bytes(halves[0]), Block::from_bytes(halves[1])]
    });
    for circuit in others {
        circuit.translation = pairs.by_ref().take(outputs).collect();
    }
    Ok(())
}
