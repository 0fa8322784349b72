//! Authenticators of keys: GenInKeyAuth, VerInKeyAuth and EvKAs of Appendix A.
//!
//! An authenticator has a Δ and, for each wire of a *bundle*, a key of its own, all of them
//! committed. It accepts the two keys of each of its wires by their hashes. Every bundle has a
//! bucket of authenticators. The first of them is the *head*: its keys are the keys of the wires,
//! and its Δ is theirs. A key is accepted if more than half of the bucket accept it.
//!
//! In the paper a bundle is a single wire. An authenticator is good only if it is good for all of
//! its wires, so the game is the same, with fewer and larger buckets. Its Δ is committed, opened
//! and soldered once for all of them, like that of a component (`params` chooses what is cheapest).
//!
//! The evaluator's inputs have no authenticators: see `inputs`.
//!
//! **All are self-authenticating**, K^0 = H(Δ): those of inputs, as in Appendix A (§5.2 has K^0 =
//! H(Δ) ⊕ Δ, which is the same with the values swapped), and those of the components' outputs as
//! well, so that the evaluator can return the garbler's outputs after a recovery. One kind for all
//! also means one game with more, smaller buckets. `docs/proofs/duplo.md` has the argument.
//!
//! Departure: `duplo`: authenticators | one for each wire; K^0 = H(Δ) on inputs only; outputs share
//! a Δ; any hash | one for each bundle of wires, with K^0 = H(Δ) for each wire and a Δ of its own;
//! none on inputs of the evaluator, whose keys are opened; the hash of garbling, started by a coin
//! after all keys | the evaluator can tell both keys of any wire apart; a third key is found with
//! 2^-127 for each call of the cipher (`docs/proofs/duplo.md#one-kind-of-authenticator`)

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
use super::solder::{self, KeyAndDifference};

/// How many blocks one message carries: few enough to stay in a core's cache until they are
/// processed.
const PIECE: usize = 1 << 14;

/// Returns the numbers of the keys of some authenticators: the tweaks of their hashes.
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

/// Returns the number of one key.
pub(super) fn number(objects: &Objects, object: usize, key: usize) -> u64 {
    (objects.number + object as u64) * MOST_WIRES as u64 + key as u64
}

/// Divides all authenticators into runs that fill a message, with `blocks` blocks for each key.
fn pieces(
    objects: &Objects,
    keys: usize,
    blocks: usize,
) -> impl Iterator<Item = std::ops::Range<usize>> {
    let (count, step) = (objects.count, PIECE / (keys * blocks));
    (0..count).step_by(step).map(move |first| first..count.min(first + step))
}

/// Divides authenticators into runs whose keys are hashed together.
fn runs(
    which: std::ops::Range<usize>,
    keys: usize,
) -> impl Iterator<Item = std::ops::Range<usize>> {
    let step = HASHED / keys;
    which.clone().step_by(step).map(move |first| first..which.end.min(first + step))
}

/// The garbler makes all authenticators, except for the hashes.
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

/// The evaluator records the corrections of the authenticators' keys.
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

/// The garbler sends the hashes that each authenticator accepts. The hash is keyed by a coin that
/// is tossed after all keys are fixed.
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

/// The hashes that the authenticators accept: two for each key of each authenticator.
pub(super) type Accepted = HugeBuf<[Block; 2]>;

/// The evaluator receives the accepted hashes.
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

/// VerInKeyAuth of the evaluator, for opened authenticators whose Δ are `offsets`, with at most
/// [`HASHED`] keys. Returns the committed values that their keys must have, one authenticator after
/// another. Returns `None` if a Δ does not end in 1 or an authenticator accepts other keys.
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

/// An authenticator of one wire in a bucket, as the evaluator holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Authenticator {
    /// The number of its key in the session.
    pub number: u64,
    /// The hashes of the keys of colour 0 and 1.
    pub accepted: [Block; 2],
    /// Δ ⊕ Δ_ot.
    pub difference: Block,
    /// The soldering from the head to this authenticator; zero for the head itself.
    pub soldering: Block,
}

