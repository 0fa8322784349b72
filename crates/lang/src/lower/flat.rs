//! Choices whose arms are choices: one of a few values is taken, whatever the conditions that lead
//! to it. Level by level, each level takes an AND for each bit. Selected at once, each value but
//! one does, however many arms have it, and each condition takes an AND or two.

use std::rc::Rc;

use symbolon_circuit::builder::{Bit, Word};

use super::Machine;
use super::merge::{Outcome, Taken, Values};
use super::state::{Group, Update};

/// Values of more bits are selected level by level.
const MOST_BITS: usize = 1 << 12;

/// So are more values than this.
const MOST_VALUES: usize = 16;

/// Returns the arms whose value may be taken, each with its place.
fn counted(arms: &[Outcome]) -> impl Iterator<Item = (usize, &Outcome)> {
    arms.iter().enumerate().filter(|(_, arm)| !arm.left.is_certain())
}

impl Machine<'_, '_, '_> {
    /// Returns values, each once, under conditions of which one holds.
    pub(super) fn under_conditions(
        &mut self,
        values: impl IntoIterator<Item = (Bit, Word)>,
    ) -> Group {
        let mut group = Group::new();
        for (condition, value) in values {
            match group.iter_mut().find(|known| *known.value == value) {
                Some(known) => {
                    known.condition = self.gates.xor_bit(known.condition, condition);
                }
                None => {
                    let update = Update::plain(0, Rc::new(value), self.booking.at);
                    group.push(Update { condition, ..update });
                }
            }
        }
        group
    }

    /// Returns whether the arms have few and short values.
    pub(super) fn is_flat(&self, arms: &[Outcome]) -> bool {
        let mut values = 0;
        for (_, arm) in counted(arms) {
            values += arm.values.as_ref().map_or(1, Vec::len);
            if !(2..=MOST_BITS).contains(&arm.value.width()) {
                return false;
            }
        }
        (1..=MOST_VALUES).contains(&values)
    }

    /// Returns whether it takes fewer ANDs to select among the values of all arms at once than to
    /// select within the arms, and then among these in as many as `level`.
    pub(super) fn flattens(&mut self, arms: &[Outcome], level: u64) -> bool {
        if arms.iter().all(|arm| arm.values.is_none()) || !self.is_flat(arms) {
            return false;
        }
        let inner = arms[..arms.len() - 1].iter();
        let mut flat = inner.filter(|arm| !arm.excludes).count();
        flat +=
            counted(arms).filter_map(|(_, arm)| arm.values.as_ref()).map(Vec::len).sum::<usize>();
        let (mut flat, mut nested) = (flat as u64, level);
        let (mut all, mut own) = (Values::default(), Values::default());
        let width = arms.iter().map(|arm| arm.value.width()).max().unwrap_or(0);
        self.lower.spent.steps += width as u64;
        for place in 0..width {
            all.clear();
            for (_, arm) in counted(arms) {
                let Some(values) = &arm.values else {
                    all.see(Some(arm.value[place]));
                    continue;
                };
                own.clear();
                for update in values {
                    all.see(update.bit(place));
                    own.see(update.bit(place));
                }
                nested += own.ands();
            }
            flat += all.ands();
        }
        flat < nested
    }

    /// Returns the values of all arms under their conditions, of which one holds unless what is
    /// left says that the value does not matter.
    pub(super) fn flattened(&mut self, arms: &[Outcome], taken: &mut Taken<'_>) -> Group {
        let mut all = Vec::new();
        for (place, arm) in counted(arms) {
            let taken = taken.get(self.gates, place);
            let Some(values) = &arm.values else {
                all.push((taken, arm.value.clone()));
                continue;
            };
            for update in values {
                let condition = self.gates.and_bit(taken, update.condition);
                all.push((condition, Word::clone(&update.value)));
            }
        }
        self.under_conditions(all)
    }
}
