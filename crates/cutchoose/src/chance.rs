//! The chance P(t) that an adversary wins with t bad objects: bounds, and exact fractions where the
//! bounds do not decide. [`games`](crate::games) has the formulas.

use std::cmp::Ordering;

use num_bigint::BigUint;

use crate::bounds::Bounds;

/// g(v), the bound on the adversary's chance with v bad objects among those that are not opened.
pub(crate) struct BadBuckets {
    /// Objects in a bucket, α.
    bucket: u64,
    /// Bad objects that make a bucket bad, m.
    spoil: u64,
    /// All objects in buckets, U.
    kept: u64,
    /// The number of buckets of which one bad bucket is enough to win, f.
    factor: u64,
    /// g(m), g(m + 1), …, computed on demand.
    wins: Vec<Bounds>,
    /// H(v) for the last v in `wins`, and H(v + 1) − H(v).
    hit: Bounds,
    step: Bounds,
}

impl BadBuckets {
    /// Requires 1 ≤ spoil ≤ bucket ≤ kept.
    pub fn new(bucket: u64, spoil: u64, kept: u64, factor: u64) -> Self {
        debug_assert!(1 <= spoil && spoil <= bucket && bucket <= kept);
        // H(m) = C(U − m, α − m) / C(U, α), which is also H(m) − H(m − 1).
        let first = (0..spoil).fold(Bounds::ONE, |x, i| x.times(bucket - i, kept - i));
        let mut buckets =
            BadBuckets { bucket, spoil, kept, factor, wins: Vec::new(), hit: first, step: first };
        buckets.step = buckets.next_step(spoil - 1);
        buckets.wins.push(buckets.last_win());
        buckets
    }

    /// Returns H(v + 2) − H(v + 1), if `step` is H(v + 1) − H(v) = C(v, m − 1)·C(U − 1 − v,
    /// α − m) / C(U, α).
    fn next_step(&self, v: u64) -> Bounds {
        let BadBuckets { bucket, spoil, kept, .. } = *self;
        let good = kept - 1 - v;
        if good == 0 {
            return Bounds::ZERO;
        }
        let fewer = good.saturating_sub(bucket - spoil);
        self.step.times(v + 1, v + 2 - spoil).times(fewer, good)
    }

    fn last_win(&self) -> Bounds {
        self.hit.times(self.factor, 1).at_most_one()
    }

    /// Returns g(v), for v ≤ U.
    fn win(&mut self, v: u64) -> Bounds {
        debug_assert!(v <= self.kept);
        let Some(at) = v.checked_sub(self.spoil) else { return Bounds::ZERO };
        while self.wins.len() as u64 <= at {
            let next = self.spoil + self.wins.len() as u64;
            self.hit = self.hit + self.step;
            if next < self.kept {
                self.step = self.next_step(next - 1);
            }
            self.wins.push(self.last_win());
        }
        self.wins[at as usize]
    }

    /// Returns g(v)·C(U, α).
    fn exact_win(&self, v: u64, all: &BigUint) -> BigUint {
        let BadBuckets { bucket, spoil, kept, factor, .. } = *self;
        let ways = |bad| binomial(v, bad) * binomial(kept - v, bucket - bad);
        let sum: BigUint = (spoil..=bucket.min(v)).map(ways).sum();
        (sum * factor).min(all.clone())
    }
}

/// P, for a fixed number of objects.
pub(crate) struct Chance<'a> {
    pub buckets: &'a mut BadBuckets,
    /// All objects, L.
    pub objects: u64,
    /// Whether an opened bad object is noticed with probability 1/2 only.
    pub half: bool,
}

