//! What tells applications that something changed, so that they need not ask again and again.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;

/// Whether a node still runs; notified at every change.
pub(crate) struct Told(watch::Sender<bool>);

impl Told {
    pub(crate) fn new() -> Told {
        Told(watch::Sender::new(true))
    }

    /// Something changed.
    pub(crate) fn tell(&self) {
        self.0.send_modify(|_| {});
    }

    /// The node has ended.
    pub(crate) fn end(&self) {
        self.0.send_replace(false);
    }

    pub(crate) fn changes(&self) -> Changes {
        Changes { node: self.0.subscribe() }
    }
}

/// Tells when what [`Node::stock`](crate::Node::stock) and
/// [`Node::announced`](crate::Node::announced) return may have changed. What has changed meanwhile
/// is told once.
#[derive(Debug)]
pub struct Changes {
    node: watch::Receiver<bool>,
}

impl Changes {
    /// Waits until something changed since this was made, or since it last said so. Returns `false`
    /// once the node has ended. A future that is dropped loses nothing: the next one says the same.
    pub async fn next(&mut self) -> bool {
        let runs = |node: &watch::Receiver<bool>| *node.borrow();
        runs(&self.node) && self.node.changed().await.is_ok() && runs(&self.node)
    }

    /// The same with a thread, for at most this long; returns whether something changed.
    pub fn wait(&mut self, time: Duration) -> bool {
        let until = Instant::now().checked_add(time);
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut next = pin!(self.next());
        loop {
            if let Poll::Ready(changed) = next.as_mut().poll(&mut context) {
                return changed;
            }
            let left = until.map_or(time, |at| at.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return false;
            }
            std::thread::park_timeout(left);
        }
    }
}

/// Wakes a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
