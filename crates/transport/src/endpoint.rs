//! What both ends of a connection need: options, and the steps from a socket to a channel.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::Connection;

use symbolon_common::PartyId;

use crate::channel::{DEFAULT_TIMEOUT, LONGEST_TIMEOUT};
use crate::keys::{AcceptedKey, Fingerprint, Identity};
use crate::link::Direction;
use crate::outlet::Outlet;
use crate::preamble::{PREAMBLE, Preamble, Verdict, WIRE_VERSION};
use crate::raw::{Sink, Source};
use crate::tcp::{DeadlineStream, SocketWriter, TcpSource, keep_alive};
use crate::tls::{self, TlsSetup};
use crate::{
    CancelHandle, Channel, Error, Meter, Observer, Result, SimulatedLink, TransportReason,
};

/// How long a connection may take from its acceptance to its preamble.
const OPENING: Duration = Duration::from_secs(5);

/// How long a peer with the wrong key has to read the alert about it.
const GOODBYE: Duration = Duration::from_millis(500);

/// The maximum number of lanes between two parties.
pub(crate) const MAX_LANES: usize = 1024;

/// The expected peer at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its party number.
    pub party: PartyId,
    /// The keys of which it must prove one: at least one for TLS; unused otherwise.
    pub keys: Vec<AcceptedKey>,
}

impl Peer {
    /// Returns a peer that is recognised by its key.
    pub fn pinned(party: impl Into<PartyId>, fingerprint: Fingerprint) -> Self {
        Peer { party: party.into(), keys: vec![fingerprint.into()] }
    }

    /// Returns a peer that cannot be authenticated; for plain TCP only.
    pub fn unauthenticated(party: impl Into<PartyId>) -> Self {
        Peer { party: party.into(), keys: Vec::new() }
    }

    /// Returns whether this key is one of the peer's.
    pub(crate) fn has_key(&self, fingerprint: Fingerprint) -> bool {
        self.keys.iter().any(|key| key.fingerprint == fingerprint)
    }

    fn shares_a_key_with(&self, other: &Peer) -> bool {
        other.keys.iter().any(|key| self.has_key(key.fingerprint))
    }
}

/// How this side connects to all of its peers.
#[derive(Clone)]
pub struct Options {
    pub(crate) me: PartyId,
    pub(crate) tls: Option<TlsSetup>,
    pub(crate) meter: Arc<Meter>,
    /// How long to wait for a peer to appear; 30 s by default.
    pub connect_timeout: Duration,
    /// The time-out of the channels; [`DEFAULT_TIMEOUT`] by default.
    pub timeout: Duration,
    /// A simulated link from this side to each peer; none by default.
    pub link: Option<SimulatedLink>,
    /// Cancels the wait for peers. The caller must [watch](CancelHandle::watch) the channels
    /// itself.
    pub cancel: CancelHandle,
    /// Receives reports about connections; none by default.
    pub observer: Observer,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("me", &self.me)
            .field("tls", &self.tls.as_ref().map(TlsSetup::fingerprints))
            .field("connect_timeout", &self.connect_timeout)
            .field("timeout", &self.timeout)
            .field("link", &self.link)
            .finish_non_exhaustive()
    }
}

impl Options {
    /// Uses TLS 1.3 with mutual authentication by pinned keys, as party `me` with this key.
    ///
    /// # Errors
    /// [`Error::Store`] if the key cannot be used.
    pub fn tls(me: impl Into<PartyId>, identity: &Identity, meter: Arc<Meter>) -> Result<Self> {
        Ok(Self::with(me.into(), Some(TlsSetup::new(identity)?), meter))
    }

