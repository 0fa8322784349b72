//! Leaky triples in memory, as the buckets will gather them.

pub use symbolon_primitives::records::Record;
use symbolon_primitives::records::Records;
use symbolon_primitives::{BitVec, Block, Delta, Slab, bytes_of_rows};

use super::{RightFactors, Width};
use crate::{Triples, bucketing::Batch};

/// One party's part of many leaky triples.
#[derive(Default)]
pub struct LeakyTriples {
    pub(super) peers: usize,
    /// How many triples there are.
    pub(super) len: usize,
    /// How many of them, the first, are the heads of buckets that are not thrown.
    pub(super) heads: usize,
    /// Where the sums of the buckets will be. Until then it holds the heads.
    pub(super) made: Triples,
    /// What it held before.
    pub(super) holds: Holds,
    /// One record per peer for the first triple that is thrown, then for the second, ... Their z is
    /// still r, as the heads' is: what d lacks is added when the buckets are summed, which saves a
    /// pass over all of them.
    pub(super) records: Slab<Record>,
    /// What ties the y of those triples to the peers.
    pub(super) right: RightFactors,
    /// The own bits of x, y, z.
    pub(super) bits: [BitVec; 3],
    /// The own d of step 4, until it is opened.
    pub(super) d: BitVec,
    /// S of step 4 (still without its part of the peers' U before they arrive), so many bits each
    /// as U has.
    pub(super) s: Slab<Block>,
    /// What a record's key for z lacks where d is 1: Δ if the peer in place 0 is party 0, whose
    /// bit changes, and otherwise nothing.
    correcting: Delta,
    /// A byte for each triple, and some more: see [`X_BIT`] and its like. The buckets gather them
    /// at random.
    packed: Slab<u8>,
}

/// What of a batch's triples is there before it is made.
#[derive(Clone, Copy, Default)]
pub(crate) struct Holds {
    /// The right factors.
    pub factors: bool,
    /// Shares in the place of the products, to which these are added.
    pub addends: bool,
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
    /// ones. There is room for its triples in `made`, which `holds` what is given.
    pub(crate) fn reset(
        &mut self,
        (batch, peers): (Batch, usize),
        width: Width,
        made: Triples,
        holds: Holds,
    ) {
        self.peers = peers;
        self.len = batch.leaky();
        self.holds = holds;
        self.heads = batch.heads();
        self.made = made;
        let thrown = batch.leaky() - self.heads;
        self.records.reset(thrown * peers);
        // The first y of a bucket that is not tied comes out of there.
        self.right.reset((thrown, peers), if batch.tied { width } else { Width::Whole });
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

    /// The heads, if they are not thrown, in the place of their buckets' sums.
    pub(crate) fn take_made(&mut self) -> Triples {
        std::mem::take(&mut self.made)
    }

    /// What ties the right factors of the triples that are thrown to the peers.
    pub(crate) fn right(&self) -> &RightFactors {
        &self.right
    }

    /// What ties the triples that are thrown to the peers. A key for z still lacks [`correcting`]
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

    /// Notes d, and packs all bits.
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
        if self.heads > 0 && !self.holds.factors {
            self.made.b.bits = self.bits[1].slice(0..self.heads);
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
        let Some(thrown) = triple.checked_sub(self.heads) else {
            let Triples { a, b, c } = &self.made;
            return [a, b, c].map(|shares| {
                let share = shares.pair(triple, peer);
                [share.mac, share.key]
            });
        };
        let Record { x, z } = &self.records[thrown * self.peers + peer];
        [*x, self.right.get(thrown, peer), *z]
    }
}
