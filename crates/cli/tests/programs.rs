//! `.sym` programs: the parties compute them, and the tools work on them.

use crate::common::{symbolon, symbolon_in};

const VOTE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sym/vote.sym");

#[test]
fn parties_compute_a_program_and_a_failed_assert_is_code_6() {
    let ballots = |last: &'static str| {
        vec![
            "local",
            VOTE,
            "--parties",
            "3",
            "--input",
            "ballot.0=[1, 0, 0, 0]",
            "--input",
            "ballot.1=[0, 0, 1, 0]",
            "--input",
            last,
        ]
    };
    let done = symbolon(&ballots("ballot.2=[1, 0, 0, 0]")).expect(0);
    assert!(done.out.contains("votes = [2, 0, 1, 0]"), "{}", done.out);
    let failed = symbolon(&ballots("ballot.2=[1, 1, 0, 0]")).expect(6);
    assert!(failed.out.contains("votes = [0, 0, 0, 0]"), "{}", failed.out);
    assert!(failed.err.contains("mark one option"), "{}", failed.err);
    assert!(failed.err.contains("line 2"), "{}", failed.err);
}

/// The batch continues, and the failed evaluation is reported.
#[test]
fn a_failed_assert_in_a_batch_is_code_6() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "fn main(x: u8 from 0, y: u8 from 1) -> (r: u8 to all) {\n    \
                  assert(x < 10, \"too large\");\n    x + y\n}\n";
    std::fs::write(folder.path().join("p.sym"), source).expect("written");
    std::fs::write(folder.path().join("one"), "1\n20\n3\n").expect("written");
    std::fs::write(folder.path().join("two"), "10\n20\n3\n").expect("written");
    let run = |protocol: &str, x: &str, more: &[&str]| {
        let words = ["local", "p.sym", "--protocol", protocol, "--batch", "3", "--input", x];
        let words = [&words[..], &["--input", "y=1"], more].concat();
        symbolon_in(folder.path(), "", &words).expect(6)
    };
    for protocol in ["wrk", "duplo", "dualex"] {
        let ended = run(protocol, "x=@one", &[]);
        assert_eq!(ended.out, "2\t0\n0\t1\n4\t0\n", "{protocol}");
        ended.says(&["evaluation 2 of 3: too large (p.sym, line 2)"]);
    }
    run("wrk", "x=@two", &["--json"])
        .says(&["2 evaluations failed, the first is evaluation 1 of 3: too large"])
        .json();
}

#[test]
fn tools_check_format_count_and_test() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "pub const N = 2;\nuse lib::twice;\nfn main(a:u8 from 0)->(r:u8 to all){twice(a)*N as u8}\n\
                  #[test]\nfn doubles(x: u8) { assert(twice(x) == x + x, \"no\"); }\n";
    std::fs::write(folder.path().join("p.sym"), source).expect("written");
    std::fs::write(folder.path().join("lib.sym"), "pub fn twice(x: u8) -> u8 { x + x }\n")
        .expect("written");
    let run = |words: &[&str]| symbolon_in(folder.path(), "", words);
    run(&["check", "p.sym"]).expect(0);
    run(&["fmt", "--check", "p.sym"]).expect(2);
    run(&["fmt", "p.sym"]).expect(0);
    run(&["fmt", "--check", "p.sym"]).expect(0);
    let formatted = std::fs::read_to_string(folder.path().join("p.sym")).expect("text");
    assert!(
        formatted.contains("fn main(a: u8 from 0) -> (r: u8 to all) { twice(a) * N as u8 }"),
        "{formatted}"
    );
    assert!(run(&["test", "p.sym"]).expect(0).out.contains("doubles: passed"));
    assert_eq!(run(&["test", "p.sym", "--list"]).expect(0).out, "doubles\n");
    let failing = "fn f(a: u16) -> u8 { a as u8 }\n\
                   fn main(a: u16 from 0) -> (r: u8 to all) { f(a) }\n\
                   #[test]\nfn keeps(a: u16) {\n    assert!(f(a) as u16 == a);\n}\n";
    std::fs::write(folder.path().join("q.sym"), failing).expect("written");
    let failed = run(&["test", "q.sym"]).expect(2).out;
    let wanted =
        "keeps: FAILED: q.sym:5: it failed: assertion failed: f(a) as u16 == a with a = 256";
    assert!(failed.contains(wanted), "{failed}");
    let warned = run(&["check", "q.sym"]).expect(0).err;
    assert!(warned.contains("warning[W10]") && warned.contains("q.sym:1:22"), "{warned}");
    let warned = run(&["check", "q.sym", "--json"]).expect(0).json();
    let one = (warned[0]["level"].as_str(), warned[0]["lint"].as_str(), warned[1].as_object());
    assert_eq!(one, (Some("warning"), Some("narrowing"), None));
    let checked = format!("#![checked]\n{failing}");
    std::fs::write(folder.path().join("q.sym"), checked).expect("written");
    assert_eq!(
        run(&["check", "q.sym", "--json"]).expect(0).json().as_array().map(Vec::len),
        Some(0)
    );
    run(&["eval", "q.sym", "--input", "a=255"]).expect(0);
    run(&["eval", "q.sym", "--input", "a=256"])
        .expect(6)
        .says(&["`a as u8` does not fit", "line 2"]);
    let cost = run(&["cost", "p.sym", "--const", "N=3", "--json"]).expect(0).json();
    assert!(cost["ands"].as_u64().is_some_and(|ands| ands > 0), "{cost}");
    let eval = ["circuit", "eval", "p.sym", "--const", "N=5", "--input", "a=7"];
    assert_eq!(run(&eval).expect(0).out, "r = 70\n");
    run(&["circuit", "eval", "add:8", "--const", "N=5"]).expect(2).says(&["for `.sym` programs"]);
    std::fs::write(folder.path().join("bad.sym"), "fn main(a: u8 from 0) -> (r: u8 to all) { b }")
        .expect("written");
    let errors = run(&["check", "bad.sym", "--json"]).expect(2).json();
    assert_eq!((errors[0]["code"].as_str(), errors[0]["line"].as_u64()), (Some("E02"), Some(1)));
}

