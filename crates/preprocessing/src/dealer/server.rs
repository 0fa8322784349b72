//! A dealer that serves many sessions. Parties connect in any order, and the dealer brings them
//! together.
//!
//! Every client's request is received in its own thread, within a few seconds. The thread of the
//! client that completes a session deals to all of it. So a slow, silent or rude client delays
//! nobody else.
//!
//! Check: dealer | 5 s for each message of a request, 16 places per key; when full, the network
//! with the most sessions gives way | silent, slow and greedy clients | –

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use symbolon_primitives::stack;
use symbolon_transport::{
    Client, Error, Hangup, Incoming, NoThread, Result, TransportReason, TurnedAway,
    displaced_by_newcomer,
};

use super::{
    Request, Summary,
    deal::{channels, deal, dismiss, refusal},
    pending::{PendingSessions, Rejection, ServerLimits},
};

/// How long a client may take to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum number of clients whose request is awaited. If there are more, one from the address
/// with the most gives way.
const MAX_UNHEARD: usize = 64;

/// The maximum number of clients that are being told why they are rejected. Further ones are
/// disconnected without a word.
const MAX_LEAVING: usize = 128;

/// How often [`DealerServer::receive`] checks whether to stop, and the server whether a waiting
/// client has disconnected.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How often rejected connections are reported.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// An event at a dealer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A session received everything that it requested.
    Served(Summary),
    /// A session, or a single client, did not.
    Failed {
        /// The requested session, if the request could be read.
        session: Option<[u8; 32]>,
        /// Why.
        error: Error,
    },
    /// Connections were rejected before they requested anything.
    TurnedAway(TurnedAway),
}

/// Brings the parties of sessions together and deals to them.
///
/// Dropping it rejects all waiting clients; running sessions continue to their end.
pub struct DealerServer {
    shared: Arc<Shared>,
    keeper: Option<JoinHandle<()>>,
}

impl fmt::Debug for DealerServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DealerServer").field("limits", &self.shared.limits).finish_non_exhaustive()
    }
}

type Report = Box<dyn FnMut(Event) + Send>;

struct Shared {
    limits: ServerLimits,
    state: Mutex<State>,
    /// Signals that a session began to wait or ended, or that the server closes.
    changed: Condvar,
    report: Mutex<Report>,
}

struct State {
    pending: PendingSessions<Client>,
    /// Clients whose requests are awaited.
    hearing: Vec<Heard>,
    /// The number of clients that are being told why they are rejected.
    leaving: usize,
    admitted: u64,
    open: bool,
}

/// A client whose request is awaited.
struct Heard {
    id: u64,
    address: Option<IpAddr>,
    hangup: Hangup,
}

/// What a silent client is told when it gives way.
const DISPLACED: &str = "too many at once: it gave way before it said what it wants";

impl DealerServer {
    /// The maximum number of file descriptors of a server besides those of its slots: of clients
    /// whose requests are awaited, of as many that gave way and are about to end, and of those that
    /// are being told why they are rejected.
    pub const DESCRIPTORS: usize = 2 * MAX_UNHEARD + MAX_LEAVING;

    /// Starts a server. Every thread that ends a session or rejects a client calls `report`.
    ///
    /// # Errors
    /// `System` if a thread cannot be started.
    pub fn new(limits: ServerLimits, report: impl FnMut(Event) + Send + 'static) -> Result<Self> {
        let (pending, hearing) = (PendingSessions::new(limits), Vec::new());
        let state = State { pending, hearing, leaving: 0, admitted: 0, open: true };
        let shared = Arc::new(Shared {
            limits,
            state: Mutex::new(state),
            changed: Condvar::new(),
            report: Mutex::new(Box::new(report)),
        });
        let kept = shared.clone();
        let keeper = spawn(move || kept.keep_time())?;
        Ok(DealerServer { shared, keeper: Some(keeper) })
    }

    /// Admits a client: receives its request, and deals once the last party of its session has
    /// arrived. Does not wait.
    ///
    /// The transport authenticates clients: a client with a key can take only that key's slot.
    /// Clients without keys are believed, and are never combined with clients with keys.
    pub fn admit(&self, client: Client) {
        let id = {
            let mut state = self.shared.state();
            if state.hearing.len() >= MAX_UNHEARD {
                let addresses: Vec<_> = state.hearing.iter().map(|heard| heard.address).collect();
                let displaced = state.hearing.swap_remove(displaced_by_newcomer(&addresses));
                displaced.hangup.hang_up();
            }
            let id = state.admitted;
            state.admitted += 1;
            let (address, hangup) = (client.address, client.channel.hangup());
            state.hearing.push(Heard { id, address, hangup });
            id
        };
        let shared = self.shared.clone();
        if let Err(error) = spawn(move || shared.handle_client(id, client)) {
            self.shared.state().hearing.retain(|heard| heard.id != id);
            self.shared.tell(Event::Failed { session: None, error });
        }
    }

