//! The kinds of triples, and their sources.

use std::collections::VecDeque;
use std::ops::Range;

use symbolon_preprocessing::{AuthShares, Triples};
use symbolon_transport::{Error, Result};

/// A mask λ_c for the output and a triple a·b = c for each AND gate of any circuit.
pub(crate) struct RandomTriples {
    pub lambda_c: AuthShares,
    pub abc: Triples,
}

/// Masks and triples for the gates of one circuit, whose right factors are the gates' masks λ_b.
/// The λ_b are not kept: a pass over the circuit computes them again.
pub(crate) struct BetaTriples {
    pub lambda_c: AuthShares,
    pub a: AuthShares,
    pub c: AuthShares,
}

/// Masks and triples for the gates of one circuit, with everything that a pass over the circuit
/// would compute: b = λ_b, and λ_c is added to the products. There may be more triples than gates:
/// those that fill up a batch are on shares of zero.
pub(crate) struct SolvedTriples {
    pub lambda_a: AuthShares,
    pub abc: Triples,
}

/// Triples for a number of gates.
pub(crate) trait TripleBatch: Send {
    /// Returns the number of gates.
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

/// Yields triples batch by batch, in the order of the gates.
pub(crate) trait TripleSource: Send {
    type Batch;

    /// Returns the next batch, of at least one gate; `None` after the last.
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

/// The current batch, and its next gate.
struct Front<B> {
    batch: B,
    next: usize,
}

impl<B: TripleBatch> TripleQueue<B> {
    /// Creates a queue of the triples of `source`, which suffice for this many gates.
    pub fn new(source: impl TripleSource<Batch = B> + 'static, gates: u64) -> Self {
        TripleQueue { source: Box::new(source), front: None, left: gates }
    }

    /// Returns the number of gates for which there are triples.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Passes the triples of the next `n` gates to `take`, in runs that are contiguous within a
    /// batch.
    pub fn take(&mut self, n: usize, mut take: impl FnMut(&B, Range<usize>)) -> Result<()> {
        if n as u64 > self.left {
            return Err(too_few());
        }
        self.left -= n as u64;
        let mut wanted = n;
        while wanted > 0 {
            let Front { batch, next } = match &mut self.front {
                Some(front) => front,
                none => {
                    let batch = self.source.next()?.ok_or_else(too_few)?;
                    none.insert(Front { batch, next: 0 })
                }
            };
            let range = *next..batch.len().min(*next + wanted);
            *next = range.end;
            wanted -= range.len();
            let is_used_up = *next == batch.len() || (wanted == 0 && self.left == 0);
            take(batch, range);
            if is_used_up {
                // The batch is dropped at once, because garbling needs memory, too.
                self.front = None;
            }
        }
        Ok(())
    }
}

/// Returns the error for a circuit that needs more than was preprocessed.
pub(crate) fn too_few() -> Error {
    Error::invalid_input("the circuit needs more than was preprocessed")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A batch for this many gates that shows whether it still exists.
    struct Watched {
        gates: usize,
        _alive: Arc<()>,
    }

    impl TripleBatch for Watched {
        fn len(&self) -> usize {
            self.gates
        }
    }

    fn queue(gates: u64) -> (Arc<()>, TripleQueue<Watched>) {
        let alive = Arc::new(());
        let batches = [3, 2, 5].map(|gates| Watched { gates, _alive: alive.clone() });
        (alive, TripleQueue::new(VecDeque::from(batches), gates))
    }

    #[test]
    fn triples_are_taken_in_order_across_batches() {
        let (_, mut queue) = queue(9);
        let mut taken = Vec::new();
        for n in [1, 3, 0, 5] {
            queue.take(n, |batch, range| taken.push((batch.gates, range))).unwrap();
        }
        assert_eq!(taken, [(3, 0..1), (3, 1..3), (2, 0..1), (2, 1..2), (5, 0..4)]);
        assert!(queue.take(1, |_, _| panic!("there are no more")).is_err());
    }

    #[test]
    fn a_batch_that_is_used_up_is_dropped_before_more_is_taken() {
        let (alive, mut queue) = queue(9);
        for (n, left) in [(2, 3), (1, 2), (4, 1), (2, 0)] {
            queue.take(n, |_, _| ()).unwrap();
            assert_eq!(Arc::strong_count(&alive) - 1, left, "after {n} more gates");
        }
    }
}
