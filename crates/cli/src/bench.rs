//! `symbolon bench`: the cost of triples and circuits on this machine, or between two.

pub mod args;
mod csv;
pub mod machine;
mod measure;
pub mod page;
mod plan;
pub mod plots;
mod raw;
pub mod remote;
pub mod report;
pub mod result;
mod session;
pub mod spread;

use crate::error::CliResult;
use crate::output::{print, print_json};
use crate::progress;
use args::BenchArgs;
use machine::Machine;
use remote::Remote;
use report::{announce, report};
use result::{BenchJson, Measured};

/// Runs all parties as processes on this machine and prints how fast they were.
///
/// # Errors
/// Those of `local`; a usage failure when the report cannot be written.
pub fn command(args: &BenchArgs) -> CliResult<()> {
    progress::set_up(&args.show, &args.tuning.unlisted(), "bench", "")?;
    let settings = plan::settings(args)?;
    settings.iter().for_each(|setting| setting.tuning.warn());
    announce(args)?;
    let here = Machine::here();
    let mut remote = Remote::begin(args, &settings)?;
    let measurements = measure::measure(args, &settings, remote.as_mut())?;
    let (machine, other_machine) = match remote.map(|remote| remote.machines()) {
        Some([zero, one]) => (zero, Some(one)),
        None => (here, None),
    };
    csv::write(args, &measurements)?;
    let format = "symbolon-bench-3";
    let mut result = BenchJson { format, machine, other_machine, measurements };
    if progress::live::is_on() {
        progress::live::set_report(page::part(&result)?);
    }
    report(args, || page::page(&result))?;
    if !args.raw {
        result.measurements.iter_mut().for_each(|measured| measured.raw.clear());
    }
    if args.json { print_json(&result) } else { print(&result.text()) }
}

/// Measures triples and circuits as [`command`] does, with the other machine if there is one, and
/// prints only what it leaves out.
///
/// # Errors
/// Those of [`command`].
pub fn measurements(args: &BenchArgs, remote: Option<&mut Remote>) -> CliResult<Vec<Measured>> {
    let mut measurements = measure::measure(args, &plan::settings(args)?, remote)?;
    measurements.iter_mut().for_each(|measured| measured.raw.clear());
    Ok(measurements)
}
