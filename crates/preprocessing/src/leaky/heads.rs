//! The first leaky triples of the buckets of a tied batch. They have no records, for nobody throws them: they lie
//! where the sums of their buckets will be, z added to what is there if there is something, and y as given if it is.

use std::ops::Range;

use symbolon_primitives::rows::{add_blocks, add_sums, copy_blocks};
use symbolon_primitives::{BitVec, Block};

use super::Holds;
use crate::{Towards, Triples};

/// Some heads, side by side.
pub(super) struct Heads<'a> {
    len: usize,
    holds: Holds,
    /// The own bits of all heads' y if they are given, and how many heads lie before these.
    given: (&'a BitVec, usize),
    towards: Vec<HeadsTowards<'a>>,
}

/// As far as one peer is concerned: MACs and keys.
struct HeadsTowards<'a> {
    x: [&'a mut [Block]; 2],
    y: [&'a mut [Block]; 2],
    z: [&'a mut [Block]; 2],
}

/// MACs and keys of the x and z that were drawn for some heads, and of their y unless it was given.
pub(super) struct Fresh<'a> {
    pub x: [&'a [Block]; 2],
    pub y: Option<[&'a [Block]; 2]>,
    pub z: [&'a [Block]; 2],
}

impl<'a> Heads<'a> {
    /// The first `len` of these triples, which hold already what they say.
    pub fn of(Triples { a, b, c }: &'a mut Triples, len: usize, holds: Holds) -> Self {
        let rows =
            |Towards { macs, keys }: &'a mut Towards| [macs, keys].map(|row| &mut row[..len]);
        let factors = a.towards.iter_mut().zip(&mut b.towards);
        let towards = factors.zip(&mut c.towards).map(|((x, y), z)| {
            let (x, y, z) = (rows(x), rows(y), rows(z));
            HeadsTowards { x, y, z }
        });
        Heads { len, holds, given: (&b.bits, 0), towards: towards.collect() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Takes the first `n`, or all if there are fewer.
    pub fn take_first(&mut self, n: usize) -> Heads<'a> {
        let n = n.min(self.len);
        let towards = self.towards.iter_mut().map(|HeadsTowards { x, y, z }| HeadsTowards {
            x: x.each_mut().map(|row| take_mut(row, n)),
            y: y.each_mut().map(|row| take_mut(row, n)),
            z: z.each_mut().map(|row| take_mut(row, n)),
        });
        let first = Heads { len: n, towards: towards.collect(), ..*self };
        self.len -= n;
        self.given.1 += n;
        first
    }

    /// Those of `triples` that are heads, where the heads come first.
    pub fn among(&self, triples: &Range<usize>) -> Range<usize> {
        triples.start.min(self.len)..triples.end.min(self.len)
    }

    /// How many of `triples` have their y given.
    pub fn given(&self, triples: &Range<usize>) -> usize {
        if self.holds.factors { self.among(triples).len() } else { 0 }
    }

    /// The own bits of the given y.
    pub fn bits(&self, Range { start, end }: Range<usize>) -> BitVec {
        let (bits, before) = self.given;
        bits.slice(before + start..before + end)
    }

    /// Notes what was drawn with `peer` for the heads in `places`; adds to `phi` what ties their y to it, and to `s` what
    /// ties their z.
    pub fn lay_out(
        &mut self,
        peer: usize,
        places: Range<usize>,
        fresh: &Fresh<'_>,
        [phi, s]: [&mut [Block]; 2],
    ) {
        let HeadsTowards { x, y, z } = &mut self.towards[peer];
        for (side, (x, z)) in x.iter_mut().zip(z).enumerate() {
            copy_blocks(&mut x[places.clone()], fresh.x[side]);
            let z = &mut z[places.clone()];
            match self.holds.addends {
                true => add_blocks(z, fresh.z[side]),
                false => copy_blocks(z, fresh.z[side]),
            }
        }
        for (y, fresh) in y.iter_mut().zip(fresh.y.iter().flatten()) {
            copy_blocks(&mut y[places.clone()], fresh);
        }
        let [y_macs, y_keys] = y.each_ref().map(|row| &row[places.clone()]);
        let [z_macs, z_keys] = fresh.z;
        add_sums(phi, y_macs, y_keys);
        add_sums(s, z_macs, z_keys);
    }
}

fn take_mut<'a>(row: &mut &'a mut [Block], n: usize) -> &'a mut [Block] {
    let (first, rest) = std::mem::take(row).split_at_mut(n);
    *row = rest;
    first
}
