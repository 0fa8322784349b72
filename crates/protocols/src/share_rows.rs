//! Authenticated shares side by side, as a walk over a circuit needs them: a share's bit in one array,
//! its MACs and keys towards all peers next to each other in another.

use std::ops::Range;
use std::slice::ChunksExact;

use symbolon_preprocessing::{Share, Shares};
use symbolon_primitives::{BitVec, Block, key_sums};
use symbolon_transport::Result;
use zeroize::Zeroize;

use crate::codec::{Reader, Writer};

/// A growable list of one party's authenticated shares, indexed at random.
#[derive(Default)]
pub(crate) struct ShareRows {
    peers: usize,
    bits: Vec<bool>,
    /// MAC and key towards the peer in place p of share k at `k·peers + p`.
    auth: Vec<[Block; 2]>,
}

impl ShareRows {
    /// `n` shares of zero among this party and `peers` others.
    pub fn zeros(n: usize, peers: usize) -> Self {
        ShareRows { peers, bits: vec![false; n], auth: vec![[Block::ZERO; 2]; n * peers] }
    }

    /// No shares yet, with room for `n` among this party and `peers` others.
    pub fn with_capacity(n: usize, peers: usize) -> Self {
        ShareRows { peers, bits: Vec::with_capacity(n), auth: Vec::with_capacity(n * peers) }
    }

    pub fn len(&self) -> usize {
        self.bits.len()
    }

    pub fn peers(&self) -> usize {
        self.peers
    }

    pub fn bit(&self, k: usize) -> bool {
        self.bits[k]
    }

    pub fn set_bit(&mut self, k: usize, bit: bool) {
        self.bits[k] = bit;
    }

    /// MAC and key of share `k` towards each peer.
    pub fn auth(&self, k: usize) -> &[[Block; 2]] {
        &self.auth[k * self.peers..][..self.peers]
    }

