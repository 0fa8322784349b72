//! The command line of `bench`.

use std::path::PathBuf;

use clap::Args;

use crate::args::OwnerArgs;
use crate::args::given::{ByBench, Given};
use crate::args::options::{LocalTransport, TuningArgs};
use crate::args::program::ProgramArgs;
use crate::progress::args::ShowArgs;

/// The name of the workload that is not a circuit.
pub const TRIPLES: &str = "triples";

/// How often everything is run by default.
pub const REPEAT: u32 = 5;

const BENCH_HELP: &str = "\
Where an option takes a list, all combinations are measured; those that no protocol offers are left
out and named.

EXAMPLES
    symbolon bench triples --parties 2,3,5 --count 1000000
    symbolon bench sha256 --repeat 11 --fresh-session
    symbolon bench aes128 sha256 --protocol wrk,ywz --threads 1,2 --report aes.html
    symbolon bench aes128 --party 0 --listen 0.0.0.0:7000 --key a.key --peer-fingerprint 90ac…
    symbolon bench random:16384/1024 random:131072/1024 random:1048576/1024 \\
        --link local,lan,wan --json";

/// Arguments of `bench`.
#[derive(Args, Debug)]
#[command(after_long_help = BENCH_HELP)]
pub struct BenchArgs {
    /// `triples`, or circuits, which get random inputs
    #[arg(required = true, value_name = "WORKLOAD")]
    pub workloads: Vec<String>,
    /// What `.sym` programs are compiled with.
    #[command(flatten)]
    pub program: ProgramArgs,
    /// Who gives the circuits' inputs.
    #[command(flatten)]
    pub owners: OwnerArgs,
    /// How many parties, 2 to 64, a process each; a list [default: as many as the circuit names, at
    /// least 2]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(2..=64))]
    pub parties: Vec<u16>,
    /// How many triples, a list; rounded up to whole batches [default: 1000000]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=symbolon::MAX_TRIPLES))]
    pub count: Vec<u64>,
    /// Measure this many runs of each; a circuit's are over one set-up unless there is
    /// --fresh-session [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeat: Option<u32>,
    /// Give every run new processes and a set-up of its own, and alternate all combinations.
    /// Triples and batches are always run so
    #[arg(long)]
    pub fresh_session: bool,
    /// The transport [default: tcp; between two machines tls]
    #[arg(long)]
    pub transport: Option<LocalTransport>,
    /// Where the other machine is.
    #[command(flatten)]
    pub remote: RemoteArgs,
    /// Run the function-independent phase by itself, making triples that fit any circuit. By
    /// default triples are made for this circuit, which is cheaper
    #[arg(long)]
    pub split_phases: bool,
    /// Prepare all N evaluations of --batch together, and then run one after the other
    #[arg(long)]
    pub one_by_one: bool,
    /// Also start a dealer, and take material from it. Parties must trust a dealer with all their
    /// inputs: see docs/guide.md
    #[arg(long)]
    pub dealer: bool,
    /// Parameters.
    #[command(flatten)]
    pub tuning: ListedTuning,
    /// Print as JSON; docs/reference/json.md describes it
    #[arg(long)]
    pub json: bool,
    /// Write a page with plots and tables to this file, too; nothing else is needed to show it
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Write every phase of every run to this file, too, a row for each party
    #[arg(long, value_name = "FILE.csv")]
    pub csv: Option<PathBuf>,
    /// Include every phase of every run in --json
    #[arg(long, requires = "json")]
    pub raw: bool,
    /// What is shown meanwhile.
    #[command(flatten)]
    pub show: ShowArgs,
}

/// A measurement between two machines: this side of it.
#[derive(Args, Debug, Default, Clone)]
#[command(next_help_heading = "Between two machines")]
pub struct RemoteArgs {
    /// Which party this machine is, 0 or 1: the other one is on another machine, where the same is
    /// measured with the other number
    #[arg(long, value_name = "PARTY", value_parser = clap::value_parser!(u16).range(0..=1))]
    pub party: Option<u16>,
    /// Wait for the other machine at this address, HOST:PORT
    #[arg(long, value_name = "ADDR", conflicts_with = "connect", requires = "party")]
    pub listen: Option<String>,
    /// Dial the other machine at this address, HOST:PORT
    #[arg(long, value_name = "ADDR", requires = "party")]
    pub connect: Option<String>,
    /// This party's identity file, made by `symbolon keygen`
    #[arg(long, value_name = "FILE", requires = "party")]
    pub key: Option<PathBuf>,
    /// The fingerprint of the other party's key, as it told you over another channel
    #[arg(long, value_name = "HEX", requires = "party")]
    pub peer_fingerprint: Option<String>,
}

impl BenchArgs {
    /// Returns the parties' transport.
    pub fn transport(&self) -> LocalTransport {
        let usual =
            if self.remote.party.is_some() { LocalTransport::Tls } else { LocalTransport::Tcp };
        self.transport.unwrap_or(usual)
    }
}

/// Protocol parameters, most of them lists.
#[derive(Args, Debug, Default, Clone)]
pub struct ListedTuning {
    /// Those on which all parties must agree.
    #[command(flatten)]
    pub given: Given<ByBench>,
    /// Seconds to wait for the peer to connect, and later for each message; longer where it garbles
    /// many gates first [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Simulated links: a list of local (none), lan, lan1, wan; or one ROUNDTRIP,BANDWIDTH such as
    /// 20ms,100mbit; may be given several times [default: local]
    #[arg(long, value_name = "LINK,…", value_parser = links)]
    pub link: Vec<Links>,
}

/// The links that one `--link` names; `None` is no simulated link.
pub type Links = Vec<Option<String>>;

/// The links that have names.
const NAMED: [&str; 4] = ["local", "lan", "lan1", "wan"];

/// Parses a list of names, or one link, whose form contains a comma.
fn links(text: &str) -> Result<Links, String> {
    let names: Vec<&str> = text.split(',').map(str::trim).collect();
    if !names.iter().all(|name| NAMED.contains(name)) {
        return Ok(vec![Some(text.to_string())]);
    }
    Ok(names.into_iter().map(|name| (name != "local").then(|| name.to_string())).collect())
}

impl ListedTuning {
    /// Returns the parameters that are not lists, and the defaults.
    pub fn unlisted(&self) -> TuningArgs {
        TuningArgs { given: self.given.unlisted(), timeout: self.timeout, ..TuningArgs::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_lists_of_names_or_one_with_a_comma() {
        let some = |name: &str| Some(name.to_string());
        assert_eq!(links("local,wan").unwrap(), [None, some("wan")]);
        assert_eq!(links("20ms,100mbit").unwrap(), [some("20ms,100mbit")]);
        // This is refused later, where links are parsed.
        assert_eq!(links("lan,moon").unwrap(), [some("lan,moon")]);
    }
}
