//! Authenticators of keys: GenInKeyAuth, VerInKeyAuth and EvKAs of Appendix A.
//!
//! An authenticator has a Δ and a key of its own for each wire of a *bundle*, all committed to, and
//! accepts the two keys of each of its wires by their hashes. Every bundle has a bucket of them;
//! the first one's keys, those of the *head*, are the keys of the wires, and its Δ is theirs. A key
//! is accepted when more than half of the bucket accept it.
//!
//! In the paper a bundle is a wire. An authenticator is good if it is for all of its wires, so the
//! game is the same, with fewer and larger buckets. The Δ is committed to, opened and soldered once
//! for all, as that of a component is (`params` chooses what is cheapest).
//!
//! Inputs of the evaluator have no authenticators: `inputs`.
//!
//! **All are self-authenticating**, K^0 = H(Δ): those of inputs, as Appendix A has it (§5.2 says
//! K^0 = H(Δ) ⊕ Δ, which is the same with the values swapped), and those of the components' outputs
//! as well. The paper has another kind there, with which the evaluator, once it knows Δ, knows both
//! keys of a wire but not which is which; so it could not answer for the garbler's outputs after a
//! recovery. One kind for all means one game with more buckets, which are smaller.
//!
//! Departure: `duplo`: authenticators | one for each wire; K^0 = H(Δ) on inputs only; outputs share
//! a Δ; any hash | one for each bundle of wires, with K^0 = H(Δ) for each wire and a Δ of its own;
//! none on inputs of the evaluator, whose keys are opened; the hash of garbling, started by a coin
//! after all keys | the evaluator can tell both keys of any wire apart; a third key is found with
//! 2^-127 for each call of the cipher

use std::sync::Arc;

use symbolon_primitives::{Block, HugeBuf};
use symbolon_transport::{Channel, Result};
use zeroize::Zeroizing;

use super::commit::{Committed, Received, receive_blocks_into, send_blocks};
use super::garble::{receive_offsets, send_offsets};
use super::keys::{self, HASHED, KeyHash, SelfHash};
use super::layout::Objects;
use super::messages;
use super::params::MOST_WIRES;
use super::program::Carrier;
use super::solder::{self, Held};

/// Blocks in a message: few enough that they stay in a core's cache until they are dealt with.
const PIECE: usize = 1 << 14;

/// The numbers of the keys of some authenticators, each in a hash of its own.
fn numbers(
    objects: &Objects,
    keys: usize,
    which: impl Iterator<Item = usize>,
) -> impl Iterator<Item = u64> {
    let first = objects.number;
    which.flat_map(move |object| {
        let number = (first + object as u64) * MOST_WIRES as u64;
        number..number + keys as u64
    })
}

/// The number of one key.
pub(super) fn number(objects: &Objects, object: usize, key: usize) -> u64 {
    (objects.number + object as u64) * MOST_WIRES as u64 + key as u64
}

/// All authenticators, in runs whose `blocks` for each key fill a message.
fn pieces(
    objects: &Objects,
    keys: usize,
    blocks: usize,
) -> impl Iterator<Item = std::ops::Range<usize>> {
    let (count, step) = (objects.count, PIECE / (keys * blocks));
    (0..count).step_by(step).map(move |first| first..count.min(first + step))
}

/// The same in runs whose keys are hashed together.
fn runs(
    which: std::ops::Range<usize>,
    keys: usize,
) -> impl Iterator<Item = std::ops::Range<usize>> {
    let step = HASHED / keys;
    which.clone().step_by(step).map(move |first| first..which.end.min(first + step))
}

/// The garbler makes all authenticators, but for the hashes.
///
/// Paper: KNRTT17, GenInKeyAuth, VerInKeyAuth | authenticators
pub(super) fn commit_all(
    channel: &mut Channel,
    committed: &mut Committed,
    session: &[u8; 32],
    (objects, keys): (&Objects, usize),
) -> Result<()> {
    send_offsets(channel, committed, objects)?;
    let hash = SelfHash::new(session);
    let mut corrections = Vec::with_capacity(PIECE);
    for piece in pieces(objects, keys, 1) {
        for run in runs(piece, keys) {
            let mut zeros = Zeroizing::new([Block::ZERO; HASHED]);
            let zeros = &mut zeros[..run.len() * keys];
            for (zeros, object) in zeros.chunks_mut(keys).zip(run.clone()) {
                zeros.fill(committed.value(objects.offset(object)));
            }
            hash.hash(numbers(objects, keys, run.clone()), zeros);
            for (zeros, object) in zeros.chunks_mut(keys).zip(run) {
                let offset = committed.value(objects.offset(object));
                for (key, zero) in zeros.chunks_mut(1).enumerate() {
                    channel.tamper_state("duplo: authenticator key", Block::as_bytes_mut(zero));
                    let value = keys::committed(zero[0], offset);
                    corrections.push(committed.correct(objects.key(object, key), value));
                }
            }
        }
        send_blocks(channel, messages::AUTHENTICATOR_KEYS, &corrections)?;
        corrections.clear();
    }
    Ok(())
}

