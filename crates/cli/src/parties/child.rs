//! The hidden `party` command: one party of `local`, controlled by its parent.
//!
//! The parent writes a [`PartyJob`] to standard input, one line of JSON, and the circuit, an `.sbc`
//! file; the party answers with [`ChildMessage::Ready`], gets every party's [`Peer`], and ends with
//! [`ChildMessage::Done`] or [`ChildMessage::Failed`]. Secrets travel only here, never on a command
//! line. Standard input stays open as long as the parent lives; when it closes, the party ends.

use std::io::{BufRead, Read, Write};

use serde::{Deserialize, Serialize};
use symbolon::circuit::{PartyId, native};
use symbolon::zeroize::Zeroizing;
use symbolon::{Config, Identity, Listener, NoThread, PeerInfo, Transport};

use crate::args::options::{LocalTransport, TuningArgs};
use crate::args::tuning::Tuning;
use crate::common::error::{CliError, CliResult};
use crate::common::peer::Peer;
use crate::parties::child_message::ChildMessage;
use crate::parties::dealer;
use crate::parties::execute::{PartyRun, RunOptions, run_triples};
use crate::parties::exhaustion;
use crate::progress::{Sink, log_as_party};
use crate::results::party::PartyResult;
use crate::source::values::Resolved;

/// The job of a party.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartyJob {
    /// What is computed.
    pub task: Task,
    /// The length of the circuit that follows; 0 without a circuit.
    pub circuit_bytes: u64,
    /// Which party this is.
    pub party: PartyId,
    /// How many there are.
    pub parties: u16,
    /// TCP or TLS.
    pub transport: LocalTransport,
    /// Where the dealer is, if there is one.
    pub dealer: Option<Peer>,
    /// The parameters that all parties must share, by name, as in [`SessionParams::values`].
    pub params: Vec<(String, String)>,
    /// Seconds.
    pub timeout: f64,
    /// The simulated link.
    pub link: Option<String>,
    /// Whether anybody reads [`ChildMessage::Event`].
    pub events: bool,
    /// What is logged, if anything is.
    pub log: Option<String>,
}

/// What the parties compute.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Task {
    /// A circuit.
    Circuit {
        /// How the phases run.
        options: RunOptions,
        /// The party's inputs: place and value.
        inputs: Resolved,
    },
    /// This number of AND triples.
    Triples(u64),
}

/// Does the job on standard input; reports failures to the parent, not on standard error.
///
/// # Errors
/// The failure that was reported, for the exit code.
pub fn command() -> CliResult<()> {
    exhaustion::tell_parent();
    let done = run_child();
    match done {
        Ok(played) => write_message(&ChildMessage::Done(Box::new(played))),
        Err(failure) => {
            write_message(&ChildMessage::Failed(failure.clone()))?;
            Err(failure)
        }
    }
}

fn run_child() -> CliResult<PartyResult> {
    let job: PartyJob = read_message()?;
    // The parent sends it before it listens.
    let circuit = read_circuit(job.circuit_bytes)?;
    let tuning = tuning(&job)?;
    if let Some(filter) = &job.log {
        log_as_party(filter, job.party)?;
    }
    // A parent that has gone ends this process anyway.
    let told = Sink::new(|event| drop(write_message(&ChildMessage::Event(event))));
    let sink = if job.events { told } else { Sink::default() };
    let dealer = job.dealer.as_ref().map(dealer::told).transpose()?;
    match &job.task {
        Task::Circuit { options, inputs } => {
            // Errors in the circuit or the inputs are reported before any connection.
            let circuit = native::read(&circuit)?;
            let part = PartyRun::new(&circuit, job.party, inputs, tuning.params.executions)?;
            let config = tuning.apply_with_link(Config::new(job.party, meet(&job)?))?;
            let config = config.dealer(dealer);
            part.play(config, *options, &sink)
        }
        Task::Triples(count) => {
            let config = tuning.apply_with_link(Config::new(job.party, meet(&job)?))?;
            let config = config.dealer(dealer);
            run_triples(config, *count, &sink)
        }
    }
}

