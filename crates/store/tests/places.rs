//! Wrong keys, copies, and read-only locations: each leads to an error with advice, and nothing
//! unsafe is used.

use std::fs;
use std::path::{Path, PathBuf};

use symbolon_store::*;

use crate::common::*;

/// What the children of the tests here do.
pub fn child(path: &Path) {
    let store = open(path);
    store.list().unwrap();
    assert!(store.verify(|_| {}).unwrap().iter().all(|(_, result)| result.is_ok()));
    let refused = store.available_items(&Filter::default()).unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly { .. }), "{refused}");
    eprintln!("looked");
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
            for result in
                [Store::open(&path, protection), Store::reset_ownership(&path, protection)]
            {
                let error = result.unwrap_err();
                assert!(
                    matches!(error, StoreError::Locked { .. }),
                    "{good:?}, {protection:?}: {error}"
                );
            }
        }
        assert_eq!(available_items(&Store::open(&path, good).unwrap()).len(), 1);
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
        // The same content under another name and nonce yields a different file.
        let other = prepared(&store, 1, 1, secret);
        assert_ne!(fs::read(file(&path, other, 0)).unwrap()[120..], bytes[120..]);
    }
}

/// Cheat: – | whole store | a copy: replayed material | refused; void once reset | always
#[test]
#[cfg(unix)]
fn a_copy_is_refused_until_it_is_adopted_and_then_it_is_void() {
    let folder = tempfile::tempdir().unwrap();
    for (name, protection) in protections(&folder) {
        let path = folder.path().join(name);
        let copied = folder.path().join(format!("copy of {name}"));
        let store = Store::create(&path, &protection).unwrap();
        let (id, dead) = (pool(&store, 1, 0, 10), meta(ItemKind::Pool, 2, 0).group);
        pool(&store, 2, 0, 10);
        store.revoke_group(&dead, "a check failed").unwrap();
        copy(&path, &copied);
        let refused = Store::open(&copied, &protection).unwrap_err();
        assert!(matches!(refused, StoreError::Moved { .. }), "{refused}");
        assert!(refused.to_string().contains("reset its ownership"), "{refused}");
        let reset = Store::reset_ownership(&copied, &protection).unwrap();
        assert!(available_items(&reset).is_empty());
        assert!(reset.take_range(id, &[0], &[1]).is_err());
        assert!(matches!(try_pool(&reset, 1, 0, 1).unwrap_err(), StoreError::Exists { .. }));
        assert!(matches!(try_pool(&reset, 2, 5, 1).unwrap_err(), StoreError::RevokedGroup { .. }));
        pool(&reset, 3, 0, 10);
        drop(reset);
        assert_eq!(available_items(&Store::open(&copied, &protection).unwrap()).len(), 1);
        // The original is unchanged, and may be moved.
        let moved = folder.path().join(format!("moved {name}"));
        drop(store);
        fs::rename(&path, &moved).unwrap();
        let store = Store::open(&moved, &protection).unwrap();
        check_records(&store.take_range(id, &[0], &[1]).unwrap());
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

/// Permissions of files do not bind a superuser, so the reader is a different user.
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
    let item = path.join("items").join(available_items(&store)[0].id.to_string());
    let mode =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for entry in fs::read_dir(&path).unwrap() {
        let entry = entry.unwrap();
        let directory = entry.file_type().unwrap().is_dir();
        mode(&entry.path(), if directory { directories } else { others });
    }
    mode(&item, directories);
    for section in 0..2 {
        mode(&item.join(format!("{section}.bin")), others);
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
