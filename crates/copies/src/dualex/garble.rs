//! One garbled circuit of a party: everything in it is derived from its seed, and one commitment
//! covers it.
//!
//! Circuit number k of garbler g is the adaptive garbling of Fig. 9 with
//!
//! * labels for g's inputs x_g;
//! * labels for the other party's announced input x̂ and for its encoding r; the labels of its
//!   input wires are those of x̂ ⊕ M·r, computed by free XOR outside the circuit;
//! * the nonce R, without which the table cannot be unmasked;
//! * output labels d̂ from a seed of their own, which is opened after both parties are committed to
//!   their sets.
//!
//! Departure: `dualex`: commitments | one for each label | one for each circuit, to digests of its
//! table and label hashes | hashes hide labels of 127 unknown bits
//! (`docs/proofs/dual-execution.md`)
//!
//! # Commitments
//! Figure 15 commits to each input label and to the outputs separately. Here each label has a
//! *leaf*, a 256-bit hash of the label keyed by session, garbler, circuit, kind and wire
//! ([`LeafHash`]). The circuit has one commitment, to the digest of the table and the digests of
//! all leaves. The evaluator receives the XOR of the two leaves of each wire ([`Leaves`]). A leaf
//! needs no nonce: 127 bits of the label it hides are random to the peer, even if the peer knows
//! the other label of the wire, because Δ is unknown. `docs/proofs/dual-execution.md` has the
//! argument.
//!
//! The leaves of g's own inputs are in the order of M·c, where c are g's OT choices for this
//! circuit: place h has the leaf of the label for (M·c)_t ⊕ h (§6.1). This ties the labels that g
//! can open as a garbler to those that it can get as a receiver.

use std::convert::Infallible;
use std::ops::Range;

use symbolon_circuit::Plan;
use symbolon_garbling::{
    InputKeys, Instance,
    adaptive::{Ending, garble_adaptively_side_by_side},
    component::ComponentDigest,
};
use symbolon_primitives::{
    BitVec, Block, CommitContext, Commitment, Delta, Opening, Prg, Secret, Seed, TweakedHash,
    commit_with, derive_block, mask64,
};
use symbolon_transport::PartyId;
use zeroize::Zeroizing;

use super::{function::Function, ot::Blocks, probe_matrix::ProbeMatrix};

/// The domain of the commitments to circuits.
const CIRCUIT: &str = "dualex: circuits";

/// The numbers of circuits and buckets are smaller than this, so that no tweak made of them
/// overflows.
pub(super) const NUMBERS: u64 = 1 << 62;

/// A digest of a label, or of a list of them.
pub(super) type Digest = [u8; 32];

/// Pairs of output labels, the label for 0 first.
pub(super) type Pairs = Zeroizing<Vec<[Block; 2]>>;

/// What is common to all circuits of a garbler.
///
/// Paper: RR16, Figs. 9, 15, Send Circuit, Input and Output Commit | a garbled circuit and its
/// commitment
#[derive(Clone, Copy)]
pub(super) struct Garbler<'a> {
    /// The session that prepares the circuits.
    pub session: &'a [u8; 32],
    /// The garbler.
    pub party: PartyId,
    /// What is garbled.
    pub function: &'a Function,
    /// The encoding of the evaluator's input.
    pub matrix: &'a ProbeMatrix,
}

/// What the garbler keeps of a circuit.
pub(super) struct OwnCircuit {
    /// Its number.
    pub number: u64,
    /// The offset of the labels for 1.
    pub delta: Delta,
    /// The labels for 0 of the garbler's inputs.
    pub own: Blocks,
    /// The labels for 0 of the evaluator's announced input.
    pub announced: Blocks,
    /// The labels for 0 of the evaluator's encoding.
    pub encoded: Blocks,
    /// R.
    pub nonce: Seed,
    /// The seed of d̂.
    pub output_seed: Seed,
}

