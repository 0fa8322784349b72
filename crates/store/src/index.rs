//! The index: a small embedded database, opened for each transaction under the store's lock.
//!
//! A transaction takes the exclusive lock, checks that the database file is as the [`Journal`] says, reads all of
//! it, and writes in this order, each step on disk before the next:
//!
//! 1. the journal: *intended*, with the edits that use something up;
//! 2. the database, closed again;
//! 3. the journal: *done*, with the digest of the closed database file.
//!
//! The content carries a tag over all of it, so that records cannot be exchanged, removed or brought back one by one even after a
//! crash, when there is no digest of the file.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use redb::{
    Database, Durability, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    TableDefinition, WriteTransaction,
};

use crate::backend::{Image, Unlocked};
use crate::files::Flock;
use crate::frame::Sealing;
use crate::journal::Journal;
use crate::keys::RootKey;
use crate::record::{Content, Edit, Record};
use crate::{GroupId, ItemId, Result, StoreError, fault, files};

type Table = TableDefinition<'static, &'static [u8], &'static [u8]>;

const ITEMS: Table = TableDefinition::new("items");
const SPENT: Table = TableDefinition::new("spent");
const DEAD: Table = TableDefinition::new("dead");
const META: Table = TableDefinition::new("meta");
const GENERATION: &[u8] = b"generation";
const SEAL: &[u8] = b"seal";
/// How much of the database is kept in memory, in bytes.
const CACHE: usize = 4 << 20;

/// What every part of an open store needs.
#[derive(Debug)]
pub(crate) struct Core {
    pub directory: PathBuf,
    pub store: [u8; 16],
    pub root: RootKey,
    pub sealing: Sealing,
}

/// The index under the exclusive lock.
pub(crate) struct Locked<'a> {
    core: &'a Core,
    pub content: Content,
    _lock: Option<Flock>,
}

/// Why the database could not be used.
enum Trouble {
    Database(Box<redb::Error>),
    Content(String),
}

impl<E: Into<redb::Error>> From<E> for Trouble {
    fn from(error: E) -> Self {
        Trouble::Database(Box::new(error.into()))
    }
}

impl Core {
    fn database(&self) -> PathBuf {
        self.directory.join("index.redb")
    }

    /// Where the files of an item are.
    pub fn item(&self, id: &ItemId) -> PathBuf {
        self.items().join(id.to_string())
    }

    /// Where the files of all items are.
    pub fn items(&self) -> PathBuf {
        self.directory.join("items")
    }

    /// Where items are written.
    pub fn drafts(&self) -> PathBuf {
        self.directory.join("drafts")
    }

    /// The lock file of the store in `directory`.
    pub fn lock_path(directory: &Path) -> PathBuf {
        directory.join("lock")
    }

    /// Whether files are overwritten before they are removed. Without the key, encrypted ones say nothing.
    pub fn wipes(&self) -> bool {
        self.sealing == Sealing::Checksum
    }

