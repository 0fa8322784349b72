//! Some or all files of a store are restored in place to an earlier state: this is noticed, and
//! nothing is used twice.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use symbolon_store::*;

use crate::common::*;

/// How files are restored.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Written over the existing files, as `cp` does: they stay the same files.
    Over,
    /// Written to new files that are moved over the old ones where they differ, as `rsync` does.
    Renamed,
}

const WAYS: [Way; 2] = [Way::Over, Way::Renamed];
const HEAD: &[&str] = &["head"];
const INDEX: &[&str] = &["index-0.redb", "index-1.redb"];
const BOTH: &[&str] = &["head", "index-0.redb", "index-1.redb"];

fn put_back_file(way: Way, from: &Path, to: &Path) {
    match way {
        Way::Over => drop(fs::copy(from, to).unwrap()),
        Way::Renamed if fs::read(to).is_ok_and(|now| now == fs::read(from).unwrap()) => {}
        Way::Renamed => {
            let fresh = to.with_extension("rsync");
            fs::copy(from, &fresh).unwrap();
            fs::rename(fresh, to).unwrap();
        }
    }
}

/// Restores everything in a backup, as `cp -a backup/. store/` does.
fn put_back(way: Way, backup: &Path, store: &Path) {
    for entry in fs::read_dir(backup).unwrap() {
        let entry = entry.unwrap();
        let target = store.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            put_back(way, &entry.path(), &target);
        } else {
            put_back_file(way, &entry.path(), &target);
        }
    }
}

/// A store with a prepared item and a pool, and a backup of it.
struct Kept {
    path: PathBuf,
    backup: PathBuf,
    store: Store,
    prepared: ItemId,
    pool: ItemId,
}

fn keep(folder: &Path, protection: &Protection) -> Kept {
    let (path, backup) = (folder.join("store"), folder.join("backup"));
    let store = Store::create(&path, protection).unwrap();
    let prepared = prepared(&store, 1, 0, b"used once");
    let pool = pool(&store, 2, 0, 50);
    copy(&path, &backup);
    // Longer than any clock's tick: nobody makes a backup and restores it in less.
    std::thread::sleep(Duration::from_millis(20));
    Kept { path, backup, store, prepared, pool }
}

impl Kept {
    /// Uses the prepared item, and a record of the pool in each of `more` transactions.
    fn use_up(&self, more: u64) {
        self.store.take_prepared(self.prepared).unwrap().done().unwrap();
        for i in 0..more {
            self.store.take_range(self.pool, &[i], &[i + 1]).unwrap();
        }
    }

    /// Checks that the store yields nothing, neither to a process that has it open nor to one that
    /// opens it.
    fn check_refused(&self, protection: &Protection, what: &str) -> StoreError {
        is_distrusted(self.store.take_prepared(self.prepared), what);
        is_distrusted(self.store.take_range(self.pool, &[0], &[1]), what);
        is_distrusted(self.store.available_items(&Filter::default()), what);
        Store::open(&self.path, protection).unwrap_err()
    }
}

/// Restores everything, after one and more transactions: file systems give the inode number of a
/// removed file to the next one, so heads may alternate between two numbers.
fn put_everything_back(in_folder: impl Fn() -> tempfile::TempDir) {
    for (way, more) in WAYS.into_iter().flat_map(|way| [0, 1, 2].map(|more| (way, more))) {
        for files in [None, Some(HEAD), Some(INDEX), Some(BOTH)] {
            let what = format!("{way:?}, {more} more transactions, {files:?}");
            let folder = in_folder();
            let kept = keep(folder.path(), &Protection::None);
            kept.use_up(more);
            match files {
                None => put_back(way, &kept.backup, &kept.path),
                Some(names) => names.iter().for_each(|name| {
                    put_back_file(way, &kept.backup.join(name), &kept.path.join(name));
                }),
            }
            let error = kept.check_refused(&Protection::None, &what);
            // A restored index alone does not match the head; other cases are detected by the
            // head's file.
            let by_digest = files == Some(INDEX) || births_are_hidden();
            let by_file = matches!(&error, StoreError::RolledBack { .. });
            assert!(by_file || by_digest && matches!(error, StoreError::Damaged { .. }), "{what}");
            if files.is_none_or(|files| files == BOTH) {
                assert!(by_file, "{what}: {error}");
                let text = error.to_string();
                assert!(
                    text.contains("rolled back") && text.contains("Reset its ownership"),
                    "{text}"
                );
            }
        }
    }
}

fn births_are_hidden() -> bool {
    std::env::var_os("SYMBOLON_NO_BIRTHS").is_some()
}

