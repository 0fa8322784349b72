//! What a channel needs from a transport: a source of bytes and a sink for bytes.

use std::io::IoSlice;
use std::time::Duration;

#[cfg(doc)]
use crate::CANCEL_POLL;
use crate::TransportReason;

/// Where a channel's bytes come from. It has its own buffer, so short reads are cheap.
pub(crate) trait Source: Send {
    /// Reads at least one byte and at most `dst.len() > 0`; waits for about `wait`.
    ///
    /// The end of the connection is [`TransportReason::Closed`], an expired wait is
    /// [`TransportReason::TimedOut`].
    fn read(&mut self, dst: &mut [u8], wait: Duration) -> Result<usize, TransportReason>;

    /// Returns how many bytes can be read without waiting, as far as known without a system call.
    fn ready(&self) -> usize;

    /// Returns whether the peer has sent something that was not read yet, or has disconnected.
    /// Neither waits nor consumes anything.
    fn has_input(&mut self) -> bool;
}

/// The result of a write that must not block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tried {
    /// Everything was sent.
    Done,
    /// This many bytes were taken. The rest, and whatever the sink still buffers, needs
    /// [`Sink::write`] (which may be called with nothing to write).
    Taken(usize),
}

/// Where a channel's bytes go. Used by one thread at a time; any thread may call [`Sink::kill`].
pub(crate) trait Sink: Send + Sync {
    /// Writes everything; may block on the peer.
    fn write(&self, data: &[u8]) -> Result<(), TransportReason>;

    /// The caller's own thread writes up to this many bytes if the writer thread is idle: switching
    /// threads costs more than the write.
    fn at_once(&self) -> usize {
        0
    }

    /// Writes what can be written without blocking on the peer.
    fn try_write(&self, _data: &[u8]) -> Result<Tried, TransportReason> {
        Ok(Tried::Taken(0))
    }

    /// Writes several pieces without blocking, and without copying them if possible; returns how
    /// many bytes were taken. A sink that would have to copy them takes none.
    fn try_write_parts(&self, _parts: &[IoSlice<'_>]) -> Result<usize, TransportReason> {
        Ok(0)
    }

    /// Tells the peer that nothing more will come.
    fn close(&self);

    /// Waits after [`Sink::close`] until the peer has closed too, so that the operating system does
    /// not discard our last bytes because of unread ones from the peer. Gives up when the peer has
    /// sent nothing for `quiet`, and after `most`.
    fn linger(&self, _quiet: Duration, _most: Duration) {}

    /// Makes a blocked read or write end at once.
    fn kill(&self);

    /// Makes a blocked read of the channel, and every later one, end within [`CANCEL_POLL`]. The
    /// connection stays whole: writing and [`Sink::linger`] still work, and the peer notices
    /// nothing.
    fn stop_reading(&self);

    /// Sets how long a write may block while the peer takes no bytes.
    fn set_timeout(&self, _timeout: Duration) {}
}
