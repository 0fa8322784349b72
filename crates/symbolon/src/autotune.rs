//! Choices that follow from the link: the form of garbling and the OT extension.
//!
//! All choices are equally secure. The rules are integer functions of numbers that all parties
//! share, so all parties reach the same result; `docs/reference/measurements.md` has the
//! measurements on which the rules are based.

use symbolon_protocols::{GateForm, OtExtension, Protocol, Rho, TreeDepth};
use symbolon_transport::LinkSpeed;

/// How a session garbles and makes its correlated OTs, and whether these choices followed from the
/// link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The form of garbling. There is only one form among more than two parties.
    pub form: GateForm,
    /// The OT extension.
    pub ot: OtExtension,
    /// Whether nobody asked for a form, so that the link decided.
    pub form_by_link: bool,
    /// Whether nobody asked for an OT extension, so that the link decided.
    pub ot_by_link: bool,
    /// The slowest link between any two parties; measured only if a choice depends on it.
    pub link: Option<LinkSpeed>,
}

/// The wishes of one party, or of all of them together; `None` leaves the choice to the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Preferences {
    pub form: Option<GateForm>,
    pub ot: Option<OtExtension>,
}

impl Preferences {
    /// Leaves both choices to the link.
    pub const NOTHING: Preferences = Preferences { form: None, ot: None };

    /// Returns these preferences, completed by `others`.
    pub fn or(self, others: Preferences) -> Preferences {
        Preferences { form: self.form.or(others.form), ot: self.ot.or(others.ot) }
    }

    /// Returns the choice if it does not depend on the link.
    pub fn settled(self) -> Option<Choice> {
        let Preferences { form: Some(form), ot: Some(ot) } = self else { return None };
        Some(Choice { form, ot, form_by_link: false, ot_by_link: false, link: None })
    }

    /// Returns the choice when `link` is the slowest link.
    pub fn over(self, link: LinkSpeed, work: Work) -> Choice {
        Choice {
            form: self.form.unwrap_or_else(|| form_for(link, work)),
            ot: self.ot.unwrap_or_else(|| generator_for(link, work)),
            form_by_link: self.form.is_none(),
            ot_by_link: self.ot.is_none(),
            link: Some(link),
        }
    }
}

/// Returns the preferences for circuits prepared ahead: if nobody asks for a form, the one with the
/// shortest online phase, whatever the link.
pub(crate) fn lowest_latency(protocol: Protocol) -> Preferences {
    Preferences { form: Some(protocol.forms()[0]), ot: None }
}

/// The work to be done over the link, the same for all parties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub and_gates: u64,
    pub rho: Rho,
    pub parties: usize,
    /// The number of lanes, each with a thread.
    pub threads: usize,
}

/// The additional computing time of half-gates over four rows, in picoseconds per gate.
const HALF_GATES_PICOS: u128 = 50_000;

/// The rate below which [`FEWEST_BYTES`] is faster: one thread that serves one link keeps up with
/// it.
const BUSY_BYTES_PER_SECOND: u128 = 50_000_000;

/// The OT extension with the fewest bytes.
const FEWEST_BYTES: OtExtension = OtExtension::SoftSpoken { k: TreeDepth::Eight };

/// The default otherwise: it sends a quarter of IKNP's bytes and takes no more time.
const USUAL: OtExtension = OtExtension::SoftSpoken { k: TreeDepth::Four };

/// Chooses half-gates if the time that they save exceeds their additional round trip.
fn form_for(link: LinkSpeed, work: Work) -> GateForm {
    // Four rows send 3κ + 4ρ bits per gate, half-gates 2κ.
    let saved_bytes = u128::from(16 + work.rho.bits() / 2);
    let saved = saved_bytes * 1_000_000_000_000 / u128::from(link.bytes_per_second.max(1));
    let saved = u128::from(work.and_gates) * saved.saturating_sub(HALF_GATES_PICOS);
    if saved > link.round_trip.as_nanos() * 1000 { GateForm::HalfGates } else { GateForm::FourRow }
}

