//! Sorting networks.

/// Returns the comparators of a network that sorts `len` elements into ascending order: each pair
/// (i, j), i < j, puts the smaller of elements i and j at i and the larger at j.
///
/// Batcher's merge exchange (Knuth, *The Art of Computer Programming* 3, algorithm 5.2.2M), for any
/// length; for powers of two it has (p² - p + 4)·2^(p-2) - 1 comparators, p = log₂ len, where a
/// bitonic network has (p² + p)·2^(p-2).
pub fn sorting_network(len: usize) -> impl Iterator<Item = (usize, usize)> {
    let top = len.next_power_of_two() / 2;
    let halvings = |from: usize| std::iter::successors((from > 0).then_some(from), halve);
    halvings(top).flat_map(move |p| {
        // First the pairs at distance p, then those at q - p for q = top … 2p.
        let first = std::iter::once((p, 0));
        let others = halvings(top).take_while(move |&q| q > p).map(move |q| (q - p, p));
        first.chain(others).flat_map(move |(distance, residue)| {
            (0..len.saturating_sub(distance))
                .filter(move |i| i & p == residue)
                .map(move |i| (i, i + distance))
        })
    })
}

fn halve(n: &usize) -> Option<usize> {
    (*n > 1).then_some(*n / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_every_sequence_of_zeros_and_ones() {
        // By the 0-1 principle, this suffices for a network to sort everything.
        for len in 0..=13 {
            for bits in 0u32..1 << len {
                let mut sequence: Vec<u32> = (0..len).map(|i| bits >> i & 1).collect();
                for (i, j) in sorting_network(len) {
                    assert!(i < j);
                    if sequence[i] > sequence[j] {
                        sequence.swap(i, j);
                    }
                }
                assert!(sequence.is_sorted(), "{len} {bits:b}");
            }
        }
    }

    #[test]
    fn has_batchers_number_of_comparators() {
        for p in 1..=12usize {
            let expected = (p * p - p + 4) * (1 << p) / 4 - 1;
            assert_eq!(sorting_network(1 << p).count(), expected);
        }
        assert_eq!(sorting_network(4096).count(), 139_263);
    }
}
