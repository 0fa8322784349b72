//! The bits of tables and their tags, by group, plane and place.

use std::ops::Range;

use symbolon_primitives::{Block, gf128};
use zeroize::Zeroizing;

use super::super::{prepared::ScrambledCircuit, slices, tag::Tag};
use super::combine::Coefficient;
use super::layout::{AND_PLANES, Layout};

/// Writes the bits of a group of this party's tables: for each plane, a packed bit for each place.
pub(super) fn group_bits<T: Tag>(
    circuit: &ScrambledCircuit<T>,
    layout: &Layout,
    group: usize,
    planes: &mut [Block],
) {
    planes.fill(Block::ZERO);
    let range = layout.range(group);
    let planes = planes.chunks_exact_mut(layout.place_blocks());
    if group < layout.and_groups() {
        for (plane, rows) in planes.zip(&circuit.gates) {
            let words = bytemuck::cast_slice_mut(plane);
            slices::get(rows.bits.words(), range.start, words, range.len());
        }
        return;
    }
    let mut planes: Vec<&mut [u64]> = planes.map(bytemuck::cast_slice_mut).collect();
    for run in layout.runs(range.clone()) {
        for i in 0..run.n {
            let share = circuit.tables.share(run.byte + i * run.width, run.first + i, run.width);
            put_entry(&mut planes, run.first + i - range.start, entry(share));
        }
    }
}

/// Returns the number in a share of an entry.
pub(super) fn entry(share: &[u8]) -> u64 {
    share.iter().rev().fold(0, |entry, byte| entry << 8 | u64::from(*byte))
}

/// Adds the bits of an entry to its planes.
pub(super) fn put_entry(planes: &mut [&mut [u64]], place: usize, entry: u64) {
    for (b, plane) in planes.iter_mut().enumerate() {
        plane[place / 64] ^= (entry >> b & 1) << (place % 64);
    }
}

/// Which tags of shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The MACs on this party's bits.
    Own,
    /// The keys for the peer's bits.
    Theirs,
}

/// Sums of the tags of all places of all groups, with coefficients.
///
/// The tags of a place's planes are combined first, with powers of X, as an entry's are anyway.
pub(super) struct TagSums<'a> {
    circuit: &'a ScrambledCircuit<u128>,
    layout: &'a Layout,
    side: Side,
    /// Room for those of a group.
    tags: Zeroizing<Vec<u128>>,
}

impl<'a> TagSums<'a> {
    /// Returns sums of one side's tags.
    pub fn new(circuit: &'a ScrambledCircuit<u128>, layout: &'a Layout, side: Side) -> Self {
        let tags = Zeroizing::new(vec![0; layout.code.dimension()]);
        TagSums { circuit, layout, side, tags }
    }

    /// Adds the tags of a group, times an element for each sum, to `sums`.
    pub fn add_group(&mut self, group: usize, [first, second]: Coefficient, sums: &mut [Block]) {
        let range = self.layout.range(group);
        let k = self.layout.code.dimension();
        let mut room = std::mem::take(&mut self.tags);
        let tags = &mut room[..range.len()];
        if group < self.layout.and_groups() {
            self.gates(range, tags);
        } else {
            self.entries(range, tags);
        }
        for (element, sums) in [first, second].into_iter().zip(sums.chunks_exact_mut(k)) {
            let products = tags.iter().map(|tag| gf128::mul(element, Block(*tag)));
            sums.iter_mut().zip(products).for_each(|(sum, product)| *sum ^= product);
        }
        self.tags = room;
    }

    fn gates(&self, range: Range<usize>, tags: &mut [u128]) {
        let rows: [&[u128]; AND_PLANES] =
            self.circuit.gates.each_ref().map(|rows| match self.side {
                Side::Own => &rows.macs[range.clone()],
                Side::Theirs => &rows.keys[range.clone()],
            });
        for (i, tag) in tags.iter_mut().enumerate() {
            *tag = rows[0][i] ^ (rows[1][i] ^ rows[2][i].times_x()).times_x();
        }
    }

    fn entries(&self, range: Range<usize>, tags: &mut [u128]) {
        for run in self.layout.runs(range.clone()) {
            for i in 0..run.n {
                let (byte, entry) = (run.byte + i * run.width, run.first + i);
                let [mac, key] = self.circuit.tables.tags(byte, entry, run.width);
                tags[entry - range.start] = if self.side == Side::Own { mac } else { key };
            }
        }
    }
}

/// Adds the tags of the bits that hide the tables, one row of places after another, times X^i for
/// row i of each sum.
pub(super) fn add_hiding(tags: &[Block], k: usize, sums: &mut [Block]) {
    for (tags, sums) in tags.chunks(128 * k).zip(sums.chunks_exact_mut(k)) {
        let mut powers = Zeroizing::new(vec![Block::ZERO; k]);
        for row in tags.chunks_exact(k).rev() {
            powers.iter_mut().zip(row).for_each(|(power, tag)| *power = power.double() ^ *tag);
        }
        sums.iter_mut().zip(powers.iter()).for_each(|(sum, power)| *sum ^= *power);
    }
}
