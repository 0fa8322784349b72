//! Multiplication: rows for narrow words, Karatsuba above.
//!
//! The product of two bits is half of x + y - (x ⊕ y). The sums over all bits are multiples of the
//! factors, so most rows take XORs instead of ANDs, and half the gates of schoolbook rows.
//!
//! A product of n by m bits is truncated to its low w bits, and made in the cheapest way for that
//! size.

use std::collections::HashMap;

use super::bit::{Bit, Word};
use super::component::ComponentBuilder;
use super::gates::Gates;
use super::products::{Way, difference_constant, rows};
use super::subcircuit::Subcircuit;

/// Products with operands at least this wide become components if components are requested.
const PART: usize = 32;

/// The products that are components already, by their widths and whether they are squares.
type Parts = HashMap<(usize, usize, usize, bool), Subcircuit>;

impl Gates {
    /// `x · y` modulo 2^n, for signed and unsigned integers alike: about n² / 2 + 2n ANDs for
    /// narrow words, fewer by Karatsuba's method for wide ones, for squares, and where bits are
    /// constants or copies of the sign.
    pub fn mul(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        let level = self.level([x, y]);
        let [x, y] = level.words();
        self.multiply(x, y, &mut None)
    }

    /// The whole product `x · y` of unsigned integers, as wide as both together: for n bits each
    /// n² + 3n ANDs where they are narrow, fewer where they are wide.
    pub fn mul_full(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        self.unsigned(x, y, x.len() + y.len(), &mut None)
    }

    /// How many AND gates the low `w` bits of a product take, without making them: about what
    /// [`mul`](Self::mul) makes, and [`mul_full`](Self::mul_full) where `w` is the widths' sum.
    pub fn product_ands(&mut self, x: &[Bit], y: &[Bit], w: usize) -> u64 {
        let digits = |word: &[Bit]| {
            let ones = word.iter().filter(|bit| **bit == Bit::ONE).count();
            ones.min(word.len() / 2 + 1)
        };
        match (is_constant(x), is_constant(y)) {
            (true, true) => 0,
            (true, false) => (digits(x) * w.min(x.len() + y.len())) as u64,
            (false, true) => (digits(y) * w.min(x.len() + y.len())) as u64,
            (false, false) => {
                let whole = self.products.best(trimmed(x), trimmed(y), w, x == y).0;
                whole.min(self.products.best(magnitude(x), magnitude(y), w, x == y).0)
            }
        }
    }

    /// Multiplies like [`mul`](Self::mul), but wide products call shared components. This keeps the
    /// circuit small for words of several hundred bits and more.
    pub fn mul_in_parts(&mut self, x: &[Bit], y: &[Bit]) -> Word {
        let level = self.level([x, y]);
        let [x, y] = level.words();
        self.multiply(x, y, &mut Some(Parts::new()))
    }

    /// The product of two words modulo the width of each. Words extended by copies of their sign
    /// are multiplied without the copies.
    fn multiply(&mut self, x: &[Bit], y: &[Bit], parts: &mut Option<Parts>) -> Word {
        let w = x.len();
        let (a, b) = (magnitude(x), magnitude(y));
        let correction = |own: usize, other: usize| {
            if own == w { 0 } else { other.min(w - own) + (w - own) }
        };
        let cost = self.products.best(a, b, w, false).0
            + (correction(a, b) + correction(b, a) + w.saturating_sub(a + b)) as u64;
        let constants = is_constant(x) || is_constant(y);
        if constants || cost >= self.products.best(trimmed(x), trimmed(y), w, x == y).0 {
            return self.unsigned(x, y, w, parts);
        }
        // x = x' - 2^a·s and y = y' - 2^b·t give x'y' - 2^a·s·y' - 2^b·t·x' + 2^(a+b)·s·t.
        let mut product = self.unsigned(&x[..a], &y[..b], w, parts);
        for (sign, low, other) in [(x[w - 1], a, &y[..b]), (y[w - 1], b, &x[..a])] {
            if low < w {
                let masked = self.and_each(sign, &other[..other.len().min(w - low)]);
                let high = self.sub(&product[low..], &masked.resize(w - low));
                product[low..].copy_from_slice(&high);
            }
        }
        if a < w && b < w && a + b < w {
            let both = self.and_bit(x[w - 1], y[w - 1]);
            let high = self.add(&product[a + b..], &Word::from(both).resize(w - a - b));
            product[a + b..].copy_from_slice(&high);
        }
        product
    }

