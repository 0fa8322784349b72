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

use symbolon_primitives::{Block, Challenge};
use symbolon_transport::{Channel, Result};

use crate::{
    Share, Shares, Triples,
    bucketing::Batch,
    exchange::{Opened, ShareOpening},
    leaky::LeakyTriples,
};

/// The opening of the d bits, and its check.
pub const OPENED: Opened = Opened { kind: "bucketing: d", check: "bucketing MAC check" };

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

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
    let share = |triple: u32, which: usize| {
        let record = &leaky.records[triple as usize];
        Share {
            bit: leaky.bits[which].get(triple as usize),
            mac: record.macs[which],
            key: record.keys[which],
        }
    };
    let mut opening = ShareOpening::new();
    for bucket in order.chunks_exact(batch.bucket) {
        let first = share(bucket[0], Y);
        for &other in &bucket[1..] {
            opening.push(first ^ share(other, Y));
        }
    }
    let d = opening.send(channel, &OPENED)?.receive(channel, &OPENED, delta)?;

    let n = batch.triples;
    let mut triples = Triples { a: Shares::zeros(n), b: Shares::zeros(n), c: Shares::zeros(n) };
    let mut opened = 0;
    for (k, bucket) in order.chunks_exact(batch.bucket).enumerate() {
        let (mut x, mut z) = (share(bucket[0], X), share(bucket[0], Z));
        for &other in &bucket[1..] {
            let more = share(other, X);
            x ^= more;
            z ^= share(other, Z) ^ more.times(d.get(opened));
            opened += 1;
        }
        triples.a.set(k, x);
        triples.b.set(k, share(bucket[0], Y));
        triples.c.set(k, z);
    }
    Ok(triples)
}
