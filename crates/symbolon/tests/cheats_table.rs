//! The tables of the pages in `docs/reference/cheats` are generated from the tests' own comments,
//! `/// Cheat: …`.
//!
//! Such a paragraph ends a test's comment and has five cells: cheater | step | what is changed |
//! caught by | predicted. `SYMBOLON_WRITE_DOCS=1 cargo test -p symbolon --test library cheats_table`
//! writes the tables. A new file of cheats needs a line in the list before its table.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use symbolon::registry::sections;

/// Files without `cheats` in their path of which every test is a cheat too.
const FILES: [&str; 11] = [
    "crates/ot/tests/rates.rs",
    "crates/preprocessing/src/fprep/tests/attack.rs",
    "crates/preprocessing/src/fprep/tests/league.rs",
    "crates/preprocessing/src/fprep/tests/many.rs",
    "crates/copies/src/dualex/tests/privacy.rs",
    "crates/copies/src/duplo/privacy.rs",
    "crates/authenticated/tests/privacy/tinytable.rs",
    "crates/authenticated/tests/privacy/wrk.rs",
    "crates/authenticated/tests/privacy/ywz.rs",
    "crates/store/tests/damage.rs",
    "crates/symbolon/tests/boundaries/mod.rs",
];

/// Tests in these files in which nobody cheats, and tests that child processes run.
const NO_CHEATS: [&str; 20] = [
    "crates/copies/src/dualex/tests/cheats_in_flight.rs::executions_in_flight_give_their_outputs_in_order",
    "crates/copies/src/dualex/tests/privacy.rs::leaks_are_found",
    "crates/copies/src/duplo/cheats_programs.rs::random_programs_are_right",
    "crates/copies/src/duplo/cheats_programs.rs::the_chance_is_that_of_the_game",
    "crates/copies/src/duplo/privacy.rs::careless_parties_are_found",
    "crates/authenticated/src/tinytable/code/cheats.rs::honest_parties_accept_each_other",
    "crates/authenticated/src/tinytable/code/cheats.rs::proofs_are_masked",
    "crates/authenticated/src/tinytable/code/cheats.rs::what_is_stored_is_counted",
    "crates/authenticated/tests/cheats_code.rs::challenges_are_fresh",
    "crates/authenticated/tests/cheats_code.rs::honest_runs_are_not_accused",
    "crates/authenticated/tests/cheats_tinytable.rs::honest_runs_are_not_accused",
    "crates/authenticated/tests/ywz_cheats/exchanged_roles.rs::nobody_cheats",
    "crates/authenticated/tests/ywz_cheats/tools.rs::nobody_cheats",
    "crates/authenticated/tests/ywz_cheats/tools.rs::the_first_layer_comes_first",
    "crates/store/tests/damage.rs::child",
    "crates/symbolon/tests/cheats_table.rs::a_page_that_is_not_current_is_noticed",
    "crates/symbolon/tests/cheats_table.rs::every_test_of_a_cheat_says_what_the_cheat_is",
    "crates/symbolon/tests/cheats_table.rs::messages_and_states_that_tests_name_exist",
    "crates/symbolon/tests/cheats_table.rs::the_tables_are_what_the_tests_say",
    "crates/symbolon/tests/cheats_table.rs::every_check_of_the_page_about_security_catches_a_cheat",
];

#[test]
fn the_tables_are_what_the_tests_say() {
    let folder = root().join("docs/reference/cheats");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.sort();
    let written: Vec<String> = paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let written: Vec<&str> = written.iter().map(String::as_str).collect();
    let pages = with_tables(&written, &all_cheats());
    for ((path, written), page) in paths.iter().zip(written).zip(pages) {
        if std::env::var_os("SYMBOLON_WRITE_DOCS").is_some() {
            fs::write(path, &page).unwrap();
            continue;
        }
        let first = written.lines().zip(page.lines()).find(|(old, new)| old != new);
        let name = relative(path);
        assert!(
            written == page,
            "{name} is not current: {first:?}. SYMBOLON_WRITE_DOCS=1 rewrites its tables"
        );
    }
}

#[test]
fn every_test_of_a_cheat_says_what_the_cheat_is() {
    let said: BTreeSet<String> = all_cheats().into_iter().map(|cheat| cheat.test).collect();
    assert!(said.len() > 200, "only {} cheats were read", said.len());
    let files = sources(&root().join("crates"));
    let mut silent = Vec::new();
    for file in &files {
        let path = relative(file);
        if path.contains("cheats") || FILES.contains(&&*path) {
            let tests = tests_in(file).into_iter().map(|(test, _)| format!("{path}::{test}"));
            silent.extend(
                tests.filter(|test| !said.contains(test) && !NO_CHEATS.contains(&test.as_str())),
            );
        }
    }
    assert!(silent.is_empty(), "tests without a line `/// Cheat: …`: {silent:#?}");
    let exists = |file: &&str| files.contains(&root().join(file));
    assert!(FILES.iter().all(exists), "a file of cheats is gone");
}

