//! The costs of products. For each size [`Products`] knows the cheapest way to multiply, found once
//! by comparing the costs of all ways.

use std::collections::HashMap;

/// How a product is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// One row for each bit of the narrower factor, or for a square one bit for each pair of its
    /// bits, made by ANDs.
    Rows,
    /// The same rows made by XORs.
    Signed,
    /// Three products of halves, or of this many low bits and the rest.
    Karatsuba(usize),
    /// Products of halves without the high one, which a truncated product does not need.
    Halves(usize),
    /// The wider factor in two parts, the first this wide.
    Split(usize),
}

/// The cheapest ways to multiply, by the widths of both factors (the wider first) and the product,
/// and whether it is a square.
#[derive(Default)]
pub(super) struct Products {
    ways: HashMap<(usize, usize, usize, bool), (u64, Way)>,
}

impl Products {
    /// The cheapest way and its AND gates. For a square n = m.
    pub(super) fn best(&mut self, n: usize, m: usize, w: usize, square: bool) -> (u64, Way) {
        let w = w.min(n + m);
        let (n, m) = (n.min(w), m.min(w));
        let (n, m) = (n.max(m), n.min(m));
        if m == 0 {
            return (0, Way::Rows);
        }
        if let Some(&known) = self.ways.get(&(n, m, w, square)) {
            return known;
        }
        let mut best = (if square { square_rows(n, w) } else { rows(n, m, w) }, Way::Rows);
        if m > 1 {
            let signed = if square { signed_square(n, w) } else { signed_rows(n, m, w) };
            best = best.min((signed, Way::Signed));
        }
        if m > 3 {
            for way in self.candidates(n, m, w) {
                let cost = self.cost(n, m, w, square, way);
                if cost < best.0 {
                    best = (cost, way);
                }
            }
        }
        self.ways.insert((n, m, w, square), best);
        best
    }

    fn candidates(&self, n: usize, m: usize, w: usize) -> Vec<Way> {
        let half = n.div_ceil(2);
        let mut ways = Vec::new();
        if m > half && w >= 2 * half {
            ways.push(Way::Karatsuba(half));
        }
        let low = w.div_ceil(2);
        if m > low && w <= 2 * low {
            ways.push(Way::Halves(low));
        }
        if n > m {
            ways.push(Way::Split(m));
        }
        ways
    }

    fn cost(&mut self, n: usize, m: usize, w: usize, square: bool, way: Way) -> u64 {
        match way {
            Way::Rows | Way::Signed => u64::MAX,
            Way::Karatsuba(h) => {
                let rest = w - h;
                let parts = self.best(h, h, 2 * h, square).0
                    + self.best(n - h, m - h, rest, square).0
                    + self.best(h, h, rest, square).0;
                let differences = (2 * h - 1) * if square { 1 } else { 2 };
                let sums = h.min(rest) + rest + rest.min(2 * h);
                parts + (differences + sums) as u64
            }
            Way::Halves(h) => {
                let low = self.best(h, h, 2 * h, square).0;
                let rest = w - h;
                if square {
                    let cross = self.best(h, n - h, rest.saturating_sub(1), false).0;
                    return low + cross + rest as u64;
                }
                low + self.best(n - h, h, rest, false).0
                    + self.best(h, m - h, rest, false).0
                    + 2 * rest as u64
            }
            Way::Split(h) => {
                self.best(h, m, w, false).0 + self.best(n - h, m, w - h, false).0 + (w - h) as u64
            }
        }
    }
}

/// The AND gates of schoolbook multiplication.
pub(super) fn rows(n: usize, m: usize, w: usize) -> u64 {
    let row = |i: usize| n.min(w - i) as u64;
    (0..m).map(|i| row(i) + if i > 0 { row(i) - u64::from(i + n >= w) } else { 0 }).sum()
}

/// The AND gates of a schoolbook square: each product of two bits once.
fn square_rows(n: usize, w: usize) -> u64 {
    let (mut ands, mut carries) = (0, 0);
    for place in 0..w {
        // Pairs i < j with i + j + 1 = place, and the bit itself at twice its place.
        let sum = place.saturating_sub(1);
        let pairs = (sum.div_ceil(2)).saturating_sub((sum + 1).saturating_sub(n)) as u64;
        let own = u64::from(place % 2 == 0 && place / 2 < n);
        carries = if place + 1 < w { (pairs + own + carries) / 2 } else { 0 };
        ands += pairs + carries;
    }
    ands
}

/// The AND gates of a product by signed rows.
fn signed_rows(n: usize, m: usize, w: usize) -> u64 {
    let first = n.min(w) + n.min(w - 1) + (n + 1).min(w - 1) - 1;
    let rows: usize = (2..m).map(|i| (n + 2).min(w + 1 - i) - 1).sum();
    (first + rows + w - m) as u64
}

/// The AND gates of a square by differences.
fn signed_square(n: usize, w: usize) -> u64 {
    let (mut ands, mut carries) = (0, 0);
    for (place, constant) in difference_constant(n, w).into_iter().enumerate().take(w - 1) {
        let own = usize::from(place < 2 * n);
        let bits = different_pairs(n, place) + own + carries;
        ands += bits as u64 / 2;
        carries = bits / 2 + usize::from(bits % 2 == 1 && constant);
    }
    ands
}

/// How many pairs i < j < n there are with i + j = `place`.
fn different_pairs(n: usize, place: usize) -> usize {
    place.div_ceil(2).saturating_sub((place + 1).saturating_sub(n))
}

/// What a square by differences adds to its bits: -(2^n - 1) less 2^(i + j) for each pair i < j,
/// modulo 2^w.
pub(super) fn difference_constant(n: usize, w: usize) -> Vec<bool> {
    let mut carry = 0;
    // The complement of the subtrahend, and one.
    let mut one = true;
    let digit = |place| {
        let sum = carry + different_pairs(n, place) + usize::from(place < n);
        carry = sum / 2;
        let bit = sum.is_multiple_of(2) != one;
        one &= !bit;
        bit
    };
    (0..w).map(digit).collect()
}