/// Chooses fewer bytes for more computing if the links of a thread are slower than its computing.
fn generator_for(link: LinkSpeed, work: Work) -> OtExtension {
    let links = work.parties.saturating_sub(1) as u128;
    let rate = u128::from(link.bytes_per_second) * links / work.threads.max(1) as u128;
    if rate < BUSY_BYTES_PER_SECOND { FEWEST_BYTES } else { USUAL }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const AES: u64 = 6_400;
    const SORT: u64 = 245_696;

    fn link(micros: u64, megabits: u64) -> LinkSpeed {
        let round_trip = Duration::from_micros(micros);
        LinkSpeed { round_trip, bytes_per_second: megabits * 125_000 }
    }

    fn work(and_gates: u64) -> Work {
        Work { and_gates, rho: Rho::Bits40, parties: 2, threads: 1 }
    }

    /// The rule agrees with measurements: it picks the faster form, or either if they are equal.
    #[test]
    fn the_form_follows_link_and_circuit() {
        use GateForm::{FourRow, HalfGates};
        let cases = [
            (link(30, 20_000), AES, FourRow),
            (link(30, 20_000), SORT, FourRow),
            (link(200, 10_000), SORT, FourRow),
            (link(1_000, 1_000), SORT, HalfGates),
            (link(1_000, 300), AES, HalfGates),
            (link(20_000, 100), AES, FourRow),
            (link(20_000, 100), SORT, HalfGates),
            (link(75_000, 200), AES, FourRow),
            (link(75_000, 200), SORT, HalfGates),
            (link(75_000, 20), AES, HalfGates),
        ];
        for (link, gates, form) in cases {
            assert_eq!(form_for(link, work(gates)), form, "{link:?}, {gates} gates");
        }
        // Longer MACs make longer rows.
        let closely = link(75_000, 25);
        assert_eq!(form_for(closely, work(AES)), FourRow);
        assert_eq!(form_for(closely, Work { rho: Rho::Bits80, ..work(AES) }), HalfGates);
    }

    #[test]
    fn the_generator_follows_what_a_thread_has_to_fill() {
        for (megabits, parties, threads, expected) in [
            (20_000, 2, 1, USUAL),
            (1_000, 2, 1, USUAL),
            (300, 2, 1, FEWEST_BYTES),
            (1, 2, 1, FEWEST_BYTES),
            (300, 3, 1, USUAL),
            (1_000, 2, 4, FEWEST_BYTES),
        ] {
            let work = Work { parties, threads, ..work(AES) };
            assert_eq!(generator_for(link(30, megabits), work), expected, "{megabits} Mbit/s");
        }
    }

    /// All of the fastest links lead to the same choice, so telling them apart gains nothing.
    #[test]
    fn the_fastest_links_decide_alike() {
        for rho in [Rho::Bits40, Rho::Bits64, Rho::Bits80] {
            let link = |factor| {
                let bytes_per_second = LinkSpeed::FASTEST * factor;
                LinkSpeed { round_trip: Duration::ZERO, bytes_per_second }
            };
            let work = Work { rho, ..work(u64::MAX) };
            assert_eq!(form_for(link(1), work), form_for(link(100), work));
            assert_eq!(generator_for(link(1), work), generator_for(link(100), work));
        }
    }

    /// A peer may report any numbers.
    #[test]
    fn no_link_is_too_strange() {
        for bytes_per_second in [0, 1, u64::MAX] {
            for round_trip in [Duration::ZERO, Duration::from_nanos(u64::MAX)] {
                for and_gates in [0, u64::MAX] {
                    let link = LinkSpeed { round_trip, bytes_per_second };
                    let choice = Preferences { form: None, ot: None }.over(link, work(and_gates));
                    assert!(choice.form_by_link && choice.ot_by_link);
                }
            }
        }
    }

    #[test]
    fn wishes_come_before_the_link() {
        let wishes = Preferences { form: Some(GateForm::HalfGates), ot: None };
        assert_eq!(wishes.settled(), None);
        let choice = wishes.over(link(30, 20_000), work(AES));
        assert_eq!((choice.form, choice.form_by_link), (GateForm::HalfGates, false));
        assert_eq!((choice.ot, choice.ot_by_link), (USUAL, true));
        let settled = Preferences { ot: Some(OtExtension::Iknp), ..wishes }.settled().unwrap();
        assert_eq!((settled.ot, settled.link), (OtExtension::Iknp, None));
    }
}
