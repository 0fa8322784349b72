//! Writing, listing, taking, voiding and collecting items, when nothing goes wrong.

use std::io::{Read, Write};

use symbolon_store::*;

use crate::common::*;

#[test]
fn a_pool_is_taken_front_to_back() {
    let folder = tempfile::tempdir().unwrap();
    for (name, protection) in protections(&folder) {
        let path = folder.path().join(name);
        let store = Store::create(&path, &protection).unwrap();
        let id = pool(&store, 1, 0, 100);
        drop(store);
        let store = Store::open(&path, &protection).unwrap();
        let item = available_items(&store).remove(0);
        assert_eq!((item.id, &item.meta.counts, &item.next), (id, &vec![100], &vec![0]), "{name}");
        let first = store.take_range(id, &[0], &[30]).unwrap();
        // Some records are skipped, because a peer may have used more.
        let second = store.take_range(id, &[40], &[41]).unwrap();
        check_records(&first);
        check_records(&second);
        for (from, upto) in [(0, 30), (0, 100), (29, 50), (30, 40), (40, 60)] {
            let refused = store.take_range(id, &[from], &[upto]).unwrap_err();
            assert!(matches!(refused, StoreError::AlreadyUsed { .. }), "{from}..{upto}: {refused}");
        }
        assert_eq!(available_items(&store)[0].next, [41]);
        let rest = store.take_range(id, &[41], &[100]).unwrap();
        check_records(&rest);
        assert!(available_items(&store).is_empty());
        assert!(matches!(
            store.take_range(id, &[100], &[100]).unwrap_err(),
            StoreError::AlreadyUsed { .. }
        ));
        rest.done().unwrap();
        assert!(path.join("items").join(id.to_string()).exists(), "somebody is still reading");
        check_records(&first);
        drop((first, second));
        assert_eq!(store.gc().unwrap().items, [id]);
        assert!(!path.join("items").join(id.to_string()).exists());
        assert!(matches!(
            store.take_range(id, &[0], &[1]).unwrap_err(),
            StoreError::AlreadyUsed { .. }
        ));
        assert_eq!(try_pool(&store, 1, 0, 5).unwrap_err(), StoreError::Exists { item: id });
    }
}

#[test]
fn only_what_was_taken_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let (_, store) = fresh(&folder);
    let id = pool(&store, 1, 0, 100);
    let taken = store.take_range(id, &[10], &[20]).unwrap();
    let size = RECORD as u64;
    assert_eq!(taken.bytes(0), 10 * size..20 * size);
    let mut reader = taken.read(0, 12 * size..13 * size).unwrap();
    let mut out = [0; RECORD];
    reader.read_exact(&mut out).unwrap();
    assert_eq!(out, record(0, 12));
    assert_eq!(reader.read(&mut out).unwrap(), 0);
    for range in [9 * size..11 * size, 19 * size..21 * size, 0..1, 10 * size - 1..10 * size] {
        assert!(matches!(taken.read(0, range), Err(StoreError::Invalid(_))));
    }
    assert!(taken.read(2, 0..0).is_err());
    assert!(taken.read(0, std::ops::Range { start: u64::MAX, end: 0 }).is_err());
    taken.check().unwrap();
}

#[test]
fn a_prepared_item_is_taken_once_and_its_files_go() {
    let folder = tempfile::tempdir().unwrap();
    for (name, protection) in protections(&folder) {
        let path = folder.path().join(name);
        let store = Store::create(&path, &protection).unwrap();
        for length in [0, 1, 99, 100, 101, 200, 1000] {
            let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let id = prepared(&store, 1, length, &bytes);
            let taken = store.take_prepared(id).unwrap();
            assert_eq!(read(&taken, 0), bytes, "{name}");
            taken.check().unwrap();
            let again = store.take_prepared(id).unwrap_err();
            assert!(matches!(again, StoreError::AlreadyUsed { .. }), "{again}");
            let reader = taken.read(0, taken.bytes(0)).unwrap();
            taken.done().unwrap();
            let files = path.join("items").join(id.to_string());
            assert!(files.exists(), "a reader is left");
            drop(reader);
            assert!(!files.exists());
        }
    }
}

