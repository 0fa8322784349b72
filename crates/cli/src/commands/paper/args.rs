//! The command line of `paper`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::options::{LocalTransport, RemoteTransport};
use crate::measure::args::RemoteArgs;

const PAPER_HELP: &str = "\
Each row of a table is a `symbolon bench` command, which is shown with it. A row that has no
counterpart here, or that this machine cannot run, says why. With --party the rows of two parties are
run between two machines, where the same command is given with the other number.

EXAMPLES
    symbolon paper rr16 --table 6
    symbolon paper wrk17 ywz20 --quick --report papers.html
    symbolon paper all --quick=10 --report papers.md
    symbolon paper wrk17 --table 6 --party 0 --listen 0.0.0.0:7000 --key a.key \\
        --peer-fingerprint 90ac…";

/// The papers, by the names that this project uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Paper {
    /// Authenticated garbling
    Wrk17,
    /// Improved triples
    Ywz20,
    /// Gate scrambling
    Tinytable17,
    /// Component cut and choose
    Duplo17,
    /// Online and offline dual execution
    Rr16,
    /// All of them
    All,
}

/// Arguments of `paper`.
#[derive(Args, Debug)]
#[command(after_long_help = PAPER_HELP)]
pub struct PaperArgs {
    /// The papers
    #[arg(required = true, value_name = "PAPER")]
    pub papers: Vec<Paper>,
    /// Run the table or figure with this number only; may be given several times
    #[arg(long, value_name = "N")]
    pub table: Vec<u32>,
    /// Stop measuring each paper after about this many minutes, one if there is no number, cheapest
    /// rows first, with few runs of each
    #[arg(long, value_name = "MINUTES", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "1", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub quick: Option<u32>,
    /// Measure this many runs of each row [default: 5, or fewer for slow rows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    /// Where the other machine is.
    #[command(flatten)]
    pub remote: RemoteArgs,
    /// How to reach it [default: tls]
    #[arg(long, requires = "party", help_heading = "Between two machines")]
    pub transport: Option<RemoteTransport>,
    /// Print as JSON; docs/reference/json.md describes it
    #[arg(long)]
    pub json: bool,
    /// Write a page to this file, too: HTML, or Markdown if its name ends in `.md`
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How many minutes each paper is given, if there is a limit.
    pub quick: Option<u32>,
    /// How many runs of each row were requested.
    pub repeat: Option<u32>,
}

impl PaperArgs {
    /// Returns how the other machine is reached, if there is one: as which party, where, and over
    /// which transport.
    pub fn other_machine(&self) -> Option<(u16, &RemoteArgs, LocalTransport)> {
        let transport = match self.transport {
            Some(RemoteTransport::Tcp) => LocalTransport::Tcp,
            Some(RemoteTransport::Tls) | None => LocalTransport::Tls,
        };
        self.remote.party.map(|party| (party, &self.remote, transport))
    }
}
