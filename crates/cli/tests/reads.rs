//! Reading always ends: devices, named pipes and endless files, wherever a file is named.

use std::path::Path;
use std::process::Command;

use crate::common::{self, end, keys, limited, symbolon, symbolon_in};

/// Returns command lines with this file in each place where a file is named.
fn places(file: &str, key: &str) -> Vec<Vec<String>> {
    let value = format!("x=@{file}");
    let tls = ["--connect", "127.0.0.1:9", "--timeout", "600", "--peer-fingerprint"];
    let run = ["run", "add:8", "--party", "0", "--input", "0=1"];
    let print = "00".repeat(32);
    let own = |words: &[&str]| words.iter().map(|word| (*word).to_string()).collect::<Vec<_>>();
    vec![
        own(&["circuit", "info", file]),
        own(&["local", file]),
        own(&["run", "--config", file]),
        own(&["prepare", "--config", file]),
        own(&["local", "add:8", "--input", &value, "--input", "y=1"]),
        own(&["circuit", "eval", "add:8", "--input", &value, "--input", "y=1"]),
        own(&["fingerprint", file]),
        own(&[&run[..], &tls, &[&print, "--key", file]].concat()),
        own(&[&run[..], &tls, &[&print, "--key", key, "--config", file]].concat()),
        own(&["dealer", "--listen", "127.0.0.1:0", "--allow-any", "--key", file]),
    ]
}

/// Cheat: the file system | any file that is named | a device or named pipe | the type of what was
/// opened | always
#[test]
fn devices_and_named_pipes_are_refused_wherever_a_file_is_named() {
    let keys = keys();
    let folder = keys.folder.path();
    let fifo = folder.join("pipe.txt");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // By a name that looks like a file, and one that does not.
    let link = folder.join("zero.txt");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    for (file, what) in [
        (Path::new("/dev/zero"), "it is a device"),
        (&link, "it is a device"),
        (&fifo, "it is a named pipe"),
        (folder, "it is a directory"),
    ] {
        for words in places(&file.to_string_lossy(), &keys.a) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            // Less memory than an endless file would take.
            let ended = end(limited("ulimit -v 4000000", &words).spawn().unwrap());
            ended.expect(2).says(&[what]);
        }
    }
}

#[test]
fn standard_input_that_is_a_device_is_refused() {
    let words = ["local", "add:8", "--input", "x=-", "--input", "y=1"];
    let zero = std::fs::File::open("/dev/zero").unwrap();
    let child = common::command(&words).stdin(zero).spawn().unwrap();
    end(child).expect(2).says(&["it is a device"]);
}

/// Metadata say that it is as long as this; nothing of it takes room on the disk.
/// Cheat: the file system | any file that is named | a file without end | limits on bytes read |
/// always
#[test]
fn files_without_end_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.txt");
    std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let path = path.to_string_lossy().into_owned();
    let value = format!("x=@{path}");
    for words in [
        &["run", "--config", &path][..],
        &["local", "add:8", "--input", &value, "--input", "y=1"],
        &["fingerprint", &path],
    ] {
        let words = limited("umask 077; ulimit -v 4000000", words).spawn().unwrap();
        let ended = end(words).expect(2);
        let told = ended.err.contains("too long") || ended.err.contains("chmod 600");
        assert!(told, "{}", ended.err);
    }
}

/// The pipes and files that a shell makes of `<(command)`, of `command |` and of `< file`.
#[test]
fn pipes_that_a_shell_makes_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let own = env!("CARGO_BIN_EXE_symbolon");
    let shell = |script: &str| {
        let mut command = Command::new("bash");
        let out = command.args(["-c", script, "bash", own]).current_dir(folder.path());
        let out = out.output().unwrap();
        assert!(out.status.success(), "{script}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let eval = "\"$1\" circuit eval add:8";
    for script in [
        format!("{eval} --input x=@<(sleep 0.1; echo 2) --input y=40"),
        format!("echo 2 | {eval} --input x=- --input y=40"),
        format!("echo 2 | {eval} --input x=@/dev/stdin --input y=40"),
        format!("echo 2 > two; {eval} --input x=- --input y=40 < two"),
        format!("echo 2 > two; {eval} --input x=@/dev/stdin --input y=40 < two"),
    ] {
        assert_eq!(shell(&script), "sum = 42\n", "{script}");
    }
    let print = shell("\"$1\" keygen --out my.key");
    assert_eq!(shell("\"$1\" fingerprint <(cat my.key)"), print);
    let circuit =
        shell("\"$1\" circuit export add:8 > add.txt; \"$1\" circuit info <(cat add.txt)");
    assert!(circuit.contains("out0"), "{circuit}");
    let none = symbolon_in(folder.path(), "", &["circuit", "info", "./none.txt"]).expect(2);
    none.says(&["does not exist"]);
    symbolon(&["fingerprint", "/no/such.key"]).expect(2).says(&["/no/such.key"]);
}