/// Several items are taken together or not at all.
#[test]
fn several_prepared_items_are_taken_in_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let (_, store) = fresh(&folder);
    let ids: Vec<ItemId> = (0u8..4).map(|n| prepared(&store, 1, n.into(), &[n; 9])).collect();
    let twice = store.take_all_prepared(&[ids[1], ids[2], ids[1]]).unwrap_err();
    assert!(matches!(twice, StoreError::AlreadyUsed { item, .. } if item == ids[1]), "{twice}");
    store.take_prepared(ids[0]).unwrap().done().unwrap();
    let used = store.take_all_prepared(&ids).unwrap_err();
    assert!(matches!(used, StoreError::AlreadyUsed { item, .. } if item == ids[0]), "{used}");
    let taken = store.take_all_prepared(&ids[1..]).unwrap();
    for (n, item) in (1u8..).zip(&taken) {
        assert_eq!((item.id(), read(item, 0)), (ids[usize::from(n)], vec![n; 9]));
    }
    for id in ids {
        let again = store.take_prepared(id).unwrap_err();
        assert!(matches!(again, StoreError::AlreadyUsed { .. }), "{again}");
    }
}

#[test]
fn records_of_single_bits_are_taken_by_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (_, store) = fresh(&folder);
    let sections =
        [Section::Records { counter: 1, bits: 1 }, Section::Records { counter: 0, bits: 20 }];
    let mut item_writer = store.begin(meta(ItemKind::Pool, 1, 0), &sections, FRAME).unwrap();
    item_writer.section(0).write_all(&[0xff; 13]).unwrap();
    item_writer.section(1).write_all(&[0xee; 8]).unwrap();
    let id = item_writer.finish(vec![3, 100]).unwrap();
    let odd = store.take_range(id, &[0, 0], &[0, 12]).unwrap_err();
    assert!(odd.to_string().contains("whole bytes"), "{odd}");
    let taken = store.take_range(id, &[0, 0], &[2, 16]).unwrap();
    assert_eq!((taken.bytes(0), taken.bytes(1)), (0..2, 0..5));
    let taken = store.take_range(id, &[2, 16], &[3, 100]).unwrap();
    assert_eq!((taken.bytes(0), taken.bytes(1)), (2..13, 5..8));
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = fresh(&folder);
    let records = Section::Records { counter: 0, bits: 128 };
    let begin = |change: &dyn Fn(&mut ItemMeta), sections: &[Section], frame| {
        let mut meta = meta(ItemKind::Pool, 1, 0);
        change(&mut meta);
        store.begin(meta, sections, frame)
    };
    let refused = |result: Result<ItemWriter>| matches!(result, Err(StoreError::Invalid(_)));
    assert!(refused(begin(&|s| s.counts = vec![1], &[records], FRAME)));
    assert!(refused(begin(&|s| s.protocol = "a\nb".to_string(), &[records], FRAME)));
    assert!(refused(begin(&|s| s.protocol = "a".repeat(200), &[records], FRAME)));
    assert!(refused(begin(&|s| s.peers[0].party = 0.into(), &[records], FRAME)));
    assert!(refused(begin(&|s| s.peers.push(s.peers[0].clone()), &[records], FRAME)));
    assert!(refused(begin(&|_| {}, &[], FRAME)));
    assert!(refused(begin(&|_| {}, &[Section::Whole; MAX_SECTIONS + 1], FRAME)));
    assert!(refused(begin(&|_| {}, &[records], 0)));
    assert!(refused(begin(&|_| {}, &[records], u32::MAX)));
    assert!(refused(begin(&|_| {}, &[Section::Records { counter: 0, bits: 0 }], FRAME)));
    for counts in [vec![], vec![0], vec![2], vec![1 << 60], vec![u64::MAX]] {
        let mut item_writer = begin(&|_| {}, &[records], FRAME).unwrap();
        item_writer.section(0).put(&[0; 16]).unwrap();
        let wrong = item_writer.finish(counts.clone()).unwrap_err();
        assert!(matches!(wrong, StoreError::Invalid(_)), "{counts:?}: {wrong}");
    }
    assert_eq!(std::fs::read_dir(path.join("drafts")).unwrap().count(), 0, "drafts are removed");
    assert!(available_items(&store).is_empty());

    let id = pool(&store, 1, 0, 10);
    let ready = prepared(&store, 1, 0, b"circuit");
    assert_ne!(id, ready);
    let invalid = |result: Result<ConsumedItem>| matches!(result, Err(StoreError::Invalid(_)));
    assert!(invalid(store.take_prepared(id)));
    assert!(invalid(store.take_range(ready, &[0], &[1])));
    assert!(invalid(store.take_range(id, &[0], &[11])));
    for (from, upto) in [(&[][..], &[1][..]), (&[0], &[]), (&[0, 0], &[1]), (&[0], &[1, 1])] {
        assert!(invalid(store.take_range(id, from, upto)), "{from:?} {upto:?}");
    }
    assert!(invalid(store.take_range(id, &[5], &[4])));
    assert!(invalid(store.take_range(id, &[5], &[5])));
    assert!(invalid(store.take_range(id, &[0, 0], &[1, 1])));
    let nobody = ItemId([0; 16]);
    assert_eq!(store.take_prepared(nobody).unwrap_err(), StoreError::Unknown { item: nobody });
    assert_eq!(available_items(&store).iter().map(|o| o.next[0]).collect::<Vec<_>>(), [0, 0]);
}

