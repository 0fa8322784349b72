//! Half-gates of several garblings of one circuit, side by side.
//!
//! A wire has a label in each garbling. The labels of a wire are adjacent and fill a register of
//! 512 bits, or two of 256, so a gate can be processed in all garblings at once without gathering,
//! permuting or remainders.

use std::ops::BitXor;

use bytemuck::{Pod, Zeroable};
use zeroize::DefaultIsZeroes;

use crate::{Backend, Block, TweakedHash};

/// The maximum number of garblings side by side.
pub const LANES: usize = 4;

/// A block of each garbling, in one cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Lanes(pub [Block; LANES]);

impl DefaultIsZeroes for Lanes {}

impl BitXor for Lanes {
    type Output = Lanes;

    #[inline]
    fn bitxor(self, rhs: Lanes) -> Lanes {
        Lanes(std::array::from_fn(|lane| self.0[lane] ^ rhs.0[lane]))
    }
}

/// The half-gates of one gate.
pub type HalfGates = [Block; 2];

/// The hashes of the garblings. If there are fewer, the other lanes are arbitrary.
#[derive(Clone, Copy, Debug)]
pub struct HashLanes {
    starts: Lanes,
}

impl HashLanes {
    /// Combines these hashes, one for each garbling.
    ///
    /// # Panics
    /// If there are more than [`LANES`].
    pub fn new(hashes: &[TweakedHash]) -> HashLanes {
        let mut starts = Lanes::default();
        let places = &mut starts.0[..hashes.len()];
        places.iter_mut().zip(hashes).for_each(|(place, hash)| *place = hash.start());
        HashLanes { starts }
    }

    /// Garbles gates that do not depend on each other, in as many garblings as there are tables. H
    /// is the hash of a garbling, t = `first_tweak` + 2k, a and b are the labels for 0 of gate k's
    /// inputs, which are `inputs[k]`, λ their colours, α = a ⊕ λ_a·Δ and β = b ⊕ λ_b·Δ:
    ///
    /// ```text
    /// table[k]   = [H(t, α) ⊕ H(t, α ⊕ Δ) ⊕ λ_b·Δ,  H(t + 1, β) ⊕ H(t + 1, β ⊕ Δ) ⊕ a]
    /// outputs[k] =  H(t, α) ⊕ H(t + 1, β) ⊕ λ_a·λ_b·Δ
    /// ```
    ///
    /// # Panics
    /// If the lengths differ, or there are more than [`LANES`] tables.
    #[inline]
    pub fn garble(
        &self,
        (first_tweak, deltas): (u128, &Lanes),
        inputs: &[[Lanes; 2]],
        tables: &mut [&mut [HalfGates]],
        outputs: &mut [Lanes],
    ) {
        let by = (&self.starts, first_tweak, deltas);
        Backend::active().garble_lanes(by, inputs, tables, outputs);
    }