/// `--owner` is taken wherever a program is measured, and means the same.
#[test]
fn owners_are_given_to_check_cost_and_bench() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "fn main(a: u8 from 0, b: u8 from 1) -> (r: u8 to all) { a * b }\n";
    std::fs::write(folder.path().join("p.sym"), source).expect("written");
    let tests = "#[test]\nfn first() {}\n#[test]\nfn second() {}\n";
    std::fs::write(folder.path().join("t.sym"), tests).expect("written");
    let run = |words: &[&str]| symbolon_in(folder.path(), "", words);
    let bench = &["bench", "p.sym", "--repeat", "1"][..];
    for command in [&["check", "p.sym"][..], &["cost", "p.sym", "--json"], bench] {
        let with = |more: &[&str]| run(&[command, more].concat());
        with(&["--owner", "a=1"]).expect(0);
        with(&["--owner", "c=0"]).expect(2).says(&["no input of that name", "`a`, `b`"]);
        with(&["--owner", "a=2", "--parties", "2"]).expect(2).says(&["2"]);
    }
    let cost = |more: &[&str]| run(&[&["cost", "p.sym", "--json"], more].concat()).expect(0).json();
    let (plain, third) = (cost(&[]), cost(&["--owner", "a=2"]));
    assert_eq!((plain["parties"].as_u64(), third["parties"].as_u64()), (Some(2), Some(3)));
    assert_eq!(plain["ands"], third["ands"]);
    assert_ne!(plain["bytes"], cost(&["--owner", "a=share"])["bytes"]);
    run(&["check", "t.sym", "--owner", "a=0"]).expect(2).says(&["no inputs for --owner"]);
    run(&["bench", "triples", "--owner", "a=0"]).expect(2).says(&["takes no --owner"]);
    assert_eq!(run(&["test", "t.sym", "--list"]).expect(0).out, "first\nsecond\n");
    run(&["test", "t.sym", "--list", "--seed", "1"]).expect(2);
}

/// Errors are shown with their lines and without control characters; the command's error is one
/// line.
#[test]
fn errors_of_a_program_are_shown_by_all_that_compile_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "fn main(a: u8 from 0) -> (r: u8 to all) {\n    lost /* \x1b[2J */\n}\n";
    std::fs::write(folder.path().join("p.sym"), source).expect("written");
    let commands: [&[&str]; 6] = [
        &["check", "p.sym"],
        &["cost", "p.sym"],
        &["test", "p.sym"],
        &["circuit", "info", "p.sym"],
        &["circuit", "eval", "p.sym", "--input", "a=1"],
        &["local", "p.sym", "--input", "a=1"],
    ];
    for words in commands {
        let told = symbolon_in(folder.path(), "", words).expect(2).err;
        assert!(told.contains("error[E02]: there is no value `lost`\n"), "{words:?}: {told}");
        assert!(told.contains("p.sym:2:5\n"), "{words:?}: {told}");
        assert!(told.lines().any(|line| line == "error: p.sym has 2 errors"), "{words:?}: {told}");
        assert!(!told.contains('\x1b') && !told.contains("\\n"), "{words:?}: {told}");
    }
}

