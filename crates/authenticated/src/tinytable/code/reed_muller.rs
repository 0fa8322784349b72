//! Binary Reed–Muller codes and their squares.
//!
//! A word of RM(r, m) has a bit for every point of GF(2)^m: the values of a polynomial of degree at
//! most r. Products of two such words, position by position, have degree at most 2r. They span
//! RM(2r, m), whose distance is 2^(m − 2r), and which contains RM(r, m).
//!
//! Both codes are systematic: the values at the points of weight at most r determine a polynomial
//! of degree at most r. For the coefficient of a monomial is the sum of the values at the points
//! below it, and these have no larger weight. So the *places* of RM(r, m) are those points, in
//! ascending order of their numbers, and the *free places* are the other places of RM(2r, m). Words
//! of RM(2r, m) that are zero in all places form a subcode, which the free places determine.
//!
//! To encode, the Möbius transform computes the coefficients from the values, those of too large a
//! degree are dropped, and the transform, which is its own inverse, computes all values: 2^m·m bit
//! operations, 64 at a time.
//!
//! Timing: the bits of words | places are public

use symbolon_primitives::Block;

/// A code and its square.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReedMuller {
    /// The degree.
    pub r: u32,
    /// The number of variables.
    pub m: u32,
    /// The number of places, and of free places.
    places: usize,
    free: usize,
}

/// Which code a word belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Degree {
    /// The code itself, RM(r, m).
    Code,
    /// Its square, RM(2r, m).
    Square,
}

/// The weights of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// Those of the code.
    Code,
    /// Those of the square that are not places of the code.
    Free,
    /// All points that are not free places.
    Fixed,
}

/// Bit i says whether i has weight at most j.
const BELOW: [u64; 7] = {
    let mut masks = [0u64; 7];
    let mut j = 0;
    while j < 7 {
        let mut i = 0u32;
        while i < 64 {
            if i.count_ones() <= j as u32 {
                masks[j] |= 1 << i;
            }
            i += 1;
        }
        j += 1;
    }
    masks
};

/// Returns which points of a word of 64 have weight at most `degree`, if the word's number has this
/// weight.
fn below(degree: u32, weight: u32) -> u64 {
    match degree.checked_sub(weight) {
        None => 0,
        Some(rest) => BELOW[rest.min(6) as usize],
    }
}

impl ReedMuller {
    /// Returns RM(r, m), whose square is RM(2r, m).
    ///
    /// # Panics
    /// Unless 2r ≤ m and 7 ≤ m ≤ 24.
    pub fn new(r: u32, m: u32) -> ReedMuller {
        assert!(2 * r <= m && (7..=24).contains(&m), "no such Reed–Muller code: {r}, {m}");
        let below = |degree: u32| (0..=degree).map(|weight| choose(m, weight)).sum::<usize>();
        ReedMuller { r, m, places: below(r), free: below(2 * r) - below(r) }
    }

    /// Returns the number of bits in a word.
    pub fn length(&self) -> usize {
        1 << self.m
    }

    /// Returns the number of blocks in a word.
    pub fn blocks(&self) -> usize {
        self.length() / 128
    }

    /// Returns the dimension of the code.
    pub fn dimension(&self) -> usize {
        self.places
    }

    /// Returns the number of places of some weights.
    pub fn count(&self, places: Places) -> usize {
        match places {
            Places::Code => self.places,
            Places::Free => self.free,
            Places::Fixed => self.length() - self.free,
        }
    }

    /// Returns the distance of the square.
    pub fn square_distance(&self) -> usize {
        1 << (self.m - 2 * self.r)
    }

    /// Completes a word from its values in the places of its code; all other bits must be zero.
    pub fn complete(&self, degree: Degree, word: &mut [Block]) {
        let degree = match degree {
            Degree::Code => self.r,
            Degree::Square => 2 * self.r,
        };
        let words: &mut [u64] = bytemuck::cast_slice_mut(word);
        mobius(words);
        for (number, word) in words.iter_mut().enumerate() {
            *word &= below(degree, number.count_ones());
        }
        mobius(words);
    }

    /// Writes the word of the code with these bits, packed, in its places.
    pub fn encode(&self, bits: &[u64], word: &mut [Block]) {
        word.fill(Block::ZERO);
        self.put(Places::Code, bits, word);
        self.complete(Degree::Code, word);
    }

