//! The hashes of a bucket's output labels, which the garbler sends before it opens the labels.

use std::ops::Range;

use symbolon_primitives::{Block, same_digest};
use symbolon_transport::PartyId;

use super::garble::{Digest, Leaf, LeafHash, PairDigest};

/// The hashes against which the output labels of a bucket are checked.
pub(super) struct LabelHashes {
    /// The XOR of both hashes of each output.
    pub sums: Vec<Digest>,
    /// The digest of all pairs of hashes.
    pub pairs: Digest,
}

impl LabelHashes {
    /// Returns the hashes of the output labels of bucket `number` of party `garbler`.
    pub fn of(
        (session, garbler, number): (&[u8; 32], PartyId, u64),
        labels: &[[Block; 2]],
    ) -> LabelHashes {
        let hash = LeafHash::new(session, garbler, number);
        let mut pairs = PairDigest::new();
        let fill = |wires: Range<usize>, some: &mut [[Block; 2]]| {
            some.copy_from_slice(&labels[wires]);
        };
        let sums = hash.add_pairs(Leaf::Bucket, labels.len(), fill, &mut pairs);
        LabelHashes { sums, pairs: pairs.finish() }
    }

    /// Whether both have the same hashes.
    pub fn same(&self, other: &LabelHashes) -> bool {
        let mut same = self.sums.len() == other.sums.len();
        for (own, other) in self.sums.iter().zip(&other.sums) {
            same &= same_digest(own, other);
        }
        same & same_digest(&self.pairs, &other.pairs)
    }
}
