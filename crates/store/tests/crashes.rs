//! The process dies at every step of every operation on a store, the disk is full at every write,
//! or processes are killed at random: material that may have been used is never available again.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use symbolon_store::*;

use crate::common::*;

const POOL: u64 = 40;

/// Records that something is used from now on, as the first message that depends on it would.
/// Nothing in this log may ever be available again.
fn use_up(store: &Path, what: &str) {
    let log = store.with_file_name("used");
    let mut log = OpenOptions::new().create(true).append(true).open(log).unwrap();
    log.write_all(format!("{what}\n").as_bytes()).unwrap();
}

fn used(store: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(store.with_file_name("used")).unwrap_or_default();
    text.lines().map(str::to_string).collect()
}

/// Checks the material taken, and uses it up.
fn spend(store: &Path, taken: &ConsumedItem) {
    let id = taken.id();
    match taken.meta().kind {
        ItemKind::Pool => {
            check_records(taken);
            for i in taken.from()[0]..taken.upto()[0] {
                use_up(store, &format!("{id} {i}"));
            }
        }
        ItemKind::Prepared => {
            assert_eq!(read(taken, 0), [5; 300]);
            use_up(store, &format!("{id}"));
        }
    }
}

/// Runs a child's task on the store.
fn act(task: &str, path: &Path) -> Result<()> {
    if task == "create" {
        return Store::open_or_create(path, &Protection::None).map(drop);
    }
    if task == "encrypt" {
        let key = Protection::KeyFile(path.with_file_name("key"));
        return Store::encrypt(path, &Protection::None, &key);
    }
    let store = Store::open(path, &Protection::None)?;
    let wanted = |kind| Filter { kind: Some(kind), ..Filter::default() };
    match task {
        "refill" => drop(try_pool(&store, 3, 0, POOL)?),
        "together" => {
            let items = (0..3).map(|sequence| try_closed(&store, 5, sequence, &[5; 300]));
            ClosedItem::publish_all(items.collect::<Result<_>>()?)?;
            use_up(path, "together");
        }
        "range" => {
            let item = store.available_items(&wanted(ItemKind::Pool))?.remove(0);
            let next = item.next[0];
            spend(path, &store.take_range(item.id, &[next], &[next + 7])?);
        }
        "rest" => {
            let item = store.available_items(&wanted(ItemKind::Pool))?.remove(0);
            let taken = store.take_range(item.id, &item.next, &item.meta.counts)?;
            spend(path, &taken);
            taken.done()?;
        }
        "prepared" => {
            let item = store.available_items(&wanted(ItemKind::Prepared))?.remove(0);
            let taken = store.take_prepared(item.id)?;
            spend(path, &taken);
            taken.done()?;
        }
        "kill" => {
            let group = store.available_items(&wanted(ItemKind::Pool))?[0].group;
            use_up(path, &format!("dead {}", hex(&group)));
            store.revoke_group(&group, "a check failed")?;
            use_up(path, &format!("surely dead {}", hex(&group)));
        }
        "void" => {
            let ids: Vec<_> =
                store.available_items(&wanted(ItemKind::Pool))?.iter().map(|o| o.id).collect();
            store.void(&ids, "not wanted")?;
            ids.iter().for_each(|id| use_up(path, &format!("void {id}")));
        }
        "collect" => drop(store.gc()?),
        "share" => {
            while let Some(item) = store.available_items(&wanted(ItemKind::Pool))?.first() {
                let upto = (item.next[0] + 3).min(POOL);
                match store.take_range(item.id, &item.next, &[upto]) {
                    Ok(taken) => spend(path, &taken),
                    // Another process took it first.
                    Err(StoreError::AlreadyUsed { .. }) => {}
                    Err(other) => return Err(other),
                }
            }
        }
        "forever" => loop {
            let pools = store.available_items(&wanted(ItemKind::Pool))?;
            match pools.first() {
                Some(item) => {
                    let upto = (item.next[0] + 3).min(POOL);
                    spend(path, &store.take_range(item.id, &item.next, &[upto])?);
                }
                None => {
                    let sequence = u64::from_le_bytes(random());
                    try_pool(&store, 4, sequence, POOL)?;
                    store.gc()?;
                }
            }
        },
        other => panic!("unknown task {other}"),
    }
    Ok(())
}

