//! A selection of one bit among values of which at most one is taken.

use std::collections::HashMap;

use symbolon_circuit::builder::{Bit, Gates};

/// A wire, and the conditions under which a bit is this wire, and its inverse.
type Kind = (Bit, [Bit; 2]);

/// The different values of a bit, with their conditions.
#[derive(Default)]
struct Kinds {
    list: Vec<Kind>,
    places: HashMap<Bit, usize>,
}

impl Kinds {
    /// How many are found without a table.
    const FEW: usize = 8;

    fn add(&mut self, gates: &mut Gates, condition: Bit, value: Bit) {
        let (wire, inverted) = value.plain();
        let known = match self.places.is_empty() {
            true => self.list.iter().position(|kind| kind.0 == wire),
            false => self.places.get(&wire).copied(),
        };
        if let Some(place) = known {
            let condition_before = &mut self.list[place].1[usize::from(inverted)];
            *condition_before = gates.xor_bit(*condition_before, condition);
            return;
        }
        let mut conditions = [Bit::ZERO; 2];
        conditions[usize::from(inverted)] = condition;
        self.list.push((wire, conditions));
        if self.list.len() == Self::FEW {
            self.places = self.list.iter().enumerate().map(|(i, kind)| (kind.0, i)).collect();
        } else if self.list.len() > Self::FEW {
            self.places.insert(wire, self.list.len() - 1);
        }
    }
}

/// Returns the value whose condition holds, of which at most one does; the old value if none does,
/// which `rest` says.
pub(super) fn select_among(
    gates: &mut Gates,
    values: impl Iterator<Item = (Bit, Bit)>,
    (rest, old): (Bit, Bit),
) -> Bit {
    let mut kinds = Kinds::default();
    for (condition, value) in values {
        kinds.add(gates, condition, value);
    }
    if rest != Bit::ZERO {
        kinds.add(gates, rest, old);
    }
    let kinds = kinds.list;
    let values = kinds.iter().flat_map(|&(wire, [plain, inverted])| {
        [(plain, wire), (inverted, !wire)]
            .into_iter()
            .filter(|(condition, _)| *condition != Bit::ZERO)
    });
    let few: Vec<(Bit, Bit)> = values.take(3).collect();
    match few[..] {
        [] => old,
        [(_, value)] => value,
        [(condition, value), (_, other)] => gates.select_bit(condition, value, other),
        _ => sum_of(gates, kinds),
    }
}

/// Returns the value whose condition holds, of which exactly one does.
fn sum_of(gates: &mut Gates, mut kinds: Vec<Kind>) -> Bit {
    let mut sum = Bit::ZERO;
    for (_, [_, inverted]) in &kinds {
        sum = gates.xor_bit(sum, *inverted);
    }
    // One of the wires is the base, to which the others add their difference.
    let constant = kinds.iter().position(|kind| kind.0 == Bit::ZERO);
    let (base, _) = kinds.swap_remove(constant.unwrap_or(kinds.len() - 1));
    sum = gates.xor_bit(sum, base);
    for (wire, [plain, inverted]) in kinds {
        let condition = gates.xor_bit(plain, inverted);
        let difference = gates.xor_bit(wire, base);
        let term = gates.and_bit(condition, difference);
        sum = gates.xor_bit(sum, term);
    }
    sum
}
