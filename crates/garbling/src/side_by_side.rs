//! Several garblings of one plan in one walk.
//!
//! The work of a walk other than hashing, above all for the free gates, is done once for all
//! garblings: a slot holds the labels of all of them side by side, and so does a register.

use std::convert::Infallible;
use std::ops::Range;

use symbolon_circuit::{Cursor, Plan};
use symbolon_primitives::side_by_side::{HashLanes, LANES, Lanes};
use symbolon_primitives::{Block, Secret};
use zeroize::Zeroizing;

use crate::half_gates::{Gates, RUN};
use crate::instance::{CHUNK, InputKeys, Instance, Labels, always};
use crate::wires::WireStore;

/// The most garblings that are done side by side.
pub const SIDE: usize = LANES;

/// The most bytes of tables that are made or read at a time.
const TABLES: u64 = 64 << 20;

/// Returns how many garblings of a plan should be done side by side: [`SIDE`], or one if the tables
/// of [`SIDE`] garblings would take more than 64 MiB.
pub fn side_by_side(plan: &Plan) -> usize {
    let bytes = plan.and_count().saturating_mul((SIDE * size_of::<[Block; 2]>()) as u64);
    if bytes <= TABLES { SIDE } else { 1 }
}

/// Two half-gates for each gate.
type Table<'t> = &'t mut [[Block; 2]];

/// The labels of some garblings on the live wires. Wiped on drop.
struct Slots {
    slots: Zeroizing<Vec<Lanes>>,
    /// What NOT adds, and the label of the constant 1: Δ for a garbler, 0 for an evaluator.
    ones: Secret<Lanes>,
    /// Buffers for a run of gates.
    inputs: Zeroizing<Vec<[Lanes; 2]>>,
    outputs: Zeroizing<Vec<Lanes>>,
}

impl Slots {
    /// # Panics
    /// If there is not one label for each input bit.
    fn new<'l>(
        plan: &Plan,
        inputs: impl Iterator<Item = &'l [Block]>,
        ones: Secret<Lanes>,
    ) -> Slots {
        let mut slots = Zeroizing::new(vec![Lanes::default(); plan.slots()]);
        let places = &mut slots[plan.input_slots()];
        for (lane, inputs) in inputs.enumerate() {
            assert_eq!(places.len(), inputs.len(), "one label for each input bit");
            places.iter_mut().zip(inputs).for_each(|(place, label)| place.0[lane] = *label);
        }
        let inputs = Zeroizing::new(vec![[Lanes::default(); 2]; RUN]);
        Slots { slots, ones, inputs, outputs: Zeroizing::new(vec![Lanes::default(); RUN]) }
    }

    /// Walks through the plan. `gates` takes the labels of the inputs of independent AND gates and
    /// writes the labels of their outputs. Returns the labels of the outputs of the first `lanes`
    /// garblings.
    fn walk<E>(
        mut self,
        (plan, lanes): (&Plan, usize),
        mut gates: impl FnMut(&[[Lanes; 2]], Gates<'_>, &mut [Lanes]) -> Result<(), E>,
    ) -> Result<Vec<Labels>, E> {
        let mut cursor: Cursor<'_> = plan.cursor();
        while let Some(batch) = cursor.next_batch() {
            self.free_gates(batch.base, batch.linear);
            let slots = &mut self.slots[batch.base..];
            for (ands, number) in batch.ands.chunks(RUN).zip((batch.first_and..).step_by(RUN)) {
                let inputs = &mut self.inputs[..ands.len()];
                let outputs = &mut self.outputs[..ands.len()];
                for (inputs, and) in inputs.iter_mut().zip(ands) {
                    *inputs = [slots[and.a as usize], slots[and.b as usize]];
                }
                gates(inputs, Gates { ands, place: 0, number }, outputs)?;
                for (output, and) in outputs.iter().zip(ands) {
                    slots[and.out as usize] = *output;
                }
            }
        }
        let outputs = plan.output_slots();
        let of_lane = |lane: usize| {
            let labels = outputs.iter().map(|&slot| self.slots[slot as usize].0[lane]);
            Labels::new(labels.collect())
        };
        Ok((0..lanes).map(of_lane).collect())
    }
}

impl WireStore for Slots {
    #[inline]
    fn xor(&mut self, a: usize, b: usize, out: usize) {
        self.slots[out] = self.slots[a] ^ self.slots[b];
    }

