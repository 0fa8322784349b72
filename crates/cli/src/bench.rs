//! `symbolon bench`: what triples and circuits cost on this machine.

mod args;
pub mod machine;
mod measure;
pub mod page;
mod plan;
mod plots;
pub mod result;
pub mod spread;
pub mod tinytable;
mod tinytable_page;

pub use args::BenchArgs;

use crate::error::{CliError, CliResult};
use crate::progress;
use crate::results::{print, print_json};
use machine::Machine;
use result::{BenchJson, Measured};

/// The names of the workloads that are no circuits.
const TRIPLES: &str = "triples";
pub const TINYTABLE: &str = "tinytable";

/// How often everything is run, unless it is said.
const REPEAT: u32 = 5;

/// Runs all parties as processes on this machine and prints how fast they were.
///
/// # Errors
/// As `local`; a usage failure when the report cannot be written.
pub fn command(args: &BenchArgs) -> CliResult<()> {
    progress::set_up(&args.show, "bench")?;
    if args.workloads.iter().any(|name| name == TINYTABLE) {
        return tinytable::command(args);
    }
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

/// Tells whether the report can be written before the work, not after it.
fn announce(args: &BenchArgs) -> CliResult<()> {
    report(args, || Ok(String::new()))
}

/// Writes the page, if it was asked for.
fn report(args: &BenchArgs, page: impl FnOnce() -> CliResult<String>) -> CliResult<()> {
    let Some(path) = &args.report else { return Ok(()) };
    std::fs::write(path, page()?).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &std::path::Path, error: &std::io::Error) -> CliError {
    CliError::io(format!("--report: cannot write {}", path.display()), error)
}
