//! `symbolon bench`: what triples and circuits cost on this machine.

use serde::Serialize;

use crate::args::{BenchArgs, LocalTransport};
use crate::failure::{Failure, Outcome};
use crate::local::{chosen, parties};
use crate::play::{Course, Played};
use crate::results::{ChoiceJson, PartyJson, print, print_json};
use crate::source::CircuitSpec;
use crate::table::{bytes, costs, time};
use crate::tables::{self, TINYTABLE};
use crate::troupe::{Troupe, Work};
use crate::tuning::Tuning;
use crate::values::random_values;

/// The name of the workload that is no circuit.
const TRIPLES: &str = "triples";

/// What `bench --json` prints.
#[derive(Serialize)]
struct BenchJson {
    format: &'static str,
    workload: String,
    parties: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<String>,
    rho: u32,
    #[serde(flatten)]
    choice: ChoiceJson,
    threads: usize,
    transport: &'static str,
    link: Option<String>,
    repeat: u32,
    batch: u64,
    /// Triples, or AND gates over all runs.
    count: u64,
    seconds: f64,
    per_second: f64,
    /// Sent, for each of them, by a party to one other party; the mean over all.
    bytes_each: f64,
    /// The largest of all parties' processes.
    peak_memory: Option<u64>,
    costs: Vec<PartyJson>,
}

/// Runs all parties as processes on this machine and prints how fast they were.
///
/// # Errors
/// As `local`.
pub fn command(args: &BenchArgs) -> Outcome<()> {
    let measured = match args.workload.as_str() {
        TRIPLES => triples(args)?,
        TINYTABLE => return tables::command(args),
        _ => circuit(args)?,
    };
    if args.json { print_json(&measured) } else { measured.print() }
}

fn triples(args: &BenchArgs) -> Outcome<BenchJson> {
    if args.tuning.protocol.is_some()
        || args.tuning.form.is_some()
        || args.repeat.is_some()
        || args.apart
        || args.dealer
    {
        return Err(Failure::usage(
            "`bench triples` takes no --protocol, --form, --repeat, --apart or --dealer",
        )
        .with_hint("--count says how many triples are made"));
    }
    let tuning = Tuning::new(&args.tuning, args.parties.unwrap_or(2))?;
    tuning.one_at_a_time("triples")?;
    let count = args.count.unwrap_or(1_000_000);
    measure(args, &tuning, args.parties.unwrap_or(2), Work::Triples(count), |played| {
        played.first().map_or(0, |first| first.triples)
    })
}

fn circuit(args: &BenchArgs) -> Outcome<BenchJson> {
    if args.count.is_some() {
        return Err(Failure::usage("--count is for `bench triples`")
            .with_hint("--repeat runs a circuit several times"));
    }
    let spec = CircuitSpec { circuit: args.workload.clone(), ..CircuitSpec::default() };
    let (loaded, count) = spec.load_among(args.parties)?;
    let tuning = Tuning::new(&args.tuning, count)?;
    let (circuit, repeat) = (loaded.circuit, args.repeat.unwrap_or(1));
    let inputs = random_values(&circuit)?;
    let course = Course { repeat, apart: args.apart };
    for (given, option) in [(args.apart, "--apart"), (repeat > 1, "--repeat")] {
        if given {
            tuning.one_at_a_time(option)?;
        }
    }
    tuning.warn();
    let gates = symbolon::circuit::Plan::new(&circuit).and_count() * u64::from(repeat);
    let gates = gates * tuning.executions;
    let work = Work::Circuit { spec: &spec, circuit: &circuit, inputs: &inputs, course };
    measure(args, &tuning, count, work, |_| gates)
}

fn measure(
    args: &BenchArgs,
    tuning: &Tuning,
    parties: u16,
    work: Work<'_>,
    count: impl Fn(&[Played]) -> u64,
) -> Outcome<BenchJson> {
    let played =
        Troupe { work, parties, tuning, transport: args.transport, dealer: args.dealer }.run()?;
    let count = count(&played);
    // Everything but the set-up, which comes once however much is computed.
    let counted = |played: &Played| {
        let phases = played.phases.iter().filter(|phase| phase.phase != symbolon::SETUP);
        phases.fold((0.0, 0), |(time, sent), phase| (time + phase.seconds, sent + phase.bytes_sent))
    };
    let seconds = played.iter().map(|played| counted(played).0).fold(0.0, f64::max);
    let sent: u64 = played.iter().map(|played| counted(played).1).sum();
    let links = f64::from(parties) * f64::from(parties - 1);
    let protocol = matches!(work, Work::Circuit { .. }).then(|| tuning.protocol.name().to_string());
    let mut costs = self::parties(tuning, &played, |played| played.phases.clone());
    if protocol.is_none() {
        costs.iter_mut().for_each(|party| party.role = TRIPLES.to_string());
    }
    Ok(BenchJson {
        format: "symbolon-bench-1",
        workload: args.workload.clone(),
        parties,
        protocol,
        rho: tuning.rho.bits(),
        choice: chosen(&played)?,
        threads: tuning.threads,
        transport: args.transport.name(),
        link: tuning.link.as_ref().map(|(text, _)| text.clone()),
        repeat: args.repeat.unwrap_or(1),
        batch: tuning.executions,
        count,
        seconds,
        per_second: if seconds > 0.0 { count as f64 / seconds } else { 0.0 },
        bytes_each: if count > 0 { sent as f64 / count as f64 / links } else { 0.0 },
        peak_memory: match args.transport {
            // One process has all parties.
            LocalTransport::Memory => played.last().and_then(|played| played.peak_memory),
            _ => played.iter().filter_map(|played| played.peak_memory).max(),
        },
        costs,
    })
}

impl BenchJson {
    fn print(&self) -> Outcome<()> {
        let unit = if self.protocol.is_some() { "AND gates" } else { TRIPLES };
        let protocol = self.protocol.as_ref().map_or(String::new(), |name| format!("{name}, "));
        let memory = match self.peak_memory {
            Some(peak) => format!(", at most {} of memory a process", bytes(peak)),
            None => String::new(),
        };
        print(&format!(
            "{}: {protocol}{} parties, {} threads each, rho {}, {}\n\
             {}\
             {} {unit} in {}: {:.0} a second\n\
             {:.1} bytes each from a party to each other one{memory}\n\n{}",
            self.workload,
            self.parties,
            self.threads,
            self.rho,
            self.transport,
            self.choice.line(),
            self.count,
            time(self.seconds),
            self.per_second,
            self.bytes_each,
            costs(&self.costs)
        ))
    }
}