/// The evaluator takes note of them.
pub(super) fn receive_all(
    channel: &mut Channel,
    received: &mut Received,
    (objects, keys): (&Objects, usize),
) -> Result<()> {
    receive_offsets(channel, received, objects)?;
    let mut corrections = vec![Block::ZERO; PIECE];
    for piece in pieces(objects, keys, 1) {
        let corrections = &mut corrections[..piece.len() * keys];
        receive_blocks_into(channel, messages::AUTHENTICATOR_KEYS, corrections)?;
        for (object, corrections) in piece.zip(corrections.chunks(keys)) {
            for (key, &correction) in corrections.iter().enumerate() {
                received.correct(objects.key(object, key), correction);
            }
        }
    }
    Ok(())
}

/// The garbler sends what each authenticator accepts, by a hash whose key was drawn after all keys
/// were fixed.
///
/// Paper: KNRTT17, GenInKeyAuth, VerInKeyAuth
pub(super) fn send_accepted(
    channel: &mut Channel,
    committed: &Committed,
    hash: &KeyHash,
    (objects, keys): (&Objects, usize),
) -> Result<()> {
    let mut accepted = Vec::with_capacity(PIECE / 2);
    for piece in pieces(objects, keys, 2) {
        accepted.clear();
        for run in runs(piece, keys) {
            let first = accepted.len();
            accepted.extend(run.clone().flat_map(|object| {
                let offset = committed.value(objects.offset(object));
                (0..keys).map(move |key| [committed.value(objects.key(object, key)), offset])
            }));
            hash.accepted(numbers(objects, keys, run), &mut accepted[first..]);
        }
        let blocks = accepted.as_flattened_mut();
        channel.tamper_state("duplo: accepted", Block::as_bytes_mut(blocks));
        send_blocks(channel, messages::ACCEPTED, blocks)?;
    }
    Ok(())
}

/// The hashes that all authenticators accept, of each key of each.
pub(super) type Accepted = HugeBuf<[Block; 2]>;

/// The evaluator gets them.
pub(super) fn receive_accepted(
    channel: &mut Channel,
    (objects, keys): (&Objects, usize),
) -> Result<Accepted> {
    let mut accepted = HugeBuf::public(keys * objects.count);
    for piece in pieces(objects, keys, 2) {
        let place = &mut accepted[keys * piece.start..keys * piece.end];
        receive_blocks_into(channel, messages::ACCEPTED, place.as_flattened_mut())?;
    }
    Ok(accepted)
}

/// VerInKeyAuth of the evaluator, for some opened authenticators whose Δ are `offsets`, with at
/// most [`HASHED`] keys: what must be committed to as their keys, one authenticator's after the
/// other's. Nothing if a Δ does not end in 1, or one accepts other keys.
///
/// Paper: KNRTT17, GenInKeyAuth, VerInKeyAuth
pub(super) fn verify(
    (own, hash): (&SelfHash, &KeyHash),
    (objects, keys): (&Objects, usize),
    opened: &[usize],
    offsets: &[Block],
    accepted: &[[Block; 2]],
) -> Option<Vec<Block>> {
    let numbers = || numbers(objects, keys, opened.iter().copied());
    let offset_of_key = || offsets.iter().flat_map(|&offset| std::iter::repeat_n(offset, keys));
    let mut made: Vec<Block> = offset_of_key().collect();
    own.hash(numbers(), &mut made);
    for (key, offset) in made.iter_mut().zip(offset_of_key()) {
        *key = keys::committed(*key, offset);
    }
    let mut pairs: Vec<[Block; 2]> =
        made.iter().zip(offset_of_key()).map(|(&key, offset)| [key, offset]).collect();
    hash.accepted(numbers(), &mut pairs);
    let mut each = pairs.chunks(keys).zip(opened);
    let same = each.all(|(made, &object)| *made == accepted[keys * object..keys * (object + 1)]);
    (same && offsets.iter().all(|offset| offset.lsb())).then_some(made)
}

/// An authenticator of one wire in a bucket, as the evaluator has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Authenticator {
    /// The number of its key in the session.
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

/// The authenticators of wires: of all that have some, or of some of these.
#[derive(Clone)]
pub(super) struct Authenticators {
    /// The session in which they were made.
    pub session: [u8; 32],
    /// In each bucket.
    pub bucket: usize,
    /// Of the wires of the program.
    carriers: Arc<[Carrier]>,
    which: Which,
    /// The hash of the keys that each wire's accept.
    hashes: Vec<KeyHash>,
    /// One wire's after the other's.
    all: Vec<Authenticator>,
}

/// The place of a wire whose authenticators are not there.
const ABSENT: u32 = u32::MAX;

/// The wires whose authenticators are there.
#[derive(Clone)]
enum Which {
    /// The one of this number among those that have some, and those that follow.
    From(u32),
    /// Some wires, each at its place; [`ABSENT`] for the others.
    Some(Vec<u32>),
}

