//! From leaky triples to good ones: bucketing, Yang–Wang–Zhang 2020, Fig. 16.
//!
//! The leaky triples of a batch are thrown into buckets by a permutation from a coin toss that runs
//! after all of them are fixed and checked. In each bucket the first triple absorbs the others:
//!
//! ```text
//! d = Open(⟨y_1⟩ ⊕ ⟨y_k⟩),   ⟨x⟩ ⊕= ⟨x_k⟩,   ⟨z⟩ ⊕= ⟨z_k⟩ ⊕ d·⟨x_k⟩,   ⟨y⟩ = ⟨y_1⟩
//! ```
//!
//! In a batch of *tied* triples ([`Batch::tied`]) the first triple of bucket k is number k of the batch, made
//! on a given share of y, and only the others are thrown: [`crate::bucketing`] says what that costs. What
//! comes out has ⟨y⟩ as given; d is masked by the fresh y_k.
//!
//! All d of a batch are opened at once: bits first, then digests of their MACs. What is computed from the
//! bits in between stays here until the digests are right: a peer that could lie about one d unnoticed would
//! learn a share of a chosen triple at a risk of 1/2, and 2^-ρ would become 2^-B.
//!
//! # Memory
//! The leaky triples of a bucket lie anywhere: each is visited once, when all d are known, and gives at that
//! one visit the sums, the products with d, and both what its d's MAC is and what the peer's should be. Before
//! that only the bits are gathered, a byte for each triple.

use std::ops::Range;

use symbolon_primitives::records::{BucketSums, Buckets, sum_buckets};
use symbolon_primitives::{
    BitVec, Block, BlockHasher, Challenge, add_key_where, rows_of_bytes, same_digest,
};
use symbolon_transport::{Channel, Error, Result};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    Shares, Towards, Triples,
    bucketing::Batch,
    exchange::{self, Opened},
    leaky::{D_BIT, LeakyTriples, X_BIT, Y_BIT, Z_BIT},
    shares::to_be_filled,
};

/// The opening of the d bits, and its check.
pub const OPENED: Opened = Opened { kind: "bucketing: d", check: "bucketing MAC" };

/// The kind of the message with the digest of the d bits' MACs.
pub const MACS: &str = "bucketing: MACs";

/// Combines a batch of leaky triples into triples, by the buckets that `challenge` draws. Of tied triples the
/// right factors are left empty: they are the given ones.
///
/// # Errors
/// `PeerMisbehaved` when an opened d has no valid MAC; `Transport` when a peer is gone.
pub fn combine(
    channels: &mut [Channel],
    leaky: &LeakyTriples,
    batch: Batch,
    challenge: Challenge,
    delta: Block,
    scratch: &mut Scratch,
) -> Result<Triples> {
    let order = thrown(batch, challenge);
    let mut triples = std::mem::take(&mut scratch.spare);
    triples.reset(batch, leaky.peers());
    let mut bits = Bits::gather(leaky, &order, batch, &mut triples);
    let theirs = exchange_bits(channels, &bits.own, &mut scratch.bytes)?;
    for theirs in &theirs {
        bits.own.xor_assign(theirs);
    }
    multiply_bits(&bits, batch.bucket - 1, &mut triples.c.bits);
    let work = Work { leaky, order: &order, batch, bits: &bits, delta };
    let macs = work.sum(&theirs, &mut triples, scratch);
    check(channels, macs)?;
    Ok(triples)
}

/// What is kept between batches: memory touched for the first time is dear.
#[derive(Default)]
pub struct Scratch {
    spare: Triples,
    /// For each peer MACs that wait to be hashed: those of the own d, and those that the peer's should have.
    waiting: Vec<[Vec<Block>; 2]>,
    bytes: Vec<u8>,
}

impl Scratch {
    /// Keeps the memory of triples that are used up for the next batch's.
    pub(crate) fn recycle(&mut self, triples: Triples) {
        self.spare = triples;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.waiting.iter_mut().flatten().for_each(Zeroize::zeroize);
    }
}

/// The triples of bucket 0, of bucket 1, ...
pub(crate) fn thrown(batch: Batch, challenge: Challenge) -> Vec<u32> {
    let mut prg = challenge.into_prg();
    if !batch.tied {
        return prg.permutation(batch.leaky());
    }
    let tied = batch.triples as u32;
    let free = prg.permutation(batch.leaky() - batch.triples);
    let mut order = Vec::with_capacity(batch.leaky());
    for (first, others) in (0..tied).zip(free.chunks_exact(batch.bucket - 1)) {
        order.push(first);
        order.extend(others.iter().map(|other| tied + other));
    }
    order
}

/// How many buckets ahead memory is asked for.
const PREFETCH: usize = 32;

