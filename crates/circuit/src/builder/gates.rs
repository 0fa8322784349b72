//! The straight-line program under construction: gates of one or two bits, folded and merged as
//! they are added.

use std::collections::HashMap;

use super::bit::{Bit, Word};
use super::products::Products;
use super::subcircuit::Subcircuit;
use super::table::{GateTable, Key, Lookups};
use crate::{Call, CircuitError, Repeat, RepeatArg, Step, Wire, WireRange};

/// The most wires that fit a [`Bit`].
const MAX_WIRES: u32 = (1 << 31) - 2;

/// Gates under construction: the part that [`Builder`](super::Builder) and
/// [`ComponentBuilder`](super::ComponentBuilder) share, and what functions that add to either
/// should take.
///
/// Constants fold, equal gates merge, and inversions are pulled out of gates, so that an AND is
/// made once for all eight combinations of inverted operands and results. Operands of two-word
/// operations must have equal widths; `finish` reports the first operation where they do not.
pub struct Gates {
    pub(super) steps: Vec<Step>,
    /// Calls and repeats; `component` is an index in `callees`.
    pub(super) calls: Vec<Call>,
    pub(super) repeats: Vec<Repeat>,
    pub(super) repeat_args: Vec<RepeatArg>,
    pub(super) call_args: Vec<WireRange>,
    pub(super) callees: Vec<Subcircuit>,
    /// The index of each callee in `callees`, by its identity.
    pub(super) callee_places: HashMap<usize, u32>,
    pub(super) lookups: Lookups,
    pub(super) products: Products,
    /// The runs of wires that are inputs. A gap of one unused wire follows each run, so that
    /// neighbouring wires are still neighbours once the inputs have been moved to the front.
    pub(super) inputs: Vec<WireRange>,
    pub(super) next_wire: Wire,
    /// How many wires are inputs.
    input_count: u32,
    pub(super) too_large: bool,
    /// The error of the first operation with operands of the wrong width.
    pub(super) mismatch: Option<CircuitError>,
    table: GateTable,
    constants: [Option<Wire>; 2],
    ands: u64,
    /// Those of called components among them.
    called_ands: u64,
    xors: u64,
    /// How many gates were asked for, those that existed included.
    asked: u64,
    /// The steps from this one on write one wire each, from `run_wire` on.
    run_step: usize,
    run_wire: Wire,
    runs: u64,
    /// Of each step the wire from which it comes, if that is asked for ([`super::trace`]).
    pub(super) origins: Option<Vec<Wire>>,
}

impl Gates {
    pub(super) fn new() -> Gates {
        Gates {
            steps: Vec::new(),
            calls: Vec::new(),
            repeats: Vec::new(),
            repeat_args: Vec::new(),
            call_args: Vec::new(),
            callees: Vec::new(),
            callee_places: HashMap::new(),
            lookups: Lookups::default(),
            products: Products::default(),
            inputs: Vec::new(),
            next_wire: 0,
            input_count: 0,
            too_large: false,
            mismatch: None,
            table: GateTable::new(),
            constants: [None; 2],
            ands: 0,
            called_ands: 0,
            xors: 0,
            asked: 0,
            run_step: 0,
            run_wire: 0,
            runs: 0,
            origins: None,
        }
    }

    /// Returns how many AND gates have been made so far, those in called components included: an
    /// upper bound for the finished circuit, which drops gates that reach no output.
    pub fn and_count(&self) -> u64 {
        self.ands
    }

    /// Returns how many AND gates have been made so far, those in called components not included.
    pub fn own_and_count(&self) -> u64 {
        self.ands.saturating_sub(self.called_ands)
    }

    /// Returns how many XOR gates have been made so far, those in called components not included.
    pub fn xor_count(&self) -> u64 {
        self.xors
    }

    /// Returns how many look-ups have been made so far, those in called components not included.
    pub fn lookup_count(&self) -> u64 {
        self.lookups.gates.len() as u64
    }