/// A changed comment, a test in no table, and a missing test are noticed.
#[test]
fn a_page_that_is_not_current_is_noticed() {
    let cheat = |test: &str| Cheat { test: test.into(), row: "2 | a | b | c | always".into() };
    let both = [cheat("a.rs::x"), cheat("b.rs::y")];
    let page = "Head\n\n<!-- tests:\na.rs\nb.rs::y\n-->\n| old |\n\nTail\n";
    let one = |page: &str, cheats: &[Cheat]| with_tables(&[page], cheats).remove(0);
    let made = one(page, &both);
    assert!(made.contains("| 2 | a | b | c | always | `a.rs::x` |\n| 2 "), "{made}");
    assert!(made.ends_with("`b.rs::y` |\n\nTail\n") && !made.contains("old"), "{made}");
    assert_eq!(one(&made, &both), made);
    let fails = |pages: &[&str], cheats: &[Cheat]| {
        std::panic::catch_unwind(|| with_tables(pages, cheats)).is_err()
    };
    assert!(fails(&[page], &both[..1]));
    assert!(fails(&[page], &[cheat("a.rs::x"), cheat("b.rs::y"), cheat("c.rs::z")]));
    assert!(fails(&[page, page], &both), "a cheat on two pages");
    // A file on one page, and a single test of it on another.
    let (first, second) = ("<!-- tests:\na.rs\n-->\n", "<!-- tests:\na.rs::z\n-->\n");
    let pages = with_tables(&[first, second], &[cheat("a.rs::x"), cheat("a.rs::z")]);
    assert!(pages[0].contains("::x`") && !pages[0].contains("::z`"), "{pages:?}");
    assert!(pages[1].contains("`a.rs::z`"), "{pages:?}");
}

/// Each check that `docs/reference/checks.md` lists catches a cheat in a test.
#[test]
fn every_check_of_the_page_about_security_catches_a_cheat() {
    let declared: BTreeSet<&str> =
        sections().iter().flat_map(|section| section.checks).map(|check| check.name()).collect();
    let page = fs::read_to_string(root().join("docs/reference/checks.md")).unwrap();
    let rows = page.lines().skip_while(|line| !line.starts_with("| step | check"));
    let rows: Vec<&str> = rows.skip(2).take_while(|line| line.starts_with('|')).collect();
    let quoted = rows.iter().flat_map(|row| row.split('`').skip(1).step_by(2));
    let listed: BTreeSet<&str> = quoted.filter(|name| declared.contains(name)).collect();
    assert_eq!(listed, declared, "docs/reference/checks.md lists these");
    let cheats = all_cheats();
    assert_eq!(idle(&listed, &cheats), [""; 0], "no test in which these catch a cheat");
    let without: Vec<Cheat> =
        cheats.into_iter().filter(|cheat| !cheat.row.contains("`table MAC`")).collect();
    assert!(idle(&listed, &without).contains(&"table MAC"), "a check without a test is noticed");
}

/// Returns the checks that catch none of these cheats.
fn idle<'n>(checks: &BTreeSet<&'n str>, cheats: &[Cheat]) -> Vec<&'n str> {
    let catches = |name: &str| {
        let quoted = format!("`{name}`");
        cheats.iter().any(|cheat| cheat.row.split(" | ").nth(3).unwrap().contains(&quoted))
    };
    checks.iter().filter(|name| !catches(name)).copied().collect()
}

/// A cheat under a wrong name would not be played, and nobody would notice where it should make no
/// difference. This covers names of two parts, such as `duplo: table`.
#[test]
fn messages_and_states_that_tests_name_exist() {
    let files = sources(&root().join("crates"));
    let texts: Vec<String> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let messages = sections().into_iter().flat_map(|section| section.messages);
    let mut known: BTreeSet<&str> = messages.map(|message| message.name()).collect();
    for text in &texts {
        let points = text.split("tamper_state(").skip(1).map(str::trim_start);
        known.extend(points.filter_map(|rest| rest.strip_prefix('"')?.split('"').next()));
    }
    assert!(known.contains("duplo: table") && known.contains("dualex: psi items"), "{known:?}");
    for (file, text) in files.iter().zip(&texts) {
        let unknown = unknown_names(text, &known);
        assert!(unknown.is_empty(), "{}: {unknown:?}", relative(file));
    }
    // Put together here, because this file is searched, too.
    let wrong = ["duplo", "tabel"].join(": ");
    let text = format!("message(\"{wrong}\", flip) // \"of: no protocol\"");
    assert_eq!(unknown_names(&text, &known), [wrong]);
}

