//! The free slots of a frame, lowest first.

use std::ops::Range;

/// Assigns slot numbers, always the lowest free one, so that frames stay small and wires that are
/// written together tend to be adjacent.
///
/// A tree of bits with 64 children per node: a leaf says whether its slot is free, and a node
/// whether one of its children is set, so both operations touch one word per level.
#[derive(Default)]
pub(super) struct Slots {
    /// `levels[0]` holds the leaves; the last level is a single word.
    levels: Vec<Vec<u64>>,
    /// Slots assigned at least once: `0 .. top`.
    top: u32,
}

impl Slots {
    /// Returns how many different slots were ever assigned.
    pub(super) fn high_water(&self) -> u32 {
        self.top
    }

    /// Takes the first `count` slots, before any others.
    pub(super) fn take_first(&mut self, count: u32) {
        debug_assert!(self.top == 0);
        self.top = count;
    }

    /// Takes a free slot: the lowest one given back, or else a new one.
    pub(super) fn take(&mut self) -> u32 {
        if let Some(slot) = self.pop_lowest() {
            return slot;
        }
        // Slots never outnumber a component's wires, which the IR limits to far below 2^32.
        let slot = self.top;
        self.top += 1;
        slot
    }

    /// Gives a taken slot back.
    pub(super) fn give_back(&mut self, slot: u32) {
        debug_assert!(slot < self.top);
        let mut index = slot as usize;
        while self.levels.is_empty() || index >> (6 * self.levels.len()) != 0 {
            // The old top level is a single word; the new one says whether it has a free slot.
            let below = self.levels.last().is_some_and(|words| words[0] != 0);
            self.levels.push(vec![u64::from(below)]);
        }
        for words in &mut self.levels {
            let word = index / 64;
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            words[word] |= 1 << (index % 64);
            index = word;
        }
    }

    /// Gives back slots in a row, 64 at a time.
    pub(super) fn give_back_all(&mut self, slots: Range<u32>) {
        let Some(last) = slots.clone().last() else { return };
        // This makes room on all levels.
        self.give_back(last);
        let (mut start, mut end) = (slots.start as usize, last as usize);
        for words in &mut self.levels {
            let places = start / 64..=end / 64;
            for (place, word) in places.clone().zip(&mut words[places]) {
                let low = if place == start / 64 { u64::MAX << (start % 64) } else { u64::MAX };
                let high = if place == end / 64 { u64::MAX >> (63 - end % 64) } else { u64::MAX };
                *word |= low & high;
            }
            (start, end) = (start / 64, end / 64);
        }
    }

    fn pop_lowest(&mut self) -> Option<u32> {
        if self.levels.last()?[0] == 0 {
            return None;
        }
        let mut index = 0usize;
        for words in self.levels.iter().rev() {
            index = index * 64 + words[index].trailing_zeros() as usize;
        }
        let slot = index as u32;
        for words in &mut self.levels {
            words[index / 64] &= !(1 << (index % 64));
            if words[index / 64] != 0 {
                break;
            }
            index /= 64;
        }
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_an_ordered_set(ops in proptest::collection::vec(any::<u16>(), 0..3000)) {
            let mut slots = Slots::default();
            let (mut taken, mut free) = (Vec::new(), BTreeSet::new());
            let mut top = 0;
            for op in ops {
                if op % 3 != 0 || taken.is_empty() {
                    let expected = free.pop_first().unwrap_or_else(|| { top += 1; top - 1 });
                    prop_assert_eq!(slots.take(), expected);
                    taken.push(expected);
                } else {
                    let slot = taken.swap_remove(usize::from(op) % taken.len());
                    slots.give_back(slot);
                    free.insert(slot);
                }
            }
            prop_assert_eq!(slots.high_water(), top);
        }
    }

    #[test]
    fn slots_in_a_row_come_back_as_one_by_one() {
        for (start, end) in
            [(0, 1), (0, 0), (3, 3), (3, 64), (0, 64), (63, 65), (5, 9000), (64, 128)]
        {
            let (mut one, mut all) = (Slots::default(), Slots::default());
            one.take_first(10_000);
            all.take_first(10_000);
            (start..end).rev().for_each(|slot| one.give_back(slot));
            all.give_back_all(start..end);
            for _ in 0..end - start + 2 {
                assert_eq!(all.take(), one.take(), "{start}..{end}");
            }
        }
    }

    #[test]
    fn many_slots_come_back_in_order() {
        let mut slots = Slots::default();
        for i in 0..300_000 {
            assert_eq!(slots.take(), i);
        }
        for i in (0..300_000).rev() {
            slots.give_back(i);
        }
        for i in 0..300_000 {
            assert_eq!(slots.take(), i);
        }
        assert_eq!(slots.take(), 300_000);
    }
}
