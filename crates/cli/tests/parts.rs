//! `symbolon parts`: outputs that are passed to the next part without being opened.

use crate::common::pair::Pair;
use crate::common::symbolon;

const PLAN: &str = r#"
[[part]]
name = "sum"
circuit = "add:8"
outputs = { sum = "none" }

[[part]]
name = "double"
circuit = "add:8"
links = { x = "sum.sum", y = "sum.sum" }

[[part]]
name = "again"
circuit = "add:8"
links = { x = "double.sum" }
when = "double.sum = 14"

[[part]]
name = "last"
circuit = "add:8"
links = { x = "double.sum", y = "sum.sum" }
outputs = { sum = "1" }
"#;

fn plan(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    std::fs::write(&path, text).unwrap();
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

#[test]
fn what_nobody_learnt_goes_on_and_what_was_opened_decides() {
    let (_folder, path) = plan(PLAN);
    let base = ["parts", &path, "--local", "--protocol", "duplo", "--input", "again.y=1"];
    for (x, y, out) in [
        ("3", "4", "double.sum = 14\nagain.sum = 15\nlast.sum = 21\n"),
        ("3", "5", "double.sum = 16\nlast.sum = 24\n"),
    ] {
        let (x, y) = (format!("sum.x={x}"), format!("sum.y={y}"));
        let words = [&base[..], &["--input", &x, "--input", &y, "--costs"]].concat();
        assert_eq!(symbolon(&words).expect(0).says(&["dependent"]).out, out);
    }
}

#[test]
fn two_parties_meet_and_each_learns_what_is_for_it() {
    let pair = Pair::unlocked();
    let path = pair.path("plan.toml");
    std::fs::write(&path, PLAN).unwrap();
    let own: [&[&str]; 2] =
        [&["--input", "sum.x=3"], &["--input", "sum.y=4", "--input", "again.y=9"]];
    let [zero, one] = pair.both(&["parts", &path, "--protocol", "duplo"], own);
    assert_eq!(zero.expect(0).out, "double.sum = 14\nagain.sum = 23\n");
    assert_eq!(one.expect(0).out, "double.sum = 14\nagain.sum = 23\nlast.sum = 21\n");
}

/// A difference that would only show after parts have run is reported before anything runs.
#[test]
fn plans_that_differ_are_refused_in_the_handshake() {
    for (from, to, says) in [
        ("\"double.sum = 14\"", "\"double.sum = 16\"", ["part 3: when", "= 14", "= 16"]),
        ("when = \"double.sum = 14\"\n", "", ["part 3: when", "= 14", "always"]),
        (
            "y = \"sum.sum\" }\noutputs",
            "y = \"double.sum\" }\noutputs",
            ["part 4: links", "y = sum", "y = double"],
        ),
        (
            "outputs = { sum = \"1\" }",
            "outputs = { sum = \"0\" }",
            ["part 4: circuit", "ours", "theirs"],
        ),
    ] {
        let pair = Pair::unlocked();
        let paths = [("zero.parts", PLAN.to_string()), ("one.parts", PLAN.replace(from, to))];
        let paths = paths.map(|(name, text)| {
            std::fs::write(pair.path(name), text).unwrap();
            pair.path(name)
        });
        let own = [&["--input", "sum.x=3"][..], &["--input", "sum.y=4", "--input", "again.y=9"]];
        let own = [0, 1].map(|me| [&[&paths[me][..]], own[me]].concat());
        let ended = pair.both(&["parts", "--protocol", "duplo"], [&own[0], &own[1]]);
        for ended in ended {
            assert!(ended.expect(4).says(&says).out.is_empty());
        }
    }
}

#[test]
fn the_result_is_one_document() {
    let (_folder, path) = plan(PLAN);
    let words = ["parts", &path, "--local", "--protocol", "duplo", "--json"];
    let own = ["--input", "sum.x=3", "--input", "sum.y=5", "--input", "again.y=1"];
    let ended = symbolon(&[&words[..], &own].concat()).expect(0);
    let result: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(result["format"], "symbolon-parts-1");
    let learnt = |part: usize| &result["parts"][part]["outputs"][0]["value"];
    assert_eq!(
        [learnt(0), learnt(1), learnt(3)].map(|value| value.as_str()),
        [None, Some("16"), Some("24")]
    );
    let ran: Vec<bool> = (0..4).map(|part| result["parts"][part]["ran"] == true).collect();
    assert_eq!(ran, [true, true, false, true]);
    assert_eq!(result["parties"].as_array().unwrap().len(), 2);
}

#[test]
fn plans_that_cannot_be_are_refused_before_anything_starts() {
    let base = "[[part]]\nname = \"a\"\ncircuit = \"add:8\"\n";
    let hidden = format!("{base}outputs = {{ sum = \"0\" }}\n");
    let then = "[[part]]\nname = \"b\"\ncircuit = \"add:8\"\n";
    for (text, says) in [
        (String::new(), "part"),
        (format!("{base}{base}"), "a name of its own"),
        (format!("{base}links = {{ x = \"a.sum\" }}\n"), "earlier part"),
        (format!("{base}{then}links = {{ x = \"a.none\" }}\n"), "no output of that name"),
        (format!("{base}{then}links = {{ z = \"a.sum\" }}\n"), "no input of that name"),
        (
            format!(
                "{base}[[part]]\nname = \"b\"\ncircuit = \"add:9\"\nlinks = {{ x = \"a.sum\" }}\n"
            ),
            "9 bits",
        ),
        (format!("{hidden}{then}when = \"a.sum = 3\"\n"), "all learn"),
        (format!("{base}{then}when = \"a.sum\"\n"), "PART.OUTPUT = VALUE"),
        (format!("{base}colour = 1\n"), "colour"),
        (base.to_string(), "no value"),
    ] {
        let (_folder, path) = plan(&text);
        symbolon(&["parts", &path, "--local", "--protocol", "duplo"]).expect(2).says(&[says]);
    }
    let (_folder, path) = plan(PLAN);
    let local = ["parts", &path, "--local"];
    for protocol in ["wrk", "ywz", "tinytable", "dualex"] {
        let ended = symbolon(&[&local[..], &["--protocol", protocol]].concat());
        ended.expect(2).says(&[protocol, "keeps no outputs", "--protocol duplo"]);
    }
    let duplo = [&local[..], &["--protocol", "duplo"]].concat();
    for (input, says) in [
        ("x=3", "PART.INPUT=VALUE"),
        ("nobody.x=3", "the parts are `sum`, `double`, `again`, `last`"),
        ("sum.w=3", "no input of that name"),
        ("double.x=3", "no value"),
    ] {
        symbolon(&[&duplo[..], &["--input", input]].concat()).expect(2).says(&[says]);
    }
    let twice = ["--input", "sum.x=-", "--input", "sum.y=-"];
    symbolon(&[&duplo[..], &twice].concat()).expect(2).says(&["only one", "standard input"]);
    symbolon(&[&duplo[..], &["--party", "0"]].concat()).expect(2).says(&["--party"]);
}

/// Parts after a failed assert would work on zeros.
#[test]
fn a_failed_assert_ends_the_parts() {
    let pair = Pair::unlocked();
    let source = "fn main(x: u8 from 0, y: u8 from 1) -> (r: u8 to all) {\n    \
                  assert(x < 10, \"too large\");\n    x + y\n}\n";
    std::fs::write(pair.path("p.sym"), source).unwrap();
    let path = pair.path("plan.toml");
    let text = "[[part]]\nname = \"a\"\ncircuit = \"add:8\"\n\
                [[part]]\nname = \"b\"\ncircuit = \"p.sym\"\nlinks = { x = \"a.sum\" }\n\
                [[part]]\nname = \"c\"\ncircuit = \"add:8\"\n\
                links = { x = \"b.r\", y = \"a.sum\" }\n";
    std::fs::write(&path, text).unwrap();
    let words = ["parts", &path, "--protocol", "duplo"];
    let own: [&[&str]; 2] = [&["--input", "a.x=7"], &["--input", "a.y=8", "--input", "b.y=1"]];
    let told = ["part `b`: too large", "line 2"];
    for ended in pair.both(&words, own) {
        assert_eq!(ended.expect(6).says(&told).out, "a.sum = 15\nb.r = 0\nb.assert = 1\n");
    }
    let local = [&words[..], &["--local", "--json"], own[0], own[1]].concat();
    let ended = symbolon(&local).expect(6).says(&told).json();
    let ran: Vec<_> = ended["parts"].as_array().unwrap().iter().map(|part| &part["ran"]).collect();
    assert_eq!(ran, [true, true, false]);
}

/// A part that was left out has no outputs for later ones.
#[test]
fn a_link_to_a_part_that_was_not_run_ends_both() {
    let text = r#"
[[part]]
name = "a"
circuit = "add:8"

[[part]]
name = "b"
circuit = "add:8"
links = { x = "a.sum", y = "a.sum" }
when = "a.sum = 200"

[[part]]
name = "c"
circuit = "add:8"
links = { x = "b.sum", y = "a.sum" }
"#;
    let words = ["parts", "--local", "--protocol", "duplo"];
    // A part that always runs must not use one that may be left out.
    let (_folder, path) = plan(text);
    symbolon(&[&words[..], &[&path]].concat()).expect(2).says(&[
        "part `c`",
        "uses part `b`, which may be left out",
        "`when`",
    ]);
    let (_folder, path) = plan(&format!("{text}when = \"a.sum = 3\"\n"));
    let words = [&words[..], &[&path]].concat();
    let words = [&words[..], &["--input", "a.x=1", "--input", "a.y=2"]].concat();
    symbolon(&words).expect(2).says(&["part `c`", "part `b`, which was not run"]);
}