#[test]
fn values_come_from_files_by_the_signature() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    write(
        "p.sym",
        "struct Row { id: u16, pay: u32 }\n\
         fn main(a: [Row; 3] from 0, b: [u16; 3] from 1) -> (sum: u32 to all, last: Row to 1) {\n\
             let mut sum = 0;\n\
             for (row, id) in zip(a, b) { if row.id == id { sum += row.pay; } }\n\
             (sum, a[2])\n\
         }\n",
    );
    write("a.csv", "\u{feff}name;pay;id\nann;100;7\nbob;200;8\n");
    write("b.txt", "7\n8\n");
    write("bad.txt", "7\n123456\n9\n");
    let run = |words: &[&str]| symbolon_in(folder.path(), "", words);
    let words =
        ["eval", "p.sym", "--input", "a=@a.csv#id,pay", "--input", "b=@b.txt", "--pad", "--json"];
    let done = run(&words).expect(0).json();
    assert_eq!(done["outputs"][0]["value"], "300", "{done}");
    assert_eq!(done["outputs"][1]["value"]["pay"], "0", "{done}");
    let short = run(&words[..6]).expect(2);
    short.says(&["a.csv", "3 elements expected, 2 given", "hint: `--pad` fills up"]);
    let bad = run(&["eval", "p.sym", "--input", "a=@a.csv", "--input", "b=@bad.txt", "--pad"]);
    let bad = bad.expect(2).says(&["bad.txt", "line 2, element 1", "does not fit"]);
    assert!(!bad.err.contains("123456"), "{}", bad.err);
    // Built-in circuits, too; and printed values can be given again.
    write("list.json", "[\"3\",\n \"1\",\n \"2\"]");
    let sort = ["eval", "sort:4x8", "--pad", "--input", "0=@list.json", "--input", "1=9"];
    let sorted = run(&sort).expect(0).out;
    assert!(sorted.starts_with("sorted = ["), "{sorted}");
    let local = ["local", "p.sym", "--transport", "memory", "--pad"];
    let inputs = ["--input", "a=@a.csv", "--input", "b=@b.txt"];
    let save = ["--save", "last=last.csv", "--save", "sum=sum.json"];
    let out = run(&[&local[..], &inputs, &save].concat()).expect(0).out;
    assert!(out.contains("sum = 300"), "{out}");
    let saved = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("saved");
    assert_eq!(
        (saved("last.csv").as_str(), saved("sum.json").as_str()),
        ("id,pay\n0,0\n", "300\n")
    );
}

#[test]
fn cost_is_told_as_text_json_and_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |words: &[&str]| symbolon_in(folder.path(), "", words);
    let text = run(&["cost", VOTE, "--parties", "3"]).expect(0).out;
    assert!(text.contains("main") && text.contains("vote.sym:2") && !text.contains("-0"), "{text}");
    let cost = run(&["cost", VOTE, "--parties", "3", "--json", "--html", "p.html"]).expect(0);
    let cost = cost.json();
    let lines = cost["lines"].as_array().expect("a list");
    let sum = |of: &str| -> u64 { lines.iter().filter_map(|line| line[of].as_u64()).sum() };
    assert_eq!(Some(sum("ands")), cost["ands"].as_u64());
    assert_eq!(Some(sum("asked") - sum("ands")), cost["unused"].as_u64());
    assert_eq!(cost["bytes"][0]["protocol"], "ywz", "{cost}");
    assert!(
        cost["bytes"][0]["triple_bytes"].as_u64() > cost["bytes"][0]["bytes"].as_u64(),
        "{cost}"
    );
    let info = run(&["circuit", "info", VOTE, "--parties", "3", "--json"]).expect(0).json();
    assert_eq!(cost["depth"], info["and_depth"], "{cost} {info}");
    assert!(cost["live_wires"].as_u64() >= cost["components"][0]["live_wires"].as_u64(), "{cost}");
    let aes = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sym/gcm.sym");
    let aes = run(&["cost", aes, "--const", "BLOCKS=1", "--json"]).expect(0).json();
    for (place, of) in [("lines", "lookups"), ("functions", "lookups"), ("lines", "ands")] {
        let all = aes[place].as_array().expect("a list").iter();
        let sum: u64 = all.filter_map(|one| one[of].as_u64()).sum();
        assert_eq!(Some(sum), aes[of].as_u64(), "{place}: {aes}");
    }
    let page = std::fs::read_to_string(folder.path().join("p.html")).expect("a page");
    assert!(page.contains("fn main(ballot") && page.contains("AND gates"), "{page}");
    for part in ["of triples", "prefers-color-scheme: dark", "width=device-width"] {
        assert!(page.contains(part), "no `{part}` in {page}");
    }
    assert!(!page.contains("<script") && !page.contains("http:"), "it loads nothing");
    let tested = run(&["test", VOTE]).expect(0).out;
    assert!(tested.ends_with("1 test passed\n"), "{tested}");
    let info = run(&["circuit", "info", "sha256", "--json"]).expect(0).json();
    assert_eq!(
        info["component_list"].as_array().map(Vec::len),
        Some(info["components"].as_u64().unwrap() as usize)
    );
}

