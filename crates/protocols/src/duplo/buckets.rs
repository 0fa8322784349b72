//! Buckets: what was not opened, soldered together (PreProcessSub and PreProcessInKA of Appendix
//! A).
//!
//! The heads of the authenticators' buckets are the wires of the program. In the bucket of a slot,
//! the inputs of the first copy are soldered to those of the others, and the outputs of every copy
//! to the heads of the slot's output wires. The garbler sends the tables of these copies now, and
//! the evaluator compares them with the digests that it got before the coin.

use symbolon_primitives::{Block, same_digest};
use symbolon_transport::{Channel, Error, Result};

use super::authenticators::{Authenticator, Authenticators};
use super::check::Draw;
use super::commit::{Claims, Committed, Opening, receive_blocks, send_blocks};
use super::components::{Kind, Slot};
use super::garble::{self, Copy, Table};
use super::keys::KeyHash;
use super::layout::{Layout, Objects};
use super::messages;
use super::solder::{self, Target};

/// Wires whose authenticators go into one message.
const WIRES: usize = 1 << 12;

/// Which objects are where, which both parties know.
pub(super) struct Places {
    pub layout: Layout,
    /// Of each kind.
    pub kinds: Vec<Draw>,
    pub authenticators: Draw,
    /// The bucket of each slot among those of its kind.
    pub bucket_of: Vec<usize>,
}

impl Places {
    /// The head of a wire's authenticators.
    pub fn head(&self, wire: usize) -> Target {
        self.layout.authenticators.target(self.authenticators.head(wire), 0)
    }

    /// The copies in a slot.
    pub fn copies(&self, slot: usize, kind: usize) -> &[u32] {
        self.kinds[kind].bucket(self.bucket_of[slot])
    }

    /// An input of the first copy in a slot.
    pub fn input(&self, slot: usize, kind: usize, input: usize) -> Target {
        let first = self.kinds[kind].head(self.bucket_of[slot]);
        self.layout.kinds[kind].target(first, input)
    }
}

impl Objects {
    /// A key of one object, with its Δ.
    fn target(&self, object: usize, key: usize) -> Target {
        Target { key: self.key(object, key), offset: self.offset(object) }
    }
}

/// A copy of a component in a bucket, as the evaluator has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GarbledCopy {
    /// Its number in the session.
    pub number: u64,
    /// Two half-gates for each AND gate.
    pub table: Table,
    /// Δ ⊕ Δ_ot.
    pub difference: Block,
    /// From the inputs of the first copy; none for the first itself.
    pub inputs: Vec<Block>,
    /// To the heads of the output wires.
    pub outputs: Vec<Block>,
}

/// The garbler solders the authenticators of all wires.
pub(super) fn solder_authenticators(
    channel: &mut Channel,
    opening: &mut Opening<'_>,
    places: &Places,
    wires: usize,
) -> Result<()> {
    let objects = &places.layout.authenticators;
    let mut values = Vec::new();
    for wire in 0..wires {
        let bucket = places.authenticators.bucket(wire);
        for (place, &object) in bucket.iter().enumerate() {
            let target = objects.target(object as usize, 0);
            values.push(solder::difference(opening, target.offset));
            if place > 0 {
                values.push(solder::solder(opening, &[places.head(wire).key], target, false));
            }
        }
        if (wire + 1) % WIRES == 0 || wire + 1 == wires {
            channel
                .tamper_state("duplo: authenticator soldering", Block::as_bytes_mut(&mut values));
            send_blocks(channel, messages::AUTHENTICATOR_SOLDERINGS, &values)?;
            values.clear();
        }
    }
    Ok(())
}

