//! Handles to the values of a circuit under construction: bits and words.

mod joined;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut, Not, Range};
use std::sync::{Arc, OnceLock};

use crate::{Wire, WireRange};
use joined::Joined;

pub use joined::Joiner;

/// One bit of a circuit under construction: a public constant, or a wire with or without a pending
/// inversion.
///
/// Negation ([`Not`]) only flips the pending inversion, so it never makes a gate. A bit belongs to
/// the builder that made it; constants belong to all. In another builder it would name another
/// wire: pass values between builders as inputs and outputs of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bit(u32);

impl Bit {
    /// The constant 0.
    pub const ZERO: Bit = Bit(0);
    /// The constant 1.
    pub const ONE: Bit = Bit(1);

    /// Returns the constant `value`.
    pub fn constant(value: bool) -> Bit {
        Bit(u32::from(value))
    }

    /// Returns the value, if the bit is a constant.
    pub fn as_constant(self) -> Option<bool> {
        (self.0 < 2).then_some(self.0 == 1)
    }

    /// Returns the same wire, or the constant 0, without inversion, and whether it is inverted.
    pub fn plain(self) -> (Bit, bool) {
        (Bit(self.0 & !1), self.0 & 1 == 1)
    }

    /// Returns the wire without inversion; wires are below 2^31 - 1, which the builder's allocation
    /// ensures.
    pub(super) fn of_wire(wire: Wire) -> Bit {
        Bit((wire + 1) << 1)
    }

    /// Returns the bit's wire and whether it is inverted, or `None` for a constant.
    pub(super) fn wire(self) -> Option<(Wire, bool)> {
        (self.0 >= 2).then(|| ((self.0 >> 1) - 1, self.0 & 1 == 1))
    }

    /// Returns the bit, inverted if `invert`.
    pub(super) fn invert_if(self, invert: bool) -> Bit {
        Bit(self.0 ^ u32::from(invert))
    }
}

impl Hash for Bit {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }

    /// Hashes many bits at once: words are keys.
    fn hash_slice<H: Hasher>(bits: &[Bit], state: &mut H) {
        for bits in bits.chunks(64) {
            let mut bytes = [0; 64 * size_of::<u32>()];
            for (bytes, bit) in bytes.chunks_exact_mut(size_of::<u32>()).zip(bits) {
                bytes.copy_from_slice(&bit.0.to_ne_bytes());
            }
            state.write(&bytes[..size_of_val(bits)]);
        }
    }
}

impl Not for Bit {
    type Output = Bit;

    fn not(self) -> Bit {
        self.invert_if(true)
    }
}

/// A word of any width: bits, least significant first.
///
/// Dereferences to a slice of bits. The methods here only rearrange bits, so they cost nothing;
/// methods that make gates are in [`Gates`](super::Gates). Copies and parts of wide words share
/// their bits, and the bits of many wires in a row are listed only when they are asked for.
#[derive(Clone)]
pub struct Word(Bits);

/// Words with fewer bits have them to themselves.
const WIDE: usize = 1 << 10;

#[derive(Clone)]
enum Bits {
    Own(Vec<Bit>),
    /// These of the bits.
    Shared(Arc<Vec<Bit>>, Range<usize>),
    Run(Run),
    Joined(Joined),
}

/// A part of a word.
pub(super) enum Part<'w> {
    /// Wires in a row.
    Wires(WireRange),
    Bits(&'w [Bit]),
}

/// Wires in a row.
#[derive(Clone)]
struct Run {
    first: Wire,
    width: u32,
    /// Their bits, once they have been asked for.
    bits: Arc<OnceLock<Vec<Bit>>>,
}

impl Run {
    fn range(&self) -> WireRange {
        WireRange { first: self.first, len: self.width }
    }

    fn listed(&self) -> &Vec<Bit> {
        self.bits.get_or_init(|| (self.first..self.first + self.width).map(Bit::of_wire).collect())
    }
}

