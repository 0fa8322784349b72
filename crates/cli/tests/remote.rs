//! Two `run` commands that connect, and others that do not.

use crate::common::{Ended, Keys, command, end, keys, listen, symbolon, symbolon_in};

/// Returns words for party 0 with key a and for party 1 with key b.
fn tls(keys: &Keys) -> ([&str; 4], [&str; 4]) {
    (
        ["--key", &keys.a, "--peer-fingerprint", &keys.print_b],
        ["--key", &keys.b, "--peer-fingerprint", &keys.print_a],
    )
}

/// Runs both sides with the same words, and each with its own.
fn meet(both: &[&str], zero: &[&str], one: &[&str]) -> (Ended, Ended) {
    let zero = [both, &["--party", "0"], zero].concat();
    let one = [both, &["--party", "1"], one].concat();
    listen(&zero).and_connect(&one)
}

#[test]
fn two_parties_meet_over_tls() {
    let keys = keys();
    let (a, b) = tls(&keys);
    let zero = [&a[..], &["--input", "x=200"]].concat();
    let one = [&b[..], &["--input", "1=hex:64", "--json"]].concat();
    let (zero, one) = meet(&["add:8", "--timeout", "20"], &zero, &one);
    let zero = zero.expect(0);
    assert_eq!(zero.out, "sum = 44\n");
    let json = one.expect(0).json();
    assert_eq!(json["format"], "symbolon-run-1");
    assert_eq!((&json["party"], &json["role"]), (&1.into(), &"evaluator".into()));
    assert_eq!(json["transport"], "tls");
    assert_eq!(json["outputs"][0]["value"], "44");
    let phases: Vec<_> = json["phases"].as_array().unwrap().iter().map(|p| &p["phase"]).collect();
    assert_eq!(phases, ["setup", "dependent", "online"]);
}

