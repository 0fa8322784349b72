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

use symbolon_primitives::{BitVec, Block, Challenge};
use symbolon_transport::{Channel, Result};

use crate::{
    Shares, Triples,
    bucketing::Batch,
    exchange::{Opened, ShareOpening},
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
) -> Result<Triples> {
    let order = thrown(batch, challenge);
    let mut buckets = Buckets::new(batch, leaky.peers());
    for (k, bucket) in order.chunks_exact(batch.bucket).enumerate() {
        if let Some(ahead) = order.get((k + PREFETCH) * batch.bucket..) {
            ahead.iter().take(batch.bucket).for_each(|&t| leaky.prefetch(t as usize));
        }
        buckets.collect(leaky, k, bucket);
    }
    let opening = std::mem::replace(&mut buckets.opening, ShareOpening::new(0));
    let d = opening.send(channels, &OPENED)?.receive(channels, &OPENED, delta)?;
    Ok(buckets.finish(&d))
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

/// The buckets' triples lie anywhere in memory: they are visited once, and what the opened d will be
/// multiplied with is kept in order.
struct Buckets {
    triples: Triples,
    opening: ShareOpening,
    /// ⟨x_k⟩ of every triple but the first of each bucket.
    factors: Shares,
    /// How many factors there are so far, and in each bucket.
    collected: usize,
    per_bucket: usize,
}

impl Buckets {
    fn new(batch: Batch, peers: usize) -> Self {
        let zeros = |n| Shares::zeros(n, peers);
        let n = batch.triples;
        let per_bucket = batch.bucket - 1;
        Buckets {
            triples: Triples { a: zeros(n), b: zeros(n), c: zeros(n) },
            opening: ShareOpening::new(peers),
            factors: zeros(n * per_bucket),
            collected: 0,
            per_bucket,
        }
    }

    /// Collects bucket number `k`: everything but the products with d.
    fn collect(&mut self, leaky: &LeakyTriples, k: usize, bucket: &[u32]) {
        let Triples { a, b, c } = &mut self.triples;
        let first = bucket[0] as usize;
        let [mut x, y, mut z] = leaky.own_bits(first);
        for (f, &other) in (self.collected..).zip(&bucket[1..]) {
            let [more_x, more_y, more_z] = leaky.own_bits(other as usize);
            self.opening.push_bit(y ^ more_y);
            self.factors.bits.set(f, more_x);
            x ^= more_x;
            z ^= more_z;
        }
        a.bits.set(k, x);
        b.bits.set(k, y);
        c.bits.set(k, z);
        for peer in 0..self.factors.towards.len() {
            let Record { macs: mut sum_macs, keys: mut sum_keys } = *leaky.record(first, peer);
            let (y_mac, y_key) = (sum_macs[Y], sum_keys[Y]);
            for (f, &other) in (self.collected..).zip(&bucket[1..]) {
                let Record { macs, keys } = *leaky.record(other as usize, peer);
                self.opening.push_towards(peer, y_mac ^ macs[Y], y_key ^ keys[Y]);
                self.factors.towards[peer].macs[f] = macs[X];
                self.factors.towards[peer].keys[f] = keys[X];
                for which in [X, Z] {
                    sum_macs[which] ^= macs[which];
                    sum_keys[which] ^= keys[which];
                }
            }
            for (shares, which) in [(&mut *a, X), (&mut *b, Y), (&mut *c, Z)] {
                shares.towards[peer].macs[k] = sum_macs[which];
                shares.towards[peer].keys[k] = sum_keys[which];
            }
        }
        self.collected += self.per_bucket;
    }

    /// Adds d·⟨x_k⟩ to the products.
    fn finish(self, d: &BitVec) -> Triples {
        let Buckets { mut triples, factors, per_bucket, .. } = self;
        let c = &mut triples.c;
        for f in 0..factors.len() {
            let bit = factors.bits.get(f) & d.get(f);
            c.bits.set(f / per_bucket, c.bits.get(f / per_bucket) ^ bit);
        }
        for (c, factor) in c.towards.iter_mut().zip(&factors.towards) {
            for f in 0..factor.macs.len() {
                c.macs[f / per_bucket] ^= factor.macs[f].select(d.get(f));
                c.keys[f / per_bucket] ^= factor.keys[f].select(d.get(f));
            }
        }
        triples
    }
}

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;
