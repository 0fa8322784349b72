//! `symbolon bench tinytable`: AES-128 by gates and by look-ups, one block and many.

use serde::{Deserialize, Serialize};
use symbolon::circuit::builtin;
use symbolon::measure::{TableCourse, TableTimes, measure_tables};
use symbolon::{Config, Protocol};

use crate::args::TuningArgs;
use crate::bench::{BenchArgs, ListedTuning};
use crate::failure::{Failure, Outcome};
use crate::play::Played;
use crate::results::{print, print_json};
use crate::table::{align, bytes, time};
use crate::troupe::{Troupe, Work};
use crate::tuning::Tuning;

/// The workload's name.
pub const TINYTABLE: &str = "tinytable";

/// What the two variants are called, their circuits, and how many blocks are made on fresh material at a time.
const VARIANTS: [(&str, &str, usize); 2] =
    [("S-boxes", "aes128:sbox-expanded", 24), ("gates", "aes128:expanded", 192)];

/// How many blocks share the material of one.
const SHARED_BY: usize = 4096;

const REPEAT: u32 = 5;

/// What is measured, and how often.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableTask {
    /// The built-in circuit.
    pub circuit: String,
    batch: usize,
    shared_by: usize,
    repeat: usize,
}

/// What one party measured: as [`TableTimes`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableJson {
    sequential: Vec<f64>,
    fresh: Vec<f64>,
    shared: Vec<f64>,
    independent: Vec<f64>,
    dependent: Vec<f64>,
    preprocessing_bytes: f64,
    prepared_bytes: f64,
    sequential_bytes: f64,
    batch_bytes: f64,
}

/// Measures one variant, as one party.
///
/// # Errors
/// As the library has them.
pub fn play_tables(config: Config, task: &TableTask) -> Outcome<Played> {
    let circuit = builtin::by_name(&task.circuit)?;
    let TableTask { batch, shared_by, repeat, .. } = *task;
    let times = measure_tables(config, &circuit, TableCourse { batch, shared_by, repeat })?;
    let TableTimes { sequential, fresh, shared, independent, dependent, .. } = times;
    let tables = TableJson {
        sequential,
        fresh,
        shared,
        independent,
        dependent,
        preprocessing_bytes: times.preprocessing_bytes,
        prepared_bytes: times.prepared_bytes,
        sequential_bytes: times.sequential_bytes,
        batch_bytes: times.batch_bytes,
    };
    Ok(Played { tables: Some(tables), ..Played::empty() })
}

/// What `bench tinytable --json` prints.
#[derive(Serialize)]
struct TablesJson {
    format: &'static str,
    workload: &'static str,
    mac_bits: u32,
    rho: u32,
    transport: &'static str,
    link: Option<String>,
    /// Whether the material came from a dealer.
    dealt: bool,
    repeat: usize,
    shared_by: usize,
    variants: Vec<VariantJson>,
}

#[derive(Serialize)]
struct VariantJson {
    variant: &'static str,
    circuit: &'static str,
    batch: usize,
    /// By party.
    parties: Vec<TableJson>,
}

/// Measures both variants and prints them side by side.
///
/// # Errors
/// A usage failure for options that do not go with it; otherwise as `local`.
pub fn command(args: &BenchArgs) -> Outcome<()> {
    let tuning = tuning(args)?;
    tuning.warn();
    let repeat = args.repeat.unwrap_or(REPEAT) as usize;
    let mut variants = Vec::new();
    for (variant, circuit, batch) in VARIANTS {
        let batch = args.tuning.batch.map_or(Ok(batch), usize::try_from);
        let batch = batch.map_err(|_| Failure::usage("--batch: more than memory can hold"))?;
        let task = TableTask { circuit: circuit.into(), batch, shared_by: SHARED_BY, repeat };
        let work = Work::Tables(&task);
        let (transport, dealer) = (args.transport, args.dealer);
        let troupe = Troupe { work, parties: 2, tuning: &tuning, transport, dealer };
        let parties = troupe.run()?.into_iter().filter_map(|played| played.tables).collect();
        variants.push(VariantJson { variant, circuit, batch, parties });
    }
    let measured = TablesJson {
        format: "symbolon-bench-tinytable-1",
        workload: TINYTABLE,
        mac_bits: tuning.mac.bits(),
        rho: tuning.rho.bits(),
        transport: args.transport.name(),
        link: tuning.link.as_ref().map(|(text, _)| text.clone()),
        dealt: args.dealer,
        repeat,
        shared_by: SHARED_BY,
        variants,
    };
    if args.json { print_json(&measured) } else { measured.print() }
}

