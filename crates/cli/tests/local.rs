//! All parties on this machine: `local` and `demo`.

use crate::common::{command, end, symbolon};
use serde_json::{Value, json};

const PHASES: [&str; 4] = ["setup", "independent", "dependent", "online"];

/// Returns the keys of an object, in order of their names.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn every_transport_computes_the_same() {
    for transport in ["tls", "tcp", "memory"] {
        let words = ["local", "aes128", "--transport", transport, "--threads", "2", "--costs"];
        let values = [
            "--input",
            "key=hex:2b7e151628aed2a6abf7158809cf4f3c",
            "--input",
            "1=hex:3243f6a8885a308d313198a2e0370734",
        ];
        let ended = symbolon(&[&words[..], &values].concat()).expect(0);
        assert_eq!(ended.out, "ciphertext = hex:3925841d02dc09fbdc118597196a0b32\n");
        assert!(ended.err.contains("0 (garbler)"), "{}", ended.err);
    }
}

#[test]
fn look_ups_are_computed_and_agreed_on() {
    let info = symbolon(&["circuit", "info", "aes128:sbox", "--json"]).expect(0).json();
    for protocol in ["wrk", "ywz"] {
        let words =
            ["local", "aes128:sbox", "--transport", "memory", "--json", "--protocol", protocol];
        let values = [
            "--input",
            "key=hex:2b7e151628aed2a6abf7158809cf4f3c",
            "--input",
            "message=hex:3243f6a8885a308d313198a2e0370734",
        ];
        let result = symbolon(&[&words[..], &values].concat()).expect(0).json();
        assert_eq!(result["outputs"][0]["hex"], "hex:3925841d02dc09fbdc118597196a0b32");
        assert_eq!(result["digest"], info["digest"], "that of the circuit with its look-ups");
    }
}

#[test]
fn the_json_is_as_promised() {
    let words = [
        "local",
        "compare:8",
        "--json",
        "--repeat",
        "3",
        "--rho",
        "64",
        "--ot",
        "softspoken4",
        "--split-phases",
    ];
    let more = ["--input", "x=7", "--input", "y=9", "--output", "0=1", "--output", "1=none"];
    let result = symbolon(&[&words[..], &more].concat()).expect(0).json();
    let asked = [
        "batch",
        "circuit",
        "dealer",
        "digest",
        "form",
        "format",
        "link",
        "measured",
        "ot",
        "outputs",
        "parties",
        "protocol",
        "repeat",
        "rho",
        "runs",
        "threads",
        "transport",
    ];
    assert_eq!(keys(&result), asked);
    assert_eq!(result["format"], "symbolon-local-1");
    assert_eq!(result["circuit"], "compare:8");
    assert_eq!(result["digest"].as_str().unwrap().len(), 64);
    assert_eq!((&result["rho"], &result["repeat"]), (&json!(64), &json!(3)));
    assert_eq!(result["ot"], "softspoken4");
    // One of two choices was left to the link.
    assert_eq!(keys(&result["measured"]), ["bits_per_second", "chose", "or_more", "round_trip"]);
    assert_eq!(result["measured"]["chose"], json!(["form"]));
    assert!(["four-row", "half-gates"].contains(&result["form"].as_str().unwrap()));
    assert_eq!((&result["transport"], &result["link"]), (&json!("tls"), &json!(null)));

    let outputs = result["outputs"].as_array().unwrap();
    assert_eq!(keys(&outputs[0]), ["bits", "hex", "name", "receivers", "type", "value"]);
    assert_eq!(outputs[0]["receivers"], json!([1]));
    assert_eq!((&outputs[0]["bits"], &outputs[0]["value"]), (&json!("1"), &json!("1")));
    assert_eq!(outputs[1]["receivers"], json!([]));
    assert_eq!((&outputs[1]["bits"], &outputs[1]["value"]), (&Value::Null, &Value::Null));

    let check = |parties: &Value, expected: &[&str]| {
        for (number, party) in parties.as_array().unwrap().iter().enumerate() {
            assert_eq!(keys(party), ["party", "phases", "role"]);
            assert_eq!(party["party"], json!(number));
            let phases = party["phases"].as_array().unwrap();
            let names: Vec<_> =
                phases.iter().map(|phase| phase["phase"].as_str().unwrap()).collect();
            assert_eq!(names, expected);
            for phase in phases {
                let fields = [
                    "bytes_received",
                    "bytes_sent",
                    "cpu_seconds",
                    "messages_received",
                    "messages_sent",
                    "phase",
                    "rounds",
                    "seconds",
                ];
                assert_eq!(keys(phase), fields);
                assert!(phase["bytes_sent"].as_u64().unwrap() > 0, "{phase}");
                assert!(phase["rounds"].as_u64().unwrap() > 0, "{phase}");
                assert!(phase["seconds"].as_f64().unwrap() > 0.0, "{phase}");
            }
        }
        assert_eq!(parties.as_array().unwrap().len(), 2);
    };
    check(&result["parties"], &PHASES);
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    for (number, run) in runs.iter().enumerate() {
        assert_eq!(keys(run), ["parties", "run"]);
        assert_eq!(run["run"], json!(number));
        check(&run["parties"], &PHASES[1..]);
    }
    // The runs add up, and each party receives what the other sends.
    let bytes = |of: &Value, party: usize, phase: usize, field: &str| {
        of["parties"][party]["phases"][phase][field].as_u64().unwrap()
    };
    for (place, _) in PHASES.iter().enumerate() {
        let sent = bytes(&result, 0, place, "bytes_sent");
        assert_eq!(sent, bytes(&result, 1, place, "bytes_received"));
        if place > 0 {
            let sum: u64 = runs.iter().map(|run| bytes(run, 0, place - 1, "bytes_sent")).sum();
            assert_eq!(sum, sent);
        }
    }
}