#[test]
fn offers_are_what_the_filter_wants() {
    let folder = tempfile::tempdir().unwrap();
    let (_, store) = fresh(&folder);
    let (a, b) = (pool(&store, 1, 1, 10), pool(&store, 1, 0, 10));
    let c = prepared(&store, 2, 0, b"");
    let all = meta(ItemKind::Prepared, 2, 0);
    let ids = |filter: Filter| -> Vec<_> {
        store.available_items(&filter).unwrap().iter().map(|item| item.id).collect()
    };
    let any = Filter::default;
    assert_eq!(ids(Filter { kind: Some(ItemKind::Pool), ..any() }), [b, a]);
    assert_eq!(ids(Filter { group: Some(all.group), ..any() }), [c]);
    assert_eq!(ids(Filter { circuit: Some(all.circuit), ..any() }), [c]);
    assert_eq!(ids(Filter { circuit: Some(None), ..any() }), [b, a]);
    assert_eq!(ids(Filter { peers: Some(all.peers.clone()), ..any() }).len(), 3);
    let stranger = vec![ItemPeer { party: 1.into(), fingerprint: Some("cd".repeat(32)) }];
    assert!(ids(Filter { peers: Some(stranger), ..any() }).is_empty());
    assert!(ids(Filter { peers: Some(Vec::new()), ..any() }).is_empty());
    assert!(ids(Filter { rho: Some(64), ..any() }).is_empty());
    assert!(ids(Filter { party: Some(1.into()), ..any() }).is_empty());
    assert!(ids(Filter { protocol: Some("ywz".to_string()), ..any() }).is_empty());
}

/// Numbers that were used once are never free again, even after their items are collected.
#[test]
fn the_next_number_of_a_group_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = fresh(&folder);
    let (one, other) = (pool(&store, 1, 0, 10), pool(&store, 2, 0, 10));
    let next = |id| {
        let available_items = available_items(&open(&path));
        available_items.iter().find(|item| item.id == id).unwrap().next_prepared
    };
    assert_eq!((next(one), next(other)), (0, 0), "pools have numbers of their own");
    let (first, second) = (prepared(&store, 1, 0, b"x"), prepared(&store, 1, 5, b"x"));
    prepared(&store, 1, 3, b"x");
    assert_eq!((next(one), next(other)), (6, 0));
    store.take_prepared(second).unwrap().done().unwrap();
    store.void(&[first], "lost").unwrap();
    assert_eq!((next(one), next(other)), (6, 0));
    store.gc().unwrap();
    prepared(&store, 2, 0, b"x");
    assert_eq!((next(one), next(other)), (6, 1));
    prepared(&store, 2, u64::MAX, b"x");
    assert_eq!(next(other), u64::MAX);
}

