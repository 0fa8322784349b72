//! What a session is asked to do, checked before anything is sent.

use std::sync::Arc;
use std::time::Duration;

use symbolon_circuit::{Circuit, PartyId, Receivers};
use symbolon_protocols::{Protocol, Rho};
use symbolon_transport::{
    Channel, DEFAULT_TIMEOUT, Error, Fingerprint, Identity, Listener, Meter, Options, Peer, Result,
    SimulatedLink, connect_lanes, memory_lanes,
};

use crate::report::IDLE;

/// The most lanes that a session may have.
pub const MAX_THREADS: usize = 64;

/// Where the two sides meet: one listens, the other dials; either may start first.
#[derive(Debug)]
pub enum Meeting {
    /// Wait for the peer on a port that is already open.
    Listen(Listener),
    /// Dial the peer at `HOST:PORT` until it answers.
    Dial(String),
}

impl Meeting {
    /// Opens a port at `HOST:PORT`; port 0 picks a free one.
    ///
    /// # Errors
    /// `InvalidInput` when the address is not one of this machine's or the port is taken.
    pub fn listen(address: &str) -> Result<Meeting> {
        Ok(Meeting::Listen(Listener::bind(address)?))
    }

    /// Will dial the peer at `HOST:PORT`.
    pub fn dial(address: impl Into<String>) -> Meeting {
        Meeting::Dial(address.into())
    }

    /// The address that is listened on, with the port that was picked; `None` for a dialling side.
    pub fn local_address(&self) -> Option<std::net::SocketAddr> {
        match self {
            Meeting::Listen(listener) => Some(listener.local_addr()),
            Meeting::Dial(_) => None,
        }
    }
}

/// How a party reaches its peer.
#[derive(Debug)]
pub struct Transport(pub(crate) Way);

#[derive(Debug)]
pub(crate) enum Way {
    Tls { meeting: Meeting, identity: Box<Identity>, peer_fingerprint: Fingerprint },
    PlainTcp { meeting: Meeting },
    Channels { lanes: Vec<Channel>, meter: Arc<Meter> },
}

impl Transport {
    /// TLS 1.3 with both sides' keys pinned: this party proves `identity`, and the peer must prove the
    /// key whose fingerprint is `peer_fingerprint` (as [`Identity::fingerprint`] gives it there). For
    /// everything between machines, use this.
    pub fn tls(meeting: Meeting, identity: Identity, peer_fingerprint: Fingerprint) -> Transport {
        Transport(Way::Tls { meeting, identity: Box::new(identity), peer_fingerprint })
    }

    /// TCP without encryption and without authentication: anybody on the way can read the messages
    /// and pose as either party, and the protocols' guarantees assume that nobody does. For tests, or
    /// inside a tunnel that gives what TLS would.
    pub fn insecure_plain_tcp(meeting: Meeting) -> Transport {
        Transport(Way::PlainTcp { meeting })
    }

    /// Both ends of a connection inside this process, party 0's and party 1's, with as many lanes as
    /// the sessions are to have threads, over a simulated link if one is given.
    ///
    /// # Errors
    /// `InvalidInput` when `threads` is not within 1 and [`MAX_THREADS`].
    pub fn memory(threads: usize, link: Option<SimulatedLink>) -> Result<(Transport, Transport)> {
        check_threads(threads)?;
        let (zero, one) = (idle_meter(), idle_meter());
        let (a, b) = memory_lanes((0, zero.clone()), (1, one.clone()), threads, link)?;
        Ok((Transport::channels(a, zero), Transport::channels(b, one)))
    }

    /// Channels that the caller made, all to the one peer, in the order of their lanes on both sides,
    /// and the meter they share.
    pub fn channels(lanes: Vec<Channel>, meter: Arc<Meter>) -> Transport {
        Transport(Way::Channels { lanes, meter })
    }

    /// Reaches the peer: the lanes and the meter they share.
    pub(crate) fn open(self, terms: &Terms) -> Result<(Vec<Channel>, Arc<Meter>)> {
        let meter = idle_meter();
        let (mut options, meeting, pin) = match self.0 {
            Way::Channels { mut lanes, meter } => {
                lanes.iter_mut().for_each(|lane| lane.set_timeout(terms.timeout));
                return Ok((lanes, meter));
            }
            Way::Tls { meeting, identity, peer_fingerprint } => {
                let options = Options::tls(terms.party, &identity, meter.clone())?;
                (options, meeting, Some(peer_fingerprint))
            }
            Way::PlainTcp { meeting } => {
                (Options::insecure_plain_tcp(terms.party, meter.clone()), meeting, None)
            }
        };
        options.connect_timeout = terms.timeout;
        options.timeout = terms.timeout;
        options.link = terms.link;
        let peer = 1 - terms.party;
        let peer = match pin {
            Some(fingerprint) => Peer::pinned(peer, fingerprint),
            None => Peer::unauthenticated(peer),
        };
        let lanes = match meeting {
            Meeting::Listen(listener) => listener.accept_lanes(&options, &peer, terms.threads)?,
            Meeting::Dial(address) => connect_lanes(&options, &address, &peer, terms.threads)?,
        };
        Ok((lanes, meter))
    }
}

