//! From leaky triples to good ones: bucketing, Yang–Wang–Zhang 2020, Fig. 16, for n = 2.
//!
//! The leaky triples of a batch are thrown into buckets by a permutation from a coin toss that runs
//! after all of them are fixed and checked. In each bucket the first triple absorbs the others:
//!
//! ```text
//! d = Open(⟨y_1⟩ ⊕ ⟨y_k⟩),   ⟨x⟩ ⊕= ⟨x_k⟩,   ⟨z⟩ ⊕= ⟨z_k⟩ ⊕ d·⟨x_k⟩,   ⟨y⟩ = ⟨y_1⟩
//! ```
//!
//! All d of a batch are opened at once. Their MACs are checked before any d is used: a peer that could
//! lie about one d unnoticed would learn a share of a chosen triple at a risk of 1/2, and 2^-ρ would
//! become 2^-B.

use symbolon_primitives::{Block, Challenge, prefetch};
use symbolon_transport::{Channel, Result};

use crate::{
    Share, Shares, Triples,
    bucketing::Batch,
    exchange::{Opened, ShareOpening},
    leaky::LeakyTriples,
};

/// The opening of the d bits, and its check.
pub const OPENED: Opened = Opened { kind: "bucketing: d", check: "bucketing MAC check" };

/// Combines a batch of leaky triples into triples, by the buckets that `challenge` draws.
///
/// # Errors
/// `PeerMisbehaved` when an opened d has no valid MAC; `Transport` when the peer is gone.
pub fn combine(
    channel: &mut Channel,
    leaky: &LeakyTriples,
    batch: Batch,
    challenge: Challenge,
    delta: Block,
) -> Result<Triples> {
    let order = challenge.into_prg().permutation(batch.leaky());
    let n = batch.triples;
    let mut triples = Triples { a: Shares::zeros(n), b: Shares::zeros(n), c: Shares::zeros(n) };
    // The buckets' triples lie anywhere in memory: they are visited once, and what the opened d will
    // be multiplied with is kept in order.
    let mut factors = Vec::with_capacity(n * (batch.bucket - 1));
    let mut opening = ShareOpening::new();
    for (k, bucket) in order.chunks_exact(batch.bucket).enumerate() {
        if let Some(ahead) = order.get((k + PREFETCH) * batch.bucket..) {
            ahead.iter().take(batch.bucket).for_each(|&t| prefetch(&leaky.records[t as usize]));
        }
        let [mut x, y, mut z] = shares(leaky, bucket[0]);
        for &other in &bucket[1..] {
            let [more_x, more_y, more_z] = shares(leaky, other);
            opening.push(y ^ more_y);
            x ^= more_x;
            z ^= more_z;
            factors.push(more_x);
        }
        triples.a.set(k, x);
        triples.b.set(k, y);
        triples.c.set(k, z);
    }
    let d = opening.send(channel, &OPENED)?.receive(channel, &OPENED, delta)?;
    for (opened, factor) in factors.into_iter().enumerate() {
        let k = opened / (batch.bucket - 1);
        triples.c.set(k, triples.c.get(k) ^ factor.times(d.get(opened)));
    }
    Ok(triples)
}

/// How many buckets ahead memory is asked for.
const PREFETCH: usize = 8;

/// The shares of x, y and z of one leaky triple.
fn shares(leaky: &LeakyTriples, triple: u32) -> [Share; 3] {
    let record = &leaky.records[triple as usize];
    std::array::from_fn(|which| Share {
        bit: leaky.bits[which].get(triple as usize),
        mac: record.macs[which],
        key: record.keys[which],
    })
}
