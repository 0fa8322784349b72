//! The columns of the papers' tables, and what each is in our measurements.

use serde::{Deserialize, Serialize};
use symbolon::{DEPENDENT, INDEPENDENT, ONLINE, STREAMED};

use crate::measure::result::Measured;
use crate::measure::spread::Spread;

/// A quantity and its unit. Circuits' are for one evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Column {
    /// Time of the function-independent phase.
    #[serde(rename = "independent ms")]
    IndependentTime,
    /// Time of the function-dependent phase.
    #[serde(rename = "dependent ms")]
    DependentTime,
    /// Both of these, where the table has one figure for them.
    #[serde(rename = "offline ms")]
    OfflineTime,
    /// Time of the online phase.
    #[serde(rename = "online ms")]
    OnlineTime,
    /// Time of all three phases.
    #[serde(rename = "total ms")]
    TotalTime,
    /// Time of all three phases for each AND gate.
    #[serde(rename = "each us")]
    EachTime,
    /// Bytes of the function-independent phase.
    #[serde(rename = "independent MB")]
    IndependentBytes,
    /// Bytes of the function-dependent phase.
    #[serde(rename = "dependent MB")]
    DependentBytes,
    /// Bytes of both.
    #[serde(rename = "offline MB")]
    OfflineBytes,
    /// Bytes of the online phase.
    #[serde(rename = "online MB")]
    OnlineMegabytes,
    /// The same, where they are fewer.
    #[serde(rename = "online kB")]
    OnlineKilobytes,
    /// Time of a triple.
    #[serde(rename = "triple ns")]
    TripleNanoseconds,
    /// The same, where it takes longer.
    #[serde(rename = "triple us")]
    TripleMicroseconds,
    /// Bytes of a triple from one party to one other.
    #[serde(rename = "triple bytes")]
    TripleBytes,
    /// The most memory that a party's process took.
    #[serde(rename = "memory GB")]
    Memory,
    /// Time online of an evaluation that is the only one in its run.
    #[serde(rename = "alone ms")]
    Alone,
    /// Time online of one among many that run side by side.
    #[serde(rename = "among many us")]
    AmongMany,
    /// Size of what is prepared for one evaluation, which `bench` does not measure.
    #[serde(rename = "prepared KiB")]
    Prepared,
}

impl Column {
    /// Returns its name with its unit.
    pub fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        let name = name.and_then(|name| name.as_str().map(String::from)).unwrap_or_default();
        name.replace(" us", " µs")
    }

    /// Returns this quantity of the measurements of a circuit or of triples, if they have it.
    ///
    /// `sender` is the party whose bytes count; without one, they are the most that any sent.
    pub fn of(self, measured: &[Measured], sender: Option<usize>) -> Option<Spread> {
        let row = Row { measured, sender };
        let (offline, all) = ([INDEPENDENT, DEPENDENT], [INDEPENDENT, DEPENDENT, ONLINE]);
        match self {
            Column::IndependentTime => row.seconds(&[INDEPENDENT]).map(times(1e3)),
            Column::DependentTime => row.seconds(&[DEPENDENT]).map(times(1e3)),
            Column::OfflineTime => row.seconds(&offline).map(times(1e3)),
            Column::OnlineTime => row.seconds(&[ONLINE]).map(times(1e3)),
            Column::TotalTime => row.seconds(&all).map(times(1e3)),
            Column::EachTime => {
                let circuit = row.circuit()?;
                (circuit.count > 0).then(|| times(1e6 / circuit.count as f64)(circuit.seconds))
            }
            Column::IndependentBytes => row.bytes(&[INDEPENDENT]).map(times(1e-6)),
            Column::DependentBytes => row.bytes(&[DEPENDENT]).map(times(1e-6)),
            Column::OfflineBytes => row.bytes(&offline).map(times(1e-6)),
            Column::OnlineMegabytes => row.bytes(&[ONLINE]).map(times(1e-6)),
            Column::OnlineKilobytes => row.bytes(&[ONLINE]).map(times(1e-3)),
            Column::TripleNanoseconds => row.triple().map(times(1e9)),
            Column::TripleMicroseconds => row.triple().map(times(1e6)),
            Column::TripleBytes => row.triples().map(|triples| same(triples.bytes_each)),
            Column::Memory => {
                let peaks = measured.iter().filter_map(|one| one.peak_memory);
                peaks.max().map(|peak| same(peak as f64 / 1e9))
            }
            Column::Alone => row.online(|batch| batch == 1).map(times(1e3)),
            Column::AmongMany => row.online(|batch| batch > 1).map(times(1e6)),
            Column::Prepared => None,
        }
    }
}

