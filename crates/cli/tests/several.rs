//! Three parties and more: `local`, `run` from a shared file, shares, the auction, `bench`.

use std::path::Path;
use std::process::Child;

use crate::common::{Ended, command, end, symbolon, symbolon_in};
use serde_json::json;

/// A folder with a key for each of three parties and ports that were free a moment ago.
struct Three {
    folder: tempfile::TempDir,
    prints: Vec<String>,
    addresses: Vec<String>,
}

fn three() -> Three {
    let folder = tempfile::tempdir().unwrap();
    let key = |party: usize| {
        let path = folder.path().join(format!("{party}.key")).to_string_lossy().into_owned();
        symbolon(&["keygen", "--out", &path]).expect(0).out.trim().to_string()
    };
    let prints = (0..3).map(key).collect();
    let ports: Vec<_> =
        (0..2).map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let addresses = ports.iter().map(|port| port.local_addr().unwrap().to_string()).collect();
    Three { folder, prints, addresses }
}

impl Three {
    /// Returns the list of parties.
    fn list(&self) -> String {
        let mut text = String::new();
        // In any order.
        for id in [1, 2, 0] {
            text.push_str(&format!(
                "[[party]]\nid = {id}\nfingerprint = \"{}\"\n",
                self.prints[id]
            ));
            if let Some(address) = self.addresses.get(id) {
                text.push_str(&format!("address = \"{address}\"\n"));
            }
        }
        text
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn words(party: usize, file: &str, more: &[&str]) -> Vec<String> {
        let (number, key) = (party.to_string(), format!("{party}.key"));
        let words = ["run", "--config", file, "--party", &number, "--key", &key];
        words.iter().chain(more).map(|word| word.to_string()).collect()
    }

    fn start(&self, party: usize, file: &str, more: &[&str]) -> Child {
        let words = Three::words(party, file, more);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        command(&words).current_dir(self.folder.path()).spawn().unwrap()
    }

    fn refused(&self, party: usize, file: &str, more: &[&str]) -> Ended {
        let words = Three::words(party, file, more);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        symbolon_in(self.folder.path(), "", &words).expect(2)
    }
}

#[test]
fn an_auction_over_every_transport() {
    for transport in ["tls", "tcp", "memory"] {
        let words = ["local", "auction:3x8", "--parties", "3", "--transport", transport, "--json"];
        let bids = ["--input", "bid_0=120", "--input", "bid_1=130", "--input", "2=95"];
        let result = symbolon(&[&words[..], &bids].concat()).expect(0).json();
        let values: Vec<_> =
            result["outputs"].as_array().unwrap().iter().map(|o| o["value"].clone()).collect();
        assert_eq!(values, ["1", "0", "120", "0"]);
        assert_eq!(result["outputs"][2]["receivers"], json!([1]));
        assert_eq!(result["protocol"], "ywz");
        let parties = result["parties"].as_array().unwrap();
        let roles: Vec<_> = parties.iter().map(|party| &party["role"]).collect();
        assert_eq!(roles, ["evaluator", "garbler", "garbler"]);
        for place in 0..3 {
            let sum = |field: &str| -> u64 {
                let of = |party: &serde_json::Value| party["phases"][place][field].as_u64();
                parties.iter().map(|party| of(party).unwrap()).sum()
            };
            assert!(sum("bytes_sent") > 0);
            assert_eq!(sum("bytes_sent"), sum("bytes_received"), "{transport} phase {place}");
        }
    }
}

#[test]
fn parties_without_inputs_and_outputs_for_some() {
    // Parties 2, 3 and 4 only help; only the first of them learns the result.
    let words = ["local", "add:8", "--parties", "5", "--output", "sum=2", "--repeat", "2"];
    for transport in ["tls", "tcp", "memory"] {
        let more = ["--input", "x=200", "--input", "y=100", "--transport", transport, "--costs"];
        let ended = symbolon(&[&words[..], &more].concat());
        let ended = ended.expect(0).says(&["0 (evaluator)", "4 (garbler)"]);
        assert_eq!(ended.out, "sum = 44\n");
    }
}

#[test]
fn protocols_and_numbers_of_parties_must_go_together() {
    let three = ["local", "add:8", "--parties", "3", "--input", "x=1", "--input", "y=2"];
    symbolon(&[&three[..], &["--protocol", "wrk"]].concat())
        .expect(2)
        .says(&["wrk runs among 2 parties, not 3", "--protocol ywz"]);
    let two =
        ["local", "add:8", "--protocol", "ywz", "--input", "x=1", "--input", "y=2", "--costs"];
    let ended = symbolon(&two).expect(0).says(&["0 (evaluator)"]);
    assert_eq!(ended.out, "sum = 3\n");
    for parties in ["0", "1", "65", "x"] {
        symbolon(&["local", "add:8", "--parties", parties]).expect(2).says(&["--parties"]);
    }
    symbolon(&["local", "auction:4x8", "--parties", "3"]).expect(2).says(&["no party 3"]);
}

#[test]
fn shared_inputs_are_split_and_put_together() {
    let values = ["--input", "x=200", "--input", "y=hex:fd", "--transport", "memory"];
    for (parties, owners) in [("2", &["x"][..]), ("3", &["x", "y"]), ("4", &["1"])] {
        let mut words = vec!["local", "sub:8", "--parties", parties];
        let owners: Vec<String> = owners.iter().map(|input| format!("{input}=share")).collect();
        owners.iter().for_each(|owner| words.extend(["--owner", owner]));
        let ended = symbolon(&[&words[..], &values].concat()).expect(0);
        assert_eq!(ended.out.split_once(" = ").unwrap().1, "203\n", "{parties} {owners:?}");
    }
    let base = ["local", "add:8", "--owner", "x=share", "--input", "y=1"];
    symbolon(&base).expect(2).says(&["no value for the shared input `x`"]);
    let wide = [&base[..], &["--input", "x=1234"]].concat();
    let ended = symbolon(&wide).expect(2).says(&["`x`"]);
    assert!(!ended.err.contains("1234"));
    let nobody = ["local", "add:8", "--owner", "x=nobody", "--input", "x=1", "--input", "y=1"];
    symbolon(&nobody).expect(2).says(&["`share`"]);
}

#[test]
fn three_parties_meet_from_one_file_in_any_order() {
    let three = three();
    let file = format!("circuit = \"auction:3x8\"\ntimeout = 20\n{}", three.list());
    three.write("all.toml", &file);
    three.write("bid.txt", "44\n");
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let mut running: Vec<(usize, Child)> = Vec::new();
        for party in order {
            let bid = ["--input=bid_0=@bid.txt", "--input=bid_1=90", "--input=2=17"][party];
            running.push((party, three.start(party, "all.toml", &[bid])));
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        for (party, child) in running {
            let price = if party == 1 { 44 } else { 0 };
            let ended = end(child).expect(0);
            assert_eq!(ended.out, format!("winner = 1\nprice_{party} = {price}\n"));
        }
    }
}

#[test]
fn shares_are_brought_by_everybody() {
    let three = three();
    let file = format!(
        "circuit = \"add:8\"\ntimeout = 20\njson = true\nrho = 64\nthreads = 2\n{}\
         [owners]\nx = \"share\"\ny = 2\n[outputs]\nsum = \"0\"\n",
        three.list()
    );
    three.write("all.toml", &file);
    let own: [&[&str]; 3] =
        [&["--input", "x=hex:11"], &["--input", "x=hex:22"], &["--input=x=hex:44", "--input=y=1"]];
    let running: Vec<_> =
        own.iter().enumerate().map(|(party, own)| three.start(party, "all.toml", own)).collect();
    let ended: Vec<_> = running.into_iter().map(|child| end(child).expect(0).json()).collect();
    assert_eq!(ended[0]["outputs"][0]["hex"], "hex:78");
    assert_eq!(ended[1]["outputs"][0]["hex"], json!(null));
    assert_eq!((&ended[2]["party"], &ended[2]["role"]), (&json!(2), &json!("garbler")));
    assert_eq!(ended[0]["digest"], ended[2]["digest"]);
}

#[test]
fn a_difference_a_wrong_key_and_an_absence_among_three() {
    let three = three();
    let file = format!("circuit = \"auction:3x8\"\ntimeout = 2\n{}", three.list());
    three.write("all.toml", &file);
    three.write("patient.toml", &file.replace("timeout = 2", "timeout = 20"));
    let input = |party: usize| format!("--input={party}=1");
    let run = |files: [&str; 3], more: [&[&str]; 3]| -> Vec<Ended> {
        let start = |party: usize| {
            let input = input(party);
            three.start(party, files[party], &[more[party], &[input.as_str()]].concat())
        };
        let running: Vec<Child> = (0..3).map(start).collect();
        running.into_iter().map(end).collect()
    };

    // Party 1 computes something else.
    let ended = run(["patient.toml"; 3], [&[], &["--output", "0=1"], &[]]);
    let mut ended = ended.into_iter();
    ended.next().unwrap().expect(4).says(&["disagree on circuit", "(party 1)"]);
    ended.next().unwrap().expect(4).says(&["disagree on circuit", "(party 0)"]);
    ended.next().unwrap().expect(4).says(&["disagree on circuit", "(party 1)"]);

    // Party 0 pins another key of party 2.
    three.write("wrong.toml", &file.replace(&three.prints[2], &"ab".repeat(32)));
    let ended = run(["wrong.toml", "all.toml", "all.toml"], [&[]; 3]);
    let mut ended = ended.into_iter();
    ended.next().unwrap().expect(3).says(&["party 2", &three.prints[2], &"ab".repeat(32)]);
    ended.next().unwrap().expect(3);
    ended.next().unwrap().expect(3).says(&["party 0 refused our key"]);

    // Party 2 does not connect.
    let running: Vec<Child> =
        (0..2).map(|party| three.start(party, "all.toml", &[&input(party)])).collect();
    for child in running {
        end(child).expect(3).says(&["party 2"]);
    }
}

#[test]
fn mistakes_in_the_list_are_told() {
    let three = three();
    let list = three.list();
    let other = "ab".repeat(32);
    let cases: [(String, usize, &str); 11] = [
        (list.replace("id = 1", "id = 3"), 0, "none has id = 1"),
        (list.replace("id = 1", "id = 0"), 0, "id = 0 is given twice"),
        (list.replace("id = 1", "id = one"), 0, "line"),
        (list.replace("id = 1", "id = 1\ncolour = 7"), 0, "colour"),
        (list.replacen("address = ", "# ", 1), 2, "[[party]] 1 has no address"),
        (list.replacen("address = ", "# ", 1), 1, "[[party]] 1 has no address"),
        (list.replacen("fingerprint = ", "# ", 1), 0, "[[party]] 1 has no fingerprint"),
        (list.replace(&three.prints[1], "12"), 0, "[[party]] 1"),
        (list.replace(&three.prints[1], &other), 1, "is this the right --key"),
        (list.replace(&three.prints[1], &three.prints[2]), 0, "parties 1 and 2 have one key"),
        (list.replace(&three.prints[0], &three.prints[2]), 2, "given for party 0 is our own"),
    ];
    for (list, party, text) in cases {
        three.write("bad.toml", &format!("circuit = \"auction:3x8\"\n{list}"));
        let input = format!("--input={party}=1");
        three.refused(party, "bad.toml", &[&input]).says(&[text]);
    }
    three.write("all.toml", &format!("circuit = \"auction:3x8\"\n{list}"));
    let refused = |party: usize, more: &[&str], text: &str| {
        let input = format!("--input={party}=1");
        three.refused(party, "all.toml", &[more, &[&input]].concat()).says(&[text]);
    };
    refused(0, &["--protocol", "wrk"], "wrk runs among 2 parties, not 3");
    refused(0, &["--connect", "127.0.0.1:9"], "leave out --connect");
    refused(0, &["--peer-fingerprint", &other], "leave out");
    refused(0, &["--transport", "tcp"], "plain TCP uses no key");
    refused(2, &["--listen", "127.0.0.1:0"], "nobody dials party 2");
    three.refused(3, "all.toml", &["--input", "2=1"]).says(&["say --party 0 to 2"]);
    three.refused(0, "all.toml", &["--input", "1=1"]).says(&["belongs to party 1"]);
    let words = ["run", "--config", "all.toml"];
    symbolon_in(three.folder.path(), "", &words).expect(2).says(&["Say --party 0 to 2"]);
    symbolon_in(Path::new("."), "", &["run", "auction:3x8", "--party", "2"])
        .expect(2)
        .says(&["no party 2"]);
}

#[test]
fn circuits_of_several_parties_are_described_and_evaluated() {
    let info = |words: &[&str]| {
        symbolon(&[&["circuit", "info", "--json"], words].concat()).expect(0).json()
    };
    let auction = info(&["auction:3x8"]);
    assert_eq!(auction["inputs"][2]["owner"], 2);
    assert_eq!(auction["outputs"][0]["receivers"], json!([0, 1, 2]));
    let shared = info(&["add:8", "--owner", "x=share", "--parties", "4"]);
    let names: Vec<_> =
        shared["inputs"].as_array().unwrap().iter().map(|input| &input["name"]).collect();
    assert_eq!(names, ["x.0", "x.1", "x.2", "x.3", "y"]);
    let words = ["circuit", "eval", "auction:3x8", "--input=0=5", "--input=1=9", "--input=2=7"];
    let out = symbolon(&words).expect(0).out;
    assert_eq!(out, "winner = 1\nprice_0 = 0\nprice_1 = 7\nprice_2 = 0\n");
}

#[test]
fn the_auction_demo_works() {
    let demo = symbolon(&["demo", "--parties", "4"]).expect(0).out;
    for text in [
        "party 2 bids 374",
        "all learn winner = 2",
        "party 2 alone learns price_2 = 337",
        "party 3 alone learns price_3 = 0",
        "3 (garbler)",
    ] {
        assert!(demo.contains(text), "no `{text}` in {demo}");
    }
    symbolon(&["demo", "--parties", "2"]).expect(2).says(&["--parties"]);
}

#[test]
#[ignore = "16 processes of 230 MB each, a quarter of a minute"]
fn aes_among_sixteen() {
    let words = ["local", "aes128", "--parties", "16", "--protocol", "ywz", "--timeout", "600"];
    let values = [
        "--input",
        "key=hex:2b7e151628aed2a6abf7158809cf4f3c",
        "--input",
        "message=hex:3243f6a8885a308d313198a2e0370734",
    ];
    let ended = symbolon(&[&words[..], &values].concat()).expect(0);
    assert_eq!(ended.out, "ciphertext = hex:3925841d02dc09fbdc118597196a0b32\n");
}