    #[inline]
    fn not(&mut self, a: usize, out: usize) {
        self.slots[out] = self.slots[a] ^ *self.ones;
    }

    #[inline]
    fn constant(&mut self, value: bool, out: usize) {
        self.slots[out] = Lanes(self.ones.0.map(|one| one.select(value)));
    }

    #[inline]
    fn copy(&mut self, from: Range<usize>, out: usize) {
        self.slots.copy_within(from, out);
    }
}

/// Returns the common plan of the instances, and their hashes.
///
/// # Panics
/// If there are no instances or more than [`SIDE`], or they have different plans.
fn plan<'a>(instances: &[Instance<'a>]) -> (&'a Plan, HashLanes) {
    let plan = instances[0].plan;
    let same = instances.iter().all(|instance| std::ptr::eq(instance.plan, plan));
    assert!(same, "instances of one plan are garbled side by side");
    let hashes: Vec<_> = instances.iter().map(|instance| instance.hash).collect();
    (plan, HashLanes::new(&hashes))
}

/// Returns the slots of garblings with these keys, and their Δ.
///
/// # Panics
/// If there is not one label for each input bit, or the lowest bit of a Δ is not set.
fn garbled_slots(plan: &Plan, keys: &[&InputKeys]) -> (Slots, Secret<Lanes>) {
    let mut deltas = Secret::<Lanes>::default();
    for (place, keys) in deltas.0.iter_mut().zip(keys) {
        assert!(keys.delta.lsb(), "labels of a wire differ in colour");
        *place = *keys.delta;
    }
    (Slots::new(plan, keys.iter().map(|keys| &keys.inputs[..]), deltas.clone()), deltas)
}