/// A garbled circuit without its table.
pub(super) struct Garbled {
    /// What the garbler keeps.
    pub own: OwnCircuit,
    /// The masked decoding and translations, sent after the table.
    pub ending: Ending,
    /// The leaves against which the evaluator checks labels.
    pub leaves: Leaves,
    /// The opening of the commitment.
    pub opening: Opening,
}

/// Everything that determines a circuit.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    /// Its number.
    pub number: u64,
    /// Its seed.
    pub seed: &'a Seed,
    /// The order of the leaves of its garbler's inputs.
    pub order: &'a BitVec,
}

/// What is drawn from a circuit's seed before garbling.
struct Drawn {
    keys: InputKeys,
    /// d̂.
    wanted: Pairs,
    own: OwnCircuit,
    opening: Opening,
}

/// The contents to which a circuit's commitment opens.
pub(super) struct Contents<'a> {
    /// The digest of the masked table and its ending.
    pub table: Digest,
    /// The leaves.
    pub leaves: &'a Leaves,
}

/// What the evaluator needs to check a circuit's labels.
///
/// The evaluator receives one label per wire and computes its leaf. The XOR gives the other leaf of
/// the pair, and the digest of all pairs shows whether they are the committed ones, so 32 bytes per
/// wire are enough. The circuit's commitment covers the XORs too: a changed XOR is detected before
/// any label arrives, whatever the evaluator's choices are.
///
/// Paper: RR16, Figs. 9, 15, Send Circuit, Input and Output Commit
#[derive(Clone)]
pub(super) struct Leaves {
    /// The XOR of the two leaves of each of the garbler's inputs.
    pub own: Vec<Digest>,
    /// The XORs for the bits that the evaluator announces.
    pub announced: Vec<Digest>,
    /// The XORs for the bits of the evaluator's encoding.
    pub encoded: Vec<Digest>,
    /// The leaves of R and of the output seed.
    pub seeds: [Digest; 2],
    /// The digest of the leaf pairs of both inputs, the garbler's in the order of M·c; and the
    /// digest of the pairs of the encoding.
    pub pairs: [Digest; 2],
}

impl Leaves {
    /// Returns the length in bytes of the leaves for these numbers of wires.
    pub fn byte_len(own: usize, announced: usize, encoded: usize) -> usize {
        32 * (own + announced + encoded) + 4 * 32
    }

    /// Returns all fields, joined.
    pub fn to_bytes(&self) -> Vec<u8> {
        let parts = [&self.own, &self.announced, &self.encoded, &self.seeds[..], &self.pairs];
        parts.map(<[Digest]>::as_flattened).concat()
    }

    /// Parses the leaves for these numbers of wires.
    ///
    /// # Panics
    /// If the length is not [`byte_len`](Leaves::byte_len) of these numbers.
    pub fn from_bytes(bytes: &[u8], own: usize, announced: usize, encoded: usize) -> Leaves {
        assert_eq!(bytes.len(), Leaves::byte_len(own, announced, encoded));
        let mut digests = bytes.as_chunks::<32>().0.iter().copied();
        let mut take = |n| digests.by_ref().take(n).collect::<Vec<_>>();
        let [own, announced, encoded] = [take(own), take(announced), take(encoded)];
        let last = take(4);
        let (seeds, pairs) = ([last[0], last[1]], [last[2], last[3]]);
        Leaves { own, announced, encoded, seeds, pairs }
    }

