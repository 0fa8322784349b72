//! The sessions that wait for parties, and who is admitted; without channels, threads and clocks.
//!
//! A session is complete when the holder of every slot has arrived. Nobody can take another's slot,
//! because a request names the keys of all slots and the first request's names count. Nobody can
//! fill all slots: a key holds few slots at a time, an address not many more, and when all are
//! taken a session of the address with the most gives way. So strangers with a fresh key for each
//! connection displace their own sessions. No session is dealt twice as long as its id is
//! remembered; if one is dealt again later, it has another Δ.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use symbolon_transport::{
    Client, Error, Fingerprint, LONGEST_TIMEOUT, MIN_RATE, TransportReason, displaced_by_newcomer,
};

use super::request::{Limits, Request};

/// The number of ended sessions whose ids are remembered. A forgotten session that is requested
/// again is dealt afresh, so only a clearer error depends on this.
const REMEMBERED: usize = 1 << 16;

/// The limits of a dealer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// The amount dealt to one session.
    pub per_session: Limits,
    /// How long a session waits for its last party.
    pub join_timeout: Duration,
    /// How many sessions may wait for parties. If there are more, one of the address with the most
    /// gives way.
    pub waiting: usize,
    /// How many sessions are dealt to at a time, each in its own thread.
    pub running: usize,
    /// How many slots one key may hold at a time, in waiting and running sessions.
    pub per_key: usize,
    /// How many slots there are, in waiting and running sessions. If all are taken, a waiting
    /// session of the address with the most gives way. A slot takes a file descriptor, see
    /// [`DealerServer::DESCRIPTORS`](super::DealerServer::DESCRIPTORS).
    pub slots: usize,
    /// How many slots one address may hold in waiting sessions before one of them gives way to the
    /// next. The parties of a single session may hold more.
    pub per_address: usize,
    /// The minimum average rate of a session's parties together, in bytes per second. Sessions that
    /// are late by more than a time-out are ended.
    pub rate: u64,
}

impl Default for ServerLimits {
    /// Returns the default limits: 30 s, 256 waiting sessions, 64 running ones, 16 slots per key,
    /// 1 024 slots, 256 slots per address, [`MIN_RATE`].
    fn default() -> Self {
        let (per_session, join_timeout) = (Limits::default(), Duration::from_secs(30));
        let (waiting, running, per_key, slots, per_address) = (256, 64, 16, 1024, 256);
        ServerLimits {
            per_session,
            join_timeout,
            waiting,
            running,
            per_key,
            slots,
            per_address,
            rate: MIN_RATE,
        }
    }
}

/// Clients that are not dealt to, and why.
pub(super) struct Rejection<G> {
    pub clients: Vec<G>,
    /// The requested session, if the request could be read.
    pub session: Option<[u8; 32]>,
    /// What the clients are told.
    pub words: String,
    pub error: Error,
}

/// The outcome of a request to join.
pub(super) struct JoinOutcome<G> {
    /// All parties of a complete session, in order, and their request. It runs until
    /// [`PendingSessions::ended`].
    pub complete: Option<(Vec<G>, Request)>,
    pub rejected: Vec<Rejection<G>>,
}

impl<G> Rejection<G> {
    /// Rejects one client whose request was read but cannot be granted.
    pub fn refused(client: G, request: &Request, words: &str) -> Self {
        let reason = TransportReason::refused(words);
        let error = Error::transport(request.party, reason);
        let session = Some(request.session);
        Rejection { clients: vec![client], session, words: words.to_string(), error }
    }
}

impl<G> From<Rejection<G>> for JoinOutcome<G> {
    fn from(rejection: Rejection<G>) -> Self {
        JoinOutcome { complete: None, rejected: vec![rejection] }
    }
}

/// A connected client.
pub(super) trait PendingClient {
    /// Returns the address, cut to what one host cannot choose; `None` within a process.
    fn address(&self) -> Option<IpAddr>;
    /// Returns whether it has disconnected, or sends something although it should wait.
    fn has_input(&mut self) -> bool;
}

impl PendingClient for Client {
    fn address(&self) -> Option<IpAddr> {
        self.address
    }

    fn has_input(&mut self) -> bool {
        self.channel.has_input()
    }
}

/// A session whose parties have not all arrived.
struct Waiting<G> {
    since: Instant,
    /// The first party's request.
    request: Request,
    slots: Vec<Option<G>>,
}

impl<G> Waiting<G> {
    /// Returns the parties that have arrived.
    fn admitted(&self) -> impl Iterator<Item = usize> {
        (0..self.slots.len()).filter(|&slot| self.slots[slot].is_some())
    }
}

