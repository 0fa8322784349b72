//! Authenticated bits and authenticated shares among n parties, in flat arrays.
//!
//! A bit x known to party i is *authenticated* towards j if i holds a MAC M and j a key K with M =
//! K ⊕ x·Δ_j. A *share* of a bit λ that nobody knows consists of one such bit per party,
//! authenticated towards all others: λ = ⊕_i λ^i. Each party holds its own bit and, for every peer,
//! the MAC on its bit under the peer's Δ and the key for the peer's bit.
//!
//! Peers are always in ascending order of their party numbers.

use std::ops::Range;

use bytemuck::zeroed_vec;
use symbolon_primitives::{BitVec, Block, Key, Mac, reserve_wiped};
use symbolon_transport::PartyId;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::PeerIndex;

/// Returns the last bit of a party's Δ. Leaky ANDs need the sum of all to be 1, and garbling needs
/// each garbler's to be 1, so it is 1 for every party but the evaluator, whose bit is n mod 2.
pub(crate) fn lsb_of_delta(party: PartyId, evaluator: PartyId, parties: usize) -> bool {
    party != evaluator || parties % 2 == 1
}

/// Bits that this party knows, authenticated towards every peer.
#[derive(Clone, Default, ZeroizeOnDrop)]
pub struct AuthBits {
    /// The bits.
    pub bits: BitVec,
    /// For each peer one MAC per bit, under its Δ.
    pub macs: Vec<Vec<Block>>,
}

/// For each peer, this party's keys for bits that the peer knows.
pub type PeerKeys = Zeroizing<Vec<Vec<Block>>>;

/// MACs and keys of a party's shares with one peer: entry k of each array belongs to share k.
#[derive(Clone, Default, Zeroize)]
pub struct PeerAuth {
    /// The MACs on this party's bits, under the peer's Δ.
    pub macs: Vec<Block>,
    /// The keys for the peer's bits, under this party's Δ.
    pub keys: Vec<Block>,
}

impl PeerAuth {
    /// Returns the MACs and the keys.
    pub fn lists(&mut self) -> [&mut Vec<Block>; 2] {
        [&mut self.macs, &mut self.keys]
    }
}

/// One party's authenticated shares.
#[derive(Clone, Default, ZeroizeOnDrop)]
pub struct AuthShares {
    /// This party's bits.
    pub bits: BitVec,
    /// MACs and keys, one entry per peer.
    pub towards: Vec<PeerAuth>,
}

impl AuthShares {
    /// Returns `n` shares of zero among this party and `peers` others, to be filled.
    pub fn zeros(n: usize, peers: usize) -> Self {
        let towards = || PeerAuth { macs: zeroed_vec(n), keys: zeroed_vec(n) };
        AuthShares { bits: BitVec::zeros(n), towards: (0..peers).map(|_| towards()).collect() }
    }

    /// Returns no shares, with room for `n` among this party and `peers` others.
    pub fn with_capacity(n: usize, peers: usize) -> Self {
        let room = || Vec::with_capacity(n);
        let towards = || PeerAuth { macs: room(), keys: room() };
        let towards = (0..peers).map(|_| towards()).collect();
        AuthShares { bits: BitVec::with_capacity(n), towards }
    }

    /// Makes room for `n` shares among this party and `peers` others, and reuses the existing
    /// memory if it suffices. Bits are zero; MACs and keys must be overwritten.
    pub fn make_room(&mut self, n: usize, peers: usize) {
        self.bits.zeroize();
        self.bits = BitVec::zeros(n);
        self.towards.resize_with(peers, PeerAuth::default);
        for PeerAuth { macs, keys } in &mut self.towards {
            resize_for_overwrite(macs, n);
            resize_for_overwrite(keys, n);
        }
    }

    /// Zeroes MACs and keys from share `first` on.
    pub fn clear_auths(&mut self, first: usize) {
        for PeerAuth { macs, keys } in &mut self.towards {
            macs[first..].fill(Block::ZERO);
            keys[first..].fill(Block::ZERO);
        }
    }

    /// Appends shares of zero until there are `n`.
    pub fn fill_up(&mut self, n: usize) {
        self.bits.extend_from(&BitVec::zeros(n - self.len()));
        for list in self.towards.iter_mut().flat_map(PeerAuth::lists) {
            reserve_wiped(list, n.saturating_sub(list.len()));
            list.resize(n, Block::ZERO);
        }
    }

    /// Returns the number of shares.
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// Returns whether there are no shares.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns share number `k` towards `peer`.
    pub fn pair(&self, k: usize, peer: PeerIndex) -> Share {
        let PeerAuth { macs, keys } = &self.towards[peer.get()];
        Share { bit: self.bits.get(k), mac: Mac(macs[k]), key: Key(keys[k]) }
    }

    /// Returns a copy of the shares in `range`.
    pub fn slice(&self, range: Range<usize>) -> AuthShares {
        let towards = self.towards.iter().map(|towards| PeerAuth {
            macs: towards.macs[range.clone()].to_vec(),
            keys: towards.keys[range.clone()].to_vec(),
        });
        AuthShares { towards: towards.collect(), bits: self.bits.slice(range) }
    }
}

/// Resizes a list, and reuses the existing memory if it suffices. The content must be overwritten.
pub(crate) fn resize_for_overwrite(blocks: &mut Vec<Block>, n: usize) {
    // New memory is zeroed.
    if blocks.capacity() < n {
        blocks.zeroize();
        *blocks = zeroed_vec(n);
    }
    blocks.resize(n, Block::ZERO);
}

