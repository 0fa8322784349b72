//! The kernels of [`HashLanes`](crate::side_by_side::HashLanes).
//!
//! Unsafe: calls to functions that need processor features | `Backend::usable` returns no more than
//! what detection found

use zeroize::Zeroize;

use super::Backend;
#[cfg(target_arch = "x86_64")]
use super::{x86, x86_256, x86_512};
use crate::Block;
use crate::side_by_side::{HalfGates, LANES, Lanes};
use crate::tweaks::Tweaks;

/// The number of gates processed at a time in one garbling, if there is no kernel for all
/// garblings.
const RUN: usize = 64;

/// With fewer garblings than this, a kernel whose registers hold one or two of them takes longer
/// for all lanes than for one garbling after the other.
#[cfg(target_arch = "x86_64")]
const WORTH_ALL_LANES: usize = 3;

impl Backend {
    /// The kernel of [`HashLanes::garble`](crate::side_by_side::HashLanes::garble) for hashes with
    /// these starts.
    ///
    /// # Panics
    /// If the lengths differ, or there are more than [`LANES`] tables.
    pub fn garble_lanes(
        self,
        (starts, first, deltas): (&Lanes, u128, &Lanes),
        inputs: &[[Lanes; 2]],
        tables: &mut [&mut [HalfGates]],
        outputs: &mut [Lanes],
    ) {
        check(inputs, tables.iter().map(|table| table.len()), outputs);
        match self.usable() {
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes512 => {
                // SAFETY: `usable` names this backend only if the processor has its instructions.
                unsafe { x86_512::garble_lanes((starts, first, deltas), inputs, tables, outputs) }
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Aesni if tables.len() >= WORTH_ALL_LANES => {
                // SAFETY: as above.
                unsafe { x86::garble_lanes((starts, first, deltas), inputs, tables, outputs) }
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes256 if tables.len() >= WORTH_ALL_LANES => {
                // SAFETY: as above.
                unsafe { x86_256::garble_lanes((starts, first, deltas), inputs, tables, outputs) }
            }
            _ => {
                for (lane, table) in tables.iter_mut().enumerate() {
                    let by = (starts.0[lane], first, deltas.0[lane]);
                    self.garble_lane(by, (inputs, lane), table, outputs);
                }
            }
        }
    }

    /// The kernel of [`HashLanes::evaluate`](crate::side_by_side::HashLanes::evaluate) for hashes
    /// with these starts.
    ///
    /// # Panics
    /// If the lengths differ, or there are more than [`LANES`] tables.
    pub fn evaluate_lanes(
        self,
        (starts, first): (&Lanes, u128),
        inputs: &[[Lanes; 2]],
        tables: &[&[HalfGates]],
        outputs: &mut [Lanes],
    ) {
        check(inputs, tables.iter().map(|table| table.len()), outputs);
        match self.usable() {
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes512 => {
                // SAFETY: as above.
                unsafe { x86_512::evaluate_lanes((starts, first), inputs, tables, outputs) }
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Aesni if tables.len() >= WORTH_ALL_LANES => {
                // SAFETY: as above.
                unsafe { x86::evaluate_lanes((starts, first), inputs, tables, outputs) }
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes256 if tables.len() >= WORTH_ALL_LANES => {
                // SAFETY: as above.
                unsafe { x86_256::evaluate_lanes((starts, first), inputs, tables, outputs) }
            }
            _ => {
                for (lane, table) in tables.iter().enumerate() {
                    self.evaluate_lane((starts.0[lane], first), (inputs, lane), table, outputs);
                }
            }
        }
    }

    /// Garbles in one garbling.
    fn garble_lane(
        self,
        (start, first, delta): (Block, u128, Block),
        (inputs, lane): (&[[Lanes; 2]], usize),
        table: &mut [HalfGates],
        outputs: &mut [Lanes],
    ) {
        let (mut pairs, mut labels) = ([[Block::ZERO; 2]; RUN], [Block::ZERO; RUN]);
        let runs = inputs.chunks(RUN).zip(table.chunks_mut(RUN)).zip(outputs.chunks_mut(RUN));
        for (((inputs, table), outputs), run) in runs.zip(0u128..) {
            let (pairs, labels) = (&mut pairs[..inputs.len()], &mut labels[..inputs.len()]);
            let gates = inputs.iter().zip(&mut *pairs).zip(&mut *table).zip(&mut *labels);
            for (((inputs, pair), halves), label) in gates {
                let [a, b] = inputs.map(|all| all.0[lane]);
                let [x, y] = [a, b].map(|label| delta.select(label.lsb()));
                (*pair, *halves, *label) = ([a ^ x, b ^ y], [y, x], x & y);
            }
            let tweak = first.wrapping_add(2 * RUN as u128 * run);
            self.half_gates((start, tweak, delta), pairs, table, labels);
            outputs.iter_mut().zip(labels).for_each(|(all, label)| all.0[lane] = *label);
        }
        pairs.as_flattened_mut().zeroize();
        labels.zeroize();
    }

    /// Evaluates in one garbling.
    fn evaluate_lane(
        self,
        (start, first): (Block, u128),
        (inputs, lane): (&[[Lanes; 2]], usize),
        table: &[HalfGates],
        outputs: &mut [Lanes],
    ) {
        let mut hashes = [[Block::ZERO; 2]; RUN];
        let runs = inputs.chunks(RUN).zip(table.chunks(RUN)).zip(outputs.chunks_mut(RUN));
        for (((inputs, table), outputs), run) in runs.zip(0u128..) {
            let hashes = &mut hashes[..inputs.len()];
            for (hashes, inputs) in hashes.iter_mut().zip(inputs) {
                *hashes = inputs.map(|all| all.0[lane]);
            }
            let tweaks = Tweaks::From(first.wrapping_add(2 * RUN as u128 * run));
            self.hash_circular(start, tweaks, 1, hashes.as_flattened_mut());
            let gates = hashes.iter().zip(inputs).zip(table).zip(outputs);
            for ((([h_a, h_b], inputs), [t_g, t_e]), output) in gates {
                let [a, b] = inputs.map(|all| all.0[lane]);
                let sum = *h_a ^ *h_b ^ t_g.select(a.lsb()) ^ (*t_e ^ a).select(b.lsb());
                output.0[lane] = sum;
            }
        }
        hashes.as_flattened_mut().zeroize();
    }
}

fn check(inputs: &[[Lanes; 2]], tables: impl ExactSizeIterator<Item = usize>, outputs: &[Lanes]) {
    assert!(tables.len() <= LANES, "more garblings than lanes");
    tables.for_each(|length| assert_eq!(length, inputs.len(), "two half-gates for each gate"));
    assert_eq!(inputs.len(), outputs.len(), "a label for each gate");
}
