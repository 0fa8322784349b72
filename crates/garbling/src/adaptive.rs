//! Garbled circuits that can be sent before the inputs are chosen: the transformation of Rindal and
//! Rosulek 2016 (USENIX Security), Fig. 9.
//!
//! Departure: adaptive garbling (RR16, Fig. 9) | a random oracle masks the table; an output label
//! shows its value | AES in counter mode under a hashed key; colours, whose meaning is masked with
//! the table | up to n²/2^129 for n blocks (`docs/proofs/adaptive-garbling.md`)
//!
//! # What is sent
//! For a table F, labels d_i^b of output i for value b, and labels d̂_i^b that the caller wants
//! instead, the garbler sends
//!
//! ```text
//! F ⊕ mask(R),  c ⊕ mask(R),  δ_i^b = H(R, out, i, b, d_i^b) ⊕ d̂_i^b
//! ```
//!
//! c is the [`decoding`](crate::decoding). The paper assumes that the label of an output shows its
//! value. Ours show a colour, which c turns into the value; c is part of the static garbled
//! circuit, so it is masked like the rest. The evaluator receives R with the last label, removes
//! the mask, evaluates, reads the value y_i and computes d̂_i = δ_i^{y_i} ⊕ H(R, out, i, y_i, Y_i).
//!
//! **The protocol must not reveal R before every input of the instance is fixed**, for both
//! parties. Everything that is sent earlier must be fixed by then, too (sent whole, or by its
//! digest).
//!
//! `docs/proofs/adaptive-garbling.md` has the problem and the proof.

use symbolon_primitives::block_xor::xor_blocks;
use symbolon_primitives::{BitVec, Block, Delta, Prg, Seed, TweakedHash};
use zeroize::Zeroizing;

use crate::component::{ComponentDigest, blocks_of};
use crate::instance::{self, InputKeys, Instance, Labels};
use crate::{evaluate_pieces_side_by_side, garble_pieces_side_by_side};

/// How many blocks of a mask are made at a time: they stay in the L1 cache.
const AT_A_TIME: usize = 256;

/// A pair of blocks for each output, the block for value 0 first.
type Pairs = Zeroizing<Vec<[Block; 2]>>;

/// What is sent after the masked table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The masked decoding. The padding zeros after its last bit are masked, too.
    pub decoding: Vec<Block>,
    /// δ_i^b for output i and value b.
    pub translations: Vec<[Block; 2]>,
}

impl Ending {
    /// Returns how many blocks the decoding of this many outputs takes.
    pub const fn decoding_blocks(outputs: usize) -> usize {
        outputs.div_ceil(128)
    }

    /// # Panics
    /// If the ending does not fit this many outputs.
    fn fits(&self, outputs: usize) {
        assert_eq!(self.translations.len(), outputs, "a translation for each output");
        assert_eq!(self.decoding.len(), Ending::decoding_blocks(outputs), "a bit for each output");
    }
}

/// The mask of an instance, and the hash of its outputs.
///
/// Paper: RR16, Fig. 9, Gb
pub struct Mask {
    prg: Prg,
    outputs: Seed,
    buffer: Labels,
}

impl Mask {
    /// Returns the mask under nonce R.
    pub fn new(instance: &Instance<'_>, nonce: &Seed) -> Self {
        Mask {
            prg: instance.generator("symbolon 2026 adaptive garbling mask", nonce),
            outputs: instance.subkey("symbolon 2026 adaptive garbling outputs 2", nonce),
            buffer: Labels::new(vec![Block::ZERO; AT_A_TIME]),
        }
    }

    /// XORs the mask onto the next gates of the table, which masks or unmasks them.
    pub fn apply(&mut self, gates: &mut [[Block; 2]]) {
        self.apply_blocks(gates.as_flattened_mut());
    }

    fn apply_blocks(&mut self, blocks: &mut [Block]) {
        for blocks in blocks.chunks_mut(AT_A_TIME) {
            let mask = &mut self.buffer[..blocks.len()];
            self.prg.fill_blocks(mask);
            xor_blocks(blocks, mask);
        }
    }

    /// Replaces the pairs d, d' of all outputs by H(R, out, i, 0, d) and H(R, out, i, 1, d').
    fn hash_pairs(&self, labels: &mut [[Block; 2]]) {
        TweakedHash::new(*self.outputs).hash(0, 1, labels.as_flattened_mut());
    }

    /// Replaces a label d of each output by H(R, out, i, b, d), where b is its value. Does not
    /// branch on the values.
    fn hash_labels(&self, values: &[bool], labels: &mut [Block]) {
        let tweaks = values.iter().enumerate().map(|(i, value)| 2 * i as u128 + u128::from(*value));
        let tweaks = Zeroizing::new(tweaks.collect::<Vec<u128>>());
        TweakedHash::new(*self.outputs).hash_with(&tweaks, 1, labels);
    }

