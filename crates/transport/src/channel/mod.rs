//! One blocking, ordered, duplex lane to one peer.

#[cfg(test)]
mod allowance_tests;
mod receive;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use symbolon_common::PartyId;
use symbolon_common::escape::Excerpt;

#[cfg(any(test, feature = "adversary"))]
use crate::adversary::{Action, Adversary};
use crate::keys::Fingerprint;
use crate::messages::ABORT;
use crate::meter::LaneMeter;
pub use crate::outlet::Hangup;
use crate::outlet::{Interrupt, LINGER, Outlet};
use crate::raw::Source;
use crate::tampering::Tampering;
use crate::wire::{ABORT_MAX, HEADER, Header};
use crate::{Culprit, Error, Kind, Meter, Result, TransportReason};

/// How long a peer may be silent unless [`Channel::set_timeout`] says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum time-out; longer ones are cut to a year.
pub const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 3600);

/// How long a closing channel tries to send an abort notice, and waits for a peer that still sends.
const LAST_NOTICE: Duration = Duration::from_secs(5);

/// Small messages are buffered up to this many bytes before they are passed on.
const GATHER: usize = 64 << 10;

/// Payloads of at least this many bytes are sent without copying, if the transport can do so at
/// once.
const DIRECT: usize = 16 << 10;

/// One blocking, ordered, duplex lane to one peer, over any transport.
///
/// Messages have a [`Kind`] (a name fixed by the protocol, declared as a
/// [`Message`](crate::Message)) and a length that both sides know from public parameters. A message
/// of another kind or length ends in [`Error::PeerMisbehaved`] with the check "message framing". No
/// allocation ever depends on a length that the peer claims.
///
/// Sends are buffered and passed to a writer thread, so a send never blocks on the peer. Receiving
/// first flushes this side's pending sends. After any error the channel is dead: every further call
/// except [`Channel::abort`] returns the same error.
pub struct Channel {
    me: PartyId,
    peer: PartyId,
    timeout: Duration,
    /// Until when the peer computes: the time-out of its silence begins only then.
    busy_until: Option<Instant>,
    source: Box<dyn Source>,
    outlet: Outlet,
    /// Bytes of messages not yet passed on.
    pending: Vec<u8>,
    /// The number of pending bytes from which a message is passed on piecewise.
    chunk: usize,
    dead: Option<Error>,
    /// When an abort notice was sent; the peer is given a moment to receive it.
    aborted: Option<Instant>,
    finished: bool,
    meter: LaneMeter,
    binding: Option<[u8; 32]>,
    peer_key: Option<Fingerprint>,
    tampering: Tampering,
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel")
            .field("me", &self.me)
            .field("peer", &self.peer)
            .field("dead", &self.dead)
            .finish_non_exhaustive()
    }
}

impl Channel {
    pub(crate) fn new(
        (me, peer): (PartyId, PartyId),
        source: Box<dyn Source>,
        outlet: Outlet,
        meter: Arc<Meter>,
        binding: Option<[u8; 32]>,
    ) -> Self {
        let chunk = outlet.chunk_bytes();
        let mut channel = Channel {
            me,
            peer,
            timeout: DEFAULT_TIMEOUT,
            busy_until: None,
            source,
            outlet,
            pending: Vec::new(),
            chunk,
            dead: None,
            aborted: None,
            finished: false,
            meter: LaneMeter::new(meter),
            binding,
            peer_key: None,
            tampering: Tampering::default(),
        };
        channel.set_timeout(DEFAULT_TIMEOUT);
        channel
    }

    /// Returns the party at the other end.
    pub fn peer(&self) -> PartyId {
        self.peer
    }

    /// Returns the party at this end.
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// Returns the meter that counts this channel's traffic.
    pub fn meter(&self) -> &Arc<Meter> {
        self.meter.meter()
    }

