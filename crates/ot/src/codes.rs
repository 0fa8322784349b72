//! Binary linear codes of dimension 128 with a proven minimum distance, in systematic form: a
//! message of 128 bits is followed by its parity bits.
//!
//! No published table is copied: [`Code::with_distance`] derives the shortest code of the two kinds
//! below, over GF(2^8) or GF(2^9).
//!
//! # Extended and shortened BCH codes
//! Let α generate the multiplicative group of GF(2^m), of order N = 2^m − 1, and let g be the
//! product of the minimal polynomials of α, α², …, α^(d−2), for an even d. The multiples of g of
//! degree below N are a code of dimension N − deg g.
//!
//! *Distance.* A word c of weight w ≤ d − 2 with c(α^i) = 0 for i = 1 … d − 2 would make w columns
//! of a Vandermonde matrix, (α^(i·j)) for the places j where c is 1, linearly dependent. But their
//! determinant is a product of differences of distinct elements, so it is not 0. Hence the distance
//! is at least d − 1 (the BCH bound). One more bit, the parity of all others, makes every weight
//! even, so the distance is at least d. *Shortening* fixes message bits at 0 and leaves them out.
//! It removes words, and places where the remaining words are 0, so the distance does not fall. The
//! message is at the highest degrees, x^r·u(x), and the parity bits are x^r·u(x) mod g, with
//! r = deg g.
//!
//! # Construction X
//! Let C₂ ⊂ C₁ be two such codes before shortening, C₁ for d − 2 and C₂ for d, so g₁ divides g₂. A
//! word c of C₁ has weight at least d − 2 with its parity bit. A tail is appended to it: the
//! q = deg g₂ − deg g₁ bits of (c mod g₂)/g₁, and the parity of these bits. The tail is a word of
//! the code [q + 1, q, 2]. If c is in C₂, the tail is 0 and the weight is at least d. Otherwise the
//! tail is not 0 and has weight at least 2, so the total weight is at least d − 2 + 2.
//!
//! | d | code |
//! | --- | --- |
//! | 10 | [161, 128], BCH over GF(2^8) |
//! | 16 | [185, 128], BCH over GF(2^8) |
//! | 20 | [197, 128], BCH over GF(2^8) |
//! | 32 | [245, 128], BCH over GF(2^8) |
//! | 40 | [262, 128], construction X over GF(2^8) |
//! | 64 | [390, 128], BCH over GF(2^9) |
//! | 80 | [420, 128], BCH over GF(2^9) |

use symbolon_primitives::Block;

/// Message bits.
pub const DIMENSION: usize = 128;

/// A systematic binary linear code of dimension [`DIMENSION`].
#[derive(Clone)]
pub struct Code {
    distance: usize,
    /// For each parity bit, the message bits that it sums.
    sums: Vec<Block>,
    /// For each group of four message bits and each of its 16 values, the parity bits, in words.
    table: Vec<u64>,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}, {DIMENSION}, {}]", self.length(), self.distance)
    }
}

impl Code {
    /// The largest supported distance.
    pub const MAX_DISTANCE: usize = 80;

    /// Returns the shortest of the codes above with distance at least `distance`; `None` for 0 and
    /// above [`Code::MAX_DISTANCE`].
    ///
    /// Paper: Roy22, Figs. 8, 9, C | the code: BCH codes and construction X
    pub fn with_distance(distance: usize) -> Option<Code> {
        if distance == 0 || distance > Code::MAX_DISTANCE {
            return None;
        }
        let distance = distance.next_multiple_of(2);
        let fields = [Field::new(8, 0x11d), Field::new(9, 0x211)];
        let codes = fields.iter().flat_map(|field| {
            [bch(field, distance), construction_x(field, distance)].into_iter().flatten()
        });
        let rows = codes.min_by_key(|rows| rows[0].len())?;
        Some(Code::from_rows(distance, &rows))
    }

    fn from_rows(distance: usize, rows: &[Vec<bool>]) -> Code {
        let parity = rows[0].len();
        let sum = |i: usize| {
            let bits = rows.iter().enumerate().map(|(j, row)| u128::from(row[i]) << j);
            Block(bits.fold(0, |sum, bit| sum | bit))
        };
        let sums: Vec<Block> = (0..parity).map(sum).collect();
        let words = parity.div_ceil(64);
        let mut table = vec![0; 32 * 16 * words];
        for (at, entry) in table.chunks_exact_mut(words).enumerate() {
            let (nibble, value) = (at / 16, at % 16);
            for (j, row) in rows[4 * nibble..][..4].iter().enumerate() {
                for i in (0..parity).filter(|i| value >> j & 1 == 1 && row[*i]) {
                    entry[i / 64] ^= 1 << (i % 64);
                }
            }
        }
        Code { distance, sums, table }
    }

    /// Returns the minimum distance that is proven.
    pub fn distance(&self) -> usize {
        self.distance
    }

    /// Returns the number of bits of a codeword.
    pub fn length(&self) -> usize {
        DIMENSION + self.parity_bits()
    }

    /// Returns the number of parity bits of a codeword.
    pub fn parity_bits(&self) -> usize {
        self.sums.len()
    }

    /// Returns, for each parity bit, the message bits that it sums.
    pub fn sums(&self) -> &[Block] {
        &self.sums
    }

    /// Writes the parity bits of a public message to `out`, which is ⌈parity bits / 64⌉ words long.
    /// The message must be public, because it determines which table entries are read.
    ///
    /// # Panics
    /// If `out` has another length.
    pub fn parity_of_public(&self, message: Block, out: &mut [u64]) {
        let words = self.parity_bits().div_ceil(64);
        assert_eq!(out.len(), words, "words for {} parity bits", self.parity_bits());
        match words {
            1 => self.sum_entries::<1>(message, out),
            2 => self.sum_entries::<2>(message, out),
            3 => self.sum_entries::<3>(message, out),
            4 => self.sum_entries::<4>(message, out),
            5 => self.sum_entries::<5>(message, out),
            _ => unreachable!("no code has more parity bits"),
        }
    }

