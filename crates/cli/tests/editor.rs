//! A session of an editor with `symbolon lsp`.

use std::io::BufReader;
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