/// A meter that does not yet count time for any phase: the wait for the peer is nobody's cost.
fn idle_meter() -> Arc<Meter> {
    let meter = Meter::new();
    meter.set_phase(IDLE);
    meter
}

/// What a session is asked to do: who this party is, how it reaches the peer, and the parameters on
/// which both sides must agree.
#[derive(Debug)]
pub struct Config {
    transport: Transport,
    terms: Terms,
}

/// The parameters of a session.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) party: PartyId,
    pub(crate) protocol: Protocol,
    pub(crate) rho: Rho,
    pub(crate) threads: usize,
    pub(crate) timeout: Duration,
    pub(crate) link: Option<SimulatedLink>,
}

impl Config {
    /// Party `party` over `transport`, with the `wrk` protocol, ρ = 40, one thread, the default
    /// time-out and no simulated link.
    pub fn new(party: PartyId, transport: Transport) -> Config {
        let threads = match &transport.0 {
            Way::Channels { lanes, .. } => lanes.len(),
            _ => 1,
        };
        let terms = Terms {
            party,
            protocol: Protocol::Wrk,
            rho: Rho::Bits40,
            threads,
            timeout: DEFAULT_TIMEOUT,
            link: None,
        };
        Config { transport, terms }
    }

    /// Chooses the protocol.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.terms.protocol = protocol;
        self
    }

    /// Chooses the statistical security parameter.
    pub fn rho(mut self, rho: Rho) -> Self {
        self.terms.rho = rho;
        self
    }

    /// Uses this many connections to the peer side by side, each with a thread; 1 to [`MAX_THREADS`].
    /// Ready-made channels fix the number; setting another is refused by [`Config::check`].
    pub fn threads(mut self, threads: usize) -> Self {
        self.terms.threads = threads;
        self
    }

    /// How long to wait for the peer to appear, and how long it may be silent; more than zero.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.terms.timeout = timeout;
        self
    }

    /// Delays what this party sends as a slower link would. Only for TCP and TLS: channels in memory
    /// are made with their link.
    pub fn link(mut self, link: SimulatedLink) -> Self {
        self.terms.link = Some(link);
        self
    }

    /// Checks the configuration against the circuit; [`Session::connect`](crate::Session::connect)
    /// begins with this.
    ///
    /// # Errors
    /// `InvalidInput` when the party, an input's owner or an output's receiver is none of the
    /// protocol's parties, or a parameter is out of its range.
    pub fn check(&self, circuit: &Circuit) -> Result<()> {
        let Terms { party, protocol, threads, timeout, link, .. } = &self.terms;
        let parties = *protocol.parties().end();
        let refuse = |reason: String| Err(Error::invalid_input(reason));
        if *party >= parties {
            return refuse(format!(
                "{} has {parties} parties, numbered from 0; there is no party {party}",
                protocol.name()
            ));
        }
        if timeout.is_zero() {
            return refuse("the time-out must be longer than nothing".to_string());
        }
        check_threads(*threads)?;
        if let Way::Channels { lanes, .. } = &self.transport.0 {
            if lanes.len() != *threads {
                return refuse(format!("{threads} threads need as many channels"));
            }
            let (me, peer) = (*party, 1 - *party);
            if lanes.iter().any(|lane| (lane.me(), lane.peer()) != (me, peer)) {
                return refuse(format!("the channels are not party {me}'s to party {peer}"));
            }
            if link.is_some() {
                return refuse("channels are made with their simulated link".to_string());
            }
        }
        for input in circuit.inputs() {
            if input.owner >= parties {
                return refuse(format!(
                    "input `{}` belongs to party {}, but {} has {parties} parties",
                    input.name,
                    input.owner,
                    protocol.name()
                ));
            }
        }
        for output in circuit.outputs() {
            if let Receivers::Only(receivers) = &output.to
                && let Some(party) = receivers.iter().find(|party| **party >= parties)
            {
                return refuse(format!(
                    "output `{}` goes to party {party}, but {} has {parties} parties",
                    output.name,
                    protocol.name()
                ));
            }
        }
        Ok(())
    }

    pub(crate) fn into_parts(self) -> (Transport, Terms) {
        (self.transport, self.terms)
    }
}

fn check_threads(threads: usize) -> Result<()> {
    if (1..=MAX_THREADS).contains(&threads) {
        return Ok(());
    }
    Err(Error::invalid_input(format!("threads must be 1 to {MAX_THREADS}, not {threads}")))
}