    /// Adds packed bits to a word in some places.
    pub fn put(&self, places: Places, bits: &[u64], word: &mut [Block]) {
        let words: &mut [u64] = bytemuck::cast_slice_mut(word);
        let mut at = 0;
        for (number, word) in words.iter_mut().enumerate() {
            let mut mask = self.mask(places, number);
            while mask != 0 {
                *word ^= (bits[at / 64] >> (at % 64) & 1) << mask.trailing_zeros();
                mask &= mask - 1;
                at += 1;
            }
        }
    }

    /// Returns a word's bits in some places, packed.
    pub fn get(&self, places: Places, word: &[Block], bits: &mut [u64]) {
        let words: &[u64] = bytemuck::cast_slice(word);
        bits.fill(0);
        let mut at = 0;
        for (number, word) in words.iter().enumerate() {
            let mut mask = self.mask(places, number);
            while mask != 0 {
                bits[at / 64] |= (word >> mask.trailing_zeros() & 1) << (at % 64);
                mask &= mask - 1;
                at += 1;
            }
        }
    }

    /// Clears a word outside of some places.
    pub fn keep(&self, places: Places, word: &mut [Block]) {
        let words: &mut [u64] = bytemuck::cast_slice_mut(word);
        for (number, word) in words.iter_mut().enumerate() {
            *word &= self.mask(places, number);
        }
    }

    /// Returns which points of a word of 64, with this number, belong to some places.
    fn mask(&self, places: Places, number: usize) -> u64 {
        let weight = number.count_ones();
        let (code, square) = (below(self.r, weight), below(2 * self.r, weight));
        match places {
            Places::Code => code,
            Places::Free => square & !code,
            Places::Fixed => !square | code,
        }
    }
}

fn choose(n: u32, k: u32) -> usize {
    (0..k as usize).fold(1, |product, i| product * (n as usize - i) / (i + 1))
}

/// The transform within a word: which bits are added to those a power of two above.
const STEPS: [(u32, u64); 6] = [
    (1, 0x5555_5555_5555_5555),
    (2, 0x3333_3333_3333_3333),
    (4, 0x0f0f_0f0f_0f0f_0f0f),
    (8, 0x00ff_00ff_00ff_00ff),
    (16, 0x0000_ffff_0000_ffff),
    (32, 0x0000_0000_ffff_ffff),
];

