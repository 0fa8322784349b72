//! Damaged, truncated, exchanged, foreign and outdated files: each leads to an error with advice,
//! and nothing unsafe is used.

use std::fs;
use std::io::Read;
use std::path::Path;

use symbolon_store::*;

use crate::common::*;

/// Takes the item, whatever it is, and reads all of it.
fn use_all(store: &Store, id: ItemId) -> Result<Vec<u8>> {
    let entry = store.list()?.into_iter().find(|entry| entry.id == id).unwrap();
    let taken = match entry.meta.kind {
        ItemKind::Pool => store.take_range(id, &entry.next, &entry.meta.counts)?,
        ItemKind::Prepared => store.take_prepared(id)?,
    };
    taken.check()?;
    let mut all = Vec::new();
    for section in 0..taken.sections() {
        taken.read(section, taken.bytes(section))?.read_to_end(&mut all).unwrap();
    }
    Ok(all)
}

/// A change of a section's file, with a name.
type Harm = (&'static str, fn(&mut Vec<u8>, usize));

/// Returns all changes; each receives the length of a frame in the file, including its tag.
fn harms() -> Vec<Harm> {
    const HEADER: usize = 120;
    vec![
        ("magic", |b, _| b[0] ^= 1),
        ("format", |b, _| b[8] ^= 2),
        ("sealing", |b, _| b[12] ^= 1),
        ("store", |b, _| b[16] ^= 1),
        ("item", |b, _| b[32] ^= 1),
        ("section", |b, _| b[48] ^= 1),
        ("frame size", |b, _| b[52] ^= 1),
        ("salt", |b, _| b[56] ^= 0x80),
        ("tag of the header", |b, _| b[119] ^= 1),
        ("first byte", |b, _| b[HEADER] ^= 1),
        ("tag of the first frame", |b, f| b[HEADER + f - 1] ^= 1),
        ("last tag", |b, _| *b.last_mut().unwrap() ^= 1),
        ("one byte less", |b, _| b.truncate(b.len() - 1)),
        ("one byte more", |b, _| b.push(0)),
        ("cut between frames", |b, f| b.truncate(HEADER + f)),
        ("cut in the header", |b, _| b.truncate(60)),
        ("empty", |b, _| b.clear()),
        ("two frames exchanged", |b, f| {
            let (one, two) = b[HEADER..HEADER + 2 * f].split_at_mut(f);
            one.swap_with_slice(two);
        }),
        ("a frame repeated", |b, f| b.copy_within(HEADER..HEADER + f, HEADER + f)),
        ("all zero", |b, _| b.fill(0)),
    ]
}

/// Cheat: – | sections | edited and truncated | the frame's tag | always
#[test]
fn a_damaged_section_is_noticed_before_a_byte_of_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    for (name, protection) in protections(&folder) {
        let path = folder.path().join(name);
        let store = Store::create(&path, &protection).unwrap();
        let stored = FRAME as usize + if name == "plain" { 32 } else { 16 };
        for (sequence, (what, harm)) in harms().into_iter().enumerate() {
            let id = pool(&store, 1, sequence as u64, 50);
            let victim = file(&path, id, 0);
            let mut bytes = fs::read(&victim).unwrap();
            let before = bytes.clone();
            harm(&mut bytes, stored);
            assert_ne!(bytes, before, "{what}");
            fs::write(&victim, &bytes).unwrap();
            let report = store.verify(|_| {}).unwrap();
            let verified = report.into_iter().find(|(found, _)| *found == id).unwrap().1;
            let error = use_all(&store, id).unwrap_err();
            assert!(
                matches!(&error, StoreError::DamagedItem { item, section: 0, .. } if *item == id),
                "{name}, {what}: {error}"
            );
            assert!(error.to_string().contains("make new material"), "{error}");
            assert_eq!(verified, Err(error), "{name}, {what}");
            store.void(&[id], "damaged").unwrap();
        }
    }
}

