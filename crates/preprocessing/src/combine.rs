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
//! All d of a batch are opened at once. Their MACs are checked before any d is used: a peer that could
//! lie about one d unnoticed would learn a share of a chosen triple at a risk of 1/2, and 2^-ρ would
//! become 2^-B.
//!
//! # Memory
//! The leaky triples of a bucket lie anywhere: each is visited once. What the opened d will be multiplied
//! with, ⟨x_k⟩, and the keys that d will be checked with are written down in the buckets' order, in buffers
//! that are kept from batch to batch; MACs go into their digest at once.

use symbolon_primitives::{BitVec, Block, BlockHasher, Challenge, Slab};
use symbolon_transport::{Channel, Error, Result};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    Towards, Triples,
    bucketing::Batch,
    exchange::{self, Opened},
    leaky::{LeakyTriples, Record},
};

/// The opening of the d bits, and its check.
pub const OPENED: Opened = Opened { kind: "bucketing: d", check: "bucketing MAC" };

/// Combines a batch of leaky triples into triples, by the buckets that `challenge` draws.
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
    triples.reset(batch.triples, leaky.peers());
    let (bits, own) = combine_bits(leaky, &order, batch.bucket, &mut triples);
    let digests = collect(leaky, &order, batch.bucket, &mut triples, scratch);
    let d = open(channels, own, &digests, delta, scratch)?;
    multiply(&d, &bits, batch.bucket - 1, &mut triples, scratch);
    Ok(triples)
}

/// What is kept between batches: memory touched for the first time is dear.
#[derive(Default)]
pub struct Scratch {
    towards: Vec<Kept>,
    spare: Triples,
}

impl Scratch {
    /// Keeps the memory of triples that are used up for the next batch's.
    pub(crate) fn recycle(&mut self, triples: Triples) {
        self.spare = triples;
    }
}

/// For every triple but the first of each bucket, towards one peer.
#[derive(Default)]
struct Kept {
    /// MAC and key of x_k.
    factors: Slab<[Block; 2]>,
    /// The key of y_1 ⊕ y_k.
    keys: Slab<Block>,
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
const PREFETCH: usize = 8;

/// Blocks that are hashed at a time.
const PIECE: usize = 1024;

/// The own bits of all sums but the products with d. Returns the own bits of all x_k but the first of each
/// bucket, and those of all d.
fn combine_bits(
    leaky: &LeakyTriples,
    order: &[u32],
    bucket: usize,
    triples: &mut Triples,
) -> (Zeroizing<BitVec>, BitVec) {
    let others = order.len() / bucket * (bucket - 1);
    let (mut factors, mut own) = (Zeroizing::new(BitVec::zeros(others)), BitVec::zeros(others));
    let Triples { a, b, c } = triples;
    let mut f = 0;
    for (k, bucket) in order.chunks_exact(bucket).enumerate() {
        let [mut x, y, mut z] = leaky.own_bits(bucket[0] as usize);
        for &other in &bucket[1..] {
            let [more_x, more_y, more_z] = leaky.own_bits(other as usize);
            own.set(f, y ^ more_y);
            factors.set(f, more_x);
            x ^= more_x;
            z ^= more_z;
            f += 1;
        }
        a.bits.set(k, x);
        b.bits.set(k, y);
        c.bits.set(k, z);
    }
    (factors, own)
}

/// Adds up MACs and keys: everything but the products with d. Returns for each peer the digest of the MACs on
/// the own bits of all d.
fn collect(
    leaky: &LeakyTriples,
    order: &[u32],
    bucket: usize,
    triples: &mut Triples,
    scratch: &mut Scratch,
) -> Vec<[u8; 32]> {
    let peers = leaky.peers();
    let others = order.len() / bucket * (bucket - 1);
    scratch.towards.resize_with(peers, Kept::default);
    for kept in &mut scratch.towards {
        kept.factors.reset(others);
        kept.keys.reset(others);
    }
    let mut digests: Vec<_> = (0..peers).map(|_| exchange::digest()).collect();
    let mut macs: Vec<Vec<Block>> = vec![Vec::with_capacity(PIECE + bucket); peers];
    let mut f = 0;
    for (k, members) in order.chunks_exact(bucket).enumerate() {
        if let Some(ahead) = order.get((k + PREFETCH) * bucket..) {
            ahead.iter().take(bucket).for_each(|&t| leaky.prefetch(t as usize));
        }
        for (peer, (kept, macs)) in scratch.towards.iter_mut().zip(&mut macs).enumerate() {
            let place = Place { kept, macs, f };
            let sum = place.absorb(leaky, members, peer);
            triples.put(k, peer, &sum);
        }
        f += bucket - 1;
        if macs[0].len() >= PIECE {
            hash_pieces(&mut digests, &mut macs);
        }
    }
    hash_pieces(&mut digests, &mut macs);
    macs.zeroize();
    digests.into_iter().map(BlockHasher::finish).collect()
}

fn hash_pieces(digests: &mut [BlockHasher], macs: &mut [Vec<Block>]) {
    for (digest, macs) in digests.iter_mut().zip(macs) {
        digest.update(macs);
        macs.clear();
    }
}

/// Where a bucket writes what it keeps towards a peer.
struct Place<'a> {
    kept: &'a mut Kept,
    macs: &'a mut Vec<Block>,
    f: usize,
}

