//! The sending half of a channel: directly into the peer's memory, or through a writer thread.

use std::fmt;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::link::{Direction, wait_until};
use crate::pipe::{Chunk, Pipe, hang_up};
use crate::raw::{Sink, Tried};
use crate::{NoThread, TransportReason};

/// How long a peer that sends nothing has to close after us. An aborting side waits for that;
/// otherwise the writer thread does.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// The maximum number of pieces per system call; all systems accept at least this many.
const PIECES: usize = 16;

/// The sending half.
pub(crate) struct Outlet {
    pipe: Arc<Pipe>,
    end: End,
    link: Option<Direction>,
    /// Set by [`Interrupt::interrupt`].
    interrupted: Arc<AtomicBool>,
}

/// The consumer at the end of the pipe.
#[derive(Clone)]
enum End {
    /// A writer thread with this sink.
    Sink(Arc<dyn Sink>),
    /// The peer's source. `back` is the pipe in the other direction.
    Peer { back: Arc<Pipe> },
}

impl Outlet {
    /// Creates an outlet that passes chunks directly to the peer's [`crate::pipe::PipeSource`]. The
    /// peer's data arrive through `back`.
    pub(crate) fn direct(pipe: Arc<Pipe>, back: Arc<Pipe>) -> Self {
        let interrupted = Arc::default();
        Outlet { pipe, end: End::Peer { back }, link: None, interrupted }
    }

    /// Creates an outlet that passes chunks through a new writer thread to `sink`, delayed by
    /// `link`.
    pub(crate) fn threaded(sink: Arc<dyn Sink>, link: Option<Direction>) -> crate::Result<Self> {
        let pipe = Pipe::new();
        let (queue, out) = (pipe.clone(), sink.clone());
        thread::Builder::new()
            .name("symbolon-writer".to_string())
            .spawn(move || write_all(&queue, &*out))
            .map_err(NoThread)?;
        Ok(Outlet { pipe, end: End::Sink(sink), link, interrupted: Arc::default() })
    }

    /// Returns the size from which a buffer is passed on in the middle of a message.
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

    /// Sends a buffer, and then as much of `parts` as possible without copying; returns how many of
    /// their bytes were sent. That may be none, and the buffer may be unchanged. Never blocks on
    /// the peer.
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

    /// Returns the sink if the writer thread is idle.
    fn idle_sink(&self) -> Option<&dyn Sink> {
        self.sink().filter(|_| self.pipe.failure().is_none() && self.pipe.is_idle())
    }

    /// Returns the sink; `None` if the pipe ends in the peer's source.
    fn sink(&self) -> Option<&dyn Sink> {
        match &self.end {
            End::Sink(sink) => Some(&**sink),
            End::Peer { .. } => None,
        }
    }

    /// Makes a failure end the pipe, too.
    fn tried<T>(&self, tried: Result<T, TransportReason>) -> Result<T, TransportReason> {
        tried.inspect_err(|reason| self.pipe.fail(reason.clone()))
    }

    /// Returns a handle that ends the connection from another thread.
    pub(crate) fn hangup(&self) -> Hangup {
        Hangup { pipe: self.pipe.clone(), end: self.end.clone() }
    }

    /// Returns a handle that stops receiving and throttling from another thread.
    pub(crate) fn interrupt(&self) -> Interrupt {
        let source = match &self.end {
            End::Sink(sink) => Interrupted::Sink(Arc::downgrade(sink)),
            End::Peer { back } => Interrupted::Pipe(Arc::downgrade(back)),
        };
        let pipe = Arc::downgrade(&self.pipe);
        Interrupt { flag: self.interrupted.clone(), pipe, source }
    }

    /// Returns whether [`Interrupt::interrupt`] was called.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Returns the number of bytes passed on and not yet taken by the transport.
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

    /// Sets how long the peer may block the writer.
    pub(crate) fn set_timeout(&self, timeout: Duration) {
        if let Some(sink) = self.sink() {
            sink.set_timeout(timeout);
        }
    }

    /// Ends the sending half. What was passed on is still sent, within `limit` plus the time that
    /// its length allows. With `aborted`, only within `limit`, and then the peer has a moment to
    /// read: longer if it still sends, which shows that it has not read all of it yet.
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
                    sink.linger(LINGER.min(limit), limit);
                }
                return Ok(());
            }
            None => TransportReason::TimedOut(limit),
        };
        sink.kill();
        Err(failure)
    }
}

/// Ends a channel from a thread other than the one that uses it.
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

/// Stops a channel's waiting from another thread; the channel can still send an abort notice.
/// Does not keep the connection open.
pub(crate) struct Interrupt {
    flag: Arc<AtomicBool>,
    /// What this side sends.
    pipe: Weak<Pipe>,
    source: Interrupted,
}

/// The object that ends a blocked read.
enum Interrupted {
    Sink(Weak<dyn Sink>),
    Pipe(Weak<Pipe>),
}

impl Interrupt {
    /// Makes a blocked receive or throttle, and every later one, fail at once.
    pub(crate) fn interrupt(self) {
        self.flag.store(true, Ordering::SeqCst);
        if let Some(pipe) = self.pipe.upgrade() {
            pipe.stop_waiting();
        }
        match self.source {
            Interrupted::Sink(sink) => {
                if let Some(sink) = sink.upgrade() {
                    sink.stop_reading();
                }
            }
            Interrupted::Pipe(pipe) => {
                if let Some(pipe) = pipe.upgrade() {
                    pipe.stop_reading();
                }
            }
        }
    }

    /// Returns whether the channel still exists.
    pub(crate) fn is_live(&self) -> bool {
        match &self.source {
            Interrupted::Sink(sink) => sink.strong_count() > 0,
            Interrupted::Pipe(pipe) => pipe.strong_count() > 0,
        }
    }
}

/// Runs the writer thread.
fn write_all(queue: &Pipe, sink: &dyn Sink) {
    // Without a time limit, `pop` returns only a chunk or the end.
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
        // The channel must still read what the peer sent last, such as its abort notice; lingering
        // would discard it.
        return;
    }
    sink.close();
    queue.finish();
    sink.linger(LINGER, LINGER);
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A socket that the peer has reset.
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

        fn linger(&self, _quiet: Duration, _most: Duration) {
            self.note("linger");
        }

        fn kill(&self) {
            self.note("kill");
        }

        fn stop_reading(&self) {
            self.note("stop reading");
        }
    }

    /// A failed send ends the writer thread, which must not read, because unread data may contain
    /// the peer's abort notice.
    #[test]
    fn after_a_failed_send_the_writer_thread_leaves_what_came_to_the_channel() {
        let sink = Arc::new(Reset::default());
        let outlet = Outlet::threaded(sink.clone(), None).unwrap();
        assert_eq!(outlet.push(&mut vec![1]), Err(TransportReason::Closed));
        // The writer thread drops its reference at its end; those of the test and the outlet
        // remain.
        while Arc::strong_count(&sink) > 2 {
            thread::yield_now();
        }
        assert_eq!(*sink.0.lock().unwrap(), [""; 0]);
        assert_eq!(outlet.finish(Duration::from_secs(1), true), Err(TransportReason::Closed));
        assert_eq!(*sink.0.lock().unwrap(), ["kill"]);
    }
}
