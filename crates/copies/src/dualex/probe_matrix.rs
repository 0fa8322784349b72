//! The k-probe-resistant encoding of the evaluator's input (§6; Definition 2).
//!
//! A party with n input bits encodes them as a random r of E bits with M·r = x. It fetches the
//! labels for r by OT. A garbler that corrupts the OTs at some positions of r learns whether it
//! guessed these bits of r correctly. M is *s-probe resistant* if the XOR of every non-empty set of
//! its rows has weight at least s. Then fewer than s bits of r say nothing about x, and s guesses
//! go unnoticed with probability only 2^-s.
//!
//! # The matrix, and where it departs from the paper
//! The paper uses the construction of Lindell and Riva (2015), which draws coefficients from the
//! wrong set: its matrices resist about 6 probes, not 40. Here M = [I | A] with A uniform, from a
//! coin that both parties toss. The XOR of w rows has weight w plus the weight of a uniform vector
//! of E − n bits, so M fails with probability at most
//!
//! ```text
//! Σ_w C(n, w) · Σ_{v < s−w} C(E − n, v) / 2^(E−n)  ≤  2^-s,
//! ```
//!
//! and E is the smallest length for which this holds. It is also shorter than the published length:
//! 339, 489 and 771 bits for n = 128, 256 and 512, s = 40.
//!
//! Departure: `dualex`: probe matrix | Lindell and Riva 2015 | random and systematic, from a coin |
//! the published one resists about 6 probes

use num_bigint::BigUint;
use symbolon_primitives::{BitVec, Block, Prg};
use zeroize::Zeroizing;

use super::ot::Blocks;

/// How many circuits' labels are decoded side by side: one cache line per wire.
const LANES: usize = 4;

/// A probe-resistant matrix in systematic form.
///
/// Paper: RR16, §6, Definition 2 | the encoding of inputs
#[derive(Clone)]
pub(super) struct ProbeMatrix {
    /// The rows of A, one per input bit.
    rows: Vec<BitVec>,
    /// The number of columns of A: E − n.
    tail: usize,
    /// How many columns are looked up at a time when labels are decoded.
    width: usize,
    /// For each such group of columns, the bits of all rows in these columns.
    groups: Vec<Vec<u8>>,
}

impl ProbeMatrix {
    /// Draws the matrix for `n` input bits with resistance `s` from a joint coin.
    pub fn draw(n: usize, s: u32, coin: &mut Prg) -> ProbeMatrix {
        let tail = encoded_bits(n, s) - n;
        let rows: Vec<BitVec> = (0..n).map(|_| BitVec::random(tail, coin)).collect();
        // A group of w columns takes 2^w XORs for the sums of its labels, and one for each row.
        let work = |width: &usize| tail.div_ceil(*width) * ((1 << width) + n);
        let width = (1..=8).min_by_key(work).expect("there are widths");
        let bits = |row: &BitVec, group: usize| {
            let columns = group * width..tail.min((group + 1) * width);
            columns.rev().fold(0, |bits, column| bits << 1 | u8::from(row.get(column)))
        };
        let group = |group| rows.iter().map(|row| bits(row, group)).collect();
        let groups = (0..tail.div_ceil(width)).map(group).collect();
        ProbeMatrix { rows, tail, width, groups }
    }

    /// Returns E, the number of bits of an encoding.
    pub fn encoded(&self) -> usize {
        self.rows.len() + self.tail
    }

    /// Returns M·r.
    ///
    /// Paper: RR16, §6, Definition 2
    ///
    /// # Panics
    /// If `r` does not have E bits.
    pub fn decode(&self, r: &BitVec) -> BitVec {
        assert_eq!(r.len(), self.encoded(), "an encoding has E bits");
        let n = self.rows.len();
        let tail = r.slice(n..r.len());
        let mut decoded = BitVec::with_capacity(n);
        for (t, row) in self.rows.iter().enumerate() {
            let products = row.words().iter().zip(tail.words()).map(|(row, tail)| row & tail);
            let parity = products.fold(0, |sum, word| sum ^ word).count_ones() & 1 == 1;
            decoded.push(r.get(t) ^ parity);
        }
        decoded
    }

