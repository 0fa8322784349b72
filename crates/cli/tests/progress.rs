//! What is shown while a command works, on standard error and in the file of events.

use std::io::Write;
use std::net::TcpStream;
use std::path::Path;

use crate::common::{self, command, end, listen, symbolon};
use serde_json::Value;

/// Returns the lines of a file of events.
fn events(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "the last line is complete");
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn of_kind<'e>(events: &'e [Value], kind: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

#[test]
fn events_follow_every_party_through_its_phases() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let shown = path.to_string_lossy().into_owned();
    let same = ["local", "mul:32", "--input", "x=6", "--input", "y=7", "--events", &shown];
    for transport in ["tcp", "memory"] {
        let _ = std::fs::remove_file(&path);
        let words = [&same[..], &["--transport", transport, "--repeat", "2"]].concat();
        assert_eq!(symbolon(&words).expect(0).err, "", "nothing is shown without a terminal");
        let events = events(&path);
        assert_eq!(events[0]["event"], "started");
        assert_eq!(events[0]["format"], "symbolon-events-1");
        assert_eq!((&events[0]["command"], &events[0]["party"]), (&"local".into(), &Value::Null));
        let last = events.last().unwrap();
        assert_eq!((&last["event"], &last["exit_code"]), (&"finished".into(), &0.into()));
        for party in [0, 1] {
            let own: Vec<Value> =
                events.iter().filter(|event| event["party"] == party).cloned().collect();
            let names = |kind| -> Vec<String> {
                let all = of_kind(&own, kind).into_iter();
                all.map(|event| event["phase"].as_str().unwrap().to_string()).collect()
            };
            let run = ["dependent", "dependent", "online"];
            let expected = [&["setup"][..], &run, &run].concat();
            assert_eq!(names("phase-began"), expected, "party {party}");
            assert_eq!(names("phase-ended"), expected);
            let runs: Vec<_> = of_kind(&own, "run").iter().map(|run| run["run"].clone()).collect();
            assert_eq!(runs, [1, 2]);
            let sent: Vec<u64> = of_kind(&own, "phase-ended")
                .iter()
                .map(|event| event["bytes_sent"].as_u64().unwrap())
                .collect();
            assert!(sent[0] > 0 && sent[1] < sent[2] && sent[2] < sent[4], "{sent:?}");
            let work = of_kind(&own, "work");
            for event in &work {
                assert!(event["done"].as_u64() <= event["total"].as_u64(), "{event}");
            }
            for step in ["triples", "gates"] {
                let done = work.iter().filter(|event| event["step"] == step);
                let complete = done.filter(|event| event["done"] == event["total"]).count();
                assert!(complete >= 2, "{step} of party {party} in both runs: {work:?}");
            }
            assert!(work.iter().any(|event| event["bytes_sent"].as_u64() > Some(1000)));
        }
    }
}

/// Of two pipes, nobody has opened the one, and nobody reads from the other, which is full.
#[test]
fn a_reader_of_events_may_take_as_long_as_a_peer() {
    use std::io::ErrorKind;
    use std::os::unix::fs::OpenOptionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let shown = path.display().to_string();
    let words = ["local", "add:8", "--transport", "memory", "--input", "x=1", "--input", "y=2"];
    let words = [&words[..], &["--timeout", "0.5", "--events", &shown]].concat();
    symbolon(&words).expect(74).says(&["nobody opened the pipe", "within 0.5 s", "hint: "]);
    const NONBLOCK: i32 = 0o4000;
    let mut options = std::fs::OpenOptions::new();
    let mut pipe = options.read(true).write(true).custom_flags(NONBLOCK).open(&path).unwrap();
    let full = std::iter::from_fn(|| Some(pipe.write(&[b'\n'; 4096]))).find_map(Result::err);
    assert_eq!(full.unwrap().kind(), ErrorKind::WouldBlock);
    let ended = symbolon(&words).expect(0).says(&["no more events are written"]);
    assert_eq!(ended.err.matches("no more events").count(), 1, "{}", ended.err);
}

#[test]
fn a_failure_ends_the_events() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let shown = path.to_string_lossy().into_owned();
    let nobody = common::free_address();
    let words = [
        &["run", "add:8", "--party", "1", "--transport", "tcp", "--connect", &nobody][..],
        &["--timeout", "0.3", "--input", "1=1", "--events", &shown],
    ];
    symbolon(&words.concat()).expect(3);
    let events = events(&path);
    let kinds: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["started", "connecting", "retrying", "finished"]);
    assert_eq!((&events[1]["peer"], &events[1]["address"]), (&0.into(), &nobody.into()));
    let last = &events[3];
    assert_eq!((&last["class"], &last["code"]), (&"peer".into(), &"no-answer".into()));
    assert_eq!(last["exit_code"], 3);
}

#[test]
fn lines_of_progress_come_now_and_then_unless_the_command_is_quiet() {
    let same = ["local", "random:200000", "--transport", "tcp", "--progress-interval", "0.02"];
    let inputs = ["--input", "0=1", "--input", "1=1"];
    let run = |more: &[&str]| symbolon(&[&same[..], &inputs, more].concat()).expect(0).err;
    let err = run(&[]);
    for text in ["0:0", "party 0: ", "party 1: ", "dependent: ", " of 200 000 triples (", "sent "] {
        assert!(err.contains(text), "no `{text}` in {err}");
    }
    assert!(!err.contains("messages"), "no table of costs: {err}");
    assert_eq!(run(&["-q"]), "");
    assert!(run(&["-q", "--costs"]).is_empty());
    let wrong = [&same[..4], &["--progress-interval", "0"]].concat();
    symbolon(&wrong).expect(2).says(&["--progress-interval takes seconds"]);
}