/// Buckets that are summed at a time, for one peer after another: a word of each vector of bits, and their
/// records stay in the first-level cache.
const PIECE: usize = 64;

/// MACs that are hashed at a time.
const HASHED: usize = 2048;

/// The bits that the buckets are summed with.
struct Bits {
    /// The own bits of all x_k but the first of each bucket.
    factors: Zeroizing<BitVec>,
    /// The own bits of all d; all parties' once they are known.
    own: BitVec,
    /// For each bucket how often z lacks its correction, modulo 2.
    corrections: BitVec,
}

impl Bits {
    /// Gathers all bits, and writes the own bits of all sums but the products with d.
    fn gather(leaky: &LeakyTriples, order: &[u32], batch: Batch, triples: &mut Triples) -> Bits {
        let Batch { triples: n, bucket, .. } = batch;
        let words = n.div_ceil(PIECE);
        let mut others = Zeroizing::new(vec![[0; 8]; words * (bucket - 1)]);
        let mut bits = Bits {
            factors: Zeroizing::new(BitVec::zeros(n * (bucket - 1))),
            own: BitVec::zeros(n * (bucket - 1)),
            corrections: BitVec::zeros(n),
        };
        let mut bytes = Zeroizing::new(vec![0; PIECE * (bucket - 1)]);
        for (word, members) in order.chunks(PIECE * bucket).enumerate() {
            let mut sums = [0; PIECE];
            bytes.fill(0);
            let places = sums.iter_mut().zip(bytes.chunks_exact_mut(bucket - 1));
            for (members, (sum, others)) in members.chunks_exact(bucket).zip(places) {
                *sum = gather(leaky.packed(), members, others);
            }
            let mut rows = [[0; 8]];
            rows_of_bytes(&sums, &mut rows);
            for (shares, bit) in triples.made(batch, [X_BIT, Y_BIT, Z_BIT]) {
                shares.bits.words_mut()[word] = rows[0][place(bit)];
            }
            bits.corrections.words_mut()[word] = rows[0][place(D_BIT)];
            rows_of_bytes(&bytes, &mut others[word * (bucket - 1)..][..bucket - 1]);
            sums.zeroize();
            rows.zeroize();
        }
        let bits_of = bits.factors.words_mut().iter_mut().zip(bits.own.words_mut());
        for ((factors, own), rows) in bits_of.zip(others.iter()) {
            (*factors, *own) = (rows[place(X_BIT)], rows[place(Y_BIT)]);
        }
        bits
    }
}

/// The number of a packed bit.
const fn place(bit: u8) -> usize {
    bit.trailing_zeros() as usize
}

/// The bits of a bucket's sum, without products; of each member but the first its x and, in the place of
/// y, the own bit of d.
#[inline]
fn gather(packed: &[u8], members: &[u32], others: &mut [u8]) -> u8 {
    let first = packed[members[0] as usize];
    let mut sum = first;
    for (&member, out) in members[1..].iter().zip(others) {
        let other = packed[member as usize];
        sum ^= other & !Y_BIT;
        *out = other & X_BIT | (first ^ other) & Y_BIT;
    }
    sum
}

/// Adds the own d·x_k to the own bits of the products.
fn multiply_bits(Bits { factors, own: d, .. }: &Bits, per_bucket: usize, c: &mut BitVec) {
    let n = c.len();
    let mut f = 0;
    for (word, c) in c.words_mut().iter_mut().enumerate() {
        for k in 0..64.min(n - 64 * word) {
            let mut sum = 0;
            for f in f..f + per_bucket {
                sum ^= (factors.words()[f / 64] & d.words()[f / 64]) >> (f % 64);
            }
            f += per_bucket;
            *c ^= (sum & 1) << k;
        }
    }
}

/// Sends the own d to all peers, and returns theirs.
fn exchange_bits(
    channels: &mut [Channel],
    own: &BitVec,
    bytes: &mut Vec<u8>,
) -> Result<Vec<BitVec>> {
    for channel in channels.iter_mut() {
        channel.send(OPENED.kind, &own.to_bytes())?;
        channel.flush()?;
    }
    bytes.resize(BitVec::byte_len(own.len()), 0);
    let receive = |channel: &mut Channel| {
        channel.recv_into(OPENED.kind, bytes)?;
        BitVec::from_bytes(own.len(), bytes)
            .ok_or_else(|| Error::misbehaved(channel.peer(), OPENED.check))
    };
    channels.iter_mut().map(receive).collect()
}

/// For each peer the digests of the MACs on the own d, and of those that its d should have.
type Digests = Vec<[BlockHasher; 2]>;

