//! Authenticated shares in the layout that a pass over a circuit needs: bits in one array, and a
//! share's MACs and keys towards all peers adjacent in another.

use std::ops::Range;
use std::slice::ChunksExact;

use symbolon_engine::codec::{Reader, Writer};
use symbolon_garbling::wires::WireStore;
use symbolon_preprocessing::{AuthShares, Share};
use symbolon_primitives::block_xor::{interleave_blocks, interleave_masked};
use symbolon_primitives::{BitVec, Block, Key, Mac, key_sums, reserve_wiped};
use symbolon_transport::Result;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A growable list of one party's authenticated shares, for random access.
#[derive(Default, ZeroizeOnDrop)]
pub(crate) struct WireShares {
    peers: usize,
    bits: Vec<bool>,
    /// MAC and key towards the peer with index p of share k, at `k·peers + p`.
    auth: Vec<[Block; 2]>,
}

impl WireShares {
    /// Returns `n` shares of zero among this party and `peers` others.
    pub fn zeros(n: usize, peers: usize) -> Self {
        WireShares { peers, bits: vec![false; n], auth: vec![[Block::ZERO; 2]; n * peers] }
    }

    /// Returns an empty list with room for `n` shares among this party and `peers` others.
    pub fn with_capacity(n: usize, peers: usize) -> Self {
        WireShares { peers, bits: Vec::with_capacity(n), auth: Vec::with_capacity(n * peers) }
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

    /// Returns MAC and key of share `k` towards each peer.
    pub fn auth(&self, k: usize) -> &[[Block; 2]] {
        &self.auth[k * self.peers..][..self.peers]
    }

    /// Returns MACs and keys of `n` shares from `first` on, towards each peer.
    pub fn auths(&self, first: usize, n: usize) -> ChunksExact<'_, [Block; 2]> {
        self.auth[first * self.peers..][..n * self.peers].chunks_exact(self.peers)
    }

