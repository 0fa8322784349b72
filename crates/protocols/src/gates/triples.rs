//! The kinds of triples, and where they come from.

use std::collections::VecDeque;
use std::ops::Range;

use symbolon_preprocessing::{Shares, Triples};
use symbolon_transport::{Error, Result};

/// A mask λ_c for the output and a triple a·b = c for each AND gate, of whatever circuit.
pub(crate) struct RandomTriples {
    pub lambda_c: Shares,
    pub abc: Triples,
}

/// Masks and triples for the gates of one circuit, whose right factors are the gates' masks λ_b. These are not kept: a pass
/// over the circuit finds them again.
pub(crate) struct BetaTriples {
    pub lambda_c: Shares,
    pub a: Shares,
    pub c: Shares,
}

/// Masks and triples for the gates of one circuit, with all that a pass over the circuit would find: b = λ_b, and λ_c is added
/// to the products. The triples may be more than the gates: what fills a batch up is on shares of zero.
pub(crate) struct SolvedTriples {
    pub lambda_a: Shares,
    pub abc: Triples,
}

/// Triples for a number of gates.
pub(crate) trait TripleBatch: Send {
    /// How many gates they are for.
    fn len(&self) -> usize;
}

impl TripleBatch for RandomTriples {
    fn len(&self) -> usize {
        self.lambda_c.len()
    }
}

impl TripleBatch for BetaTriples {
    fn len(&self) -> usize {
        self.lambda_c.len()
    }
}

impl TripleBatch for SolvedTriples {
    fn len(&self) -> usize {
        self.lambda_a.len()
    }
}

/// Gives triples batch by batch, in the order of the gates.
pub(crate) trait TripleSource: Send {
    type Batch;

    /// The next batch, of at least one gate; `None` after the last.
    fn next(&mut self) -> Result<Option<Self::Batch>>;
}

impl<B: Send> TripleSource for VecDeque<B> {
    type Batch = B;

    fn next(&mut self) -> Result<Option<B>> {
        Ok(self.pop_front())
    }
}

/// Triples for a number of gates, taken from the front, each once.
pub(crate) struct TripleQueue<B> {
    source: Box<dyn TripleSource<Batch = B>>,
    front: Option<Front<B>>,
    left: u64,
}

/// The batch under way, and its next gate.
struct Front<B> {
    batch: B,
    next: usize,
}

impl<B: TripleBatch> TripleQueue<B> {
    /// The triples of `source`, which are enough for so many gates.
    pub fn new(source: impl TripleSource<Batch = B> + 'static, gates: u64) -> Self {
        TripleQueue { source: Box::new(source), front: None, left: gates }
    }

    /// For how many gates there are triples.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Hands the triples of the next `n` gates to `take`, as many at a time as stand side by side in a batch.
    pub fn take(&mut self, n: usize, mut take: impl FnMut(&B, Range<usize>)) -> Result<()> {
        if n as u64 > self.left {
            return Err(too_few());
        }
        self.left -= n as u64;
        let mut wanted = n;
        while wanted > 0 {
            let Front { batch, next } = match &mut self.front {
                Some(front) if front.next < front.batch.len() => front,
                front => {
                    let batch = self.source.next()?.ok_or_else(too_few)?;
                    front.insert(Front { batch, next: 0 })
                }
            };
            let range = *next..batch.len().min(*next + wanted);
            *next = range.end;
            wanted -= range.len();
            take(batch, range);
        }
        Ok(())
    }
}

/// A circuit that needs more than was preprocessed.
pub(crate) fn too_few() -> Error {
    Error::invalid_input("the circuit needs more than was preprocessed")
}
