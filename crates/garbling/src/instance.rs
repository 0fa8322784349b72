//! One garbling of a plan.

use std::convert::Infallible;

use symbolon_circuit::Plan;
use symbolon_primitives::{BitVec, Block, Delta, Prg, Seed, TweakedHash, derive_block};
use zeroize::{Zeroize, Zeroizing};

use crate::half_gates::{Colours, Gates, HalfGates, RUN};
use crate::wires::{self, ActiveLabels, WireStore, ZeroLabels};

/// Gates in a piece of a table; only the last piece may have fewer.
pub const CHUNK: usize = 512;

/// Labels of wires, in order, wiped when they are dropped.
pub type Labels = Zeroizing<Vec<Block>>;

/// What a garbler chooses before it garbles.
#[derive(Clone)]
pub struct InputKeys {
    /// The offset of the labels for 1; its lowest bit is set.
    pub delta: Delta,
    /// The inputs' labels for 0.
    pub inputs: Labels,
}

/// One garbling of a plan: what garbler and evaluator must agree on beforehand.
///
/// The session and the number key the hash. **Never use a number twice in a session with the same
/// Δ**, neither for another plan nor for other labels: tweaks would repeat. Garbling the same plan
/// again with the same keys, as a check, gives the same table and is harmless.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) session: &'a [u8; 32],
    pub(crate) number: u64,
    pub(crate) hash: TweakedHash,
}

impl<'a> Instance<'a> {
    /// Returns garbling number `number` of a session.
    ///
    /// # Panics
    /// If the plan keeps look-ups, which are not gates.
    pub fn new(plan: &'a Plan, session: &'a [u8; 32], number: u64) -> Self {
        assert_eq!(plan.counts().lookups, 0, "look-ups are lowered to gates before garbling");
        let hash =
            TweakedHash::new(derive_block("symbolon garbling half-gates 1", session, number));
        Instance { plan, session, number, hash }
    }

    /// Returns the plan that is garbled.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// Returns the number of gates in the table; each takes two blocks.
    pub fn gates(&self) -> u64 {
        self.plan.and_count()
    }

    /// Derives Δ and the inputs' labels from a seed. Different instances derive different keys from
    /// the same seed.
    pub fn keys_from_seed(&self, seed: &Seed) -> InputKeys {
        let mut prg = self.generator("symbolon 2026 garbling keys", seed);
        let delta = Delta::new(prg.block().with_lsb(true));
        let mut inputs = Labels::new(vec![Block::ZERO; self.plan.input_slots().len()]);
        prg.fill_blocks(&mut inputs);
        InputKeys { delta, inputs }
    }

    /// Returns the generator for a purpose of this instance. Different instances derive different
    /// generators from the same seed, so guessing a seed attacks only one instance.
    pub fn generator(&self, purpose: &str, seed: &Seed) -> Prg {
        let mut digest = Zeroizing::new([0; 32]);
        self.expand(purpose, seed, &mut *digest);
        Prg::from_digest(&digest)
    }

    /// Derives a key for a purpose of this instance.
    pub(crate) fn subkey(&self, purpose: &str, secret: &Seed) -> Seed {
        let mut key = Seed::default();
        self.expand(purpose, secret, Block::as_bytes_mut(std::slice::from_mut(&mut *key)));
        key
    }

    /// Fills `out` with bytes for a purpose of this instance.
    fn expand(&self, purpose: &str, secret: &Seed, out: &mut [u8]) {
        let mut hasher = Zeroizing::new(blake3::Hasher::new_derive_key(purpose));
        hasher.update(self.session);
        hasher.update(&self.number.to_le_bytes());
        hasher.update(Block::as_bytes(std::slice::from_ref(&**secret)));
        hasher.finalize_xof().fill(out);
    }

