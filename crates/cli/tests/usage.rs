//! Commands that are refused before anything is started, and commands that need no peer.

use crate::common::{keys, symbolon, symbolon_in};

#[test]
fn help_teaches_and_goes_to_standard_output() {
    for (words, texts) in [
        (&["--help"][..], &["EXAMPLES", "EXIT CODES", "symbolon demo"][..]),
        (&["run", "--help"], &["VALUES", "peer_fingerprint", "least significant"]),
        (&["local", "--help"], &["--repeat", "bits:0110", "EXIT CODES"]),
        (&["circuit", "eval", "--help"], &["EXAMPLE", "@FILE"]),
    ] {
        let help = symbolon(words).expect(0);
        for text in texts {
            assert!(help.out.contains(text), "no `{text}` in {words:?}");
        }
        assert!(!help.out.contains("\n  party "), "the hidden command stays hidden");
    }
    assert!(symbolon(&["--version"]).expect(0).out.starts_with("symbolon "));
}

#[test]
fn bad_usage_is_code_2_and_says_what_would_do() {
    let cases: [(&[&str], &str); 24] = [
        (&[], "Usage"),
        (&["no-such-command"], "unrecognized"),
        (&["local"], "CIRCUIT"),
        (&["local", "no-such-circuit"], "symbolon circuit list"),
        (&["local", "./no-such-file.txt"], "does not exist"),
        (&["local", "add:8", "--input", "0=1"], "party 1's input `y`"),
        (&["local", "add:8", "--input", "0=1", "--input", "2=1"], "its inputs are"),
        (&["local", "add:8", "--input", "0=1", "--input", "x=1"], "given twice"),
        (&["local", "add:8", "--input", "0=256", "--input", "1=1"], "input `x`"),
        (&["local", "add:8", "--input", "0=-", "--input", "1=-"], "only one input"),
        (&["local", "add:8", "--input", "0=@/no/such", "--input", "1=1"], "/no/such"),
        (&["local", "add:8", "--protocol", "wrk", "--parties", "3"], "2 parties, not 3"),
        (&["local", "add:8", "--protocol", "magic"], "wrk"),
        (&["local", "add:8", "--rho", "41"], "40, 64 or 80"),
        (&["local", "add:8", "--ot", "best"], "--ot takes auto, iknp"),
        (&["local", "add:8", "--threads", "0"], "1 to 64"),
        (&["local", "add:8", "--mac-bits", "64"], "takes no --mac-bits"),
        (
            &["local", "add:8", "--protocol", "tinytable", "--mac-bits", "32"],
            "--mac-bits 32 is too short for rho = 40",
        ),
        (
            &["local", "add:8", "--protocol", "tinytable", "--rho", "64", "--mac-bits", "64"],
            "--mac-bits 64 is too short for rho = 64",
        ),
        (&["local", "add:8", "--timeout=-1"], "--timeout"),
        (&["local", "add:8", "--link", "moon"], "lan"),
        (&["local", "add:8", "--repeat", "0"], "--repeat"),
        (&["local", "add:8", "--owner", "0=7"], "no party 7"),
        (&["local", "add:8", "--output", "sum=0,2"], "no party 2"),
    ];
    for (words, text) in cases {
        let ended = symbolon(words).expect(2).says(&[text]);
        assert_eq!(ended.out, "", "{words:?}");
    }
}

