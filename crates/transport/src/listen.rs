//! The listening side.
//!
//! Anybody may connect to an open port: scanners, clients of other services, an old process of the
//! peer. Every connection is opened in its own thread and has a few seconds to identify itself; at
//! most [`MAX_OPENING`] do so at a time. None of them is mistaken for the peer, and none keeps the
//! peer out: if there are too many, [one gives way](crate::newcomer).

use std::collections::{HashSet, VecDeque};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustls::ServerConfig;

use symbolon_common::PartyId;

use crate::address::check_listening;
use crate::cancel::CANCEL_POLL;
use crate::endpoint::{Opening, Options, Peer};
use crate::keys::Fingerprint;
use crate::link::Direction;
use crate::newcomer::{displaced_by_newcomer, network};
use crate::preamble::{Preamble, Verdict};
use crate::stranger::{first_bytes, stranger};
use crate::{
    AttemptCause, CancelHandle, Channel, Error, LastAttempt, NoThread, Progress, Result, Stranger,
    Subject, TransportReason, tls,
};

/// The maximum number of connections that are being opened.
const MAX_OPENING: usize = 64;

/// The maximum number of threads that open connections: one for each of those, and as many again
/// whose connection gave way but that have not ended.
const MAX_THREADS: usize = 2 * MAX_OPENING;

/// The maximum number of accepted sockets that wait to be handled.
const MAX_WAITING: usize = 256;

/// The maximum number of file descriptors that a port and the connections being opened take. A
/// service that serves strangers keeps this many free. The port has two, and every connection being
/// opened has a second one, by which it is closed.
pub const OPENING_DESCRIPTORS: usize = 2 + MAX_WAITING + MAX_THREADS + MAX_OPENING;

/// The maximum number of strangers reported in one wait; more would flood the reports.
const MAX_REPORTED: usize = 32;

/// Unfinished groups of lanes kept for one peer: there are several if it died and came back.
const MAX_GROUPS: usize = 4;

/// A listening port.
pub struct Listener {
    address: SocketAddr,
    socket: TcpListener,
    pub(crate) incoming: Receiver<Event>,
    events: SyncSender<Event>,
    stop: Arc<AtomicBool>,
    missed: Arc<Missed>,
    thread: Option<JoinHandle<()>>,
}

/// Connections that could not be accepted or opened.
#[derive(Default)]
struct Missed {
    overflowed: AtomicU64,
    /// What the system last refused.
    refused: Mutex<Option<String>>,
}

impl Missed {
    fn refuse(&self, error: &dyn std::fmt::Display) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
    }

    fn refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("address", &self.address).finish_non_exhaustive()
    }
}

pub(crate) enum Event {
    Connected(TcpStream),
    Opened { round: Instant, id: usize, outcome: Box<std::result::Result<Called, NotOpened>> },
}

/// A connection that does not belong to a peer.
pub(crate) struct NotOpened {
    from: IpAddr,
    stranger: Stranger,
    pub(crate) reason: TransportReason,
}

/// A connection whose preamble has been read.
pub(crate) struct Called {
    pub(crate) opening: Opening,
    pub(crate) theirs: Preamble,
    pub(crate) key: Option<Fingerprint>,
}

/// A connection that is being opened.
struct Caller {
    id: usize,
    network: IpAddr,
    socket: TcpStream,
}

/// The connections that are being opened.
pub(crate) struct Openings {
    config: Option<Arc<ServerConfig>>,
    events: SyncSender<Event>,
    /// Distinguishes this wait's events from those of an earlier one.
    round: Instant,
    sockets: Vec<Caller>,
    opened: usize,
    displaced: u64,
    /// The number of threads at work.
    threads: Arc<AtomicUsize>,
    missed: Arc<Missed>,
}