#[test]
fn costs_are_printed_on_request() {
    let words = ["local", "add:8", "--input", "x=1", "--input", "y=2"];
    assert_eq!(symbolon(&words).expect(0).err, "");
    symbolon(&[&words[..], &["--costs"]].concat()).expect(0).says(&["garbler", "online", "rounds"]);
}

#[test]
fn the_log_names_phases_and_connections_by_target() {
    let words = ["local", "add:8", "--transport", "tcp", "--input", "x=1", "--input", "y=2"];
    let log = |more: &[&str]| symbolon(&[&words[..], more].concat()).expect(0).err;
    let err = log(&["-v"]);
    for text in ["party 0: ", "symbolon::connect: connected", "symbolon::phase: began", "online"] {
        assert!(err.contains(text), "no `{text}` in {err}");
    }
    assert!(!err.contains("symbolon::work"));
    assert!(log(&["-vv"]).contains("symbolon::work"));
    let err = log(&["--log", "symbolon::phase=info"]);
    assert!(err.contains("symbolon::phase") && !err.contains("symbolon::connect"), "{err}");
    let refused = symbolon(&[&words[..], &["--log", "5ec4e7=5ec4e7=1"]].concat()).expect(2);
    assert!(!refused.says(&["--log takes a level"]).err.contains("5ec4e7"));
}

/// Neither events nor the finest log contain anything of inputs, outputs or keys.
#[test]
fn nothing_secret_is_in_events_and_in_the_log() {
    let keys = common::keys();
    let path = keys.folder.path().join("events.jsonl");
    let shown = path.to_string_lossy().into_owned();
    let finest = ["add:64", "--timeout", "20", "--log", "trace", "--events", &shown];
    let party = |number: &'static str, key: &str, print: &str, input: &'static str| {
        let own = ["--party", number, "--key", key, "--peer-fingerprint", print, "--input", input];
        [&finest[..], &own].concat().into_iter().map(str::to_string).collect::<Vec<_>>()
    };
    let zero = party("0", &keys.a, &keys.print_b, "x=7331557733155773");
    let one = party("1", &keys.b, &keys.print_a, "y=1224364812243648");
    let words = |all: &[String]| all.iter().map(String::clone).collect::<Vec<_>>();
    let (zero, one) = (words(&zero), words(&one));
    let zero: Vec<&str> = zero.iter().map(String::as_str).collect();
    let one: Vec<&str> = one.iter().map(String::as_str).collect();
    let (zero, one) = listen(&zero).and_connect(&one);
    let (zero, one) = (zero.expect(0), one.expect(0));
    assert_eq!(zero.out, "sum = 8555922545399421\n");
    let pem = std::fs::read_to_string(&keys.a).unwrap();
    let key: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let log = zero.err + &one.err + &std::fs::read_to_string(&path).unwrap();
    assert!(log.contains("symbolon::phase") && log.contains("phase-ended"), "{log}");
    let hex = |value: u64| format!("{value:x}");
    for secret in [
        "7331557733155773".to_string(),
        "1224364812243648".to_string(),
        "8555922545399421".to_string(),
        hex(7_331_557_733_155_773),
        hex(1_224_364_812_243_648),
        hex(8_555_922_545_399_421),
        key[..40].to_string(),
    ] {
        assert!(!log.contains(&secret), "{secret} in {log}");
    }
}

/// A listener reports strangers, keeps waiting, and the peer can still connect.
#[test]
fn strangers_are_reported_at_once_and_do_not_end_the_wait() {
    let keys = common::keys();
    let path = keys.folder.path().join("events.jsonl");
    let shown = path.to_string_lossy().into_owned();
    let a = ["--key", &keys.a, "--peer-fingerprint", &keys.print_b, "--timeout", "30"];
    let zero = [&["add:8", "--party", "0", "--input", "x=1", "--events", &shown], &a[..]].concat();
    let listening = listen(&zero);
    let wait_for = |code: &str| {
        while !events(&path).iter().any(|event| event["code"] == code) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    let mut http = TcpStream::connect(&listening.address).unwrap();
    http.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    wait_for("http");
    let mut ssh = TcpStream::connect(&listening.address).unwrap();
    ssh.write_all(b"SSH-2.0-OpenSSH_9.6\r\n").unwrap();
    wait_for("other-protocol");
    drop(TcpStream::connect(&listening.address).unwrap());
    wait_for("silent");
    let plain = ["--party", "1", "--transport", "tcp", "--timeout", "1", "--input", "y=2"];
    let address = listening.address.clone();
    let call = |words: &[&str]| {
        let to = ["run", "add:8", "--connect", &address];
        end(command(&[&to[..], words].concat()).spawn().unwrap())
    };
    call(&plain).expect(3);
    wait_for("plain-tcp");
    let other = keys.folder.path().join("other.key").to_string_lossy().into_owned();
    let print = symbolon(&["keygen", "--out", &other]).expect(0).out;
    let stranger = ["--party", "1", "--key", &other, "--peer-fingerprint", &keys.print_a];
    call(&[&stranger[..], &["--timeout", "5", "--input", "y=2"]].concat()).expect(3);
    wait_for("wrong-key");
    let b = ["--party", "1", "--key", &keys.b, "--peer-fingerprint", &keys.print_a];
    let (zero, one) = listening.and_connect(&[&["add:8", "--input", "y=2"][..], &b].concat());
    assert_eq!((zero.expect(0).out, one.expect(0).out), ("sum = 3\n".into(), "sum = 3\n".into()));
    let rejected = events(&path);
    let rejected = of_kind(&rejected, "rejected");
    assert!(rejected.iter().all(|event| event["from"] == "127.0.0.1"), "{rejected:?}");
    assert!(rejected.iter().any(|e| e["reason"].as_str().unwrap().contains(print.trim())));
}
