//! Every option of `run`, `preprocess` and `prepare` can be a key of the settings file, and means
//! the same there.

use std::collections::BTreeSet;

use clap::{CommandFactory, Parser};

use super::*;
use crate::command_line::{Cli, Command};

/// Options that are not settings: the file itself, and help.
const NO_SETTINGS: [&str; 2] = ["config", "help"];

/// By option: words of a command line, and what the file says instead.
const SAME: &[(&str, &[&str], &str)] = &[
    ("circuit", &["add:8"], "circuit = \"add:8\""),
    ("party", &["--party", "1"], "party = 1"),
    ("listen", &["--listen", "h:1"], "listen = \"h:1\""),
    ("connect", &["--connect", "h:1"], "connect = \"h:1\""),
    ("key", &["--key", "/k"], "key = \"/k\""),
    ("peer-fingerprint", &["--peer-fingerprint", "ab"], "peer_fingerprint = \"ab\""),
    ("transport", &["--transport", "tcp"], "transport = \"tcp\""),
    ("dealer", &["--dealer", "h:1"], "dealer = \"h:1\""),
    ("dealer-fingerprint", &["--dealer-fingerprint", "ab"], "dealer_fingerprint = \"ab\""),
    ("protocol", &["--protocol", "ywz"], "protocol = \"ywz\""),
    ("rho", &["--rho", "64"], "rho = 64"),
    ("form", &["--form", "four-row"], "form = \"four-row\""),
    ("ot", &["--ot", "iknp"], "ot = \"iknp\""),
    ("batch", &["--batch", "3"], "batch = 3"),
    ("in-flight", &["--in-flight", "2"], "in_flight = 2"),
    ("mac-bits", &["--mac-bits", "128"], "mac_bits = 128"),
    ("mac", &["--mac", "code"], "mac = \"code\""),
    ("psi", &["--psi", "async"], "psi = \"async\""),
    ("kappa-b", &["--kappa-b", "64"], "kappa_b = 64"),
    ("kappa-b-per", &["--kappa-b-per", "execution"], "kappa_b_per = \"execution\""),
    ("component", &["--component", "a", "--component", "b"], "components = [\"a\", \"b\"]"),
    ("segment-gates", &["--segment-gates", "9"], "segment_gates = 9"),
    ("threads", &["--threads", "2"], "threads = 2"),
    ("timeout", &["--timeout", "0.5"], "timeout = 0.5"),
    ("link", &["--link", "lan"], "link = \"lan\""),
    ("quiet", &["--quiet"], "quiet = true"),
    ("verbose", &["-vv"], "verbose = 2"),
    ("log", &["--log", "debug"], "log = \"debug\""),
    ("events", &["--events", "/e"], "events = \"/e\""),
    ("costs", &["--costs"], "costs = true"),
    ("progress-interval", &["--progress-interval", "2"], "progress_interval = 2"),
    ("live", &["--live", "8000"], "live = 8000"),
    ("live-linger", &["--live-linger", "2"], "live_linger = 2"),
    ("pad", &["--pad"], "pad = true"),
    ("save", &["--save", "z=/f.csv"], "[save]\nz = \"/f.csv\""),
    ("owner", &["--owner", "x=1", "--owner", "y=share"], "[owners]\nx = 1\ny = \"share\""),
    ("output", &["--output", "z=0,1"], "[outputs]\nz = \"0,1\""),
    ("type", &["--type", "x=[bool; 8]"], "[types]\nx = \"[bool; 8]\""),
    ("name", &["--name", "x=votes"], "[names]\nx = \"votes\""),
    ("entry", &["--entry", "other"], "entry = \"other\""),
    ("const", &["--const", "N=9"], "[const]\nN = 9"),
    ("no-cache", &["--no-cache"], "no_cache = true"),
    ("prepared", &["--prepared"], "prepared = true"),
    ("store", &["--store", "/s"], "store = \"/s\""),
    ("store-key", &["--store-key", "/s"], "store_key = \"/s\""),
    ("store-passphrase", &["--store-passphrase", "/s"], "store_passphrase = \"/s\""),
    ("json", &["--json"], "json = true"),
];

/// By option: what the file says, of options that only [`Settings::ahead`] holds, and of inputs,
/// which are not shown.
const OTHERS: &[(&str, &str)] = &[
    ("gates", "gates = 9"),
    ("input-bits", "input_bits = 9"),
    ("pool-gates", "pool_gates = 9"),
    ("count", "count = 9"),
    ("side-by-side", "side_by_side = 9"),
    ("from-pools", "from_pools = true"),
    ("input", "[inputs]\nx = 5"),
];

/// Returns the settings of `run` with these words and this file.
fn settings(words: &[&str], file: &str) -> Settings {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    std::fs::write(&path, file).unwrap();
    let words = [&["symbolon", "run", "--config", path.to_str().unwrap()], words].concat();
    let Command::Run(args) = Cli::try_parse_from(words).unwrap().command else {
        unreachable!("the command is `run`")
    };
    Settings::of(&args).unwrap()
}

#[test]
fn every_option_can_be_in_the_file() {
    let known: BTreeSet<&str> =
        SAME.iter().map(|(option, ..)| *option).chain(OTHERS.iter().map(|(o, _)| *o)).collect();
    let mut seen = BTreeSet::new();
    let cli = Cli::command();
    for name in ["run", "preprocess", "prepare"] {
        let command = cli.find_subcommand(name).unwrap();
        for arg in command.get_arguments() {
            let option = arg.get_long().unwrap_or_else(|| arg.get_id().as_str());
            if !NO_SETTINGS.contains(&option) {
                assert!(known.contains(option), "nothing is known of {option} of {name}");
                seen.insert(option.to_string());
            }
        }
    }
    let gone: Vec<_> = known.iter().filter(|option| !seen.contains(**option)).collect();
    assert!(gone.is_empty(), "there are no such options: {gone:?}");
}

#[test]
fn an_option_and_its_key_mean_the_same() {
    let nothing = format!("{:?}", settings(&[], ""));
    for (option, words, file) in SAME {
        let by_option = format!("{:?}", settings(words, ""));
        assert_ne!(by_option, nothing, "{option}: the option changes nothing");
        assert_eq!(by_option, format!("{:?}", settings(&[], file)), "{option}");
    }
    let given = settings(&["--input", "x=5"], "").inputs;
    let read = settings(&[], "[inputs]\nx = 5").inputs;
    assert_eq!(given.len(), 1);
    assert_eq!(given[0].0.value.expose(), read[0].0.value.expose());
    let file = "gates = 6\ninput_bits = 7\npool_gates = 8\ncount = 9\nside_by_side = 3\n\
                from_pools = true";
    let Ahead { gates, input_bits, pools, count, side_by_side, from_pools } =
        settings(&[], file).ahead;
    assert!(from_pools && !settings(&[], "").ahead.from_pools);
    assert_eq!((gates, input_bits, count), (Some(6), Some(7), Some(9)));
    assert_eq!(side_by_side, Some(3));
    let mut params = SessionParams::new(Protocol::Wrk);
    pools.apply(&mut params).unwrap();
    assert_eq!(params.pool_gates, 8);
}
