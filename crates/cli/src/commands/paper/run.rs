//! Runs the rows of a paper.

use std::time::Instant;

use clap::Parser;
use serde::Serialize;

use super::args::Pace;
use super::figure::Column;
use super::fit::obstacle;
use super::site::Site;
use super::tables::{Chosen, Row, Table};
use crate::common::error::{CliError, CliResult, ErrorClass};
use crate::common::output::tell;
use crate::measure::args::BenchArgs;
use crate::measure::result::Measured;
use crate::measure::spread::Spread;

/// Runs of a row, unless its command or the user sets a number: five, or as many as fit into about
/// this many seconds.
const USUAL: (f64, f64) = (5.0, 60.0);

/// The same with `--quick`; a row that takes longer is run once.
const FEW: (f64, f64) = (3.0, 5.0);

/// A paper's tables with our figures.
#[derive(Debug, Serialize)]
pub struct PaperResult {
    /// Its name on the command line.
    pub paper: &'static str,
    /// Authors, title and where it was published.
    pub title: String,
    /// On what the paper measured.
    pub their_machine: String,
    /// What differs here, in all tables.
    pub differs: Vec<String>,
    /// Its tables.
    pub tables: Vec<TableResult>,
}

/// A table with our figures.
#[derive(Debug, Serialize)]
pub struct TableResult {
    /// `Table N` or `Figure N`.
    pub table: String,
    /// What it shows.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// What differs here.
    pub differs: Vec<String>,
    /// Its rows.
    pub rows: Vec<RowResult>,
}

/// A row with our figures.
#[derive(Debug, Serialize)]
pub struct RowResult {
    /// What it is about.
    pub name: String,
    /// The paper's figures, by column; null where it has none.
    pub paper: Vec<Option<f64>>,
    /// Ours; null where there is none.
    pub ours: Vec<Option<Spread>>,
    /// The commands that measured ours.
    pub commands: Vec<String>,
    /// What differs here, or why there are no figures of ours.
    pub note: Option<String>,
}

/// A command line of `bench` alone.
#[derive(Parser, Debug)]
#[command(no_binary_name = true)]
struct Words {
    #[command(flatten)]
    bench: BenchArgs,
}

/// Parses arguments of `symbolon bench`.
///
/// # Errors
/// An internal failure when `bench` does not take them.
pub fn bench(words: &str) -> CliResult<BenchArgs> {
    let parsed = Words::try_parse_from(words.split(' '));
    parsed.map(|words| words.bench).map_err(|error| CliError::internal(format!("{words}: {error}")))
}

/// A place in the tables: by table and row.
type Place = (usize, usize);

/// The remark on a paper's tables if the parties do not share a machine.
const BETWEEN: &str = "Each party is on a machine of its own. A link that a row names is simulated on top of the one \
     between them.";

/// Measures a paper's rows.
///
/// # Errors
/// `Interrupted`; a row that fails for another reason shows it in its place.
pub fn paper(chosen: &Chosen, site: &mut Site, pace: Pace) -> CliResult<PaperResult> {
    let tables = &chosen.tables;
    let mut results: Vec<TableResult> = tables.table.iter().map(without_figures).collect();
    let shared = if site.is_between() { BETWEEN } else { tables.here.as_str() };
    let differs = [shared.to_string()].into_iter().chain(tables.differs.clone()).collect();
    let machines = site.machines();
    let mut bench = Bench { pace, known: Vec::new(), begun: Instant::now(), expected: 0.0, site };
    for (at, place) in order(&tables.table, pace).into_iter().enumerate() {
        let (table, row) = (&tables.table[place.0], &tables.table[place.0].row[place.1]);
        let result = &mut results[place.0].rows[place.1];
        if let Some(reason) = row.left_out.clone().or_else(|| obstacle(row, &machines)) {
            result.note = Some(reason);
            continue;
        }
        let room = pace.quick.map(|minutes| 60.0 * f64::from(minutes) - bench.spent());
        if at > 0 && room.is_some_and(|room| row.seconds > room) {
            result.note = Some(format!(
                "Left out by --quick: it takes about {} more seconds a run.",
                row.seconds.ceil()
            ));
            continue;
        }
        tell(&format!("{}: {}: {}\n", chosen.name, table.name, row.name));
        bench.row(table, row, result)?;
    }
    Ok(PaperResult {
        paper: chosen.name,
        title: tables.title.clone(),
        their_machine: tables.machine.clone(),
        differs,
        tables: results,
    })
}

