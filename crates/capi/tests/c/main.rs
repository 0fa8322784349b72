//! The example in C, compiled by the machine's compiler and run: two processes over TLS, and what
//! one night prepares, the morning uses. Then the library as `make install` installs it, and calls
//! from threads with little stack and from Node.

#![cfg(unix)]

mod install;
mod node;
mod service;
mod stack;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// What programs ask the system for.
const SONAME: &str = "libsymbolon_c.so.1";

/// Names folders of shared libraries for programs that start.
const SEARCHED: &str = "LD_LIBRARY_PATH";

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where cargo puts the libraries that this test is linked with.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_path_buf()
}

/// Whether the machine has a program. A test without it says what is not checked.
fn is_there(name: &str) -> bool {
    let mut there = Command::new(name);
    there.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    let found = there.status().is_ok_and(|status| status.success());
    if !found {
        eprintln!("NOT CHECKED: there is no {name}");
    }
    found
}

/// A compiler that refuses everything doubtful, if the machine has it.
fn compiler(name: &str) -> Option<Command> {
    let mut command = Command::new(name);
    command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    is_there(name).then_some(command)
}

/// Runs a command that must succeed, and returns what it prints.
fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Compiles a program in C against the shared library. What the library is called when a program
/// starts is its SONAME, for which cargo makes no file: the folder of the program gets one.
fn shared(source: &Path, program: &Path) -> bool {
    let Some(mut cc) = compiler("cc") else { return false };
    let built = libraries().join("libsymbolon_c.so");
    let folder = program.parent().unwrap();
    std::os::unix::fs::symlink(&built, folder.join(SONAME)).unwrap();
    cc.arg("-std=c99").arg("-I").arg(here().join("include")).arg(source).arg("-o").arg(program);
    done(cc.arg(built).arg("-pthread"));
    true
}

fn millionaires() -> PathBuf {
    here().join("examples/millionaires.c")
}

struct Parties {
    folder: tempfile::TempDir,
    program: PathBuf,
    libraries: PathBuf,
    address: String,
    fingerprints: [String; 2],
}

impl Parties {
    /// Two parties that run the example, linked with what cargo built.
    fn new() -> Option<Parties> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("millionaires");
        let libraries = folder.path().to_path_buf();
        shared(&millionaires(), &program).then(|| Parties::with(folder, program, libraries))
    }

    /// Two parties that run `program` with the shared library in a folder.
    fn with(folder: tempfile::TempDir, program: PathBuf, libraries: PathBuf) -> Parties {
        for (party, wealth) in ["120\n", "95\n"].iter().enumerate() {
            std::fs::write(folder.path().join(format!("{party}.txt")), wealth).unwrap();
        }
        let key = |party: u16| {
            let file = folder.path().join(party.to_string());
            let mut command = Command::new(&program);
            done(command.arg("key").arg(file).env(SEARCHED, &libraries)).trim().to_string()
        };
        let fingerprints = [key(0), key(1)];
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        Parties { folder, program, libraries, address, fingerprints }
    }

    /// Starts a party, with files of its own named after it.
    fn start(&self, what: &str, party: usize, peer: &str) -> Child {
        let name = |suffix: &str| format!("{party}{suffix}");
        let mut command = Command::new(&self.program);
        command.env(SEARCHED, &self.libraries);
        command.args([what, &name(""), &name(""), &self.address, peer]);
        let files: &[&str] = match what {
            "run" => &[".txt"],
            "prepare" => &[".store"],
            _ => &[".txt", ".store"],
        };
        command.args(files.iter().map(|suffix| name(suffix))).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn both(&self, what: &str) -> [Output; 2] {
        let zero = self.start(what, 0, &self.fingerprints[1]);
        let one = self.start(what, 1, &self.fingerprints[0]);
        [zero, one].map(|party| party.wait_with_output().unwrap())
    }

    /// Finds out who is richer.
    fn compare(&self) {
        for party in self.both("run") {
            let told = String::from_utf8(party.stderr).unwrap();
            assert_eq!(party.status.code(), Some(0), "{told}");
            assert_eq!(String::from_utf8(party.stdout).unwrap(), "party 0 is richer\n");
            for event in ["connected", "phase-began setup", "phase-ended online", "gates"] {
                assert!(told.contains(event), "no {event}: {told}");
            }
        }
    }
}

#[test]
fn millionaires_in_c() {
    let Some(parties) = Parties::new() else { return };
    parties.compare();
    for party in parties.both("prepare") {
        let told = String::from_utf8(party.stderr).unwrap();
        assert_eq!((party.status.code(), &party.stdout[..]), (Some(0), &b""[..]), "{told}");
    }
    for party in parties.both("stored") {
        let told = String::from_utf8(party.stderr).unwrap();
        assert_eq!(party.status.code(), Some(0), "{told}");
        assert_eq!(String::from_utf8(party.stdout).unwrap(), "party 0 is richer\n");
    }
    // It is used up.
    for party in parties.both("stored") {
        let told = String::from_utf8(party.stderr).unwrap();
        assert_eq!(party.status.code(), Some(2), "{told}");
    }
}

#[test]
fn a_wrong_key_has_its_code() {
    let Some(parties) = Parties::new() else { return };
    let mut zero = parties.start("run", 0, &parties.fingerprints[1]);
    let one = parties.start("run", 1, &"7".repeat(64)).wait_with_output().unwrap();
    zero.kill().unwrap();
    zero.wait().unwrap();
    let told = String::from_utf8(one.stderr).unwrap();
    assert_eq!(one.status.code(), Some(3), "{told}");
    assert!(told.contains("(wrong-key)"), "{told}");
}

/// The static library, and the header in C++.
#[test]
fn it_can_be_linked_statically_and_read_by_cpp() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("millionaires");
    if let Some(mut cc) = compiler("cc") {
        cc.arg("-std=c99").arg("-I").arg(here().join("include"));
        cc.arg(millionaires()).arg("-o").arg(&program);
        cc.arg(libraries().join("libsymbolon_c.a"));
        done(cc.args(["-lpthread", "-ldl", "-lm"]));
        let file = folder.path().join("key");
        assert_eq!(done(Command::new(&program).arg("key").arg(file)).len(), 65);
    }
    if let Some(mut cpp) = compiler("c++") {
        done(cpp.args(["-fsyntax-only", "-x", "c++"]).arg(here().join("include/symbolon.h")));
    }
}
