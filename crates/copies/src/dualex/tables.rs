//! The tables of the peer's circuits until their evaluation, in memory or in a file.
//!
//! Prepared executions have N·B circuits that wait. The first [`HELD`] bytes of their tables stay
//! in memory. The rest go to an unnamed file in the system's temporary folder, and are read back
//! piece by piece during the evaluation. All tables are of one function, so each fills one slot. A
//! slot is free again when its table is dropped: an execution that goes to a store at once leaves
//! its slots to the next one.
//!
//! A table is not secret: the peer made it, and it is masked with a value that the peer sends
//! online. But it was compared with its commitment before it went to the file. The peer knows the
//! labels, so it can make another table that gives valid labels of wrong values. If it could change
//! the file, no circuit of a bucket might be good. So the digest of each table in the file stays in
//! memory, and an evaluation ends with an error if the table that it has read is another one. The
//! digest is computed anyway when the table arrives; the tags of a [`Scratch`] would take as long
//! again.
//!
//! [`Scratch`]: symbolon_store::Scratch

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use symbolon_garbling::component::ComponentDigest;
use symbolon_primitives::block_xor::copy_blocks;
use symbolon_primitives::{Block, HugeBuf, same_digest};
use symbolon_transport::{Error, Result};

use super::garble::Digest;

/// How many bytes of tables stay in memory.
const HELD: usize = 16 << 20;

/// Two half-gates.
type Gate = [Block; 2];

/// Bytes of a gate.
const GATE: usize = size_of::<Gate>();

/// The table of a circuit, masked.
pub(super) struct Table(Place);

enum Place {
    /// In a vector of its own.
    Alone(Vec<Gate>),
    /// In a slot.
    Slot(Slot),
}

/// Where the tables of a preparation go.
pub(super) struct Tables {
    slots: Arc<Slots>,
    /// A buffer that the next table reuses.
    spare: Vec<Gate>,
}

/// Room for tables, a slot for each.
struct Slots {
    /// The gates of each table.
    gates: usize,
    /// The first slots.
    held: Mutex<HugeBuf<Gate>>,
    /// The slots after those, in a file that is made when the first is needed.
    file: Mutex<Option<File>>,
    usage: Mutex<Usage>,
}

/// Which slots are taken.
#[derive(Default)]
struct Usage {
    /// The slots that were ever taken: those before this one.
    end: usize,
    /// Those among them that are free again.
    free: Vec<usize>,
}

/// A slot with a table in it.
struct Slot {
    slots: Arc<Slots>,
    index: usize,
    /// The digest of the table, if it is in the file.
    digest: Option<Digest>,
}

impl Tables {
    /// Returns room for this many tables, or more, of this many gates.
    pub fn new(tables: usize, gates: usize) -> Tables {
        let table = gates.saturating_mul(GATE);
        Tables::with_held(tables.min(HELD.checked_div(table).unwrap_or(0)), gates)
    }

    /// Returns room for tables, of which the first `held` stay in memory.
    fn with_held(held: usize, gates: usize) -> Tables {
        let slots = Slots {
            gates,
            held: Mutex::new(HugeBuf::public(held * gates)),
            file: Mutex::new(None),
            usage: Mutex::default(),
        };
        Tables { slots: Arc::new(slots), spare: Vec::new() }
    }

    /// Returns a buffer for a table, with arbitrary content.
    pub fn room(&mut self) -> Vec<Gate> {
        let mut room = std::mem::take(&mut self.spare);
        room.resize(self.slots.gates, [Block::ZERO; 2]);
        room
    }

    /// Keeps a table with this digest and returns where it is.
    ///
    /// # Errors
    /// `Store` when the file cannot be made or written.
    ///
    /// # Panics
    /// If the table has another number of gates.
    pub fn keep(&mut self, table: Vec<Gate>, digest: Digest) -> Result<Table> {
        assert_eq!(table.len(), self.slots.gates, "all tables are of one function");
        let mut slot = Slot { index: self.slots.take(), slots: self.slots.clone(), digest: None };
        slot.digest = slot.write(&table)?.then_some(digest);
        self.spare = table;
        Ok(Table(Place::Slot(slot)))
    }
}

