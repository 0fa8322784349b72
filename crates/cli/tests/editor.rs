//! A session of an editor with `symbolon lsp`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};

/// An editor, whose messages the real command answers.
struct Editor {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    requests: i32,
    /// Errors that arrived while something else was awaited.
    published: Vec<Value>,
}

impl Editor {
    fn start(options: Value) -> Editor {
        let mut server = Command::new(env!("CARGO_BIN_EXE_symbolon"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let to = server.stdin.take().expect("a pipe");
        let from = BufReader::new(server.stdout.take().expect("a pipe"));
        let mut editor = Editor { server, to, from, requests: 0, published: Vec::new() };
        let params = json!({
            "capabilities": { "workspace": { "codeLens": { "refreshSupport": true } } },
            "initializationOptions": options,
        });
        let result = editor.ask("initialize", params);
        assert_eq!(result["capabilities"]["hoverProvider"], true, "{result}");
        editor.tell("initialized", json!({}));
        editor
    }

    fn tell(&mut self, method: &str, params: Value) {
        let message = Message::Notification(Notification::new(method.into(), params));
        message.write(&mut self.to).expect("the server listens");
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        let request = Request::new(id.clone(), method.into(), params);
        Message::Request(request).write(&mut self.to).expect("the server listens");
        loop {
            match self.read() {
                Message::Response(response) if response.id == id => {
                    return response.response_result.unwrap_or_else(|error| panic!("{error:?}"));
                }
                other => self.keep(other),
            }
        }
    }

    fn read(&mut self) -> Message {
        Message::read(&mut self.from).expect("a message").expect("the server is there")
    }

    fn keep(&mut self, message: Message) {
        if let Message::Notification(notification) = message {
            assert_eq!(notification.method, "textDocument/publishDiagnostics");
            self.published.push(notification.params);
        }
    }

    /// Returns the errors of a version of a document.
    fn errors(&mut self, uri: &str, version: i32) -> Vec<Value> {
        loop {
            let wanted = |params: &Value| params["uri"] == uri && params["version"] == version;
            if let Some(place) = self.published.iter().position(wanted) {
                let params = self.published.remove(place);
                return params["diagnostics"].as_array().expect("a list").clone();
            }
            let message = self.read();
            self.keep(message);
        }
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "sym", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, uri: &str, version: i32, range: Value, text: &str) {
        let document = json!({ "uri": uri, "version": version });
        let changes = json!([{ "range": range, "text": text }]);
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.tell("textDocument/didChange", params);
    }

    fn at(&mut self, method: &str, uri: &str, line: u32, character: u32) -> Value {
        let position = json!({ "line": line, "character": character });
        self.ask(method, json!({ "textDocument": { "uri": uri }, "position": position }))
    }

    fn of(&mut self, method: &str, uri: &str) -> Value {
        let options = json!({ "tabSize": 4, "insertSpaces": true });
        self.ask(method, json!({ "textDocument": { "uri": uri }, "options": options }))
    }

    /// Asks for the gates above functions until they are counted.
    fn lenses(&mut self, uri: &str) -> Vec<String> {
        loop {
            let lenses = self.of("textDocument/codeLens", uri);
            let lenses = lenses.as_array().expect("a list");
            if !lenses.is_empty() {
                let title = |lens: &Value| lens["command"]["title"].as_str().unwrap().to_string();
                return lenses.iter().map(title).collect();
            }
            let message = self.read();
            self.keep(message);
        }
    }

    fn goodbye(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        assert!(self.server.wait().expect("it ends").success());
    }
}

fn range(from: (u32, u32), to: (u32, u32)) -> Value {
    json!({
        "start": { "line": from.0, "character": from.1 },
        "end": { "line": to.0, "character": to.1 },
    })
}

const PROGRAM: &str = "\
struct Bid { price: u16, amount: u8 }
/// What a bid is worth.
fn value(bid: Bid) -> u24 { bid.price as u24 * bid.amount as u24 }
fn main(a: Bid from 0, b: Bid from 1) -> (first: bool to all) {
    let mine = value(a);
    mine > value(b)
}
";

#[test]
fn an_editor_sees_errors_types_gates_and_definitions() {
    let mut editor = Editor::start(json!({ "librarySources": true }));
    let uri = "file:///folder/one.sym";
    editor.open(uri, PROGRAM);
    assert_eq!(editor.errors(uri, 1), Vec::<Value>::new());

    let lenses = editor.lenses(uri);
    assert_eq!(lenses.len(), 2, "{lenses:?}");
    assert!(lenses.iter().all(|lens| lens.ends_with(" AND gates")), "{lenses:?}");

    let hover = editor.at("textDocument/hover", uri, 4, 15);
    let shown = hover["contents"]["value"].as_str().expect("a text");
    assert!(shown.contains("fn value(bid: Bid) -> u24"), "{shown}");
    assert!(shown.contains("What a bid is worth."), "{shown}");
    assert!(shown.contains("AND gates"), "{shown}");
    let hover = editor.at("textDocument/hover", uri, 5, 5);
    assert_eq!(hover["contents"]["value"], "```sym\nmine: u24\n```");

    let definition = editor.at("textDocument/definition", uri, 4, 15);
    assert_eq!(definition["range"]["start"], json!({ "line": 2, "character": 3 }));
    let definition = editor.at("textDocument/definition", uri, 2, 32);
    assert_eq!(definition["range"]["start"], json!({ "line": 0, "character": 13 }));

    let symbols = editor.of("textDocument/documentSymbol", uri);
    let names: Vec<&str> =
        symbols.as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Bid", "value", "main"]);

    let offered = editor.at("textDocument/completion", uri, 5, 4);
    let offered: Vec<&str> =
        offered.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect();
    assert!(["mine", "value", "Bid", "min", "for"].iter().all(|word| offered.contains(word)));
    assert!(!offered.contains(&"bid"), "a variable of another function");
    editor.goodbye();
}

#[test]
fn changes_show_several_errors_with_suggestions_and_a_fix() {
    let mut editor = Editor::start(Value::Null);
    let uri = "file:///folder/two.sym";
    editor.open(uri, PROGRAM);
    assert!(editor.errors(uri, 1).is_empty());
    editor.change(uri, 2, range((4, 15), (4, 20)), "vslue");
    editor.change(uri, 3, range((2, 28), (2, 64)), "bid.price as u24 * bid.amount");
    let errors = editor.errors(uri, 3);
    let messages: Vec<&str> = errors.iter().map(|e| e["message"].as_str().unwrap()).collect();
    assert_eq!(errors.len(), 2, "{messages:?}");
    assert!(messages.iter().any(|m| m.contains("did you mean `value`?")), "{messages:?}");
    assert!(errors.iter().any(|e| e["code"] == "E03"), "{messages:?}");
    let wrong = range((4, 15), (4, 20));
    assert!(errors.iter().any(|e| e["range"] == wrong), "{errors:?}");

    let params = json!({
        "textDocument": { "uri": uri }, "range": wrong, "context": { "diagnostics": [] },
    });
    let fixes = editor.ask("textDocument/codeAction", params);
    assert_eq!(fixes[0]["edit"]["changes"][uri][0]["newText"], "value", "{fixes}");

    // Errors that only show when gates are written are reported, too.
    let late = "fn main(a: [u8; 3] from 0) -> (r: u8 to all) { a[3] }\n";
    let whole = json!({ "textDocument": { "uri": uri, "version": 4 },
        "contentChanges": [{ "text": late }] });
    editor.tell("textDocument/didChange", whole);
    while editor.errors(uri, 4).is_empty() {}
    editor.goodbye();
}

#[test]
fn formatting_modules_and_settings() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("lib.sym"), "pub fn twice(x: u8) -> u8 { x + x }\n")
        .expect("written");
    let uri = |name: &str| format!("file://{}/{name}", folder.path().display());
    let main = uri("p.sym");
    let text = "pub const N;\nuse lib::twice;\nfn main(a:u8 from 0)->(r:u8 to all){min(twice(a),N as u8)}\n";
    let options = json!({ "constants": { "N": "9" }, "librarySources": true });
    let mut editor = Editor::start(options);
    editor.open(&main, text);
    assert_eq!(editor.errors(&main, 1), Vec::<Value>::new());
    let edits = editor.of("textDocument/formatting", &main);
    let formatted = edits[0]["newText"].as_str().expect("a text");
    assert!(formatted.contains("fn main(a: u8 from 0) -> (r: u8 to all) {"), "{formatted}");

