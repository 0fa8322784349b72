//! The hidden `party` command: one party of `local`, ordered about by its parent.
//!
//! The parent writes a [`Job`] to standard input, one line of JSON; the party answers with
//! [`Word::Ready`], gets a [`Peer`], and ends with [`Word::Done`] or [`Word::Failed`]. Secrets travel
//! only here, never on a command line. Standard input stays open as long as the parent lives; when it
//! closes, the party ends.

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};
use symbolon::circuit::PartyId;
use symbolon::zeroize::{Zeroize, Zeroizing};
use symbolon::{Config, Fingerprint, Identity, Meeting, Transport};

use crate::args::{LocalTransport, TuningArgs};
use crate::failure::{Failure, Outcome};
use crate::play::{Played, play};
use crate::source::CircuitSpec;
use crate::tuning::Tuning;
use crate::values::inputs_of;

/// What a party is to do.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The circuit, its owners and receivers.
    pub spec: CircuitSpec,
    /// Which party this is.
    pub party: PartyId,
    /// How many there are.
    pub parties: u16,
    /// TCP or TLS.
    pub transport: LocalTransport,
    /// The protocol's name.
    pub protocol: String,
    /// Statistical security in bits.
    pub rho: u32,
    /// Lanes.
    pub threads: usize,
    /// Seconds.
    pub timeout: f64,
    /// The simulated link.
    pub link: Option<String>,
    /// How often the phases run.
    pub repeat: u32,
    /// Whether anybody looks at [`Word::Stage`].
    pub stages: bool,
    /// The party's inputs: place and value.
    pub inputs: Vec<(usize, String)>,
}

impl Drop for Job {
    fn drop(&mut self) {
        self.inputs.iter_mut().for_each(|(_, value)| value.zeroize());
    }
}

/// Where the other party is and who it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// The address to dial, for the party that dials.
    pub address: Option<String>,
    /// The fingerprint of its key, for TLS.
    pub fingerprint: Option<String>,
}

/// What a party tells its parent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Word {
    /// The job is accepted; this is how to reach this party.
    Ready(Peer),
    /// Where it is.
    Stage(String),
    /// It has finished.
    Done(Played),
    /// It has not.
    Failed(Failure),
}

/// Does what standard input says; failures are told to the parent, not to standard error.
///
/// # Errors
/// The failure that was told, for the exit code.
pub fn command() -> Outcome<()> {
    let done = obey();
    match done {
        Ok(played) => say(&Word::Done(played)),
        Err(failure) => {
            say(&Word::Failed(failure.clone()))?;
            Err(failure)
        }
    }
}

fn obey() -> Outcome<Played> {
    let job: Job = hear()?;
    let tuning = Tuning::new(&TuningArgs {
        protocol: Some(job.protocol.clone()),
        rho: Some(job.rho),
        threads: Some(job.threads),
        timeout: Some(job.timeout),
        link: job.link.clone(),
    })?;
    let circuit = job.spec.load(job.parties)?;
    let values =
        job.inputs.iter().map(|(place, value)| (*place, Zeroizing::new(value.clone()))).collect();
    let inputs = inputs_of(&circuit, job.party, &values)?;
    let listening = match job.party {
        0 => Some(Meeting::listen("127.0.0.1:0")?),
        _ => None,
    };
    let identity = match job.transport {
        LocalTransport::Tls => Some(Identity::generate()?),
        LocalTransport::Tcp => None,
        LocalTransport::Memory => {
            return Err(Failure::internal("memory does not reach other processes"));
        }
    };
    say(&Word::Ready(Peer {
        address: listening
            .as_ref()
            .and_then(Meeting::local_address)
            .map(|address| address.to_string()),
        fingerprint: identity.as_ref().map(|key| key.fingerprint().to_string()),
    }))?;
    let peer: Peer = hear()?;
    end_with_parent();
    let meeting = match (listening, peer.address) {
        (Some(meeting), _) => meeting,
        (None, Some(address)) => Meeting::dial(address),
        (None, None) => return Err(Failure::internal("no address to dial")),
    };
    let transport = match (identity, peer.fingerprint) {
        (Some(identity), Some(fingerprint)) => {
            Transport::tls(meeting, identity, fingerprint.parse::<Fingerprint>()?)
        }
        (None, None) => Transport::insecure_plain_tcp(meeting),
        _ => return Err(Failure::internal("the two parties are not on the same transport")),
    };
    let config = tuning.apply_with_link(Config::new(job.party, transport));
    let mut stage = |stage: &str| {
        if job.stages {
            // A parent that has gone ends this process anyway.
            let _ = say(&Word::Stage(stage.to_string()));
        }
    };
    play(config, &circuit, &inputs, job.repeat, &mut stage)
}

fn hear<T: serde::de::DeserializeOwned>() -> Outcome<T> {
    let mut line = Zeroizing::new(String::new());
    let read = std::io::stdin().lock().read_line(&mut line);
    match read {
        Ok(0) => Err(Failure::usage("`symbolon party` is started by `symbolon local`")),
        // The parser's message may quote what it read, and that may be secret.
        Ok(_) => serde_json::from_str(&line)
            .map_err(|_| Failure::usage("`symbolon party` is started by `symbolon local`")),
        Err(error) => Err(Failure::internal(format!("cannot read orders: {error}"))),
    }
}

fn say(word: &Word) -> Outcome<()> {
    let mut line = serde_json::to_vec(word)
        .map_err(|error| Failure::internal(format!("cannot write JSON: {error}")))?;
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    out.write_all(&line)
        .and_then(|()| out.flush())
        .map_err(|error| Failure::internal(format!("cannot tell the parent: {error}")))
}

/// Ends this process as soon as the parent's end of standard input closes.
fn end_with_parent() {
    std::thread::spawn(|| {
        let mut scrap = [0; 64];
        let mut input = std::io::stdin().lock();
        loop {
            match std::io::Read::read(&mut input, &mut scrap) {
                Ok(0) | Err(_) => std::process::exit(3),
                Ok(_) => {}
            }
        }
    });
}
