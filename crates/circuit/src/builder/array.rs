//! Arrays read and written at secret places, and sorting.

use super::bit::{Bit, Word};
use super::gates::Gates;
use super::network::sorting_network;

impl Gates {
    /// `array[index]`, zeros for an index beyond the array; for n elements of w bits about
    /// (n - 1)·w ANDs.
    pub fn read(&mut self, array: &[Word], index: &[Bit]) -> Word {
        let mut level = self.level_array(array);
        if level.is_empty() {
            self.note_mismatch(|| "an array that is read has no elements".to_string());
            return Word::zero(0);
        }
        let mut index = index.iter();
        while level.len() > 1 {
            let Some(&bit) = index.next() else { break };
            level = level
                .chunks(2)
                .map(|pair| match pair {
                    [low, high] => self.select(bit, high, low),
                    // The partner would be beyond the end.
                    _ => self.and_each(!bit, &pair[0]),
                })
                .collect();
        }
        let beyond = self.any(index.as_slice());
        self.and_each(!beyond, &level[0])
    }

    /// The array with `value` at `index`, unchanged for an index beyond the array; for n
    /// elements of w bits about n·(w + 1) ANDs.
    pub fn write(&mut self, array: &[Word], index: &[Bit], value: &[Bit]) -> Vec<Word> {
        let places = self.one_hot(index, array.len());
        let pairs = array.iter().zip(places.iter());
        pairs.map(|(element, &here)| self.select(here, value, element)).collect()
    }

    /// `count` bits, of which bit `index` is 1 and the others 0 (all 0 for an index beyond them);
    /// about `count` ANDs.
    pub fn one_hot(&mut self, index: &[Bit], count: usize) -> Word {
        self.one_hot_under(Bit::ONE, index, count)
    }

    /// As [`one_hot`](Self::one_hot) if the condition holds, else all 0; a few ANDs more.
    pub fn one_hot_under(&mut self, condition: Bit, index: &[Bit], count: usize) -> Word {
        let needed = count.max(1).next_power_of_two().ilog2() as usize;
        let (low, high) = index.split_at(needed.min(index.len()));
        let beyond = self.any(high);
        let mut places = vec![self.and_bit(condition, !beyond)];
        for (below, &bit) in low.iter().enumerate().rev() {
            let mut next = Vec::with_capacity(places.len() * 2);
            for (prefix, &place) in places.iter().enumerate() {
                let odd = self.and_bit(place, bit);
                next.push(self.xor_bit(place, odd));
                if (2 * prefix + 1) << below < count {
                    next.push(odd);
                }
            }
            places = next;
        }
        places.resize(count, Bit::ZERO);
        places.into()
    }

    /// All 2ⁿ places of a word of n bits: the one of its number is 1, the others 0; 2ⁿ − n − 1
    /// ANDs, which is the least. [`one_hot`](Self::one_hot) takes more, and any number of places.
    pub fn decode(&mut self, word: &[Bit]) -> Word {
        match word {
            [] => Bit::ONE.into(),
            [bit] => [!*bit, *bit].into_iter().collect(),
            _ => {
                let (low, high) = word.split_at(word.len() / 2);
                let (low, high) = (self.decode(low), self.decode(high));
                let columns = low.width() - 1;
                let mut places = Vec::with_capacity(low.width() * high.width());
                // What all of a row or column have together is the factor: the last follows.
                let mut last_row = low.to_vec();
                for &factor in &high[..high.width() - 1] {
                    let mut left = factor;
                    for column in 0..columns {
                        let both = self.and_bit(factor, low[column]);
                        left = self.xor_bit(left, both);
                        last_row[column] = self.xor_bit(last_row[column], both);
                        places.push(both);
                    }
                    last_row[columns] = self.xor_bit(last_row[columns], left);
                    places.push(left);
                }
                places.extend(last_row);
                places.into()
            }
        }
    }

    /// The unsigned integers in ascending order, by [`sorting_network`]; 2w ANDs for each of its
    /// comparators.
    pub fn sort(&mut self, words: &[Word]) -> Vec<Word> {
        let mut words = self.level_array(words);
        for (low, high) in sorting_network(words.len()) {
            (words[low], words[high]) = self.min_max(&words[low], &words[high]);
        }
        words
    }
}
