//! `bench`: triples, circuits, lists of options, the page.

use serde_json::{Value, json};

use crate::common::{self, symbolon};

#[test]
fn triples_are_measured() {
    let words = ["bench", "triples", "--parties", "3", "--count", "5000", "--json"];
    let more = ["--threads", "2", "--rho", "64", "--repeat", "2"];
    let result = symbolon(&[&words[..], &more].concat()).expect(0).json();
    assert_eq!(result["format"], "symbolon-bench-3");
    assert_eq!(result["machine"]["version"], env!("CARGO_PKG_VERSION"));
    let measured = &result["measurements"][0];
    assert_eq!((&measured["parties"], &measured["threads"]), (&json!(3), &json!(2)));
    let count = measured["count"].as_u64().unwrap();
    assert!(count >= 5000);
    // A triple takes 3 authenticated bits for each of the bucket's, towards each peer.
    let bytes = measured["bytes_each"].as_f64().unwrap();
    assert!(bytes > 3.0 * 3.0 * 4.0, "{bytes}");
    let phase = |party: usize| &measured["costs"][party]["phases"][1];
    assert_eq!(phase(0)["phase"], "independent");
    let sent: u64 = (0..3).map(|party| phase(party)["bytes_sent"].as_u64().unwrap()).sum();
    assert!((bytes * 6.0 * count as f64 - sent as f64).abs() < 1.0);
    spread(&measured["per_second"]);
    spread(&measured["seconds"]);
    spread(&phase(2)["seconds"]);
}

/// Checks that a value is a spread of figures above zero.
fn spread(spread: &Value) {
    let [least, median, most] =
        ["least", "median", "most"].map(|name| spread[name].as_f64().unwrap());
    assert!(0.0 < least && least <= median && median <= most, "{spread}");
}

#[test]
fn lists_are_measured_in_all_combinations() {
    let words = "bench add:32 random:64/16 --protocol wrk,ywz --parties 2,3 --repeat 2 --json";
    let words: Vec<&str> = words.split(' ').collect();
    let ended = symbolon(&words).expect(0).says(&["left out: add:32: wrk runs among 2 parties"]);
    let all = ended.json();
    let all = all["measurements"].as_array().unwrap();
    let name = |m: &Value| format!("{} {} {}", m["workload"], m["protocol"], m["parties"]);
    let expected = ["wrk\" 2", "ywz\" 2", "ywz\" 3"];
    let expected = ["add:32", "random:64/16"].map(|c| expected.map(|p| format!("\"{c}\" \"{p}")));
    assert_eq!(all.iter().map(name).collect::<Vec<_>>(), expected.concat());
    for measured in all {
        let phases = measured["phases"].as_array().unwrap();
        let names: Vec<_> = phases.iter().map(|phase| phase["phase"].as_str().unwrap()).collect();
        assert_eq!(names, ["setup", "dependent", "online"]);
        for phase in phases {
            spread(&phase["seconds"]);
            assert!(phase["bytes_sent"].as_u64().unwrap() > 0);
            assert!(phase["rounds"].as_u64().unwrap() > 0);
            if cfg!(target_os = "linux") {
                assert!(phase["cpu_seconds"]["median"].as_f64().unwrap() > 0.0);
            }
        }
        // One set-up gives one sample of it.
        let set_up = &phases[0]["seconds"];
        assert_eq!(set_up["least"], set_up["most"]);
        let parties = measured["parties"].as_u64().unwrap() as usize;
        let timeline = measured["timeline"].as_array().unwrap();
        assert_eq!(timeline.len(), parties);
        for spans in timeline {
            assert!(
                spans.as_array().unwrap().iter().all(|span| span["begin"].as_f64() >= Some(0.0))
            );
            // Making the triples and preparing are one phase, entered twice.
            assert_eq!(spans.as_array().unwrap().len(), 4);
        }
    }
}

