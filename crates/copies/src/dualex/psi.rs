//! Private set intersection in two phases, from precomputed OTs (§7; Figs. 13 and 14).
//!
//! Each party has B values of ℓ bits. In the first phase both become committed to their values; in
//! the second each learns which of its own values the other has. Two instances run side by side,
//! one in each direction: in each, a receiver tests its values a_i against the values of a sender.
//!
//! For the receiver's value i there are ℓ random OTs of the strings m^{i,t}_0 and m^{i,t}_1, with
//! choices c_i. The receiver sends d_i = a_i ⊕ c_i, and the sender computes for each of its values
//! s_j
//!
//! ```text
//! S_ij = ⊕_t F(m^{i,t}_{d_i[t] ⊕ s_j[t]}, j),
//! ```
//!
//! which the receiver knows if s_j = a_i, because it has the string of choice
//! c_i[t] = d_i[t] ⊕ a_i[t] for every t. Otherwise S_ij is random to it.
//!
//! * **Synchronous** (Fig. 13): the receiver sends d; the sender commits to all S_ij and later
//!   opens them. Three messages, Bℓ bits and B² blocks.
//! * **Asynchronous** (Fig. 14): the sender commits in advance to every term of every S_ij, each
//!   under a pad z with ⊕_t z_t = 0, in an order π_j that it chooses. Then d and the sender's
//!   s_j ⊕ π_j can be sent at the same time, and the sender opens the terms that they select. Two
//!   messages, B²ℓ blocks.
//!
//! # Security
//! The intersection is *weakly* malicious-secure (Definition 3): it is secure for sets of which the
//! cheater can know at most one value, such as reconciliation values (§7.1). The simulator of a
//! receiver reads its values from d. The simulator of a sender only tests whether the S_ij fit the
//! one value that the sender may know; it never needs the others.
//!
//! # Where it departs from the figures
//! * The pads z and all terms have 128 bits instead of ℓ, because they are XORed with outputs of F.
//! * ℓ is longer than κ_s, see `params`.
//! * The commitment to a term is a keyed hash without a nonce, because the term is masked by a
//!   random pad. Both places of a term have the same pad, and the pads of a sum XOR to 0. So a
//!   receiver whose value differs from the sender's in one bit can compute the term that is not
//!   opened, and its commitment confirms it: with each of its own values the receiver tests ℓ + 1
//!   values. ℓ is longer for this reason.
//!
//! Timing: choices, items, labels | `select` and `mask64`, as in `inputs` and `garble::PairDigest`;
//! places of opened terms are public

use symbolon_primitives::{BitVec, Block, Prg, Seed, TweakedHash, derive_block};
use symbolon_transport::PartyId;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::{garble::Digest, ot::Blocks};

/// The shape of one intersection: B values of ℓ bits, and its number within the session.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    /// The session that prepared the OTs.
    pub session: &'a [u8; 32],
    /// Its number.
    pub number: u64,
    /// B.
    pub values: usize,
    /// ℓ.
    pub bits: usize,
}

/// A sender's OTs for one intersection.
#[derive(ZeroizeOnDrop)]
pub(super) struct Sender {
    /// The strings m^{i,t}_0 and m^{i,t}_1, by i and then by t.
    pub pairs: Vec<[Block; 2]>,
    /// The committed terms, in the asynchronous form.
    #[zeroize(skip)]
    pub committed: Option<CommittedTerms>,
}

/// The order and the pads of a sender's committed terms.
pub(super) struct CommittedTerms {
    /// π, ℓ bits for each of the sender's values.
    pub order: BitVec,
    /// The seed of the pads.
    pub pads: Seed,
}

/// A receiver's OTs for one intersection.
pub(super) struct Receiver {
    /// c, ℓ bits for each of the receiver's values.
    pub choices: Zeroizing<BitVec>,
    /// The chosen strings m^{i,t}.
    pub messages: Blocks,
    /// The sender's commitments to its terms, two for each i, j and t, in the asynchronous form.
    pub leaves: Vec<[Digest; 2]>,
}