impl Openings {
    /// Creates an empty set; with a configuration, connections use TLS.
    pub(crate) fn new(listener: &Listener, config: Option<Arc<ServerConfig>>) -> Self {
        let events = listener.events.clone();
        let threads = Arc::new(AtomicUsize::new(0));
        let (round, sockets, missed) = (Instant::now(), Vec::new(), listener.missed.clone());
        Openings { config, events, round, sockets, opened: 0, displaced: 0, threads, missed }
    }

    /// Returns how many connections gave way since the last call.
    pub(crate) fn displaced(&mut self) -> u64 {
        std::mem::take(&mut self.displaced)
    }

    /// Returns whether peers prove possession of a key.
    pub(crate) fn is_tls(&self) -> bool {
        self.config.is_some()
    }

    /// Starts the opening of a connection in its own thread. If the system refuses what that needs,
    /// the connection is closed, and the peer tries again: the refusal is reported at the end of
    /// the wait, as the reason why nobody came.
    pub(crate) fn begin(&mut self, socket: TcpStream, deadline: Instant) {
        let Ok(from) = socket.peer_addr() else { return };
        let handle = socket.try_clone().inspect_err(|error| self.missed.refuse(error));
        let Ok(handle) = handle else { return };
        if self.threads.load(Ordering::SeqCst) >= MAX_THREADS {
            self.displaced += 1;
            return;
        }
        if self.sockets.len() >= MAX_OPENING {
            self.displaced += 1;
            let networks: Vec<_> = self.sockets.iter().map(|caller| caller.network).collect();
            let removed = self.sockets.swap_remove(displaced_by_newcomer(&networks));
            let _ = removed.socket.shutdown(Shutdown::Both);
        }
        let (round, id) = (self.round, self.opened);
        self.opened += 1;
        let tls = match self.config.clone().map(tls::accepted).transpose() {
            Ok(tls) => tls,
            Err(_) => return,
        };
        let events = self.events.clone();
        let at_work = AtWork::new(&self.threads);
        let started =
            thread::Builder::new().name("symbolon-opening".to_string()).spawn(move || {
                let expects_tls = tls.is_some();
                let first = first_bytes(&socket, deadline);
                let outcome = hear(socket, tls, deadline).map_err(|reason| {
                    let stranger = stranger(&first, expects_tls, &reason);
                    NotOpened { from: from.ip().to_canonical(), stranger, reason }
                });
                // Waits while the queue is full; fails if nobody receives any more.
                let _ = events.send(Event::Opened { round, id, outcome: Box::new(outcome) });
                drop(at_work);
            });
        if started.inspect_err(|error| self.missed.refuse(error)).is_ok() {
            let caller = Caller { id, network: network(from.ip()), socket: handle };
            self.sockets.push(caller);
        }
    }

    /// Records that an opening ended; returns whether it was one of these.
    pub(crate) fn ended(&mut self, round: Instant, id: usize) -> bool {
        self.sockets.retain(|caller| round != self.round || caller.id != id);
        round == self.round
    }
}

impl Drop for Openings {
    fn drop(&mut self) {
        for caller in &self.sockets {
            let _ = caller.socket.shutdown(Shutdown::Both);
        }
    }
}

/// Counts a thread while it exists.
struct AtWork(Arc<AtomicUsize>);

