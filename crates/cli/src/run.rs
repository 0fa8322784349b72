//! `symbolon run`: one party of a run between two machines.

use symbolon::circuit::Circuit;
use symbolon::{Config, Fingerprint, Identity, Inputs, Meeting, Transport};

use crate::args::{RemoteTransport, RunArgs};
use crate::failure::{Failure, Outcome};
use crate::play::play;
use crate::progress::Progress;
use crate::results::{AskedJson, PartyJson, RemoteJson, print_json, print_outputs, tell};
use crate::settings::Settings;
use crate::table::costs;
use crate::tuning::Tuning;
use crate::values::{Given, Resolved, inputs_of, only_own, resolve};

/// Checks everything that can be checked alone, then connects, runs and prints what this party learnt.
///
/// # Errors
/// A usage failure before the peer is troubled; otherwise as the library has them.
pub fn command(args: &RunArgs) -> Outcome<()> {
    let settings = Settings::of(args)?;
    let tuning = Tuning::new(&settings.tuning)?;
    let party = settings
        .party
        .ok_or_else(|| Failure::usage("which party is this? Say --party 0 or --party 1"))?;
    if !tuning.protocol.parties().contains(&2) || party > 1 {
        return Err(Failure::usage(format!("there is no party {party}: say --party 0 or 1")));
    }
    if settings.spec.circuit.is_empty() {
        return Err(Failure::usage("which circuit? Name a built-in or a file")
            .with_hint("`symbolon circuit list` shows the built-in circuits"));
    }
    let circuit = settings.spec.load(2)?;
    let inputs = own_inputs(&settings, &circuit, party)?;
    let transport = transport(&settings)?;
    let config = tuning.apply_with_link(Config::new(party, transport));
    let played = {
        let mut progress = Progress::begin();
        play(config, &circuit, &inputs, 1, &mut |stage| progress.party(party, stage))?
    };
    let role = tuning.protocol.role(party).to_string();
    let party = PartyJson { party, role, phases: played.phases };
    if !settings.json {
        print_outputs(&played.outputs)?;
        tell(&format!("\n{}", costs(&[party])));
        return Ok(());
    }
    print_json(&RemoteJson {
        format: "symbolon-run-1",
        asked: AskedJson {
            circuit: settings.spec.circuit,
            digest: hex::encode(circuit.digest()),
            protocol: tuning.protocol.name().to_string(),
            rho: tuning.rho.bits(),
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

fn own_inputs(settings: &Settings, circuit: &Circuit, party: u16) -> Outcome<Inputs> {
    let mut values: Resolved = Vec::new();
    // Values from the settings file and from flags have different folders.
    let mut folders: Vec<_> = settings.inputs.iter().map(|(_, folder)| folder).collect();
    folders.dedup();
    for folder in folders {
        let same = settings.inputs.iter().filter(|(_, known)| known == folder);
        let given: Vec<Given> = same.map(|(given, _)| given.clone()).collect();
        for (place, value) in resolve(circuit, &given, folder.as_deref())? {
            if values.iter().any(|(known, _)| *known == place) {
                let name = &circuit.inputs()[place].name;
                return Err(Failure::usage(format!("input `{name}` is given twice"))
                    .with_hint("once by name and once by its place?"));
            }
            values.push((place, value));
        }
    }
    only_own(circuit, party, &values)?;
    inputs_of(circuit, party, &values)
}

fn transport(settings: &Settings) -> Outcome<Transport> {
    let identity = match settings.transport {
        RemoteTransport::Tcp => {
            if settings.key.is_some() || settings.peer_fingerprint.is_some() {
                return Err(Failure::usage("plain TCP uses no key and no fingerprint")
                    .with_hint("leave --transport out to use TLS"));
            }
            tell(
                "warning: plain TCP is neither private nor authenticated: anybody on the way can \
                 read and change everything\n",
            );
            None
        }
        RemoteTransport::Tls => Some(tls_parts(settings)?),
    };
    let meeting = match (&settings.listen, &settings.connect) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage(
                "say either where to listen or whom to connect to, not both",
            ));
        }
        (Some(address), None) => Meeting::listen(address)?,
        (None, Some(address)) => Meeting::dial(address.as_str()),
        (None, None) => {
            return Err(Failure::usage("where is the peer? Say --listen ADDR or --connect ADDR")
                .with_hint("one side listens, the other connects; either may start first"));
        }
    };
    if let Some(address) = meeting.local_address() {
        tell(&format!("listening on {address}\n"));
    }
    Ok(match identity {
        Some((identity, fingerprint)) => Transport::tls(meeting, identity, fingerprint),
        None => Transport::insecure_plain_tcp(meeting),
    })
}

fn tls_parts(settings: &Settings) -> Outcome<(Identity, Fingerprint)> {
    let key = settings.key.as_ref().ok_or_else(|| {
        Failure::usage("TLS needs this party's identity: --key FILE")
            .with_hint("`symbolon keygen --out FILE` makes one")
    })?;
    let fingerprint = settings.peer_fingerprint.as_deref().ok_or_else(|| {
        Failure::usage("TLS needs the peer's fingerprint: --peer-fingerprint HEX").with_hint(
            "the peer sees it with `symbolon fingerprint FILE` and tells it to you over a channel \
             that you trust",
        )
    })?;
    let fingerprint = fingerprint.parse::<Fingerprint>()?;
    Ok((Identity::load(key)?, fingerprint))
}
