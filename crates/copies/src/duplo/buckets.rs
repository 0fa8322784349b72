//! Buckets: the objects that were not opened are soldered together (PreProcessSub and
//! PreProcessInKA of Appendix A).
//!
//! The wires of the program are the heads of the authenticators' buckets. In the bucket of a slot,
//! the inputs of the first copy are soldered to those of the other copies, and the outputs of every
//! copy to the heads of the slot's output wires. The garbler now sends the tables of these copies,
//! and the evaluator compares them with the digests that it received before the coin.
//!
//! Departure: `duplo`: tables sent early | an adaptively secure scheme | half-gates; the outputs'
//! meaning is opened after the inputs are fixed | tables and labels are simulated without inputs
//! (`docs/proofs/duplo.md#tables-that-are-sent-early`)

use std::ops::Range;

use symbolon_circuit::components::{Kind, Slot};
use symbolon_primitives::{Block, HugeBuf, prefetch, same_digest};
use symbolon_transport::{Channel, Error, Result};

use super::authenticators::{self, Authenticator, Authenticators};
use super::check::Draw;
use super::commit::{Claims, Id, Opening, receive_blocks, receive_blocks_into, send_blocks};
use super::garble::{self, Copy, HalfGates};
use super::keys::KeyHash;
use super::layout::{COMMON_OFFSET, Layout, Objects};
use super::messages;
use super::program::{Carrier, Program};
use super::solder::{self, Target};

/// How many authenticators ahead memory is prefetched: they are at random places.
const AHEAD: usize = 8;

/// How many bundles of authenticators one message carries.
const BUNDLES: usize = 1 << 9;

/// How many bytes of tables may wait in the channel: what the evaluator needs to keep going, in
/// memory that the channel reuses.
const BACKLOG: usize = 6 << 20;

/// Where all objects are. Both parties know this.
pub(super) struct Drawn {
    pub layout: Layout,
    /// The draw of each kind.
    pub kinds: Vec<Draw>,
    pub authenticators: Draw,
    /// For each slot of a preparation, its bucket among those of its kind.
    pub bucket_of: Vec<usize>,
    /// How many slots of each kind a preparation has.
    pub counts: Vec<usize>,
}

/// One preparation of a program. Its wires and slots are numbered as in the program; its objects
/// follow those of earlier preparations.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub program: &'a Program,
    pub drawn: &'a Drawn,
    pub preparation: usize,
}

impl<'a> View<'a> {
    /// Returns the authenticators of a bundle.
    fn bundle(&self, bundle: usize) -> &'a [u32] {
        let drawn = self.drawn;
        drawn.authenticators.bucket(self.preparation * drawn.layout.bundles + bundle)
    }

    /// Returns the authenticators of this preparation's bundles and of all later ones, in order.
    fn authenticators(&self) -> impl Iterator<Item = usize> + use<'a> {
        let draw = &self.drawn.authenticators;
        let first = self.preparation * self.drawn.layout.bundles * draw.size();
        draw.kept[first..].iter().map(|&object| object as usize)
    }

    /// Returns how many wires are in a bundle: the last one may not be full.
    fn wires(&self, bundle: usize) -> usize {
        let most = self.drawn.layout.bundle;
        self.program.authenticated().saturating_sub(bundle * most).min(most)
    }

    /// Returns the commitments of a wire: those of the head of its authenticators, if it has some.
    pub fn head(&self, wire: usize) -> Target {
        let layout = &self.drawn.layout;
        match self.program.carriers[wire] {
            Carrier::Authenticated(number) => {
                let (bundle, key) =
                    (number as usize / layout.bundle, number as usize % layout.bundle);
                layout.authenticators.target(self.bundle(bundle)[0] as usize, key)
            }
            Carrier::OwnInput(input) => {
                let first =
                    layout.own_inputs + (self.preparation * self.program.inputs[1].len()) as Id;
                Target { key: first + input, offset: COMMON_OFFSET }
            }
        }
    }

    /// Returns a slot, its kind of component, and the copies of this kind.
    pub fn slot(&self, slot: usize) -> (&'a Slot, &'a Kind, &'a Objects) {
        let at = &self.program.graph.slots[slot];
        (at, &self.program.graph.kinds[at.kind], &self.drawn.layout.kinds[at.kind])
    }

    /// Returns the copies in a slot.
    pub fn copies(&self, slot: usize) -> &'a [u32] {
        let kind = self.program.graph.slots[slot].kind;
        let first = self.preparation * self.drawn.counts[kind];
        self.drawn.kinds[kind].bucket(first + self.drawn.bucket_of[slot])
    }

    /// Returns the commitments of an input of the first copy in a slot.
    pub fn input(&self, slot: usize, input: usize) -> Target {
        let (_, _, objects) = self.slot(slot);
        objects.target(self.copies(slot)[0] as usize, input)
    }

    /// Returns the range of the transfers of the evaluator's inputs.
    pub fn transfers(&self) -> std::ops::Range<usize> {
        let n = self.program.inputs[1].len();
        self.preparation * n..(self.preparation + 1) * n
    }
}

