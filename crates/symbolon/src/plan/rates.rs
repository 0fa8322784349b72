//! How long a machine takes for each kind of work.

use std::collections::BTreeMap;

use super::Machine;
use symbolon_protocols::Protocol;
use symbolon_transport::script::{LinkModel, MESSAGE, Unit, WAKE};

/// Returns all kinds of work that forecasts consist of. Their names are unique.
pub fn units() -> Vec<Unit> {
    let shared = [
        symbolon_transport::script::UNITS,
        symbolon_ot::script::UNITS,
        symbolon_preprocessing::script::UNITS,
    ];
    let own = Protocol::ALL.iter().map(|protocol| protocol.units);
    shared.into_iter().chain(own).flatten().copied().collect()
}

/// How long a machine takes for each kind of work.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// Seconds by name.
    seconds: BTreeMap<&'static str, f64>,
}

impl Rates {
    /// Returns those of a typical machine.
    pub fn built_in() -> Rates {
        Rates::of(|unit| unit.nanos() * 1e-9)
    }

    /// Returns the rates of a machine that takes this many seconds.
    pub(super) fn of(seconds: impl Fn(Unit) -> f64) -> Rates {
        Rates { seconds: units().into_iter().map(|unit| (unit.name(), seconds(unit))).collect() }
    }

    /// Returns how long a unit of work takes on such a machine.
    pub(super) fn elapsed(&self, unit: Unit, machine: Machine) -> f64 {
        self.seconds(unit) / f64::from(unit.threads().running(machine.cores, machine.parties))
    }

    /// Returns the seconds of processor time of a unit of work.
    pub fn seconds(&self, unit: Unit) -> f64 {
        self.seconds.get(unit.name()).copied().unwrap_or(unit.nanos() * 1e-9)
    }

    /// Returns how long the handshake among this many parties takes, for which the forecasts have
    /// no steps.
    pub(super) fn handshake(&self, parties: u16, link: LinkModel) -> f64 {
        // Hellos; the nonces that come with them, and their comparison.
        let trips = if parties > 2 { 2.0 } else { 1.0 };
        trips * (link.trip + self.seconds(WAKE) + 2.0 * self.seconds(MESSAGE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_units_are_unique() {
        let mut names: Vec<&str> = units().into_iter().map(Unit::name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
