//! Cancels a party's waits from another thread.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::outlet::Interrupt;
use crate::{Channel, Error, Result};

/// How often a wait checks for cancellation.
pub const CANCEL_POLL: Duration = Duration::from_millis(100);

/// Cancels what one party does, from any thread: the wait for peers, and every channel that it
/// [watches](CancelHandle::watch).
///
/// Clones are the same handle. It cannot be reset.
#[derive(Clone, Default)]
pub struct CancelHandle(Arc<Inner>);

#[derive(Default)]
struct Inner {
    cancelled: AtomicBool,
    channels: Mutex<Vec<Interrupt>>,
}

impl CancelHandle {
    /// Returns a handle that cancels nothing yet.
    pub fn new() -> CancelHandle {
        CancelHandle::default()
    }

    /// Cancels: every receive and throttle that waits on a watched channel fails within
    /// [`CANCEL_POLL`] with [`Error::Cancelled`], and so does every later send and receive. The
    /// connections stay whole, so that abort notices can still be sent and reach the peers.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        self.interrupt_all();
    }

    /// Returns whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// Watches this channel, too. If the handle was cancelled before, the channel is cancelled at
    /// once.
    pub fn watch(&self, channel: &Channel) {
        let mut channels = self.channels();
        channels.retain(Interrupt::is_live);
        channels.push(channel.interrupt());
        drop(channels);
        // `cancel` sets the flag before it takes the lock, so one of the two calls sees the other.
        if self.is_cancelled() {
            self.interrupt_all();
        }
    }

    /// Fails if it was cancelled.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    fn interrupt_all(&self) {
        self.channels().drain(..).for_each(Interrupt::interrupt);
    }

    fn channels(&self) -> std::sync::MutexGuard<'_, Vec<Interrupt>> {
        self.0.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CancelHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelHandle").field(&self.is_cancelled()).finish()
    }
}
