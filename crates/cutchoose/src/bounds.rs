//! Interval arithmetic with rational functions of integers: a lower and an upper bound, each with
//! 64 bits of precision.
//!
//! All operations are on integers and round the lower bound down and the upper bound up, so the
//! true value is always between them, on every machine. Each operation widens the interval by at
//! most 2^-62 of the value.

use std::cmp::Ordering;
use std::ops::{Add, Mul};

/// m·2^e, where m is 0 or has its highest bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Float {
    m: u64,
    e: i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Down,
    Up,
}

impl Float {
    const ZERO: Float = Float { m: 0, e: 0 };
    const ONE: Float = Float { m: 1 << 63, e: -63 };

    /// Rounds x·2^e, or a slightly larger value if `more`; then x has at least 64 bits.
    fn rounded(x: u128, e: i64, more: bool, round: Round) -> Float {
        if x == 0 {
            return Float::ZERO;
        }
        let bits = 128 - i64::from(x.leading_zeros());
        debug_assert!(bits >= 64 || !more, "what is lost counts less than the last bit kept");
        if bits <= 64 {
            let up = u64::from(more && round == Round::Up);
            // If `more`, x has 64 bits here.
            let m = (x as u64) << (64 - bits);
            return Float::carried(m, up, e - (64 - bits));
        }
        let lost = bits - 64;
        let inexact = more || x & ((1 << lost) - 1) != 0;
        let up = u64::from(inexact && round == Round::Up);
        Float::carried((x >> lost) as u64, up, e + lost)
    }

    fn carried(m: u64, up: u64, e: i64) -> Float {
        match m.checked_add(up) {
            Some(m) => Float { m, e },
            None => Float { m: 1 << 63, e: e + 1 },
        }
    }

    fn mul(self, other: Float, round: Round) -> Float {
        let product = u128::from(self.m) * u128::from(other.m);
        Float::rounded(product, self.e + other.e, false, round)
    }

    /// The divisor must not be 0.
    fn div(self, other: Float, round: Round) -> Float {
        let wide = u128::from(self.m) << 64;
        // The remainder comes from a product, because a second division would take as long as the
        // first.
        let quotient = wide / u128::from(other.m);
        let rest = wide - quotient * u128::from(other.m);
        Float::rounded(quotient, self.e - other.e - 64, rest != 0, round)
    }

    fn add(self, other: Float, round: Round) -> Float {
        let (large, small) = if self.cmp(&other).is_ge() { (self, other) } else { (other, self) };
        if small.m == 0 {
            return large;
        }
        let (wide, e) = (u128::from(large.m) << 63, large.e - 63);
        let shift = large.e - small.e;
        let narrow = u128::from(small.m) << 63;
        let (narrow, lost) = match u32::try_from(shift) {
            Ok(shift) if shift < 127 => (narrow >> shift, narrow & ((1 << shift) - 1) != 0),
            _ => (0, true),
        };
        Float::rounded(wide + narrow, e, lost, round)
    }

    fn cmp(&self, other: &Float) -> Ordering {
        match (self.m, other.m) {
            (0, 0) => Ordering::Equal,
            (0, _) => Ordering::Less,
            (_, 0) => Ordering::Greater,
            _ => self.e.cmp(&other.e).then(self.m.cmp(&other.m)),
        }
    }
}

/// A non-negative number, known up to rounding.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    low: Float,
    high: Float,
}

impl Bounds {
    /// Exactly 0.
    pub const ZERO: Bounds = Bounds { low: Float::ZERO, high: Float::ZERO };
    /// Exactly 1.
    pub const ONE: Bounds = Bounds { low: Float::ONE, high: Float::ONE };

    /// Returns the product with the fraction `over / under`.
    ///
    /// # Panics
    /// If `under` is 0.
    #[must_use]
    pub fn times(self, over: u64, under: u64) -> Bounds {
        assert!(under != 0, "a fraction with 0 below");
        let [over, under] = [over, under].map(|x| Float::rounded(x.into(), 0, false, Round::Down));
        Bounds {
            low: self.low.mul(over, Round::Down).div(under, Round::Down),
            high: self.high.mul(over, Round::Up).div(under, Round::Up),
        }
    }

    /// Returns the exact product with 2^power.
    #[must_use]
    pub fn shifted(self, power: i64) -> Bounds {
        let shift = |x: Float| if x.m == 0 { x } else { Float { e: x.e + power, ..x } };
        Bounds { low: shift(self.low), high: shift(self.high) }
    }

    /// Returns the number, or 1 if the number is larger.
    #[must_use]
    pub fn at_most_one(self) -> Bounds {
        let clip = |x: Float| if x.cmp(&Float::ONE).is_gt() { Float::ONE } else { x };
        Bounds { low: clip(self.low), high: clip(self.high) }
    }

