//! Flat arrays of shares between two parties.

use std::ops::Range;

use symbolon_circuit::PartyId;
use symbolon_garbling::wires::WireStore;
use symbolon_preprocessing::{AuthShares, PeerAuth};
use symbolon_primitives::{BitVec, Block, Delta, reserve_wiped};
use zeroize::Zeroizing;

use super::slices::{self, Slices};

/// The party that adds public constants to shared bits: party 0 flips its bit, party 1 adjusts its
/// key.
#[derive(Clone)]
pub(crate) struct Side {
    pub me: PartyId,
    pub delta: Delta,
}

impl Side {
    /// Adds public bits to the shares.
    pub fn add_constants(&self, shares: &mut AuthShares, bits: &BitVec) {
        if self.me == 0 {
            shares.bits.xor_assign(bits);
            return;
        }
        for (k, key) in shares.towards[0].keys.iter_mut().enumerate() {
            *key ^= self.delta.select(bits.get(k));
        }
    }

    /// Flips all shares.
    pub fn flip(&self, shares: &mut AuthShares) {
        if self.me == 0 {
            shares.bits.words_mut().iter_mut().for_each(|word| *word = !*word);
            shares.bits.mask_tail();
            return;
        }
        shares.towards[0].keys.iter_mut().for_each(|key| *key ^= *self.delta);
    }
}

/// Returns an empty list with room for this many shares.
pub(crate) fn empty(room: usize) -> AuthShares {
    AuthShares::with_capacity(room, 1)
}

/// Appends the shares of a list that are in `range`.
pub(crate) fn append_range(shares: &mut AuthShares, from: &AuthShares, range: Range<usize>) {
    range.clone().for_each(|k| shares.bits.push(from.bits.get(k)));
    let PeerAuth { macs, keys } = &from.towards[0];
    extend(&mut shares.towards[0], &macs[range.clone()], &keys[range]);
}

/// Appends MACs and keys.
fn extend(to: &mut PeerAuth, macs: &[Block], keys: &[Block]) {
    for (list, more) in to.lists().into_iter().zip([macs, keys]) {
        reserve_wiped(list, more.len());
        list.extend_from_slice(more);
    }
}

/// Appends all shares of a list.
pub(crate) fn append(shares: &mut AuthShares, from: &AuthShares) {
    shares.bits.extend_from(&from.bits);
    let PeerAuth { macs, keys } = &from.towards[0];
    extend(&mut shares.towards[0], macs, keys);
}

/// Adds `from` to `into`, share by share.
pub(crate) fn add(into: &mut AuthShares, from: &AuthShares) {
    into.bits.xor_assign(&from.bits);
    let (into, from) = (&mut into.towards[0], &from.towards[0]);
    into.macs.iter_mut().zip(&from.macs).for_each(|(to, from)| *to ^= *from);
    into.keys.iter_mut().zip(&from.keys).for_each(|(to, from)| *to ^= *from);
}

/// Adds `bits`·`from` to `into`, share by share.
pub(crate) fn add_times(into: &mut AuthShares, from: &AuthShares, bits: &BitVec) {
    let own = into.bits.words_mut().iter_mut().zip(from.bits.words());
    own.zip(bits.words()).for_each(|((to, from), bits)| *to ^= from & bits);
    let (into, from) = (&mut into.towards[0], &from.towards[0]);
    let both = [(&mut into.macs, &from.macs), (&mut into.keys, &from.keys)];
    for (into, from) in both {
        for (k, (to, from)) in into.iter_mut().zip(from).enumerate() {
            *to ^= from.select(bits.get(k));
        }
    }
}

/// The shares of the masks of wires in all executions: the counterpart of [`Slices`] for shares.
pub(crate) struct MaskSlices {
    bits: Slices,
    macs: Zeroizing<Vec<Block>>,
    keys: Zeroizing<Vec<Block>>,
}