    /// MACs and keys of `n` shares from `first` on, towards each peer.
    pub fn auths(&self, first: usize, n: usize) -> ChunksExact<'_, [Block; 2]> {
        self.auth[first * self.peers..][..n * self.peers].chunks_exact(self.peers)
    }

    /// What shares from `first` on add to labels, share k of each list to `sums[k]`: the sum of the keys, ⊕ `delta` where the
    /// bit is 1.
    pub fn key_sums<const LISTS: usize>(
        lists: [&ShareRows; LISTS],
        first: usize,
        delta: Block,
        sums: &mut [[Block; LISTS]],
    ) {
        let bits = lists.map(|list| &list.bits[first..][..sums.len()]);
        let auths = lists.map(|list| list.auths(first, sums.len()));
        if lists.iter().all(|list| list.peers == 1) {
            let auths = lists.map(|list| &list.auth[first..][..sums.len()]);
            return key_sums(delta, bits, auths, sums);
        }
        for (list, (bits, auths)) in bits.into_iter().zip(auths).enumerate() {
            for ((sums, &bit), auth) in sums.iter_mut().zip(bits).zip(auths) {
                sums[list] = auth.iter().fold(delta.select(bit), |sum, [_, key]| sum ^ *key);
            }
        }
    }

    /// MAC and key of share `k` towards each peer, to be changed.
    pub fn auth_mut(&mut self, k: usize) -> &mut [[Block; 2]] {
        &mut self.auth[k * self.peers..][..self.peers]
    }

    /// Share `k` between two parties.
    pub fn pair(&self, k: usize) -> Share {
        let [mac, key] = self.auth[k * self.peers];
        Share { bit: self.bits[k], mac, key }
    }

    /// Appends share `k` of another list.
    pub fn push_row(&mut self, from: &ShareRows, k: usize) {
        self.bits.push(from.bits[k]);
        if self.peers == 1 {
            // No call for 32 bytes.
            self.auth.push(from.auth[k]);
        } else {
            self.auth.extend_from_slice(from.auth(k));
        }
    }

    /// Appends shares of flat arrays.
    pub fn push_range(&mut self, from: &Shares, range: Range<usize>) {
        self.bits.extend(range.clone().map(|k| from.bits.get(k)));
        if let [t] = &from.towards[..] {
            let auth = t.macs[range.clone()].iter().zip(&t.keys[range]);
            return self.auth.extend(auth.map(|(mac, key)| [*mac, *key]));
        }
        for k in range {
            self.auth.extend(from.towards.iter().map(|t| [t.macs[k], t.keys[k]]));
        }
    }

    /// Adds shares of flat arrays to those from share `first` on.
    pub fn add_range(&mut self, first: usize, from: &Shares, range: Range<usize>) {
        let bits = &mut self.bits[first..][..range.len()];
        bits.iter_mut().zip(range.clone()).for_each(|(bit, k)| *bit ^= from.bits.get(k));
        let rows = self.auth[first * self.peers..].chunks_exact_mut(self.peers);
        for (row, k) in rows.zip(range) {
            for (auth, t) in row.iter_mut().zip(&from.towards) {
                auth[0] ^= t.macs[k];
                auth[1] ^= t.keys[k];
            }
        }
    }

    /// Share `k` becomes share `from_k` of flat arrays.
    pub fn set(&mut self, k: usize, from: &Shares, from_k: usize) {
        self.bits[k] = from.bits.get(from_k);
        if let (1, [t]) = (self.peers, &from.towards[..]) {
            self.auth[k] = [t.macs[from_k], t.keys[from_k]];
            return;
        }
        for (auth, t) in self.auth_mut(k).iter_mut().zip(&from.towards) {
            *auth = [t.macs[from_k], t.keys[from_k]];
        }
    }

    /// Writes all of them.
    pub fn save(&self, out: &mut Writer<'_>) -> Result<()> {
        out.bits(&BitVec::from_bools(&self.bits))?;
        self.auth.iter().try_for_each(|auth| out.blocks(auth))
    }

    /// Reads `n` shares among this party and `peers` others.
    pub fn load(n: usize, peers: usize, from: &mut Reader<'_>) -> Result<ShareRows> {
        let bits = from.bits(n)?.to_bools();
        let blocks = from.blocks(2 * n * peers)?;
        let auth = blocks.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
        Ok(ShareRows { peers, bits, auth })
    }

    /// Share `to_k` of flat arrays becomes share `k`.
    pub fn write(&self, k: usize, to: &mut Shares, to_k: usize) {
        to.bits.set(to_k, self.bits[k]);
        for (t, &[mac, key]) in to.towards.iter_mut().zip(self.auth(k)) {
            t.macs[to_k] = mac;
            t.keys[to_k] = key;
        }
    }

    /// Share `out` becomes share `a` ⊕ share `b`.
    pub fn xor(&mut self, a: usize, b: usize, out: usize) {
        self.bits[out] = self.bits[a] ^ self.bits[b];
        let peers = self.peers;
        if peers == 1 {
            let ([mac_a, key_a], [mac_b, key_b]) = (self.auth[a], self.auth[b]);
            self.auth[out] = [mac_a ^ mac_b, key_a ^ key_b];
            return;
        }
        for p in 0..peers {
            let ([mac_a, key_a], [mac_b, key_b]) =
                (self.auth[a * peers + p], self.auth[b * peers + p]);
            self.auth[out * peers + p] = [mac_a ^ mac_b, key_a ^ key_b];
        }
    }

    /// Share `out` becomes share `from`.
    pub fn copy(&mut self, from: usize, out: usize) {
        self.bits[out] = self.bits[from];
        if self.peers == 1 {
            self.auth[out] = self.auth[from];
            return;
        }
        self.auth.copy_within(from * self.peers..(from + 1) * self.peers, out * self.peers);
    }

    /// Share `out` becomes a share of zero: bit, MACs and keys all zero.
    pub fn clear(&mut self, out: usize) {
        self.bits[out] = false;
        self.auth_mut(out).fill([Block::ZERO; 2]);
    }

    /// Leaves an empty list with the memory of this one.
    pub fn clear_all(&mut self) {
        self.bits.clear();
        self.auth.clear();
    }

    /// Share `k` ⊕= `by`·(share `from_k` of `from`), for a public `by`.
    pub fn add(&mut self, k: usize, from: &ShareRows, from_k: usize, by: bool) {
        self.bits[k] ^= from.bits[from_k] & by;
        let peers = self.peers;
        let own = &mut self.auth[k * peers..][..peers];
        for (auth, more) in own.iter_mut().zip(from.auth(from_k)) {
            auth[0] ^= more[0].select(by);
            auth[1] ^= more[1].select(by);
        }
    }
}

impl Drop for ShareRows {
    fn drop(&mut self) {
        // All of their memory, of which a list that was emptied uses less than it holds.
        self.bits.zeroize();
        self.auth.zeroize();
    }
}