    /// Compares two numbers; `None` if their intervals do not decide.
    pub fn compare(&self, other: &Bounds) -> Option<Ordering> {
        let exact = |x: &Bounds| x.low == x.high;
        if self.high.cmp(&other.low).is_lt() {
            Some(Ordering::Less)
        } else if self.low.cmp(&other.high).is_gt() {
            Some(Ordering::Greater)
        } else if exact(self) && exact(other) && self.low == other.low {
            Some(Ordering::Equal)
        } else {
            None
        }
    }

    /// Whether the number is at most `other`; `None` if the intervals do not decide.
    pub fn at_most(&self, other: &Bounds) -> Option<bool> {
        if self.high.cmp(&other.low).is_le() {
            Some(true)
        } else if self.low.cmp(&other.high).is_gt() {
            Some(false)
        } else {
            None
        }
    }
}

impl Mul for Bounds {
    type Output = Bounds;

    fn mul(self, other: Bounds) -> Bounds {
        Bounds {
            low: self.low.mul(other.low, Round::Down),
            high: self.high.mul(other.high, Round::Up),
        }
    }
}

impl Add for Bounds {
    type Output = Bounds;

    fn add(self, other: Bounds) -> Bounds {
        Bounds {
            low: self.low.add(other.low, Round::Down),
            high: self.high.add(other.high, Round::Up),
        }
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use symbolon_primitives::{Block, Prg};

    use super::*;

    impl Float {
        fn log2(self) -> f64 {
            (self.m as f64).log2() + self.e as f64
        }
    }

    impl Bounds {
        /// Returns log2 of the upper bound.
        pub(crate) fn log2(&self) -> f64 {
            self.high.log2()
        }
    }

    /// Whether the interval contains over/under.
    fn holds(x: &Bounds, over: &BigUint, under: &BigUint) -> bool {
        let side = |float: Float| {
            // Compares m·2^e·under with over, both shifted so that no exponent is negative.
            let (left, right) = (under * float.m, over.clone());
            if float.e >= 0 {
                (left << float.e as u64).cmp(&right)
            } else {
                left.cmp(&(right << (-float.e) as u64))
            }
        };
        side(x.low).is_le() && side(x.high).is_ge()
    }

    #[test]
    fn the_true_value_lies_between() {
        let mut prg = Prg::from_seed(Block(1));
        for _ in 0..300 {
            let (mut x, mut sum) = (Bounds::ONE, Bounds::ZERO);
            let (mut over, mut under) = (BigUint::from(1u8), BigUint::from(1u8));
            let (mut sum_over, mut sum_under) = (BigUint::from(0u8), BigUint::from(1u8));
            for _ in 0..12 {
                let small = |prg: &mut Prg| {
                    let bits = prg.below(64);
                    prg.u64() >> bits | 1
                };
                let (a, b) = (small(&mut prg), small(&mut prg));
                x = x.times(a, b);
                (over, under) = (over * a, under * b);
                sum = sum + x;
                sum_over = &sum_over * &under + &over * &sum_under;
                sum_under *= &under;
                assert!(holds(&x, &over, &under));
                assert!(holds(&sum, &sum_over, &sum_under));
                assert!(holds(&(x * sum), &(&over * &sum_over), &(&under * &sum_under)));
            }
            let width = x.high.log2() - x.low.log2();
            assert!((0.0..1e-12).contains(&width), "{width}");
        }
    }

    #[test]
    fn rounding_goes_outwards() {
        let third = Bounds::ONE.times(1, 3);
        assert!(third.low.cmp(&third.high).is_lt());
        assert!(holds(&third, &1u8.into(), &3u8.into()));
        // Three times a third is not known to be 1, nor to differ from 1.
        assert_eq!(third.times(3, 1).compare(&Bounds::ONE), None);
        assert_eq!(third.times(3, 1).at_most(&Bounds::ONE), None);
        assert_eq!(third.at_most(&Bounds::ONE), Some(true));
        assert_eq!(third.times(4, 1).at_most(&Bounds::ONE), Some(false));
        assert_eq!(
            Bounds::ONE.times(6, 2).times(1, 3).compare(&Bounds::ONE),
            Some(Ordering::Equal)
        );
        assert_eq!(Bounds::ONE.at_most(&Bounds::ONE), Some(true));
        assert_eq!(Bounds::ZERO.compare(&third), Some(Ordering::Less));
        assert_eq!(Bounds::ONE.shifted(3).compare(&Bounds::ONE.times(8, 1)), Some(Ordering::Equal));
        assert_eq!(third.times(7, 1).at_most_one().compare(&Bounds::ONE), Some(Ordering::Equal));
        // A much smaller term still counts.
        let sum = Bounds::ONE + Bounds::ONE.shifted(-1000);
        assert_eq!((sum.at_most(&Bounds::ONE), sum.low), (None, Float::ONE));
    }
}
