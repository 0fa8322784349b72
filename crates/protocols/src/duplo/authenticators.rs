//! Authenticators of keys: GenInKeyAuth, VerInKeyAuth and EvKAs of Appendix A.
//!
//! An authenticator has a Δ and a key of its own, both committed to, and accepts the two keys of
//! its wire by their hashes. Every wire has a bucket of them; the first one's keys, those of the
//! *head*, are the keys of the wire. A key is accepted when more than half of the bucket accept it.
//!
//! **All are self-authenticating**, K^0 = H(Δ): those of inputs, as Appendix A has it (§5.2 says
//! K^0 = H(Δ) ⊕ Δ, which is the same with the values swapped), and those of the components' outputs
//! as well. The paper has another kind there, with which the evaluator, once it knows Δ, knows both
//! keys of a wire but not which is which; so it could not answer for the garbler's outputs after a
//! recovery. One kind for all means one game with more buckets, which are smaller.

use symbolon_primitives::Block;
use symbolon_transport::{Channel, Result};
use zeroize::Zeroizing;

use super::commit::{Committed, Received, receive_blocks, send_blocks};
use super::garble::{receive_offsets, send_offsets};
use super::keys::{self, HASHED, KeyHash, SelfHash};
use super::layout::Objects;
use super::messages;
use super::solder::{self, Held};

/// The garbler makes all authenticators, but for the hashes.
pub(super) fn commit_all(
    channel: &mut Channel,
    committed: &mut Committed,
    session: &[u8; 32],
    objects: &Objects,
) -> Result<()> {
    send_offsets(channel, committed, objects)?;
    let hash = SelfHash::new(session);
    let mut corrections = Vec::with_capacity(objects.count);
    for first in (0..objects.count).step_by(HASHED) {
        let some = first..objects.count.min(first + HASHED);
        let offsets = some.clone().map(|object| committed.value(objects.offset(object)));
        let mut zeros = Zeroizing::new(offsets.collect::<Vec<_>>());
        hash.hash(&numbers(objects, some.clone()), &mut zeros);
        for (object, zero) in some.zip(zeros.chunks_mut(1)) {
            channel.tamper_state("duplo: authenticator key", Block::as_bytes_mut(zero));
            let key = keys::committed(zero[0], committed.value(objects.offset(object)));
            corrections.push(committed.correct(objects.key(object, 0), key));
        }
    }
    send_blocks(channel, messages::AUTHENTICATOR_KEYS, &corrections)
}

fn numbers(objects: &Objects, which: impl Iterator<Item = usize>) -> Vec<u64> {
    which.map(|object| objects.number + object as u64).collect()
}

/// The evaluator takes note of them.
pub(super) fn receive_all(
    channel: &mut Channel,
    received: &mut Received,
    objects: &Objects,
) -> Result<()> {
    receive_offsets(channel, received, objects)?;
    let corrections = receive_blocks(channel, messages::AUTHENTICATOR_KEYS, objects.count)?;
    for (object, correction) in corrections.into_iter().enumerate() {
        received.correct(objects.key(object, 0), correction);
    }
    Ok(())
}

/// The garbler sends what each authenticator accepts, by a hash whose key was drawn after all keys
/// were fixed.
pub(super) fn send_accepted(
    channel: &mut Channel,
    committed: &Committed,
    hash: &KeyHash,
    objects: &Objects,
) -> Result<()> {
    let fixed = |object: usize| {
        let key = committed.value(objects.key(object, 0));
        [key, committed.value(objects.offset(object))]
    };
    let mut accepted: Vec<[Block; 2]> = (0..objects.count).map(fixed).collect();
    for (first, accepted) in (0..).step_by(HASHED).zip(accepted.chunks_mut(HASHED)) {
        hash.accepted(&numbers(objects, first..first + accepted.len()), accepted);
    }
    channel.tamper_state("duplo: accepted", Block::as_bytes_mut(accepted.as_flattened_mut()));
    send_blocks(channel, messages::ACCEPTED, accepted.as_flattened())
}

/// The evaluator gets them.
pub(super) fn receive_accepted(
    channel: &mut Channel,
    objects: &Objects,
) -> Result<Vec<[Block; 2]>> {
    let accepted = receive_blocks(channel, messages::ACCEPTED, 2 * objects.count)?;
    Ok(accepted.as_chunks::<2>().0.to_vec())
}

/// VerInKeyAuth of the evaluator, for some opened authenticators, at most [`HASHED`], whose Δ are
/// `offsets`: what must be committed to as their keys. Nothing if a Δ does not end in 1, or one
/// accepts other keys.
pub(super) fn verify(
    (own, hash): (&SelfHash, &KeyHash),
    objects: &Objects,
    opened: &[usize],
    offsets: &[Block],
    accepted: &[[Block; 2]],
) -> Option<Vec<Block>> {
    let numbers = numbers(objects, opened.iter().copied());
    let mut keys = offsets.to_vec();
    own.hash(&numbers, &mut keys);
    for (key, &offset) in keys.iter_mut().zip(offsets) {
        *key = keys::committed(*key, offset);
    }
    let mut made: Vec<[Block; 2]> =
        keys.iter().zip(offsets).map(|(&key, &offset)| [key, offset]).collect();
    hash.accepted(&numbers, &mut made);
    let same = made.iter().zip(opened).all(|(made, &object)| *made == accepted[object]);
    (same && offsets.iter().all(|offset| offset.lsb())).then_some(keys)
}