/// Converts figures to another unit.
fn times(factor: f64) -> impl Fn(Spread) -> Spread {
    move |Spread { least, median, most }| Spread {
        least: least * factor,
        median: median * factor,
        most: most * factor,
    }
}

fn same(figure: f64) -> Spread {
    Spread { least: figure, median: figure, most: figure }
}

/// The measurements for a row: a circuit, triples, or triples for a circuit, which then are its
/// function-independent phase.
struct Row<'m> {
    measured: &'m [Measured],
    sender: Option<usize>,
}

impl<'m> Row<'m> {
    fn circuit(&self) -> Option<&'m Measured> {
        self.measured.iter().find(|one| one.protocol.is_some())
    }

    fn triples(&self) -> Option<&'m Measured> {
        self.measured.iter().find(|one| one.protocol.is_none())
    }

    /// Returns seconds per triple.
    fn triple(&self) -> Option<Spread> {
        let triples = self.triples().filter(|triples| triples.count > 0)?;
        Some(times(1.0 / triples.count as f64)(triples.seconds))
    }

    /// Returns the measurement that has the phase, and how many evaluations it covers.
    fn phase(&self, phase: &str) -> Option<(&'m Measured, f64)> {
        let circuit = self.circuit()?;
        match self.triples() {
            Some(triples) if phase == INDEPENDENT && triples.count > 0 => {
                let gates = circuit.count as f64 / circuit.batch as f64;
                Some((triples, triples.count as f64 / gates))
            }
            _ => Some((circuit, circuit.batch as f64)),
        }
    }

    /// Returns the sum of these phases' figures for one evaluation; the streamed phase is all of
    /// them. `None` if none of the phases was run.
    fn sum(
        &self,
        phases: &[&str],
        of: impl Fn(&Measured, &str) -> Option<Spread>,
    ) -> Option<Spread> {
        let all = [INDEPENDENT, DEPENDENT, ONLINE];
        let streamed = if phases == all { &[STREAMED][..] } else { &[] };
        let each = phases.iter().chain(streamed).filter_map(|phase| {
            let (measured, evaluations) = self.phase(phase)?;
            of(measured, phase).map(times(1.0 / evaluations))
        });
        each.reduce(|a, b| Spread {
            least: a.least + b.least,
            median: a.median + b.median,
            most: a.most + b.most,
        })
    }

    fn seconds(&self, phases: &[&str]) -> Option<Spread> {
        self.sum(phases, |measured, name| {
            let mut phases = measured.phases.iter();
            phases.find(|phase| phase.phase == name).map(|phase| phase.seconds)
        })
    }

    /// Returns seconds online per evaluation, measured with this many of them in a run.
    fn online(&self, batch: impl Fn(u64) -> bool) -> Option<Spread> {
        let measured = self.measured.iter().find(|one| batch(one.batch))?;
        Row { measured: std::slice::from_ref(measured), ..*self }.seconds(&[ONLINE])
    }

    fn bytes(&self, phases: &[&str]) -> Option<Spread> {
        self.sum(phases, |measured, name| {
            let of = |party: usize| {
                let mut phases = measured.costs.get(party)?.phases.iter();
                phases.find(|phase| phase.phase == name).map(|phase| phase.bytes_sent)
            };
            let sent = match self.sender {
                Some(party) => of(party),
                None => (0..measured.costs.len()).filter_map(of).max(),
            };
            sent.map(|sent| same(sent as f64))
        })
    }
}