    /// Returns the ending, after the whole table has been masked. `outputs` are the outputs' labels
    /// for 0 in the static garbling, which are translated to the labels `wanted`.
    ///
    /// Paper: RR16, Fig. 9, Gb
    fn seal(mut self, outputs: &[Block], delta: &Delta, wanted: &[[Block; 2]]) -> Ending {
        let mut decoding = blocks_of(&instance::decoding(outputs)).to_vec();
        self.apply_blocks(&mut decoding);
        assert_eq!(outputs.len(), wanted.len(), "two labels for each output");
        let both = outputs.iter().map(|zero| [*zero, *zero ^ **delta]);
        let mut hashes = Pairs::new(both.collect());
        self.hash_pairs(&mut hashes);
        let translate =
            |(hash, wanted): (&[Block; 2], &[Block; 2])| [hash[0] ^ wanted[0], hash[1] ^ wanted[1]];
        let translations = hashes.iter().zip(wanted).map(translate).collect();
        Ending { decoding, translations }
    }

    /// Returns the values of the outputs and their labels d̂, from the labels of the static
    /// garbling, after the whole table has been unmasked.
    ///
    /// Paper: RR16, Fig. 9, Ev
    fn open(mut self, labels: &[Block], ending: &Ending) -> (BitVec, Labels) {
        let mut colours = Zeroizing::new(ending.decoding.clone());
        self.apply_blocks(&mut colours);
        let mut values = Zeroizing::new(Vec::with_capacity(labels.len()));
        for (i, label) in labels.iter().enumerate() {
            let colour = colours[i / 128].0 >> (i % 128) & 1 == 1;
            values.push(label.lsb() ^ colour);
        }
        let mut wanted = Labels::new(labels.to_vec());
        self.hash_labels(&values, &mut wanted);
        let translations = values.iter().zip(&ending.translations);
        for (label, (value, [delta0, delta1])) in wanted.iter_mut().zip(translations) {
            *label ^= *delta0 ^ (*delta0 ^ *delta1).select(*value);
        }
        (BitVec::from_bools(&values), wanted)
    }
}

impl ComponentDigest {
    /// Returns the digest of a masked table and its ending.
    pub fn finish_with_ending(mut self, ending: &Ending) -> [u8; 32] {
        self.update_blocks(&ending.decoding);
        self.update(&ending.translations);
        self.finish()
    }
}

/// Garbles several instances of one plan, each with a nonce R and the labels d̂ that the evaluator
/// is to obtain. Passes the next gates of all masked tables to `sink` together, as
/// [`garble_pieces_side_by_side`] does. Returns the endings.
///
/// Paper: RR16, Fig. 9, Gb | the adaptive transformation
///
/// # Errors
/// The errors of the sink.
///
/// # Panics
/// As [`garble_pieces_side_by_side`], and if there are not two labels for each output.
pub fn garble_adaptively_side_by_side<E>(
    instances: &[Instance<'_>],
    keys: &[&InputKeys],
    wanted: &[(&Seed, &[[Block; 2]])],
    mut sink: impl FnMut(&mut [&mut [[Block; 2]]]) -> Result<(), E>,
) -> Result<Vec<Ending>, E> {
    let nonces = wanted.iter().map(|(nonce, _)| *nonce);
    let mut masks = masks(instances, nonces);
    let outputs = garble_pieces_side_by_side(instances, keys, |pieces| {
        masks.iter_mut().zip(&mut *pieces).for_each(|(mask, gates)| mask.apply(gates));
        sink(pieces)
    })?;
    let each = masks.into_iter().zip(outputs).zip(keys).zip(wanted);
    Ok(each.map(|(((mask, o), keys), (_, wanted))| mask.seal(&o, &keys.delta, wanted)).collect())
}

/// Evaluates several instances of one plan, each with its R, its ending and one label for each
/// input bit. `source` fills in the next gates of all masked tables together, as in
/// [`evaluate_pieces_side_by_side`]. Returns the outputs' values and their labels d̂.
///
/// If the garbler cheated or a label is wrong, the values are arbitrary, and the labels look random
/// or are chosen by the garbler: compare them with the expected ones.
///
/// Paper: RR16, Fig. 9, Ev | evaluation after it
///
/// # Errors
/// The errors of the source.
///
/// # Panics
/// As [`evaluate_pieces_side_by_side`], and if an ending is not as long as the outputs require.
pub fn evaluate_adaptively_side_by_side<E>(
    instances: &[Instance<'_>],
    inputs: &[&[Block]],
    endings: &[(&Seed, &Ending)],
    mut source: impl FnMut(&mut [&mut [[Block; 2]]]) -> Result<(), E>,
) -> Result<Vec<(BitVec, Labels)>, E> {
    let outputs = instances[0].plan.output_slots().len();
    endings.iter().for_each(|(_, ending)| ending.fits(outputs));
    let mut masks = masks(instances, endings.iter().map(|(nonce, _)| *nonce));
    let labels = evaluate_pieces_side_by_side(instances, inputs, |pieces| {
        source(pieces)?;
        masks.iter_mut().zip(pieces).for_each(|(mask, gates)| mask.apply(gates));
        Ok(())
    })?;
    let each = masks.into_iter().zip(labels).zip(endings);
    Ok(each.map(|((mask, labels), (_, ending))| mask.open(&labels, ending)).collect())
}

/// Returns the masks under these nonces, one for each instance.
fn masks<'n>(
    instances: &[Instance<'_>],
    nonces: impl ExactSizeIterator<Item = &'n Seed>,
) -> Vec<Mask> {
    assert_eq!(instances.len(), nonces.len(), "a nonce for each");
    instances.iter().zip(nonces).map(|(instance, nonce)| Mask::new(instance, nonce)).collect()
}
