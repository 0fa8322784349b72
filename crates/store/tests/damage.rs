//! Damaged, truncated, exchanged, foreign, older, copied and forged files, wrong keys, places that cannot be
//! written: each ends in an error that says what to do, and nothing unsafe is used.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::*;
use symbolon_store::*;

fn protections(folder: &tempfile::TempDir) -> [(&'static str, Protection); 2] {
    let key = folder.path().join("key");
    create_key_file(&key).unwrap();
    [("plain", Protection::None), ("encrypted", Protection::KeyFile(key))]
}

fn file(store: &Path, id: ItemId, section: usize) -> PathBuf {
    store.join("items").join(id.to_string()).join(format!("{section}.bin"))
}

/// Takes the item, whatever it is, and reads all of it.
fn use_all(store: &Store, id: ItemId) -> Result<Vec<u8>> {
    let entry = store.list()?.into_iter().find(|entry| entry.id == id).unwrap();
    let taken = match entry.stamp.kind {
        Kind::Pool => store.take_range(id, &entry.next, &entry.stamp.counts)?,
        Kind::Prepared => store.take_prepared(id)?,
    };
    taken.check()?;
    let mut all = Vec::new();
    for section in 0..taken.sections() {
        let mut bytes = vec![0; taken.bytes(section).count()];
        taken.read(section, taken.bytes(section))?.fill(&mut bytes)?;
        all.extend(bytes);
    }
    Ok(all)
}

/// A change of a section's file, by name.
type Harm = (&'static str, fn(&mut Vec<u8>, usize));

/// Every harm is told the length of a frame in the file, tag included.
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
            assert!(error.to_string().contains("void the item"), "{error}");
            assert_eq!(verified, Err(error), "{name}, {what}");
            store.void(&[id], "damaged").unwrap();
        }
    }
}

#[test]
fn only_the_damaged_part_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = fresh(&folder);
    let id = pool(&store, 1, 0, 50);
    let victim = file(&path, id, 0);
    let mut bytes = fs::read(&victim).unwrap();
    // In the third frame: records 12 to 18 have bytes there.
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
    // The first record of these begins in the frame before.
    assert!(reader.fill(&mut out).is_err());
    assert!(out[8..].iter().all(|byte| *byte == 0), "a byte of a damaged frame was released");
    check_records(&store.take_range(id, &[19], &[50]).unwrap());
}

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
        // The header says that it fits, but all else is the other store's.
        let mut forged = fs::read(file(&other_path, a, 0)).unwrap();
        forged[..120].copy_from_slice(&own[..120]);
        fs::write(file(&path, a, 0), forged).unwrap();
        assert!(matches!(use_all(&store, a), Err(StoreError::DamagedItem { .. })), "{name}");
        fs::remove_file(file(&path, b, 0)).unwrap();
        assert!(matches!(use_all(&store, b), Err(StoreError::DamagedItem { .. })), "{name}");
        // Nothing was marked: with its file back the other one can be used.
        let c = prepared(&store, 1, 2, &[1; 500]);
        let hidden = file(&path, c, 0).with_extension("hidden");
        fs::rename(file(&path, c, 0), &hidden).unwrap();
        assert!(use_all(&store, c).is_err());
        fs::rename(&hidden, file(&path, c, 0)).unwrap();
        assert_eq!(use_all(&store, c).unwrap(), [1; 500]);
    }
}

const INDEX: [&str; 3] = ["index-0.redb", "index-1.redb", "head"];

/// The index as it is now.
fn save(path: &Path) -> [Vec<u8>; 3] {
    INDEX.map(|name| fs::read(path.join(name)).unwrap())
}

fn restore(path: &Path, saved: &[Vec<u8>; 3]) {
    for (name, bytes) in INDEX.iter().zip(saved) {
        fs::write(path.join(name), bytes).unwrap();
    }
}

