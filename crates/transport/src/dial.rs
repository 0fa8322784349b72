//! The dialling side.

use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustls::ClientConfig;

use symbolon_common::PartyId;

use crate::address::check_address;
use crate::endpoint::{Opening, Options, Peer};
use crate::link::Direction;
use crate::preamble::Verdict;
use crate::{
    AttemptCause, Channel, Error, LastAttempt, Progress, Result, TransportReason, shortage, tls,
};

/// How long one attempt to reach an address may take.
const ATTEMPT: Duration = Duration::from_secs(5);

/// The pause after a failed attempt: the initial and the maximum value.
const PAUSE: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));

/// Connects to `peer`, which listens at `address` (HOST:PORT), over `lanes` connections.
///
/// Retries until [`Options::connect_timeout`], so the parties may start in any order. Returns the
/// channels in the order of their lanes, which is the same on both sides.
///
/// # Errors
/// [`Error::InvalidInput`] for options or an address that cannot work. [`Error::Transport`] if
/// nobody answers in time, the peer has another key or rejects ours, or both sides claim to be the
/// same party. [`Error::PeerIncompatible`] if it has another version, number of lanes, or party
/// numbers.
pub fn connect_lanes(
    options: &Options,
    address: &str,
    peer: &Peer,
    lanes: usize,
) -> Result<Vec<Channel>> {
    let lanes = options.check(std::slice::from_ref(peer), lanes)?;
    check_address(address)?;
    let dialler = Dialler::new(options, address, peer, lanes)?;
    let shown = crate::text::printable(address);
    options.observer.tell(&Progress::Connecting { party: peer.party, address: shown });
    // The first lane is connected alone: until the peer is there, a single attempt is enough.
    let (first, token) = dialler.connect(0, None)?;
    let mut openings = vec![first];
    let connect = |lane| dialler.connect(lane, Some(token));
    let ((), others) = crate::threads::beside(1..lanes, connect, || ())?;
    for opening in others {
        let lost = |_| Err(Error::internal("a connecting thread panicked"));
        openings.push(opening.unwrap_or_else(lost)?.0);
    }
    options.observer.tell(&Progress::Connected { party: peer.party });
    let link = options.link.map(Direction::new);
    openings.into_iter().map(|opening| options.channel(peer.party, opening, link.clone())).collect()
}

/// What the lanes of one process have in common.
type Token = [u8; 32];

struct Dialler<'a> {
    options: &'a Options,
    address: &'a str,
    peer: PartyId,
    lanes: u16,
    config: Option<Arc<ClientConfig>>,
    deadline: Instant,
}

/// Why an attempt failed.
enum Failure {
    /// It may succeed later.
    Passing(TransportReason),
    /// It will never succeed.
    Final(Error),
}

impl<'a> Dialler<'a> {
    fn new(options: &'a Options, address: &'a str, peer: &Peer, lanes: u16) -> Result<Self> {
        let config = options.tls.as_ref().map(|tls| tls.client(&peer.keys)).transpose()?;
        let deadline = options.connect_deadline();
        Ok(Dialler { options, address, peer: peer.party, lanes, config, deadline })
    }

