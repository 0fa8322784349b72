//! Entries that are not used: outdated, damaged, another's, or not private.

use symbolon_lang::source::NoModules;

use super::*;

const PROGRAM: &str = "use shift::by;\nfn main(a: u8 from 0, b: u8 from 1) -> (z: u8 to all) {\n    \
                       assert(b > 0, \"zero\");\n    by(a) ^ b\n}\n";

/// A folder with a program, its module, and a cache with its circuit.
struct Scene {
    root: tempfile::TempDir,
    cache: Cache,
    key: Key,
    circuit: Circuit,
}

impl Scene {
    fn new() -> Scene {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache { folder: root.path().join("cache/symbolon"), limit: MAX_BYTES };
        fs::write(root.path().join("shift.sym"), "pub fn by(a: u8) -> u8 {\n    a << 1\n}\n")
            .unwrap();
        let key = Key::of("main.sym", PROGRAM, &Options::default()).unwrap();
        let circuit = compile(&Folder(root.path().into()));
        let scene = Scene { root, cache, key, circuit };
        assert!(scene.found().is_none());
        scene.keep();
        assert_eq!(scene.found().as_ref(), Some(&scene.circuit));
        scene
    }

    fn folder(&self) -> Folder {
        Folder(self.root.path().into())
    }

    fn keep(&self) {
        let folder = self.folder();
        let recorder = Recorder::new(&folder);
        let circuit = compile(&recorder);
        self.cache.keep(&self.key, "main.sym", recorder, &circuit).unwrap();
    }

    fn found(&self) -> Option<Circuit> {
        self.cache.find(&self.key, &self.folder())
    }

    fn entry(&self) -> PathBuf {
        self.cache.folder.join(&self.key.0)
    }
}

fn compile(loader: &(dyn Loader + Sync)) -> Circuit {
    symbolon_lang::compile("main.sym", PROGRAM, loader, &Options::default()).unwrap()
}

#[test]
fn the_key_covers_all_that_the_compiler_is_given() {
    let options = |entry: Option<&str>, constants: &[(&str, &str)], parties| Options {
        entry: entry.map(String::from),
        constants: constants.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect(),
        parties,
        clear_clients: false,
    };
    let none = Options::default();
    let all = [
        ("a.sym", "x", none.clone()),
        ("b.sym", "x", none.clone()),
        ("a.sym", "y", none.clone()),
        ("a.symx", "", none.clone()),
        ("a.sym", "clients", none.clone()),
        ("a.sym", "clients", Options { clear_clients: true, ..none }),
        ("a.sym", "x", options(Some(""), &[], None)),
        ("a.sym", "x", options(Some("f"), &[], None)),
        ("a.sym", "x", options(None, &[], Some(2))),
        ("a.sym", "x", options(None, &[], Some(3))),
        ("a.sym", "x", options(None, &[("N", "12")], None)),
        ("a.sym", "x", options(None, &[("N1", "2")], None)),
        ("a.sym", "x", options(None, &[("N", "1"), ("N", "2")], None)),
        ("a.sym", "x", options(None, &[("N", "2"), ("N", "1")], None)),
    ];
    let keys: Vec<_> =
        all.iter().map(|(path, text, o)| Key::of(path, text, o).unwrap().0).collect();
    for (place, key) in keys.iter().enumerate() {
        assert!(!keys[..place].contains(key), "{place}");
    }
}

#[test]
fn modules_are_compared() {
    let scene = Scene::new();
    let module = scene.root.path().join("shift.sym");
    let text = fs::read_to_string(&module).unwrap();
    fs::write(&module, text.replace("<< 1", "<< 2")).unwrap();
    assert!(scene.found().is_none());
    fs::remove_file(&module).unwrap();
    assert!(scene.found().is_none());
    fs::write(&module, text).unwrap();
    assert!(scene.found().is_some());
    // A module that was looked for and not found matters, too.
    let absent = Module { path: vec!["absent".into()], found: None };
    assert!(absent.is_current(&scene.folder()));
    fs::write(scene.root.path().join("absent.sym"), "").unwrap();
    assert!(!absent.is_current(&scene.folder()));
}

#[test]
fn damage_is_noticed_everywhere() {
    let scene = Scene::new();
    let whole = fs::read(scene.entry()).unwrap();
    for length in 0..whole.len() {
        fs::write(scene.entry(), &whole[..length]).unwrap();
        assert!(scene.found().is_none(), "{length} bytes");
    }
    for place in 0..whole.len() {
        let mut other = whole.clone();
        other[place] ^= 4;
        fs::write(scene.entry(), &other).unwrap();
        assert!(scene.found().is_none(), "byte {place}");
    }
    fs::write(scene.entry(), [&whole[..], b"\0"].concat()).unwrap();
    assert!(scene.found().is_none());
    // It is made anew.
    scene.keep();
    assert!(scene.found().is_some());
}

