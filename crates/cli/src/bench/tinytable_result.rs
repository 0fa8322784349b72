//! What `bench tinytable` tells.

use serde::Serialize;
use symbolon::measure::TableTimes;

use super::machine::Machine;
use super::result::{Table, link_name, threads};
use super::spread::Spread;
use crate::cost_table::{align, bytes, time};

/// How many blocks share the material of one.
pub const SHARED_BY: usize = 4096;

/// What `--json` prints.
#[derive(Serialize)]
pub struct BlocksJson {
    pub format: &'static str,
    /// On what.
    pub machine: Machine,
    /// A measurement for each combination.
    pub measurements: Vec<Blocks>,
}

/// Both variants, measured in one way.
#[derive(Serialize)]
pub struct Blocks {
    pub workload: &'static str,
    /// Bits of the MACs.
    pub mac_bits: u32,
    /// Statistical security in bits.
    pub rho: u32,
    /// How correlated OTs are made, as it was asked for.
    pub ot: String,
    /// Lanes.
    pub threads: usize,
    pub transport: &'static str,
    /// The simulated link.
    pub link: Option<String>,
    /// Whether the material came from a dealer.
    pub dealt: bool,
    pub repeat: u32,
    pub fresh_session: bool,
    pub shared_by: usize,
    /// By S-boxes and by gates.
    pub variants: Vec<Variant>,
}

/// One of the two circuits.
#[derive(Serialize)]
pub struct Variant {
    /// What it is called.
    #[serde(rename = "variant")]
    pub name: &'static str,
    pub circuit: &'static str,
    pub batch: usize,
    /// By party.
    pub parties: Vec<TableTimes>,
}

impl Variant {
    /// Seconds of the party whose median is the most.
    pub fn seconds(&self, of: fn(&TableTimes) -> &Vec<f64>) -> Spread {
        let spreads = self.parties.iter().filter_map(|party| Spread::of(of(party).iter().copied()));
        spreads.max_by(|a, b| a.median.total_cmp(&b.median)).unwrap_or_default()
    }

    /// The most that a party has of something.
    pub fn most(&self, of: fn(&TableTimes) -> f64) -> f64 {
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
    pub fn text(&self) -> String {
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
