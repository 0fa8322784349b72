//! Exact binomial tests of whether something happened as often as predicted.

use super::table;

/// How often something happened in independent runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rate {
    /// The runs in which it happened.
    pub hits: u64,
    /// All runs.
    pub runs: u64,
}

impl FromIterator<bool> for Rate {
    fn from_iter<T: IntoIterator<Item = bool>>(hits: T) -> Self {
        let mut rate = Rate::default();
        hits.into_iter().for_each(|hit| rate.note(hit));
        rate
    }
}

impl Rate {
    /// A test rejects a true hypothesis with at most this probability.
    pub const SIGNIFICANCE: f64 = 1e-6;

    /// Counts a run.
    pub fn note(&mut self, hit: bool) {
        self.hits += u64::from(hit);
        self.runs += 1;
    }

    /// Returns the measured rate.
    pub fn measured(self) -> f64 {
        self.hits as f64 / self.runs.max(1) as f64
    }

    /// Returns the probabilities of at most and of at least this many hits, if each run hits with
    /// probability `p`.
    pub fn tails(self, p: f64) -> (f64, f64) {
        let Rate { hits, runs } = self;
        if p <= 0.0 || p >= 1.0 {
            let sure = if p <= 0.0 { 0 } else { runs };
            return (f64::from(u8::from(hits >= sure)), f64::from(u8::from(hits <= sure)));
        }
        let (k, n) = (hits as f64, runs as f64);
        let point = (ln_choose(hits, runs) + k * p.ln() + (n - k) * (-p).ln_1p()).exp();
        let odds = p / (1.0 - p);
        // The sum runs away from the most probable number, where the terms decrease.
        if k <= n * p {
            let lower = sum(point, (0..hits).rev().map(|j| (j + 1) as f64 / (n - j as f64) / odds));
            (lower, 1.0 - lower + point)
        } else {
            let upper = sum(point, (hits..runs).map(|j| (n - j as f64) / (j + 1) as f64 * odds));
            (1.0 - upper + point, upper)
        }
    }

    /// Returns the probability of a number at least as unlikely as this one, on either side, if
    /// each run hits with probability `p`.
    pub fn two_sided(self, p: f64) -> f64 {
        let (lower, upper) = self.tails(p);
        (2.0 * lower.min(upper)).min(1.0)
    }

    /// Asserts that the rate may be `p`.
    #[track_caller]
    pub fn assert_is(self, p: f64) {
        let chance = self.two_sided(p);
        assert!(chance >= Self::SIGNIFICANCE, "{self:?} is not {p}: a chance of {chance:e}");
    }

    /// Asserts that the rate may be `p`, and writes a table row if one was requested (see
    /// [`note_caught`](super::note_caught)): the test and `what`, in a few words; the predicted
    /// rate, runs, hits, the measured rate, and its two-sided probability.
    ///
    /// # Panics
    /// Also if the row cannot be written.
    #[track_caller]
    pub fn assert_predicted(self, p: f64, what: &str) {
        let test = table::test();
        table::line(|| self.row(p, &format!("`{test}`: {what}")));
        self.assert_is(p);
    }

    fn row(self, p: f64, name: &str) -> String {
        let Rate { hits, runs } = self;
        let (measured, chance) = (self.measured(), self.two_sided(p));
        format!("| {name} | {p:.6} | {runs} | {hits} | {measured:.6} | {chance:.3} |\n")
    }

    /// Asserts that this many runs distinguish a rate `q` from the rate `p`: if each run hit with
    /// probability `q`, [`assert_is`](Self::assert_is) would reject `p` in 99 of 100 cases. This
    /// depends only on the number of runs, so it holds always or never.
    #[track_caller]
    pub fn assert_tells(self, p: f64, q: f64) {
        let (runs, chance) = (self.runs, self.mistaken(p, q));
        assert!(chance <= 0.01, "{runs} runs at {q} may pass for {p}: a chance of {chance:e}");
    }

    /// Returns the probability that [`assert_is`](Self::assert_is) accepts `p` for this many runs,
    /// if each hits with probability `q`.
    fn mistaken(self, p: f64, q: f64) -> f64 {
        if q < p {
            return self.mistaken(1.0 - p, 1.0 - q);
        }
        let of = |hits| Rate { hits, ..self };
        // Searches the largest accepted number, between the most probable one and all runs.
        let (mut most, mut refused) = ((p * self.runs as f64) as u64, self.runs + 1);
        while refused - most > 1 {
            let hits = most.midpoint(refused);
            let accepted = of(hits).two_sided(p) >= Self::SIGNIFICANCE;
            *(if accepted { &mut most } else { &mut refused }) = hits;
        }
        of(most).tails(q).0
    }

    /// Asserts that the rate may be at most `p`.
    #[track_caller]
    pub fn assert_at_most(self, p: f64) {
        let (_, chance) = self.tails(p);
        assert!(chance >= Self::SIGNIFICANCE, "{self:?} is above {p}: a chance of {chance:e}");
    }

