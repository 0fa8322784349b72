//! The triples of a segment, from their arrival until their memory is given back.

use std::ops::Range;

use symbolon_preprocessing::Triples;
use symbolon_primitives::Block;

use super::{
    masked_gates::MaskedGates,
    triples::{SolvedTriples, TripleBatch},
};

/// Solved triples, whose gates are taken from the front. They stay until the segment ends: a chunk
/// is made from them when its openings have arrived, and a garbler proves its gates with MACs that
/// are kept among them.
pub(crate) struct SegmentTriples {
    batches: Vec<SolvedTriples>,
    /// The number of gates, and the number taken.
    len: usize,
    taken: usize,
    /// The number of gates whose MACs on c were replaced by those on λ_a·λ_b ⊕ λ_c.
    kept: usize,
}

impl SegmentTriples {
    /// Starts with what is left of the previous segment.
    pub fn new(rest: Vec<SolvedTriples>) -> Self {
        let len = rest.iter().map(TripleBatch::len).sum();
        SegmentTriples { batches: rest, len, taken: 0, kept: 0 }
    }

    /// Adds the triples of the next gates.
    pub fn push(&mut self, batch: SolvedTriples) {
        self.len += batch.len();
        self.batches.push(batch);
    }

    /// Returns how many gates were not taken.
    pub fn left(&self) -> usize {
        self.len - self.taken
    }

    /// Takes the next gates; returns their range within the segment.
    ///
    /// # Panics
    /// If fewer are left.
    pub fn take(&mut self, gates: usize) -> Range<usize> {
        assert!(gates <= self.left(), "a segment has no more gates");
        self.taken += gates;
        self.taken - gates..self.taken
    }

    /// Returns the triples of some gates: these ranges of each batch, in order.
    pub fn pieces(
        &self,
        gates: Range<usize>,
    ) -> impl Iterator<Item = (&SolvedTriples, Range<usize>)> {
        let mut next = 0;
        self.batches.iter().filter_map(move |batch| {
            let first = next;
            next += batch.len();
            let range =
                gates.start.clamp(first, next) - first..gates.end.clamp(first, next) - first;
            (!range.is_empty()).then_some((batch, range))
        })
    }

    /// Keeps the MACs that prove the next taken gates to a peer: those on λ_a and λ_b are here
    /// already, and those on λ_a·λ_b ⊕ λ_c replace those on c, which are no longer needed.
    ///
    /// # Panics
    /// If the gates were not taken.
    pub fn keep_proof(&mut self, gates: &MaskedGates, peer: usize) {
        let start = self.kept;
        self.kept += gates.len();
        assert!(self.kept <= self.taken, "only gates that were taken are proven");
        let mut macs = gates.lambda_ab_c.auths(0, gates.len()).map(|auth| auth[peer][0]);
        let mut first = 0;
        for batch in &mut self.batches {
            let end = first + batch.len();
            let products = &mut batch.abc.c.towards[peer].macs;
            let here = start.clamp(first, end) - first..self.kept.clamp(first, end) - first;
            products[here].iter_mut().zip(&mut macs).for_each(|(old, mac)| *old = mac);
            first = end;
        }
    }

    /// Returns the MACs towards a peer on λ_a, λ_b and λ_a·λ_b ⊕ λ_c, piece by piece.
    ///
    /// # Panics
    /// If they were not [kept](SegmentTriples::keep_proof).
    pub fn proof_macs(
        &self,
        gates: Range<usize>,
        peer: usize,
    ) -> impl Iterator<Item = [&[Block]; 3]> {
        assert!(gates.end <= self.kept, "no proof was kept of these gates");
        self.pieces(gates).map(move |(SolvedTriples { lambda_a, abc }, range)| {
            [lambda_a, &abc.b, &abc.c].map(|shares| &shares.towards[peer].macs[range.clone()])
        })
    }

    /// Returns the triples that were not taken, and memory that is no longer needed.
    pub fn finish(self) -> (Vec<SolvedTriples>, Option<SolvedTriples>) {
        let (mut rest, mut spent) = (Vec::new(), None);
        let mut first = 0;
        for batch in self.batches {
            let used = self.taken.saturating_sub(first).min(batch.len());
            first += batch.len();
            if used == 0 {
                rest.push(batch);
                continue;
            }
            let left = used..batch.len();
            if !left.is_empty() {
                let SolvedTriples { lambda_a, abc: Triples { a, b, c } } = &batch;
                let [lambda_a, a, b, c] =
                    [lambda_a, a, b, c].map(|shares| shares.slice(left.clone()));
                rest.push(SolvedTriples { lambda_a, abc: Triples { a, b, c } });
            }
            spent = Some(batch);
        }
        (rest, spent)
    }
}

#[cfg(test)]
mod tests {
    use symbolon_preprocessing::AuthShares;

    use super::*;
    use crate::gates::wire_shares::WireShares;

    fn batch(gates: usize) -> SolvedTriples {
        let zeros = || AuthShares::zeros(gates, 1);
        SolvedTriples { lambda_a: zeros(), abc: Triples { a: zeros(), b: zeros(), c: zeros() } }
    }

    fn gates_with_macs(macs: Range<u128>) -> MaskedGates {
        let gates = (macs.end - macs.start) as usize;
        let mut lambda_ab_c = WireShares::zeros(gates, 1);
        for (k, mac) in macs.enumerate() {
            lambda_ab_c.auth_mut(k)[0][0] = Block(mac);
        }
        let zeros = || WireShares::zeros(gates, 1);
        MaskedGates { lambda_a: zeros(), lambda_b: zeros(), lambda_ab_c }
    }

    fn segment() -> SegmentTriples {
        let mut segment = SegmentTriples::new(vec![batch(3), batch(2)]);
        segment.push(batch(5));
        segment
    }

    #[test]
    fn proof_macs_are_kept_in_their_order_across_batches() {
        let mut segment = segment();
        assert_eq!(segment.take(9), 0..9);
        for macs in [1..3, 3..7, 7..10] {
            segment.keep_proof(&gates_with_macs(macs), 0);
        }
        let expected: Vec<u128> = (1..10).collect();
        for first in 0..=9 {
            for last in first..=9 {
                let pieces = segment.proof_macs(first..last, 0);
                let macs: Vec<u128> = pieces.flat_map(|[.., c]| c).map(|mac| mac.0).collect();
                assert_eq!(macs, expected[first..last], "{first} to {last}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "no proof was kept")]
    fn gates_without_a_kept_proof_have_no_proof_macs() {
        let mut segment = segment();
        segment.take(9);
        segment.keep_proof(&gates_with_macs(1..9), 0);
        let _ = segment.proof_macs(0..9, 0);
    }

    #[test]
    fn gates_that_were_not_taken_are_left_for_the_next_segment() {
        for taken in 0..=10 {
            let mut segment = segment();
            let numbers =
                segment.batches.iter_mut().flat_map(|batch| &mut batch.abc.a.towards[0].macs);
            numbers.zip(0..).for_each(|(mac, k)| *mac = Block(k));
            segment.take(taken);
            let (rest, spent) = segment.finish();
            let left: Vec<u128> = rest
                .iter()
                .flat_map(|batch| &batch.abc.a.towards[0].macs)
                .map(|mac| mac.0)
                .collect();
            assert_eq!(left, (taken as u128..10).collect::<Vec<_>>());
            assert_eq!(spent.is_some(), taken > 0);
        }
    }
}
