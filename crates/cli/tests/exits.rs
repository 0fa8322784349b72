//! Problems of this machine have codes of their own, and hide nothing that a party said; and a
//! terminal obeys nothing in a file's name.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{Ended, command, end, limited, listen, signal, symbolon, symbolon_in};

const INPUTS: [&str; 4] = ["--input", "x=1", "--input", "y=2"];

#[test]
fn no_descriptors_are_code_71() {
    let words = [&["local", "add:8"], &INPUTS[..]].concat();
    for few in [4, 6] {
        let ended = end(limited(&format!("ulimit -n {few}"), &words).spawn().unwrap());
        ended.expect(71).says(&["open files", "hint: "]);
    }
    // Enough for the port, but not for the second handle to it.
    let run = ["run", "add:8", "--party", "0", "--transport", "tcp", "--input", "x=1"];
    let words = [&run[..], &["--listen", "127.0.0.1:0", "--timeout", "2"]].concat();
    end(limited("ulimit -n 4", &words).spawn().unwrap()).expect(71).says(&["open files"]);
}

#[test]
fn a_full_disk_is_code_74() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for words in [
        &["circuit", "export", "add:8"][..],
        &["circuit", "list"],
        &["circuit", "info", "add:8", "--json"],
        &[&["local", "add:8", "--transport", "memory"], &INPUTS[..]].concat(),
    ] {
        let child = command(words).stdout(full()).spawn().unwrap();
        end(child).expect(74).says(&["cannot", "hint: make room"]);
    }
    symbolon(&["circuit", "export", "add:8", "--out", "/dev/full"]).expect(74).says(&["/dev/full"]);
    // The shell lets a process get an error when a file grows too large, instead of being killed.
    let folder = tempfile::tempdir().unwrap();
    let limit = format!("cd {}; trap '' XFSZ; ulimit -f 1", folder.path().display());
    let words = ["circuit", "export", "aes128", "--out", "aes.txt"];
    end(limited(&limit, &words).spawn().unwrap()).expect(74).says(&["aes.txt"]);
}

