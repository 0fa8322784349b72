//! Several garblings of one plan in one walk.
//!
//! What a walk does beside hashing, above all for the free gates, is done once for all of them: a
//! slot holds the labels of all garblings side by side.

use std::ops::Range;

use symbolon_circuit::{Cursor, Plan};
use symbolon_primitives::{Block, Delta};
use zeroize::{Zeroize, Zeroizing};

use crate::half_gates::{Colours, Gates, HalfGates, RUN};
use crate::instance::{InputKeys, Instance, Labels};
use crate::wires::WireStore;

/// The labels of `W` garblings on the wires that are alive. Wiped on drop.
struct Slots<const W: usize> {
    slots: Zeroizing<Vec<[Block; W]>>,
    /// What NOT adds, and what the constant 1 is: Δ for who garbles, 0 for who evaluates.
    ones: [Block; W],
}

impl<const W: usize> Slots<W> {
    /// # Panics
    /// If there is not one label for each input bit.
    fn new(plan: &Plan, inputs: [&[Block]; W], ones: [Block; W]) -> Self {
        let mut slots = Zeroizing::new(vec![[Block::ZERO; W]; plan.slots()]);
        let places = &mut slots[plan.input_slots()];
        for (lane, inputs) in inputs.into_iter().enumerate() {
            assert_eq!(places.len(), inputs.len(), "one label for each input bit");
            places.iter_mut().zip(inputs).for_each(|(place, label)| place[lane] = *label);
        }
        Slots { slots, ones }
    }

    /// Walks through the plan: `gates` does independent AND gates, on slots from those of the batch
    /// on. Returns the labels of the outputs.
    fn walk(
        mut self,
        plan: &Plan,
        mut gates: impl FnMut(&mut [[Block; W]], Gates<'_>),
    ) -> [Labels; W] {
        let mut cursor: Cursor<'_> = plan.cursor();
        while let Some(batch) = cursor.next_batch() {
            self.free_gates(batch.base, batch.linear);
            let slots = &mut self.slots[batch.base..];
            for (ands, number) in batch.ands.chunks(RUN).zip((batch.first_and..).step_by(RUN)) {
                gates(slots, Gates { ands, place: 0, number });
            }
        }
        std::array::from_fn(|lane| {
            let outputs = plan.output_slots().iter();
            Labels::new(outputs.map(|&slot| self.slots[slot as usize][lane]).collect())
        })
    }
}

impl<const W: usize> WireStore for Slots<W> {
    #[inline]
    fn xor(&mut self, a: usize, b: usize, out: usize) {
        let (a, b) = (self.slots[a], self.slots[b]);
        self.slots[out] = std::array::from_fn(|lane| a[lane] ^ b[lane]);
    }

    #[inline]
    fn not(&mut self, a: usize, out: usize) {
        let a = self.slots[a];
        self.slots[out] = std::array::from_fn(|lane| a[lane] ^ self.ones[lane]);
    }

    #[inline]
    fn constant(&mut self, value: bool, out: usize) {
        self.slots[out] = self.ones.map(|one| one.select(value));
    }

    #[inline]
    fn copy(&mut self, from: Range<usize>, out: usize) {
        self.slots.copy_within(from, out);
    }
}

impl<const W: usize> Drop for Slots<W> {
    fn drop(&mut self) {
        self.ones.zeroize();
    }
}

/// The plan of all instances.
///
/// # Panics
/// If they are not of one plan.
fn plan<'a, const W: usize>(instances: &[Instance<'a>; W]) -> &'a Plan {
    let plan = instances[0].plan;
    let same = instances.iter().all(|instance| std::ptr::eq(instance.plan, plan));
    assert!(same, "instances of one plan are garbled side by side");
    plan
}

/// [`Instance::garble_into`] for several instances of one plan.
///
/// # Panics
/// As [`Instance::garble_into`], and if the instances are not of one plan.
pub fn garble_side_by_side<const W: usize>(
    instances: [Instance<'_>; W],
    keys: [&InputKeys; W],
    mut tables: [&mut [[Block; 2]]; W],
) -> [Labels; W] {
    let plan = plan(&instances);
    for (keys, table) in keys.iter().zip(&tables) {
        assert!(keys.delta.lsb(), "labels of a wire differ in colour");
        assert_eq!(table.len() as u64, plan.and_count(), "two half-gates for each gate");
    }
    let deltas: [&Delta; W] = keys.map(|keys| &keys.delta);
    let mut kernel = Box::<HalfGates>::default();
    let slots = Slots::new(plan, keys.map(|keys| &keys.inputs[..]), deltas.map(|delta| **delta));
    slots.walk(plan, |slots, gates| {
        let first = gates.number as usize;
        for lane in 0..W {
            let by = (&instances[lane].hash, **deltas[lane]);
            let table = &mut tables[lane][first..first + gates.ands.len()];
            kernel.garble_lane(by, (slots, lane), gates, &Colours, table);
        }
    })
}

/// [`Instance::evaluate_table`] for several instances of one plan.
///
/// # Panics
/// As [`Instance::evaluate_table`], and if the instances are not of one plan.
pub fn evaluate_side_by_side<const W: usize>(
    instances: [Instance<'_>; W],
    inputs: [&[Block]; W],
    tables: [&[[Block; 2]]; W],
) -> [Labels; W] {
    let plan = plan(&instances);
    for table in tables {
        assert_eq!(table.len() as u64, plan.and_count(), "two half-gates for each gate");
    }
    let mut kernel = Box::<HalfGates>::default();
    Slots::new(plan, inputs, [Block::ZERO; W]).walk(plan, |slots, gates| {
        let first = gates.number as usize;
        for lane in 0..W {
            let table = &tables[lane][first..first + gates.ands.len()];
            kernel.evaluate_lane(&instances[lane].hash, (slots, lane), gates, table);
        }
    })
}
