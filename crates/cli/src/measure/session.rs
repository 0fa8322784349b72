//! One session of a measurement, on this machine.

use super::args::BenchArgs;
use super::plan::{Setting, Workload};
use crate::args::options::LocalTransport;
use crate::common::error::CliResult;
use crate::parties::execute::RunOptions;
use crate::parties::local_runner::{LocalRun, Work};
use crate::results::party::{PartyResult, forget_peak_memory};

/// What all parties had at the end of one session, by party.
pub type Session = Vec<PartyResult>;

/// Runs a session of all parties on this machine.
///
/// # Errors
/// Those of `local`.
pub fn session(args: &BenchArgs, setting: &Setting) -> CliResult<Session> {
    let options = options(args, setting);
    let work = match &setting.workload {
        Workload::Triples(count) => Work::Triples(*count),
        Workload::Circuit(loaded) => {
            Work::Circuit { circuit: &loaded.circuit, inputs: &loaded.inputs, options }
        }
    };
    let Setting { parties, tuning, .. } = setting;
    let (parties, transport, dealer) = (*parties, args.transport(), args.dealer);
    // In one process, the peak of an earlier session must be reset; otherwise this one's is
    // unknown.
    let known = transport != LocalTransport::Memory || forget_peak_memory();
    let mut results = LocalRun { work, parties, tuning, transport, dealer }.run()?;
    if !known {
        results.iter_mut().for_each(|party| party.peak_memory = None);
    }
    Ok(results)
}

/// Returns how the runs of one session proceed.
pub fn options(args: &BenchArgs, setting: &Setting) -> RunOptions {
    let repeat = if setting.fresh_session { 1 } else { setting.repeat };
    let BenchArgs { split_phases, one_by_one, .. } = *args;
    RunOptions { repeat, split_phases, one_by_one }
}
