//! Records of leaky triples in memory: written side by side from rows of MACs and keys, gathered at random and added up
//! bucket by bucket.
//!
//! These are the two passes over memory that triples cost. What the records mean is the preprocessing's affair; here
//! they are six blocks, two sums that are made while the blocks are at hand, and sums over buckets.

use bytemuck::{Pod, Zeroable};

use crate::{Backend, Block};

/// One party's part of one leaky triple (x, y, z), as far as one peer is concerned: 96 bytes side by side, as the buckets
/// gather them in random order.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Record {
    /// MACs on the own bits of x, y, z.
    pub macs: [Block; 3],
    /// Keys for the peer's bits of x, y, z.
    pub keys: [Block; 3],
}

/// MACs and keys of some triples with one peer, in rows of equal length: of all x, all y, all z.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// MACs on the own bits.
    pub macs: [&'a [Block]; 3],
    /// Keys for the peer's bits.
    pub keys: [&'a [Block]; 3],
}

impl<'a> Rows<'a> {
    /// How many triples there are.
    pub(crate) fn len(&self) -> usize {
        self.macs[0].len()
    }

    /// All six.
    pub(crate) fn all(&self) -> [&'a [Block]; 6] {
        let ([mx, my, mz], [kx, ky, kz]) = (self.macs, self.keys);
        [mx, my, mz, kx, ky, kz]
    }

    /// From triple `first` on.
    pub(crate) fn from(&self, first: usize) -> Rows<'a> {
        let rest = |rows: [&'a [Block]; 3]| rows.map(|row| &row[first..]);
        Rows { macs: rest(self.macs), keys: rest(self.keys) }
    }
}

/// Where records are written: one for each of `peers` peers for the first triple, then for the second, ...
pub struct Place<'a> {
    /// The records of all peers.
    pub records: &'a mut [Record],
    /// How many peers there are.
    pub peers: usize,
    /// The one whose records are written.
    pub peer: usize,
}

/// Writes a record of each triple, and adds to `sums[0]` MAC and key of its y, to `sums[1]` those of its z.
///
/// # Panics
/// If the lengths differ.
pub fn lay_out(rows: &Rows<'_>, sums: [&mut [Block]; 2], to: Place<'_>) {
    Backend::active().lay_out(rows, sums, to);
}

/// Records to gather, as [`lay_out`] wrote them.
#[derive(Clone, Copy)]
pub struct Records<'a> {
    /// The records of all peers.
    pub all: &'a [Record],
    /// How many peers there are.
    pub peers: usize,
}

impl<'a> Records<'a> {
    /// What ties a triple to the peer in place `peer`.
    #[inline]
    pub fn get(&self, triple: u32, peer: usize) -> &'a Record {
        &self.all[triple as usize * self.peers + peer]
    }

    /// The same with all peers.
    #[inline]
    pub(crate) fn of_all(&self, triple: u32) -> &'a [Record] {
        &self.all[triple as usize * self.peers..][..self.peers]
    }
}

/// At most 64 buckets, and what their sums are made with.
#[derive(Clone, Copy)]
pub struct Buckets<'a> {
    /// The triples of the first bucket, of the second, ...; without the first one of each bucket if there are `heads`.
    pub members: &'a [u32],
    /// How many `members` a bucket has.
    pub size: usize,
    /// MACs and keys of the y of the buckets' first triples, where these have no records: their x and z are what
    /// [`BucketSums::made`] holds before.
    pub heads: Option<[&'a [Block]; 2]>,
    /// A bit d for every triple but the first of each bucket, in their order.
    pub d: &'a [u64],
    /// For each bucket whether `correction` is added to its key of z.
    pub corrected: u64,
    /// See there.
    pub correction: Block,
    /// Triples that will be gathered later, in order: their records, of all peers, are asked for now, a bucket's at each
    /// bucket.
    pub ahead: &'a [u32],
}

impl Buckets<'_> {
    /// How many buckets there are.
    pub(crate) fn len(&self) -> usize {
        self.members.len() / self.size
    }

    /// How many triples a bucket has besides its first.
    pub(crate) fn others(&self) -> usize {
        self.size - usize::from(self.heads.is_none())
    }
}

