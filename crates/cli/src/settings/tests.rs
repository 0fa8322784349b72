//! Settings files, and what flags change in them.

use clap::Parser;

use super::*;
use crate::command_line::{Cli, Command};

fn settings(file: &str, flags: &[&str]) -> CliResult<Settings> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    std::fs::write(&path, file).unwrap();
    let path = path.to_string_lossy().into_owned();
    let words = ["symbolon", "run", "--config", &path].into_iter().chain(flags.iter().copied());
    match Cli::try_parse_from(words).unwrap().command {
        Command::Run(args) => Settings::of(&args),
        _ => unreachable!("the command is `run`"),
    }
}

/// Returns what was given as ρ.
fn rho(settings: &Settings) -> Option<&str> {
    let rho = symbolon::parameters().iter().find(|one| one.spec().name == "rho")?;
    settings.tuning.given.texts(rho.spec()).last().map(String::as_str)
}

#[test]
fn flags_override_the_file() {
    let file = "circuit = \"add:8\"\nparty = 0\nlisten = \"h:1\"\nrho = 80\ntimeout = 5\n\
                json = true\ntransport = \"tcp\"\n[inputs]\nx = 3\ny = [1, 2]\n[owners]\nx = 1\n\
                [outputs]\nz = \"0,1\"\n";
    let plain = settings(file, &[]).unwrap();
    assert_eq!(
        (plain.party, rho(&plain), plain.tuning.timeout),
        (Some(0.into()), Some("80"), Some(5.0))
    );
    assert_eq!(plain.transport, RemoteTransport::Tcp);
    assert!(plain.json && plain.listen.as_deref() == Some("h:1"));
    assert_eq!(plain.spec.owners, [("x".to_string(), Owner::Party(1.into()))]);
    let labels = format!("{file}[types]\na = \"[bool; 8]\"\n[names]\na = \"x\"\n");
    let labels = settings(&labels, &["--type", "a=f32"]).unwrap().spec.labels;
    let pair = |port: &str, text: &str| (port.to_string(), text.to_string());
    assert_eq!(labels.types, [pair("a", "[bool; 8]"), pair("a", "f32")]);
    assert_eq!(labels.names, [pair("a", "x")]);
    let texts: Vec<&str> = plain.inputs.iter().map(|(given, _)| given.value.expose()).collect();
    assert_eq!(texts, ["3", "1,2"]);

    let flags = ["--rho", "40", "--connect", "h:2", "--input", "x=9", "--party", "1"];
    let over = settings(file, &flags).unwrap();
    assert_eq!((over.party, rho(&over)), (Some(1.into()), Some("40")));
    assert_eq!((over.listen, over.connect.as_deref()), (None, Some("h:2")));
    let x: Vec<_> = over.inputs.iter().filter(|(given, _)| given.input.expose() == "x").collect();
    assert_eq!((x.len(), x[0].0.value.expose()), (1, "9"));
}

#[test]
fn parties_are_listed_once_for_all() {
    let file = "circuit = \"auction:3x8\"\n\
                [[party]]\nid = 1\naddress = \"h:2\"\nfingerprint = \"ab\"\n\
                [[party]]\nid = 0\naddress = \"h:1\"\n[[party]]\nid = 2\n\
                [owners]\nbid_0 = \"share\"\n";
    let settings = settings(file, &["--party", "2"]).unwrap();
    assert_eq!(settings.party, Some(2.into()));
    assert_eq!(settings.spec.owners, [("bid_0".to_string(), Owner::Share)]);
    let parties = settings.parties.unwrap();
    let fingerprint = Some("ab".to_string());
    let first = PartyEntry { id: 1.into(), address: Some("h:2".into()), fingerprint };
    assert_eq!((parties.len(), &parties[0]), (3, &first));
}

#[test]
fn the_documented_files_are_accepted() {
    // Examples in the help end at an empty line.
    let example = |title: &str| {
        let help = crate::args::RUN_HELP.split_once(title).unwrap().1;
        let help = &help[help.find('\n').unwrap()..];
        settings(help.split_once("\n\n").map_or(help, |(file, _)| file), &[]).unwrap()
    };
    let one = example("# run.toml");
    assert_eq!((one.party, one.tuning.timeout), (Some(0.into()), Some(60.0)));
    assert_eq!(one.inputs.len(), 1);
    assert_eq!(one.spec.outputs[0].0, "ciphertext");
    let guide = include_str!("../../../../docs/guide.md");
    let list = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    for all in [settings(list.unwrap(), &[]).unwrap(), example("# auction.toml")] {
        let ids: Vec<u16> = all.parties.unwrap().iter().map(|party| party.id.number()).collect();
        assert_eq!((ids.as_slice(), all.spec.circuit.as_str()), (&[0, 1, 2][..], "auction:3x32"));
    }
}

