//! What could mean two things, or nothing, is refused or told, before anything is read, sent or
//! used up.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::pair::Pair;
use crate::common::{Ended, symbolon, symbolon_in};

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn run(folder: &Path, words: &[&str]) -> Ended {
    symbolon_in(folder, "", words)
}

/// If a hole were read to the limit, each of these would take seconds and up to a gigabyte.
#[test]
fn holes_of_sparse_files_are_not_read() {
    let folder = folder(&[]);
    let hole = |name: &str, begin: &[u8], length: u64| {
        let path = folder.path().join(name);
        fs::write(&path, begin).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
    };
    hole("huge.sbc", b"\x89SBC\x02", 1 << 42);
    hole("huge.txt", b"1\n", 1 << 42);
    hole("zeros.txt", b"", 200 << 20);
    hole("values.txt", b"1\n2\n", 200 << 20);
    let begun = Instant::now();
    for (words, text) in [
        (["circuit", "info", "huge.sbc", "--json"], "a circuit from huge.sbc: it is too long"),
        (["circuit", "info", "./huge.txt", "--json"], "it is too long"),
        (["circuit", "info", "./zeros.txt", "--json"], "it is not text"),
        (["eval", "add:8", "--input", "x=@huge.txt"], "a value from huge.txt: it is too long"),
        (["eval", "add:8", "--input", "x=@zeros.txt"], "a value from zeros.txt: it is not text"),
        (["eval", "add:8", "--input", "x=@values.txt"], "it is not text"),
        (["parts", "huge.txt", "--local", "--json"], "it is too long"),
        (["run", "add:8", "--config", "huge.txt"], "it is too long"),
    ] {
        run(folder.path(), &words).expect(2).says(&[text]);
    }
    for (name, text) in [("huge.txt", "it is too long"), ("zeros.txt", "it is not text")] {
        let mut command = crate::common::command(&["eval", "add:8", "--input", "x=-"]);
        let file = File::open(folder.path().join(name)).unwrap();
        crate::common::end(command.stdin(file).spawn().unwrap()).expect(2).says(&[text]);
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn a_number_has_one_meaning_in_every_column() {
    let folder = folder(&[
        (
            "vf.sym",
            "fn main(a: [f64; 3] from 0, b: [fixed<12, 4>; 3] from 0) -> (o: [f64; 3] to all, \
             p: [fixed<12, 4>; 3] to all) { (a, b) }\n",
        ),
        ("inf.csv", "1e400\n1\n1\n"),
        ("floats.csv", "0x10\ninf\nhex:3ff0000000000000\n"),
        ("fixed.csv", "0x10\n16\n-0x1\n"),
        ("raw.csv", "hex:10\nbits:0000100000000000\nhex:fff0\n"),
    ]);
    let eval = |a: &str, b: &str| {
        let (a, b) = (format!("a=@{a}"), format!("b=@{b}"));
        run(folder.path(), &["eval", "vf.sym", "--input", &a, "--input", &b])
    };
    let refused = eval("inf.csv", "fixed.csv").expect(2);
    refused.says(&["inf.csv", "line 1, element 0: beyond the largest number"]);
    let out = eval("floats.csv", "fixed.csv").expect(0).out;
    assert_eq!(out, "o = [16.0, inf, 1.0]\np = [16.0, 16.0, -1.0]\n");
    assert!(eval("floats.csv", "raw.csv").expect(0).out.ends_with("p = [1.0, 1.0, -1.0]\n"));
    for value in ["1e400", "-1e400"] {
        let value = format!("a=[{value}, 1, 1]");
        run(folder.path(), &["eval", "vf.sym", "--input", &value, "--input", "b=1,1,1"])
            .expect(2)
            .says(&["element 0: beyond the largest"]);
    }
}

#[test]
fn json_values_are_json() {
    let folder = folder(&[
        ("good.json", "{\"pay\": [1, 2, 3]}"),
        ("list.json", "[1, 2, 3]\n"),
        ("comma.json", "[1, 2,\n3,]"),
        ("zero.json", "[01, 2, 3]"),
        ("key.json", "{\"pay\": [01, 2, 3]}"),
        ("comma.txt", "[1, 2, 3,]"),
    ]);
    let sort = |value: &str| {
        let value = format!("0={value}");
        run(folder.path(), &["eval", "sort:3x8", "--input", &value, "--input", "1=0,0,0"])
    };
    for value in ["@good.json#pay", "@list.json"] {
        sort(value).expect(0);
    }
    sort("@comma.json").expect(2).says(&["comma.json", "line 2: this is not JSON"]);
    sort("@zero.json").expect(2).says(&["zero.json", "line 1: this is not JSON: invalid number"]);
    sort("@key.json#pay").expect(2).says(&["this is not JSON"]);
    sort("@comma.txt").expect(2).says(&["a comma follows the last element"]);
    sort("[01,2,3]").expect(2).says(&["begins with a 0 too many"]);
}

#[test]
fn hints_name_the_option_that_would_do() {
    let folder = folder(&[
        ("three.sym", "fn main(a: u8 from 0, b: u8 from 2) -> (c: u8 to all) { a + b }\n"),
        (
            "lists.sym",
            "pub const N = 3;\nfn main(a: [[u8; N]; PARTIES] from each, b: [u8; N] from 0, \
             c: [u8; 2] from 0) -> (d: u8 to all) { a[0][0] ^ a[1][0] ^ b[0] ^ c[0] }\n",
        ),
        ("two.txt", "1\n2\n"),
    ]);
    let words = ["local", "three.sym", "--input", "a=1", "--input", "b=2"];
    let says = ["there is no party 2: there are 2 from 0", "--parties 3"];
    run(folder.path(), &words).expect(2).says(&says);
    let three = [&words[..], &["--parties", "3", "--transport", "memory"]].concat();
    assert_eq!(run(folder.path(), &three).expect(0).out, "c = 3\n");
    run(folder.path(), &["local", "add:8", "--owner", "x=2"]).expect(2).says(&["--parties 3"]);

    let eval = |value: &str| run(folder.path(), &["eval", "lists.sym", "--input", value]).expect(2);
    let constant = "hint: `--const N=2`, the same for all parties, makes it fit";
    eval("b=1,2").says(&["3 elements expected, 2 given", constant]);
    eval("a.1=@two.txt").says(&["two.txt", "`--pad` fills up", "`--const N=2`"]);
    let other = eval("c=1,2,3");
    assert!(!other.err.contains("--const"), "{}", other.err);
    let words = ["eval", "lists.sym", "--const", "N=2", "--input", "b=1,2", "--input", "c=1,2"];
    run(folder.path(), &[&words[..], &["--input", "a.0=1,2", "--input", "a.1=@two.txt"]].concat())
        .expect(0);
}

#[test]
fn of_an_option_that_is_given_twice_the_last_counts() {
    let words = ["local", "add:8", "--transport", "memory", "--input", "x=1", "--input", "y=2"];
    let twice = ["--timeout", "0.001", "--timeout", "60", "--rho", "64", "--rho", "40", "--json"];
    let done = symbolon(&[&words[..], &twice, &["--json"]].concat()).expect(0).json();
    assert_eq!(done["rho"], 40, "{done}");
}

/// Party 1's own assert is the last of three.
const CHECKED: &str = "fn main(a: u8 from 0, b: u8 from 1) -> (c: u8 to all) {\n\
    \x20   assert(a != b, \"they are the same\");\n\
    \x20   assert(a < 100, \"a is too large\");\n\
    \x20   assert(b < 100, \"b is too large\");\n\
    \x20   a ^ b\n}\n";

#[test]
fn an_assert_on_own_inputs_uses_nothing_up() {
    let pair = Pair::unlocked();
    let program = pair.path("checked.sym");
    fs::write(&program, CHECKED).unwrap();
    let prepared = pair.both(&["prepare", &program, "--json"], [&[]; 2]);
    let [zero, one] = prepared.map(|ended| ended.expect(0).json());
    assert_eq!((&zero["format"], &zero["items"]), (&"symbolon-prepare-1".into(), &one["items"]));
    assert_eq!((zero["from_pools"].as_u64(), zero["batch"].as_u64()), (Some(0), Some(1)), "{zero}");
    assert_eq!(zero["parties"][0]["party"], 0, "{zero}");

    // Nobody waits at the other end, so nothing was sent either.
    pair.meet();
    let alone = |party: &str, input: &str| {
        let config = pair.path(&format!("{party}.toml"));
        symbolon(&["run", &program, "--prepared", "--config", &config, "--input", input])
    };
    for (party, input, text) in [("0", "a=100", "a is too large"), ("1", "b=255", "b is too large")]
    {
        let ended = alone(party, input).expect(6);
        let ended = ended.says(&[text, "checked.sym, line", "nothing prepared was used up"]);
        assert!(ended.out.is_empty(), "{}", ended.out);
    }
    let config = pair.path("1.toml");
    symbolon(&["run", &program, "--config", &config, "--input", "b=100"]).expect(6);
    fs::write(pair.path("b.txt"), "1\n2\n200\n").unwrap();
    let input = format!("b=@{}", pair.path("b.txt"));
    symbolon(&["run", &program, "--config", &config, "--batch", "3", "--input", &input])
        .expect(6)
        .says(&["evaluation 3 of 3: ", "b is too large"]);
    assert!(pair.look(0, "ls").expect(0).out.contains("1 run"));
    assert!(pair.look(1, "ls").expect(0).out.contains("1 run"));

    // What depends on both is only found together.
    let ran =
        pair.both(&["run", &program, "--prepared"], [&["--input", "a=7"], &["--input", "b=7"]]);
    for ended in ran {
        ended.expect(6).says(&["they are the same"]);
    }
    let listed = pair.look(0, "ls").expect(0).out;
    let used = listed.lines().find(|line| line.contains("used")).expect("a used item");
    assert!(used.trim_end().ends_with(" -"), "{listed}");
    let json = pair.look_with(0, "ls", &["--json"]).expect(0).json();
    assert_eq!(
        (&json["items"][0]["state"], json["items"][0]["bytes"].as_u64()),
        (&"used".into(), Some(0))
    );
}

#[test]
fn settings_that_a_command_has_no_option_for_are_refused_where_they_matter() {
    let pair = Pair::unlocked();
    pair.meet();
    let config = pair.path("0.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("json = true\n{text}")).unwrap();
    symbolon(&["preprocess", "--gates", "9", "--config", &config])
        .expect(2)
        .says(&["`json = true`", "preprocess"]);
    fs::write(&config, format!("json = false\n{text}")).unwrap();
    symbolon(&["preprocess", "--config", &config]).expect(2).says(&["--gates"]);
    // `prepare` prints JSON, also of a failure.
    fs::write(&config, format!("json = true\nrho = 41\n{text}")).unwrap();
    let failed = symbolon(&["prepare", "add:8", "--config", &config]).expect(2).json();
    assert_eq!(failed["format"], "symbolon-failure-1");
}

#[test]
fn what_is_left_of_a_pool_without_gates_is_spent() {
    let pair = Pair::unlocked();
    let fill = ["preprocess", "--gates", "128", "--input-bits", "640"];
    for ended in pair.both(&fill, [&[]; 2]) {
        ended.expect(0);
    }
    let fresh = pair.look(0, "ls").expect(0).out;
    assert!(fresh.contains("available") && !fresh.contains("spent"), "{fresh}");
    for ended in pair.both(&["prepare", "add:8", "--from-pools"], [&[]; 2]) {
        ended.expect(0);
    }
    let left = pair.look(0, "ls").expect(0).out;
    assert!(left.contains("spent: no gates are left"), "{left}");
    let json = pair.look_with(0, "ls", &["--json"]).expect(0).json();
    let items = json["items"].as_array().unwrap();
    let pool = items.iter().find(|item| item["kind"] == "pool").unwrap();
    assert_eq!(
        (&pool["state"], &pool["reason"]),
        (&"available".into(), &"no gates are left".into())
    );
}

#[test]
fn foreign_files_are_read_as_they_are_meant() {
    let up = ".model up\n.inputs a[1] a[0] b\n.outputs y[0] y[1]\n.names a[1] b y[0]\n11 1\n\
              .names a[0] y[1]\n1 1\n.end\n";
    let folder = folder(&[
        ("comment.txt", "// by hand\n# two lines\n\n1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n"),
        ("up.blif", up),
        ("yosys.blif", &format!("# Generated by Yosys 0.23\n\n{up}")),
        ("undef.blif", ".model m\n.inputs a\n.outputs u\n.names $undef\n.names $undef u\n1 1\n"),
    ]);
    let eval = |file: &str, inputs: [&str; 2]| {
        let words = ["eval", file, "--input", inputs[0], "--input", inputs[1]];
        run(folder.path(), &words)
    };
    assert_eq!(eval("comment.txt", ["0=1", "1=1"]).expect(0).out, "out0 = 1\n");
    let by_index = eval("up.blif", ["a=2", "b=1"]).expect(0);
    assert_eq!(by_index.out, "y = 1\n");
    let says = ["warning: up.blif: port `a` is listed from bit 1 down to bit 0"];
    assert_eq!(by_index.says(&says).err.matches("warning").count(), 1);
    let upwards = eval("yosys.blif", ["a=1", "b=1"]).expect(0);
    assert_eq!(upwards.out, "y = 1\n");
    upwards.says(&["warning: yosys.blif: port `a` is counted upwards"]);
    eval("undef.blif", ["a=1", "a=1"]).expect(2).says(&["output `u`: a bit without a value"]);
}