fn is_distrusted<T: std::fmt::Debug>(result: Result<T>, what: &str) {
    match result {
        Err(StoreError::Damaged { .. }) => {}
        other => panic!("{what}: {other:?}"),
    }
}

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
            is_distrusted(store.offers(&Filter::default()), what);
            is_distrusted(store.list(), what);
            is_distrusted(store.gc(), what);
            is_distrusted(Store::open(&path, &protection), what);
            restore(&path, &new);
        };
        for which in [current, 2] {
            let place = path.join(INDEX[which]);
            let step = (new[which].len() / 40).max(1);
            let changed = (0..new[which].len()).step_by(step).map(|at| {
                let mut bytes = new[which].clone();
                bytes[at] ^= 0x10;
                bytes
            });
            let half = new[which][..new[which].len() / 2].to_vec();
            let others = [eldest[which].clone(), old[which].clone(), foreign[which].clone()];
            for (i, bytes) in
                others.into_iter().chain([half, Vec::new()]).chain(changed).enumerate()
            {
                fs::write(&place, bytes).unwrap();
                try_all(&format!("{name}, {which}, {i}"));
            }
            fs::remove_file(&place).unwrap();
            try_all("missing");
        }
        restore(&path, &foreign);
        try_all("another store's");
        // An older head with every index that is there to be found.
        fs::write(path.join("head"), &old[2]).unwrap();
        try_all("an older head");
        check_records(&store.take_range(id, &[10], &[20]).unwrap());
    }
}

/// Not a test of its own: what the children of the tests here run.
#[test]
fn child() {
    let Some((task, path)) = task() else { return };
    let store = Store::open(&path, &Protection::None).unwrap();
    match task.as_str() {
        "take" => drop(store.take_range(offers(&store)[0].id, &[10], &[20])),
        "look" => {
            store.list().unwrap();
            let refused = store.offers(&Filter::default()).unwrap_err();
            assert!(matches!(refused, StoreError::ReadOnly { .. }), "{refused}");
            eprintln!("looked");
        }
        other => panic!("unknown task {other}"),
    }
}

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
        assert_eq!(offers(&store)[0].next, [next], "{point}");
        // Every file of every earlier state, in every combination with what the crash left.
        let states = [(&crashed, next), (&before, 10), (&eldest, 0)];
        for choice in 0..27 {
            let chosen = [choice % 3, choice / 3 % 3, choice / 9];
            restore(&path, &std::array::from_fn(|i| states[chosen[i]].0[i].clone()));
            match store.list() {
                // Only ever what the head says, and that only if it is there.
                Ok(entries) => {
                    assert_eq!(entries[0].next, [states[chosen[2]].1], "{point}, {choice}")
                }
                Err(StoreError::Damaged { .. }) => {}
                Err(other) => panic!("{point}, {choice}: {other}"),
            }
        }
        // What locks the index leaves nothing for an older head to point to.
        restore(&path, &crashed);
        store.lock_group(&[1; 32]).unwrap();
        if decided {
            fs::write(path.join("head"), &before[2]).unwrap();
            is_distrusted(store.list(), point);
        }
    }
}

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
            // A change that says the same, such as one of the case of a digit, is none.
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
        fs::write(&place, text.replace("format = 1", "format = 2")).unwrap();
        let newer = Store::open(&path, &protection).unwrap_err();
        assert!(matches!(newer, StoreError::Version { found: 2, supported: 1, .. }), "{newer}");
        fs::write(&place, vec![b'#'; 1 << 20]).unwrap();
        is_distrusted(Store::open(&path, &protection), "too long");
        fs::remove_file(&place).unwrap();
        let none = Store::open(&path, &protection).unwrap_err();
        assert!(matches!(none, StoreError::NotAStore { .. }), "{none}");
        fs::write(&place, &good).unwrap();
        Store::open(&path, &protection).unwrap();
    }
}

#[test]
fn an_absurd_effort_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    drop(Store::create(&path, &Protection::passphrase("x")).unwrap());
    let place = path.join("store.toml");
    let text = fs::read_to_string(&place).unwrap();
    for (from, to) in
        [("memory = 65536", "memory = 4000000000"), ("passes = 3", "passes = 4000000000")]
    {
        assert!(text.contains(from), "{text}");
        fs::write(&place, text.replace(from, to)).unwrap();
        is_distrusted(Store::open(&path, &Protection::passphrase("x")), to);
    }
}

