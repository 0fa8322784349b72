//! The outputs of the parts of a reactive computation, which nobody saw.

use symbolon_primitives::Block;
use zeroize::Zeroizing;

use super::commit::{Committed, Received};
use super::recover::Recovered;

/// The outputs of a part, which later parts can be linked to.
pub(super) struct Held {
    /// Where the bits of each output start and end.
    pub ranges: Vec<std::ops::Range<usize>>,
    /// What is added to the sum of wires that each output bit is.
    pub constants: Vec<bool>,
    pub keys: Keys,
}

/// What a party holds of them.
pub(super) enum Keys {
    /// Commitments to the sum of wires that each output bit is.
    Garbler(Committed),
    Evaluator(HeldKeys),
}

/// What the evaluator holds of output bits.
pub(super) struct HeldKeys {
    /// As the garbler's commitments.
    pub sums: Received,
    /// Of each bit, the sum of the keys of its wires, and the sum of their Δ ⊕ Δ_ot where the key
    /// has colour 1.
    pub bits: Zeroizing<Vec<[Block; 2]>>,
    /// The values of the bits, if they were recovered: the keys may be of others.
    pub right: Recovered,
}
