//! What the language server completes and mends.

#![cfg(feature = "lsp")]

use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex};

use symbolon_lang::lsp::serve_over;

/// What the server writes.
#[derive(Clone, Default)]
struct Answers(Arc<Mutex<Vec<u8>>>);

impl Write for Answers {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panics").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Opens a program, asks once about a line and a column, and returns the answer.
fn ask(program: &str, method: &str, line: u32, column: u32) -> String {
    let uri = "file:///tmp/editing.sym";
    let document =
        format!(r#"{{"uri":"{uri}","languageId":"sym","version":1,"text":{program:?}}}"#);
    let at = format!(r#"{{"line":{line},"character":{column}}}"#);
    let more = match method {
        "codeAction" => r#","context":{"diagnostics":[]}"#,
        _ => "",
    };
    let range = format!(r#"{{"start":{at},"end":{at}}}"#);
    let params =
        format!(r#"{{"textDocument":{{"uri":"{uri}"}},"position":{at},"range":{range}{more}}}"#);
    let message = |rest: String| format!(r#"{{"jsonrpc":"2.0",{rest}}}"#);
    let mut session = String::new();
    for body in [
        message(r#""id":1,"method":"initialize","params":{"capabilities":{}}"#.into()),
        message(r#""method":"initialized","params":{}"#.into()),
        message(format!(
            r#""method":"textDocument/didOpen","params":{{"textDocument":{document}}}"#
        )),
        message(format!(r#""id":"asked","method":"textDocument/{method}","params":{params}"#)),
        message(r#""id":3,"method":"shutdown""#.into()),
        message(r#""method":"exit""#.into()),
    ] {
        session += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
    }
    let answers = Answers::default();
    serve_over(Cursor::new(session.into_bytes()), answers.clone()).expect("the session ends");
    let answers = answers.0.lock().expect("nobody panics");
    let text = String::from_utf8_lossy(&answers);
    let found = text.split("Content-Length: ").find(|part| part.contains(r#""id":"asked""#));
    found.expect("it is answered").to_string()
}

fn main_of(body: &str) -> String {
    format!("fn main(a: u8 from 0, b: [u32; 2] from 1) -> (r: u32 to all) {{\n{body}\n}}\n")
}

#[test]
fn methods_are_completed_after_a_dot_only() {
    let program = main_of("a.coun");
    let completed = ask(&program, "completion", 1, 6);
    for method in ["count_ones", "len", "contains", "checked_add"] {
        assert!(completed.contains(&format!(r#""label":"{method}""#)), "{method}: {completed}");
    }
    let elsewhere = ask(&program, "completion", 1, 0);
    assert!(!elsewhere.contains("count_ones"), "{elsewhere}");
    let range = ask(&main_of("0..coun"), "completion", 1, 7);
    assert!(!range.contains("count_ones"), "{range}");
}

#[test]
fn what_people_write_from_habit_is_mended() {
    for (body, column, title, at, new) in [
        ("let c = &a; b[0]", 9, "Leave out `&`", (8, 9), ""),
        ("let d = b.clone(); b[0]", 12, "Leave out `.clone()`", (9, 17), ""),
        ("sort(b)[0]", 1, "Replace with `std::sort::sort`", (0, 4), "std::sort::sort"),
        ("a.count_one()", 5, "Replace with `count_ones`", (2, 11), "count_ones"),
        ("b[0] + a", 8, "Convert with `as u32`", (7, 8), "a as u32"),
        ("b[0] + (a + 1)", 10, "Convert with `as u32`", (8, 13), "(a + 1) as u32"),
    ] {
        let fixes = ask(&main_of(body), "codeAction", 1, column);
        assert!(fixes.contains(&format!(r#""title":"{title}""#)), "{body}: {fixes}");
        assert!(fixes.contains(&format!(r#""newText":"{new}""#)), "{body}: {fixes}");
        // JSON's keys are sorted.
        let range = format!(
            r#""end":{{"character":{},"line":1}},"start":{{"character":{},"line":1}}"#,
            at.1, at.0
        );
        assert!(fixes.contains(&range), "{body}: {fixes}");
    }
}

#[test]
fn lints_are_warnings_with_fixes() {
    let program = "fn f(x: u32) -> u8 { x as u8 }\n\
                   struct P { a: u8 }\n\
                   impl P {\n    pub fn g(self, x: u32) -> u8 { self.a + (x + 1) as u8 }\n}\n\
                   fn main(x: u32 from 0) -> (r: u8 to all) { f(x) + P { a: 3 }.g(x) }\n";
    for (line, column, new) in [
        (0, 23, "x.checked_cast::<u8>().expect(\\\"x fits in u8\\\")"),
        (0, 23, "#[allow(narrowing)]\\n"),
        (3, 48, "(x + 1).checked_cast::<u8>().expect(\\\"(x + 1) fits in u8\\\")"),
        (3, 48, "#[allow(narrowing)]\\n    "),
    ] {
        let fixes = ask(program, "codeAction", line, column);
        assert!(fixes.contains(&format!(r#""newText":"{new}""#)), "{new}: {fixes}");
    }
    let at = r#""end":{"character":4,"line":3},"start":{"character":4,"line":3}"#;
    let fixes = ask(program, "codeAction", 3, 48);
    assert!(fixes.contains(at), "{fixes}");
}

#[test]
fn attributes_lints_and_the_library_are_completed() {
    let labels = |program: &str, line: u32, column: u32| {
        let answer = ask(program, "completion", line, column);
        let label = |part: &str| part.split('"').next().unwrap_or_default().to_string();
        answer.split("\"label\":\"").skip(1).map(label).collect::<Vec<_>>()
    };
    let main = main_of("b[0]");
    let attributes = ["component", "inline", "checked", "test", "allow"];
    assert_eq!(labels(&format!("#[ch\n{main}"), 0, 4), attributes);
    assert_eq!(labels(&format!("#![\n{main}"), 0, 3), ["checked", "allow"]);
    for start in ["#[allow(", "#[allow(na", "#![allow(unreachable, "] {
        let found = labels(&format!("{start}\n{main}"), 0, start.len() as u32);
        assert_eq!(found, ["unreachable", "narrowing"], "{start}");
    }
    let psi = main_of("std::psi::in");
    let found = labels(&psi, 1, 12);
    assert!(["join_all", "intersect_all"].iter().all(|name| found.contains(&name.to_string())));
    assert!(!found.contains(&"met".into()) && !found.contains(&"min".into()), "{found:?}");
    let std = labels(&main_of("std::ps"), 1, 7);
    assert!(std.contains(&"psi".into()) && std.contains(&"crypto".into()), "{std:?}");
    let fast = labels(&main_of("std::float::"), 1, 12);
    assert!(fast.contains(&"fast".into()) && fast.contains(&"sqrt".into()), "{fast:?}");
}
