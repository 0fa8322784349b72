//! Two nodes, each a process, and calls to them.

#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::common::{Ended, command, end, free_address, signal, symbolon};

const FUNCTIONS: &str = r#"
[functions.encrypt]
circuit = "aes128"
outputs = { ciphertext = "1" }
side_by_side = 1
ready = 2
wait = 3

[functions.ratio]
circuit = "ratio.sym"
const = { LIMIT = 7 }
side_by_side = 1
ready = 1
"#;

const RATIO: &str = "pub const LIMIT = 3;
fn main(a: u8 from 0, b: u8 from 1) -> (z: u8 to all) {
    assert((a as u32) < LIMIT, \"too large\");
    a + b
}
";

const KEY: &str = "key=hex:2b7e151628aed2a6abf7158809cf4f3c";
const MESSAGE: &str = "message=hex:3243f6a8885a308d313198a2e0370734";

/// The folders of two parties, with keys and settings.
struct Nodes {
    folder: tempfile::TempDir,
}

impl Nodes {
    fn new() -> Nodes {
        let nodes = Nodes { folder: tempfile::tempdir().unwrap() };
        let address = free_address();
        let mut parties = String::new();
        for me in 0..2 {
            let door = nodes.file(me, "door");
            fs::create_dir_all(&door).unwrap();
            fs::set_permissions(&door, fs::Permissions::from_mode(0o700)).unwrap();
            let key = nodes.file(me, "node.key");
            let key = key.to_str().unwrap();
            symbolon(&["keygen", "--out", key]).expect(0);
            let print = symbolon(&["fingerprint", key]).expect(0).out;
            let address =
                if me == 0 { format!("address = \"{address}\"\n") } else { String::new() };
            let print = print.trim();
            write!(parties, "[[party]]\nid = {me}\nfingerprint = \"{print}\"\n{address}").unwrap();
        }
        for me in 0..2 {
            let head = format!("me = {me}\nkey = \"node.key\"\n[door]\nsocket = \"door/socket\"\n");
            fs::write(nodes.file(me, "node.toml"), head + &parties + FUNCTIONS).unwrap();
            fs::write(nodes.file(me, "ratio.sym"), RATIO).unwrap();
        }
        nodes
    }

    fn file(&self, me: usize, name: &str) -> PathBuf {
        self.folder.path().join(me.to_string()).join(name)
    }

    fn serve(&self, me: usize) -> Child {
        let settings = self.file(me, "node.toml");
        command(&["serve", settings.to_str().unwrap()]).spawn().unwrap()
    }

    fn call(&self, me: usize, words: &[&str]) -> Child {
        let settings = self.file(me, "node.toml");
        let first = ["call", settings.to_str().unwrap()];
        command(&[&first, words].concat()).spawn().unwrap()
    }

    /// Makes the call at both nodes.
    fn both(&self, function: &str, id: &str, inputs: [&str; 2]) -> [Ended; 2] {
        let call = |me: usize| self.call(me, &[function, "--id", id, "--input", inputs[me]]);
        [call(0), call(1)].map(end)
    }

    /// Returns what a node says of the clients of a call.
    fn clients(&self, me: usize, function: &str, call: &str) -> String {
        self.get(me, &format!("/v1/functions/{function}/calls/{call}/clients"))
    }

    fn get(&self, me: usize, path: &str) -> String {
        let mut door = UnixStream::connect(self.file(me, "door/socket")).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: door\r\nConnection: close\r\n\r\n");
        door.write_all(request.as_bytes()).unwrap();
        std::io::read_to_string(door).unwrap()
    }

    /// Has a node read its settings again, and waits until it did.
    fn read_again(&self, me: usize, node: &Child, counted: &str) {
        signal(node, "-HUP");
        let until = Instant::now() + Duration::from_secs(30);
        while !self.get(me, "/metrics").contains(counted) {
            assert!(Instant::now() < until, "{}", self.get(me, "/metrics"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the nodes' doors are open.
    fn ready(&self) {
        let until = Instant::now() + Duration::from_secs(30);
        while !(0..2).all(|me| self.file(me, "door/socket").exists()) {
            assert!(Instant::now() < until);
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn nodes_serve_calls_until_they_are_asked_to_stop() {
    let nodes = Nodes::new();
    let [zero, one] = [nodes.serve(0), nodes.serve(1)];
    nodes.ready();
    let [learns_nothing, learns] = nodes.both("encrypt", "block-1", [KEY, MESSAGE]);
    assert_eq!(learns_nothing.expect(0).out, "party 0 learns nothing\n");
    let ciphertext = "ciphertext = hex:3925841d02dc09fbdc118597196a0b32\n";
    assert_eq!(learns.expect(0).out, ciphertext);
    // The same again has the same answer, from one side alone; other inputs are refused.
    let call =
        |words: &[&str]| end(nodes.call(1, &[&["encrypt", "--id", "block-1"], words].concat()));
    assert_eq!(call(&["--input", MESSAGE]).expect(0).out, ciphertext);
    let json = call(&["--input", MESSAGE, "--json"]).expect(0).json();
    assert_eq!(json["state"], "done");
    call(&["--input", "message=hex:00000000000000000000000000000000"])
        .expect(2)
        .says(&["other inputs"]);
    // A constant of a program counts, and an assert that fails has its exit code.
    let sums = nodes.both("ratio", "sum", ["a=6", "b=200"]);
    assert!(sums.into_iter().all(|sum| sum.expect(0).out.starts_with("z = 206\n")));
    for failed in nodes.both("ratio", "failed", ["a=7", "b=200"]) {
        failed.expect(6).says(&["too large"]);
    }
    // A call that waits is refused when the node stops, with a reason that both sides see.
    let late = nodes.call(1, &["encrypt", "--id", "alone", "--input", MESSAGE]);
    end(late).expect(3).says(&["no inputs from party 0 in time"]);
    let waits = nodes.call(1, &["encrypt", "--id", "waits", "--input", MESSAGE]);
    std::thread::sleep(Duration::from_millis(300));
    signal(&zero, "-TERM");
    end(waits).expect(3).says(&["party 0 takes no part: it is about to stop"]);
    end(zero).expect(0).says(&["listening on ", "the door is ", "running calls end"]);
    signal(&one, "-INT");
    end(one).expect(0);
    end(nodes.call(1, &["encrypt", "--id", "late", "--input", MESSAGE]))
        .expect(3)
        .says(&["is `symbolon serve` running"]);
}

#[test]
fn keys_and_functions_change_while_nodes_serve() {
    let nodes = Nodes::new();
    let served = [nodes.serve(0), nodes.serve(1)];
    nodes.ready();
    for ended in nodes.both("encrypt", "old", [KEY, MESSAGE]) {
        ended.expect(0);
    }
    // Party 1 has a new key, and proves the old one to those who do not know the new one.
    let new = nodes.file(1, "new.key");
    symbolon(&["keygen", "--out", new.to_str().unwrap()]).expect(0);
    let prints = [&nodes.file(1, "node.key"), &new]
        .map(|key| symbolon(&["fingerprint", key.to_str().unwrap()]).expect(0).out);
    let [old, new] = prints.each_ref().map(|print| print.trim());
    let keys = |until: &str| {
        format!(
            "keys = [{{ fingerprint = \"{new}\" }}, {{ fingerprint = \"{old}\", until = \"{until}\" }}]"
        )
    };
    let change = |me: usize, from: &str, to: &str| {
        let settings = nodes.file(me, "node.toml");
        let text = fs::read_to_string(&settings).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(&settings, text.replace(from, to)).unwrap();
    };
    let one = format!("fingerprint = \"{old}\"");
    (0..2).for_each(|me| change(me, &one, &keys("2999-12-31T00:00:00Z")));
    change(1, "key = \"node.key\"", "key = \"new.key\"\nold_keys = [\"node.key\"]");
    // A function is new, too.
    let more =
        "[functions.more]\ncircuit = \"add:8\"\nside_by_side = 1\nready = 1\n[functions.ratio]";
    (0..2).for_each(|me| change(me, "[functions.ratio]", more));
    let waits = nodes.call(1, &["ratio", "--id", "waits", "--input", "b=3"]);
    for me in [1, 0] {
        nodes.read_again(me, &served[me], "updates_total{result=\"done\"} 1\n");
    }
    assert!(
        end(nodes.call(0, &["ratio", "--id", "waits", "--input", "a=2"]))
            .expect(0)
            .out
            .contains("z = 5")
    );
    end(waits).expect(0);
    let sums = nodes.both("more", "sum", ["x=6", "y=200"]);
    assert!(sums.into_iter().all(|sum| sum.expect(0).out.contains("206")));
    // The old key's time is over: the node that accepts it no longer connects under the new one.
    change(0, "2999", "2001");
    nodes.read_again(0, &served[0], "updates_total{result=\"done\"} 2\n");
    for ended in nodes.both("encrypt", "new", [KEY, MESSAGE]) {
        ended.expect(0);
    }
    // What cannot be used, or takes a restart, changes nothing.
    change(0, "me = 0", "me = zero");
    nodes.read_again(0, &served[0], "updates_total{result=\"refused\"} 1\n");
    change(0, "me = zero", "me = 0\nstate = \"state\"");
    nodes.read_again(0, &served[0], "updates_total{result=\"refused\"} 2\n");
    change(0, "state = \"state\"", "");
    for ended in nodes.both("encrypt", "still", [KEY, MESSAGE]) {
        ended.expect(0);
    }
    let [zero, one] = served;
    for node in [&zero, &one] {
        signal(node, "-TERM");
    }
    end(zero)
        .expect(0)
        .says(&["the new settings cannot be used", "state changes only with a restart"]);
    end(one).expect(0).says(&["the settings were read again"]);
}

/// What a function has left in the store is told and removed when the settings have it no more.
#[test]
fn stock_of_a_function_that_is_gone_is_listed_and_removed() {
    let nodes = Nodes::new();
    let change = |me: usize, from: &str, to: &str| {
        let settings = nodes.file(me, "node.toml");
        let text = fs::read_to_string(&settings).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(&settings, text.replace(from, to)).unwrap();
    };
    (0..2).for_each(|me| change(me, "[door]", "store = \"stock\"\n[door]"));
    let served = [nodes.serve(0), nodes.serve(1)];
    nodes.ready();
    let until = Instant::now() + Duration::from_secs(60);
    let full = |me: usize| {
        let metrics = nodes.get(me, "/metrics");
        ["encrypt\"} 2\n", "ratio\"} 1\n"]
            .iter()
            .all(|made| metrics.contains(&format!("symbolon_made_total{{function=\"{made}")))
    };
    while !(0..2).all(full) {
        assert!(Instant::now() < until, "{}", nodes.get(0, "/metrics"));
        std::thread::sleep(Duration::from_millis(20));
    }
    served.iter().for_each(|node| signal(node, "-TERM"));
    for node in served {
        end(node).expect(0);
    }
    let [stock, settings] = ["stock", "node.toml"].map(|name| nodes.file(0, name));
    let [stock, settings] = [&stock, &settings].map(|path| path.to_str().unwrap());
    let store = |what: &str, more: &[&str]| {
        symbolon(&[&["store", what, stock], more].concat()).expect(0).out
    };
    let node = ["--node", settings];
    // One of the two of `encrypt` was loaded, and that of `ratio`.
    assert!(!store("ls", &node).contains("unusable"));
    change(0, "circuit = \"aes128\"\noutputs = { ciphertext = \"1\" }", "circuit = \"add:8\"");
    assert!(!store("ls", &[]).contains("unusable"));
    let listed = store("ls", &node);
    assert_eq!(listed.matches("unusable: the node has no function for it").count(), 1, "{listed}");
    let json = symbolon(&["store", "ls", stock, "--json", "--node", settings]).expect(0).json();
    let items = json["items"].as_array().unwrap();
    let reasons = items.iter().filter(|item| item["state"] == "available");
    let reasons: Vec<_> = reasons.map(|item| item["reason"].as_str()).collect();
    assert_eq!(reasons, [Some("the node has no function for it")]);
    assert!(store("gc", &[]).contains("removed"));
    assert!(store("ls", &node).contains("unusable"));
    assert!(store("gc", &node).starts_with("no longer listed: 1 used or void item"));
    assert!(!store("ls", &node).contains("unusable"));
}

#[test]
fn what_is_wrong_is_said_before_anything_is_open() {
    let nodes = Nodes::new();
    let settings = nodes.file(0, "node.toml");
    let good = fs::read_to_string(&settings).unwrap();
    for (from, to, said) in [
        ("me = 0", "me = 5", "`me` is 5"),
        ("wait = 3", "waits = 3", "there is no key `waits`"),
        ("ready = 2", "ready = 0", "`ready` takes"),
        ("circuit = \"aes128\"", "circuit = \"aes128\"\nprotocol = \"duplo\"", "does not prepare"),
        ("outputs = { ciphertext = \"1\" }", "outputs = { ciphertext = \"7\" }", "no party 7"),
        ("socket = \"door/socket\"", "socket = \"socket\"", "chmod 700"),
    ] {
        assert!(good.contains(from), "{from}");
        fs::write(&settings, good.replace(from, to)).unwrap();
        symbolon(&["serve", settings.to_str().unwrap()]).expect(2).says(&[said]);
    }
    fs::write(&settings, &good).unwrap();
    let call = |words: &[&str]| end(nodes.call(0, words)).expect(2);
    call(&["sign", "--id", "a"]).says(&["`encrypt`, `ratio`"]);
    call(&["encrypt", "--id", "a b", "--input", KEY]).says(&["--id: a name has"]);
    call(&["encrypt", "--id", "a", "--input", MESSAGE]).says(&["belongs to party 1"]);
    call(&["encrypt", "--id", "a"]).says(&["no value"]);
}

const SECOND: &str = "
fn main(bids: [Option<u16>; 3] from clients, floor: u16 from 1)
    -> (best: u16 to all, sold: [bool; 3] to clients)
{
    let mut best = floor;
    let mut sold = [false; 3];
    for i in 0..3 {
        best = if bids[i].unwrap_or(0) > best { bids[i].unwrap_or(0) } else { best };
    }
    for i in 0..3 {
        sold[i] = bids[i].unwrap_or(0) == best;
    }
    (best, sold)
}
";

#[test]
fn clients_submit_values_and_read_answers() {
    let nodes = Nodes::new();
    let doors = [free_address(), free_address()];
    for (me, door) in doors.iter().enumerate() {
        let settings = nodes.file(me, "node.toml");
        let text = fs::read_to_string(&settings).unwrap();
        let of_clients = format!(
            "[clients]\naddress = \"{door}\"\n[functions.auction]\ncircuit = \"auction.sym\"\n\
             side_by_side = 1\nready = 1\nwait = 60\n[functions.auction.clients]\n\
             tokens = \"tokens\"\n"
        );
        fs::write(&settings, text + &of_clients).unwrap();
        fs::write(nodes.file(me, "auction.sym"), SECOND).unwrap();
        let tokens = nodes.file(me, "tokens");
        fs::write(&tokens, "ann token-of-ann-0123\nbob token-of-bob-0123\n").unwrap();
        fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let token = nodes.file(0, "ann.token");
    fs::write(&token, "token-of-ann-0123\n").unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let served = [nodes.serve(0), nodes.serve(1)];
    nodes.ready();
    let urls = doors.map(|door| format!("http://{door}"));
    let submit = |words: &[&str]| {
        let first = ["submit", "auction", "--node", &urls[0], "--node", &urls[1], "--call", "c"];
        let token = ["--token", token.to_str().unwrap()];
        command(&[&first[..], &token, words].concat()).spawn().unwrap()
    };
    let ann = ["--client", "ann", "--input", "bids=700"];
    end(submit(&ann)).expect(3).says(&["no call of this name"]);
    let open = |me| end(nodes.call(me, &["auction", "--id", "c", "--open"])).expect(0);
    (0..2).for_each(|me| assert_eq!(open(me).out, "the call takes submissions\n"));
    end(submit(&["--client", "bob", "--input", "bids=1"])).expect(3).says(&["the token is not"]);
    let large = end(submit(&["--client", "ann", "--input", "bids=70001"])).expect(2);
    assert!(large.err.contains("`bids`") && !large.err.contains("70001"), "{}", large.err);
    end(submit(&["--client", "ann", "--input", "offer=1"])).expect(2).says(&["`bids` (u16)"]);
    end(submit(&["--client", "ann"])).expect(2).says(&["no value for `bids`"]);
    let waits = submit(&[&ann[..], &["--wait", "60", "--json"]].concat());
    let until = Instant::now() + Duration::from_secs(30);
    while !(0..2).all(|me| nodes.clients(me, "auction", "c").contains("\"submissions\":1,")) {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(50));
    }
    // Its name is taken.
    end(submit(&ann)).expect(3).says(&["has given another submission"]);
    let calls = [
        nodes.call(0, &["auction", "--id", "c"]),
        nodes.call(1, &["auction", "--id", "c", "--input", "floor=500"]),
    ];
    for call in calls {
        assert!(end(call).expect(0).out.starts_with("best = 700\n"));
    }
    let json = end(waits).expect(0).json();
    assert_eq!(json["answers"], serde_json::json!([{"name": "sold", "value": "true"}]));
    for node in served {
        signal(&node, "-TERM");
        end(node).expect(0).says(&["the door for clients is http://"]);
    }
}

#[test]
fn the_auction_runs() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: curl is not installed");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/auction/run.sh");
    let command = env!("CARGO_BIN_EXE_symbolon");
    let ran = Command::new("bash").arg(script).args([command, "12"]).output().unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{out} {}", String::from_utf8_lossy(&ran.stderr));
    assert!(out.contains("bidders = 12\n") && out.contains("won = true\n"), "{out}");
}

#[test]
fn the_example_runs() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: curl is not installed");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/service/run.sh");
    let ran =
        Command::new("bash").arg(script).arg(env!("CARGO_BIN_EXE_symbolon")).output().unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{out} {}", String::from_utf8_lossy(&ran.stderr));
    assert!(out.contains("\"value\":\"42\""), "{out}");
    assert!(out.contains("ciphertext = hex:3ad77bb40d7a3660a89ecaf32466ef97"), "{out}");
}

#[test]
fn the_interface_is_printed_as_openapi() {
    let document = symbolon(&["serve", "--openapi"]).expect(0).json();
    assert!(document["paths"]["/v1/functions/{function}/calls/{call}"]["post"].is_object());
}
