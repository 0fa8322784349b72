//! `symbolon plan`: every way of running a circuit, the fastest first.

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;
use symbolon::plan::{Alternative, PlanRequest, alternatives, kept_rates};
use symbolon::{Compiled, Protocol, Rho, SimulatedLink};

use crate::args::PortArgs;
use crate::common::cost_table::{align, bytes, time};
use crate::common::error::{CliError, CliResult};
use crate::common::output::{print, print_json, tell};
use crate::source::CircuitSpec;

/// Arguments of `plan`.
#[derive(Args, Debug)]
pub struct PlanArgs {
    /// A built-in circuit, a circuit file or a `.sym` program
    pub circuit: String,
    /// How many parties [default: as many as are named, at least 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=256))]
    pub parties: Option<u16>,
    /// How many evaluations, in one session
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub count: u64,
    /// The link between any two parties: lan, lan1, wan, or ROUNDTRIP,BANDWIDTH such as
    /// 20ms,100mbit
    #[arg(long, value_name = "LINK", default_value = "lan")]
    pub link: String,
    /// Statistical security: 40, 64 or 80
    #[arg(long, value_name = "BITS", default_value_t = 40)]
    pub rho: u32,
    /// Only ways of this protocol
    #[arg(long, value_name = "NAME")]
    pub protocol: Option<String>,
    /// Whose is what.
    #[command(flatten)]
    pub ports: PortArgs,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// What `plan --json` prints.
#[derive(Serialize)]
struct PlanJson {
    /// `symbolon-plan-1`.
    format: &'static str,
    /// The circuit as it was named.
    circuit: String,
    /// How many parties.
    parties: u16,
    /// How many evaluations.
    evaluations: u64,
    /// The link: round trip and rate.
    link: String,
    /// Every way of running the circuit, the fastest first.
    alternatives: Vec<AlternativeJson>,
}

/// A way of running a circuit.
#[derive(Serialize)]
struct AlternativeJson {
    /// The protocol.
    protocol: &'static str,
    /// The form of garbling.
    form: &'static str,
    /// The OT extension.
    ot: &'static str,
    /// The options of the protocol that are not at their defaults.
    options: BTreeMap<&'static str, &'static str>,
    /// Bytes of the set-up, after the handshake, by all parties.
    setup_bytes: u64,
    /// Bytes after the set-up, by all parties.
    bytes: u64,
    /// By how many percent a run's bytes may differ; zero if they are exact.
    within_percent: u8,
    /// Rounds, with the set-up.
    rounds: u64,
    /// Seconds of the set-up, with the handshake.
    setup_seconds: f64,
    /// Seconds after the set-up.
    seconds: f64,
    /// About how many bytes of memory the party that needs most holds.
    memory_bytes: u64,
}

impl From<&Alternative> for AlternativeJson {
    fn from(way: &Alternative) -> AlternativeJson {
        AlternativeJson {
            protocol: way.way.protocol.name(),
            form: way.way.form.name(),
            ot: way.way.ot.name(),
            options: way.way.option.into_iter().collect(),
            setup_bytes: way.setup_bytes,
            bytes: way.bytes,
            within_percent: way.within_percent,
            rounds: way.rounds,
            setup_seconds: way.setup_seconds,
            seconds: way.seconds,
            memory_bytes: way.memory,
        }
    }
}

/// Prints every way of running a circuit, the fastest first.
///
/// # Errors
/// A usage failure for an unknown circuit, link or protocol; `InvalidInput` if no protocol can run
/// the circuit.
pub fn command(args: &PlanArgs) -> CliResult<()> {
    let link: SimulatedLink = args.link.parse()?;
    let rho =
        Rho::from_bits(args.rho).ok_or_else(|| CliError::usage("--rho takes 40, 64 or 80"))?;
    let only = args.protocol.as_deref().map(|name| {
        let known = Protocol::by_name(name);
        known.ok_or_else(|| CliError::usage(format!("no protocol is called `{name}`")))
    });
    let only = only.transpose()?;
    let spec = CircuitSpec::new(&args.circuit, &args.ports);
    let (loaded, parties) = spec.load_for_all(args.parties)?;
    let request = PlanRequest { parties, evaluations: args.count, rho, ..PlanRequest::over(link) };
    let (rates, unusable) = kept_rates().or_built_in();
    if let Some(why) = unusable {
        let usual = "times are those of a typical machine; `symbolon calibrate` measures this one";
        tell(&format!("calibration not used: {why}; {usual}\n"));
    }
    let mut ways = alternatives(&Compiled::new(&loaded.circuit), request, &rates)?;
    ways.retain(|one| only.is_none_or(|only| one.way.protocol == only));
    if ways.is_empty() {
        return Err(CliError::usage("this protocol cannot run the circuit among these parties"));
    }
    if args.json {
        return print_json(&PlanJson {
            format: "symbolon-plan-1",
            circuit: args.circuit.clone(),
            parties,
            evaluations: args.count,
            link: link.to_string(),
            alternatives: ways.iter().map(AlternativeJson::from).collect(),
        });
    }
    print(&table(&ways))
}

fn table(ways: &[Alternative]) -> String {
    let head = ["protocol", "form", "OT", "time", "of it set-up", "bytes", "rounds", "memory"];
    let mut rows = vec![head.map(String::from)];
    for way in ways {
        let about = if way.within_percent > 0 { "about " } else { "" };
        rows.push([
            [way.way.protocol.name(), &way.way.flag()].join(" ").trim_end().to_string(),
            way.way.form.name().to_string(),
            way.way.ot.name().to_string(),
            time(way.all_seconds()),
            time(way.setup_seconds),
            format!("{about}{}", bytes(way.setup_bytes.saturating_add(way.bytes))),
            way.rounds.to_string(),
            bytes(way.memory),
        ]);
    }
    align(&rows, 3)
}
