//! Soldering: what takes a key on some wires to the key of the same value on another
//! (section 5.1, GenSold and EvSold of Appendix A).
//!
//! Wires i have Δ_i, base keys B_i and indicator bits σ_i; the wire that they are soldered to has
//! Δ, B and σ. To solder the sum of the wires and a constant c, the garbler opens
//!
//! ```text
//! S = (⊕ B_i) ⊕ B ⊕ t·Δ          t = (⊕ σ_i) ⊕ σ ⊕ c
//! ```
//!
//! and from keys K_i = B_i ⊕ b_i·Δ_i of colours b_i, which are those of x_i = b_i ⊕ σ_i, the
//! evaluator gets
//!
//! ```text
//! (⊕ K_i) ⊕ S ⊕ (⊕ b_i·(Δ_i ⊕ Δ)) = B ⊕ ((⊕ b_i) ⊕ t)·Δ
//! ```
//!
//! which has colour (⊕ x_i) ⊕ σ ⊕ c: the key of (⊕ x_i) ⊕ c. With one wire and c = 0 this is the
//! paper's soldering. With more it is free XOR between components: sums go to inputs of first
//! copies and to wires of outputs, each of which is soldered to once, so that B hides what is
//! opened, whatever the sum is of.
//!
//! The last bit of S is t. What the commitments say of it is (⊕ σ_i) ⊕ σ ⊕ t·1 = c, which the
//! evaluator knows: a garbler that lies about t fails the opening.
//!
//! **Differences of Δ** are opened once for each object: Δ_i ⊕ Δ_ot, where Δ_ot is the offset of
//! the oblivious transfers. Any two of them make Δ_i ⊕ Δ_j. That is what the paper's pairwise
//! openings and those to Δ_rco of PreProcessRecovery say together, Δ_ot being Δ_rco: who learns
//! one Δ learns all, and only a garbler that cheated lets the evaluator learn one. Their last bit
//! must be 0: since there is a good object in every bucket, all Δ then end in 1.
//!
//! Departure: `duplo`: XOR between components | gates | sums are soldered like one wire | what a
//! sum is soldered to is soldered once
//!
//! Departure: `duplo`: differences of Δ | pairwise, and towards Δ_rco | towards Δ_ot | the same
//! differences

use symbolon_primitives::Block;
use symbolon_transport::{Channel, Error, Result};

use super::commit::{Claims, Id, Opening};
use super::layout::COMMON_OFFSET;

/// A wire that is soldered to: the commitments to its key and to its Δ.
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

/// GenSold of the evaluator: notes what a soldering says about the commitments.
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

/// Opens Δ ⊕ Δ_ot.
///
/// Paper: KNRTT17, PreProcessRecovery | differences of Δ
pub(super) fn difference(opening: &mut Opening<'_>, offset: Id) -> Block {
    opening.open([offset, COMMON_OFFSET])
}

/// Notes what an opened difference says, whose last bit must be 0.
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
pub(super) struct Held {
    pub key: Block,
    pub difference: Block,
}

/// EvSold: the key on the wire that the sum of some wires is soldered to, whose Δ ⊕ Δ_ot is
/// `difference`.
///
/// Paper: KNRTT17, GenSold, EvSold
pub(super) fn transfer(
    sources: impl Iterator<Item = Held>,
    soldering: Block,
    difference: Block,
) -> Block {
    sources.fold(soldering, |sum, held| {
        sum ^ held.key ^ (held.difference ^ difference).select(held.key.lsb())
    })
}

#[cfg(test)]
mod tests {
    use symbolon_primitives::Prg;

    use super::*;

    /// The sum of some wires and a constant, for all values and colours of keys.
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
            let held = (0..sources).map(|wire| Held {
                key: zeros[wire] ^ offsets[wire].select(values[wire]),
                difference: offsets[wire] ^ common,
            });
            let key = transfer(held, bases ^ own.select(turned), own ^ common);
            let sum = values.iter().fold(constant, |sum, value| sum ^ value);
            assert_eq!(key, zeros[sources] ^ own.select(sum));
        }
    }
}
