//! GenSub of Appendix A: the garbler makes L copies of each component.
//!
//! The Δ of a copy and the keys of its inputs are what its random commitments happen to be, so the
//! garbler sends nothing for them but a bit that makes Δ end in 1. The keys of the outputs follow
//! from garbling; a block for each corrects the commitment. For the table the garbler sends a
//! digest, which fixes the table before the coin decides which copies are opened.
//!
//! The paper garbles from a seed. Garbling from committed keys needs none: an opened copy costs the
//! keys of its inputs instead of a seed, but the copies that are not opened, which are most, save
//! the corrections of all these keys.
//!
//! The garbler keeps no tables, and garbles the evaluation copies a second time. Writing all tables
//! to fresh memory and keeping them until the coin would take as long.
//!
//! Departure: `duplo`: copies | garbled from a seed | from committed keys | unopened copies need no
//! corrections

use std::convert::Infallible;

use symbolon_circuit::components::Kind;
use symbolon_engine::{
    parallel::{allow_gates, in_parallel},
    receive_bits,
};
use symbolon_garbling::component::ComponentDigest;
use symbolon_garbling::{
    InputKeys, Instance, Labels, garble_pieces_side_by_side, garble_side_by_side,
};
use symbolon_primitives::{BitVec, Block, Delta, HugeBuf, same_digest, watch};
use symbolon_transport::{Channel, Error, PartyId, Result, Tampering};
use zeroize::Zeroizing;

use super::commit::{Committed, Received, receive_blocks, send_blocks};
use super::keys;
use super::layout::Objects;
use super::messages;

/// The two half-gates of an AND gate, which are not secret.
pub(super) type HalfGates = [Block; 2];

/// How much [`work`] a thread gets at a time: starting it takes a small part of this.
const WORK_OF_A_THREAD: usize = 1 << 16;

/// Less [`work`] than this takes less time than starting a thread.
const WORK_FOR_THREADS: usize = 1 << 15;

/// A copy of a component.
#[derive(Clone, Copy)]
pub(super) struct Copy<'a> {
    pub kind: &'a Kind,
    pub objects: &'a Objects,
    pub session: &'a [u8; 32],
    /// Its number among the copies.
    pub object: usize,
}

impl<'a> Copy<'a> {
    /// Returns the instance that garbles and evaluates the copy.
    pub fn instance(&self) -> Instance<'a> {
        instance(self.kind, self.session, self.objects.number + self.object as u64)
    }

    /// Returns the committed Δ and input keys.
    fn keys(&self, committed: &Committed) -> InputKeys {
        let offset = committed.value(self.objects.offset(self.object));
        let zero =
            |input| keys::zero_key(committed.value(self.objects.key(self.object, input)), offset);
        let inputs = Labels::new((0..self.kind.inputs()).map(zero).collect());
        InputKeys { delta: Delta::new(offset), inputs }
    }
}

/// Garbles some copies of a kind again, into room that is reused, and returns their tables.
pub(super) fn again<'r>(
    channel: &mut Channel,
    committed: &Committed,
    threads: usize,
    copies: &[Copy<'_>],
    room: &'r mut HugeBuf<HalfGates>,
) -> Result<Vec<&'r [HalfGates]>> {
    let gates = copies.first().map_or(0, |copy| copy.kind.ands());
    room.reset(gates * copies.len());
    let places = split(room, gates, copies.len()).into_iter().zip(copies);
    let all = places.map(|(table, &copy)| (copy, table)).collect();
    garble_each(threads, all, |copy| copy.keys(committed))?;
    let tables = split(room, gates, copies.len());
    let tampering = channel.tampering();
    let sent = tables.into_iter().map(|table| {
        tamper(&tampering, table);
        &*table
    });
    Ok(sent.collect())
}

/// Returns how many copies of a kind are processed side by side.
pub(super) fn side_by_side(kind: &Kind) -> usize {
    symbolon_garbling::side_by_side(&kind.plan)
}

/// Returns how many copies are garbled at a time: enough that it pays to start the threads, few
/// enough to fit in memory.
pub(super) fn copies_at_a_time(kind: &Kind, threads: usize) -> usize {
    let side = side_by_side(kind);
    threads * side * WORK_OF_A_THREAD.div_ceil(side * work(kind))
}

/// Returns how many of these threads garble or evaluate `copies` copies.
pub(super) fn threads_for(kind: &Kind, copies: usize, threads: usize) -> usize {
    if work(kind) * copies < WORK_FOR_THREADS { 1 } else { threads }
}

/// Returns the work of a copy, about as many units as it has gates and committed keys.
fn work(kind: &Kind) -> usize {
    1 + kind.ands() + kind.inputs() + kind.outputs()
}

