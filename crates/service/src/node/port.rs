//! Connections: one port for everything. A peer is known by its certificate.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use symbolon::circuit::PartyId;
use symbolon::{
    AcceptedKey, CancelHandle, Channel, Error, Listener, NoThread, Result, TransportReason,
};
use symbolon_transport::{AdmissionPolicy, Client, Meter, Options, Peer, connect_lanes};

use super::Shared;
use super::state::jittered;
use crate::config::{Function, Parties};
use crate::wire::{Opening, Purpose, Tag, messages};

/// How long one attempt to reach a peer may take.
const ATTEMPT: Duration = Duration::from_secs(5);

/// How long the other lanes of a session, or the second control connection, may take.
const TOGETHER: Duration = Duration::from_secs(20);

/// The pause after a lost connection: the initial and the maximum value.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// How long a wait lasts before it looks whether the node stops.
const POLL: Duration = Duration::from_millis(100);

/// The maximum number of connections whose opening is awaited, and of those that nobody has claimed
/// yet for each peer.
const MAX_OPENING: usize = 64;
const MAX_UNCLAIMED: usize = 1024;

/// Connections that came in and belong to something that needs more of them.
#[derive(Default)]
pub(super) struct Unclaimed {
    lanes: Mutex<HashMap<(PartyId, Tag), Vec<Came>>>,
    came: Condvar,
    opening: AtomicUsize,
}

struct Came {
    purpose: Purpose,
    channel: Channel,
    at: Instant,
}

impl Unclaimed {
    /// Adds a connection, unless the peer has too many.
    fn add(&self, party: PartyId, opening: Opening, channel: Channel) {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.retain(|_, all| {
            all.retain(|came| came.at.elapsed() < TOGETHER);
            !all.is_empty()
        });
        let theirs = lanes.iter().filter(|((from, _), _)| *from == party);
        if theirs.map(|(_, all)| all.len()).sum::<usize>() < MAX_UNCLAIMED {
            let came = Came { purpose: opening.purpose, channel, at: Instant::now() };
            lanes.entry((party, opening.tag)).or_default().push(came);
            self.came.notify_all();
        }
    }

