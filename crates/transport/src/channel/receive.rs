//! The receiving half of a channel.

use std::time::{Duration, Instant};

use super::Channel;
use crate::checks::FRAMING;
use crate::messages::ABORT;
use crate::pipe::allowance;
use crate::text::printable_bytes;
use crate::wire::{ABORT_MAX, HEADER, Header};
use crate::{Error, Kind, Result, TransportReason};

impl Channel {
    /// Receives a message of exactly `buf.len()` bytes. First flushes this side's pending sends.
    ///
    /// The peer may be silent for the channel's time-out. The whole message must arrive within the
    /// time-out plus its length divided by [`MIN_RATE`](crate::MIN_RATE), counted from this call,
    /// so a peer that sends an occasional byte gains almost nothing.
    ///
    /// # Errors
    /// A message of another kind or length, the end of the connection, a time-out, the peer's abort
    /// notice, or an earlier error of this channel. The content of `buf` is then unspecified.
    #[inline]
    pub fn recv_into(&mut self, kind: impl Into<Kind>, buf: &mut [u8]) -> Result<()> {
        self.recv_exactly(kind.into(), buf)
    }

    fn recv_exactly(&mut self, kind: Kind, buf: &mut [u8]) -> Result<()> {
        self.receive(kind, buf.len(), buf.len(), |len| {
            debug_assert_eq!(len, buf.len());
            Ok(&mut buf[..])
        })
        .map(drop)?;
        self.tamper_incoming(kind, buf);
        Ok(())
    }

    /// Receives a message of exactly `len` bytes; otherwise as [`Channel::recv_into`].
    ///
    /// # Errors
    /// As [`Channel::recv_into`].
    pub fn recv(&mut self, kind: impl Into<Kind>, len: usize) -> Result<Vec<u8>> {
        let mut buf = vec![0; len];
        self.recv_exactly(kind.into(), &mut buf)?;
        Ok(buf)
    }

    /// Receives a message of exactly `N` bytes; otherwise as [`Channel::recv_into`].
    ///
    /// # Errors
    /// As [`Channel::recv_into`].
    pub fn recv_array<const N: usize>(&mut self, kind: impl Into<Kind>) -> Result<[u8; N]> {
        let mut buf = [0; N];
        self.recv_exactly(kind.into(), &mut buf)?;
        Ok(buf)
    }

    /// Receives a message of at most `max` bytes. Only for the handshake and for what parties tell
    /// each other about stored items and measurements: in a protocol every length is known
    /// beforehand.
    ///
    /// # Errors
    /// As [`Channel::recv_into`].
    pub fn recv_bounded(&mut self, kind: impl Into<Kind>, max: usize) -> Result<Vec<u8>> {
        let kind = kind.into();
        let mut buf = Vec::new();
        self.receive(kind, 0, max, |len| {
            // `len` is at most `max`, which the caller chose.
            buf.resize(len, 0);
            Ok(&mut buf[..])
        })
        .map(drop)?;
        self.tamper_incoming(kind, &buf);
        Ok(buf)
    }