/// An entry under another's name, and one whose circuit is not the one that it names.
#[test]
fn an_entry_of_another_circuit_is_refused() {
    let scene = Scene::new();
    let whole = fs::read(scene.entry()).unwrap();
    let options = Options { parties: Some(3), ..Options::default() };
    let other = Key::of("main.sym", PROGRAM, &options).unwrap();
    fs::copy(scene.entry(), scene.cache.folder.join(&other.0)).unwrap();
    assert!(scene.cache.find(&other, &scene.folder()).is_none());
    let text = "fn main(a: u8 from 0, b: u8 from 1) -> (z: u8 to all) { a & b }";
    let and = symbolon_lang::compile("main.sym", text, &NoModules, &Options::default()).unwrap();
    let (head, rest) = parts(&whole[blake3::OUT_LEN..]).unwrap();
    let mut other = Vec::new();
    native::write(&and, &mut other).unwrap();
    for (rest, is_right) in [(rest, true), (&other, false)] {
        let all = [&serde_json::to_vec(&head).unwrap()[..], b"\n", rest].concat();
        fs::write(scene.entry(), [blake3::hash(&all).as_bytes(), &all[..]].concat()).unwrap();
        assert_eq!(scene.found().is_some(), is_right);
    }
}

#[cfg(unix)]
#[test]
fn only_what_is_private_is_used() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scene = Scene::new();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let set =
        |path: &Path, mode| fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    let (folder, entry) = (scene.cache.folder.clone(), scene.entry());
    assert_eq!((mode(&folder), mode(&entry)), (0o700, 0o600));
    for path in [&folder, &entry] {
        let usual = mode(path);
        for open in [0o020, 0o002] {
            set(path, usual | open);
            assert!(scene.found().is_none(), "{}", path.display());
        }
        set(path, usual);
    }
    set(&folder, 0o777);
    assert!(scene.cache.list().is_err() && scene.cache.clear().is_err());
    let folder_of = scene.folder();
    let recorder = Recorder::new(&folder_of);
    assert!(scene.cache.keep(&scene.key, "", recorder, &scene.circuit).is_err());
    set(&folder, 0o700);
    assert!(scene.found().is_some());
    // Links lead to other folders and files.
    let moved = scene.root.path().join("moved");
    fs::rename(&entry, &moved).unwrap();
    symlink(&moved, &entry).unwrap();
    assert!(scene.found().is_none());
    fs::rename(&moved, &entry).unwrap();
    fs::rename(&folder, &moved).unwrap();
    symlink(&moved, &folder).unwrap();
    assert!(scene.found().is_none() && scene.cache.list().is_err());
    fs::remove_file(&folder).unwrap();
    // Another user's, which only the superuser can set up.
    fs::rename(&moved, &folder).unwrap();
    if std::os::unix::fs::chown(&entry, Some(12_345), None).is_ok() {
        assert!(scene.found().is_none());
        std::os::unix::fs::chown(&folder, Some(12_345), None).unwrap();
        assert!(scene.cache.list().is_err() && scene.cache.clear().is_err());
    }
}

#[test]
fn entries_that_are_not_used_go_first() {
    let mut scene = Scene::new();
    let size = fs::metadata(scene.entry()).unwrap().len();
    scene.cache.limit = size * 5 / 2;
    let used = |path: &Path, seconds| {
        let time = SystemTime::now() - Duration::from_secs(seconds);
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    };
    let first = scene.entry();
    used(&first, 50);
    let key = |parties| {
        let options = Options { parties: Some(parties), ..Options::default() };
        Key::of("main.sym", PROGRAM, &options).unwrap()
    };
    scene.key = key(2);
    scene.keep();
    let second = scene.entry();
    used(&second, 100);
    let leftover = scene.cache.folder.join("new-1");
    fs::write(&leftover, "").unwrap();
    used(&leftover, 2 * LEFTOVER.as_secs());
    let foreign = scene.cache.folder.join("notes.txt");
    fs::write(&foreign, [0; 1 << 16]).unwrap();
    scene.key = key(3);
    scene.keep();
    let kept = [&first, &second, &scene.entry(), &leftover, &foreign].map(|path| path.exists());
    assert_eq!(kept, [true, false, true, false, true]);
    assert_eq!(scene.cache.list().unwrap().len(), 2);
    assert_eq!(scene.cache.clear().unwrap(), (2, 2 * size));
    assert!(foreign.exists() && scene.cache.list().unwrap().is_empty());
}
