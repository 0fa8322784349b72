//! Components garbled from a seed, for cut-and-choose.
//!
//! The garbler sends the digest of each copy first. The other party garbles an opened copy again
//! from its seed, keeps nothing of the table, and compares the digest. A copy that is not opened is
//! sent whole and must match its digest, too, so it is the copy that might have been opened.
//!
//! # What the digest covers
//! The digest covers every block of the table in order. With [`Coverage::TableAndDecoding`] it also
//! covers the colours of the outputs' labels for 0, which decode the outputs. **A digest that
//! covers a short decoding reveals it**: anyone with the table can try every decoding. Cover the
//! decoding only if it is sent with the table.
//!
//! The digest covers neither Δ nor the labels of inputs and outputs: a protocol commits to those by
//! other means, and compares the [`ComponentKeys`] of an opened copy with them. The digest does not
//! hide a table that can be guessed, such as that of a circuit without gates. Two parties compute
//! the same digest only for the same plan: agree on the circuit first.

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

/// What the garbler knows about a garbled component and the evaluator must not learn.
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
    /// The digest of what the [`Coverage`] covers.
    pub digest: [u8; 32],
}

/// Computes the digest of a garbled component piece by piece.
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

    /// Returns the digest of what was added so far.
    pub fn so_far(&mut self) -> [u8; 32] {
        self.0.so_far()
    }

    /// Returns the digest of a table alone.
    pub fn finish(self) -> [u8; 32] {
        self.0.finish()
    }

    /// Returns the digest of a table and a decoding.
    pub fn finish_with_decoding(mut self, decoding: &BitVec) -> [u8; 32] {
        self.0.update(&blocks_of(decoding));
        self.0.finish()
    }

    pub(crate) fn update_blocks(&mut self, blocks: &[Block]) {
        self.0.update(blocks);
    }
}

/// Packs bits into blocks: the first bit is the lowest, and zeros follow the last.
pub(crate) fn blocks_of(bits: &BitVec) -> Labels {
    let pair = |words: &[u64]| {
        let high = words.get(1).copied().unwrap_or_default();
        Block(u128::from(high) << 64 | u128::from(words[0]))
    };
    Labels::new(bits.words().chunks(2).map(pair).collect())
}

impl Instance<'_> {
    /// Garbles with keys that the caller chose. Passes the table to `sink` as [`Instance::garble`]
    /// does. Returns the outputs' labels for 0 and the digest.
    ///
    /// # Errors
    /// The errors of the sink.
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

    /// [`garble_with_digest`](Instance::garble_with_digest) with keys from a seed. Returns the keys
    /// and the digest.
    ///
    /// # Errors
    /// The errors of the sink.
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

    /// Garbles from a seed into memory. Returns the garbled component and its keys.
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

    /// Garbles a copy again whose seed was opened, without keeping its table. Returns its keys, or
    /// `None` if the digest is not that of the seed: then the garbler garbled something else.
    pub fn regarble(
        &self,
        seed: &Seed,
        coverage: Coverage,
        digest: &[u8; 32],
    ) -> Option<ComponentKeys> {
        let (keys, made) = always(self.garble_from_seed(seed, coverage, forget));
        same_digest(&made, digest).then_some(keys)
    }

    /// Garbles a copy again whose keys were opened, without keeping its table. Returns the outputs'
    /// labels for 0, or `None` if the digest is not that of the keys: then the garbler garbled
    /// something else. Also returns `None` if the lowest bit of Δ is not set.
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

/// A sink that discards everything.
pub(crate) fn forget(_: &[[Block; 2]]) -> Result<(), Infallible> {
    Ok(())
}
