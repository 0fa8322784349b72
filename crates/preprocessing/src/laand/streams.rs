//! MACs and keys of the leaky triples in shifted streams, in the order in which they are made: a
//! row of MACs and one of keys with each peer, for x, y and z each. The buckets read runs of them.
//! The first stream is elsewhere: its triples are [`anchors`](super::anchors).

use symbolon_primitives::block_xor::{copy_blocks, xor_sums};
use symbolon_primitives::{Block, HugeBuf};

use super::{Width, YShares, y_shares::YSharesMut};

/// MACs and keys of all triples.
#[derive(Default)]
pub(crate) struct StreamShares {
    /// The number of triples.
    n: usize,
    /// For each peer MACs and keys of x, then those of z, a row of `n` each. Like the anchors, they
    /// still contain r in place of z: d is added when the buckets are summed, which saves a pass.
    rows: HugeBuf<Block>,
    /// Those of y.
    y: YShares,
}

impl StreamShares {
    /// Makes room for `n` triples with `peers` peers, and reuses earlier memory. Of y only `width`
    /// bits are kept.
    pub(super) fn reset(&mut self, n: usize, peers: usize, width: Width) {
        self.n = n;
        self.rows.reset(4 * peers * n);
        self.y.reset(n, peers, width);
    }

    /// Returns all of them for writing.
    pub(super) fn all(&mut self) -> StreamSharesMut<'_> {
        let mut rows = self.rows.chunks_exact_mut(self.n.max(1));
        let row_lists = std::iter::from_fn(|| {
            let [a, b, c, d] = std::array::from_fn(|_| rows.next());
            Some([[a?, b?], [c?, d?]])
        });
        StreamSharesMut { towards: row_lists.collect(), y: self.y.all() }
    }

    /// Returns the rows with `peer`: MACs and keys of x, then those of z. Keys for z may lack a
    /// correction ([`Opened::correction`](super::Opened::correction)).
    pub fn rows(&self, peer: usize) -> [&[Block]; 4] {
        std::array::from_fn(|row| &self.rows[(4 * peer + row) * self.n..][..self.n])
    }

    /// Returns those of y.
    pub fn y(&self) -> &YShares {
        &self.y
    }
}

/// Consecutive triples, for writing.
pub(super) struct StreamSharesMut<'a> {
    /// For each peer MACs and keys of x, and those of z.
    towards: Vec<[[&'a mut [Block]; 2]; 2]>,
    y: YSharesMut<'a>,
}

impl<'a> StreamSharesMut<'a> {
    /// Takes the first `n` triples.
    pub fn take_first(&mut self, n: usize) -> StreamSharesMut<'a> {
        let take = |row: &mut &'a mut [Block]| row.split_off_mut(..n).expect("a row for each");
        let towards =
            self.towards.iter_mut().map(|[x, z]| [x, z].map(|side| side.each_mut().map(take)));
        StreamSharesMut { towards: towards.collect(), y: self.y.take_first(n) }
    }

    /// Writes the sampled MACs and keys with `peer` of x, y and z, from triple `first` on. XORs
    /// those of y to `phi`, and those of z to `s`.
    pub fn note(
        &mut self,
        peer: usize,
        first: usize,
        [x, y, z]: [[&[Block]; 2]; 3],
        [phi, s]: [&mut [Block]; 2],
    ) {
        for (rows, fresh) in self.towards[peer].iter_mut().zip([x, z]) {
            for (row, fresh) in rows.iter_mut().zip(fresh) {
                copy_blocks(&mut row[first..][..fresh.len()], fresh);
            }
        }
        self.y.note(peer, first, y);
        xor_sums(phi, y[0], y[1]);
        xor_sums(s, z[0], z[1]);
    }
}
