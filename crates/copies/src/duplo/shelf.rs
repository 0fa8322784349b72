//! The evaluator's slots, between their preparation and their evaluation one by one: in memory, or
//! in a file if those of all programs that wait would take too much memory.
//!
//! The file has each slot in the form of a store: the authenticators of its outputs, then its
//! copies, each with its table. All of this was made by the peer and reveals nothing without keys,
//! so the file is not encrypted. It has tags, so that a change made by anybody else is not blamed
//! on the peer. All programs of a process share the file: thousands may wait.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use symbolon_circuit::components::{ComponentGraph, Kind, Slot};
use symbolon_engine::codec::{Reader, Writer};
use symbolon_primitives::HugeBuf;
use symbolon_store::{Scratch, Secrecy, SharedScratch};
use symbolon_transport::{Error, Result};

use super::authenticators::Authenticators;
use super::buckets::{GarbledCopy, Place};
use super::garble::HalfGates;
use super::params::BucketSizes;
use super::program::Program;
use super::store;

/// How many bytes of slots and pools this process keeps in memory. More go to files, which take
/// longer to read.
pub(super) const IN_MEMORY: u64 = 3 << 29;

/// The slots and pools that are in memory.
pub(super) static MEMORY: Memory = Memory(AtomicU64::new(0));

/// The file with all other slots.
static FILE: SharedScratch = SharedScratch::new(Secrecy::Public);

/// Returns how many bytes the slots of a program take in memory while it alone waits: none if they
/// go to a file.
pub(super) fn bytes_in_memory(graph: &ComponentGraph, buckets: &BucketSizes) -> u64 {
    let all = all_bytes(graph, buckets);
    if all > IN_MEMORY { 0 } else { all }
}

/// Counts the bytes that are in memory.
pub(super) struct Memory(AtomicU64);

/// Room in memory. Others may use it when this is dropped.
pub(super) struct Room {
    memory: &'static Memory,
    bytes: u64,
}

impl Memory {
    /// Returns room for this many bytes, unless more than `most` would be in memory then.
    pub fn take(&'static self, bytes: u64, most: u64) -> Option<Room> {
        let before = self.0.fetch_add(bytes, Ordering::Relaxed);
        let room = Room { memory: self, bytes };
        before.checked_add(bytes).is_some_and(|all| all <= most).then_some(room)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.memory.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The slots of a program.
pub(super) enum Slots {
    InMemory(InMemory),
    InFile(InFile),
}

/// Slots in memory. Their authenticators are stored with those of all wires.
pub(super) struct InMemory {
    /// The copies in each slot.
    copies: Vec<Vec<GarbledCopy>>,
    /// The tables of all copies.
    tables: HugeBuf<HalfGates>,
    _room: Room,
}

/// Slots in one file, or in several; in each file the slots of a kind are in order.
pub(super) struct InFile {
    files: Vec<Box<dyn Read + Send>>,
    /// For each kind, which of the files has its slots.
    of_kind: Vec<usize>,
    buckets: BucketSizes,
    /// Scratch space for some copies.
    copies: Vec<GarbledCopy>,
    tables: HugeBuf<HalfGates>,
}

impl InFile {
    pub fn new(
        files: Vec<Box<dyn Read + Send>>,
        of_kind: Vec<usize>,
        buckets: BucketSizes,
    ) -> InFile {
        InFile { files, of_kind, buckets, copies: Vec::new(), tables: HugeBuf::public(0) }
    }

    fn of(&mut self, kind: usize) -> Reader<'_> {
        Reader(&mut *self.files[self.of_kind[kind]])
    }
}

/// Some copies of a slot. Their tables are ranges of `tables`.
#[derive(Clone, Copy)]
pub(super) struct Copies<'a> {
    pub all: &'a [GarbledCopy],
    pub tables: &'a [HalfGates],
}

/// Returns the output wires of a slot.
pub(super) fn output_wires(graph: &ComponentGraph, slot: &Slot) -> Range<usize> {
    let first = slot.first_output as usize;
    first..first + graph.kinds[slot.kind].outputs()
}

/// Returns how many bytes a slot of kind `number` takes in a store or file.
pub(super) fn slot_bytes(kind: &Kind, number: usize, buckets: &BucketSizes) -> usize {
    let of_wire = store::authenticators_bytes(buckets.authenticators);
    kind.outputs() * of_wire + store::copies_bytes(kind, buckets.kinds[number])
}

/// Returns how many bytes all slots take in a store or file.
fn all_bytes(graph: &ComponentGraph, buckets: &BucketSizes) -> u64 {
    let each = graph.slots.iter().map(|slot| (&graph.kinds[slot.kind], slot.kind));
    each.map(|(kind, number)| slot_bytes(kind, number, buckets) as u64).sum()
}

