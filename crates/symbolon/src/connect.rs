//! How a party reaches the others: sockets, TLS, memory, or channels that the caller made.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};

use symbolon_circuit::PartyId;
use symbolon_transport::{
    CANCEL_POLL, CancelHandle, Channel, Error, Fingerprint, Identity, Listener, Meter, NoThread,
    Options, Peer, Result, SimulatedLink, check_address, connect_lanes, memory_lanes,
};

use crate::params::connections;
use crate::report::IDLE;
use crate::terms::{Terms, check_threads};

/// How the two sides of a two-party session meet: one listens, the other dials. Either may start
/// first.
#[derive(Debug)]
pub enum Endpoint {
    /// Waits for the peer on a port that is already open.
    Listen(Listener),
    /// Dials the peer at `HOST:PORT` until it answers.
    Dial(String),
}

impl Endpoint {
    /// Opens a port at `HOST:PORT`; port 0 picks a free one.
    ///
    /// # Errors
    /// `InvalidInput` if the address does not belong to this machine or the port is taken.
    pub fn listen(address: &str) -> Result<Endpoint> {
        Ok(Endpoint::Listen(Listener::bind(address)?))
    }

    /// Returns an endpoint that dials the peer at `HOST:PORT`.
    pub fn dial(address: impl Into<String>) -> Endpoint {
        Endpoint::Dial(address.into())
    }

    /// Returns the listening address, with the actual port; `None` for a dialling side.
    pub fn local_address(&self) -> Option<std::net::SocketAddr> {
        match self {
            Endpoint::Listen(listener) => Some(listener.local_addr()),
            Endpoint::Dial(_) => None,
        }
    }
}

/// What the others must know about a party in a mesh: where it listens, and its key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerInfo {
    /// `HOST:PORT` at which the parties with higher numbers dial it. The last party needs none.
    pub address: Option<String>,
    /// The fingerprint of its key, for TLS.
    pub fingerprint: Option<Fingerprint>,
}

/// How a party reaches its peers.
#[derive(Debug)]
pub struct Transport(pub(crate) TransportKind);

#[derive(Debug)]
pub(crate) enum TransportKind {
    Pair {
        meeting: Endpoint,
        identity: Option<Arc<Identity>>,
        pin: Option<Fingerprint>,
    },
    Mesh {
        door: Option<Listener>,
        identity: Option<Arc<Identity>>,
        contacts: Vec<PeerInfo>,
    },
    /// `lanes[l][p]` is lane l's channel to the peer at index p, peers in ascending order.
    Channels {
        lanes: Vec<Vec<Channel>>,
        meter: Arc<Meter>,
        /// By what stored items name each party, by party number.
        names: Vec<Option<String>>,
    },
}

impl Transport {
    /// Uses TLS 1.3 with both sides' keys pinned: this party proves `identity`, and the peer must
    /// prove the key with the fingerprint `peer_fingerprint` (as [`Identity::fingerprint`] returns
    /// it there). Use this for everything between two machines.
    pub fn tls(meeting: Endpoint, identity: Identity, peer_fingerprint: Fingerprint) -> Transport {
        let (identity, pin) = (Some(Arc::new(identity)), Some(peer_fingerprint));
        Transport(TransportKind::Pair { meeting, identity, pin })
    }

    /// Uses TCP without encryption or authentication: anybody on the network path can read the
    /// messages and impersonate either party, and the protocols' guarantees assume that nobody
    /// does. Use it for tests, or inside a tunnel that protects like TLS.
    pub fn insecure_plain_tcp(meeting: Endpoint) -> Transport {
        Transport(TransportKind::Pair { meeting, identity: None, pin: None })
    }

    /// Uses TLS 1.3 with all keys pinned, among as many parties as there are `contacts`. Entry `p`
    /// describes party p.
    ///
    /// Of any two parties the one with the lower number listens and the other dials; they may start
    /// in any order. `door` is this party's port, at the address in its contact; the last party has
    /// none. The rest of this party's own contact is ignored.
    pub fn tls_mesh(
        door: Option<Listener>,
        identity: Identity,
        contacts: Vec<PeerInfo>,
    ) -> Transport {
        Transport(TransportKind::Mesh { door, identity: Some(Arc::new(identity)), contacts })
    }

    /// As [`Transport::tls_mesh`], but without encryption or authentication. See
    /// [`Transport::insecure_plain_tcp`] for the consequences.
    pub fn insecure_plain_tcp_mesh(door: Option<Listener>, contacts: Vec<PeerInfo>) -> Transport {
        Transport(TransportKind::Mesh { door, identity: None, contacts })
    }