impl Objects {
    /// Returns the commitments to a key of an object and to its Δ.
    fn target(&self, object: usize, key: usize) -> Target {
        Target { key: self.key(object, key), offset: self.offset(object) }
    }
}

/// A copy of a component in a bucket, as the evaluator holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GarbledCopy {
    /// Its number in the session.
    pub number: u64,
    /// Where its table is among those of all copies.
    pub table: Range<usize>,
    /// Δ ⊕ Δ_ot.
    pub difference: Block,
    /// The solderings from the inputs of the first copy; empty for the first copy itself.
    pub inputs: Vec<Block>,
    /// The solderings to the heads of the output wires.
    pub outputs: Vec<Block>,
}

/// The garbler solders the authenticators of all wires.
///
/// Paper: KNRTT17, PreProcessInKA | buckets of authenticators
pub(super) fn solder_authenticators(
    channel: &mut Channel,
    opening: &mut Opening<'_>,
    view: View<'_>,
) -> Result<()> {
    let Layout { bundle: most, bundles, authenticators: ref objects, .. } = view.drawn.layout;
    let mut values = Vec::new();
    let mut ahead = view.authenticators().skip(AHEAD);
    for bundle in 0..bundles {
        let objects_of_bundle = view.bundle(bundle);
        let head = objects_of_bundle[0] as usize;
        for (place, &object) in objects_of_bundle.iter().enumerate() {
            if let Some(next) = ahead.next() {
                let committed = opening.committed();
                committed.prefetch(objects.offset(next)..=objects.key(next, most - 1));
            }
            let object = object as usize;
            values.push(solder::difference(opening, objects.offset(object)));
            if place > 0 {
                values.extend((0..view.wires(bundle)).map(|key| {
                    let source = [objects.key(head, key)].into_iter();
                    solder::solder(opening, source, objects.target(object, key), false)
                }));
            }
        }
        if (bundle + 1) % BUNDLES == 0 || bundle + 1 == bundles {
            channel
                .tamper_state("duplo: authenticator soldering", Block::as_bytes_mut(&mut values));
            send_blocks(channel, messages::AUTHENTICATOR_SOLDERINGS, &values)?;
            values.clear();
        }
    }
    Ok(())
}

