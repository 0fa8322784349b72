//! Openings that are agreed on now and made later, perhaps by other processes.
//!
//! An opening has a number, which enters its proof; one that is made later takes its number now.
//! What is left of the sides is a block of bytes at the committer, and Δ besides at the receiver.
//! Checks in another process know nothing of failures in this one: the caller that keeps the bytes
//! has to see to it that a failed check ends everything under one Δ, also what is kept.

use blake3::Hasher;
use symbolon_ot::vole::VerifierKey;
use zeroize::Zeroizing;

use super::row_hasher::RowHasher;
use super::{Committer, OwnOpening, Params, Receiver, TheirOpening};

/// Bytes of a number.
const START: usize = 32;

/// The committer's side of an opening that is made later.
pub struct OwnLater([u8; START]);

/// The receiver's side.
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

    /// One of any number of openings that are made of this one, each by another number.
    pub fn numbered(&self, number: &[u8; START]) -> OwnLater {
        OwnLater(numbered(&self.0, number))
    }

    /// For a store.
    pub fn to_bytes(&self) -> [u8; START] {
        self.0
    }

    /// Back from a store.
    pub fn from_bytes(bytes: [u8; START]) -> OwnLater {
        OwnLater(bytes)
    }
}

impl TheirLater {
    /// Begins the opening.
    pub fn opening(self) -> TheirOpening {
        TheirOpening { hasher: RowHasher::new(Hasher::new_keyed(&self.start)), key: self.key }
    }

    /// As [`OwnLater::numbered`].
    pub fn numbered(&self, number: &[u8; START]) -> TheirLater {
        TheirLater { start: numbered(&self.start, number), key: self.key.clone() }
    }

    /// Bytes in a store.
    pub fn bytes(params: &Params) -> usize {
        START + 8 * params.row_words()
    }

    /// For a store: a secret.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let delta = self.key.to_bytes();
        let mut bytes = Zeroizing::new(Vec::with_capacity(START + delta.len()));
        bytes.extend_from_slice(&self.start);
        bytes.extend_from_slice(&delta);
        bytes
    }

    /// Back from a store; nothing if there are not as many as [`bytes`](TheirLater::bytes).
    pub fn from_bytes(params: &Params, bytes: &[u8]) -> Option<TheirLater> {
        let (start, delta) = bytes.split_at_checked(START)?;
        let key = VerifierKey::from_bytes(params, delta)?;
        Some(TheirLater { start: start.try_into().ok()?, key })
    }
}
