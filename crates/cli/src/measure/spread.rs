//! Several measurements of one thing.

use serde::Serialize;

/// Several measurements of one thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The least.
    pub least: f64,
    /// The one in the middle; of an even number, the mean of the two.
    pub median: f64,
    /// The most.
    pub most: f64,
}

impl Spread {
    /// Returns the spread of values, or `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let half = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            1 => sorted[half],
            _ => (sorted[half - 1] + sorted[half]) / 2.0,
        };
        Some(Spread { least, median, most })
    }

    /// Formats `median (least – most)`, or the only value.
    pub fn show(&self, unit: impl Fn(f64) -> String) -> String {
        if self.least == self.most {
            return unit(self.median);
        }
        format!("{} ({} – {})", unit(self.median), unit(self.least), unit(self.most))
    }

    /// Returns how many there are per second, if `count` of them take this many seconds.
    pub fn rate(&self, count: u64) -> Spread {
        let rate = |seconds: f64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        Spread { least: rate(self.most), median: rate(self.median), most: rate(self.least) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_median_most() {
        let of = |values: &[f64]| Spread::of(values.iter().copied());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[3.0]), Some(Spread { least: 3.0, median: 3.0, most: 3.0 }));
        let three = of(&[9.0, 1.0, 2.0]).unwrap();
        assert_eq!((three.least, three.median, three.most), (1.0, 2.0, 9.0));
        assert_eq!(of(&[4.0, 1.0, 2.0, 9.0]).unwrap().median, 3.0);
        let rate = three.rate(18);
        assert_eq!((rate.least, rate.median, rate.most), (2.0, 9.0, 18.0));
        assert_eq!(three.show(|x| x.to_string()), "2 (1 – 9)");
    }
}
