//! The sizes of a batch of leaky triples.

use super::ULength;
use crate::bucketing::Batch;

/// A batch of leaky triples to be made.
#[derive(Clone, Copy)]
pub(crate) struct LaAndBatch {
    pub batch: Batch,
    pub peers: usize,
    /// The length of U and S.
    pub length: ULength,
    /// The number of triples in a chunk.
    pub chunk: usize,
    pub inputs: BatchInputs,
}

/// Which shares of a batch's triples are given in advance.
#[derive(Clone, Copy, Default)]
pub(crate) struct BatchInputs {
    /// The y of its anchors.
    pub y: bool,
    /// Shares to which the products are added, in the memory of the products.
    pub onto: bool,
}
