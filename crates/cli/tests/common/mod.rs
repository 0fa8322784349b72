//! Running the real binary.

// Every test file uses a different part of this.
#![allow(dead_code)]

pub mod pair;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex};

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// Checks the exit code; if it differs, shows everything.
    #[track_caller]
    pub fn expect(self, code: i32) -> Ended {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    /// Checks that standard error contains all of these texts.
    #[track_caller]
    pub fn says(self, texts: &[&str]) -> Ended {
        for text in texts {
            assert!(self.err.contains(text), "no `{text}` in: {}", self.err);
        }
        self
    }

    /// Returns standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}", self.out))
    }
}

/// Returns the folder in which commands of this process keep compiled programs.
pub fn cache() -> &'static Path {
    static FOLDER: LazyLock<tempfile::TempDir> =
        LazyLock::new(|| tempfile::tempdir().expect("a folder"));
    FOLDER.path()
}

pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_symbolon"));
    command
        .args(words)
        .env("XDG_CACHE_HOME", cache())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Returns the command, run after a shell has limited the process, as in `ulimit -n 1024`.
pub fn limited(limit: &str, words: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limit}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_symbolon")]);
    command.args(words).env("XDG_CACHE_HOME", cache());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command to its end.
pub fn symbolon(words: &[&str]) -> Ended {
    end(command(words).spawn().expect("the binary starts"))
}

/// Runs a command in a folder, with something on standard input.
pub fn symbolon_in(folder: &Path, input: &str, words: &[&str]) -> Ended {
    let mut child = command(words)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A command that does not read its input may have ended already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    end(child)
}

pub fn end(child: Child) -> Ended {
    let output = child.wait_with_output().expect("the command ends");
    Ended {
        code: output.status.code().expect("an exit code"),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Sends a signal to a running process.
#[track_caller]
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
}

/// A command that listens, and the address it listens on.
pub struct Listening {
    child: Child,
    pub address: String,
    reader: BufReader<std::process::ChildStderr>,
    seen: String,
}

/// Starts `run` with `--listen 127.0.0.1:0` and these words.
pub fn listen(words: &[&str]) -> Listening {
    listening(&[&["run", "--listen", "127.0.0.1:0"], words].concat())
}

/// Starts a command and waits until it prints where it listens.
pub fn listening(words: &[&str]) -> Listening {
    let mut child = command(words).spawn().expect("the binary starts");
    let mut reader = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut seen = String::new();
    let address = loop {
        let mut line = String::new();
        let read = reader.read_line(&mut line).expect("text");
        assert!(read > 0, "ended before it listened: {seen}");
        seen.push_str(&line);
        if let Some(address) = line.strip_prefix("listening on ") {
            break address.trim().to_string();
        }
    };
    Listening { child, address, reader, seen }
}

impl Listening {
    /// Starts the other side with these words and waits for both; the listening one comes first.
    pub fn and_connect(self, words: &[&str]) -> (Ended, Ended) {
        let address = self.address.clone();
        let other = command(&["run", "--connect", &address])
            .args(words)
            .spawn()
            .expect("the binary starts");
        let other = end(other);
        (self.end(), other)
    }

    /// Sends it a signal and waits for its end.
    #[track_caller]
    pub fn signal(self, name: &str) -> Ended {
        signal(&self.child, name);
        self.end()
    }

    pub fn end(mut self) -> Ended {
        self.reader.read_to_string(&mut self.seen).expect("text");
        let mut ended = end(self.child);
        ended.err = self.seen;
        ended
    }
}

/// Returns an address where somebody can listen, and that no other test of this process has
/// received.
pub fn free_address() -> String {
    static GIVEN: Mutex<Option<HashSet<u16>>> = Mutex::new(None);
    loop {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
        let mut given = GIVEN.lock().expect("no test panics here");
        if given.get_or_insert_default().insert(free.port()) {
            return free.to_string();
        }
    }
}

/// A folder with two identities, `a.key` and `b.key`.
pub struct Keys {
    pub folder: tempfile::TempDir,
    pub a: String,
    pub b: String,
    /// What the other side pins.
    pub print_a: String,
    pub print_b: String,
}

pub fn keys() -> Keys {
    let folder = tempfile::tempdir().expect("a folder");
    let make = |name: &str| {
        let path = folder.path().join(name).to_string_lossy().into_owned();
        let made = symbolon(&["keygen", "--out", &path]).expect(0);
        (path, made.out.trim().to_string())
    };
    let ((a, print_a), (b, print_b)) = (make("a.key"), make("b.key"));
    Keys { folder, a, b, print_a, print_b }
}