impl AtWork {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        AtWork(count.clone())
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Listener {
    /// Listens at `address` (HOST:PORT; port 0 takes any free one).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] if that is impossible, for example because the port is in use.
    pub fn bind(address: &str) -> Result<Self> {
        check_listening(address)?;
        let failed = |e: std::io::Error| {
            let address = crate::text::printable(address);
            let text = format!("cannot listen at {address}: {e}");
            Error::of_system(&e, text, |fault| Error::InvalidInput(fault.text().to_string()))
        };
        let socket = TcpListener::bind(address).map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        let (events, incoming) = mpsc::sync_channel(MAX_WAITING);
        let stop = Arc::new(AtomicBool::new(false));
        let missed = Arc::new(Missed::default());
        let (door, queue) = (socket.try_clone().map_err(failed)?, events.clone());
        let (stopped, misses) = (stop.clone(), missed.clone());
        let thread = thread::Builder::new()
            .name("symbolon-listener".to_string())
            .spawn(move || accept_all(&door, &queue, &stopped, &misses))
            .map_err(NoThread)?;
        Ok(Listener { address, socket, incoming, events, stop, missed, thread: Some(thread) })
    }

    /// Returns how many accepted connections were closed at once since the last call, and the
    /// reason if none could be accepted.
    pub(crate) fn missed(&self) -> (u64, Option<String>) {
        (self.missed.overflowed.swap(0, Ordering::SeqCst), self.missed.refused())
    }

    /// Records why the system did not let a connection become a client.
    pub(crate) fn refuse(&self, error: &Error) {
        self.missed.refuse(error);
    }

    /// Returns the listening address, with the actual port.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Waits for `peer` to connect over `lanes` connections; the other side of
    /// [`connect_lanes`](crate::connect_lanes).
    ///
    /// # Errors
    /// As [`Listener::accept_parties`].
    pub fn accept_lanes(
        &self,
        options: &Options,
        peer: &Peer,
        lanes: usize,
    ) -> Result<Vec<Channel>> {
        let mut all = self.accept_parties(options, std::slice::from_ref(peer), lanes)?;
        all.pop().ok_or_else(|| Error::internal("no peer's channels"))
    }

    /// Waits for all of `peers`, in any order, each over `lanes` connections. Returns their
    /// channels in the order of `peers`, and for each peer in the order of its lanes.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for options that cannot work. [`Error::Transport`] if a peer does
    /// not appear within [`Options::connect_timeout`] (naming the last stranger that came instead),
    /// or a peer claims to be this party. [`Error::PeerIncompatible`] if a peer has another
    /// version, number of lanes, or party numbers.
    pub fn accept_parties(
        &self,
        options: &Options,
        peers: &[Peer],
        lanes: usize,
    ) -> Result<Vec<Vec<Channel>>> {
        let lanes = options.check(peers, lanes)?;
        let pins: Vec<_> = peers.iter().flat_map(|peer| peer.keys.iter().copied()).collect();
        let config = options.tls.as_ref().map(|tls| tls.server(Some(&pins))).transpose()?;
        let mut reception = Reception {
            options,
            peers,
            lanes,
            openings: Openings::new(self, config),
            groups: peers.iter().map(|_| VecDeque::new()).collect(),
            last: None,
            reported: HashSet::new(),
        };
        let parties = peers.iter().map(|peer| peer.party).collect();
        let address = self.address.to_string();
        options.observer.tell(&Progress::Listening { parties, address });
        let complete = reception.run(&self.incoming, self.address);
        drop(reception);
        let mut all = Vec::with_capacity(peers.len());
        for (peer, openings) in peers.iter().zip(complete?) {
            let link = options.link.map(Direction::new);
            let channel = |opening| options.channel(peer.party, opening, link.clone());
            all.push(openings.into_iter().map(channel).collect::<Result<Vec<_>>>()?);
        }
        Ok(all)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the accepting thread: by a shutdown where the system supports that, and by a
        // connection elsewhere.
        let woken = socket2::SockRef::from(&self.socket).shutdown(Shutdown::Both).is_ok();
        if !(cfg!(target_os = "linux") && woken) {
            let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(10));
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Runs the accepting thread. Closes connections that find no place, because the peer will retry.
fn accept_all(door: &TcpListener, queue: &SyncSender<Event>, stop: &AtomicBool, missed: &Missed) {
    while !stop.load(Ordering::SeqCst) {
        match door.accept() {
            Ok((socket, _)) => match queue.try_send(Event::Connected(socket)) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) => {
                    missed.overflowed.fetch_add(1, Ordering::SeqCst);
                }
                Err(TrySendError::Disconnected(_)) => return,
            },
            // Shut down: the thread that drops the listener waits for this one, and its peer waits
            // for both.
            Err(_) if stop.load(Ordering::SeqCst) => return,
            // This happens, for example, without free file descriptors, and must not end in a busy
            // loop.
            Err(error) => {
                missed.refuse(&error);
                thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// The connections of one peer that carry the same token.
struct Group {
    token: [u8; 32],
    lanes: Vec<Option<Opening>>,
}

impl Group {
    fn is_complete(&self) -> bool {
        self.lanes.iter().all(Option::is_some)
    }

    fn is_closed(&self) -> bool {
        self.lanes.iter().flatten().any(Opening::is_closed)
    }
}

/// One wait for peers.
struct Reception<'a> {
    options: &'a Options,
    peers: &'a [Peer],
    lanes: u16,
    openings: Openings,
    /// By peer: groups, oldest first.
    groups: Vec<VecDeque<Group>>,
    /// Why the last stranger was not a peer.
    last: Option<LastAttempt>,
    /// The strangers that were reported, with their kinds.
    reported: HashSet<(IpAddr, Stranger)>,
}

impl Reception<'_> {
    /// Runs until every peer has a complete group; returns them.
    fn run(&mut self, events: &Receiver<Event>, address: SocketAddr) -> Result<Vec<Vec<Opening>>> {
        let deadline = self.options.connect_deadline();
        while let Some(missing) = self.missing() {
            self.options.cancel.check()?;
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                // Also if strangers keep the queue full.
                return Err(self.no_answer(missing, address));
            }
            match events.recv_timeout(left.min(CANCEL_POLL)) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Event::Connected(socket)) => {
                    self.openings.begin(socket, self.options.opening_deadline());
                }
                Ok(Event::Opened { round, id, outcome }) => {
                    if self.openings.ended(round, id) {
                        match *outcome {
                            Ok(called) => self.admit(called)?,
                            Err(NotOpened { from, stranger, reason }) => {
                                self.reject(from, stranger, &reason);
                            }
                        }
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::internal("the listening thread is gone"));
                }
            }
        }
        // A peer that died and came back has several groups: the newest is of the living process.
        let complete = |groups: &mut VecDeque<Group>| {
            let group = groups.drain(..).rev().find(Group::is_complete);
            group.into_iter().flat_map(|group| group.lanes).flatten().collect()
        };
        Ok(self.groups.iter_mut().map(complete).collect())
    }