    /// Returns how long the peer may be silent.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Sets how long the peer may be silent, and how long the operating system may fail to take any
    /// of our bytes because the peer does not read; from 1 ms to [`LONGEST_TIMEOUT`]. The default
    /// is [`DEFAULT_TIMEOUT`].
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout.clamp(Duration::from_millis(1), LONGEST_TIMEOUT);
        self.outlet.set_timeout(self.patience());
    }

    /// Lets the peer be silent, and not read, until `time` from now, and then for the
    /// [time-out](Channel::set_timeout): for a step in which it computes.
    ///
    /// Messages of the peer that come before do not end this: what it sends while it computes says
    /// nothing about when the rest will come. A second call can only prolong the time.
    pub fn allow(&mut self, time: Duration) {
        let until = Instant::now() + time.min(LONGEST_TIMEOUT);
        self.busy_until = self.busy_until.max(Some(until));
        self.outlet.set_timeout(self.patience());
    }

    /// Returns how long the peer may be silent from now on.
    fn patience(&self) -> Duration {
        let Some(until) = self.busy_until else { return self.timeout };
        let left = until.saturating_duration_since(Instant::now());
        // Whole milliseconds read well in errors.
        let left = Duration::from_millis(left.as_micros().div_ceil(1000) as u64);
        self.timeout.saturating_add(left).min(LONGEST_TIMEOUT)
    }

    /// Returns to the plain time-out when the time that [`Channel::allow`] gave has passed.
    fn end_allowance(&mut self) {
        if self.busy_until.is_some_and(|until| until <= Instant::now()) {
            self.busy_until = None;
            self.outlet.set_timeout(self.timeout);
        }
    }

    /// Returns keying material exported from the TLS connection under this lane, the same on both
    /// sides and known to nobody else; `None` on other transports.
    pub fn binding(&self) -> Option<&[u8; 32]> {
        self.binding.as_ref()
    }

    /// Returns the key that the peer proved over this channel; `None` without TLS.
    pub fn peer_key(&self) -> Option<Fingerprint> {
        self.peer_key
    }

    pub(crate) fn set_peer_key(&mut self, key: Option<Fingerprint>) {
        self.peer_key = key;
    }

    /// Sends a message. It is buffered, and leaves at the next receive, at [`Channel::flush`], or
    /// when enough bytes are pending. Never blocks on the peer.
    ///
    /// # Errors
    /// An earlier error of this channel; the end of the connection or the peer's abort notice, if
    /// it was noticed.
    #[inline]
    pub fn send(&mut self, kind: impl Into<Kind>, payload: &[u8]) -> Result<()> {
        self.send_message(kind.into(), &[payload])
    }

    /// Sends one message whose payload is `parts` joined in order; otherwise as [`Channel::send`].
    ///
    /// # Errors
    /// As [`Channel::send`].
    #[inline]
    pub fn send_parts(&mut self, kind: impl Into<Kind>, parts: &[&[u8]]) -> Result<()> {
        self.send_message(kind.into(), parts)
    }

    fn send_message(&mut self, kind: Kind, parts: &[&[u8]]) -> Result<()> {
        self.alive()?;
        if kind.tag() == ABORT.kind.tag() {
            return Err(Error::internal(format!("the message kind `{kind}` is reserved")));
        }
        #[cfg(any(test, feature = "adversary"))]
        if let Some((action, payload)) = self.tampering.outgoing(kind, parts) {
            return match action {
                Action::Send => self.enqueue(kind, &[&payload]),
                Action::Twice => {
                    self.enqueue(kind, &[&payload])?;
                    self.enqueue(kind, &[&payload])
                }
                Action::Drop | Action::Stall => Ok(()),
                Action::Close => {
                    let error = Error::transport(self.peer, TransportReason::ClosedHere);
                    let _ = self.push();
                    self.finish();
                    Err(self.fail(error))
                }
            };
        }
        self.enqueue(kind, parts)
    }

    fn enqueue(&mut self, kind: Kind, parts: &[&[u8]]) -> Result<()> {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        let Ok(header_len) = u32::try_from(len) else {
            return Err(Error::internal(format!("a `{kind}` message of {len} bytes is too long")));
        };
        self.meter.sent(HEADER + len);
        let header = Header { len: header_len, tag: kind.tag() }.encode();
        self.append(&header)?;
        let mut sent = 0;
        if len >= DIRECT {
            let taken = self.outlet.push_with(&mut self.pending, parts);
            sent = self.or_fail(taken)?;
        }
        for part in parts {
            let here = sent.min(part.len());
            sent -= here;
            self.append(&part[here..])?;
        }
        if self.pending.len() >= GATHER { self.push_or_fail() } else { Ok(()) }
    }

    fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while self.pending.len() + bytes.len() > self.chunk {
            let room = self.chunk.saturating_sub(self.pending.len());
            let (now, later) = bytes.split_at(room);
            self.pending.extend_from_slice(now);
            self.push_or_fail()?;
            bytes = later;
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    /// Passes on what is pending.
    fn push(&mut self) -> std::result::Result<(), TransportReason> {
        self.end_allowance();
        if self.pending.is_empty() { Ok(()) } else { self.outlet.push(&mut self.pending) }
    }

    /// Passes on what is pending. If that fails after the peer has aborted, reports the peer's
    /// unread notice instead.
    fn push_or_fail(&mut self) -> Result<()> {
        let pushed = self.push();
        self.or_fail(pushed)
    }

    fn or_fail<T>(&mut self, sent: std::result::Result<T, TransportReason>) -> Result<T> {
        sent.map_err(|reason| {
            let reason = self.pending_abort().unwrap_or(reason);
            self.fail(Error::transport(self.peer, reason))
        })
    }

    /// Passes everything pending to the transport. Does not wait until the peer has it.
    ///
    /// # Errors
    /// As [`Channel::send`].
    pub fn flush(&mut self) -> Result<()> {
        self.alive()?;
        self.push_or_fail()
    }

    /// Returns the number of bytes passed on and not yet taken by the transport: the memory that a
    /// slow peer or link costs.
    pub fn backlog(&self) -> usize {
        self.outlet.outstanding()
    }

    /// Flushes, then waits until the transport has taken all but at most `max_backlog` bytes.
    ///
    /// This is the only call besides receiving that waits for the peer. It is meant for a sender of
    /// a long stream, at a point of the protocol where the peer is known to be reading. Two parties
    /// that throttle against each other wait until the time-out.
    ///
    /// # Errors
    /// As [`Channel::send`]; a time-out if the backlog does not shrink.
    pub fn throttle(&mut self, max_backlog: usize) -> Result<()> {
        self.throttle_until(max_backlog, None)
    }

    /// As [`throttle`](Channel::throttle), but waits no longer than until `by`, even if the peer
    /// keeps taking bytes: for a side that has other peers to serve.
    ///
    /// # Errors
    /// As [`throttle`](Channel::throttle).
    pub fn throttle_until(&mut self, max_backlog: usize, by: Option<Instant>) -> Result<()> {
        self.flush()?;
        let waited = self.outlet.wait_below(max_backlog, self.patience(), by);
        self.or_fail(waited)
    }

    /// Returns a handle that stops this channel's waiting from another thread.
    pub(crate) fn interrupt(&self) -> Interrupt {
        self.outlet.interrupt()
    }

    /// Returns a handle with which another thread can end this channel.
    pub fn hangup(&self) -> Hangup {
        self.outlet.hangup()
    }

    /// Returns whether the peer has sent something that was not received yet, or has disconnected.
    /// Does not wait. For a side that waits for others while this peer has nothing to send.
    pub fn has_input(&mut self) -> bool {
        self.dead.is_some() || self.source.has_input()
    }

    /// Tells the peer that this side gives up, and why. The channel is then dead.
    ///
    /// `reason` should be a fixed sentence that reveals nothing; at most 200 bytes of it are sent,
    /// escaped. This also works after an error of this channel, as far as the connection allows,
    /// and ignores failure, because there is nobody left to tell.
    pub fn abort(&mut self, reason: &str) {
        if self.aborted.is_some() || self.finished {
            return;
        }
        self.aborted = Some(Instant::now());
        #[cfg(any(test, feature = "adversary"))]
        if self.tampering.adversary().is_some_and(|adversary| adversary.stalled) {
            return;
        }
        // The ellipsis may exceed the given limit by three bytes.
        let text = Excerpt(reason, ABORT_MAX - 3).to_string();
        let header = Header { len: text.len() as u32, tag: ABORT.kind.tag() };
        self.meter.sent(HEADER + text.len());
        self.pending.extend_from_slice(&header.encode());
        self.pending.extend_from_slice(text.as_bytes());
        let _ = self.push();
        self.dead.get_or_insert(Error::transport(self.peer, TransportReason::ClosedHere));
    }

    /// Sends what is pending, waits until the transport has taken it (at most for the time-out),
    /// and closes. Dropping a channel does the same.
    ///
    /// # Errors
    /// An earlier error of the channel, or a failure to send.
    pub fn close(mut self) -> Result<()> {
        self.finish();
        self.alive()
    }

    fn finish(&mut self) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        // A dead channel sends nothing but its notice.
        if self.dead.is_some() && self.aborted.is_none() {
            let _ = self.outlet.finish(Duration::ZERO, false);
            return;
        }
        let limit = match self.aborted {
            // The notices of all channels of a session leave at the same time.
            Some(at) => LAST_NOTICE.saturating_sub(at.elapsed()).max(LINGER).min(self.timeout),
            None => self.timeout,
        };
        let aborted = self.aborted.is_some();
        let ended = self.push().and_then(|()| self.outlet.finish(limit, aborted));
        if let Err(reason) = ended {
            self.fail(Error::transport(self.peer, reason));
        }
    }

    fn alive(&mut self) -> Result<()> {
        if self.outlet.is_interrupted() {
            self.dead.get_or_insert(Error::Cancelled);
        }
        self.dead.clone().map_or(Ok(()), Err)
    }

    /// Kills the channel; the first error stays. A failure after an interrupt counts as cancelled.
    fn fail(&mut self, error: Error) -> Error {
        let error = if self.outlet.is_interrupted() { Error::Cancelled } else { error };
        self.dead.get_or_insert(error).clone()
    }

    /// Marks a named point of a protocol at which a test may change `data`; does nothing in a
    /// normal build.
    #[inline(always)]
    pub fn tamper_state(&mut self, point: &'static str, data: &mut [u8]) {
        self.tampering.state(point, data);
    }

    /// Returns what marks such points in other threads of this party.
    pub fn tampering(&self) -> Tampering {
        self.tampering.clone()
    }

    /// Makes this side a cheating peer from now on.
    #[cfg(any(test, feature = "adversary"))]
    pub fn set_adversary(&mut self, adversary: Box<dyn Adversary>) {
        self.tampering = Tampering::by(adversary);
    }

    /// Returns whether an adversary makes this side a cheater.
    #[cfg(any(test, feature = "adversary"))]
    pub fn cheats(&self) -> bool {
        self.tampering.adversary().is_some_and(|adversary| adversary.cheats())
    }

    #[inline(always)]
    fn tamper_incoming(&mut self, _kind: Kind, _payload: &[u8]) {
        #[cfg(any(test, feature = "adversary"))]
        if let Some(mut adversary) = self.tampering.adversary() {
            adversary.incoming(_kind.name(), _payload);
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Culprit {
    /// Returns the peer if there is only one. A check on several peers cannot name the culprit.
    pub fn among(peers: &[Channel]) -> Self {
        if let [peer] = peers { peer.peer().into() } else { Culprit::Unknown }
    }
}
