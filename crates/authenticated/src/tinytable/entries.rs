//! Computes the entries of scrambled tables from one-hot vectors.
//!
//! Entry c of a look-up whose inputs have the mask r is T(c ⊕ r) ⊕ r_o = Σ_j T(c ⊕ j)·[r = j] ⊕
//! r_o. Over all c this is a convolution over the group of k-bit numbers under XOR. An m-bit entry
//! is one element of GF(2)\[X\] below X^m; its bit b is the coefficient of X^b. The MACs and keys
//! of its bits combine in the same way, M = Σ_b X^b·M_b in the field of the tags, so one MAC
//! suffices for all of them: M = K ⊕ entry·Δ (§3.1, the linear MAC αx + β).

use std::marker::PhantomData;
use std::ops::{BitXorAssign, Range};

use symbolon_circuit::Table;
use symbolon_preprocessing::AuthShares;
use symbolon_primitives::{Block, HugeBuf, prefetch};

use super::tag::Tag;
use zeroize::{Zeroize, Zeroizing};

/// The number of look-ups convolved side by side.
const SIDE_BY_SIDE: usize = 64;

/// One party's scrambled tables of all look-ups. Each entry is one record, so a look-up misses the
/// caches only once.
///
/// A record contains this party's share, in [`Table::outputs`] bits rounded up to bytes; the MAC on
/// it; and the key for the peer's share. Tables that are committed in another way have no tags.
pub(crate) struct Tables<T: Tag> {
    /// The records of all look-ups.
    pub bytes: HugeBuf<u8>,
    /// The bytes of tags in a record.
    tags: usize,
    tag: PhantomData<T>,
}

impl<T: Tag> Tables<T> {
    /// Creates tables from these records.
    pub fn new(bytes: HugeBuf<u8>) -> Self {
        Tables { bytes, tags: 2 * T::BYTES, tag: PhantomData }
    }

    /// Creates tables from records without tags.
    pub fn untagged(bytes: HugeBuf<u8>) -> Self {
        Tables { bytes, tags: 0, tag: PhantomData }
    }

    /// Returns the number of bytes that the records before a place take.
    pub fn bytes_before(place: Place) -> usize {
        place.byte + 2 * T::BYTES * place.entry
    }

    /// Returns the record of an entry of `width` bytes, of which this many come before it, with
    /// this many bytes of shares.
    fn record(&self, byte: usize, entry: usize, width: usize) -> &[u8] {
        &self.bytes[byte + self.tags * entry..][..width + self.tags]
    }

    /// Returns this party's share in the record of an entry.
    pub fn share(&self, byte: usize, entry: usize, width: usize) -> &[u8] {
        &self.record(byte, entry, width)[..width]
    }

    /// Returns the MAC and the key in the record of an entry, which has them.
    pub fn tags(&self, byte: usize, entry: usize, width: usize) -> [T; 2] {
        bytemuck::pod_read_unaligned(&self.record(byte, entry, width)[width..])
    }

    /// Returns the records of a look-up whose tables begin at `first`; `step` is the number of
    /// entries from one execution's table to the next.
    pub fn records(&self, table: &Table, first: Place, step: usize) -> Records<'_, T> {
        let width = width(table);
        let record = width + self.tags;
        let bytes = &self.bytes[first.byte + self.tags * first.entry..];
        Records { bytes, width, record, step: step * record, tag: PhantomData }
    }

    fn record_mut(&mut self, first: Place, number: usize, width: usize) -> &mut [u8] {
        let record = width + 2 * T::BYTES;
        &mut self.bytes[Self::bytes_before(first) + number * record..][..record]
    }
}

/// The tables of one look-up in all executions.
#[derive(Clone, Copy)]
pub(crate) struct Records<'a, T> {
    bytes: &'a [u8],
    /// The size of a share in bytes; `record` is that of a record.
    pub width: usize,
    record: usize,
    /// The distance from one execution to the next, in bytes.
    step: usize,
    tag: PhantomData<T>,
}