/// Cheat: – | sections | one part damaged | the frame's tag, that part only | always
#[test]
fn only_the_damaged_part_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = fresh(&folder);
    let id = pool(&store, 1, 0, 50);
    let victim = file(&path, id, 0);
    let mut bytes = fs::read(&victim).unwrap();
    // In the third frame, which contains bytes of records 12 to 18.
    bytes[120 + 2 * 132 + 50] ^= 1;
    fs::write(&victim, bytes).unwrap();
    check_records(&store.take_range(id, &[0], &[12]).unwrap());
    let broken = store.take_range(id, &[12], &[19]).unwrap();
    assert!(matches!(
        broken.check().unwrap_err(),
        StoreError::DamagedItem { section: 0, frame: Some(2), .. }
    ));
    let mut out = [0; 7 * RECORD];
    let mut reader = broken.read(0, broken.bytes(0)).unwrap();
    // The first of these records begins in the previous frame.
    assert!(reader.read_exact(&mut out).is_err());
    assert!(out[8..].iter().all(|byte| *byte == 0), "a byte of a damaged frame was released");
    check_records(&store.take_range(id, &[19], &[50]).unwrap());
}

/// Cheat: – | files | exchanged between sections, items and stores | header and keys | always
#[test]
fn files_of_other_sections_items_and_stores_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    for (name, protection) in protections(&folder) {
        let path = folder.path().join(name);
        let other_path = folder.path().join(format!("other {name}"));
        let store = Store::create(&path, &protection).unwrap();
        let other = Store::create(&other_path, &protection).unwrap();
        let (a, b) = (prepared(&store, 1, 0, &[1; 500]), prepared(&store, 1, 1, &[1; 500]));
        assert_eq!(prepared(&other, 1, 0, &[1; 500]), a);
        let own = fs::read(file(&path, a, 0)).unwrap();
        fs::copy(file(&path, b, 0), file(&path, a, 0)).unwrap();
        assert!(matches!(use_all(&store, a), Err(StoreError::DamagedItem { .. })), "{name}");
        fs::copy(file(&other_path, a, 0), file(&path, a, 0)).unwrap();
        assert!(matches!(use_all(&store, a), Err(StoreError::DamagedItem { .. })), "{name}");
        // The header says that it fits, but everything else is the other store's.
        let mut forged = fs::read(file(&other_path, a, 0)).unwrap();
        forged[..120].copy_from_slice(&own[..120]);
        fs::write(file(&path, a, 0), forged).unwrap();
        assert!(matches!(use_all(&store, a), Err(StoreError::DamagedItem { .. })), "{name}");
        fs::remove_file(file(&path, b, 0)).unwrap();
        assert!(matches!(use_all(&store, b), Err(StoreError::DamagedItem { .. })), "{name}");
        // Nothing was marked: once its file is back, the other item can be used.
        let c = prepared(&store, 1, 2, &[1; 500]);
        let hidden = file(&path, c, 0).with_extension("hidden");
        fs::rename(file(&path, c, 0), &hidden).unwrap();
        assert!(use_all(&store, c).is_err());
        fs::rename(&hidden, file(&path, c, 0)).unwrap();
        assert_eq!(use_all(&store, c).unwrap(), [1; 500]);
    }
}

const INDEX: [&str; 3] = ["index-0.redb", "index-1.redb", "head"];

/// Returns the index as it is now.
fn save(path: &Path) -> [Vec<u8>; 3] {
    INDEX.map(|name| fs::read(path.join(name)).unwrap())
}

fn restore(path: &Path, protection: &Protection, saved: &[Vec<u8>; 3]) {
    for (name, bytes) in INDEX.iter().zip(saved) {
        fs::write(path.join(name), bytes).unwrap();
    }
    pass_for_latest(path, protection);
}

/// Hides that a head was restored, so that its content is examined; other heads are rejected for
/// their content anyway.
fn pass_for_latest(path: &Path, protection: &Protection) {
    let _ = Store::pass_for_latest(path, protection);
}

