//! No error contains anything that may be an input, wherever it was written and whatever was
//! forgotten.

use crate::common::{symbolon, symbolon_in};

/// In hexadecimal, with and without a prefix, and in decimal.
const SECRETS: [&str; 4] = [
    "0x2b7e151628aed2a6abf7158809cf4f3c",
    "2b7e151628aed2a6abf7158809cf4f3c",
    "57811460909138771071931939740208549692",
    "hex:2b7e151628aed2a6abf7158809cf4f3c",
];

#[track_caller]
fn keeps(secret: &str, input: &str, words: &[&str]) {
    let ended = symbolon_in(std::path::Path::new("."), input, words).expect(2);
    // Nor a part of it.
    for part in [secret, &secret[6..14], "2b7e151628", "5781146090", "578114609091387710719319"] {
        let told = [&ended.out, &ended.err];
        assert!(!told.iter().any(|told| told.contains(part)), "{words:?}: {told:?}");
    }
}

/// Cheat: a reader of logs | command line | a wrong command line that holds an input | refusals
/// quote no value | always
#[test]
fn a_command_line_that_is_wrong_is_refused_without_any_value_in_it() {
    for secret in SECRETS {
        let (assigned, named) = (format!("key={secret}"), format!("{secret}=key"));
        let joined = format!("--input={secret}");
        let misspelt = format!("--inptu=key={secret}");
        let inputs = format!("--inputs=key={secret}");
        let cases: [&[&str]; 22] = [
            // A forgotten --input.
            &["run", "aes128", &assigned],
            &["run", "aes128", "--party", "0", secret],
            &["run", &assigned],
            &["run", "--party", "0", secret],
            &["run", "--party", "0", "--transport", "tcp", secret],
            &["local", "aes128", &assigned],
            &["local", secret],
            &["local", &assigned],
            &["circuit", "eval", secret],
            &["circuit", "info", secret],
            &["circuit", "eval", "aes128", &assigned],
            &["prepare", secret, "--party", "0"],
            // --input without a name, with name and value exchanged, misspelt.
            &["local", "aes128", "--input", secret],
            &["local", "aes128", &joined],
            &["local", "aes128", "--input", &named],
            &["local", "aes128", &misspelt],
            &["local", "aes128", &inputs],
            // In place of something else.
            &[secret],
            &["local", "aes128", "--transport", secret],
            &["local", "aes128", "--parties", secret],
            &["local", "aes128", "--repeat", secret],
            &["local", "aes128", "--owner", secret],
        ];
        for words in cases {
            keeps(secret, "", words);
        }
    }
}

/// Cheat: a reader of logs | settings file | a wrong settings file that holds an input | refusals
/// quote no value | always
#[test]
fn a_settings_file_that_is_wrong_is_refused_without_any_value_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    let config = path.to_string_lossy().into_owned();
    for secret in SECRETS {
        let quoted = format!("\"{secret}\"");
        for text in [
            format!("inputs = {quoted}\n"),
            format!("inputs = [{quoted}]\n"),
            format!("[inputs]\nkey = {secret}\nkey = 5\n"),
            format!("[inputs]\nkey = [{quoted}]\n"),
            format!("[inputs]\nkey = {{ hex = {quoted} }}\n"),
            format!("[inputs]\nkey = {secret}.5\n"),
            format!("[inputs]\nkey {secret}\n"),
            format!("[inputs]\nkey = {quoted}\n[inputs]\n"),
            format!("[[inputs]]\nkey = {quoted}\n"),
            format!("key = {secret}\n"),
            format!("party = {quoted}\n"),
            format!("party = {secret}\n"),
            format!("circuit = {secret}\nparty = 0\n"),
            format!("circuit = {quoted}\nparty = 0\n"),
            format!("rho = {quoted}\n"),
            format!("rho = {secret}\n"),
            format!("json = {quoted}\n"),
            format!("transport = {quoted}\n"),
            format!("timeout = {quoted}\n"),
            format!("[owners]\nkey = {quoted}\n"),
            format!("[outputs]\nciphertext = {quoted}\n"),
            format!("[outputs]\nciphertext = {secret}\n"),
            format!("[[party]]\nid = {quoted}\n"),
            format!("[[party]]\nid = 0\naddress = {secret}\n"),
            format!("circuit = \"aes128\"\nparty = 0\n[inputs]\nmessage = {quoted}\n"),
            format!("circuit = \"aes128\"\nparty = 0\n[inputs]\nother = {quoted}\n"),
            format!("circuit = \"add:8\"\nparty = 0\n[inputs]\nx = {quoted}\n"),
        ] {
            std::fs::write(&path, &text).unwrap();
            keeps(secret, "", &["run", "--config", &config]);
        }
    }
}

#[test]
fn values_from_files_and_standard_input_are_not_in_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.txt");
    let given = format!("x=@{}", path.display());
    for secret in SECRETS {
        for text in [secret.to_string(), format!("[{secret}, 1]"), format!("bits:{secret}")] {
            std::fs::write(&path, &text).unwrap();
            keeps(secret, "", &["local", "add:8", "--input", &given, "--input", "y=1"]);
            keeps(secret, &text, &["local", "add:8", "--input", "x=-", "--input", "y=1"]);
        }
        let mut bytes = secret.as_bytes().to_vec();
        bytes.push(0xff);
        std::fs::write(&path, bytes).unwrap();
        keeps(secret, "", &["local", "add:8", "--input", &given, "--input", "y=1"]);
        // The orders of the hidden command.
        let order = format!("{{\"task\": {{\"circuit\": {{\"inputs\": [[0, \"{secret}\"]]}}}}}}\n");
        keeps(secret, &order, &["party"]);
        keeps(secret, &format!("\"{secret}\"\n"), &["party"]);
    }
}

/// Integers without quotes are inputs of any length.
#[test]
fn a_key_without_quotes_is_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    let config = path.to_string_lossy().into_owned();
    for number in &SECRETS[..1] {
        let text = format!("circuit = \"aes128\"\nparty = 0\n[inputs]\nkey = {number}\n");
        std::fs::write(&path, text).unwrap();
        // Only the peer is missing.
        symbolon(&["run", "--config", &config]).expect(2).says(&["symbolon keygen"]);
    }
}