/// Replaces the bit of each point by the sum of the bits at all points below it, which are those
/// whose ones are among its own.
fn mobius(words: &mut [u64]) {
    for word in words.iter_mut() {
        for (shift, mask) in STEPS {
            *word ^= (*word & mask) << shift;
        }
    }
    let mut half = 1;
    while half < words.len() {
        for pair in words.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            high.iter_mut().zip(low).for_each(|(high, low)| *high ^= *low);
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use symbolon_primitives::{BitVec, Prg};

    use super::*;

    fn bits(word: &[Block]) -> Vec<bool> {
        word.iter().flat_map(|block| (0..128).map(|i| block.0 >> i & 1 == 1)).collect()
    }

    /// Evaluates a polynomial with these coefficients, by monomial, at a point.
    fn value(coefficients: &[(usize, bool)], point: usize) -> bool {
        let at = |&(monomial, bit): &(usize, bool)| bit && monomial & !point == 0;
        coefficients.iter().filter(|term| at(term)).count() % 2 == 1
    }

    fn random(n: usize, prg: &mut Prg) -> Vec<u64> {
        BitVec::random(n, prg).words().to_vec()
    }

    /// Every word is a polynomial of the code's degree: one that has the same values in the places
    /// is found by elimination, point by point, and agrees everywhere.
    #[test]
    fn words_are_polynomials_with_the_chosen_values() {
        let mut prg = Prg::from_seed(Block(1));
        for (r, m) in [(0, 7), (1, 7), (2, 8), (3, 7), (2, 10)] {
            let code = ReedMuller::new(r, m);
            let given = random(code.dimension(), &mut prg);
            let mut word = vec![Block::ZERO; code.blocks()];
            code.encode(&given, &mut word);
            let word = bits(&word);
            let mut coefficients: Vec<(usize, bool)> = Vec::new();
            let mut place = 0;
            for point in (0..code.length()).filter(|point| point.count_ones() <= r) {
                let bit = given[place / 64] >> (place % 64) & 1 == 1;
                assert_eq!(word[point], bit, "systematic");
                coefficients.push((point, bit != value(&coefficients, point)));
                place += 1;
            }
            assert_eq!(place, code.dimension());
            assert!((0..code.length()).all(|point| word[point] == value(&coefficients, point)));
        }
    }

    /// Sums of words and products of words belong to the code and its square.
    #[test]
    fn words_have_sums_and_products() {
        let mut prg = Prg::from_seed(Block(2));
        for (r, m) in [(1, 7), (2, 10), (3, 12)] {
            let code = ReedMuller::new(r, m);
            let given = [(); 2].map(|()| random(code.dimension(), &mut prg));
            let [a, b] = given.each_ref().map(|given| {
                let mut word = vec![Block::ZERO; code.blocks()];
                code.encode(given, &mut word);
                word
            });
            let both = |f: fn(u128, u128) -> u128| -> Vec<Block> {
                a.iter().zip(&b).map(|(a, b)| Block(f(a.0, b.0))).collect()
            };
            let sum: Vec<u64> = given[0].iter().zip(&given[1]).map(|(a, b)| a ^ b).collect();
            let mut word = vec![Block::ZERO; code.blocks()];
            code.encode(&sum, &mut word);
            assert_eq!(word, both(|a, b| a ^ b));
            let product = both(|a, b| a & b);
            let mut again = product.clone();
            code.keep(Places::Code, &mut again);
            let mut free = product.clone();
            code.keep(Places::Free, &mut free);
            again.iter_mut().zip(&free).for_each(|(to, from)| *to ^= *from);
            code.complete(Degree::Square, &mut again);
            assert_eq!(again, product);
        }
    }

    /// Words with zeros in the places of the code, and where they are put and read.
    #[test]
    fn free_places_determine_words_that_are_zero_in_the_others() {
        let mut prg = Prg::from_seed(Block(3));
        for (r, m) in [(1, 7), (2, 10), (2, 11)] {
            let code = ReedMuller::new(r, m);
            let given = random(code.count(Places::Free), &mut prg);
            let mut word = vec![Block::ZERO; code.blocks()];
            code.put(Places::Free, &given, &mut word);
            code.complete(Degree::Square, &mut word);
            let read = |places| {
                let mut bits = vec![u64::MAX; code.count(places).div_ceil(64)];
                code.get(places, &word, &mut bits);
                bits
            };
            assert_eq!(read(Places::Free), given);
            assert!(read(Places::Code).iter().all(|word| *word == 0));
            let ones = |places| read(places).iter().map(|word| word.count_ones()).sum::<u32>();
            let all: u32 = word.iter().map(|block| block.0.count_ones()).sum();
            assert_eq!(ones(Places::Free) + ones(Places::Fixed), all);
            assert_eq!(code.count(Places::Free) + code.count(Places::Fixed), code.length());
        }
    }

    /// The smallest weight of all words of small codes and squares, and the smallest that a random
    /// search finds in larger ones, is the distance.
    #[test]
    fn distances_of_small_codes_are_as_claimed() {
        let code = ReedMuller::new(1, 7);
        let weight = |word: &[Block]| word.iter().map(|block| block.0.count_ones()).sum::<u32>();
        let mut word = vec![Block::ZERO; code.blocks()];
        let least = (1u64..1 << code.dimension()).map(|bits| {
            code.encode(&[bits], &mut word);
            weight(&word)
        });
        assert_eq!(least.min(), Some(64));
        // Products of two words of RM(1, 7): sums of up to three of them, 2^5 at least.
        assert_eq!(code.square_distance(), 32);
        let mut prg = Prg::from_seed(Block(4));
        let mut least = u32::MAX;
        for _ in 0..20_000 {
            let mut product = vec![Block(u128::MAX); code.blocks()];
            for _ in 0..2 {
                code.encode(&[prg.u64() & 0xff], &mut word);
                product.iter_mut().zip(&word).for_each(|(to, from)| to.0 &= from.0);
            }
            least = least.min(Some(weight(&product)).filter(|w| *w > 0).unwrap_or(u32::MAX));
        }
        assert_eq!(least, 32);
    }

    #[test]
    fn sizes_are_those_of_the_literature() {
        for ((r, m), dimension, square, distance) in [
            ((2, 10), 56, 386, 64),
            ((3, 12), 299, 2_510, 64),
            ((4, 14), 1_471, 12_911, 64),
            ((5, 16), 6_885, 58_651, 64),
            ((2, 11), 67, 562, 128),
            ((3, 13), 378, 4_096, 128),
            ((4, 15), 1_941, 22_819, 128),
            ((5, 17), 9_402, 109_294, 128),
        ] {
            let code = ReedMuller::new(r, m);
            assert_eq!(code.dimension(), dimension);
            assert_eq!(code.dimension() + code.count(Places::Free), square, "({r}, {m})");
            assert_eq!(code.square_distance(), distance);
        }
    }
}
