//! When a loop whose rounds are being written out is tried as a repeat.

use symbolon_circuit::builder::Gates;

use super::repeat::{Most, Repeated};

/// A loop whose rounds together make more gates than this stays a loop if it can.
const MANY: u64 = 1 << 20;

/// In a component that has as many gates already, loops of fewer gates stay loops.
const FEW: u64 = 1 << 13;

/// At most this many rounds with the same constants are written out together.
const ALIKE: u64 = 64;

/// How often a loop is tried again soon because constants differ.
const DIFFERING: u32 = 4;

/// How often a loop is tried that is too large otherwise.
const LARGE: u32 = 3;

/// Tries to write a loop as a repeat: as soon as a round shows that all rounds together are too
/// large, or the rounds so far are, and again when there are eight times as many rounds. By then,
/// the first rounds no longer save gates.
pub(super) struct Tries {
    start: u32,
    /// How many rounds are written before it is tried.
    from: u64,
    /// How often it was tried in vain.
    failed: u32,
    may: bool,
    /// How often it may be tried because it is too large otherwise.
    large: u32,
}

/// Wires, ANDs and look-ups before a round.
type Before = (u32, u64, u64);

impl Tries {
    pub(super) fn new(gates: &Gates, may: bool) -> Tries {
        let large = if may { LARGE } else { 0 };
        Tries { start: gates.wire_count(), from: 2, failed: 0, may, large }
    }

    pub(super) fn before(&self, gates: &Gates) -> Before {
        (gates.wire_count(), gates.and_count(), gates.lookup_count())
    }

    /// Returns what a round may take, if the loop is to be tried after a round: the number of
    /// rounds so far, and of those left.
    pub(super) fn now(
        &mut self,
        gates: &Gates,
        before: Before,
        (place, left): (u64, u64),
    ) -> Option<Most> {
        let now = gates.wire_count();
        let many = if u64::from(now) > MANY { FEW } else { MANY };
        let ahead = u64::from(now - before.0).saturating_mul(left + 1) > many;
        let large = u64::from(now - self.start) > many;
        if !self.may || place < self.from || left < 2 || !(ahead || large) {
            return None;
        }
        Some(Most::Gates(gates.and_count() - before.1, gates.lookup_count() - before.2))
    }

    /// Returns whether to try the loop whatever its rounds take, as it is too large otherwise.
    pub(super) fn last(&mut self) -> bool {
        let may = self.large > 0;
        self.large = self.large.saturating_sub(1);
        may
    }

    /// Notes how a try ended; `place` rounds are written by then.
    pub(super) fn done(&mut self, gates: &Gates, done: &Repeated, place: u64) {
        if done.rounds > 0 {
            // What comes after rounds of other constants may be a repeat again.
            self.start = gates.wire_count();
            self.from = place + 2;
            self.failed = 0;
            return;
        }
        self.failed += 1;
        self.from = match done.alike {
            // Other constants come soon.
            1.. if self.failed <= DIFFERING => place + done.alike.min(ALIKE) + 1,
            _ => place.saturating_mul(8),
        };
    }

    /// Returns whether there will hardly be a repeat.
    pub(super) fn is_over(&self) -> bool {
        !self.may || self.failed > DIFFERING
    }
}
