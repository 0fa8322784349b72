//! `symbolon run`: one party of a run between machines.

use symbolon::circuit::PartyId;
use symbolon::{Config, stored};

use crate::args::tuning::Tuning;
use crate::args::{RunArgs, StoreArgs};
use crate::common::error::{CliError, CliResult};
use crate::common::output::{print, print_json, tell, want_json};
use crate::parties::batch::{self, line, play_in_flight};
use crate::parties::connect;
use crate::parties::dealer;
use crate::parties::execute::{PartyRun, RunOptions};
use crate::parties::remote::{tell_agreement, who};
use crate::parties::store::open_or_create;
use crate::progress::{self, Progress};
use crate::results::failed_asserts::check_failure;
use crate::results::party::PartyResult;
use crate::results::{AskedJson, PartyJson, RemoteJson, costs, outputs_json, print_outputs};
use crate::settings::Settings;
use crate::source::Loaded;
use crate::source::values::{
    InputSources, Reading, Resolved, Saves, one_from_standard_input, only_own, resolve,
};

/// Checks everything that can be checked alone, then connects, runs and prints what this party
/// learnt.
///
/// # Errors
/// A usage failure before the peer is contacted; otherwise those of the library.
pub fn command(args: &RunArgs) -> CliResult<()> {
    let settings = Settings::of(args)?;
    if settings.json {
        want_json();
    }
    progress::set_up(&settings.show, &settings.tuning, "run", &settings.spec.circuit)?;
    let (tuning, party) = who(&settings)?;
    let parties = connect::count(&settings)?;
    check_options(&settings, &args.store)?;
    let loaded = settings.spec.load(parties)?;
    tuning.warn();
    let by_line = tuning.params.executions > 1;
    let values = own_values(&settings, &loaded, (party, by_line))?;
    let circuit = loaded.circuit;
    tuning.check_circuit(&circuit)?;
    if !settings.saves.is_empty() {
        tuning.one_at_a_time("--save")?;
    }
    let saves =
        Saves::new(&circuit, |output| output.to.contains(party), settings.saves.iter().cloned())?;
    let part = PartyRun::new(&circuit, party, &values, tuning.params.executions)?;
    part.check_asserts()?;
    let transport = connect::transport(&settings, party)?;
    let dealer = dealer::named(&settings)?;
    let dealt = dealer.is_some();
    let config = tuning.apply_with_link(Config::new(party, transport))?.dealer(dealer);
    let played = if settings.prepared {
        play_prepared(&settings, &tuning, &part, config)
    } else {
        let progress = Progress::begin()?;
        part.play(config, RunOptions::ONCE, &progress.sink(party))
    };
    let played = played.map_err(|failure| dealer::suspect(failure, dealt))?;
    let failure = check_failure(&circuit, &played.outputs);
    let failure = failure.and(played.failed.check(tuning.params.executions));
    // What was computed is printed, even if a file cannot be written.
    let failure = match failure {
        Ok(()) => saves.write(&circuit, &played.outputs),
        failed => failed,
    };
    let PartyResult { outputs, batch, phases, choice, .. } = played;
    let (name, role) = (&settings.spec.circuit, tuning.params.protocol.role(party));
    let result = RemoteJson {
        format: "symbolon-run-1",
        asked: AskedJson::new(name, &circuit, &tuning, choice, settings.transport.name()),
        outputs: if settings.json { outputs_json(&circuit, &outputs, parties) } else { Vec::new() },
        batch_outputs: batch,
        party: PartyJson { party, role: role.to_string(), phases },
    };
    if !settings.json {
        print_outputs(&circuit, &outputs)?;
    }
    show(result, &settings)?;
    failure
}

/// Checks the options that need no circuit.
fn check_options(settings: &Settings, store: &StoreArgs) -> CliResult<()> {
    if settings.spec.circuit.is_empty() {
        return Err(CliError::usage("which circuit? Name a built-in or a file")
            .with_hint("`symbolon circuit list` shows the built-in circuits"));
    }
    let StoreArgs { store, store_key, store_passphrase } = store;
    let named = [store, store_key, store_passphrase].iter().any(|part| part.is_some());
    if !settings.prepared && named {
        return Err(CliError::usage(
            "--store, --store-key and --store-passphrase are for --prepared",
        )
        .with_hint("without --prepared nothing is taken from a store"));
    }
    if settings.prepared && ["form", "ot"].iter().any(|name| settings.tuning.given.has(name)) {
        return Err(CliError::usage("--prepared takes neither --form nor --ot")
            .with_hint("`symbolon prepare` takes them: what it prepared is what is run"));
    }
    Ok(())
}

/// Connects and runs what was prepared and stored.
fn play_prepared(
    settings: &Settings,
    tuning: &Tuning,
    part: &PartyRun<'_>,
    config: Config,
) -> CliResult<PartyResult> {
    let store = open_or_create(&settings.store)?;
    let progress = Progress::begin()?;
    let sink = progress.sink(config.party());
    let config = sink.attach(config);
    match part {
        PartyRun::Once(circuit, inputs) => {
            let ran = stored::run(config, &store, circuit, inputs)?;
            tell_agreement(&ran.agreement);
            Ok(PartyResult::prepared(&ran))
        }
        PartyRun::Batch(inputs, executions) if tuning.params.in_flight.is_some() => {
            play_in_flight(config, &store, inputs, *executions, &sink)
        }
        PartyRun::Batch(inputs, executions) => {
            batch::play_prepared(config, &store, inputs, *executions)
        }
    }
}

/// Prints the result, as JSON or as text.
fn show(result: RemoteJson, settings: &Settings) -> CliResult<()> {
    let choice = &result.asked.choice;
    progress::live::report(std::slice::from_ref(&result.party), &choice.line());
    if settings.json {
        return print_json(&result);
    }
    print(&result.batch_outputs.iter().map(|outputs| line(outputs)).collect::<String>())?;
    if progress::shows_costs() {
        let choice = match (&choice.dealer, settings.prepared) {
            (_, false) => choice.line(),
            (Some(dealer), true) => format!("it was made with material of the dealer {dealer}\n"),
            (None, true) => String::new(),
        };
        tell(&format!("\n{choice}{}", costs(&[result.party])));
    }
    Ok(())
}

fn own_values(
    settings: &Settings,
    loaded: &Loaded,
    (party, by_line): (PartyId, bool),
) -> CliResult<Resolved> {
    let mut values: Resolved = Vec::new();
    let how = Reading { pad: settings.pad, by_line, spec: Some(&settings.spec) };
    one_from_standard_input(settings.inputs.iter().map(|(given, _)| given))?;
    // Values from the settings file and from flags have different folders.
    let mut folders: Vec<_> = settings.inputs.iter().map(|(_, folder)| folder).collect();
    folders.dedup();
    for folder in folders {
        let same = settings.inputs.iter().filter(|(_, known)| known == folder);
        let given: Vec<InputSources> = same.map(|(given, _)| given.clone()).collect();
        for (place, value) in resolve(&loaded.plain, &given, folder.as_deref(), how)? {
            if values.iter().any(|(known, _)| *known == place) {
                let name = &loaded.plain.inputs()[place].name;
                return Err(CliError::usage(format!("input `{name}` is given twice"))
                    .with_hint("once by name and once by its place?"));
            }
            values.push((place, value));
        }
    }
    only_own(loaded, party, values)
}