    /// Returns the labels of M·r for several circuits, by free XOR from their labels of the bits of
    /// r.
    ///
    /// Paper: RR16, §6, Definition 2
    ///
    /// # Panics
    /// If a circuit does not have E labels.
    pub fn decode_labels(&self, circuits: &[&[Block]]) -> Vec<Blocks> {
        let mut decoded = Vec::with_capacity(circuits.len());
        let mut rest = circuits;
        while let Some((first, others)) = rest.split_first() {
            rest = match rest.split_first_chunk::<LANES>() {
                Some((some, others)) => {
                    decoded.extend(self.decode_lanes(*some));
                    others
                }
                None => {
                    decoded.extend(self.decode_lanes([*first]));
                    others
                }
            };
        }
        decoded
    }

    /// Decodes the labels of `W` circuits side by side.
    fn decode_lanes<const W: usize>(&self, labels: [&[Block]; W]) -> [Blocks; W] {
        let all = labels.iter().all(|labels| labels.len() == self.encoded());
        assert!(all, "an encoding has E labels");
        let at = |k: usize| labels.map(|labels| labels[k]);
        let n = self.rows.len();
        let mut decoded = Zeroizing::new((0..n).map(at).collect::<Vec<[Block; W]>>());
        // Computes all sums of a group's labels, then adds to each row the sum that its bits
        // select. Rows are public.
        let mut sums = Zeroizing::new(vec![[Block::ZERO; W]; 1 << self.width]);
        for (group, bits) in self.groups.iter().enumerate() {
            let columns = group * self.width..self.tail.min((group + 1) * self.width);
            for (k, column) in columns.enumerate() {
                let label = at(n + column);
                let (known, new) = sums[..2 << k].split_at_mut(1 << k);
                for (new, known) in new.iter_mut().zip(known) {
                    *new = *known;
                    add(new, &label);
                }
            }
            for (sum, bits) in decoded.iter_mut().zip(bits) {
                add(sum, &sums[usize::from(*bits)]);
            }
        }
        std::array::from_fn(|lane| Blocks::new(decoded.iter().map(|labels| labels[lane]).collect()))
    }
}

#[inline]
fn add<const W: usize>(sum: &mut [Block; W], more: &[Block; W]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum ^= *more);
}

/// Returns the smallest E for n input bits and resistance s; 0 if n is 0. Computes in integers, so
/// that both parties find the same length on any machine.
///
/// Paper: RR16, §6, Definition 2
pub(super) fn encoded_bits(n: usize, s: u32) -> usize {
    if n == 0 {
        return 0;
    }
    let sets: Vec<BigUint> = binomials(n).take(s as usize).skip(1).collect();
    // The bound falls as the tail grows.
    let mut high = s as usize;
    while !resists(&sets, high, s) {
        high *= 2;
    }
    let mut low = 0;
    while low < high {
        let middle = low.midpoint(high);
        if resists(&sets, middle, s) { high = middle } else { low = middle + 1 }
    }
    n + high
}

/// Whether the bound on the probability that a matrix does not resist s probes is at most 2^-s.
/// `sets` are C(n, w) for all w from 1 to s − 1, and `tail` is the number of columns of A.
fn resists(sets: &[BigUint], tail: usize, s: u32) -> bool {
    // For each v, the number of vectors of `tail` bits with at most this weight.
    let add = |sum: &mut BigUint, more: BigUint| {
        *sum += more;
        Some(sum.clone())
    };
    let light: Vec<BigUint> = binomials(tail).take(s as usize).scan(BigUint::ZERO, add).collect();
    // The sum of w rows must have fewer than s − w ones in these columns.
    let lightest = |w: usize| &light[(s as usize - w - 1).min(tail)];
    let all: BigUint = (1..).zip(sets).map(|(w, sets)| sets * lightest(w)).sum();
    (all << s) <= (BigUint::from(1u8) << tail)
}

