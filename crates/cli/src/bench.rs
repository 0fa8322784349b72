//! `symbolon bench`: what triples and circuits cost on this machine.

mod args;
mod machine;
mod measure;
mod page;
mod plan;
mod plots;
mod result;
mod spread;

pub use args::{BenchArgs, ListedTuning};

use crate::failure::{Failure, Outcome};
use crate::results::{print, print_json};
use crate::tables::{self, TINYTABLE};
use machine::Machine;
use result::BenchJson;

/// The name of the workload that is no circuit.
const TRIPLES: &str = "triples";

/// How often everything is run, unless it is said.
const REPEAT: u32 = 5;

/// Runs all parties as processes on this machine and prints how fast they were.
///
/// # Errors
/// As `local`; a usage failure when the report cannot be written.
pub fn command(args: &BenchArgs) -> Outcome<()> {
    if args.workloads.iter().any(|name| name == TINYTABLE) {
        return tables::command(args);
    }
    let settings = plan::settings(args)?;
    settings.iter().for_each(|setting| setting.tuning.warn());
    if let Some(path) = &args.report {
        // Told before the work, not after it.
        std::fs::write(path, "").map_err(|error| unwritable(path, &error))?;
    }
    let machine = Machine::here();
    let measurements = measure::measure(args, &settings)?;
    let result = BenchJson { format: "symbolon-bench-2", machine, measurements };
    if let Some(path) = &args.report {
        std::fs::write(path, page::page(&result)?).map_err(|error| unwritable(path, &error))?;
    }
    if args.json { print_json(&result) } else { print(&result.text()) }
}

fn unwritable(path: &std::path::Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("--report: cannot write {}: {error}", path.display()))
}
