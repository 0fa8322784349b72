//! The files in `packaging`, as far as they can be tested without containers and systemd, and what
//! the program says about itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{command, end, free_address, symbolon};

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging")
}

/// Returns the words of each service's command in the compose file.
fn commands(compose: &str) -> Vec<Vec<String>> {
    let lists = compose.lines().filter_map(|line| line.trim().strip_prefix("command: "));
    lists.map(|list| serde_json::from_str(list).expect("a JSON list is a YAML list")).collect()
}

#[test]
fn the_auction_of_the_compose_file_runs() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["prepare.sh", "compose.yaml"] {
        std::fs::copy(packaging().join("auction").join(name), folder.path().join(name)).unwrap();
    }
    let script = folder.path().join("prepare.sh");
    let mut shell = Command::new("sh");
    shell.arg(&script).env("SYMBOLON", env!("CARGO_BIN_EXE_symbolon"));
    let made = shell.status().unwrap();
    assert!(made.success());
    let keys = folder.path().join("keys");
    // Ports of this machine replace the containers' own network.
    let mut list = std::fs::read_to_string(keys.join("auction.toml")).unwrap();
    for party in 0..5 {
        list = list.replace(&format!("party{party}:7000"), &free_address());
    }
    // What each container has as `/auction`.
    let mounted = |party: usize| keys.join(party.to_string());
    (0..5).for_each(|party| std::fs::write(mounted(party).join("auction.toml"), &list).unwrap());
    let compose = std::fs::read_to_string(folder.path().join("compose.yaml")).unwrap();
    let commands = commands(&compose);
    assert_eq!(commands.len(), 5);
    let start = |(party, words): (usize, &Vec<String>)| {
        assert!(compose.contains(&format!("volumes: [\"./keys/{party}:/auction:ro\"]")));
        let folder = format!("{}/", mounted(party).display());
        let words: Vec<String> =
            words.iter().map(|word| word.replace("/auction/", &folder)).collect();
        command(&words.iter().map(String::as_str).collect::<Vec<_>>()).spawn().unwrap()
    };
    let running: Vec<_> = commands.iter().enumerate().map(start).collect();
    // Bids are 100, 137, 174, 110, 147.
    for (party, child) in running.into_iter().enumerate() {
        let price = if party == 2 { 147 } else { 0 };
        assert_eq!(end(child).expect(0).out, format!("winner = 2\nprice_{party} = {price}\n"));
    }
}

#[test]
fn the_unit_calls_the_command_with_options_that_there_are() {
    let unit = std::fs::read_to_string(packaging().join("systemd/symbolon-preprocess.service"));
    let unit = unit.unwrap();
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let words: Vec<&str> = start.split(' ').skip(1).collect();
    // Everything is understood except the file, which does not exist here.
    symbolon(&words).expect(2).says(&["/etc/symbolon/run.toml"]);
}

#[test]
fn the_version_has_all_that_two_sides_may_compare() {
    let text = symbolon(&["--version"]).expect(0).out;
    let names: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["symbolon", "commit", "backend", "wire", "store"], "{text}");
    assert_eq!(symbolon(&["-V"]).expect(0).out.lines().count(), 1);
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = symbolon(&["completions", shell]).expect(0).out;
        assert!(script.contains("preprocess") && script.contains("segment-gates"), "{shell}");
    }
    assert!(symbolon(&["man"]).expect(0).out.contains("symbolon\\-preprocess"));
    let folder = tempfile::tempdir().unwrap();
    symbolon(&["man", "--out", folder.path().to_str().unwrap()]).expect(0);
    for page in ["symbolon.1", "symbolon-run.1", "symbolon-store-ls.1"] {
        assert!(
            std::fs::read_to_string(folder.path().join(page)).unwrap().contains(".TH"),
            "{page}"
        );
    }
    assert!(!folder.path().join("symbolon-party.1").exists(), "it is no command for people");
    symbolon(&["man", "--out", "/nowhere/at/all"]).expect(74).says(&["cannot write"]);
}

#[test]
fn help_has_headings() {
    let help = symbolon(&["run", "--help"]).expect(0).out;
    for heading in ["Parties:", "Parameters:", "Circuit:", "Store:", "Progress and log:"] {
        assert!(help.contains(&format!("\n{heading}\n")), "{heading} in {help}");
    }
}

#[test]
fn a_key_that_is_nearly_right_is_suggested() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.toml");
    let refused = |text: &str| {
        std::fs::write(&file, text).unwrap();
        symbolon(&["run", "--config", file.to_str().unwrap()]).expect(2).err
    };
    let cases = [("timeuot = 3\n", "timeout"), ("peer-fingerprint = \"a\"\n", "peer_fingerprint")];
    for (text, key) in cases {
        let err = refused(text);
        assert!(err.contains(&format!("did you mean `{key}`?")), "{err}");
    }
    let err = refused("zzz = 1\n");
    assert!(err.contains("there is no key `zzz`") && !err.contains("did you mean"), "{err}");
}