    /// Returns both ends of a connection inside this process, party 0's and party 1's, with the
    /// lanes that sessions with this many threads need, over a simulated link if one is given.
    ///
    /// # Errors
    /// `InvalidInput` if `threads` is not between 1 and [`MAX_THREADS`](crate::MAX_THREADS).
    pub fn memory(threads: usize, link: Option<SimulatedLink>) -> Result<(Transport, Transport)> {
        let mut both = Transport::memory_mesh(2, threads, link)?.into_iter();
        match (both.next(), both.next()) {
            (Some(zero), Some(one)) => Ok((zero, one)),
            _ => Err(Error::internal("a mesh of two without two ends")),
        }
    }

    /// Returns the ends of the connections between all pairs of `parties` parties inside this
    /// process, by party number; otherwise as [`Transport::memory`].
    ///
    /// ```
    /// use symbolon::{Config, Inputs, Result, Session, Transport, circuit::builtin};
    ///
    /// # fn main() -> Result<()> {
    /// let auction = builtin::by_name("auction:3x16").expect("a built-in circuit");
    /// let bids = [120, 130, 95];
    /// let party = |number: u16, transport| -> Result<_> {
    ///     let place = usize::from(number);
    ///     let inputs = Inputs::builder(&auction, number).uint(place, bids[place])?.finish()?;
    ///     Session::connect(Config::new(number, transport), &auction)?.evaluate(&inputs)
    /// };
    /// let party = &party;
    /// let learnt: Vec<_> = std::thread::scope(|scope| {
    ///     let mesh = Transport::memory_mesh(3, 1, None)?;
    ///     let start = |(number, transport)| scope.spawn(move || party(number, transport));
    ///     let threads: Vec<_> = (0..3).zip(mesh).map(start).collect();
    ///     threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Result<_>>()
    /// })?;
    /// // All learn who wins; what it pays, the winner alone.
    /// assert_eq!(learnt[2].get("winner").and_then(|output| output.uint()), Some(1));
    /// assert_eq!(learnt[1].get("price_1").and_then(|output| output.uint()), Some(120));
    /// assert_eq!(learnt[0].get("price_1").and_then(|output| output.uint()), None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` if `threads` is not between 1 and [`MAX_THREADS`](crate::MAX_THREADS), or
    /// there are fewer than two parties.
    pub fn memory_mesh(
        parties: u16,
        threads: usize,
        link: Option<SimulatedLink>,
    ) -> Result<Vec<Transport>> {
        check_threads(threads)?;
        if parties < 2 {
            return Err(Error::invalid_input("a session needs at least two parties"));
        }
        let meters: Vec<Arc<Meter>> = (0..parties).map(|_| idle_meter()).collect();
        let meter = |party: u16| (party, meters[usize::from(party)].clone());
        let mut peers: Vec<Vec<Vec<Channel>>> = (0..parties).map(|_| Vec::new()).collect();
        // In this order, every party gets its channels by ascending peer number.
        for a in 0..parties {
            for b in a + 1..parties {
                let (low, high) = memory_lanes(meter(a), meter(b), connections(threads), link)?;
                peers[usize::from(a)].push(low);
                peers[usize::from(b)].push(high);
            }
        }
        let ends = peers.into_iter().zip(meters);
        Ok(ends.map(|(peers, meter)| Transport::mesh_channels(by_lane(peers), meter)).collect())
    }

    /// Uses the caller's channels to the one peer, in the same order of lanes on both sides, and
    /// the meter that they share. One thread needs one lane; more threads need one lane more than
    /// threads.
    pub fn channels(lanes: Vec<Channel>, meter: Arc<Meter>) -> Transport {
        Transport::mesh_channels(lanes.into_iter().map(|lane| vec![lane]).collect(), meter)
    }

    /// Uses the caller's channels and the meter that they share. `lanes[l][p]` is lane l's channel
    /// to the peer at index p, peers in ascending order.
    pub fn mesh_channels(lanes: Vec<Vec<Channel>>, meter: Arc<Meter>) -> Transport {
        let parties = lanes.first().map_or(0, Vec::len) + 1;
        Transport(TransportKind::Channels { lanes, meter, names: vec![None; parties] })
    }

    /// Says by what stored material names each party, by party number, for the caller's channels:
    /// for a service, the [relation](crate::stored::Relation) with it. Without a name, material
    /// names a peer by its number alone. Other transports name peers by their keys.
    pub fn known_as(mut self, by_party: Vec<Option<String>>) -> Transport {
        if let TransportKind::Channels { names, .. } = &mut self.0 {
            names.iter_mut().zip(by_party).for_each(|(name, known)| *name = known);
        }
        self
    }