impl Word {
    /// Returns `width` constant zeros.
    pub fn zero(width: usize) -> Word {
        vec![Bit::ZERO; width].into()
    }

    /// Returns the low `width` bits of `value` as constants; bits beyond 128 are zero.
    pub fn constant(width: usize, value: u128) -> Word {
        (0..width).map(|i| Bit::constant(i < 128 && value >> i & 1 == 1)).collect()
    }

    /// Returns how many bits there are.
    pub fn width(&self) -> usize {
        match &self.0 {
            Bits::Own(bits) => bits.len(),
            Bits::Shared(_, range) => range.len(),
            Bits::Run(run) => run.width as usize,
            Bits::Joined(joined) => joined.width(),
        }
    }

    /// Returns the word of this many wires in a row.
    pub(super) fn of_wires(first: Wire, width: u32) -> Word {
        match width as usize {
            ..WIDE => (first..first + width).map(Bit::of_wire).collect(),
            _ => Word(Bits::Run(Run { first, width, bits: Arc::default() })),
        }
    }

    /// Returns the wires, if they are known to be in a row and without inversions.
    pub(super) fn wires(&self) -> Option<WireRange> {
        match &self.0 {
            Bits::Run(run) => Some(run.range()),
            _ => None,
        }
    }

    /// Returns the parts of the word, in order; none lists wires that are known to be in a row.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let parts = match &self.0 {
            Bits::Joined(joined) => joined.parts(),
            _ => std::slice::from_ref(self),
        };
        parts.iter().map(|part| match part.wires() {
            Some(range) => Part::Wires(range),
            None => Part::Bits(part),
        })
    }

    /// Returns how many bits are not known to be on wires in a row: they take memory one by one.
    pub fn listed_bits(&self) -> usize {
        let listed = self.parts().map(|part| match part {
            Part::Wires(_) => 0,
            Part::Bits(bits) => bits.len(),
        });
        listed.sum()
    }

    /// Returns how many bits are constants.
    pub fn constant_bits(&self) -> usize {
        let constants = self.parts().map(|part| match part {
            Part::Wires(_) => 0,
            Part::Bits(bits) => bits.iter().filter(|bit| bit.as_constant().is_some()).count(),
        });
        constants.sum()
    }

    /// Returns the bits as rows of wires that follow each other, by the first bit of each and how
    /// many there are; `None` if a bit is a constant, or two are the same wire.
    pub fn rows(&self) -> Option<Vec<(Bit, u32)>> {
        let mut rows: Vec<(Bit, u32)> = Vec::new();
        let mut push = |bit: Bit, count: u32| match rows.last_mut() {
            Some((first, len)) if first.0 + 2 * *len == bit.0 => *len += count,
            _ => rows.push((bit, count)),
        };
        for part in self.parts() {
            match part {
                Part::Wires(range) => push(Bit::of_wire(range.first), range.len),
                Part::Bits(bits) => {
                    for &bit in bits {
                        bit.wire()?;
                        push(bit, 1);
                    }
                }
            }
        }
        let wires = |(first, len): (Bit, u32)| first.wire().map(|(wire, _)| (wire, wire + len));
        let mut sorted: Vec<(Wire, Wire)> = rows.iter().copied().filter_map(wires).collect();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0].1 <= pair[1].0).then_some(rows)
    }

    /// Returns the bits `range`, as a word of their own.
    ///
    /// # Panics
    /// When the range reaches beyond the word.
    pub fn slice(&self, range: Range<usize>) -> Word {
        match &self.0 {
            // A small part that shares its bits would make changes of the whole copy all of it.
            Bits::Shared(bits, all) if range.len() >= bits.len() / 2 => {
                assert!(range.end <= all.len(), "a part beyond the word");
                Word(Bits::Shared(bits.clone(), all.start + range.start..all.start + range.end))
            }
            Bits::Run(run) if range.len() < run.width as usize => {
                assert!(range.end <= run.width as usize, "a part beyond the word");
                Word::of_wires(run.first + range.start as u32, range.len() as u32)
            }
            Bits::Run(_) => self.clone(),
            Bits::Joined(joined) => {
                assert!(range.end <= joined.width(), "a part beyond the word");
                joined.slice(range)
            }
            _ => self[range].to_vec().into(),
        }
    }

    /// Adds the bits `range` to a list. Wires in a row stay unlisted here.
    ///
    /// # Panics
    /// When the range reaches beyond the word.
    pub fn append_to(&self, range: Range<usize>, list: &mut Vec<Bit>) {
        match &self.0 {
            Bits::Run(run) => {
                assert!(range.end <= run.width as usize, "a part beyond the word");
                let wires = run.first + range.start as u32..run.first + range.end as u32;
                list.extend(wires.map(Bit::of_wire));
            }
            Bits::Joined(_) => list.extend_from_slice(&self.slice(range)),
            _ => list.extend_from_slice(&self[range]),
        }
    }

    /// Returns the parts side by side, the first on the least significant bits.
    pub fn join<'a>(parts: impl IntoIterator<Item = &'a Word>) -> Word {
        let mut joiner = Joiner::default();
        parts.into_iter().for_each(|part| joiner.push(part));
        joiner.finish()
    }

    /// Returns the word cut into words of `width` bits, the least significant first; the last one
    /// is narrower when `width` does not divide the width.
    ///
    /// # Panics
    /// When `width` is 0.
    pub fn split(&self, width: usize) -> Vec<Word> {
        self.chunks(width).map(|chunk| chunk.to_vec().into()).collect()
    }

    /// Resizes to another width as an unsigned integer: high bits are dropped, or zeros added.
    pub fn resize(&self, width: usize) -> Word {
        if width == self.width() {
            return self.clone();
        }
        let mut joiner = Joiner::default();
        joiner.push(&self.slice(0..width.min(self.width())));
        joiner.push_bits(&vec![Bit::ZERO; width.saturating_sub(self.width())]);
        joiner.finish()
    }

    /// Resizes to another width as a two's-complement integer: high bits are dropped, or copies of
    /// the sign added. The empty word has sign 0.
    pub fn resize_signed(&self, width: usize) -> Word {
        let mut bits = self[..width.min(self.width())].to_vec();
        bits.resize(width, self.sign());
        bits.into()
    }

    /// Returns the most significant bit; 0 for the empty word.
    pub fn sign(&self) -> Bit {
        self.last().copied().unwrap_or(Bit::ZERO)
    }

    /// Shifts towards the most significant bit by a constant, zeros coming in; same width.
    pub fn shl(&self, by: usize) -> Word {
        let by = by.min(self.width());
        let kept = &self[..self.width() - by];
        std::iter::repeat_n(Bit::ZERO, by).chain(kept.iter().copied()).collect()
    }

    /// Shifts towards the least significant bit by a constant, zeros coming in; same width.
    pub fn shr(&self, by: usize) -> Word {
        self.slice(by.min(self.width())..self.width()).resize(self.width())
    }

    /// Shifts towards the least significant bit by a constant, signs coming in; same width.
    pub fn sar(&self, by: usize) -> Word {
        let mut bits = self[by.min(self.width())..].to_vec();
        bits.resize(self.width(), self.sign());
        bits.into()
    }

    /// Rotates towards the most significant bit by a constant, taken modulo the width.
    pub fn rotl(&self, by: usize) -> Word {
        let mut bits = self.to_vec();
        if !bits.is_empty() {
            let by = by % bits.len();
            bits.rotate_right(by);
        }
        bits.into()
    }

    /// Rotates towards the least significant bit by a constant, taken modulo the width.
    pub fn rotr(&self, by: usize) -> Word {
        let mut bits = self.to_vec();
        if !bits.is_empty() {
            let by = by % bits.len();
            bits.rotate_left(by);
        }
        bits.into()
    }
}

