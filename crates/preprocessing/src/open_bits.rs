//! Open (YWZ20 App. A.3): the parties open authenticated shares of bits and check their MACs.

use std::ops::Range;

use symbolon_primitives::block_xor::{append_blocks, xor_blocks};
use symbolon_primitives::{BitVec, Block, BlockHasher, reserve_wiped, same_digest, xor_key_masked};
use symbolon_transport::{Channel, Check, Error, Message, Result};
use zeroize::{Zeroize, Zeroizing};

use crate::{AuthShares, PeerIndex};

/// Collects shares to be opened: this party's bits and, for the check, the MACs on this party's
/// bits and the keys for the peers' bits.
///
/// This is the amortised opening of YWZ20 App. A.3: bits, then one digest of all their MACs for
/// each peer, under that peer's Δ. The receiver hashes K ⊕ x·Δ for the bits x that it received.
pub struct ShareOpening {
    own: BitVec,
    /// One entry per peer.
    proofs: Vec<Proof>,
}

/// The part of an opening for one peer.
struct Proof {
    /// The digest of the MACs on this party's bits.
    digest: BlockHasher,
    /// The MACs that are not in the digest yet.
    macs: Zeroizing<Vec<Block>>,
    /// The keys for the peer's bits.
    keys: Zeroizing<Vec<Block>>,
}

/// The number of MACs hashed at a time.
const HASHED: usize = 2048;

impl Proof {
    fn with_capacity(n: usize) -> Proof {
        Proof {
            digest: digest(),
            macs: Zeroizing::new(Vec::with_capacity(n.min(HASHED))),
            keys: Zeroizing::new(Vec::with_capacity(n)),
        }
    }

    fn extend(&mut self, mut auths: impl Iterator<Item = [Block; 2]>) {
        loop {
            let room = HASHED - self.macs.len();
            for [mac, key] in auths.by_ref().take(room) {
                reserve_wiped(&mut self.macs, 1);
                reserve_wiped(&mut self.keys, 1);
                self.macs.push(mac);
                self.keys.push(key);
            }
            if self.macs.len() < HASHED {
                return;
            }
            self.digest.update(&self.macs);
            self.macs.clear();
        }
    }

    /// Adds sums of two rows in the same way.
    fn extend_sums(&mut self, [mut x, mut y]: [&[Block]; 2], keys: [&[Block]; 2]) {
        let sums = |out: &mut Vec<Block>, [x, y]: [&[Block]; 2]| {
            let start = out.len();
            reserve_wiped(out, x.len());
            append_blocks(out, x);
            xor_blocks(&mut out[start..], y);
        };
        sums(&mut self.keys, keys);
        while !x.is_empty() {
            let n = x.len().min(HASHED - self.macs.len());
            sums(&mut self.macs, [&x[..n], &y[..n]]);
            (x, y) = (&x[n..], &y[n..]);
            if self.macs.len() == HASHED {
                self.digest.update(&self.macs);
                self.macs.clear();
            }
        }
    }

    /// Returns the digest and the keys.
    fn finish(self) -> ([u8; 32], Zeroizing<Vec<Block>>) {
        let Proof { mut digest, macs, keys } = self;
        digest.update(&macs);
        (digest.finish(), keys)
    }
}

/// The labels of one kind of opening: its message and its check.
pub struct OpeningLabels {
    /// The message.
    pub kind: Message,
    /// The check.
    pub check: Check,
}

impl ShareOpening {
    /// Creates an empty opening among this party and `peers` others.
    pub fn new(peers: usize) -> Self {
        ShareOpening::with_capacity(0, peers)
    }

    /// Creates an empty opening with room for `n` shares.
    pub fn with_capacity(n: usize, peers: usize) -> Self {
        let proofs = (0..peers).map(|_| Proof::with_capacity(n)).collect();
        ShareOpening { own: BitVec::with_capacity(n), proofs }
    }

    /// Adds the bits of `n` shares, the lowest bits of a word; its other bits must be zero.
    ///
    /// # Panics
    /// As [`BitVec::push_word`].
    pub fn push_bits(&mut self, bits: u64, n: usize) {
        self.own.push_word(bits, n);
    }

