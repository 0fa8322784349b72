//! What making triples sends, in advance.

use symbolon_ot::OtExtension;
use symbolon_ot::extension::draw_bytes;

use crate::bucketing;
use crate::laand::{self, ULength, zero_test_bits};

/// Returns about how many bytes all of `parties` parties together send to make triples for a known
/// circuit of `ands` AND gates, with the masks of their outputs. Coins, commitments and headers of
/// messages, some hundred bytes a batch, are left out.
pub fn triple_bytes(ands: u64, rho: u32, parties: u16, ot: OtExtension) -> u64 {
    let peers = u64::from(parties.saturating_sub(1)).max(1);
    let draw = |n: usize| draw_bytes(ot, n) as u64;
    let length = ULength::for_rho(rho);
    let per_link =
        bucketing::plan_anchored(ands as usize, rho, peers as usize).into_iter().map(|batch| {
            let (leaky, anchors) = (batch.leaky(), batch.anchors());
            let chunk = laand::chunk(ot);
            let draws = (0..leaky).step_by(chunk).map(|start| {
                let n = chunk.min(leaky - start);
                // An anchor's y is given.
                draw(3 * n - anchors.saturating_sub(start).min(n))
            });
            let test = zero_test_bits(length.width());
            let u = (length.bytes() * leaky + length.width().bytes() * test) as u64;
            let bits = (2 * leaky - batch.triples) as u64 / 8;
            draws.sum::<u64>() + draw(batch.triples) + draw(test) + u + bits
        });
    per_link.sum::<u64>() * peers * u64::from(parties)
}
