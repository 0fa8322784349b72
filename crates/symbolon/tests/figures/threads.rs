//! Threads are started in a way that can fail: `thread::spawn` and `Scope::spawn` panic where the
//! system gives no thread.

use std::collections::HashSet;

use super::rows::sources;

/// What starts a thread, or a process, with an error where there is none.
const FALLIBLE: [&str; 2] = ["thread::Builder", "Command::new("];

/// How many lines before the start its builder may be.
const NEAR: usize = 14;

/// Returns the names of the files that only tests contain, from the modules that say so.
fn test_files(sources: &[(String, String)]) -> HashSet<String> {
    let mut found = HashSet::new();
    for (file, text) in sources {
        let (folder, name) = file.rsplit_once('/').unwrap();
        let folder = match name {
            "lib.rs" | "main.rs" | "mod.rs" => folder.to_string(),
            name => format!("{folder}/{}", name.trim_end_matches(".rs")),
        };
        let mut lines = text.lines().map(str::trim);
        while let Some(line) = lines.next() {
            // Also `#[cfg(any(test, feature = "adversary"))]`.
            if !(line.starts_with("#[cfg(") && line.contains("test")) {
                continue;
            }
            let item = lines.next().unwrap_or_default();
            let module = item.trim_start_matches("pub ").strip_prefix("mod ");
            if let Some(module) = module.and_then(|module| module.strip_suffix(';')) {
                found.insert(format!("{folder}/{module}.rs"));
                found.insert(format!("{folder}/{module}/"));
            }
        }
    }
    found
}

/// Returns the lines of a file that start a thread and panic without one.
fn bare_starts(file: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    // Tests come last in a file.
    let is_tests = |lines: &[&str]| {
        lines[0] == "#[cfg(test)]" && lines[1].contains("mod ") && lines[1].ends_with('{')
    };
    let code = lines.windows(2).position(is_tests).unwrap_or(lines.len());
    let lines = &lines[..code];
    let starts = |line: &str| {
        !line.starts_with("//")
            && [".spawn(", ".spawn_scoped(", "thread::spawn("].iter().any(|s| line.contains(s))
    };
    let is_bare = |at: usize| {
        let near = lines[at.saturating_sub(NEAR)..=at].join("\n");
        lines[at].contains("thread::spawn(")
            || lines[at].contains("scope.spawn(")
            || !FALLIBLE.iter().any(|builder| near.contains(builder))
    };
    let bare = (0..lines.len()).filter(|&at| starts(lines[at]) && is_bare(at));
    bare.map(|at| format!("{file}:{}: {}", at + 1, lines[at])).collect()
}

#[test]
fn no_thread_is_started_with_a_panic_where_there_is_none() {
    let sources = sources();
    let tests = test_files(&sources);
    assert!(tests.contains("crates/transport/src/adversary/"), "{tests:?}");
    let is_test = |file: &str| tests.iter().any(|test| file == test || file.starts_with(test));
    let mut bare = Vec::new();
    let code = sources.iter().filter(|(file, _)| !is_test(file));
    for (file, text) in code {
        bare.extend(bare_starts(file, text));
    }
    assert_eq!(bare, [""; 0], "use `symbolon_transport::threads::beside` or `thread::Builder`");
}

#[test]
fn bare_starts_are_found() {
    let found = |code: &str| bare_starts("a.rs", code).len();
    assert_eq!(found("let t = std::thread::spawn(|| 1);"), 1);
    assert_eq!(found("thread::scope(|scope| {\n    scope.spawn(|| 1);\n});"), 1);
    assert_eq!(found("thread::scope(|s| {\n    s.spawn(|| 1);\n});"), 1);
    assert_eq!(found("let t = thread::Builder::new();\nt.spawn(work)?;"), 0);
    assert_eq!(found("/// thread::spawn(work)\n"), 0);
    assert_eq!(found("#[cfg(test)]\nmod tests {\n    thread::spawn(work);\n}"), 0);
}
