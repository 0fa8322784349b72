//! Refuses a loop early, if its rounds so far show that the rest will take too much.

use super::{Done, MAX_MEMORY, MAX_STEPS, MAX_WIRES, Machine};
use crate::source::Span;

/// A loop that has taken less so far is not judged.
const LITTLE: u64 = 1 << 20;

/// What has been taken: wires and bytes of the component, and steps.
type Taken = [u64; 3];

/// Where a loop will go beyond a limit.
#[derive(Clone, Copy)]
pub(super) struct Beyond {
    /// Whether that is the limit of wires or bytes, and not that of steps.
    pub(super) wires: bool,
    /// Whether it is so far beyond that the loop is refused unless it is a repeat.
    pub(super) far: bool,
}

/// What the last two rounds of a loop took.
pub(super) struct Pace {
    at: Taken,
    rounds: [Taken; 2],
    count: u32,
    /// The known choices when the loop began.
    choices: u64,
}

impl Pace {
    pub(super) fn new(machine: &Machine<'_, '_, '_>) -> Pace {
        let choices = machine.counts.choices;
        Pace { at: machine.taken(), rounds: [[0; 3]; 2], count: 0, choices }
    }
}

impl Machine<'_, '_, '_> {
    /// Leaves what was done since the last round out of the next.
    pub(super) fn skip(&self, pace: &mut Pace) {
        pace.at = self.taken();
    }

    fn taken(&self) -> Taken {
        // What is counted for many gates makes rounds that shrink seem to grow.
        let steps = self.lower.spent.steps - self.lower.spent.further;
        let (wires, waiting) = (u64::from(self.gates.wire_count()), self.reuse.waiting.wires);
        [wires + waiting, self.gates.memory(), steps + waiting]
    }

    /// Refuses a loop after one of its rounds if `left` more rounds would go far beyond a limit.
    pub(super) fn look_ahead(
        &mut self,
        pace: &mut Pace,
        left: impl FnOnce() -> u64,
        span: Span,
    ) -> Done<()> {
        match self.ahead(pace, left) {
            Some(Beyond { wires, far: true }) => self.beyond(wires, span),
            _ => Ok(()),
        }
    }

    /// Returns whether `left` more rounds of a loop would go beyond a limit.
    ///
    /// Rounds may differ, and a program that fits must pass. So rounds that shrink are assumed to
    /// keep shrinking at the same rate, the sum must reach twice the limit to be far beyond, and a
    /// loop where an `if` or a `match` went one way only is not judged, since it may go the other
    /// way later.
    pub(super) fn ahead(&mut self, pace: &mut Pace, left: impl FnOnce() -> u64) -> Option<Beyond> {
        self.count_gates();
        let now = self.taken();
        let round = [0, 1, 2].map(|place| now[place].saturating_sub(pace.at[place]));
        pace.at = now;
        pace.rounds = [pace.rounds[1], round];
        pace.count += 1;
        if pace.count < 2
            || pace.choices != self.counts.choices
            || now.iter().all(|&now| now < LITTLE)
        {
            return None;
        }
        let left = left();
        let limits = [u64::from(MAX_WIRES), MAX_MEMORY, MAX_STEPS];
        let mut found: Option<Beyond> = None;
        for (place, limit) in limits.into_iter().enumerate() {
            let more = ahead(pace.rounds.map(|round| round[place]), left);
            // Memory grows by leaps, which say nothing of the rounds to come.
            let far =
                place != 1 && now[place] >= LITTLE && now[place].saturating_add(more) > 2 * limit;
            if now[place].saturating_add(more) > limit
                && found.is_none_or(|found| far && !found.far)
            {
                found = Some(Beyond { wires: place < 2, far });
            }
        }
        found
    }
}

/// Returns what `left` more rounds take at least, judging by the last two.
fn ahead([before, last]: [u64; 2], left: u64) -> u64 {
    let Some(less) = before.checked_sub(last).filter(|&less| less > 0) else {
        return last.saturating_mul(left);
    };
    let left = u128::from(left.min(last / less));
    let sum = left * u128::from(last) - u128::from(less) * left * (left + 1) / 2;
    u64::try_from(sum).unwrap_or(u64::MAX)
}
