//! `symbolon bench`: the cost of triples and circuits on this machine, or between two.

use crate::common::error::CliResult;
use crate::common::output::{print, print_json};
use crate::measure::args::BenchArgs;
use crate::measure::machine::Machine;
use crate::measure::remote::Remote;
use crate::measure::report::{announce, report};
use crate::measure::result::BenchJson;
use crate::measure::{csv, page, plan, sweep};
use crate::progress;

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
    let measurements = sweep::measure(args, &settings, remote.as_mut())?;
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