/// The evaluator receives the solderings and returns the authenticators of all wires.
///
/// Paper: KNRTT17, PreProcessInKA
pub(super) fn receive_authenticators(
    channel: &mut Channel,
    claims: &mut Claims<'_>,
    view: View<'_>,
    (session, hash, accepted): (&[u8; 32], KeyHash, &[[Block; 2]]),
) -> Result<Authenticators> {
    let Layout { bundle: most, bundles, authenticators: ref objects, .. } = view.drawn.layout;
    let bucket = view.drawn.authenticators.size();
    let carriers = view.program.carriers.clone();
    let mut all = Authenticators::of_all(*session, bucket, carriers);
    let (mut wire, mut own) = (view.program.authenticated_wires(), Vec::with_capacity(bucket));
    let mut ahead = view.authenticators().skip(AHEAD);
    for first in (0..bundles).step_by(BUNDLES) {
        let group = first..bundles.min(first + BUNDLES);
        let blocks = |bundle: usize| bucket + (bucket - 1) * view.wires(bundle);
        let n = group.clone().map(blocks).sum();
        let values = receive_blocks(channel, messages::AUTHENTICATOR_SOLDERINGS, n)?;
        let mut rest = &values[..];
        for bundle in group {
            let (values, later) = rest.split_at(blocks(bundle));
            rest = later;
            let objects_of_bundle = view.bundle(bundle);
            let (head, wires) = (objects_of_bundle[0] as usize, view.wires(bundle));
            // The head has only its difference; each other authenticator has its solderings as
            // well.
            let of_object = |place: usize| match place {
                0 => &values[..1],
                _ => &values[1 + (place - 1) * (1 + wires)..][..1 + wires],
            };
            for (place, &object) in objects_of_bundle.iter().enumerate() {
                if let Some(next) = ahead.next() {
                    claims.received().prefetch(objects.offset(next)..=objects.key(next, most - 1));
                    accepted[most * next..most * (next + 1)].iter().for_each(prefetch);
                }
                let (object, of_object) = (object as usize, of_object(place));
                solder::claim_difference(channel, claims, objects.offset(object), of_object[0])?;
                for (key, &soldering) in of_object[1..].iter().enumerate() {
                    let source = [objects.key(head, key)].into_iter();
                    let target = objects.target(object, key);
                    solder::claim(claims, source, target, false, soldering);
                }
            }
            for key in 0..wires {
                own.clear();
                own.extend(objects_of_bundle.iter().enumerate().map(|(place, &object)| {
                    let (object, of_object) = (object as usize, of_object(place));
                    Authenticator {
                        number: authenticators::number(objects, object, key),
                        accepted: accepted[most * object + key],
                        difference: of_object[0],
                        soldering: of_object.get(1 + key).copied().unwrap_or_default(),
                    }
                }));
                let wire = wire.next().ok_or_else(|| Error::internal("a wire too many"))?;
                all.add(wire, hash.clone(), &own);
            }
        }
    }
    Ok(all)
}

/// Sends the copies of slots (garbler's side).
///
/// Paper: KNRTT17, PreProcessSub, GenSoldSub | buckets of components
pub(super) struct Sending<'a> {
    session: &'a [u8; 32],
    threads: usize,
    /// Scratch space for tables, which are garbled again.
    room: HugeBuf<HalfGates>,
}

