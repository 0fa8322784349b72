//! The dealer of parties, if they have one: where it is, and one for the parties of `local`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use symbolon::dealer::{
    AdmissionPolicy, DealerServer, Dealing, Event, ServerLimits, TurnedAway, serve,
};
use symbolon::{Dealer, Error, ErrorClass, Identity, Listener, NoThread};

use crate::args::options::{LocalTransport, RemoteTransport};
use crate::common::error::{CliError, CliResult};
use crate::common::output::tell;
use crate::common::peer::Peer;
use crate::settings::Settings;

/// What a party is told whenever it takes dealt material.
const TRUST: &str = "\
warning: the dealer is trusted: together with any one party, or by reading what the parties send each other, it learns \
all inputs and can change any output; alone it can spoil outputs, unnoticed
";

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
