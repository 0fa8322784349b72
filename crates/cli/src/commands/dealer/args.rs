//! The command line of `dealer`.

use std::path::PathBuf;

use clap::Args;
use symbolon::dealer::{Limits, ServerLimits};

use crate::args::options::{EXIT_CODES, RemoteTransport};
use crate::progress::live::args::LiveArgs;

const HELP: &str = "\
WHAT IT IS TRUSTED WITH
  The dealer knows every key, mask and triple that it deals. Together with any one party, or
  by reading what the parties send each other, it learns all inputs and can change any
  output. Alone it can spoil outputs, unnoticed. Run it on a
  machine that no party controls, by someone who colludes with no party.
  A party that is the dealer learns everything. See docs/guide.md.

EXAMPLE
    symbolon dealer --listen 0.0.0.0:7100 --key dealer.key --allow 90ac… --allow 5d1f…

  and each party, with the fingerprint of dealer.key:
    symbolon run aes128 --config alice.toml \\
        --dealer dealer.example:7100 --dealer-fingerprint 77be…";

fn help() -> String {
    format!("{HELP}\n\n{EXIT_CODES}")
}

/// Arguments of `dealer`.
#[derive(Args, Debug)]
#[command(after_long_help = help())]
pub struct DealerArgs {
    /// Wait for parties at this address, HOST:PORT; port 0 picks a free one and says which
    #[arg(long, value_name = "ADDR")]
    pub listen: String,
    /// The dealer's identity file, made by `symbolon keygen`
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Deal to the holder of the key with this fingerprint; once for every party
    #[arg(long = "allow", value_name = "FINGERPRINT", conflicts_with = "allow_any")]
    pub allowed: Vec<String>,
    /// Deal to anyone; a party still gets only the slot of the key that all in the session name
    /// for it
    #[arg(long)]
    pub allow_any: bool,
    /// The transport; over plain TCP anyone can read what is dealt and pose as a party [default:
    /// tls]
    #[arg(long)]
    pub transport: Option<RemoteTransport>,
    /// Stop after serving this many sessions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub sessions: Option<u64>,
    /// The most AND gates for one session
    #[arg(long, value_name = "N", default_value_t = Limits::default().and_gates)]
    pub max_gates: u64,
    /// The most input bits for one session, of all parties together
    #[arg(long, value_name = "N", default_value_t = Limits::default().input_bits)]
    pub max_input_bits: u64,
    /// The most sessions at a time, each with a thread
    #[arg(long, value_name = "N", default_value_t = ServerLimits::default().running)]
    pub at_once: usize,
    /// Seconds that a session waits for its last party; parties' --timeout must be longer
    #[arg(long, value_name = "SECONDS", default_value_t = ServerLimits::default().join_timeout.as_secs_f64())]
    pub join_timeout: f64,
    /// The live page.
    #[command(flatten)]
    pub live: LiveArgs,
}