impl Slots {
    /// Takes a free slot.
    fn take(&self) -> usize {
        let mut usage = lock(&self.usage);
        usage.free.pop().unwrap_or_else(|| {
            usage.end += 1;
            usage.end - 1
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        lock(&self.slots.usage).free.push(self.index);
    }
}

impl Slot {
    /// Writes the table. Returns whether it is in the file now.
    fn write(&self, table: &[Gate]) -> Result<bool> {
        let start = self.index * self.slots.gates;
        if let Some(place) = lock(&self.slots.held).get_mut(start..start + table.len()) {
            copy_blocks(place.as_flattened_mut(), table.as_flattened());
            return Ok(false);
        }
        let mut file = lock(&self.slots.file);
        let file = match &mut *file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile().map_err(failed)?),
        };
        self.seek(file, 0)
            .and_then(|()| file.write_all(Block::as_bytes(table.as_flattened())))
            .map_err(failed)?;
        Ok(true)
    }

    /// Copies out the gates from number `from` on.
    fn read(&self, from: usize, gates: &mut [Gate]) -> Result<()> {
        let start = self.index * self.slots.gates + from;
        if let Some(place) = lock(&self.slots.held).get(start..start + gates.len()) {
            copy(gates, place);
            return Ok(());
        }
        let mut file = lock(&self.slots.file);
        let Some(file) = &mut *file else {
            return Err(Error::internal("a table that was never written"));
        };
        self.seek(file, from)
            .and_then(|()| file.read_exact(Block::as_bytes_mut(gates.as_flattened_mut())))
            .map_err(failed)
    }

    /// Moves to a gate of the slot in the file.
    fn seek(&self, file: &mut File, gate: usize) -> io::Result<()> {
        let first = self.index * self.slots.gates - lock(&self.slots.held).len();
        file.seek(SeekFrom::Start(GATE as u64 * (first + gate) as u64)).map(drop)
    }
}

impl Table {
    /// A table in memory.
    pub fn held(table: Vec<Gate>) -> Table {
        Table(Place::Alone(table))
    }

    /// Returns a function that copies out the table piece by piece, in order. With the last piece
    /// it fails if the file was changed. Then no piece may be used.
    ///
    /// # Panics
    /// The returned function panics if all pieces together are longer than the table.
    pub fn pieces(&self) -> impl FnMut(&mut [Gate]) -> Result<()> {
        let (mut next, mut read) = (0, None::<ComponentDigest>);
        move |gates| {
            let from = next;
            next += gates.len();
            assert!(next <= self.len(), "the table has no more gates");
            match &self.0 {
                Place::Alone(table) => copy(gates, &table[from..next]),
                Place::Slot(slot) => {
                    slot.read(from, gates)?;
                    if let Some(written) = &slot.digest {
                        let digest = read.get_or_insert_default();
                        digest.update(gates);
                        let whole = from < next && next == self.len();
                        if whole && !same_digest(&std::mem::take(digest).finish(), written) {
                            return Err(failed(io::Error::other("a table was changed")));
                        }
                    }
                }
            }
            Ok(())
        }
    }

    /// Returns the whole table.
    ///
    /// # Errors
    /// `Store` when the file cannot be read, or the table was changed there.
    pub fn to_vec(&self) -> Result<Vec<Gate>> {
        let mut all = vec![[Block::ZERO; 2]; self.len()];
        self.pieces()(&mut all)?;
        Ok(all)
    }

    fn len(&self) -> usize {
        match &self.0 {
            Place::Alone(table) => table.len(),
            Place::Slot(slot) => slot.slots.gates,
        }
    }
}