#[test]
fn a_dead_group_stays_dead() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = fresh(&folder);
    let ids = [pool(&store, 1, 0, 10), pool(&store, 1, 1, 10), prepared(&store, 1, 0, b"x")];
    let other = pool(&store, 2, 0, 10);
    let group = meta(ItemKind::Pool, 1, 0).group;
    let mut late = store.begin(meta(ItemKind::Pool, 1, 7), &[Section::Whole], FRAME).unwrap();
    late.section(0).put(b"late").unwrap();
    store.take_range(ids[0], &[0], &[5]).unwrap();
    store.revoke_group(&group, "a check\nfailed").unwrap();
    assert_eq!(available_items(&store).iter().map(|o| o.id).collect::<Vec<_>>(), [other]);
    for id in ids {
        let refused = match id == ids[2] {
            true => store.take_prepared(id),
            false => store.take_range(id, &[5], &[6]),
        };
        let refused = refused.unwrap_err();
        assert!(
            matches!(&refused, StoreError::Void { reason, .. } if reason == "a checkfailed"),
            "{refused}"
        );
        assert!(!path.join("items").join(id.to_string()).exists());
    }
    assert!(matches!(late.finish(vec![1]).unwrap_err(), StoreError::RevokedGroup { .. }));
    assert!(matches!(try_pool(&store, 1, 9, 1).unwrap_err(), StoreError::RevokedGroup { .. }));
    assert!(matches!(store.lock_group(&group).unwrap_err(), StoreError::RevokedGroup { .. }));
    assert_eq!(store.gc().unwrap().items.len(), 3);
    assert!(matches!(try_pool(&store, 1, 9, 1).unwrap_err(), StoreError::RevokedGroup { .. }));
    store.revoke_group(&group, "again").unwrap();
}

#[test]
fn void_items_are_listed_until_they_are_collected() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = fresh(&folder);
    let (a, b) = (pool(&store, 1, 0, 10), pool(&store, 1, 1, 10));
    let nobody = ItemId([0; 16]);
    assert_eq!(store.void(&[a, nobody], "").unwrap_err(), StoreError::Unknown { item: nobody });
    assert_eq!(available_items(&store).len(), 2);
    store.void(&[a], "too old").unwrap();
    store.void(&[a], "another reason").unwrap();
    let listed = store.list().unwrap();
    let states: Vec<_> = listed.iter().map(|entry| (entry.id, entry.state.clone())).collect();
    assert!(states.contains(&(a, ItemState::Void("too old".to_string()))), "{states:?}");
    assert!(states.contains(&(b, ItemState::Available)), "{states:?}");
    assert!(listed.iter().all(|entry| entry.bytes == 10 * 16 + 13 && entry.created > 0));
    let described: serde_json::Value = serde_json::from_str(&store.describe(a).unwrap()).unwrap();
    assert_eq!(described["stamp"]["rho"], 40);
    assert_eq!(described["id"], a.to_string());
    std::fs::create_dir(path.join("items").join(nobody.to_string())).unwrap();
    let collected = store.gc().unwrap();
    assert_eq!((collected.items, collected.drafts, collected.orphans), (vec![a], 0, 1));
    assert_eq!(store.list().unwrap().len(), 1);
    assert!(store.describe(a).is_err());
}

#[test]
fn a_group_is_locked_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = fresh(&folder);
    let (group, other) = ([1; 32], [2; 32]);
    let lock = store.lock_group(&group).unwrap().unwrap();
    assert!(open(&path).lock_group(&group).unwrap().is_none());
    assert!(store.lock_group(&other).unwrap().is_some());
    store.gc().unwrap();
    assert!(store.lock_group(&group).unwrap().is_none(), "collecting leaves held locks alone");
    drop(lock);
    assert!(store.lock_group(&group).unwrap().is_some());
    store.gc().unwrap();
    assert_eq!(std::fs::read_dir(path.join("groups")).unwrap().count(), 0);
}

#[test]
fn what_is_being_written_is_not_collected() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = fresh(&folder);
    let mut item_writer =
        store.begin(meta(ItemKind::Pool, 1, 0), &[Section::Whole], FRAME).unwrap();
    item_writer.section(0).put(&[7; 1000]).unwrap();
    let collected = open(&path).gc().unwrap();
    assert_eq!((collected.drafts, collected.busy), (0, 1));
    let id = item_writer.finish(vec![1]).unwrap();
    assert!(store.verify(|_| {}).unwrap().iter().all(|(_, result)| result.is_ok()));
    let mut second = store.begin(meta(ItemKind::Pool, 1, 1), &[Section::Whole], FRAME).unwrap();
    let mut third = store.begin(meta(ItemKind::Pool, 1, 1), &[Section::Whole], FRAME).unwrap();
    second.section(0).put(b"second").unwrap();
    third.section(0).put(b"third").unwrap();
    second.finish(vec![1]).unwrap();
    assert!(matches!(third.finish(vec![1]).unwrap_err(), StoreError::Exists { .. }));
    let item = &available_items(&store)[1];
    let taken = store.take_range(item.id, &[0], &[1]).unwrap();
    assert_eq!(read(&taken, 0), b"second");
    assert_ne!(item.id, id);
}