#[test]
fn typed_values_of_every_kind() {
    let words = ["local", "merge:2x8", "--transport", "memory", "--json"];
    let more = ["--input", "0=9,3", "--input", "1=[0x07, 255]"];
    let result = symbolon(&[&words[..], &more].concat()).expect(0).json();
    let output = &result["outputs"][0];
    assert_eq!(output["type"], "[u8; 4]");
    assert_eq!(output["value"], json!(["3", "7", "9", "255"]));
    assert_eq!(output["hex"], "hex:ff090703");
    assert_eq!(output["bits"], "11000000111000001001000011111111");
}

#[test]
fn owners_can_be_changed_even_to_one_party_alone() {
    let words = ["local", "sub:8", "--owner", "0=1", "--owner", "y=1", "--output", "0=0"];
    let ended = symbolon(&[&words[..], &["--input", "0=5", "--input", "1=7"]].concat()).expect(0);
    assert_eq!(ended.out.split_once(" = ").unwrap().1, "254\n");
}

#[test]
fn large_circuits_are_streamed() {
    let words = ["local", "mul:32", "--input", "0=70000", "--input", "1=70001", "--json"];
    for transport in ["tcp", "memory"] {
        let more = ["--transport", transport, "--segment-gates", "300", "--repeat", "2"];
        let result = symbolon(&[&words[..], &more].concat()).expect(0).json();
        assert_eq!(result["outputs"][0]["value"], (70_000u64 * 70_001 % (1 << 32)).to_string());
        for party in result["parties"].as_array().unwrap() {
            let phases = party["phases"].as_array().unwrap();
            let names: Vec<_> = phases.iter().map(|phase| phase["phase"].clone()).collect();
            assert_eq!(names, ["setup", "streamed"]);
        }
    }
    // Separate phases keep everything.
    let split_phases =
        symbolon(&[&words[..], &["--segment-gates", "300", "--split-phases"]].concat())
            .expect(0)
            .json();
    assert_eq!(split_phases["parties"][0]["phases"].as_array().unwrap().len(), 4);
    symbolon(&[&words[..], &["--segment-gates", "0"]].concat())
        .expect(2)
        .says(&["--segment-gates"]);
}

#[test]
fn a_simulated_link_delays() {
    let words = ["local", "add:8", "--input", "0=1", "--input", "1=2", "--json"];
    let slow = symbolon(&[&words[..], &["--link", "10ms,1gbit"]].concat()).expect(0).json();
    assert_eq!(slow["link"], "10ms,1gbit");
    assert_eq!(slow["outputs"][0]["value"], "3");
    // At least half a round trip; how much longer it takes depends on the machine.
    let online = &slow["parties"][1]["phases"][2];
    assert!(online["seconds"].as_f64().unwrap() >= 0.005, "{online}");
}

