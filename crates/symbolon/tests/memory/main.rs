//! What a process has in its memory after its sessions have ended: no Δ, no seed, no key.
//!
//! For each scene this program starts itself again as a child, which runs all parties of a session
//! and then waits. While it waits, the parent reads its writable memory from `/proc` and searches
//! for every secret that the child reported, at every byte. The child reports secrets when they are
//! made (`symbolon_primitives::watch`), masked and to a file, so that reporting leaves no copy.
//!
//! Linux only. If the system forbids reading a child's memory, the tests say so and check nothing.
#![allow(missing_docs, clippy::print_stdout)]
#![cfg(target_os = "linux")]

mod scenes;
mod search;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use scenes::Scene;
use search::{Found, Secrets};
use symbolon_protocols::pool::WATCHED;

/// The variable that tells a child which scene to run.
const SCENE: &str = "SYMBOLON_MEMORY_SCENE";

/// The variable with the file to which the child reports its secrets.
const TOLD: &str = "SYMBOLON_MEMORY_TOLD";

/// What a child prints when its memory can be searched.
const READY: &str = "search my memory";

/// The child; not a test of its own.
#[test]
fn child() {
    let Some(scene) = std::env::var_os(SCENE) else { return };
    let scene = Scene::named(scene.to_str().expect("a name")).expect("a scene");
    let told = std::env::var_os(TOLD).expect("the parent says where");
    symbolon_primitives::watch::start(std::fs::File::create(&told).expect("a file in a folder"));
    scene.run(Path::new(&told).parent().expect("a folder"));
    println!("\n{READY}");
    std::io::stdout().flush().expect("the parent listens");
    let _ = std::io::stdin().read_line(&mut String::new());
}

/// Runs a scene in a child; returns what was left in its memory, or `None` if it may not be read.
fn left_by(scene: Scene) -> Option<Vec<Found>> {
    let folder = tempfile::tempdir().expect("a folder");
    let told = folder.path().join("told");
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "child", "--nocapture", "--test-threads=2"])
        .env(SCENE, scene.name())
        .env(TOLD, &told)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let ready = lines.by_ref().map_while(Result::ok).any(|line| line == READY);
    assert!(ready, "{}: the child ended early", scene.name());
    let mut secrets = Secrets::told(&std::fs::read(&told).expect("what the child told"));
    scene.more_secrets(folder.path(), &mut secrets);
    assert!(secrets.len() >= scene.least_secrets(), "{}: few secrets", scene.name());
    let found = search::search(child.id(), &secrets);
    drop(child.stdin.take());
    assert!(child.wait().expect("the child").success(), "{}", scene.name());
    match found {
        Ok(found) => Some(found),
        Err(error) => {
            eprintln!("NOT CHECKED: the memory of a child cannot be read here: {error}");
            None
        }
    }
}

fn assert_nothing_is_left(scene: Scene) {
    if let Some(mut found) = left_by(scene) {
        found.retain(|found| found.name != WATCHED || scene == Scene::Filled);
        let text: Vec<String> = found.iter().map(Found::to_string).collect();
        assert!(found.is_empty(), "{}: {} left:\n{}", scene.name(), found.len(), text.join("\n"));
    }
}

/// Tests the search itself, with a child that leaves secrets on purpose.
#[test]
fn what_is_left_on_purpose_is_found() {
    let Some(found) = left_by(Scene::Left) else { return };
    for name in ["Delta", "on the heap", "on a stack"] {
        assert!(found.iter().any(|found| found.name == name), "{name}: {found:?}");
    }
}

macro_rules! scenes {
    ($($test:ident: $scene:ident,)*) => {
        $(#[test]
        fn $test() {
            assert_nothing_is_left(Scene::$scene);
        })*
    };
}

scenes! {
    nothing_is_left_of_wrk_with_four_rows: FourRow,
    nothing_is_left_of_wrk_with_half_gates_on_two_threads: HalfGates,
    nothing_is_left_of_wrk_in_segments_on_two_threads: Streamed,
    nothing_is_left_of_ywz_among_three: Three,
    nothing_is_left_of_ywz_with_iknp: Iknp,
    nothing_is_left_of_silent_ot: Silent,
    nothing_is_left_of_silent_ot_among_three: SilentThree,
    nothing_is_left_of_tinytable: TinyTable,
    nothing_is_left_of_tables_under_a_code: TableCode,
    nothing_is_left_of_duplo: Duplo,
    nothing_is_left_of_dualex: DualEx,
    nothing_is_left_of_a_pool_that_is_filled: Filled,
    nothing_is_left_of_a_pool_and_what_was_made_of_it: Stored,
    nothing_is_left_of_prepared_tinytable: StoredTables,
    nothing_is_left_of_prepared_tables_under_a_code: StoredCode,
    nothing_is_left_of_prepared_duplo: StoredComponents,
    nothing_is_left_of_prepared_dualex: StoredCircuits,
    nothing_is_left_of_a_dealer_and_its_parties: Dealt,
    nothing_is_left_when_a_peer_cheats: Cheated,
    nothing_is_left_when_a_connection_dies: Died,
    nothing_is_left_of_a_run_that_is_given_up: GivenUp,
}

/// What a thread leaves depends on when it ends, so one search shows little.
#[test]
#[ignore = "takes minutes"]
fn nothing_is_left_of_cut_and_choose_a_hundred_times() {
    let mut all = Vec::new();
    for time in 0..100 {
        for scene in [Scene::Duplo, Scene::DualEx, Scene::StoredComponents, Scene::StoredCircuits] {
            let found = left_by(scene).unwrap_or_default();
            let found = found.iter().filter(|found| found.name != WATCHED);
            all.extend(found.map(|found| format!("time {time}, {}: {found}", scene.name())));
        }
    }
    assert!(all.is_empty(), "{} left:\n{}", all.len(), all.join("\n"));
}