    /// Returns the error for a peer that did not come in time.
    fn no_answer(&mut self, missing: PartyId, address: SocketAddr) -> Error {
        if let Some(why) = self.openings.missed.refused() {
            return Error::system(format!("cannot accept connections: {why}"));
        }
        let reason = TransportReason::NoAnswer {
            address: address.to_string(),
            after: self.options.connect_timeout,
            last: self.last.take(),
        };
        Error::transport(missing, reason)
    }

    /// Returns a peer without a complete group. Once no peer is missing, drops the groups of those
    /// that have gone while others were waited for.
    fn missing(&mut self) -> Option<PartyId> {
        let has = |groups: &VecDeque<Group>| groups.iter().any(Group::is_complete);
        let mut missing = self.groups.iter().position(|groups| !has(groups));
        if missing.is_none() {
            self.groups.iter_mut().for_each(|groups| groups.retain(|group| !group.is_closed()));
            missing = self.groups.iter().position(|groups| !has(groups));
        }
        missing.map(|missing| self.peers[missing].party)
    }

    /// Reports a connection that does not belong to a peer, and records the reason.
    fn reject(&mut self, from: IpAddr, stranger: Stranger, reason: &TransportReason) {
        self.note(reason);
        if self.reported.len() >= MAX_REPORTED || !self.reported.insert((from, stranger)) {
            return;
        }
        let reason = match stranger {
            Stranger::Http => "an HTTP client connected".to_string(),
            Stranger::Tls => "it speaks TLS, but this party expects plain TCP".to_string(),
            Stranger::PlainTcp => "it speaks plain TCP, but this party expects TLS".to_string(),
            Stranger::OtherProtocol => "it speaks another protocol".to_string(),
            Stranger::Silent => "it sent nothing that could be a peer's".to_string(),
            Stranger::KeyRefused => "it expects another key than this party's".to_string(),
            Stranger::WrongKey => match reason {
                TransportReason::WrongKey { found, expected } => {
                    let shown = crate::text::printable;
                    format!(
                        "its key has fingerprint {}, expected {}",
                        shown(found),
                        shown(expected)
                    )
                }
                TransportReason::KeyExpired { until } => {
                    format!("its key was accepted until {}", crate::text::utc(*until))
                }
                _ => "it has another key than the expected one".to_string(),
            },
        };
        let from = from.to_string();
        self.options.observer.tell(&Progress::Rejected { from, stranger, reason });
    }