    /// Returns how many gates have been asked for so far: those that were made, and those that
    /// existed. It grows with the time that building takes.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// Returns the bytes that the gates take so far, with the tables by which equal ones are found,
    /// and what these tables take in passing when they grow next, if that is soon.
    pub fn memory(&self) -> u64 {
        (self.steps.len() * size_of::<Step>()) as u64 + self.table.memory()
    }

    /// Returns how many wires there are so far beside the inputs, those that reach no output
    /// included. Inputs take no memory.
    pub fn wire_count(&self) -> u32 {
        self.next_wire - self.input_count
    }

    /// Returns how many calls, repeats, look-ups and runs of inputs there have been so far. While
    /// it stays the same, operations on bits give the same bits again, and make no gates then.
    pub fn run_count(&self) -> u64 {
        self.runs
    }

    /// `x ⊕ y`; free.
    pub fn xor_bit(&mut self, x: Bit, y: Bit) -> Bit {
        let (x_wire, x_inv) = match x.wire() {
            Some(x) => x,
            None => return y.invert_if(x == Bit::ONE),
        };
        let (y_wire, y_inv) = match y.wire() {
            Some(y) => y,
            None => return x.invert_if(y == Bit::ONE),
        };
        let invert = x_inv ^ y_inv;
        if x_wire == y_wire {
            return Bit::constant(invert);
        }
        // a ⊕ (a ⊕ b) = b, on either side.
        for (one, other) in [(x_wire, y_wire), (y_wire, x_wire)] {
            if let Some(Step::Xor { a, b, .. }) = self.definition(one) {
                if a == other {
                    return Bit::of_wire(b).invert_if(invert);
                }
                if b == other {
                    return Bit::of_wire(a).invert_if(invert);
                }
            }
        }
        let wire = self.gate(Key::Xor(x_wire.min(y_wire), x_wire.max(y_wire)));
        Bit::of_wire(wire).invert_if(invert)
    }

    /// `x ∧ y`; 1 AND.
    pub fn and_bit(&mut self, x: Bit, y: Bit) -> Bit {
        let (x_wire, x_inv) = match x.wire() {
            Some(x) => x,
            None => return if x == Bit::ONE { y } else { Bit::ZERO },
        };
        let (y_wire, y_inv) = match y.wire() {
            Some(y) => y,
            None => return if y == Bit::ONE { x } else { Bit::ZERO },
        };
        if x_wire == y_wire {
            return if x_inv == y_inv { x } else { Bit::ZERO };
        }
        // (x ⊕ i)(y ⊕ j) = xy ⊕ iy ⊕ jx ⊕ ij: all i, j share one AND.
        let product = self.and_wires(x_wire, y_wire);
        let (x, y) = (Bit::of_wire(x_wire), Bit::of_wire(y_wire));
        match (x_inv, y_inv) {
            (false, false) => product,
            (true, false) => self.xor_bit(product, y),
            (false, true) => self.xor_bit(product, x),
            (true, true) => {
                let sum = self.xor_bit(x, y);
                !self.xor_bit(product, sum)
            }
        }
    }

    fn and_wires(&mut self, x: Wire, y: Wire) -> Bit {
        // a ∧ (a ∧ b) = a ∧ b, on either side.
        for (one, other) in [(x, y), (y, x)] {
            if let Some(Step::And { a, b, .. }) = self.definition(one)
                && (a == other || b == other)
            {
                return Bit::of_wire(one);
            }
        }
        Bit::of_wire(self.gate(Key::And(x.min(y), x.max(y))))
    }

    /// `x ∨ y`; 1 AND.
    pub fn or_bit(&mut self, x: Bit, y: Bit) -> Bit {
        !self.and_bit(!x, !y)
    }

    /// `if choice { x } else { y }`; 1 AND.
    pub fn select_bit(&mut self, choice: Bit, x: Bit, y: Bit) -> Bit {
        // An inverted operand of an AND costs an XOR; here it costs nothing.
        let (choice, x, y) = match choice.wire() {
            Some((_, true)) => (!choice, y, x),
            _ => (choice, x, y),
        };
        let difference = self.xor_bit(x, y);
        let chosen = self.and_bit(choice, difference);
        self.xor_bit(y, chosen)
    }

