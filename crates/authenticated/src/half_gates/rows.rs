//! The garbler's computation of half-gates: step 8 for independent gates, without the part for
//! other garblers.

use symbolon_circuit::And;
use symbolon_garbling::half_gates::{self, Gates, RUN};
use symbolon_primitives::{BitVec, Block, Delta, reserve_wiped};
use zeroize::ZeroizeOnDrop;

use super::hash::LabelHash;
use crate::gates::masked_gates::MaskedGates;

/// Garbles, and collects the data to be sent and to be kept.
#[derive(ZeroizeOnDrop)]
pub(super) struct HalfGates {
    /// The evaluator's index among the peers.
    pub evaluator: usize,
    /// Whether this party's labels carry the masked values (the paper's P_2), as the first
    /// garbler's do.
    is_pointer: bool,
    pub delta: Delta,
    #[zeroize(skip)]
    pub hash: LabelHash,
    /// L_γ,0 of every gate of the whole circuit, or of a chunk, for checking the evaluator's Λ_γ.
    pub outputs: Vec<Block>,
    /// Two half-gates for each gate of a chunk, for the evaluator.
    pub message: Vec<Block>,
    /// The bits b of a chunk; empty unless this party's labels carry the masked values.
    pub pointers: BitVec,
    #[zeroize(skip)]
    kernel: Box<half_gates::HalfGates>,
}

impl HalfGates {
    /// Starts with nothing garbled.
    pub fn new(evaluator: usize, is_pointer: bool, delta: Delta, hash: LabelHash) -> HalfGates {
        HalfGates {
            evaluator,
            is_pointer,
            delta,
            hash,
            outputs: Vec::new(),
            message: Vec::new(),
            pointers: BitVec::zeros(0),
            kernel: Box::default(),
        }
    }

    /// Begins a chunk.
    pub fn clear(&mut self) {
        self.message.clear();
        self.pointers = BitVec::zeros(0);
    }

    /// Garbles gates that do not depend on each other, from gate `done` of the chunk on; the first
    /// gate has number `first`.
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
            let run = Gates { ands, place: done + from, number: first + from as u64 };
            self.run(slots, run, gates);
        }
    }

    /// Garbles at most `RUN` gates.
    fn run(&mut self, slots: &mut [Block], run: Gates<'_>, gates: &MaskedGates) {
        let n = run.ands.len();
        let start = self.message.len();
        self.message.resize(start + 2 * n, Block::ZERO);
        let message = self.message[start..].as_chunks_mut().0;
        let by = (&self.hash.half, *self.delta);
        let labels = self.kernel.garble(by, slots, run, gates, message);
        if self.is_pointer {
            let bits = labels.iter().enumerate();
            let pointers = bits.fold(0, |bits, (k, label)| bits | u64::from(label.lsb()) << k);
            self.pointers.push_word(pointers, n);
        }
        reserve_wiped(&mut self.outputs, n);
        self.outputs.extend_from_slice(labels);
    }
}