/// Slots that are being filled, in order.
pub(super) enum Shelf {
    /// In memory; the next table goes to this place.
    InMemory(InMemory, usize),
    /// In a file, with scratch space for a table.
    InFile(Scratch, BucketSizes, HugeBuf<HalfGates>),
}

impl Shelf {
    /// Returns an empty shelf for all slots of a program.
    ///
    /// # Errors
    /// `Store` when there is no room for a file.
    pub fn new(graph: &ComponentGraph, buckets: &BucketSizes) -> Result<Shelf> {
        let Some(room) = MEMORY.take(all_bytes(graph, buckets), IN_MEMORY) else {
            let scratch = file_result(FILE.sections(1))?;
            return Ok(Shelf::InFile(scratch, buckets.clone(), HugeBuf::public(0)));
        };
        let gates = |slot: &Slot| graph.kinds[slot.kind].ands() * buckets.kinds[slot.kind];
        let tables = HugeBuf::public(graph.slots.iter().map(gates).sum());
        let copies = Vec::with_capacity(graph.slots.len());
        Ok(Shelf::InMemory(InMemory { copies, tables, _room: room }, 0))
    }

    /// Whether the slots go to a file, together with the authenticators of their outputs.
    pub fn is_in_file(&self) -> bool {
        matches!(self, Shelf::InFile(..))
    }

    /// Begins a slot. `authenticators` has those of its outputs.
    ///
    /// # Errors
    /// `Store` when the file fails.
    pub fn begin(&mut self, authenticators: &Authenticators, outputs: Range<usize>) -> Result<()> {
        match self {
            Shelf::InMemory(in_memory, _) => in_memory.copies.push(Vec::new()),
            Shelf::InFile(scratch, ..) => {
                let mut to = ToFile(scratch);
                for wire in outputs {
                    store::write_authenticators(&mut Writer(&mut to), authenticators, wire)?;
                }
            }
        }
        Ok(())
    }

    /// Reads a slot and its authenticators from a store.
    ///
    /// # Errors
    /// `Store` when it cannot be read, or the file fails.
    pub fn read(
        &mut self,
        from: &mut Reader<'_>,
        (graph, slot): (&ComponentGraph, &Slot),
        buckets: &BucketSizes,
        authenticators: &mut Authenticators,
    ) -> Result<()> {
        let kind = &graph.kinds[slot.kind];
        let copies = buckets.kinds[slot.kind];
        match self {
            Shelf::InFile(scratch, ..) => {
                let bytes = slot_bytes(kind, slot.kind, buckets);
                copy_bytes(from, bytes, |piece| file_result(scratch.write(0, piece)))
            }
            Shelf::InMemory(in_memory, _) => {
                for wire in output_wires(graph, slot) {
                    store::read_authenticators(from, wire, authenticators)?;
                }
                in_memory.copies.push(Vec::with_capacity(copies));
                for number in 0..copies {
                    let (room, table) = self.table(kind.ands());
                    let copy = store::read_copy(from, kind, number == 0, (room, table))?;
                    self.keep(copy)?;
                }
                Ok(())
            }
        }
    }

    /// Returns the slots, all of which must have been filled.
    ///
    /// # Errors
    /// `Store` when the file fails.
    pub fn finish(self) -> Result<Slots> {
        Ok(match self {
            Shelf::InMemory(in_memory, _) => Slots::InMemory(in_memory),
            Shelf::InFile(scratch, buckets, _) => {
                let files = file_result(scratch.finish())?.into_iter();
                let files = files.map(|file| Box::new(file) as Box<dyn Read + Send>).collect();
                Slots::InFile(InFile::new(files, vec![0; buckets.kinds.len()], buckets))
            }
        })
    }
}

impl Place for Shelf {
    fn table(&mut self, gates: usize) -> (&mut [HalfGates], Range<usize>) {
        match self {
            Shelf::InMemory(in_memory, next) => {
                let place = *next..*next + gates;
                *next = place.end;
                (&mut in_memory.tables[place.clone()], place)
            }
            Shelf::InFile(_, _, room) => {
                room.reset(gates);
                (&mut room[..], 0..gates)
            }
        }
    }

    fn keep(&mut self, copy: GarbledCopy) -> Result<()> {
        match self {
            Shelf::InMemory(in_memory, _) => {
                let slot = in_memory.copies.last_mut();
                slot.ok_or_else(|| Error::internal("a copy before its slot"))?.push(copy);
            }
            Shelf::InFile(scratch, _, room) => {
                store::write_copy(&mut Writer(&mut ToFile(scratch)), &copy, room)?;
            }
        }
        Ok(())
    }
}

/// Converts an error of the file for waiting components.
pub(super) fn file_result<T>(done: io::Result<T>) -> Result<T> {
    done.map_err(|error| {
        let folder = std::env::temp_dir();
        let text = format!("garbled components that wait, in {}: {error}", folder.display());
        Error::stored_io(text, error)
    })
}

