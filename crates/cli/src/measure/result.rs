//! The results of `bench`, as JSON (docs/reference/json.md is generated from the comments) and as
//! text.

use serde::Serialize;
use symbolon::OptionSpec;
use symbolon::circuit::PartyId;

use super::args::TRIPLES;
use super::machine::{Machine, lines};
use super::plan::threads;
use super::raw::Raw;
use super::spread::Spread;
use crate::args::given::{OptionsJson, protocol_options};
use crate::common::cost_table::{align, bytes, time};
use crate::common::timeline::Span;
use crate::results::ChoiceJson;

/// What `bench --json` prints. All figures are without the set-up unless they name it.
#[derive(Serialize)]
pub struct BenchJson {
    /// `symbolon-bench-3`.
    pub format: &'static str,
    /// This machine.
    pub machine: Machine,
    /// Party 1's machine, as it says of itself; absent where both are on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_machine: Option<Machine>,
    /// A measurement for each combination, in the order in which they were asked for.
    pub measurements: Vec<Measured>,
}

/// One workload measured in one way.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The workload as it was named.
    pub workload: String,
    /// How many parties.
    pub parties: u16,
    /// The protocol; absent for triples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<&'static str>,
    /// Statistical security in bits.
    pub rho: u32,
    /// Form, OT, dealer, and the link where it decided.
    #[serde(flatten)]
    pub choice: ChoiceJson,
    /// The options of the protocol.
    #[serde(flatten)]
    pub options: OptionsJson,
    /// Threads, as `--threads` gave them.
    pub threads: usize,
    /// `tls`, `tcp` or `memory`.
    pub transport: &'static str,
    /// The simulated link.
    pub link: Option<String>,
    /// Whether the function-independent phase ran by itself.
    pub split_phases: bool,
    /// Evaluations in a run.
    pub batch: u64,
    /// Whether these were prepared together and run one after the other.
    pub one_by_one: bool,
    /// Runs.
    pub repeat: u32,
    /// Whether each of them had its own processes and set-up.
    pub fresh_session: bool,
    /// Triples or AND gates in a run.
    pub count: u64,
    /// Wall time of the slowest party, in a run without the set-up.
    pub seconds: Spread,
    /// Triples or AND gates in a second of that.
    pub per_second: Spread,
    /// Processor time of all parties in a run without the set-up; null where it is not known.
    pub cpu_seconds: Option<Spread>,
    /// Bytes that a party sends to one other, for each triple or gate; the mean over all.
    pub bytes_each: f64,
    /// The most bytes of memory of any party's process, where the system tells.
    pub peak_memory: Option<u64>,
    /// By phase, over all parties.
    pub phases: Vec<PhaseOfAll>,
    /// By party and phase.
    pub costs: Vec<PartyMeasured>,
    /// By party, when the phases were in a run of about median time; `begin` is in seconds since
    /// the first one began.
    pub timeline: Vec<Vec<Span>>,
    /// Every phase of every run; only with --raw.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub raw: Vec<Raw>,
}

/// What a phase cost over all parties.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseOfAll {
    /// The phase.
    pub phase: String,
    /// Wall time from when all parties had ended the phase before until all had ended this one.
    pub seconds: Spread,
    /// All parties' processor time; null where it is not known.
    pub cpu_seconds: Option<Spread>,
    /// The most that a party sent.
    pub bytes_sent: u64,
    /// The most rounds that a party had.
    pub rounds: u64,
}

/// What the phases cost one party.
#[derive(Clone, Debug, Serialize)]
pub struct PartyMeasured {
    /// The party's number.
    pub party: PartyId,
    /// What it does in the protocol.
    pub role: &'static str,
    /// Its phases, in order.
    pub phases: Vec<PhaseMeasured>,
}

/// What one phase cost one party; counts are medians.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseMeasured {
    /// The phase.
    pub phase: String,
    /// Wall time.
    pub seconds: Spread,
    /// Processor time; null where it is not known.
    pub cpu_seconds: Option<Spread>,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Rounds.
    pub rounds: u64,
}

/// Returns a link's name, also for no link.
pub fn link_name(link: Option<&str>) -> String {
    link.unwrap_or("local").to_string()
}