impl<'a> Sending<'a> {
    pub fn new(session: &'a [u8; 32], threads: usize) -> Sending<'a> {
        Sending { session, threads, room: HugeBuf::public(0) }
    }

    /// Sends the copies of a slot: their tables and solderings.
    pub fn slot(
        &mut self,
        channel: &mut Channel,
        opening: &mut Opening<'_>,
        (view, slot): (View<'_>, usize),
    ) -> Result<()> {
        let (_, kind, objects) = view.slot(slot);
        let session = self.session;
        let mut place = 0;
        let copies = view.copies(slot);
        let threads = garble::threads_for(kind, copies.len(), self.threads);
        for some in copies.chunks(threads * garble::side_by_side(kind)) {
            let copy = |&object: &u32| Copy { kind, objects, session, object: object as usize };
            let copies: Vec<Copy<'_>> = some.iter().map(copy).collect();
            let committed = opening.committed();
            let tables = garble::again(channel, committed, threads, &copies, &mut self.room)?;
            for (table, copy) in tables.into_iter().zip(&copies) {
                send_blocks(channel, messages::TABLE, table.as_flattened())?;
                solder_copy(channel, opening, (view, slot), (place, copy.object))?;
                place += 1;
                // The evaluator does nothing now but receive them.
                if channel.backlog() > BACKLOG {
                    channel.throttle(BACKLOG / 2)?;
                }
            }
        }
        Ok(())
    }
}

/// The garbler solders a copy in a slot.
fn solder_copy(
    channel: &mut Channel,
    opening: &mut Opening<'_>,
    (view, slot): (View<'_>, usize),
    (place, object): (usize, usize),
) -> Result<()> {
    let (at, kind, objects) = view.slot(slot);
    let mut values = vec![solder::difference(opening, objects.offset(object))];
    if place > 0 {
        values.extend((0..kind.inputs()).map(|input| {
            let first = view.input(slot, input).key;
            solder::solder(opening, [first].into_iter(), objects.target(object, input), false)
        }));
    }
    values.extend((0..kind.outputs()).map(|output| {
        let source = objects.key(object, kind.inputs() + output);
        let head = view.head(at.first_output as usize + output);
        solder::solder(opening, [source].into_iter(), head, false)
    }));
    channel.tamper_state("duplo: component soldering", Block::as_bytes_mut(&mut values));
    send_blocks(channel, messages::COMPONENT_SOLDERINGS, &values)
}

/// The evaluator receives the copies of a slot, one after another. Each table goes to the room that
/// `shelf` gives for it; then `shelf` keeps the copy.
///
/// Paper: KNRTT17, PreProcessSub, GenSoldSub
pub(super) fn receive_slot(
    channel: &mut Channel,
    claims: &mut Claims<'_>,
    (view, slot): (View<'_>, usize),
    digests: &[[u8; 32]],
    shelf: &mut impl Place,
) -> Result<()> {
    for place in 0..view.copies(slot).len() {
        let (_, kind, _) = view.slot(slot);
        let (room, table) = shelf.table(kind.ands());
        let what = (view, slot, place);
        let copy = receive_copy(channel, claims, what, digests, (room, table))?;
        shelf.keep(copy)?;
    }
    Ok(())
}

/// Where the evaluator puts copies.
pub(super) trait Place {
    /// Returns room for the next copy's table, and its place.
    fn table(&mut self, gates: usize) -> (&mut [HalfGates], Range<usize>);

    /// Keeps the next copy, whose table is already in its room.
    ///
    /// # Errors
    /// `Store` when it cannot be kept.
    fn keep(&mut self, copy: GarbledCopy) -> Result<()>;
}

/// The evaluator receives a copy and checks its table against the digest.
///
/// Paper: KNRTT17, PreProcessSub, GenSoldSub
///
/// Check: `duplo`: tables | `component table`: the digest sent before the coin | another table than
/// could have been opened | 2^-128
fn receive_copy(
    channel: &mut Channel,
    claims: &mut Claims<'_>,
    (view, slot, place): (View<'_>, usize, usize),
    digests: &[[u8; 32]],
    (room, table): (&mut [HalfGates], Range<usize>),
) -> Result<GarbledCopy> {
    let (at, kind, objects) = view.slot(slot);
    let object = view.copies(slot)[place] as usize;
    receive_blocks_into(channel, messages::TABLE, room.as_flattened_mut())?;
    if !same_digest(&garble::digest(room), &digests[object]) {
        return Err(Error::misbehaved(channel.peer(), super::checks::TABLE_DIGEST));
    }
    let from_first = if place > 0 { kind.inputs() } else { 0 };
    let n = 1 + from_first + kind.outputs();
    let values = receive_blocks(channel, messages::COMPONENT_SOLDERINGS, n)?;
    let difference = values[0];
    solder::claim_difference(channel, claims, objects.offset(object), difference)?;
    let (inputs, outputs) = values[1..].split_at(from_first);
    for (input, &soldering) in inputs.iter().enumerate() {
        let first = [view.input(slot, input).key].into_iter();
        solder::claim(claims, first, objects.target(object, input), false, soldering);
    }
    for (output, &soldering) in outputs.iter().enumerate() {
        let source = objects.key(object, kind.inputs() + output);
        let head = view.head(at.first_output as usize + output);
        solder::claim(claims, [source].into_iter(), head, false, soldering);
    }
    let number = objects.number + object as u64;
    let (inputs, outputs) = (inputs.to_vec(), outputs.to_vec());
    Ok(GarbledCopy { number, table, difference, inputs, outputs })
}