/// The evaluator gets them.
pub(super) fn receive_authenticators(
    channel: &mut Channel,
    claims: &mut Claims<'_>,
    places: &Places,
    wires: usize,
    (session, hash, accepted): (&[u8; 32], KeyHash, &[[Block; 2]]),
) -> Result<Authenticators> {
    let objects = &places.layout.authenticators;
    let bucket = places.authenticators.kept.len().checked_div(wires).unwrap_or(1);
    let mut all = Vec::with_capacity(wires * bucket);
    for first in (0..wires).step_by(WIRES) {
        let part = first..wires.min(first + WIRES);
        let values = receive_blocks(
            channel,
            messages::AUTHENTICATOR_SOLDERINGS,
            part.len() * (2 * bucket - 1),
        )?;
        let mut values = values.into_iter();
        let mut next = || values.next().expect("as many as were asked for");
        for wire in part {
            for (place, &object) in places.authenticators.bucket(wire).iter().enumerate() {
                let target = objects.target(object as usize, 0);
                let difference = next();
                solder::claim_difference(channel, claims, target.offset, difference)?;
                let soldering = if place == 0 { Block::ZERO } else { next() };
                if place > 0 {
                    let head = [places.head(wire).key];
                    solder::claim(claims, &head, target, false, soldering)?;
                }
                all.push(Authenticator {
                    number: objects.number + u64::from(object),
                    accepted: accepted[object as usize],
                    difference,
                    soldering,
                });
            }
        }
    }
    Ok(Authenticators { session: *session, hash, bucket, all })
}

/// The garbler sends the copies of a slot: tables, and solderings.
pub(super) fn send_slot(
    channel: &mut Channel,
    opening: &mut Opening<'_>,
    session: &[u8; 32],
    places: &Places,
    (slot, at, kind): (usize, &Slot, &Kind),
    tables: &mut [Option<Table>],
) -> Result<()> {
    let objects = &places.layout.kinds[at.kind];
    let committed: &Committed = opening.committed();
    for (place, &object) in places.copies(slot, at.kind).iter().enumerate() {
        let object = object as usize;
        let copy = Copy { kind, objects, session, object };
        let table = match tables[object].take() {
            Some(table) => table,
            None => copy.table(committed, channel),
        };
        send_blocks(channel, messages::TABLE, table.as_flattened())?;
        let mut values = vec![solder::difference(opening, objects.offset(object))];
        if place > 0 {
            values.extend((0..kind.inputs()).map(|input| {
                let first = places.input(slot, at.kind, input).key;
                solder::solder(opening, &[first], objects.target(object, input), false)
            }));
        }
        values.extend((0..kind.outputs()).map(|output| {
            let source = objects.key(object, kind.inputs() + output);
            let head = places.head(at.first_output as usize + output);
            solder::solder(opening, &[source], head, false)
        }));
        channel.tamper_state("duplo: component soldering", Block::as_bytes_mut(&mut values));
        send_blocks(channel, messages::COMPONENT_SOLDERINGS, &values)?;
    }
    Ok(())
}

/// The evaluator gets them.
pub(super) fn receive_slot(
    channel: &mut Channel,
    claims: &mut Claims<'_>,
    places: &Places,
    (slot, at, kind): (usize, &Slot, &Kind),
    digests: &[[u8; 32]],
) -> Result<Vec<GarbledCopy>> {
    let objects = &places.layout.kinds[at.kind];
    let mut copies = Vec::new();
    for (place, &object) in places.copies(slot, at.kind).iter().enumerate() {
        let object = object as usize;
        let table = receive_blocks(channel, messages::TABLE, 2 * kind.ands())?;
        let table = table.as_chunks::<2>().0.to_vec();
        if !same_digest(&garble::digest(&table), &digests[object]) {
            return Err(Error::misbehaved(channel.peer(), super::checks::TABLE_DIGEST));
        }
        let from_first = if place > 0 { kind.inputs() } else { 0 };
        let values = receive_blocks(
            channel,
            messages::COMPONENT_SOLDERINGS,
            1 + from_first + kind.outputs(),
        )?;
        let difference = values[0];
        solder::claim_difference(channel, claims, objects.offset(object), difference)?;
        let (inputs, outputs) = values[1..].split_at(from_first);
        for (input, &soldering) in inputs.iter().enumerate() {
            let first = places.input(slot, at.kind, input).key;
            solder::claim(claims, &[first], objects.target(object, input), false, soldering)?;
        }
        for (output, &soldering) in outputs.iter().enumerate() {
            let source = objects.key(object, kind.inputs() + output);
            let head = places.head(at.first_output as usize + output);
            solder::claim(claims, &[source], head, false, soldering)?;
        }
        let number = objects.number + object as u64;
        let (inputs, outputs) = (inputs.to_vec(), outputs.to_vec());
        copies.push(GarbledCopy { number, table, difference, inputs, outputs });
    }
    Ok(copies)
}