/// The bytes that `cost` says are a run's.
#[test]
fn the_bytes_of_cost_are_those_of_a_run() {
    const CBCMAC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sym/cbcmac.sym");
    let constant = ["--const", "BLOCKS=2"];
    let cost = symbolon(&[&["cost", CBCMAC, "--json"], &constant[..]].concat()).expect(0).json();
    let inputs = ["--input", "key=hex:1", "--input", "message=hex:2"];
    for told in cost["bytes"].as_array().expect("a list") {
        let protocol = told["protocol"].as_str().expect("a name");
        let mut words = vec!["local", CBCMAC, "--transport", "memory", "--json"];
        words.extend(constant.iter().chain(&inputs));
        words.extend(["--protocol", protocol, "--ot", told["ot"].as_str().expect("a name")]);
        if let Some(form) = told["form"].as_str() {
            words.extend(["--form", form]);
        }
        let run = symbolon(&words).expect(0).json();
        let parties = run["parties"].as_array().expect("a list").iter();
        let phases = parties.flat_map(|party| party["phases"].as_array().expect("a list"));
        let phases = phases.filter(|p| p["phase"] != "setup");
        let sent: u64 = phases.filter_map(|phase| phase["bytes_sent"].as_u64()).sum();
        let number = |name: &str| told[name].as_u64().expect("a number");
        let most = number("bytes") * number("within_percent") / 100;
        let told = number("bytes") + number("triple_bytes");
        assert!(sent.abs_diff(told) <= most, "{protocol}: {told} told, {sent} sent");
    }
}

/// Each program of `examples/sym`, small, with its inputs and an output.
const PROGRAMS: [(&str, &[&str], &[&str], &str); 10] = [
    (
        "psi",
        &["--const", "N=2"],
        &["a=[[3, 10], [7, 20]]", "b=[[1, 5], [7, 6]]"],
        "[[7, 26], null]",
    ),
    ("auction", &[], &["bid.0=30", "bid.1=90"], "winner = 1"),
    ("salaries", &["--const", "LEAST=2"], &["salary.0=100", "salary.1=300"], "mean = 200"),
    ("score", &[], &["w=hex:0", "bias=0", "x=hex:0"], "score = 0."),
    (
        "nearest",
        &["--const", "N=5"],
        &["points=hex:0", "query=[0, 0, 0, 0, 0, 0, 0, 0]"],
        "class = 0",
    ),
    (
        "orders",
        &["--const", "N=2", "--pad"],
        &["bids=[{\"price\": 9, \"amount\": 4}]", "asks=[{\"price\": 8, \"amount\": 3}]"],
        "volume = 3",
    ),
    ("edit", &["--const", "N=3"], &["a=[1, 2, 3]", "b=[2, 3, 4]"], "distance = 2"),
    (
        "cbcmac",
        &["--const", "BLOCKS=1"],
        &["key=hex:0", "message=hex:0"],
        "tag = [102, 233, 75, 212, 239",
    ),
    (
        "gcm",
        &["--const", "BLOCKS=1"],
        &["key=hex:0", "nonce=hex:0", "header=hex:0", "text=hex:0"],
        "cipher = [[3, 136, 218, 206",
    ),
    ("vote", &[], &["ballot.0=[1, 0, 0, 0]", "ballot.1=[1, 0, 0, 0]"], "votes = [2, 0, 0, 0]"),
];