    /// Sets `sums[k]` to what share k of each list, counted from `first`, adds to labels: the sum
    /// of the keys, ⊕ `delta` where the bit is 1.
    pub fn key_sums<const LISTS: usize>(
        lists: [&WireShares; LISTS],
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

    /// Returns MAC and key of share `k` towards each peer, for writing.
    pub fn auth_mut(&mut self, k: usize) -> &mut [[Block; 2]] {
        &mut self.auth[k * self.peers..][..self.peers]
    }

    /// Returns share `k` between two parties.
    pub fn pair(&self, k: usize) -> Share {
        let [mac, key] = self.auth[k * self.peers];
        Share { bit: self.bits[k], mac: Mac(mac), key: Key(key) }
    }

    /// Appends share `k` of another list.
    pub fn push_row(&mut self, from: &WireShares, k: usize) {
        reserve_wiped(&mut self.bits, 1);
        reserve_wiped(&mut self.auth, self.peers);
        self.bits.push(from.bits[k]);
        if self.peers == 1 {
            // This avoids a call for 32 bytes.
            self.auth.push(from.auth[k]);
        } else {
            self.auth.extend_from_slice(from.auth(k));
        }
    }

    fn push_bits(&mut self, mut bits: BitVec) {
        bits.append_to(&mut self.bits);
        bits.zeroize();
    }

    /// Returns room for MACs and keys of `n` more shares, for writing.
    fn more_auths(&mut self, n: usize) -> &mut [[Block; 2]] {
        let start = self.auth.len();
        reserve_wiped(&mut self.auth, n);
        self.auth.resize(start + n, [Block::ZERO; 2]);
        &mut self.auth[start..]
    }

    /// Appends shares of flat arrays.
    pub fn push_range(&mut self, from: &AuthShares, range: Range<usize>) {
        self.push_bits(from.bits.slice(range.clone()));
        if let [t] = &from.towards[..] {
            let out = self.more_auths(range.len());
            return interleave_blocks(&t.macs[range.clone()], &t.keys[range], out);
        }
        reserve_wiped(&mut self.auth, range.len() * self.peers);
        for k in range {
            self.auth.extend(from.towards.iter().map(|t| [t.macs[k], t.keys[k]]));
        }
    }

    /// Appends the sums of shares of two flat arrays.
    pub fn push_sums(&mut self, [a, b]: [&AuthShares; 2], range: Range<usize>) {
        let (mut bits, mut more) = (a.bits.slice(range.clone()), b.bits.slice(range.clone()));
        bits.xor_assign(&more);
        more.zeroize();
        self.push_bits(bits);
        reserve_wiped(&mut self.auth, range.len() * self.peers);
        if let ([a], [b]) = (&a.towards[..], &b.towards[..]) {
            let [a, b] = [a, b].map(|t| t.macs[range.clone()].iter().zip(&t.keys[range.clone()]));
            let sum = |((m, k), (n, l)): ((&Block, &Block), (&Block, &Block))| [*m ^ *n, *k ^ *l];
            return self.auth.extend(a.zip(b).map(sum));
        }
        for k in range {
            let both = a.towards.iter().zip(&b.towards);
            self.auth.extend(both.map(|(a, b)| [a.macs[k] ^ b.macs[k], a.keys[k] ^ b.keys[k]]));
        }
    }

    /// Appends the shares of one flat array plus d times those of another, for public d.
    pub fn push_products(&mut self, [a, b]: [&AuthShares; 2], range: Range<usize>, d: &BitVec) {
        let (mut bits, mut more) = (a.bits.slice(range.clone()), b.bits.slice(range.clone()));
        more.words_mut().iter_mut().zip(d.words()).for_each(|(more, d)| *more &= d);
        bits.xor_assign(&more);
        more.zeroize();
        self.push_bits(bits);
        if let ([a], [b]) = (&a.towards[..], &b.towards[..]) {
            let [a, b] = [a, b].map(|t| [&t.macs[range.clone()], &t.keys[range.clone()]]);
            return interleave_masked(a, d, b, self.more_auths(range.len()));
        }
        reserve_wiped(&mut self.auth, range.len() * self.peers);
        let start = range.start;
        for k in range {
            let d = d.get(k - start);
            let both = a.towards.iter().zip(&b.towards);
            self.auth.extend(
                both.map(|(a, b)| {
                    [a.macs[k] ^ b.macs[k].select(d), a.keys[k] ^ b.keys[k].select(d)]
                }),
            );
        }
    }

    /// Sets the shares `which` to those of flat arrays from share `first` on.
    pub fn put(
        &mut self,
        which: impl Iterator<Item = usize> + Clone,
        from: &AuthShares,
        first: usize,
    ) {
        for (k, share) in which.clone().zip(first..) {
            self.bits[k] = from.bits.get(share);
        }
        if let (1, [t]) = (self.peers, &from.towards[..]) {
            for (k, (mac, key)) in which.zip(t.macs[first..].iter().zip(&t.keys[first..])) {
                self.auth[k] = [*mac, *key];
            }
            return;
        }
        for (k, share) in which.zip(first..) {
            for (auth, t) in self.auth_mut(k).iter_mut().zip(&from.towards) {
                *auth = [t.macs[share], t.keys[share]];
            }
        }
    }

    /// Returns the shares at these indices, in order.
    pub fn select(&self, which: &[u32]) -> WireShares {
        let mut selected = WireShares::with_capacity(which.len(), self.peers);
        which.iter().for_each(|&slot| selected.push_row(self, slot as usize));
        selected
    }

    /// Writes all shares.
    pub fn save(&self, out: &mut Writer<'_>) -> Result<()> {
        out.bits(&BitVec::from_bools(&self.bits))?;
        out.list(&self.auth)
    }

    /// Reads `n` shares among this party and `peers` others.
    pub fn load(n: usize, peers: usize, from: &mut Reader<'_>) -> Result<WireShares> {
        let bits = from.bits(n)?.to_bools();
        Ok(WireShares { peers, bits, auth: from.list(n * peers)? })
    }

    /// Copies the shares `which` to flat arrays from share `first` on, whose bits must be zero.
    pub fn gather(
        &self,
        which: impl Iterator<Item = usize> + Clone,
        to: &mut AuthShares,
        first: usize,
    ) {
        let words = to.bits.words_mut();
        for (share, k) in (first..).zip(which.clone()) {
            words[share / 64] |= u64::from(self.bits[k]) << (share % 64);
        }
        if let (1, [t]) = (self.peers, &mut to.towards[..]) {
            let to = t.macs[first..].iter_mut().zip(&mut t.keys[first..]);
            for (k, (mac, key)) in which.zip(to) {
                [*mac, *key] = self.auth[k];
            }
            return;
        }
        for (share, k) in (first..).zip(which) {
            for (t, &[mac, key]) in to.towards.iter_mut().zip(self.auth(k)) {
                (t.macs[share], t.keys[share]) = (mac, key);
            }
        }
    }

    /// Empties the list, and keeps its memory.
    pub fn clear_all(&mut self) {
        self.bits.clear();
        self.auth.clear();
    }

    /// Adds `by(k)`·(share `k` of `from`) to share `k`, for a public `by`.
    pub fn add(&mut self, from: &WireShares, by: impl Fn(usize) -> bool) {
        for (k, (bit, more)) in self.bits.iter_mut().zip(&from.bits).enumerate() {
            *bit ^= more & by(k);
        }
        if self.peers == 1 {
            for (k, (auth, more)) in self.auth.iter_mut().zip(&from.auth).enumerate() {
                let by = by(k);
                *auth = [auth[0] ^ more[0].select(by), auth[1] ^ more[1].select(by)];
            }
            return;
        }
        let rows = self.auth.chunks_exact_mut(self.peers);
        for (k, (row, more)) in rows.zip(from.auth.chunks_exact(self.peers)).enumerate() {
            let by = by(k);
            for (auth, more) in row.iter_mut().zip(more) {
                auth[0] ^= more[0].select(by);
                auth[1] ^= more[1].select(by);
            }
        }
    }
}

/// The masks of wires. NOT keeps a wire's mask, and constants have none.
impl WireStore for WireShares {
    /// Paper: WRK17, Fig. 2, 3 | masks of XOR outputs
    ///
    /// Paper: YWZ20, Fig. 6, 6 | masks of XOR outputs
    fn xor(&mut self, a: usize, b: usize, out: usize) {
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

    fn not(&mut self, a: usize, out: usize) {
        if self.peers == 1 {
            self.bits[out] = self.bits[a];
            self.auth[out] = self.auth[a];
            return;
        }
        self.copy(a..a + 1, out);
    }

    fn constant(&mut self, _: bool, out: usize) {
        self.bits[out] = false;
        self.auth_mut(out).fill([Block::ZERO; 2]);
    }

    fn copy(&mut self, from: Range<usize>, out: usize) {
        self.bits.copy_within(from.clone(), out);
        let peers = self.peers;
        self.auth.copy_within(from.start * peers..from.end * peers, out * peers);
    }
}