/// Returns a range of gates of each table.
fn parts<'t>(tables: &'t mut [Table<'_>], range: &Range<usize>) -> Vec<Table<'t>> {
    tables.iter_mut().map(|table| &mut table[range.clone()]).collect()
}

/// [`Instance::garble_into`] for several instances of one plan.
///
/// # Panics
/// As [`Instance::garble_into`], and if there are no instances or more than [`SIDE`], if they have
/// different plans, or if keys or tables are missing.
pub fn garble_side_by_side(
    instances: &[Instance<'_>],
    keys: &[&InputKeys],
    tables: &mut [Table<'_>],
) -> Vec<Labels> {
    let (plan, hashes) = plan(instances);
    assert_eq!((instances.len(), instances.len()), (keys.len(), tables.len()), "one for each");
    for table in &*tables {
        assert_eq!(table.len() as u64, plan.and_count(), "two half-gates for each gate");
    }
    if let ([instance], [keys], [table]) = (instances, keys, &mut *tables) {
        return vec![instance.garble_into(keys, table)];
    }
    let (slots, deltas) = garbled_slots(plan, keys);
    always(slots.walk((plan, instances.len()), |inputs, gates, outputs| {
        let first = gates.number as usize;
        let mut tables = parts(tables, &(first..first + inputs.len()));
        let tweak = 2 * u128::from(gates.number);
        hashes.garble((tweak, &deltas), inputs, &mut tables, outputs);
        Ok::<_, Infallible>(())
    }))
}

/// [`Instance::garble`] for several instances of one plan. Passes the next gates of all tables to
/// `sink` together.
///
/// # Errors
/// The errors of the sink, which end the garbling.
///
/// # Panics
/// As [`Instance::garble`], and if there are no instances or more than [`SIDE`], if they have
/// different plans, or if keys are missing.
pub fn garble_pieces_side_by_side<E>(
    instances: &[Instance<'_>],
    keys: &[&InputKeys],
    mut sink: impl FnMut(&mut [Table<'_>]) -> Result<(), E>,
) -> Result<Vec<Labels>, E> {
    let (plan, hashes) = plan(instances);
    assert_eq!(instances.len(), keys.len(), "one for each");
    if let ([instance], [keys]) = (instances, keys) {
        return Ok(vec![instance.garble(keys, |piece| sink(&mut [piece]))?]);
    }
    let (slots, deltas) = garbled_slots(plan, keys);
    let mut pieces = pieces(instances.len());
    let mut filled = 0;
    let outputs = slots.walk((plan, instances.len()), |inputs, gates, outputs| {
        let range = filled..filled + inputs.len();
        let mut tables: Vec<_> = pieces.iter_mut().map(|p| &mut p[range.clone()]).collect();
        let tweak = 2 * u128::from(gates.number);
        hashes.garble((tweak, &deltas), inputs, &mut tables, outputs);
        filled = range.end;
        if filled >= CHUNK {
            sink(&mut pieces.iter_mut().map(|piece| &mut piece[..CHUNK]).collect::<Vec<_>>())?;
            pieces.iter_mut().for_each(|piece| piece.copy_within(CHUNK..filled, 0));
            filled -= CHUNK;
        }
        Ok::<_, E>(())
    })?;
    if filled > 0 {
        sink(&mut pieces.iter_mut().map(|piece| &mut piece[..filled]).collect::<Vec<_>>())?;
    }
    Ok(outputs)
}

/// [`Instance::evaluate_table`] for several instances of one plan.
///
/// # Panics
/// As [`Instance::evaluate_table`], and if there are no instances or more than [`SIDE`], if they
/// have different plans, or if inputs or tables are missing.
pub fn evaluate_side_by_side(
    instances: &[Instance<'_>],
    inputs: &[&[Block]],
    tables: &[&[[Block; 2]]],
) -> Vec<Labels> {
    let (plan, hashes) = plan(instances);
    assert_eq!((instances.len(), instances.len()), (inputs.len(), tables.len()), "one for each");
    for table in tables {
        assert_eq!(table.len() as u64, plan.and_count(), "two half-gates for each gate");
    }
    if let ([instance], [inputs], [table]) = (instances, inputs, tables) {
        return vec![instance.evaluate_table(inputs, table)];
    }
    let slots = Slots::new(plan, inputs.iter().copied(), Secret::default());
    always(slots.walk((plan, instances.len()), |inputs, gates, outputs| {
        let first = gates.number as usize;
        let range = first..first + inputs.len();
        let tables: Vec<_> = tables.iter().map(|table| &table[range.clone()]).collect();
        hashes.evaluate(2 * u128::from(gates.number), inputs, &tables, outputs);
        Ok::<_, Infallible>(())
    }))
}

/// [`Instance::evaluate`] for several instances of one plan. `source` fills in the next gates of
/// all tables together.
///
/// # Errors
/// The errors of the source, which end the evaluation.
///
/// # Panics
/// As [`Instance::evaluate`], and if there are no instances or more than [`SIDE`], if they have
/// different plans, or if inputs are missing.
pub fn evaluate_pieces_side_by_side<E>(
    instances: &[Instance<'_>],
    inputs: &[&[Block]],
    mut source: impl FnMut(&mut [Table<'_>]) -> Result<(), E>,
) -> Result<Vec<Labels>, E> {
    let (plan, hashes) = plan(instances);
    assert_eq!(instances.len(), inputs.len(), "one for each");
    if let ([instance], [inputs]) = (instances, inputs) {
        return Ok(vec![instance.evaluate(inputs, |piece| source(&mut [piece]))?]);
    }
    let mut pieces = pieces(instances.len());
    // Evaluated gates of the pieces, gates in the pieces, and gates that are not read yet.
    let (mut done, mut filled, mut missing) = (0, 0, plan.and_count());
    let slots = Slots::new(plan, inputs.iter().copied(), Secret::default());
    slots.walk((plan, instances.len()), |inputs, gates, outputs| {
        if filled - done < inputs.len() {
            pieces.iter_mut().for_each(|piece| piece.copy_within(done..filled, 0));
            let start = filled - done;
            let more = missing.min(CHUNK as u64) as usize;
            (done, filled, missing) = (0, start + more, missing - more as u64);
            source(&mut pieces.iter_mut().map(|p| &mut p[start..filled]).collect::<Vec<_>>())?;
        }
        let range = done..done + inputs.len();
        let tables: Vec<_> = pieces.iter().map(|piece| &piece[range.clone()]).collect();
        hashes.evaluate(2 * u128::from(gates.number), inputs, &tables, outputs);
        done = range.end;
        Ok(())
    })
}

/// Returns room for a piece of each table, and for the run of gates that crosses its end.
fn pieces(tables: usize) -> Vec<Zeroizing<Vec<[Block; 2]>>> {
    (0..tables).map(|_| Zeroizing::new(vec![[Block::ZERO; 2]; CHUNK + RUN])).collect()
}