    /// The low `w` bits of a product of unsigned integers, with zeros above the product.
    fn unsigned(&mut self, x: &[Bit], y: &[Bit], w: usize, parts: &mut Option<Parts>) -> Word {
        let (x, y) = (&x[..trimmed(x)], &y[..trimmed(y)]);
        let zeros = |word: &[Bit]| word.iter().take_while(|bit| **bit == Bit::ZERO).count();
        let shift = zeros(x) + zeros(y);
        if x.is_empty() || y.is_empty() || shift >= w {
            return Word::zero(w);
        }
        let (x, y) = (&x[zeros(x)..], &y[zeros(y)..]);
        let (x, y) = (&x[..x.len().min(w - shift)], &y[..y.len().min(w - shift)]);
        // Rows are made for the bits of the second factor.
        let (x, y) = if constants(x) > constants(y) { (y, x) } else { (x, y) };
        let product = if is_constant(x) {
            self.times_constant(y, x, w - shift)
        } else if is_constant(y) {
            self.times_constant(x, y, w - shift)
        } else if self.rows_are_cheap(x, y, w - shift) {
            self.rows(x, y, w - shift)
        } else {
            self.product(x, y, w - shift, parts)
        };
        std::iter::repeat_n(Bit::ZERO, shift).chain(product.resize(w - shift).to_vec()).collect()
    }

    /// Whether schoolbook rows, in which constant bits save gates, beat the way that is best
    /// without constants.
    fn rows_are_cheap(&mut self, x: &[Bit], y: &[Bit], w: usize) -> bool {
        if constants(x) + constants(y) == 0 {
            return false;
        }
        let ones = y.iter().filter(|bit| **bit == Bit::ONE).count();
        let secret = y.len() - constants(y);
        let used = secret * (2 * x.len() - constants(x)) + ones * x.len();
        let all = 2 * x.len() * y.len();
        let (wide, narrow) = (x.len().max(y.len()), x.len().min(y.len()));
        let gates = rows(wide, narrow, w.min(wide + narrow)) * used as u64 / all as u64;
        gates <= self.products.best(wide, narrow, w, false).0
    }

    /// A product with a constant: as few additions and subtractions as its non-adjacent form has.
    fn times_constant(&mut self, x: &[Bit], factor: &[Bit], w: usize) -> Word {
        let digit = |place: usize| factor.get(place) == Some(&Bit::ONE);
        // Digit i of the non-adjacent form of c is digit i + 1 of 3c less that of c.
        let mut terms: Vec<(usize, bool)> = Vec::new();
        let mut carry = false;
        let mut place = 0;
        while place < w && (place < factor.len() || carry) {
            let odd = digit(place) != carry;
            if odd {
                // A run of ones becomes a subtraction at its end and an addition above it.
                carry = digit(place + 1);
                terms.push((place, carry));
            } else {
                carry = carry && digit(place);
            }
            place += 1;
        }
        let wide = w.min(x.len() + factor.len());
        let ones = (0..factor.len().min(w)).filter(|&place| digit(place)).count();
        let signed: usize = terms.iter().rev().skip(1).map(|term| wide - term.0).sum();
        if ones.saturating_sub(1) * x.len() <= signed {
            return self.rows(x, factor, w);
        }
        let shifted = |by: usize| {
            let word: Word = x.to_vec().into();
            word.resize(wide.max(x.len())).shl(by).resize(wide)
        };
        let mut sum = Word::zero(wide);
        for &(place, negative) in terms.iter().rev() {
            let term = shifted(place);
            sum = if negative { self.sub(&sum, &term) } else { self.add(&sum, &term) };
        }
        sum.resize(w)
    }

    /// The low `w` bits by rows, one for each bit of `y`.
    fn rows(&mut self, x: &[Bit], y: &[Bit], w: usize) -> Word {
        let w = w.min(x.len() + y.len());
        let mut sum = Word::zero(w);
        for (i, &factor) in y.iter().enumerate().take(w) {
            let row = self.and_each(factor, &x[..x.len().min(w - i)]);
            let end = (i + x.len() + 1).min(w);
            let high = self.add(&sum[i..end], &row.resize(end - i));
            sum[i..end].copy_from_slice(&high);
        }
        sum
    }