    fn receive<'b>(
        &mut self,
        kind: Kind,
        min: usize,
        max: usize,
        place: impl FnOnce(usize) -> Result<&'b mut [u8]>,
    ) -> Result<usize> {
        self.alive()?;
        // A failure to send must not hide what the peer sent before it disconnected.
        let unsent = self.push().err();
        let got = self.receive_message(kind, min, max, place);
        got.map_err(|error| {
            let waited =
                matches!(error, Error::Transport { reason: TransportReason::TimedOut(_), .. });
            match unsent {
                Some(reason) if waited => self.fail(Error::transport(self.peer, reason)),
                _ => self.fail(error),
            }
        })
    }

    /// Check: every message | `message framing`: kind and exact length | short, long, reordered,
    /// replayed messages | –
    fn receive_message<'b>(
        &mut self,
        kind: Kind,
        min: usize,
        max: usize,
        place: impl FnOnce(usize) -> Result<&'b mut [u8]>,
    ) -> Result<usize> {
        let mut clock = Clock::default();
        let mut bytes = [0; HEADER];
        self.fill(&mut bytes, &mut clock, HEADER + max)?;
        if self.busy_until.is_some() {
            // The rest of the message has its own time.
            clock = Clock::default();
        }
        let header = Header::decode(&bytes);
        if header.tag == ABORT.kind.tag() && header.len as usize <= ABORT_MAX {
            return Err(Error::transport(self.peer, self.read_notice(header, &mut clock)?));
        }
        let len = header.len as usize;
        if header.tag != kind.tag() || len < min || len > max {
            return Err(self.framing(kind, (min, max), header));
        }
        self.fill(place(len)?, &mut clock, HEADER + len)?;
        self.meter.received(HEADER + len);
        Ok(len)
    }

    fn framing(&self, kind: Kind, (min, max): (usize, usize), header: Header) -> Error {
        let length =
            if min == max { format!("{max} bytes") } else { format!("at most {max} bytes") };
        let came = if header.tag == kind.tag() {
            format!("`{kind}` with {} bytes", header.len)
        } else {
            format!("tag {:08x} with {} bytes", header.tag, header.len)
        };
        let detail = format!("expected `{kind}` with {length}, got {came}");
        Error::misbehaved_with(self.peer, FRAMING, detail)
    }

    /// Reads `buf.len()` bytes of a message of `message` bytes whose receive began with `clock`.
    fn fill(&mut self, mut buf: &mut [u8], clock: &mut Clock, message: usize) -> Result<()> {
        let (peer, timeout) = (self.peer, self.patience());
        let failed = |reason| Error::transport(peer, reason);
        // Bytes that have arrived need no clock, which costs as much as a small message.
        while !buf.is_empty() && self.source.ready() > 0 {
            let n = self.source.read(buf, timeout).map_err(failed)?;
            buf = &mut buf[n..];
        }
        if buf.is_empty() {
            return Ok(());
        }
        let limit = allowance(message, timeout);
        while !buf.is_empty() {
            let left = limit.saturating_sub(clock.elapsed()).min(timeout);
            if left.is_zero() {
                return Err(failed(TransportReason::TimedOut(limit)));
            }
            match self.source.read(buf, left) {
                Ok(n) => buf = &mut buf[n..],
                Err(TransportReason::TimedOut(_)) => {
                    let after = if clock.elapsed() >= limit { limit } else { timeout };
                    return Err(failed(TransportReason::TimedOut(after)));
                }
                Err(reason) => return Err(failed(reason)),
            }
        }
        Ok(())
    }

    fn read_notice(&mut self, header: Header, clock: &mut Clock) -> Result<TransportReason> {
        let mut text = [0; ABORT_MAX];
        let text = &mut text[..header.len as usize];
        self.fill(text, clock, HEADER + ABORT_MAX)?;
        Ok(TransportReason::Aborted(printable_bytes(text, ABORT_MAX)))
    }

    /// Looks for an abort notice in what the peer sent before it disconnected, for a bounded time.
    pub(super) fn pending_abort(&mut self) -> Option<TransportReason> {
        const BUDGET: usize = 64 << 20;
        self.busy_until = None;
        let limit = self.timeout.min(Duration::from_secs(1));
        let normal = std::mem::replace(&mut self.timeout, limit);
        let mut clock = Clock::default();
        let mut scratch = [0; 4096];
        let mut seen = 0_usize;
        let mut found = None;
        'messages: while seen < BUDGET && clock.elapsed() < limit {
            let mut bytes = [0; HEADER];
            if self.fill(&mut bytes, &mut clock, 0).is_err() {
                break;
            }
            let header = Header::decode(&bytes);
            if header.tag == ABORT.kind.tag() && header.len as usize <= ABORT_MAX {
                found = self.read_notice(header, &mut clock).ok();
                break;
            }
            let mut left = header.len as usize;
            while left > 0 && seen < BUDGET {
                let n = left.min(scratch.len());
                if self.fill(&mut scratch[..n], &mut clock, 0).is_err() {
                    break 'messages;
                }
                left -= n;
                seen += n;
            }
        }
        self.timeout = normal;
        found
    }
}

/// Measures the time since its first query.
#[derive(Default)]
struct Clock(Option<Instant>);

impl Clock {
    fn elapsed(&mut self) -> Duration {
        self.0.get_or_insert_with(Instant::now).elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::pair;

    /// A notice that is longer than the limit is treated as an ordinary message, which is not the
    /// expected one.
    #[test]
    fn a_notice_has_a_bounded_length() {
        for (len, is_notice) in [(ABORT_MAX, true), (ABORT_MAX + 1, false), (1 << 20, false)] {
            let (mut a, mut b) = pair();
            a.enqueue(ABORT.kind, &[&vec![b'x'; len]]).unwrap();
            a.flush().unwrap();
            match b.recv("kind", 6).unwrap_err() {
                Error::Transport { reason: TransportReason::Aborted(_), .. } => assert!(is_notice),
                Error::PeerMisbehaved { check: FRAMING, .. } => assert!(!is_notice),
                error => panic!("{error}"),
            }
        }
    }
}
