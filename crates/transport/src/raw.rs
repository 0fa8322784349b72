//! What a channel needs of a transport: a source of bytes and a sink for bytes.

use std::io::IoSlice;
use std::time::Duration;

use crate::TransportReason;

/// Where a channel's bytes come from. Buffers by itself, so that short reads are cheap.
pub(crate) trait Source: Send {
    /// Reads at least one byte and at most `dst.len() > 0`; waits for it for about `wait`.
    ///
    /// The end is [`TransportReason::Closed`], a wait in vain [`TransportReason::TimedOut`].
    fn read(&mut self, dst: &mut [u8], wait: Duration) -> Result<usize, TransportReason>;

    /// How many bytes can be read without waiting, as far as is known without asking anybody.
    fn ready(&self) -> usize;

    /// Whether the peer has sent something that was not read yet, or has gone. Neither waits nor
    /// takes anything.
    fn stirs(&mut self) -> bool;
}

/// What became of a write that was not allowed to block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tried {
    /// Everything is on its way.
    Done,
    /// This many bytes were taken; the rest, and whatever the sink still holds itself, needs
    /// [`Sink::write`] (which may be called with nothing to write).
    Taken(usize),
}

/// Where a channel's bytes go. Used by one thread at a time; [`Sink::kill`] by any.
pub(crate) trait Sink: Send + Sync {
    /// Writes everything; may block on the peer.
    fn write(&self, data: &[u8]) -> Result<(), TransportReason>;

    /// Up to this many bytes are written by the caller's own thread if the writer thread has
    /// nothing to do: a hop between threads costs more than the write.
    fn at_once(&self) -> usize {
        0
    }

    /// Writes what can be written without blocking on the peer.
    fn try_write(&self, _data: &[u8]) -> Result<Tried, TransportReason> {
        Ok(Tried::Taken(0))
    }

    /// The same of several pieces, which are not to be copied if that can be avoided; how many
    /// bytes were taken. A sink that would copy them anyway takes none.
    fn try_write_parts(&self, _parts: &[IoSlice<'_>]) -> Result<usize, TransportReason> {
        Ok(0)
    }

    /// Says to the peer that nothing more will come.
    fn close(&self);

    /// After [`Sink::close`]: waits, for at most `limit`, until the peer closed too, so that the
    /// operating system does not throw away our last bytes because of unread ones of the peer's.
    fn linger(&self, _limit: Duration) {}

    /// Makes a blocked read or write end at once.
    fn kill(&self);

    /// Makes a blocked read, and every later one, end at once. Writing still works.
    fn stop_reading(&self);

    /// How long a write may block without the peer taking a byte.
    fn set_timeout(&self, _timeout: Duration) {}
}
