//! How a garbler makes half-gates: step 8 for gates that are independent of each other, without
//! what other garblers need.

use symbolon_circuit::And;
use symbolon_primitives::{BitVec, Block, Delta};
use zeroize::Zeroize;

use super::hash::LabelHash;
use crate::{
    gates::{masked_gates::MaskedGates, wire_shares::WireShares},
    labels::RUN,
};

/// Garbles, and collects what is to be sent and what is to be kept.
pub(super) struct HalfGates {
    /// The evaluator's index among the peers.
    pub evaluator: usize,
    /// Whether the own labels carry the masked values (the paper's P_2): the first garbler's do.
    is_pointer: bool,
    pub delta: Delta,
    pub hash: LabelHash,
    /// L_γ,0 of every gate of the whole circuit, or of a chunk: proves or disproves the evaluator's
    /// Λ_γ.
    pub outputs: Vec<Block>,
    /// Of a chunk, for the evaluator: two half-gates for each gate.
    pub message: Vec<Block>,
    /// Of a chunk: bits b; none unless the own labels carry the masked values.
    pub pointers: BitVec,
    /// Of a run of gates: L_α,0 and L_β,0; and L_γ,0.
    inputs: [[Block; 2]; RUN],
    labels: [Block; RUN],
}

impl HalfGates {
    /// Nothing garbled yet.
    pub fn new(evaluator: usize, is_pointer: bool, delta: Delta, hash: LabelHash) -> HalfGates {
        HalfGates {
            evaluator,
            is_pointer,
            delta,
            hash,
            outputs: Vec::new(),
            message: Vec::new(),
            pointers: BitVec::zeros(0),
            inputs: [[Block::ZERO; 2]; RUN],
            labels: [Block::ZERO; RUN],
        }
    }

    /// Begins a chunk.
    pub fn clear(&mut self) {
        self.message.clear();
        self.pointers = BitVec::zeros(0);
    }

    /// Garbles gates that do not depend on each other, from gate `done` of the chunk on; the first
    /// has number `first`.
    pub fn garble(
        &mut self,
        slots: &mut [Block],
        ands: &[And],
        gates: &MaskedGates,
        done: usize,
        first: u64,
    ) {
        for (run, ands) in ands.chunks(RUN).enumerate() {
            let from = RUN * run;
            self.run(slots, ands, gates, done + from, first + from as u64);
        }
    }

    /// Garbles at most `RUN` gates.
    fn run(
        &mut self,
        slots: &mut [Block],
        ands: &[And],
        gates: &MaskedGates,
        g: usize,
        first: u64,
    ) {
        let n = ands.len();
        let (inputs, labels) = (&mut self.inputs[..n], &mut self.labels[..n]);
        for (inputs, and) in inputs.iter_mut().zip(ands) {
            *inputs = [slots[and.a as usize], slots[and.b as usize]];
        }
        let start = self.message.len();
        self.message.resize(start + 2 * n, Block::ZERO);
        let message = self.message[start..].as_chunks_mut().0;
        // The own shares' part, to which the hashes are added.
        WireShares::key_sums([&gates.lambda_b, &gates.lambda_a], g, *self.delta, message);
        let (own, _) = labels.as_chunks_mut::<1>();
        WireShares::key_sums([&gates.lambda_ab_c], g, *self.delta, own);
        self.hash.garble(first, *self.delta, inputs, message, labels);

        let mut pointers = 0;
        for (k, (label, and)) in labels.iter().zip(ands).enumerate() {
            slots[and.out as usize] = *label;
            pointers |= u64::from(label.lsb()) << k;
        }
        if self.is_pointer {
            self.pointers.push_word(pointers, n);
        }
        self.outputs.extend_from_slice(labels);
    }
}

impl Drop for HalfGates {
    fn drop(&mut self) {
        self.inputs.zeroize();
        self.labels.zeroize();
        self.outputs.zeroize();
    }
}