    let definition = editor.at("textDocument/definition", &main, 2, 43);
    assert_eq!(definition["uri"], uri("lib.sym").as_str(), "{definition}");
    let definition = editor.at("textDocument/definition", &main, 2, 37);
    assert_eq!(definition["uri"], "symbolon-std:/std/prelude.sym");
    let source = editor.ask("symbolon/source", json!({ "uri": definition["uri"] }));
    assert!(source.as_str().expect("a text").contains("fn min"));

    // An unsaved change of the module shows in the file that uses it.
    editor.open(&uri("lib.sym"), "pub fn thrice(x: u8) -> u8 { x }\n");
    while editor.errors(&main, 1).is_empty() {}
    let changed = json!({ "settings": { "symbolon": { "constants": {} } } });
    editor.tell("workspace/didChangeConfiguration", changed);
    while !editor.errors(&main, 1).iter().any(|e| e["code"] == "E04") {}
    editor.goodbye();
}

/// Prints how long errors take; asserts only that they come.
#[test]
#[allow(clippy::print_stdout)] // For those who run it with --nocapture.
fn a_change_in_a_program_of_two_thousand_lines_is_answered() {
    let mut text = String::new();
    for i in 0..400 {
        text.push_str(&format!(
            "fn f{i}(a: [u16; 4], b: u16) -> u16 {{\n    let mut sum = b;\n    \
             for x in a {{ if x > {i} {{ sum += x; }} }}\n    sum\n}}\n"
        ));
    }
    text.push_str("fn main(a: [u16; 4] from 0) -> (r: u16 to all) { f0(a, f399(a, 1)) }\n");
    let uri = "file:///folder/long.sym";
    let mut editor = Editor::start(Value::Null);
    editor.open(uri, &text);
    assert!(editor.errors(uri, 1).is_empty());
    let mut times = Vec::new();
    for version in 2..12 {
        let word = if version % 2 == 0 { "sun" } else { "sum" };
        let begin = Instant::now();
        editor.change(uri, version, range((1003, 4), (1003, 7)), word);
        let errors = editor.errors(uri, version).len();
        times.push(begin.elapsed());
        assert_eq!(errors, usize::from(version % 2 == 0));
    }
    times.sort_unstable();
    println!("errors after a change of one of 2 001 lines: {:?} (median)", times[times.len() / 2]);
    editor.goodbye();
}