/// A batch's buckets, with all that their sums are made of.
struct Work<'a> {
    leaky: &'a LeakyTriples,
    /// The triples of bucket 0, of bucket 1, ...
    order: &'a [u32],
    batch: Batch,
    bits: &'a Bits,
    delta: Block,
}

impl Work<'_> {
    /// Adds up MACs and keys, and digests the MACs of d; `theirs` are the peers' parts of d.
    fn sum(&self, theirs: &[BitVec], triples: &mut Triples, scratch: &mut Scratch) -> Digests {
        let peers = self.leaky.peers();
        scratch.waiting.resize_with(peers, Default::default);
        let mut digests: Digests =
            (0..peers).map(|_| [exchange::digest(), exchange::digest()]).collect();
        let Batch { triples: n, bucket, .. } = self.batch;
        for first in (0..n).step_by(PIECE) {
            let piece = first..(first + PIECE).min(n);
            for (peer, waiting) in scratch.waiting.iter_mut().enumerate() {
                let [_, expected] = &*waiting;
                let already = expected.len();
                let more = already + piece.len() * (bucket - 1);
                for macs in &mut *waiting {
                    macs.resize(more, Block::ZERO);
                }
                let opened = waiting.each_mut().map(|macs| &mut macs[already..]);
                self.sum_piece(piece.clone(), peer, triples, opened);
                let [own, expected] = waiting;
                let f = first * (bucket - 1);
                add_key_where(&mut expected[already..], &theirs[peer], f, self.delta);
                if own.len() >= HASHED || piece.end == n {
                    for (digest, macs) in digests[peer].iter_mut().zip([own, expected]) {
                        digest.update(macs);
                        macs.clear();
                    }
                }
            }
        }
        digests
    }

    /// Writes the sums of a few buckets towards one peer, and to `opened` the MACs of the own d and the keys for the
    /// peer's.
    fn sum_piece(
        &self,
        piece: Range<usize>,
        peer: usize,
        triples: &mut Triples,
        opened: [&mut [Block]; 2],
    ) {
        let &Work { leaky, order, batch, bits, .. } = self;
        let size = batch.bucket;
        let Triples { a, b, c } = triples;
        let b = (!batch.tied).then_some(b);
        let made = [Some(a), b, Some(c)].map(|shares| {
            let Towards { macs, keys } = &mut shares?.towards[peer];
            Some([&mut macs[piece.clone()], &mut keys[piece.clone()]])
        });
        // The first peer's turn asks for the records of all.
        let ahead = order.get((piece.start + PREFETCH) * size..).filter(|_| peer == 0);
        let ahead = ahead.map(|ahead| &ahead[..ahead.len().min(piece.len() * size)]);
        let buckets = Buckets {
            members: &order[piece.start * size..piece.end * size],
            size,
            d: &bits.own.words()[piece.start * (size - 1) / 64..],
            corrected: bits.corrections.words()[piece.start / PIECE],
            correction: leaky.correcting(peer),
            ahead: ahead.unwrap_or_default(),
        };
        sum_buckets(leaky.records(), peer, &buckets, &mut BucketSums { made, opened });
    }
}

/// Compares digests of MACs with all peers.
fn check(channels: &mut [Channel], digests: Digests) -> Result<()> {
    let mut expected = Vec::with_capacity(channels.len());
    for (channel, [own, theirs]) in channels.iter_mut().zip(digests) {
        channel.send(MACS, &own.finish())?;
        channel.flush()?;
        expected.push(theirs.finish());
    }
    for (channel, expected) in channels.iter_mut().zip(expected) {
        if !same_digest(&channel.recv_array::<32>(MACS)?, &expected) {
            return Err(Error::misbehaved(channel.peer(), OPENED.check));
        }
    }
    Ok(())
}

/// The place of y among x, y and z.
const Y: usize = 1;

impl Triples {
    /// Makes room for a batch among this party and `peers` others; what the memory holds is overwritten later.
    fn reset(&mut self, batch: Batch, peers: usize) {
        let n = batch.triples;
        for (shares, ()) in self.made(batch, [(); 3]) {
            shares.bits = BitVec::zeros(n);
            shares.towards.resize_with(peers, Towards::default);
            for Towards { macs, keys } in &mut shares.towards {
                [macs, keys].into_iter().for_each(|blocks| to_be_filled(blocks, n));
            }
        }
    }

    /// The shares that a batch makes, each with what stands in its place among x, y and z.
    fn made<T>(&mut self, batch: Batch, with: [T; 3]) -> impl Iterator<Item = (&mut Shares, T)> {
        let all = [&mut self.a, &mut self.b, &mut self.c].into_iter().zip(with).enumerate();
        all.filter(move |(which, _)| !batch.tied || *which != Y).map(|(_, made)| made)
    }
}