    /// Admits all clients that arrive, until `stop` is set.
    ///
    /// # Errors
    /// As [`Incoming::next`].
    pub fn receive(&self, clients: &mut Incoming<'_>, stop: &AtomicBool) -> Result<()> {
        let mut told = Instant::now();
        while !stop.load(Ordering::SeqCst) {
            if let Some(client) = clients.next(POLL_INTERVAL)? {
                self.admit(client);
            }
            if told.elapsed() >= REPORT_INTERVAL {
                told = Instant::now();
                clients.turned_away().into_iter().for_each(|news| {
                    self.shared.tell(Event::TurnedAway(news));
                });
            }
        }
        Ok(())
    }

    /// Rejects all waiting clients, and waits for the running sessions.
    pub fn finish(mut self) {
        self.close();
        let mut state = self.shared.state();
        while state.pending.running() > 0 || !state.hearing.is_empty() || state.leaving > 0 {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&mut self) {
        let gone = {
            let mut state = self.shared.state();
            state.open = false;
            state.hearing.drain(..).for_each(|heard| heard.hangup.hang_up());
            state.pending.clear(CLOSED)
        };
        self.shared.changed.notify_all();
        for rejection in gone {
            // There is time now to tell everybody.
            let state = self.shared.state();
            let full = |state: &mut State| state.leaving >= MAX_LEAVING;
            drop(self.shared.changed.wait_while(state, full));
            self.shared.dismiss(rejection);
        }
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

const CLOSED: &str = "the dealer is closing";

impl Drop for DealerServer {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: Event) {
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report(event);
    }

    /// Receives one client's request, finds its slot, and deals if the session is complete.
    fn handle_client(self: &Arc<Self>, id: u64, mut client: Client) {
        let usual = client.channel.timeout();
        client.channel.set_timeout(usual.min(REQUEST_TIMEOUT));
        let heard = Request::hear(&mut client, &self.limits.per_session);
        client.channel.set_timeout(usual);
        let outcome = {
            let mut state = self.state();
            let before = state.hearing.len();
            state.hearing.retain(|heard| heard.id != id);
            let displaced = state.hearing.len() == before;
            match heard {
                Err(_) if displaced && state.open => {
                    let error = Error::transport(
                        client.channel.peer(),
                        TransportReason::refused(DISPLACED),
                    );
                    let (clients, words) = (vec![client], DISPLACED.to_string());
                    Rejection { clients, session: None, words, error }.into()
                }
                Ok(request) if state.open => state.pending.arrive(client, request, Instant::now()),
                Ok(request) => Rejection::refused(client, &request, CLOSED).into(),
                Err(error) => {
                    let (clients, words) = (vec![client], refusal(&error));
                    Rejection { clients, session: None, words, error }.into()
                }
            }
        };
        self.changed.notify_all();
        // Rejected clients that are slow to leave must not delay the clients to be dealt to.
        outcome.rejected.into_iter().for_each(|rejection| self.dismiss(rejection));
        if let Some((clients, request)) = outcome.complete {
            self.deal(clients, &request);
        }
    }

    fn deal(&self, clients: Vec<Client>, request: &Request) {
        let running = Running { shared: self, request };
        let event = match deal(channels(clients), request, self.limits.rate) {
            Ok(summary) => Event::Served(summary),
            Err(error) => Event::Failed { session: Some(request.session), error },
        };
        // The event is reported before the slot is freed, so that a caller that waits for the last
        // session knows that the report was made.
        self.tell(event);
        drop(running);
    }

    /// Rejects clients. A separate thread waits for those that are slow to leave.
    fn dismiss(self: &Arc<Self>, rejection: Rejection<Client>) {
        let Rejection { mut clients, session, words, error } = rejection;
        self.tell(Event::Failed { session, error });
        let told = {
            let mut state = self.state();
            let told = clients.len().min(MAX_LEAVING.saturating_sub(state.leaving));
            state.leaving += told;
            told
        };
        for client in clients.split_off(told) {
            client.channel.hangup().hang_up();
        }
        if told == 0 {
            return;
        }
        let leaving = Leaving { shared: self.clone(), clients: told };
        let farewell = move || {
            dismiss(channels(clients), &words);
            drop(leaving);
        };
        if let Err(error) = spawn(farewell) {
            self.tell(Event::Failed { session, error });
        }
    }

    /// Rejects sessions that wait too long, or have lost a party, until the server closes.
    fn keep_time(self: Arc<Self>) {
        let mut state = self.state();
        while state.open {
            let mut over = state.pending.overdue(Instant::now());
            over.extend(state.pending.left());
            if !over.is_empty() {
                drop(state);
                over.into_iter().for_each(|rejection| self.dismiss(rejection));
                state = self.state();
                continue;
            }
            let deadline = state.pending.deadline();
            let wait = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            state = match wait.map(|wait| wait.min(POLL_INTERVAL)) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(wait) => {
                    let woken = self.changed.wait_timeout(state, wait);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

/// Counts clients that are being told why they are rejected, until they have left.
struct Leaving {
    shared: Arc<Shared>,
    clients: usize,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.shared.state().leaving -= self.clients;
        self.shared.changed.notify_all();
    }
}

/// A running session; however it ends, dropping this frees its slot.
struct Running<'a> {
    shared: &'a Shared,
    request: &'a Request,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.shared.state().pending.ended(self.request);
        self.shared.changed.notify_all();
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let thread =
        thread::Builder::new().name("symbolon-dealer".to_string()).spawn(|| stack::wiped(work));
    Ok(thread.map_err(NoThread)?)
}