    /// As [`Options::tls`], with several keys: each peer is proven the first that it accepts, as
    /// far as it says which. This side says so itself.
    ///
    /// # Errors
    /// [`Error::Store`] if a key cannot be used.
    pub fn tls_of_several<'a>(
        me: impl Into<PartyId>,
        identities: impl IntoIterator<Item = &'a Identity>,
        meter: Arc<Meter>,
    ) -> Result<Self> {
        Ok(Self::with(me.into(), Some(TlsSetup::of_several(identities)?), meter))
    }

    /// Uses plain TCP without encryption or authentication. Anyone who can reach the port or the
    /// wire can act as the peer.
    pub fn insecure_plain_tcp(me: impl Into<PartyId>, meter: Arc<Meter>) -> Self {
        Self::with(me.into(), None, meter)
    }

    fn with(me: PartyId, tls: Option<TlsSetup>, meter: Arc<Meter>) -> Self {
        Options {
            me,
            tls,
            meter,
            connect_timeout: Duration::from_secs(30),
            timeout: DEFAULT_TIMEOUT,
            link: None,
            cancel: CancelHandle::new(),
            observer: Observer::default(),
        }
    }

    /// Returns this side's preamble for a connection with `peer`.
    pub(crate) fn preamble(
        &self,
        peer: PartyId,
        lane: u16,
        lanes: u16,
        token: [u8; 32],
    ) -> Preamble {
        Preamble {
            version: WIRE_VERSION,
            verdict: Verdict::Hello,
            sender: self.me,
            receiver: peer,
            lane,
            lanes,
            token,
        }
    }

    /// Checks the caller's parameters before anything is sent.
    pub(crate) fn check(&self, peers: &[Peer], lanes: usize) -> Result<u16> {
        for (i, peer) in peers.iter().enumerate() {
            if peer.party == self.me {
                let text = format!("party {} cannot be its own peer", self.me);
                return Err(Error::InvalidInput(text));
            }
            if peers[..i].iter().any(|other| other.party == peer.party) {
                return Err(Error::InvalidInput(format!("party {} is named twice", peer.party)));
            }
            let Some(tls) = &self.tls else { continue };
            if peer.keys.is_empty() {
                let text = format!("the fingerprint of party {}'s key is needed", peer.party);
                return Err(Error::InvalidInput(text));
            }
            if peer.keys.iter().any(|key| tls.fingerprints().contains(&key.fingerprint)) {
                let text = format!("the fingerprint given for party {} is our own", peer.party);
                return Err(Error::InvalidInput(text));
            }
            if let Some(other) = peers[..i].iter().find(|other| other.shares_a_key_with(peer)) {
                let (one, other) = (other.party, peer.party);
                let text = format!("parties {one} and {other} have one key");
                return Err(Error::InvalidInput(text));
            }
        }
        match u16::try_from(lanes) {
            Ok(n) if n > 0 && lanes <= MAX_LANES => Ok(n),
            _ => Err(Error::InvalidInput(format!("{lanes} lanes: 1 to {MAX_LANES} are possible"))),
        }
    }

    /// Returns the time by which peers must appear if the wait begins now.
    pub(crate) fn connect_deadline(&self) -> Instant {
        Instant::now() + self.connect_timeout.min(LONGEST_TIMEOUT)
    }

    /// Returns the time by which a connection that begins now must have sent its preamble.
    pub(crate) fn opening_deadline(&self) -> Instant {
        Instant::now() + OPENING.min(self.connect_timeout)
    }

    /// Creates the channel of one lane.
    pub(crate) fn channel(
        &self,
        peer: PartyId,
        opening: Opening,
        link: Option<Direction>,
    ) -> Result<Channel> {
        let Opening { socket, tls, .. } = opening;
        let key = tls.as_ref().and_then(tls::peer_fingerprint);
        let (source, sink, binding): (Box<dyn Source>, Arc<dyn Sink>, _) = match tls {
            Some(connection) => {
                let binding = tls::binding(&connection)?;
                let (source, sink) = tls::split(socket, connection);
                (source, sink, Some(binding))
            }
            None => {
                let writer = SocketWriter::new(socket);
                (Box::new(TcpSource::new(writer.reader())), Arc::new(writer), None)
            }
        };
        let outlet = Outlet::threaded(sink, link)?;
        let meter = self.meter.clone();
        let mut channel = Channel::new((self.me, peer), source, outlet, meter, binding);
        channel.set_peer_key(key);
        channel.set_timeout(self.timeout);
        Ok(channel)
    }
}

/// A connection that is still being opened.
pub(crate) struct Opening {
    pub(crate) socket: TcpStream,
    pub(crate) tls: Option<Connection>,
    /// Cancels every wait for the other side.
    cancel: CancelHandle,
}