    /// The low `w` bits of a product, which may be narrower; a call of a component if it is wide
    /// and components are requested.
    fn product(&mut self, x: &[Bit], y: &[Bit], w: usize, parts: &mut Option<Parts>) -> Word {
        let w = w.min(x.len() + y.len());
        let (x, y) = (&x[..x.len().min(w)], &y[..y.len().min(w)]);
        let (x, y) = if x.len() < y.len() { (y, x) } else { (x, y) };
        let square = x == y;
        let Some(known) = parts.as_mut().filter(|_| y.len() >= PART) else {
            return self.product_here(x, y, w, parts);
        };
        let size = (x.len(), y.len(), w, square);
        let part = match known.get(&size) {
            Some(part) => part.clone(),
            None => {
                let mut c = ComponentBuilder::new(format!("multiply-{}x{}", x.len(), y.len()));
                let own_x = c.input(x.len());
                let own_y = if square { own_x.clone() } else { c.input(y.len()) };
                let product = c.product_here(&own_x, &own_y, w, parts);
                c.output(&product);
                let Ok(part) = c.finish() else {
                    self.too_large = true;
                    return Word::zero(w);
                };
                if let Some(known) = parts {
                    known.insert(size, part.clone());
                }
                part
            }
        };
        if square { self.call_one(&part, &[x]) } else { self.call_one(&part, &[x, y]) }
    }

    /// Does the same as [`product`](Self::product), in gates, for `x` at least as wide as `y` and
    /// neither wider than the product.
    fn product_here(&mut self, x: &[Bit], y: &[Bit], w: usize, parts: &mut Option<Parts>) -> Word {
        if y.is_empty() {
            return Word::zero(w);
        }
        let square = x == y;
        match self.products.best(x.len(), y.len(), w, square).1 {
            Way::Rows if square => self.square_rows(x, w),
            Way::Rows => self.rows(x, y, w),
            Way::Signed if square => self.signed_square(x, w),
            Way::Signed => self.signed_rows(x, y, w),
            Way::Karatsuba(h) => self.karatsuba(x, y, w, h, parts),
            Way::Halves(h) => self.halves(x, y, w, h, parts),
            Way::Split(h) => {
                let low = self.product(&x[..h], y, w, parts).resize(w);
                let high = self.product(&x[h..], y, w - h, parts).resize(w - h);
                let high = self.add(&low[h..], &high);
                Word::join([&low.slice(0..h), &high])
            }
        }
    }

    /// A square: each product of two different bits once, at twice its weight.
    fn square_rows(&mut self, x: &[Bit], w: usize) -> Word {
        let mut columns = vec![Vec::new(); w];
        for i in 0..x.len() {
            if 2 * i < w {
                columns[2 * i].push(x[i]);
            }
            for j in i + 1..x.len().min((w.saturating_sub(1)).saturating_sub(i)) {
                let both = self.and_bit(x[i], x[j]);
                columns[i + j + 1].push(both);
            }
        }
        self.sum_columns(columns)
    }

    /// The product by rows that are added or subtracted: with s = 1 for a bit of y that is 1 and
    /// -1 for one that is 0, the bit is (s + 1) / 2. The halves of all bits from 1 on are together
    /// (2^m - 2) / 2, so that xy is 2^(m-1)·x - x, and y₀·x, and s·2^(i-1)·x for each i from 1 on.
    /// The row of bit 1 less x is -2x or 0.
    fn signed_rows(&mut self, x: &[Bit], y: &[Bit], w: usize) -> Word {
        let (n, m) = (x.len(), y.len());
        let first = self.and_each(y[0], &x[..n.min(w)]);
        let second = self.and_each(!y[1], &x[..n.min(w - 1)]);
        let wide = (n + 1).min(w - 1);
        let mut sum = self.sub(&first.slice(1..first.width()).resize(wide), &second.resize(wide));
        let mut product = vec![first[0]];
        for (i, &bit) in y.iter().enumerate().skip(2) {
            // The rest of the sum is at place i - 1, with its sign.
            let wide = (n + 2).min(w + 1 - i);
            let row = x.iter().map(|&x| self.xor_bit(x, !bit)).take(wide);
            let row: Word = row.collect();
            let row = Word::join([&row, &Word::from(vec![!bit; wide - row.width()])]);
            sum = self.add_modular(&sum.resize_signed(wide), &row, !bit);
            product.push(sum[0]);
            sum = sum.slice(1..wide);
        }
        let x: Word = x.to_vec().into();
        let wide = w + 1 - m;
        product.extend_from_slice(&self.add(&sum.resize_signed(wide), &x.resize(wide)));
        product.into()
    }

    /// A square as (2^n - 1)·x minus 2^(i + j) for each pair of bits i < j that differ.
    fn signed_square(&mut self, x: &[Bit], w: usize) -> Word {
        let n = x.len();
        let constant = difference_constant(n, w);
        let mut columns: Vec<Vec<Bit>> =
            constant.into_iter().map(|bit| vec![Bit::constant(bit)]).collect();
        for (i, &bit) in x.iter().enumerate() {
            let mut push = |place: usize, bit| {
                if let Some(column) = columns.get_mut(place) {
                    column.push(bit);
                }
            };
            push(n + i, bit);
            push(i, !bit);
            for (j, &other) in x.iter().enumerate().skip(i + 1) {
                push(i + j, !self.xor_bit(bit, other));
            }
        }
        self.sum_columns(columns)
    }