/// What the children of the tests here do.
pub fn child(path: &Path) {
    put_everything_back(|| tempfile::tempdir_in(path).unwrap());
    // An honest store is not accused.
    let folder = tempfile::tempdir_in(path).unwrap();
    let kept = keep(folder.path(), &Protection::None);
    for i in 0..5 {
        open(&kept.path).take_range(kept.pool, &[i], &[i + 1]).unwrap();
    }
    eprintln!("all refused");
}

/// Cheat: – | whole store; head and index; each alone | put back in place, by writing over or as
/// new files | the head's own inode and birth, written into it | always
#[test]
fn a_store_put_back_in_place_is_refused() {
    put_everything_back(|| tempfile::tempdir().unwrap());
}

/// Cheat: – | whole store, head and index, each alone; on a file system in memory | put back in
/// place | the head's own inode and birth, written into it | always
#[test]
fn a_store_put_back_in_memory_is_refused() {
    put_everything_back(scratch);
}

/// Cheat: – | whole store, head and index, each alone; no file births | put back in place | the
/// index's last change, written into the head | always
#[test]
fn a_store_put_back_is_refused_where_files_have_no_births() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [
        ("SYMBOLON_TEST_TASK", "put back"),
        ("SYMBOLON_TEST_STORE", folder.path().to_str().unwrap()),
        ("SYMBOLON_NO_BIRTHS", "1"),
    ];
    let output = run_child(&variables);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("all refused"), "{said}");
}

/// Cheat: – | whole store | put back, reset, put back again | refused; void once reset | always
#[test]
fn adopting_a_store_that_was_put_back_voids_everything_in_it() {
    let folder = scratch();
    for (name, protection) in protections(&folder) {
        let place = folder.path().join(name);
        fs::create_dir(&place).unwrap();
        let kept = keep(&place, &protection);
        kept.use_up(2);
        put_back(Way::Over, &kept.backup, &kept.path);
        let refused = kept.check_refused(&protection, name);
        assert!(matches!(refused, StoreError::RolledBack { .. }), "{name}: {refused}");
        let reset = Store::reset_ownership(&kept.path, &protection).unwrap();
        assert!(available_items(&reset).is_empty(), "{name}");
        assert!(reset.take_prepared(kept.prepared).is_err(), "{name}");
        assert!(reset.take_range(kept.pool, &[10], &[11]).is_err(), "{name}");
        let again = try_pool(&reset, 2, 0, 5).unwrap_err();
        assert!(matches!(again, StoreError::Exists { .. }), "{name}: {again}");
        pool(&reset, 3, 0, 5);
        let store = Store::open(&kept.path, &protection).unwrap();
        assert_eq!(available_items(&store).len(), 1, "{name}");
        // The same backup is still useless.
        put_back(Way::Over, &kept.backup, &kept.path);
        let refused = kept.check_refused(&protection, name);
        assert!(matches!(refused, StoreError::RolledBack { .. }), "{name}: {refused}");
    }
}

#[test]
fn adopting_makes_a_store_usable_of_which_nothing_was_left() {
    let folder = scratch();
    let path = folder.path().join("store");
    let store = Store::create(&path, &Protection::None).unwrap();
    copy(&path, &folder.path().join("backup"));
    pool(&store, 1, 0, 5);
    put_back(Way::Over, &folder.path().join("backup"), &path);
    let refused = Store::open(&path, &Protection::None).unwrap_err();
    assert!(matches!(refused, StoreError::RolledBack { .. }), "{refused}");
    Store::reset_ownership(&path, &Protection::None).unwrap();
    assert!(available_items(&open(&path)).is_empty());
}

#[test]
fn a_backup_of_the_latest_state_may_be_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let kept = keep(folder.path(), &Protection::None);
    put_back(Way::Over, &kept.backup, &kept.path);
    assert_eq!(available_items(&open(&kept.path)).len(), 2);
    kept.use_up(1);
}

/// Backups made of hard links contain the very files of that time.
/// Cheat: – | head | an old one kept under a hard link, with its index | replaced heads are emptied
/// | always
#[test]
fn an_old_head_under_another_name_leads_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let kept = keep(folder.path(), &Protection::None);
    let linked = folder.path().join("linked");
    fs::hard_link(kept.path.join("head"), &linked).unwrap();
    assert_eq!(available_items(&open(&kept.path)).len(), 2, "a link does no harm");
    kept.use_up(1);
    fs::rename(&linked, kept.path.join("head")).unwrap();
    for name in INDEX {
        put_back_file(Way::Over, &kept.backup.join(name), &kept.path.join(name));
    }
    is_distrusted(Store::open(&kept.path, &Protection::None), "a hard link");
}