#[test]
fn the_right_key_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let keys = ["one", "two"].map(|name| folder.path().join(name));
    keys.iter().for_each(|key| create_key_file(key).unwrap());
    assert!(create_key_file(&keys[0]).is_err(), "keys are not overwritten");
    let [one, two] = keys.clone().map(Protection::KeyFile);
    let (right, wrong) = (Protection::passphrase("right"), Protection::passphrase("wrong"));
    let cases = [
        (&right, vec![&wrong, &Protection::None, &one]),
        (&one, vec![&two, &Protection::None, &right]),
        (&Protection::None, vec![&right, &one]),
    ];
    for (i, (good, bad)) in cases.into_iter().enumerate() {
        let path = folder.path().join(i.to_string());
        let store = Store::create(&path, good).unwrap();
        prepared(&store, 1, 0, b"x");
        for protection in bad {
            for result in [Store::open(&path, protection), Store::adopt(&path, protection)] {
                let error = result.unwrap_err();
                assert!(
                    matches!(error, StoreError::Locked { .. }),
                    "{good:?}, {protection:?}: {error}"
                );
            }
        }
        assert_eq!(offers(&Store::open(&path, good).unwrap()).len(), 1);
    }
    fs::write(&keys[1], "short").unwrap();
    let short = Store::create(folder.path().join("short"), &two).unwrap_err();
    assert!(short.to_string().contains("too short"), "{short}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&keys[0], fs::Permissions::from_mode(0o644)).unwrap();
        let open = Store::open(folder.path().join("1"), &one).unwrap_err();
        assert!(open.to_string().contains("chmod 600"), "{open}");
    }
}