/// Checks that two parties compute the program with this protocol.
fn computes(program: (&str, &[&str], &[&str], &str), protocol: &[&str]) {
    let (name, options, inputs, expected) = program;
    let file = format!("{}/../../examples/sym/{name}.sym", env!("CARGO_MANIFEST_DIR"));
    let mut words = vec!["local", &file, "--transport", "memory"];
    words.extend(options.iter().chain(protocol));
    inputs.iter().for_each(|input| words.extend(["--input", input]));
    let out = symbolon(&words).expect(0).out;
    assert!(out.contains(expected), "{name} {protocol:?}: {out}");
}

#[test]
fn small_examples_run_with_cut_and_choose() {
    for program in PROGRAMS.iter().filter(|program| ["auction", "vote"].contains(&program.0)) {
        computes(*program, &["--protocol", "duplo"]);
        computes(*program, &["--protocol", "dualex"]);
    }
}

#[test]
#[ignore = "takes some minutes"]
fn every_example_runs_with_cut_and_choose() {
    for program in PROGRAMS {
        computes(program, &["--protocol", "duplo"]);
        computes(program, &["--protocol", "dualex"]);
    }
}

#[test]
fn every_example_runs_with_every_protocol_of_triples() {
    let protocols = [
        &["--protocol", "wrk", "--form", "four-row"][..],
        &["--protocol", "wrk", "--form", "half-gates"],
        &["--protocol", "ywz"],
        &["--protocol", "tinytable"],
    ];
    for program in PROGRAMS {
        protocols.iter().for_each(|protocol| computes(program, protocol));
    }
    // Programs for any number of parties, among three.
    for (name, inputs, expected) in [
        ("auction", ["bid.0=30", "bid.1=90", "bid.2=70"], "price.1 = 70"),
        ("salaries", ["salary.0=100", "salary.1=null", "salary.2=300"], "mean = 200"),
        (
            "vote",
            ["ballot.0=[1, 0, 0, 0]", "ballot.1=[0, 0, 0, 1]", "ballot.2=[0, 0, 0, 1]"],
            "[1, 0, 0, 2]",
        ),
    ] {
        let file = format!("{}/../../examples/sym/{name}.sym", env!("CARGO_MANIFEST_DIR"));
        let mut words = vec!["local", &file, "--transport", "memory", "--parties", "3"];
        if name == "salaries" {
            words.extend(["--const", "LEAST=2"]);
        }
        inputs.iter().for_each(|input| words.extend(["--input", input]));
        let out = symbolon(&words).expect(0).out;
        assert!(out.contains(expected), "{name}: {out}");
    }
}

#[test]
fn three_hospitals_join_their_patients_by_address() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hospitals");
    let input = |value: &str| value.replacen('@', &format!("@{folder}/"), 1);
    let inputs = [
        "diagnosed=@north.csv#email|sha256,diagnosis",
        "billed=@south.csv#email|sha256,cost",
        "stayed=@west.csv#email|sha256,days",
    ];
    let inputs = inputs.map(input);
    let program = format!("{folder}/hospitals.sym");
    let mut words = vec!["local", &program];
    words.extend(inputs.iter().flat_map(|input| ["--input", input]));
    let done = symbolon(&words).expect(0);
    for line in ["patients = 2\n", "cost = 7150\n", "days = 13\n"] {
        assert!(done.out.contains(line), "{}", done.out);
    }
    let other = input("stayed=@west.csv#email|md5,days");
    *words.last_mut().expect("an input") = &other;
    symbolon(&words).expect(2).says(&["there is no `md5`", "`sha256` and `hex`"]);
}

#[test]
fn texts_are_given_and_printed_as_texts() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "fn main(a: text<8> from 0, b: [Option<text<4>>; 2] from 1)
        -> (longer: text<9> to all, all: [Option<text<4>>; 2] to all) { (a.resize(), b) }";
    std::fs::write(folder.path().join("p.sym"), source).expect("written");
    std::fs::write(folder.path().join("b.csv"), "x,y\nNg,1\n,2\n").expect("written");
    let words =
        ["circuit", "eval", "p.sym", "--input", "a=Zo\u{eb}, \u{7}", "--input", "b=@b.csv#x"];
    let done = symbolon_in(folder.path(), "", &words).expect(0);
    let expected = "longer = \"Zo\u{eb}, \\u0007\"\nall = [\"Ng\", null]\n";
    assert_eq!(done.out, expected);
    let json = symbolon_in(folder.path(), "", &[&words[..], &["--json"]].concat()).expect(0).json();
    assert_eq!(json["outputs"][0]["value"], "Zo\u{eb}, \u{7}");
    assert_eq!(json["outputs"][0]["type"], "text<9>");
    let long = ["circuit", "eval", "p.sym", "--input", "a=123456789", "--input", "b=@b.csv#x"];
    let refused = symbolon_in(folder.path(), "", &long).expect(2);
    assert!(!refused.err.contains("123456789"), "{}", refused.err);
    refused.says(&["at most 8 bytes of UTF-8 fit, 9 given"]);
}

