//! Compiled programs are kept in the user's cache folder, and never change what is computed.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Ended, command, end};

const PROGRAM: &str = "fn main(a: u8 from 0, b: u8 from 1) -> (z: u8 to all) {\n    \
                       assert(b > 0, \"zero divisor\");\n    a / b\n}\n";

/// Returns the command in this folder, with the cache in its folder `cache`.
fn here(folder: &Path, words: &str) -> Command {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut command = command(&words);
    command.current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache"));
    command
}

fn run(folder: &Path, words: &str) -> Ended {
    end(here(folder, words).spawn().expect("the binary starts"))
}

/// Returns the entries.
fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder.join("cache/symbolon")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn scene() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.sym"), PROGRAM).unwrap();
    folder
}

#[test]
fn a_kept_program_computes_the_same() {
    let folder = scene();
    let eval = |b: u8, option: &str| {
        run(folder.path(), &format!("eval p.sym --input a=42 --input b={b} {option}"))
    };
    eval(6, "--no-cache").expect(0);
    assert!(entries(folder.path()).is_empty());
    assert_eq!(run(folder.path(), "cache ls").expect(0).out, "no compiled programs\n");
    let first = eval(6, "").expect(0).out;
    let [entry] = &entries(folder.path())[..] else { panic!("one entry") };
    let whole = fs::read(entry).unwrap();
    // A command that compiled anew would write the entry again.
    let made = fs::File::open(entry).unwrap();
    assert_eq!(eval(6, "").expect(0).out, first);
    assert_eq!(made.metadata().unwrap().len(), whole.len() as u64);
    same_file(&made, entry);
    eval(0, "").expect(6).says(&["zero divisor (p.sym, line 2)"]);
    let local = "local p.sym --input a=42 --input b=0";
    run(folder.path(), local).expect(6).says(&["zero divisor"]);
    let listed = run(folder.path(), "cache ls").expect(0).out;
    assert!(listed.contains("p.sym") && listed.lines().count() == 2, "{listed}");
    // Damaged, truncated and foreign entries are made anew, and another function is never computed.
    for bytes in [&whole[..whole.len() - 1], &[0xff; 64], b"", b"{}\n"] {
        fs::write(entry, bytes).unwrap();
        assert_eq!(eval(6, "").expect(0).out, first);
        assert_eq!(fs::read(entry).unwrap(), whole);
    }
    fs::write(folder.path().join("p.sym"), PROGRAM.replace("a / b", "a * b")).unwrap();
    assert_eq!(eval(6, "").expect(0).out, "z = 252\nassert = 0\n");
    let cleared = run(folder.path(), "cache clear").expect(0).out;
    assert!(cleared.starts_with("removed: 2 compiled programs, "), "{cleared}");
    assert!(entries(folder.path()).is_empty());
}

/// Checks that a file that was opened is still the one of this name.
#[cfg(unix)]
fn same_file(opened: &fs::File, path: &Path) {
    use std::os::unix::fs::MetadataExt;
    assert_eq!(opened.metadata().unwrap().ino(), fs::metadata(path).unwrap().ino());
}

#[cfg(not(unix))]
fn same_file(_: &fs::File, _: &Path) {}

#[test]
fn processes_may_use_it_at_once() {
    let folder = scene();
    let start = |_| here(folder.path(), "circuit info p.sym --json").spawn().unwrap();
    let children: Vec<_> = (0..6).map(start).collect();
    let outs: Vec<String> = children.into_iter().map(|child| end(child).expect(0).out).collect();
    assert!(outs.iter().all(|out| *out == outs[0]));
    assert_eq!(entries(folder.path()).len(), 1);
}

/// A cache that cannot be used is no error, but to `symbolon cache`.
#[cfg(unix)]
#[test]
fn a_program_needs_no_cache() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scene();
    let eval = "eval p.sym --input a=42 --input b=6";
    let out = run(folder.path(), eval).expect(0).out;
    for cache in [Some("/dev/null"), Some("relative"), None] {
        let mut command = here(folder.path(), eval);
        match cache {
            Some(cache) => command.env("XDG_CACHE_HOME", cache).env_remove("HOME"),
            None => command.env_remove("XDG_CACHE_HOME").env_remove("HOME"),
        };
        assert_eq!(end(command.spawn().unwrap()).expect(0).out, out, "{cache:?}");
    }
    let cache = folder.path().join("cache/symbolon");
    let set = |mode| fs::set_permissions(&cache, fs::Permissions::from_mode(mode)).unwrap();
    set(0o500);
    assert_eq!(run(folder.path(), eval).expect(0).out, out);
    fs::write(folder.path().join("p.sym"), PROGRAM.replace("a / b", "a * b")).unwrap();
    assert_eq!(run(folder.path(), eval).expect(0).out, "z = 252\nassert = 0\n");
    set(0o777);
    assert_eq!(run(folder.path(), eval).expect(0).out, "z = 252\nassert = 0\n");
    for words in ["cache ls", "cache clear"] {
        run(folder.path(), words).expect(2).says(&["another user owns it or can write to it"]);
    }
    set(0o700);
}