#[test]
fn a_run_of_its_own_has_a_set_up_of_its_own() {
    for (transport, batch) in [("tcp", "1"), ("memory", "3")] {
        let words =
            ["bench", "add:8", "--fresh-session", "--repeat", "3", "--json", "--batch", batch];
        let result = symbolon(&[&words[..], &["--transport", transport]].concat()).expect(0).json();
        let measured = &result["measurements"][0];
        assert_eq!((&measured["repeat"], &measured["fresh_session"]), (&json!(3), &json!(true)));
        let set_up = &measured["phases"][0]["seconds"];
        assert_ne!(set_up["least"], set_up["most"]);
        let gates: u64 = 7 * batch.parse::<u64>().unwrap();
        assert_eq!(measured["count"], gates);
        // In one process nobody knows how much each party's work took.
        assert_eq!(
            measured["cpu_seconds"].is_null(),
            transport == "memory" || !cfg!(target_os = "linux")
        );
    }
}

#[test]
fn components_are_garbled_by_name() {
    let words =
        "bench cbcmac:2 --protocol duplo --component aes128-cipher-of-xor --repeat 1 --json";
    let named = symbolon(&words.split(' ').collect::<Vec<_>>()).expect(0).json();
    let named = &named["measurements"][0];
    assert_eq!(named["components"], json!(["aes128-cipher-of-xor"]));
    let words = "bench cbcmac:2 --protocol duplo --repeat 1 --json";
    let cheapest = symbolon(&words.split(' ').collect::<Vec<_>>()).expect(0).json();
    let cheapest = &cheapest["measurements"][0];
    assert_eq!(cheapest["components"], Value::Null);
    // Two calls are too few for smaller buckets to pay off.
    assert_ne!(named["bytes_each"], cheapest["bytes_each"]);
}

