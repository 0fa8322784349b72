//! The index: a small embedded database, read and written as a whole under the store's lock.
//!
//! It has two files, `index-0.redb` and `index-1.redb`, used in turns. A transaction takes the
//! exclusive lock, reads the database file with the number and digest that the [`CommitPointer`]
//! gives, makes a new one in memory, and then, with each step on disk before the next:
//!
//! 1. writes it to the other file;
//! 2. writes a head with the new number and digest, which names its own file, to a new file;
//! 3. moves that over the old head, which commits the transaction;
//! 4. empties the old index in place, so that an older head matches nothing, whichever hard links
//!    to old files exist.
//!
//! The index grows with the number of items, some hundred bytes each, so this takes milliseconds.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use redb::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, TableError,
};
use symbolon_common::PartyId;
use zeroize::Zeroizing;

use crate::access::Mode;
use crate::backend::Image;
use crate::commit_pointer::CommitPointer;
use crate::files::Flock;
use crate::frame::Sealing;
use crate::keys::{RootKey, same_tag};
use crate::record::{
    Content, Edit, ItemState, Pair, Record, Row, open_relation, seal_relation, shorten,
};
use crate::{GroupId, ItemId, ItemKind, Result, StoreError, access, fault, files};

type Table = TableDefinition<'static, &'static [u8], &'static [u8]>;

const ITEMS: Table = TableDefinition::new("items");
const SPENT: Table = TableDefinition::new("spent");
const DEAD: Table = TableDefinition::new("dead");
const NUMBERS: Table = TableDefinition::new("numbers");
/// Stores that were made before this table was do not have it; so with the next.
const DENSE: Table = TableDefinition::new("dense");
const RELATIONS: Table = TableDefinition::new("relations");
const META: Table = TableDefinition::new("meta");
const GENERATION: &[u8] = b"generation";
/// The size of the database's cache, in bytes; small, because the database is in memory already.
const CACHE: usize = 1 << 20;

/// The maximum length of an index, in bytes: some millions of items.
const MAX_INDEX: u64 = 1 << 30;

/// Which states of the index a caller accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    /// Only the latest one, as far as this can be determined.
    Latest,
    /// Also a restored one, whose material will not be used.
    Any,
}

/// The shared state of an open store.
#[derive(Debug)]
pub(crate) struct Core {
    pub directory: PathBuf,
    /// The directory of everything but the manifest and the locks.
    pub body: PathBuf,
    /// The lock on `open`, held as long as the store is open.
    pub in_use: Option<Flock>,
    pub store: [u8; 16],
    pub root: RootKey,
    pub sealing: Sealing,
}

/// The index under the exclusive lock.
pub(crate) struct Locked<'a> {
    core: &'a Core,
    pub content: Content,
    /// The database file.
    bytes: Vec<u8>,
    _lock: Flock,
}

/// Why the database could not be used.
enum IndexError {
    Database(Box<redb::Error>),
    Content(String),
}

impl<E: Into<redb::Error>> From<E> for IndexError {
    fn from(error: E) -> Self {
        IndexError::Database(Box::new(error.into()))
    }
}

type Attempt<T> = std::result::Result<T, IndexError>;

impl Core {
    /// Returns the index file that transaction `generation` writes.
    fn database(&self, generation: u64) -> PathBuf {
        self.body.join(format!("index-{}.redb", generation % 2))
    }

    /// Returns the directory of an item.
    pub fn item(&self, id: &ItemId) -> PathBuf {
        self.items().join(id.to_string())
    }

    /// Returns the directory of all items.
    pub fn items(&self) -> PathBuf {
        self.body.join("items")
    }

    /// Returns the directory of items being written.
    pub fn drafts(&self) -> PathBuf {
        self.body.join("drafts")
    }

    /// Returns the directory of the group locks.
    pub fn groups(&self) -> PathBuf {
        self.body.join("groups")
    }

    /// Returns the lock file of the store in `directory`.
    pub fn lock_path(directory: &Path) -> PathBuf {
        directory.join("lock")
    }

    /// Returns whether files are overwritten before they are removed. Encrypted files reveal
    /// nothing without the key.
    pub fn wipes(&self) -> bool {
        self.sealing == Sealing::Checksum
    }

    /// Writes an empty index. The caller holds the exclusive lock.
    pub fn create(&self) -> Result<()> {
        // Both files exist from the beginning, so that the head is the only new directory entry of
        // a transaction.
        files::overwrite(&self.database(0), &[])?;
        self.publish(1, &self.edited(Vec::new(), Vec::new(), 1)?)
    }

