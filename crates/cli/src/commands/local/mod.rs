//! `symbolon local`: all parties on this machine.

pub mod args;

use symbolon::circuit::{Output, Receivers};

use crate::args::tuning::Tuning;
use crate::args::tuning::can_split_phases;
use crate::common::error::CliResult;
use crate::common::output::{print, print_json, tell};
use crate::parties::agreement::{agreed, agreed_batch, chosen, parties};
use crate::parties::batch::line;
use crate::parties::execute::RunOptions;
use crate::parties::local_runner::{LocalRun, Work};
use crate::progress;
use crate::results::failed_asserts::check_failure;
use crate::results::{AskedJson, LocalJson, RunJson, costs, outputs_json, print_outputs};
use crate::source::CircuitSpec;
use crate::source::values::{Reading, Saves, given, paths, resolve_wholes, split};
use args::LocalArgs;

/// Runs all parties and prints the outputs.
///
/// # Errors
/// A usage failure before anything is started; the worst of the parties' failures; an internal
/// failure when two parties that learn one output do not agree on it.
pub fn command(args: &LocalArgs) -> CliResult<()> {
    progress::set_up(&args.show, &args.tuning, "local", &args.circuit)?;
    let spec = CircuitSpec::new(&args.circuit, &args.ports);
    if let Some(parties) = args.parties {
        // This comes before the circuit, which may not have as many parties either.
        Tuning::new(&args.tuning, parties)?;
    }
    let (loaded, count) = spec.load_among(args.parties)?;
    let tuning = Tuning::new(&args.tuning, count)?;
    tuning.warn();
    if args.split_phases {
        can_split_phases(tuning.params.protocol)?;
    }
    for (given, option) in [
        (args.split_phases, "--split-phases"),
        (args.repeat > 1, "--repeat"),
        (loaded.shared.contains(&true), "--owner INPUT=share"),
        (!args.values.saves.is_empty(), "--save"),
    ] {
        if given {
            tuning.one_at_a_time(option)?;
        }
    }
    let by_line = tuning.params.executions > 1;
    let how = Reading { pad: args.values.pad, by_line, spec: Some(&spec) };
    let (wholes, given) = (spec.wholes(&loaded), given(&args.inputs)?);
    let inputs = split(&loaded, resolve_wholes(&loaded.plain, &wholes, &given, how)?)?;
    let circuit = loaded.circuit;
    tuning.check_circuit(&circuit)?;
    let saves = Saves::new(&circuit, somebody_learns, paths(&args.values.saves))?;
    let (repeat, split_phases) = (args.repeat, args.split_phases);
    let options = RunOptions { repeat, split_phases, ..RunOptions::ONCE };
    let run = LocalRun {
        work: Work::Circuit { circuit: &circuit, inputs: &inputs, options },
        parties: count,
        tuning: &tuning,
        transport: args.transport,
        dealer: args.dealer,
    };
    let played = run.run()?;
    let outputs = agreed(&circuit, &played)?;
    let failure = check_failure(&circuit, &outputs);
    // Not every party needs to learn of it.
    let failed = played.iter().map(|played| played.failed.check(tuning.params.executions));
    let failure = failed.fold(failure, Result::and);
    let batch = agreed_batch(&played)?;
    // What was computed is printed, even if a file cannot be written.
    let failure = match failure {
        Ok(()) => saves.write(&circuit, &outputs),
        failed => failed,
    };
    let runs = (0..args.repeat as usize).map(|run| RunJson {
        run,
        parties: parties(&tuning, &played, |played| {
            played.runs.get(run).cloned().unwrap_or_default()
        }),
    });
    let (name, choice) = (&spec.circuit, chosen(&played)?);
    let result = LocalJson {
        format: "symbolon-local-1",
        asked: AskedJson::new(name, &circuit, &tuning, choice, args.transport.name()),
        repeat: args.repeat,
        outputs: if args.json { outputs_json(&circuit, &outputs, count) } else { Vec::new() },
        batch_outputs: batch,
        parties: parties(&tuning, &played, |played| played.phases.clone()),
        runs: runs.collect(),
    };
    if !args.json {
        print_outputs(&circuit, &outputs)?;
    }
    show(&result, args.json)?;
    failure
}

/// Prints the result, as JSON or as text.
fn show(result: &LocalJson, json: bool) -> CliResult<()> {
    let choice = result.asked.choice.line();
    progress::live::report(&result.parties, &choice);
    if json {
        return print_json(result);
    }
    print(&result.batch_outputs.iter().map(|outputs| line(outputs)).collect::<String>())?;
    if progress::shows_costs() {
        tell(&format!("\n{choice}{}", costs(&result.parties)));
    }
    Ok(())
}

/// Returns whether a party learns an output.
fn somebody_learns(output: &Output) -> bool {
    output.to != Receivers::Only(Vec::new())
}