    /// Returns the number of parties, including this one.
    pub fn parties(&self) -> usize {
        match &self.0 {
            TransportKind::Pair { .. } => 2,
            TransportKind::Mesh { contacts, .. } => contacts.len(),
            TransportKind::Channels { lanes, .. } => lanes.first().map_or(0, Vec::len) + 1,
        }
    }

    /// Returns the key that this party proves to the others, if any.
    pub(crate) fn identity(&self) -> Option<&Arc<Identity>> {
        match &self.0 {
            TransportKind::Pair { identity, .. } | TransportKind::Mesh { identity, .. } => {
                identity.as_ref()
            }
            TransportKind::Channels { .. } => None,
        }
    }

    /// Returns the key that each party must prove, by party number, as seen by `party`.
    pub(crate) fn pins(&self, party: PartyId) -> Vec<Option<Fingerprint>> {
        match &self.0 {
            TransportKind::Pair { pin, .. } => {
                let pin_of = |peer: PartyId| pin.filter(|_| peer != party);
                PartyId::all(2_usize).map(pin_of).collect()
            }
            TransportKind::Mesh { identity, contacts, .. } => {
                let known = |contact: &PeerInfo| contact.fingerprint.filter(|_| identity.is_some());
                contacts.iter().map(known).collect()
            }
            TransportKind::Channels { .. } => vec![None; self.parties()],
        }
    }

    /// Returns by what stored items name each party, by party number, as seen by `party`.
    pub(crate) fn peer_names(&self, party: PartyId) -> Vec<Option<String>> {
        match &self.0 {
            TransportKind::Channels { names, .. } => names.clone(),
            _ => {
                let pins = self.pins(party).into_iter();
                pins.map(|pin| pin.map(|pin| pin.to_string())).collect()
            }
        }
    }

    /// Returns two parties that would prove the same key, if any; one of them may be `party`
    /// itself.
    ///
    /// Check: connection | all parties' keys differ | one party in two roles | –
    fn one_key_twice(&self, party: PartyId) -> Option<(PartyId, PartyId)> {
        let own = self.identity()?.fingerprint();
        let mut keys: Vec<Option<Fingerprint>> = self.pins(party);
        if let Some(key) = keys.get_mut(usize::from(party)) {
            *key = Some(own);
        }
        let keys: Vec<(PartyId, Option<Fingerprint>)> =
            PartyId::all(keys.len()).zip(keys).collect();
        let earlier = |place: usize, key: Fingerprint| {
            keys[..place].iter().find(|(_, other)| *other == Some(key)).map(|(party, _)| *party)
        };
        let mut twice = keys
            .iter()
            .enumerate()
            .filter_map(|(place, &(party, key))| earlier(place, key?).map(|other| (other, party)));
        twice.next()
    }

