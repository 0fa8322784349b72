//! Stores that others could change, and other objects in place of a store's own files: each is
//! rejected by name, and nothing blocks or is written elsewhere.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use symbolon_store::*;

use crate::common::*;

/// Long enough for anything but waiting forever.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs something that must not block.
fn at_once<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(run()));
    receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{what}: still waiting"))
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Creates a store with one item; also returns all of its files and directories.
fn furnished(folder: &Path) -> (PathBuf, ItemId, Vec<PathBuf>) {
    let path = folder.join("store");
    let store = Store::create(&path, &Protection::None).unwrap();
    let id = prepared(&store, 1, 0, b"content");
    let mut own: Vec<_> =
        ["store.toml", "lock", "head", "index-0.redb", "index-1.redb", "items", "drafts", "groups"]
            .map(|name| path.join(name))
            .to_vec();
    own.push(path.join("items").join(id.to_string()));
    own.push(file(&path, id, 0));
    (path, id, own)
}

/// Opens the store and takes the item.
fn use_store(path: &Path, id: ItemId) -> Result<()> {
    let store = Store::open(path, &Protection::None)?;
    let taken = store.take_prepared(id)?;
    assert_eq!(read(&taken, 0), b"content");
    taken.done()
}

fn is_refused(what: &str, own: &Path, path: &Path, id: ItemId) -> String {
    let path = path.to_path_buf();
    let error = at_once(what, move || use_store(&path, id)).expect_err(what);
    let StoreError::Unsafe { path, .. } = &error else { panic!("{what}: {error}") };
    assert_eq!(path, own, "{what}: {error}");
    error.to_string()
}

/// Cheat: – | every file and directory | a FIFO, link or device in its place | the type of what was
/// opened | always
#[test]
fn what_is_no_file_of_the_store_is_refused_at_once() {
    let count = furnished(tempfile::tempdir().unwrap().path()).2.len();
    for (number, kind) in (0..count).flat_map(|n| ["FIFO", "link", "device"].map(|kind| (n, kind)))
    {
        let folder = tempfile::tempdir().unwrap();
        let (path, id, own) = furnished(folder.path());
        let own = own[number].canonicalize().unwrap();
        let what = format!("{kind} as {}", own.display());
        let aside = folder.path().join("aside");
        fs::rename(&own, &aside).unwrap();
        match kind {
            "FIFO" => fifo(&own),
            // The link's target is what was there before.
            "link" => symlink(&aside, &own).unwrap(),
            _ => {
                let made = Command::new("mknod").arg(&own).args(["c", "1", "5"]).output();
                if !made.is_ok_and(|made| made.status.success()) {
                    eprintln!("skipped: only the superuser makes devices");
                    continue;
                }
            }
        }
        is_refused(&what, &own, &path, id);
    }
}

/// Cheat: – | every file and directory | others can write to it | its mode | always
#[test]
fn what_others_can_write_is_refused() {
    let count = furnished(tempfile::tempdir().unwrap().path()).2.len();
    for number in 0..=count {
        let folder = tempfile::tempdir().unwrap();
        let (path, id, own) = furnished(folder.path());
        let own = own.get(number).unwrap_or(&path).canonicalize().unwrap();
        let good = fs::metadata(&own).unwrap().permissions().mode();
        for others in [0o020, 0o002] {
            mode(&own, good | others);
            let text = is_refused("written by others", &own, &path, id);
            assert!(text.contains("chmod go-w"), "{text}");
        }
        // Reading is not writing, and what a store's files reveal is not the subject here.
        mode(&own, good | 0o044);
        use_store(&path, id).unwrap();
    }
}

/// Cheat: – | every file and directory | belongs to another user | its owner | always
#[test]
fn what_belongs_to_somebody_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    if fs::metadata(folder.path()).unwrap().uid() != 0 {
        eprintln!("skipped: only the superuser gives files away");
        return;
    }
    let (path, id, mut own) = furnished(folder.path());
    own.push(path.clone());
    for own in own {
        let own = own.canonicalize().unwrap();
        std::os::unix::fs::chown(&own, Some(65534), None).unwrap();
        let text = is_refused("another user's", &own, &path, id);
        assert!(text.contains("another user"), "{text}");
        std::os::unix::fs::chown(&own, Some(0), None).unwrap();
    }
    use_store(&path, id).unwrap();
}

#[test]
fn a_store_is_not_made_where_others_can_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    fs::create_dir(&path).unwrap();
    mode(&path, 0o777);
    let refused = Store::open_or_create(&path, &Protection::None).unwrap_err();
    assert!(matches!(refused, StoreError::Unsafe { .. }), "{refused}");
    assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    mode(&path, 0o755);
    Store::open_or_create(&path, &Protection::None).unwrap();
}

/// Cheat: – | an item's files | links to other files, to have those wiped | links are removed, not
/// followed | always
#[test]
fn removing_an_item_leaves_alone_what_links_lead_to() {
    let folder = tempfile::tempdir().unwrap();
    let precious = folder.path().join("precious");
    let files = folder.path().join("files");
    fs::create_dir(&files).unwrap();
    for linked in ["file", "directory"] {
        fs::write(&precious, b"precious").unwrap();
        fs::write(files.join("0.bin"), b"precious").unwrap();
        let path = folder.path().join(linked);
        let store = Store::create(&path, &Protection::None).unwrap();
        let id = prepared(&store, 1, 0, b"content");
        let item = path.join("items").join(id.to_string());
        if linked == "file" {
            fs::remove_file(item.join("0.bin")).unwrap();
            symlink(&precious, item.join("0.bin")).unwrap();
            fifo(&item.join("1.bin"));
        } else {
            fs::remove_dir_all(&item).unwrap();
            symlink(&files, &item).unwrap();
        }
        at_once(linked, move || {
            store.void(&[id], "damaged").unwrap();
            store.gc().unwrap();
        });
        assert!(fs::symlink_metadata(&item).is_err(), "{linked}");
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        assert_eq!(fs::read(files.join("0.bin")).unwrap(), b"precious");
    }
}

#[test]
fn passphrases_and_keys_come_from_private_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("passphrase");
    let from = |content: &[u8]| {
        fs::write(&path, content).unwrap();
        mode(&path, 0o600);
        Protection::passphrase_file(&path)
    };
    let text = |protection| match protection {
        Protection::Passphrase(text) => text.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text(from(b"correct horse\r\nsecond line").unwrap()), "correct horse");
    assert_eq!(text(from("größe".as_bytes()).unwrap()), "größe");
    assert_eq!(text(from(&[b'x'; 4096]).unwrap()).len(), 4096);
    for wrong in [&b""[..], b"\nsecond", b"\xff\xfe", &[b'x'; 4097], &[b'x'; 10_000]] {
        let error = from(wrong).unwrap_err();
        assert!(matches!(&error, StoreError::Invalid(_)), "{error}");
    }
    from(b"good").unwrap();
    for others in [0o040, 0o004, 0o020, 0o002] {
        mode(&path, 0o600 | others);
        let error = Protection::passphrase_file(&path).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }
    let link = folder.path().join("link");
    mode(&path, 0o600);
    symlink(&path, &link).unwrap();
    Protection::passphrase_file(&link).unwrap();
    let pipe = folder.path().join("pipe");
    fifo(&pipe);
    mode(&pipe, 0o600);
    for place in [pipe, PathBuf::from("/dev/zero"), folder.path().to_path_buf()] {
        let store = folder.path().join("store");
        at_once("a file with a secret", move || {
            Protection::passphrase_file(&place).unwrap_err();
            Store::create(&store, &Protection::KeyFile(place)).unwrap_err();
        });
    }
}
