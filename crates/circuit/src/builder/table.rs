//! The tables by which equal gates and look-ups are found.

use std::collections::HashMap;

use crate::{Lookup, Step, Table, Wire};

/// How many gates are noted with the newer of their operands.
const NEAR: usize = 2;

/// The places of gates in the list of steps, found by kind and operands.
///
/// Most wires are the newer operand of one or two gates, made soon after the wire: these are noted
/// with the wire, where looking them up stays within the caches. The further gates of a wire go
/// to a hash table.
pub(super) struct GateTable {
    /// For each wire the places of gates plus one, 0: none. Wires are listed in pages of [`PAGE`],
    /// which are empty until one of them is an operand: most inputs and most results of repeats go
    /// to other repeats only.
    near: Vec<Vec<[u32; NEAR]>>,
    /// How many pages are not empty.
    pages: usize,
    far: HashTable,
}

/// The wires in a page.
const PAGE: usize = 512;

impl GateTable {
    pub(super) fn new() -> GateTable {
        GateTable { near: Vec::new(), pages: 0, far: HashTable::new() }
    }

    /// Returns the bytes that it takes, and what it takes in passing if it grows soon.
    pub(super) fn memory(&self) -> u64 {
        let slots = self.far.entries.len();
        // An eighth of the slots is left before it grows to twice as many.
        let growing = if self.far.used > slots / 8 * 3 { 2 * slots } else { 0 };
        let near = self.pages * PAGE * size_of::<[u32; NEAR]>()
            + self.near.capacity() * size_of::<Vec<[u32; NEAR]>>();
        (near + (slots + growing) * size_of::<u64>()) as u64
    }

    /// Returns the place of a gate equal to `gate` (whatever its output), or `place` after noting
    /// that the caller puts the gate there.
    pub(super) fn find_or_insert(&mut self, steps: &[Step], gate: Key, place: u32) -> u32 {
        let wire = gate.newer_operand() as usize;
        let (page, wire) = (wire / PAGE, wire % PAGE);
        if page >= self.near.len() {
            self.near.resize_with(page + 1, Vec::new);
        }
        let page = &mut self.near[page];
        if page.is_empty() {
            *page = vec![[0; NEAR]; PAGE];
            self.pages += 1;
        }
        for entry in &mut page[wire] {
            if *entry == 0 {
                *entry = place + 1;
                return place;
            }
            let found = *entry - 1;
            if Key::of(&steps[found as usize]) == Some(gate) {
                return found;
            }
        }
        self.far.find_or_insert(steps, gate, place)
    }
}

/// An open-addressing hash table from gates to their places.
///
/// An entry is eight bytes: the gate's 32-bit hash, whose high bits are also its home slot, and its
/// place plus one (0: empty). Growing therefore never looks at the gates themselves and reads and
/// writes in order.
struct HashTable {
    entries: Vec<u64>,
    used: usize,
    /// 32 minus the logarithm of the number of slots.
    shift: u32,
}

const FIRST_LOG: u32 = 8;

impl HashTable {
    fn new() -> HashTable {
        HashTable { entries: vec![0; 1 << FIRST_LOG], used: 0, shift: 32 - FIRST_LOG }
    }

    fn find_or_insert(&mut self, steps: &[Step], gate: Key, place: u32) -> u32 {
        let hash = gate.hash();
        let mask = self.entries.len() - 1;
        let mut slot = (hash >> self.shift) as usize;
        loop {
            let entry = self.entries[slot];
            if entry == 0 {
                break;
            }
            let found = entry as u32 - 1;
            if (entry >> 32) as u32 == hash && Key::of(&steps[found as usize]) == Some(gate) {
                return found;
            }
            slot = (slot + 1) & mask;
        }
        self.entries[slot] = u64::from(hash) << 32 | u64::from(place + 1);
        self.used += 1;
        // At most half full, until the table is so large that all bits of the hash are used.
        if self.used * 2 > self.entries.len() && self.shift > 1 {
            self.grow();
        }
        place
    }

    fn grow(&mut self) {
        self.shift -= 1;
        let mask = self.entries.len() * 2 - 1;
        let old = std::mem::replace(&mut self.entries, vec![0; mask + 1]);
        for entry in old.into_iter().filter(|&entry| entry != 0) {
            let mut slot = ((entry >> 32) as u32 >> self.shift) as usize;
            while self.entries[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.entries[slot] = entry;
        }
    }
}

/// What makes two gates equal: kind and operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// XOR of two wires, the smaller first.
    Xor(u32, u32),
    /// AND of two wires, the smaller first.
    And(u32, u32),
    /// Inversion of a wire.
    Inv(u32),
}

impl Key {
    fn of(step: &Step) -> Option<Key> {
        match *step {
            Step::Xor { a, b, .. } => Some(Key::Xor(a, b)),
            Step::And { a, b, .. } => Some(Key::And(a, b)),
            Step::Inv { a, .. } => Some(Key::Inv(a)),
            Step::Const { .. } | Step::Call(_) | Step::Lookup(_) | Step::Repeat(_) => None,
        }
    }

    fn newer_operand(self) -> u32 {
        match self {
            Key::Xor(_, b) | Key::And(_, b) => b,
            Key::Inv(a) => a,
        }
    }

    fn hash(self) -> u32 {
        let (kind, a, b) = match self {
            Key::Xor(a, b) => (0u64, a, b),
            Key::And(a, b) => (1, a, b),
            Key::Inv(a) => (2, a, a),
        };
        // Two multiplications by odd constants with a fold between them spread neighbouring wires
        // over the whole table.
        let packed = (u64::from(a) << 32 | u64::from(b)).wrapping_add(kind.rotate_right(1));
        let mixed = packed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) as u32
    }
}

/// The look-ups made so far, and what finds equal ones.
#[derive(Default)]
pub(super) struct Lookups {
    /// `table` is an index in `tables`.
    pub(super) gates: Vec<Lookup>,
    pub(super) inputs: Vec<Wire>,
    pub(super) tables: Vec<Table>,
    table_places: HashMap<Table, u32>,
    /// The first output of every look-up, by its table and inputs.
    pub(super) made: HashMap<(u32, Box<[Wire]>), Wire>,
}

impl Lookups {
    /// Returns the wires that a look-up reads.
    pub(super) fn inputs_of(&self, lookup: Lookup) -> &[Wire] {
        &self.inputs[lookup.first_input as usize..][..lookup.input_count as usize]
    }

    /// Returns the index of `table` in `tables`, and adds it if it is missing.
    pub(super) fn place_of(&mut self, table: &Table) -> u32 {
        let tables = &mut self.tables;
        *self.table_places.entry(table.clone()).or_insert_with(|| {
            tables.push(table.clone());
            tables.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_put_in_and_nothing_else() {
        let mut table = GateTable::new();
        let mut steps = Vec::new();
        // Wires with one gate and with many, so that gates are with wires and in the table.
        for i in 0..5000u32 {
            let (a, b, out) = match i % 4 {
                0 => (i, i + 10, i),
                _ => (i, 10_000 + i % 7, i),
            };
            let step = if i % 3 == 0 { Step::Xor { a, b, out } } else { Step::And { a, b, out } };
            let key = Key::of(&step).unwrap();
            assert_eq!(table.find_or_insert(&steps, key, i), i);
            steps.push(step);
        }
        assert!(table.far.used > 3000);
        for (i, step) in steps.iter().enumerate() {
            let key = Key::of(step).unwrap();
            assert_eq!(table.find_or_insert(&steps, key, 9999), i as u32);
        }
        assert_eq!(table.find_or_insert(&steps, Key::Inv(7), 9999), 9999);
    }
}