impl Place<'_> {
    /// The sum of a bucket's members.
    #[inline]
    fn absorb(self, leaky: &LeakyTriples, members: &[u32], peer: usize) -> Record {
        let others = self.f..self.f + members.len() - 1;
        let factors = &mut self.kept.factors[others.clone()];
        let keys = &mut self.kept.keys[others];
        let mut sum = leaky.record(members[0] as usize, peer);
        for ((&other, factor), key) in members[1..].iter().zip(factors).zip(keys) {
            let record = leaky.record(other as usize, peer);
            self.macs.push(sum.macs[Y] ^ record.macs[Y]);
            *key = sum.keys[Y] ^ record.keys[Y];
            *factor = [record.macs[X], record.keys[X]];
            for which in [X, Z] {
                sum.macs[which] ^= record.macs[which];
                sum.keys[which] ^= record.keys[which];
            }
        }
        sum
    }
}

/// Opens all d: bits, and a digest of their MACs to each peer. Nothing is returned unless all are right.
fn open(
    channels: &mut [Channel],
    own: BitVec,
    digests: &[[u8; 32]],
    delta: Block,
    scratch: &Scratch,
) -> Result<BitVec> {
    let bits = own.to_bytes();
    for (channel, digest) in channels.iter_mut().zip(digests) {
        channel.send_parts(OPENED.kind, &[&bits, digest])?;
        channel.flush()?;
    }
    let mut d = own;
    let mut piece = Zeroizing::new(Vec::with_capacity(PIECE));
    for (channel, kept) in channels.iter_mut().zip(&scratch.towards) {
        let (theirs, digest) = exchange::recv_bits_and_digest(channel, &OPENED, d.len())?;
        let mut expected = exchange::digest();
        for (number, keys) in kept.keys.chunks(PIECE).enumerate() {
            let bit = |k: usize| theirs.get(number * PIECE + k);
            piece.extend(keys.iter().enumerate().map(|(k, &key)| key ^ delta.select(bit(k))));
            expected.update(&piece);
            piece.clear();
        }
        if expected.finish() != digest {
            return Err(Error::misbehaved(channel.peer(), OPENED.check));
        }
        d.xor_assign(&theirs);
    }
    Ok(d)
}

/// Adds d·⟨x_k⟩ to the products.
fn multiply(
    d: &BitVec,
    factors: &BitVec,
    per_bucket: usize,
    triples: &mut Triples,
    scratch: &Scratch,
) {
    let c = &mut triples.c;
    for f in 0..factors.len() {
        let bit = factors.get(f) & d.get(f);
        c.bits.set(f / per_bucket, c.bits.get(f / per_bucket) ^ bit);
    }
    for (Towards { macs, keys }, kept) in c.towards.iter_mut().zip(&scratch.towards) {
        let factors = kept.factors.chunks_exact(per_bucket);
        for (k, ((mac, key), factors)) in macs.iter_mut().zip(keys).zip(factors).enumerate() {
            for (f, [x_mac, x_key]) in (k * per_bucket..).zip(factors) {
                *mac ^= x_mac.select(d.get(f));
                *key ^= x_key.select(d.get(f));
            }
        }
    }
}

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

impl Triples {
    /// Makes room for `n` among this party and `peers` others; what the memory holds is overwritten later.
    fn reset(&mut self, n: usize, peers: usize) {
        for shares in [&mut self.a, &mut self.b, &mut self.c] {
            shares.bits = BitVec::zeros(n);
            shares.towards.resize_with(peers, Towards::default);
            for Towards { macs, keys } in &mut shares.towards {
                macs.resize(n, Block::ZERO);
                keys.resize(n, Block::ZERO);
            }
        }
    }

    /// Writes MACs and keys of triple `k` towards a peer.
    #[inline]
    fn put(&mut self, k: usize, peer: usize, sum: &Record) {
        for (shares, which) in [(&mut self.a, X), (&mut self.b, Y), (&mut self.c, Z)] {
            shares.towards[peer].macs[k] = sum.macs[which];
            shares.towards[peer].keys[k] = sum.keys[which];
        }
    }
}
