//! Memory for the leaky triples of one batch at a time, laid out for the buckets.

use symbolon_primitives::bucket_kernels::{Record, Records};
use symbolon_primitives::{BitVec, Block, HugeBuf, bytes_of_rows};

use super::{LaAndBatch, ULength, Width, YShares, anchors::Anchors, y_shares::YSharesMut};
use crate::Triples;

/// One party's memory, kept from batch to batch, because the first use of new memory is slow. The
/// states of a batch ([`Sampled`](super::Sampled) to [`Checked`](super::Checked)) borrow it.
#[derive(Default)]
pub(crate) struct LaAndWorkspace {
    /// The number of peers.
    peers: usize,
    /// One record per peer for the first shuffled triple, then for the second, and so on. Like the
    /// anchors, they still contain r in place of z: d is added when the buckets are summed, which
    /// saves a pass over all records.
    records: HugeBuf<Record>,
    /// MACs and keys of the y of the shuffled triples.
    y_shares: YShares,
    /// This party's bits of x, y and r.
    bits: [BitVec; 3],
    /// S of step 4, in words as long as those of U. The peers' U are XORed to it when they arrive.
    s: HugeBuf<Block>,
    /// A byte per triple, plus padding: see [`X_BIT`] and the others. The buckets gather them at
    /// random.
    packed: HugeBuf<u8>,
}

/// This party's bit of x in a packed triple.
pub(crate) const X_BIT: u8 = 1;
/// This party's bit of y.
pub(crate) const Y_BIT: u8 = 2;
/// This party's bit of z.
pub(crate) const Z_BIT: u8 = 4;
/// The bit d of step 4.
pub(crate) const D_BIT: u8 = 8;

/// The destination of one lane's part of a batch.
pub(crate) struct Part<'a> {
    /// The anchors of the part, which are its first triples.
    pub(super) anchors: Anchors<'a>,
    /// The records of the other triples.
    pub records: &'a mut [Record],
    /// The y of the other triples.
    pub(super) y_shares: YSharesMut<'a>,
    /// The number of triples.
    pub len: usize,
    /// Memory for the S of all triples.
    pub s: &'a mut [Block],
    /// The number of triples in a chunk.
    pub chunk: usize,
    /// The number of leaky triples per resulting triple.
    pub leaky_each: u64,
    /// The length of U and S.
    pub length: ULength,
    /// This party's bits of x, y, r and d of this part, filled by the lane.
    pub bits: [BitVec; 4],
}

impl LaAndWorkspace {
    /// Makes room for a batch.
    pub(super) fn reset(&mut self, of: &LaAndBatch) {
        let LaAndBatch { batch, peers, length, .. } = *of;
        let width = length.width();
        self.peers = peers;
        let shuffled = batch.leaky() - batch.anchors();
        self.records.reset(shuffled * peers);
        // In other batches the first y of a bucket is read from here, in full.
        self.y_shares.reset(shuffled, peers, if batch.anchored { width } else { Width::Whole });
        self.s.reset(width.blocks(batch.leaky()));
        self.bits = std::array::from_fn(|_| BitVec::zeros(0));
    }

    /// Splits the memory into one part per lane, each a whole number of chunks except the last. The
    /// anchors are written to `output`.
    pub(super) fn split<'a>(
        &'a mut self,
        output: &'a mut Triples,
        of: &LaAndBatch,
        lanes: usize,
    ) -> Vec<Part<'a>> {
        let LaAndBatch { batch, peers, length, chunk, inputs } = *of;
        let all = batch.leaky();
        let chunks = all.div_ceil(chunk).max(1);
        let size = chunks.div_ceil(lanes) * chunk;
        let mut anchors = Anchors::of(output, batch.anchors(), inputs);
        let (mut records, mut s) = (&mut *self.records, &mut *self.s);
        let mut y_shares = self.y_shares.all();
        let leaky_each = batch.bucket as u64;
        let part = |first| {
            let len = size.min(all - first);
            let anchors = anchors.take_first(len);
            let others = len - anchors.len();
            let bits = std::array::from_fn(|_| BitVec::zeros(0));
            let y_shares = y_shares.take_first(others);
            let records = records.split_off_mut(..others * peers).expect("a record for each");
            let s = s.split_off_mut(..length.width().blocks(len)).expect("an S for each");
            Part { anchors, bits, records, y_shares, len, s, chunk, leaky_each, length }
        };
        (0..all).step_by(size).map(part).collect()
    }

    /// Takes this party's bits that the lanes left in their parts; returns the bits d.
    pub(super) fn set_bits(&mut self, parts: Vec<[BitVec; 4]>) -> BitVec {
        let mut d = BitVec::zeros(0);
        for part in parts {
            let all = self.bits.iter_mut().chain([&mut d]);
            all.zip(part).for_each(|(all, more)| all.extend_from(&more));
        }
        d
    }

    /// Returns this party's bits of the first `n` y.
    pub(super) fn y_bits(&self, n: usize) -> BitVec {
        self.bits[1].slice(0..n)
    }

    /// Returns the S of all triples.
    pub(super) fn s(&self) -> &[Block] {
        &self.s
    }

    /// Packs this party's bits of x, y and z, and d. This party's bits of z are those of r, XORed
    /// with d if `own`.
    pub(super) fn pack(&mut self, d: &BitVec, own: bool) {
        let mut z = std::mem::take(&mut self.bits[2]);
        if own {
            z.xor_assign(d);
        }
        let zeros = vec![0; d.words().len()];
        let [x, y, _] = self.bits.each_ref().map(BitVec::words);
        self.packed.reset(64 * d.words().len());
        let z = z.words();
        bytes_of_rows([x, y, z, d.words(), &zeros, &zeros, &zeros, &zeros], &mut self.packed);
    }

    /// Returns the packed bits of all triples, a byte each.
    pub(super) fn packed(&self) -> &[u8] {
        &self.packed
    }

    /// Returns MACs and keys of the y of the shuffled triples.
    pub(super) fn y_shares(&self) -> &YShares {
        &self.y_shares
    }

    /// Returns MACs and keys of x and r of the shuffled triples.
    pub(crate) fn records(&self) -> Records<'_> {
        Records { all: &self.records, peers: self.peers }
    }
}

#[cfg(test)]
impl LaAndWorkspace {
    /// Returns this party's bit of a triple's x.
    pub(crate) fn own_x(&self, triple: usize) -> bool {
        self.bits[0].get(triple)
    }

    /// Returns this party's bits of a triple's x, y and r, until they are packed.
    pub(super) fn own_bits(&self, triple: usize) -> [bool; 3] {
        std::array::from_fn(|which| self.bits[which].get(triple))
    }
}
