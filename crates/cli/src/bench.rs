//! `symbolon bench`: what triples and circuits cost on this machine.

pub mod args;
pub mod machine;
mod measure;
pub mod page;
mod plan;
mod plots;
mod report;
pub mod result;
pub mod spread;

use crate::error::CliResult;
use crate::output::{print, print_json};
use crate::progress;
use args::BenchArgs;
use machine::Machine;
use report::{announce, report};
use result::{BenchJson, Measured};

/// Runs all parties as processes on this machine and prints how fast they were.
///
/// # Errors
/// As `local`; a usage failure when the report cannot be written.
pub fn command(args: &BenchArgs) -> CliResult<()> {
    progress::set_up(&args.show, "bench")?;
    let settings = plan::settings(args)?;
    settings.iter().for_each(|setting| setting.tuning.warn());
    announce(args)?;
    let machine = Machine::here();
    let measurements = measure::measure(args, &settings)?;
    let result = BenchJson { format: "symbolon-bench-3", machine, measurements };
    report(args, || page::page(&result))?;
    if args.json { print_json(&result) } else { print(&result.text()) }
}

/// Measures as [`command`] does, triples and circuits, and prints nothing but what it leaves out.
///
/// # Errors
/// As [`command`].
pub fn measurements(args: &BenchArgs) -> CliResult<Vec<Measured>> {
    measure::measure(args, &plan::settings(args)?)
}