/// Cheat: – | index | damaged, older, foreign | the head's digest | always
#[test]
fn an_index_that_is_damaged_older_or_foreign_is_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    for (name, protection) in protections(&folder) {
        let path = folder.path().join(name);
        let other_path = folder.path().join(format!("other {name}"));
        let store = Store::create(&path, &protection).unwrap();
        let other = Store::create(&other_path, &protection).unwrap();
        let id = pool(&store, 1, 0, 50);
        pool(&other, 1, 0, 50);
        let eldest = save(&path);
        store.take_range(id, &[0], &[5]).unwrap();
        let old = save(&path);
        store.take_range(id, &[5], &[10]).unwrap();
        let new = save(&path);
        let foreign = save(&other_path);
        let current = if new[0].is_empty() { 1 } else { 0 };
        assert!(new[1 - current].is_empty() && !new[current].is_empty());
        let try_all = |what: &str| {
            is_distrusted(store.take_range(id, &[0], &[10]), what);
            is_distrusted(store.take_range(id, &[10], &[20]), what);
            is_distrusted(store.available_items(&Filter::default()), what);
            is_distrusted(store.list(), what);
            is_distrusted(store.gc(), what);
            is_distrusted(Store::open(&path, &protection), what);
            restore(&path, &protection, &new);
        };
        for which in [current, 2] {
            let place = path.join(INDEX[which]);
            let step = (new[which].len() / 40).max(1);
            // The lowest bit turns digits into other digits, so that not only the form is wrong.
            let changed = (0..new[which].len()).step_by(step).map(|at| {
                let mut bytes = new[which].clone();
                bytes[at] ^= if (at / step).is_multiple_of(2) { 0x10 } else { 1 };
                bytes
            });
            let half = new[which][..new[which].len() / 2].to_vec();
            let others = [eldest[which].clone(), old[which].clone(), foreign[which].clone()];
            for (i, bytes) in
                others.into_iter().chain([half, Vec::new()]).chain(changed).enumerate()
            {
                fs::write(&place, bytes).unwrap();
                pass_for_latest(&path, &protection);
                try_all(&format!("{name}, {which}, {i}"));
            }
            fs::remove_file(&place).unwrap();
            try_all("missing");
        }
        restore(&path, &protection, &foreign);
        try_all("another store's");
        // An older head with every existing index.
        fs::write(path.join("head"), &old[2]).unwrap();
        pass_for_latest(&path, &protection);
        try_all("an older head");
        check_records(&store.take_range(id, &[10], &[20]).unwrap());
    }
}

/// What the children of the tests here do.
pub fn child(path: &Path) {
    let store = open(path);
    drop(store.take_range(available_items(&store)[0].id, &[10], &[20]));
}

/// Cheat: – | index | an older one after a crash | the head's digest | always
#[test]
fn an_older_index_is_not_trusted_after_a_crash_either() {
    for point in ["commit.written", "commit.decided", "commit.done", "take.committed"] {
        let folder = scratch();
        let (path, store) = fresh(&folder);
        let id = pool(&store, 1, 0, 50);
        let eldest = save(&path);
        store.take_range(id, &[0], &[10]).unwrap();
        let before = save(&path);
        let variables = [
            ("SYMBOLON_TEST_TASK", "take"),
            ("SYMBOLON_TEST_STORE", path.to_str().unwrap()),
            ("SYMBOLON_FAULT", point),
        ];
        assert_eq!(run_child(&variables).status.code(), None, "{point}");
        let crashed = save(&path);
        let decided = point != "commit.written";
        assert_eq!(crashed[2] != before[2], decided, "{point}");
        let next = if decided { 20 } else { 10 };
        assert_eq!(available_items(&store)[0].next, [next], "{point}");
        // Every file of every earlier state, in every combination with what the crash left.
        let states = [(&crashed, next), (&before, 10), (&eldest, 0)];
        for choice in 0..27 {
            let chosen = [choice % 3, choice / 3 % 3, choice / 9];
            restore(
                &path,
                &Protection::None,
                &std::array::from_fn(|i| states[chosen[i]].0[i].clone()),
            );
            match store.list() {
                // The result is always what the head says, and only if that index exists.
                Ok(entries) => {
                    assert_eq!(entries[0].next, [states[chosen[2]].1], "{point}, {choice}")
                }
                Err(StoreError::Damaged { .. }) => {}
                Err(other) => panic!("{point}, {choice}: {other}"),
            }
        }
        // Locking the index leaves nothing that an older head could name.
        restore(&path, &Protection::None, &crashed);
        store.lock_group(&[1; 32]).unwrap();
        if decided {
            fs::write(path.join("head"), &before[2]).unwrap();
            pass_for_latest(&path, &Protection::None);
            is_distrusted(store.list(), point);
        }
    }
}

