//! Openings that are agreed on now and made later, perhaps by other processes.
//!
//! The proof of an opening includes its number; an opening that is made later takes its number now.
//! Until then the committer keeps a few bytes, and the receiver keeps these bytes and Δ. Another
//! process does not know of failed checks in this one: the caller that keeps the bytes must ensure
//! that a failed check ends everything under the same Δ, including what is kept.

use blake3::Hasher;
use symbolon_ot::vole::VerifierKey;
use zeroize::Zeroizing;

use super::row_hasher::RowHasher;
use super::{Committer, OwnOpening, Params, Receiver, TheirOpening};

/// Bytes of an opening's number.
const START: usize = 32;

/// The committer's side of an opening that is made later.
pub struct OwnLater([u8; START]);

/// The receiver's side of an opening that is made later.
pub struct TheirLater {
    start: [u8; START],
    key: VerifierKey,
}

impl Committer {
    /// Takes the number of an opening that is made later. The peer calls [`Receiver::later`].
    pub fn later(&mut self) -> OwnLater {
        OwnLater(*self.openings.begin().finish().as_bytes())
    }
}

impl Receiver {
    /// Takes the number of an opening that is made later. The peer calls [`Committer::later`].
    pub fn later(&mut self) -> TheirLater {
        let start = *self.openings.begin().finish().as_bytes();
        TheirLater { start, key: self.verifier.key().clone() }
    }
}

fn numbered(start: &[u8; START], number: &[u8; START]) -> [u8; START] {
    let mut hasher = Hasher::new_derive_key("symbolon commitments 1: numbered opening");
    hasher.update(start).update(number);
    *hasher.finalize().as_bytes()
}

impl OwnLater {
    /// Begins the opening.
    pub fn opening(self) -> OwnOpening {
        OwnOpening { hasher: RowHasher::new(Hasher::new_keyed(&self.0)) }
    }

    /// Derives one of any number of openings from this one; each takes a different number.
    pub fn numbered(&self, number: &[u8; START]) -> OwnLater {
        OwnLater(numbered(&self.0, number))
    }

    /// Returns the bytes to store.
    pub fn to_bytes(&self) -> [u8; START] {
        self.0
    }

    /// Reads stored bytes.
    pub fn from_bytes(bytes: [u8; START]) -> OwnLater {
        OwnLater(bytes)
    }
}

impl TheirLater {
    /// Begins the opening.
    pub fn opening(self) -> TheirOpening {
        TheirOpening { hasher: RowHasher::new(Hasher::new_keyed(&self.start)), key: self.key }
    }

    /// Derives an opening as [`OwnLater::numbered`] does.
    pub fn numbered(&self, number: &[u8; START]) -> TheirLater {
        TheirLater { start: numbered(&self.start, number), key: self.key.clone() }
    }

    /// Returns how many bytes are stored.
    pub fn bytes(params: &Params) -> usize {
        START + 8 * params.row_words()
    }

    /// Returns the bytes to store, which are secret.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let delta = self.key.to_bytes();
        let mut bytes = Zeroizing::new(Vec::with_capacity(START + delta.len()));
        bytes.extend_from_slice(&self.start);
        bytes.extend_from_slice(&delta);
        bytes
    }

    /// Reads stored bytes. Returns `None` if they are not as many as [`bytes`](TheirLater::bytes)
    /// says.
    pub fn from_bytes(params: &Params, bytes: &[u8]) -> Option<TheirLater> {
        let (start, delta) = bytes.split_at_checked(START)?;
        let key = VerifierKey::from_bytes(params, delta)?;
        Some(TheirLater { start: start.try_into().ok()?, key })
    }
}
