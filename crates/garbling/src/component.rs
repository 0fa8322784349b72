//! Components garbled from a seed, for cut-and-choose.
//!
//! The garbler sends the digest of each copy first. A copy that is opened is garbled again from its
//! seed, and has to have this digest; nothing of its table is kept. A copy that stays is sent whole
//! and has to have its digest, too, so that it is the one that might have been opened.
//!
//! # What the digest covers
//! The table, every block of it in order, and with [`Coverage::TableAndDecoding`] the colours of
//! the outputs' labels for 0, which say what the outputs' labels mean. **A digest that covers the
//! decoding gives it away if it is short**: a holder of the table may try all of it. Cover it only
//! if it is sent with the table.
//!
//! The digest covers neither Δ nor the labels of inputs and outputs: a protocol commits to those by
//! other means and compares the [`ComponentKeys`] of an opened copy with them. It hides nothing of
//! a table that can be guessed, such as that of no gates. Two parties compute it alike only of the
//! same plan: agree on the circuit first.

use std::convert::Infallible;

use symbolon_primitives::{BitVec, Block, BlockHasher, Delta, Seed, same_digest};

use crate::instance::{self, InputKeys, Instance, Labels, always};

/// What a digest covers; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// The table.
    Table,
    /// The table, and the colours of the outputs' labels for 0.
    TableAndDecoding,
}

/// What the garbler knows of a garbled component and the evaluator must not.
#[derive(Clone)]
pub struct ComponentKeys {
    /// The offset of the labels for 1.
    pub delta: Delta,
    /// The inputs' labels for 0.
    pub inputs: Labels,
    /// The outputs' labels for 0.
    pub outputs: Labels,
}

/// A garbled component as it is sent, in memory.
pub struct GarbledComponent {
    /// Two half-gates for each AND gate.
    pub table: Vec<[Block; 2]>,
    /// The digest of what the [`Coverage`] says.
    pub digest: [u8; 32],
}

/// The digest of a garbled component that comes in pieces.
pub struct ComponentDigest(BlockHasher);

impl Default for ComponentDigest {
    fn default() -> Self {
        ComponentDigest(BlockHasher::new("symbolon garbled component 1"))
    }
}

impl ComponentDigest {
    /// Adds the next gates of the table.
    pub fn update(&mut self, gates: &[[Block; 2]]) {
        self.0.update(gates.as_flattened());
    }

    /// The digest of a table alone.
    pub fn finish(self) -> [u8; 32] {
        self.0.finish()
    }

    /// The digest of a table and a decoding.
    pub fn finish_with_decoding(mut self, decoding: &BitVec) -> [u8; 32] {
        self.0.update(&blocks_of(decoding));
        self.0.finish()
    }

    pub(crate) fn update_blocks(&mut self, blocks: &[Block]) {
        self.0.update(blocks);
    }
}

/// Bits in blocks, the first in the lowest place, zeros after the last.
pub(crate) fn blocks_of(bits: &BitVec) -> Labels {
    let pair = |words: &[u64]| {
        let high = words.get(1).copied().unwrap_or_default();
        Block(u128::from(high) << 64 | u128::from(words[0]))
    };
    Labels::new(bits.words().chunks(2).map(pair).collect())
}

impl Instance<'_> {
    /// Garbles with keys that the caller chose, the table to `sink` as [`Instance::garble`] has it.
    /// Returns the outputs' labels for 0 and the digest of what the sink was given.
    ///
    /// # Errors
    /// The sink's.
    ///
    /// # Panics
    /// As [`Instance::garble`].
    pub fn garble_with_digest<E>(
        &self,
        keys: &InputKeys,
        coverage: Coverage,
        mut sink: impl FnMut(&[[Block; 2]]) -> Result<(), E>,
    ) -> Result<(Labels, [u8; 32]), E> {
        let mut digest = ComponentDigest::default();
        let outputs = self.garble(keys, |gates| {
            digest.update(gates);
            sink(gates)
        })?;
        let digest = match coverage {
            Coverage::Table => digest.finish(),
            Coverage::TableAndDecoding => {
                digest.finish_with_decoding(&instance::decoding(&outputs))
            }
        };
        Ok((outputs, digest))
    }

    /// The same with keys from a seed.
    ///
    /// # Errors
    /// The sink's.
    pub fn garble_from_seed<E>(
        &self,
        seed: &Seed,
        coverage: Coverage,
        sink: impl FnMut(&[[Block; 2]]) -> Result<(), E>,
    ) -> Result<(ComponentKeys, [u8; 32]), E> {
        let keys = self.keys_from_seed(seed);
        let (outputs, digest) = self.garble_with_digest(&keys, coverage, sink)?;
        let InputKeys { delta, inputs } = keys;
        Ok((ComponentKeys { delta, inputs, outputs }, digest))
    }

    /// Garbles from a seed into memory.
    pub fn garble_component(
        &self,
        seed: &Seed,
        coverage: Coverage,
    ) -> (GarbledComponent, ComponentKeys) {
        let mut table = Vec::with_capacity(self.gates() as usize);
        let (keys, digest) = always(self.garble_from_seed(seed, coverage, |gates| {
            table.extend_from_slice(gates);
            Ok::<_, Infallible>(())
        }));
        (GarbledComponent { table, digest }, keys)
    }

    /// Garbles a copy again whose seed was opened. Returns its keys if the digest is that of the
    /// seed, and nothing if the garbler garbled something else. Keeps no table.
    pub fn regarble(
        &self,
        seed: &Seed,
        coverage: Coverage,
        digest: &[u8; 32],
    ) -> Option<ComponentKeys> {
        let (keys, made) = always(self.garble_from_seed(seed, coverage, forget));
        same_digest(&made, digest).then_some(keys)
    }

    /// Garbles a copy again whose keys were opened. Returns the outputs' labels for 0 if the digest
    /// is that of the keys, and nothing if the garbler garbled something else, or if Δ can't be one
    /// because its lowest bit is not set. Keeps no table.
    ///
    /// # Panics
    /// If there is not one label for each input bit.
    pub fn regarble_with_keys(
        &self,
        keys: &InputKeys,
        coverage: Coverage,
        digest: &[u8; 32],
    ) -> Option<Labels> {
        if !keys.delta.lsb() {
            return None;
        }
        let (outputs, made) = always(self.garble_with_digest(keys, coverage, forget));
        same_digest(&made, digest).then_some(outputs)
    }
}

/// A sink that keeps nothing.
pub(crate) fn forget(_: &[[Block; 2]]) -> Result<(), Infallible> {
    Ok(())
}
