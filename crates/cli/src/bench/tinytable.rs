//! `symbolon bench tinytable`: AES-128 by gates and by look-ups, one block and many.

use serde::Serialize;
use symbolon::Protocol;

use super::TINYTABLE;
use super::args::BenchArgs;
use super::machine::Machine;
use super::plan::combined;
use super::result::{Table, link_name, threads};
use super::spread::Spread;
use crate::args::TuningArgs;
use crate::cost_table::{align, bytes, time};
use crate::error::{CliError, CliResult};
use crate::local_runner::{LocalRun, Work};
use crate::results::{print, print_json};
use crate::tinytable_party::{TableJson, TableTask};
use crate::tuning::Tuning;

/// What the two variants are called, their circuits, and how many blocks are made on fresh material
/// at a time.
const VARIANTS: [(&str, &str, usize); 2] =
    [("S-boxes", "aes128:sbox-expanded", 24), ("gates", "aes128:expanded", 192)];

/// How many blocks share the material of one.
const SHARED_BY: usize = 4096;

/// What `--json` prints.
#[derive(Serialize)]
pub struct BlocksJson {
    format: &'static str,
    /// On what.
    pub machine: Machine,
    /// A measurement for each combination.
    pub measurements: Vec<Blocks>,
}

/// Both variants, measured in one way.
#[derive(Serialize)]
pub struct Blocks {
    workload: &'static str,
    /// Bits of the MACs.
    pub mac_bits: u32,
    /// Statistical security in bits.
    pub rho: u32,
    /// How correlated OTs are made, as it was asked for.
    pub ot: String,
    /// Lanes.
    pub threads: usize,
    transport: &'static str,
    /// The simulated link.
    pub link: Option<String>,
    /// Whether the material came from a dealer.
    dealt: bool,
    repeat: u32,
    fresh_session: bool,
    shared_by: usize,
    /// By S-boxes and by gates.
    pub variants: Vec<Variant>,
}

/// One of the two circuits.
#[derive(Serialize)]
pub struct Variant {
    /// What it is called.
    #[serde(rename = "variant")]
    pub name: &'static str,
    circuit: &'static str,
    batch: usize,
    /// By party.
    pub parties: Vec<TableJson>,
}

/// Measures both variants in every way that was asked for and prints them.
///
/// # Errors
/// A usage failure for options that do not go with it; otherwise as `local`.
pub fn command(args: &BenchArgs) -> CliResult<()> {
    check(args)?;
    let (settings, machine) = (settings(args)?, Machine::here());
    super::announce(args)?;
    let measurements = measure(args, &settings)?;
    let result = BlocksJson { format: "symbolon-bench-tinytable-3", machine, measurements };
    super::report(args, || super::tinytable_page::page(&result))?;
    if args.json { print_json(&result) } else { print(&result.text()) }
}

/// Measures as [`command`] does, and prints nothing but warnings.
///
/// # Errors
/// As [`command`].
pub fn measurements(args: &BenchArgs) -> CliResult<Vec<Blocks>> {
    check(args)?;
    measure(args, &settings(args)?)
}

fn settings(args: &BenchArgs) -> CliResult<Vec<Tuning>> {
    let settings = combined(args, |wanted| {
        let given = TuningArgs {
            protocol: Some(Protocol::TinyTable.name().to_string()),
            batch: None,
            ..wanted.tuning(&args.tuning.unlisted())
        };
        Tuning::new(&given, 2)
    })?;
    settings.iter().for_each(Tuning::warn);
    Ok(settings)
}

/// Refuses what does not go with this workload.
fn check(args: &BenchArgs) -> CliResult<()> {
    let refused = [
        (!args.tuning.protocol.is_empty(), "--protocol"),
        (!args.tuning.form.is_empty(), "--form"),
        (!args.count.is_empty(), "--count"),
        (args.parties.iter().any(|parties| *parties != 2), "--parties"),
        (args.split_phases, "--split-phases"),
        (args.one_by_one, "--one-by-one"),
        (args.workloads.len() > 1, "other workload"),
    ];
    match refused.into_iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(CliError::usage(format!("`bench tinytable` takes no {option}"))),
        None => Ok(()),
    }
}

/// Measures all settings; with `--fresh-session` they take turns, a session for each run.
fn measure(args: &BenchArgs, settings: &[Tuning]) -> CliResult<Vec<Blocks>> {
    let repeat = args.repeat.unwrap_or(super::REPEAT);
    let (rounds, each) = if args.fresh_session { (repeat, 1) } else { (1, repeat as usize) };
    let batch = args.tuning.batch.map(usize::try_from).transpose();
    let batch = batch.map_err(|_| CliError::usage("--batch: more than memory can hold"))?;
    let mut all: Vec<Blocks> = settings
        .iter()
        .map(|tuning| Blocks {
            workload: TINYTABLE,
            mac_bits: tuning.mac_bits().unwrap_or(0),
            rho: tuning.params.rho.bits(),
            ot: tuning.ot_name(),
            threads: tuning.params.threads,
            transport: args.transport.name(),
            link: tuning.link.as_ref().map(|(text, _)| text.clone()),
            dealt: args.dealer,
            repeat,
            fresh_session: args.fresh_session,
            shared_by: SHARED_BY,
            variants: VARIANTS
                .map(|(name, circuit, usual)| {
                    let batch = batch.unwrap_or(usual);
                    Variant { name, circuit, batch, parties: Vec::new() }
                })
                .into(),
        })
        .collect();
    for _ in 0..rounds {
        for (tuning, blocks) in settings.iter().zip(&mut all) {
            for variant in &mut blocks.variants {
                variant.session(args, tuning, each)?;
            }
        }
    }
    Ok(all)
}