/// Malformed addresses end the command before it opens a store, a key or a port, or waits for
/// anybody.
#[test]
fn malformed_addresses_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let store = ["--store", store.to_str().unwrap(), "--store-passphrase", "/no/passphrase"];
    let base = ["--party", "0", "--transport", "tcp", "--timeout", "600"];
    for (option, address, text) in [
        ("--listen", "host", "the port is missing"),
        ("--listen", "::1:80", "brackets"),
        ("--connect", "host:0", "port 0"),
        ("--connect", "http://host:80", "neither a name nor an IP address"),
        ("--dealer", "host:port", "a number"),
    ] {
        for words in [&["prepare", "add:8"][..], &["preprocess", "--gates", "1"]] {
            let words = [words, &base, &store, &[option, address]].concat();
            symbolon(&words).expect(2).says(&[option, "HOST:PORT", text]);
        }
        let words = [&["run", "add:8", "--input", "x=1"], &base[..], &[option, address]].concat();
        symbolon(&words).expect(2).says(&[option, text]);
        let file = folder.path().join("run.toml");
        let key = option.trim_start_matches('-');
        std::fs::write(&file, format!("circuit = \"add:8\"\nparty = 0\n{key} = \"{address}\"\n"))
            .unwrap();
        symbolon(&["run", "--config", file.to_str().unwrap()]).expect(2).says(&[option, text]);
    }
    assert!(!folder.path().join("store").exists());
    let list = "[[party]]\nid = 0\naddress = \"h\"\n[[party]]\nid = 1\n";
    let file = folder.path().join("list.toml");
    std::fs::write(&file, list).unwrap();
    let file = file.to_str().unwrap();
    symbolon(&["run", "add:8", "--party", "1", "--config", file]).expect(2).says(&["[[party]] 0"]);
    let dealer = ["dealer", "--transport", "tcp", "--listen", "host"];
    symbolon(&dealer).expect(2).says(&["the port is missing"]);
}

/// The shell splits a list that is written with spaces into words.
#[test]
fn a_list_with_spaces_is_told_how_to_be_written() {
    let list = ["--input", "x=3000", "5000", "7000"];
    let says = ["arguments 5 to 6 look like further elements", "argument 4", "'NAME=[1, 2, 3]'"];
    for words in [["eval", "merge:2x16"], ["local", "median:2x16"]] {
        let ended = symbolon(&[&words, &list[..]].concat()).expect(2).says(&says);
        assert!(!ended.err.contains("5000"), "{}", ended.err);
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("run.toml"), "circuit = \"add:8\"\nparty = 0\n").unwrap();
    let words = ["run", "--config", "run.toml", "--input", "x=3000", "5000"];
    let ended = symbolon_in(folder.path(), "", &words).expect(2);
    let ended = ended.says(&["argument 6 looks like a further element"]);
    assert!(!ended.err.contains("5000"), "{}", ended.err);
    symbolon(&["eval", "merge:2x8", "--input", "0=3 5", "--input", "1=1,2"])
        .expect(2)
        .says(&["2 elements expected, 1 given: a list is written with commas"]);
}

#[test]
fn values_come_from_keys_of_json_and_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let json =
        "{\"team\": {\"pay\": [30, 40], \"bonus\": 5}, \"staff\": [{\"pay\": 1}, {\"pay\": 2}]}";
    std::fs::write(folder.path().join("x.json"), json).unwrap();
    let eval = |first: &str, input: &str| {
        let words = ["eval", "merge:2x8", "--input", first, "--input", "1=hex:ffff"];
        symbolon_in(folder.path(), input, &words)
    };
    assert_eq!(eval("0=@x.json#team.pay", "").expect(0).out, "sorted = [30, 40, 255, 255]\n");
    assert_eq!(eval("0=@x.json#staff.pay", "").expect(0).out, "sorted = [1, 2, 255, 255]\n");
    for dash in ["0=-", "0=@-"] {
        assert_eq!(eval(dash, "3\n4\n").expect(0).out, "sorted = [3, 4, 255, 255]\n");
    }
    let twice = ["eval", "merge:2x8", "--input", "0=@-", "--input", "1=-"];
    symbolon(&twice).expect(2).says(&["only one input"]);
    // Both from settings and from flags.
    let toml = "circuit = \"merge:2x8\"\nparty = 0\ntransport = \"tcp\"\n[inputs]\nlist0 = \"-\"\n";
    std::fs::write(folder.path().join("run.toml"), toml).unwrap();
    let words = ["run", "--config", "run.toml", "--connect", "127.0.0.1:9", "--input", "list1=-"];
    symbolon_in(folder.path(), "1\n2\n", &words).expect(2).says(&["only one input"]);
    eval("0=@x.json#taem", "").expect(2).says(&["x.json: ", "no key `taem`; did you mean `team`?"]);
    eval("0=@x.json", "").expect(2).says(&["hint: @x.json#KEY takes"]);
    let words = ["local", "add:8", "--batch", "2", "--input", "0=@x.json#team", "--input", "1=1"];
    symbolon_in(folder.path(), "", &words).expect(2).says(&["no columns or keys"]);
}

