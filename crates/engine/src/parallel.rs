//! Runs work that handles secrets on several threads, and waits for the work of a peer.

use std::thread::JoinHandle;
use std::time::Duration;

use symbolon_transport::{Channel, NoThread, Result, threads};

/// How many AND gates a slow peer garbles or evaluates in a second.
const SLOW: u64 = 1 << 21;

/// Lets the peer garble or evaluate this many AND gates before its next message. For a step that
/// may take longer than the time-out.
pub fn allow_gates(channel: &mut Channel, gates: u64) {
    channel.allow(Duration::from_millis(gates.saturating_mul(1000) / SLOW));
}

/// Applies `work` to each item with `threads` threads, of which this is one; returns the results in
/// order.
///
/// # Errors
/// `System` if the system gives too few threads.
pub fn in_parallel<I: Send, T: Send>(
    threads: usize,
    items: Vec<I>,
    work: impl Fn(I) -> T + Sync,
) -> Result<Vec<T>> {
    let n = items.len();
    if threads <= 1 || n <= 1 {
        return Ok(items.into_iter().map(work).collect());
    }
    let share = n.div_ceil(threads.min(n));
    let mut items = items.into_iter();
    let own: Vec<I> = items.by_ref().take(share).collect();
    let process = |part: Vec<I>| {
        symbolon_primitives::stack::wiped(|| part.into_iter().map(&work).collect::<Vec<T>>())
    };
    let others = (1..n.div_ceil(share)).map(|_| items.by_ref().take(share).collect());
    let (mut all, others) = threads::beside(others, process, || process(own))?;
    for part in others {
        match part {
            Ok(part) => all.extend(part),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    Ok(all)
}

/// Work in a thread of its own.
pub struct Background<T>(Option<JoinHandle<T>>);

impl<T: Send + 'static> Background<T> {
    /// Starts the work.
    ///
    /// # Errors
    /// `System` if the system gives no thread.
    pub fn start(work: impl FnOnce() -> T + Send + 'static) -> Result<Background<T>> {
        let thread = std::thread::Builder::new().name("symbolon-worker".to_string());
        let thread = thread.spawn(|| symbolon_primitives::stack::wiped(work));
        Ok(Background(Some(thread.map_err(NoThread)?)))
    }

    /// Waits for the result.
    pub fn wait(mut self) -> T {
        match self.0.take().expect("only this takes it").join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl<T> Drop for Background<T> {
    /// Waits, so that no secret of the work is in memory after this.
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            drop(thread.join());
        }
    }
}
