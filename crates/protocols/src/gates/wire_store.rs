//! What free gates do to whatever a party holds of wires.

use std::ops::Range;

use symbolon_circuit::{Cursor, Linear};

/// Values on wires: masks, labels, masked values.
pub(crate) trait WireStore {
    /// Wire `out` becomes `a` ⊕ `b`.
    fn xor(&mut self, a: usize, b: usize, out: usize);

    /// Wire `out` becomes the opposite of wire `a`.
    fn not(&mut self, a: usize, out: usize);

    /// Wire `out` becomes a public constant.
    fn constant(&mut self, value: bool, out: usize);

    /// Wires from `out` on become wires `from`, in order.
    fn copy(&mut self, from: Range<usize>, out: usize);

    /// Evaluates free gates, one after the other; wires are counted from `base`.
    fn free_gates(&mut self, base: usize, gates: &[Linear]) {
        let at = |slot: u32| base + slot as usize;
        for &gate in gates {
            match gate {
                Linear::Xor { a, b, out } => self.xor(at(a), at(b), at(out)),
                Linear::Inv { a, out } => self.not(at(a), at(out)),
                Linear::Copy { from, out, len } => self.copy(at(from)..at(from + len), at(out)),
                Linear::Const { value, out } => self.constant(value, at(out)),
            }
        }
    }

    /// Evaluates the free gates after the last AND gate.
    fn finish(&mut self, mut cursor: Cursor<'_>) {
        while let Some(batch) = cursor.next_batch() {
            self.free_gates(batch.base, batch.linear);
        }
    }
}
