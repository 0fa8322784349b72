//! `symbolon dealer`: deals to parties that trust it; and what such parties are told.

pub mod args;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use args::DealerArgs;
use symbolon::dealer::{
    AdmissionPolicy, DealerServer, Dealing, Event, Limits, ServerLimits, Summary, TurnedAway, serve,
};
use symbolon::{Dealer, Error, ErrorClass, Fingerprint, Identity, Listener, NoThread};

use crate::connect::tell_address;
use crate::cost_table::bytes;
use crate::error::{CliError, CliResult};
use crate::interrupt;
use crate::options::{LocalTransport, RemoteTransport};
use crate::output::{print, tell};
use crate::peer::Peer;
use crate::progress::live;
use crate::settings::Settings;

/// What a party is told whenever it takes dealt material.
const TRUST: &str = "\
warning: the dealer is trusted: together with any one party, or by reading what the parties send each other, it learns \
all inputs and can change any output; alone it can spoil outputs, unnoticed
";

/// Deals until it is interrupted or has served the requested number of sessions; prints a line for
/// each.
///
/// # Errors
/// A usage failure, or one of the class `System`, before the port is open; otherwise those of the
/// library.
pub fn command(args: &DealerArgs) -> CliResult<()> {
    symbolon::check_listening(&args.listen)?;
    live::set_up(&args.live, "dealer")?;
    let dealing = dealing(args)?;
    dealing.check()?;
    let door = Listener::bind(&args.listen)?;
    tell(
        "warning: this process will know all that it deals: together with any one party, or by reading what the \
         parties send each other, it learns all inputs and can change any output; alone it can spoil outputs\n",
    );
    let stop = Arc::new(AtomicBool::new(false));
    interrupt::set_on_signal(&stop)?;
    tell_address(door.local_addr())?;
    let mut left = args.sessions;
    let stopping = stop.clone();
    let report = move |event: Event| {
        let served = matches!(event, Event::Served(_));
        let line = line(&event);
        live::note(&line);
        // Nobody needs to be listening.
        let _ = print(&line);
        left = left.map(|left| left.saturating_sub(u64::from(served)));
        if left == Some(0) {
            stopping.store(true, Ordering::SeqCst);
        }
    };
    serve(door, &dealing, &stop, report)?;
    CliError::if_interrupted()
}

fn dealing(args: &DealerArgs) -> CliResult<Dealing> {
    let join_timeout = Duration::try_from_secs_f64(args.join_timeout).ok().filter(|p| !p.is_zero());
    let join_timeout =
        join_timeout.ok_or_else(|| CliError::usage("--join-timeout takes seconds above 0"))?;
    if args.at_once == 0 {
        return Err(CliError::usage("--at-once takes at least 1"));
    }
    let per_session = Limits { and_gates: args.max_gates, input_bits: args.max_input_bits };
    let limits = ServerLimits {
        per_session,
        join_timeout,
        running: args.at_once,
        ..ServerLimits::default()
    };
    if args.transport == Some(RemoteTransport::Tcp) {
        if args.key.is_some() || !args.allowed.is_empty() {
            return Err(CliError::usage("plain TCP uses no key and no fingerprint")
                .with_hint("leave --transport out to use TLS"));
        }
        tell(
            "warning: plain TCP is neither private nor authenticated: anybody on the way can read all that is \
             dealt, and anybody may take any party's slot\n",
        );
        return Ok(Dealing { identity: None, admit: AdmissionPolicy::Anybody, limits });
    }
    let key = args.key.as_ref().ok_or_else(|| {
        CliError::usage("TLS needs the dealer's identity: --key FILE")
            .with_hint("`symbolon keygen --out FILE` makes one; the parties pin its fingerprint")
    })?;
    let identity = Identity::load(key)?;
    let admit = match (args.allow_any, &args.allowed[..]) {
        (true, _) => AdmissionPolicy::Anybody,
        (false, []) => {
            return Err(CliError::usage(
                "no party is admitted: give --allow FINGERPRINT for every party",
            )
            .with_hint("or --allow-any: a key gets no slot but its own in both cases"));
        }
        (false, prints) => {
            let keys = prints.iter().map(|text| Ok(text.parse::<Fingerprint>()?));
            AdmissionPolicy::Keys(keys.collect::<CliResult<_>>()?)
        }
    };
    tell(&format!("the parties need this fingerprint: {}\n", identity.fingerprint()));
    Ok(Dealing { identity: Some(identity), admit, limits })
}

/// Returns one line for people.
fn line(event: &Event) -> String {
    let short = |session: &[u8; 32]| hex::encode(&session[..8]);
    match event {
        Event::Served(Summary { session, and_gates, input_bits, bytes: sent }) => format!(
            "served {}: {} parties, {and_gates} AND gates, {} input bits, {} sent\n",
            short(session),
            input_bits.len(),
            input_bits.iter().sum::<u64>(),
            bytes(sent.iter().sum())
        ),
        Event::Failed { session, error } => {
            let session = session.as_ref().map_or(String::new(), |id| format!(" {}", short(id)));
            format!("failed{session}: {error}\n")
        }
        Event::TurnedAway(TurnedAway { displaced, overflowed, refused }) => {
            let system = refused.as_ref().map_or(String::new(), |why| {
                format!("; the system accepted none for a while: {why}")
            });
            format!(
                "turned away: {} connections that had not said who they are, to make room for others{system}\n",
                displaced + overflowed
            )
        }
    }
}

