//! Several garblings of one plan in one walk.
//!
//! What a walk does beside hashing, above all for the free gates, is done once for all of them: a
//! slot holds the labels of all garblings side by side.

use std::convert::Infallible;
use std::ops::Range;

use symbolon_circuit::{Cursor, Plan};
use symbolon_primitives::Block;
use zeroize::{Zeroize, Zeroizing};

use crate::half_gates::{Colours, Gates, HalfGates, RUN};
use crate::instance::{CHUNK, InputKeys, Instance, Labels, always};
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
    fn walk<E>(
        mut self,
        plan: &Plan,
        mut gates: impl FnMut(&mut [[Block; W]], Gates<'_>) -> Result<(), E>,
    ) -> Result<[Labels; W], E> {
        let mut cursor: Cursor<'_> = plan.cursor();
        while let Some(batch) = cursor.next_batch() {
            self.free_gates(batch.base, batch.linear);
            let slots = &mut self.slots[batch.base..];
            for (ands, number) in batch.ands.chunks(RUN).zip((batch.first_and..).step_by(RUN)) {
                gates(slots, Gates { ands, place: 0, number })?;
            }
        }
        Ok(std::array::from_fn(|lane| {
            let outputs = plan.output_slots().iter();
            Labels::new(outputs.map(|&slot| self.slots[slot as usize][lane]).collect())
        }))
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

/// The slots of garblings with these keys.
///
/// # Panics
/// If there is not one label for each input bit, or the lowest bit of a Δ is not set.
fn garbled_slots<const W: usize>(plan: &Plan, keys: [&InputKeys; W]) -> Slots<W> {
    let odd = keys.iter().all(|keys| keys.delta.lsb());
    assert!(odd, "labels of a wire differ in colour");
    Slots::new(plan, keys.map(|keys| &keys.inputs[..]), keys.map(|keys| *keys.delta))
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
    for table in &tables {
        assert_eq!(table.len() as u64, plan.and_count(), "two half-gates for each gate");
    }
    let mut kernel = Box::<HalfGates>::default();
    always(garbled_slots(plan, keys).walk(plan, |slots, gates| {
        let first = gates.number as usize;
        for lane in 0..W {
            let by = (&instances[lane].hash, *keys[lane].delta);
            let table = &mut tables[lane][first..first + gates.ands.len()];
            kernel.garble_lane(by, (slots, lane), gates, &Colours, table);
        }
        Ok::<_, Infallible>(())
    }))
}

/// [`Instance::garble`] for several instances of one plan: `sink` gets the next gates of all tables
/// at a time.
///
/// # Errors
/// The sink's, which end the garbling.
///
/// # Panics
/// As [`Instance::garble`], and if the instances are not of one plan.
pub fn garble_pieces_side_by_side<const W: usize, E>(
    instances: [Instance<'_>; W],
    keys: [&InputKeys; W],
    mut sink: impl FnMut([&mut [[Block; 2]]; W]) -> Result<(), E>,
) -> Result<[Labels; W], E> {
    let plan = plan(&instances);
    let mut kernel = Box::<HalfGates>::default();
    let mut pieces = pieces();
    let mut filled = 0;
    let outputs = garbled_slots(plan, keys).walk(plan, |slots, gates| {
        let end = filled + gates.ands.len();
        for lane in 0..W {
            let by = (&instances[lane].hash, *keys[lane].delta);
            let table = &mut pieces[lane][filled..end];
            kernel.garble_lane(by, (slots, lane), gates, &Colours, table);
        }
        filled = end;
        if filled >= CHUNK {
            sink(pieces.each_mut().map(|piece| &mut piece[..CHUNK]))?;
            pieces.iter_mut().for_each(|piece| piece.copy_within(CHUNK..filled, 0));
            filled -= CHUNK;
        }
        Ok::<_, E>(())
    })?;
    if filled > 0 {
        sink(pieces.each_mut().map(|piece| &mut piece[..filled]))?;
    }
    Ok(outputs)
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
    always(Slots::new(plan, inputs, [Block::ZERO; W]).walk(plan, |slots, gates| {
        let first = gates.number as usize;
        for lane in 0..W {
            let table = &tables[lane][first..first + gates.ands.len()];
            kernel.evaluate_lane(&instances[lane].hash, (slots, lane), gates, table);
        }
        Ok::<_, Infallible>(())
    }))
}

/// [`Instance::evaluate`] for several instances of one plan: `source` fills in the next gates of
/// all tables at a time.
///
/// # Errors
/// The source's, which end the evaluation.
///
/// # Panics
/// As [`Instance::evaluate`], and if the instances are not of one plan.
pub fn evaluate_pieces_side_by_side<const W: usize, E>(
    instances: [Instance<'_>; W],
    inputs: [&[Block]; W],
    mut source: impl FnMut([&mut [[Block; 2]]; W]) -> Result<(), E>,
) -> Result<[Labels; W], E> {
    let plan = plan(&instances);
    let mut kernel = Box::<HalfGates>::default();
    let mut pieces = pieces();
    // Gates of the pieces that are evaluated, gates in them, and gates that are not read yet.
    let (mut done, mut filled, mut missing) = (0, 0, plan.and_count());
    Slots::new(plan, inputs, [Block::ZERO; W]).walk(plan, |slots, gates| {
        let n = gates.ands.len();
        if filled - done < n {
            pieces.iter_mut().for_each(|piece| piece.copy_within(done..filled, 0));
            let start = filled - done;
            let more = missing.min(CHUNK as u64) as usize;
            (done, filled, missing) = (0, start + more, missing - more as u64);
            source(pieces.each_mut().map(|piece| &mut piece[start..filled]))?;
        }
        for lane in 0..W {
            let table = &pieces[lane][done..done + n];
            kernel.evaluate_lane(&instances[lane].hash, (slots, lane), gates, table);
        }
        done += n;
        Ok(())
    })
}

/// Room for a piece of each table, and for the run of gates that goes over its end.
fn pieces<const W: usize>() -> [Zeroizing<Vec<[Block; 2]>>; W] {
    std::array::from_fn(|_| Zeroizing::new(vec![[Block::ZERO; 2]; CHUNK + RUN]))
}