impl Chance<'_> {
    fn opened(&self) -> u64 {
        self.objects - self.buckets.kept
    }

    /// Returns the largest t with which the adversary can win.
    fn most(&self) -> u64 {
        if self.half { self.objects } else { self.buckets.kept }
    }

    /// Returns bounds on P(t), for t up to L.
    pub fn bounds(&mut self, t: u64) -> Bounds {
        if t > self.most() {
            return Bounds::ZERO;
        }
        let (kept, opened) = (self.buckets.kept, self.opened());
        // The chance that as few of the t bad objects as possible are opened: C(U, t)/C(L, t) if
        // t ≤ U, else C(t, U)/C(L, U).
        let mut v = t.min(kept);
        let larger = t.max(kept);
        let first = (0..v).fold(Bounds::ONE, |x, i| x.times(larger - i, self.objects - i));
        if !self.half {
            return first * self.buckets.win(t);
        }
        let mut chance = first.shifted(-((t - v) as i64));
        let mut sum = chance * self.buckets.win(v);
        while v > self.buckets.spoil && t - v < opened {
            // The chance that one more bad object is opened.
            chance = chance.times(v, kept - v + 1).times(opened - (t - v), t - v + 1).shifted(-1);
            v -= 1;
            sum = sum + chance * self.buckets.win(v);
        }
        sum
    }

    /// Returns P(t) as a fraction.
    pub fn exact(&self, t: u64) -> (BigUint, BigUint) {
        let (kept, opened) = (self.buckets.kept, self.opened());
        let ways = binomial(kept, self.buckets.bucket);
        let all = binomial(self.objects, t) * &ways;
        if !self.half {
            let unseen = if t > kept { BigUint::ZERO } else { binomial(kept, t) };
            return (unseen * self.buckets.exact_win(t.min(kept), &ways), all);
        }
        let term = |v: u64| {
            let wins = self.buckets.exact_win(v, &ways);
            (binomial(kept, v) * binomial(opened, t - v) * wins) << v
        };
        let least = t.saturating_sub(opened).max(self.buckets.spoil);
        ((least..=t.min(kept)).map(term).sum(), all << t)
    }

    /// Whether P(t)·games ≤ 2^-rho.
    pub fn is_small(&mut self, t: u64, games: u64, rho: u32) -> bool {
        let scaled = self.bounds(t).times(games, 1).shifted(rho.into());
        scaled.is_at_most_one().unwrap_or_else(|| {
            let (over, under) = self.exact(t);
            (over * games) << rho <= under
        })
    }

    /// Whether P(t + 1) > P(t).
    fn rises(&mut self, t: u64) -> bool {
        if t >= self.most() {
            return false;
        }
        let (here, next) = if self.half {
            (self.bounds(t), self.bounds(t + 1))
        } else {
            // P(t + 1)/P(t) = (U − t)/(L − t) · g(t + 1)/g(t), so the products over all t are not
            // needed.
            let (kept, objects) = (self.buckets.kept, self.objects);
            (self.buckets.win(t), self.buckets.win(t + 1).times(kept - t, objects - t))
        };
        let order = next.compare(&here).unwrap_or_else(|| {
            let ((a, b), (c, d)) = (self.exact(t), self.exact(t + 1));
            (c * b).cmp(&(a * d))
        });
        order == Ordering::Greater
    }

    /// Returns the t with the largest P, searching from `hint`. P is log-concave.
    pub fn peak(&mut self, hint: u64) -> u64 {
        let mut low = self.buckets.spoil;
        let hint = hint.clamp(low, self.most());
        let mut high = self.most();
        let mut step = 1;
        // P rises just below `low` and does not at `high`.
        if self.rises(hint) {
            low = hint + 1;
            while low + step < high {
                if !self.rises(low + step) {
                    high = low + step;
                    break;
                }
                low += step + 1;
                step *= 2;
            }
        } else {
            high = hint;
            while high - low >= step {
                if self.rises(high - step) {
                    low = high - step + 1;
                    break;
                }
                high -= step;
                step *= 2;
            }
        }
        while low < high {
            let middle = low.midpoint(high);
            if self.rises(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// Returns C(n, k).
fn binomial(n: u64, k: u64) -> BigUint {
    if k > n {
        return BigUint::ZERO;
    }
    let k = k.min(n - k);
    (0..k).fold(BigUint::from(1u8), |x, i| x * (n - i) / (i + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomials() {
        assert_eq!(binomial(10, 3), 120u8.into());
        assert_eq!(binomial(10, 10), 1u8.into());
        assert_eq!(binomial(3, 4), BigUint::ZERO);
        assert_eq!(binomial(64, 32), 1_832_624_140_942_590_534u64.into());
    }

    /// In many small games the bounds contain the exact fraction, and the peak is the maximum over
    /// all t.
    #[test]
    fn bounds_and_peaks_are_those_of_exact_fractions() {
        let mut games = 0;
        for half in [false, true] {
            for bucket in 1..=5u64 {
                for spoil in 1..=bucket {
                    for (n, factor) in [(1, 1), (3, 3), (5, 1), (2, 7)] {
                        for opened in [1, 2, 7, 20] {
                            games += 1;
                            let kept = n * bucket;
                            let mut buckets = BadBuckets::new(bucket, spoil, kept, factor);
                            let objects = kept + opened;
                            let mut chance = Chance { buckets: &mut buckets, objects, half };
                            check(&mut chance);
                        }
                    }
                }
            }
        }
        assert_eq!(games, 2 * 15 * 16);
    }

    fn check(chance: &mut Chance<'_>) {
        let (first, last) = (chance.buckets.spoil, chance.objects);
        let mut best = (first, chance.exact(first));
        for t in first..=last {
            let (over, under) = chance.exact(t);
            let log2 = |x: &BigUint| x.to_string().parse::<f64>().unwrap().log2();
            let (exact, bounds) = (log2(&over) - log2(&under), chance.bounds(t).log2());
            assert!(exact == bounds || (exact - bounds).abs() < 1e-9, "{exact} {bounds}");
            if &over * &best.1.1 > &best.1.0 * &under {
                best = (t, (over, under));
            }
        }
        for hint in [0, first, best.0, last / 2, last, 1_000_000] {
            assert_eq!(chance.peak(hint), best.0, "t from {hint}");
        }
    }
}
