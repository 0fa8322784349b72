//! An option of a protocol is declared in the protocol's folder, and nothing else names it.

use std::fs;
use std::path::{Path, PathBuf};

use symbolon::{Parameter, parameters};

/// The folders of sources.
const SOURCES: [&str; 2] = ["crates", "fuzz/src"];

/// The tables of papers have command lines, which give options as a user does; the compiler, which
/// knows no protocol, has a module `psi` in its library; and `circuit info` counts a circuit's
/// components, whatever the protocol.
const OTHER_USES: [&str; 3] =
    ["src/commands/paper/tables", "crates/lang/src", "cli/src/commands/circuit/mod.rs"];

/// Returns the files below a folder that are part of the program: no tests, no generated header.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_test = ["tests", "benches"].contains(&name)
            || name.ends_with("tests.rs")
            || name.starts_with("cheats");
        if is_test || name == "include" || name == "target" {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if matches!(path.extension().and_then(|e| e.to_str()), Some("rs" | "toml")) {
            found.push(path);
        }
    }
}

/// Returns the part of a file before its tests.
fn program(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_string()
}

/// Returns whether a text gives or reads the option: by its flag, or by its name or key in quotes,
/// or as a word if that can be nothing else.
fn names(text: &str, spec: &symbolon::OptionSpec) -> bool {
    let key = spec.key();
    let quoted = [spec.name, &key].map(|name| format!("\"{name}\""));
    let flag = format!("--{}", spec.flag());
    let is_word = key.contains('_') && (text.contains(&key) || text.contains(spec.name));
    is_word || text.contains(&flag) || quoted.iter().any(|name| text.contains(name))
}

#[test]
fn an_option_is_named_in_the_folder_of_its_protocol_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    SOURCES.iter().for_each(|folder| sources(&root.join(folder), &mut files));
    assert!(files.len() > 300, "{}", files.len());
    let mut options = 0;
    for parameter in parameters() {
        let Parameter::Option(protocol, option) = parameter else { continue };
        options += 1;
        let own = format!("/{}/", protocol.name());
        let place = |path: &PathBuf| path.to_string_lossy().replace('\\', "/");
        let named = files.iter().filter(|path| names(&program(path), &option.spec));
        let (inside, outside): (Vec<_>, Vec<_>) =
            named.map(place).partition(|path| path.contains(&own));
        assert!(!inside.is_empty(), "{}", option.spec.name);
        let is_other = |path: &String| OTHER_USES.iter().any(|other| path.contains(other));
        let outside: Vec<_> = outside.into_iter().filter(|path| !is_other(path)).collect();
        assert!(outside.is_empty(), "{}: {outside:#?}", option.spec.name);
    }
    assert!(options >= 5, "{options}");
}