impl Variant {
    /// Measures it in one more session.
    fn session(&mut self, args: &BenchArgs, tuning: &Tuning, repeat: usize) -> CliResult<()> {
        let (circuit, batch) = (self.circuit.into(), self.batch);
        let task = TableTask { circuit, batch, shared_by: SHARED_BY, repeat };
        let work = Work::Tables(&task);
        let (transport, dealer) = (args.transport, args.dealer);
        let played = LocalRun { work, parties: 2, tuning, transport, dealer }.run()?;
        let parties = played.into_iter().filter_map(|played| played.tables);
        if self.parties.is_empty() {
            self.parties = parties.collect();
        } else {
            self.parties.iter_mut().zip(parties).for_each(|(party, later)| party.append(later));
        }
        Ok(())
    }

    /// Seconds of the party whose median is the most.
    pub fn seconds(&self, of: fn(&TableJson) -> &Vec<f64>) -> Spread {
        let spreads = self.parties.iter().filter_map(|party| Spread::of(of(party).iter().copied()));
        spreads.max_by(|a, b| a.median.total_cmp(&b.median)).unwrap_or_default()
    }

    /// The most that a party has of something.
    pub fn most(&self, of: fn(&TableJson) -> f64) -> f64 {
        self.parties.iter().map(of).fold(0.0, f64::max)
    }
}

/// What is shown of a variant, a row or a column each.
type Cell = (&'static str, fn(&Variant) -> String);
const CELLS: [Cell; 10] = [
    ("latency of one alone", |v| v.seconds(|party| &party.sequential).show(time)),
    ("online, fresh material", |v| v.seconds(|party| &party.fresh).show(time)),
    ("online, material reused*", |v| v.seconds(|party| &party.shared).show(time)),
    ("sent online, one alone", |v| size(v.most(|party| party.sequential_bytes))),
    ("sent online, in a batch", |v| size(v.most(|party| party.batch_bytes))),
    ("prepared", |v| size(v.most(|party| party.prepared_bytes))),
    ("sent to prepare it", |v| size(v.most(|party| party.preprocessing_bytes))),
    ("time for triples and masks", |v| v.seconds(|party| &party.independent).show(time)),
    ("time for tables from them", |v| v.seconds(|party| &party.dependent).show(time)),
    ("blocks in a batch", |v| v.batch.to_string()),
];

fn size(count: f64) -> String {
    bytes(count.round() as u64)
}

impl Blocks {
    /// How it was measured, in a line.
    pub fn title(&self) -> String {
        let link = self.link.as_ref().map_or(String::new(), |link| format!(", link {link}"));
        let dealt = if self.dealt { ", dealt by a trusted dealer" } else { "" };
        format!(
            "tinytable: {}-bit MACs, rho {}, OT {}, {} each, {}{link}{dealt}",
            self.mac_bits,
            self.rho,
            self.ot,
            threads(self.threads),
            self.transport
        )
    }

    /// How often it was run, and what the figures are of.
    pub fn runs(&self) -> String {
        let how =
            if self.fresh_session { "each with a set-up of its own" } else { "over one set-up" };
        match self.repeat {
            1 => "1 run, for one block".to_string(),
            runs => format!("medians of {runs} runs (least – most), {how}, for one block"),
        }
    }

    /// A row for each cell and a column for each variant.
    pub fn table(&self) -> Table {
        let head = ("AES-128, one block", (|v| v.name.to_string()) as fn(&Variant) -> String);
        let row = |(name, of): Cell| {
            std::iter::once(name.to_string()).chain(self.variants.iter().map(of)).collect()
        };
        Table { rows: std::iter::once(head).chain(CELLS).map(row).collect(), names: 1 }
    }
}

/// The star in the tables.
pub fn note() -> String {
    format!(
        "* all of {SHARED_BY} blocks use the material of one, which stays in the caches: insecure, for comparison"
    )
}

/// A row for each variant of each measurement; what is the same for all is left out.
pub fn overview(many: &[Blocks]) -> Table {
    type Column = (&'static str, fn(&Blocks) -> String);
    let columns: [Column; 5] = [
        ("MAC", |b| b.mac_bits.to_string()),
        ("threads", |b| b.threads.to_string()),
        ("link", |b| link_name(b.link.as_deref())),
        ("rho", |b| b.rho.to_string()),
        ("OT", |b| b.ot.clone()),
    ];
    let varies = |(_, of): &Column| many.iter().any(|other| of(other) != of(&many[0]));
    let columns: Vec<Column> = columns.into_iter().filter(varies).collect();
    // The batch's size is no result.
    let cells = &CELLS[..CELLS.len() - 1];
    let head = columns.iter().map(|(name, _)| *name).chain(["by"]);
    let head = head.chain(cells.iter().map(|(name, _)| *name));
    let mut rows: Vec<Vec<String>> = vec![head.map(String::from).collect()];
    for blocks in many {
        for variant in &blocks.variants {
            let names = columns.iter().map(|(_, of)| of(blocks)).chain([variant.name.to_string()]);
            rows.push(names.chain(cells.iter().map(|(_, of)| of(variant))).collect());
        }
    }
    Table { rows, names: columns.len() + 1 }
}

impl BlocksJson {
    /// For people: in full, when there is one measurement, or else a row for each variant of each.
    fn text(&self) -> String {
        let machine = self.machine.line();
        let (title, Table { rows, names }) = match &self.measurements[..] {
            [one] => (format!("{}; {}", one.title(), one.runs()), one.table()),
            many => {
                let runs = many.first().map_or(String::new(), Blocks::runs);
                (format!("tinytable: {runs}"), overview(many))
            }
        };
        format!("{machine}\n{title}\n\n{}{}\n", align(&rows, names), note())
    }
}