fn random() -> [u8; 8] {
    use std::io::Read;
    let mut bytes = [0; 8];
    File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the children of the tests below do.
pub fn child(task: &str, path: &Path) {
    if let Err(error) = act(task, path) {
        eprintln!("child: {error}");
        std::process::exit(3);
    }
}

/// Creates a store with two pools, one of them partly used, a prepared item, a void one, and an
/// unfinished one.
fn furnish(path: &Path) {
    let store = Store::create(path, &Protection::None).unwrap();
    let first = pool(&store, 1, 0, POOL);
    pool(&store, 1, 1, POOL);
    prepared(&store, 1, 0, &[5; 300]);
    let void = prepared(&store, 1, 1, &[5; 300]);
    store.void(&[void], "for the collector").unwrap();
    let spent = prepared(&store, 1, 2, &[5; 300]);
    // The item is still being read when its files would be removed, so they are left for garbage
    // collection.
    let taken = store.take_prepared(spent).unwrap();
    let reader = taken.read(0, 0..0).unwrap();
    std::mem::forget((taken, reader));
    use_up(path, &format!("{spent}"));
    let skipped = store.take_range(first, &[3], &[5]).unwrap();
    (0..5).for_each(|i| use_up(path, &format!("{} {i}", skipped.id())));
    fs::create_dir(path.join("drafts").join("half")).unwrap();
    fs::write(path.join("drafts").join("half").join("0.bin"), b"half").unwrap();
}

/// Checks what must hold whatever happened: everything available is intact, and none of it may have
/// been used.
fn inspect(path: &Path, what: &str) {
    let store = open(path);
    let used = used(path);
    for item in store.available_items(&Filter::default()).unwrap() {
        let id = item.id;
        let dead = format!("surely dead {}", hex(&item.group));
        assert!(!used.contains(&dead), "{what}: {id} of a dead group is offered");
        assert!(!used.contains(&format!("void {id}")), "{what}: the void {id} is offered");
        match item.meta.kind {
            ItemKind::Pool => {
                let left = item.next[0]..item.meta.counts[0];
                assert!(!left.is_empty(), "{what}");
                for i in left {
                    assert!(
                        !used.contains(&format!("{id} {i}")),
                        "{what}: {id} {i} may be used again"
                    );
                }
            }
            ItemKind::Prepared => {
                assert!(!used.contains(&id.to_string()), "{what}: {id} may be used again");
            }
        }
    }
    // Items that are entered at once are there together or not at all.
    let five = available_items(&store).iter().filter(|item| item.group == group(5)).count();
    let (entered, gone) = (used.contains("together"), used.contains("exercised"));
    assert!(gone || five == 3 || five == 0 && !entered, "{what}: {five} of 3 items");
    for (id, result) in store.verify(|_| {}).unwrap() {
        result.unwrap_or_else(|e| panic!("{what}: {id} is visible and not whole: {e}"));
    }
}

/// Checks that the store still works: everything left can be used, new items made, and everything
/// collected.
fn exercise(path: &Path, what: &str) {
    use_up(path, "exercised");
    let store = open(path);
    for item in available_items(&store) {
        let taken = match item.meta.kind {
            ItemKind::Pool => store.take_range(item.id, &item.next, &item.meta.counts),
            ItemKind::Prepared => store.take_prepared(item.id),
        };
        let taken = taken.unwrap_or_else(|e| panic!("{what}: {e}"));
        taken.check().unwrap();
        spend(path, &taken);
    }
    store.gc().unwrap();
    for folder in ["items", "drafts"] {
        let left = fs::read_dir(path.join(folder)).unwrap().count();
        assert_eq!(left, 0, "{what}: something is left in {folder}");
    }
    pool(&store, 9, 0, 3);
    inspect(path, what);
}

const TASKS: [&str; 8] =
    ["refill", "together", "range", "rest", "prepared", "kill", "void", "collect"];

/// Restores the files of a furnished store, and keeps the store's own location.
struct Snapshot {
    folder: tempfile::TempDir,
}

impl Snapshot {
    fn new() -> Self {
        let folder = scratch();
        furnish(&folder.path().join("store"));
        copy(&folder.path().join("store"), &folder.path().join("saved"));
        fs::copy(folder.path().join("used"), folder.path().join("saved-used")).unwrap();
        Snapshot { folder }
    }

    /// Returns the store in its furnished state.
    fn restore(&self) -> std::path::PathBuf {
        let (store, saved) = (self.folder.path().join("store"), self.folder.path().join("saved"));
        for name in ["items", "drafts"] {
            fs::remove_dir_all(store.join(name)).unwrap();
            copy(&saved.join(name), &store.join(name));
        }
        for name in ["index-0.redb", "index-1.redb", "head"] {
            fs::copy(saved.join(name), store.join(name)).unwrap();
        }
        Store::pass_for_latest(&store, &Protection::None).unwrap();
        fs::copy(self.folder.path().join("saved-used"), self.folder.path().join("used")).unwrap();
        store
    }
}

fn variables<'a>(
    task: &'a str,
    path: &'a Path,
    variable: &'a str,
    at: &'a str,
) -> [(&'a str, &'a str); 3] {
    [("SYMBOLON_TEST_TASK", task), ("SYMBOLON_TEST_STORE", path.to_str().unwrap()), (variable, at)]
}

