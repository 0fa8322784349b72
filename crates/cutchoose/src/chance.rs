//! The chances P(t), Q(t) and W(t) of an adversary with t bad objects: bounds, and exact fractions
//! where the bounds do not decide. [`games`](crate::games) has the formulas.

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

/// The chance that an adversary may have: 2^-rho / games.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub games: u64,
    pub rho: u32,
    /// Whether the bound is on all tries together, W, or on a single one, P.
    pub all_tries: bool,
}

/// P, Q and W as fractions of the same whole.
struct Exact {
    win: BigUint,
    unnoticed: BigUint,
    whole: BigUint,
}

/// P, Q and W, for a fixed number of objects.
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
        self.win_and_unnoticed(t)[0]
    }

    /// Returns bounds on P(t) and on Q(t), for t up to L.
    pub fn win_and_unnoticed(&mut self, t: u64) -> [Bounds; 2] {
        if t > self.most() {
            return [Bounds::ZERO; 2];
        }
        let (kept, opened) = (self.buckets.kept, self.opened());
        // The chance that as few of the t bad objects as possible are opened: C(U, t)/C(L, t) if
        // t ≤ U, else C(t, U)/C(L, U).
        let mut v = t.min(kept);
        let larger = t.max(kept);
        let first = (0..v).fold(Bounds::ONE, |x, i| x.times(larger - i, self.objects - i));
        if !self.half {
            return [first * self.buckets.win(t), first];
        }
        let mut chance = first.shifted(-((t - v) as i64));
        let mut win = chance * self.buckets.win(v);
        let mut unnoticed = chance;
        while v > 0 && t - v < opened {
            // The chance that one more bad object is opened.
            chance = chance.times(v, kept - v + 1).times(opened - (t - v), t - v + 1).shifted(-1);
            v -= 1;
            unnoticed = unnoticed + chance;
            if v >= self.buckets.spoil {
                win = win + chance * self.buckets.win(v);
            }
        }
        [win, unnoticed]
    }

    fn exact(&self, t: u64) -> Exact {
        let (kept, opened) = (self.buckets.kept, self.opened());
        let ways = binomial(kept, self.buckets.bucket);
        let whole = binomial(self.objects, t) * &ways;
        if !self.half {
            let unseen = if t > kept { BigUint::ZERO } else { binomial(kept, t) };
            let win = &unseen * self.buckets.exact_win(t.min(kept), &ways);
            return Exact { win, unnoticed: unseen * ways, whole };
        }
        let mut exact = Exact { win: BigUint::ZERO, unnoticed: BigUint::ZERO, whole: whole << t };
        for v in t.saturating_sub(opened)..=t.min(kept) {
            let term = (binomial(kept, v) * binomial(opened, t - v)) << v;
            exact.win += &term * self.buckets.exact_win(v, &ways);
            exact.unnoticed += term * &ways;
        }
        exact
    }

    /// Returns the first t found with which the adversary's chance is above the limit; `None` if
    /// there is none. `hint` is a t to try first.
    pub fn above(&mut self, limit: Limit, hint: u64) -> Option<u64> {
        if hint > 0 && !self.is_small(hint, limit) {
            return Some(hint);
        }
        let peak = self.peak(hint);
        if !self.is_small(peak, limit) {
            return Some(peak);
        }
        if !limit.all_tries {
            return None;
        }
        // Beyond the peak, P and Q both fall. Before it, P(b) and Q(a) bound W for all t from a to
        // b. Where they are too large together, halves of the interval decide.
        let mut rest = vec![(self.buckets.spoil, peak)];
        while let Some((a, b)) = rest.pop() {
            if a == b && !self.is_small(a, limit) {
                return Some(a);
            }
            if a < b && self.bounded(limit, a, b) != Some(true) {
                let middle = a.midpoint(b);
                rest.extend([(a, middle), (middle + 1, b)]);
            }
        }
        None
    }

    /// Whether P(t), or W(t) for all tries, is within the limit.
    fn is_small(&mut self, t: u64, limit: Limit) -> bool {
        self.bounded(limit, t, t).unwrap_or_else(|| {
            let Exact { win, unnoticed, whole } = self.exact(t);
            let scaled = (&win * limit.games) << limit.rho;
            match limit.all_tries {
                true => scaled + unnoticed <= whole + win,
                false => scaled <= whole,
            }
        })
    }

    /// Whether all of P, or of W for all tries, from t = `a` to t = `b` are within the limit, if P
    /// is at most P(b) there; `None` if the bounds do not decide. P(b) and Q(a) decide for all
    /// tries, so no for a < b means nothing.
    fn bounded(&mut self, limit: Limit, a: u64, b: u64) -> Option<bool> {
        let [win, mut unnoticed] = self.win_and_unnoticed(b);
        let scaled = win.times(limit.games, 1).shifted(limit.rho.into());
        if !limit.all_tries {
            return scaled.at_most(&Bounds::ONE);
        }
        if a != b {
            unnoticed = self.win_and_unnoticed(a)[1];
        }
        (scaled + unnoticed).at_most(&(Bounds::ONE + win))
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
            let (here, next) = (self.exact(t), self.exact(t + 1));
            (next.win * here.whole).cmp(&(here.win * next.whole))
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
        let log2 = |x: &BigUint| x.to_string().parse::<f64>().unwrap().log2();
        let near = |x: f64, y: f64| x == y || (x - y).abs() < 1e-9;
        let mut best = (first, chance.exact(first));
        let mut all = Vec::new();
        for t in first..=last {
            let exact = chance.exact(t);
            let whole = log2(&exact.whole);
            let [win, unnoticed] = chance.win_and_unnoticed(t).map(|bounds| bounds.log2());
            assert!(near(log2(&exact.win) - whole, win), "{win}");
            assert!(near(log2(&exact.unnoticed) - whole, unnoticed), "{unnoticed}");
            if &exact.win * &best.1.whole > &best.1.win * &exact.whole {
                best = (t, chance.exact(t));
            }
            all.push((t, exact));
        }
        for hint in [0, first, best.0, last / 2, last, 1_000_000] {
            assert_eq!(chance.peak(hint), best.0, "t from {hint}");
        }
        limits(chance, &all);
    }

    /// A limit holds if and only if it holds for every t by exact fractions, whatever is tried
    /// first.
    fn limits(chance: &mut Chance<'_>, all: &[(u64, Exact)]) {
        for (games, rho) in [(1, 1), (3, 1), (1, 3), (5, 4), (1, 9), (7, 20)] {
            let is_above = |all_tries: bool, exact: &Exact| {
                let scaled = (&exact.win * games) << rho;
                match all_tries {
                    // W = P / (1 − Q + P), without a win 0.
                    true => scaled > &exact.whole - &exact.unnoticed + &exact.win,
                    false => scaled > exact.whole,
                }
            };
            for all_tries in [false, true] {
                let limit = Limit { games, rho, all_tries };
                let above: Vec<u64> = all
                    .iter()
                    .filter_map(|(t, exact)| is_above(all_tries, exact).then_some(*t))
                    .collect();
                for hint in [0, all[0].0, all[all.len() / 2].0] {
                    let found = chance.above(limit, hint);
                    assert_eq!(found.is_some(), !above.is_empty(), "{limit:?}");
                    assert!(found.is_none_or(|t| above.contains(&t)), "{limit:?} {found:?}");
                }
            }
        }
    }
}