#[test]
fn a_text_is_checked_as_a_file_is() {
    assert!(check("circuit = \"aes128\"\nparty = 0\nrho = 64\n").is_ok());
    for wrong in [
        "party = -1",
        "rho = 41",
        "[owners]\nx = \"nobody\"",
        "listen = 7",
        "a =",
        "listen = \"host\"",
        "connect = \"host:0\"",
        "dealer = \"http://host:80\"",
        "[[party]]\nid = 0\naddress = \"::1:80\"",
    ] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn mistakes_are_told_without_quoting_the_file() {
    let cases = [
        ("party = 0\nsecrets = 1\n", "line 2"),
        ("party = \"zero\"\n", "line 1"),
        ("party = 70000\n", "line 1"),
        ("[[party]]\nid = 0\nport = 1\n", "port"),
        ("[[party]]\naddress = \"h:1\"\n", "id"),
        ("[owners]\nx = \"everybody\"\n", "[owners] x"),
        ("[inputs]\nx = \"hex:5ec4e7\n", "line 2"),
        ("[inputs]\nx = [\"5ec4e7\"]\n", "[inputs] x"),
        ("[inputs]\nx = 5.5\n", "[inputs] x"),
        ("[outputs]\nz = \"everybody\"\n", "[outputs] z"),
        ("[types]\nz = \"everything\"\n", "[types] z"),
        ("[names]\nz = \" \"\n", "[names] z"),
        ("inputs = \"hex:5ec4e7\"\n", "line 1, column 10: inputs are a table"),
        ("inputs = 0x5ec4e7\n", "inputs are a table"),
        ("[inputs]\nx = { y = \"5ec4e7\" }\n", "[inputs] x"),
        ("[inputs]\nx = 0o5555555555555555555555555555\n", "in quotes"),
        ("x = 0x5ec4e7\n", "there is no key `x`"),
        ("stretch = 1000\n", "the key `stretch` is now called `segment_gates`"),
        ("circuit = 0x5ec4e7\n", "line 1, column 11: expected a string"),
        ("circuit = [\"5ec4e7\"]\n", "expected a string"),
        ("rho = \"5ec4e7\"\n", "line 1"),
        ("rho = 0x5ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e7\n", "line 1"),
        ("transport = \"5ec4e7, expected 5ec4e7\"\n", "expected `tls` or `tcp`"),
        ("party = 0x5ec4e7\n", "no such party"),
        ("json = \"5ec4e7\"\n", "expected a boolean"),
        ("[owners]\nx = 0x5ec4e7\n", "[owners] x"),
        ("[[party]]\nid = \"5ec4e7\"\n", "expected u16"),
        ("5ec4e7\n", "line 1"),
        ("x = 5ec4e7\n", "line 1"),
    ];
    for (file, expected) in cases {
        let failure = settings(file, &[]).unwrap_err();
        assert!(failure.message.contains(expected), "{}", failure.message);
        let digits = ["5ec4e7", "6210791", "5555"];
        assert!(!digits.iter().any(|text| failure.message.contains(text)), "{failure}");
    }
}

#[test]
fn integers_of_any_length_are_inputs() {
    let cases = [
        ("x = 0x2b7e151628aed2a6abf7158809cf4f3c", "0x2b7e151628aed2a6abf7158809cf4f3c"),
        ("x = 57811460909138771071931939740208549692", "57811460909138771071931939740208549692"),
        ("x = -9_223_372_036_854_775_809", "-9223372036854775809"),
        ("x = 0xff", "255"),
        ("x = [1, 0x2b7e151628aed2a6a]", "1,0x2b7e151628aed2a6a"),
    ];
    for (line, value) in cases {
        let file = format!("[inputs]\n{line}\n");
        assert_eq!(settings(&file, &[]).unwrap().inputs[0].0.value.expose(), value);
    }
}