#[test]
fn the_dialling_side_may_start_first_and_an_output_may_go_to_one() {
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let same =
        ["run", "aes128", "--transport", "tcp", "--timeout", "20", "--output", "ciphertext=1"];
    let same = [&same[..], &["--rho", "64", "--threads", "2", "--link", "1ms,1gbit"]].concat();
    let dialling = [
        &same[..],
        &["--party", "1", "--connect", &address],
        &["--input", "message=hex:3243f6a8885a308d313198a2e0370734"],
    ];
    let dialling = command(&dialling.concat()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    let listening = [&same[..], &["--party", "0", "--listen", &address, "--input", "0=-"]].concat();
    let folder = tempfile::tempdir().unwrap();
    let key = "hex:2b7e151628aed2a6abf7158809cf4f3c\n";
    let zero = symbolon_in(folder.path(), key, &listening).expect(0);
    let one = end(dialling).expect(0).says(&["neither private nor authenticated"]);
    assert_eq!(zero.out, "", "party 0 learns nothing");
    assert_eq!(one.out, "ciphertext = hex:3925841d02dc09fbdc118597196a0b32\n");
}

#[test]
fn settings_come_from_a_file_and_flags_override_them() {
    let keys = keys();
    let folder = keys.folder.path();
    std::fs::write(folder.join("x.txt"), "12\n").unwrap();
    let file = format!(
        "circuit = \"add:8\"\nparty = 0\nkey = \"a.key\"\npeer_fingerprint = \"{}\"\n\
         timeout = 20\nrho = 80\njson = true\n[inputs]\nx = \"@x.txt\"\n",
        keys.print_b
    );
    let path = folder.join("zero.toml");
    std::fs::write(&path, file).unwrap();
    let path = path.to_string_lossy().into_owned();
    let one = format!(
        "circuit = \"mul:8\"\nconnect = \"127.0.0.1:9\"\nparty = 1\nkey = \"b.key\"\nrho = 40\n\
         peer_fingerprint = \"{}\"\ntimeout = 20.5\n[inputs]\ny = 99\n",
        keys.print_a
    );
    let other = folder.join("one.toml");
    std::fs::write(&other, one).unwrap();
    let other = other.to_string_lossy().into_owned();
    let flags = ["add:8", "--config", &other, "--rho", "80", "--input", "y=30"];
    let (zero, one) = listen(&["--config", &path]).and_connect(&flags);
    assert_eq!(one.expect(0).out, "sum = 42\n");
    let json = zero.expect(0).json();
    assert_eq!((&json["rho"], &json["outputs"][0]["value"]), (&80.into(), &"42".into()));

    std::fs::write(folder.join("zero.toml"), "party = 0\ncolour = \"blue\"\n").unwrap();
    symbolon(&["run", "--config", &path]).expect(2).says(&["line 2", "colour"]);
}

#[test]
fn an_absent_peer_is_code_3() {
    let keys = keys();
    let (a, _) = tls(&keys);
    let base = ["run", "add:8", "--party", "0", "--input", "0=1", "--timeout", "0.4"];
    for meeting in [["--connect", "127.0.0.1:9"], ["--listen", "127.0.0.1:0"]] {
        let ended = symbolon(&[&base[..], &meeting, &a].concat());
        ended.expect(3).says(&["no answer from party 1", "0.4 s", "hint: is the peer started"]);
    }
}

#[test]
fn a_wrong_key_is_code_3_and_names_the_fingerprints() {
    let keys = keys();
    let stranger = keys.folder.path().join("c.key").to_string_lossy().into_owned();
    let print_c = symbolon(&["keygen", "--out", &stranger]).expect(0).out.trim().to_string();
    let base = ["add:8", "--timeout", "1.5"];
    let zero = ["--input", "0=1", "--key", &keys.a, "--peer-fingerprint", &keys.print_b];

    // The dialling side has a key other than the pinned one.
    let one = ["--input", "1=1", "--key", &stranger, "--peer-fingerprint", &keys.print_a];
    let (zero_ended, one_ended) = meet(&base, &zero, &one);
    zero_ended.expect(3).says(&[&print_c, &keys.print_b, "another channel"]);
    one_ended.expect(3).says(&["refused our key", "--key"]);

    // The dialling side pins a key other than the listening side's.
    let one = ["--input", "1=1", "--key", &keys.b, "--peer-fingerprint", &print_c];
    let (zero_ended, one_ended) = meet(&base, &zero, &one);
    zero_ended.expect(3);
    one_ended.expect(3).says(&[&keys.print_a, &print_c, "another channel"]);
}

#[test]
fn differences_are_code_4_on_both_sides_and_named() {
    let keys = keys();
    let (a, b) = tls(&keys);
    let choice = ["--ot", "iknp", "--form", "half-gates"];
    let zero = [&["--input", "0=1", "--timeout", "20", "add:8"][..], &choice, &a].concat();
    let cases: [(&[&str], &str, &str); 10] = [
        (&["sub:8"], "(sub:8), theirs", "symbolon circuit info"),
        (
            &["add:8", "--output", "0=0"],
            "circuit output: ours `sum`: u8, learnt by party 0",
            "--output",
        ),
        (&["add:8", "--rho", "80"], "rho: ours 80, theirs 40", "--rho"),
        (&["add:8", "--threads", "2"], "--threads: ours 2, theirs 1", "--threads"),
        (
            &["add:8", "--owner", "0=1", "--input", "0=1"],
            "circuit input 0: ours `x`: u8, owned by party 1",
            "--owner",
        ),
        (&["add:8", "--type", "y=i8"], "circuit input 1: ours `y`: i8, owned by party 1", "--type"),
        (
            &["add:8", "--name", "sum=total"],
            "circuit output: ours `total`: u8, learnt by",
            "--name",
        ),
        (&["add:16"], "circuit input 0: ours `x`: u16", "digest"),
        (&["add:8", "--ot", "softspoken2"], "ot: ours softspoken2, theirs iknp", "--ot"),
        (&["add:8", "--form", "four-row"], "form: ours four-row, theirs half-gates", "--form"),
    ];
    for (words, difference, hint) in cases {
        let one = [&["--input", "1=1", "--timeout", "20"], words, &b].concat();
        let (zero, one) = meet(&[], &zero, &one);
        zero.expect(4).says(&["the parties disagree on"]);
        one.expect(4).says(&[difference, hint]);
    }
}

#[test]
fn one_side_may_leave_to_the_other_what_it_does_not_care_about() {
    let keys = keys();
    let (a, b) = tls(&keys);
    let same = ["add:8", "--timeout", "20", "--json"];
    let zero = [&["--input", "0=3", "--ot", "softspoken2"][..], &a].concat();
    let one = [&["--input", "1=4", "--form", "half-gates", "--ot", "auto"][..], &b].concat();
    let (zero, one) = meet(&same, &zero, &one);
    for ended in [zero, one] {
        let result = ended.expect(0).json();
        assert_eq!(result["outputs"][0]["value"], "7");
        assert_eq!((&result["form"], &result["ot"]), (&"half-gates".into(), &"softspoken2".into()));
        assert!(result["measured"].is_null());
    }
}

#[test]
fn both_sides_cannot_be_the_same_party() {
    let keys = keys();
    let (a, b) = tls(&keys);
    let same = ["add:8", "--party", "0", "--input", "0=1", "--timeout", "20"];
    let (zero, one) = listen(&[&same[..], &a].concat()).and_connect(&[&same[..], &b].concat());
    for ended in [zero, one] {
        ended.expect(4).says(&["both parties claim to be party 0", "--party 1"]);
    }
}

#[test]
fn a_stranger_is_not_the_peer() {
    use std::io::Write;
    let keys = keys();
    let (a, b) = tls(&keys);
    let zero = [&["add:8", "--party", "0", "--input", "0=1", "--timeout", "20"][..], &a].concat();
    let waiting = listen(&zero);
    let silent = std::net::TcpStream::connect(&waiting.address).unwrap();
    let mut noisy = std::net::TcpStream::connect(&waiting.address).unwrap();
    noisy.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let one = ["add:8", "--party", "1", "--input", "1=1", "--timeout", "20"];
    let (zero, one) = waiting.and_connect(&[&one[..], &b].concat());
    assert_eq!((zero.expect(0).out, one.expect(0).out), ("sum = 2\n".into(), "sum = 2\n".into()));
    drop((silent, noisy));
}

#[test]
fn a_peer_that_dies_is_code_3() {
    let keys = keys();
    let (a, b) = tls(&keys);
    // Slow enough to die in the middle.
    let same = ["add:8", "--timeout", "20", "--link", "2s,1gbit"];
    let waiting = listen(&[&same[..], &["--party", "0", "--input", "0=1"], &a].concat());
    let dial = ["run", "--connect", &waiting.address, "--party", "1", "--input", "1=1"];
    let mut dying = command(&[&dial[..], &same, &b].concat()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(1));
    dying.kill().unwrap();
    dying.wait().unwrap();
    let ended = waiting.end().expect(3).says(&["party 1", "hint: "]);
    assert_eq!(ended.out, "");
}
