//! The points at which a test may change what a party does; none of this is in a normal build.

#[cfg(any(test, feature = "adversary"))]
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(any(test, feature = "adversary"))]
use crate::Kind;
#[cfg(any(test, feature = "adversary"))]
use crate::adversary::{Action, Adversary, HookedAdversary};

/// Marks named points of a protocol at which a test may change data, also for the threads of a
/// party. Does nothing in a normal build.
#[derive(Clone, Default)]
pub struct Tampering {
    #[cfg(any(test, feature = "adversary"))]
    adversary: Option<Arc<Mutex<HookedAdversary>>>,
}

#[cfg(not(any(test, feature = "adversary")))]
impl Tampering {
    /// Lets a test change `data` at this point.
    #[inline(always)]
    pub fn state(&self, _point: &'static str, _data: &mut [u8]) {}
}

#[cfg(any(test, feature = "adversary"))]
impl Tampering {
    pub(crate) fn by(adversary: Box<dyn Adversary>) -> Tampering {
        let hooked = HookedAdversary::new(adversary);
        Tampering { adversary: Some(Arc::new(Mutex::new(hooked))) }
    }

    pub(crate) fn adversary(&self) -> Option<MutexGuard<'_, HookedAdversary>> {
        let adversary = self.adversary.as_ref()?;
        Some(adversary.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns what to do with a message, and what to send; `None` without an adversary.
    pub(crate) fn outgoing(&self, kind: Kind, parts: &[&[u8]]) -> Option<(Action, Vec<u8>)> {
        let mut adversary = self.adversary()?;
        let mut payload = parts.concat();
        let action = adversary.outgoing(kind.name(), &mut payload);
        Some((action, payload))
    }

    /// Lets a test change `data` at this point.
    pub fn state(&self, point: &'static str, data: &mut [u8]) {
        if let Some(mut adversary) = self.adversary() {
            adversary.state(point, data);
        }
    }
}
