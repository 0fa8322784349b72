//! Packed bits in messages.

use symbolon_primitives::BitVec;
use symbolon_transport::{Channel, Error, Message, Result};

use crate::checks;

/// Receives `n` packed bits.
///
/// # Errors
/// As [`decode_bits`]; `Transport` if the connection is lost.
pub fn receive_bits(channel: &mut Channel, kind: Message, n: usize) -> Result<BitVec> {
    let bytes = channel.recv(kind, BitVec::byte_len(n))?;
    decode_bits(channel, n, &bytes)
}

/// Decodes `n` packed bits that the peer sent.
///
/// Check: every message | `padding of packed bits` | bits that mean nothing | –
///
/// # Errors
/// `PeerMisbehaved` if a bit after the last one is set.
pub fn decode_bits(channel: &Channel, n: usize, bytes: &[u8]) -> Result<BitVec> {
    BitVec::from_bytes(n, bytes).ok_or_else(|| Error::misbehaved(channel.peer(), checks::PADDING))
}