/// One party's part of one authenticated share, with one peer.
#[derive(Clone, Copy, Default)]
pub struct Share {
    /// This party's bit.
    pub bit: bool,
    /// The MAC on it, under the peer's Δ.
    pub mac: Mac,
    /// The key for the peer's bit, under this party's Δ.
    pub key: Key,
}

impl std::ops::BitXor for Share {
    type Output = Share;

    fn bitxor(self, other: Share) -> Share {
        Share { bit: self.bit ^ other.bit, mac: self.mac ^ other.mac, key: self.key ^ other.key }
    }
}

impl std::ops::BitXorAssign for Share {
    fn bitxor_assign(&mut self, other: Share) {
        *self = *self ^ other;
    }
}

/// Authenticated AND triples: shares with c_k = a_k ∧ b_k.
#[derive(Clone, Default)]
pub struct Triples {
    /// The left factors.
    pub a: AuthShares,
    /// The right factors.
    pub b: AuthShares,
    /// The products.
    pub c: AuthShares,
}

impl Triples {
    /// Returns the number of triples.
    pub fn len(&self) -> usize {
        self.a.len()
    }

    /// Returns whether there are no triples.
    pub fn is_empty(&self) -> bool {
        self.a.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use symbolon_primitives::Prg;

    use super::*;

    /// Returns both parties' parts of a share of a random bit under these Δ, as a dealer would.
    fn deal(deltas: [Block; 2], prg: &mut Prg) -> [Share; 2] {
        let (bits, keys) = ([prg.bool(), prg.bool()], [prg.block(), prg.block()].map(Key));
        [0, 1].map(|me| Share {
            bit: bits[me],
            mac: keys[1 - me].mac_of(bits[me], deltas[1 - me]),
            key: keys[me],
        })
    }

    #[test]
    fn filling_up_adds_zeros_and_keeps_what_is_there() {
        let mut shares = AuthShares::zeros(3, 2);
        shares.bits.set(2, true);
        shares.towards[1].keys[2] = Block::ONE;
        shares.fill_up(3);
        shares.fill_up(70);
        assert_eq!(shares.bits.to_bools().iter().filter(|&&bit| bit).count(), 1);
        assert!(shares.bits.get(2) && shares.len() == 70);
        for (place, PeerAuth { macs, keys }) in shares.towards.iter().enumerate() {
            let expected = |k| if (place, k) == (1, 2) { Block::ONE } else { Block::ZERO };
            assert!(macs.len() == 70 && macs.iter().all(|&mac| mac == Block::ZERO));
            assert!(
                keys.len() == 70 && keys.iter().enumerate().all(|(k, &key)| key == expected(k))
            );
        }
    }

    fn value([a, b]: [Share; 2]) -> bool {
        a.bit ^ b.bit
    }

    fn is_authenticated([a, b]: [Share; 2], deltas: [Block; 2]) -> bool {
        a.mac == b.key.mac_of(a.bit, deltas[1]) && b.mac == a.key.mac_of(b.bit, deltas[0])
    }

    #[test]
    fn sums_are_shares_of_sums() {
        let mut prg = Prg::from_seed(Block(1));
        let deltas = [prg.block(), prg.block()];
        for _ in 0..32 {
            let (x, y) = (deal(deltas, &mut prg), deal(deltas, &mut prg));
            let z = [0, 1].map(|me| x[me] ^ y[me]);
            assert_eq!(value(z), value(x) ^ value(y));
            assert!(is_authenticated(z, deltas));
        }
    }

    #[test]
    fn rooms_have_zero_bits_and_what_is_cleared_is_zero() {
        let mut shares = AuthShares::default();
        let second = PeerIndex::of(2, 0);
        for n in [3, 70, 2, 65] {
            shares.make_room(n, 2);
            assert_eq!((shares.len(), shares.towards.len()), (n, 2));
            assert!(shares.bits.to_bools().iter().all(|bit| !bit));
            assert!(shares.towards.iter().all(|t| (t.macs.len(), t.keys.len()) == (n, n)));
            shares.clear_auths(1);
            for k in 0..n {
                let Share { mac, key, .. } = shares.pair(k, second);
                assert!(k == 0 || mac == Mac::ZERO && key == Key::ZERO);
                shares.bits.set(k, true);
                let PeerAuth { macs, keys } = &mut shares.towards[1];
                (macs[k], keys[k]) = (Block(1), Block(2));
            }
        }
    }

    #[test]
    fn what_was_set_is_got_and_sliced() {
        let mut prg = Prg::from_seed(Block(2));
        let deltas = [prg.block(), prg.block()];
        let dealt: Vec<Share> = (0..100).map(|_| deal(deltas, &mut prg)[0]).collect();
        let mut shares = AuthShares::zeros(100, 2);
        for (k, share) in dealt.iter().enumerate() {
            // The other peer's entries stay zero.
            shares.bits.set(k, share.bit);
            (shares.towards[1].macs[k], shares.towards[1].keys[k]) = (share.mac.0, share.key.0);
        }
        let slice = shares.slice(37..90);
        let [first, second] = [1, 2].map(|peer| PeerIndex::of(peer, 0));
        assert_eq!((slice.len(), slice.is_empty()), (53, false));
        for k in 0..53 {
            let set = dealt[37 + k];
            for share in [shares.pair(37 + k, second), slice.pair(k, second)] {
                assert!(share.bit == set.bit && share.mac == set.mac && share.key == set.key);
            }
            let other = slice.pair(k, first);
            assert!(other.mac == Mac::ZERO && other.key == Key::ZERO);
        }
    }
}
