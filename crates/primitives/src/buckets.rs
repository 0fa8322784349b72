//! Records of leaky triples, and buckets of them, as the kernels take them.

use bytemuck::{Pod, Zeroable};

use crate::Block;

/// One party's part of one leaky triple (x, y, z) with one peer, in one cache line, which the
/// buckets gather in random order. The triple's y is not gathered.
#[derive(Clone, Copy, Default, PartialEq, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Record {
    /// The MAC on this party's bit of x, and the key for the peer's.
    pub x: [Block; 2],
    /// The same for z.
    pub z: [Block; 2],
}

/// MACs and keys of some triples with one peer, in rows of equal length for all x, all y and all z.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// MACs on this party's bits.
    pub macs: [&'a [Block]; 3],
    /// Keys for the peer's bits.
    pub keys: [&'a [Block]; 3],
}

impl<'a> Rows<'a> {
    /// Returns the number of triples.
    pub(crate) fn len(&self) -> usize {
        self.macs[0].len()
    }

    /// Returns all six rows: MACs and keys of x, of y, of z.
    pub(crate) fn all(&self) -> [&'a [Block]; 6] {
        let ([mx, my, mz], [kx, ky, kz]) = (self.macs, self.keys);
        [mx, kx, my, ky, mz, kz]
    }

    /// Returns the rows from triple `first` on, for kernels that process several triples at a time.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn from(&self, first: usize) -> Rows<'a> {
        let rest = |rows: [&'a [Block]; 3]| rows.map(|row| &row[first..]);
        Rows { macs: rest(self.macs), keys: rest(self.keys) }
    }
}

/// The destination of records: one for each of `peers` peers for the first triple, then for the
/// second, and so on.
pub struct Place<'a> {
    /// The records of all peers.
    pub records: &'a mut [Record],
    /// The number of peers.
    pub peers: usize,
    /// The peer whose records are written.
    pub peer: usize,
}

/// Records to gather, as [`scatter_triples`](crate::bucket_kernels::scatter_triples) wrote them.
#[derive(Clone, Copy)]
pub struct Records<'a> {
    /// The records of all peers.
    pub all: &'a [Record],
    /// The number of peers.
    pub peers: usize,
}

impl<'a> Records<'a> {
    /// Returns a triple's record for the peer at index `peer`.
    #[inline]
    pub fn get(&self, triple: u32, peer: usize) -> &'a Record {
        &self.all[triple as usize * self.peers + peer]
    }

    /// Returns a triple's records for all peers.
    #[inline]
    pub(crate) fn of_all(&self, triple: u32) -> &'a [Record] {
        &self.all[triple as usize * self.peers..][..self.peers]
    }
}

/// At most 64 buckets, and the inputs of their sums.
#[derive(Clone, Copy)]
pub struct Buckets<'a> {
    /// The triples of the first bucket, then of the second, and so on.
    pub members: &'a [u32],
    /// The number of triples in a bucket.
    pub size: usize,
    /// Whether the first triple of each bucket has no d, because the others are added to it.
    pub absorbing: bool,
    /// A bit d for every member, except the first ones that have none, in order.
    pub d: &'a [u64],
    /// For each bucket, whether `correction` is added to its key of z.
    pub corrected: u64,
    /// The correction that `corrected` selects.
    pub correction: Block,
    /// Triples that will be gathered later, in order. Their records, with all peers, are prefetched
    /// now, one bucket's at each bucket.
    pub ahead: &'a [u32],
}

impl Buckets<'_> {
    /// Returns the number of buckets.
    pub(crate) fn len(&self) -> usize {
        self.members.len() / self.size
    }

    /// Returns the d of a bucket's members, in order; zero for a first member without d.
    #[inline]
    pub(crate) fn d_of(&self, bucket: usize) -> impl Iterator<Item = bool> {
        let others = self.size - usize::from(self.absorbing);
        let own =
            (bucket * others..(bucket + 1) * others).map(|f| self.d[f / 64] >> (f % 64) & 1 == 1);
        self.absorbing.then_some(false).into_iter().chain(own)
    }
}

/// Checks that the lengths match. Whether all triples exist is checked when they are gathered.
pub(crate) fn check_buckets(buckets: &Buckets<'_>, sums: &[&mut [Block]; 4]) {
    let size = buckets.size;
    assert!(size > 0 && buckets.members.len().is_multiple_of(size), "whole buckets");
    let (n, others) = (buckets.len(), size - usize::from(buckets.absorbing));
    assert!(n <= 64, "{n} buckets, more than 64");
    assert!(buckets.d.len() * 64 >= n * others, "a bit for every triple that is added");
    assert!(sums.iter().all(|row| row.len() == n), "room for every sum");
}
