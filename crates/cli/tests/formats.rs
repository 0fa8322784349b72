//! Circuit files of all formats, and the names and types that a user gives to their ports.

use std::fs;
use std::path::Path;

use crate::common::{symbolon, symbolon_in};

/// Adds the two bytes of in0, and XORs the sum with in1.
const FASHION: &str = include_str!("data/sum.txt");

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sum.txt"), FASHION).unwrap();
    folder
}

fn digest(folder: &Path, words: &[&str]) -> String {
    let info = symbolon_in(folder, "", &[&["circuit", "info", "--json"], words].concat());
    info.expect(0).json()["digest"].as_str().unwrap().to_string()
}

#[test]
fn a_native_file_is_the_circuit_with_all_that_it_has() {
    let folder = folder();
    let here = folder.path();
    let program = "struct Bid { price: u8, open: bool }\n\
                   fn main(a: [Bid; 2] from 0, b: u8 from 1) -> (price: u8 to 1) {\n    \
                   assert(b < 100, \"too large\");\n    a[0].price ^ b\n}\n";
    fs::write(here.join("first.sym"), program).unwrap();
    for (circuit, file) in [("sort:16x8", "sort.sbc"), ("first.sym", "first.sbc")] {
        symbolon_in(here, "", &["circuit", "convert", circuit, "--out", file]).expect(0);
        assert_eq!(&fs::read(here.join(file)).unwrap()[..4], b"\x89SBC");
        assert_eq!(digest(here, &[file]), digest(here, &[circuit]));
    }
    let words = ["local", "first.sbc", "--transport", "tcp", "--json", "--input"];
    let bids = r#"a=[{"price": 7, "open": true}, {"price": 1, "open": false}]"#;
    let run = |b: &str| symbolon_in(here, "", &[&words[..], &[bids, "--input", b]].concat());
    let result = run("b=5").expect(0).json();
    assert_eq!(result["outputs"][0]["value"], "2", "{result}");
    let failed = run("b=200");
    assert!(failed.code != 0 && format!("{failed:?}").contains("too large"), "{failed:?}");
}

#[test]
fn a_native_file_that_is_damaged_or_new_is_a_usage_failure() {
    let folder = folder();
    let here = folder.path();
    symbolon_in(here, "", &["circuit", "export", "add:8", "--out", "add.sbc"]).expect(0);
    let good = fs::read(here.join("add.sbc")).unwrap();
    let mut new = good.clone();
    new[4] = 9;
    for (bytes, text) in [
        (&good[..good.len() - 1], "add.sbc is not a circuit file: invalid circuit: byte"),
        (&[&good[..], b"\n"].concat(), "the file continues"),
        (&new, "version 9 of the format; this program reads versions 1 to 3"),
    ] {
        fs::write(here.join("add.sbc"), bytes).unwrap();
        symbolon_in(here, "", &["circuit", "info", "add.sbc"]).expect(2).says(&[text]);
    }
}

#[test]
fn ports_of_a_foreign_file_take_types_and_names() {
    let folder = folder();
    let here = folder.path();
    let labels = ["--type", "in0=[u8; 2]", "--name", "in0=salaries", "--type", "out0=i8", "--name"];
    let labels = [&labels[..], &["in1=mask", "--name", "out0=total"]].concat();
    let inputs = ["--input", "salaries=@list.txt", "--input", "mask=0"];
    fs::write(here.join("list.txt"), "200\n1\n").unwrap();
    let words = ["circuit", "eval", "sum.txt", "--json"];
    let evaluated = symbolon_in(here, "", &[&words[..], &labels, &inputs].concat());
    let output = &evaluated.expect(0).json()["outputs"][0];
    assert_eq!((&output["name"], &output["value"]), (&"total".into(), &"-55".into()));

    let words = ["local", "sum.txt", "--transport", "tcp", "--json", "--owner", "salaries=1"];
    let run =
        symbolon_in(here, "", &[&words[..], &["--owner", "mask=0"], &labels, &inputs].concat());
    assert_eq!(run.expect(0).json()["outputs"][0]["value"], "-55");

    // An exported file keeps them.
    let words = ["circuit", "export", "sum.txt", "--out", "sum.sbc", "--owner", "salaries=1"];
    symbolon_in(here, "", &[&words[..], &labels].concat()).expect(0);
    let again = [&["sum.txt", "--owner", "salaries=1"], &labels[..]].concat();
    assert_eq!(digest(here, &["sum.sbc"]), digest(here, &again));
    assert_ne!(digest(here, &["sum.sbc"]), digest(here, &["sum.txt", "--owner", "in0=1"]));
}

