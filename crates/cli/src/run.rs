//! `symbolon run`: one party of a run between machines.

use symbolon::circuit::PartyId;
use symbolon::{Config, Error, stored};

use crate::args::{RunArgs, StoreArgs};
use crate::batch::{FailedAsserts, line, play_stored, shown};
use crate::connect;
use crate::dealer;
use crate::error::{CliError, CliResult};
use crate::execute::{PartyRun, RunOptions};
use crate::lang::check_failure;
use crate::offline::{tell_agreement, who};
use crate::output::{print, print_json, tell, want_json};
use crate::party_result::PartyResult;
use crate::progress::{self, Progress};
use crate::results::{AskedJson, ChoiceJson, PartyJson, RemoteJson, costs, print_outputs};
use crate::settings::Settings;
use crate::source::Loaded;
use crate::stores::open_or_create;
use crate::values::{
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
    progress::set_up(&settings.show, "run", &settings.spec.circuit)?;
    let (tuning, party) = who(&settings)?;
    let parties = connect::count(&settings)?;
    if settings.spec.circuit.is_empty() {
        return Err(CliError::usage("which circuit? Name a built-in or a file")
            .with_hint("`symbolon circuit list` shows the built-in circuits"));
    }
    let StoreArgs { store, store_key, store_passphrase } = &args.store;
    if !settings.prepared && [store, store_key, store_passphrase].iter().any(|s| s.is_some()) {
        return Err(CliError::usage(
            "--store, --store-key and --store-passphrase are for --prepared",
        )
        .with_hint("without --prepared nothing is taken from a store"));
    }
    let loaded = settings.spec.load(parties)?;
    tuning.warn();
    let values = own_values(&settings, &loaded, party)?;
    let circuit = loaded.circuit;
    tuning.check_components(&circuit)?;
    if !settings.saves.is_empty() {
        tuning.one_at_a_time("--save")?;
    }
    let saves =
        Saves::new(&circuit, |output| output.to.contains(party), settings.saves.iter().cloned())?;
    let part = PartyRun::new(&circuit, party, &values, tuning.params.executions)?;
    let transport = connect::transport(&settings, party)?;
    let dealer = dealer::named(&settings)?;
    let dealt = dealer.is_some();
    let config = tuning.apply_with_link(Config::new(party, transport)).dealer(dealer);
    let suspect = |error: Error| dealer::suspect(error.into(), dealt);
    let played = if settings.prepared {
        if settings.tuning.form.is_some() || settings.tuning.ot.is_some() {
            return Err(CliError::usage("--prepared takes neither --form nor --ot")
                .with_hint("`symbolon prepare` takes them: what it prepared is what is run"));
        }
        let store = open_or_create(&settings.store)?;
        let progress = Progress::begin();
        let config = progress.sink(party).attach(config);
        match &part {
            PartyRun::Once(circuit, inputs) => {
                let ran = stored::run(config, &store, circuit, inputs).map_err(suspect)?;
                tell_agreement(&ran.agreement);
                PartyResult::prepared(circuit, &ran, parties)
            }
            PartyRun::Batch(inputs, executions) if tuning.params.in_flight.is_some() => {
                let ran = play_stored(config, &store, inputs, *executions, &progress.sink(party));
                ran.map_err(|failure| dealer::suspect(failure, dealt))?
            }
            PartyRun::Batch(inputs, executions) => {
                let all = (0..*executions).map(|number| inputs.get(number));
                let ran = stored::run_batch(config, &store, &circuit, all).map_err(suspect)?;
                tell_agreement(&ran.agreement);
                let mut failed = FailedAsserts::default();
                for (number, outputs) in (1..).zip(&ran.outputs) {
                    failed.add(&circuit, number, outputs);
                }
                let shown = |outputs| shown(circuit.outputs(), outputs, parties);
                let batch = ran.outputs.iter().map(shown).collect();
                let choice = ChoiceJson::none(ran.dealer.as_deref());
                PartyResult {
                    batch,
                    failed,
                    phases: ran.report.phases.clone(),
                    choice,
                    ..PartyResult::empty()
                }
            }
        }
    } else {
        let progress = Progress::begin();
        let played = part.play(config, RunOptions::ONCE, &progress.sink(party));
        played.map_err(|failure| dealer::suspect(failure, dealt))?
    };
    let failure = check_failure(&circuit, &played.outputs);
    let failure = failure.and(played.failed.check(tuning.params.executions));
    // What was computed is printed, even if a file cannot be written.
    let failure = match failure {
        Ok(()) => saves.write(&circuit, &played.outputs),
        failed => failed,
    };
    let role = tuning.params.protocol.role(party).to_string();
    let party = PartyJson { party, role, phases: played.phases };
    progress::live::report(std::slice::from_ref(&party), &played.choice.line());
    if !settings.json {
        print_outputs(&played.outputs)?;
        print(&played.batch.iter().map(|outputs| line(outputs)).collect::<String>())?;
        let choice = match (&played.choice.dealer, settings.prepared) {
            (_, false) => played.choice.line(),
            (Some(dealer), true) => format!("it was made with material of the dealer {dealer}\n"),
            (None, true) => String::new(),
        };
        if progress::shows_costs() {
            tell(&format!("\n{choice}{}", costs(&[party])));
        }
        return failure;
    }
    print_json(&RemoteJson {
        format: "symbolon-run-1",
        asked: AskedJson {
            circuit: settings.spec.circuit,
            digest: hex::encode(circuit.digest()),
            protocol: tuning.params.protocol.name().to_string(),
            rho: tuning.params.rho.bits(),
            choice: played.choice,
            batch: tuning.params.executions,
            mac_bits: tuning.mac_bits(),
            psi: tuning.psi_name(),
            kappa_b: tuning.kappa_b_bits(),
            threads: tuning.params.threads,
            transport: settings.transport.name(),
            link: settings.tuning.link,
        },
        outputs: played.outputs,
        batch_outputs: played.batch,
        party,
    })?;
    failure
}

fn own_values(settings: &Settings, loaded: &Loaded, party: PartyId) -> CliResult<Resolved> {
    let mut values: Resolved = Vec::new();
    let by_line = settings.tuning.batch.is_some_and(|n| n > 1);
    let how = Reading { pad: settings.pad, by_line };
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