impl Authenticators {
    /// Those of all wires, none of which is there yet: they are added in order.
    pub fn of_all(session: [u8; 32], bucket: usize, carriers: Arc<[Carrier]>) -> Authenticators {
        let (hashes, all) = Default::default();
        Authenticators { session, bucket, carriers, which: Which::From(0), hashes, all }
    }

    /// Those of the same program's wires from this one on, none of which is there yet.
    pub fn starting_at(&self, wire: usize) -> Authenticators {
        let Authenticators { session, bucket, ref carriers, .. } = *self;
        let first = match carriers.get(wire) {
            Some(&Carrier::Authenticated(number)) => number,
            _ => 0,
        };
        let all = Authenticators::of_all(session, bucket, carriers.clone());
        Authenticators { which: Which::From(first), ..all }
    }

    /// Those of any of the wires, none of which is there yet.
    pub fn of_some(session: [u8; 32], bucket: usize, carriers: Arc<[Carrier]>) -> Authenticators {
        let which = Which::Some(vec![ABSENT; carriers.len()]);
        Authenticators { which, ..Authenticators::of_all(session, bucket, carriers) }
    }

    /// Those of some wires alone.
    pub fn only(&self, wires: impl Iterator<Item = usize>) -> Authenticators {
        let Authenticators { session, bucket, ref carriers, .. } = *self;
        let mut some = Authenticators::of_some(session, bucket, carriers.clone());
        wires.for_each(|wire| some.add_from(wire, self));
        some
    }

    /// Adds those of a wire that has some.
    pub fn add(&mut self, wire: usize, hash: KeyHash, own: &[Authenticator]) {
        let place = self.hashes.len();
        if let Which::Some(places) = &mut self.which {
            places[wire] = place as u32;
        }
        self.hashes.push(hash);
        self.all.extend_from_slice(own);
    }

    /// Adds those of a wire, if there are some, from elsewhere.
    pub fn add_from(&mut self, wire: usize, from: &Authenticators) {
        if let Some(place) = from.place(wire) {
            self.add(wire, from.hashes[place].clone(), from.of(wire));
        }
    }

    /// Where those of a wire are.
    fn place(&self, wire: usize) -> Option<usize> {
        let Carrier::Authenticated(number) = self.carriers[wire] else { return None };
        match &self.which {
            Which::From(first) => {
                let place = number.checked_sub(*first)? as usize;
                (place < self.hashes.len()).then_some(place)
            }
            Which::Some(places) => {
                let place = places[wire];
                (place != ABSENT).then_some(place as usize)
            }
        }
    }

    /// The authenticators of a wire.
    pub fn of(&self, wire: usize) -> &[Authenticator] {
        let bucket = self.bucket;
        self.place(wire).map_or(&[], |place| &self.all[place * bucket..][..bucket])
    }

    /// The hash of the keys that a wire's authenticators accept, if it has some.
    pub fn hash(&self, wire: usize) -> Option<&KeyHash> {
        self.place(wire).map(|place| &self.hashes[place])
    }

    /// Whether a wire's keys are opened, and not authenticated.
    pub fn is_open(&self, wire: usize) -> bool {
        matches!(self.carriers[wire], Carrier::OwnInput(_))
    }

    /// The wire's Δ ⊕ Δ_ot.
    pub fn difference(&self, wire: usize) -> Block {
        self.of(wire).first().map_or(Block::ZERO, |head| head.difference)
    }

    /// The keys of a wire's authenticators for the same value as a key of the wire.
    fn keys(&self, wire: usize, key: Block) -> impl Iterator<Item = (&Authenticator, Block)> {
        let held = Held { key, difference: self.difference(wire) };
        self.of(wire).iter().map(move |authenticator| (authenticator, authenticator.key(held)))
    }

    /// EvKAs for some keys of one wire, at most [`AT_A_TIME`]: of each, whether more than half
    /// accept it. The time depends on how many keys there are, not on the keys.
    ///
    /// Paper: KNRTT17, EvKAs | whether a key is accepted
    pub fn accept(&self, wire: usize, keys: &[Block]) -> [bool; AT_A_TIME] {
        #[cfg(test)]
        LOOKED_AT.set(LOOKED_AT.get() + keys.len());
        let group = keys.len().next_power_of_two();
        let mut accept = [0; AT_A_TIME];
        let Some(key_hash) = self.hash(wire) else { return [false; AT_A_TIME] };
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
            key_hash.hash_groups(numbers, group, hashes);
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
    ///
    /// Paper: KNRTT17, RecoverInputBit | the value of a key
    pub fn value(&self, wire: usize, key: Block, common_offset: Block) -> bool {
        let hash = SelfHash::new(&self.session);
        let is_zero = |(authenticator, key): &(&Authenticator, Block)| {
            let mut zero = [common_offset ^ authenticator.difference];
            hash.hash(std::iter::once(authenticator.number), &mut zero);
            zero[0].ct_eq(key)
        };
        2 * self.keys(wire, key).filter(is_zero).count() <= self.bucket
    }
}