#[test]
fn a_slow_link_decides_unless_told() {
    // About a thousand AND gates: their four rows would take longer than another round trip.
    let words = ["local", "mul:32", "--input", "0=6", "--input", "1=7", "--link", "20ms,2mbit"];
    let json = |more: &[&str]| symbolon(&[&words[..], &["--json"], more].concat()).expect(0).json();
    for transport in ["memory", "tcp"] {
        let result = json(&["--transport", transport]);
        assert_eq!(result["outputs"][0]["value"], "42");
        assert_eq!((&result["form"], &result["ot"]), (&json!("half-gates"), &json!("softspoken8")));
        let measured = &result["measured"];
        assert_eq!(measured["chose"], json!(["form", "ot"]));
        assert!(measured["round_trip"].as_f64().unwrap() >= 0.02);
        assert_eq!(result["parties"][0]["role"], "garbler");
    }
    let told = ["--form", "four-row", "--ot", "iknp", "--transport", "memory"];
    let result = json(&told);
    assert_eq!((&result["form"], &result["ot"]), (&json!("four-row"), &json!("iknp")));
    assert_eq!((&result["measured"], &result["outputs"][0]["value"]), (&json!(null), &json!("42")));
    let words = [&words[..], &["--costs"]].concat();
    symbolon(&words).expect(0).says(&["half-gates (by the link), OT softspoken8 (by the link)"]);
    let words = ["local", "add:8", "--input", "0=6", "--input", "1=7", "--form", "half-gates"];
    symbolon(&[&words[..], &["--costs"]].concat())
        .expect(0)
        .says(&["half-gates, OT softspoken", "(by the link); link: round trip"]);
}