    /// Adds MACs and keys with `peer` of the last shares pushed, in their order.
    pub fn extend_towards(&mut self, peer: PeerIndex, auths: impl Iterator<Item = [Block; 2]>) {
        self.proofs[peer.get()].extend(auths);
    }

    /// Adds the sums x ⊕ y of shares of two lists, for the same range of both.
    ///
    /// # Panics
    /// If a list lacks such entries, or has shares with fewer peers than the opening.
    pub fn push_sums(&mut self, [x, y]: [&AuthShares; 2], range: Range<usize>) {
        let (mut sums, mut more) = (x.bits.slice(range.clone()), y.bits.slice(range.clone()));
        sums.xor_assign(&more);
        self.own.extend_from(&sums);
        sums.zeroize();
        more.zeroize();
        for (peer, proof) in self.proofs.iter_mut().enumerate() {
            let both = [&x.towards[peer], &y.towards[peer]];
            proof.extend_sums(
                both.map(|towards| &towards.macs[range.clone()]),
                both.map(|towards| &towards.keys[range.clone()]),
            );
        }
    }

    /// Sends this party's bits to each peer, with the digest of their MACs under its Δ.
    ///
    /// # Errors
    /// `Transport` if a connection is lost.
    pub fn send(self, channels: &mut [Channel], labels: &OpeningLabels) -> Result<AwaitedOpening> {
        let bits = self.own.to_bytes();
        let mut awaited = AwaitedOpening { own: self.own, keys: Vec::new() };
        for (channel, proof) in channels.iter_mut().zip(self.proofs) {
            let (digest, keys) = proof.finish();
            awaited.keys.push(keys);
            channel.send_parts(labels.kind, &[&bits, &digest])?;
            channel.flush()?;
        }
        Ok(awaited)
    }
}

/// An opening for which the peers' parts are awaited.
pub struct AwaitedOpening {
    own: BitVec,
    /// One list per peer.
    keys: Vec<Zeroizing<Vec<Block>>>,
}

impl AwaitedOpening {
    /// Receives the peers' bits, checks them, and returns the opened values ⊕_i λ^i.
    ///
    /// Check: products | `Beaver MAC` over every opened bit | lies in openings | 2^-127
    ///
    /// # Errors
    /// `PeerMisbehaved` if the digest of a peer's MACs is wrong; `Transport` if a connection is
    /// lost.
    pub fn receive(
        self,
        channels: &mut [Channel],
        labels: &OpeningLabels,
        delta: Block,
    ) -> Result<BitVec> {
        let mut values = self.own;
        for (channel, mut macs) in channels.iter_mut().zip(self.keys) {
            let (theirs, digest) = recv_bits_and_digest(channel, labels, macs.len())?;
            xor_key_masked(&mut macs, &theirs, 0, delta);
            if !same_digest(&digest_of(&macs), &digest) {
                return Err(Error::misbehaved(channel.peer(), labels.check));
            }
            values.xor_assign(&theirs);
        }
        Ok(values)
    }
}

/// Returns the digest that replaces MACs when many bits are opened at once.
pub fn digest_of(macs: &[Block]) -> [u8; 32] {
    let mut hasher = digest();
    hasher.update(macs);
    hasher.finish()
}

/// Starts the hash of [`digest_of`], for MACs that arrive in pieces.
pub(crate) fn digest() -> BlockHasher {
    BlockHasher::new("symbolon opening 1")
}

/// Receives `n` packed bits and a 32-byte digest.
pub fn recv_bits_and_digest(
    channel: &mut Channel,
    labels: &OpeningLabels,
    n: usize,
) -> Result<(BitVec, [u8; 32])> {
    let mut bytes = channel.recv(labels.kind, BitVec::byte_len(n) + 32)?;
    let digest = bytes.split_off(BitVec::byte_len(n));
    let bits = BitVec::from_bytes(n, &bytes)
        .ok_or_else(|| Error::misbehaved(channel.peer(), labels.check))?;
    Ok((bits, digest.try_into().expect("32 bytes were split off")))
}
