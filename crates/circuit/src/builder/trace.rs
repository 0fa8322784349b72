//! Which gates of a finished component come from which wires of the one under construction:
//! gates that reach no output are dropped, and rewriting puts others in the place of some.

use super::gates::Gates;
use super::sweep::Swept;
use crate::{Step, Wire};

/// From which wires under construction ([`Gates::next_wire`]) the gates of a component come. What
/// rewriting makes comes from the wire for which it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// A wire for each AND gate.
    pub ands: Vec<Wire>,
    /// A wire for each look-up.
    pub lookups: Vec<Wire>,
    /// A wire for each XOR gate.
    pub xors: Vec<Wire>,
}

impl Trace {
    pub(super) fn of(swept: &Swept) -> Trace {
        let mut trace = Trace::default();
        let origins = swept.origins.iter().flatten();
        for (step, &wire) in swept.component.steps.iter().zip(origins) {
            match step {
                Step::And { .. } => trace.ands.push(wire),
                Step::Lookup(_) => trace.lookups.push(wire),
                Step::Xor { .. } => trace.xors.push(wire),
                Step::Inv { .. } | Step::Const { .. } | Step::Call(_) | Step::Repeat(_) => {}
            }
        }
        trace
    }
}

impl Gates {
    /// Notes of each step so far that it comes from the wire that it writes.
    pub(super) fn start_trace(&mut self) {
        let written = |step: &Step| match *step {
            Step::Xor { out, .. }
            | Step::And { out, .. }
            | Step::Inv { out, .. }
            | Step::Const { out, .. } => out,
            Step::Call(call) => self.calls[call as usize].first_output,
            Step::Repeat(repeat) => self.repeats[repeat as usize].first_output,
            Step::Lookup(lookup) => self.lookups.gates[lookup as usize].first_output,
        };
        self.origins = Some(self.steps.iter().map(written).collect());
    }

    /// Notes that the steps since the last call come from a wire, if that is asked for.
    pub(crate) fn trace(&mut self, wire: Wire) {
        let steps = self.steps.len();
        if let Some(origins) = &mut self.origins {
            origins.resize(steps, wire);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::builder::{Builder, and_count};
    use crate::{Receivers, Type};

    #[test]
    fn each_gate_comes_from_where_it_was_asked_for() {
        let mut b = Builder::new("traced");
        let x = b.input("x", Type::Uint(8), 0);
        let y = b.input("y", Type::Uint(8), 1);
        let z = b.input("z", Type::Uint(8), 1);
        let sum = b.add(&x, &y);
        let dead = b.mul(&x, &z);
        assert!(!dead.is_empty());
        let second = b.next_wire();
        let (xy, xz, yz) = (b.and(&x, &y), b.and(&x, &z), b.and(&y, &z));
        let third = b.next_wire();
        // A majority, for which rewriting takes one AND for each bit.
        let most = b.xor(&xy, &xz);
        let most = b.xor(&most, &yz);
        b.output("s", &sum, Type::Uint(8), Receivers::All);
        b.output("r", &most, Type::Uint(8), Receivers::All);
        let mut effort = u64::MAX;
        let (circuit, trace) = b.finish_traced(&mut effort).expect("a circuit");
        assert_eq!(trace.ands.len() as u64, and_count(&circuit));
        let from = |wire: u32| trace.ands.iter().filter(|&&origin| origin >= wire).count();
        // What replaces the majorities comes from their last gates.
        assert_eq!((trace.ands.len(), from(second), from(third)), (15, 8, 8));
    }
}
