//! `docs/cheats.md` names every test of a cheat, and nothing that is none.
#![allow(missing_docs)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files without `cheats` in their path of which every test is a row too.
const FILES: [&str; 9] = [
    "crates/ot/tests/rates.rs",
    "crates/preprocessing/src/fprep/tests/attack.rs",
    "crates/preprocessing/src/fprep/tests/league.rs",
    "crates/preprocessing/src/fprep/tests/many.rs",
    "crates/protocols/tests/privacy/tinytable.rs",
    "crates/protocols/tests/privacy/wrk.rs",
    "crates/protocols/tests/privacy/ywz.rs",
    "crates/store/tests/damage.rs",
    "crates/symbolon/tests/boundaries/main.rs",
];

/// Tests in these files in which nobody cheats, and what child processes run.
const NO_CHEATS: [&str; 8] = [
    "crates/protocols/src/dualex/tests/cheats_in_flight.rs::executions_in_flight_give_their_outputs_in_order",
    "crates/protocols/tests/cheats_tinytable.rs::honest_runs_are_not_accused",
    "crates/protocols/tests/ywz_cheats/exchanged_roles.rs::nobody_cheats",
    "crates/protocols/tests/ywz_cheats/tools.rs::nobody_cheats",
    "crates/protocols/tests/ywz_cheats/tools.rs::the_first_layer_comes_first",
    "crates/store/tests/damage.rs::child",
    "crates/symbolon/tests/cheats_table.rs::the_table_names_every_cheat_and_nothing_else",
    "crates/symbolon/tests/cheats_table.rs::the_tests_of_every_check_are_in_the_table",
];

#[test]
fn the_table_names_every_cheat_and_nothing_else() {
    let table = fs::read_to_string(root().join("docs/cheats.md")).unwrap();
    let rows = tests_of(&table);
    let named: BTreeSet<String> = rows.iter().cloned().collect();
    assert_eq!(named.len(), rows.len(), "a test is named twice");
    assert!(named.len() > 200, "only {} rows were read", named.len());

    let mut missing = Vec::new();
    for row in &named {
        let (file, name) = row.split_once("::").unwrap();
        let tests = tests_in(&root().join(file));
        if !tests.iter().any(|test| test == name) {
            missing.push(row);
        }
    }
    assert!(missing.is_empty(), "rows without a test: {missing:#?}");

    let files: Vec<PathBuf> = sources(&root().join("crates"));
    let mut unnamed = Vec::new();
    for file in &files {
        let path = file.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        if path.contains("cheats") || FILES.contains(&&*path) {
            let tests = tests_in(file).into_iter().map(|test| format!("{path}::{test}"));
            unnamed.extend(
                tests.filter(|test| !named.contains(test) && !NO_CHEATS.contains(&test.as_str())),
            );
        }
    }
    assert!(unnamed.is_empty(), "tests without a row: {unnamed:#?}");
    let exists = |file: &&str| files.contains(&root().join(file));
    assert!(FILES.iter().all(exists), "a file of cheats is gone");
}

/// `docs/security.md` names tests with each check.
#[test]
fn the_tests_of_every_check_are_in_the_table() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let table = read("docs/cheats.md");
    let tests = tests_of(&table);
    let names: BTreeSet<&str> = tests.iter().filter_map(|test| test.split("::").nth(1)).collect();
    let security = read("docs/security.md");
    let checks = security.lines().skip_while(|line| !line.starts_with("| step | check"));
    let rows: Vec<&str> = checks.skip(2).take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 15, "only {} checks were read", rows.len());
    for row in rows {
        let cell = row.trim_end_matches('|').rsplit('|').next().unwrap().trim();
        for name in cell.split(", ") {
            let name = name.trim_matches('`');
            assert!(names.contains(name), "{name:?} of {row}");
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The tests that the table names, each in the last column of its row: `file::test`, or `::test`
/// for one in the file of the row above.
fn tests_of(table: &str) -> Vec<String> {
    let mut tests = Vec::new();
    let mut above = None;
    for line in table.lines() {
        let Some(test) = last_cell(line) else {
            above = None;
            continue;
        };
        let (file, name) = test.split_once("::").unwrap();
        let file = if file.is_empty() { above.expect("a row with a file is above") } else { file };
        above = Some(file);
        tests.push(format!("{file}::{name}"));
    }
    tests
}

/// What the last cell of a row quotes, if it is a test.
fn last_cell(line: &str) -> Option<&str> {
    let cell = line.strip_prefix('|')?.trim_end().strip_suffix('|')?.rsplit('|').next()?.trim();
    let test = cell.strip_prefix('`')?.strip_suffix('`')?;
    let names_one =
        test.starts_with("::") || (test.starts_with("crates/") && test.contains(".rs::"));
    names_one.then_some(test)
}

/// The names of the tests in a file.
fn tests_in(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut tests = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if line == "#[test]" {
            is_test = true;
        } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| is_test) {
            tests.push(rest.split('(').next().unwrap().to_string());
            is_test = false;
        }
    }
    tests
}

/// All files of Rust below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}
