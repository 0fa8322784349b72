//! The first leaky triples of the buckets of a tied batch. They have no records, for nobody throws them: their x and z lie
//! where the sums of their buckets will be, added to what is there if there is something, and their y is the given one.

use std::ops::Range;

use symbolon_primitives::{BitVec, Block};

use crate::{Towards, Triples};

/// Some heads, side by side.
pub(super) struct Heads<'a> {
    len: usize,
    /// Whether z is added to what is there.
    adds: bool,
    /// The own bits of all heads' y, and how many heads lie before these.
    given: (&'a BitVec, usize),
    towards: Vec<HeadsTowards<'a>>,
}

/// As far as one peer is concerned: MACs and keys.
struct HeadsTowards<'a> {
    x: [&'a mut [Block]; 2],
    y: [&'a [Block]; 2],
    z: [&'a mut [Block]; 2],
}

/// MACs and keys of the x and z that were drawn for some heads.
pub(super) struct Fresh<'a> {
    pub x: [&'a [Block]; 2],
    pub z: [&'a [Block]; 2],
}

impl<'a> Heads<'a> {
    /// The first `len` of these triples, of which b is given, and c something to add to if it `adds`.
    pub fn of(Triples { a, b, c }: &'a mut Triples, len: usize, adds: bool) -> Self {
        let rows =
            |Towards { macs, keys }: &'a mut Towards| [macs, keys].map(|row| &mut row[..len]);
        let given = |Towards { macs, keys }: &'a Towards| [macs, keys].map(|row| &row[..len]);
        let factors = a.towards.iter_mut().zip(&b.towards);
        let towards = factors.zip(&mut c.towards).map(|((x, y), z)| HeadsTowards {
            x: rows(x),
            y: given(y),
            z: rows(z),
        });
        Heads { len, adds, given: (&b.bits, 0), towards: towards.collect() }
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
            y: y.each_mut().map(|row| take(row, n)),
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
            x[places.clone()].copy_from_slice(fresh.x[side]);
            let z = &mut z[places.clone()];
            match self.adds {
                true => z.iter_mut().zip(fresh.z[side]).for_each(|(z, &fresh)| *z ^= fresh),
                false => z.copy_from_slice(fresh.z[side]),
            }
        }
        let [y_macs, y_keys] = y.map(|row| &row[places.clone()]);
        let [z_macs, z_keys] = fresh.z;
        add_both(phi, y_macs, y_keys);
        add_both(s, z_macs, z_keys);
    }
}

/// Adds two rows to a third.
fn add_both(sums: &mut [Block], macs: &[Block], keys: &[Block]) {
    for (sum, (&mac, &key)) in sums.iter_mut().zip(macs.iter().zip(keys)) {
        *sum ^= mac ^ key;
    }
}

fn take<'a>(row: &mut &'a [Block], n: usize) -> &'a [Block] {
    let (first, rest) = row.split_at(n);
    *row = rest;
    first
}

fn take_mut<'a>(row: &mut &'a mut [Block], n: usize) -> &'a mut [Block] {
    let (first, rest) = std::mem::take(row).split_at_mut(n);
    *row = rest;
    first
}