/// Cheat: – | manifest | edited | the manifest's tag | always
#[test]
fn a_manifest_that_was_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, protection) in protections(&folder) {
        let path = folder.path().join(name);
        drop(Store::create(&path, &protection).unwrap());
        let place = path.join("store.toml");
        let good = fs::read(&place).unwrap();
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            fs::write(&place, &bytes).unwrap();
            let result = Store::open(&path, &protection);
            // A change with the same meaning, such as the case of a digit, does not count.
            let error = match result {
                Ok(_) => panic!("{name}: changed at {at}: {}", String::from_utf8_lossy(&bytes)),
                Err(error) => error,
            };
            let expected = matches!(
                error,
                StoreError::Damaged { .. } | StoreError::Locked { .. } | StoreError::Version { .. }
            );
            assert!(expected, "{name}: changed at {at}: {error}");
        }
        let text = String::from_utf8(good.clone()).unwrap();
        let [own, next] = [0, 1].map(|more| format!("format = {}", FORMAT_VERSION + more));
        assert!(text.contains(&own));
        fs::write(&place, text.replace(&own, &next)).unwrap();
        let newer = Store::open(&path, &protection).unwrap_err();
        let expected = FORMAT_VERSION + 1;
        assert!(
            matches!(newer, StoreError::Version { found, supported: FORMAT_VERSION, .. }
                if found == expected),
            "{newer}"
        );
        fs::write(&place, vec![b'#'; 1 << 20]).unwrap();
        is_distrusted(Store::open(&path, &protection), "too long");
        fs::remove_file(&place).unwrap();
        let none = Store::open(&path, &protection).unwrap_err();
        assert!(matches!(none, StoreError::NotAStore { .. }), "{none}");
        fs::write(&place, &good).unwrap();
        Store::open(&path, &protection).unwrap();
    }
}

/// Cheat: – | index | reset after damage | all items are void | always
#[test]
fn adopting_is_the_way_out_of_a_damaged_index() {
    for name in ["index", "head", "lock"] {
        let folder = tempfile::tempdir().unwrap();
        let (path, store) = fresh(&folder);
        let id = pool(&store, 1, 0, 10);
        let mut item_writer =
            store.begin(meta(ItemKind::Pool, 1, 1), &[Section::Whole], FRAME).unwrap();
        item_writer.section(0).put(b"half").unwrap();
        std::mem::forget(item_writer);
        match name {
            "lock" => fs::remove_file(path.join(name)).unwrap(),
            "index" => INDEX[..2].iter().for_each(|name| fs::write(path.join(name), b"x").unwrap()),
            _ => fs::write(path.join(name), b"damaged").unwrap(),
        }
        is_distrusted(Store::open(&path, &Protection::None), name);
        let store = Store::reset_ownership(&path, &Protection::None).unwrap();
        assert!(available_items(&store).is_empty());
        assert!(!file(&path, id, 0).exists());
        assert!(store.take_range(id, &[0], &[1]).is_err());
        pool(&store, 5, 0, 10);
        assert_eq!(available_items(&open(&path)).len(), 1);
    }
}