    fn sum_entries<const WORDS: usize>(&self, message: Block, out: &mut [u64]) {
        let mut sum = [0; WORDS];
        let nibbles = self.table.as_chunks::<WORDS>().0.as_chunks::<16>().0;
        let halves = [message.0 as u64, (message.0 >> 64) as u64];
        for (half, nibbles) in halves.into_iter().zip(nibbles.chunks_exact(16)) {
            for (nibble, entries) in nibbles.iter().enumerate() {
                let entry = &entries[(half >> (4 * nibble)) as usize & 15];
                sum.iter_mut().zip(entry).for_each(|(sum, entry)| *sum ^= entry);
            }
        }
        out.copy_from_slice(&sum);
    }
}

/// GF(2^m) by powers of a generator.
struct Field {
    exp: Vec<usize>,
    log: Vec<usize>,
}

impl Field {
    /// The field modulo a primitive polynomial.
    fn new(bits: u32, polynomial: usize) -> Field {
        let order = (1 << bits) - 1;
        let (mut exp, mut log) = (Vec::with_capacity(order), vec![0; order + 1]);
        let mut x = 1;
        for power in 0..order {
            exp.push(x);
            log[x] = power;
            x <<= 1;
            if x > order {
                x ^= polynomial;
            }
        }
        assert_eq!(x, 1, "the polynomial is primitive");
        Field { exp, log }
    }

    /// Returns N, the order of the multiplicative group.
    fn order(&self) -> usize {
        self.exp.len()
    }

    fn mul(&self, a: usize, b: usize) -> usize {
        if a == 0 || b == 0 {
            return 0;
        }
        self.exp[(self.log[a] + self.log[b]) % self.order()]
    }

    /// Returns the generator polynomial of the BCH code with the roots α, …, α^(d−2), lowest degree
    /// first.
    fn generator(&self, distance: usize) -> Vec<bool> {
        let mut is_root = vec![false; self.order()];
        (1..distance - 1).for_each(|mut power| {
            // All conjugates of α^power are roots of its minimal polynomial.
            while !is_root[power] {
                is_root[power] = true;
                power = 2 * power % self.order();
            }
        });
        let mut product = vec![1];
        for root in (0..self.order()).filter(|power| is_root[*power]).map(|power| self.exp[power]) {
            // Multiplies by x + root.
            product.push(0);
            for i in (0..product.len()).rev() {
                let lower = if i == 0 { 0 } else { product[i - 1] };
                product[i] = lower ^ self.mul(product[i], root);
            }
        }
        assert!(product.iter().all(|x| *x < 2), "conjugates have their product over GF(2)");
        product.into_iter().map(|x| x == 1).collect()
    }
}

/// Returns x^power mod g.
fn power_modulo(power: usize, g: &[bool]) -> Vec<bool> {
    let mut x = vec![false; power + 1];
    x[power] = true;
    divide(x, g).1
}

/// Returns quotient and remainder of polynomials. The divisor's highest coefficient must not be 0.
fn divide(mut dividend: Vec<bool>, divisor: &[bool]) -> (Vec<bool>, Vec<bool>) {
    let degree = divisor.len() - 1;
    let mut quotient = vec![false; dividend.len().saturating_sub(degree)];
    for at in (0..quotient.len()).rev() {
        if dividend[at + degree] {
            quotient[at] = true;
            for (i, bit) in divisor.iter().enumerate() {
                dividend[at + i] ^= bit;
            }
        }
    }
    dividend.resize(degree, false);
    (quotient, dividend)
}

fn parity(bits: &[bool]) -> bool {
    bits.iter().fold(false, |sum, bit| sum ^ bit)
}

/// Returns the parity bits of all messages of weight 1, or `None` if the dimension is below 128.
///
/// Paper: Roy22, Figs. 8, 9, C
fn bch(field: &Field, distance: usize) -> Option<Vec<Vec<bool>>> {
    let g = field.generator(distance);
    let degree = g.len() - 1;
    if field.order() - degree < DIMENSION {
        return None;
    }
    let row = |i| {
        let mut row = power_modulo(degree + i, &g);
        // The parity includes the message bit itself, which is 1.
        row.push(!parity(&row));
        row
    };
    Some((0..DIMENSION).map(row).collect())
}

/// Returns the parity bits of all messages of weight 1 by construction X, or `None` if there is no
/// such code.
///
/// Paper: Roy22, Figs. 8, 9, C
fn construction_x(field: &Field, distance: usize) -> Option<Vec<Vec<bool>>> {
    if distance < 4 {
        return None;
    }
    let (g1, g2) = (field.generator(distance - 2), field.generator(distance));
    let mut rows = bch(field, distance - 2)?;
    let degree = g1.len() - 1;
    for (i, row) in rows.iter_mut().enumerate() {
        let mut word = row[..degree].to_vec();
        word.resize(degree + i + 1, false);
        word[degree + i] = true;
        let (mut tail, rest) = divide(divide(word, &g2).1, &g1);
        assert!(!rest.contains(&true), "words of the larger code are multiples of its generator");
        tail.resize(g2.len() - g1.len(), false);
        let last = parity(&tail);
        row.extend(tail);
        row.push(last);
    }
    Some(rows)
}

#[cfg(test)]
#[path = "codes/tests.rs"]
mod tests;
