//! The file that `--report` names.

use super::args::BenchArgs;
use super::csv;
use crate::error::{CliError, CliResult};

/// Checks before the work, not after it, that the files can be written.
pub fn announce(args: &BenchArgs) -> CliResult<()> {
    csv::write(args, &[])?;
    report(args, || Ok(String::new()))
}

/// Writes the page, if it was requested.
pub fn report(args: &BenchArgs, page: impl FnOnce() -> CliResult<String>) -> CliResult<()> {
    let Some(path) = &args.report else { return Ok(()) };
    std::fs::write(path, page()?).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &std::path::Path, error: &std::io::Error) -> CliError {
    CliError::io(format!("--report: cannot write {}", path.display()), error)
}