fn copy(to: &mut [Gate], from: &[Gate]) {
    copy_blocks(to.as_flattened_mut(), from.as_flattened());
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(error: io::Error) -> Error {
    let folder = std::env::temp_dir();
    Error::store(format!(
        "circuits that wait for their evaluation, in {}: {error}",
        folder.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATES: usize = 100;

    fn made(n: u128) -> Vec<Gate> {
        (0..GATES as u128).map(|gate| [Block(n << 64 | gate), Block(!gate)]).collect()
    }

    fn keep(tables: &mut Tables, n: u128) -> Table {
        let mut room = tables.room();
        room.copy_from_slice(&made(n));
        keep_table(tables, room)
    }

    fn keep_table(tables: &mut Tables, table: Vec<Gate>) -> Table {
        let mut digest = ComponentDigest::default();
        digest.update(&table);
        tables.keep(table, digest.finish()).unwrap()
    }

    /// Checks all tables in the reverse order, whole and in pieces.
    fn check(kept: &[(u128, Table)]) {
        for (n, table) in kept.iter().rev() {
            let expected = made(*n);
            assert_eq!(table.to_vec().unwrap(), expected);
            let mut pieces = table.pieces();
            for part in expected.chunks(33) {
                let mut piece = vec![[Block::ZERO; 2]; part.len()];
                pieces(&mut piece).unwrap();
                assert_eq!(piece, part);
            }
        }
    }

    #[test]
    fn tables_come_back_from_memory_and_from_a_file_and_leave_their_slots() {
        let mut tables = Tables::with_held(3, GATES);
        let length = |tables: &Tables| {
            lock(&tables.slots.file).as_ref().map_or(0, |file| file.metadata().unwrap().len())
        };
        let mut kept: Vec<_> = (0..3).map(|n| (n, keep(&mut tables, n))).collect();
        assert_eq!(length(&tables), 0);
        kept.extend((3..8).map(|n| (n, keep(&mut tables, n))));
        let full = (5 * GATES * GATE) as u64;
        assert_eq!(length(&tables), full);
        check(&kept);
        // One from memory and two from the file make room for three others.
        for n in [6, 4, 1] {
            drop(kept.remove(n));
        }
        kept.extend((10..13).map(|n| (n, keep(&mut tables, n))));
        assert_eq!(length(&tables), full);
        check(&kept);
        kept.push((13, keep(&mut tables, 13)));
        assert!(length(&tables) > full);
        check(&kept);
    }

    /// An evaluation of a table that was changed in the file fails at the end, and others do not.
    #[test]
    fn a_table_that_was_changed_in_the_file_is_refused() {
        let mut tables = Tables::with_held(1, GATES);
        let kept: Vec<_> = (0..4).map(|n| (n, keep(&mut tables, n))).collect();
        // Tables 1 to 3 are in the file. The changed byte of table 2 was 0.
        let mut shared = lock(&tables.slots.file);
        let file = shared.as_mut().unwrap();
        file.seek(SeekFrom::Start((GATES * GATE + 5) as u64)).unwrap();
        file.write_all(&[1]).unwrap();
        drop(shared);
        for (n, table) in &kept {
            match (*n, table.to_vec()) {
                (2, all) => assert!(matches!(all, Err(Error::Store { .. }))),
                (n, all) => assert_eq!(all.unwrap(), made(n)),
            }
        }
        let mut pieces = kept[2].1.pieces();
        let mut half = vec![[Block::ZERO; 2]; GATES / 2];
        pieces(&mut half).unwrap();
        assert!(matches!(pieces(&mut half), Err(Error::Store { .. })));
    }

    #[test]
    fn tables_without_gates_are_kept() {
        let mut tables = Tables::new(5, 0);
        let room = tables.room();
        let kept = [room, Vec::new()].map(|table| keep_table(&mut tables, table));
        kept.iter().for_each(|table| assert_eq!(table.to_vec().unwrap(), Vec::<Gate>::new()));
    }
}