    /// Evaluates gates that do not depend on each other, with labels A and B of gate k's inputs,
    /// which are `inputs[k]`, and their colours λ:
    ///
    /// ```text
    /// outputs[k] = H(t, A) ⊕ H(t + 1, B) ⊕ λ_A·table[k][0] ⊕ λ_B·(table[k][1] ⊕ A)
    /// ```
    ///
    /// # Panics
    /// If the lengths differ, or there are more than [`LANES`] tables.
    #[inline]
    pub fn evaluate(
        &self,
        first_tweak: u128,
        inputs: &[[Lanes; 2]],
        tables: &[&[HalfGates]],
        outputs: &mut [Lanes],
    ) {
        Backend::active().evaluate_lanes((&self.starts, first_tweak), inputs, tables, outputs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prg;

    /// In each lane, both sides match the formulas, and the evaluator obtains the label of the AND.
    fn gates_are_as_defined(backend: Backend, lanes: usize, gates: usize, first: u128) {
        let case = format!("{backend:?}, {lanes} lanes, {gates} gates from tweak {first}");
        let mut prg = Prg::from_public_seed(Block(11 + gates as u128));
        let mut random = || Lanes(std::array::from_fn(|_| prg.block()));
        let (starts, deltas) = (random(), Lanes(random().0.map(|delta| delta.with_lsb(true))));
        let hash = |lane: usize, tweak, label| {
            let mut block = [label];
            TweakedHash::new(starts.0[lane]).hash(tweak, 1, &mut block);
            block[0]
        };
        let zero: Vec<_> = (0..gates).map(|_| [random(), random()]).collect();
        let bits: Vec<_> = (0..gates).map(|_| random()).collect();
        let mut tables = vec![vec![[Block::ONE; 2]; gates]; lanes];
        let mut labels = vec![deltas; gates];
        let mut places: Vec<_> = tables.iter_mut().map(|table| &mut table[..]).collect();
        backend.garble_lanes((&starts, first, &deltas), &zero, &mut places, &mut labels);
        let (mut active, mut expected) = (zero.clone(), vec![Lanes::default(); gates]);
        for (k, lane) in (0..gates).flat_map(|k| (0..lanes).map(move |lane| (k, lane))) {
            let tweak = first.wrapping_add(2 * k as u128);
            let h = |half: u128, label| hash(lane, tweak.wrapping_add(half), label);
            let (delta, [a, b]) = (deltas.0[lane], zero[k].map(|all| all.0[lane]));
            let (alpha, beta) = (a ^ delta.select(a.lsb()), b ^ delta.select(b.lsb()));
            let t_g = h(0, alpha) ^ h(0, alpha ^ delta) ^ delta.select(b.lsb());
            let t_e = h(1, beta) ^ h(1, beta ^ delta) ^ a;
            assert_eq!(tables[lane][k], [t_g, t_e], "{case}: {k}, {lane}");
            let label = h(0, alpha) ^ h(1, beta) ^ delta.select(a.lsb() & b.lsb());
            assert_eq!(labels[k].0[lane], label, "{case}: {k}, {lane}");
            let [x, y] = [64, 65].map(|bit| bits[k].0[lane].0 >> bit & 1 == 1);
            active[k][0].0[lane] = a ^ delta.select(x);
            active[k][1].0[lane] = b ^ delta.select(y);
            expected[k].0[lane] = label ^ delta.select(x & y);
        }
        let mut evaluated = vec![starts; gates];
        let tables: Vec<_> = tables.iter().map(|table| &table[..]).collect();
        backend.evaluate_lanes((&starts, first), &active, &tables, &mut evaluated);
        for (evaluated, expected) in evaluated.iter().zip(&expected) {
            assert_eq!(evaluated.0[..lanes], expected.0[..lanes], "{case}");
        }
    }

    #[test]
    fn gates_are_as_defined_in_every_lane() {
        for backend in Backend::available() {
            for (gates, lanes) in (0..10).chain([15, 16, 17, 63, 64, 65]).zip((1..5).cycle()) {
                // One of these tweaks overflows its low half during the run.
                for first in [6, u128::from(u64::MAX) - 5, u128::MAX - 40] {
                    gates_are_as_defined(backend, lanes, gates, first);
                    gates_are_as_defined(backend, LANES, gates, first);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "two half-gates for each gate")]
    fn refuses_a_table_that_is_too_short() {
        let hashes = HashLanes::new(&[TweakedHash::new(Block::ZERO); 2]);
        let (mut long, one) = ([[Block::ONE; 2]], Lanes::default());
        hashes.garble((0, &one), &[[one; 2]], &mut [&mut long, &mut []], &mut [one]);
    }

    #[test]
    #[should_panic(expected = "more garblings than lanes")]
    fn refuses_too_many_tables() {
        let hashes = HashLanes::new(&[TweakedHash::new(Block::ZERO); LANES]);
        hashes.evaluate(0, &[], &[&[][..]; LANES + 1], &mut []);
    }
}