    /// Writes a copy of the index of `other`, which is another body of the same store with another
    /// key.
    pub fn adopt(&self, other: &Locked<'_>) -> Result<()> {
        let generation = other.content.generation;
        let seal_again = |sealed| {
            let secret = Zeroizing::new(open_relation(&other.core.root, sealed));
            seal_relation(&self.root, &secret)
        };
        let mut rows = Vec::new();
        for (pair, all) in &other.content.relations {
            let all = all.iter().map(seal_again).collect::<Result<Vec<_>>>()?;
            rows.push(Row::Relations(*pair, all));
        }
        let bytes = self.edited(other.bytes.clone(), rows, generation)?;
        files::overwrite(&self.database(generation.wrapping_add(1)), &[])?;
        self.publish(generation, &bytes)
    }

    /// Makes `bytes` the current index.
    fn publish(&self, generation: u64, bytes: &[u8]) -> Result<()> {
        if bytes.len() as u64 > MAX_INDEX {
            return Err(StoreError::Invalid(format!(
                "the store {} knows of too many items: make another one",
                self.directory.display()
            )));
        }
        let written = files::overwrite(&self.database(generation), bytes)?;
        fault::point("commit.written");
        let head = CommitPointer::new(generation, self.digest(bytes), &written);
        head.save(&self.body, &self.root)?;
        fault::point("commit.decided");
        self.empty_other(generation);
        fault::point("commit.done");
        Ok(())
    }

