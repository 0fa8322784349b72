//! Refuses a loop early, if its rounds so far show that the rest will take too much.

use super::{Done, MAX_STEPS, MAX_WIRES, Machine};
use crate::source::Span;

/// A loop that has taken less so far is not judged.
const LITTLE: u64 = 1 << 20;

/// What has been taken: wires of the component, and steps.
type Taken = [u64; 2];

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
        let choices = machine.choices;
        Pace { at: machine.taken(), rounds: [[0; 2]; 2], count: 0, choices }
    }
}

impl Machine<'_, '_, '_> {
    fn taken(&self) -> Taken {
        [u64::from(self.gates.wire_count()), self.lower.steps]
    }

    /// Refuses a loop after one of its rounds if `left` more rounds would go far beyond a limit.
    ///
    /// Rounds may differ, and a program that fits must pass. So rounds that shrink are assumed to
    /// keep shrinking at the same rate, the sum must reach twice the limit, and a loop where an
    /// `if` or a `match` went one way only is not judged, since it may go the other way later.
    pub(super) fn look_ahead(
        &mut self,
        pace: &mut Pace,
        left: impl FnOnce() -> u64,
        span: Span,
    ) -> Done<()> {
        let now = self.taken();
        let round = [now[0] - pace.at[0], now[1] - pace.at[1]];
        pace.at = now;
        pace.rounds = [pace.rounds[1], round];
        pace.count += 1;
        if pace.count < 2 || pace.choices != self.choices || now.iter().all(|&now| now < LITTLE) {
            return Ok(());
        }
        let left = left();
        for (place, limit) in [u64::from(MAX_WIRES), MAX_STEPS].into_iter().enumerate() {
            let ahead = ahead(pace.rounds.map(|round| round[place]), left);
            if now[place] >= LITTLE && now[place].saturating_add(ahead) > 2 * limit {
                return self.beyond(place == 0, span);
            }
        }
        Ok(())
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
