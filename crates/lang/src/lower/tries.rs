//! When a loop whose rounds are being written out is tried as a repeat.

use super::Machine;
use super::body::Most;
use super::repeat::Repeated;

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
    start: u64,
    /// How many rounds are written before it is tried.
    from: u64,
    /// How often it was tried in vain.
    failed: u32,
    may: bool,
    /// How often it may be tried because it is too large otherwise.
    large: u32,
}

/// What has been made in a component, with the sums that wait.
#[derive(Clone, Copy)]
pub(super) struct Made {
    wires: u64,
    ands: u64,
    lookups: u64,
}

impl Machine<'_, '_, '_> {
    pub(super) fn made(&self) -> Made {
        Made {
            wires: u64::from(self.gates.wire_count()) + self.reuse.waiting.wires,
            ands: self.gates.and_count() + self.reuse.waiting.ands,
            lookups: self.gates.lookup_count(),
        }
    }
}

impl Tries {
    pub(super) fn new(made: Made, may: bool) -> Tries {
        let large = if may { LARGE } else { 0 };
        Tries { start: made.wires, from: 2, failed: 0, may, large }
    }

    /// Returns what a round may take, if the loop is to be tried after a round: the number of
    /// rounds so far, and of those left.
    pub(super) fn now(
        &mut self,
        before: Made,
        now: Made,
        (place, left): (u64, u64),
    ) -> Option<Most> {
        let many = if now.wires > MANY { FEW } else { MANY };
        let since = |start: u64| now.wires.saturating_sub(start);
        let ahead = since(before.wires).saturating_mul(left + 1) > many;
        let large = since(self.start) > many;
        if !self.may || place < self.from || left < 2 || !(ahead || large) {
            return None;
        }
        let ands = now.ands.saturating_sub(before.ands);
        Some(Most::Gates(ands, now.lookups - before.lookups))
    }

    /// Returns whether to try the loop whatever its rounds take, as it is too large otherwise.
    pub(super) fn last(&mut self) -> bool {
        let may = self.large > 0;
        self.large = self.large.saturating_sub(1);
        may
    }

    /// Notes how a try ended; `place` rounds are written by then.
    pub(super) fn done(&mut self, made: Made, done: &Repeated, place: u64) {
        if done.rounds > 0 {
            // What comes after rounds of other constants may be a repeat again.
            self.start = made.wires;
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