/// Reads the circuit that follows the job.
fn read_circuit(length: u64) -> CliResult<Vec<u8>> {
    let mut bytes = Vec::new();
    match std::io::stdin().lock().take(length).read_to_end(&mut bytes) {
        Ok(read) if read as u64 == length => Ok(bytes),
        _ => Err(CliError::internal("the parent sent no whole circuit")),
    }
}

/// Returns the parameters as the parent has them.
fn tuning(job: &PartyJob) -> CliResult<Tuning> {
    // Time-out and link as options give them.
    let (timeout, link) = (Some(job.timeout), job.link.clone());
    let mut tuning =
        Tuning::new(&TuningArgs { timeout, link, ..TuningArgs::default() }, job.parties)?;
    for (key, value) in &job.params {
        tuning.params.set(key, value)?;
    }
    Ok(tuning)
}

/// Tells the parent how to reach this party, and receives how to reach the others.
fn meet(job: &PartyJob) -> CliResult<Transport> {
    let last = job.party.number() + 1 == job.parties;
    let door = if last { None } else { Some(Listener::bind("127.0.0.1:0")?) };
    let identity = match job.transport {
        LocalTransport::Tls => Some(Identity::generate()?),
        LocalTransport::Tcp => None,
        LocalTransport::Memory => {
            return Err(CliError::internal("memory does not reach other processes"));
        }
    };
    write_message(&ChildMessage::Ready(Peer {
        address: door.as_ref().map(|door| door.local_addr().to_string()),
        fingerprint: identity.as_ref().map(|key| key.fingerprint().to_string()),
    }))?;
    let peers: Vec<Peer> = read_message()?;
    end_with_parent()?;
    let mut contacts = Vec::with_capacity(peers.len());
    for Peer { address, fingerprint } in peers {
        let fingerprint = fingerprint.map(|text| text.parse()).transpose()?;
        contacts.push(PeerInfo { address, fingerprint });
    }
    Ok(match identity {
        Some(identity) => Transport::tls_mesh(door, identity, contacts),
        None => Transport::insecure_plain_tcp_mesh(door, contacts),
    })
}

fn read_message<T: serde::de::DeserializeOwned>() -> CliResult<T> {
    let mut line = Zeroizing::new(String::new());
    let read = std::io::stdin().lock().read_line(&mut line);
    match read {
        Ok(0) => Err(CliError::usage("`symbolon party` is started by `symbolon local`")),
        // The parser's message may quote what it read, and that may be secret.
        Ok(_) => serde_json::from_str(&line)
            .map_err(|_| CliError::usage("`symbolon party` is started by `symbolon local`")),
        Err(error) => Err(CliError::internal(format!("cannot read orders: {error}"))),
    }
}

fn write_message(word: &ChildMessage) -> CliResult<()> {
    let mut line = serde_json::to_vec(word)
        .map_err(|error| CliError::internal(format!("cannot write JSON: {error}")))?;
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    out.write_all(&line)
        .and_then(|()| out.flush())
        .map_err(|error| CliError::internal(format!("cannot tell the parent: {error}")))
}

/// Ends this process as soon as the parent's end of standard input closes.
///
/// # Errors
/// A failure of the class `System` when there is no thread for that.
fn end_with_parent() -> CliResult<()> {
    let watch = || {
        let mut scrap = [0; 64];
        let mut input = std::io::stdin().lock();
        loop {
            match input.read(&mut scrap) {
                Ok(0) | Err(_) => std::process::exit(3),
                Ok(_) => {}
            }
        }
    };
    let thread = std::thread::Builder::new().name("symbolon-parent".to_string()).spawn(watch);
    Ok(thread.map(drop).map_err(NoThread)?)
}