#[test]
fn values_are_never_repeated() {
    let secret = "c0ffee5ec4e7c0ffee5ec4e7";
    let (hex, assigned) = (format!("hex:{secret}"), format!("0=hex:{secret}"));
    let cases: [&[&str]; 8] = [
        &["local", "add:8", "--input", &assigned, "--input", "1=1"],
        &["local", "add:8", "--input", "0", &hex],
        &["local", "add:8", "--input", &hex],
        &["local", "add:8", "--input", "0=1", secret],
        &["circuit", "eval", "add:8", "--input", &assigned, "--input", "1=1"],
        &["run", "add:8", "--party", "0", "--transport", "tcp", "--input", &assigned],
        &["run", "add:8", "--party", "1", "--transport", "tcp", "--input", &assigned],
        &["circuit", "eval", "add:8", "--input", "0=@-", &hex],
    ];
    for words in cases {
        let ended = symbolon(words).expect(2);
        assert!(!ended.err.contains(secret) && !ended.out.contains(secret), "{}", ended.err);
    }
}

#[test]
fn a_run_is_refused_before_it_connects() {
    let keys = keys();
    let tls = ["--key", &keys.a, "--peer-fingerprint", &keys.print_b];
    // Nobody is there: a command that is not refused at once would take the whole time-out.
    let there = ["--connect", "127.0.0.1:9", "--timeout", "600"];
    let cases: [(&[&str], &str); 12] = [
        (&["add:8", "--input", "0=1"], "--party"),
        (&["--party", "0"], "circuit"),
        (&["add:8", "--party", "2", "--input", "0=1"], "no party 2"),
        (&["add:8", "--party", "0"], "party 0's input `x`"),
        (&["add:8", "--party", "0", "--input", "0=hex:100"], "input `x`"),
        (&["add:8", "--party", "0", "--input", "0=bits:000"], "input `x`"),
        (&["add:8", "--party", "0", "--input", "0=1", "--input", "1=1"], "belongs to party 1"),
        (&["add:8", "--party", "0", "--input", "z=1"], "no input of that name"),
        (&["add:8", "--party", "0", "--input", "x=1", "--output", "z=0"], "no output of that name"),
        (&["add:8", "--party", "0", "--input", "x=1", "--owner", "x=1"], "belongs to party 1"),
        (&["merge:4x8", "--party", "0", "--input", "0=1,2,3"], "list0"),
        (&["add:8", "--party", "0", "--input", "0=1", "--listen", "127.0.0.1:0"], "--listen"),
    ];
    for (words, text) in cases {
        let words = [&["run"], words, &tls, &there].concat();
        symbolon(&words).expect(2).says(&[text]);
    }
    let base = ["run", "add:8", "--party", "0", "--input", "0=1", "--timeout", "600"];
    let cases: [(&[&str], &str); 7] = [
        (&["--connect", "127.0.0.1:9", "--peer-fingerprint", &keys.print_b], "symbolon keygen"),
        (&["--connect", "127.0.0.1:9", "--key", &keys.a], "symbolon fingerprint"),
        (
            &["--connect", "127.0.0.1:9", "--key", &keys.a, "--peer-fingerprint", "12"],
            "fingerprint",
        ),
        (
            &["--connect", "127.0.0.1:9", "--key", &keys.a, "--peer-fingerprint", &keys.print_a],
            "our own",
        ),
        (
            &["--connect", "127.0.0.1:9", "--key", "/no/key", "--peer-fingerprint", &keys.print_b],
            "/no/key",
        ),
        (&["--key", &keys.a, "--peer-fingerprint", &keys.print_b], "--listen ADDR or --connect"),
        (&["--transport", "tcp", "--key", &keys.a, "--connect", "127.0.0.1:9"], "no key"),
    ];
    for (words, text) in cases {
        symbolon(&[&base, words].concat()).expect(2).says(&[text]);
    }
}