#[test]
fn one_is_printed_in_full_and_many_as_a_table() {
    let text = symbolon(&["bench", "add:32", "--parties", "3", "--repeat", "2"]).expect(0).out;
    for part in ["add:32: ywz, 3 parties", "2 runs", "31 AND gates", "2 (garbler)", "online"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let words = ["bench", "add:8", "--threads", "1,2", "--split-phases", "--repeat", "1"];
    let text = symbolon(&words).expect(0).out;
    assert!(text.contains("independent"), "{text}");
    // Each figure is below its own heading.
    let mut lines = text.lines().skip_while(|line| !line.starts_with("workload  threads"));
    let (head, row) = (lines.next().unwrap(), lines.next().unwrap());
    for (name, unit) in [("AND gates a second", ""), ("bytes each", "B"), ("memory", "MB")] {
        let end = head.find(name).map(|start| head[..start + name.len()].chars().count()).unwrap();
        let cell: String = row.chars().take(end).collect();
        assert!(cell.ends_with(unit) && !cell.ends_with(' '), "{name}: {text}");
    }
}

#[test]
fn the_page_needs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.html");
    let path = path.to_str().unwrap();
    let words = ["bench", "add:8", "--threads", "1,2", "--repeat", "2", "--link"];
    symbolon(&[&words[..], &["0.1ms,1gbit", "--report", path]].concat()).expect(0);
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    for part in ["threads of each party", "0 (garbler)", "1 (evaluator)", "0.1ms,1gbit", "setup"] {
        assert!(page.contains(part), "no `{part}` in the page");
    }
    // For each measurement its timeline and its bytes; rates by threads; memory if it is known.
    assert!(page.matches("<svg").count() >= 5);
    for outside in ["<script", "<link", "<img", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let nowhere = folder.path().join("no/such/folder.html");
    let words = ["bench", "add:8", "--report", nowhere.to_str().unwrap()];
    symbolon(&words).expect(2).says(&["--report"]);
}

/// Short MACs are available for comparisons, under a name that says so, and with a warning.
#[test]
fn weak_macs_are_measured_by_their_name() {
    let words = ["bench", "add:8", "--protocol", "tinytable", "--repeat", "1", "--json"];
    let result = symbolon(&[&words[..], &["--weak-mac-bits", "32"]].concat()).expect(0);
    assert!(result.err.contains("2^-32"), "{}", result.err);
    assert_eq!(result.json()["measurements"][0]["mac_bits"], 32);
}

#[test]
fn what_does_not_go_together_is_refused() {
    for words in [
        &["triples", "--protocol", "wrk"][..],
        &["triples", "--form", "four-row"],
        &["triples", "--split-phases"],
        &["add:32", "--parties", "3", "--form", "four-row"],
        &["triples", "--count", "0"],
        &["add:8", "--count", "5"],
        &["no-such"],
        &["add:8", "no-such"],
        &["add:8", "--mac-bits", "64,128"],
        &["--repeat", "2"],
    ] {
        symbolon(&[&["bench"], words].concat()).expect(2);
    }
}

/// Runs two sides of a measurement, each with its own words.
fn two_sides(words: &[&str], own: [&[&str]; 2]) -> [common::Ended; 2] {
    let start = |own: &[&str]| common::command(&[words, own].concat()).spawn().unwrap();
    own.map(start).map(common::end)
}

#[test]
fn two_machines_measure_and_have_one_report() {
    let keys = common::keys();
    let folder = tempfile::tempdir().unwrap();
    let address = common::free_address();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let [zero_csv, one_csv] = ["0.csv", "1.csv"].map(path);
    let words = "bench add:8 --protocol wrk --repeat 2 --threads 1,2 --json --raw";
    let words: Vec<&str> = words.split(' ').collect();
    let tls = |key, print| ["--key", key, "--peer-fingerprint", print];
    let zero = ["--party", "0", "--listen", &address, "--csv", &zero_csv];
    let one = ["--party", "1", "--connect", &address, "--csv", &one_csv];
    let ended = two_sides(
        &words,
        [
            &[&zero[..], &tls(&keys.a, &keys.print_b)].concat(),
            &[&one[..], &tls(&keys.b, &keys.print_a)].concat(),
        ],
    );
    let [zero, one] = ended.map(|ended| ended.expect(0).json());
    assert_eq!(zero, one, "one report");
    assert_eq!(zero["machine"]["version"], zero["other_machine"]["version"]);
    let all = zero["measurements"].as_array().unwrap();
    assert_eq!(all.len(), 2);
    for measured in all {
        assert_eq!((&measured["transport"], &measured["repeat"]), (&json!("tls"), &json!(2)));
        spread(&measured["seconds"]);
        // A set-up, and in each of two runs two phases, for each party.
        let raw = measured["raw"].as_array().unwrap();
        assert_eq!(raw.len(), 2 * (1 + 2 * 2));
        assert!(raw.iter().all(|raw| raw["seconds"].as_f64().unwrap() > 0.0));
        let sum = |party: u64, what: &str| -> u64 {
            let own = raw.iter().filter(|raw| raw["party"] == party);
            own.map(|raw| raw[what].as_u64().unwrap()).sum()
        };
        assert_eq!(sum(0, "bytes_sent"), sum(1, "bytes_received"));
        assert_eq!(sum(1, "bytes_sent"), sum(0, "bytes_received"));
    }
    let [zero, one] = [zero_csv, one_csv].map(|file| std::fs::read_to_string(file).unwrap());
    assert_eq!(zero, one);
    assert_eq!(zero.lines().count(), 1 + 2 * 10);
    assert!(zero.lines().nth(1).unwrap().starts_with("add:8,wrk,2,1,local,40,"), "{zero}");
    assert!(zero.lines().all(|line| line.split(',').count() == 29));
}

/// Rows that differ in a listed option differ in a column.
#[test]
fn a_row_says_how_it_was_measured() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let path = path.to_str().unwrap();
    let rows = |words: &str| {
        let words = format!("bench {words} --transport memory --repeat 1 --csv {path}");
        symbolon(&words.split(' ').collect::<Vec<_>>()).expect(0);
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect());
        let head: Vec<String> = lines.next().unwrap();
        (head, lines.collect::<Vec<Vec<String>>>())
    };
    let of = |words: &str, column: &str| {
        let (head, rows) = rows(words);
        let place = head.iter().position(|name| name == column).unwrap();
        let mut cells: Vec<String> = rows.into_iter().map(|mut row| row.remove(place)).collect();
        cells.dedup();
        cells
    };
    assert_eq!(
        of("add:8 --protocol tinytable --rho 40 --mac-bits 64,128", "mac_bits"),
        ["64", "128"]
    );
    assert_eq!(of("add:8 --protocol dualex --psi sync,async", "psi"), ["sync", "async"]);
    assert_eq!(of("add:8 --protocol dualex --kappa-b 40,64", "kappa_b"), ["40", "64"]);
    let per = "add:8 --protocol dualex --kappa-b-per preparation,execution";
    assert_eq!(of(per, "kappa_b_per"), ["preparation", "execution"]);
    assert_eq!(of("add:8 --protocol wrk", "split_phases"), ["false"]);
    assert_eq!(of("add:8 --protocol wrk --split-phases", "split_phases"), ["true"]);
    assert_eq!(of("add:8 --protocol wrk --batch 2 --one-by-one", "one_by_one"), ["true"]);
    let named = "cbcmac:2 --protocol duplo --component aes128-cipher-of-xor";
    assert_eq!(of(named, "components"), ["aes128-cipher-of-xor"]);
}

