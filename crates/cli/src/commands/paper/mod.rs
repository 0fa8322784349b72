//! `symbolon paper`: repeats the measurements of the papers' tables, and shows our figures next to
//! theirs.
//!
//! The tables are data (`paper/tables/*.toml`). A row names the `symbolon bench` command that
//! measures the same thing, or says why there is none. All parties are on this machine, or two
//! parties are on a machine each.

pub mod args;
mod figure;
mod fit;
mod run;
mod show;
mod site;
mod tables;
#[cfg(test)]
mod tests;

use crate::common::error::CliResult;
use crate::common::output::{print, print_json};
use crate::measure::report;
use args::{Pace, PaperArgs};
use run::PaperResult;
use show::PapersJson;
use site::Site;

/// Measures the tables and prints them.
///
/// # Errors
/// A usage failure when a paper has no such table or the report cannot be written; between two
/// machines, those of `bench` when they do not connect; `Interrupted`.
pub fn command(args: &PaperArgs) -> CliResult<()> {
    let papers = tables::chosen(&args.papers, &args.table)?;
    report::check("--report", args.report.as_deref())?;
    let pace = Pace { quick: args.quick, repeat: args.repeat };
    let mut site = Site::new(args, &papers, pace)?;
    let papers = papers.iter().map(|paper| run::paper(paper, &mut site, pace));
    let papers: Vec<PaperResult> = papers.collect::<CliResult<_>>()?;
    let result = PapersJson::new(site.machines(), args.quick, papers);
    if let Some(path) = &args.report {
        let markdown = path.extension().is_some_and(|extension| extension == "md");
        let page = if markdown { show::markdown(&result) } else { show::html(&result) };
        report::write("--report", path, &page)?;
    }
    if args.json { print_json(&result) } else { print(&show::text(&result)) }
}