#[test]
fn values_of_clients_are_given_as_lists() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "fn main(bid: [Option<u16>; 3] from clients, unit: [Option<u2>; 3] from clients, \
                  floor: u16 from 0) -> (best: u16 to all, all: [u16; 3] to clients) {\n    \
                  let mut best = floor;\n    \
                  for b in bid { best = max(best, b.unwrap_or(0)); }\n    \
                  for u in unit { best += u.unwrap_or(0) as u16; }\n    \
                  (best, [best; 3])\n}\n";
    std::fs::write(folder.path().join("p.sym"), source).expect("written");
    let run = |words: &[&str]| symbolon_in(folder.path(), "", words);
    let given = ["--input", "floor=9", "--input", "bid=[7, null, 90]"];
    let unit = ["--input", "unit=[1, null, 3]"];
    let ended = run(&[&["eval", "p.sym"][..], &given, &unit].concat()).expect(0);
    assert_eq!(ended.out, "best = 94\nall = [94, 94, 94]\n");
    let local = ["local", "p.sym", "--transport", "memory", "--parties", "3"];
    let ended = run(&[&local[..], &given, &unit].concat()).expect(0);
    assert!(
        ended.out.contains("best = 94\nclients.counted = [true, false, true]"),
        "{}",
        ended.out
    );
    run(&[&local[..], &given].concat()).expect(2).says(&["no value for input `unit`"]);
    let other = ["--input", "unit=[1, 1, 1]"];
    run(&[&local[..], &given, &other].concat()).expect(2).says(&["client 1 gives some values"]);
    run(&["check", "p.sym"]).expect(2).says(&["error[E08]", "say `--parties N`"]);
    run(&["check", "p.sym", "--parties", "2"]).expect(0);
}

#[test]
fn a_value_that_all_parties_share_is_given_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "pub const NAME: text<8> = \"bob\";\n\
                  fn main(x: text<8> from 0, k: u32 from share) -> (r: u32 to all, is: bool to 0) {\n    \
                  (k + 1, x == NAME)\n}\n";
    std::fs::write(folder.path().join("p.sym"), source).expect("written");
    let run = |words: &[&str]| symbolon_in(folder.path(), "", words);
    for command in [&["eval", "p.sym"][..], &["local", "p.sym", "--transport", "memory"]] {
        for parties in ["2", "3"] {
            let given = ["--parties", parties, "--input", "x=bob", "--input", "k=41"];
            let ended = run(&[command, &given].concat()).expect(0);
            assert_eq!(ended.out, "r = 42\nis = true\n", "{command:?} {parties}");
        }
        let named = ["--input", "x=alice", "--input", "k=41", "--const", "NAME=alice"];
        let ended = run(&[command, &named].concat()).expect(0);
        assert_eq!(ended.out, "r = 42\nis = true\n");
        let shares = ["--input", "x=bob", "--input", "k.0=40", "--input", "k.1=1"];
        run(&[command, &shares].concat()).expect(0);
        let twice = ["--input", "x=bob", "--input", "k.0=40", "--input", "k=1"];
        run(&[command, &twice].concat()).expect(2).says(&["input `k.0` is given twice"]);
        let wide = ["--input", "x=bob", "--input", "k=12345678901"];
        let ended = run(&[command, &wide].concat()).expect(2).says(&["`k`"]);
        assert!(!ended.err.contains("12345678901"));
        let long = ["--input", "x=bob", "--input", "k=1", "--const", "NAME=bartholomew"];
        let too_long = "this text has 11 bytes, more than `text<8>` holds";
        run(&[command, &long].concat()).expect(2).says(&[too_long]);
    }
    let owner = ["eval", "add:8", "--parties", "3", "--owner", "x=share", "--input", "y=1"];
    let ended = run(&[&owner[..], &["--input", "x=41"]].concat()).expect(0);
    assert_eq!(ended.out, "sum = 42\n");
}