/// Returns the processes that this one started and that are parties.
fn parties_of(parent: &Child, wanted: usize) -> Vec<String> {
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    loop {
        let found = std::fs::read_to_string(&children).unwrap_or_default();
        let found: Vec<String> = found.split_whitespace().map(String::from).collect();
        if found.len() == wanted {
            return found;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs all parties on this machine, and sends one of them this signal in the middle of a long run.
fn signalled(signal: &str, timeout: &str) -> Ended {
    let words = ["local", "add:8", "--link", "2s,1gbit", "--timeout", timeout];
    let words = [&words[..], &INPUTS].concat();
    let parent = command(&words).spawn().unwrap();
    let parties = parties_of(&parent, 2);
    // Until they have connected, which is short compared with the run over this link.
    std::thread::sleep(Duration::from_secs(2));
    let sent = Command::new("kill").args([signal, &parties[1]]).stderr(Stdio::null()).status();
    assert!(sent.unwrap().success());
    end(parent)
}

#[test]
fn a_killed_party_is_code_72_and_the_other_is_heard() {
    signalled("-KILL", "20").expect(72).says(&[
        "party 1's process was killed by signal 9",
        "party 0 failed: ",
        "hint: ",
    ]);
}

#[test]
fn a_stopped_party_is_code_73_and_the_other_is_heard() {
    signalled("-STOP", "5").expect(73).says(&[
        "party 1's process is stopped",
        "party 0 failed: party 1 did not answer within 5 s",
        "hint: ",
    ]);
}

/// Sends a signal to a process, and waits for its end.
fn signal_and_end(name: &str, child: Child) -> Ended {
    signal(&child, name);
    end(child)
}

#[test]
fn a_run_that_waits_for_its_peer_is_interrupted() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let words = ["add:8", "--party", "0", "--input", "0=1", "--transport", "tcp"];
        listen(&words).signal(signal).expect(code).says(&["interrupted"]);
    }
}

#[test]
fn an_interrupted_partys_peer_is_told() {
    let words = ["--transport", "tcp", "--link", "2s,1gbit", "add:8"];
    let listening = listen(&[&words[..], &["--party", "0", "--input", "0=1"]].concat());
    let dialling =
        command(&["run", "--connect", &listening.address, "--party", "1", "--input", "1=1"])
            .args(words)
            .spawn()
            .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    signal_and_end("-TERM", dialling).expect(143).says(&["interrupted"]);
    listening.end().expect(3).says(&["it was interrupted"]);
}

#[test]
fn all_parties_on_this_machine_end_with_their_parent() {
    let words = ["local", "add:8", "--link", "2s,1gbit"];
    let parent = command(&[&words[..], &INPUTS].concat()).spawn().unwrap();
    let parties = parties_of(&parent, 2);
    std::thread::sleep(Duration::from_secs(1));
    signal_and_end("-TERM", parent).expect(143).says(&["interrupted"]);
    for party in parties {
        assert!(!std::path::Path::new("/proc").join(&party).exists(), "{party} is still there");
    }
}

/// Parties that report progress without a pause do not delay a signal: the run would take hours.
#[test]
fn parties_that_work_without_a_pause_end_with_their_parent() {
    let words = ["bench", "aes128", "--repeat", "100000", "--transport", "tcp"];
    let parent = command(&words).spawn().unwrap();
    let parties = parties_of(&parent, 2);
    std::thread::sleep(Duration::from_secs(1));
    signal_and_end("-INT", parent).expect(130).says(&["interrupted"]);
    for party in parties {
        assert!(!std::path::Path::new("/proc").join(&party).exists(), "{party} is still there");
    }
}

/// Cheat: a file or peer | what is printed | control characters in names | escaped where they are
/// printed | always
#[test]
fn control_characters_in_names_reach_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let evil = "a\x1b]0;title\x07\u{9b}31m\u{202e}b\n error: c.txt";
    let path = folder.path().join(evil);
    std::fs::write(&path, "nonsense").unwrap();
    let toml = folder.path().join("run.toml");
    std::fs::write(&toml, "party = 0\n\"k\\u001b[2Jey\\u009b\" = 1\n").unwrap();
    let unknown = format!("x=@{evil}");
    for words in [
        &["circuit", "info", evil][..],
        &["run", "--config", evil],
        &["run", "--config", "run.toml"],
        &["fingerprint", evil],
        &["store", "ls", evil],
        &["local", "add:8", "--input", &unknown, "--input", "y=1"],
        &["local", "add:8", "--protocol", evil],
        &["local", evil],
        &[evil],
    ] {
        let ended = symbolon_in(folder.path(), "", words).expect(2);
        let told = ended.err.replace("\nhint: ", "").replace("\n\n", "");
        let obeyed = |c: char| c.is_control() || c == '\u{202e}';
        assert!(!told.trim_end().contains(obeyed), "{words:?}: {told:?}");
    }
    // Also after a success.
    let words = ["circuit", "export", "add:8", "--out", evil];
    let told = symbolon_in(folder.path(), "", &words).expect(0).err;
    assert!(told.contains("\\u{1b}]0;title") && !told.contains('\x1b'), "{told:?}");
    let words = ["circuit", "eval", evil, "--json", "--input", "0=1", "--input", "1=2"];
    let json = symbolon_in(folder.path(), "", &words).expect(0);
    assert!(!json.out.contains(['\x1b', '\u{9b}', '\u{202e}']), "{:?}", json.out);
    assert_eq!(json.json()["circuit"], *evil);
}

#[test]
fn a_failure_is_json_where_json_was_asked_for() {
    let of = |words: &[&str], exit: i32| {
        let json = symbolon(words).expect(exit).json();
        assert_eq!(json["format"], "symbolon-failure-1");
        assert_eq!(json["exit_code"], exit);
        assert!(json["check"].is_null());
        [&json["class"], &json["code"], &json["party"]].map(|value| value.to_string())
    };
    let usage = [r#""usage""#, r#""usage""#, "null"];
    assert_eq!(of(&["circuit", "info", "no such circuit", "--json"], 2), usage);
    assert_eq!(of(&["circuit", "info", "add:8", "--json", "--colour"], 2), usage);
    assert_eq!(of(&["circuit", "info", "--json"], 2), usage);
    let run = ["run", "add:8", "--party", "0", "--transport", "tcp", "--input", "x=1", "--json"];
    let alone = [&run[..], &["--connect", "127.0.0.1:9", "--timeout", "0.4"]].concat();
    assert_eq!(of(&alone, 3), [r#""peer""#, r#""no-answer""#, "1"]);
    assert_eq!(symbolon(&["circuit", "info", "no such circuit"]).expect(2).out, "");
}