impl Measured {
    /// Returns what is counted.
    pub fn unit(&self) -> &'static str {
        if self.protocol.is_some() { "AND gates" } else { TRIPLES }
    }

    /// Returns what was measured, on one line.
    pub fn title(&self) -> String {
        let protocol = self.protocol.map_or(String::new(), |name| format!("{name}, "));
        let link = self.link.as_ref().map_or(String::new(), |link| format!(", link {link}"));
        let batch = match self.batch {
            1 => String::new(),
            n if self.one_by_one => format!(", {n} prepared together and run one by one"),
            n => format!(", {n} at a time"),
        };
        let options = self.options.unusual(None);
        let options: String = options.iter().map(|option| format!(", {option}")).collect();
        format!(
            "{}: {protocol}{} parties, {} each, rho {}, {}{link}{batch}{options}",
            self.workload,
            self.parties,
            threads(self.threads),
            self.rho,
            self.transport
        )
    }

    /// Returns an option as text, with `and` between names; empty if the protocol does not have it,
    /// or there are no names.
    pub fn option(&self, spec: &OptionSpec, and: &str) -> String {
        self.options.get(spec).map_or(String::new(), |option| option.value.text(and))
    }

    /// Returns how often it was run.
    pub fn runs(&self) -> String {
        let how =
            if self.fresh_session { "each with a set-up of its own" } else { "over one set-up" };
        match self.repeat {
            1 => "1 run".to_string(),
            runs => format!("{runs} runs, {how}"),
        }
    }

    /// Returns processor seconds per triple or gate, for all parties together.
    pub fn cpu_each(&self) -> Option<f64> {
        let cpu = self.cpu_seconds.filter(|_| self.count > 0)?;
        Some(cpu.median / self.count as f64)
    }

    /// Returns the rates, in a few lines.
    pub fn rates(&self) -> String {
        let cpu = self.cpu_each().map_or(String::new(), |cpu| {
            format!("; {:.3} µs of processors each, all parties together", cpu * 1e6)
        });
        let memory = self
            .peak_memory
            .map_or(String::new(), |peak| format!("; at most {} of memory a process", bytes(peak)));
        format!(
            "{} {} in {}: {} a second\n{:.1} bytes each from a party to each other one{cpu}{memory}\n",
            self.count,
            self.unit(),
            self.seconds.show(time),
            self.per_second.show(rate),
            self.bytes_each
        )
    }

    fn text(&self) -> String {
        let mut rows = vec![HEAD.map(String::from)];
        for party in &self.costs {
            for phase in &party.phases {
                let cpu = phase.cpu_seconds.map_or(String::new(), |cpu| time(cpu.median));
                rows.push([
                    format!("{} ({})", party.party, party.role),
                    phase.phase.clone(),
                    bytes(phase.bytes_sent),
                    bytes(phase.bytes_received),
                    phase.messages_sent.to_string(),
                    phase.rounds.to_string(),
                    cpu,
                    phase.seconds.show(time),
                ]);
            }
        }
        let (title, runs, choice) = (self.title(), self.runs(), self.choice.line());
        format!("{title}; {runs}\n{choice}{}\n{}", self.rates(), align(&rows, 2))
    }
}

/// What the columns of [`rate_table`] are.
pub const RATES: &str = "Medians (least – most), without the set-up. Bytes are from a party to each other one, \
     processor times all parties' together, memory that of the largest process.";

/// What the columns of [`phase_table`] are.
pub const PHASES: &str = "Times of a phase are from the end of the one before, at the last party, to its own. \
     Bytes and rounds are the most that a party had, processor times all parties' together.";

const HEAD: [&str; 8] =
    ["party", "phase", "sent", "received", "messages", "rounds", "processors", "time"];

/// Formats a rate: `1.23 M`, `45.6 k`, `789`.
pub fn rate(count: f64) -> String {
    match count {
        count if count >= 999_500.0 => format!("{:.2} M", count / 1e6),
        count if count >= 999.5 => format!("{:.1} k", count / 1e3),
        count => format!("{count:.0}"),
    }
}