/// Kills the task at every point that it passes, as often as it passes the point; returns these
/// points.
fn die_everywhere(tasks: &[&str], points: &[&'static str]) -> BTreeSet<&'static str> {
    let snapshot = Snapshot::new();
    let mut hit = BTreeSet::new();
    for task in tasks {
        for point in points {
            for time in 1..=3 {
                let path = snapshot.restore();
                let at = format!("{point}:{time}");
                let what = format!("{task} at {at}");
                let output = run_child(&variables(task, &path, "SYMBOLON_FAULT", &at));
                if output.status.success() {
                    inspect(&path, &what);
                    break;
                }
                let said = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), None, "{what}: no crash, but {said}");
                hit.insert(*point);
                inspect(&path, &what);
                exercise(&path, &what);
            }
        }
    }
    hit
}

/// Cheat: – | every step | death: half-written files | nothing is used twice | always
#[test]
fn death_at_every_step() {
    let ordinary = |name: &&&str| !name.starts_with("create.") && !name.starts_with("encrypt.");
    let points: Vec<_> = fault::POINTS.iter().filter(ordinary).copied().collect();
    let hit = std::thread::scope(|scope| {
        let (one, other) = TASKS.split_at(3);
        let one = scope.spawn(|| die_everywhere(one, &points));
        let other = scope.spawn(|| die_everywhere(other, &points));
        [one.join().unwrap(), other.join().unwrap()].concat_sets()
    });
    let missed: Vec<_> = points.iter().filter(|point| !hit.contains(*point)).collect();
    assert!(missed.is_empty(), "no task passes {missed:?}");
}

trait ConcatSets<T> {
    fn concat_sets(self) -> BTreeSet<T>;
}

impl<T: Ord, const N: usize> ConcatSets<T> for [BTreeSet<T>; N] {
    fn concat_sets(self) -> BTreeSet<T> {
        self.into_iter().flatten().collect()
    }
}

/// Cheat: – | every step | two deaths | nothing is used twice | always
#[test]
fn what_was_decided_stands_whatever_comes_next() {
    let snapshot = Snapshot::new();
    for (first, stands) in
        [("commit.written", false), ("commit.decided", true), ("commit.done", true)]
    {
        for second in ["commit.written", "commit.decided", "commit.done", "none"] {
            let path = snapshot.restore();
            let what = format!("{first}, then {second}");
            let died = run_child(&variables("rest", &path, "SYMBOLON_FAULT", first));
            assert_eq!(died.status.code(), None, "{what}");
            let left = available_items(&open(&path))
                .iter()
                .filter(|o| o.meta.kind == ItemKind::Pool)
                .count();
            assert_eq!(left, if stands { 1 } else { 2 }, "{what}");
            run_child(&variables("range", &path, "SYMBOLON_FAULT", second));
            inspect(&path, &what);
            let left = available_items(&open(&path))
                .iter()
                .filter(|o| o.meta.kind == ItemKind::Pool)
                .count();
            assert_eq!(left, if stands { 1 } else { 2 }, "{what}");
            exercise(&path, &what);
        }
    }
}

/// Cheat: – | making a store | death | nothing half-made is used | always
#[test]
fn death_while_making_a_store() {
    let passed = ["create.", "commit.", "head."];
    let is_passed = |name: &&&str| passed.iter().any(|start| name.starts_with(start));
    for point in fault::POINTS.iter().filter(is_passed) {
        let folder = scratch();
        let path = folder.path().join("store");
        let died = run_child(&variables("create", &path, "SYMBOLON_FAULT", point));
        assert_eq!(died.status.code(), None, "{point}");
        let again = run_child(&variables("create", &path, "SYMBOLON_FAULT", "none"));
        assert!(again.status.success(), "{point}: {}", String::from_utf8_lossy(&again.stderr));
        exercise(&path, point);
    }
}

