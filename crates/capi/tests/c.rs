//! The example in C, compiled by the machine's compiler and run: two processes over TLS, and what
//! one night prepares, the morning uses.

#![cfg(unix)]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where cargo puts the libraries that this test is linked with.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_path_buf()
}

/// A compiler, if the machine has one.
fn compiler(name: &str) -> Option<Command> {
    let mut there = Command::new(name);
    there.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    if !there.status().is_ok_and(|status| status.success()) {
        eprintln!("NOT CHECKED: there is no {name}");
        return None;
    }
    let mut command = Command::new(name);
    command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"]).arg(here().join("include"));
    Some(command)
}

fn done(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles the example against the shared library.
fn shared(program: &Path) -> bool {
    let Some(mut cc) = compiler("cc") else { return false };
    let (source, libraries) = (here().join("examples/millionaires.c"), libraries());
    cc.arg("-std=c99").arg(source).arg("-o").arg(program).arg("-L").arg(&libraries);
    done(cc.args(["-lsymbolon_c", &format!("-Wl,-rpath,{}", libraries.display())]));
    true
}

struct Parties {
    folder: tempfile::TempDir,
    program: PathBuf,
    address: String,
    fingerprints: [String; 2],
}

impl Parties {
    fn new() -> Option<Parties> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("millionaires");
        if !shared(&program) {
            return None;
        }
        for (party, wealth) in ["120\n", "95\n"].iter().enumerate() {
            std::fs::write(folder.path().join(format!("{party}.txt")), wealth).unwrap();
        }
        let key = |party: u16| {
            let file = folder.path().join(party.to_string());
            let output = Command::new(&program).arg("key").arg(file).output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stdout).unwrap().trim().to_string()
        };
        let fingerprints = [key(0), key(1)];
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        Some(Parties { folder, program, address, fingerprints })
    }

    /// Starts a party, with files of its own named after it.
    fn start(&self, what: &str, party: usize, peer: &str) -> Child {
        let name = |suffix: &str| format!("{party}{suffix}");
        let mut command = Command::new(&self.program);
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
}

#[test]
fn millionaires_in_c() {
    let Some(parties) = Parties::new() else { return };
    for party in parties.both("run") {
        let told = String::from_utf8(party.stderr).unwrap();
        assert_eq!(party.status.code(), Some(0), "{told}");
        assert_eq!(String::from_utf8(party.stdout).unwrap(), "party 0 is richer\n");
        for event in ["connected", "phase-began setup", "phase-ended online", "gates"] {
            assert!(told.contains(event), "no {event}: {told}");
        }
    }
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
        cc.arg("-std=c99").arg(here().join("examples/millionaires.c")).arg("-o").arg(&program);
        cc.arg(libraries().join("libsymbolon_c.a"));
        done(cc.args(["-lpthread", "-ldl", "-lm"]));
        let file = folder.path().join("key");
        let output = Command::new(&program).arg("key").arg(file).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 65));
    }
    if let Some(mut cpp) = compiler("c++") {
        done(cpp.args(["-fsyntax-only", "-x", "c++"]).arg(here().join("include/symbolon.h")));
    }
}
