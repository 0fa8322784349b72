//! Measurements of triples and circuits, on this machine or between two.

pub mod args;
pub mod csv;
pub mod machine;
pub mod page;
pub mod plan;
pub mod plots;
mod raw;
pub mod remote;
pub mod report;
pub mod result;
mod session;
pub mod spread;
pub mod sweep;

use crate::common::error::CliResult;
use args::BenchArgs;
use remote::Remote;
use result::Measured;

/// Measures triples and circuits as `symbolon bench` does, with the other machine if there is one,
/// and prints only what it leaves out.
///
/// # Errors
/// Those of `symbolon bench`.
pub fn measurements(args: &BenchArgs, remote: Option<&mut Remote>) -> CliResult<Vec<Measured>> {
    let mut measurements = sweep::measure(args, &plan::settings(args)?, remote)?;
    measurements.iter_mut().for_each(|measured| measured.raw.clear());
    Ok(measurements)
}