    /// Writes an index without content.
    pub fn create(&self, _lock: &Flock) -> Result<()> {
        let path = self.database();
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io("remove", &path, &e));
            }
            _ => {}
        }
        drop(files::create_private(&path)?);
        let content = Content { generation: 1, ..Content::default() };
        self.write(&[], &content)?;
        fault::point("create.index");
        let (_, digest) = self.image()?;
        Journal::Done { generation: content.generation, digest }
            .save(&self.directory, &self.root)?;
        fault::point("create.journal");
        files::sync_directory(&self.directory)
    }

    /// Waits for the exclusive lock.
    pub fn lock(&self) -> Result<Flock> {
        let path = Self::lock_path(&self.directory);
        // Only a file that is open for writing can be locked exclusively on some network file systems.
        let opened = File::options().read(true).write(true).open(&path);
        Flock::exclusive(opened.map_err(|e| StoreError::io("open", &path, &e))?, &path)
    }

    /// Takes the exclusive lock and reads the index; carries out what a crash has left undone.
    pub fn exclusive(&self) -> Result<Locked<'_>> {
        self.enter(&mut Some(self.lock()?))
    }

    /// Reads the index under the exclusive lock, which stays with the caller if that fails.
    pub fn enter(&self, lock: &mut Option<Flock>) -> Result<Locked<'_>> {
        let content = match Journal::load(&self.directory, &self.root)? {
            Journal::Done { generation, digest } => self.read_done(generation, &digest)?,
            Journal::Intended { generation, redo } => self.recover(generation, &redo)?,
        };
        Ok(Locked { core: self, content, _lock: lock.take() })
    }

    /// Reads the index. With `writable`, says so if it could not be written.
    pub fn content(&self, writable: bool) -> Result<Content> {
        let path = Self::lock_path(&self.directory);
        let opened = File::options().read(true).write(writable).open(&path);
        let lock = Flock::shared(opened.map_err(|e| StoreError::io("open", &path, &e))?, &path)?;
        if let Journal::Done { generation, digest } = Journal::load(&self.directory, &self.root)? {
            return self.read_done(generation, &digest);
        }
        drop(lock);
        Ok(self.exclusive()?.content)
    }

    /// Reads a database that the journal says is complete.
    fn read_done(&self, generation: u64, digest: &[u8; 32]) -> Result<Content> {
        let path = self.database();
        let (bytes, found) = self.image()?;
        if found != *digest {
            return Err(StoreError::damaged(
                &path,
                "is not as it was left: it is damaged, or older than the rest",
            ));
        }
        let content = self.read_image(bytes)?;
        if content.generation != generation {
            return Err(StoreError::damaged(&path, "does not fit its journal"));
        }
        Ok(content)
    }

    /// Brings the index to transaction `generation`, which may be lost, whole, or half-written.
    fn recover(&self, generation: u64, redo: &[Edit]) -> Result<Content> {
        // A database that was not closed properly is repaired in memory; its file is repaired when
        // it is next written.
        let mut content = self.read_image(self.image()?.0)?;
        fault::point("recover.opened");
        if content.generation.checked_add(1) == Some(generation) {
            redo.iter().for_each(|edit| content.apply(edit));
            content.generation = generation;
            self.write(redo, &content)?;
        } else if content.generation != generation {
            return Err(StoreError::damaged(&self.database(), "is older than its journal"));
        }
        fault::point("recover.redone");
        let (_, digest) = self.image()?;
        Journal::Done { generation, digest }.save(&self.directory, &self.root)?;
        Ok(content)
    }

    /// The bytes of the database file and their digest.
    fn image(&self) -> Result<(Vec<u8>, [u8; 32])> {
        let path = self.database();
        let bytes = std::fs::read(&path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => StoreError::damaged(&path, "is missing"),
            _ => StoreError::io("read", &path, &e),
        })?;
        let digest = self.root.tag("index file", &bytes);
        Ok((bytes, digest))
    }

    /// Reads everything from the bytes of a database file. What the database does to them stays in memory.
    fn read_image(&self, bytes: Vec<u8>) -> Result<Content> {
        if bytes.is_empty() {
            return Err(StoreError::damaged(&self.database(), "is empty"));
        }
        self.guarded(|| {
            let database = builder().create_with_backend(Image::new(bytes))?;
            self.read_all(&database.begin_read()?)
        })
    }

    /// Carries out edits that lead to `content`, on disk when this returns.
    fn write(&self, edits: &[Edit], content: &Content) -> Result<()> {
        let path = self.database();
        self.guarded(|| {
            let database = builder().create_with_backend(Unlocked::open(&path)?)?;
            fault::point("commit.opened");
            let mut transaction = database.begin_write()?;
            transaction.set_durability(Durability::Immediate)?;
            write_edits(&transaction, edits)?;
            {
                let mut meta = transaction.open_table(META)?;
                meta.insert(GENERATION, content.generation.to_le_bytes().as_slice())?;
                meta.insert(SEAL, self.seal(content).as_slice())?;
            }
            fault::write("commit.written").map_err(redb::StorageError::from)?;
            fault::point("commit.written");
            transaction.commit()?;
            fault::point("commit.committed");
            close(database);
            Ok(())
        })
    }

    fn seal(&self, content: &Content) -> [u8; 32] {
        let mut hasher = self.root.hasher("index content");
        content.feed(&mut hasher);
        *hasher.finalize().as_bytes()
    }

    fn read_all(&self, transaction: &ReadTransaction) -> std::result::Result<Content, Trouble> {
        let wrong = |what: &str| Trouble::Content(what.to_string());
        let mut content = Content::default();
        for entry in transaction.open_table(ITEMS)?.iter()? {
            let (key, value) = entry?;
            let id = key.value().try_into().map_err(|_| wrong("names an item wrongly"))?;
            let record = Record::decode(ItemId(id), value.value()).map_err(Trouble::Content)?;
            content.items.insert(ItemId(id), record);
        }
        for entry in transaction.open_table(SPENT)?.iter()? {
            let id = entry?.0.value().try_into().map_err(|_| wrong("names an item wrongly"))?;
            content.spent.insert(ItemId(id));
        }
        for entry in transaction.open_table(DEAD)?.iter()? {
            let (key, value) = entry?;
            let group =
                GroupId::try_from(key.value()).map_err(|_| wrong("names a group wrongly"))?;
            let reason = String::from_utf8(value.value().to_vec());
            content.dead.insert(group, reason.map_err(|_| wrong("gives no reason"))?);
        }
        let meta = transaction.open_table(META)?;
        let generation = meta.get(GENERATION)?.ok_or_else(|| wrong("has no number"))?;
        let generation = generation.value().try_into().map_err(|_| wrong("has no number"))?;
        content.generation = u64::from_le_bytes(generation);
        let seal = meta.get(SEAL)?.ok_or_else(|| wrong("has no checksum"))?;
        if meta.len()? != 2 || seal.value() != self.seal(&content) {
            return Err(wrong("was changed, or is another store's"));
        }
        Ok(content)
    }

    /// Runs something on the database.
    ///
    /// The database trusts its file more than this store does: after a crash it may have to read one of which
    /// there is no digest, and on damage that its own checksums miss it may panic.
    fn guarded<T>(&self, run: impl FnOnce() -> std::result::Result<T, Trouble>) -> Result<T> {
        let path = self.database();
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(Trouble::Content(what))) => Err(StoreError::damaged(&path, what)),
            Ok(Err(Trouble::Database(error))) => Err(match *error {
                redb::Error::Io(e) => StoreError::io("read or write", &path, &e),
                other => StoreError::damaged(&path, format!("cannot be used ({other})")),
            }),
            Err(_) => {
                Err(StoreError::damaged(&path, "is damaged in a way the database cannot bear"))
            }
        }
    }
}