/// A garbled copy without its table.
struct Made {
    /// The outputs' labels for 0.
    outputs: Labels,
    delta: Delta,
    digest: [u8; 32],
}

/// Garbles copies of a kind, each from its keys, and keeps no table: pieces are hashed while they
/// are in a core's cache. The garbler's pieces pass a cheater of the tests.
fn digest_each(
    (threads, tampering): (usize, &Tampering),
    copies: &[Copy<'_>],
    keys: impl Fn(Copy<'_>) -> InputKeys + Sync,
) -> Result<Vec<Made>> {
    let Some(first) = copies.first() else { return Ok(Vec::new()) };
    let threads = threads_for(first.kind, copies.len(), threads);
    let groups = copies.chunks(side_by_side(first.kind)).collect();
    let made = in_parallel(threads, groups, |group| {
        let instances: Vec<_> = group.iter().map(Copy::instance).collect();
        let keys: Vec<_> = group.iter().map(|&copy| keys(copy)).collect();
        let mut digests: Vec<_> = group.iter().map(|_| ComponentDigest::default()).collect();
        let by: Vec<_> = keys.iter().collect();
        let Ok(outputs) = garble_pieces_side_by_side(&instances, &by, |pieces| {
            for (digest, piece) in digests.iter_mut().zip(pieces) {
                tamper(tampering, piece);
                digest.update(piece);
            }
            Ok::<_, Infallible>(())
        });
        let each = outputs.into_iter().zip(keys).zip(digests);
        let made = each.map(|((outputs, keys), digest)| Made {
            outputs,
            delta: keys.delta,
            digest: digest.finish(),
        });
        made.collect::<Vec<_>>()
    })?;
    Ok(made.into_iter().flatten().collect())
}

/// Garbles copies of a kind, each from its keys and into its place.
fn garble_each(
    threads: usize,
    mut copies: Vec<(Copy<'_>, &mut [HalfGates])>,
    keys: impl Fn(Copy<'_>) -> InputKeys + Sync,
) -> Result<()> {
    let Some((first, _)) = copies.first() else { return Ok(()) };
    let (side, threads) =
        (side_by_side(first.kind), threads_for(first.kind, copies.len(), threads));
    in_parallel(threads, copies.chunks_mut(side).collect(), |group| {
        let instances: Vec<_> = group.iter().map(|(copy, _)| copy.instance()).collect();
        let keys: Vec<_> = group.iter().map(|(copy, _)| keys(*copy)).collect();
        let mut tables: Vec<_> = group.iter_mut().map(|(_, table)| &mut **table).collect();
        garble_side_by_side(&instances, &keys.iter().collect::<Vec<_>>(), &mut tables);
    })
    .map(drop)
}

/// Returns the instance that garbles and evaluates the copy with this number.
pub(super) fn instance<'a>(kind: &'a Kind, session: &'a [u8; 32], number: u64) -> Instance<'a> {
    Instance::new(&kind.plan, session, number)
}

/// Marks the point at which a cheater of the tests garbles something else.
fn tamper(tampering: &Tampering, piece: &mut [HalfGates]) {
    tampering.state("duplo: table", Block::as_bytes_mut(piece.as_flattened_mut()));
}

/// Returns the digest of a table.
pub(super) fn digest(table: &[HalfGates]) -> [u8; 32] {
    let mut digest = ComponentDigest::default();
    digest.update(table);
    digest.finish()
}

/// Garbles all copies of a kind, corrects the commitments and sends the digests.
///
/// Paper: KNRTT17, GenSub, VerSub | garbling, garbling again
pub(super) fn garble_all(
    channel: &mut Channel,
    committed: &mut Committed,
    (session, threads): (&[u8; 32], usize),
    (kind, objects): (&Kind, &Objects),
) -> Result<()> {
    send_offsets(channel, committed, objects)?;
    // The evaluator has everything before what takes long.
    channel.flush()?;
    let mut corrections = Vec::with_capacity(kind.outputs() * objects.count);
    let mut digests = Vec::with_capacity(32 * objects.count);
    let step = copies_at_a_time(kind, threads);
    for first in (0..objects.count).step_by(step) {
        let numbers = first..objects.count.min(first + step);
        let copies: Vec<_> =
            numbers.map(|object| Copy { kind, objects, session, object }).collect();
        let from = (threads, &channel.tampering());
        let made = digest_each(from, &copies, |copy| copy.keys(committed))?;
        for (Made { mut outputs, delta, digest }, copy) in made.into_iter().zip(&copies) {
            digests.extend_from_slice(&digest);
            outputs.iter_mut().for_each(|key| *key = keys::committed(*key, *delta));
            channel.tamper_state("duplo: output keys", Block::as_bytes_mut(&mut outputs));
            for (output, &value) in outputs.iter().enumerate() {
                let id = objects.key(copy.object, kind.inputs() + output);
                corrections.push(committed.correct(id, value));
            }
        }
    }
    send_blocks(channel, messages::OUTPUT_KEYS, &corrections)?;
    channel.send(messages::DIGESTS, &digests)
}

/// Returns the parts of `tables` for `n` copies of `gates` gates each.
fn split(mut tables: &mut [HalfGates], gates: usize, n: usize) -> Vec<&mut [HalfGates]> {
    let mut parts = Vec::with_capacity(n);
    for _ in 0..n {
        let (part, rest) = tables.split_at_mut(gates);
        parts.push(part);
        tables = rest;
    }
    parts
}

/// Receives what the garbler sends for all copies of a kind, and returns the digests of the tables.
pub(super) fn receive_all(
    channel: &mut Channel,
    received: &mut Received,
    (kind, objects): (&Kind, &Objects),
) -> Result<Vec<[u8; 32]>> {
    receive_offsets(channel, received, objects)?;
    allow_gates(channel, (kind.ands() * objects.count) as u64);
    let outputs = receive_blocks(channel, messages::OUTPUT_KEYS, kind.outputs() * objects.count)?;
    let mut outputs = outputs.iter();
    for object in 0..objects.count {
        for output in 0..kind.outputs() {
            let id = objects.key(object, kind.inputs() + output);
            received.correct(id, *outputs.next().expect("as many as were asked for"));
        }
    }
    let digests = channel.recv(messages::DIGESTS, 32 * objects.count)?;
    Ok(digests.as_chunks::<32>().0.to_vec())
}

/// Makes the Δ of all objects end in 1, and sends the corrections.
pub(super) fn send_offsets(
    channel: &mut Channel,
    committed: &mut Committed,
    objects: &Objects,
) -> Result<()> {
    let mut turned = BitVec::zeros(objects.count);
    for object in 0..objects.count {
        let id = objects.offset(object);
        let value = committed.value(id);
        let mut offset = Zeroizing::new([value.with_lsb(true)]);
        channel.tamper_state("duplo: offset", Block::as_bytes_mut(&mut offset[..]));
        turned.set(object, value.lsb() ^ offset[0].lsb());
        committed.correct(id, offset[0]);
    }
    channel.send(messages::OFFSETS, &turned.to_bytes())
}

/// Records the corrections that make all Δ end in 1. Opened objects show that their Δ do; for the
/// others, the differences of Δ are checked.
pub(super) fn receive_offsets(
    channel: &mut Channel,
    received: &mut Received,
    objects: &Objects,
) -> Result<()> {
    let turned = receive_bits(channel, messages::OFFSETS, objects.count)?;
    for object in 0..objects.count {
        received.correct(objects.offset(object), Block(u128::from(turned.get(object))));
    }
    Ok(())
}

/// VerSub of the evaluator: garbles each copy again from what was opened of it, Δ and the committed
/// values of its inputs. Compares the tables with the digests that were sent, and returns the
/// committed values that the outputs must have. The copies are in ascending order.
///
/// Paper: KNRTT17, GenSub, VerSub
pub(super) fn garble_opened(
    threads: usize,
    peer: PartyId,
    copies: &[(Copy<'_>, &[Block])],
    digests: &[[u8; 32]],
) -> Result<Vec<Vec<Block>>> {
    let wrong = || Error::misbehaved(peer, super::checks::OPENED_COMPONENT);
    for (_, opened) in copies {
        if !opened[0].lsb() {
            return Err(wrong());
        }
        watch::tell_opened(&opened[0].to_bytes());
    }
    let alone: Vec<_> = copies.iter().map(|(copy, _)| *copy).collect();
    let made = digest_each((threads, &Tampering::default()), &alone, |copy| {
        // There may be tens of thousands of copies: the search is not linear.
        let place = copies.partition_point(|(other, _)| other.object < copy.object);
        opened_keys(copies[place].1)
    })?;
    let mut each = made.iter().zip(copies);
    if !each.all(|(made, (copy, _))| same_digest(&made.digest, &digests[copy.object])) {
        return Err(wrong());
    }
    let committed = |Made { outputs, delta, .. }: Made| {
        outputs.iter().map(|&zero| keys::committed(zero, *delta)).collect()
    };
    Ok(made.into_iter().map(committed).collect())
}

fn opened_keys(opened: &[Block]) -> InputKeys {
    let offset = opened[0];
    let zero = opened[1..].iter().map(|&committed| keys::zero_key(committed, offset)).collect();
    InputKeys { delta: Delta::new(offset), inputs: Labels::new(zero) }
}