impl Shape<'_> {
    /// How many OTs an intersection takes in each direction.
    pub fn ots(&self) -> usize {
        self.values * self.bits
    }

    /// How many terms the sums of one sender have.
    pub fn terms(&self) -> usize {
        self.values * self.values * self.bits
    }

    /// Applies F to the strings of all OTs in place. They are ordered by the receiver's value i,
    /// then by the sender's value j.
    fn prf(&self, sender: PartyId, strings: &mut [Block]) {
        let start = derive_block("symbolon dualex psi 1", self.session, sender.into());
        TweakedHash::new(start).hash(u128::from(self.number) << 64, 1, strings);
    }

    /// Returns the range of the bits of value k in a list of values.
    fn place(&self, k: usize) -> std::ops::Range<usize> {
        k * self.bits..(k + 1) * self.bits
    }

    /// Returns value k of a list of values.
    fn value(&self, values: &BitVec, k: usize) -> u128 {
        self.place(k).rev().fold(0, |value, bit| value << 1 | u128::from(values.get(bit)))
    }

    /// Returns the bits of `values`, XORed with `mask`.
    pub fn masked(&self, values: &[u128], mask: &BitVec) -> BitVec {
        let mut bits = BitVec::with_capacity(self.ots());
        for value in values {
            bits.extend_from(&self.value_bits(*value));
        }
        bits.xor_assign(mask);
        bits
    }

    fn value_bits(&self, value: u128) -> BitVec {
        let mut bits = BitVec::with_capacity(self.bits);
        (0..self.bits).for_each(|t| bits.push(value >> t & 1 == 1));
        bits
    }

    /// Returns the sender's S_ij, B for each i, from the receiver's d.
    ///
    /// Paper: RR16, Figs. 13, 14 | sums and terms
    pub fn sums(&self, me: PartyId, sender: &Sender, values: &[u128], d: &BitVec) -> Blocks {
        let mut terms = Blocks::new(Vec::with_capacity(self.terms()));
        for i in 0..self.values {
            let pairs = &sender.pairs[self.place(i)];
            let d = self.value(d, i);
            for value in values {
                choose(pairs, d ^ value, &mut terms);
            }
        }
        self.prf(me, &mut terms);
        Blocks::new(terms.chunks(self.bits).map(xor).collect())
    }

    /// Returns the sums that the receiver expects where the values are equal.
    ///
    /// Paper: RR16, Figs. 13, 14
    pub fn expected(&self, peer: PartyId, receiver: &Receiver) -> Blocks {
        let mut terms = Blocks::new(Vec::with_capacity(self.terms()));
        for i in 0..self.values {
            (0..self.values)
                .for_each(|_| terms.extend_from_slice(&receiver.messages[self.place(i)]));
        }
        self.prf(peer, &mut terms);
        Blocks::new(terms.chunks(self.bits).map(xor).collect())
    }

    /// Returns the places of the receiver's values that the sender has too.
    pub fn matches(&self, expected: &[Block], sums: &[Block]) -> Vec<usize> {
        let hit = |i: usize| {
            let row = i * self.values..(i + 1) * self.values;
            // No branch depends on which sum matches.
            let pairs = expected[row.clone()].iter().zip(&sums[row]);
            pairs.fold(false, |hit, (expected, sum)| hit | expected.ct_eq(sum))
        };
        (0..self.values).filter(|i| hit(*i)).collect()
    }

    /// Returns every term of a sender that commits in advance: for each i, j and t, the two padded
    /// terms in the order of π.
    ///
    /// Paper: RR16, Figs. 13, 14
    pub fn padded_terms(
        &self,
        me: PartyId,
        sender: &Sender,
        terms: &CommittedTerms,
    ) -> Vec<[Block; 2]> {
        let mut pads = Blocks::new(vec![Block::ZERO; self.terms()]);
        let start = derive_block("symbolon dualex pads 1", self.session, me.into());
        let start = start.0.wrapping_add(u128::from(self.number) << 64);
        Prg::starting_at(*terms.pads, Block(start)).fill_blocks(&mut pads);
        for z in pads.chunks_mut(self.bits) {
            let rest = xor(z);
            z[0] ^= rest;
        }
        let both = [0, u128::MAX].map(|place| {
            let mut strings = Blocks::new(Vec::with_capacity(self.terms()));
            for i in 0..self.values {
                let pairs = &sender.pairs[self.place(i)];
                for j in 0..self.values {
                    choose(pairs, self.value(&terms.order, j) ^ place, &mut strings);
                }
            }
            self.prf(me, &mut strings);
            strings
        });
        let pair = |(k, z): (usize, &Block)| [both[0][k] ^ *z, both[1][k] ^ *z];
        pads.iter().enumerate().map(pair).collect()
    }

    /// Returns the commitments to the terms of `sender`.
    pub fn leaves(&self, sender: PartyId, terms: &[[Block; 2]]) -> Vec<[Digest; 2]> {
        let key = self.leaf_key(sender);
        let leaf = |(k, pair): (usize, &[Block; 2])| {
            [leaf(&key, k, false, pair[0]), leaf(&key, k, true, pair[1])]
        };
        terms.iter().enumerate().map(leaf).collect()
    }

    /// Returns which of the two terms is opened for each i, j and t. `receiver` is d, `sender` is
    /// s ⊕ π.
    pub fn opened_places(&self, receiver: &BitVec, sender: &BitVec) -> BitVec {
        let mut places = BitVec::with_capacity(self.terms());
        for i in 0..self.values {
            for j in 0..self.values {
                let mut place = receiver.slice(self.place(i));
                place.xor_assign(&sender.slice(self.place(j)));
                places.extend_from(&place);
            }
        }
        places
    }

    /// Returns the sums of the opened terms, or `None` if a term does not match its commitment.
    ///
    /// Paper: RR16, Figs. 13, 14
    pub fn open(
        &self,
        sender: PartyId,
        leaves: &[[Digest; 2]],
        places: &BitVec,
        terms: &[Block],
    ) -> Option<Vec<Block>> {
        let key = self.leaf_key(sender);
        let fits = |(k, (term, leaves)): (usize, (&Block, &[Digest; 2]))| {
            let place = places.get(k);
            leaf(&key, k, place, *term) == leaves[usize::from(place)]
        };
        let all = terms.len() == self.terms() && terms.iter().zip(leaves).enumerate().all(fits);
        all.then(|| terms.chunks(self.bits).map(xor).collect())
    }

    fn leaf_key(&self, sender: PartyId) -> Digest {
        let mut hasher = blake3::Hasher::new_derive_key("symbolon dualex psi terms 1");
        hasher.update(self.session).update(&sender.to_le_bytes());
        hasher.update(&self.number.to_le_bytes());
        *hasher.finalize().as_bytes()
    }
}