/// The sessions that wait for parties, and the occupied slots.
pub(super) struct PendingSessions<G> {
    limits: ServerLimits,
    waiting: HashMap<[u8; 32], Waiting<G>>,
    running: usize,
    /// The number of slots in waiting or running sessions.
    taken: usize,
    /// The number of those slots, by key.
    held: HashMap<Fingerprint, usize>,
    ended: HashSet<[u8; 32]>,
    /// The ids of ended sessions, oldest first.
    order: VecDeque<[u8; 32]>,
}

impl<G: PendingClient> PendingSessions<G> {
    pub fn new(limits: ServerLimits) -> Self {
        let join_timeout = limits.join_timeout.min(LONGEST_TIMEOUT);
        PendingSessions {
            limits: ServerLimits { join_timeout, ..limits },
            waiting: HashMap::new(),
            running: 0,
            taken: 0,
            held: HashMap::new(),
            ended: HashSet::new(),
            order: VecDeque::new(),
        }
    }

    /// Gives a client its slot. The caller has checked that the request assigns this slot to the
    /// client.
    ///
    /// Check: dealer | no id of the last 65 536 sessions is dealt to again; every dealing has its
    /// own Δ | replayed requests | –
    pub fn arrive(&mut self, client: G, request: Request, now: Instant) -> JoinOutcome<G> {
        let refused = |client, words| Rejection::refused(client, &request, words).into();
        if self.ended.contains(&request.session) {
            return refused(client, "the dealer had this session before");
        }
        let key = request.keys.get(usize::from(request.party)).copied();
        if key.and_then(|key| self.held.get(&key)).is_some_and(|n| *n >= self.limits.per_key) {
            return refused(client, "this key has as many sessions at the dealer as it may have");
        }
        if request.parties() > self.limits.slots {
            return refused(client, "the session has more parties than the dealer has slots");
        }
        let mut outcome = JoinOutcome { complete: None, rejected: Vec::new() };
        if let Some(waiting) = self.waiting.get(&request.session) {
            // Somebody without a slot in a session must not end it.
            if waiting.request.keys.get(usize::from(request.party)) != key.as_ref() {
                return refused(client, "the session names another key for this party");
            }
            if let Some(difference) = waiting.request.difference(&request) {
                let mut rejection = self.disband(&request.session, difference.words());
                rejection.clients.push(client);
                rejection.error = difference.error();
                outcome.rejected.push(rejection);
                return outcome;
            }
            if waiting.slots[usize::from(request.party)].is_some() {
                return refused(client, "this party is here already");
            }
        }
        outcome.rejected = self.make_room(&request.session, client.address());
        if self.taken >= self.limits.slots {
            let refused = Rejection::refused(client, &request, "all slots at the dealer are taken");
            outcome.rejected.push(refused);
            return outcome;
        }
        self.waiting.entry(request.session).or_insert_with(|| Waiting {
            since: now,
            request: request.clone(),
            slots: (0..request.parties()).map(|_| None).collect(),
        });
        self.slot(client, &request, key, outcome)
    }

    fn slot(
        &mut self,
        client: G,
        request: &Request,
        key: Option<Fingerprint>,
        mut outcome: JoinOutcome<G>,
    ) -> JoinOutcome<G> {
        if let Some(key) = key {
            *self.held.entry(key).or_default() += 1;
        }
        self.taken += 1;
        let Some(waiting) = self.waiting.get_mut(&request.session) else {
            return outcome;
        };
        waiting.slots[usize::from(request.party)] = Some(client);
        if waiting.slots.iter().any(Option::is_none) {
            return outcome;
        }
        if self.running >= self.limits.running {
            let words = "the dealer is busy".to_string();
            outcome.rejected.push(self.disband(&request.session, words));
            return outcome;
        }
        if let Some(waiting) = self.waiting.remove(&request.session) {
            self.remember(request.session);
            self.running += 1;
            outcome.complete =
                Some((waiting.slots.into_iter().flatten().collect(), waiting.request));
        }
        outcome
    }

    /// Records that a complete session has ended.
    pub fn ended(&mut self, request: &Request) {
        self.running -= 1;
        self.taken -= request.parties();
        request.keys.iter().for_each(|key| self.release(key));
    }

    /// Returns the number of running sessions.
    pub fn running(&self) -> usize {
        self.running
    }

    /// Returns when the next session will have waited too long, if there is one.
    pub fn deadline(&self) -> Option<Instant> {
        self.waiting.values().map(|waiting| waiting.since + self.limits.join_timeout).min()
    }

    /// Ends and returns the sessions that have waited too long.
    pub fn overdue(&mut self, now: Instant) -> Vec<Rejection<G>> {
        let join_timeout = self.limits.join_timeout;
        self.disband_where(
            |waiting| now.saturating_duration_since(waiting.since) >= join_timeout,
            |waiting| missing(&waiting.slots, join_timeout),
        )
    }

    /// Ends and returns all waiting sessions, with these words for them.
    pub fn clear(&mut self, words: &str) -> Vec<Rejection<G>> {
        self.disband_where(|_| true, |_| words.to_string())
    }

