//! Products in GF(2^64) with 300 ANDs, where Karatsuba's method takes 729.
//!
//! An element is a polynomial of degree below 32 over GF(4). The product of two has degree 62, so
//! it is known from what it is at places of P^1 over GF(4) of degree 63 together (Chudnovsky and
//! Chudnovsky 1988): all five of degree 1, five of degree 2 and sixteen of degree 3. What two
//! polynomials are at a place of degree f is in GF(4^f), where 2f − 1 products in GF(4) are enough,
//! again by evaluation at points. A product in GF(4) takes three ANDs.

use std::sync::OnceLock;

use super::bit::{Bit, Word};
use super::gates::Gates;
use crate::field::Field;

/// The bits of an element.
const BITS: usize = 64;

/// How many places of degree 1, without the one at infinity, of degree 2 and of degree 3.
const PLACES: [usize; 3] = [4, 5, 16];

/// A XOR of many bits is put together from XORs of groups of this many, which others share.
const GROUP: usize = 6;

/// An element of GF(4): bit 1 is the coefficient of ω, where ω² = ω + 1.
type Quarter = u8;

/// How to multiply.
struct Algorithm {
    /// The linear maps to GF(4): the bits whose sum is either bit of the result.
    maps: Vec<[u64; 2]>,
    /// For each bit of the products in GF(4), what it adds to the product.
    weights: Vec<u64>,
}

impl Gates {
    /// The product in GF(2^64): 300 ANDs.
    pub(super) fn field_mul_64(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        static ALGORITHM: OnceLock<Algorithm> = OnceLock::new();
        let Algorithm { maps, weights } = ALGORITHM.get_or_init(Algorithm::new);
        let rows: Vec<Vec<u64>> = maps.iter().flatten().map(|&map| vec![map]).collect();
        let (x, y) = (self.linear(x, &rows), self.linear(y, &rows));
        let mut products = Vec::with_capacity(x.len());
        for (x, y) in x.as_chunks::<2>().0.iter().zip(y.as_chunks::<2>().0) {
            let (low, high) = (self.and_bit(x[0], y[0]), self.and_bit(x[1], y[1]));
            let (x_sum, y_sum) = (self.xor_bit(x[0], x[1]), self.xor_bit(y[0], y[1]));
            let both = self.and_bit(x_sum, y_sum);
            products.extend([self.xor_bit(low, high), self.xor_bit(both, low)]);
        }
        let mut rows = vec![vec![0; products.len().div_ceil(64)]; BITS];
        for (place, &weight) in weights.iter().enumerate() {
            for (bit, row) in rows.iter_mut().enumerate() {
                row[place / 64] |= (weight >> bit & 1) << (place % 64);
            }
        }
        self.linear(&products, &rows).into()
    }

    /// Returns for each row the XOR of the bits that it marks.
    fn linear(&mut self, bits: &[Bit], rows: &[Vec<u64>]) -> Vec<Bit> {
        let marked = |row: &[u64], place: usize| row[place / 64] >> (place % 64) & 1 == 1;
        let mut sums = Vec::with_capacity(rows.len());
        for row in rows {
            let mut sum = Bit::ZERO;
            for first in (0..bits.len()).step_by(GROUP) {
                // Equal gates are made once.
                let group = first..(first + GROUP).min(bits.len());
                let part = group.filter(|&place| marked(row, place));
                let part = part.fold(Bit::ZERO, |part, place| self.xor_bit(part, bits[place]));
                sum = self.xor_bit(sum, part);
            }
            sums.push(sum);
        }
        sums
    }
}

impl Algorithm {
    fn new() -> Algorithm {
        let coordinates = coordinates();
        let mut forms = vec![std::array::from_fn(|i| Quarter::from(i == BITS / 2 - 1))];
        for (degree, count) in (1..).zip(PLACES) {
            let found = (0..4usize.pow(degree)).map(|number| polynomial(number, degree as usize));
            let places = found.filter(|place| is_irreducible(place)).take(count);
            places.for_each(|place| forms.extend(at_place(&place)));
        }
        let maps: Vec<[u64; 2]> = forms.iter().map(|form| map(form, &coordinates)).collect();
        let weights = weights(&maps);
        Algorithm { maps, weights }
    }
}

/// The product in GF(4).
fn quarter_mul(x: Quarter, y: Quarter) -> Quarter {
    let (x0, x1, y0, y1) = (x & 1, x >> 1, y & 1, y >> 1);
    (x0 & y0) ^ (x1 & y1) | ((x0 & y1) ^ (x1 & y0) ^ (x1 & y1)) << 1
}

/// Returns a monic polynomial over GF(4), without its leading coefficient, by its number.
fn polynomial(number: usize, degree: usize) -> Vec<Quarter> {
    (0..degree).map(|place| (number >> (2 * place) & 3) as Quarter).collect()
}

/// Returns what a polynomial with these coefficients is at a point.
fn at_point(coefficients: impl DoubleEndedIterator<Item = Quarter>, point: Quarter) -> Quarter {
    coefficients.rev().fold(0, |sum, coefficient| quarter_mul(sum, point) ^ coefficient)
}

/// Returns whether a monic polynomial of degree 3 at most has no factors.
fn is_irreducible(place: &[Quarter]) -> bool {
    let zero = |point: Quarter| at_point(place.iter().copied().chain([1]), point) == 0;
    place.len() == 1 || !(0..4).any(zero)
}