    /// With x = x₁·2^h + x₀, and y likewise, the middle of the product is
    /// x₁y₁ + x₀y₀ - (x₁ - x₀)(y₁ - y₀): three products instead of four.
    fn karatsuba(
        &mut self,
        x: &[Bit],
        y: &[Bit],
        w: usize,
        h: usize,
        parts: &mut Option<Parts>,
    ) -> Word {
        let rest = w - h;
        let low = self.product(&x[..h], &y[..h], 2 * h, parts).resize(2 * h);
        let high = self.product(&x[h..], &y[h..], rest, parts).resize(rest);
        let (dx, x_negative) = self.distance(&x[h..], &x[..h]);
        let (dy, y_negative) = self.distance(&y[h..], &y[..h]);
        let middle = self.product(&dx, &dy, rest, parts);
        // The middle product is subtracted if both differences have the same sign: its complement
        // is added, and one.
        let negative = !self.xor_bit(x_negative, y_negative);
        // The columns from h on. The sum of the upper half of `low` and the lower half of `high`
        // occurs twice: it is made once.
        let reach = h.min(rest);
        let (shared, carry) = self.add_with_carry(&low[h..h + reach], &high[..reach], Bit::ZERO);
        let mut columns = vec![Vec::with_capacity(4); rest.min(2 * h)];
        for (place, column) in columns.iter_mut().enumerate() {
            let own = if place < h { low[place] } else { high[place] };
            let middle = middle.get(place).copied().unwrap_or(Bit::ZERO);
            let middle = self.xor_bit(middle, negative);
            column.extend([own, shared[place % h], middle]);
        }
        columns[0].push(negative);
        if rest > h {
            columns[h].push(carry);
        }
        let (mut sum, carries) = if rest > 2 * h {
            self.sum_low_columns(columns)
        } else {
            (self.sum_columns(columns).to_vec(), Vec::new())
        };
        if rest > 2 * h {
            // The carry into the top: all carries, minus one if the complement was added. It is
            // from 0 to 3.
            let count = self.popcount(&[&carries[..], &[carry]].concat()).resize(2);
            let less = self.sub(&count, &Word::from(negative).resize(2));
            let top = self.add(&high[h..rest - h], &less.resize(rest - 2 * h));
            sum.extend_from_slice(&top);
        }
        Word::join([&low.slice(0..h), &sum.into()])
    }

    /// `|x - y|`, as wide as `y`, and whether `x < y`, for an `x` that is no wider.
    fn distance(&mut self, x: &[Bit], y: &[Bit]) -> (Word, Bit) {
        let x: Word = x.to_vec().into();
        let (difference, negative) = self.sub_with_borrow(&x.resize(y.len()), y);
        (self.neg_if(negative, &difference), negative)
    }

    /// A product truncated to twice `h` bits or one less: the whole of x₀y₀, and the low bits of
    /// x₁y₀ + x₀y₁.
    fn halves(
        &mut self,
        x: &[Bit],
        y: &[Bit],
        w: usize,
        h: usize,
        parts: &mut Option<Parts>,
    ) -> Word {
        let rest = w - h;
        let low = self.product(&x[..h], &y[..h], w, parts).resize(w);
        let high = if x == y {
            let cross = self.product(&x[..h], &x[h..], rest - 1, parts).resize(rest - 1);
            let twice = Word::join([&Word::zero(1), &cross]);
            self.add(&low[h..], &twice)
        } else {
            let one = self.product(&x[h..], &y[..h], rest, parts).resize(rest);
            let other = self.product(&x[..h], &y[h..], rest, parts).resize(rest);
            self.sum(rest, &[&low[h..], &one, &other])
        };
        Word::join([&low.slice(0..h), &high])
    }
}

/// How many bits are left without the constant zeros at the top.
fn trimmed(word: &[Bit]) -> usize {
    word.iter().rposition(|bit| *bit != Bit::ZERO).map_or(0, |place| place + 1)
}

/// Returns how many bits are below the sign if the sign is repeated, else all.
fn magnitude(word: &[Bit]) -> usize {
    let Some((&sign, low)) = word.split_last() else { return 0 };
    let copies = low.iter().rev().take_while(|bit| **bit == sign).count();
    if copies == 0 { word.len() } else { low.len() - copies }
}

/// How many bits are constants.
fn constants(word: &[Bit]) -> usize {
    word.iter().filter(|bit| bit.as_constant().is_some()).count()
}

fn is_constant(word: &[Bit]) -> bool {
    word.iter().all(|bit| bit.as_constant().is_some())
}