impl<'a, T: Tag> Records<'a, T> {
    #[inline]
    fn record(&self, execution: usize, index: u8) -> &'a [u8] {
        &self.bytes[execution * self.step + usize::from(index) * self.record..][..self.record]
    }

    /// Prefetches an entry, if each execution has its own table.
    #[inline]
    pub fn prefetch(&self, execution: usize, index: u8) {
        if self.step > 0
            && let [first, .., last] = self.record(execution, index)
        {
            prefetch(first);
            prefetch(last);
        }
    }

    /// Returns this party's share of an entry.
    #[inline]
    pub fn share(&self, execution: usize, index: u8) -> &'a [u8] {
        &self.record(execution, index)[..self.width]
    }

    /// Returns the MAC on this party's share, and the key for the peer's.
    #[inline]
    pub fn tags(&self, execution: usize, index: u8) -> [T; 2] {
        bytemuck::pod_read_unaligned(&self.record(execution, index)[self.width..])
    }
}

/// The position of a look-up's table: the number of entries before it, and of bytes of shares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub entry: usize,
    pub byte: usize,
}

/// Returns the size of an entry's share in bytes.
pub(crate) fn width(table: &Table) -> usize {
    table.outputs().div_ceil(8) as usize
}

/// Fills in the tables of many look-ups of one table, from the one-hot vectors of their inputs'
/// masks and the masks of their outputs, by bit. `place` gives the position of each.
pub(crate) fn scramble<T: Tag>(
    table: &Table,
    one_hot: &[AuthShares],
    masks: &[AuthShares],
    into: &mut Tables<T>,
    place: impl Fn(usize) -> Place,
) {
    let (size, width) = (one_hot.len(), width(table));
    let mut constants = Vec::new();
    spread(table.entries(), &mut constants);
    let all = one_hot[0].len();
    for start in (0..all).step_by(SIDE_BY_SIDE) {
        let range = start..all.min(start + SIDE_BY_SIDE);
        let n = range.len();
        let tags = |of: fn(&AuthShares, usize) -> Block| {
            let row = |shares| range.clone().map(move |k| T::cut(of(shares, k)));
            let mut rows = Zeroizing::new(Vec::with_capacity(size * n));
            rows.extend(one_hot.iter().flat_map(row));
            let mut rows = convolve(rows, &constants, [n, T::PARTS * n], T::products);
            rows.chunks_mut(T::PARTS * n).for_each(T::reduce);
            let mut sums = Zeroizing::new(vec![T::default(); n]);
            for shares in masks.iter().rev() {
                let tags = sums.iter_mut().zip(row(shares));
                tags.for_each(|(sum, tag)| *sum = sum.times_x() ^ tag);
            }
            add_to_each(&mut rows, T::PARTS * n, &sums);
            rows
        };
        let macs = tags(|shares, k| shares.towards[0].macs[k]);
        let keys = tags(|shares, k| shares.towards[0].keys[k]);
        let row = |shares| bits_of(shares, range.clone());
        let mut bits = Zeroizing::new(Vec::with_capacity(size * n));
        bits.extend(one_hot.iter().flat_map(row));
        let mut shares = convolve(bits, &constants, [n, n], |bits, entry, out| {
            bits.iter().zip(out).for_each(|(bit, out)| *out = entry & 0u64.wrapping_sub(*bit));
        });
        let mut sums = Zeroizing::new(vec![0; n]);
        for shares in masks.iter().rev() {
            sums.iter_mut().zip(row(shares)).for_each(|(sum, bit)| *sum = *sum << 1 | bit);
        }
        add_to_each(&mut shares, n, &sums);
        for k in 0..n {
            let first = place(start + k);
            for c in 0..size {
                let share = shares[c * n + k].to_le_bytes();
                let tags = [macs[c * T::PARTS * n + k], keys[c * T::PARTS * n + k]];
                let (to_share, to_tags) = into.record_mut(first, c, width).split_at_mut(width);
                to_share.copy_from_slice(&share[..width]);
                to_tags.copy_from_slice(bytemuck::cast_slice(&tags));
            }
        }
    }
}

/// Returns some bits, each in a word.
fn bits_of(shares: &AuthShares, range: Range<usize>) -> impl Iterator<Item = u64> {
    range.map(|k| u64::from(shares.bits.get(k)))
}