/// What cannot be measured leaves old files alone; what can replaces them.
#[test]
fn old_files_stay_until_everything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.html", "a.csv", "a.md"].map(|name| folder.path().join(name));
    let [page, csv, table] = paths.each_ref().map(|path| path.to_str().unwrap());
    paths.iter().for_each(|path| std::fs::write(path, "old").unwrap());
    let old = || paths.each_ref().map(|path| std::fs::read_to_string(path).unwrap() == "old");
    // No key file is there.
    let two = ["--party", "0", "--listen", "127.0.0.1:0", "--key", "/no/such.key"];
    let print = "0".repeat(64);
    let two = [&two[..], &["--peer-fingerprint", &print]].concat();
    let bench = ["bench", "add:8", "--repeat", "1", "--report", page, "--csv", csv];
    symbolon(&[&bench[..], &two].concat()).expect(2).says(&["/no/such.key"]);
    let paper = ["paper", "wrk17", "--table", "6", "--report", table];
    symbolon(&[&paper[..], &two].concat()).expect(2).says(&["/no/such.key"]);
    assert_eq!(old(), [true; 3]);
    symbolon(&bench).expect(0);
    assert_eq!(old(), [false, false, true]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no other file is left");
}

/// A line joins the sizes of one circuit, and no unlike circuits.
#[test]
fn unlike_circuits_have_lines_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.html");
    let path = path.to_str().unwrap();
    let words = "bench add:8 hamming:8 add:16 hamming:16 --transport memory --repeat 1 --report";
    let text =
        symbolon(&[&words.split(' ').collect::<Vec<_>>()[..], &[path]].concat()).expect(0).out;
    let page = std::fs::read_to_string(path).unwrap();
    for series in ["add, wrk, 2 parties, ", "hamming, wrk, 2 parties, "] {
        assert!(page.contains(series), "no `{series}` in the page");
    }
    let times =
        "Times of a phase are from the end of the one before, at the last party, to its own.";
    assert!(page.contains(times) && text.contains(times), "{text}");
}

#[test]
fn two_machines_that_are_to_measure_different_things_say_so() {
    let address = common::free_address();
    let plain = ["--transport", "tcp"];
    let zero = [&["--party", "0", "--listen", &address], &plain[..]].concat();
    let one = [&["--party", "1", "--connect", &address], &plain[..]].concat();
    let differing = [(["--repeat", "2"], "repeat"), (["--threads", "2"], "measurements")];
    for (more, names) in differing {
        let own: [&[&str]; 2] = [&[&zero[..], &more].concat(), &one];
        for ended in two_sides(&["bench", "add:8"], own) {
            ended.expect(4).says(&[names]);
        }
    }
    for (words, says) in [
        (&["--listen", "127.0.0.1:0"][..], "--party"),
        (&["--party", "2"], "0..=1"),
        (&["--party", "0"], "--key"),
        (&["--party", "0", "--transport", "memory"], "memory"),
        (&["--party", "0", "--parties", "3", "--transport", "tcp"], "two parties"),
        (&["--party", "0", "--dealer"], "--dealer"),
        (&["--raw"], "--json"),
        (&["--csv", "/no/such/folder/x.csv", "--repeat", "1"], "--csv"),
    ] {
        symbolon(&[&["bench", "add:8"], words].concat()).expect(2).says(&[says]);
    }
}

/// A party that waits for the other machine can be interrupted.
#[cfg(unix)]
#[test]
fn a_measurement_that_waits_is_interrupted() {
    let words = ["bench", "add:8", "--party", "0", "--transport", "tcp", "--listen", "127.0.0.1:0"];
    common::listening(&words).signal("-TERM").expect(143).says(&["interrupted"]);
}
