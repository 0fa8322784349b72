//! An unbounded queue of byte chunks between two threads, which recycles its buffers.
//!
//! It is the entire memory transport, and connects a channel to its writer thread. Pushing never
//! blocks, so a send cannot deadlock against the peer's send.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::TransportReason;
use crate::raw::{Sink, Source};

/// The minimum rate of a message, in bytes per second: see
/// [`Channel::recv_into`](crate::Channel::recv_into).
pub const MIN_RATE: u64 = 64 << 10;

/// Large messages are passed on in pieces of this size, which fits the L2 cache.
pub(crate) const CHUNK: usize = 256 << 10;

/// The number of buffers kept for re-use. First use of memory is ten times slower than re-use, so
/// it pays to keep some, but not all that a burst needed.
const POOL: usize = 32;

/// How long the reading side stays awake, yielding to other threads, before it sleeps. Bytes that
/// arrive within this time are read at once, rather than after the tens of microseconds that waking
/// a thread takes.
pub(crate) const EAGER: Duration = Duration::from_micros(50);

/// Returns the maximum time for moving `bytes` if no pause may exceed `timeout`.
pub(crate) fn allowance(bytes: usize, timeout: Duration) -> Duration {
    let slowest = Duration::from_millis((bytes as u64).saturating_mul(1000) / MIN_RATE);
    timeout.saturating_add(slowest)
}

/// A chunk of bytes in transit.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) data: Vec<u8>,
    /// The bytes before this index were already read.
    pub(crate) start: usize,
    /// A simulated link holds the chunk back until this time.
    pub(crate) deliver_at: Option<Instant>,
}

impl Chunk {
    pub(crate) fn new(data: Vec<u8>) -> Self {
        Chunk { data, start: 0, deliver_at: None }
    }

    pub(crate) fn rest(&self) -> &[u8] {
        &self.data[self.start..]
    }
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Chunk>,
    pool: Vec<Vec<u8>>,
    /// The number of bytes pushed and not yet given back by the reading side.
    outstanding: usize,
    /// The number of chunks pushed and not yet given back.
    chunks: usize,
    /// The writing side will push no more.
    ended: bool,
    /// The reading side has read everything, or has failed.
    finished: bool,
    /// Why the reading side stopped.
    failed: Option<TransportReason>,
    /// The writing side waits no longer.
    impatient: bool,
    /// The reading side reads no more; what is pushed is discarded.
    deaf: bool,
}

impl State {
    /// Returns whether nothing comes after what is queued.
    fn is_over(&self) -> bool {
        self.ended || self.failed.is_some() || self.deaf
    }
}

/// The queue itself; both sides hold it in an [`Arc`].
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    state: Mutex<State>,
    /// Signals a chunk, or the end.
    readable: Condvar,
    /// Signals that a chunk was read, or the reading side ended.
    progress: Condvar,
}