#[test]
fn keygen_makes_an_identity_once() {
    let folder = tempfile::tempdir().unwrap();
    let keygen = |words: &[&str]| symbolon_in(folder.path(), "", &[&["keygen"], words].concat());
    let first = keygen(&[]).expect(0).out;
    let path = folder.path().join("symbolon.key");
    assert_eq!(first.trim().len(), 64);
    let show = symbolon(&["fingerprint", path.to_str().unwrap()]).expect(0).out;
    assert_eq!(show, first);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    let kept = std::fs::read(&path).unwrap();
    keygen(&[]).expect(2).says(&["--force"]);
    assert_eq!(std::fs::read(&path).unwrap(), kept);
    assert_ne!(keygen(&["--force"]).expect(0).out, first);

    let private = String::from_utf8(kept).unwrap();
    let secret = private.lines().rev().nth(1).unwrap();
    std::fs::write(&path, private.replace("PRIVATE KEY", "PRIVATE K")).unwrap();
    let ended = symbolon(&["fingerprint", path.to_str().unwrap()]).expect(2);
    assert!(!ended.err.contains(secret));
    symbolon(&["fingerprint", "/no/such.key"]).expect(2).says(&["/no/such.key"]);
}

#[test]
fn circuits_are_listed_described_and_evaluated() {
    let list = symbolon(&["circuit", "list"]).expect(0).out;
    for name in ["aes128", "sort:", "merge:", "millionaires"] {
        assert!(list.contains(name), "no {name}");
    }
    let text = symbolon(&["circuit", "info", "aes128"]).expect(0).out;
    for fact in ["6400", "from party 1", "ciphertext", "digest"] {
        assert!(text.contains(fact), "no {fact} in {text}");
    }
    let info = |words: &[&str]| {
        symbolon(&[&["circuit", "info", "--json", "aes128"], words].concat()).expect(0).json()
    };
    let plain = info(&[]);
    assert_eq!(plain["format"], "symbolon-circuit-1");
    assert_eq!(plain["gates"]["and"], 6400);
    assert_eq!(plain["inputs"][0]["owner"], 0);
    assert_eq!(plain["outputs"][0]["receivers"], serde_json::json!([0, 1]));
    assert_eq!(plain["lookups"], serde_json::json!([]));
    let text = symbolon(&["circuit", "info", "aes128:sbox"]).expect(0).out;
    for fact in ["look-ups, 8 bits in, 8 out", "200", "without look-ups", "6400"] {
        assert!(text.contains(fact), "no {fact} in {text}");
    }
    let other = info(&["--owner", "message=0", "--output", "0=1"]);
    assert_eq!(other["inputs"][1]["owner"], 0);
    assert_eq!(other["outputs"][0]["receivers"], serde_json::json!([1]));
    assert_ne!(other["digest"], plain["digest"], "owners and receivers are agreed on");

    let eval = |words: &[&str]| symbolon(&[&["circuit", "eval"], words].concat());
    let sum = eval(&["add:8", "--input", "x=200", "--input", "1=hex:64"]).expect(0);
    assert_eq!(sum.out, "sum = 44\n");
    let json = eval(&["add:8", "--json", "--input", "x=bits:00010011", "--input", "1=100"]).json();
    assert_eq!(json["outputs"][0]["bits"], "00110100");
    assert_eq!(json["outputs"][0]["value"], "44");
    eval(&["add:8", "--input", "x=200"]).expect(2).says(&["`y`"]);
}