#[cfg(target_os = "linux")]
#[test]
fn secrets_are_on_no_command_line_of_a_child_and_children_die_with_their_parent() {
    // Slow enough to be observed: every message takes a second.
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("x.txt");
    std::fs::write(&secret, "173").unwrap();
    let from_file = format!("0=@{}", secret.display());
    let words = ["local", "add:8", "--input", &from_file, "--input", "1=2", "--link", "2s,1gbit"];
    let mut parent = command(&words).spawn().unwrap();
    let line = |process: u32| std::fs::read(format!("/proc/{process}/cmdline")).unwrap();
    let children = loop {
        let found = children_of(parent.id());
        // Between its fork and the start of the program, a child has its parent's command line, and
        // then for a moment none.
        let begun = |child: &u32| !line(*child).is_empty() && line(*child) != line(parent.id());
        if found.len() == 2 && found.iter().all(begun) {
            break found;
        }
        assert!(parent.try_wait().unwrap().is_none(), "it ended without two children");
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    for child in &children {
        let line = line(*child);
        let words: Vec<_> = line.split(|byte| *byte == 0).skip(1).collect();
        assert_eq!(words.concat(), b"party");
    }
    // Long enough for both to be at work.
    std::thread::sleep(std::time::Duration::from_millis(300));
    parent.kill().unwrap();
    parent.wait().unwrap();
    let begun = std::time::Instant::now();
    while children.iter().any(|child| alive(*child)) {
        assert!(begun.elapsed().as_secs() < 20, "a child outlives its parent");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Returns the child processes, on Linux.
#[cfg(target_os = "linux")]
fn children_of(parent: u32) -> Vec<u32> {
    let mut children = Vec::new();
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{parent}/task")) else { return children };
    for task in tasks.flatten() {
        let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.extend(list.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    children
}

#[cfg(target_os = "linux")]
fn alive(process: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| {
        !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
    })
}

#[test]
fn the_demo_works() {
    let demo = symbolon(&["demo"]).expect(0).out;
    for text in [
        "hex:3925841d02dc09fbdc118597196a0b32",
        "the published result",
        "[7, 8, 12, 23, 41, 45, 52, 61, 64, 75, 310, 330, 800, 1000, 1999, 2500]",
        "1 (evaluator)",
        "online",
    ] {
        assert!(demo.contains(text), "no `{text}` in {demo}");
    }
    symbolon(&["demo", "--link", "moon"]).expect(2);
}

#[test]
fn batches_take_values_by_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.txt");
    std::fs::write(&path, "1\n2\n250\n").unwrap();
    let x = format!("x=@{}", path.display());
    let words = ["local", "add:8", "--batch", "3", "--input", &x, "--input", "y=7"];
    for protocol in ["tinytable", "wrk"] {
        let run = [&words[..], &["--protocol", protocol]].concat();
        assert_eq!(symbolon(&run).expect(0).out, "8\n9\n1\n", "{protocol}");
    }
    let own = ["--protocol", "tinytable", "--mac-bits", "128", "--json"];
    let result = symbolon(&[&words[..], &own].concat()).expect(0).json();
    assert_eq!(result["batch_outputs"], json!([["8"], ["9"], ["1"]]));
    assert_eq!((&result["batch"], &result["mac_bits"]), (&json!(3), &json!(128)));
    assert_eq!((&result["form"], &result["outputs"]), (&json!("tables"), &json!([])));

    // MACs are as long as rho requires, and shorter ones are refused.
    let long = ["--protocol", "tinytable", "--rho", "80", "--json"];
    let result = symbolon(&[&words[..], &long].concat()).expect(0).json();
    assert_eq!(result["mac_bits"], json!(128));
    for (more, told) in [
        (&["--mac-bits", "64"][..], "--mac-bits"),
        (&["--repeat", "2"], "--repeat"),
        (&["--owner", "y=share"], "share"),
        (&["--protocol", "tinytable", "--mac-bits", "40"], "64 or 128"),
        (&["--protocol", "tinytable", "--mac-bits", "32"], "too short"),
        (&["--protocol", "tinytable", "--weak-mac-bits", "32"], "unexpected option"),
    ] {
        let refused = symbolon(&[&words[..], more].concat()).expect(2);
        assert!(refused.err.contains(told), "{}", refused.err);
    }
    // The error names the line and nothing of its contents.
    std::fs::write(&path, "1\n\n4071\n2\n").unwrap();
    let refused = symbolon(&words).expect(2);
    let told = format!("{}, line 3: input `x`", path.display());
    assert!(refused.err.contains(&told), "{}", refused.err);
    assert!(!refused.err.contains("4071") && !refused.err.contains("hint"), "{}", refused.err);
    std::fs::write(&path, "1\n2\n250\n").unwrap();
    let missing = symbolon(&words[..6]).expect(2);
    assert!(missing.err.contains("one value a line"), "{}", missing.err);
    let four = ["local", "add:8", "--batch", "4", "--input", &x, "--input", "y=7"];
    let refused = symbolon(&four).expect(2);
    assert!(refused.err.contains("3 values for 4 evaluations"), "{}", refused.err);
}

/// What `circuit info` says about a batch is what a run, which splits it, sends.
#[test]
fn a_batch_that_is_cut_is_forecast() {
    let ask = |more: &[&str]| {
        let words = ["circuit", "info", "random:262144", "--protocol", "duplo"];
        symbolon(&[&words[..], more].concat())
    };
    let duplo =
        |more: &[&str]| ask(&[more, &["--json"]].concat()).expect(0).json()["duplo"].clone();
    let number = |duplo: &serde_json::Value, key: &str| duplo[key].as_u64().unwrap();
    let [three, four, six, seven] = ["3", "4", "6", "7"].map(|batch| duplo(&["--batch", batch]));
    // Two windows of one size share a cut-and-choose.
    assert_eq!(number(&six, "evaluations_together"), 3);
    assert_eq!(number(&six, "batches_together"), 2);
    assert_eq!(six, duplo(&["--batch", "3", "--count", "2"]));
    assert_eq!(number(&six, "windows"), 1);
    assert!(number(&six, "bytes") < 2 * number(&three, "bytes"));
    // Two windows of different sizes do not.
    assert_eq!(number(&seven, "evaluations_together"), 4);
    assert_eq!(number(&seven, "bytes"), number(&four, "bytes") + number(&three, "bytes"));
    assert_eq!(seven["components"], four["components"]);
    assert_eq!(number(&seven, "memory_bytes"), number(&four, "memory_bytes"));
    let stored = duplo(&["--batch", "6", "--count", "1"]);
    assert_eq!(number(&stored, "evaluations_together"), 6);
    ask(&["--batch", "0"]).expect(2).says(&["--batch"]);
    ask(&["--component", "nosuch"]).expect(2).says(&["its components are `random:262144"]);
    let auction = ["circuit", "info", "auction:3x32", "--protocol", "duplo"];
    symbolon(&auction).expect(2).says(&["duplo runs among 2 parties, not 3"]);
}

/// The first line of a plan is the fastest way, and its bytes are those of a run.
#[test]
fn a_plan_says_what_a_run_sends() {
    let told = symbolon(&["plan", "add:8", "--link", "75ms,1gbit", "--json"]).expect(0).json();
    let ways = told["alternatives"].as_array().unwrap();
    assert_eq!(ways.len(), 33);
    let seconds =
        |way: &Value| way["setup_seconds"].as_f64().unwrap() + way["seconds"].as_f64().unwrap();
    assert!(ways.is_sorted_by(|a, b| seconds(a) <= seconds(b)));
    let way = ways.iter().find(|way| way["protocol"] == "ywz" && way["ot"] == "iknp").unwrap();
    let run = ["local", "add:8", "--protocol", "ywz", "--ot", "iknp", "--transport", "memory"];
    let values = ["--input", "x=1", "--input", "y=2", "--json"];
    let run = symbolon(&[&run[..], &values].concat()).expect(0).json();
    let parties = run["parties"].as_array().unwrap().iter();
    let phases = parties.flat_map(|party| party["phases"].as_array().unwrap());
    let sent = phases.filter(|phase| phase["phase"] != "setup");
    let sent: u64 = sent.map(|phase| phase["bytes_sent"].as_u64().unwrap()).sum();
    assert_eq!(way["bytes"].as_u64(), Some(sent));
    let table = symbolon(&["plan", "aes128", "--count", "8", "--protocol", "dualex"]).expect(0);
    assert!(table.out.contains("dualex") && !table.out.contains("wrk"), "{}", table.out);
    symbolon(&["plan", "add:8", "--link", "moon"]).expect(2).says(&["is not a link"]);
    symbolon(&["plan", "add:8", "--rho", "41"]).expect(2).says(&["--rho takes"]);
    symbolon(&["plan", "add:8", "--protocol", "nosuch"]).expect(2).says(&["nosuch"]);
    let three = ["plan", "auction:3x8", "--protocol", "wrk"];
    symbolon(&three).expect(2).says(&["cannot run"]);
}

/// A calibration of another version is told, and not used; without a cache folder nothing runs.
#[test]
fn a_calibration_of_no_use_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = |words: &[&str]| {
        let mut command = command(words);
        end(command.env("XDG_CACHE_HOME", folder.path()).spawn().expect("a command"))
    };
    let plan = ["plan", "add:8", "--json"];
    let usual = here(&plan).expect(0);
    assert_eq!(usual.err, "");
    std::fs::create_dir(folder.path().join("symbolon")).expect("a folder");
    std::fs::write(folder.path().join("symbolon/rates.toml"), "version = 0").expect("a file");
    let old =
        here(&plan).expect(0).says(&["calibration not used", "rates.toml", "another version"]);
    assert_eq!(old.out, usual.out);
    let mut homeless = command(&["calibrate"]);
    homeless.env_remove("XDG_CACHE_HOME").env_remove("HOME");
    end(homeless.spawn().expect("a command")).expect(2).says(&["no cache folder"]);
}

/// A calibration is kept where `plan` finds it.
#[test]
#[ignore = "takes a minute"]
fn a_calibration_is_kept_for_plans() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = |words: &[&str]| {
        let mut command = command(words);
        end(command.env("XDG_CACHE_HOME", folder.path()).spawn().expect("a command"))
    };
    let seconds = |told: &Value| told["alternatives"][0]["seconds"].as_f64().unwrap();
    let plan = ["plan", "aes128", "--protocol", "wrk", "--json"];
    let usual = here(&plan).expect(0);
    assert_eq!(usual.err, "");
    let told = here(&["calibrate", "--json"]).expect(0).json();
    let file = folder.path().join("symbolon/rates.toml");
    assert_eq!(told["file"].as_str(), file.to_str());
    let units = told["units"].as_array().unwrap();
    assert!(units.len() > 20 && units.iter().all(|unit| unit["seconds"].as_f64() > Some(0.0)));
    let text = std::fs::read_to_string(&file).expect("what was kept");
    assert!(text.contains("\n\"leaky AND\" = "), "{text}");
    let slow: String = text
        .lines()
        .map(|line| match line.starts_with("\"leaky AND\"") {
            true => "\"leaky AND\" = 1.0\n".to_string(),
            false => format!("{line}\n"),
        })
        .collect();
    std::fs::write(&file, slow).expect("a file");
    let measured = here(&plan).expect(0);
    assert_eq!(measured.err, "");
    assert!(seconds(&measured.json()) > 1e3 * seconds(&usual.json()), "{}", measured.out);
}

/// What `circuit info` says about a run of `dualex` is what the run sends, to the byte.
#[test]
fn what_dualex_sends_is_forecast_to_the_byte() {
    let info = |words: &[&str]| {
        let all = [&["circuit", "info"], words, &["--protocol", "dualex", "--json"]].concat();
        symbolon(&all).expect(0).json()["dualex"].clone()
    };
    let number = |dualex: &Value, key: &str| dualex[key].as_u64().unwrap();
    for words in [
        &["add:8", "--ot", "iknp"][..],
        &["add:8", "--batch", "5", "--ot", "softspoken4", "--psi", "async"],
        &["add:16", "--batch", "3", "--rho", "64", "--kappa-b", "40", "--ot", "softspoken8"],
        &["add:8", "--batch", "9", "--kappa-b-per", "execution", "--ot", "iknp"],
    ] {
        let told = info(words);
        let values = ["--input", "x=1", "--input", "y=2", "--transport", "memory", "--json"];
        let run = [&["local", "--protocol", "dualex"], words, &values].concat();
        let run = symbolon(&run).expect(0).json();
        let parties = run["parties"].as_array().unwrap().iter();
        let phases: Vec<&Value> =
            parties.flat_map(|party| party["phases"].as_array().unwrap()).collect();
        let sent = |name: &str| -> u64 {
            let phases = phases.iter().filter(|phase| phase["phase"] == name);
            phases.map(|phase| phase["bytes_sent"].as_u64().unwrap()).sum()
        };
        assert_eq!(number(&told, "online_bytes"), sent("online"), "{words:?}");
        assert_eq!(number(&told, "bytes"), sent("dependent") + sent("online"), "{words:?}");
    }
    let aes = |more: &[&str]| info(&[&["aes128"], more].concat());
    let all = aes(&["--batch", "128"]);
    assert_eq!(all["executions"], 128);
    assert_eq!((&all["bucket"], &all["made"]), (&json!(6), &json!(1292)));
    let each = aes(&["--batch", "128", "--kappa-b-per", "execution"]);
    assert_eq!((&each["bucket"], &each["made"]), (&json!(5), &json!(1137)));
    // A larger batch is cut, and what is stored is prepared together.
    let (cut, one) = (aes(&["--batch", "257"]), aes(&[]));
    assert_eq!((&cut["executions"], &cut["preparations"]), (&json!(128), &json!(3)));
    assert_eq!(number(&cut, "bytes"), 2 * number(&all, "bytes") + number(&one, "bytes"));
    let stored = aes(&["--count", "128"]);
    assert_eq!((&stored["made"], &stored["preparations"]), (&json!(1292), &json!(1)));
    assert!(number(&stored, "online_bytes") > number(&all, "online_bytes"));
    let refused = |words: &[&str], why: &str| {
        symbolon(&[&["circuit", "info", "add:8", "--protocol"], words].concat())
            .expect(2)
            .says(&[why]);
    };
    refused(&["dualex", "--component", "x"], "dualex takes no --component");
    refused(&["dualex", "--kappa-b", "20"], "--kappa-b takes 40, 64 or 80");
    refused(&["dualex", "--kappa-b-per", "all"], "--kappa-b-per takes preparation or execution");
    refused(&["dualex", "--count", "40000"], "32768 executions together");
    refused(&["duplo", "--kappa-b", "40"], "duplo takes no --kappa-b");
    refused(&["duplo", "--ot", "iknp"], "no --ot for duplo");
    refused(&["wrk"], "no --protocol but duplo and dualex");
}
