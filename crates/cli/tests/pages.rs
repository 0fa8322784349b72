//! Runs the commands of the pages in their order on the page.
//!
//! In a block of `console`, a line with a prompt is a command: `$` on this machine, `alice$` and
//! the like by a party, which has a folder of its own. The lines after it are its output. Values
//! that a page cannot know are replaced: addresses of this machine, and the fingerprints of keys
//! made here.
//!
//! A block that cannot run here has a line `<!-- not run: REASON -->` before it.

#![cfg(unix)]

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::common::{Ended, end, free_address, symbolon};

/// Programs that are not part of this.
const OTHERS: [&str; 2] = ["cargo ", "yosys "];

/// Pages whose commands are run here.
const RUN: [&str; 6] = [
    "README.md",
    "docs/guide.md",
    "docs/language.md",
    "docs/performance.md",
    "docs/service.md",
    "packaging/README.md",
];

/// Kinds of blocks that are not commands.
const NO_COMMANDS: [&str; 7] = ["c", "json", "lua", "rust", "sym", "text", "toml"];

/// The key and the block of FIPS-197, whose ciphertext the guide shows.
const FIPS: [(&str, &str, &str); 2] = [
    ("alice", "key.txt", "hex:2b7e151628aed2a6abf7158809cf4f3c\n"),
    ("bob", "message.txt", "hex:3243f6a8885a308d313198a2e0370734\n"),
];

/// A command of a page.
struct Step {
    who: String,
    text: String,
    prints: Vec<String>,
}

/// A fenced block of a page.
struct Block<'p> {
    /// The line before it.
    before: &'p str,
    kind: &'p str,
    lines: Vec<&'p str>,
}

impl Block<'_> {
    /// Returns whether it says why it is not run.
    fn is_excused(&self) -> bool {
        let reason =
            self.before.strip_prefix("<!-- not run: ").and_then(|r| r.strip_suffix(" -->"));
        reason.is_some_and(|reason| reason.len() > 10)
    }
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut before) = (Vec::new(), "");
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```") {
            let inside = lines.by_ref().take_while(|line| *line != "```");
            blocks.push(Block { before, kind, lines: inside.collect() });
        }
        before = line;
    }
    blocks
}

/// Returns the commands of a page, in order.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in blocks(page) {
        if block.kind != "console" || block.is_excused() {
            continue;
        }
        let mut continued = false;
        for line in block.lines {
            let prompt = line.split_once('$').filter(|(who, rest)| {
                rest.starts_with(' ') && who.chars().all(|c| c.is_ascii_lowercase())
            });
            if continued {
                let text = &mut steps.last_mut().unwrap().text;
                text.push('\n');
                text.push_str(line);
            } else if let Some((who, text)) = prompt {
                let who = if who.is_empty() { "alice" } else { who };
                let text = text.trim().to_string();
                steps.push(Step { who: who.to_string(), text, prints: Vec::new() });
            } else {
                steps.last_mut().expect("a command").prints.push(line.to_string());
            }
            continued = (continued || prompt.is_some()) && line.ends_with('\\');
        }
    }
    assert!(!steps.is_empty(), "the page has commands");
    steps
}

