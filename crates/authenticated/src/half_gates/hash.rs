//! The hashes of one garbler's labels.

use symbolon_circuit::PartyId;
use symbolon_primitives::{Block, TweakedHash, derive_block};

/// The hashes for a garbler's labels. The evaluator has one set per garbler.
pub(super) struct LabelHash {
    /// The hash of half-gates.
    pub half: TweakedHash,
    /// For each other garbler, in ascending order: the hash of rows that contain MACs under its Δ.
    rows: Vec<TweakedHash>,
}

impl LabelHash {
    /// Returns the hashes for `garbler`; `garblers` lists all of them in ascending order, including
    /// itself.
    pub fn new(session: &[u8; 32], garbler: PartyId, garblers: &[PartyId]) -> Self {
        let hash = |domain, other: PartyId| {
            let pair = u64::from(garbler) << 16 | u64::from(other);
            TweakedHash::new(derive_block(domain, session, pair))
        };
        LabelHash {
            half: hash("symbolon ywz half-gates 1", garbler),
            rows: garblers
                .iter()
                .filter(|other| **other != garbler)
                .map(|other| hash("symbolon ywz rows 1", *other))
                .collect(),
        }
    }

    /// Hashes a label of α and one of β for each gate, with gates numbered from `first`.
    pub fn evaluate(&self, first: u64, labels: &mut [Block]) {
        self.half.hash(2 * u128::from(first), 1, labels);
    }

    /// Hashes `group` row inputs per gate, for the rows that contain MACs under the Δ of the other
    /// garbler with index `other`.
    pub fn rows(&self, other: usize, first: u64, group: usize, inputs: &mut [Block]) {
        self.rows[other].hash_linear(u128::from(first), group, inputs);
    }

    /// Returns the number of other garblers.
    pub fn others(&self) -> usize {
        self.rows.len()
    }
}