impl Pipe {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Pipe::default())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a chunk and returns an empty buffer in its place.
    pub(crate) fn push(&self, chunk: Chunk) -> Result<Vec<u8>, TransportReason> {
        let mut state = self.state();
        if let Some(reason) = &state.failed {
            return Err(reason.clone());
        }
        if state.ended {
            return Err(TransportReason::ClosedHere);
        }
        if state.deaf {
            let mut data = chunk.data;
            data.clear();
            return Ok(data);
        }
        state.outstanding += chunk.rest().len();
        state.chunks += 1;
        state.queue.push_back(chunk);
        let spare = state.pool.pop().unwrap_or_default();
        drop(state);
        self.readable.notify_one();
        Ok(spare)
    }

    /// Takes the oldest chunk; waits for one for at most `wait`. Returns `None` at the end.
    pub(crate) fn pop(&self, wait: Option<Duration>) -> Result<Option<Chunk>, TransportReason> {
        if let Some(chunk) = self.pop_soon() {
            return Ok(Some(chunk));
        }
        let deadline = wait.map(|wait| Instant::now() + wait);
        let mut state = self.state();
        loop {
            if let Some(chunk) = state.queue.pop_front() {
                return Ok(Some(chunk));
            }
            if state.is_over() {
                return Ok(None);
            }
            let Some(deadline) = deadline else {
                state = self.readable.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(TransportReason::TimedOut(wait.unwrap_or_default()));
            }
            state =
                self.readable.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes the oldest chunk if it arrives within [`EAGER`].
    fn pop_soon(&self) -> Option<Chunk> {
        let mut since = None;
        loop {
            let mut state = self.state();
            if let Some(chunk) = state.queue.pop_front() {
                return Some(chunk);
            }
            if state.is_over() {
                return None;
            }
            drop(state);
            if since.get_or_insert_with(Instant::now).elapsed() >= EAGER {
                return None;
            }
            thread::yield_now();
        }
    }

    /// Gives a chunk back once its bytes were processed.
    pub(crate) fn give_back(&self, chunk: Chunk) {
        let mut state = self.state();
        state.outstanding = state.outstanding.saturating_sub(chunk.rest().len());
        state.chunks = state.chunks.saturating_sub(1);
        let mut data = chunk.data;
        if state.pool.len() < POOL {
            data.clear();
            state.pool.push(data);
        }
        drop(state);
        self.progress.notify_all();
    }

    /// Declares that nothing more will be pushed.
    pub(crate) fn end(&self) {
        self.state().ended = true;
        self.readable.notify_all();
    }

    /// Declares that nothing more will be read, and why. The first reason stays.
    pub(crate) fn fail(&self, reason: TransportReason) {
        let mut state = self.state();
        state.failed.get_or_insert(reason);
        state.finished = true;
        state.queue.clear();
        state.outstanding = 0;
        drop(state);
        self.readable.notify_all();
        self.progress.notify_all();
    }

    /// Ends reading, now and later. Pushing still works, so the writing side notices nothing before
    /// the reading side's last word reaches it.
    pub(crate) fn stop_reading(&self) {
        let mut state = self.state();
        state.deaf = true;
        state.queue.clear();
        (state.outstanding, state.chunks) = (0, 0);
        drop(state);
        self.readable.notify_all();
        self.progress.notify_all();
    }

    /// Ends [`wait_below`](Pipe::wait_below), now and later. Pushing still works.
    pub(crate) fn stop_waiting(&self) {
        self.state().impatient = true;
        self.progress.notify_all();
    }

    /// Declares that everything was read and processed.
    pub(crate) fn finish(&self) {
        self.state().finished = true;
        self.progress.notify_all();
    }

    /// Returns why reading stopped, if it did.
    pub(crate) fn failure(&self) -> Option<TransportReason> {
        self.state().failed.clone()
    }

    /// Returns whether everything that was pushed has been processed.
    pub(crate) fn is_idle(&self) -> bool {
        self.state().chunks == 0
    }

    /// Returns whether a pop would find a chunk or the end at once.
    pub(crate) fn has_news(&self) -> bool {
        let state = self.state();
        !state.queue.is_empty() || state.is_over()
    }

    /// Returns the number of bytes pushed and not yet processed.
    pub(crate) fn outstanding(&self) -> usize {
        self.state().outstanding
    }

    /// Waits until at most `max` bytes are outstanding. Gives up after `limit` without progress,
    /// after the [`allowance`] for all of it, at the time `by`, or at once after
    /// [`stop_waiting`](Pipe::stop_waiting).
    pub(crate) fn wait_below(
        &self,
        max: usize,
        limit: Duration,
        by: Option<Instant>,
    ) -> Result<(), TransportReason> {
        let mut state = self.state();
        let mut seen = state.outstanding;
        let mut deadline = Instant::now() + limit;
        let end = Instant::now() + allowance(seen, limit);
        let end = by.map_or(end, |by| by.min(end));
        loop {
            if let Some(reason) = &state.failed {
                return Err(reason.clone());
            }
            if state.outstanding <= max {
                return Ok(());
            }
            if state.impatient {
                return Err(TransportReason::ClosedHere);
            }
            let now = Instant::now();
            if state.outstanding != seen {
                seen = state.outstanding;
                deadline = now + limit;
            }
            let left = deadline.min(end).saturating_duration_since(now);
            if left.is_zero() {
                return Err(TransportReason::TimedOut(limit));
            }
            state =
                self.progress.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the reading side finished or failed; returns whether it did within `limit` plus,
    /// if `all` is still to be sent, the time that its length allows.
    pub(crate) fn wait_finished(&self, limit: Duration, all: bool) -> bool {
        let state = self.state();
        let limit = if all { allowance(state.outstanding, limit) } else { limit };
        let (state, _) = self
            .progress
            .wait_timeout_while(state, limit, |state| !state.finished)
            .unwrap_or_else(PoisonError::into_inner);
        state.finished
    }
}

/// The reading end of a pipe, as a channel's source.
#[derive(Debug)]
pub(crate) struct PipeSource {
    pipe: Arc<Pipe>,
    chunk: Option<Chunk>,
}

impl PipeSource {
    pub(crate) fn new(pipe: Arc<Pipe>) -> Self {
        PipeSource { pipe, chunk: None }
    }
}

impl Source for PipeSource {
    fn read(&mut self, dst: &mut [u8], wait: Duration) -> Result<usize, TransportReason> {
        loop {
            let mut chunk = match self.chunk.take() {
                Some(chunk) => chunk,
                None => self.pipe.pop(Some(wait))?.ok_or(TransportReason::Closed)?,
            };
            let n = chunk.rest().len().min(dst.len());
            dst[..n].copy_from_slice(&chunk.rest()[..n]);
            chunk.start += n;
            if chunk.rest().is_empty() {
                // The buffer is given back at once, because a sender may be waiting for it.
                self.pipe.give_back(Chunk { start: 0, ..chunk });
            } else {
                self.chunk = Some(chunk);
            }
            if n > 0 {
                return Ok(n);
            }
        }
    }

    fn ready(&self) -> usize {
        self.chunk.as_ref().map_or(0, |chunk| chunk.rest().len())
    }

    fn has_input(&mut self) -> bool {
        self.chunk.is_some() || self.pipe.has_news()
    }
}

impl Drop for PipeSource {
    fn drop(&mut self) {
        self.pipe.fail(TransportReason::Closed);
    }
}

/// The writing end of a pipe, as the sink of a writer thread (for a memory transport over a
/// simulated link).
#[derive(Debug)]
pub(crate) struct PipeSink {
    pipe: Arc<Pipe>,
    /// The pipe in the other direction, which ends together with this one when the connection is
    /// killed.
    back: Arc<Pipe>,
    spare: Mutex<Vec<u8>>,
}

impl PipeSink {
    pub(crate) fn new(pipe: Arc<Pipe>, back: Arc<Pipe>) -> Self {
        PipeSink { pipe, back, spare: Mutex::default() }
    }
}

impl Sink for PipeSink {
    fn write(&self, data: &[u8]) -> Result<(), TransportReason> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let mut copy = std::mem::take(&mut *spare);
        copy.extend_from_slice(data);
        *spare = self.pipe.push(Chunk::new(copy))?;
        Ok(())
    }

    fn close(&self) {
        self.pipe.end();
    }

    fn kill(&self) {
        hang_up(&self.pipe, &self.back);
    }

    fn stop_reading(&self) {
        self.back.stop_reading();
    }
}

/// Ends both directions of a connection in memory: nothing more is sent through `out`, and a read
/// of `back` ends at once.
pub(crate) fn hang_up(out: &Pipe, back: &Pipe) {
    out.end();
    back.fail(TransportReason::Closed);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn order_end_and_recycling() {
        let pipe = Pipe::new();
        let mut source = PipeSource::new(pipe.clone());
        pipe.push(Chunk::new(vec![1, 2, 3])).unwrap();
        pipe.push(Chunk::new(vec![4])).unwrap();
        assert_eq!(pipe.outstanding(), 4);
        let mut buf = [0; 2];
        assert_eq!(source.read(&mut buf, SHORT), Ok(2));
        assert_eq!(source.read(&mut buf, SHORT), Ok(1));
        assert_eq!(buf[0], 3);
        assert_eq!(source.read(&mut buf, SHORT), Ok(1));
        assert_eq!(source.read(&mut buf, SHORT), Err(TransportReason::TimedOut(SHORT)));
        assert!(pipe.is_idle() && pipe.outstanding() == 0);
        assert!(pipe.push(Chunk::new(vec![5])).unwrap().capacity() > 0, "a recycled buffer");
        pipe.end();
        assert_eq!(source.read(&mut buf, SHORT), Ok(1), "what was sent before the end arrives");
        assert_eq!(source.read(&mut buf, SHORT), Err(TransportReason::Closed));
        assert_eq!(pipe.push(Chunk::default()), Err(TransportReason::ClosedHere));
    }

    #[test]
    fn a_gone_reader_fails_the_writer() {
        let pipe = Pipe::new();
        drop(PipeSource::new(pipe.clone()));
        assert_eq!(pipe.push(Chunk::new(vec![1])), Err(TransportReason::Closed));
        assert_eq!(pipe.wait_below(0, SHORT, None), Err(TransportReason::Closed));
        assert!(pipe.wait_finished(SHORT, true));
    }

    #[test]
    fn waiting_for_a_reader_that_does_not_read_ends() {
        let pipe = Pipe::new();
        pipe.push(Chunk::new(vec![0; 10])).unwrap();
        assert_eq!(pipe.wait_below(9, SHORT, None), Err(TransportReason::TimedOut(SHORT)));
        assert_eq!(pipe.wait_below(10, SHORT, None), Ok(()));
        assert!(!pipe.wait_finished(SHORT, true));
        let now = Some(Instant::now());
        let long = Duration::from_secs(60);
        assert_eq!(pipe.wait_below(9, long, now), Err(TransportReason::TimedOut(long)));
        assert_eq!(pipe.wait_below(10, long, now), Ok(()));
    }

    #[test]
    fn waiting_for_a_reader_can_be_stopped() {
        let pipe = Pipe::new();
        pipe.push(Chunk::new(vec![0; 10])).unwrap();
        let long = Duration::from_secs(60);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| pipe.wait_below(9, long, None));
            pipe.stop_waiting();
            assert_eq!(waiting.join().unwrap(), Err(TransportReason::ClosedHere));
        });
        assert_eq!(pipe.wait_below(10, long, None), Ok(()));
        assert!(pipe.push(Chunk::new(vec![1])).is_ok());
    }
}
