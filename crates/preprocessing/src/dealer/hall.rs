//! Where the parties of many sessions come, in any order, and are brought together.
//!
//! Every guest is heard in a thread of its own, for a few seconds at most; the thread of the guest
//! that completes a session deals to all of it. So nobody who is slow, silent or rude holds up
//! anybody else.

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use symbolon_primitives::stack;
use symbolon_transport::{
    Error, Guest, Guests, Hangup, Result, TransportReason, TurnedAway, displaced_by_newcomer,
};

use super::{
    Limits, Request, Summary,
    deal::{channels, deal, dismiss, refusal},
    room::{Dismissal, Room},
};

/// How long a guest may take to say what it wants.
const HEARING: Duration = Duration::from_secs(5);

/// Guests that may be about to say so; when there are more, one from the address with the most
/// gives way.
const MAX_HEARING: usize = 64;

/// Guests that may be about to hear why they must go; when there are more, they go without a word.
const MAX_LEAVING: usize = 128;

/// How often [`Hall::receive`] looks whether it is to stop, and a hall whether a guest that waits
/// has gone.
const GLANCE: Duration = Duration::from_millis(50);

/// How often it is told that connections were turned away.
const NEWS: Duration = Duration::from_secs(1);

/// What a hall allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How much is dealt to one session.
    pub limits: Limits,
    /// How long a session waits for its last party.
    pub patience: Duration,
    /// How many sessions may wait for parties; when there are more, the oldest gives way.
    pub waiting: usize,
    /// How many sessions are dealt to at a time, each in a thread.
    pub running: usize,
    /// How many seats one key may hold at a time, in sessions that wait or run.
    pub per_key: usize,
    /// How many seats there are, in sessions that wait or run. When all are taken, a session that
    /// waits gives way, of the address with the most. A seat takes a file descriptor, see
    /// [`Hall::DESCRIPTORS`].
    pub seats: usize,
    /// How many seats one address may hold in sessions that wait, before one of them gives way to
    /// the next. More only for the parties of one session.
    pub per_address: usize,
}

impl Default for Rules {
    /// The limits' default, 30 s, 256 waiting, 64 running, 16 seats a key, 1 024 seats, 256 an
    /// address.
    fn default() -> Self {
        let (limits, patience) = (Limits::default(), Duration::from_secs(30));
        let (waiting, running, per_key, seats, per_address) = (256, 64, 16, 1024, 256);
        Rules { limits, patience, waiting, running, per_key, seats, per_address }
    }
}

/// What happened in a hall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A session got all that it asked for.
    Served(Summary),
    /// A session, or a single guest, did not.
    Failed {
        /// The session that was asked for, where the request could be read.
        session: Option<[u8; 32]>,
        /// Why.
        error: Error,
    },
    /// Connections were turned away before they asked for anything.
    TurnedAway(TurnedAway),
}

/// Brings the parties of sessions together and deals to them.
///
/// Dropping it sends away whoever waits; sessions that run go on to their end.
pub struct Hall {
    shared: Arc<Shared>,
    keeper: Option<JoinHandle<()>>,
}

impl fmt::Debug for Hall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hall").field("rules", &self.shared.rules).finish_non_exhaustive()
    }
}

type Report = Box<dyn FnMut(Event) + Send>;

struct Shared {
    rules: Rules,
    state: Mutex<State>,
    /// A session began to wait or ended, or the hall closes.
    changed: Condvar,
    report: Mutex<Report>,
}

struct State {
    room: Room<Guest>,
    /// Guests being heard.
    hearing: Vec<Heard>,
    /// How many guests are being told why they must go.
    leaving: usize,
    admitted: u64,
    open: bool,
}

/// A guest that is being heard.
struct Heard {
    id: u64,
    address: Option<IpAddr>,
    hangup: Hangup,
}

/// Why a guest that says nothing must go.
const DISPLACED: &str = "too many at once: it gave way before it said what it wants";

impl Hall {
    /// How many file descriptors a hall takes at most besides those of its seats: of guests that
    /// are being heard, of as many that gave way and are about to end, and of those that are told
    /// why they must go.
    pub const DESCRIPTORS: usize = 2 * MAX_HEARING + MAX_LEAVING;

    /// Opens a hall. `report` is told of everything that ends, by whichever thread ended it.
    ///
    /// # Errors
    /// `System` when a thread cannot be started.
    pub fn new(rules: Rules, report: impl FnMut(Event) + Send + 'static) -> Result<Self> {
        let (room, hearing) = (Room::new(rules), Vec::new());
        let state = State { room, hearing, leaving: 0, admitted: 0, open: true };
        let shared = Arc::new(Shared {
            rules,
            state: Mutex::new(state),
            changed: Condvar::new(),
            report: Mutex::new(Box::new(report)),
        });
        let kept = shared.clone();
        let keeper = spawn(move || kept.keep_time())?;
        Ok(Hall { shared, keeper: Some(keeper) })
    }

    /// Lets a guest in: hears what it wants, and deals when the last party of its session is here.
    /// Does not wait.
    ///
    /// Authentication is the transport's: a guest that has a key gets no other seat than that
    /// key's. Guests without keys are believed, and never meet those with keys.
    pub fn admit(&self, guest: Guest) {
        let id = {
            let mut state = self.shared.state();
            if state.hearing.len() >= MAX_HEARING {
                let addresses: Vec<_> = state.hearing.iter().map(|heard| heard.address).collect();
                let displaced = state.hearing.swap_remove(displaced_by_newcomer(&addresses));
                displaced.hangup.hang_up();
            }
            let id = state.admitted;
            state.admitted += 1;
            let (address, hangup) = (guest.address, guest.channel.hangup());
            state.hearing.push(Heard { id, address, hangup });
            id
        };
        let shared = self.shared.clone();
        if let Err(error) = spawn(move || shared.attend(id, guest)) {
            self.shared.state().hearing.retain(|heard| heard.id != id);
            self.shared.tell(Event::Failed { session: None, error });
        }
    }