/// Returns C(n, k) for k = 0 to n.
fn binomials(n: usize) -> impl Iterator<Item = BigUint> {
    let next =
        move |(k, ways): &(usize, BigUint)| (*k < n).then(|| (k + 1, ways * (n - k) / (k + 1)));
    std::iter::successors(Some((0, BigUint::from(1u8))), next).map(|(_, ways)| ways)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the smallest weight of the XOR of a non-empty set of rows.
    fn distance(matrix: &ProbeMatrix) -> u32 {
        let n = matrix.rows.len();
        let weight = |set: u32| {
            let mut sum = BitVec::zeros(matrix.tail);
            (0..n).filter(|i| set >> i & 1 == 1).for_each(|i| sum.xor_assign(&matrix.rows[i]));
            set.count_ones() + sum.words().iter().map(|word| word.count_ones()).sum::<u32>()
        };
        (1..1 << n).map(weight).min().unwrap_or(u32::MAX)
    }

    #[test]
    fn lengths_are_those_of_the_bound() {
        let lengths = |s| [1, 128, 256, 512, 4096, 1 << 20].map(|n| encoded_bits(n, s));
        assert_eq!(lengths(40), [167, 339, 489, 771, 4455, 1_049_243]);
        assert_eq!(lengths(64), [272, 452, 608, 902, 4637, 1_049_611]);
        assert_eq!(lengths(80), [342, 525, 686, 985, 4752, 1_049_848]);
        assert_eq!(encoded_bits(0, 40), 0);
    }

    /// Returns C(n, k) for k below `most`, by additions alone.
    fn pascal(n: usize, most: usize) -> Vec<BigUint> {
        let mut row = vec![BigUint::ZERO; most];
        row[0] = BigUint::from(1u8);
        for _ in 0..n {
            (1..most).rev().for_each(|k| row[k] = &row[k] + &row[k - 1]);
        }
        row
    }

    /// The bound, term by term in integers, holds at E and fails at E − 1. For n = 1 and s = 2 it
    /// is met with equality, where a margin for rounding would make E larger.
    #[test]
    fn the_length_is_the_smallest_in_exact_numbers() {
        let small = [(1, 2), (1, 4), (5, 6), (9, 8), (20, 10), (33, 7)];
        let large = [(1, 40), (39, 40), (128, 40), (300, 64), (517, 80)];
        for (n, s) in small.into_iter().chain(large) {
            let holds = |tail: usize| {
                let (sets, vectors) = (pascal(n, s), pascal(tail, s));
                let pairs = (1..s).flat_map(|w| (0..s - w).map(move |v| (w, v)));
                let sum: BigUint = pairs.map(|(w, v)| &sets[w] * &vectors[v]).sum();
                sum << s <= BigUint::from(1u8) << tail
            };
            let tail = encoded_bits(n, s as u32) - n;
            assert!(holds(tail) && !holds(tail - 1), "n = {n}, s = {s}: {tail}");
        }
    }

    #[test]
    fn matrices_resist_as_many_probes_as_the_bound_says() {
        let (n, s, draws) = (8, 6, 3000);
        let mut prg = Prg::from_seed(Block(symbolon_transport::adversary::fresh(1)));
        let weak = (0..draws).filter(|_| distance(&ProbeMatrix::draw(n, s, &mut prg)) < s).count();
        // At most 2^-6 of them are expected: 47. The union bound is not tight, so there are fewer;
        // more than 90 has probability below 2^-25.
        assert!(weak <= 90, "{weak} of {draws} matrices do not resist");
        assert_eq!(ProbeMatrix::draw(n, s, &mut prg).encoded(), encoded_bits(n, s));
    }

    #[test]
    fn labels_are_decoded_as_bits_are() {
        let mut prg = Prg::from_seed(Block(2));
        let matrix = ProbeMatrix::draw(70, 40, &mut prg);
        let delta = prg.block();
        // Some circuits are decoded side by side, the rest one by one.
        let circuits: [_; LANES + 2] = std::array::from_fn(|_| {
            let r = BitVec::random(matrix.encoded(), &mut prg);
            let mut zero = vec![Block::ZERO; matrix.encoded()];
            prg.fill_blocks(&mut zero);
            let label = |(k, zero): (usize, &Block)| *zero ^ delta.select(r.get(k));
            let labels: Vec<Block> = zero.iter().enumerate().map(label).collect();
            (matrix.decode(&r), zero, labels)
        });
        let zeros = matrix.decode_labels(&circuits.each_ref().map(|(_, zero, _)| &zero[..]));
        let decoded = matrix.decode_labels(&circuits.each_ref().map(|(_, _, labels)| &labels[..]));
        for (((bits, ..), zeros), labels) in circuits.iter().zip(&zeros).zip(&decoded) {
            assert_eq!([zeros.len(), labels.len()], [70; 2]);
            for (t, (zero, label)) in zeros.iter().zip(labels.iter()).enumerate() {
                assert_eq!(*label, *zero ^ delta.select(bits.get(t)));
            }
        }
    }
}
