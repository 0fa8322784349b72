//! The outputs that a reactive computation keeps for later parts.

use symbolon_primitives::Block;
use zeroize::Zeroizing;

use super::commit::Received;
use super::recover::Recovered;

/// The outputs of a part, to which inputs of later parts can be linked.
pub(super) struct KeptOutputs<K> {
    /// The range of each output's bits.
    pub ranges: Vec<std::ops::Range<usize>>,
    /// For each output bit, the constant that is added to its sum of wires.
    pub constants: Vec<bool>,
    /// What the party holds of these outputs: at the garbler, the commitment to each output bit's
    /// sum of wires; at the evaluator, [`KeptKeys`].
    pub keys: K,
}

/// What the evaluator holds of output bits.
pub(super) struct KeptKeys {
    /// The evaluator's side of the garbler's commitments.
    pub sums: Received,
    /// For each bit, the sum of the keys of its wires, and the sum of Δ ⊕ Δ_ot over the wires whose
    /// key has colour 1.
    pub bits: Zeroizing<Vec<[Block; 2]>>,
    /// The values of the bits if they were recovered; the keys may then be for other values.
    pub right: Recovered,
}