/// Cheat: – | every write | a full disk | nothing is used twice | always
#[test]
fn a_full_disk_at_every_write() {
    let snapshot = Snapshot::new();
    let mut hit = BTreeSet::new();
    for task in TASKS {
        for point in fault::WRITES {
            for time in 1..=2 {
                let path = snapshot.restore();
                let at = format!("{point}:{time}");
                let what = format!("{task} on a disk full at {at}");
                let output = run_child(&variables(task, &path, "SYMBOLON_FULL", &at));
                inspect(&path, &what);
                if output.status.success() {
                    // The point was not passed that often, or the failure did no harm.
                    continue;
                }
                hit.insert(*point);
                let said = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), Some(3), "{what}: {said}");
                assert!(said.contains("no space left to write"), "{what}: {said}");
                exercise(&path, &what);
            }
        }
    }
    assert_eq!(hit.len(), fault::WRITES.len(), "only {hit:?}");
}

/// Cheat: – | void groups | a full disk | nothing void is used | always
#[test]
fn a_group_dies_on_a_full_disk_too() {
    let snapshot = Snapshot::new();
    let path = snapshot.restore();
    let output = run_child(&variables("kill", &path, "SYMBOLON_FULL", "replace.write:1"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(used(&path).iter().any(|line| line.starts_with("surely dead")));
    assert!(available_items(&open(&path)).is_empty());
    inspect(&path, "killed on a full disk");
}

/// Cheat: – | any time | kills at random | nothing is used twice | always
#[test]
fn kill_at_random() {
    let folder = scratch();
    let (path, store) = fresh(&folder);
    pool(&store, 1, 0, POOL);
    let mut round = 0;
    // On a busy machine the children do less before they are killed.
    while round < 25 || used(&path).len() <= 50 {
        round += 1;
        assert!(round < 1000, "the children do next to nothing");
        let before = used(&path).len();
        let mut children: Vec<_> =
            (0..2).map(|_| start(&variables("forever", &path, "SYMBOLON_FAULT", "none"))).collect();
        let pause = u64::from_le_bytes(random()) % 60_000;
        std::thread::sleep(std::time::Duration::from_micros(20_000 + pause));
        for running in &mut children {
            running.kill().unwrap();
        }
        for running in children {
            let output = running.wait_with_output().unwrap();
            // A child ends by itself if the other one took the same range first, or collected.
            let said = String::from_utf8_lossy(&output.stderr);
            let beaten = said.contains("was used already") || said.contains("holds no item");
            assert!(output.status.code().is_none() || beaten, "round {round}: {said}");
        }
        inspect(&path, &format!("round {round}"));
        let now = used(&path).len();
        assert!(now >= before);
    }
    let log = fs::read_to_string(path.with_file_name("used")).unwrap();
    assert_eq!(log.lines().count(), used(&path).len(), "something was used twice");
    exercise(&path, "after all rounds");
}

/// Cheat: – | taking | four processes at once | nothing is used twice | always
#[test]
fn every_record_goes_to_one_of_four_processes() {
    let folder = scratch();
    let path = folder.path().join("store");
    let store = Store::create(&path, &Protection::None).unwrap();
    let ids: Vec<_> = (0..4).map(|i| pool(&store, 1, i, POOL)).collect();
    let children: Vec<_> =
        (0..4).map(|_| start(&variables("share", &path, "SYMBOLON_FAULT", "none"))).collect();
    for running in children {
        let output = running.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let log = fs::read_to_string(path.with_file_name("used")).unwrap();
    let mut lines: Vec<_> = log.lines().map(str::to_string).collect();
    lines.sort();
    let mut all: Vec<_> =
        ids.iter().flat_map(|id| (0..POOL).map(move |i| format!("{id} {i}"))).collect();
    all.sort();
    assert_eq!(lines, all, "each record once");
    assert!(available_items(&store).is_empty());
}

/// Opens the store with whichever key opens it; returns that key, too.
fn open_by_any(path: &Path) -> (Store, Protection) {
    let key = Protection::KeyFile(path.with_file_name("key"));
    match Store::open(path, &Protection::None) {
        Ok(store) => (store, Protection::None),
        Err(StoreError::Locked { .. }) => (Store::open(path, &key).unwrap(), key),
        Err(other) => panic!("{other}"),
    }
}

/// Returns what is left and what was used, according to the index.
fn told(store: &Store) -> Vec<String> {
    let entries = store.list().unwrap().into_iter();
    let mut told: Vec<String> = entries
        .filter(|entry| entry.state == ItemState::Available)
        .map(|entry| format!("{} {:?}", entry.id, entry.next))
        .collect();
    told.sort();
    told
}

/// Returns whether any file contains these bytes of the plain store, which must not happen once it
/// is encrypted.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(path).unwrap().flatten().any(|entry| match entry.file_type().unwrap().is_dir() {
        true => holds(&entry.path(), bytes),
        false => fs::read(entry.path()).unwrap().windows(bytes.len()).any(|part| part == bytes),
    })
}

