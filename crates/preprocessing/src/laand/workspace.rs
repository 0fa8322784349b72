//! Memory for the leaky triples of one batch at a time, laid out for the buckets.

use symbolon_primitives::{BitVec, Block, HugeBuf};

use super::streams::{StreamShares, StreamSharesMut};
use super::{LaAndBatch, ULength, anchors::Anchors};
use crate::Triples;

/// One party's memory, kept from batch to batch, because the first use of new memory is slow. The
/// states of a batch ([`Sampled`](super::Sampled) to [`Opened`](super::Opened)) borrow it.
#[derive(Default)]
pub(crate) struct LaAndWorkspace {
    /// MACs and keys of the triples in shifted streams.
    streams: StreamShares,
    /// This party's bits of x, y and r of all triples, and d of step 4. Once d is opened, z is in
    /// the place of r.
    bits: [BitVec; 4],
    /// S of step 4, in words as long as those of U. The peers' U are XORed to it when they arrive.
    s: HugeBuf<Block>,
    /// Whether all bits of the MACs and keys of y are kept, for tests that look at them.
    #[cfg(test)]
    pub(crate) whole_y: bool,
}

/// The destination of one lane's part of a batch.
pub(crate) struct Part<'a> {
    /// The anchors of the part, which are its first triples.
    pub(super) anchors: Anchors<'a>,
    /// The other triples.
    pub(super) streams: StreamSharesMut<'a>,
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
        #[cfg(not(test))]
        let kept = width;
        #[cfg(test)]
        let kept = if self.whole_y { super::Width::Whole } else { width };
        self.streams.reset(batch.shifted(), peers, kept);
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
        let LaAndBatch { batch, length, chunk, inputs, .. } = *of;
        let all = batch.leaky();
        let chunks = all.div_ceil(chunk).max(1);
        let size = chunks.div_ceil(lanes) * chunk;
        let mut anchors = Anchors::of(output, batch.triples, inputs);
        let (mut streams, mut s) = (self.streams.all(), &mut *self.s);
        let leaky_each = batch.bucket as u64;
        let part = |first| {
            let len = size.min(all - first);
            let anchors = anchors.take_first(len);
            let bits = std::array::from_fn(|_| BitVec::zeros(0));
            let streams = streams.take_first(len - anchors.len());
            let s = s.split_off_mut(..length.width().blocks(len)).expect("an S for each");
            Part { anchors, bits, streams, len, s, chunk, leaky_each, length }
        };
        (0..all).step_by(size).map(part).collect()
    }

    /// Takes this party's bits that the lanes left in their parts.
    pub(super) fn set_bits(&mut self, parts: Vec<[BitVec; 4]>) {
        for part in parts {
            self.bits.iter_mut().zip(part).for_each(|(all, more)| all.extend_from(&more));
        }
    }

    /// Takes this party's d, which are to be opened.
    pub(super) fn take_d(&mut self) -> BitVec {
        std::mem::take(&mut self.bits[3])
    }

    /// Returns this party's bits of the first `n` y.
    pub(super) fn y_bits(&self, n: usize) -> BitVec {
        self.bits[1].slice(0..n)
    }

    /// Returns the S of all triples.
    pub(super) fn s(&self) -> &[Block] {
        &self.s
    }

    /// Notes the opened d, with which the bits of r become those of z: they are XORed with d if
    /// `own`.
    pub(super) fn open(&mut self, d: BitVec, own: bool) {
        if own {
            self.bits[2].xor_assign(&d);
        }
        self.bits[3] = d;
    }

    /// Returns this party's bits of x, y and z of all triples, and d.
    pub(super) fn bits(&self) -> &[BitVec; 4] {
        &self.bits
    }

    /// Returns MACs and keys of the triples in shifted streams.
    pub(crate) fn streams(&self) -> &StreamShares {
        &self.streams
    }
}

#[cfg(test)]
impl LaAndWorkspace {
    /// Returns this party's bit of a triple's x.
    pub(crate) fn own_x(&self, triple: usize) -> bool {
        self.bits[0].get(triple)
    }

    /// Returns this party's bits of a triple's x, y and r, until d is opened.
    pub(super) fn own_bits(&self, triple: usize) -> [bool; 3] {
        std::array::from_fn(|which| self.bits[which].get(triple))
    }
}