/// What arrives at the server, whatever it is, costs this message alone: the next one is answered.
#[test]
fn the_server_outlives_what_is_no_message() {
    let framed = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let document = |text: &str| {
        framed(&format!(
            r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{{"uri":"file:///x.sym","languageId":"sym","version":1,"text":"{text}"}}}}}}"#
        ))
    };
    for (name, bytes) in [
        ("half a character", document("// \\ud800")),
        ("no JSON", framed("{")),
        ("a number", framed("5")),
        ("nothing", framed("")),
        ("deep JSON", framed(&"[".repeat(100_000))),
        ("a long length", "Content-Length: 10000000000000\r\n\r\n{}".into()),
        ("a large length", "Content-Length: 4000000000\r\n\r\n{}".into()),
        ("a length past the end", "Content-Length: 60\r\n\r\n{}".into()),
        ("a length of letters", "Content-Length: abc\r\n\r\n{}".into()),
        ("no length", "Content-Type: x\r\n\r\n{}".into()),
        ("no header", "{}\r\n".into()),
        ("not text", "\0\u{1}\u{7f}\n\n".into()),
        (
            "parameters of another form",
            framed(r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":7}"#),
        ),
        ("a response", framed(r#"{"jsonrpc":"2.0","id":9,"result":null}"#)),
        ("a request in a wrong form", framed(r#"{"jsonrpc":"2.0","id":[],"method":{}}"#)),
    ] {
        // Before the session begins, and within.
        for begun in [false, true] {
            let mut server = Command::new(env!("CARGO_BIN_EXE_symbolon"))
                .arg("lsp")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("the server starts");
            let mut to = server.stdin.take().expect("a pipe");
            let mut from = BufReader::new(server.stdout.take().expect("a pipe"));
            let begin = framed(
                r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
            );
            let parts = if begun { [&begin, &bytes] } else { [&bytes, &begin] };
            for part in parts {
                to.write_all(part.as_bytes()).expect("the server listens");
            }
            to.write_all(framed(r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#).as_bytes())
                .expect("the server listens");
            let mut answered = Vec::new();
            while !answered.contains(&json!(2)) {
                let answer = raw_message(&mut from);
                if let Some(id) = answer.get("id") {
                    answered.push(id.clone());
                }
            }
            assert!(answered.contains(&json!(1)), "{name}: {answered:?}");
            to.write_all(framed(r#"{"jsonrpc":"2.0","method":"exit"}"#).as_bytes())
                .expect("the server listens");
            assert!(server.wait().expect("it ends").success(), "{name}");
        }
    }
}

/// Reads a message that may be no answer to a request.
fn raw_message(from: &mut impl BufRead) -> Value {
    let mut length = 0;
    loop {
        let mut line = String::new();
        assert!(from.read_line(&mut line).expect("a line") > 0, "the server is there");
        match line.trim_end().strip_prefix("Content-Length: ") {
            Some(number) => length = number.parse().expect("a number"),
            None => break,
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).expect("a message");
    serde_json::from_slice(&body).expect("JSON")
}

/// A document with half a character is checked with U+FFFD in its place, and changes after it fit.
#[test]
fn half_a_character_counts_as_one_column() {
    let mut editor = Editor::start(Value::Null);
    let uri = "file:///folder/half.sym";
    let text = "// HALF 1\nfn main(a: u8 from 0) -> (r: u8 to all) { a }\n";
    let params = json!({ "textDocument":
        { "uri": uri, "languageId": "sym", "version": 1, "text": text } });
    let body = json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params });
    let body = body.to_string().replace("HALF", "\\ud800");
    write!(editor.to, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("a pipe");
    assert!(editor.errors(uri, 1).is_empty());
    // `/`, `/`, a space, the half, a space, `1`.
    editor.change(uri, 2, range((0, 5), (0, 6)), "\n?");
    let errors = editor.errors(uri, 2);
    assert_eq!(errors[0]["range"]["start"], json!({ "line": 1, "character": 0 }), "{errors:?}");
    editor.goodbye();
}

#[test]
fn characters_that_cannot_be_seen_are_shown_with_their_place() {
    let mut editor = Editor::start(Value::Null);
    let uri = "file:///folder/bidi.sym";
    let text = "fn main(a: u8 from 0) -> (r: u8 to all) {\n    /* \u{202e} */ a\n}\n";
    editor.open(uri, text);
    let errors = editor.errors(uri, 1);
    assert_eq!(errors[0]["code"], "E01", "{errors:?}");
    assert_eq!(errors[0]["range"], range((1, 7), (1, 8)), "{errors:?}");
    assert!(errors[0]["message"].as_str().unwrap().contains("U+202E"), "{errors:?}");
    assert_eq!(editor.of("textDocument/formatting", uri), Value::Null);
    editor.goodbye();
}