fn leaf(key: &Digest, term: usize, place: bool, value: Block) -> Digest {
    let mut message = [0; 25];
    message[0] = place.into();
    message[1..9].copy_from_slice(&(term as u64).to_le_bytes());
    message[9..].copy_from_slice(&value.to_bytes());
    *blake3::keyed_hash(key, &message).as_bytes()
}

/// Appends one block of each pair to `chosen`, selected by `bits`, without branching on them.
fn choose(pairs: &[[Block; 2]], bits: u128, chosen: &mut Vec<Block>) {
    let one =
        |(t, pair): (usize, &[Block; 2])| pair[0] ^ (pair[0] ^ pair[1]).select(bits >> t & 1 == 1);
    chosen.extend(pairs.iter().enumerate().map(one));
}

fn xor(blocks: &[Block]) -> Block {
    blocks.iter().fold(Block::ZERO, |sum, block| sum ^ *block)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: [u8; 32] = [3; 32];

    fn shape() -> Shape<'static> {
        Shape { session: &SESSION, number: 5, values: 3, bits: 44 }
    }

    /// Returns random OTs for one direction, with the terms of the asynchronous form.
    fn material(prg: &mut Prg) -> (Sender, Receiver) {
        let shape = shape();
        let choices = Zeroizing::new(BitVec::random(shape.ots(), prg));
        let pairs: Vec<[Block; 2]> = (0..shape.ots()).map(|_| [prg.block(), prg.block()]).collect();
        let chosen = pairs.iter().enumerate().map(|(k, pair)| pair[usize::from(choices.get(k))]);
        let messages = Blocks::new(chosen.collect());
        let mut sender = Sender { pairs, committed: None };
        let terms = CommittedTerms { order: BitVec::random(shape.ots(), prg), pads: prg.seed() };
        let leaves = shape.leaves(1.into(), &shape.padded_terms(1.into(), &sender, &terms));
        sender.committed = Some(terms);
        (sender, Receiver { choices, messages, leaves })
    }

    fn values(prg: &mut Prg) -> Vec<u128> {
        (0..3).map(|_| prg.block().0 & ((1 << 44) - 1)).collect()
    }

    #[test]
    fn both_forms_find_what_both_have() {
        let mut prg = Prg::from_seed(Block(symbolon_transport::adversary::fresh(1)));
        let shape = shape();
        for common in 0..4 {
            let (sender, receiver) = material(&mut prg);
            let (own, mut theirs) = (values(&mut prg), values(&mut prg));
            theirs[..common].copy_from_slice(&own[..common]);
            theirs.reverse();
            let d = shape.masked(&own, &receiver.choices);
            let expected = shape.expected(1.into(), &receiver);
            let found: Vec<usize> = (0..common).collect();
            let sums = shape.sums(1.into(), &sender, &theirs, &d);
            assert_eq!(shape.matches(&expected, &sums), found);

            let terms = sender.committed.as_ref().unwrap();
            let e = shape.masked(&theirs, &terms.order);
            let places = shape.opened_places(&d, &e);
            let opened: Vec<Block> = shape
                .padded_terms(1.into(), &sender, terms)
                .iter()
                .enumerate()
                .map(|(k, pair)| pair[usize::from(places.get(k))])
                .collect();
            let sums = shape.open(1.into(), &receiver.leaves, &places, &opened).unwrap();
            assert_eq!(shape.matches(&expected, &sums), found);

            // Any other term is refused.
            for k in [0, 43, 44, opened.len() - 1] {
                let mut other = opened.clone();
                other[k] ^= Block::ONE;
                assert!(shape.open(1.into(), &receiver.leaves, &places, &other).is_none());
            }
            assert!(shape.open(1.into(), &receiver.leaves, &places, &opened[1..]).is_none());
            assert!(shape.open(0.into(), &receiver.leaves, &places, &opened).is_none());
        }
    }

    /// Sums for values that the receiver does not have say nothing: no two of them are equal, and
    /// none is what the receiver expects.
    #[test]
    fn sums_of_other_values_look_random() {
        let mut prg = Prg::from_seed(Block(symbolon_transport::adversary::fresh(2)));
        let shape = shape();
        let (sender, receiver) = material(&mut prg);
        let own = values(&mut prg);
        // Values that differ in one bit.
        let theirs: Vec<u128> = own.iter().map(|value| value ^ 1).collect();
        let d = shape.masked(&own, &receiver.choices);
        let sums = shape.sums(1.into(), &sender, &theirs, &d);
        let distinct: std::collections::BTreeSet<u128> = sums.iter().map(|sum| sum.0).collect();
        assert_eq!(distinct.len(), 9);
        assert!(shape.matches(&shape.expected(1.into(), &receiver), &sums).is_empty());
    }
}