impl Opening {
    /// Prepares a socket, and runs the TLS handshake if TLS is used.
    pub(crate) fn begin(
        socket: TcpStream,
        tls: Option<Connection>,
        cancel: CancelHandle,
        deadline: Instant,
    ) -> std::result::Result<Self, TransportReason> {
        let _ = socket.set_nodelay(true);
        keep_alive(&socket);
        let mut opening = Opening { socket, tls, cancel };
        if let Some(connection) = &mut opening.tls {
            let mut stream = DeadlineStream::new(&opening.socket, deadline, &opening.cancel);
            if let Err(reason) = tls::shake_hands(connection, &mut stream, OPENING) {
                if matches!(
                    reason,
                    TransportReason::WrongKey { .. } | TransportReason::KeyExpired { .. }
                ) {
                    // If the socket were closed at once with unread bytes, the alert might be lost.
                    let writer = SocketWriter::new(opening.socket);
                    writer.close();
                    writer.linger(GOODBYE, GOODBYE);
                }
                return Err(reason);
            }
        }
        Ok(opening)
    }

    /// Whether the other side has closed the connection and sent nothing more before that.
    pub(crate) fn is_closed(&self) -> bool {
        let peeked = self.socket.set_nonblocking(true).and_then(|()| self.socket.peek(&mut [0]));
        let blocking = self.socket.set_nonblocking(false);
        match peeked {
            Ok(bytes) => bytes == 0 || blocking.is_err(),
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        }
    }

    /// Sends a preamble.
    pub(crate) fn send(
        &mut self,
        preamble: &Preamble,
        deadline: Instant,
    ) -> std::result::Result<(), TransportReason> {
        let bytes = preamble.encode();
        let mut stream = DeadlineStream::new(&self.socket, deadline, &self.cancel);
        let written = match &mut self.tls {
            None => stream.write_all(&bytes),
            Some(connection) => connection.writer().write_all(&bytes).and_then(|()| {
                while connection.wants_write() {
                    connection.write_tls(&mut stream)?;
                }
                Ok(())
            }),
        };
        written.map_err(|e| tls::io_reason(&e, OPENING))
    }

    /// Receives a preamble.
    pub(crate) fn receive(
        &mut self,
        deadline: Instant,
    ) -> std::result::Result<Preamble, TransportReason> {
        let mut bytes = [0; PREAMBLE];
        let mut stream = DeadlineStream::new(&self.socket, deadline, &self.cancel);
        let read = match &mut self.tls {
            None => stream.read_exact(&mut bytes),
            Some(connection) => read_tls(connection, &mut stream, &mut bytes),
        };
        read.map_err(|e| tls::io_reason(&e, OPENING))?;
        Preamble::decode(&bytes).map_err(|e| TransportReason::refused(e.to_string()))
    }
}

fn read_tls(
    connection: &mut Connection,
    stream: &mut DeadlineStream<'_>,
    mut buf: &mut [u8],
) -> std::io::Result<()> {
    use std::io::ErrorKind;
    while !buf.is_empty() {
        match connection.reader().read(buf) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(n) => buf = &mut buf[n..],
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                if connection.read_tls(stream)? == 0 {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                connection.process_new_packets().map_err(std::io::Error::other)?;
            }
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_wishes_are_refused() {
        let me = Identity::generate().unwrap();
        let options = Options::tls(0, &me, Meter::new()).unwrap();
        let other = Identity::generate().unwrap().fingerprint();
        let good = Peer::pinned(1, other);
        let refused = |peers: &[Peer], lanes| options.check(peers, lanes).unwrap_err().to_string();
        assert_eq!(options.check(std::slice::from_ref(&good), 3), Ok(3));
        assert!(refused(&[Peer::pinned(0, other)], 1).contains("its own peer"));
        assert!(refused(&[good.clone(), good.clone()], 1).contains("named twice"));
        assert!(refused(&[Peer::unauthenticated(1)], 1).contains("is needed"));
        assert!(refused(&[Peer::pinned(1, me.fingerprint())], 1).contains("is our own"));
        let one_key = [good.clone(), Peer::pinned(2, other)];
        assert!(refused(&one_key, 1).contains("parties 1 and 2 have one key"));
        for lanes in [0, MAX_LANES + 1, 1 << 20] {
            assert!(refused(std::slice::from_ref(&good), lanes).contains("lanes"));
        }
    }
}