impl BenchJson {
    /// Returns the result for people: in full for a single measurement, else as a table.
    pub fn text(&self) -> String {
        let machine = lines(&self.machine, self.other_machine.as_ref());
        match &self.measurements[..] {
            [one] => format!("{machine}\n{}", one.text()),
            many => {
                let [rates, phases] = [rate_table(many), phase_table(many)]
                    .map(|table| align(&table.rows, table.names));
                format!("{machine}\n{RATES}\n\n{rates}\n{PHASES}\n\n{phases}")
            }
        }
    }
}

/// Rows of cells, the first of them headings.
pub struct Table {
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// How many cells of each row say what it is about.
    pub names: usize,
}

/// Returns the cell of a measurement.
type Cell = fn(&Measured) -> String;

/// A column that says what a measurement is of: its heading and its cells.
type Column = (String, Box<dyn Fn(&Measured) -> String>);

/// Returns the columns in which these measurements differ, and the workload.
fn name_columns(many: &[Measured]) -> Vec<Column> {
    let own: [(&str, Cell); 8] = [
        ("workload", |m| m.workload.clone()),
        ("protocol", |m| m.protocol.unwrap_or("–").to_string()),
        ("parties", |m| m.parties.to_string()),
        ("threads", |m| m.threads.to_string()),
        ("link", |m| link_name(m.link.as_deref())),
        ("rho", |m| m.rho.to_string()),
        ("form", |m| m.choice.form.clone().unwrap_or_else(|| "–".to_string())),
        ("OT", |m| m.choice.ot.clone()),
    ];
    let own = own.into_iter().map(|(name, of)| -> Column { (name.to_string(), Box::new(of)) });
    let options = protocol_options().map(|spec| -> Column {
        let cell = move |m: &Measured| Some(m.option(spec, " ")).filter(|text| !text.is_empty());
        (spec.key(), Box::new(move |m| cell(m).unwrap_or_else(|| "–".to_string())))
    });
    let varies = |(name, of): &Column| {
        *name == "workload" || many.iter().any(|other| of(other) != of(&many[0]))
    };
    own.chain(options).filter(varies).collect()
}

/// Returns the values that tell a measurement from these others, on one line.
pub fn short_name(measured: &Measured, many: &[Measured]) -> String {
    let names: Vec<String> = name_columns(many).iter().map(|(_, of)| of(measured)).collect();
    names.join(" ")
}

fn head(columns: &[Column], rest: &[&str]) -> Vec<String> {
    let names = columns.iter().map(|(name, _)| name.clone());
    names.chain(rest.iter().copied().map(String::from)).collect()
}

/// Returns a row with the rates of each measurement; the first row has the headings.
pub fn rate_table(many: &[Measured]) -> Table {
    let columns = name_columns(many);
    let units: Vec<&str> = many.iter().map(Measured::unit).collect();
    let counted = if units.iter().all(|unit| *unit == units[0]) { units[0] } else { "counted" };
    let each = ["time", &format!("{counted} a second"), "bytes each", "processors each", "memory"];
    let mut rows = vec![head(&columns, &each)];
    for measured in many {
        let mut row: Vec<String> = columns.iter().map(|(_, of)| of(measured)).collect();
        row.extend([
            measured.seconds.show(time),
            measured.per_second.show(rate),
            format!("{:.1} B", measured.bytes_each),
            measured.cpu_each().map_or(String::new(), |cpu| format!("{:.3} µs", cpu * 1e6)),
            measured.peak_memory.map_or(String::new(), bytes),
        ]);
        rows.push(row);
    }
    Table { rows, names: columns.len() }
}

/// Returns a row for each phase of each measurement; the first row has the headings. Columns that
/// are the same throughout are left out, except for the workload.
pub fn phase_table(many: &[Measured]) -> Table {
    let columns = name_columns(many);
    let mut rows = vec![head(&columns, &["phase", "time", "sent", "rounds", "processors"])];
    for measured in many {
        let mut names: Vec<String> = columns.iter().map(|(_, of)| of(measured)).collect();
        for phase in &measured.phases {
            let mut row = names.clone();
            // It is shown only once.
            names.iter_mut().for_each(String::clear);
            row.extend([
                phase.phase.clone(),
                phase.seconds.show(time),
                bytes(phase.bytes_sent),
                phase.rounds.to_string(),
                phase.cpu_seconds.map_or(String::new(), |cpu| time(cpu.median)),
            ]);
            rows.push(row);
        }
    }
    Table { rows, names: columns.len() + 1 }
}
