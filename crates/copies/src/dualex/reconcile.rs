//! Reconciliation values, which represent outputs in the intersection (§4, step 5; Fig. 15, "PSI
//! Commit").
//!
//! R_y is a hash of the XOR of the labels that encode y under both parties' bucket labels. A party
//! that got y from a good circuit knows both: the peer's labels from the evaluation, its own
//! because it made them. For any other y' it does not know one of the peer's labels, so R_y' is
//! random to it.
//!
//! The paper uses the XOR itself, truncated to ℓ bits. With the hash, the values of different
//! outputs have no linear relations, and they are bound to the execution and the session.
//!
//! Departure: `dualex`: reconciliation | XOR of labels, ℓ ≥ κ_s bits | its hash, of more
//! bits | B² pairs in each direction may match by chance (`docs/proofs/dual-execution.md`)
//!
//! Timing: which circuits gave the same value | a set is sorted by random keys in fixed steps; in
//! `outputs`, values are gathered from all candidates by masks

use symbolon_primitives::{BitVec, Block, Prg, same_digest};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use symbolon_transport::PartyId;

use super::{
    garble::{Leaf, LeafHash, PairDigest},
    label_hashes::LabelHashes,
};

/// What a party got from evaluating a circuit of a bucket.
#[derive(ZeroizeOnDrop)]
pub(super) struct Candidate {
    /// The values of the outputs.
    pub values: BitVec,
    /// The reconciliation value: that of `values` if the labels are the bucket's, random if not.
    pub item: u128,
    /// Whether the labels are the bucket's. Other labels cannot be confirmed.
    pub good: bool,
}

/// The values of an intersection, wiped when they are dropped.
pub(super) type Set = Zeroizing<Vec<u128>>;

/// Computes reconciliation values from labels.
pub(super) struct Reconciliation<'a> {
    /// The session that prepared the bucket, the peer, and the bucket's number.
    pub bucket: (&'a [u8; 32], PartyId, u64),
    /// The labels of this party's bucket.
    pub own: &'a [[Block; 2]],
    /// The hashes of the labels of the peer's bucket.
    pub theirs: &'a LabelHashes,
    /// ℓ.
    pub bits: usize,
}

impl Reconciliation<'_> {
    /// Returns the candidate of a circuit that gave these values and these labels of the peer's
    /// bucket.
    ///
    /// If any label does not match the peer's digest, the item is random. An item made from wrong
    /// labels would tell the cheater that chose them whether it guessed the values correctly.
    ///
    /// Paper: RR16, Fig. 15, PSI Commit | reconciliation values
    pub fn candidate(&self, values: BitVec, labels: &[Block], prg: &mut Prg) -> Candidate {
        let (session, peer, number) = self.bucket;
        let hash = LeafHash::new(session, peer, number);
        let mut pairs = PairDigest::new();
        pairs.add_opened(&hash.leaves(Leaf::Bucket, labels), &values, &self.theirs.sums);
        let mut sum = Block::ZERO;
        for (wire, label) in labels.iter().enumerate() {
            let value = values.get(wire);
            let [zero, one] = self.own[wire];
            sum ^= *label ^ zero ^ (zero ^ one).select(value);
        }
        let good = same_digest(&pairs.finish(), &self.theirs.pairs);
        let random = self.random(prg);
        let right = Block(self.item(sum) ^ random).select(good);
        Candidate { values, item: random ^ right.0, good }
    }

    /// Returns a random value, which the peer does not have.
    pub fn random(&self, prg: &mut Prg) -> u128 {
        prg.block().0 & self.mask()
    }

    fn item(&self, sum: Block) -> u128 {
        let (session, _, number) = self.bucket;
        let mut hasher = blake3::Hasher::new_derive_key("symbolon dualex reconciliation 1");
        hasher.update(session).update(&number.to_le_bytes()).update(&sum.to_bytes());
        let hash = hasher.finalize();
        let first = hash.as_bytes().first_chunk().expect("32 bytes");
        Block::from_bytes(*first).0 & self.mask()
    }

    fn mask(&self) -> u128 {
        u128::MAX >> (128 - self.bits)
    }

    /// Returns the set for the intersection: each value once, with random values in place of
    /// repeated ones, in random order.
    ///
    /// Paper: RR16, Fig. 15, PSI Commit
    pub fn set(&self, candidates: &[Candidate], prg: &mut Prg) -> Set {
        let mut set = Set::new(Vec::with_capacity(candidates.len()));
        for candidate in candidates {
            // Whether circuits gave the same value depends on inputs, so nothing branches on it.
            let same = |item: &u128| Block(*item).ct_eq(&Block(candidate.item));
            let again = set.iter().fold(false, |again, item| again | same(item));
            let random = Block(self.random(prg) ^ candidate.item).select(again);
            set.push(candidate.item ^ random.0);
        }
        shuffle(&mut set, prg);
        set
    }
}

