//! Memory for the leaky triples of one batch at a time, as the buckets will gather them.

use symbolon_primitives::bucket_kernels::{Record, Records};
use symbolon_primitives::{BitVec, Block, HugeBuf, bytes_of_rows};

use super::{LaAndBatch, Width, YShares, anchors::Anchors, y_shares::YSharesMut};
use crate::Triples;

/// The memory of one party, kept from batch to batch: the first touch of new memory is slow. The
/// states of a batch ([`Sampled`](super::Sampled) to [`Checked`](super::Checked)) borrow it.
#[derive(Default)]
pub(crate) struct LaAndWorkspace {
    /// How many peers each triple is shared with.
    peers: usize,
    /// One record per peer for the first shuffled triple, then for the second, ... Their z is still
    /// r, as the anchors' is: d is added when the buckets are summed, which saves a pass over all
    /// of them.
    records: HugeBuf<Record>,
    /// MACs and keys of the y of those triples.
    y_shares: YShares,
    /// This party's bits of x, y and r.
    bits: [BitVec; 3],
    /// S of step 4, as wide as U; the peers' U are XORed to it when they arrive.
    s: HugeBuf<Block>,
    /// A byte for each triple, and some more: see [`X_BIT`] and its like. The buckets gather them
    /// at random.
    packed: HugeBuf<u8>,
}

/// This party's bit of x in a packed triple.
pub(crate) const X_BIT: u8 = 1;
/// This party's bit of y.
pub(crate) const Y_BIT: u8 = 2;
/// This party's bit of z.
pub(crate) const Z_BIT: u8 = 4;
/// d of step 4.
pub(crate) const D_BIT: u8 = 8;

/// Where one lane writes its part of a batch.
pub(crate) struct Part<'a> {
    /// The anchors of the part, which are its first triples.
    pub(super) anchors: Anchors<'a>,
    /// The records of the other triples.
    pub records: &'a mut [Record],
    /// The y of the other triples.
    pub(super) y_shares: YSharesMut<'a>,
    /// How many triples there are.
    pub len: usize,
    /// Memory for the S of all triples, of `width` bits each.
    pub s: &'a mut [Block],
    /// How many triples a chunk has.
    pub chunk: usize,
    /// How many of them make one triple.
    pub leaky_each: u64,
    /// The length of U and S.
    pub width: Width,
    /// This party's bits of x, y, r and d of this part, filled by the lane.
    pub bits: [BitVec; 4],
}

impl LaAndWorkspace {
    /// Makes room for a batch.
    pub(super) fn reset(&mut self, of: &LaAndBatch) {
        let LaAndBatch { batch, peers, width, .. } = *of;
        self.peers = peers;
        let shuffled = batch.leaky() - batch.anchors();
        self.records.reset(shuffled * peers);
        // In other batches the first y of a bucket is read from there, in full.
        self.y_shares.reset((shuffled, peers), if batch.anchored { width } else { Width::Whole });
        self.s.reset(width.blocks(batch.leaky()));
        self.bits = std::array::from_fn(|_| BitVec::zeros(0));
    }

    /// Splits the memory into one part per lane, each a whole number of chunks but the last. The
    /// anchors are written to `output`.
    pub(super) fn split<'a>(
        &'a mut self,
        output: &'a mut Triples,
        of: &LaAndBatch,
        lanes: usize,
    ) -> Vec<Part<'a>> {
        let LaAndBatch { batch, peers, width, chunk, inputs } = *of;
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
            let s = s.split_off_mut(..width.blocks(len)).expect("an S for each");
            Part { anchors, bits, records, y_shares, len, s, chunk, leaky_each, width }
        };
        (0..all).step_by(size).map(part).collect()
    }

    /// Takes this party's bits that the lanes left in their parts; returns those of d.
    pub(super) fn set_bits(&mut self, parts: Vec<[BitVec; 4]>) -> BitVec {
        let mut d = BitVec::zeros(0);
        for part in parts {
            let all = self.bits.iter_mut().chain([&mut d]);
            all.zip(part).for_each(|(all, more)| all.extend_from(&more));
        }
        d
    }

    /// This party's bits of the first `n` y.
    pub(super) fn y_bits(&self, n: usize) -> BitVec {
        self.bits[1].slice(0..n)
    }

    /// The S of all triples.
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

    /// The packed bits of all triples, a byte each.
    pub(super) fn packed(&self) -> &[u8] {
        &self.packed
    }

    /// MACs and keys of the y of the shuffled triples.
    pub(super) fn y_shares(&self) -> &YShares {
        &self.y_shares
    }

    /// MACs and keys of x and r of the shuffled triples.
    pub(crate) fn records(&self) -> Records<'_> {
        Records { all: &self.records, peers: self.peers }
    }
}

#[cfg(test)]
impl LaAndWorkspace {
    /// This party's bit of x of a triple.
    pub(crate) fn own_x(&self, triple: usize) -> bool {
        self.bits[0].get(triple)
    }

    /// This party's bits of x, y and r of a triple, until they are packed.
    pub(super) fn own_bits(&self, triple: usize) -> [bool; 3] {
        std::array::from_fn(|which| self.bits[which].get(triple))
    }
}
