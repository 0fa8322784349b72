//! Tables of the peer's circuits that wait for their evaluation: in memory, or in a file.
//!
//! A batch that is not stored has N·B circuits when its offline phase ends. The first [`HELD`]
//! bytes of their tables stay in memory. The others go to a file of the system's folder for such
//! files that has no name, and are read back piece by piece when they are evaluated.
//!
//! A table is no secret: the peer made it, and it is masked with what the peer sends online. If
//! somebody changes the file, the circuit's output labels fit no hash, as those of a circuit that
//! was garbled wrongly.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use symbolon_primitives::Block;
use symbolon_transport::{Error, Result};

/// How many bytes of tables a batch has in memory.
const HELD: usize = 16 << 20;

/// The table of a circuit, masked.
pub(super) struct Table(Place);

enum Place {
    Memory(Vec<[Block; 2]>),
    /// So many gates from this byte of the file on.
    Spilled(Arc<Mutex<File>>, u64, usize),
}

/// Where the tables of a batch go.
pub(super) struct Tables {
    /// How many bytes may stay in memory.
    room: usize,
    file: Option<Arc<Mutex<File>>>,
    written: u64,
}

impl Tables {
    /// For a batch that waits to be evaluated.
    pub fn of_batch() -> Tables {
        Tables::with_room(HELD)
    }

    /// For executions that are handed over one by one.
    pub fn in_memory() -> Tables {
        Tables::with_room(usize::MAX)
    }

    fn with_room(room: usize) -> Tables {
        Tables { room, file: None, written: 0 }
    }

    /// Keeps a table.
    ///
    /// # Errors
    /// `Store` when the file cannot be made or written.
    pub fn keep(&mut self, table: Vec<[Block; 2]>) -> Result<Table> {
        let bytes = size_of_val(&table[..]);
        if bytes <= self.room {
            self.room -= bytes;
            return Ok(Table(Place::Memory(table)));
        }
        let file = match &self.file {
            Some(file) => file.clone(),
            None => {
                let file = Arc::new(Mutex::new(tempfile::tempfile().map_err(failed)?));
                self.file.insert(file).clone()
            }
        };
        let start = self.written;
        let at = (&*file, start);
        on(at, |file| file.write_all(Block::as_bytes(table.as_flattened())))?;
        self.written += bytes as u64;
        Ok(Table(Place::Spilled(file, start, table.len())))
    }
}

impl Table {
    /// A table in memory.
    pub fn held(table: Vec<[Block; 2]>) -> Table {
        Table(Place::Memory(table))
    }

    /// Gives the table in pieces, in order.
    ///
    /// # Panics
    /// What it returns, if all pieces together are longer than the table.
    pub fn pieces(&self) -> impl FnMut(&mut [[Block; 2]]) -> Result<()> {
        let mut next = 0;
        move |gates| {
            let from = next;
            next += gates.len();
            match &self.0 {
                Place::Memory(table) => gates.copy_from_slice(&table[from..next]),
                Place::Spilled(file, start, len) => {
                    assert!(next <= *len, "the table has no more gates");
                    let at = (&**file, start + (size_of::<[Block; 2]>() * from) as u64);
                    on(at, |file| file.read_exact(Block::as_bytes_mut(gates.as_flattened_mut())))?;
                }
            }
            Ok(())
        }
    }

    /// All of it.
    ///
    /// # Errors
    /// `Store` when the file cannot be read.
    pub fn to_vec(&self) -> Result<Vec<[Block; 2]>> {
        let mut all = vec![[Block::ZERO; 2]; self.len()];
        self.pieces()(&mut all)?;
        Ok(all)
    }

    fn len(&self) -> usize {
        match &self.0 {
            Place::Memory(table) => table.len(),
            Place::Spilled(_, _, len) => *len,
        }
    }

    /// The table, for a cheater that changes it.
    #[cfg(test)]
    pub fn held_mut(&mut self) -> &mut [[Block; 2]] {
        match &mut self.0 {
            Place::Memory(table) => table,
            Place::Spilled(..) => panic!("small tables stay in memory"),
        }
    }
}

/// Does something at a byte of a file.
fn on(
    (file, at): (&Mutex<File>, u64),
    work: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<()> {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(at)).and_then(|_| work(&mut file)).map_err(failed)
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
        let kept: Vec<Table> = (0..8).map(|n| tables.keep(made(n)).unwrap()).collect();
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
