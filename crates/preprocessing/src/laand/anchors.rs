//! The anchors of a batch: the leaky triples of the first stream, one for each bucket. As this
//! stream does not move, they are generated directly where the sums of their buckets will be. Their
//! z is added to existing shares, if any, and they use the given y, if any.

use std::ops::Range;

use symbolon_primitives::block_xor::{copy_blocks, xor_blocks, xor_sums};
use symbolon_primitives::{BitVec, Block};

use super::BatchInputs;
use crate::{PeerAuth, Triples};

/// Consecutive anchors.
pub(super) struct Anchors<'a> {
    len: usize,
    inputs: BatchInputs,
    /// This party's bits of all anchors' y, if they are given.
    given: &'a BitVec,
    /// The number of anchors before these.
    before: usize,
    towards: Vec<PeerAnchors<'a>>,
}

/// MACs and keys of the anchors with one peer.
struct PeerAnchors<'a> {
    x: [&'a mut [Block]; 2],
    y: [&'a mut [Block]; 2],
    z: [&'a mut [Block]; 2],
}

/// The sampled MACs and keys of x and z for some anchors, and of their y unless it was given.
pub(super) struct SampledAnchors<'a> {
    pub x: [&'a [Block]; 2],
    pub y: Option<[&'a [Block]; 2]>,
    pub z: [&'a [Block]; 2],
}

impl<'a> Anchors<'a> {
    /// Takes the first `len` of these triples as anchors. The triples already hold the shares that
    /// `inputs` declares as given.
    pub fn of(Triples { a, b, c }: &'a mut Triples, len: usize, inputs: BatchInputs) -> Self {
        let rows =
            |PeerAuth { macs, keys }: &'a mut PeerAuth| [macs, keys].map(|row| &mut row[..len]);
        let factors = a.towards.iter_mut().zip(&mut b.towards);
        let towards = factors.zip(&mut c.towards).map(|((x, y), z)| {
            let (x, y, z) = (rows(x), rows(y), rows(z));
            PeerAnchors { x, y, z }
        });
        Anchors { len, inputs, given: &b.bits, before: 0, towards: towards.collect() }
    }

    /// Returns the number of anchors.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Takes the first `n` anchors, or all if there are fewer.
    pub fn take_first(&mut self, n: usize) -> Anchors<'a> {
        let n = n.min(self.len);
        let towards = self.towards.iter_mut().map(|PeerAnchors { x, y, z }| PeerAnchors {
            x: x.each_mut().map(|row| take_mut(row, n)),
            y: y.each_mut().map(|row| take_mut(row, n)),
            z: z.each_mut().map(|row| take_mut(row, n)),
        });
        let first = Anchors { len: n, towards: towards.collect(), ..*self };
        self.len -= n;
        self.before += n;
        first
    }

    /// Returns the range of anchors among `triples`, in which anchors come first.
    pub fn among(&self, triples: &Range<usize>) -> Range<usize> {
        triples.start.min(self.len)..triples.end.min(self.len)
    }

    /// Returns how many of `triples` have a given y.
    pub fn given(&self, triples: &Range<usize>) -> usize {
        if self.inputs.y { self.among(triples).len() } else { 0 }
    }

    /// Returns this party's bits of the given y.
    pub fn bits(&self, Range { start, end }: Range<usize>) -> BitVec {
        self.given.slice(self.before + start..self.before + end)
    }

    /// Writes the sampled MACs and keys with `peer` for the anchors in `places`. XORs MACs and keys
    /// of their y to `phi`, and those of their z to `s`.
    pub fn lay_out(
        &mut self,
        peer: usize,
        places: Range<usize>,
        fresh: &SampledAnchors<'_>,
        [phi, s]: [&mut [Block]; 2],
    ) {
        let PeerAnchors { x, y, z } = &mut self.towards[peer];
        for (side, (x, z)) in x.iter_mut().zip(z).enumerate() {
            copy_blocks(&mut x[places.clone()], fresh.x[side]);
            let z = &mut z[places.clone()];
            match self.inputs.onto {
                true => xor_blocks(z, fresh.z[side]),
                false => copy_blocks(z, fresh.z[side]),
            }
        }
        for (y, fresh) in y.iter_mut().zip(fresh.y.iter().flatten()) {
            copy_blocks(&mut y[places.clone()], fresh);
        }
        let [y_macs, y_keys] = y.each_ref().map(|row| &row[places.clone()]);
        let [z_macs, z_keys] = fresh.z;
        xor_sums(phi, y_macs, y_keys);
        xor_sums(s, z_macs, z_keys);
    }
}

fn take_mut<'a>(row: &mut &'a mut [Block], n: usize) -> &'a mut [Block] {
    let (first, rest) = std::mem::take(row).split_at_mut(n);
    *row = rest;
    first
}
