//! The tables of `docs/reference/timing.md`: uses of secrets, and unsafe code.

use std::fmt::Write;

use crate::rows::{Row, rows, settle, sources};

/// A crate whose unsafe code is described by one row: calls of C.
const BORDER: &str = "crates/capi/";

#[test]
fn the_page_of_timing_is_what_the_comments_say() {
    settle("docs/reference/timing.md", |name| match name {
        "secrets" => table("secret | why its time does not depend on it", &rows("Timing")),
        "unsafe" => table("what | what makes it sound", &rows("Unsafe")),
        other => panic!("docs/reference/timing.md asks for a table of {other}"),
    });
}

/// The files with unsafe code are those whose introductions explain why it is sound.
#[test]
fn every_file_with_unsafe_code_says_what_makes_it_sound() {
    let described: Vec<String> = rows("Unsafe").into_iter().map(|row| row.file).collect();
    let sources = sources();
    let unsafe_files: Vec<&str> =
        sources.iter().filter(|(_, text)| has_unsafe_code(text)).map(|(file, _)| &**file).collect();
    assert!(unsafe_files.len() > 10, "only {unsafe_files:?}");
    let silent: Vec<&&str> = unsafe_files
        .iter()
        .filter(|file| !described.iter().any(|row| row == *file))
        .filter(|file| !file.starts_with(BORDER))
        .collect();
    assert!(silent.is_empty(), "no comment `Unsafe: …` in {silent:#?}");
    let safe: Vec<&String> = described
        .iter()
        .filter(|row| !unsafe_files.contains(&row.as_str()) && !row.starts_with(BORDER))
        .collect();
    assert!(safe.is_empty(), "there is no unsafe code in {safe:#?}");
    assert!(has_unsafe_code("    let x = unsafe { f() };"));
    assert!(!has_unsafe_code("// An unsafe { block }.\n#[allow(unused_unsafe)]"));
}

fn has_unsafe_code(text: &str) -> bool {
    let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let begins = ["unsafe {", "unsafe fn ", "unsafe impl ", "unsafe extern "];
    code.any(|line| begins.iter().any(|begin| line.contains(begin)))
}

fn table(head: &str, rows: &[Row]) -> String {
    let mut table = format!("| {head} | where |\n| --- | --- | --- |\n");
    for row in rows {
        assert_eq!(row.cells.len(), 2, "{row:?}");
        writeln!(table, "| {} | {} |", row.cells.join(" | "), row.place()).unwrap();
    }
    table
}
