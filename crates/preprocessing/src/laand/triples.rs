//! Leaky triples in memory, as the buckets will gather them.

pub use symbolon_primitives::records::Record;
use symbolon_primitives::records::Records;
use symbolon_primitives::{BitVec, Block, Delta, Slab, bytes_of_rows};

use super::{Width, YShares};
use crate::{Triples, bucketing::Batch};

/// One party's part of many leaky triples.
#[derive(Default)]
pub struct LeakyTriples {
    pub(super) peers: usize,
    /// How many triples there are.
    pub(super) len: usize,
    /// How many of them, the first, are anchors, which are not shuffled.
    pub(super) anchors: usize,
    /// Where the sums of the buckets will be. Until then it holds the anchors.
    pub(super) output: Triples,
    /// Which of its shares were given.
    pub(super) inputs: BatchInputs,
    /// One record per peer for the first shuffled triple, then for the second, ... Their z is still
    /// r, as the anchors' is: d is added when the buckets are summed, which saves a pass over all of
    /// them.
    pub(super) records: Slab<Record>,
    /// MACs and keys of the y of those triples.
    pub(super) y_shares: YShares,
    /// The own bits of x, y, z.
    pub(super) bits: [BitVec; 3],
    /// The own d of step 4, until it is opened.
    pub(super) d: BitVec,
    /// S of step 4, as wide as U; the peers' U are XORed to it when they arrive.
    pub(super) s: Slab<Block>,
    /// What a record's key for z lacks where d is 1: Δ if the peer in place 0 is party 0, whose
    /// bit changes, and otherwise nothing.
    correcting: Delta,
    /// A byte for each triple, and some more: see [`X_BIT`] and its like. The buckets gather them
    /// at random.
    packed: Slab<u8>,
}

/// Which shares of a batch's triples are given before the batch is made.
#[derive(Clone, Copy, Default)]
pub(crate) struct BatchInputs {
    /// The y of its anchors.
    pub y: bool,
    /// Shares to which the products are added, in the memory of the products.
    pub onto: bool,
}

/// The own bit of x in a packed triple.
pub(crate) const X_BIT: u8 = 1;
/// The own bit of y.
pub(crate) const Y_BIT: u8 = 2;
/// The own bit of z.
pub(crate) const Z_BIT: u8 = 4;
/// d of step 4.
pub(crate) const D_BIT: u8 = 8;

impl LeakyTriples {
    /// Makes room for a batch among this party and `peers` others; keeps the memory of earlier
    /// ones. `output` has room for its triples, and holds the shares that `inputs` says are given.
    pub(crate) fn reset(
        &mut self,
        (batch, peers): (Batch, usize),
        width: Width,
        output: Triples,
        inputs: BatchInputs,
    ) {
        self.peers = peers;
        self.len = batch.leaky();
        self.inputs = inputs;
        self.anchors = batch.anchors();
        self.output = output;
        let shuffled = batch.leaky() - self.anchors;
        self.records.reset(shuffled * peers);
        // In other batches the first y of a bucket is read from there, in full.
        self.y_shares.reset((shuffled, peers), if batch.anchored { width } else { Width::Whole });
        self.s.reset(width.blocks(self.len));
        self.bits = std::array::from_fn(|_| BitVec::zeros(0));
        self.d = BitVec::zeros(0);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many peers each triple is shared with.
    pub fn peers(&self) -> usize {
        self.peers
    }

    /// The own bits of x, y, z of a triple.
    pub fn own_bits(&self, triple: usize) -> [bool; 3] {
        std::array::from_fn(|which| self.bits[which].get(triple))
    }

    /// The anchors of an anchored batch, in the place of their buckets' sums.
    pub(crate) fn take_output(&mut self) -> Triples {
        std::mem::take(&mut self.output)
    }

    /// MACs and keys of the y of the shuffled triples.
    pub(crate) fn y_shares(&self) -> &YShares {
        &self.y_shares
    }

    /// MACs and keys of x and z of the shuffled triples. A key for z still lacks [`correcting`]
    /// where d is 1.
    ///
    /// [`correcting`]: LeakyTriples::correcting
    pub(crate) fn records(&self) -> Records<'_> {
        Records { all: &self.records, peers: self.peers }
    }

    /// What is added to the key for the z of the peer in place `peer` where d is 1.
    pub(crate) fn correcting(&self, peer: usize) -> Block {
        self.correcting.select(peer == 0)
    }

    /// For each triple its bits in a byte, once it is checked.
    pub(crate) fn packed(&self) -> &[u8] {
        &self.packed
    }

    /// Corrects the own bits of z by d, and packs all bits.
    pub(super) fn correct(&mut self, d: &BitVec, own: bool, delta: &Delta) {
        // Party 0's bit changes, and the others' keys for it.
        self.correcting = if own { Delta::default() } else { delta.clone() };
        if own {
            self.bits[2].xor_assign(d);
        }
        let zeros = vec![0; d.words().len()];
        let [x, y, z] = self.bits.each_ref().map(BitVec::words);
        self.packed.reset(64 * d.words().len());
        bytes_of_rows([x, y, z, d.words(), &zeros, &zeros, &zeros, &zeros], &mut self.packed);
    }

    /// Takes the bits that the lanes left in their parts.
    pub(crate) fn set_bits(&mut self, parts: Vec<[BitVec; 4]>) {
        for part in parts {
            let all = self.bits.iter_mut().chain([&mut self.d]);
            all.zip(part).for_each(|(all, more)| all.extend_from(&more));
        }
        if self.anchors > 0 && !self.inputs.y {
            self.output.b.bits = self.bits[1].slice(0..self.anchors);
        }
    }
}

#[cfg(test)]
impl LeakyTriples {
    /// The low bits of S_i of a triple.
    pub(crate) fn s_of(&self, triple: usize, width: Width) -> Block {
        match width {
            Width::Half => Block(bytemuck::cast_slice::<_, u64>(&self.s)[triple].into()),
            Width::Whole => self.s[triple],
        }
    }

    /// MAC and key of a triple's x, y and r with the peer in place `peer`. Of y there must be all
    /// bits.
    pub(crate) fn auths_of(&self, triple: usize, peer: usize) -> [[Block; 2]; 3] {
        let Some(shuffled) = triple.checked_sub(self.anchors) else {
            let Triples { a, b, c } = &self.output;
            return [a, b, c].map(|shares| {
                let share = shares.pair(triple, peer);
                [share.mac, share.key]
            });
        };
        let Record { x, z } = &self.records[shuffled * self.peers + peer];
        [*x, self.y_shares.get(shuffled, peer), *z]
    }
}
