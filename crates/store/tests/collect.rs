//! Garbage collection beside others who use the store: they do not wait while files are
//! overwritten, nothing of theirs is removed, and every directory is counted once.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};

use symbolon_store::*;

use crate::common::*;

/// What the children of the tests below do.
pub fn child(path: &Path) {
    eprintln!("{:?}", open(path).gc().unwrap());
}

fn variables<'a>(path: &'a Path, variable: &'a str, at: &'a str) -> [(&'a str, &'a str); 3] {
    let store = path.to_str().unwrap();
    [("SYMBOLON_TEST_TASK", "collect and say so"), ("SYMBOLON_TEST_STORE", store), (variable, at)]
}

/// A collection in a process of its own that waits at a fault point.
struct Paused {
    child: Child,
    said: BufReader<ChildStderr>,
}

impl Paused {
    fn at(point: &str, path: &Path) -> Paused {
        let mut command = command(&variables(path, "SYMBOLON_PAUSE", point));
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("paused at") {
            line.clear();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "it does not pass {point}");
        }
        let lock = File::open(path.join("lock")).unwrap();
        assert!(lock.try_lock().is_ok(), "the store is locked while files are overwritten");
        Paused { child, said }
    }

    /// Lets it go on; returns what it says at its end.
    fn resume(mut self) -> String {
        drop(self.child.stdin.take());
        let mut text = String::new();
        self.said.read_to_string(&mut text).unwrap();
        assert!(self.child.wait().unwrap().success(), "{text}");
        text
    }
}

/// Leaves a directory with copies of a file in it, as a process that died does.
fn leave(directory: &Path, file: &Path, copies: usize) {
    fs::create_dir(directory).unwrap();
    for number in 0..copies {
        fs::copy(file, directory.join(format!("{number}.bin"))).unwrap();
    }
}

/// Leaves the files of an item that is void, of one that no record tells of, and of an unfinished
/// one. Returns the names of the two items.
fn leave_each(path: &Path, store: &Store, file: &Path) -> [ItemId; 2] {
    let void = prepared(store, 1, 0, b"void");
    store.void(&[void], "not wanted").unwrap();
    let unknown = meta(ItemKind::Prepared, 2, 0).id();
    for id in [void, unknown] {
        leave(&path.join("items").join(id.to_string()), file, 1);
    }
    leave(&path.join("drafts").join("dead"), file, 1);
    [void, unknown]
}

#[test]
fn others_use_the_store_while_files_are_overwritten() {
    let folder = scratch();
    let (path, store) = fresh(&folder);
    let other = prepared(&store, 1, 1, b"other");
    let some = file(&path, other, 0);
    let bytes = 3 * fs::metadata(&some).unwrap().len();
    let [void, unknown] = leave_each(&path, &store, &some);
    let mut writer = store.begin(meta(ItemKind::Prepared, 3, 0), &[Section::Whole], FRAME).unwrap();
    writer.section(0).put(b"written meanwhile").unwrap();

    let paused = Paused::at("discard.file", &path);
    let taken = store.take_prepared(other).unwrap();
    assert_eq!(read(&taken, 0), b"other");
    taken.done().unwrap();
    writer.finish(vec![1]).unwrap();
    assert_eq!(prepared(&store, 2, 0, b"under the same name"), unknown);

    let said = paused.resume();
    let expected = Collected { items: vec![void], drafts: 1, orphans: 1, busy: 1, bytes };
    assert!(said.contains(&format!("{expected:?}")), "{said}");
    let whole = store.verify(|_| {}).unwrap();
    assert!(whole.len() == 2 && whole.iter().all(|(_, whole)| whole.is_ok()), "{whole:?}");
    assert_eq!(fs::read_dir(path.join("items")).unwrap().count(), 2);
}

/// The first collection waits in one of four directories, after it has removed one file there.
#[test]
fn two_collections_at_once_count_everything_once() {
    // How many files each directory has, and what the second collection removes and must leave.
    for (copies, drafts, busy) in [(1, 4, 0), (2, 3, 1)] {
        let folder = scratch();
        let (path, store) = fresh(&folder);
        let some = file(&path, prepared(&store, 1, 0, b"some"), 0);
        for number in 0..4 {
            leave(&path.join("drafts").join(number.to_string()), &some, copies);
        }
        let bytes = copies as u64 * fs::metadata(&some).unwrap().len();
        let paused = Paused::at("discard.file", &path);
        let second = Collected { drafts, busy, bytes: 3 * bytes, ..Collected::default() };
        assert_eq!(store.gc().unwrap(), second);
        let first = Collected { drafts: 4 - drafts, bytes, ..Collected::default() };
        let said = paused.resume();
        assert!(said.contains(&format!("{first:?}")), "{said}");
        assert_eq!(fs::read_dir(path.join("items")).unwrap().count(), 1);
    }
}

#[test]
fn what_a_crash_leaves_is_overwritten_and_counted_as_what_it_was() {
    for at in ["collect.aside:1", "collect.aside:2", "collect.aside:3"] {
        let folder = scratch();
        let (path, store) = fresh(&folder);
        let some = file(&path, prepared(&store, 1, 1, &[0xd5; 300]), 0);
        let bytes = 3 * fs::metadata(&some).unwrap().len();
        let [void, unknown] = leave_each(&path, &store, &some);
        let left = [
            path.join("drafts").join("dead").join("0.bin"),
            file(&path, void, 0),
            file(&path, unknown, 0),
        ];
        let outside: Vec<_> = (0..3).map(|n| folder.path().join(format!("outside {n}"))).collect();
        for (left, outside) in left.iter().zip(&outside) {
            fs::hard_link(left, outside).unwrap();
        }
        let died = run_child(&variables(&path, "SYMBOLON_FAULT", at));
        assert_eq!(died.status.code(), None, "{at}");
        let expected = Collected { drafts: 1, orphans: 1, bytes, ..Collected::default() };
        assert_eq!(store.gc().unwrap(), expected, "{at}");
        for outside in &outside {
            let bytes = fs::read(outside).unwrap();
            assert!(bytes.len() > 300 && bytes.iter().all(|byte| *byte == 0), "{at}");
        }
        assert_eq!(fs::read_dir(path.join("items")).unwrap().count(), 1, "{at}");
    }
}