    /// Empties the file of the previous transaction. Correctness does not depend on this: the head
    /// says which file is current.
    fn empty_other(&self, generation: u64) {
        let path = self.database(generation.wrapping_add(1));
        if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.len() > 0)
            && let Ok(file) = access::open(&path, Mode::Write)
        {
            let _ = file.set_len(0);
        }
    }

    /// Waits for the exclusive lock.
    pub fn lock(&self) -> Result<Flock> {
        let path = Self::lock_path(&self.directory);
        // Some network file systems lock a file exclusively only if it is open for writing.
        Flock::exclusive(access::open(&path, Mode::Write)?, &path)
    }

    /// Takes the exclusive lock and reads the index.
    pub fn exclusive(&self) -> Result<Locked<'_>> {
        self.enter(self.lock()?, Age::Latest).map_err(|(error, _)| error)
    }

    /// Reads the index under the exclusive lock. Returns the lock if that fails.
    pub fn enter(
        &self,
        lock: Flock,
        age: Age,
    ) -> std::result::Result<Locked<'_>, (StoreError, Flock)> {
        match self.read(age) {
            Ok((content, bytes)) => {
                // A crash may have come before this step.
                self.empty_other(content.generation);
                Ok(Locked { core: self, content, bytes, _lock: lock })
            }
            Err(error) => Err((error, lock)),
        }
    }

    /// Reads the index under the shared lock. With `writable`, fails if the store is not writable.
    pub fn shared(&self, writable: bool) -> Result<(Content, Flock)> {
        let path = Self::lock_path(&self.directory);
        let mode = if writable { Mode::Write } else { Mode::Read };
        let lock = Flock::shared(access::open(&path, mode)?, &path)?;
        Ok((self.read(Age::Latest)?.0, lock))
    }

    /// Reads the index. It may be out of date when this returns.
    pub fn content(&self, writable: bool) -> Result<Content> {
        Ok(self.shared(writable)?.0)
    }

    /// Reads the index and the bytes of its file.
    fn read(&self, age: Age) -> Result<(Content, Vec<u8>)> {
        let (head, found) = CommitPointer::load(&self.body, &self.root)?;
        let path = self.database(head.generation);
        let missing = || StoreError::damaged(&path, "is missing");
        let file = access::open_if_there(&path, Mode::Read)?.ok_or_else(missing)?;
        let metadata = file.metadata().map_err(|e| StoreError::io("look at", &path, &e))?;
        if age == Age::Latest && !head.is_latest(found, &metadata) {
            let what = "the file `head` in it is not the one that was last written there";
            return Err(StoreError::RolledBack { path: self.directory.clone(), what });
        }
        let bytes = files::read_bounded(file, &path, MAX_INDEX)?;
        if !same_tag(&self.digest(&bytes), &head.digest) {
            let what = "is not the one that belongs here: damaged, older, or another store's";
            return Err(StoreError::damaged(&path, what));
        }
        let image = Image::new(bytes.clone());
        let content = self.guarded(head.generation, || read_all(&open(image)?.begin_read()?))?;
        if content.generation != head.generation {
            return Err(StoreError::damaged(&path, "does not fit its head"));
        }
        Ok((content, bytes))
    }

    /// See [`Store::pass_for_latest`](crate::Store::pass_for_latest).
    #[cfg(any(test, feature = "faults"))]
    pub fn pass_for_latest(&self) -> Result<()> {
        let (head, _) = CommitPointer::load(&self.body, &self.root)?;
        let database = self.database(head.generation);
        let metadata =
            fs::metadata(&database).map_err(|e| StoreError::io("look at", &database, &e))?;
        CommitPointer::new(head.generation, head.digest, &metadata).save(&self.body, &self.root)
    }

    fn digest(&self, bytes: &[u8]) -> [u8; 32] {
        self.root.tag("index", bytes)
    }

    /// Changes rows of the database file `bytes`, or of a new one if `bytes` is empty; returns the
    /// result.
    fn edited(&self, bytes: Vec<u8>, rows: Vec<Row>, generation: u64) -> Result<Vec<u8>> {
        let image = Image::new(bytes);
        let result = image.clone();
        self.guarded(generation, || {
            let database = open(image)?;
            let transaction = database.begin_write()?;
            {
                let mut items = transaction.open_table(ITEMS)?;
                let mut spent = transaction.open_table(SPENT)?;
                let mut dead = transaction.open_table(DEAD)?;
                let mut numbers = transaction.open_table(NUMBERS)?;
                let mut dense = transaction.open_table(DENSE)?;
                let mut relations = transaction.open_table(RELATIONS)?;
                for row in rows {
                    match row {
                        Row::Item(id, record) => {
                            items.insert(id.0.as_slice(), record.encode().as_slice())?;
                        }
                        Row::NoItem(id) => drop(items.remove(id.0.as_slice())?),
                        Row::Spent(id) => {
                            spent.insert(id.0.as_slice(), [].as_slice())?;
                        }
                        Row::NotSpent(id) => drop(spent.remove(id.0.as_slice())?),
                        Row::Number(series, next) => {
                            let key = series_key(series);
                            numbers.insert(key.as_slice(), next.to_le_bytes().as_slice())?;
                        }
                        Row::Dense(series, upto) => {
                            let key = series_key(series);
                            dense.insert(key.as_slice(), upto.to_le_bytes().as_slice())?;
                        }
                        Row::Dead(group, reason) => {
                            dead.insert(group.as_slice(), reason.as_bytes())?;
                        }
                        Row::Relations(pair, all) => {
                            relations.insert(pair_key(pair).as_slice(), all.concat().as_slice())?;
                        }
                    }
                }
                let mut meta = transaction.open_table(META)?;
                meta.insert(GENERATION, generation.to_le_bytes().as_slice())?;
            }
            transaction.commit()?;
            // Closing truncates and completes the file.
            drop(database);
            Ok(())
        })?;
        Ok(result.take())
    }

    /// Runs a closure on the database.
    ///
    /// The database only sees bytes with the right digest. But without protection anybody can
    /// compute that digest, and the database panics on some bytes that it would not have written.
    fn guarded<T>(&self, generation: u64, run: impl FnOnce() -> Attempt<T>) -> Result<T> {
        let wrong = |what: String| StoreError::damaged(&self.database(generation), what);
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(IndexError::Content(what))) => Err(wrong(what)),
            Ok(Err(IndexError::Database(error))) => Err(wrong(format!("cannot be used ({error})"))),
            Err(_) => Err(wrong("is not a database".to_string())),
        }
    }
}

fn open(image: Image) -> Attempt<Database> {
    Ok(redb::Builder::new().set_cache_size(CACHE).create_with_backend(image)?)
}

