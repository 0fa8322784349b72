//! Words side by side, whose wires in a row are not listed.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::{Bit, Bits, WIDE, Word};
use crate::WireRange;

/// Words side by side: wires in a row, or lists of bits.
#[derive(Clone)]
pub(super) struct Joined {
    parts: Arc<[Word]>,
    /// How many bits there are up to the end of each part.
    ends: Arc<[usize]>,
    /// All bits, once they have been asked for.
    bits: Arc<OnceLock<Vec<Bit>>>,
}

impl Joined {
    pub(super) fn width(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    pub(super) fn parts(&self) -> &[Word] {
        &self.parts
    }

    pub(super) fn listed(&self) -> &Vec<Bit> {
        self.bits.get_or_init(|| {
            let mut bits = Vec::with_capacity(self.width());
            for part in self.parts.iter() {
                match part.wires() {
                    Some(WireRange { first, len }) => {
                        bits.extend((first..first + len).map(Bit::of_wire));
                    }
                    None => bits.extend_from_slice(part),
                }
            }
            bits
        })
    }

    pub(super) fn slice(&self, range: Range<usize>) -> Word {
        let mut joiner = Joiner::default();
        let first = self.ends.partition_point(|&end| end <= range.start);
        let mut start = first.checked_sub(1).map_or(0, |before| self.ends[before]);
        for part in &self.parts[first..] {
            let end = start + part.width();
            if range.end <= start {
                break;
            }
            let here = range.start.max(start) - start..range.end.min(end) - start;
            joiner.push(&part.slice(here));
            start = end;
        }
        joiner.finish()
    }
}

/// Joins words, the first on the least significant bits. Wires in a row are listed only when their
/// bits are asked for.
#[derive(Default)]
pub struct Joiner {
    parts: Vec<Word>,
    /// What follows them.
    bits: Vec<Bit>,
    /// How many bits are in lists.
    listed: usize,
}

impl Joiner {
    /// Adds a word.
    pub fn push(&mut self, word: &Word) {
        match &word.0 {
            Bits::Run(run) => self.push_run(run.range()),
            Bits::Joined(joined) => joined.parts().iter().for_each(|part| self.push(part)),
            _ => self.push_bits(word),
        }
    }

    /// Adds bits.
    pub fn push_bits(&mut self, bits: &[Bit]) {
        self.bits.extend_from_slice(bits);
        self.listed += bits.len();
    }

    /// Returns how many bits so far are not known to be on wires in a row.
    pub fn listed_bits(&self) -> usize {
        self.listed
    }

    fn push_run(&mut self, run: WireRange) {
        if self.bits.is_empty()
            && let Some(last) = self.parts.last_mut()
            && let Some(before) = last.wires()
            && before.first + before.len == run.first
        {
            *last = Word::of_wires(before.first, before.len + run.len);
            return;
        }
        self.end_list();
        self.parts.push(Word::of_wires(run.first, run.len));
    }

    fn end_list(&mut self) {
        if !self.bits.is_empty() {
            self.parts.push(std::mem::take(&mut self.bits).into());
        }
    }

    /// Returns the word.
    pub fn finish(mut self) -> Word {
        if self.parts.is_empty() {
            return self.bits.into();
        }
        self.end_list();
        if let [one] = &self.parts[..] {
            return one.clone();
        }
        let mut end = 0;
        let ends = self.parts.iter().map(|part| {
            end += part.width();
            end
        });
        let ends: Arc<[usize]> = ends.collect();
        debug_assert!(end >= WIDE, "a run is wide");
        Word(Bits::Joined(Joined { ends, parts: self.parts.into(), bits: Arc::default() }))
    }
}