/// Where the commands of a page are run.
struct Stage {
    folder: tempfile::TempDir,
    /// Texts of the page, and what replaces them here.
    here: HashMap<String, String>,
    /// Parties that wait for others, and what they should print.
    running: Vec<(Child, Step)>,
    /// Processes that run until the end.
    servers: Vec<Child>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        for server in self.servers.iter_mut().chain(self.running.iter_mut().map(|(c, _)| c)) {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

fn is_fingerprint(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Stage {
    fn new() -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let here: HashMap<String, String> = HashMap::new();
        Stage { folder, here, running: Vec::new(), servers: Vec::new() }
    }

    fn home(&self, who: &str) -> PathBuf {
        let home = self.folder.path().join(who);
        std::fs::create_dir_all(&home).unwrap();
        home
    }

    fn write(&self, who: &str, name: &str, text: &str) {
        std::fs::write(self.home(who).join(name), text).unwrap();
    }

    /// Makes a party's key, and returns its fingerprint.
    fn key(&self, who: &str) -> String {
        let out = self.home(who).join(format!("{who}.key"));
        symbolon(&["keygen", "--out", out.to_str().unwrap()]).expect(0).out.trim().to_string()
    }

    fn put_in(&self, text: &str) -> String {
        let mut text = text.to_string();
        for (page, here) in &self.here {
            text = text.replace(page, here);
        }
        text
    }

    fn start(&self, who: &str, text: &str) -> Child {
        let program = Path::new(env!("CARGO_BIN_EXE_symbolon")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        // The shell becomes the command, so that killing it kills the command.
        let text = self.put_in(text);
        let text = if text.starts_with("symbolon ") { format!("exec {text}") } else { text };
        shell.args(["-c", &text]).current_dir(self.home(who)).env("PATH", path);
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        shell.spawn().unwrap()
    }

    fn step(&mut self, step: Step) {
        if OTHERS.iter().any(|start| step.text.starts_with(start)) {
            return;
        }
        if step.text.starts_with("symbolon dealer ") {
            let mut dealer = self.start(&step.who, &step.text);
            let mut said = BufReader::new(dealer.stderr.take().unwrap()).lines();
            let said = said.find(|line| line.as_ref().is_ok_and(|l| l.starts_with("listening on")));
            self.servers.push(dealer);
            assert!(said.is_some(), "{} does not serve", step.text);
            return;
        }
        if step.text.contains(" --party ") {
            let child = self.start(&step.who, &step.text);
            self.running.push((child, step));
            return;
        }
        let ended = match mirrored(&step.text) {
            None => end(self.start(&step.who, &step.text)),
            Some(other) => {
                let other = self.start("bob", &other);
                let ended = end(self.start(&step.who, &step.text));
                end(other).expect(0);
                ended
            }
        };
        self.check(ended, &step);
    }

    /// Waits for the parties that were started.
    fn join(&mut self) {
        for (child, step) in std::mem::take(&mut self.running) {
            self.check(end(child), &step);
        }
    }

    /// Checks that it succeeded and printed what the page has, except for names that are new each
    /// time.
    fn check(&mut self, ended: Ended, step: &Step) {
        assert_eq!(ended.code, 0, "{}\n{}{}", step.text, ended.out, ended.err);
        let real: Vec<&str> = ended.out.lines().chain(ended.err.lines()).collect();
        for line in &step.prints {
            if is_fingerprint(line) {
                let fresh = real.iter().find(|line| is_fingerprint(line)).expect("a fingerprint");
                self.here.insert(line.clone(), fresh.to_string());
                continue;
            }
            let is_name =
                |word: &str| word.len() >= 16 && word.bytes().all(|b| b.is_ascii_hexdigit());
            let fresh = line.split([' ', ':']).any(is_name) && !line.contains("hex:");
            if !fresh && !line.contains('…') {
                assert!(real.contains(&line.as_str()), "{}\nno `{line}` in {real:#?}", step.text);
            }
        }
    }

    fn run(&mut self, page: &str) {
        for step in steps(page) {
            let alone = !step.text.contains(" --party ") && mirrored(&step.text).is_some();
            if alone || step.text.starts_with("symbolon local") {
                self.join();
            }
            self.step(step);
        }
        self.join();
    }
}

/// Returns what Bob does while Alice does this with her settings file: the same with his own, with
/// his input, and without the key of her store.
fn mirrored(text: &str) -> Option<String> {
    let with_his = text.contains("--config alice.toml").then(|| text.replace("alice", "bob"))?;
    let with_his = with_his.replace("key=@key.txt", "message=@message.txt");
    Some(with_his.replace("--store-key store.key", ""))
}

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Returns the first block of this kind that has `text`.
fn block(page: &str, kind: &str, text: &str) -> String {
    let start = format!("```{kind}\n");
    let blocks = page.split(&start).skip(1);
    let mut blocks = blocks.map(|rest| rest.split("```").next().unwrap());
    blocks.find(|block| block.contains(text)).expect("the page has it").to_string()
}

#[test]
fn the_readme_s_commands_do_what_it_says() {
    let mut stage = Stage::new();
    let address = free_address();
    stage.here.insert("0.0.0.0:7000".to_string(), address.clone());
    stage.here.insert("alice.example:7000".to_string(), address);
    stage.run(&page("README.md"));
}

#[test]
fn the_guide_s_commands_do_what_it_says() {
    let guide = page("docs/guide.md");
    let mut stage = Stage::new();
    let prints = ["alice", "bob", "carol"].map(|who| stage.key(who));
    for place in ["alice.example:7000", "bob.example:7000", "127.0.0.1:7100"] {
        stage.here.insert(place.to_string(), free_address());
    }
    stage.here.insert("--allow f5b2…".to_string(), format!("--allow {}", prints[0]));
    stage.here.insert("--allow 8342…".to_string(), format!("--allow {}", prints[1]));
    for (who, name, text) in FIPS {
        stage.write(who, name, text);
    }
    // An auction among three: all have the same file.
    let list = block(&guide, "toml", "[[party]]");
    let listed = list.lines().filter_map(|line| line.strip_prefix("fingerprint = \""));
    let listed: Vec<&str> = listed.map(|rest| rest.trim_end_matches('"')).collect();
    for (page, here) in listed.iter().zip(&prints) {
        stage.here.insert(page.to_string(), here.clone());
    }
    for (who, bid, price) in [("alice", "a", "0"), ("bob", "b", "7"), ("carol", "c", "0")] {
        stage.write(who, "auction.toml", &stage.put_in(&list));
        stage.write(who, &format!("{bid}.txt"), &format!("{price}\n"));
    }
    // Stores of two.
    let own = block(&guide, "toml", "alice.store");
    let address = free_address();
    let own = own.replace("127.0.0.1:7400", &address);
    stage.write("alice", "alice.toml", &own.replace('…', &prints[1]));
    let his = own.replace("listen", "connect").replace("alice", "bob").replace("= 0", "= 1");
    stage.write("bob", "bob.toml", &his.replace('…', &prints[0]));
    // A program, and a circuit of one's own: 200 numbers of 32 bits and a byte.
    let gates = |n: usize| format!("2 1 {n} {} {} AND\n", 6400 + n, 6408 + n);
    let gates: String = (0..8).map(gates).collect();
    let circuit = format!("8 6416\n2 6400 8\n1 8\n\n{gates}");
    stage.write("alice", "average.sym", &block(&guide, "sym", "above: u32"));
    stage.write("alice", "my_circuit.txt", &circuit);
    let salaries: String = (0..200).map(|n| format!("{n}\n")).collect();
    stage.write("alice", "salaries.csv", &salaries);
    stage.run(&guide);
}

#[test]
fn the_language_page_s_commands_run() {
    let mut stage = Stage::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::os::unix::fs::symlink(examples, stage.home("alice").join("examples")).unwrap();
    stage.run(&page("docs/language.md"));
}

/// Runs smaller commands than the page's, which measure.
#[test]
fn the_performance_page_s_commands_run() {
    let mut stage = Stage::new();
    for (there, here) in [
        ("target/release/symbolon", "symbolon"),
        ("--repeat 11", "--repeat 1"),
        ("bench triples", "bench triples --count 2000 --repeat 1"),
        ("lan,wan --json", "lan,wan --repeat 1 --json"),
    ] {
        stage.here.insert(there.to_string(), here.to_string());
    }
    stage.run(&page("docs/performance.md"));
}

#[test]
fn the_service_page_s_commands_run() {
    let service = page("docs/service.md");
    let mut stage = Stage::new();
    stage.write("alice", "hmac.sym", &block(&service, "sym", "hmac_sha256_from"));
    stage.run(&service);
}

#[test]
fn the_packaging_page_s_commands_run() {
    let mut stage = Stage::new();
    let home = stage.home("alice").join("auction");
    std::fs::create_dir(&home).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/auction/prepare.sh");
    std::fs::copy(script, home.join("prepare.sh")).unwrap();
    stage.run(&page("packaging/README.md"));
    assert!(home.join("keys/auction.toml").exists());
}

/// Every block of commands on any page is run, or says why it is not.
#[test]
fn no_command_is_left_out_silently() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec!["packaging/README.md".to_string(), "editors/vscode/README.md".to_string()];
    let mut folders = vec![String::new(), "docs/".to_string()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root.join(&folder)).unwrap() {
            let name = format!("{folder}{}", entry.unwrap().file_name().into_string().unwrap());
            if name.ends_with(".md") {
                pages.push(name);
            } else if folder.starts_with("docs/") && root.join(&name).is_dir() {
                folders.push(name + "/");
            }
        }
    }
    let mut commands = 0;
    for name in pages {
        let text = page(&name);
        for block in blocks(&text) {
            let run = block.kind == "console" && RUN.contains(&name.as_str());
            // Other tests and `.ci/run` read the README's demonstration and its test command.
            let known = ["<!-- demo -->", "<!-- tests -->"].contains(&block.before);
            let fine = NO_COMMANDS.contains(&block.kind) || run || known || block.is_excused();
            assert!(fine, "{name}: a block of `{}`: {:?}", block.kind, block.lines);
            commands += usize::from(run);
        }
    }
    assert!(commands > 15, "{commands}");
}

/// A page that says something else fails.
#[test]
fn what_a_page_says_wrongly_is_noticed() {
    let run = |block: &str| {
        let block = format!("```console\n{block}```\n");
        std::panic::catch_unwind(|| Stage::new().run(&block)).is_ok()
    };
    let eval = "$ symbolon circuit eval add:8 --input x=2 --input y=40\n";
    assert!(run(eval));
    assert!(run(&format!("{eval}sum = 42\n")));
    assert!(!run(&format!("{eval}sum = 43\n")));
    assert!(!run("$ symbolon circuit evaluate add:8\n"));
    assert!(run(
        "bob$ echo 7 > x\nbob$ symbolon circuit eval add:8 --input x=@x \\\n  --input y=1\nsum = 8\n"
    ));
}
