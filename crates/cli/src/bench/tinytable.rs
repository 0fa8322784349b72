//! `symbolon bench tinytable`: AES-128 by gates and by look-ups, one block and many.

use symbolon::Protocol;
use symbolon::measure::TableCourse;

use super::args::{BenchArgs, REPEAT, TINYTABLE};
use super::machine::Machine;
use super::plan::combined;
use super::report::{announce, report};
use super::tinytable_page::page;
use super::tinytable_result::{Blocks, BlocksJson, SHARED_BY, Variant};
use crate::error::{CliError, CliResult};
use crate::local_runner::{LocalRun, Work};
use crate::options::TuningArgs;
use crate::output::{print, print_json};
use crate::tinytable_party::TableTask;
use crate::tuning::Tuning;

/// What the two variants are called, their circuits, and how many blocks are made on fresh material
/// at a time.
const VARIANTS: [(&str, &str, usize); 2] =
    [("S-boxes", "aes128:sbox-expanded", 24), ("gates", "aes128:expanded", 192)];

/// Measures both variants in every way that was asked for and prints them.
///
/// # Errors
/// A usage failure for options that do not go with it; otherwise as `local`.
pub fn command(args: &BenchArgs) -> CliResult<()> {
    check(args)?;
    let (settings, machine) = (settings(args)?, Machine::here());
    announce(args)?;
    let measurements = measure(args, &settings)?;
    let result = BlocksJson { format: "symbolon-bench-tinytable-3", machine, measurements };
    report(args, || page(&result))?;
    if args.json { print_json(&result) } else { print(&result.text()) }
}

/// Measures as [`command`] does, and prints nothing but warnings.
///
/// # Errors
/// As [`command`].
pub fn measurements(args: &BenchArgs) -> CliResult<Vec<Blocks>> {
    check(args)?;
    measure(args, &settings(args)?)
}

fn settings(args: &BenchArgs) -> CliResult<Vec<Tuning>> {
    let settings = combined(args, |wanted| {
        let given = TuningArgs {
            protocol: Some(Protocol::TinyTable.name().to_string()),
            batch: None,
            ..wanted.tuning(&args.tuning.unlisted())
        };
        Tuning::new(&given, 2)
    })?;
    settings.iter().for_each(Tuning::warn);
    Ok(settings)
}

/// Refuses what does not go with this workload.
fn check(args: &BenchArgs) -> CliResult<()> {
    let refused = [
        (!args.tuning.protocol.is_empty(), "--protocol"),
        (!args.tuning.form.is_empty(), "--form"),
        (!args.count.is_empty(), "--count"),
        (args.parties.iter().any(|parties| *parties != 2), "--parties"),
        (args.split_phases, "--split-phases"),
        (args.one_by_one, "--one-by-one"),
        (args.workloads.len() > 1, "other workload"),
    ];
    match refused.into_iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(CliError::usage(format!("`bench tinytable` takes no {option}"))),
        None => Ok(()),
    }
}

/// Measures all settings; with `--fresh-session` they take turns, a session for each run.
fn measure(args: &BenchArgs, settings: &[Tuning]) -> CliResult<Vec<Blocks>> {
    let repeat = args.repeat.unwrap_or(REPEAT);
    let (rounds, each) = if args.fresh_session { (repeat, 1) } else { (1, repeat as usize) };
    let batch = args.tuning.batch.map(usize::try_from).transpose();
    let batch = batch.map_err(|_| CliError::usage("--batch: more than memory can hold"))?;
    let mut all: Vec<Blocks> = settings
        .iter()
        .map(|tuning| Blocks {
            workload: TINYTABLE,
            mac_bits: tuning.mac_bits().unwrap_or(0),
            rho: tuning.params.rho.bits(),
            ot: tuning.params.ot.map_or("auto".to_string(), |ot| ot.name().to_string()),
            threads: tuning.params.threads,
            transport: args.transport.name(),
            link: tuning.link.as_ref().map(|(text, _)| text.clone()),
            dealt: args.dealer,
            repeat,
            fresh_session: args.fresh_session,
            shared_by: SHARED_BY,
            variants: VARIANTS
                .map(|(name, circuit, usual)| {
                    let batch = batch.unwrap_or(usual);
                    Variant { name, circuit, batch, parties: Vec::new() }
                })
                .into(),
        })
        .collect();
    for _ in 0..rounds {
        for (tuning, blocks) in settings.iter().zip(&mut all) {
            for variant in &mut blocks.variants {
                variant.session(args, tuning, each)?;
            }
        }
    }
    Ok(all)
}

impl Variant {
    /// Measures it in one more session.
    fn session(&mut self, args: &BenchArgs, tuning: &Tuning, repeat: usize) -> CliResult<()> {
        let (circuit, batch) = (self.circuit.into(), self.batch);
        let course = TableCourse { batch, shared_by: SHARED_BY, repeat };
        let task = TableTask { circuit, course };
        let work = Work::Tables(&task);
        let (transport, dealer) = (args.transport, args.dealer);
        let played = LocalRun { work, parties: 2, tuning, transport, dealer }.run()?;
        let parties = played.into_iter().filter_map(|played| played.tables);
        if self.parties.is_empty() {
            self.parties = parties.collect();
        } else {
            self.parties.iter_mut().zip(parties).for_each(|(party, later)| party.append(later));
        }
        Ok(())
    }
}