#[test]
fn encrypted_files_say_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let secret = b"a secret that is nowhere on the disk";
    for (name, protection) in protections(&folder) {
        let path = folder.path().join(name);
        let store = Store::create(&path, &protection).unwrap();
        let id = prepared(&store, 1, 0, secret);
        let bytes = fs::read(file(&path, id, 0)).unwrap();
        let found = bytes.windows(10).any(|window| window == &secret[..10]);
        assert_eq!(found, name == "plain");
        // The same again under another name and nonce is another file.
        let other = prepared(&store, 1, 1, secret);
        assert_ne!(fs::read(file(&path, other, 0)).unwrap()[120..], bytes[120..]);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
#[cfg(unix)]
fn a_copy_is_refused_until_it_is_adopted_and_then_it_is_void() {
    let folder = tempfile::tempdir().unwrap();
    for (name, protection) in protections(&folder) {
        let path = folder.path().join(name);
        let copied = folder.path().join(format!("copy of {name}"));
        let store = Store::create(&path, &protection).unwrap();
        let (id, dead) = (pool(&store, 1, 0, 10), stamp(Kind::Pool, 2, 0).group);
        pool(&store, 2, 0, 10);
        store.kill_group(&dead, "a check failed").unwrap();
        copy(&path, &copied);
        let refused = Store::open(&copied, &protection).unwrap_err();
        assert!(matches!(refused, StoreError::Elsewhere { .. }), "{refused}");
        assert!(refused.to_string().contains("adopt"), "{refused}");
        let adopted = Store::adopt(&copied, &protection).unwrap();
        assert!(offers(&adopted).is_empty());
        assert!(adopted.take_range(id, &[0], &[1]).is_err());
        assert!(matches!(try_pool(&adopted, 1, 0, 1).unwrap_err(), StoreError::Exists { .. }));
        assert!(matches!(try_pool(&adopted, 2, 5, 1).unwrap_err(), StoreError::DeadGroup { .. }));
        pool(&adopted, 3, 0, 10);
        drop(adopted);
        assert_eq!(offers(&Store::open(&copied, &protection).unwrap()).len(), 1);
        // The original is what it was, and may be moved.
        let moved = folder.path().join(format!("moved {name}"));
        drop(store);
        fs::rename(&path, &moved).unwrap();
        let store = Store::open(&moved, &protection).unwrap();
        check_records(&store.take_range(id, &[0], &[1]).unwrap());
    }
}

#[test]
fn adopting_is_the_way_out_of_a_damaged_index() {
    for name in ["index", "head", "lock"] {
        let folder = tempfile::tempdir().unwrap();
        let (path, store) = fresh(&folder);
        let id = pool(&store, 1, 0, 10);
        let mut draft = store.begin(stamp(Kind::Pool, 1, 1), &[Section::Whole], FRAME).unwrap();
        draft.section(0).put(b"half").unwrap();
        std::mem::forget(draft);
        match name {
            "lock" => fs::remove_file(path.join(name)).unwrap(),
            "index" => INDEX[..2].iter().for_each(|name| fs::write(path.join(name), b"x").unwrap()),
            _ => fs::write(path.join(name), b"damaged").unwrap(),
        }
        is_distrusted(Store::open(&path, &Protection::None), name);
        let store = Store::adopt(&path, &Protection::None).unwrap();
        assert!(offers(&store).is_empty());
        assert!(!file(&path, id, 0).exists());
        assert!(store.take_range(id, &[0], &[1]).is_err());
        pool(&store, 5, 0, 10);
        assert_eq!(offers(&open(&path)).len(), 1);
    }
}

#[test]
fn a_store_is_made_only_where_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = fresh(&folder);
    let again = Store::create(&path, &Protection::None).unwrap_err();
    assert!(matches!(again, StoreError::NotCreated { .. }), "{again}");
    Store::open_or_create(&path, &Protection::None).unwrap();
    pool(&store, 1, 0, 10);
    fs::remove_file(path.join("store.toml")).unwrap();
    let lost = Store::open_or_create(&path, &Protection::None).unwrap_err();
    assert!(lost.to_string().contains("no store.toml"), "{lost}");
    fs::write(folder.path().join("mine"), b"").unwrap();
    let strangers = Store::create(folder.path(), &Protection::None).unwrap_err();
    assert!(matches!(strangers, StoreError::NotCreated { .. }), "{strangers}");
    for impossible in [folder.path().join("mine").join("store"), PathBuf::from("/proc/symbolon")] {
        let error = Store::create(&impossible, &Protection::None).unwrap_err();
        assert!(
            error.to_string().contains(impossible.to_str().unwrap())
                || error.to_string().contains("mine"),
            "{error}"
        );
    }
}

/// The permissions of files do not bind a superuser, so the one who looks is somebody else.
#[test]
#[cfg(target_os = "linux")]
fn a_store_that_cannot_be_written_can_only_be_looked_at() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let folder = tempfile::tempdir().unwrap();
    let (path, store) = fresh(&folder);
    pool(&store, 1, 0, 10);
    let superuser = fs::metadata("/proc/self").unwrap().uid() == 0;
    let (directories, others) = if superuser { (0o755, 0o644) } else { (0o500, 0o400) };
    let mode =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for entry in fs::read_dir(&path).unwrap() {
        let entry = entry.unwrap();
        let directory = entry.file_type().unwrap().is_dir();
        mode(&entry.path(), if directory { directories } else { others });
    }
    mode(&path, directories);
    mode(folder.path(), if superuser { 0o755 } else { 0o700 });
    let mut command =
        command(&[("SYMBOLON_TEST_TASK", "look"), ("SYMBOLON_TEST_STORE", path.to_str().unwrap())]);
    if superuser {
        command.uid(65534).gid(65534);
    }
    let output = command.output();
    mode(&path, 0o700);
    match output {
        Err(e) if superuser && e.kind() == std::io::ErrorKind::PermissionDenied => {
            eprintln!("skipped: nobody else may run this test program");
        }
        output => {
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(String::from_utf8_lossy(&output.stderr).contains("looked"));
        }
    }
}
