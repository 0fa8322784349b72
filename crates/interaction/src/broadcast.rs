//! Broadcast with abort: parties send to everybody, log what they saw, and compare the logs.

use symbolon_transport::{Channel, Culprit, Error, PartyId, Result};
use zeroize::ZeroizeOnDrop;

use crate::checks::BROADCAST;
use crate::messages::ECHO;

/// Everything that all parties should have received identically, by sender.
///
/// With two parties there is nobody to compare with, and nothing is sent.
#[derive(ZeroizeOnDrop)]
pub struct BroadcastLog {
    /// Public, but the unused part of a hasher's buffer holds old bytes of the stack.
    senders: Vec<blake3::Hasher>,
}

impl BroadcastLog {
    /// Returns an empty log for `parties` parties.
    pub fn new(parties: usize) -> Self {
        let hasher = blake3::Hasher::new_derive_key("symbolon broadcast log 1");
        BroadcastLog { senders: vec![hasher; parties] }
    }

    /// Adds `data`, which party `sender` broadcast.
    pub fn note(&mut self, sender: PartyId, data: &[u8]) {
        let log = &mut self.senders[sender.index()];
        log.update(&(data.len() as u64).to_le_bytes()).update(data);
    }

    /// Returns the digest of the whole log.
    pub fn digest(&self) -> [u8; 32] {
        let mut all = blake3::Hasher::new_derive_key("symbolon broadcast log 1: all");
        for sender in &self.senders {
            all.update(sender.finalize().as_bytes());
        }
        *all.finalize().as_bytes()
    }
}

/// Compares the `digest` of a log with every peer.
///
/// Paper: YWZ20, Fig. 4, 6 | Π_aBit: the broadcasts are compared
///
/// Check: broadcasts, n > 2 | `broadcast echo`, before anything that relies on them is sent (U of
/// leaky ANDs and the blinding of their check rely on none:
/// `docs/proofs/leaky-ands.md#u-before-the-echo`) | different values to different parties | 2^-128
///
/// # Errors
/// `PeerMisbehaved` when a peer's digest differs. That peer may be honest, and a third party may
/// have told the two different things, so the error names nobody.
pub fn confirm_broadcasts(channels: &mut [Channel], digest: &[u8; 32]) -> Result<()> {
    if channels.len() < 2 {
        return Ok(());
    }
    for channel in channels.iter_mut() {
        channel.send(ECHO, digest)?;
        channel.flush()?;
    }
    // Read all echoes before giving up: an honest peer that has not sent its echo yet would
    // otherwise only see a lost connection.
    let echoes: Vec<Result<[u8; 32]>> =
        channels.iter_mut().map(|channel| channel.recv_array(ECHO)).collect();
    if echoes.iter().flatten().any(|echo| echo != digest) {
        return Err(Error::misbehaved(Culprit::Unknown, BROADCAST));
    }
    echoes.into_iter().try_for_each(|echo| echo.map(drop))
}
