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

use super::commit::{Committed, Received, receive_blocks, send_blocks};
use super::garble::{receive_offsets, send_offsets};
use super::keys::{self, KeyHash};
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
    let mut corrections = Vec::with_capacity(objects.count);
    for object in 0..objects.count {
        let offset = committed.value(objects.offset(object));
        let number = objects.number + object as u64;
        let mut zero = [keys::self_authenticating(session, number, offset)];
        channel.tamper_state("duplo: authenticator key", Block::as_bytes_mut(&mut zero));
        let key = keys::committed(zero[0], offset);
        corrections.push(committed.correct(objects.key(object, 0), key));
    }
    send_blocks(channel, messages::AUTHENTICATOR_KEYS, &corrections)
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
    let accepted = |object: usize| {
        let offset = committed.value(objects.offset(object));
        let key = committed.value(objects.key(object, 0));
        hash.accepted(objects.number + object as u64, key, offset)
    };
    let mut accepted: Vec<[Block; 2]> = (0..objects.count).map(accepted).collect();
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

/// VerInKeyAuth of the evaluator, for an opened authenticator: what must be committed to as its
/// key. Nothing if Δ does not end in 1, or it accepts other keys.
pub(super) fn verify(
    session: &[u8; 32],
    number: u64,
    offset: Block,
    hash: &KeyHash,
    accepted: &[Block; 2],
) -> Option<Block> {
    let key = keys::committed(keys::self_authenticating(session, number, offset), offset);
    let same = hash.accepted(number, key, offset) == *accepted;
    (offset.lsb() && same).then_some(key)
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
        let bucket = self.of(wire);
        let held = Held { key, difference: bucket[0].difference };
        bucket.iter().enumerate().map(move |(place, authenticator)| {
            let key = if place == 0 {
                key
            } else {
                let source = std::iter::once(held);
                solder::transfer(source, authenticator.soldering, authenticator.difference)
            };
            (authenticator, key)
        })
    }

    /// EvKAs for one key: whether more than half accept it.
    pub fn accept(&self, wire: usize, key: Block) -> bool {
        let accepts = |(authenticator, key): &(&Authenticator, Block)| {
            let accepted = authenticator.accepted[usize::from(key.lsb())];
            self.hash.hash(authenticator.number, *key).ct_eq(&accepted)
        };
        2 * self.keys(wire, key).filter(accepts).count() > self.bucket
    }

    /// RecoverInputBit: the value of an accepted key of a wire, once Δ_ot is known.
    pub fn value(&self, wire: usize, key: Block, common_offset: Block) -> bool {
        let is_zero = |(authenticator, key): &(&Authenticator, Block)| {
            let offset = common_offset ^ authenticator.difference;
            keys::self_authenticating(&self.session, authenticator.number, offset).ct_eq(key)
        };
        2 * self.keys(wire, key).filter(is_zero).count() <= self.bucket
    }
}