/// A linear map of polynomials of degree below 32 to GF(4): what is multiplied with each
/// coefficient.
type Form = [Quarter; BITS / 2];

/// Returns the maps of polynomials that together say what they are modulo an irreducible one, and
/// that commute with products as far as is needed for the modulus' degree.
fn at_place(place: &[Quarter]) -> Vec<Form> {
    let degree = place.len();
    let mut power: Vec<Quarter> = (0..degree).map(|i| Quarter::from(i == 0)).collect();
    let mut powers = Vec::with_capacity(BITS / 2);
    for _ in 0..BITS / 2 {
        powers.push(power.clone());
        let top = power[degree - 1];
        power.rotate_right(1);
        power[0] = 0;
        power.iter_mut().zip(place).for_each(|(to, &of)| *to ^= quarter_mul(top, of));
    }
    // The point at infinity first: there it is the highest coefficient.
    let points = std::iter::once(None).chain((0..4).map(Some)).take(2 * degree - 1);
    let form = |point: Option<Quarter>| {
        std::array::from_fn(|i| match point {
            Some(point) => at_point(powers[i].iter().copied(), point),
            None => powers[i][degree - 1],
        })
    };
    points.map(form).collect()
}

/// Returns which bits of an element add up to each bit of its coefficients over GF(4), where it is
/// a polynomial in x.
fn coordinates() -> [u64; BITS] {
    let field = Field::BLOCKS;
    // ω is x to the power of a third of the elements that are not zero.
    let exponent = u64::MAX / 3;
    let omega = (0..u64::BITS).rev().fold(1, |power, bit| {
        let square = field.mul(power, power);
        if exponent >> bit & 1 == 1 { field.mul(square, 2) } else { square }
    });
    // Row i says of which coefficients' bits bit i is the sum, and then what is inverse to that.
    let mut rows: [(u64, u64); BITS] = std::array::from_fn(|i| (0, 1 << i));
    let mut power = 1;
    for i in 0..BITS / 2 {
        for (place, element) in [(2 * i, power), (2 * i + 1, field.mul(power, omega))] {
            for (bit, row) in rows.iter_mut().enumerate() {
                row.0 |= (element >> bit & 1) << place;
            }
        }
        power = field.mul(power, 2);
    }
    for place in 0..BITS {
        let pivot = (place..BITS).find(|&row| rows[row].0 >> place & 1 == 1);
        // x has degree 32 over GF(4), so its powers and their products with ω are a basis.
        rows.swap(place, pivot.expect("a basis"));
        let (row, inverse) = rows[place];
        for (other, to) in rows.iter_mut().enumerate() {
            if other != place && to.0 >> place & 1 == 1 {
                *to = (to.0 ^ row, to.1 ^ inverse);
            }
        }
    }
    rows.map(|(_, inverse)| inverse)
}

/// Returns the bits of an element whose sums are the two bits of what a form makes of it.
fn map(form: &Form, coordinates: &[u64; BITS]) -> [u64; 2] {
    let mut masks = [0; 2];
    for (place, &factor) in form.iter().enumerate() {
        for (part, unit) in [(0, 1), (1, 2)] {
            let image = quarter_mul(factor, unit);
            for (bit, mask) in masks.iter_mut().enumerate() {
                if image >> bit & 1 == 1 {
                    *mask ^= coordinates[2 * place + part];
                }
            }
        }
    }
    masks
}

/// Returns what each bit of the products adds to the product, from the products of all pairs of
/// single bits.
fn weights(maps: &[[u64; 2]]) -> Vec<u64> {
    let bits = 2 * maps.len();
    let image = |x: usize| -> Vec<Quarter> {
        let bit = |mask: u64| (mask >> x & 1) as Quarter;
        maps.iter().map(|[low, high]| bit(*low) | bit(*high) << 1).collect()
    };
    let images: Vec<Vec<Quarter>> = (0..BITS).map(image).collect();
    // Equations in echelon form, by their lowest bit: some bits of products, and the product.
    let mut known: Vec<Option<(Vec<u64>, u64)>> = vec![None; bits];
    for x in 0..BITS {
        for y in x..BITS {
            let mut equation = vec![0u64; bits.div_ceil(64)];
            for (place, (&x, &y)) in images[x].iter().zip(&images[y]).enumerate() {
                let product = u64::from(quarter_mul(x, y));
                equation[2 * place / 64] |= product << (2 * place % 64);
            }
            let mut sum = Field::BLOCKS.mul(1 << x, 1 << y);
            while let Some(lowest) = lowest(&equation) {
                let Some((other, product)) = &known[lowest] else {
                    known[lowest] = Some((equation, sum));
                    break;
                };
                equation.iter_mut().zip(other).for_each(|(to, of)| *to ^= of);
                sum ^= product;
            }
        }
    }
    let mut weights = vec![0; bits];
    for place in (0..bits).rev() {
        let Some((equation, product)) = &known[place] else { continue };
        let others =
            (place + 1..bits).filter(|other| equation[other / 64] >> (other % 64) & 1 == 1);
        weights[place] = others.fold(*product, |sum, other| sum ^ weights[other]);
    }
    weights
}

/// Returns the place of the lowest bit that is set.
fn lowest(words: &[u64]) -> Option<usize> {
    let word = words.iter().position(|word| *word != 0)?;
    Some(64 * word + words[word].trailing_zeros() as usize)
}