#[test]
fn a_file_of_bytes_is_read_and_written() {
    let folder = folder();
    let here = folder.path();
    fs::write(
        here.join("p.sym"),
        "fn main(a: [u16; 4] from 0, b: u4 from 1) -> (sums: [u16; 4] to all, low: u4 to all) {\n\
         let mut sums = a;\n for i in 0..4 { sums[i] += 1; }\n (sums, b ^ 1)\n}\n",
    )
    .unwrap();
    let run = |a: &str, words: &[&str]| {
        let a = format!("a=@{a}");
        let local = ["local", "p.sym", "--transport", "tcp", "--json", "--input", &a];
        symbolon_in(here, "", &[&local[..], &["--input", "b=@b.bin"], words].concat())
    };
    fs::write(here.join("a.bin"), [1, 0, 255, 255, 0, 1, 7, 0]).unwrap();
    fs::write(here.join("b.bin"), [6]).unwrap();
    let saves = ["--save", "sums=sums.bin", "--save", "low=low.BIN"];
    let result = run("a.bin", &saves).expect(0).json();
    assert_eq!(
        result["outputs"][0]["value"],
        serde_json::json!(["2", "0", "257", "8"]),
        "{result}"
    );
    let saved = |name| fs::read(here.join(name)).unwrap();
    assert_eq!((saved("sums.bin"), saved("low.BIN")), (vec![2, 0, 0, 0, 1, 1, 8, 0], vec![7]));

    // One value after another, and a list that is filled up.
    let batch = ["--batch", "2", "--protocol", "tinytable"];
    fs::write(here.join("b.bin"), [6, 5]).unwrap();
    fs::write(here.join("two.bin"), [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    run("two.bin", &batch).expect(0);
    run("a.bin", &batch).expect(0);
    fs::write(here.join("three.bin"), [0; 24]).unwrap();
    run("three.bin", &batch).expect(2).says(&["`a`"]);
    fs::write(here.join("three.bin"), [0; 23]).unwrap();
    run("three.bin", &batch).expect(2).says(&["takes 8 bytes for each evaluation"]);
    fs::write(here.join("b.bin"), [6]).unwrap();
    fs::write(here.join("short.bin"), [1, 0]).unwrap();
    let result = run("short.bin", &["--pad"]).expect(0).json();
    assert_eq!(result["outputs"][0]["value"], serde_json::json!(["2", "1", "1", "1"]), "{result}");

    run("short.bin", &[]).expect(2).says(&["short.bin", "`a`", "takes 8 bytes", "has 2"]);
    fs::write(here.join("short.bin"), [1, 0, 2]).unwrap();
    run("short.bin", &["--pad"]).expect(2).says(&["takes 8 bytes, the file has 3"]);
    fs::write(here.join("b.bin"), [0x16]).unwrap();
    run("a.bin", &[]).expect(2).says(&["b.bin", "no wire for a bit that is set"]);
}

#[test]
fn labels_that_do_not_fit_are_usage_failures() {
    let folder = folder();
    let refused = |words: &[&str], text: &str| {
        let words = [&["circuit", "info", "sum.txt"], words].concat();
        symbolon_in(folder.path(), "", &words).expect(2).says(&[text]);
    };
    refused(&["--type", "in0=[u32; 200]"], "input `in0` has 16 bits, [u32; 200] has 6400");
    refused(&["--type", "in0=words"], "a type is written as u32");
    refused(&["--type", "in7=u8"], "its inputs and outputs are `in0`, `in1`, `out0`");
    refused(&["--name", "in0=in1"], "`in1` is empty or repeated");
    refused(&["--name", "in0="], "the name is empty");
}

#[test]
fn netlists_of_other_programs_run() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let blif = ".model max\n.inputs a[0] a[1] b[0] b[1]\n.outputs m[0] m[1]\n\
                .names a[1] b[1] a[0] b[0] g\n10-- 1\n0010 1\n1110 1\n\
                .names g a[0] b[0] m[0]\n11- 1\n0-1 1\n.names a[1] b[1] m[1]\n1- 1\n-1 1\n.end\n";
    let json = r#"{"modules": {"both": {"ports": {
        "x": {"direction": "input", "bits": [2, 3]}, "y": {"direction": "input", "bits": [4, 5]},
        "z": {"direction": "output", "bits": [6, 7]}}, "cells": {
        "c1": {"type": "$_ANDNOT_", "connections": {"A": [2], "B": [4], "Y": [6]}},
        "c2": {"type": "$_XNOR_", "connections": {"A": [3], "B": [5], "Y": [7]}}}}}}"#;
    fs::write(here.join("max.blif"), blif).unwrap();
    fs::write(here.join("both.json"), json).unwrap();
    let value = |words: &[&str]| {
        let words = [&["local", "--transport", "tcp", "--json"], words].concat();
        symbolon_in(here, "", &words).expect(0).json()["outputs"][0]["value"].clone()
    };
    assert_eq!(value(&["max.blif", "--input", "a=2", "--input", "b=3"]), "3");
    assert_eq!(value(&["max.blif", "--input", "a=2", "--input", "b=1"]), "2");
    assert_eq!(value(&["both.json", "--input", "x=1", "--input", "y=0"]), "3");
    fs::write(here.join("both.json"), json.replace("$_XNOR_", "$_DFF_P_")).unwrap();
    let refused = symbolon_in(here, "", &["circuit", "info", "both.json"]);
    refused.expect(2).says(&["cell `c2` of type `$_DFF_P_` keeps state"]);
}

#[test]
fn the_help_names_what_is_written() {
    let help = symbolon(&["circuit", "export", "--help"]).expect(0);
    for word in ["native", "fashion", "bristol", "--type", "--name"] {
        assert!(help.out.contains(word), "{word}: {}", help.out);
    }
}