fn read_all(transaction: &ReadTransaction) -> Attempt<Content> {
    let wrong = |what: &str| IndexError::Content(what.to_string());
    let mut content = Content::default();
    for entry in transaction.open_table(ITEMS)?.iter()? {
        let (key, value) = entry?;
        let id = ItemId(key.value().try_into().map_err(|_| wrong("names an item wrongly"))?);
        let record = Record::decode(id, value.value()).map_err(IndexError::Content)?;
        content.items.insert(id, record);
    }
    for entry in transaction.open_table(SPENT)?.iter()? {
        let id = entry?.0.value().try_into().map_err(|_| wrong("names an item wrongly"))?;
        content.spent.insert(ItemId(id));
    }
    for entry in transaction.open_table(DEAD)?.iter()? {
        let (key, value) = entry?;
        let group = GroupId::try_from(key.value()).map_err(|_| wrong("has an invalid group id"))?;
        let reason =
            std::str::from_utf8(value.value()).map_err(|_| wrong("has an invalid reason"))?;
        content.revoked.insert(group, shorten(reason));
    }
    for entry in transaction.open_table(NUMBERS)?.iter()? {
        let (key, value) = entry?;
        let series = series(key.value()).ok_or_else(|| wrong("has an invalid group id"))?;
        content.numbers.insert(series, number(value.value())?);
    }
    if let Some(table) = if_there(transaction.open_table(DENSE))? {
        for entry in table.iter()? {
            let (key, value) = entry?;
            let series = series(key.value()).ok_or_else(|| wrong("has an invalid group id"))?;
            content.dense.insert(series, number(value.value())?);
        }
    }
    if let Some(table) = if_there(transaction.open_table(RELATIONS))? {
        for entry in table.iter()? {
            let (key, value) = entry?;
            let pair =
                pair(key.value()).ok_or_else(|| wrong("has a relation of no two parties"))?;
            let (all, rest) = value.value().as_chunks();
            if !rest.is_empty() {
                return Err(wrong("has half a relation"));
            }
            content.relations.insert(pair, all.to_vec());
        }
    }
    let meta = transaction.open_table(META)?;
    let generation = meta.get(GENERATION)?.ok_or_else(|| wrong("has no generation number"))?;
    content.generation = number(generation.value())?;
    Ok(content)
}

/// Returns a table, if it is there.
fn if_there<T>(opened: std::result::Result<T, TableError>) -> Attempt<Option<T>> {
    match opened {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn pair_key((me, peer): Pair) -> [u8; 4] {
    let ([a, b], [c, d]) = (me.to_le_bytes(), peer.to_le_bytes());
    [a, b, c, d]
}

fn pair(key: &[u8]) -> Option<Pair> {
    let [a, b, c, d] = *key else { return None };
    let party = |bytes| PartyId::from(u16::from_le_bytes(bytes));
    Some((party([a, b]), party([c, d])))
}

fn number(bytes: &[u8]) -> Attempt<u64> {
    let bytes = bytes
        .try_into()
        .map_err(|_| IndexError::Content("has no generation number".to_string()))?;
    Ok(u64::from_le_bytes(bytes))
}

/// Returns the key of a series in the table of sequence numbers.
fn series_key((group, kind): (GroupId, ItemKind)) -> [u8; 33] {
    let mut key = [0; 33];
    key[..32].copy_from_slice(&group);
    key[32] = match kind {
        ItemKind::Pool => 0,
        ItemKind::Prepared => 1,
    };
    key
}

fn series(key: &[u8]) -> Option<(GroupId, ItemKind)> {
    let (group, kind) = key.split_first_chunk()?;
    match kind {
        [0] => Some((*group, ItemKind::Pool)),
        [1] => Some((*group, ItemKind::Prepared)),
        _ => None,
    }
}

impl Locked<'_> {
    /// Returns edits that void the chosen items among the available ones.
    pub fn voiding(&self, chosen: impl Fn(&Record) -> bool, reason: &str) -> Vec<Edit> {
        let available = self.content.items.iter().filter(|(_, r)| r.state == ItemState::Available);
        available
            .filter(|(_, record)| chosen(record))
            .map(|(id, record)| {
                let record = Record { state: ItemState::Void(shorten(reason)), ..record.clone() };
                Edit::Put(*id, Box::new(record))
            })
            .collect()
    }

    /// Commits edits: they are on disk when this returns. After an error they may or may not be on
    /// disk.
    pub fn commit(&mut self, edits: &[Edit]) -> Result<()> {
        if edits.is_empty() {
            return Ok(());
        }
        self.renew(edits)
    }

    /// Commits edits, possibly none. The head is new in any case.
    pub fn renew(&mut self, edits: &[Edit]) -> Result<()> {
        let core = self.core;
        let path = || core.database(self.content.generation);
        let generation = self.content.generation.checked_add(1);
        let generation = generation.ok_or_else(|| StoreError::damaged(&path(), "has no next"))?;
        let rows = edits.iter().flat_map(|edit| self.content.apply(edit)).collect();
        let bytes = core.edited(self.bytes.clone(), rows, generation)?;
        core.publish(generation, &bytes)?;
        self.content.generation = generation;
        self.bytes = bytes;
        Ok(())
    }
}
