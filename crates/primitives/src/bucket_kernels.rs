//! Records of leaky triples in memory: written in order from rows of MACs and keys, then gathered
//! at random and summed bucket by bucket.
//!
//! These are the two passes over memory that triples cost. The meaning of the records is up to the
//! preprocessing. This module handles records of four blocks, two sums that are computed while the
//! blocks are in registers, and sums over buckets.

use crate::{Backend, Block};

pub use crate::buckets::{Buckets, Place, Record, Records, Rows};

/// Writes a record of each triple. Adds MAC and key of its y to `sums[0]`, and those of its z to
/// `sums[1]`.
///
/// # Panics
/// If the lengths differ.
pub fn scatter_triples(rows: &Rows<'_>, sums: [&mut [Block]; 2], to: Place<'_>) {
    Backend::active().scatter_triples(rows, sums, to);
}

/// Adds the members of buckets with one peer to the existing sums: all x, and all z and d·x. `sums`
/// has MACs and keys of x, then those of z.
///
/// # Panics
/// If the lengths do not match or there is no such triple.
pub fn sum_buckets(
    records: Records<'_>,
    peer: usize,
    buckets: &Buckets<'_>,
    sums: [&mut [Block]; 4],
) {
    Backend::active().sum_buckets(records, peer, buckets, sums);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prg;

    fn blocks(prg: &mut Prg, n: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; n];
        prg.fill_blocks(&mut blocks);
        blocks
    }

    #[test]
    fn every_backend_lays_out_the_same() {
        let mut prg = Prg::from_seed(Block(3));
        for n in (0..10).chain([63, 64, 65, 512]) {
            for (peers, peer) in [(1, 0), (2, 1), (3, 1)] {
                let [macs, keys] = [(); 2].map(|()| [(); 3].map(|()| blocks(&mut prg, n)));
                let rows = Rows {
                    macs: macs.each_ref().map(|row| &row[..]),
                    keys: keys.each_ref().map(|row| &row[..]),
                };
                let before = [(); 2].map(|()| blocks(&mut prg, n));
                for backend in Backend::available() {
                    let mut records = vec![Record::default(); n * peers];
                    let mut sums = before.clone();
                    let [phi, s] = &mut sums;
                    backend.scatter_triples(
                        &rows,
                        [phi, s],
                        Place { records: &mut records, peers, peer },
                    );
                    for (t, triple) in records.chunks_exact(peers).enumerate() {
                        let both = |which: usize| [macs[which][t], keys[which][t]];
                        for (i, record) in triple.iter().enumerate() {
                            let expected = Record { x: both(0), z: both(2) };
                            assert_eq!(
                                *record,
                                if i == peer { expected } else { Record::default() }
                            );
                        }
                        let sum = |which: usize| macs[which][t] ^ keys[which][t];
                        assert_eq!(sums[0][t], before[0][t] ^ sum(1), "{backend:?} {n}");
                        assert_eq!(sums[1][t], before[1][t] ^ sum(2), "{backend:?} {n}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_backend_sums_buckets_by_the_formula() {
        let mut prg = Prg::from_seed(Block(4));
        for (n, size, peers, peer) in
            [(64, 3, 1, 0), (64, 2, 1, 0), (1, 1, 1, 0), (63, 4, 2, 1), (6, 2, 1, 0), (5, 7, 3, 0)]
        {
            let mut all = vec![Record::default(); n * size * peers];
            prg.fill_blocks(bytemuck::cast_slice_mut(&mut all));
            let records = Records { all: &all, peers };
            let members = prg.permutation(n * size);
            for absorbing in [false, true] {
                let others = size - usize::from(absorbing);
                let d = crate::BitVec::random(n * others, &mut prg);
                let buckets = Buckets {
                    members: &members,
                    size,
                    absorbing,
                    d: d.words(),
                    corrected: prg.u64(),
                    correction: prg.block(),
                    ahead: &members[n / 2..],
                };
                let before = [(); 4].map(|()| blocks(&mut prg, n));
                for backend in Backend::available() {
                    let mut sums = before.clone();
                    backend.sum_buckets(
                        records,
                        peer,
                        &buckets,
                        sums.each_mut().map(|row| &mut row[..]),
                    );
                    for k in 0..n {
                        let mut expected = before.each_ref().map(|row| row[k]);
                        expected[3] ^= buckets.correction.select(buckets.corrected >> k & 1 == 1);
                        for (i, &member) in members[k * size..][..size].iter().enumerate() {
                            let Record { x, z } = *records.get(member, peer);
                            // The first member has no d if it absorbs the others.
                            let number = (i + others).checked_sub(size);
                            let d = number.is_some_and(|number| d.get(k * others + number));
                            for side in [0, 1] {
                                expected[side] ^= x[side];
                                expected[2 + side] ^= z[side] ^ x[side].select(d);
                            }
                        }
                        let got = sums.each_ref().map(|row| row[k]);
                        assert_eq!(got, expected, "{backend:?} {n} {size} {absorbing} {k}");
                    }
                }
            }
        }
    }

    fn buckets(members: &[u32]) -> Buckets<'_> {
        Buckets {
            members,
            size: 1,
            absorbing: false,
            d: &[0],
            corrected: 0,
            correction: Block::ZERO,
            ahead: &[],
        }
    }

    #[test]
    #[should_panic(expected = "a bit for every triple")]
    fn refuses_missing_bits() {
        let buckets = Buckets { d: &[], ..buckets(&[0]) };
        let records = Records { all: &[Record::default()], peers: 1 };
        let mut rows = [[Block::ZERO]; 4];
        sum_buckets(records, 0, &buckets, rows.each_mut().map(|row| &mut row[..]));
    }

    #[test]
    #[should_panic(expected = "room for every sum")]
    fn refuses_too_little_room() {
        let records = Records { all: &[Record::default()], peers: 1 };
        let mut rows = [[Block::ZERO]; 3];
        let [x_macs, x_keys, z_macs] = rows.each_mut().map(|row| &mut row[..]);
        sum_buckets(records, 0, &buckets(&[0]), [x_macs, x_keys, z_macs, &mut []]);
    }

    #[test]
    #[should_panic(expected = "a record for each")]
    fn refuses_missing_records() {
        let rows = Rows { macs: [&[Block::ZERO]; 3], keys: [&[Block::ZERO]; 3] };
        let to = Place { records: &mut [], peers: 1, peer: 0 };
        scatter_triples(&rows, [&mut [Block::ZERO], &mut [Block::ZERO]], to);
    }
}