impl From<Vec<Bit>> for Word {
    fn from(bits: Vec<Bit>) -> Word {
        match bits.len() {
            ..WIDE => Word(Bits::Own(bits)),
            width => Word(Bits::Shared(Arc::new(bits), 0..width)),
        }
    }
}

impl From<Bit> for Word {
    fn from(bit: Bit) -> Word {
        Word(Bits::Own(vec![bit]))
    }
}

impl FromIterator<Bit> for Word {
    fn from_iter<I: IntoIterator<Item = Bit>>(bits: I) -> Word {
        bits.into_iter().collect::<Vec<Bit>>().into()
    }
}

impl Deref for Word {
    type Target = [Bit];

    fn deref(&self) -> &[Bit] {
        match &self.0 {
            Bits::Own(bits) => bits,
            Bits::Shared(bits, range) => &bits[range.clone()],
            Bits::Run(run) => run.listed(),
            Bits::Joined(joined) => joined.listed(),
        }
    }
}

impl DerefMut for Word {
    fn deref_mut(&mut self) -> &mut [Bit] {
        if matches!(self.0, Bits::Run(_) | Bits::Joined(_)) {
            let mut bits = Vec::with_capacity(self.width());
            for part in self.parts() {
                match part {
                    Part::Wires(WireRange { first, len }) => {
                        bits.extend((first..first + len).map(Bit::of_wire));
                    }
                    Part::Bits(list) => bits.extend_from_slice(list),
                }
            }
            self.0 = Bits::Shared(Arc::new(bits), 0..self.width());
        }
        if let Bits::Shared(bits, range) = &mut self.0
            && (Arc::get_mut(bits).is_none() || range.len() < bits.len())
        {
            *bits = Arc::new(bits[range.clone()].to_vec());
            *range = 0..bits.len();
        }
        match &mut self.0 {
            Bits::Own(bits) => bits,
            Bits::Shared(bits, _) => Arc::make_mut(bits).as_mut_slice(),
            Bits::Run(_) | Bits::Joined(_) => unreachable!("its bits have been listed"),
        }
    }
}

