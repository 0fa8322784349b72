//! Soldering: takes keys on some wires to the key of their sum on another wire (section 5.1,
//! GenSold and EvSold of Appendix A).
//!
//! Wire i has Δ_i, the base key B_i and the indicator bit σ_i; the wire to which they are soldered
//! has Δ, B and σ. To solder the sum of the wires and a constant c, the garbler opens
//!
//! ```text
//! S = (⊕ B_i) ⊕ B ⊕ t·Δ          t = (⊕ σ_i) ⊕ σ ⊕ c
//! ```
//!
//! From keys K_i = B_i ⊕ b_i·Δ_i of colours b_i, which are the keys of x_i = b_i ⊕ σ_i, the
//! evaluator computes
//!
//! ```text
//! (⊕ K_i) ⊕ S ⊕ (⊕ b_i·(Δ_i ⊕ Δ)) = B ⊕ ((⊕ b_i) ⊕ t)·Δ
//! ```
//!
//! which has colour (⊕ x_i) ⊕ σ ⊕ c: it is the key of (⊕ x_i) ⊕ c. With one wire and c = 0 this is
//! the paper's soldering. With more wires it is free XOR between components: sums are soldered to
//! the inputs of first copies and to the wires of outputs. `docs/proofs/duplo.md` proves that the
//! value is right, and that S shows nothing else.
//!
//! The last bit of S is t. In the committed sum this bit is (⊕ σ_i) ⊕ σ ⊕ t·1 = c, which the
//! evaluator knows, so a garbler that lies about t fails the opening.
//!
//! **Differences of Δ** are opened once for each object: Δ_i ⊕ Δ_ot, where Δ_ot is the offset of
//! the oblivious transfers. Any two of them give Δ_i ⊕ Δ_j. With Δ_rco = Δ_ot, they say the same as
//! the paper's pairwise openings and its openings to Δ_rco in PreProcessRecovery. A party that
//! learns one Δ learns all, and the evaluator learns one only if the garbler cheated. The last bit
//! of each difference must be 0: as every bucket has a good object, all Δ then end in 1.
//!
//! Departure: `duplo`: XOR between components | gates | sums are soldered like one wire | a
//! soldering shows only what active keys and their colours show
//! (`docs/proofs/duplo.md#sums-soldered-as-wires`)
//!
//! Departure: `duplo`: differences of Δ | pairwise, and towards Δ_rco | towards Δ_ot | the same
//! differences, of one Δ_ot for all parts
//! (`docs/proofs/duplo.md#one-δ-for-transfers-inputs-and-recovery`)

use symbolon_primitives::Block;
use symbolon_transport::{Channel, Error, Result};

use super::commit::{Claims, Id, Opening};
use super::layout::COMMON_OFFSET;

/// The target of a soldering: the commitments to the wire's key and to its Δ.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub key: Id,
    pub offset: Id,
}

/// GenSold of the garbler: opens the soldering of a sum of wires and a constant. Returns S.
///
/// Paper: KNRTT17, GenSold, EvSold | soldering
pub(super) fn solder(
    opening: &mut Opening<'_>,
    sources: impl Iterator<Item = Id> + Clone,
    target: Target,
    constant: bool,
) -> Block {
    let (committed, ids) = (opening.committed(), sources.chain([target.key]));
    let turned = ids.clone().fold(constant, |sum, id| sum ^ committed.value(id).lsb());
    opening.open(ids.chain(turned.then_some(target.offset))).with_lsb(turned)
}

/// GenSold of the evaluator: records what a soldering claims about the commitments.
///
/// Paper: KNRTT17, GenSold, EvSold
pub(super) fn claim(
    claims: &mut Claims<'_>,
    sources: impl Iterator<Item = Id> + Clone,
    target: Target,
    constant: bool,
    soldering: Block,
) {
    let ids = sources.chain([target.key]).chain(soldering.lsb().then_some(target.offset));
    claims.claim(ids, soldering.with_lsb(constant));
}

/// Opens Δ ⊕ Δ_ot and returns it.
///
/// Paper: KNRTT17, PreProcessRecovery | differences of Δ
pub(super) fn difference(opening: &mut Opening<'_>, offset: Id) -> Block {
    opening.open([offset, COMMON_OFFSET])
}

/// Records the claim of an opened difference, whose last bit must be 0.
///
/// Paper: KNRTT17, PreProcessRecovery
///
/// Check: `duplo`: solderings, also to later circuits | `commitment opening`; `offset difference`:
/// last bits | a key taken to that of another value | 2^-ρ
pub(super) fn claim_difference(
    channel: &Channel,
    claims: &mut Claims<'_>,
    offset: Id,
    difference: Block,
) -> Result<()> {
    if difference.lsb() {
        return Err(Error::misbehaved(channel.peer(), super::checks::DIFFERENCE));
    }
    claims.claim([offset, COMMON_OFFSET], difference);
    Ok(())
}

/// A key with the difference Δ ⊕ Δ_ot of its wire.
#[derive(Clone, Copy)]
pub(super) struct KeyAndDifference {
    pub key: Block,
    pub difference: Block,
}

/// EvSold: returns the key on the wire to which the sum of some wires is soldered. `difference` is
/// that wire's Δ ⊕ Δ_ot.
///
/// Paper: KNRTT17, GenSold, EvSold
pub(super) fn transfer(
    sources: impl Iterator<Item = KeyAndDifference>,
    soldering: Block,
    difference: Block,
) -> Block {
    sources.fold(soldering, |sum, source| {
        sum ^ source.key ^ (source.difference ^ difference).select(source.key.lsb())
    })
}

#[cfg(test)]
mod tests {
    use symbolon_primitives::Prg;

    use super::*;

    /// The sum of some wires and a constant, for random values and colours of keys.
    #[test]
    fn the_key_of_the_sum_comes_out() {
        let mut prg = Prg::from_seed(Block(4));
        for case in 0..200 {
            let sources = case % 4;
            let offsets: Vec<Block> = (0..=sources).map(|_| prg.block().with_lsb(true)).collect();
            let zeros: Vec<Block> = (0..=sources).map(|_| prg.block()).collect();
            let common = prg.block().with_lsb(true);
            let (constant, own) = (prg.bool(), offsets[sources]);
            let values: Vec<bool> = (0..sources).map(|_| prg.bool()).collect();
            let base = |wire: usize| zeros[wire] ^ offsets[wire].select(zeros[wire].lsb());
            let turned = zeros.iter().fold(constant, |sum, zero| sum ^ zero.lsb());
            let bases = (0..=sources).fold(Block::ZERO, |sum, wire| sum ^ base(wire));
            let source = (0..sources).map(|wire| KeyAndDifference {
                key: zeros[wire] ^ offsets[wire].select(values[wire]),
                difference: offsets[wire] ^ common,
            });
            let key = transfer(source, bases ^ own.select(turned), own ^ common);
            let sum = values.iter().fold(constant, |sum, value| sum ^ value);
            assert_eq!(key, zeros[sources] ^ own.select(sum));
        }
    }
}
