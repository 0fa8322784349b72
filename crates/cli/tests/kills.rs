//! Processes that fill stores are killed at any instant: their current work may be wasted, the rest
//! is consistent and right, and nothing is used twice.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::common::end;
use crate::common::pair::Pair;

/// When a process is killed, by the visible state of its work.
#[derive(Clone, Copy, Debug)]
enum When {
    /// This long after its start.
    After(u64),
    /// The number of bytes in drafts.
    Drafted(u64),
    /// This number of further items is in place; the index may or may not know them.
    Placed(usize),
}

/// Which party is killed.
#[derive(Clone, Copy, Debug)]
enum Hit {
    Zero,
    One,
    Both,
}

impl Hit {
    fn all(self) -> &'static [usize] {
        match self {
            Hit::Zero => &[0],
            Hit::One => &[1],
            Hit::Both => &[0, 1],
        }
    }
}

/// Returns the bytes of all files below a folder, and how many entries it has itself.
fn below(folder: &Path) -> (u64, usize) {
    // The folder may vanish meanwhile.
    let Ok(entries) = std::fs::read_dir(folder) else { return (0, 0) };
    let entries: Vec<_> = entries.flatten().collect();
    let size = |entry: &std::fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => below(&entry.path()).0,
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    (entries.iter().map(size).sum(), entries.len())
}