/// Returns the order in which rows are run: the cheapest first when there is little time.
fn order(tables: &[Table], pace: Pace) -> Vec<Place> {
    let places = tables.iter().enumerate();
    let mut places: Vec<Place> =
        places.flat_map(|(t, table)| (0..table.row.len()).map(move |r| (t, r))).collect();
    if pace.quick.is_some() {
        places.sort_by(|a, b| {
            let seconds = |place: &Place| tables[place.0].row[place.1].seconds;
            seconds(a).total_cmp(&seconds(b))
        });
    }
    places
}

fn without_figures(table: &Table) -> TableResult {
    let row = |row: &Row| RowResult {
        name: row.name.clone(),
        paper: row.paper.iter().map(|figure| (!figure.is_nan()).then_some(*figure)).collect(),
        ours: vec![None; table.columns.len()],
        commands: Vec::new(),
        note: row.note.clone(),
    };
    TableResult {
        table: table.name.clone(),
        caption: table.caption.clone(),
        columns: table.columns.clone(),
        differs: table.differs.clone(),
        rows: table.row.iter().map(row).collect(),
    }
}

/// Runs commands, each only once, since several tables need the same ones.
struct Bench<'s> {
    pace: Pace,
    known: Vec<(String, Vec<Measured>)>,
    begun: Instant,
    /// How many seconds the rows that were run should have taken.
    expected: f64,
    site: &'s mut Site,
}

impl Bench<'_> {
    /// Returns the seconds used so far. Two machines count what rows should take, so that both
    /// leave out the same ones.
    fn spent(&self) -> f64 {
        if self.site.is_between() { self.expected } else { self.begun.elapsed().as_secs_f64() }
    }

    /// Fills in our figures.
    fn row(&mut self, table: &Table, row: &Row, result: &mut RowResult) -> CliResult<()> {
        let quick = row.quick.as_ref().filter(|_| self.pace.quick.is_some());
        let mut runs = Vec::new();
        for words in quick.unwrap_or(&row.run) {
            let (command, args) = self.arguments(words, row.seconds)?;
            if let Some(reason) = self.site.obstacle(&args) {
                result.note = Some(reason.to_string());
                return Ok(());
            }
            self.expected += row.seconds * f64::from(args.repeat.unwrap_or(1));
            let measured = match self.measure(&command, args) {
                Ok(measured) => measured,
                Err(failure) if failure.class == ErrorClass::Interrupted => return Err(failure),
                Err(failure) => {
                    CliError::if_interrupted()?;
                    result.note = Some(format!("It failed: {}", failure.message));
                    return Ok(());
                }
            };
            result.commands.push(format!("symbolon bench {command}"));
            runs.extend(measured.iter().cloned());
        }
        if !runs.is_empty() {
            let of = |column: &Column| column.of(&runs, table.sender);
            result.ours = table.columns.iter().map(of).collect();
        }
        Ok(())
    }

    /// Returns the command as it is run, including the number of runs, and its parsed arguments.
    fn arguments(&self, words: &str, seconds: f64) -> CliResult<(String, BenchArgs)> {
        let mut args = bench(words)?;
        let mut command = words.to_string();
        if args.repeat.is_none() {
            let (most, room) = if self.pace.quick.is_some() { FEW } else { USUAL };
            let usual = (room / seconds).floor().clamp(1.0, most) as u32;
            let repeat = self.pace.repeat.unwrap_or(usual);
            args.repeat = Some(repeat);
            command.push_str(&format!(" --repeat {repeat}"));
        }
        Ok((command, args))
    }

    fn measure(&mut self, command: &str, args: BenchArgs) -> CliResult<&[Measured]> {
        let known = self.known.iter().position(|(known, _)| known == command);
        let at = match known {
            Some(at) => at,
            None => {
                self.known.push((command.to_string(), self.site.measure(args)?));
                self.known.len() - 1
            }
        };
        Ok(&self.known[at].1)
    }
}
