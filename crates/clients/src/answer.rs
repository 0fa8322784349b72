//! What clients learn.

use symbolon_circuit::Type;
use symbolon_primitives::BitVec;
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// What a client keeps to read its answers: their pad, filled up to whole blocks, and the two keys
/// of their tag. Empty if there are no answers. Secret, wiped when it is dropped, never printed.
#[derive(Clone, ZeroizeOnDrop)]
pub struct Receipt(Zeroizing<Vec<u8>>);

impl Receipt {
    pub(crate) fn new(bytes: Zeroizing<Vec<u8>>) -> Receipt {
        Receipt(bytes)
    }

    /// Returns the bytes, as [`Layout::receipt`](crate::Layout::receipt) takes them.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Receipt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Receipt(..)")
    }
}

/// The answers to a client.
#[derive(Debug)]
pub struct Opened {
    /// Names, types and bits of the answers; all bits are zero if an assert failed.
    pub answers: Vec<(String, Type, BitVec)>,
    /// The number of the assert that failed, if one did: see
    /// [`Circuit::failures`](symbolon_circuit::Circuit::failures).
    pub failure: Option<u64>,
}