/// Where a bucket's sums go; for each row MACs and keys.
pub struct BucketSums<'a> {
    /// The sum of all x, the first y, and the sum of all z and d·x. Where a row is absent, nobody wants it.
    pub made: [Option<[&'a mut [Block]; 2]>; 3],
    /// The sums of the first y with each of the others.
    pub opened: [&'a mut [Block]; 2],
}

/// Adds up buckets, as far as one peer is concerned.
///
/// # Panics
/// If lengths do not fit together or there is no such triple.
pub fn sum_buckets(
    records: Records<'_>,
    peer: usize,
    buckets: &Buckets<'_>,
    sums: &mut BucketSums<'_>,
) {
    Backend::active().sum_buckets(records, peer, buckets, sums);
}

/// Checks that the lengths fit together; whether there are so many triples is seen when they are gathered.
pub(crate) fn check_buckets(buckets: &Buckets<'_>, sums: &BucketSums<'_>) {
    let size = buckets.size;
    assert!(size > 0 && buckets.members.len().is_multiple_of(size), "whole buckets");
    let (n, others) = (buckets.len(), buckets.others());
    assert!(n <= 64, "{n} buckets, more than 64");
    assert!(buckets.d.len() * 64 >= n * others, "a bit for every triple but the first");
    let heads = buckets.heads.iter().flatten().all(|row| row.len() == n);
    assert!(heads, "the first triple of every bucket");
    let made = sums.made.iter().flatten().flatten().all(|row| row.len() == n);
    let opened = sums.opened.iter().all(|row| row.len() == n * others);
    assert!(made && opened, "room for every sum");
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
                    backend.lay_out(&rows, [phi, s], Place { records: &mut records, peers, peer });
                    for (t, triple) in records.chunks_exact(peers).enumerate() {
                        let at = |rows: &[Vec<Block>; 3]| rows.each_ref().map(|row| row[t]);
                        for (i, record) in triple.iter().enumerate() {
                            let written = (record.macs, record.keys);
                            let expected = (at(&macs), at(&keys));
                            assert_eq!(
                                written,
                                if i == peer { expected } else { Default::default() }
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

    /// The sums of one bucket, by the formula.
    fn expected(
        members: &[&Record],
        d: &[bool],
        correction: Block,
    ) -> ([[Block; 2]; 3], Vec<[Block; 2]>) {
        let both = |record: &Record, which: usize| [record.macs[which], record.keys[which]];
        let add = |a: [Block; 2], b: [Block; 2]| [a[0] ^ b[0], a[1] ^ b[1]];
        let first = members[0];
        let mut sums = [0, 1, 2].map(|which| both(first, which));
        sums[2][1] ^= correction;
        let mut opened = Vec::new();
        for (member, &d) in members[1..].iter().zip(d) {
            sums[0] = add(sums[0], both(member, 0));
            sums[2] = add(sums[2], both(member, 2));
            sums[2] = add(sums[2], both(member, 0).map(|block| block.select(d)));
            opened.push(add(both(first, 1), both(member, 1)));
        }
        (sums, opened)
    }

    #[test]
    fn every_backend_sums_buckets_by_the_formula() {
        let mut prg = Prg::from_seed(Block(4));
        for (n, size, peers, peer) in [(64, 3, 1, 0), (1, 1, 1, 0), (63, 4, 2, 1), (5, 7, 3, 0)] {
            let mut all = vec![Record::default(); n * size * peers];
            for record in &mut all {
                prg.fill_blocks(&mut record.macs);
                prg.fill_blocks(&mut record.keys);
            }
            let records = Records { all: &all, peers };
            let members = prg.permutation(n * size);
            let d = crate::BitVec::random(n * (size - 1), &mut prg);
            let [corrected, correction] = [prg.block(), prg.block()];
            let buckets = Buckets {
                members: &members,
                size,
                heads: None,
                d: d.words(),
                corrected: corrected.0 as u64,
                correction,
                ahead: &members[n / 2..],
            };
            for backend in Backend::available() {
                for second in [true, false] {
                    let mut made = [(); 3].map(|()| [(); 2].map(|()| vec![Block::ZERO; n]));
                    let mut opened = [(); 2].map(|()| vec![Block::ZERO; n * (size - 1)]);
                    let rows =
                        made.each_mut().map(|rows| Some(rows.each_mut().map(|r| &mut r[..])));
                    let [x, y, z] = rows;
                    let mut sums = BucketSums {
                        made: [x, y.filter(|_| second), z],
                        opened: opened.each_mut().map(|row| &mut row[..]),
                    };
                    backend.sum_buckets(records, peer, &buckets, &mut sums);
                    for k in 0..n {
                        let members = &members[k * size..][..size];
                        let members: Vec<_> =
                            members.iter().map(|&t| records.get(t, peer)).collect();
                        let places = k * (size - 1)..(k + 1) * (size - 1);
                        let d: Vec<bool> = places.clone().map(|f| d.get(f)).collect();
                        let correction = correction.select(buckets.corrected >> k & 1 == 1);
                        let (expected, expected_opened) = expected(&members, &d, correction);
                        for (which, expected) in expected.into_iter().enumerate() {
                            let got = made[which].each_ref().map(|row| row[k]);
                            let wanted = which != 1 || second;
                            assert_eq!(got, if wanted { expected } else { Default::default() });
                        }
                        for (f, expected) in places.zip(expected_opened) {
                            assert_eq!(
                                opened.each_ref().map(|row| row[f]),
                                expected,
                                "{backend:?}"
                            );
                        }
                    }
                }
            }
        }
    }

    /// Whatever a bucket's first triple is, the sums are the same when it lies in rows instead of a record.
    #[test]
    fn heads_without_records_make_the_same_sums() {
        let mut prg = Prg::from_seed(Block(5));
        for (n, others, peers, peer) in [(64, 2, 1, 0), (1, 1, 1, 0), (63, 3, 2, 1), (5, 6, 3, 0)] {
            let mut all = vec![Record::default(); n * (others + 1) * peers];
            for record in &mut all {
                prg.fill_blocks(&mut record.macs);
                prg.fill_blocks(&mut record.keys);
            }
            // The first n triples are the heads.
            let members = prg.permutation(n * others);
            let buckets = members.chunks_exact(others).zip(0..);
            let with_heads: Vec<u32> = buckets
                .flat_map(|(members, head)| {
                    let behind = members.iter().map(|&member| n as u32 + member);
                    std::iter::once(head).chain(behind)
                })
                .collect();
            let row = |which: usize| {
                let of_peer = all.iter().skip(peer).step_by(peers).take(n);
                let pairs = of_peer.map(|record| (record.macs[which], record.keys[which]));
                let (macs, keys): (Vec<_>, Vec<_>) = pairs.unzip();
                [macs, keys]
            };
            let heads = [0, 1, 2].map(row);
            let d = crate::BitVec::random(n * others, &mut prg);
            let thrown = Buckets {
                members: &members,
                size: others,
                heads: Some(heads[1].each_ref().map(|row| &row[..])),
                d: d.words(),
                corrected: prg.block().0 as u64,
                correction: prg.block(),
                ahead: &members,
            };
            let all_recorded =
                Buckets { members: &with_heads, size: others + 1, heads: None, ..thrown };
            let behind = &all[n * peers..];
            for backend in Backend::available() {
                let sums_of = |all: &[Record], buckets: &Buckets<'_>, second: bool| {
                    let mut made = heads.clone();
                    let mut opened = [(); 2].map(|()| vec![Block::ZERO; n * others]);
                    let [x, y, z] =
                        made.each_mut().map(|rows| rows.each_mut().map(|row| &mut row[..]));
                    let mut sums = BucketSums {
                        made: [Some(x), Some(y).filter(|_| second), Some(z)],
                        opened: opened.each_mut().map(|row| &mut row[..]),
                    };
                    backend.sum_buckets(Records { all, peers }, peer, buckets, &mut sums);
                    (made, opened)
                };
                let expected = sums_of(&all, &all_recorded, true);
                for second in [true, false] {
                    assert!(
                        sums_of(behind, &thrown, second) == expected,
                        "{backend:?} {n} {second}"
                    );
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "the first triple of every bucket")]
    fn refuses_missing_heads() {
        let heads: [&[Block]; 2] = [&[], &[]];
        let buckets = Buckets {
            members: &[0],
            size: 1,
            heads: Some(heads),
            d: &[0],
            corrected: 0,
            correction: Block::ZERO,
            ahead: &[],
        };
        let mut opened = [[Block::ZERO]; 2];
        let opened = opened.each_mut().map(|row| &mut row[..]);
        let mut sums = BucketSums { made: [None, None, None], opened };
        sum_buckets(Records { all: &[Record::default()], peers: 1 }, 0, &buckets, &mut sums);
    }

    #[test]
    #[should_panic(expected = "room for every sum")]
    fn refuses_too_little_room() {
        let buckets = Buckets {
            members: &[0],
            size: 1,
            heads: None,
            d: &[],
            corrected: 0,
            correction: Block::ZERO,
            ahead: &[],
        };
        let mut sums =
            BucketSums { made: [Some([&mut [], &mut []]), None, None], opened: [&mut [], &mut []] };
        sum_buckets(Records { all: &[], peers: 1 }, 0, &buckets, &mut sums);
    }

    #[test]
    #[should_panic(expected = "a record for each")]
    fn refuses_missing_records() {
        let rows = Rows { macs: [&[Block::ZERO]; 3], keys: [&[Block::ZERO]; 3] };
        let to = Place { records: &mut [], peers: 1, peer: 0 };
        lay_out(&rows, [&mut [Block::ZERO], &mut [Block::ZERO]], to);
    }
}