/// Puts values in a random order: sorts them by random keys, in a fixed sequence of steps. The
/// order is secret, because it hides which circuits gave the same value.
fn shuffle(set: &mut [u128], prg: &mut Prg) {
    let keyed = set.iter().map(|item| [prg.block(), Block(*item)]);
    let mut keyed = Zeroizing::new(keyed.collect::<Vec<_>>());
    // Odd-even transposition sort takes as many rounds as there are values.
    for round in 0..keyed.len() {
        for [one, other] in keyed[round % 2..].as_chunks_mut::<2>().0 {
            let swap = one[0].0 > other[0].0;
            for (one, other) in one.iter_mut().zip(other) {
                let change = (*one ^ *other).select(swap);
                *one ^= change;
                *other ^= change;
            }
        }
    }
    set.iter_mut().zip(keyed.iter()).for_each(|(item, keyed)| *item = keyed[1].0);
}

#[cfg(test)]
mod tests {
    use symbolon_transport::adversary::Rate;

    use super::*;

    /// All orders of a few values are equally likely, and no value of a larger set is lost.
    #[test]
    fn every_order_of_a_set_is_as_likely() {
        let mut prg = Prg::from_seed(Block(symbolon_transport::adversary::fresh(2)));
        let mut seen = std::collections::BTreeMap::<Vec<u128>, u64>::new();
        let runs = 24 * 600;
        for _ in 0..runs {
            let mut set = [0, 1, 2, 3];
            shuffle(&mut set, &mut prg);
            *seen.entry(set.to_vec()).or_default() += 1;
        }
        assert_eq!(seen.len(), 24);
        for hits in seen.into_values() {
            Rate { hits, runs }.assert_is(1.0 / 24.0);
        }
        for n in 0..40 {
            let mut set: Vec<u128> = (0..n).collect();
            shuffle(&mut set, &mut prg);
            set.sort_unstable();
            assert_eq!(set, (0..n).collect::<Vec<_>>());
        }
    }

    /// Otherwise a garbler whose circuit gives labels with a known error would know the value made
    /// from them, and would learn from the intersection whether the inputs caused the error.
    #[test]
    fn wrong_labels_make_no_value_that_their_garbler_knows() {
        let mut prg = Prg::from_seed(Block(symbolon_transport::adversary::fresh(1)));
        let mut pairs =
            || -> Vec<[Block; 2]> { (0..4).map(|_| [prg.block(), prg.block()]).collect() };
        let (own, theirs) = (pairs(), pairs());
        let session = [5; 32];
        let hashes = LabelHashes::of((&session, 1.into(), 7), &theirs);
        let reconciliation = Reconciliation {
            bucket: (&session, 1.into(), 7),
            own: &own,
            theirs: &hashes,
            bits: 44,
        };
        let values = BitVec::from_bools(&[true, false, true, true]);
        let of = |pairs: &[[Block; 2]]| -> Vec<Block> {
            (0..4).map(|wire| pairs[wire][usize::from(values.get(wire))]).collect()
        };
        let labels = of(&theirs);
        let sum = labels.iter().chain(&of(&own)).fold(Block::ZERO, |sum, label| sum ^ *label);
        let right = reconciliation.candidate(values.clone(), &labels, &mut prg);
        assert_eq!(right.item, reconciliation.item(sum));
        for wire in 0..4 {
            let mut wrong = labels.clone();
            wrong[wire] ^= Block(9);
            let candidate = reconciliation.candidate(values.clone(), &wrong, &mut prg);
            assert_ne!(candidate.item, reconciliation.item(sum ^ Block(9)));
            assert_ne!(candidate.item, reconciliation.item(sum));
        }
    }
}
