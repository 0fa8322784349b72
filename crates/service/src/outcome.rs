//! Where a call's answer arrives: for threads and for futures.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use symbolon::Outputs;
use tokio::sync::Notify;

use crate::error::CallError;

/// What became of a call: what this party learnt, or why it has no answer. Outputs are wiped when
/// the last copy of the answer is dropped.
pub type Answer = Arc<Result<Outputs, CallError>>;

#[derive(Default)]
pub(crate) struct Outcome {
    answer: Mutex<Option<Answer>>,
    arrived: Condvar,
    notify: Notify,
}

impl Outcome {
    pub(crate) fn set(&self, answer: Answer) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        self.arrived.notify_all();
        self.notify.notify_waiters();
    }

    pub(crate) fn get(&self) -> Option<Answer> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for the answer for at most this long.
    pub(crate) fn wait(&self, time: Duration) -> Option<Answer> {
        let until = Instant::now() + time;
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if answer.is_some() {
                return answer.clone();
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.arrived.wait_timeout(answer, left);
            answer = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits for the answer without a thread. A future that is dropped leaves the call as it is.
    pub(crate) async fn arrived(&self) -> Answer {
        loop {
            let notified = self.notify.notified();
            tokio::pin!(notified);
            // From here on no notice is missed.
            notified.as_mut().enable();
            if let Some(answer) = self.get() {
                return answer;
            }
            notified.await;
        }
    }
}