impl MaskSlices {
    /// Returns shares of zero.
    pub fn zeros(slots: usize, executions: usize) -> Self {
        let blocks = || Zeroizing::new(vec![Block::ZERO; slots * executions]);
        MaskSlices { bits: Slices::zeros(slots, executions), macs: blocks(), keys: blocks() }
    }

    /// Sets the masks of a wire, one share for each execution.
    pub fn set(&mut self, slot: usize, shares: &AuthShares) {
        let executions = self.bits.executions();
        self.bits.row_mut(slot).copy_from_slice(shares.bits.words());
        let range = slot * executions..(slot + 1) * executions;
        self.macs[range.clone()].copy_from_slice(&shares.towards[0].macs);
        self.keys[range].copy_from_slice(&shares.towards[0].keys);
    }

    /// Appends the masks of a wire.
    pub fn append_to(&self, slot: usize, shares: &mut AuthShares) {
        let executions = self.bits.executions();
        let old = shares.bits.len();
        shares.bits.extend_from(&BitVec::zeros(executions));
        slices::put(shares.bits.words_mut(), old, self.bits.row(slot), executions);
        let range = slot * executions..(slot + 1) * executions;
        extend(&mut shares.towards[0], &self.macs[range.clone()], &self.keys[range]);
    }
}

/// A flipped wire keeps its mask, and a constant has none.
impl WireStore for MaskSlices {
    /// Paper: DNNR17, Fig. 8, 3, NOT and XOR
    fn xor(&mut self, a: usize, b: usize, out: usize) {
        let executions = self.bits.executions();
        self.bits.xor(a, b, out);
        for list in [&mut self.macs, &mut self.keys] {
            for k in 0..executions {
                list[out * executions + k] = list[a * executions + k] ^ list[b * executions + k];
            }
        }
    }

    /// Paper: DNNR17, Fig. 8, 3, NOT and XOR | masks of outputs
    fn not(&mut self, a: usize, out: usize) {
        self.copy(a..a + 1, out);
    }

    fn constant(&mut self, _: bool, out: usize) {
        let executions = self.bits.executions();
        self.bits.constant(false, out);
        for list in [&mut self.macs, &mut self.keys] {
            list[out * executions..(out + 1) * executions].fill(Block::ZERO);
        }
    }

    fn copy(&mut self, from: Range<usize>, out: usize) {
        let executions = self.bits.executions();
        self.bits.copy(from.clone(), out);
        for list in [&mut self.macs, &mut self.keys] {
            list.copy_within(from.start * executions..from.end * executions, out * executions);
        }
    }
}

#[cfg(test)]
mod tests {
    use symbolon_circuit::Linear;

    use super::*;

    /// Bits, MACs and keys of every wire are copied together.
    #[test]
    fn masks_are_copied_in_order() {
        const EXECUTIONS: usize = 3;
        let mut masks = MaskSlices::zeros(6, EXECUTIONS);
        for slot in 0..3 {
            masks.bits.row_mut(slot)[0] = slot as u64 + 1;
            for execution in 0..EXECUTIONS {
                let place = slot * EXECUTIONS + execution;
                masks.macs[place] = Block(place as u128 + 1);
                masks.keys[place] = Block(place as u128 + 100);
            }
        }
        masks.free_gates(0, &[Linear::Copy { from: 1, out: 3, len: 2 }]);
        for (from, out) in [(0, 0), (1, 1), (2, 2), (1, 3), (2, 4)] {
            assert_eq!(masks.bits.row(out), [from as u64 + 1]);
            for execution in 0..EXECUTIONS {
                let (place, copied) = (from * EXECUTIONS + execution, out * EXECUTIONS + execution);
                assert_eq!(masks.macs[copied], Block(place as u128 + 1));
                assert_eq!(masks.keys[copied], Block(place as u128 + 100));
            }
        }
        assert_eq!(masks.bits.row(5), [0], "a copy of two");
        assert_eq!(masks.macs[5 * EXECUTIONS..], [Block::ZERO; EXECUTIONS], "a copy of two");
    }
}
