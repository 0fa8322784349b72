//! Stores that are encrypted after they were made, and information about items being written.

use std::fs;

use symbolon_store::*;

use crate::common::*;

fn key(folder: &tempfile::TempDir, name: &str) -> Protection {
    let path = folder.path().join(name);
    create_key_file(&path).unwrap();
    Protection::KeyFile(path)
}

#[test]
fn what_is_left_stays_and_only_the_new_key_opens_it() {
    let folder = scratch();
    let (path, store) = fresh(&folder);
    let begun = pool(&store, 1, 0, 20);
    store.take_range(begun, &[0], &[7]).unwrap().done().unwrap();
    // Relations stay, and nobody reads them without the key.
    let relation = [0xa7; 32];
    store.set_relations((0.into(), 1.into()), &[relation]).unwrap();
    let spent = prepared(&store, 1, 0, &[5; 300]);
    store.take_prepared(spent).unwrap().done().unwrap();
    let empty = prepared(&store, 1, 1, &[]);
    drop(store);
    let in_index = |bytes: &[u8]| {
        let files = std::fs::read_dir(&path)
            .unwrap()
            .chain(std::fs::read_dir(path.join("body-2")).into_iter().flatten());
        let texts = files.filter_map(|file| std::fs::read(file.unwrap().path()).ok());
        texts.into_iter().any(|text| text.windows(bytes.len()).any(|window| window == bytes))
    };
    let (first, second) = (key(&folder, "first"), key(&folder, "second"));
    // The key can be changed again.
    for (old, new) in [(Protection::None, &first), (first.clone(), &second)] {
        Store::encrypt(&path, &old, new).unwrap();
        assert!(matches!(Store::open(&path, &old), Err(StoreError::Locked { .. })));
    }
    assert!(!in_index(&relation));
    let store = Store::open(&path, &second).unwrap();
    assert_eq!(store.relations().unwrap(), [((0.into(), 1.into()), vec![relation])]);
    assert!(matches!(store.take_prepared(spent), Err(StoreError::AlreadyUsed { .. })));
    assert!(matches!(store.take_range(begun, &[6], &[8]), Err(StoreError::AlreadyUsed { .. })));
    check_records(&store.take_range(begun, &[7], &[20]).unwrap());
    assert!(read(&store.take_prepared(empty).unwrap(), 0).is_empty());
    // Sequence numbers continue, and names stay used.
    assert!(try_pool(&store, 1, 0, 3).is_err());
    check_records(&{
        let id = pool(&store, 1, 1, 3);
        store.take_range(id, &[0], &[3]).unwrap()
    });
}

/// A process that had the store open would continue with the old body.
#[test]
fn nobody_may_have_it_open() {
    let folder = scratch();
    let (path, store) = fresh(&folder);
    let id = pool(&store, 1, 0, 20);
    let key = key(&folder, "key");
    let refused = |what: &str| {
        let ended = Store::encrypt(&path, &Protection::None, &key);
        assert!(matches!(ended, Err(StoreError::InUse { .. })), "{what}: {ended:?}");
    };
    refused("open");
    let taken = store.take_range(id, &[0], &[5]).unwrap();
    drop(store);
    refused("what was taken is in use");
    let reader = taken.read(0, taken.bytes(0)).unwrap();
    drop(taken);
    refused("it is being read");
    drop(reader);
    Store::encrypt(&path, &Protection::None, &key).unwrap();
    assert!(matches!(Store::encrypt(&path, &key, &Protection::None), Err(StoreError::Invalid(_))));
}

/// The file on which everyone holds a lock: without it nobody could tell whether the store is open
/// elsewhere.
#[test]
fn a_store_without_its_lock_file_is_refused() {
    let folder = scratch();
    let (path, store) = fresh(&folder);
    drop(store);
    fs::remove_file(path.join("open")).unwrap();
    is_distrusted(Store::open(&path, &Protection::None), "no lock file");
    Store::reset_ownership(&path, &Protection::None).unwrap();
    Store::open(&path, &Protection::None).unwrap();
}