fn builder() -> redb::Builder {
    let mut builder = redb::Builder::new();
    builder.set_cache_size(CACHE);
    builder
}

/// Closes the database, which writes to it once more.
fn close(database: Database) {
    drop(database);
    fault::point("commit.closed");
}

fn write_edits(transaction: &WriteTransaction, edits: &[Edit]) -> std::result::Result<(), Trouble> {
    let mut items = transaction.open_table(ITEMS)?;
    let mut spent = transaction.open_table(SPENT)?;
    let mut dead = transaction.open_table(DEAD)?;
    for edit in edits {
        match edit {
            Edit::Add(id, record) | Edit::Update(id, record) => {
                items.insert(id.0.as_slice(), record.encode().as_slice())?;
            }
            Edit::Forget(id) => {
                items.remove(id.0.as_slice())?;
                spent.insert(id.0.as_slice(), [].as_slice())?;
            }
            Edit::Kill(group, reason) => {
                dead.insert(group.as_slice(), reason.as_bytes())?;
            }
        }
    }
    Ok(())
}

impl Locked<'_> {
    /// Carries out edits: on disk when this returns, and also if it fails half-way, unless they add something.
    pub fn commit(&mut self, edits: Vec<Edit>) -> Result<()> {
        if edits.is_empty() {
            return Ok(());
        }
        let core = self.core;
        let mut content = self.content.clone();
        edits.iter().for_each(|edit| content.apply(edit));
        content.generation += 1;
        let generation = content.generation;
        let redo = edits.iter().filter(|edit| !edit.may_be_lost()).cloned().collect();
        Journal::Intended { generation, redo }.save(&core.directory, &core.root)?;
        files::sync_directory(&core.directory)?;
        fault::point("commit.intended");
        core.write(&edits, &content)?;
        self.content = content;
        // The transaction stands even if this fails: the intention is then found to be carried out.
        let _ = core.image().and_then(|(_, digest)| {
            Journal::Done { generation, digest }.save(&core.directory, &core.root)
        });
        fault::point("commit.done");
        Ok(())
    }
}