    /// Connects a lane. Without a token every attempt draws its own: the peer may still find an
    /// attempt that this side has given up, and must not take it for the same connection.
    fn connect(&self, lane: u16, token: Option<Token>) -> Result<(Opening, Token)> {
        let mut pause = PAUSE.0;
        let mut told = String::new();
        loop {
            self.options.cancel.check()?;
            let token = token.map_or_else(draw_token, Ok)?;
            let last = match self.attempt(lane, token) {
                Ok(opening) => return Ok((opening, token)),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(TransportReason::Io(fault))) => fault.text().to_string(),
                Err(Failure::Passing(reason)) => {
                    Error::Transport { party: None, reason }.to_string()
                }
            };
            // If it was cancelled, the attempt failed for no other reason.
            self.options.cancel.check()?;
            if last != told {
                let reason = crate::text::printable(&last);
                self.options.observer.tell(&Progress::Retrying { party: self.peer, reason });
                told.clone_from(&last);
            }
            if Instant::now() + pause >= self.deadline {
                let reason = TransportReason::NoAnswer {
                    address: self.address.to_string(),
                    after: self.options.connect_timeout,
                    last: Some(LastAttempt { cause: AttemptCause::Other, text: last }),
                };
                return Err(Error::transport(self.peer, reason));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    fn attempt(&self, lane: u16, token: Token) -> std::result::Result<Opening, Failure> {
        let socket = self.reach()?;
        let tls = self.config.clone().map(tls::dialled).transpose().map_err(Failure::Final)?;
        let deadline = self.options.opening_deadline().min(self.deadline);
        let mine = self.options.preamble(self.peer, lane, self.lanes, token);
        let cancel = self.options.cancel.clone();
        let answer = Opening::begin(socket, tls, cancel, deadline).and_then(|mut opening| {
            opening.send(&mine, deadline)?;
            let theirs = opening.receive(deadline)?;
            Ok((opening, theirs))
        });
        let (opening, theirs) = answer.map_err(|reason| match reason {
            TransportReason::WrongKey { .. }
            | TransportReason::OwnKeyRefused
            | TransportReason::KeyExpired { .. }
            | TransportReason::OwnKeyExpired => Failure::Final(Error::transport(self.peer, reason)),
            other => Failure::Passing(other),
        })?;
        mine.fits(&theirs).map_err(Failure::Final)?;
        let refused = |text: &str| {
            let reason = TransportReason::refused(text);
            Err(Failure::Final(Error::transport(self.peer, reason)))
        };
        match theirs.verdict {
            Verdict::Accepted if (theirs.lane, theirs.token) == (lane, token) => Ok(opening),
            Verdict::Duplicate => refused("it has this lane already"),
            _ => refused("it gave no reason"),
        }
    }

    fn reach(&self) -> std::result::Result<TcpStream, Failure> {
        let failed = |e: std::io::Error| match shortage(&e) {
            Some(_) => {
                let text = format!("cannot connect: {e}");
                Failure::Final(Error::of_system(&e, text, Error::System))
            }
            None => Failure::Passing(crate::tcp::io(&e)),
        };
        let mut last = Failure::Passing(TransportReason::io("the name has no address"));
        for address in self.address.to_socket_addrs().map_err(failed)? {
            let deadline = self.deadline.min(Instant::now() + ATTEMPT);
            match crate::tcp::connect(address, deadline, &self.options.cancel) {
                Ok(socket) => return Ok(socket),
                Err(e) => last = failed(e),
            }
        }
        Err(last)
    }
}

fn draw_token() -> Result<Token> {
    let mut token = [0; 32];
    getrandom::fill(&mut token)
        .map_err(|e| Error::internal(format!("the system gives no randomness: {e}")))?;
    Ok(token)
}

/// Connects the first of `lanes` lanes and hangs up.
#[cfg(test)]
pub(crate) fn half_connect(options: &Options, address: &str, peer: &Peer, lanes: u16) {
    drop(Dialler::new(options, address, peer, lanes).unwrap().connect(0, None).unwrap());
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::{Identity, Meter};

    /// Returns the timers that the system runs for both ends of the connections to a port: 2 for
    /// keepalive, 0 for none.
    #[cfg(target_os = "linux")]
    fn timers(port: u16) -> Vec<String> {
        let all = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
        let port = format!(":{port:04X}");
        let ours = all.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let ours = ours.filter(|words| words.len() > 5 && words[3] == "01");
        let ours = ours.filter(|words| words[1].ends_with(&port) || words[2].ends_with(&port));
        ours.map(|words| words[5][..2].to_string()).collect()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn idle_connections_are_probed_from_both_ends() {
        let keys = [(); 2].map(|()| Identity::generate().unwrap());
        let prints = [0, 1].map(|i: usize| keys[i].fingerprint());
        for tls in [false, true] {
            let options = |me: u16| match tls {
                true => Options::tls(me, &keys[usize::from(me)], Meter::new()).unwrap(),
                false => Options::insecure_plain_tcp(me, Meter::new()),
            };
            let peer = |number: u16| match tls {
                true => Peer::pinned(number, prints[usize::from(number)]),
                false => Peer::unauthenticated(number),
            };
            let door = crate::Listener::bind("127.0.0.1:0").unwrap();
            let (address, port) = (door.local_addr().to_string(), door.local_addr().port());
            thread::scope(|scope| {
                let (options, peer) = (&options, &peer);
                let accept = move || door.accept_lanes(&options(0), &peer(1), 2).unwrap();
                let near = scope.spawn(accept);
                let far = connect_lanes(&options(1), &address, &peer(0), 2).unwrap();
                let near = near.join().unwrap();
                // What was sent last may not be acknowledged yet, which has another timer.
                let until = Instant::now() + Duration::from_secs(10);
                while timers(port) != ["02"; 4] && Instant::now() < until {
                    thread::sleep(Duration::from_millis(10));
                }
                assert_eq!(timers(port), ["02"; 4], "TLS: {tls}");
                drop((near, far));
            });
        }
    }

    #[test]
    fn probes_come_soon_enough_for_firewalls_and_end_late_enough_for_a_network_that_was_away() {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(door.local_addr().unwrap()).unwrap();
        let socket = socket2::SockRef::from(&near);
        assert!(!socket.keepalive().unwrap());
        crate::tcp::keep_alive(&near);
        assert!(socket.keepalive().unwrap());
        let (first, then) =
            (socket.tcp_keepalive_time().unwrap(), socket.tcp_keepalive_interval().unwrap());
        let whole = first + then * socket.tcp_keepalive_retries().unwrap();
        assert!(first <= Duration::from_secs(60), "{first:?}");
        assert!(
            whole >= Duration::from_secs(600) && whole <= Duration::from_secs(900),
            "{whole:?}"
        );
    }

    /// The system connects to a port at which nobody answers.
    #[test]
    fn a_cancelled_attempt_waits_for_no_answer() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = silent.local_addr().unwrap().to_string();
        let keys = [(); 2].map(|()| Identity::generate().unwrap());
        let peer = Peer::pinned(0, keys[0].fingerprint());
        let tls = Options::tls(1, &keys[1], Meter::new()).unwrap();
        for options in [Options::insecure_plain_tcp(1, Meter::new()), tls] {
            options.cancel.cancel();
            let dialler = Dialler::new(&options, &address, &peer, 1).unwrap();
            let ended = dialler.attempt(0, [7; 32]);
            // Otherwise it would time out.
            assert!(matches!(ended, Err(Failure::Passing(TransportReason::Closed))));
        }
    }
}