    /// Garbles. Passes the table to `sink` in order, in pieces of [`CHUNK`] gates and a shorter
    /// last one; the sink may change a piece. Returns the outputs' labels for 0.
    ///
    /// Paper: ZRE15, Fig. 2, Gb, En, De | a garbled circuit, its inputs' labels, its outputs'
    /// values
    ///
    /// # Errors
    /// The errors of the sink, which end the garbling.
    ///
    /// # Panics
    /// If there is not one label for each input bit, or Δ's lowest bit is not set.
    pub fn garble<E>(
        &self,
        keys: &InputKeys,
        mut sink: impl FnMut(&mut [[Block; 2]]) -> Result<(), E>,
    ) -> Result<Labels, E> {
        assert!(keys.delta.lsb(), "labels of a wire differ in colour");
        let mut labels = ZeroLabels::new(self.plan, &keys.delta, &keys.inputs);
        let mut kernel = Box::<HalfGates>::default();
        let mut chunk = Zeroizing::new(vec![[Block::ZERO; 2]; CHUNK]);
        let mut filled = 0;
        let mut cursor = self.plan.cursor();
        while let Some(batch) = cursor.next_batch() {
            labels.free_gates(batch.base, batch.linear);
            let slots = &mut labels.slots[batch.base..];
            let (mut ands, mut number) = (batch.ands, batch.first_and);
            while !ands.is_empty() {
                let (run, rest) = ands.split_at(ands.len().min(RUN).min(CHUNK - filled));
                let table = &mut chunk[filled..][..run.len()];
                let gates = Gates { ands: run, place: 0, number };
                kernel.garble((&self.hash, *keys.delta), slots, gates, &Colours, table);
                (ands, number, filled) = (rest, number + run.len() as u64, filled + run.len());
                if filled == CHUNK {
                    sink(&mut chunk)?;
                    filled = 0;
                }
            }
        }
        if filled > 0 {
            sink(&mut chunk[..filled])?;
        }
        Ok(Labels::new(wires::outputs(self.plan, &labels.slots)))
    }

    /// Garbles into the caller's memory. Returns the outputs' labels for 0.
    ///
    /// # Panics
    /// As [`garble`](Instance::garble), and if the table is not as long as the plan has AND gates.
    pub fn garble_into(&self, keys: &InputKeys, table: &mut [[Block; 2]]) -> Labels {
        assert!(keys.delta.lsb(), "labels of a wire differ in colour");
        assert_eq!(table.len() as u64, self.plan.and_count(), "two half-gates for each gate");
        let mut labels = ZeroLabels::new(self.plan, &keys.delta, &keys.inputs);
        let mut kernel = Box::<HalfGates>::default();
        let mut cursor = self.plan.cursor();
        while let Some(batch) = cursor.next_batch() {
            labels.free_gates(batch.base, batch.linear);
            let slots = &mut labels.slots[batch.base..];
            let first = batch.first_and as usize;
            let table = table[first..first + batch.ands.len()].chunks_mut(RUN);
            for ((ands, table), number) in
                batch.ands.chunks(RUN).zip(table).zip((batch.first_and..).step_by(RUN))
            {
                let gates = Gates { ands, place: 0, number };
                kernel.garble((&self.hash, *keys.delta), slots, gates, &Colours, table);
            }
        }
        Labels::new(wires::outputs(self.plan, &labels.slots))
    }