#[test]
fn optimised_files_compute_the_same_with_fewer_gates() {
    let folder = tempfile::tempdir().unwrap();
    let here = |words: &[&str]| symbolon_in(folder.path(), "", words);
    // A carry as two products; one is enough.
    let carry = "4 7\n1 3\n1 1\n\n2 1 0 1 3 XOR\n2 1 3 2 4 AND\n2 1 0 1 5 AND\n2 1 4 5 6 XOR\n";
    std::fs::write(folder.path().join("carry.txt"), carry).unwrap();
    here(&["circuit", "optimise", "carry.txt", "-o", "fewer.txt"]).expect(0).says(&["2, now 1"]);
    let text = std::fs::read_to_string(folder.path().join("fewer.txt")).unwrap();
    assert_eq!(text.lines().filter(|line| line.ends_with(" AND")).count(), 1);
    for value in 0..8 {
        let value = format!("0={value}");
        let eval = |file| here(&["circuit", "eval", file, "--input", &value]).expect(0).out;
        assert_eq!(eval("fewer.txt"), eval("carry.txt"), "{value}");
    }
}

#[test]
fn exported_circuits_compute_the_same() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x.txt"), " 0xff\n").unwrap();
    for format in ["fashion", "bristol"] {
        let file = format!("{format}.txt");
        let here = |words: &[&str]| symbolon_in(folder.path(), "", words);
        here(&["circuit", "export", "add:8", "--format", format, "--out", &file]).expect(0);
        let piped = here(&["circuit", "export", "add:8", "--format", format]).expect(0).out;
        assert_eq!(piped, std::fs::read_to_string(folder.path().join(&file)).unwrap());
        let words = ["circuit", "eval", &file, "--input", "in0=@x.txt", "--input", "1=3"];
        assert_eq!(here(&words).expect(0).out, "out0 = 2\n", "{format}");
    }
    let here = |words: &[&str]| symbolon_in(folder.path(), "", words).expect(0).out;
    let export = ["circuit", "export", "aes128:sbox-expanded", "--out", "aes.txt"];
    for (more, lines) in [(&[][..], 1), (&["--gates"][..], 0)] {
        here(&[&export[..], more].concat());
        let text = std::fs::read_to_string(folder.path().join("aes.txt")).unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with("TABLE")).count(), lines);
        let eval = ["--input", "0=5", "--input", "1=6"];
        let again = here(&[&["circuit", "eval", "aes.txt"][..], &eval].concat());
        let built_in = here(&[&["circuit", "eval", "aes128:expanded"][..], &eval].concat());
        assert_eq!(again.split_once('=').unwrap().1, built_in.split_once('=').unwrap().1);
    }
    let broken = folder.path().join("broken.txt");
    std::fs::write(&broken, "1 3\n2 1 1\n1 1\n\n2 1 0 9 2 AND\n").unwrap();
    symbolon(&["circuit", "info", broken.to_str().unwrap()]).expect(2).says(&["line 5"]);
}

#[test]
fn the_hidden_command_is_not_for_people() {
    let told = symbolon_in(std::path::Path::new("."), "", &["party"]).expect(2).out;
    assert!(told.contains("symbolon local"), "{told}");
    let secret =
        symbolon_in(std::path::Path::new("."), "{\"x\": \"5ec4e7\"}\n", &["party"]).expect(2);
    assert!(!secret.out.contains("5ec4e7"));
}

