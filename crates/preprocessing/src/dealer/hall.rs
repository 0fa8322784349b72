//! Where the parties of many sessions come, in any order, and are brought together.
//!
//! Every guest is heard in a thread of its own, for a few seconds at most; the thread of the guest that completes a
//! session deals to all of it. So nobody who is slow, silent or rude holds up anybody else.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use symbolon_transport::{Error, Guest, Guests, Hangup, Result};

use super::{
    Limits, Request, Summary,
    deal::{channels, deal, dismiss, refusal},
    room::{Dismissal, Room},
};

/// How long a guest may take to say what it wants.
const HEARING: Duration = Duration::from_secs(5);

/// Guests that may be about to say so; the longest there gives way.
const MAX_HEARING: usize = 64;

/// How often [`Hall::receive`] looks whether it is to stop.
const GLANCE: Duration = Duration::from_millis(100);

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
}

impl Default for Rules {
    /// The limits' default, 30 s, 256 waiting, 64 running, 16 seats a key.
    fn default() -> Self {
        let patience = Duration::from_secs(30);
        Rules { limits: Limits::default(), patience, waiting: 256, running: 64, per_key: 16 }
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
    /// Guests being heard, oldest first.
    hearing: VecDeque<(u64, Option<Hangup>)>,
    admitted: u64,
    open: bool,
}

impl Hall {
    /// Opens a hall. `report` is told of everything that ends, by whichever thread ended it.
    ///
    /// # Errors
    /// `Internal` when a thread cannot be started.
    pub fn new(rules: Rules, report: impl FnMut(Event) + Send + 'static) -> Result<Self> {
        let (room, hearing) = (Room::new(rules), VecDeque::new());
        let shared = Arc::new(Shared {
            rules,
            state: Mutex::new(State { room, hearing, admitted: 0, open: true }),
            changed: Condvar::new(),
            report: Mutex::new(Box::new(report)),
        });
        let kept = shared.clone();
        let keeper = spawn(move || kept.keep_time())?;
        Ok(Hall { shared, keeper: Some(keeper) })
    }

    /// Lets a guest in: hears what it wants, and deals when the last party of its session is here. Does not wait.
    ///
    /// Authentication is the transport's: a guest that has a key gets no other seat than that key's. Guests without keys
    /// are believed, and never meet those with keys.
    pub fn admit(&self, guest: Guest) {
        let id = {
            let mut state = self.shared.state();
            if state.hearing.len() >= MAX_HEARING
                && let Some((_, Some(hangup))) = state.hearing.pop_front()
            {
                hangup.hang_up();
            }
            let id = state.admitted;
            state.admitted += 1;
            state.hearing.push_back((id, guest.channel.hangup()));
            id
        };
        let shared = self.shared.clone();
        if let Err(error) = spawn(move || shared.attend(id, guest)) {
            self.shared.state().hearing.retain(|(other, _)| *other != id);
            self.shared.tell(Event::Failed { session: None, error });
        }
    }

    /// Admits all guests that come, until `stop` is set.
    ///
    /// # Errors
    /// As [`Guests::next`].
    pub fn receive(&self, guests: &mut Guests<'_>, stop: &AtomicBool) -> Result<()> {
        while !stop.load(Ordering::SeqCst) {
            if let Some(guest) = guests.next(GLANCE)? {
                self.admit(guest);
            }
        }
        Ok(())
    }

    /// Sends away whoever waits, and waits for the sessions that run.
    pub fn finish(mut self) {
        self.close();
        let mut state = self.shared.state();
        while state.room.running() > 0 || !state.hearing.is_empty() {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&mut self) {
        let gone = {
            let mut state = self.shared.state();
            state.open = false;
            state
                .hearing
                .iter_mut()
                .filter_map(|(_, hangup)| hangup.take())
                .for_each(Hangup::hang_up);
            state.room.clear(CLOSED)
        };
        self.shared.changed.notify_all();
        gone.into_iter().for_each(|dismissal| self.shared.dismiss(dismissal));
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
    fn attend(&self, id: u64, mut guest: Guest) {
        let usual = guest.channel.timeout();
        guest.channel.set_timeout(usual.min(HEARING));
        let heard = Request::hear(&mut guest, &self.rules.limits);
        guest.channel.set_timeout(usual);
        let arrival = {
            let mut state = self.state();
            state.hearing.retain(|(other, _)| *other != id);
            match heard {
                Ok(request) if state.open => state.room.arrive(guest, request, Instant::now()),
                Ok(request) => Dismissal::refused(guest, &request, CLOSED).into(),
                Err(error) => {
                    let (guests, words) = (vec![guest], refusal(&error));
                    Dismissal { guests, session: None, words, error }.into()
                }
            }
        };
        self.changed.notify_all();
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

    fn dismiss(&self, dismissal: Dismissal<Guest>) {
        let Dismissal { guests, session, words, error } = dismissal;
        dismiss(channels(guests), &words);
        self.tell(Event::Failed { session, error });
    }

    /// Sends away sessions that wait too long, until the hall closes.
    fn keep_time(self: Arc<Self>) {
        let mut state = self.state();
        while state.open {
            let overdue = state.room.overdue(Instant::now());
            if !overdue.is_empty() {
                drop(state);
                overdue.into_iter().for_each(|dismissal| self.clone().dismiss_aside(dismissal));
                state = self.state();
                continue;
            }
            let deadline = state.room.deadline();
            let wait = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            state = match wait {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(wait) => {
                    let woken = self.changed.wait_timeout(state, wait);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Guests may be slow to go, too, which must not keep others.
    fn dismiss_aside(self: Arc<Self>, dismissal: Dismissal<Guest>) {
        let shared = self.clone();
        if let Err(error) = spawn(move || shared.dismiss(dismissal)) {
            self.tell(Event::Failed { session: None, error });
        }
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
    let thread = thread::Builder::new().name("symbolon-dealer".to_string()).spawn(work);
    thread.map_err(|e| Error::internal(format!("cannot start a thread: {e}")))
}