/// Starts a command on both sides, kills the chosen party, and waits for the end of all. A party
/// that is not killed ends by itself, with success or because the other one is gone.
fn kill(pair: &Pair, words: &[&str], when: When, hit: Hit) {
    let folder = |of: &str| pair.folder().join(["a.store", "b.store"][hit.all()[0]]).join(of);
    let (drafts, items) = (folder("drafts"), folder("items"));
    let before = below(&items).1;
    let words = [words, &["--timeout", "1"]].concat();
    let mut children = pair.start(&words, [&[], &[]]);
    let begin = Instant::now();
    let victim = &mut children[hit.all()[0]];
    loop {
        let seen = match when {
            When::After(millis) => begin.elapsed() >= Duration::from_millis(millis),
            When::Drafted(bytes) => below(&drafts).0 >= bytes,
            When::Placed(count) => below(&items).1 >= before + count,
        };
        // It may end too fast to be seen at work.
        if seen || victim.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    hit.all().iter().for_each(|&party| children[party].kill().unwrap());
    for (party, child) in children.into_iter().enumerate() {
        if hit.all().contains(&party) {
            reap(child);
            continue;
        }
        let ended = end(child);
        assert!([0, 3].contains(&ended.code), "{when:?}, {hit:?}: {ended:?}");
    }
}

fn reap(child: Child) {
    child.wait_with_output().unwrap();
}

/// A party's items by name.
type Items = BTreeMap<String, Item>;

/// What is public about an item.
#[derive(Clone, Debug, PartialEq)]
struct Item {
    kind: String,
    group: String,
    /// The number of a prepared circuit within its group.
    sequence: u64,
    available: bool,
    /// How far each kind of record of a pool is used up.
    next: Vec<u64>,
}

/// Returns all items of a party's store; checks that none is damaged, and that of the `known` ones
/// only the state has changed.
fn items(pair: &Pair, party: usize, known: &Items) -> Items {
    let store = ["a.store", "b.store"][party];
    if !pair.folder().join(store).join("store.toml").exists() {
        return Items::new();
    }
    pair.look(party, "verify").expect(0);
    let listed = pair.look_with(party, "ls", &["--json"]).expect(0).json();
    let item = |listed: &serde_json::Value| {
        let id = listed["item"].as_str().unwrap().to_string();
        let available = listed["state"] == "available";
        assert_ne!(listed["state"], "void", "no check failed: {listed}");
        if let Some(known) = known.get(&id).filter(|known| known.kind == "prepared") {
            return (id, Item { available, ..known.clone() });
        }
        let about = pair.look_with(party, "export", &[&id]).expect(0).json();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_string();
        let item = Item {
            kind: text(&listed["kind"]),
            group: text(&about["stamp"]["group"]),
            sequence: about["stamp"]["sequence"].as_u64().unwrap(),
            available,
            next: serde_json::from_value(about["next"].clone()).unwrap(),
        };
        (id, item)
    };
    listed["items"].as_array().unwrap().iter().map(item).collect()
}

/// Checks that half-written items are found and removed, and that the rest is untouched.
fn assert_tidy(pair: &Pair, party: usize) {
    let before = items(pair, party, &Items::new());
    pair.look(party, "gc").expect(0);
    let store = pair.folder().join(["a.store", "b.store"][party]);
    assert_eq!(below(&store.join("drafts")), (0, 0));
    let mut after = items(pair, party, &before);
    assert!(after.iter().all(|(id, item)| before.get(id) == Some(item)));
    after.retain(|id, _| !before[id].available);
    assert!(after.is_empty(), "used items stay: {after:?}");
}

const FILL: [&str; 5] = ["preprocess", "--gates", "20000", "--input-bits", "64"];

#[test]
fn a_pool_whose_making_is_killed_is_whole_or_not_there() {
    let cases = [
        (When::After(0), Hit::One),
        (When::After(8), Hit::Both),
        (When::After(20), Hit::Zero),
        (When::Drafted(1), Hit::Both),
        (When::Drafted(1), Hit::One),
        (When::Drafted(1 << 20), Hit::Zero),
        (When::Drafted(2 << 20), Hit::One),
        (When::Placed(1), Hit::Zero),
        (When::Placed(1), Hit::One),
        (When::Placed(1), Hit::Both),
    ];
    // They mostly wait for the disk and for each other.
    let in_time = std::thread::scope(|scope| {
        let cases = cases.map(|(when, hit)| scope.spawn(move || fill_and_kill(when, hit)));
        cases.map(|case| case.join().unwrap())
    });
    assert!(in_time.contains(&true));
}

/// Kills a process while it makes a pool; afterwards, the parties can work with what both hold.
/// Returns whether it was killed before both held the pool.
fn fill_and_kill(when: When, hit: Hit) -> bool {
    let pair = Pair::unlocked();
    kill(&pair, &FILL, when, hit);
    let held = [0, 1].map(|party| items(&pair, party, &Items::new()));
    let both = held[0].keys().any(|id| held[1].contains_key(id));
    let uneven = !both && held.iter().any(|held| !held.is_empty());
    for ended in pair.both(&FILL, [&[], &[]]) {
        let ended = ended.expect(0);
        assert_eq!(ended.out.starts_with("there is enough"), both, "{when:?}, {hit:?}");
        assert_eq!(ended.err.contains("stores differ"), uneven, "{}", ended.err);
    }
    for ended in pair.both(&["prepare", "add:8", "--count", "2"], [&[], &[]]) {
        ended.expect(0).says(&["2 of 2 from pools"]);
    }
    for ended in pair.add("40", "2") {
        assert_eq!(ended.expect(0).out, "sum = 42\n");
    }
    (0..2).for_each(|party| assert_tidy(&pair, party));
    !both
}

#[test]
fn no_part_of_a_pool_serves_two_circuits_though_their_making_is_killed() {
    let pair = Pair::unlocked();
    for ended in pair.both(&["preprocess", "--gates", "8000", "--input-bits", "600"], [&[], &[]]) {
        ended.expect(0);
    }
    let prepare = ["prepare", "add:8", "--count", "4"];
    // By party: everything that ever was prepared, and how far the pool is used up.
    let mut known = [0, 1].map(|party| items(&pair, party, &Items::new()));
    for (when, hit) in [
        (When::After(5), Hit::One),
        (When::After(15), Hit::Both),
        (When::Drafted(1), Hit::Zero),
        (When::Drafted(1), Hit::Both),
        (When::Placed(1), Hit::One),
        (When::Placed(2), Hit::Zero),
        (When::Placed(3), Hit::Both),
        (When::Placed(4), Hit::One),
    ] {
        kill(&pair, &prepare, when, hit);
        let used = known.each_ref().map(used_up);
        let most = used[0].iter().zip(&used[1]).map(|(a, b)| *a.max(b)).collect::<Vec<u64>>();
        for (party, known) in known.iter_mut().enumerate() {
            let now = items(&pair, party, known);
            let next = used_up(&now);
            assert!(next.iter().zip(&used[party]).all(|(now, before)| now >= before));
            // Each took gates that neither of them had used before, and marked them as used.
            let prepared = || now.iter().filter(|(_, item)| item.kind == "prepared");
            let fresh = prepared().filter(|(id, _)| !known.contains_key(*id)).count() as u64;
            assert!(fresh == 0 || next[0] >= most[0] + fresh, "{when:?}, {hit:?}");
            let mut numbers: Vec<u64> = prepared().map(|(_, item)| item.sequence).collect();
            numbers.sort_unstable();
            assert!(numbers.is_sorted_by(|a, b| a < b), "{when:?}, {hit:?}: {numbers:?}");
            *known = now;
        }
    }
    let [zero, one] = &known;
    let ready = |id: &String| {
        [zero, one].iter().all(|known| known.get(id).is_some_and(|item| item.available))
    };
    let common = zero.keys().filter(|id| zero[*id].kind == "prepared" && ready(id)).count();
    for (id, item) in zero {
        assert!(
            one.get(id)
                .is_none_or(|other| (&other.group, other.sequence) == (&item.group, item.sequence))
        );
    }
    // Items that both have are good, each once; items that only one has are useless, and nobody
    // tries them.
    for number in 0..common {
        for ended in pair.add(&number.to_string(), "100") {
            assert_eq!(ended.expect(0).out, format!("sum = {}\n", number + 100));
        }
    }
    for ended in pair.add("1", "2") {
        ended.expect(2).says(&["prepare it together"]);
    }
    // The pool continues after everything that either party used.
    for ended in pair.both(&prepare, [&[], &[]]) {
        ended.expect(0).says(&["4 of 4 from pools"]);
    }
    assert_eq!(used_up(&items(&pair, 0, zero)), used_up(&items(&pair, 1, one)));
    assert_eq!(pair.add("40", "2").map(|ended| ended.expect(0).out), ["sum = 42\n"; 2]);
    (0..2).for_each(|party| assert_tidy(&pair, party));
}

/// Returns how far the only pool is used up.
fn used_up(items: &Items) -> Vec<u64> {
    let mut pools = items.values().filter(|item| item.kind == "pool");
    let pool = pools.next().expect("a pool");
    assert!(pools.next().is_none());
    pool.next.clone()
}