/// An unfinished item may hold the Δ of a group whose other items are in use. Without a key, it is
/// overwritten before it is removed, however it is removed.
#[test]
fn half_written_items_are_overwritten() {
    let folder = scratch();
    let (path, store) = fresh(&folder);
    let outside = folder.path().join("outside");
    let drafts = || std::fs::read_dir(path.join("drafts")).unwrap().map(|entry| entry.unwrap());
    let only = || drafts().map(|entry| entry.path()).next().unwrap();
    let begun = |store: &Store| {
        let prepared = meta(ItemKind::Prepared, 1, 0);
        let mut writer = store.begin(prepared, &[Section::Whole], FRAME).unwrap();
        writer.section(0).put(&[0xd5; 1000]).unwrap();
        writer
    };
    let watch = |draft: &std::path::Path| {
        std::fs::hard_link(draft.join("0.bin"), &outside).unwrap();
        let bytes = std::fs::read(&outside).unwrap();
        assert!(bytes.windows(64).any(|part| part == [0xd5; 64]));
    };
    let is_gone = |what: &str| {
        assert_eq!(drafts().count(), 0, "{what}");
        let bytes = std::fs::read(&outside).unwrap();
        assert!(bytes.len() > 500 && bytes.iter().all(|byte| *byte == 0), "{what}");
        std::fs::remove_file(&outside).unwrap();
    };
    // The leftovers of a process that died: nobody holds their lock.
    let left_dead = |store: &Store| {
        let writer = begun(store);
        copy(&only(), &folder.path().join("dead"));
        drop(writer);
        std::fs::rename(folder.path().join("dead"), path.join("drafts").join("dead")).unwrap();
        watch(&only());
    };

    let writer = begun(&store);
    watch(&only());
    drop(writer);
    is_gone("a writer that is dropped");

    let closed = begun(&store).close(vec![1]).unwrap();
    watch(&only());
    drop(closed);
    is_gone("an item that is closed and dropped");

    left_dead(&store);
    assert_eq!(store.gc().unwrap().drafts, 1);
    is_gone("collected");

    left_dead(&store);
    drop(store);
    let key = folder.path().join("key");
    create_key_file(&key).unwrap();
    Store::encrypt(&path, &Protection::None, &Protection::KeyFile(key)).unwrap();
    let bytes = std::fs::read(&outside).unwrap();
    assert!(bytes.len() > 500 && bytes.iter().all(|byte| *byte == 0), "encrypted");
}

#[test]
fn secrets_are_not_printed_and_files_are_private() {
    assert_eq!(format!("{:?}", Protection::passphrase("secret")), "Passphrase(..)");
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = fresh(&folder);
    let id = pool(&store, 1, 0, 10);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
        let item = path.join("items").join(id.to_string());
        for folder in [&path, &path.join("items"), &path.join("drafts"), &item] {
            assert_eq!(mode(folder) & 0o777, 0o700, "{}", folder.display());
        }
        for name in ["store.toml", "index-0.redb", "index-1.redb", "head", "lock"] {
            assert_eq!(mode(&path.join(name)) & 0o777, 0o600, "{name}");
        }
        assert_eq!(mode(&item.join("0.bin")) & 0o777, 0o600);
    }
}

#[test]
fn items_are_entered_together_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let (_, store) = fresh(&folder);
    let item = |group, sequence| try_closed(&store, group, sequence, &[5; 300]).unwrap();
    ClosedItem::publish_all(Vec::new()).unwrap();
    let doubled = ClosedItem::publish_all(vec![item(1, 0), item(1, 1), item(1, 0)]).unwrap_err();
    assert!(matches!(doubled, StoreError::Exists { .. }), "{doubled}");
    assert_eq!(available_items(&store), []);
    ClosedItem::publish_all(vec![item(1, 0), item(1, 1)]).unwrap();
    assert_eq!(available_items(&store).len(), 2);
    let other = tempfile::tempdir().unwrap();
    let (_, elsewhere) = fresh(&other);
    let foreign = try_closed(&elsewhere, 1, 3, &[5; 300]).unwrap();
    let mixed = ClosedItem::publish_all(vec![item(1, 2), foreign]).unwrap_err();
    assert!(matches!(mixed, StoreError::Invalid(_)), "{mixed}");
    assert_eq!(available_items(&store).len(), 2);
}