impl Default for Word {
    fn default() -> Word {
        Word(Bits::Own(Vec::new()))
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Word").field(&&self[..]).finish()
    }
}

impl PartialEq for Word {
    fn eq(&self, other: &Word) -> bool {
        self[..] == other[..]
    }
}

impl Eq for Word {}

impl Hash for Word {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self[..].hash(state);
    }
}

impl Not for &Word {
    type Output = Word;

    fn not(self) -> Word {
        self.iter().map(|&bit| !bit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(word: &Word) -> u128 {
        word.iter()
            .enumerate()
            .map(|(i, bit)| u128::from(bit.as_constant().expect("a constant")) << i)
            .sum()
    }

    #[test]
    fn rearrangements_are_those_of_integers() {
        let x: u32 = 0xd3a5_0f96;
        let word = Word::constant(32, x.into());
        for by in [0, 1, 7, 31, 32, 33, 40] {
            let shift = |f: fn(u32, u32) -> Option<u32>| f(x, by as u32).unwrap_or(0);
            assert_eq!(value(&word.shl(by)), shift(u32::checked_shl).into());
            assert_eq!(value(&word.shr(by)), shift(u32::checked_shr).into());
            assert_eq!(value(&word.sar(by)), ((x as i32 >> by.min(31)) as u32).into());
            assert_eq!(value(&word.rotl(by)), x.rotate_left(by as u32).into());
            assert_eq!(value(&word.rotr(by)), x.rotate_right(by as u32).into());
        }
        assert_eq!(value(&word.resize(40)), x.into());
        assert_eq!(value(&word.resize_signed(40)), 0xff_0000_0000 | u128::from(x));
        assert_eq!(value(&!&word), (!x).into());
        assert_eq!(Word::join(&word.split(5)), word);
        assert_eq!(value(&word.slice(4..12)), 0xf9);
    }

    /// Words that share bits, and words of wires in a row, are as any others.
    #[test]
    fn wide_words_share_bits_and_are_changed_alone() {
        let width = 3 * WIDE;
        let run = Word::of_wires(7, width as u32);
        let listed: Word = (7..7 + width as u32).map(Bit::of_wire).collect();
        assert_eq!((run.width(), run.wires().map(|range| range.len)), (width, Some(3 * 1024)));
        let mut changed = run.clone();
        changed[5] = Bit::ONE;
        assert_eq!((run[5], changed[5], changed[6]), (listed[5], Bit::ONE, listed[6]));
        assert_eq!(changed.wires(), None);
        for word in [&run, &listed] {
            assert_eq!(word, &listed);
            for range in [0..width, 1..width, 5..5 + WIDE, 9..11, 4..4] {
                let part = word.slice(range.clone());
                assert_eq!(part[..], listed[range.clone()]);
                let mut changed = part.clone();
                changed.iter_mut().for_each(|bit| *bit = !*bit);
                assert_eq!(part[..], listed[range.clone()]);
                assert_eq!(changed, !&part);
            }
            assert_eq!(word.resize(width + 1)[width], Bit::ZERO);
            assert_eq!(word.resize(width - 1)[..], listed[..width - 1]);
            assert_eq!(word.resize_signed(width + 1)[width], listed[width - 1]);
        }
    }

    /// Words of wires in a row stay so when they are joined and cut.
    #[test]
    fn joined_words_list_no_wires_in_a_row() {
        let wide = WIDE as u32;
        let (a, b) = (Word::of_wires(3, 2 * wide), Word::of_wires(3 + 2 * wide, wide));
        let few: Word = [Bit::ONE, Bit::of_wire(1), Bit::ZERO].into_iter().collect();
        assert_eq!(Word::join([&a, &b]).wires().map(|range| range.len), Some(3 * wide));
        let words = [&few, &a, &b, &few, &few, &b, &few, &a];
        let joined = Word::join(words);
        let listed: Word = words.iter().flat_map(|word| word.iter().copied()).collect();
        assert_eq!((joined.width(), joined.listed_bits()), (listed.width(), 4 * 3));
        assert_eq!((joined.constant_bits(), listed.constant_bits()), (8, 8));
        assert_eq!(listed.listed_bits(), listed.width());
        assert_eq!(joined, listed);
        assert_eq!((joined.rows(), listed.rows()), (None, None));
        let width = listed.width();
        let middle = 3 + 3 * WIDE;
        for range in
            [0..width, 1..5, 2..2 * WIDE, 3..middle, middle - 1..middle + 8, 9..width, 7..7]
        {
            let part = joined.slice(range.clone());
            assert_eq!(part, listed.slice(range.clone()), "{range:?}");
            assert!(part.listed_bits() <= 12 || range.len() < WIDE, "{range:?}");
            let mut changed = part.clone();
            changed.iter_mut().for_each(|bit| *bit = !*bit);
            assert_eq!(changed, !&listed.slice(range));
        }
        assert_eq!(joined.slice(3..middle).rows(), Some(vec![(Bit::of_wire(3), 3 * wide)]));
        assert_eq!(Word::join([&a, &few.slice(1..2)]).rows().map(|rows| rows.len()), Some(2));
        assert_eq!(joined.resize(width + 2), listed.resize(width + 2));
        assert_eq!(joined.resize(width - 2), listed.resize(width - 2));
    }

    #[test]
    fn a_bit_keeps_its_wire_and_inversion() {
        let bit = Bit::of_wire(41);
        assert_eq!(bit.wire(), Some((41, false)));
        assert_eq!((!bit).wire(), Some((41, true)));
        assert_eq!(!!bit, bit);
        assert_eq!(Bit::ONE.wire(), None);
        assert_eq!((!Bit::ONE).as_constant(), Some(false));
    }
}