    fn digest(&self) -> Digest {
        let mut hasher = blake3::Hasher::new_derive_key("symbolon dualex leaves 2");
        hasher.update(&self.to_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// How many leaf pairs are hashed at a time: 16 KiB, sixteen BLAKE3 chunks, which are hashed in
/// parallel.
const PAIRS: usize = 256;

/// Blocks in a leaf pair.
const BLOCKS: usize = 4;

/// A hasher of leaf pairs.
///
/// Paper: RR16, Figs. 9, 15, Send Circuit, Input and Output Commit
pub(super) struct PairDigest {
    /// Wiped, because it holds the last pairs that it was given; boxed, because moves leave copies.
    hasher: Secret<blake3::Hasher>,
    /// A buffer for [`PAIRS`] pairs, of which `waiting` are filled. It is wiped, because it shows
    /// which label of a wire was opened; blocks are wiped faster than bytes.
    room: Blocks,
    waiting: usize,
}

impl PairDigest {
    /// Starts a digest.
    pub fn new() -> PairDigest {
        PairDigest {
            hasher: Secret::new(blake3::Hasher::new_derive_key("symbolon dualex pairs 1")),
            room: Blocks::new(vec![Block::ZERO; BLOCKS * PAIRS]),
            waiting: 0,
        }
    }

    /// Adds `n` pairs. `fill` writes the pairs of a range of wires.
    fn add(&mut self, n: usize, mut fill: impl FnMut(Range<usize>, &mut [[Digest; 2]])) {
        let mut done = 0;
        while done < n {
            if self.waiting == PAIRS {
                self.flush();
            }
            let some = (n - done).min(PAIRS - self.waiting);
            let room = &mut self.room[BLOCKS * self.waiting..BLOCKS * (self.waiting + some)];
            let leaves = Block::as_bytes_mut(room).as_chunks_mut::<32>().0;
            fill(done..done + some, leaves.as_chunks_mut().0);
            self.waiting += some;
            done += some;
        }
    }

    /// Adds the pairs with these leaves at these places and with these XORs, without branching on
    /// the places.
    pub fn add_opened(&mut self, leaves: &[Digest], places: &BitVec, sums: &[Digest]) {
        self.add(leaves.len(), |wires, pairs| {
            let leaves = leaves[wires.clone()].iter().zip(&sums[wires.clone()]);
            for ((wire, (leaf, sum)), pair) in wires.zip(leaves).zip(pairs) {
                let mask = mask64(places.get(wire)) as u8;
                let zero: Digest = std::array::from_fn(|i| leaf[i] ^ (sum[i] & mask));
                *pair = [zero, xor_digests(&zero, sum)];
            }
        });
    }

    fn flush(&mut self) {
        self.hasher.update(Block::as_bytes(&self.room[..BLOCKS * self.waiting]));
        self.waiting = 0;
    }

    /// Returns the digest of all pairs.
    pub fn finish(mut self) -> Digest {
        self.flush();
        *self.hasher.finalize().as_bytes()
    }
}

#[inline]
fn xor_digests(a: &Digest, b: &Digest) -> Digest {
    std::array::from_fn(|i| a[i] ^ b[i])
}

/// The kind of value that a leaf hashes.
#[derive(Clone, Copy)]
pub(super) enum Leaf {
    Own = 0,
    Announced = 1,
    Encoded = 2,
    Nonce = 3,
    Outputs = 4,
    Bucket = 5,
}

/// The hash for the leaves of one circuit.
///
/// The leaf of a label is the garbling hash, keyed for this circuit, under two tweaks: 256 bits, so
/// finding two labels with the same leaf is infeasible. The leaf of a seed is a keyed BLAKE3 hash.
pub(super) struct LeafHash {
    labels: TweakedHash,
    seeds: Digest,
}

impl LeafHash {
    /// Returns the hash for circuit or bucket `number` of party `garbler`.
    pub fn new(session: &[u8; 32], garbler: PartyId, number: u64) -> LeafHash {
        let mut hasher = blake3::Hasher::new_derive_key("symbolon dualex labels 2");
        hasher.update(session).update(&garbler.to_le_bytes()).update(&number.to_le_bytes());
        let start =
            derive_block("symbolon dualex label hash 1", session, 2 * number + u64::from(garbler));
        LeafHash { labels: TweakedHash::new(start), seeds: *hasher.finalize().as_bytes() }
    }

    /// Returns the leaf of a seed.
    pub fn seed(&self, kind: Leaf, seed: Block) -> Digest {
        let mut message = Zeroizing::new([0; 17]);
        message[0] = kind as u8;
        message[1..].copy_from_slice(&seed.to_bytes());
        *blake3::keyed_hash(&self.seeds, &*message).as_bytes()
    }

    /// Derives the circuit's d̂ from its seed: two labels for each output. Two circuits derive
    /// different labels from the same seed, so guessing a seed attacks only one circuit.
    pub fn output_labels(&self, seed: &Seed, outputs: usize) -> Pairs {
        // The leaf of the seed hashes one more byte, so it is unrelated to this hash.
        let message = Zeroizing::new(seed.to_bytes());
        let digest = Zeroizing::new(*blake3::keyed_hash(&self.seeds, &*message).as_bytes());
        let mut pairs = Pairs::new(vec![[Block::ZERO; 2]; outputs]);
        Prg::from_digest(&digest).fill_blocks(pairs.as_flattened_mut());
        pairs
    }

    /// Writes the leaves of `labels`, `group` for each wire from number `wire` on. `hashes` is
    /// scratch space as long as `labels`.
    fn hash(
        &self,
        (kind, wire, group): (Leaf, usize, usize),
        labels: &[Block],
        hashes: &mut [Block],
        leaves: &mut [Digest],
    ) {
        for half in [0, 1] {
            hashes.copy_from_slice(labels);
            let tweak = ((2 * kind as u128 + half as u128) << 40) + wire as u128;
            self.labels.hash(tweak, group, hashes);
            for (leaf, hash) in leaves.iter_mut().zip(hashes.iter()) {
                leaf.as_chunks_mut::<16>().0[half] = hash.to_bytes();
            }
        }
    }

    /// Returns the leaves of one label per wire. They are secret: they show which label was opened.
    pub fn leaves(&self, kind: Leaf, labels: &[Block]) -> Zeroizing<Vec<Digest>> {
        let mut leaves = Zeroizing::new(vec![[0; 32]; labels.len()]);
        let mut hashes = Blocks::new(vec![Block::ZERO; labels.len()]);
        self.hash((kind, 0, 1), labels, &mut hashes, &mut leaves);
        leaves
    }

    /// Adds the leaves of both labels of `n` wires to `digest` and returns the XOR of each pair.
    /// `labels` writes the labels of a range of wires.
    ///
    /// Takes a few wires at a time, so that everything stays in the L1 cache.
    pub fn add_pairs(
        &self,
        kind: Leaf,
        n: usize,
        mut labels: impl FnMut(Range<usize>, &mut [[Block; 2]]),
        digest: &mut PairDigest,
    ) -> Vec<Digest> {
        let mut sums = Vec::with_capacity(n);
        let mut room = Blocks::new(vec![Block::ZERO; 4 * n.min(PAIRS)]);
        let (plain, hashes) = room.split_at_mut(2 * n.min(PAIRS));
        digest.add(n, |wires, pairs| {
            let plain = &mut plain[..2 * wires.len()];
            labels(wires.clone(), plain.as_chunks_mut().0);
            let (hashes, leaves) = (&mut hashes[..plain.len()], pairs.as_flattened_mut());
            self.hash((kind, wires.start, 2), plain, hashes, leaves);
            sums.extend(pairs.iter().map(|[zero, one]| xor_digests(zero, one)));
        });
        sums
    }

    /// Like [`add_pairs`](LeafHash::add_pairs), from the labels for 0. If there is an order, place
    /// h has the leaf of the label for `order` ⊕ h.
    fn add_wires(
        &self,
        (kind, zero, order): (Leaf, &[Block], Option<&BitVec>),
        delta: &Delta,
        digest: &mut PairDigest,
    ) -> Vec<Digest> {
        let labels = |wires: Range<usize>, labels: &mut [[Block; 2]]| {
            for (wire, pair) in wires.zip(labels) {
                let swap = order.is_some_and(|order| order.get(wire));
                let first = zero[wire] ^ delta.select(swap);
                *pair = [first, first ^ **delta];
            }
        };
        self.add_pairs(kind, zero.len(), labels, digest)
    }
}

/// Returns the garbling of circuit `number` of party `garbler`.
pub(super) fn instance<'a>(
    plan: &'a Plan,
    session: &'a [u8; 32],
    garbler: PartyId,
    number: u64,
) -> Instance<'a> {
    Instance::new(plan, session, 2 * number + u64::from(garbler))
}

impl<'a> Garbler<'a> {
    fn me(&self) -> usize {
        usize::from(self.party)
    }

