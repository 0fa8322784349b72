//! `symbolon run`: one party of a run between machines.

use symbolon::{Config, Inputs, stored};

use crate::args::{RemoteTransport, RunArgs};
use crate::failure::{Failure, Outcome};
use crate::keep::{tell_agreement, who};
use crate::meet;
use crate::play::{Course, Played, play};
use crate::progress::Progress;
use crate::results::{AskedJson, PartyJson, RemoteJson, print_json, print_outputs, tell};
use crate::settings::Settings;
use crate::source::Loaded;
use crate::stores::open_or_create;
use crate::table::costs;
use crate::values::{Given, Resolved, inputs_of, only_own, resolve};

/// Checks everything that can be checked alone, then connects, runs and prints what this party learnt.
///
/// # Errors
/// A usage failure before the peer is troubled; otherwise as the library has them.
pub fn command(args: &RunArgs) -> Outcome<()> {
    let settings = Settings::of(args)?;
    let (tuning, party) = who(&settings)?;
    let parties = meet::count(&settings)?;
    if settings.spec.circuit.is_empty() {
        return Err(Failure::usage("which circuit? Name a built-in or a file")
            .with_hint("`symbolon circuit list` shows the built-in circuits"));
    }
    if !args.prepared && args.store.store.is_some() {
        return Err(Failure::usage("--store is for --prepared")
            .with_hint("without --prepared nothing is taken from a store"));
    }
    let loaded = settings.spec.load(parties)?;
    let inputs = own_inputs(&settings, &loaded, party)?;
    let circuit = loaded.circuit;
    let transport = meet::transport(&settings, party)?;
    let config = tuning.apply_with_link(Config::new(party, transport));
    let played = if args.prepared {
        if settings.tuning.form.is_some() || settings.tuning.ot.is_some() {
            return Err(Failure::usage("--prepared takes neither --form nor --ot")
                .with_hint("`symbolon prepare` takes them: what it prepared is what is run"));
        }
        let store = open_or_create(&settings.store)?;
        let ran = stored::run(config, &store, &circuit, &inputs)?;
        tell_agreement(&ran.agreement);
        Played::prepared(&circuit, &ran, parties)
    } else {
        let mut progress = Progress::begin();
        play(config, &circuit, &inputs, Course::ONCE, &mut |stage| progress.party(party, stage))?
    };
    let role = tuning.protocol.role(party).to_string();
    let party = PartyJson { party, role, phases: played.phases };
    if !settings.json {
        print_outputs(&played.outputs)?;
        let choice = if args.prepared { String::new() } else { played.choice.line() };
        tell(&format!("\n{choice}{}", costs(&[party])));
        return Ok(());
    }
    print_json(&RemoteJson {
        format: "symbolon-run-1",
        asked: AskedJson {
            circuit: settings.spec.circuit,
            digest: hex::encode(circuit.digest()),
            protocol: tuning.protocol.name().to_string(),
            rho: tuning.rho.bits(),
            choice: played.choice,
            threads: tuning.threads,
            transport: match settings.transport {
                RemoteTransport::Tls => "tls",
                RemoteTransport::Tcp => "tcp",
            },
            link: settings.tuning.link,
        },
        outputs: played.outputs,
        party,
    })
}

fn own_inputs(settings: &Settings, loaded: &Loaded, party: u16) -> Outcome<Inputs> {
    let mut values: Resolved = Vec::new();
    // Values from the settings file and from flags have different folders.
    let mut folders: Vec<_> = settings.inputs.iter().map(|(_, folder)| folder).collect();
    folders.dedup();
    for folder in folders {
        let same = settings.inputs.iter().filter(|(_, known)| known == folder);
        let given: Vec<Given> = same.map(|(given, _)| given.clone()).collect();
        for (place, value) in resolve(&loaded.plain, &given, folder.as_deref())? {
            if values.iter().any(|(known, _)| *known == place) {
                let name = &loaded.plain.inputs()[place].name;
                return Err(Failure::usage(format!("input `{name}` is given twice"))
                    .with_hint("once by name and once by its place?"));
            }
            values.push((place, value));
        }
    }
    inputs_of(&loaded.circuit, party, &only_own(loaded, party, values)?)
}
