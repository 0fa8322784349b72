//! MACs and keys of the y of all triples in shifted streams, in the order of the triples.
//!
//! A bucket's triple has the y of its anchor. Each of the others is opened, XORed to that one, and
//! its MAC is only summed in [`crate::aand::mac_check`]. So only as many bits are kept as that sum
//! needs.

use std::ops::Range;

use symbolon_primitives::{Block, HugeBuf, gf128, truncate_u64};

use super::Width;

/// MACs and keys of all y, row by row.
#[derive(Default)]
pub(crate) struct YShares {
    /// The number of bits of each MAC and key.
    width: Option<Width>,
    /// For each peer, the MACs on this party's bits, and the keys for the peer's bits.
    rows: Vec<[HugeBuf<u64>; 2]>,
}

impl YShares {
    /// Makes room for `n` shares of `width` bits each with `peers` peers, and reuses earlier
    /// memory.
    pub fn reset(&mut self, n: usize, peers: usize, width: Width) {
        self.width = Some(width);
        self.rows.resize_with(peers, Default::default);
        self.rows.iter_mut().flatten().for_each(|row| row.reset(width.words(n)));
    }

    /// Returns the number of bits of each MAC and key.
    pub fn width(&self) -> Width {
        self.width.expect("room was made")
    }

    /// Returns all of them for writing.
    pub fn all(&mut self) -> YSharesMut<'_> {
        let width = self.width();
        let rows = self.rows.iter_mut().map(|rows| rows.each_mut().map(|row| &mut row[..]));
        YSharesMut { width, rows: rows.collect() }
    }

    /// Returns MAC and key of a triple's y with `peer`; all bits must have been kept.
    #[cfg(test)]
    pub fn get(&self, triple: usize, peer: usize) -> [Block; 2] {
        self.rows[peer].each_ref().map(|row| bytemuck::cast_slice(row)[triple])
    }

    /// Returns Σ χ_t·M\[y_t\] and Σ χ_t·K\[y_t\] over `triples`, towards `peer`.
    pub fn sums(&self, peer: usize, triples: Range<usize>, chi: &[Block]) -> [Block; 2] {
        let words = self.width().words(triples.start)..self.width().words(triples.end);
        self.rows[peer].each_ref().map(|row| match self.width() {
            Width::Half => gf128::words_inner_product(&row[words.clone()], chi),
            Width::Whole => gf128::inner_product(bytemuck::cast_slice(&row[words.clone()]), chi),
        })
    }
}

/// A range of consecutive shares, for writing.
pub(crate) struct YSharesMut<'a> {
    width: Width,
    rows: Vec<[&'a mut [u64]; 2]>,
}

impl<'a> YSharesMut<'a> {
    /// Takes the first `n` shares.
    pub fn take_first(&mut self, n: usize) -> YSharesMut<'a> {
        let words = self.width.words(n);
        let take = |row: &mut &'a mut [u64]| row.split_off_mut(..words).expect("a y for each");
        let rows = self.rows.iter_mut().map(|rows| rows.each_mut().map(take));
        YSharesMut { width: self.width, rows: rows.collect() }
    }

    /// Writes MACs and keys with `peer` from number `first` on.
    pub fn note(&mut self, peer: usize, first: usize, rows: [&[Block]; 2]) {
        let first = self.width.words(first);
        for (all, blocks) in self.rows[peer].iter_mut().zip(rows) {
            let to = &mut all[first..][..self.width.words(blocks.len())];
            match self.width {
                Width::Half => truncate_u64(blocks, to),
                Width::Whole => bytemuck::cast_slice_mut(to).copy_from_slice(blocks),
            }
        }
    }
}