    /// Returns the probability of a difference at least this large if both rates are the same,
    /// whatever the rate: Fisher's exact test, two-sided.
    pub fn same(self, other: Rate) -> f64 {
        let (hits, runs) = (self.hits + other.hits, self.runs + other.runs);
        // The probability that `k` of all runs with a hit are ours.
        let ln_point = |k: u64| {
            ln_choose(k, self.runs) + ln_choose(hits - k, other.runs) - ln_choose(hits, runs)
        };
        let possible = hits.saturating_sub(other.runs)..=hits.min(self.runs);
        // At most as likely as the observed number, up to rounding.
        let limit = ln_point(self.hits) + 1e-9;
        possible.map(ln_point).filter(|point| *point <= limit).map(f64::exp).sum::<f64>().min(1.0)
    }
}

/// Sums the first term and the terms that follow from it by these ratios, until they are
/// negligible.
fn sum(first: f64, ratios: impl Iterator<Item = f64>) -> f64 {
    let terms = ratios.scan(first, |term, ratio| {
        *term *= ratio;
        Some(*term)
    });
    first + terms.take_while(|term| *term > first * 1e-18).sum::<f64>()
}

/// Returns ln C(n, k).
fn ln_choose(k: u64, n: u64) -> f64 {
    let k = k.min(n - k);
    (0..k).map(|i| ((n - i) as f64 / (i + 1) as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-9 * b.abs(), "{a:e}, expected {b:e}");
    }

    #[test]
    fn tails_of_ten_coins() {
        // C(10, k) of 1024: 1, 10, 45, 120, 210, 252, ...
        for (hits, lower, upper) in [(0, 1, 1024), (2, 56, 1013), (5, 638, 638), (10, 1024, 1)] {
            let (l, u) = Rate { hits, runs: 10 }.tails(0.5);
            assert_near(l, f64::from(lower) / 1024.0);
            assert_near(u, f64::from(upper) / 1024.0);
        }
        assert_near(Rate { hits: 2, runs: 10 }.two_sided(0.5), 112.0 / 1024.0);
    }

    /// The expected values are sums of exact fractions, computed by a program in another language.
    #[test]
    fn tails_of_many_runs() {
        let rate = |hits, runs| Rate { hits, runs };
        assert_near(rate(60, 4000).tails(0.0275).0, TAILS[0]);
        assert_near(rate(170, 4000).tails(0.0275).1, TAILS[1]);
        assert_near(rate(3, 100_000).tails(2f64.powi(-12)).0, TAILS[2]);
    }

    const TAILS: [f64; 3] = [9.591498676268857e-08, 4.3599471979691337e-08, 6.842925281966374e-08];

    #[test]
    fn certain_rates() {
        let never: Rate = [false; 7].into_iter().collect();
        never.assert_is(0.0);
        never.assert_tells(0.0, 1.0);
        let always = Rate { hits: 7, ..never };
        always.assert_is(1.0);
        always.assert_tells(1.0, 0.0);
        never.assert_at_most(0.1);
    }

    #[test]
    fn a_test_tells_a_half_from_a_quarter() {
        let rate = Rate { hits: 100, runs: 200 };
        rate.assert_is(0.5);
        rate.assert_at_most(0.5);
        for q in [0.25, 0.75] {
            rate.assert_tells(0.5, q);
        }
    }

    /// The expected values are sums over all accepted numbers, computed by a program in another
    /// language.
    #[test]
    fn runs_that_pass_for_another_rate() {
        let mistaken = |runs, p, q| Rate { hits: 0, runs }.mistaken(p, q);
        assert_near(mistaken(64, 0.5, 0.1), 0.009919964393703943);
        assert_near(mistaken(64, 0.5, 0.9), 0.009919964393703943);
        assert_near(mistaken(30, 0.1, 0.3), 0.959947452317867);
        assert_near(mistaken(200, 0.25, 0.0625), 0.00738393549121566);
    }

    #[test]
    fn a_row_of_the_table() {
        let row = Rate { hits: 2, runs: 10 }.row(0.5, "coins");
        assert_eq!(row, "| coins | 0.500000 | 10 | 2 | 0.200000 | 0.109 |\n");
    }

    #[test]
    fn fisher_s_tea() {
        // Three of four cups against one of four: (16 + 1 + 16 + 1) of C(8, 4) = 70.
        let (three, one) = (Rate { hits: 3, runs: 4 }, Rate { hits: 1, runs: 4 });
        assert_near(three.same(one), 34.0 / 70.0);
        assert_near(Rate { hits: 4, runs: 4 }.same(Rate { hits: 0, runs: 4 }), 2.0 / 70.0);
        assert_near(three.same(three), 1.0);
        assert!(Rate { hits: 64, runs: 64 }.same(Rate { hits: 0, runs: 64 }) < 1e-30);
    }
}