/// The old `store.toml`, if restored, names a body that is gone.
#[test]
fn an_old_manifest_that_is_put_back_is_noticed() {
    let folder = scratch();
    let (path, store) = fresh(&folder);
    pool(&store, 1, 0, 20);
    drop(store);
    let manifest = fs::read(path.join("store.toml")).unwrap();
    copy(&path, &folder.path().join("saved"));
    let key = key(&folder, "key");
    Store::encrypt(&path, &Protection::None, &key).unwrap();
    fs::write(path.join("store.toml"), &manifest).unwrap();
    assert!(Store::open(&path, &Protection::None).is_err());
    // The complete old body is restored too, but the head is not the file that it names.
    for name in ["head", "index-0.redb", "index-1.redb"] {
        fs::copy(folder.path().join("saved").join(name), path.join(name)).unwrap();
    }
    for name in ["items", "drafts", "groups"] {
        copy(&folder.path().join("saved").join(name), &path.join(name));
    }
    is_distrusted(Store::open(&path, &Protection::None), "an old body put back");
}

#[test]
fn damaged_items_become_void() {
    let folder = scratch();
    let (path, store) = fresh(&folder);
    let (whole, damaged) = (pool(&store, 1, 0, 20), pool(&store, 2, 0, 20));
    drop(store);
    let victim = file(&path, damaged, 0);
    let mut bytes = fs::read(&victim).unwrap();
    let last = bytes.len() - 40;
    bytes[last] ^= 1;
    fs::write(&victim, bytes).unwrap();
    let key = key(&folder, "key");
    Store::encrypt(&path, &Protection::None, &key).unwrap();
    let store = Store::open(&path, &key).unwrap();
    let left: Vec<ItemId> = available_items(&store).iter().map(|item| item.id).collect();
    assert_eq!(left, [whole]);
    assert!(matches!(store.take_range(damaged, &[0], &[1]), Err(StoreError::Void { .. })));
}

#[test]
fn what_is_being_written_is_listed() {
    let folder = scratch();
    let (path, store) = fresh(&folder);
    assert_eq!(store.drafts().unwrap(), []);
    let named = ItemMeta { name: Some("aes128".into()), ..meta(ItemKind::Prepared, 1, 0) };
    let mut writer = store.begin(named.clone(), &[Section::Whole], FRAME).unwrap();
    writer.section(0).put(&[5; 1000]).unwrap();
    let [draft] = &store.drafts().unwrap()[..] else { panic!() };
    assert!(draft.alive && draft.bytes >= 900 && draft.begun > 0);
    assert_eq!(draft.meta, Some(named));
    let id = writer.finish(vec![1]).unwrap();
    assert_eq!(store.drafts().unwrap(), []);
    let names: Vec<_> = fs::read_dir(path.join("items").join(id.to_string())).unwrap().collect();
    assert_eq!(names.len(), 1, "an item is its sections: {names:?}");
    assert_eq!(store.list().unwrap()[0].meta.name.as_deref(), Some("aes128"));
}

/// Anybody could have written these data.
#[test]
fn nonsense_about_items_being_written_is_no_more_than_that() {
    let folder = scratch();
    let (path, store) = fresh(&folder);
    let draft = path.join("drafts").join("half");
    fs::create_dir(&draft).unwrap();
    let right = {
        let writer = store.begin(meta(ItemKind::Pool, 1, 0), &[Section::Whole], FRAME).unwrap();
        let drafts = fs::read_dir(path.join("drafts")).unwrap().flatten();
        let about = drafts.map(|entry| entry.path().join("about")).find(|path| path.exists());
        let text = fs::read_to_string(about.unwrap()).unwrap();
        drop(writer);
        text
    };
    let check = |text: &[u8], known: bool| {
        fs::write(draft.join("about"), text).unwrap();
        let [draft] = &store.drafts().unwrap()[..] else { panic!() };
        assert_eq!((draft.meta.is_some(), draft.alive), (known, false));
    };
    check(right.as_bytes(), true);
    check(b"", false);
    check(right.replace("\"wrk\"", "\"w\\u001brk\"").as_bytes(), false);
    check(right.replace("\"begun\"", "\"begum\"").as_bytes(), false);
    check(&vec![b' '; 1 << 17], false);
    for end in 0..right.len() {
        check(&right.as_bytes()[..end], false);
    }
    fs::remove_file(draft.join("about")).unwrap();
    fs::create_dir(draft.join("about")).unwrap();
    assert!(store.drafts().unwrap()[0].meta.is_none());
}
