//! `symbolon paper`: what the papers' tables measured, run here, with our figures beside theirs.
//!
//! The tables are data (`paper/tables/*.toml`). A row names the `symbolon bench` command that
//! measures the same thing, or says why there is none.

mod figure;
mod fit;
mod run;
mod show;
mod tables;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::bench::machine::Machine;
use crate::error::{CliError, CliResult};
use crate::results::{print, print_json};
use run::{Pace, PaperResult};
use show::PapersJson;

const PAPER_HELP: &str = "\
Each row of a table is a `symbolon bench` command, which is shown with it. A row that has no counterpart here, or that
this machine cannot run, says why.

EXAMPLES
    symbolon paper rr16 --table 6
    symbolon paper wrk17 ywz20 --quick --report papers.html
    symbolon paper all --quick --report papers.md";

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
    /// Stop measuring each paper after about a minute, cheapest rows first, with few runs of each
    #[arg(long)]
    pub quick: bool,
    /// Measure this many runs of each row [default: 5, or fewer for slow rows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    /// Print as JSON; docs/cli.md describes it
    #[arg(long)]
    pub json: bool,
    /// Write a page to this file, too: HTML, or Markdown if its name ends in `.md`
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// Measures the tables and prints them.
///
/// # Errors
/// A usage failure when a paper has no such table or the report cannot be written; `Interrupted`.
pub fn command(args: &PaperArgs) -> CliResult<()> {
    let papers = tables::chosen(&args.papers, &args.table)?;
    write_report(args, "")?;
    let machine = Machine::here();
    let pace = Pace { quick: args.quick, repeat: args.repeat };
    let papers = papers.iter().map(|paper| run::paper(paper, &machine, pace));
    let papers: Vec<PaperResult> = papers.collect::<CliResult<_>>()?;
    let result = PapersJson { format: "symbolon-paper-1", machine, quick: args.quick, papers };
    if let Some(path) = &args.report {
        let markdown = path.extension().is_some_and(|extension| extension == "md");
        let page = if markdown { show::markdown(&result) } else { show::html(&result) };
        write_report(args, &page)?;
    }
    if args.json { print_json(&result) } else { print(&show::text(&result)) }
}

fn write_report(args: &PaperArgs, page: &str) -> CliResult<()> {
    let Some(path) = &args.report else { return Ok(()) };
    std::fs::write(path, page)
        .map_err(|error| CliError::io(format!("--report: cannot write {}", path.display()), &error))
}