/// The parameters, of which there can be only one each.
fn tuning(args: &BenchArgs) -> Outcome<Tuning> {
    let ListedTuning { protocol, rho, form, ot, threads, link, .. } = &args.tuning;
    let refused = [
        (!protocol.is_empty(), "--protocol"),
        (!form.is_empty(), "--form"),
        (!args.count.is_empty(), "--count"),
        (args.parties.iter().any(|parties| *parties != 2), "--parties"),
        (args.apart, "--apart"),
        (args.anew, "--anew"),
        (args.report.is_some(), "--report"),
        (args.workloads.len() > 1, "other workload"),
        (rho.len() > 1, "list for --rho"),
        (ot.len() > 1, "list for --ot"),
        (threads.len() > 1, "list for --threads"),
        (link.iter().flatten().count() > 1, "list for --link"),
    ];
    if let Some((_, option)) = refused.into_iter().find(|(given, _)| *given) {
        return Err(Failure::usage(format!("`bench tinytable` takes no {option}")));
    }
    let given = TuningArgs {
        protocol: Some(Protocol::TinyTable.name().to_string()),
        batch: None,
        rho: rho.first().copied(),
        ot: ot.first().cloned(),
        threads: threads.first().copied(),
        link: link.iter().flatten().next().cloned().flatten(),
        ..args.tuning.unlisted()
    };
    Tuning::new(&given, 2)
}

impl TablesJson {
    fn print(&self) -> Outcome<()> {
        let row = |name: &str, cell: &dyn Fn(&VariantJson) -> String| {
            let mut cells = self.variants.iter().map(cell);
            [name.to_string(), cells.next().unwrap_or_default(), cells.next().unwrap_or_default()]
        };
        // The slower party's median, and how far its runs are apart.
        let seconds = |of: fn(&TableJson) -> &Vec<f64>| {
            move |variant: &VariantJson| {
                let slowest = variant.parties.iter().map(|party| spread(of(party)));
                let slowest = slowest.max_by(|a, b| a[1].total_cmp(&b[1])).unwrap_or_default();
                format!("{} ({} – {})", time(slowest[1]), time(slowest[0]), time(slowest[2]))
            }
        };
        let size = |of: fn(&TableJson) -> f64| {
            move |variant: &VariantJson| {
                let most = variant.parties.iter().map(of).fold(0.0, f64::max);
                bytes(most.round() as u64)
            }
        };
        let rows = [
            row("AES-128, one block", &|variant| variant.variant.to_string()),
            row("latency of one alone", &seconds(|party| &party.sequential)),
            row("online, fresh material", &seconds(|party| &party.fresh)),
            row("online, material reused*", &seconds(|party| &party.shared)),
            row("sent online, one alone", &size(|party| party.sequential_bytes)),
            row("sent online, in a batch", &size(|party| party.batch_bytes)),
            row("prepared", &size(|party| party.prepared_bytes)),
            row("sent to prepare it", &size(|party| party.preprocessing_bytes)),
            row("time for triples and masks", &seconds(|party| &party.independent)),
            row("time for tables from them", &seconds(|party| &party.dependent)),
            row("blocks in a batch", &|variant| variant.batch.to_string()),
        ];
        let link = self.link.as_ref().map_or(String::new(), |link| format!(", {link}"));
        let dealt = if self.dealt { ", dealt by a trusted dealer" } else { "" };
        print(&format!(
            "tinytable: {}-bit MACs, rho {}, {}{link}{dealt}; medians of {} (least – most), per block\n\n{}\n\
             * all of {} blocks use the material of one, which stays in the caches: insecure, for comparison\n",
            self.mac_bits,
            self.rho,
            self.transport,
            self.repeat,
            align(&rows, 1),
            self.shared_by
        ))
    }
}

/// Least, median and most.
fn spread(times: &[f64]) -> [f64; 3] {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted[..] {
        [] => [0.0; 3],
        [first, ..] => [first, sorted[sorted.len() / 2], sorted[sorted.len() - 1]],
    }
}
