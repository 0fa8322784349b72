//! The kernel: half-gates for gates that are independent of each other.
//!
//! With H(t, ·) the hash under tweak t, gate number g has the tweaks 2g and 2g + 1. From the labels
//! α, β of its inputs and offsets x, y, z the garbler computes
//!
//! ```text
//! T_G = H(2g, α) ⊕ H(2g, α ⊕ Δ) ⊕ x
//! T_E = H(2g+1, β) ⊕ H(2g+1, β ⊕ Δ) ⊕ α ⊕ y
//! L_γ = H(2g, α) ⊕ H(2g+1, β) ⊕ z
//! ```
//!
//! and the evaluator, with labels A, B and bits u, v,
//!
//! ```text
//! H(2g, A) ⊕ H(2g+1, B) ⊕ u·T_G ⊕ v·(T_E ⊕ A).
//! ```
//!
//! In plain garbling, α and β are the labels of colour 0, and u and v are the colours of A and B.
//! With λ_a, λ_b the colours of the labels for 0, (x, y, z) = (λ_bΔ, λ_aΔ, λ_aλ_bΔ): see
//! [`Colours`].

use symbolon_circuit::And;
use symbolon_primitives::{Block, TweakedHash};
use zeroize::ZeroizeOnDrop;

/// The most gates that are garbled or evaluated at a time: their hash inputs stay in the L1 cache
/// and fill the widest registers.
pub const RUN: usize = 64;

/// Gates that do not depend on each other.
#[derive(Clone, Copy, Debug)]
pub struct Gates<'a> {
    /// At most [`RUN`].
    pub ands: &'a [And],
    /// The place of the first gate among the gates that have offsets.
    pub place: usize,
    /// The number of the first gate, which determines its tweaks.
    pub number: u64,
}

/// What an application of half-gates adds to the sums of hashes.
pub trait Offsets {
    /// Writes the offsets [x, y] and z of the gates from `place` on. `inputs` has the labels for 0
    /// of the gates' inputs; an implementation may replace them by the labels to hash.
    fn fill(
        &self,
        place: usize,
        delta: Block,
        inputs: &mut [[Block; 2]],
        halves: &mut [[Block; 2]],
        outputs: &mut [Block],
    );
}

/// The offsets of plain garbling, which follow from the colours of the labels for 0.
///
/// Paper: ZRE15, Fig. 2, GbAnd
#[derive(Clone, Copy, Debug)]
pub struct Colours;

impl Offsets for Colours {
    #[inline]
    fn fill(
        &self,
        _: usize,
        delta: Block,
        inputs: &mut [[Block; 2]],
        halves: &mut [[Block; 2]],
        outputs: &mut [Block],
    ) {
        for ((inputs, halves), output) in inputs.iter_mut().zip(halves).zip(outputs) {
            let [a, b] = inputs.map(|label| delta.select(label.lsb()));
            *inputs = [inputs[0] ^ a, inputs[1] ^ b];
            *halves = [b, a];
            // Each is Δ or 0.
            *output = a & b;
        }
    }
}

/// Buffers for a run of gates.
#[derive(ZeroizeOnDrop)]
pub struct HalfGates {
    inputs: [[Block; 2]; RUN],
    labels: [Block; RUN],
}

impl Default for HalfGates {
    fn default() -> Self {
        HalfGates { inputs: [[Block::ZERO; 2]; RUN], labels: [Block::ZERO; RUN] }
    }
}

impl HalfGates {
    /// Garbles gates: reads the labels for 0 of their inputs from `slots`, and writes those of
    /// their outputs to `slots`. Writes two half-gates for each gate to `table`. Returns the
    /// outputs' labels.
    ///
    /// Paper: ZRE15, Fig. 2, GbAnd | half-gates
    ///
    /// Paper: YWZ20, Fig. 6, 8 | half-gates
    ///
    /// # Panics
    /// If there are more than [`RUN`] gates, or `table` is not as long as there are gates.
    #[inline]
    pub fn garble(
        &mut self,
        (hash, delta): (&TweakedHash, Block),
        slots: &mut [Block],
        gates: Gates<'_>,
        offsets: &impl Offsets,
        table: &mut [[Block; 2]],
    ) -> &[Block] {
        let n = gates.ands.len();
        let (inputs, labels) = (&mut self.inputs[..n], &mut self.labels[..n]);
        for (inputs, and) in inputs.iter_mut().zip(gates.ands) {
            *inputs = [slots[and.a as usize], slots[and.b as usize]];
        }
        offsets.fill(gates.place, delta, inputs, table, labels);
        hash.half_gates(2 * u128::from(gates.number), delta, inputs, table, labels);
        for (label, and) in labels.iter().zip(gates.ands) {
            slots[and.out as usize] = *label;
        }
        labels
    }

    /// Evaluates gates of a plain garbling: reads the labels of their inputs from `slots`, and
    /// writes those of their outputs to `slots`.
    ///
    /// # Panics
    /// If there are more than [`RUN`] gates, or `table` is not as long as there are gates.
    #[inline]
    pub fn evaluate(
        &mut self,
        hash: &TweakedHash,
        slots: &mut [Block],
        gates: Gates<'_>,
        table: &[[Block; 2]],
    ) {
        assert_eq!(gates.ands.len(), table.len(), "two half-gates for each gate");
        let hashes = &mut self.inputs[..gates.ands.len()];
        for (inputs, and) in hashes.iter_mut().zip(gates.ands) {
            *inputs = [slots[and.a as usize], slots[and.b as usize]];
        }
        hash.hash(2 * u128::from(gates.number), 1, hashes.as_flattened_mut());
        for ((and, hashes), halves) in gates.ands.iter().zip(hashes).zip(table) {
            let (a, b) = (slots[and.a as usize], slots[and.b as usize]);
            slots[and.out as usize] = combine(*hashes, *halves, a, [a.lsb(), b.lsb()]);
        }
    }
}

/// Returns the label that the evaluator computes for a gate, from the hashes of its labels, the
/// half-gates, the label of α, and the bits u and v.
#[inline]
pub fn combine(hashes: [Block; 2], halves: [Block; 2], a: Block, [u, v]: [bool; 2]) -> Block {
    hashes[0] ^ hashes[1] ^ halves[0].select(u) ^ (halves[1] ^ a).select(v)
}