    /// Rejects what cannot work for `party` and `threads`, before anything is sent.
    pub(crate) fn check(&self, party: PartyId, threads: usize) -> Result<()> {
        let refuse = |reason: String| Err(Error::invalid_input(reason));
        if let Some((one, other)) = self.one_key_twice(party) {
            let holder = "its holder would be both of them";
            return refuse(match [one, other].contains(&party) {
                true => format!(
                    "the fingerprint given for party {} is our own: {holder}",
                    if one == party { other } else { one }
                ),
                false => format!("parties {one} and {other} have one key: {holder}"),
            });
        }
        match &self.0 {
            TransportKind::Pair { meeting: Endpoint::Dial(address), .. } => check_address(address)?,
            TransportKind::Pair { meeting: Endpoint::Listen(_), .. } => {}
            TransportKind::Mesh { door, identity, contacts } => {
                let last = usize::from(party) + 1 == contacts.len();
                match door {
                    Some(_) if last => {
                        return refuse(format!("nobody dials party {party}: it needs no port"));
                    }
                    None if !last => {
                        return refuse(format!("party {party} needs a port that later ones dial"));
                    }
                    _ => {}
                }
                for (peer, contact) in contacts.iter().enumerate() {
                    if peer < usize::from(party) {
                        let Some(address) = &contact.address else {
                            return refuse(format!("the address of party {peer} is needed"));
                        };
                        if let Err(Error::InvalidInput(why)) = check_address(address) {
                            return refuse(format!("party {peer}: {why}"));
                        }
                    }
                    let pinned = identity.is_none() || contact.fingerprint.is_some();
                    if peer != usize::from(party) && !pinned {
                        return refuse(format!("the fingerprint of party {peer}'s key is needed"));
                    }
                }
            }
            TransportKind::Channels { lanes, .. } => {
                let needed = connections(threads);
                if lanes.len() != needed {
                    let there = lanes.len();
                    return refuse(format!(
                        "{threads} threads take {needed} lanes, {there} were given"
                    ));
                }
                let others = PartyId::all(self.parties()).filter(|other| *other != party);
                for lane in lanes {
                    let ends = lane.iter().map(|channel| (channel.me(), channel.peer()));
                    if !ends.eq(others.clone().map(|peer| (party, peer))) {
                        return refuse(format!(
                            "the channels are not party {party}'s to each of the others"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns where the listening side of a pair waits; `None` for the dialling side and for other
    /// transports.
    pub fn local_address(&self) -> Option<std::net::SocketAddr> {
        match &self.0 {
            TransportKind::Pair { meeting, .. } => meeting.local_address(),
            _ => None,
        }
    }

    /// Connects to all peers; returns the channels `lanes[l][p]` and the meter that they share.
    pub(crate) fn open(self, terms: &Terms) -> Result<(Vec<Vec<Channel>>, Arc<Meter>)> {
        let (identity, calls) = match self.0 {
            TransportKind::Channels { mut lanes, meter, .. } => {
                for channel in lanes.iter_mut().flatten() {
                    channel.set_timeout(terms.timeout);
                    terms.cancel.watch(channel);
                }
                return Ok((lanes, meter));
            }
            TransportKind::Pair { meeting, identity, pin } => {
                let peer = peer(terms.party.other_of_two(), pin);
                let call = match meeting {
                    Endpoint::Listen(door) => Call::Await(door, vec![peer]),
                    Endpoint::Dial(address) => Call::Dial(address, peer),
                };
                (identity, vec![call])
            }
            TransportKind::Mesh { door, identity, contacts } => {
                (identity, calls(terms, door, contacts))
            }
        };
        let meter = idle_meter();
        let mut options = match &identity {
            Some(identity) => Options::tls(terms.party, identity, meter.clone())?,
            None => Options::insecure_plain_tcp(terms.party, meter.clone()),
        };
        options.connect_timeout = terms.timeout;
        options.timeout = terms.timeout;
        options.link = terms.link;
        options.cancel = terms.cancel.clone();
        options.observer = terms.observer.clone();
        let lanes = by_lane(make_all(calls, &options, connections(terms.params.threads))?);
        lanes.iter().flatten().for_each(|channel| terms.cancel.watch(channel));
        Ok((lanes, meter))
    }
}

/// Returns a meter that does not yet count time for any phase: no phase pays for the wait for
/// peers.
fn idle_meter() -> Arc<Meter> {
    let meter = Meter::new();
    meter.set_phase(IDLE);
    meter
}

fn peer(party: PartyId, pin: Option<Fingerprint>) -> Peer {
    match pin {
        Some(fingerprint) => Peer::pinned(party, fingerprint),
        None => Peer::unauthenticated(party),
    }
}

/// Turns channels by peer and lane into channels by lane and peer.
fn by_lane(peers: Vec<Vec<Channel>>) -> Vec<Vec<Channel>> {
    let mut lanes: Vec<Vec<Channel>> = Vec::new();
    for channels in peers {
        lanes.resize_with(lanes.len().max(channels.len()), Vec::new);
        for (lane, channel) in lanes.iter_mut().zip(channels) {
            lane.push(channel);
        }
    }
    lanes
}

/// One way to reach some of the peers. Each call has its own thread, so no starting order leaves
/// two parties waiting for each other.
enum Call {
    Await(Listener, Vec<Peer>),
    Dial(String, Peer),
}

/// Channels by peer and lane.
type Made = Result<Vec<Vec<Channel>>>;

impl Call {
    fn make(self, options: &Options, lanes: usize) -> Made {
        match self {
            Call::Await(door, peers) => door.accept_parties(options, &peers, lanes),
            Call::Dial(address, peer) => {
                let channels = connect_lanes(options, &address, &peer, lanes);
                Ok(vec![channels.map_err(|error| by_party(error, peer.party))?])
            }
        }
    }

    /// Makes the call in a thread, which passes the channels to `done`.
    fn start(
        self,
        options: Options,
        lanes: usize,
        done: mpsc::Sender<Made>,
    ) -> Result<JoinHandle<()>> {
        let work = move || {
            let made = self.make(&options, lanes);
            if let Err(mpsc::SendError(Ok(mut peers))) = done.send(made) {
                abandon(&mut peers);
            }
        };
        let started = thread::Builder::new().name("symbolon-call".to_string()).spawn(work);
        Ok(started.map_err(NoThread)?)
    }
}

/// Returns calls that dial parties with lower numbers and await those with higher numbers.
fn calls(terms: &Terms, door: Option<Listener>, contacts: Vec<PeerInfo>) -> Vec<Call> {
    let (mut calls, mut awaited) = (Vec::new(), Vec::new());
    for (party, contact) in PartyId::all(contacts.len()).zip(contacts) {
        let peer = peer(party, contact.fingerprint);
        match contact.address {
            _ if party == terms.party => {}
            Some(address) if party < terms.party => calls.push(Call::Dial(address, peer)),
            _ => awaited.push(peer),
        }
    }
    if let Some(door) = door.filter(|_| !awaited.is_empty()) {
        calls.push(Call::Await(door, awaited));
    }
    calls
}

/// Makes all calls at once; returns the channels by peer, in ascending order.
///
/// The first permanent failure ends all calls, and peers that have connected are told so. The port
/// is free again when this returns.
fn make_all(calls: Vec<Call>, options: &Options, lanes: usize) -> Made {
    options.cancel.check()?;
    // The caller's handle may be for more than these calls.
    let ended = CancelHandle::new();
    let mut own = options.clone();
    own.cancel = ended.clone();
    let (done, results) = mpsc::channel();
    let mut listening = Vec::new();
    let started = calls.into_iter().try_for_each(|call| -> Result<()> {
        let listens = matches!(call, Call::Await(..));
        let thread = call.start(own.clone(), lanes, done.clone())?;
        if listens {
            listening.push(thread);
        }
        Ok(())
    });
    drop(done);
    let mut peers = Vec::new();
    let gathered = started.and_then(|()| gather(&results, &options.cancel, &mut peers));
    if let Err(error) = gathered {
        ended.cancel();
        // Only these hold a port. One that dials may be stuck in the look-up of a name.
        listening.into_iter().for_each(|thread| drop(thread.join()));
        peers.extend(results.try_iter().flatten().flatten());
        abandon(&mut peers);
        return Err(error);
    }
    peers.sort_by_key(|channels| channels.first().map(Channel::peer));
    Ok(peers)
}

/// Adds the channels of all calls to `peers`, until one fails or `cancel` is cancelled.
fn gather(
    results: &mpsc::Receiver<Made>,
    cancel: &CancelHandle,
    peers: &mut Vec<Vec<Channel>>,
) -> Result<()> {
    loop {
        match results.recv_timeout(CANCEL_POLL) {
            Ok(made) => peers.extend(made?),
            Err(RecvTimeoutError::Timeout) => cancel.check()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// Tells the connected peers that others could not be reached.
fn abandon(peers: &mut [Vec<Channel>]) {
    for channel in peers.iter_mut().flatten() {
        channel.abort("it could not connect to every party");
    }
}

/// Adds the party's number to a difference with one of several peers.
pub(crate) fn by_party(error: Error, party: PartyId) -> Error {
    match error {
        Error::PeerIncompatible { what, ours, theirs } => {
            Error::incompatible(what, ours, format!("{theirs} (party {party})"))
        }
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(party: u16) -> Options {
        Options::insecure_plain_tcp(party, Meter::new())
    }

    /// Makes the calls of party 1, whose peer 2 never comes. Returns the error if the port is free
    /// then.
    fn failed(options: &Options, zero: &str) -> Error {
        let door = Listener::bind("127.0.0.1:0").unwrap();
        let address = door.local_addr().to_string();
        let dial = Call::Dial(zero.to_string(), Peer::unauthenticated(0));
        let calls = vec![Call::Await(door, vec![Peer::unauthenticated(2)]), dial];
        let error = make_all(calls, options, 1).unwrap_err();
        Listener::bind(&address).expect("the port is free");
        error
    }

    #[test]
    fn a_wait_that_failed_or_was_cancelled_gives_the_port_back() {
        let zero = Listener::bind("127.0.0.1:0").unwrap();
        let address = zero.local_addr().to_string();
        // Party 0 wants another number of lanes.
        let refusing = thread::spawn(move || {
            zero.accept_lanes(&options(0), &Peer::unauthenticated(1), 2).unwrap_err();
            zero
        });
        let error = failed(&options(1), &address);
        assert!(matches!(error, Error::PeerIncompatible { .. }), "{error}");
        // From now on it does not answer.
        let _zero = refusing.join().unwrap();
        let options = options(1);
        let error = thread::scope(|scope| {
            let waiting = scope.spawn(|| failed(&options, &address));
            thread::sleep(CANCEL_POLL / 2);
            options.cancel.cancel();
            waiting.join().unwrap()
        });
        assert_eq!(error, Error::Cancelled);
    }
}