    /// Returns whether at least two of the three are 1; 1 AND.
    pub fn majority_bit(&mut self, x: Bit, y: Bit, z: Bit) -> Bit {
        // z where x and y differ, x where they agree.
        let xz = self.xor_bit(x, z);
        let yz = self.xor_bit(y, z);
        let both = self.and_bit(xz, yz);
        self.xor_bit(both, z)
    }

    /// Returns whether `x - y - borrow` is negative; 1 AND.
    pub fn borrow_bit(&mut self, x: Bit, y: Bit, borrow: Bit) -> Bit {
        // y where x and y differ, the borrow so far where they agree.
        let different = self.xor_bit(x, y);
        self.select_bit(different, y, borrow)
    }

    /// Adds a further input to the component under construction, after those that it has.
    ///
    /// All inputs added this way are one input for callers ([`call`](Self::call)). A circuit has no
    /// such inputs: its `finish` refuses them.
    pub fn further_input(&mut self, width: u32) -> Word {
        self.input_wires(width)
    }

    /// Returns a new run of input wires.
    pub(super) fn input_wires(&mut self, width: u32) -> Word {
        // The gap after the last run is taken back when nothing follows it.
        let adjoining = self.inputs.last().is_some_and(|r| r.first + r.len + 1 == self.next_wire);
        if adjoining {
            self.next_wire -= 1;
        } else if self.next_wire > 0 {
            // A gap before it as well, so that no range of wires goes from a gate's output into the
            // run, which is renumbered.
            self.allocate(1);
        }
        // One more for the gap after it.
        let Some(first) = width.checked_add(1).and_then(|n| self.allocate(n)) else {
            return std::iter::repeat_n(Bit::of_wire(0), width as usize).collect();
        };
        match self.inputs.last_mut() {
            Some(run) if adjoining => run.len += width,
            _ => self.inputs.push(WireRange { first, len: width }),
        }
        self.input_count += width;
        self.start_run();
        Word::of_wires(first, width)
    }

    /// Adds a call of a component with `ands` AND gates.
    pub(super) fn call_step(&mut self, call: Call, ands: u64) {
        self.steps.push(Step::Call(self.calls.len() as u32));
        self.calls.push(call);
        self.add_called(ands);
        self.start_run();
    }

    /// Adds a repeat whose rounds have `ands` AND gates each.
    pub(super) fn repeat_step(&mut self, repeat: Repeat, ands: u64) {
        self.steps.push(Step::Repeat(self.repeats.len() as u32));
        self.repeats.push(repeat);
        self.add_called(ands.saturating_mul(repeat.count.into()));
        self.start_run();
    }

    fn add_called(&mut self, ands: u64) {
        self.ands = self.ands.saturating_add(ands);
        self.called_ands = self.called_ands.saturating_add(ands);
    }

    /// Allocates `count` consecutive wires; returns `None` when there would be too many, which is
    /// remembered.
    pub(super) fn allocate(&mut self, count: u32) -> Option<Wire> {
        let first = self.next_wire;
        match first.checked_add(count) {
            Some(next) if next <= MAX_WIRES && !self.too_large => self.next_wire = next,
            _ => {
                self.too_large = true;
                return None;
            }
        }
        Some(first)
    }

    /// Returns a wire that holds exactly this bit: pending inversions and constants become gates.
    pub(super) fn materialise(&mut self, bit: Bit) -> Wire {
        match bit.wire() {
            Some((wire, false)) => wire,
            Some((wire, true)) => self.gate(Key::Inv(wire)),
            None => {
                let value = bit == Bit::ONE;
                if let Some(wire) = self.constants[usize::from(value)] {
                    return wire;
                }
                let Some(out) = self.allocate(1) else { return 0 };
                self.steps.push(Step::Const { value, out });
                self.constants[usize::from(value)] = Some(out);
                out
            }
        }
    }

