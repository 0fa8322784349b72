//! `symbolon calibrate`: measures how fast this machine works, for `symbolon plan`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use symbolon::plan::{Rates, Unit, calibrate, rates_file, units};
use tempfile::Builder;

use crate::common::cost_table::{align, time};
use crate::common::error::{CliError, CliResult};
use crate::common::output::{print, print_json, tell};
use crate::source::cache::{Cache, UNFINISHED};

/// Arguments of `calibrate`.
#[derive(Args, Debug)]
pub struct CalibrateArgs {
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// What `calibrate --json` prints.
#[derive(Serialize)]
struct CalibrationJson {
    /// `symbolon-calibration-1`.
    format: &'static str,
    /// Where it is kept.
    file: String,
    /// Every kind of work.
    units: Vec<UnitJson>,
}

/// A kind of work.
#[derive(Serialize)]
struct UnitJson {
    /// Its name.
    name: &'static str,
    /// Seconds on this machine.
    seconds: f64,
    /// Seconds on a typical machine.
    typical_seconds: f64,
}

/// Measures how long this machine takes for each kind of work, and keeps it for `plan`.
///
/// # Errors
/// A usage failure without a cache folder, or if it cannot be written; a failure of the runs.
pub fn command(args: &CalibrateArgs) -> CliResult<()> {
    let file = place()?;
    let rates = calibrate(|_, _| ())?;
    keep(&file, &rates)
        .map_err(|error| CliError::io(format!("cannot write {}", file.display()), &error))?;
    let file = file.display().to_string();
    if args.json {
        let format = "symbolon-calibration-1";
        return print_json(&CalibrationJson { format, file, units: json(&rates) });
    }
    print(&table(&rates))?;
    tell(&format!("wrote {file}\n"));
    Ok(())
}

/// Returns where the rates are kept, in a folder that is this user's alone: anything wrong with it
/// is found before the runs.
fn place() -> CliResult<PathBuf> {
    let none = || CliError::usage("no cache folder: neither XDG_CACHE_HOME nor HOME names one");
    let (cache, path) = Cache::of_user().zip(rates_file()).ok_or_else(none)?;
    let made = cache.made();
    made.map_err(|error| {
        CliError::io(format!("cannot use the cache {}", cache.folder().display()), &error)
    })?;
    Ok(path)
}

/// Replaces the file at once: readers see the old one or the new one.
fn keep(path: &Path, rates: &Rates) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
    let mut new = Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    new.write_all(rates.to_toml().as_bytes())?;
    new.persist(path)?;
    Ok(())
}

fn json(rates: &Rates) -> Vec<UnitJson> {
    let one = |unit: Unit| UnitJson {
        name: unit.name(),
        seconds: rates.seconds(unit),
        typical_seconds: unit.nanos() * 1e-9,
    };
    units().into_iter().map(one).collect()
}

fn table(rates: &Rates) -> String {
    let mut rows = vec![["work", "here", "typical machine"].map(String::from)];
    for unit in units() {
        let typical = time(unit.nanos() * 1e-9);
        rows.push([unit.name().to_string(), time(rates.seconds(unit)), typical]);
    }
    align(&rows, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_work_is_listed() {
        let table = table(&Rates::built_in());
        assert_eq!(table.lines().count(), units().len() + 1);
        assert!(table.starts_with("work") && table.contains("leaky AND"), "{table}");
    }
}