impl Authenticator {
    /// Returns the key of the same value as a key of the head.
    fn key(&self, of_head: KeyAndDifference) -> Block {
        solder::transfer(std::iter::once(of_head), self.soldering, self.difference)
    }

    /// Returns the accepted hash of the key of a colour. The maker of a wire knows which value each
    /// colour encodes, so the colour is not used as an index.
    fn accepted_of(&self, colour: bool) -> Block {
        let [zero, one] = self.accepted;
        zero ^ (zero ^ one).select(colour)
    }
}

/// How many keys of a wire are checked together: the most that one tweak of the hash can serve.
pub(super) const AT_A_TIME: usize = 8;

/// The authenticators of all wires that have some, or of a selection of them.
#[derive(Clone)]
pub(super) struct Authenticators {
    /// The session in which they were made.
    pub session: [u8; 32],
    /// How many authenticators are in each bucket.
    pub bucket: usize,
    /// The carriers of the program's wires.
    carriers: Arc<[Carrier]>,
    which: Which,
    /// For each wire, the hash of the keys that its authenticators accept.
    hashes: Vec<KeyHash>,
    /// The authenticators, wire after wire.
    all: Vec<Authenticator>,
}

/// The place of a wire whose authenticators are not in the list.
const ABSENT: u32 = u32::MAX;

/// The wires whose authenticators are in the list.
#[derive(Clone)]
enum Which {
    /// The wire with this number among those that have authenticators, and those after it.
    From(u32),
    /// Some wires: the place of each, or [`ABSENT`].
    Some(Vec<u32>),
}

impl Authenticators {
    /// Returns an empty list for the authenticators of all wires, which must be added in order.
    pub fn of_all(session: [u8; 32], bucket: usize, carriers: Arc<[Carrier]>) -> Authenticators {
        let (hashes, all) = Default::default();
        Authenticators { session, bucket, carriers, which: Which::From(0), hashes, all }
    }

    /// Returns an empty list for the same program's wires from `wire` on, which must be added in
    /// order.
    pub fn starting_at(&self, wire: usize) -> Authenticators {
        let Authenticators { session, bucket, ref carriers, .. } = *self;
        let first = match carriers.get(wire) {
            Some(&Carrier::Authenticated(number)) => number,
            _ => 0,
        };
        let all = Authenticators::of_all(session, bucket, carriers.clone());
        Authenticators { which: Which::From(first), ..all }
    }

    /// Returns an empty list for any of the wires, in any order.
    pub fn of_some(session: [u8; 32], bucket: usize, carriers: Arc<[Carrier]>) -> Authenticators {
        let which = Which::Some(vec![ABSENT; carriers.len()]);
        Authenticators { which, ..Authenticators::of_all(session, bucket, carriers) }
    }

    /// Returns the authenticators of some wires alone.
    pub fn only(&self, wires: impl Iterator<Item = usize>) -> Authenticators {
        let Authenticators { session, bucket, ref carriers, .. } = *self;
        let mut some = Authenticators::of_some(session, bucket, carriers.clone());
        wires.for_each(|wire| some.add_from(wire, self));
        some
    }

    /// Adds the authenticators of a wire that has some.
    pub fn add(&mut self, wire: usize, hash: KeyHash, own: &[Authenticator]) {
        let place = self.hashes.len();
        if let Which::Some(places) = &mut self.which {
            places[wire] = place as u32;
        }
        self.hashes.push(hash);
        self.all.extend_from_slice(own);
    }

    /// Adds the authenticators of a wire from another list, if that list has them.
    pub fn add_from(&mut self, wire: usize, from: &Authenticators) {
        if let Some(place) = from.place(wire) {
            self.add(wire, from.hashes[place].clone(), from.of(wire));
        }
    }

    /// Returns the place of a wire's authenticators, if they are in the list.
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

    /// Returns the authenticators of a wire; none if they are not in the list.
    pub fn of(&self, wire: usize) -> &[Authenticator] {
        let bucket = self.bucket;
        self.place(wire).map_or(&[], |place| &self.all[place * bucket..][..bucket])
    }

