//! A machine without memory or threads: exit code 71 and a sentence, whatever the command was doing
//! when it got no more.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Ended, end, limited};

/// No command here takes longer than this, on a machine that does much else.
const LONGEST: Duration = Duration::from_secs(60);

/// The number of the user without rights, who has no other processes on most machines.
const NOBODY: u32 = 65534;

/// A dealer that runs for so long lacks nothing.
const SERVES: Duration = Duration::from_secs(1);

/// Commands that need memory or threads in different ways.
fn commands() -> Vec<Vec<&'static str>> {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sym/auction.sym");
    let inputs = ["--input", "x=20", "--input", "y=22", "-q", "--timeout", "5"];
    let local = |words: &[&'static str]| [&["local", "add:16"], words, &inputs].concat();
    vec![
        vec!["check", program],
        vec!["eval", "add:4096", "--input", "x=1", "--input", "y=2"],
        vec!["eval", "sort:4096x32", "--input", "0=hex:1", "--input", "1=hex:0"],
        vec!["circuit", "info", "sha256", "--json"],
        local(&[]),
        local(&["--transport", "memory", "--threads", "3"]),
        local(&["--protocol", "duplo", "--threads", "4"]),
        local(&["--protocol", "dualex", "--threads", "2"]),
        local(&["--protocol", "ywz", "--threads", "2", "--transport", "tcp"]),
        local(&["--dealer"]),
        vec!["bench", "add:16", "--repeat", "1", "-q", "--timeout", "5"],
        vec!["dealer", "--listen", "127.0.0.1:0", "--transport", "tcp"],
        vec!["lsp"],
    ]
}

/// Waits for a command that may hang; returns `None` after so long.
fn end_within(longest: Duration, mut child: Child) -> Option<Ended> {
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    std::thread::scope(|scope| {
        let text = |stream: &mut dyn Read| {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let out = scope.spawn(move || text(&mut out));
        let err = scope.spawn(move || text(&mut err));
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break Some(status),
                None if begun.elapsed() < longest => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                None => {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    break None;
                }
            }
        };
        let (out, err) = (out.join().unwrap(), err.join().unwrap());
        // A signal has no code.
        status.map(|status| Ended { code: status.code().unwrap_or(-1), out, err })
    })
}

/// Runs a command that may get too little; it succeeds, or says what it lacks. Returns whether it
/// lacked something.
#[track_caller]
fn lacks(what: &str, words: &[&str], mut command: Command) -> bool {
    let child = command.stdin(Stdio::null()).spawn().unwrap();
    let serves = words[0] == "dealer";
    let Some(ended) = end_within(if serves { SERVES } else { LONGEST }, child) else {
        assert!(serves, "{what}: {words:?} hangs");
        return false;
    };
    let shown = || format!("{what}: {words:?}: {}\n{}{}", ended.code, ended.out, ended.err);
    match ended.code {
        0 => return false,
        // The editor left without a word.
        2 if words == ["lsp"] => return false,
        71 => {}
        _ => panic!("{}", shown()),
    }
    let errors = ended.err.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(errors, 1, "{}", shown());
    assert!(ended.err.contains("hint: ") && !ended.err.contains("panicked"), "{}", shown());
    if words.contains(&"--json") {
        assert_eq!(ended.json()["exit_code"], 71, "{}", shown());
    }
    true
}

/// Runs all commands with this much address space, in MB; returns how many lacked some.
fn with_memory(megabytes: usize, backtrace: &str) -> usize {
    let limit = format!("ulimit -v {}; export RUST_BACKTRACE={backtrace}", megabytes * 1000);
    let lack = |words: &Vec<&str>| {
        lacks(&format!("{megabytes} MB, {backtrace}"), words, limited(&limit, words))
    };
    commands().iter().filter(|words| lack(words)).count()
}

/// The main thread alone needs some of that, and the compiler a gigabyte of addresses.
#[test]
fn without_memory_every_command_says_so() {
    for (megabytes, backtrace) in [(90, "1"), (200, "1"), (800, "0")] {
        let lacked = with_memory(megabytes, backtrace);
        assert!(lacked > 0, "{megabytes} MB is not too little for anything");
    }
}

#[test]
#[ignore = "takes minutes"]
fn without_memory_every_command_says_so_whatever_it_has() {
    for megabytes in (60..=400).step_by(4).chain((400..=1600).step_by(40)) {
        for backtrace in ["0", "1"] {
            with_memory(megabytes, backtrace);
        }
    }
}

/// Returns a command of another user, who may have this many processes and threads; `None` if this
/// process may not change its user.
fn with_threads(threads: usize, copy: &str, words: &[&str]) -> Option<Command> {
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    if !is_root {
        return None;
    }
    let mut command = Command::new("bash");
    let script = format!("ulimit -u {threads}; exec \"$@\"");
    command.args(["-c", &script, "bash", copy]).args(words).current_dir("/");
    command.uid(NOBODY).gid(NOBODY).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command)
}

/// Runs all commands with so few threads; returns how many lacked some, and `None` if that cannot
/// be tried.
fn lacking_threads(all: impl Iterator<Item = usize>) -> Option<usize> {
    // That user must be able to read it.
    let folder = tempfile::Builder::new().prefix("threads").tempdir_in("/var/tmp").unwrap();
    let open = |path: &std::path::Path| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    open(folder.path());
    let copy = folder.path().join("symbolon");
    std::fs::copy(env!("CARGO_BIN_EXE_symbolon"), &copy).unwrap();
    open(&copy);
    let program = folder.path().join("auction.sym");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sym/auction.sym");
    std::fs::copy(source, &program).unwrap();
    let (copy, program) = (copy.to_str().unwrap(), program.to_str().unwrap());
    let mut lacked = 0;
    for threads in all {
        for mut words in commands() {
            words.iter_mut().filter(|word| **word == source).for_each(|word| *word = program);
            let command = with_threads(threads, copy, &words)?;
            lacked += usize::from(lacks(&format!("{threads} threads"), &words, command));
        }
    }
    Some(lacked)
}

#[test]
fn without_threads_every_command_says_so() {
    match lacking_threads([2, 6, 12].into_iter()) {
        Some(lacked) => assert!(lacked > 0, "12 threads are not too few for anything"),
        None => eprintln!("SKIPPED: only root can run commands as a user without threads"),
    }
}

#[test]
#[ignore = "takes minutes"]
fn without_threads_every_command_says_so_whatever_it_has() {
    if lacking_threads(1..40).is_none() {
        eprintln!("SKIPPED: only root can run commands as a user without threads");
    }
}

/// At the end of the main thread's stack the system would kill the process.
#[test]
fn a_stack_that_cannot_grow_is_code_71() {
    let ended = end(limited("ulimit -s 512", &["--version"]).spawn().unwrap());
    ended.expect(71).says(&["no more memory", "hint: "]);
}