/// Returns the strings of a file that begin as names of messages and states do, but are none.
fn unknown_names<'t>(text: &'t str, known: &BTreeSet<&str>) -> Vec<&'t str> {
    let subject = |name: &str| name.split_once(": ").map(|(subject, _)| subject.to_string());
    let subjects: BTreeSet<String> = known.iter().copied().filter_map(subject).collect();
    let strings = text.lines().flat_map(|line| line.split('"').skip(1).step_by(2));
    let of_subject = |string: &str| subject(string).is_some_and(|s| subjects.contains(&s));
    strings.filter(|string| of_subject(string) && !known.contains(string)).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn relative(file: &Path) -> String {
    file.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/")
}

/// A test of a cheat.
struct Cheat {
    /// `file::test`.
    test: String,
    /// The content of its comment: cheater, step, what is changed, caught by, predicted.
    row: String,
}

fn all_cheats() -> Vec<Cheat> {
    let mut cheats = Vec::new();
    for file in sources(&root().join("crates")) {
        let path = relative(&file);
        for (name, row) in tests_in(&file) {
            let Some(row) = row else { continue };
            let test = format!("{path}::{name}");
            assert_eq!(row.split(" | ").count(), 5, "{test}: {row}");
            cheats.push(Cheat { test, row });
        }
    }
    cheats
}

/// Returns the pages with new tables. A comment before each table lists its content: files, and
/// single tests of files that are listed elsewhere.
fn with_tables(pages: &[&str], cheats: &[Cheat]) -> Vec<String> {
    let lines = pages.iter().flat_map(|page| page.lines());
    let listed: BTreeSet<&str> = lines.filter(|line| line.contains(".rs::")).collect();
    let mut done = BTreeSet::new();
    let made = pages.iter().map(|page| with_tables_of(page, cheats, &listed, &mut done)).collect();
    let left: Vec<&String> =
        cheats.iter().map(|cheat| &cheat.test).filter(|test| !done.contains(*test)).collect();
    assert!(left.is_empty(), "no list in docs/reference/cheats takes {left:#?}");
    made
}

/// Returns one page with new tables, and adds the tests in them to `done`; `listed` are the single
/// tests that lists name.
fn with_tables_of(
    page: &str,
    cheats: &[Cheat],
    listed: &BTreeSet<&str>,
    done: &mut BTreeSet<String>,
) -> String {
    let (mut made, mut lines) = (String::new(), page.lines().peekable());
    while let Some(line) = lines.next() {
        made.push_str(line);
        made.push('\n');
        if line != "<!-- tests:" {
            continue;
        }
        let list: Vec<&str> = lines.by_ref().take_while(|line| *line != "-->").collect();
        while lines.next_if(|line| line.starts_with('|')).is_some() {}
        for entry in &list {
            made.push_str(entry);
            made.push('\n');
        }
        made.push_str(
            "-->\n| who cheats | step | what is changed | caught by | predicted | test |\n",
        );
        made.push_str("| --- | --- | --- | --- | --- | --- |\n");
        let mut above = "";
        for entry in list {
            let is_here = |cheat: &&Cheat| match entry.contains("::") {
                true => cheat.test == entry,
                false => {
                    cheat.test.split("::").next() == Some(entry)
                        && !listed.contains(cheat.test.as_str())
                }
            };
            let mut here = cheats.iter().filter(is_here).peekable();
            assert!(here.peek().is_some(), "there is no cheat in {entry}");
            for cheat in here {
                let (file, name) = cheat.test.split_once("::").unwrap();
                let shown = if file == above { "" } else { file };
                above = file;
                writeln!(made, "| {} | `{shown}::{name}` |", cheat.row).unwrap();
                assert!(done.insert(cheat.test.clone()), "{} is listed twice", cheat.test);
            }
        }
    }
    made
}

/// Returns the tests of a file: their names, and the paragraph `Cheat:` of their comments.
fn tests_in(file: &Path) -> Vec<(String, Option<String>)> {
    let text = fs::read_to_string(file).unwrap();
    let (mut tests, mut is_test, mut cheat) = (Vec::new(), false, None::<String>);
    for line in text.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("///").map(str::trim) {
            assert!(!comment.contains(" Cheat: "), "{comment}: begin a line with `Cheat:`");
            match (comment.strip_prefix("Cheat: "), &mut cheat) {
                (Some(start), _) => cheat = Some(start.to_string()),
                (None, Some(so_far)) => *so_far += &format!(" {comment}"),
                (None, None) => {}
            }
        } else if line == "#[test]" {
            is_test = true;
        } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| is_test) {
            tests.push((rest.split('(').next().unwrap().to_string(), cheat.take()));
            is_test = false;
        } else if !line.starts_with("#[") && !is_test {
            cheat = None;
        }
    }
    tests
}

/// Returns all Rust files below a directory.
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
