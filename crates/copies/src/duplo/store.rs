//! Prepared programs as bytes, for another process.
//!
//! Nothing is written that follows from the circuit, ρ, the parties' choice of components and the
//! number of executions. The reader chooses the components and computes the sizes again, and a
//! digest shows that they are the same.

use std::ops::Range;

use symbolon_circuit::components::Kind;
use symbolon_engine::codec::{Reader, Writer, damaged};
use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Error, Result};
use zeroize::Zeroizing;

use super::assemble::{AllKeys, GarblerKeys, returned};
use super::authenticators::{Authenticator, Authenticators};
use super::buckets::GarbledCopy;
use super::garble::HalfGates;
use super::keys::KeyHash;
use super::params::BucketSizes;
use super::program::{Origin, Program};

/// Replaces the number of preparations in a program made from a pool.
const OF_A_POOL: u64 = 0;

/// The most names of components in a program. A pool has fewer kinds: names of the same circuit are
/// one kind.
const MOST_NAMES: u64 = 1 << 20;

/// The most objects in a bucket: even a single bucket at the largest ρ takes fewer.
const MOST_IN_BUCKET: u64 = 1 << 9;

/// Writes the origin, which is a number of preparations or the kinds of a pool, and a digest of the
/// components and their connections.
pub(super) fn write_head(to: &mut Writer<'_>, program: &Program, origin: &Origin) -> Result<()> {
    match origin {
        Origin::Made(preparations) => to.u64(*preparations as u64)?,
        Origin::Pool(kinds, buckets) => {
            to.u64(OF_A_POOL)?;
            to.u64(kinds.len() as u64)?;
            to.list(kinds)?;
            write_buckets(to, buckets)?;
        }
    }
    to.bytes(&program.fingerprint())
}

/// Writes the bucket sizes.
pub(super) fn write_buckets(to: &mut Writer<'_>, buckets: &BucketSizes) -> Result<()> {
    to.u64(buckets.authenticators as u64)?;
    buckets.kinds.iter().try_for_each(|&size| to.u64(size as u64))
}

/// Reads the bucket sizes of `kinds` kinds.
pub(super) fn read_buckets(from: &mut Reader<'_>, kinds: usize) -> Result<BucketSizes> {
    let size = |from: &mut Reader<'_>| match from.u64()? {
        size @ 1..=MOST_IN_BUCKET => Ok(size as usize),
        _ => Err(damaged("it says a size of buckets that cannot be")),
    };
    let authenticators = size(from)?;
    let kinds = (0..kinds).map(|_| size(from)).collect::<Result<_>>()?;
    Ok(BucketSizes { kinds, authenticators })
}

/// Reads the origin.
pub(super) fn read_origin(from: &mut Reader<'_>) -> Result<Origin> {
    let preparations = from.u64()?;
    if preparations == OF_A_POOL {
        let kinds = from.u64()?;
        if kinds > MOST_NAMES {
            return Err(damaged("it says a number of components that cannot be"));
        }
        let kinds = (0..kinds).map(|_| from.array()).collect::<Result<Vec<_>>>()?;
        let buckets = read_buckets(from, kinds.len())?;
        return Ok(Origin::Pool(kinds, buckets));
    }
    // As many as `prepare` allows; for a larger number the search for sizes would take long.
    let preparations = usize::try_from(preparations)
        .ok()
        .filter(|preparations| (1..=1 << 32).contains(preparations));
    preparations.map(Origin::Made).ok_or_else(impossible_number)
}

/// Returns the error for a number of preparations that `prepare` refuses.
pub(super) fn impossible_number() -> Error {
    damaged("it says a number of executions that cannot be")
}

/// Checks that the components and connections are those that are chosen now.
pub(super) fn check_program(from: &mut Reader<'_>, program: &Program) -> Result<()> {
    if from.array::<32>()? == program.fingerprint() {
        return Ok(());
    }
    Err(other_program())
}

/// Returns the error for a program that differs from the one that is chosen now.
pub(super) fn other_program() -> Error {
    damaged("it was prepared with other components, or by another version")
}

/// Writes what the garbler keeps, except for the commitments.
pub(super) fn write_keys(to: &mut Writer<'_>, keys: &GarblerKeys) -> Result<()> {
    to.list(&keys.inputs)?;
    to.bits(&keys.indicators)?;
    to.list(&keys.outputs)
}

/// Reads the keys of the garbler's inputs, the indicator bits of the evaluator's, and the keys of
/// the garbler's outputs.
pub(super) fn read_keys(
    from: &mut Reader<'_>,
    program: &Program,
) -> Result<(AllKeys, BitVec, AllKeys)> {
    let inputs = Zeroizing::new(from.list(program.inputs[0].len())?);
    let indicators = from.bits(program.inputs[1].len())?;
    let outputs = Zeroizing::new(from.list(returned(program).count())?);
    Ok((inputs, indicators, outputs))
}

/// Returns how many bytes the authenticators of a wire take, if there are `bucket` of them.
pub(super) fn authenticators_bytes(bucket: usize) -> usize {
    16 + bucket * (8 + 4 * 16)
}

/// Writes the authenticators of a wire, if it has some.
pub(super) fn write_authenticators(
    to: &mut Writer<'_>,
    all: &Authenticators,
    wire: usize,
) -> Result<()> {
    let Some(hash) = all.hash(wire) else { return Ok(()) };
    to.list(&[hash.to_block()])?;
    for one in all.of(wire) {
        to.u64(one.number)?;
        to.list(&one.accepted)?;
        to.list(&[one.difference, one.soldering])?;
    }
    Ok(())
}

/// Reads the authenticators of a wire.
pub(super) fn read_authenticators(
    from: &mut Reader<'_>,
    wire: usize,
    to: &mut Authenticators,
) -> Result<()> {
    let hash = KeyHash::from_block(from.block()?);
    let mut own = Vec::with_capacity(to.bucket);
    for _ in 0..to.bucket {
        let number = from.u64()?;
        let accepted = [from.block()?, from.block()?];
        let (difference, soldering) = (from.block()?, from.block()?);
        own.push(Authenticator { number, accepted, difference, soldering });
    }
    to.add(wire, hash, &own);
    Ok(())
}

/// Returns how many bytes `copies` copies in a slot take.
pub(super) fn copies_bytes(kind: &Kind, copies: usize) -> usize {
    let each = 8 + 16 * (1 + kind.outputs()) + 32 * kind.ands();
    copies * each + copies.saturating_sub(1) * 16 * kind.inputs()
}

/// Writes a copy with its table.
pub(super) fn write_copy(
    to: &mut Writer<'_>,
    copy: &GarbledCopy,
    table: &[HalfGates],
) -> Result<()> {
    to.u64(copy.number)?;
    to.list(&[copy.difference])?;
    to.list(&copy.inputs)?;
    to.list(&copy.outputs)?;
    to.list(table)
}

/// Reads a copy, and its table into `room`. `first` says whether it is the first copy of its slot.
pub(super) fn read_copy(
    from: &mut Reader<'_>,
    kind: &Kind,
    first: bool,
    (room, table): (&mut [HalfGates], Range<usize>),
) -> Result<GarbledCopy> {
    let (number, difference) = (from.u64()?, from.block()?);
    let inputs = from.list(if first { 0 } else { kind.inputs() })?;
    let outputs = from.list(kind.outputs())?;
    from.fill(Block::as_bytes_mut(room.as_flattened_mut()))?;
    Ok(GarbledCopy { number, table, difference, inputs, outputs })
}