#[test]
fn old_names_are_refused_with_the_new_ones() {
    let cases: [(&[&str], &str); 5] = [
        (&["local", "add:8", "--stretch", "1000"], "--stretch is now called --segment-gates"),
        (&["local", "add:8", "--apart"], "--apart is now called --split-phases"),
        (&["bench", "add:8", "--anew"], "--anew is now called --fresh-session"),
        (&["dealer", "--patience", "1"], "--patience is now called --join-timeout"),
        (&["store", "adopt", "x.store"], "it is now called reset-ownership"),
    ];
    for (words, says) in cases {
        symbolon(words).expect(2).says(&[says]);
    }
}

/// A file that cannot be written ends the command before anything is computed; one that goes away
/// later does not take the result with it.
#[test]
fn files_for_outputs_are_tried_first() {
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| symbolon_in(folder.path(), "", words);
    std::fs::write(folder.path().join("old.txt"), "old").unwrap();
    let local = ["local", "add:8", "--transport", "memory", "--input", "0=1", "--input", "1=2"];
    for (save, text) in [
        (&["--save", "sum=no/such/folder"][..], "cannot write no/such/folder"),
        (&["--save", "sum=new.txt", "--save", "0=new.txt"], "two outputs cannot be saved"),
        (&["--save", "sum=old.txt", "--output", "sum=none"], "is not learnt here"),
    ] {
        let ended = run(&[&local[..], save].concat()).expect(2).says(&[text]);
        assert_eq!(ended.out, "", "{save:?}");
    }
    let party = ["run", "add:8", "--party", "0", "--transport", "tcp", "--listen", "127.0.0.1:0"];
    let other = ["--input", "x=1", "--output", "sum=1", "--save", "sum=new.txt"];
    run(&[&party[..], &other].concat()).expect(2).says(&["is not learnt here"]);
    assert!(!folder.path().join("new.txt").exists());
    assert_eq!(std::fs::read(folder.path().join("old.txt")).unwrap(), b"old");
    // Opening it succeeds, writing does not.
    if std::path::Path::new("/dev/full").exists() {
        let ended = run(&[&local[..], &["--save", "sum=/dev/full"]].concat());
        let ended = ended.expect(74).says(&["cannot write /dev/full"]);
        assert_eq!(ended.out, "sum = 3\n");
    }
    // JSON has no hexadecimal numbers.
    std::fs::write(folder.path().join("p.sym"), "fn main() -> (z: u5000 to all) { 1 }\n").unwrap();
    run(&["eval", "p.sym", "--save", "z=z.json"]).expect(0);
    let json = std::fs::read_to_string(folder.path().join("z.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(value.as_str().is_some_and(|digits| digits.starts_with("0x000")), "{json}");
    let saved = ["--save", "sum=SUM.JSON"];
    assert_eq!(run(&[&local[..], &saved].concat()).expect(0).out, "sum = 3\n");
    assert_eq!(std::fs::read(folder.path().join("SUM.JSON")).unwrap(), b"3\n");
}

/// A circuit that a format cannot hold leaves an older file as it is.
#[test]
fn a_failed_export_keeps_the_older_file() {
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| symbolon_in(folder.path(), "", words);
    std::fs::write(folder.path().join("p.sym"), "fn main() -> (z: u8 to all) { 7 }\n").unwrap();
    std::fs::write(folder.path().join("c.txt"), "older").unwrap();
    let convert = ["circuit", "convert", "p.sym", "--format", "bristol", "--out", "c.txt"];
    run(&convert).expect(2).says(&["cannot export"]);
    assert_eq!(std::fs::read(folder.path().join("c.txt")).unwrap(), b"older");
}

/// The circuit is read once, and every party's process gets it from there.
#[cfg(unix)]
#[test]
fn a_circuit_from_a_pipe_reaches_all_parties() {
    let folder = tempfile::tempdir().unwrap();
    symbolon_in(folder.path(), "", &["circuit", "export", "add:8", "--out", "add.txt"]).expect(0);
    let circuit = std::fs::read_to_string(folder.path().join("add.txt")).unwrap();
    for transport in ["tls", "memory"] {
        let words = ["local", "/dev/stdin", "--input", "0=1", "--input", "1=2"];
        let words = [&words[..], &["--transport", transport]].concat();
        let ended = symbolon_in(folder.path(), &circuit, &words).expect(0);
        assert!(ended.out.ends_with(" = 3\n"), "{transport}: {}", ended.out);
    }
}

/// Who learns an output learns that an assert failed.
#[test]
fn a_new_receiver_learns_of_failed_asserts() {
    let folder = tempfile::tempdir().unwrap();
    let program = "fn main(a: u8 from 0, b: u8 from 1) -> (z: u8 to 0) {\n    \
                   assert(b > 0, \"zero divisor\");\n    a / b\n}\n";
    std::fs::write(folder.path().join("p.sym"), program).unwrap();
    let run = |words: &[&str]| symbolon_in(folder.path(), "", words);
    let local = ["local", "p.sym", "--transport", "memory", "--input", "a=6", "--input", "b=0"];
    for output in ["z=all", "z=1"] {
        let ended = run(&[&local[..], &["--output", output]].concat());
        ended.expect(6).says(&["zero divisor"]);
    }
    let ended = run(&[&local[..], &["--output", "assert=none"]].concat());
    ended.expect(2).says(&["learns of failed asserts"]);
}

/// A batch takes a file that begins with a mark of its encoding, and no list is filled up.
#[test]
fn files_of_a_batch_are_read_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| symbolon_in(folder.path(), "", words);
    std::fs::write(folder.path().join("x.txt"), "\u{feff}1\n2\n").unwrap();
    let local = ["local", "add:8", "--transport", "memory", "--batch", "2"];
    let inputs = ["--input", "x=@x.txt", "--input", "y=3"];
    assert_eq!(run(&[&local[..], &inputs].concat()).expect(0).out, "4\n5\n");
    let padded = [&local[..], &inputs, &["--pad"]].concat();
    run(&padded).expect(2).says(&["--pad is not for --batch"]);
}

/// Options that would change nothing are refused.
#[test]
fn nothing_that_is_given_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let run = |words: &[&str]| symbolon_in(folder.path(), "", words);
    let base = ["--party", "0", "--transport", "tcp", "--listen", "127.0.0.1:0"];
    for option in [["--owner", "a=1"], ["--entry", "f"], ["--const", "A=1"], ["--type", "z=bool"]] {
        let words = [&["preprocess", "--gates", "9", "--store", "s"], &base[..], &option].concat();
        run(&words).expect(2).says(&[option[0], "pools serve any"]);
    }
    assert!(!folder.path().join("s").exists());
    for option in ["--store-key", "--store-passphrase"] {
        let words = [&["run", "add:8", "--input", "x=1", option, "f"], &base[..]].concat();
        run(&words).expect(2).says(&["are for --prepared"]);
    }
    write("many.toml", "protocol = \"dualex\"\nbatch = 2\nin_flight = 4000000000\n");
    let many = [&["run", "add:8", "--input", "x=1", "--config", "many.toml"], &base[..]].concat();
    run(&many).expect(2).says(&["--in-flight takes 1 to 65536"]);
    write("plan.toml", "[[part]]\nname = \"one\"\ncircuit = \"add:8\"\n");
    let parts = ["parts", "plan.toml", "--protocol", "duplo", "--config", "set.toml"];
    let parts = [&parts[..], &base].concat();
    for (text, says) in [
        ("dealer = \"host:9\"", "a dealer"),
        ("pad = true", "padding"),
        ("prepared = true", "prepared circuits"),
        ("[owners]\nx = 1", "owners"),
        ("[outputs]\nsum = \"0\"", "receivers"),
        ("[save]\nsum = \"f\"", "files for outputs"),
        ("[const]\nN = 1", "constants"),
    ] {
        write("set.toml", text);
        run(&parts).expect(2).says(&["takes no settings for", says]);
    }
}
