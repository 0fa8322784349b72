//! What every generator of correlated OTs offers.

use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Channel, Result};

/// The side that holds Δ and gets keys.
///
/// A session stays open across draws. Each call of [`extend`](CotSender::extend) runs its own
/// consistency check before it returns, so keys that were returned belong to choice bits that are
/// fixed and consistent.
pub trait CotSender: Send {
    /// The global key Δ.
    fn delta(&self) -> Block;

    /// The largest draw that one call of [`extend`](CotSender::extend) may make.
    fn max_draw(&self) -> usize;

    /// Fills `keys` with fresh keys, one per choice bit that the peer draws at the same time with
    /// [`CotReceiver::extend`]. Receives one message and its check.
    ///
    /// # Errors
    /// `PeerMisbehaved` when the consistency check fails, after which the session must be dropped;
    /// `Transport` when the peer is gone; `InvalidInput` when `keys` is longer than
    /// [`max_draw`](CotSender::max_draw).
    fn extend(&mut self, channel: &mut Channel, keys: &mut [Block]) -> Result<()>;
}

/// The side that holds the choice bits and gets MACs.
pub trait CotReceiver: Send {
    /// The largest draw that one call of [`extend`](CotReceiver::extend) may make.
    fn max_draw(&self) -> usize;

    /// Fills `macs` with a MAC for each of `choices`: M_k = K_k ⊕ x_k·Δ. Only sends, so it never
    /// waits for the peer.
    ///
    /// # Errors
    /// `Transport` when the peer is gone; `InvalidInput` when the lengths differ or are larger than
    /// [`max_draw`](CotReceiver::max_draw).
    fn extend(&mut self, channel: &mut Channel, choices: &BitVec, macs: &mut [Block])
    -> Result<()>;
}