    /// Splits the labels of the plan's inputs into the garbler's and the evaluator's.
    fn split<'l>(&self, labels: &'l [Block]) -> [&'l [Block]; 2] {
        let (first, second) = labels.split_at(self.function.inputs[0]);
        if self.me() == 0 { [first, second] } else { [second, first] }
    }

    /// Returns the garbling of circuit `number`. Its number is never that of the other party's
    /// circuits.
    fn instance(&self, number: u64) -> Instance<'a> {
        instance(&self.function.plan, self.session, self.party, number)
    }

    /// Returns the context of the commitment to circuit `number`.
    fn context(&self, number: u64) -> CommitContext<'a> {
        CommitContext {
            domain: CIRCUIT,
            session: self.session,
            party: self.party.number(),
            index: number,
        }
    }

    /// Returns how many circuits are garbled side by side.
    pub fn side_by_side(&self) -> usize {
        symbolon_garbling::side_by_side(&self.function.plan)
    }

    /// Garbles at most [`side_by_side`](Garbler::side_by_side) circuits and returns the commitments
    /// to them. The circuits are not kept.
    pub fn commit(&self, sources: &[Source<'_>]) -> Vec<Commitment> {
        let mut digests: Vec<_> = sources.iter().map(|_| ComponentDigest::default()).collect();
        let garbled = self.garble(sources, |k, gates| digests[k].update(gates));
        let each = garbled.iter().zip(digests);
        each.map(|(garbled, digest)| self.commitment(garbled, digest)).collect()
    }

    /// Returns the commitment to a circuit whose masked table has this digest.
    pub fn commitment(&self, garbled: &Garbled, table: ComponentDigest) -> Commitment {
        let table = table.finish_with_ending(&garbled.ending);
        let value = Contents { table, leaves: &garbled.leaves }.value();
        commit_with(&self.context(garbled.own.number), &garbled.opening, &value)
    }

    /// Garbles at most [`side_by_side`](Garbler::side_by_side) circuits. Passes the masked table of
    /// the k-th one to `sink` in pieces, together with k.
    ///
    /// Paper: RR16, Figs. 9, 15, Send Circuit, Input and Output Commit
    pub fn garble(
        &self,
        sources: &[Source<'_>],
        mut sink: impl FnMut(usize, &mut [[Block; 2]]),
    ) -> Vec<Garbled> {
        let instances: Vec<_> = sources.iter().map(|s| self.instance(s.number)).collect();
        let drawn = sources.iter().zip(&instances).map(|(source, one)| self.draw(source, one));
        let mut drawn: Vec<_> = drawn.collect();
        let encoded: Vec<_> = drawn.iter().map(|drawn| &drawn.own.encoded[..]).collect();
        let decoded = self.matrix.decode_labels(&encoded);
        for (drawn, decoded) in drawn.iter_mut().zip(decoded) {
            let announced = drawn.own.announced.iter_mut();
            announced.zip(decoded.iter()).for_each(|(label, decoded)| *label ^= *decoded);
        }
        let keys: Vec<_> = drawn.iter().map(|drawn| &drawn.keys).collect();
        let wanted = drawn.iter().map(|drawn| (&drawn.own.nonce, &drawn.wanted[..]));
        let wanted: Vec<_> = wanted.collect();
        let endings = garble_adaptively_side_by_side(&instances, &keys, &wanted, |pieces| {
            pieces.iter_mut().enumerate().for_each(|(k, gates)| sink(k, gates));
            Ok::<_, Infallible>(())
        });
        let Ok(endings) = endings;
        let each = sources.iter().zip(drawn).zip(endings);
        each.map(|((source, drawn), ending)| {
            let leaves = self.leaves(&drawn.own, source.order);
            let Drawn { own, opening, .. } = drawn;
            Garbled { own, ending, leaves, opening }
        })
        .collect()
    }

    /// Draws everything that a circuit takes from its seed before garbling. `announced` has the
    /// labels of the input wires, to which the labels of M·r must still be added.
    fn draw(&self, source: &Source<'_>, instance: &Instance<'_>) -> Drawn {
        let mut prg = instance.generator("symbolon 2026 dualex circuit", source.seed);
        let [labels, nonce, output_seed] = [prg.seed(), prg.seed(), prg.seed()];
        let mut encoded = Blocks::new(vec![Block::ZERO; self.matrix.encoded()]);
        prg.fill_blocks(&mut encoded);
        let opening = Opening::draw(&mut prg);
        let keys = instance.keys_from_seed(&labels);
        let hash = LeafHash::new(self.session, self.party, source.number);
        let wanted = hash.output_labels(&output_seed, self.function.outputs);
        let [own, announced] = self.split(&keys.inputs).map(|labels| Blocks::new(labels.to_vec()));
        let (number, delta) = (source.number, keys.delta.clone());
        let own = OwnCircuit { number, delta, own, announced, encoded, nonce, output_seed };
        Drawn { keys, wanted, own, opening }
    }

    /// Returns the leaves of a circuit, those of this party's inputs in the given order.
    fn leaves(&self, circuit: &OwnCircuit, order: &BitVec) -> Leaves {
        let hash = LeafHash::new(self.session, self.party, circuit.number);
        let delta = &circuit.delta;
        let (mut inputs, mut encoding) = (PairDigest::new(), PairDigest::new());
        let (nonce, outputs) = (*circuit.nonce, *circuit.output_seed);
        Leaves {
            own: hash.add_wires((Leaf::Own, &circuit.own, Some(order)), delta, &mut inputs),
            announced: hash.add_wires(
                (Leaf::Announced, &circuit.announced, None),
                delta,
                &mut inputs,
            ),
            encoded: hash.add_wires((Leaf::Encoded, &circuit.encoded, None), delta, &mut encoding),
            seeds: [hash.seed(Leaf::Nonce, nonce), hash.seed(Leaf::Outputs, outputs)],
            pairs: [inputs.finish(), encoding.finish()],
        }
    }

    /// Whether the commitment to circuit `number` opens to these contents.
    pub fn verify(
        &self,
        number: u64,
        commitment: &Commitment,
        opening: &Opening,
        contents: &Contents<'_>,
    ) -> bool {
        symbolon_primitives::verify(&self.context(number), commitment, opening, &contents.value())
    }
}

impl Contents<'_> {
    fn value(&self) -> [u8; 64] {
        let mut value = [0; 64];
        value[..32].copy_from_slice(&self.table);
        value[32..].copy_from_slice(&self.leaves.digest());
        value
    }
}

#[cfg(test)]
mod tests {
    use zeroize::ZeroizeOnDrop;

    use super::*;

    /// The order of the last pairs shows which label of a wire was opened. It is in the buffer, and
    /// also in the hasher, which keeps the last 64 bytes.
    #[test]
    fn a_pair_digest_keeps_pairs_only_where_they_are_wiped() {
        fn is_wiped(_: &impl ZeroizeOnDrop) {}
        let PairDigest { hasher, room, waiting: _ } = PairDigest::new();
        is_wiped(&hasher);
        is_wiped(&room);
    }

    /// Guessing a seed attacks only one circuit.
    #[test]
    fn circuits_make_other_output_labels_of_the_same_seed() {
        let of = |session: u8, garbler: u16, number| {
            let hash = LeafHash::new(&[session; 32], garbler.into(), number);
            hash.output_labels(&Seed::new(Block(7)), 3)
        };
        let first = of(1, 0, 5);
        assert_eq!(*first, *of(1, 0, 5));
        for other in [of(2, 0, 5), of(1, 1, 5), of(1, 0, 6)] {
            assert!(first.iter().flatten().all(|label| !other.as_flattened().contains(label)));
        }
    }
}
