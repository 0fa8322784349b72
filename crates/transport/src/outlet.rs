//! A channel's sending half: straight into the peer's memory, or through a writer thread.

use std::fmt;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::link::{Direction, wait_until};
use crate::pipe::{Chunk, Pipe, hang_up};
use crate::raw::{Sink, Tried};
use crate::{Error, TransportReason};

/// How long the peer is given to close after us; an aborting side waits for that, others leave it
/// to the writer thread.
const LINGER: Duration = Duration::from_secs(1);

/// Systems take this many pieces at a time, and more.
const PIECES: usize = 16;

/// The sending half.
pub(crate) struct Outlet {
    pipe: Arc<Pipe>,
    end: End,
    link: Option<Direction>,
    /// Set by [`Interrupt::interrupt`].
    interrupted: Arc<AtomicBool>,
}

/// What is at the end of the pipe.
#[derive(Clone)]
enum End {
    /// A writer thread with this sink.
    Sink(Arc<dyn Sink>),
    /// The peer's source; the other pipe is the way back from it.
    Peer { back: Arc<Pipe> },
}

impl Outlet {
    /// Chunks go straight to the peer's [`crate::pipe::PipeSource`]; what the peer sends comes by
    /// `back`.
    pub(crate) fn direct(pipe: Arc<Pipe>, back: Arc<Pipe>) -> Self {
        let interrupted = Arc::default();
        Outlet { pipe, end: End::Peer { back }, link: None, interrupted }
    }

    /// Chunks go through a new writer thread to `sink`, after the delay of `link`.
    pub(crate) fn threaded(sink: Arc<dyn Sink>, link: Option<Direction>) -> crate::Result<Self> {
        let pipe = Pipe::new();
        let (queue, out) = (pipe.clone(), sink.clone());
        thread::Builder::new()
            .name("symbolon-writer".to_string())
            .spawn(move || write_all(&queue, &*out))
            .map_err(|e| Error::system(format!("cannot start a writer thread: {e}")))?;
        Ok(Outlet { pipe, end: End::Sink(sink), link, interrupted: Arc::default() })
    }

    /// The size from which a buffer is handed over in the midst of a message.
    pub(crate) fn chunk_bytes(&self) -> usize {
        self.link.as_ref().map_or(crate::pipe::CHUNK, Direction::chunk_bytes)
    }

    /// Sends a buffer and leaves an empty one in its place. Never blocks on the peer.
    pub(crate) fn push(&self, buffer: &mut Vec<u8>) -> Result<(), TransportReason> {
        let mut chunk = Chunk::new(Vec::new());
        if let Some(link) = &self.link {
            chunk.deliver_at = Some(link.reserve(buffer.len()));
        } else if let Some(sink) = self.idle_sink()
            && buffer.len() <= sink.at_once()
        {
            match self.tried(sink.try_write(buffer))? {
                Tried::Done => {
                    buffer.clear();
                    return Ok(());
                }
                Tried::Taken(n) => chunk.start = n,
            }
        }
        chunk.data = std::mem::take(buffer);
        *buffer = self.pipe.push(chunk)?;
        Ok(())
    }

    /// Sends a buffer, and after it as much of `parts` as can be sent from where they lie; how
    /// much that was. It may be nothing, and the buffer may be as it was. Never blocks on the peer.
    pub(crate) fn push_with(
        &self,
        buffer: &mut Vec<u8>,
        parts: &[&[u8]],
    ) -> Result<usize, TransportReason> {
        let Some(sink) = self.idle_sink().filter(|_| self.link.is_none()) else {
            return Ok(0);
        };
        let pieces = std::iter::once(&buffer[..]).chain(parts.iter().copied()).take(PIECES);
        let pieces: Vec<IoSlice<'_>> = pieces.map(IoSlice::new).collect();
        let taken = self.tried(sink.try_write_parts(&pieces))?;
        if let Some(of_parts) = taken.checked_sub(buffer.len()) {
            buffer.clear();
            return Ok(of_parts);
        }
        if taken > 0 {
            let data = std::mem::take(buffer);
            *buffer = self.pipe.push(Chunk { data, start: taken, deliver_at: None })?;
        }
        Ok(0)
    }

    /// The sink, if the writer thread has nothing to do with it.
    fn idle_sink(&self) -> Option<&dyn Sink> {
        self.sink().filter(|_| self.pipe.failure().is_none() && self.pipe.is_idle())
    }

    /// The sink; absent when the pipe is the peer's source.
    fn sink(&self) -> Option<&dyn Sink> {
        match &self.end {
            End::Sink(sink) => Some(&**sink),
            End::Peer { .. } => None,
        }
    }

    /// A failure is the end of the pipe, too.
    fn tried<T>(&self, tried: Result<T, TransportReason>) -> Result<T, TransportReason> {
        tried.inspect_err(|reason| self.pipe.fail(reason.clone()))
    }

    /// What ends the connection from another thread.
    pub(crate) fn hangup(&self) -> Hangup {
        Hangup { pipe: self.pipe.clone(), end: self.end.clone() }
    }

    /// What stops receiving from another thread.
    pub(crate) fn interrupt(&self) -> Interrupt {
        let source = match &self.end {
            End::Sink(sink) => Interrupted::Sink(Arc::downgrade(sink)),
            End::Peer { back } => Interrupted::Pipe(Arc::downgrade(back)),
        };
        Interrupt { flag: self.interrupted.clone(), source }
    }

