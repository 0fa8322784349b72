//! What `make install` installs: the example is built with it through pkg-config, and run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Parties, SONAME, compiler, done, here, is_there, libraries, millionaires};

const PREFIX: &str = "/opt/symbolon";

fn make(goal: &str, folder: &Path) {
    let mut make = Command::new("make");
    make.args(["-s", "-C"]).arg(here().join("../../packaging")).arg(goal);
    make.arg(format!("PREFIX={PREFIX}")).arg(format!("DESTDIR={}", folder.display()));
    // What cargo built for this test: a build for users takes minutes.
    done(make.arg(format!("BUILT={}", libraries().display())));
}

/// The files below a folder, by their paths in it.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                found.insert(entry.path().strip_prefix(folder).unwrap().to_path_buf());
            }
        }
    }
    found
}

/// The names of the functions in the header.
fn functions() -> BTreeSet<String> {
    let header = std::fs::read_to_string(here().join("include/symbolon.h")).unwrap();
    let code = header.lines().filter(|line| !line.starts_with("//"));
    let names = code.filter_map(|line| {
        let (before, _) = line.split_once('(')?;
        before.rsplit([' ', '*']).next().filter(|name| name.starts_with("symbolon_"))
    });
    names.map(str::to_string).collect()
}

/// Programs load it by its SONAME, it has no symbols but those in the header, and no debug
/// information.
fn check_shared(library: &Path) {
    let dynamic = done(Command::new("readelf").arg("-d").arg(library));
    assert!(dynamic.contains(&format!("soname: [{SONAME}]")), "{dynamic}");
    let sections = done(Command::new("readelf").arg("-SW").arg(library));
    assert!(sections.contains(".dynsym") && !sections.contains(".symtab"), "{sections}");
    assert!(!sections.contains(".debug"), "{sections}");
    let exported = done(Command::new("nm").args(["-D", "--defined-only", "-P"]).arg(library));
    let exported = exported.lines().filter_map(|line| line.split(' ').next()).map(str::to_string);
    assert_eq!(exported.collect::<BTreeSet<_>>(), functions());
}

/// Builds the example with the flags that pkg-config gives for an installation, and runs it.
fn build_and_run(root: &Path, flags: &[&str], is_static: bool) {
    let library = root.join(PREFIX.trim_start_matches('/')).join("lib");
    let mut config = Command::new("pkg-config");
    config.args(["--cflags", "--libs"]).args(is_static.then_some("--static")).arg("symbolon");
    config.env("PKG_CONFIG_PATH", library.join("pkgconfig")).env("PKG_CONFIG_SYSROOT_DIR", root);
    let found = done(&mut config);
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("millionaires");
    let mut cc = compiler("cc").unwrap();
    cc.arg("-std=c99").args(flags).arg(millionaires()).arg("-o").arg(&program);
    done(cc.args(found.split_whitespace()));
    let needed = done(Command::new("readelf").arg("-d").arg(&program));
    assert_eq!(needed.contains(SONAME), !is_static, "{needed}");
    let libraries = if is_static { folder.path().to_path_buf() } else { library };
    Parties::with(folder, program, libraries).compare();
}

#[test]
fn the_example_is_built_with_an_installation() {
    if !["make", "pkg-config", "cc", "readelf", "nm"].map(is_there).iter().all(|there| *there) {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    make("install", root.path());
    let prefix = root.path().join(PREFIX.trim_start_matches('/'));
    let names = [
        "include/symbolon.h",
        "lib/libsymbolon_c.a",
        "lib/libsymbolon_c.so",
        "lib/pkgconfig/symbolon.pc",
    ];
    let expected = names.map(PathBuf::from).into_iter().chain([Path::new("lib").join(SONAME)]);
    assert_eq!(files(&prefix), expected.collect());
    assert_eq!(std::fs::read_link(prefix.join("lib/libsymbolon_c.so")).unwrap(), Path::new(SONAME));
    check_shared(&prefix.join("lib").join(SONAME));
    build_and_run(root.path(), &[], false);
    if has_static_libc() {
        build_and_run(root.path(), &["-static"], true);
    }
    make("uninstall", root.path());
    assert_eq!(files(root.path()), BTreeSet::new());
}

/// Not every system has the C library as a static one.
fn has_static_libc() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("main.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let mut cc = Command::new("cc");
    cc.arg("-static").arg(source).arg("-o").arg(folder.path().join("main"));
    let found = cc.output().unwrap().status.success();
    if !found {
        eprintln!("NOT CHECKED: a static program, as there is no static C library");
    }
    found
}

/// Only the command serves editors.
#[test]
fn the_library_has_no_language_server() {
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none"]);
    let names = |package: &str, tree: &mut Command| -> BTreeSet<String> {
        let tree = done(tree.args(["--package", package]).current_dir(here()));
        tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_string).collect()
    };
    let found = names("symbolon-capi", &mut tree);
    assert!(found.contains("symbolon-lang"), "{found:?}");
    for name in ["lsp-server", "lsp-types", "crossbeam-channel"] {
        assert!(!found.contains(name), "the C library depends on {name}");
    }
}
