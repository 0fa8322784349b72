//! The tables of the peer's circuits until their evaluation, in memory or in a file.
//!
//! A batch that is not stored has N·B circuits when its offline phase ends. The first [`HELD`]
//! bytes of their tables stay in memory. The rest go to an unnamed file in the system's temporary
//! folder, and are read back piece by piece during the evaluation.
//!
//! A table is not secret: the peer made it, and it is masked with a value that the peer sends
//! online. A changed file is a circuit that was garbled incorrectly: if an output label depends on
//! the change, it does not match its hash.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use symbolon_primitives::block_xor::copy_blocks;
use symbolon_primitives::{Block, HugeBuf};
use symbolon_transport::{Error, Result};

/// How many bytes of tables a batch keeps in memory.
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
    /// In the memory of a batch: the first gate, and the number of gates.
    Held(Arc<Mutex<HugeBuf<Gate>>>, usize, usize),
    /// In a file: the first gate, and the number of gates.
    Spilled(Arc<Mutex<File>>, usize, usize),
}

/// Where tables go.
pub(super) enum Tables {
    /// Each table separately, for executions that are handed over one by one.
    Alone,
    /// Together, for a batch that waits for its evaluation.
    Batch(BatchTables),
}

/// The tables of a batch.
pub(super) struct BatchTables {
    /// Memory for the first tables, and how many gates are in it.
    held: Arc<Mutex<HugeBuf<Gate>>>,
    used: usize,
    /// The file for the other tables, and how many gates are in it.
    file: Option<Arc<Mutex<File>>>,
    written: usize,
    /// A buffer that the next table reuses.
    spare: Vec<Gate>,
}

impl Tables {
    /// Returns room for the tables of a batch: this many circuits of this many gates.
    pub fn of_batch(circuits: usize, gates: usize) -> Tables {
        Tables::with_room(HELD.min(circuits.saturating_mul(gates).saturating_mul(GATE)))
    }

    fn with_room(bytes: usize) -> Tables {
        Tables::Batch(BatchTables {
            held: Arc::new(Mutex::new(HugeBuf::public(bytes / GATE))),
            used: 0,
            file: None,
            written: 0,
            spare: Vec::new(),
        })
    }

    /// Returns a buffer for a table, with arbitrary content.
    pub fn room(&mut self, gates: usize) -> Vec<Gate> {
        let mut room = match self {
            Tables::Alone => Vec::new(),
            Tables::Batch(batch) => std::mem::take(&mut batch.spare),
        };
        room.resize(gates, [Block::ZERO; 2]);
        room
    }

    /// Keeps a table and returns where it is.
    ///
    /// # Errors
    /// `Store` when the file cannot be made or written.
    pub fn keep(&mut self, table: Vec<Gate>) -> Result<Table> {
        let batch = match self {
            Tables::Alone => return Ok(Table(Place::Alone(table))),
            Tables::Batch(batch) => batch,
        };
        let kept = batch.keep(&table)?;
        batch.spare = table;
        Ok(kept)
    }
}

impl BatchTables {
    fn keep(&mut self, table: &[Gate]) -> Result<Table> {
        let mut held = lock(&self.held);
        let (start, n) = (self.used, table.len());
        if let Some(place) = held.get_mut(start..start + n) {
            copy_blocks(place.as_flattened_mut(), table.as_flattened());
            self.used += n;
            drop(held);
            return Ok(Table(Place::Held(self.held.clone(), start, n)));
        }
        drop(held);
        let file = match &self.file {
            Some(file) => file.clone(),
            None => {
                let file = Arc::new(Mutex::new(tempfile::tempfile().map_err(failed)?));
                self.file.insert(file).clone()
            }
        };
        let start = self.written;
        on((&*file, start), |file| file.write_all(Block::as_bytes(table.as_flattened())))?;
        self.written += n;
        Ok(Table(Place::Spilled(file, start, n)))
    }
}

impl Table {
    /// A table in memory.
    pub fn held(table: Vec<Gate>) -> Table {
        Table(Place::Alone(table))
    }

    /// Returns a function that copies out the table piece by piece, in order.
    ///
    /// # Panics
    /// The returned function panics if all pieces together are longer than the table.
    pub fn pieces(&self) -> impl FnMut(&mut [Gate]) -> Result<()> {
        let mut next = 0;
        move |gates| {
            let from = next;
            next += gates.len();
            assert!(next <= self.len(), "the table has no more gates");
            match &self.0 {
                Place::Alone(table) => copy(gates, &table[from..next]),
                Place::Held(held, start, _) => copy(gates, &lock(held)[start + from..start + next]),
                Place::Spilled(file, start, _) => {
                    let bytes = Block::as_bytes_mut(gates.as_flattened_mut());
                    on((&**file, start + from), |file| file.read_exact(bytes))?;
                }
            }
            Ok(())
        }
    }

    /// Returns the whole table.
    ///
    /// # Errors
    /// `Store` when the file cannot be read.
    pub fn to_vec(&self) -> Result<Vec<Gate>> {
        let mut all = vec![[Block::ZERO; 2]; self.len()];
        self.pieces()(&mut all)?;
        Ok(all)
    }

    fn len(&self) -> usize {
        match &self.0 {
            Place::Alone(table) => table.len(),
            Place::Held(.., len) | Place::Spilled(.., len) => *len,
        }
    }

    /// Changes the table, for a cheater.
    #[cfg(test)]
    pub fn change(&mut self, change: impl FnOnce(&mut [Gate])) {
        match &mut self.0 {
            Place::Alone(table) => change(table),
            Place::Held(held, start, len) => change(&mut lock(held)[*start..*start + *len]),
            Place::Spilled(..) => panic!("small tables stay in memory"),
        }
    }
}

fn copy(to: &mut [Gate], from: &[Gate]) {
    copy_blocks(to.as_flattened_mut(), from.as_flattened());
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Moves to a gate of a file and runs `work` there.
fn on(
    (file, gate): (&Mutex<File>, usize),
    work: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<()> {
    let mut file = lock(file);
    let at = SeekFrom::Start(GATE as u64 * gate as u64);
    file.seek(at).and_then(|_| work(&mut file)).map_err(failed)
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

    #[test]
    fn tables_come_back_from_memory_and_from_a_file() {
        let made = |n: u128| -> Vec<[Block; 2]> {
            (0..100 + n).map(|gate| [Block(n << 64 | gate), Block(!gate)]).collect()
        };
        let mut tables = Tables::with_room(3 * 32 * 100 + 32 * 3);
        let mut keep = |n| {
            let made = made(n);
            let mut room = tables.room(made.len());
            room.copy_from_slice(&made);
            tables.keep(room).unwrap()
        };
        let kept: Vec<Table> = (0..8).map(&mut keep).collect();
        let spilled = |table: &Table| matches!(table.0, Place::Spilled(..));
        assert_eq!(kept.iter().filter(|table| spilled(table)).count(), 5);
        // In any order, whole and in pieces.
        for (n, table) in kept.iter().enumerate().rev() {
            let expected = made(n as u128);
            assert_eq!(table.to_vec().unwrap(), expected);
            let mut pieces = table.pieces();
            for part in expected.chunks(33) {
                let mut piece = vec![[Block::ZERO; 2]; part.len()];
                pieces(&mut piece).unwrap();
                assert_eq!(piece, part);
            }
        }
    }
}
