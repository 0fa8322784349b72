//! `symbolon local`: all parties on this machine.

use symbolon::circuit::{Output, PartyId, Receivers};
use symbolon::{PhaseReport, Protocol};

use crate::args::LocalArgs;
use crate::batch::line;
use crate::error::{CliError, CliResult};
use crate::execute::RunOptions;
use crate::lang::check_failure;
use crate::local_runner::{LocalRun, Work};
use crate::output::{print, print_json, tell};
use crate::party_result::PartyResult;
use crate::progress;
use crate::results::{
    AskedJson, BatchOutputs, ChoiceJson, LocalJson, OutputJson, PartyJson, RunJson, costs,
    print_outputs,
};
use crate::source::CircuitSpec;
use crate::tuning::Tuning;
use crate::values::{Reading, Saves, given, paths, resolve, split};

/// Refuses `--split-phases` for a protocol without work that is independent of the circuit.
///
/// # Errors
/// A usage failure that names the protocol.
pub fn can_split_phases(protocol: Protocol) -> CliResult<()> {
    if protocol.has_pools() || protocol.has_components() {
        return Ok(());
    }
    let name = protocol.name();
    Err(CliError::usage(format!("--split-phases does not go with {name}"))
        .with_hint(format!("{name} makes its material for a circuit that is known")))
}

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
    let inputs = split(&loaded, resolve(&loaded.plain, &given(&args.inputs)?, None, how)?)?;
    let circuit = loaded.circuit;
    tuning.check_circuit(&circuit)?;
    let saves = Saves::new(&circuit, somebody_learns, paths(&args.values.saves))?;
    let (repeat, split_phases) = (args.repeat, args.split_phases);
    let options = RunOptions { repeat, split_phases, ..RunOptions::ONCE };
    let run = LocalRun {
        work: Work::Circuit { spec: &spec, circuit: &circuit, inputs: &inputs, options },
        parties: count,
        tuning: &tuning,
        transport: args.transport,
        dealer: args.dealer,
    };
    let played = run.run()?;
    let outputs = agreed(&played)?;
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
        outputs,
        batch_outputs: batch,
        parties: parties(&tuning, &played, |played| played.phases.clone()),
        runs: runs.collect(),
    };
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
    print_outputs(&result.outputs)?;
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

/// Returns what was chosen, which must be the same for all parties.
///
/// # Errors
/// An internal failure when two parties differ.
pub fn chosen(played: &[PartyResult]) -> CliResult<ChoiceJson> {
    let choices = played.iter().map(|played| &played.choice);
    match played.first() {
        Some(first) if choices.clone().all(|choice| *choice == first.choice) => {
            Ok(first.choice.clone())
        }
        _ => Err(CliError::internal("the parties differ in what they chose")),
    }
}

/// Returns one entry for every party.
pub fn parties(
    tuning: &Tuning,
    played: &[PartyResult],
    phases: impl Fn(&PartyResult) -> Vec<PhaseReport>,
) -> Vec<PartyJson> {
    let entry = |(party, played): (PartyId, &PartyResult)| PartyJson {
        party,
        role: tuning.params.protocol.role(party).to_string(),
        phases: phases(played),
    };
    PartyId::all(played.len()).zip(played).map(entry).collect()
}

/// Combines the outputs that the parties learnt.
///
/// # Errors
/// An internal failure when a receiver has no value, another party has one, or two differ.
pub fn agreed(played: &[PartyResult]) -> CliResult<Vec<OutputJson>> {
    let Some(first) = played.first() else {
        return Err(CliError::internal("there are no parties"));
    };
    let mut outputs = Vec::with_capacity(first.outputs.len());
    for (place, declared) in first.outputs.iter().enumerate() {
        let wrong = |what: &str| CliError::internal(format!("output `{}`: {what}", declared.name));
        let mut merged: Option<&OutputJson> = None;
        for (party, played) in played.iter().enumerate() {
            let output = played.outputs.get(place).ok_or_else(|| wrong("a party lacks it"))?;
            let receives = declared.receivers.iter().any(|to| usize::from(*to) == party);
            if receives != output.bits.is_some() {
                return Err(wrong("the wrong parties learnt it"));
            }
            match merged {
                Some(known) if receives && known != output => {
                    return Err(wrong("its receivers learnt different values"));
                }
                None if receives => merged = Some(output),
                _ => {}
            }
        }
        outputs.push(merged.unwrap_or(declared).clone());
    }
    Ok(outputs)
}

/// Combines the outputs of many evaluations that the parties learnt.
///
/// # Errors
/// An internal failure when two parties differ.
fn agreed_batch(played: &[PartyResult]) -> CliResult<BatchOutputs> {
    let mut merged = played.first().map_or(Vec::new(), |first| first.batch.clone());
    for other in played.iter().skip(1) {
        let differ = || CliError::internal("the parties learnt different outputs");
        if other.batch.len() != merged.len() {
            return Err(differ());
        }
        for (merged, other) in merged.iter_mut().flatten().zip(other.batch.iter().flatten()) {
            match (&merged, other) {
                (Some(one), Some(other)) if one != other => return Err(differ()),
                (None, Some(_)) => merged.clone_from(other),
                _ => {}
            }
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_split_where_the_first_needs_no_circuit() {
        for &protocol in Protocol::ALL {
            let own_engine = protocol.name() == "dualex";
            match can_split_phases(protocol) {
                Ok(()) => assert!(!own_engine, "{}", protocol.name()),
                Err(failure) => {
                    assert!(own_engine, "{}", protocol.name());
                    assert!(failure.message.contains(protocol.name()), "{}", failure.message);
                }
            }
        }
    }

    fn party(outputs: &[(&[PartyId], Option<&str>)]) -> PartyResult {
        let outputs = outputs.iter().map(|(receivers, bits)| OutputJson {
            name: "x".into(),
            ty: "uint1".into(),
            receivers: receivers.to_vec(),
            bits: bits.map(String::from),
            hex: None,
            value: None,
        });
        let outputs = outputs.collect();
        let choice = ChoiceJson::default();
        PartyResult { outputs, choice, ..PartyResult::empty() }
    }

    #[test]
    fn outputs_come_from_whoever_learns_them() {
        let zero = party(&[(&[1.into()], None), (&[0.into(), 1.into()], Some("1")), (&[], None)]);
        let one =
            party(&[(&[1.into()], Some("0")), (&[0.into(), 1.into()], Some("1")), (&[], None)]);
        let outputs = agreed(&[zero, one]).unwrap();
        let bits: Vec<_> = outputs.iter().map(|output| output.bits.as_deref()).collect();
        assert_eq!(bits, [Some("0"), Some("1"), None]);
    }

    #[test]
    fn disagreement_is_a_defect() {
        let differ = [
            party(&[(&[0.into(), 1.into()], Some("0"))]),
            party(&[(&[0.into(), 1.into()], Some("1"))]),
        ];
        let lacking =
            [party(&[(&[0.into(), 1.into()], Some("0"))]), party(&[(&[0.into(), 1.into()], None)])];
        let leaked = [party(&[(&[0.into()], Some("0"))]), party(&[(&[0.into()], Some("0"))])];
        for played in [differ, lacking, leaked] {
            let failure = agreed(&played).unwrap_err();
            assert_eq!(failure.class, crate::error::ErrorClass::Internal);
        }
    }
}