/// Whenever the encryption of a store is interrupted, exactly one body is current, it knows
/// everything that was used, and the next process to open the store removes the other one.
#[test]
fn death_while_a_store_is_encrypted() {
    let mut hit = BTreeSet::new();
    let mut encrypted = BTreeSet::new();
    let points = fault::POINTS.iter().filter(|point| !point.starts_with("create."));
    for point in points {
        for time in 1..=4 {
            let folder = scratch();
            let path = folder.path().join("store");
            create_key_file(path.with_file_name("key")).unwrap();
            let before = {
                let store = Store::create(&path, &Protection::None).unwrap();
                let begun = pool(&store, 1, 0, POOL);
                drop(store.take_range(begun, &[0], &[5]).unwrap());
                pool(&store, 2, 0, POOL);
                prepared(&store, 1, 0, &[5; 300]);
                let used = prepared(&store, 1, 1, &[5; 300]);
                store.take_prepared(used).unwrap().done().unwrap();
                use_up(&path, &used.to_string());
                (0..5).for_each(|i| use_up(&path, &format!("{begun} {i}")));
                store.revoke_group(&meta(ItemKind::Pool, 7, 0).group, "a check failed").unwrap();
                told(&store)
            };
            let what = format!("encrypting, killed at {point}:{time}");
            let at = format!("{point}:{time}");
            let output = run_child(&variables("encrypt", &path, "SYMBOLON_FAULT", &at));
            let said = String::from_utf8_lossy(&output.stderr);
            let died = output.status.code().is_none();
            assert!(died || output.status.success(), "{what}: {said}");
            let (store, key) = open_by_any(&path);
            let done = !matches!(key, Protection::None);
            assert!(died || done, "{what}");
            assert_eq!(told(&store), before, "{what}");
            let bodies = fs::read_dir(&path).unwrap().flatten();
            let is_body = |name: &str| name == "items" || name.starts_with("body-");
            let bodies = bodies.filter(|entry| is_body(entry.file_name().to_str().unwrap()));
            assert_eq!(bodies.count(), 1, "{what}: another body is left");
            drop(store);
            if !done {
                let key = Protection::KeyFile(path.with_file_name("key"));
                Store::encrypt(&path, &Protection::None, &key).unwrap();
            }
            assert!(!holds(&path, &[5; 100]), "{what}: it can be read");
            let (store, _) = open_by_any(&path);
            assert_eq!(told(&store), before, "{what}");
            assert!(store.verify(|_| {}).unwrap().iter().all(|(_, whole)| whole.is_ok()));
            assert!(try_pool(&store, 7, 1, 3).is_err(), "{what}: a dead group came to life");
            let used = used(&path);
            for item in available_items(&store) {
                let taken = match item.meta.kind {
                    ItemKind::Pool => store.take_range(item.id, &item.next, &item.meta.counts),
                    ItemKind::Prepared => store.take_prepared(item.id),
                };
                let taken = taken.unwrap();
                (taken.from()[0]..taken.upto()[0])
                    .for_each(|i| assert!(!used.contains(&format!("{} {i}", item.id)), "{what}"));
                assert!(!used.contains(&item.id.to_string()), "{what}");
                spend(&path, &taken);
            }
            if !died {
                break;
            }
            hit.insert(*point);
            encrypted.insert(done);
        }
    }
    assert_eq!(encrypted.len(), 2, "it died before and after the one moment");
    let own = fault::POINTS.iter().filter(|point| point.starts_with("encrypt."));
    assert!(own.into_iter().all(|point| hit.contains(point)), "{hit:?}");
}

#[test]
fn a_full_disk_while_a_store_is_encrypted() {
    for point in fault::WRITES {
        for time in 1..=4 {
            let folder = scratch();
            let (path, store) = fresh(&folder);
            create_key_file(path.with_file_name("key")).unwrap();
            pool(&store, 1, 0, POOL);
            prepared(&store, 1, 0, &[5; 300]);
            let before = told(&store);
            drop(store);
            let at = format!("{point}:{time}");
            drop(run_child(&variables("encrypt", &path, "SYMBOLON_FULL", &at)));
            let (store, _) = open_by_any(&path);
            assert_eq!(told(&store), before, "{at}");
            assert!(store.verify(|_| {}).unwrap().iter().all(|(_, whole)| whole.is_ok()), "{at}");
        }
    }
}
