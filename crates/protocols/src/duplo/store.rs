//! What was made ready, as bytes for another process.
//!
//! Nothing that follows from the circuit, ρ, the parties' choice of components and the number of
//! executions is written: components are chosen and sizes computed again, and a digest says that
//! they are the same.

use std::ops::Range;

use symbolon_primitives::{Block, HugeBuf};
use symbolon_transport::{Error, Result};
use zeroize::Zeroizing;

use super::assemble::{GarblerKeys, WireKeys, returned};
use super::authenticators::{Authenticator, Authenticators};
use super::buckets::GarbledCopy;
use super::components::{Kind, Slot};
use super::evaluate::GarbledProgram;
use super::garble::HalfGates;
use super::keys::KeyHash;
use super::oblivious::Transfers;
use super::params::Params;
use super::program::Program;
use crate::codec::{Reader, Writer, damaged};

/// Writes how many parts were prepared together, and what was chosen for them: which components,
/// and how they are connected.
pub(super) fn write_head(to: &mut Writer<'_>, program: &Program) -> Result<()> {
    to.u64(program.parts as u64)?;
    to.bytes(&program.fingerprint())
}

/// Reads how many parts were prepared together.
pub(super) fn read_parts(from: &mut Reader<'_>) -> Result<usize> {
    let parts = from.u64()?;
    // As many as `prepare` allows; a larger number would be a long search for sizes.
    usize::try_from(parts)
        .ok()
        .filter(|parts| (1..=1 << 32).contains(parts))
        .ok_or_else(impossible_parts)
}

/// The number of parts is one that `prepare` refuses.
pub(super) fn impossible_parts() -> Error {
    damaged("it says a number of executions that cannot be")
}

/// Checks that the same was chosen as is chosen now.
pub(super) fn check_program(from: &mut Reader<'_>, program: &Program) -> Result<()> {
    if from.array::<32>()? == program.fingerprint() {
        return Ok(());
    }
    Err(damaged("it was prepared with other components, or by another version"))
}

/// Writes what the garbler keeps, but for the commitments.
pub(super) fn write_keys(to: &mut Writer<'_>, keys: &GarblerKeys) -> Result<()> {
    to.blocks(keys.inputs.as_flattened())?;
    to.bits(&keys.indicators)?;
    to.blocks(keys.outputs.as_flattened())
}

/// Reads the keys of the garbler's inputs, the indicator bits of the evaluator's, and the keys of
/// the garbler's outputs.
pub(super) fn read_keys(
    from: &mut Reader<'_>,
    program: &Program,
) -> Result<(Vec<WireKeys>, symbolon_primitives::BitVec, Vec<WireKeys>)> {
    let inputs = pairs(from, program.inputs[0].len())?;
    let indicators = from.bits(program.inputs[1].len())?;
    let outputs = pairs(from, returned(program).count())?;
    Ok((inputs, indicators, outputs))
}

fn pairs(from: &mut Reader<'_>, n: usize) -> Result<Vec<[Block; 2]>> {
    let blocks = Zeroizing::new(from.blocks(2 * n)?);
    Ok(blocks.as_chunks::<2>().0.to_vec())
}

/// Writes what the evaluator keeps, but for the commitments.
pub(super) fn write_garbled(
    to: &mut Writer<'_>,
    garbled: &GarbledProgram,
    transfers: &Transfers,
) -> Result<()> {
    let GarbledProgram { slots, tables, solderings, authenticators } = garbled;
    to.bytes(&authenticators.session)?;
    to.blocks(&[authenticators.hash.to_block()])?;
    for one in &authenticators.all {
        to.u64(one.number)?;
        to.blocks(&one.accepted)?;
        to.blocks(&[one.difference, one.soldering])?;
    }
    to.blocks(solderings)?;
    for copy in slots.iter().flatten() {
        to.u64(copy.number)?;
        to.blocks(&[copy.difference])?;
        to.blocks(&copy.inputs)?;
        to.blocks(&copy.outputs)?;
        to.blocks(tables[copy.table.clone()].as_flattened())?;
    }
    to.bits(&transfers.choices)?;
    to.blocks(&transfers.results)
}

/// Reads it back.
pub(super) fn read_garbled(
    from: &mut Reader<'_>,
    program: &Program,
    params: &Params,
) -> Result<(GarbledProgram, Transfers)> {
    let (session, hash) = (from.array()?, KeyHash::from_block(from.block()?));
    let bucket = params.authenticators.bucket as usize;
    let mut all = Vec::new();
    for _ in 0..program.authenticated() * bucket {
        let number = from.u64()?;
        let accepted = [from.block()?, from.block()?];
        let (difference, soldering) = (from.block()?, from.block()?);
        all.push(Authenticator { number, accepted, difference, soldering });
    }
    let carriers = program.carriers.clone();
    let authenticators = Authenticators { session, hash, bucket, all, carriers };
    let graph = &program.graph;
    let solderings = from.blocks(graph.sums.len() + program.out_gates.len())?;
    let kind = |slot: &Slot| (&graph.kinds[slot.kind], params.kinds[slot.kind].bucket as usize);
    let gates = |(kind, copies): (&Kind, usize)| kind.ands() * copies;
    let mut tables = HugeBuf::public(graph.slots.iter().map(|slot| gates(kind(slot))).sum());
    let (mut slots, mut first) = (Vec::new(), 0);
    for slot in &graph.slots {
        let (kind, copies) = kind(slot);
        let mut read = |place: usize| {
            let start = first + place * kind.ands();
            read_copy(from, kind, place == 0, (&mut tables, start..start + kind.ands()))
        };
        slots.push((0..copies).map(&mut read).collect::<Result<_>>()?);
        first += gates((kind, copies));
    }
    let transfers = program.inputs[1].len();
    let choices = from.bits(transfers)?;
    let results = Zeroizing::new(from.blocks(transfers)?);
    let garbled = GarbledProgram { slots, tables, solderings, authenticators };
    Ok((garbled, Transfers { choices, results }))
}

fn read_copy(
    from: &mut Reader<'_>,
    kind: &Kind,
    first: bool,
    (tables, table): (&mut [HalfGates], Range<usize>),
) -> Result<GarbledCopy> {
    let (number, difference) = (from.u64()?, from.block()?);
    let inputs = from.blocks(if first { 0 } else { kind.inputs() })?;
    let outputs = from.blocks(kind.outputs())?;
    from.fill(Block::as_bytes_mut(tables[table.clone()].as_flattened_mut()))?;
    Ok(GarbledCopy { number, table, difference, inputs, outputs })
}
