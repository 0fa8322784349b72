//! What the tests of the store have in common.

#![allow(dead_code, reason = "every test file uses a part")]

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use symbolon_store::*;

/// The size of a record of the pools here, in bytes.
pub const RECORD: usize = 16;
/// The size of a frame here: records straddle frames.
pub const FRAME: u32 = 100;

/// Returns the name of a group.
pub fn group(number: u8) -> [u8; 32] {
    let mut group = [number; 32];
    group[0] ^= 0x5a;
    group
}

pub fn meta(kind: ItemKind, group: u8, sequence: u64) -> ItemMeta {
    ItemMeta {
        kind,
        protocol: "wrk".to_string(),
        group: self::group(group),
        party: 0.into(),
        peers: vec![ItemPeer { party: 1.into(), fingerprint: Some("ab".repeat(32)) }],
        dealer: None,
        rho: 40,
        circuit: (kind == ItemKind::Prepared).then_some([9; 32]),
        name: None,
        sequence,
        counts: Vec::new(),
        components: Vec::new(),
    }
}

/// Returns the content of record `index` of a pool with this sequence number.
pub fn record(sequence: u64, index: u64) -> [u8; RECORD] {
    let mut out = [0; RECORD];
    out[..8].copy_from_slice(&(sequence + 1).to_le_bytes());
    out[8..].copy_from_slice(&(index + 1).to_le_bytes());
    out
}

/// Creates a pool of `count` records whose content identifies them, and a section that all takers
/// read.
pub fn pool(store: &Store, group: u8, sequence: u64, count: u64) -> ItemId {
    try_pool(store, group, sequence, count).unwrap()
}

pub fn try_pool(store: &Store, group: u8, sequence: u64, count: u64) -> Result<ItemId> {
    let sections = [Section::Records { counter: 0, bits: 8 * RECORD as u64 }, Section::Whole];
    let mut item_writer = store.begin(meta(ItemKind::Pool, group, sequence), &sections, FRAME)?;
    for index in 0..count {
        item_writer.section(0).put(&record(sequence, index))?;
    }
    item_writer.section(1).put(b"for everybody")?;
    item_writer.finish(vec![count])
}

/// Creates a prepared item with these bytes.
pub fn prepared(store: &Store, group: u8, sequence: u64, bytes: &[u8]) -> ItemId {
    try_closed(store, group, sequence, bytes).and_then(ClosedItem::publish).unwrap()
}

/// Creates a prepared item with these bytes, and does not enter it into the store.
pub fn try_closed(store: &Store, group: u8, sequence: u64, bytes: &[u8]) -> Result<ClosedItem> {
    let meta = meta(ItemKind::Prepared, group, sequence);
    let mut item_writer = store.begin(meta, &[Section::Whole], FRAME)?;
    item_writer.section(0).put(bytes)?;
    item_writer.close(vec![1])
}

/// Reads everything that was taken of a section.
pub fn read(taken: &ConsumedItem, section: usize) -> Vec<u8> {
    let mut out = Vec::new();
    taken.read(section, taken.bytes(section)).unwrap().read_to_end(&mut out).unwrap();
    out
}

/// Checks that the part taken of a pool made by [`pool`] contains exactly its records.
pub fn check_records(taken: &ConsumedItem) {
    let sequence = taken.meta().sequence;
    let expected: Vec<u8> =
        (taken.from()[0]..taken.upto()[0]).flat_map(|i| record(sequence, i)).collect();
    assert_eq!(read(taken, 0), expected);
    assert_eq!(read(taken, 1), b"for everybody");
}

pub fn available_items(store: &Store) -> Vec<AvailableItem> {
    store.available_items(&Filter::default()).unwrap()
}

/// Returns a directory in memory if possible: in these tests processes die, not disks.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

pub fn fresh(folder: &tempfile::TempDir) -> (PathBuf, Store) {
    let path = folder.path().join("store");
    let store = Store::create(&path, &Protection::None).unwrap();
    (path, store)
}

pub fn open(path: &Path) -> Store {
    Store::open(path, &Protection::None).unwrap()
}

/// Returns a command that runs the test `child` of this test program as a separate process, with
/// these variables.
pub fn command(variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture", "--quiet", "--test-threads=1"]);
    command.envs(variables.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts a child.
pub fn start(variables: &[(&str, &str)]) -> Child {
    command(variables).spawn().unwrap()
}

/// Runs a child to its end.
pub fn run_child(variables: &[(&str, &str)]) -> Output {
    start(variables).wait_with_output().unwrap()
}

/// Returns this process's task, if it is a child.
pub fn task() -> Option<(String, PathBuf)> {
    let task = std::env::var("SYMBOLON_TEST_TASK").ok()?;
    Some((task, PathBuf::from(std::env::var_os("SYMBOLON_TEST_STORE")?)))
}

/// Returns no protection, and protection with a key file in this directory.
pub fn protections(folder: &tempfile::TempDir) -> [(&'static str, Protection); 2] {
    let key = folder.path().join("key");
    create_key_file(&key).unwrap();
    [("plain", Protection::None), ("encrypted", Protection::KeyFile(key))]
}

/// Returns the file of a section.
pub fn file(store: &Path, id: ItemId, section: usize) -> PathBuf {
    store.join("items").join(id.to_string()).join(format!("{section}.bin"))
}

/// Copies a directory like `cp -a` to a path where nothing is.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

pub fn is_distrusted<T: std::fmt::Debug>(result: Result<T>, what: &str) {
    match result {
        Err(StoreError::Damaged { .. } | StoreError::RolledBack { .. }) => {}
        other => panic!("{what}: {other:?}"),
    }
}
