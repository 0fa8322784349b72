//! What a client sends.

use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::{Hashes, Receipt};

/// The random bytes before the blocks of a share, so that its hash says nothing of it.
pub(crate) const BLINDING: usize = 32;

/// One party's share of a client's values: secret, wiped when it is dropped, never printed.
#[derive(Clone, ZeroizeOnDrop)]
pub struct Share(Zeroizing<Vec<u8>>);

impl Share {
    pub(crate) fn new(bytes: Zeroizing<Vec<u8>>) -> Share {
        Share(bytes)
    }

    /// Returns the bytes, as [`Layout::accept`](crate::Layout::accept) takes them.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes of the blocks.
    pub(crate) fn blocks(&self) -> &[u8] {
        &self.0[BLINDING..]
    }
}

impl std::fmt::Debug for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Share(..)")
    }
}

/// All that a client makes of its values.
#[derive(Debug)]
pub struct Submission {
    /// One share for each party.
    pub shares: Vec<Share>,
    /// The hashes of all shares, for every party.
    pub hashes: Hashes,
    /// What the client keeps to read its answers.
    pub receipt: Receipt,
}