    fn note(&mut self, reason: &TransportReason) {
        let cause = match reason {
            TransportReason::WrongKey { .. } | TransportReason::KeyExpired { .. } => {
                AttemptCause::WrongKey
            }
            TransportReason::OwnKeyRefused | TransportReason::OwnKeyExpired => {
                AttemptCause::OwnKeyRefused
            }
            _ => AttemptCause::Other,
        };
        let else_connected =
            |text: &str| format!("somebody else connected: {}", crate::text::printable(text));
        let text = match reason {
            TransportReason::WrongKey { .. }
            | TransportReason::KeyExpired { .. }
            | TransportReason::OwnKeyExpired => {
                Error::Transport { party: None, reason: reason.clone() }.to_string()
            }
            TransportReason::Refused(refusal) => else_connected(&refusal.to_string()),
            TransportReason::Io(fault) => else_connected(fault.text()),
            TransportReason::TimedOut(_) => "somebody connected and said nothing".to_string(),
            TransportReason::OwnKeyRefused => "somebody connected and refused our key".to_string(),
            _ => "somebody connected and hung up".to_string(),
        };
        // A later scanner must not hide that the peer came with another key.
        if cause == AttemptCause::WrongKey || self.last.is_none() {
            self.last = Some(LastAttempt { cause, text });
        }
    }

    /// Decides on a connection whose preamble was read, and answers it.
    fn admit(&mut self, called: Called) -> Result<()> {
        let Called { mut opening, theirs, key } = called;
        if opening.is_closed() {
            // A peer that waited too long for an answer, and dials again.
            self.note(&TransportReason::Closed);
            return Ok(());
        }
        let from = opening.socket.peer_addr().map(|address| address.ip().to_canonical());
        let index = self.recognise(&theirs, key);
        let named = index.map_or(theirs.sender, |index| self.peers[index].party);
        let lane = theirs.lane.min(self.lanes - 1);
        let mut mine = self.options.preamble(named, lane, self.lanes, theirs.token);
        if let Some(stranger) = self.nonsense(&theirs) {
            mine.verdict = Verdict::Refused;
            let _ = opening.send(&mine, self.options.opening_deadline());
            let reason = TransportReason::refused(stranger);
            match from {
                Ok(from) => self.reject(from, Stranger::OtherProtocol, &reason),
                Err(_) => self.note(&reason),
            }
            return Ok(());
        }
        let fits = match index {
            // A stranger to us may still be told what differs.
            None => mine.fits(&theirs).and_then(|()| {
                let expected: Vec<_> = self.peers.iter().map(|p| p.party.to_string()).collect();
                let theirs = theirs.sender.to_string();
                let what = Subject::Parties("the peer's party number");
                Err(Error::incompatible(what, expected.join(" or "), theirs))
            }),
            Some(_) => mine.fits(&theirs),
        };
        let deadline = self.options.opening_deadline();
        let place = match (&fits, index) {
            (Ok(()), Some(index)) => self.place(index, theirs.token, theirs.lane),
            _ => None,
        };
        mine.verdict = match (&fits, &place) {
            (Err(_), _) => Verdict::Refused,
            (Ok(()), None) => Verdict::Duplicate,
            (Ok(()), Some(_)) => Verdict::Accepted,
        };
        let answered = opening.send(&mine, deadline);
        fits?;
        match (place, answered) {
            (Some(place), Ok(())) => {
                *place = Some(opening);
                let complete = index.filter(|&i| self.groups[i].iter().any(Group::is_complete));
                if let Some(index) = complete {
                    let party = self.peers[index].party;
                    self.options.observer.tell(&Progress::Connected { party });
                }
            }
            (None, _) => self.note(&TransportReason::refused("a lane came twice")),
            (Some(_), Err(reason)) => self.note(&reason),
        }
        Ok(())
    }