    /// Returns the output of this gate, which is made only if it does not exist yet.
    fn gate(&mut self, key: Key) -> Wire {
        let place = self.steps.len() as u32;
        self.asked += 1;
        if self.next_wire >= MAX_WIRES || self.too_large {
            self.too_large = true;
            return 0;
        }
        let found = self.table.find_or_insert(&self.steps, key, place);
        if found != place {
            return match self.steps[found as usize] {
                Step::Xor { out, .. } | Step::And { out, .. } | Step::Inv { out, .. } => out,
                Step::Const { .. } | Step::Call(_) | Step::Lookup(_) | Step::Repeat(_) => {
                    unreachable!("the table holds gates")
                }
            };
        }
        let out = self.next_wire;
        self.next_wire += 1;
        self.steps.push(match key {
            Key::Xor(a, b) => Step::Xor { a, b, out },
            Key::And(a, b) => Step::And { a, b, out },
            Key::Inv(a) => Step::Inv { a, out },
        });
        self.ands += u64::from(matches!(key, Key::And(..)));
        self.xors += u64::from(matches!(key, Key::Xor(..)));
        out
    }

    /// Returns the gate that writes `wire`, if it was made since the last call or input: its place
    /// then follows from the wire. Further back, this would need a table.
    fn definition(&self, wire: Wire) -> Option<Step> {
        let offset = wire.checked_sub(self.run_wire)? as usize;
        self.steps.get(self.run_step + offset).copied()
    }

    pub(super) fn start_run(&mut self) {
        self.runs += 1;
        self.run_step = self.steps.len();
        self.run_wire = self.next_wire;
    }
}