    /// Admits all guests that come, until `stop` is set.
    ///
    /// # Errors
    /// As [`Guests::next`].
    pub fn receive(&self, guests: &mut Guests<'_>, stop: &AtomicBool) -> Result<()> {
        let mut told = Instant::now();
        while !stop.load(Ordering::SeqCst) {
            if let Some(guest) = guests.next(GLANCE)? {
                self.admit(guest);
            }
            if told.elapsed() >= NEWS {
                told = Instant::now();
                guests.turned_away().into_iter().for_each(|news| {
                    self.shared.tell(Event::TurnedAway(news));
                });
            }
        }
        Ok(())
    }

    /// Sends away whoever waits, and waits for the sessions that run.
    pub fn finish(mut self) {
        self.close();
        let mut state = self.shared.state();
        while state.room.running() > 0 || !state.hearing.is_empty() || state.leaving > 0 {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&mut self) {
        let gone = {
            let mut state = self.shared.state();
            state.open = false;
            state.hearing.drain(..).for_each(|heard| heard.hangup.hang_up());
            state.room.clear(CLOSED)
        };
        self.shared.changed.notify_all();
        for dismissal in gone {
            // There is time now: everybody is told.
            let state = self.shared.state();
            let full = |state: &mut State| state.leaving >= MAX_LEAVING;
            drop(self.shared.changed.wait_while(state, full));
            self.shared.dismiss(dismissal);
        }
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

const CLOSED: &str = "the dealer is closing";

impl Drop for Hall {
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

    /// Hears one guest, finds its seat, and deals when the session is together.
    fn attend(self: &Arc<Self>, id: u64, mut guest: Guest) {
        let usual = guest.channel.timeout();
        guest.channel.set_timeout(usual.min(HEARING));
        let heard = Request::hear(&mut guest, &self.rules.limits);
        guest.channel.set_timeout(usual);
        let arrival = {
            let mut state = self.state();
            let before = state.hearing.len();
            state.hearing.retain(|heard| heard.id != id);
            let displaced = state.hearing.len() == before;
            match heard {
                Err(_) if displaced && state.open => {
                    let error =
                        Error::transport(guest.channel.peer(), TransportReason::refused(DISPLACED));
                    let (guests, words) = (vec![guest], DISPLACED.to_string());
                    Dismissal { guests, session: None, words, error }.into()
                }
                Ok(request) if state.open => state.room.arrive(guest, request, Instant::now()),
                Ok(request) => Dismissal::refused(guest, &request, CLOSED).into(),
                Err(error) => {
                    let (guests, words) = (vec![guest], refusal(&error));
                    Dismissal { guests, session: None, words, error }.into()
                }
            }
        };
        self.changed.notify_all();
        // Nobody who is slow to go keeps those waiting who came to be dealt to.
        arrival.dismissed.into_iter().for_each(|dismissal| self.dismiss(dismissal));
        if let Some((guests, request)) = arrival.together {
            self.deal(guests, &request);
        }
    }

    fn deal(&self, guests: Vec<Guest>, request: &Request) {
        let running = Running { shared: self, request };
        let event = match deal(channels(guests), request) {
            Ok(summary) => Event::Served(summary),
            Err(error) => Event::Failed { session: Some(request.session), error },
        };
        // Before its place is free: whoever waits for the last session to end has heard of it then.
        self.tell(event);
        drop(running);
    }

    /// Sends guests away. Those that are slow to go are waited for by a thread of their own.
    fn dismiss(self: &Arc<Self>, dismissal: Dismissal<Guest>) {
        let Dismissal { mut guests, session, words, error } = dismissal;
        self.tell(Event::Failed { session, error });
        let told = {
            let mut state = self.state();
            let told = guests.len().min(MAX_LEAVING.saturating_sub(state.leaving));
            state.leaving += told;
            told
        };
        for guest in guests.split_off(told) {
            guest.channel.hangup().hang_up();
        }
        if told == 0 {
            return;
        }
        let leaving = Leaving { shared: self.clone(), guests: told };
        let farewell = move || {
            dismiss(channels(guests), &words);
            drop(leaving);
        };
        if let Err(error) = spawn(farewell) {
            self.tell(Event::Failed { session, error });
        }
    }

    /// Sends away sessions that wait too long, or have lost a party, until the hall closes.
    fn keep_time(self: Arc<Self>) {
        let mut state = self.state();
        while state.open {
            let mut over = state.room.overdue(Instant::now());
            over.extend(state.room.left());
            if !over.is_empty() {
                drop(state);
                over.into_iter().for_each(|dismissal| self.dismiss(dismissal));
                state = self.state();
                continue;
            }
            let deadline = state.room.deadline();
            let wait = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            state = match wait.map(|wait| wait.min(GLANCE)) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(wait) => {
                    let woken = self.changed.wait_timeout(state, wait);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

/// Guests that are told why they must go; they are counted until they have gone, however that ends.
struct Leaving {
    shared: Arc<Shared>,
    guests: usize,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.shared.state().leaving -= self.guests;
        self.shared.changed.notify_all();
    }
}

/// A session that is dealt to; its place is free again however that ends.
struct Running<'a> {
    shared: &'a Shared,
    request: &'a Request,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.shared.state().room.ended(self.request);
        self.shared.changed.notify_all();
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let thread =
        thread::Builder::new().name("symbolon-dealer".to_string()).spawn(|| stack::wiped(work));
    thread.map_err(|e| Error::system(format!("cannot start a thread: {e}")))
}