/// Writes to the only section of a file.
struct ToFile<'a>(&'a mut Scratch);

impl io::Write for ToFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(0, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How many bytes are copied at a time.
const PIECE: usize = 1 << 16;

fn copy_bytes(
    from: &mut Reader<'_>,
    bytes: usize,
    mut to: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut piece = vec![0; PIECE.min(bytes)];
    let mut left = bytes;
    while left > 0 {
        let piece = &mut piece[..PIECE.min(left)];
        from.fill(piece)?;
        to(piece)?;
        left -= piece.len();
    }
    Ok(())
}

impl Slots {
    /// Reads the authenticators of the next slot's outputs from the file. Returns `None` for slots
    /// in memory: then `all` has them.
    ///
    /// # Errors
    /// `Store` when the file cannot be read or was changed.
    pub fn authenticators(
        &mut self,
        (graph, slot): (&ComponentGraph, &Slot),
        all: &Authenticators,
    ) -> Result<Option<Authenticators>> {
        let Slots::InFile(in_file) = self else { return Ok(None) };
        let outputs = output_wires(graph, slot);
        let mut own = all.starting_at(outputs.start);
        for wire in outputs {
            store::read_authenticators(&mut in_file.of(slot.kind), wire, &mut own)?;
        }
        Ok(Some(own))
    }

    /// Returns how many copies are in a slot whose kind has this number.
    pub fn size(&self, slot: usize, kind: usize) -> usize {
        match self {
            Slots::InMemory(in_memory) => in_memory.copies[slot].len(),
            Slots::InFile(in_file) => in_file.buckets.kinds[kind],
        }
    }

    /// Returns some copies of a slot. From a file they must be taken in order, at most
    /// [`at_a_time`](Slots::at_a_time) of them.
    ///
    /// # Errors
    /// As [`authenticators`](Slots::authenticators).
    pub fn copies(
        &mut self,
        graph: &ComponentGraph,
        slot: usize,
        which: Range<usize>,
    ) -> Result<Copies<'_>> {
        match self {
            Slots::InMemory(in_memory) => {
                Ok(Copies { all: &in_memory.copies[slot][which], tables: &in_memory.tables })
            }
            Slots::InFile(in_file) => {
                let number = graph.slots[slot].kind;
                let kind = &graph.kinds[number];
                let InFile { files, of_kind, copies, tables, .. } = in_file;
                copies.clear();
                tables.reset(which.len() * kind.ands());
                let mut from = Reader(&mut *files[of_kind[number]]);
                for (place, number) in which.enumerate() {
                    let table = place * kind.ands()..(place + 1) * kind.ands();
                    let room = (&mut tables[table.clone()], table);
                    copies.push(store::read_copy(&mut from, kind, number == 0, room)?);
                }
                Ok(Copies { all: copies, tables })
            }
        }
    }

    /// Returns how many copies to take at a time if `side` are evaluated side by side. Copies in
    /// memory are taken all at once.
    pub fn at_a_time(&self, side: usize) -> usize {
        match self {
            Slots::InMemory(_) => usize::MAX,
            Slots::InFile(_) => side,
        }
    }

    /// Writes all slots to a store, with the authenticators of their outputs.
    ///
    /// # Errors
    /// `Store` when the store or the file fails.
    pub fn save(
        &mut self,
        to: &mut Writer<'_>,
        program: &Program,
        authenticators: &Authenticators,
    ) -> Result<()> {
        match self {
            Slots::InMemory(in_memory) => {
                for (slot, copies) in program.graph.slots.iter().zip(&in_memory.copies) {
                    for wire in output_wires(&program.graph, slot) {
                        store::write_authenticators(to, authenticators, wire)?;
                    }
                    for copy in copies {
                        store::write_copy(to, copy, &in_memory.tables[copy.table.clone()])?;
                    }
                }
            }
            Slots::InFile(in_file) => {
                for slot in &program.graph.slots {
                    let kind = &program.graph.kinds[slot.kind];
                    let bytes = slot_bytes(kind, slot.kind, &in_file.buckets);
                    copy_bytes(&mut in_file.of(slot.kind), bytes, |piece| to.bytes(piece))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_and_given_back() {
        static MEMORY: Memory = Memory(AtomicU64::new(0));
        let six = MEMORY.take(6, 10).unwrap();
        assert!(MEMORY.take(5, 10).is_none());
        assert!(MEMORY.take(u64::MAX, u64::MAX).is_none());
        let four = MEMORY.take(4, 10).unwrap();
        drop(six);
        assert!(MEMORY.take(7, 10).is_none());
        drop(four);
        assert!(MEMORY.take(10, 10).is_some());
    }
}