    /// Evaluates with one label for each input bit. `source` fills in the table in order, in pieces
    /// of [`CHUNK`] gates and a shorter last one. Returns the outputs' labels.
    ///
    /// A wrong table or label gives labels that look random: the caller must check the outputs'
    /// labels.
    ///
    /// Paper: ZRE15, Fig. 2, Ev | evaluation
    ///
    /// # Errors
    /// The errors of the source, which end the evaluation.
    ///
    /// # Panics
    /// If there is not one label for each input bit.
    pub fn evaluate<E>(
        &self,
        inputs: &[Block],
        mut source: impl FnMut(&mut [[Block; 2]]) -> Result<(), E>,
    ) -> Result<Labels, E> {
        let mut labels = ActiveLabels::new(self.plan, inputs);
        let mut kernel = Box::<HalfGates>::default();
        let mut chunk = Zeroizing::new(vec![[Block::ZERO; 2]; CHUNK]);
        // Evaluated gates of the chunk, gates in the chunk, and gates that are not read yet.
        let (mut done, mut filled, mut missing) = (0, 0, self.plan.and_count());
        let mut cursor = self.plan.cursor();
        while let Some(batch) = cursor.next_batch() {
            labels.free_gates(batch.base, batch.linear);
            let slots = &mut labels.slots[batch.base..];
            let (mut ands, mut number) = (batch.ands, batch.first_and);
            while !ands.is_empty() {
                if done == filled {
                    (done, filled) = (0, missing.min(CHUNK as u64) as usize);
                    source(&mut chunk[..filled])?;
                    missing -= filled as u64;
                }
                let (run, rest) = ands.split_at(ands.len().min(RUN).min(filled - done));
                let table = &chunk[done..][..run.len()];
                let gates = Gates { ands: run, place: 0, number };
                kernel.evaluate(&self.hash, slots, gates, table);
                (ands, number, done) = (rest, number + run.len() as u64, done + run.len());
            }
        }
        Ok(Labels::new(wires::outputs(self.plan, &labels.slots)))
    }

    /// Evaluates a table in memory. Returns the outputs' labels.
    ///
    /// # Panics
    /// If the table is not as long as the plan has AND gates, or there is not one label for each
    /// input bit.
    pub fn evaluate_table(&self, inputs: &[Block], table: &[[Block; 2]]) -> Labels {
        assert_eq!(table.len() as u64, self.plan.and_count(), "two half-gates for each gate");
        let mut labels = ActiveLabels::new(self.plan, inputs);
        let mut kernel = Box::<HalfGates>::default();
        let mut cursor = self.plan.cursor();
        while let Some(batch) = cursor.next_batch() {
            labels.free_gates(batch.base, batch.linear);
            let slots = &mut labels.slots[batch.base..];
            let first = batch.first_and as usize;
            let table = table[first..first + batch.ands.len()].chunks(RUN);
            for ((ands, table), number) in
                batch.ands.chunks(RUN).zip(table).zip((batch.first_and..).step_by(RUN))
            {
                let gates = Gates { ands, place: 0, number };
                kernel.evaluate(&self.hash, slots, gates, table);
            }
        }
        Labels::new(wires::outputs(self.plan, &labels.slots))
    }
}

/// Unwraps the result of a walk whose sink or source cannot fail.
pub(crate) fn always<T>(result: Result<T, Infallible>) -> T {
    let Ok(value) = result;
    value
}

/// Returns the labels for these bits, from the labels for 0.
///
/// Paper: ZRE15, Fig. 2, Gb, En, De
///
/// # Panics
/// If there are more labels than bits.
pub fn choose(zero: &[Block], bits: &BitVec, delta: &Delta) -> Labels {
    let choose = |(w, label): (usize, &Block)| *label ^ delta.select(bits.get(w));
    Labels::new(zero.iter().enumerate().map(choose).collect())
}

/// Returns what decodes the outputs: the colours of their labels for 0.
///
/// Paper: ZRE15, Fig. 2, Gb, En, De
pub fn decoding(zero: &[Block]) -> BitVec {
    let mut colours: Vec<bool> = zero.iter().map(|label| label.lsb()).collect();
    let decoding = BitVec::from_bools(&colours);
    colours.zeroize();
    decoding
}

/// Returns the value of a label, for the garbler of a wire whose label for 0 is `zero`, or `None`
/// if it is neither of the wire's labels. The time does not depend on which it is.
pub fn value_of(label: Block, zero: Block, delta: &Delta) -> Option<bool> {
    let is_zero = label.ct_eq(&zero);
    let is_one = label.ct_eq(&(zero ^ **delta));
    (is_zero | is_one).then_some(is_one)
}