/// Adds `row` to the beginning of each of `rows`, which are `width` long.
fn add_to_each<W: Copy + BitXorAssign>(rows: &mut [W], width: usize, row: &[W]) {
    rows.chunks_mut(width)
        .for_each(|to| to.iter_mut().zip(row).for_each(|(to, from)| *to ^= *from));
}

/// Appends the constants of [`convolve`] in the order in which it uses them.
fn spread(table: &[u64], constants: &mut Vec<u64>) {
    if let [entry] = table {
        constants.push(*entry);
        return;
    }
    let (low, high) = table.split_at(table.len() / 2);
    let sums: Vec<u64> = low.iter().zip(high).map(|(low, high)| low ^ high).collect();
    [&sums, low, high].into_iter().for_each(|part| spread(part, constants));
}

/// Computes row c as Σ_j table\[c ⊕ j\]·row_j, for the table from which the constants were
/// [`spread`]. `widths` gives the number of values in a row, and in a product.
///
/// This takes 3^k products of a row instead of 4^k, by (A + B·s)(C + D·s) = AC + BD + ((A + B)(C +
/// D) + AC + BD)·s for s² = 1.
fn convolve<W>(
    rows: Zeroizing<Vec<W>>,
    constants: &[u64],
    widths: [usize; 2],
    times: impl Fn(&[W], u64, &mut [W]),
) -> Zeroizing<Vec<W>>
where
    W: Copy + Default + BitXorAssign + Zeroize,
{
    let size = rows.len() / widths[0] * widths[1];
    let zeros = |n| Zeroizing::new(vec![W::default(); n]);
    let (mut out, mut sums, mut room) = (zeros(size), zeros(rows.len()), zeros(size));
    let mut left = constants.iter();
    let mut halves = Halves { width: widths[0], constants: &mut left, times: &times };
    halves.convolve(&rows, &mut out, &mut sums, &mut room);
    out
}

/// What all levels of a convolution share.
struct Halves<'a, F> {
    width: usize,
    constants: &'a mut std::slice::Iter<'a, u64>,
    times: &'a F,
}

impl<F> Halves<'_, F> {
    /// Convolves `rows`, with room for the sums of halves of rows and of their products.
    fn convolve<W>(&mut self, rows: &[W], out: &mut [W], sums: &mut [W], room: &mut [W])
    where
        W: Copy + BitXorAssign,
        F: Fn(&[W], u64, &mut [W]),
    {
        if rows.len() == self.width {
            let constant = *self.constants.next().expect("as many constants as products");
            (self.times)(rows, constant, out);
            return;
        }
        let (low, high) = rows.split_at(rows.len() / 2);
        let (sum, sums) = sums.split_at_mut(low.len());
        sum.copy_from_slice(low);
        sum.iter_mut().zip(high).for_each(|(sum, high)| *sum ^= *high);
        let half = out.len() / 2;
        let (of_sum, room) = room.split_at_mut(half);
        self.convolve(sum, of_sum, sums, room);
        let (of_low, of_high) = out.split_at_mut(half);
        self.convolve(low, of_low, sums, room);
        self.convolve(high, of_high, sums, room);
        for ((of_sum, low), high) in of_sum.iter().zip(of_low).zip(of_high) {
            *low ^= *high;
            *high = *low;
            *high ^= *of_sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn convolutions_are_what_they_are(
            k in 1u32..=6,
            n in 1usize..4,
            seed in prop::collection::vec(any::<u64>(), 64 * 4),
        ) {
            let size = 1usize << k;
            let table: Vec<u64> = seed[..size].iter().map(|t| t >> 40).collect();
            let rows: Vec<u64> = seed[..size * n].to_vec();
            let mut constants = Vec::new();
            spread(&table, &mut constants);
            let mut out = convolve(Zeroizing::new(rows.clone()), &constants, [n, 2 * n], <u64 as Tag>::products);
            out.chunks_mut(2 * n).for_each(<u64 as Tag>::reduce);
            for c in 0..size {
                for execution in 0..n {
                    let sum = (0..size).fold(0, |sum, j| sum ^ rows[j * n + execution].times(table[c ^ j]));
                    prop_assert_eq!(out[c * 2 * n + execution], sum);
                }
            }
        }
    }
}