/// Returns a width as a number of wires.
pub(super) fn input_width(width: u64) -> u32 {
    assert!(width < 1 << 31, "an input of {width} bits is too wide for a circuit");
    width as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::builder::{Builder, ComponentBuilder};
    use crate::{Receivers, Type, eval_bits, reference};

    fn gates() -> (Gates, Bit, Bit, Bit) {
        let mut g = Gates::new();
        let w = g.input_wires(3);
        (g, w[0], w[1], w[2])
    }

    #[test]
    fn inputs_after_gates_are_told_from_the_gates_outputs() {
        let mut join = ComponentBuilder::new("join");
        let (a, b) = (join.input(4), join.input(4));
        let sum = join.add(&a, &b);
        join.output(&sum);
        let join = join.finish().unwrap();

        // The outer component's gates and its further inputs are neighbours in the call.
        let mut outer = ComponentBuilder::new("outer");
        let (a, b) = (outer.input(4), outer.input(4));
        let both: Word = a.iter().zip(&b[..]).map(|(&a, &b)| outer.and_bit(a, b)).collect();
        let further = outer.further_input(4);
        let sum = outer.call_flat(&join, &Word::join([&both, &further]));
        outer.output(&sum);
        let outer = outer.finish().unwrap();

        let mut b = Builder::new("inputs after gates");
        let x = b.input("x", Type::Uint(8), 0);
        let further: Word = x[..4].iter().zip(&x[4..]).map(|(&a, &c)| b.xor_bit(a, c)).collect();
        let sum = b.call_flat(&outer, &Word::join([&x, &further]));
        let y = b.input("y", Type::Uint(4), 1);
        let sum = b.call_flat(&join, &Word::join([&sum, &y]));
        b.output("sum", &sum, Type::Uint(4), Receivers::All);
        let circuit = b.finish().unwrap();
        for value in 0..1u32 << 12 {
            let bits: Vec<bool> = (0..12).map(|i| value >> i & 1 == 1).collect();
            let (low, high, y) = (value & 15, value >> 4 & 15, value >> 8);
            let expected = (low & high) + (low ^ high) + y;
            let sum = eval_bits(&circuit, &bits);
            let sum = sum.iter().rev().fold(0, |n, &bit| n << 1 | u32::from(bit));
            assert_eq!(sum, expected & 15, "{value:03x}");
        }
    }

    #[test]
    fn constants_and_equal_operands_fold_without_gates() {
        let (mut g, x, ..) = gates();
        assert_eq!(g.xor_bit(x, x), Bit::ZERO);
        assert_eq!(g.xor_bit(x, !x), Bit::ONE);
        assert_eq!(g.xor_bit(x, Bit::ONE), !x);
        assert_eq!(g.xor_bit(Bit::ZERO, x), x);
        assert_eq!(g.and_bit(x, x), x);
        assert_eq!(g.and_bit(!x, x), Bit::ZERO);
        assert_eq!(g.and_bit(Bit::ONE, x), x);
        assert_eq!(g.and_bit(x, Bit::ZERO), Bit::ZERO);
        assert_eq!(g.or_bit(x, !x), Bit::ONE);
        assert_eq!(g.select_bit(x, Bit::ONE, Bit::ZERO), x);
        assert!(g.steps.is_empty());
    }

    #[test]
    fn equal_gates_merge_whatever_their_order_and_inversions() {
        let (mut g, x, y, z) = gates();
        let xy = g.and_bit(x, y);
        for (a, b) in [(y, x), (!x, y), (x, !y), (!y, !x)] {
            g.and_bit(a, b);
            g.or_bit(a, b);
        }
        assert_eq!(g.and_count(), 1);
        let sum = g.xor_bit(x, y);
        assert_eq!(g.xor_bit(!y, x), !sum);
        assert_eq!(g.xor_bit(sum, y), x);
        assert_eq!(g.xor_bit(!x, sum), !y);
        assert_eq!(g.and_bit(xy, x), xy);
        assert_eq!(g.and_bit(x, y), xy);
        g.and_bit(xy, z);
        assert_eq!(g.and_count(), 2);
    }

    proptest! {
        /// Whatever is folded and merged, the value stays that of the requested operations.
        #[test]
        fn folding_and_merging_keep_values(
            operations in prop::collection::vec((0u8..6, any::<[u16; 3]>()), 1..200),
            inputs: [bool; 5],
        ) {
            let mut c = ComponentBuilder::new("test");
            let mut bits = vec![(Bit::ZERO, false), (Bit::ONE, true)];
            bits.extend(c.input(5).iter().copied().zip(inputs));
            for (operation, operands) in operations {
                // Few and recent operands, so that equal ones and equal gates are frequent.
                let pick = |i: usize| {
                    let bit = bits[bits.len() - 1 - usize::from(operands[i] >> 1) % bits.len().min(9)];
                    if operands[i] & 1 == 1 { (!bit.0, !bit.1) } else { bit }
                };
                let ((x, u), (y, v), (z, w)) = (pick(0), pick(1), pick(2));
                bits.push(match operation {
                    0 => (c.xor_bit(x, y), u ^ v),
                    1 => (c.and_bit(x, y), u & v),
                    2 => (c.or_bit(x, y), u | v),
                    3 => (c.select_bit(x, y, z), if u { v } else { w }),
                    4 if operands[2] % 2 == 0 => {
                        (c.borrow_bit(x, y, z), u8::from(u) < u8::from(v) + u8::from(w))
                    }
                    4 => (c.majority_bit(x, y, z), u & v | w & (u | v)),
                    _ => (c.full_adder(x, y, z).0, u ^ v ^ w),
                });
            }
            let (outputs, expected): (Vec<Bit>, Vec<bool>) = bits.into_iter().unzip();
            c.output(&outputs);
            let component = c.finish().unwrap();

            let mut b = Builder::new("test");
            let x = b.input("x", Type::Uint(5), 0);
            let y = b.call_one(&component, &[&x]);
            b.output("y", &y, Type::Uint(outputs.len() as u32), Receivers::All);
            prop_assert_eq!(reference::eval(&b.finish().unwrap(), &inputs), expected);
        }
    }

    #[test]
    fn too_many_wires_are_noted_and_not_made() {
        let (mut g, x, y, _) = gates();
        g.next_wire = MAX_WIRES;
        g.and_bit(x, y);
        assert!(g.too_large);
        assert!(g.steps.is_empty());
        assert_eq!(g.materialise(Bit::ONE), 0);
        assert!(g.steps.is_empty());
    }
}