    fn disband_where(
        &mut self,
        which: impl Fn(&Waiting<G>) -> bool,
        words: impl Fn(&Waiting<G>) -> String,
    ) -> Vec<Rejection<G>> {
        let all = self.waiting.iter().filter(|(_, waiting)| which(waiting));
        let ended: Vec<_> = all.map(|(session, waiting)| (*session, words(waiting))).collect();
        ended.into_iter().map(|(session, words)| self.disband(&session, words)).collect()
    }

    /// Ends and returns sessions in which a party disconnected while it waited for the others.
    pub fn left(&mut self) -> Vec<Rejection<G>> {
        let stirring = |waiting: &mut Waiting<G>| {
            let has_input =
                |slot: &mut Option<G>| slot.as_mut().is_some_and(PendingClient::has_input);
            waiting.slots.iter_mut().position(has_input)
        };
        let all = self.waiting.iter_mut();
        let gone: Vec<_> =
            all.filter_map(|(session, waiting)| Some((*session, stirring(waiting)?))).collect();
        let disband = |(session, party): ([u8; 32], usize)| {
            let words = format!("party {party} left the dealer before all others had come");
            let mut rejection = self.disband(&session, words);
            rejection.error = Error::transport(party as u16, TransportReason::Closed);
            rejection
        };
        gone.into_iter().map(disband).collect()
    }

    /// Makes sessions give way to a client of `session` from this address until there is room for
    /// it.
    fn make_room(&mut self, session: &[u8; 32], from: Option<IpAddr>) -> Vec<Rejection<G>> {
        let mut rejected = Vec::new();
        let new = !self.waiting.contains_key(session);
        if new && self.waiting.len() >= self.limits.waiting {
            let words = "the dealer has too many sessions waiting";
            rejected.extend(self.displace(session, |_| true, words));
        }
        let of_its_own = |address: &Option<IpAddr>| address.is_some() && *address == from;
        let waiting = self.waiting.values().flat_map(|waiting| waiting.slots.iter().flatten());
        if waiting.filter(|client| of_its_own(&client.address())).count() >= self.limits.per_address
        {
            let words = "too many parties from this session's address wait at the dealer";
            rejected.extend(self.displace(session, of_its_own, words));
        }
        if self.taken >= self.limits.slots {
            let words = "too many parties wait at the dealer";
            rejected.extend(self.displace(session, |_| true, words));
        }
        rejected
    }

    /// Ends a session other than `session`, with a party from the one of `which` waiting addresses
    /// that has the most.
    fn displace(
        &mut self,
        session: &[u8; 32],
        which: impl Fn(&Option<IpAddr>) -> bool,
        words: &str,
    ) -> Option<Rejection<G>> {
        let others = self.waiting.iter().filter(|(other, _)| *other != session);
        let slots = others.flat_map(|(session, waiting)| {
            waiting.slots.iter().flatten().map(|client| (*session, client.address()))
        });
        let (sessions, addresses): (Vec<_>, Vec<_>) =
            slots.filter(|(_, address)| which(address)).unzip();
        let displaced = *sessions.get(displaced_by_newcomer(&addresses))?;
        Some(self.disband(&displaced, words.to_string()))
    }

    /// Ends a waiting session.
    fn disband(&mut self, session: &[u8; 32], words: String) -> Rejection<G> {
        let mut clients = Vec::new();
        if let Some(waiting) = self.waiting.remove(session) {
            self.taken -= waiting.admitted().count();
            for key in waiting.admitted().filter_map(|slot| waiting.request.keys.get(slot)) {
                self.release(key);
            }
            clients.extend(waiting.slots.into_iter().flatten());
        }
        self.remember(*session);
        let reason = TransportReason::refused(&*words);
        let error = Error::Transport { party: None, reason };
        Rejection { clients, session: Some(*session), words, error }
    }

    fn release(&mut self, key: &Fingerprint) {
        if let Some(held) = self.held.get_mut(key) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(key);
            }
        }
    }

    fn remember(&mut self, session: [u8; 32]) {
        if self.ended.insert(session) {
            self.order.push_back(session);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
        }
    }
}

/// Returns a text that names the missing parties.
fn missing<G>(slots: &[Option<G>], join_timeout: Duration) -> String {
    const NAMED: usize = 8;
    let absent: Vec<_> = (0..slots.len()).filter(|&slot| slots[slot].is_none()).collect();
    let mut names: Vec<_> = absent.iter().take(NAMED).map(usize::to_string).collect();
    if absent.len() > NAMED {
        names.push(format!("{} more", absent.len() - NAMED));
    }
    let (names, seconds) = (names.join(", "), join_timeout.as_secs_f64());
    format!("not all parties came to the dealer within {seconds} s; missing: {names}")
}