    /// Whether [`Interrupt::interrupt`] was called.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Bytes handed over and not yet taken by the transport.
    pub(crate) fn outstanding(&self) -> usize {
        self.pipe.outstanding()
    }

    /// See [`Pipe::wait_below`].
    pub(crate) fn wait_below(
        &self,
        max: usize,
        limit: Duration,
        by: Option<Instant>,
    ) -> Result<(), TransportReason> {
        self.pipe.wait_below(max, limit, by)
    }

    /// Sets how long the writer may be blocked by the peer.
    pub(crate) fn set_timeout(&self, timeout: Duration) {
        if let Some(sink) = self.sink() {
            sink.set_timeout(timeout);
        }
    }

    /// Ends the sending half: what was handed over is still sent, within `limit` and the time that
    /// its length allows; with `aborted` within `limit` alone, and then the peer is given a moment
    /// to read.
    pub(crate) fn finish(&self, limit: Duration, aborted: bool) -> Result<(), TransportReason> {
        self.pipe.end();
        let Some(sink) = self.sink() else {
            return Ok(());
        };
        let finished = self.pipe.wait_finished(limit, !aborted && !limit.is_zero());
        let failure = match self.pipe.failure() {
            Some(reason) => reason,
            None if finished => {
                if aborted {
                    sink.linger(LINGER.min(limit));
                }
                return Ok(());
            }
            None => TransportReason::TimedOut(limit),
        };
        sink.kill();
        Err(failure)
    }
}

/// Ends a channel from another thread than the one that uses it.
pub struct Hangup {
    pipe: Arc<Pipe>,
    end: End,
}

impl Hangup {
    /// Closes the connection: whatever the channel waits for fails at once, and nothing more is
    /// sent.
    pub fn hang_up(self) {
        match self.end {
            End::Sink(sink) => sink.kill(),
            End::Peer { back } => hang_up(&self.pipe, &back),
        }
    }
}

impl fmt::Debug for Hangup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hangup(..)")
    }
}

/// Stops a channel's receiving from another thread, while it can still send an abort notice. Does
/// not keep the connection open.
pub(crate) struct Interrupt {
    flag: Arc<AtomicBool>,
    source: Interrupted,
}

/// What makes a blocked read end.
enum Interrupted {
    Sink(Weak<dyn Sink>),
    Pipe(Weak<Pipe>),
}

impl Interrupt {
    /// Makes a blocked receive, and every later one, fail at once.
    pub(crate) fn interrupt(self) {
        self.flag.store(true, Ordering::SeqCst);
        match self.source {
            Interrupted::Sink(sink) => {
                if let Some(sink) = sink.upgrade() {
                    sink.stop_reading();
                }
            }
            Interrupted::Pipe(pipe) => {
                if let Some(pipe) = pipe.upgrade() {
                    pipe.fail(TransportReason::Closed);
                }
            }
        }
    }

    /// Whether the channel is still there.
    pub(crate) fn is_live(&self) -> bool {
        match &self.source {
            Interrupted::Sink(sink) => sink.strong_count() > 0,
            Interrupted::Pipe(pipe) => pipe.strong_count() > 0,
        }
    }
}

/// The writer thread.
fn write_all(queue: &Pipe, sink: &dyn Sink) {
    // Without a time limit a pop ends with a chunk or the end.
    while let Ok(Some(chunk)) = queue.pop(None) {
        if let Some(moment) = chunk.deliver_at {
            wait_until(moment);
        }
        if let Err(reason) = sink.write(chunk.rest()) {
            queue.fail(reason);
            return;
        }
        queue.give_back(chunk);
    }
    if queue.failure().is_some() {
        // What the peer sent last, such as its abort notice, is the channel's to read: lingering
        // would throw it away.
        return;
    }
    sink.close();
    queue.finish();
    sink.linger(LINGER);
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A socket that the peer reset.
    #[derive(Default)]
    struct Reset(Mutex<Vec<&'static str>>);

    impl Reset {
        fn note(&self, call: &'static str) {
            self.0.lock().unwrap().push(call);
        }
    }

    impl Sink for Reset {
        fn write(&self, _data: &[u8]) -> Result<(), TransportReason> {
            Err(TransportReason::Closed)
        }

        fn at_once(&self) -> usize {
            usize::MAX
        }

        fn try_write(&self, _data: &[u8]) -> Result<Tried, TransportReason> {
            Err(TransportReason::Closed)
        }

        fn close(&self) {
            self.note("close");
        }

        fn linger(&self, _limit: Duration) {
            self.note("linger");
        }

        fn kill(&self) {
            self.note("kill");
        }

        fn stop_reading(&self) {
            self.note("stop reading");
        }
    }

    /// A send that fails ends the writer thread, which must not read: the peer's abort notice may
    /// be among what came before.
    #[test]
    fn after_a_failed_send_the_writer_thread_leaves_what_came_to_the_channel() {
        let sink = Arc::new(Reset::default());
        let outlet = Outlet::threaded(sink.clone(), None).unwrap();
        assert_eq!(outlet.push(&mut vec![1]), Err(TransportReason::Closed));
        // The writer thread's reference goes with it: the test's and the outlet's stay.
        while Arc::strong_count(&sink) > 2 {
            thread::yield_now();
        }
        assert_eq!(*sink.0.lock().unwrap(), [""; 0]);
        assert_eq!(outlet.finish(Duration::from_secs(1), true), Err(TransportReason::Closed));
        assert_eq!(*sink.0.lock().unwrap(), ["kill"]);
    }
}
