//! What draws and set-up need to know of silent OT, whose outputs both parties make ahead
//! ([`crate::expansions`]).

use symbolon_primitives::{BitVec, Block};
use symbolon_transport::{Channel, Result};

/// A [`CotSender`](crate::CotSender) whose keys come from expansions.
pub trait SilentSender {
    /// Returns how many outputs draws can have before the next expansion. A draw of columns takes
    /// as many as it has rows, those that hide its hash included.
    fn available(&self) -> usize;

    /// Uses the next outputs as keys of random bits, which the peer gets from
    /// [`SilentReceiver::bits`]. Sends nothing.
    ///
    /// # Errors
    /// `Internal` if fewer are [available](SilentSender::available).
    fn keys(&mut self, keys: &mut [Block]) -> Result<()>;

    /// Chooses the expansions of the next round towards this many available outputs. Returns
    /// whether there are any.
    fn plan(&mut self, need: usize) -> bool;

    /// Receives the base, if this is the first expansion, and sends the messages of a round.
    ///
    /// # Errors
    /// As [`CotSender::extend`](crate::CotSender::extend), for the first base; `Transport` when the
    /// peer is gone; `Internal` after a round that failed.
    fn offer(&mut self, channel: &mut Channel) -> Result<()>;

    /// Receives the challenges, and sends the answers.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    fn answer(&mut self, channel: &mut Channel) -> Result<()>;
}

/// A [`CotReceiver`](crate::CotReceiver) whose MACs come from expansions.
pub trait SilentReceiver {
    /// As [`SilentSender::available`].
    fn available(&self) -> usize;

    /// Uses the next outputs as MACs on random bits, which it returns. Sends nothing.
    ///
    /// # Errors
    /// As [`SilentSender::keys`].
    fn bits(&mut self, macs: &mut [Block]) -> Result<BitVec>;

    /// As [`SilentSender::plan`].
    fn plan(&mut self, need: usize) -> bool;

    /// Sends the base, if this is the first expansion.
    ///
    /// # Errors
    /// `Transport` when the peer is gone; `Internal` after a round that failed.
    fn send_base(&mut self, channel: &mut Channel) -> Result<()>;

    /// Receives the messages of a round, and sends the challenges.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    fn challenge(&mut self, channel: &mut Channel) -> Result<()>;

    /// Receives and checks the answers.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails; then the session must be dropped. `Transport` when the
    /// peer is gone.
    fn accept(&mut self, channel: &mut Channel) -> Result<()>;
}