/// An authenticator in a bucket, as the evaluator has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Authenticator {
    /// Its number in the session.
    pub number: u64,
    /// The hashes of the keys of colour 0 and 1.
    pub accepted: [Block; 2],
    /// Δ ⊕ Δ_ot.
    pub difference: Block,
    /// From the head to this one; zero for the head itself.
    pub soldering: Block,
}

impl Authenticator {
    /// The key of the same value as a key of the head.
    fn key(&self, of_head: Held) -> Block {
        solder::transfer(std::iter::once(of_head), self.soldering, self.difference)
    }

    /// The hash of the key of a colour. Who made the wire knows what value a colour stands for, so
    /// the colour is no index.
    fn accepted_of(&self, colour: bool) -> Block {
        let [zero, one] = self.accepted;
        zero ^ (zero ^ one).select(colour)
    }
}

/// How many keys of a wire are looked at together: the most for which a tweak of the hash serves.
pub(super) const AT_A_TIME: usize = 8;

#[cfg(test)]
thread_local! {
    /// How many keys this thread has looked at.
    pub(super) static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The authenticators of all wires.
#[derive(Clone)]
pub(super) struct Authenticators {
    /// The session in which they were made.
    pub session: [u8; 32],
    /// The hash of the keys that they accept.
    pub hash: KeyHash,
    /// In each bucket.
    pub bucket: usize,
    /// Bucket after bucket.
    pub all: Vec<Authenticator>,
}

impl Authenticators {
    /// The bucket of a wire.
    pub fn of(&self, wire: usize) -> &[Authenticator] {
        &self.all[wire * self.bucket..][..self.bucket]
    }

    /// The head's Δ ⊕ Δ_ot.
    pub fn difference(&self, wire: usize) -> Block {
        self.of(wire)[0].difference
    }

    /// The keys of a wire's authenticators for the same value as a key of the wire.
    fn keys(&self, wire: usize, key: Block) -> impl Iterator<Item = (&Authenticator, Block)> {
        let held = Held { key, difference: self.difference(wire) };
        self.of(wire).iter().map(move |authenticator| (authenticator, authenticator.key(held)))
    }

    /// EvKAs for some keys of one wire, at most [`AT_A_TIME`]: of each, whether more than half
    /// accept it. The time depends on how many keys there are, not on the keys.
    pub fn accept(&self, wire: usize, keys: &[Block]) -> [bool; AT_A_TIME] {
        #[cfg(test)]
        LOOKED_AT.set(LOOKED_AT.get() + keys.len());
        let group = keys.len().next_power_of_two();
        let mut accept = [0; AT_A_TIME];
        let mut hashes = Zeroizing::new([Block::ZERO; HASHED]);
        for bucket in self.of(wire).chunks(HASHED / group) {
            let hashes = &mut hashes[..bucket.len() * group];
            let mut accepted = [Block::ZERO; HASHED];
            let places = hashes.chunks_mut(group).zip(accepted.chunks_mut(group));
            for ((hashes, accepted), authenticator) in places.zip(bucket) {
                for ((hash, accepted), &key) in hashes.iter_mut().zip(accepted).zip(keys) {
                    *hash = authenticator.key(Held { key, difference: self.difference(wire) });
                    *accepted = authenticator.accepted_of(hash.lsb());
                }
            }
            let numbers = bucket.iter().map(|authenticator| authenticator.number);
            self.hash.hash_groups(numbers, group, hashes);
            for (hashes, accepted) in hashes.chunks(group).zip(accepted.chunks(group)) {
                for ((count, hash), accepted) in accept.iter_mut().zip(hashes).zip(accepted) {
                    *count += usize::from(hash.ct_eq(accepted));
                }
            }
        }
        let mut verdicts = accept.map(|count| 2 * count > self.bucket);
        verdicts[keys.len()..].fill(false);
        verdicts
    }

    /// RecoverInputBit: the value of an accepted key of a wire, once Δ_ot is known.
    pub fn value(&self, wire: usize, key: Block, common_offset: Block) -> bool {
        let hash = SelfHash::new(&self.session);
        let is_zero = |(authenticator, key): &(&Authenticator, Block)| {
            let mut zero = [common_offset ^ authenticator.difference];
            hash.hash(&[authenticator.number], &mut zero);
            zero[0].ct_eq(key)
        };
        2 * self.keys(wire, key).filter(is_zero).count() <= self.bucket
    }
}