    /// Takes the connections with these purposes, in this order, as soon as all are there.
    fn take(
        &self,
        (party, tag): (PartyId, Tag),
        purposes: &[Purpose],
        within: Duration,
        cancel: &CancelHandle,
    ) -> Result<Vec<Channel>> {
        let until = Instant::now() + within;
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let all = lanes.get(&(party, tag)).map_or(&[][..], Vec::as_slice);
            let has = |purpose: &Purpose| all.iter().any(|came| came.purpose == *purpose);
            if purposes.iter().all(has) {
                let mut all = lanes.remove(&(party, tag)).unwrap_or_default();
                let mut of = |purpose: &Purpose| {
                    let place = all.iter().position(|came| came.purpose == *purpose)?;
                    Some(all.swap_remove(place).channel)
                };
                return Ok(purposes.iter().filter_map(&mut of).collect());
            }
            cancel.check()?;
            if Instant::now() >= until {
                return Err(Error::transport(party, TransportReason::TimedOut(within)));
            }
            let waited = self.came.wait_timeout(lanes, POLL);
            lanes = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Returns what a node connects with.
pub(super) fn options(me: PartyId, group: &Parties) -> Result<Options> {
    let identities = group.identities.iter().map(|identity| &**identity);
    let mut options = Options::tls_of_several(me, identities, Meter::new())?;
    options.connect_timeout = ATTEMPT;
    options.timeout = group.timeout;
    Ok(options)
}

/// Returns how many keys are accepted now.
fn accepted(keys: &[AcceptedKey]) -> usize {
    let now = SystemTime::now();
    keys.iter().filter(|key| key.is_accepted_at(now)).count()
}

/// Accepts connections until the node stops.
pub(super) fn accept(shared: &Arc<Shared>, mut listener: Listener) {
    let mut told = None;
    while !shared.stopped.is_cancelled() {
        let done = accept_as_told(shared, &mut listener, &mut told);
        if let Err(error) = done {
            tracing::error!(target: crate::LOG, %error, "the port is gone");
            return;
        }
    }
}

/// Accepts connections until the settings change, or a key's time is over: peers are told which of
/// their keys are accepted.
fn accept_as_told(
    shared: &Arc<Shared>,
    listener: &mut Listener,
    told: &mut Option<TransportReason>,
) -> Result<()> {
    let group = shared.group();
    let keys = group.peer_keys();
    let valid = accepted(&keys);
    let options = options(shared.me, &group)?;
    let mut incoming = listener.incoming(&options, &AdmissionPolicy::Accepted(keys.clone()))?;
    let same = || Arc::ptr_eq(&group, &shared.group()) && accepted(&keys) == valid;
    while !shared.stopped.is_cancelled() && same() {
        if let Some(client) = incoming.next(POLL)? {
            welcome(shared, client);
        }
        if let Some(refused) = incoming.turned_away().and_then(|turned| turned.refused) {
            tracing::warn!(target: crate::LOG, reason = refused, "cannot accept connections");
        }
        if let Some(reason) = incoming.refused_key().filter(|reason| Some(reason) != told.as_ref())
        {
            shared.refused_key(&group, &reason);
            *told = Some(reason);
        }
    }
    Ok(())
}

/// Finds out what a connection is for, in its own thread.
fn welcome(shared: &Arc<Shared>, client: Client) {
    let group = shared.group();
    let Some(party) = client.key.and_then(|key| group.of_key(key)) else { return };
    if group.dials(party) || client.channel.peer() != party {
        return;
    }
    let opening = shared.unclaimed.opening.fetch_add(1, Ordering::SeqCst);
    let own = shared.clone();
    let work = move || {
        let mut channel = client.channel;
        channel.set_timeout(ATTEMPT);
        own.stopped.watch(&channel);
        let opening = channel.recv_array::<{ Opening::BYTES }>(messages::OPENING);
        channel.set_timeout(group.timeout);
        own.unclaimed.opening.fetch_sub(1, Ordering::SeqCst);
        let Some(opening) = opening.ok().and_then(|bytes| Opening::decode(&bytes)) else { return };
        own.unclaimed.add(party, opening, channel);
        if opening.purpose == Purpose::FromDialler {
            let both = [Purpose::ToDialler, Purpose::FromDialler];
            let key = (party, opening.tag);
            if let Ok(mut pair) = own.unclaimed.take(key, &both, ATTEMPT, &own.stopped)
                && let (Some(theirs), Some(ours)) = (pair.pop(), pair.pop())
            {
                own.converse(party, ours, theirs);
            }
        }
    };
    let started = (opening < MAX_OPENING)
        .then(|| std::thread::Builder::new().name("symbolon-peer".to_string()).spawn(work));
    if !matches!(started, Some(Ok(_))) {
        shared.unclaimed.opening.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Keeps control connections to a peer that this party dials, until the node stops.
pub(super) fn dial(shared: &Arc<Shared>, party: PartyId) {
    let mut pause = PAUSE.0;
    while !shared.stopped.is_cancelled() {
        let begun = Instant::now();
        let dialled = Tag::draw().and_then(|tag| {
            let mut ours = shared.connect(party, Purpose::FromDialler, tag, &shared.stopped)?;
            let theirs = shared.connect(party, Purpose::ToDialler, tag, &shared.stopped)?;
            // The peer sends nothing here. Between the two it may have ended and come back.
            match ours.has_input() {
                true => Err(Error::transport(party, TransportReason::Closed)),
                false => Ok((ours, theirs)),
            }
        });
        match dialled {
            Ok((ours, theirs)) => shared.converse(party, ours, theirs),
            Err(error) => shared.is_away(party, &error),
        }
        if begun.elapsed() > PAUSE.1 {
            pause = PAUSE.0;
        }
        let until = Instant::now() + jittered(pause);
        while Instant::now() < until && !shared.stopped.is_cancelled() {
            std::thread::sleep(POLL.min(until.saturating_duration_since(Instant::now())));
        }
        pause = (pause * 2).min(PAUSE.1);
    }
}

impl Shared {
    /// Dials a peer, and says what for.
    fn connect(
        &self,
        party: PartyId,
        purpose: Purpose,
        tag: Tag,
        cancel: &CancelHandle,
    ) -> Result<Channel> {
        let group = self.group();
        let listed = &group.all[usize::from(party)];
        let address = listed.address.as_deref();
        let address =
            address.ok_or_else(|| Error::Internal("a peer without an address".to_string()))?;
        let mut options = options(self.me, &group)?;
        options.cancel = cancel.clone();
        let peer = Peer { party, keys: listed.keys.clone() };
        let mut channel = connect_lanes(&options, address, &peer, 1)?
            .pop()
            .ok_or_else(|| Error::Internal("no channel".to_string()))?;
        channel.send(messages::OPENING, &Opening { purpose, tag }.encode())?;
        channel.flush()?;
        Ok(channel)
    }

    /// Returns the channels of a session, by lane and peer.
    pub(super) fn channels(
        &self,
        tag: Tag,
        spec: &Function,
        cancel: &CancelHandle,
    ) -> Result<Vec<Vec<Channel>>> {
        let lanes = spec.config.params.lanes();
        let purposes: Vec<_> = (0..lanes as u16).map(Purpose::Lane).collect();
        let mut by_lane: Vec<Vec<Channel>> = (0..lanes).map(|_| Vec::new()).collect();
        // Those that are dialled first: everybody may be waiting for them.
        let group = self.group();
        let dials = |party: &PartyId| group.dials(*party);
        let peers: Vec<_> = PartyId::all(self.parties()).filter(|p| *p != self.me).collect();
        let mut dialled = HashMap::new();
        for party in peers.iter().copied().filter(dials) {
            let connect = |purpose: &Purpose| self.connect(party, *purpose, tag, cancel);
            let channels = purposes.iter().map(connect).collect::<Result<Vec<_>>>()?;
            dialled.insert(party, channels);
        }
        for party in peers {
            let channels = match dialled.remove(&party) {
                Some(channels) => channels,
                None => self.unclaimed.take((party, tag), &purposes, TOGETHER, cancel)?,
            };
            for (lane, channel) in by_lane.iter_mut().zip(channels) {
                lane.push(channel);
            }
        }
        Ok(by_lane)
    }

    /// Starts the threads that accept and dial.
    pub(super) fn start_port(self: &Arc<Self>, listener: Option<Listener>) -> Result<()> {
        let start = |name: &str, work: Box<dyn FnOnce() + Send>| -> Result<()> {
            let thread = std::thread::Builder::new().name(format!("symbolon-{name}")).spawn(work);
            self.keep_thread(thread.map_err(NoThread)?);
            Ok(())
        };
        if let Some(listener) = listener {
            let shared = self.clone();
            start("accept", Box::new(move || accept(&shared, listener)))?;
        }
        for party in PartyId::all(self.parties()) {
            if party != self.me && self.group().dials(party) {
                let shared = self.clone();
                start("dial", Box::new(move || dial(&shared, party)))?;
            }
        }
        Ok(())
    }
}