/// Returns the dealer that the settings name, if any, and prints what it is trusted with.
///
/// # Errors
/// A usage failure that says what is missing or does not go together.
pub fn named(settings: &Settings) -> CliResult<Option<Dealer>> {
    let dealer = match (&settings.dealer, &settings.dealer_fingerprint, settings.transport) {
        (None, None, _) => return Ok(None),
        (None, Some(_), _) => {
            return Err(CliError::usage("where is the dealer? Say --dealer HOST:PORT"));
        }
        (Some(address), Some(print), RemoteTransport::Tls) => {
            Dealer::tls(address.as_str(), print.parse()?)
        }
        (Some(_), None, RemoteTransport::Tls) => {
            return Err(CliError::usage(
                "TLS needs the dealer's fingerprint: --dealer-fingerprint HEX",
            )
            .with_hint("its operator can print it with `symbolon fingerprint FILE`"));
        }
        (Some(address), None, RemoteTransport::Tcp) => Dealer::insecure_plain_tcp(address.as_str()),
        (Some(_), Some(_), RemoteTransport::Tcp) => {
            return Err(CliError::usage("plain TCP uses no key and no fingerprint")
                .with_hint("leave --transport out to use TLS"));
        }
    };
    tell(TRUST);
    Ok(Some(dealer))
}

/// Adds that a failed check may be the dealer's fault, if there is a dealer.
pub fn suspect(failure: CliError, dealt: bool) -> CliError {
    match failure.hint {
        Some(hint) if dealt && failure.class == ErrorClass::Misbehaved => {
            let hint = format!("{hint}. Or the dealer dealt wrong: the checks cannot tell which");
            CliError { hint: Some(hint), ..failure }
        }
        _ => failure,
    }
}

/// A dealer within this process, for the parties of `local`; ends when dropped.
pub struct LocalDealer {
    way: Way,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    lacks: Arc<OnceLock<CliError>>,
}

enum Way {
    Door(Peer),
    InProcess(Arc<DealerServer>),
}

impl LocalDealer {
    /// Opens a dealer that is reached in the same way as the parties.
    ///
    /// # Errors
    /// An internal failure when there is no port or no thread.
    pub fn open(transport: LocalTransport) -> CliResult<LocalDealer> {
        tell(TRUST);
        let stop = Arc::new(AtomicBool::new(false));
        let lacks = Arc::new(OnceLock::new());
        let lacked = lacks.clone();
        let report = move |event: Event| match event {
            Event::Failed { error, .. } => note_lack(&lacked, error),
            Event::TurnedAway(TurnedAway { refused: Some(why), .. }) => {
                note_lack(&lacked, Error::system(format!("cannot accept connections: {why}")));
            }
            _ => {}
        };
        if transport == LocalTransport::Memory {
            let server = DealerServer::new(ServerLimits::default(), report)?;
            let way = Way::InProcess(Arc::new(server));
            return Ok(LocalDealer { way, stop, thread: None, lacks });
        }
        let identity = match transport {
            LocalTransport::Tls => Some(Identity::generate()?),
            _ => None,
        };
        let door = Listener::bind("127.0.0.1:0")?;
        let peer = Peer {
            address: Some(door.local_addr().to_string()),
            fingerprint: identity.as_ref().map(|key| key.fingerprint().to_string()),
        };
        let dealing =
            Dealing { identity, admit: AdmissionPolicy::Anybody, limits: ServerLimits::default() };
        dealing.check()?;
        let (stopped, lacked) = (stop.clone(), lacks.clone());
        let work = move || {
            if let Err(error) = serve(door, &dealing, &stopped, report) {
                tell(&format!("the dealer failed: {error}\n"));
                note_lack(&lacked, error);
            }
        };
        let thread = thread::Builder::new().name("symbolon-house".to_string()).spawn(work);
        let thread = Some(thread.map_err(NoThread)?);
        Ok(LocalDealer { way: Way::Door(peer), stop, thread, lacks })
    }

    /// Returns what the dealer lacked, if that explains why a party was not dealt to.
    pub fn lack(&self) -> Option<CliError> {
        self.lacks.get().cloned()
    }

    /// Returns where processes find it, or `None` if it is in memory.
    pub fn peer(&self) -> Option<Peer> {
        match &self.way {
            Way::Door(peer) => Some(peer.clone()),
            Way::InProcess(_) => None,
        }
    }

    /// Returns it for parties in this process, or `None` if it is reached by a port.
    pub fn within(&self) -> Option<Dealer> {
        match &self.way {
            Way::Door(_) => None,
            Way::InProcess(server) => Some(Dealer::in_process(server.clone())),
        }
    }
}

/// Notes the first failure of a dealer for which this machine is to blame.
fn note_lack(lacks: &OnceLock<CliError>, error: Error) {
    if error.class() == ErrorClass::System {
        let _ = lacks.set(CliError::from(error).under("the dealer"));
    }
}

impl Drop for LocalDealer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // It has already reported what went wrong.
            let _ = thread.join();
        }
    }
}

/// Returns the dealer whose address a child process received.
///
/// # Errors
/// An internal failure when it has no address; a usage failure when the fingerprint is invalid.
pub fn told(peer: &Peer) -> CliResult<Dealer> {
    let address = peer.address.as_ref();
    let address = address.ok_or_else(|| CliError::internal("the dealer has no address"))?;
    Ok(match &peer.fingerprint {
        Some(print) => Dealer::tls(address.as_str(), print.parse()?),
        None => Dealer::insecure_plain_tcp(address.as_str()),
    })
}