    /// Returns the hash of the keys that a wire's authenticators accept, if they are in the list.
    pub fn hash(&self, wire: usize) -> Option<&KeyHash> {
        self.place(wire).map(|place| &self.hashes[place])
    }

    /// Whether a wire's keys are opened instead of authenticated.
    pub fn is_open(&self, wire: usize) -> bool {
        matches!(self.carriers[wire], Carrier::OwnInput(_))
    }

    /// Returns the wire's Δ ⊕ Δ_ot.
    pub fn difference(&self, wire: usize) -> Block {
        self.of(wire).first().map_or(Block::ZERO, |head| head.difference)
    }

    /// Returns each authenticator of a wire with its key for the same value as `key`.
    fn keys(&self, wire: usize, key: Block) -> impl Iterator<Item = (&Authenticator, Block)> {
        let source = KeyAndDifference { key, difference: self.difference(wire) };
        self.of(wire).iter().map(move |authenticator| (authenticator, authenticator.key(source)))
    }

    /// EvKAs for at most [`AT_A_TIME`] keys of one wire: returns for each key whether more than
    /// half of the authenticators accept it. The time depends on the number of keys, not on the
    /// keys.
    ///
    /// Paper: KNRTT17, EvKAs | whether a key is accepted
    pub fn accept(&self, wire: usize, keys: &[Block]) -> [bool; AT_A_TIME] {
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
                    *hash = authenticator
                        .key(KeyAndDifference { key, difference: self.difference(wire) });
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

    /// RecoverInputBit: returns the value of an accepted key of a wire, once Δ_ot is known.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the authenticators of one wire.
    fn of_one_wire(session: [u8; 32], hash: KeyHash, own: &[Authenticator]) -> Authenticators {
        let carriers: Arc<[Carrier]> = Arc::from([Carrier::Authenticated(0)]);
        let mut all = Authenticators::of_all(session, own.len(), carriers);
        all.add(0, hash, own);
        all
    }

    /// In buckets of all sizes, however many of their authenticators accept one of the keys. No
    /// authenticator accepts the others.
    #[test]
    fn a_key_is_accepted_by_more_than_half_of_a_bucket() {
        let (hash, keys) = (KeyHash::from_block(Block(3)), [10, 11, 12].map(Block));
        for bucket in 1..=9 {
            for accepting in 0..=bucket {
                let one = |place: usize| {
                    let (number, mut of_key) = (place as u64, [keys[1]]);
                    hash.hash_groups(std::iter::once(number), 1, &mut of_key);
                    let wrong = Block(u128::from(place >= accepting));
                    let accepted = [of_key[0] ^ wrong; 2];
                    Authenticator { number, accepted, ..Authenticator::default() }
                };
                let own: Vec<Authenticator> = (0..bucket).map(one).collect();
                let verdicts = of_one_wire([0; 32], hash.clone(), &own).accept(0, &keys);
                let mut expected = [false; AT_A_TIME];
                expected[1] = 2 * accepting > bucket;
                assert_eq!(verdicts, expected, "{accepting} of {bucket}");
            }
        }
    }

    /// In buckets of all sizes, however many of their authenticators take a key for that of 0.
    #[test]
    fn a_key_is_that_of_0_for_more_than_half_of_a_bucket() {
        let (session, offset, key) = ([5; 32], Block(77), Block(1000));
        for bucket in 1..=9 {
            for zeros in 0..=bucket {
                let one = |place: usize| {
                    let (number, mut own) = (place as u64, [offset]);
                    SelfHash::new(&session).hash(std::iter::once(number), &mut own);
                    let soldering = key ^ own[0] ^ offset.select(place >= zeros);
                    Authenticator { number, soldering, ..Authenticator::default() }
                };
                let own: Vec<Authenticator> = (0..bucket).map(one).collect();
                let all = of_one_wire(session, KeyHash::from_block(Block(3)), &own);
                assert_eq!(all.value(0, key, offset), 2 * zeros <= bucket, "{zeros} of {bucket}");
            }
        }
    }
}
