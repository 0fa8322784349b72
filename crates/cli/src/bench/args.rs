//! The command line of `bench`.

use std::path::PathBuf;

use clap::Args;

use crate::lang::ProgramArgs;
use crate::options::{LocalTransport, TuningArgs};
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
    /// Protocols, a list [default: wrk between two parties, ywz among more]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub protocol: Vec<String>,
    /// Statistical security in bits, 40, 64 or 80; a list [default: 40]
    #[arg(long, value_name = "BITS,…", value_delimiter = ',')]
    pub rho: Vec<u32>,
    /// How wrk garbles, as for `run`; a list [default: auto]
    #[arg(long, value_name = "FORM,…", value_delimiter = ',')]
    pub form: Vec<String>,
    /// How correlated OTs are made, as for `run`; a list [default: auto]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub ot: Vec<String>,
    /// Evaluate the circuit N times in each run; tinytable does so side by side [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub batch: Option<u64>,
    /// Bits of the MACs on what tinytable opens: 64 or 128, and more than RHO; a list [default: 64
    /// with RHO 40, otherwise 128]
    #[arg(long, value_name = "BITS,…", value_delimiter = ',')]
    pub mac_bits: Vec<u32>,
    /// Measure such MACs as well, 32, 64 or 128 bits, even if they are too short for RHO: only for
    /// comparisons with published figures; a list
    #[arg(long, value_name = "BITS,…", value_delimiter = ',')]
    pub weak_mac_bits: Vec<u32>,
    /// How dualex intersects what the parties got, sync or async; a list [default: sync]
    #[arg(long, value_name = "FORM,…", value_delimiter = ',')]
    pub psi: Vec<String>,
    /// What bounds a leaked bit with dualex, as for `run`; a list [default: RHO]
    #[arg(long, value_name = "BITS,…", value_delimiter = ',')]
    pub kappa_b: Vec<u32>,
    /// Which leaks that bounds with dualex, preparation or execution, as for `run`; a list
    /// [default: preparation]
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',')]
    pub kappa_b_per: Vec<String>,
    /// With duplo: garble the components of this name, and no others but leftover gates; once for
    /// each name [default: those with which a run costs least]
    #[arg(long = "component", value_name = "NAME")]
    pub components: Vec<String>,
    /// Stream circuits with more AND gates than this in segments of about this size; memory then
    /// does not grow with the circuit [default: 1048576]
    #[arg(long, value_name = "GATES")]
    pub segment_gates: Option<u64>,
    /// Threads that make triples, 1 to 64, each with a connection of its own; from 2 on one more
    /// for the rest; a list [default: 1]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub threads: Vec<usize>,
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
        TuningArgs {
            batch: self.batch,
            components: self.components.clone(),
            segment_gates: self.segment_gates,
            timeout: self.timeout,
            ..TuningArgs::default()
        }
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