    /// Returns why a preamble over plain TCP is nonsense, if it is. Over plain TCP anybody can send
    /// a preamble. One with numbers that no peer of ours would send comes from a stranger, who must
    /// not end the wait for the peer. One with the peer's number is taken for the peer's, even if
    /// it ends the wait because the version or the lanes differ: a peer of another version is told
    /// so at once, and a stranger who forges the number could take the peer's place anyway. A peer
    /// that claims to be this party is handled separately, because both sides make that mistake.
    fn nonsense(&self, theirs: &Preamble) -> Option<String> {
        if self.openings.is_tls() {
            return None;
        }
        let known = self.peers.iter().any(|peer| peer.party == theirs.sender);
        let ours = theirs.sender == self.options.me;
        let sense = ours || (known && theirs.receiver == self.options.me);
        let calls = || format!("party {} called party {}", theirs.sender, theirs.receiver);
        (!sense).then(calls)
    }

    /// Returns which peer this is: by its key or, without keys, by its number, or because there is
    /// no choice.
    fn recognise(&self, theirs: &Preamble, key: Option<Fingerprint>) -> Option<usize> {
        if self.openings.is_tls() {
            return self.peers.iter().position(|peer| key.is_some_and(|key| peer.has_key(key)));
        }
        let named = self.peers.iter().position(|peer| peer.party == theirs.sender);
        named.or((self.peers.len() == 1).then_some(0))
    }

    /// Returns the place for a lane; `None` if it is taken. A connection that the peer has closed
    /// makes room: the answer did not reach the peer, and it dials again.
    fn place(&mut self, index: usize, token: [u8; 32], lane: u16) -> Option<&mut Option<Opening>> {
        let groups = &mut self.groups[index];
        let at = match groups.iter().position(|group| group.token == token) {
            Some(at) => at,
            None => {
                if groups.len() >= MAX_GROUPS {
                    groups.pop_front();
                }
                let lanes = (0..self.lanes).map(|_| None).collect();
                groups.push_back(Group { token, lanes });
                groups.len() - 1
            }
        };
        groups[at]
            .lanes
            .get_mut(usize::from(lane))
            .filter(|place| place.as_ref().is_none_or(Opening::is_closed))
    }
}

/// Reads the beginning of a connection.
fn hear(
    socket: TcpStream,
    tls: Option<rustls::Connection>,
    deadline: Instant,
) -> std::result::Result<Called, TransportReason> {
    // When the wait is cancelled, `Openings` closes the socket.
    let mut opening = Opening::begin(socket, tls, CancelHandle::new(), deadline)?;
    let theirs = opening.receive(deadline)?;
    let key = opening.tls.as_ref().and_then(tls::peer_fingerprint);
    if theirs.verdict != Verdict::Hello {
        return Err(TransportReason::refused("its preamble is an answer to nothing"));
    }
    Ok(Called { opening, theirs, key })
}
