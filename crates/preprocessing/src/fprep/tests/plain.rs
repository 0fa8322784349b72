//! The fused LaAND and aAND against the plain versions in [`crate::reference`], on random batches.

use symbolon_primitives::{Transcript, TweakedHash, derive_block};

use super::*;
use crate::aand::combine::Combine;
use crate::aand::shifts::{Stream, shifted};
use crate::reference::{self, Shared};

/// One party's part of a share, in the form that [`pairs`] needs: one entry per peer.
type OfParty = (bool, Vec<[Block; 2]>);

/// One party's intermediate values of a batch.
struct Snapshot {
    /// x, y and r of each leaky triple.
    drawn: Vec<[OfParty; 3]>,
    /// The low bits of S of each leaky triple.
    s: Vec<Block>,
    triples: Triples,
    streams: Vec<Stream>,
}

/// The fixed challenge that assigns triples to buckets.
pub(super) fn challenge() -> symbolon_primitives::Challenge {
    Transcript::new("test", SESSION.as_bytes()).challenge("buckets")
}

/// Does everything that [`Preprocessor::make`] does, with buckets from a fixed challenge. Returns
/// the triples, and what `look` saw when the leaky ones were made.
fn make<L>(
    open: &mut Preprocessor,
    lanes: &mut Lanes,
    batch: Batch,
    look: impl FnOnce(&Sampled<'_>) -> L,
) -> Result<(L, Triples)> {
    let peers = lanes[0].len();
    let length = ULength::for_rho(open.rho);
    let output = open.buckets.room(batch, peers, None, None);
    let inputs = BatchInputs::default();
    let of = LaAndBatch { batch, peers, length, chunk: open.chunk, inputs };
    let sampled = Sampled::sample(&mut open.laand, output, of, &mut open.lanes, lanes)?;
    let seen = look(&sampled);
    let channels = &mut lanes[0];
    let confirmed = sampled.confirm(&open.lanes, channels)?;
    let (session, delta) = (&open.session, &open.delta);
    let zero_test = open.lanes[0].take_zero_test()?;
    let prg = &mut open.prg;
    let check = LaAndCheck { session, delta, batch: 0, prg, threads: 1, zero_test };
    let mut leaky = confirmed.open(channels, check)?;
    leaky.buckets = Some(challenge());
    let combine = Combine { leaky, session, number: 0, delta, threads: 2 };
    Ok((seen, combine.run(channels)?))
}

/// Makes triples whose buckets everybody knows in advance.
pub(super) fn triples(open: &mut Preprocessor, lanes: &mut Lanes, batch: Batch) -> Result<Triples> {
    make(open, lanes, batch, |_| ()).map(|(_, triples)| triples)
}

/// Makes triples, and keeps what they were made of.
fn snapshot(open: &mut Preprocessor, lanes: &mut Lanes, batch: Batch) -> Result<Snapshot> {
    let peers = lanes[0].len();
    open.laand.whole_y = true;
    let look = |sampled: &Sampled<'_>| {
        let drawn = (0..batch.leaky()).map(|t| drawn(sampled, t, peers)).collect();
        (drawn, (0..batch.leaky()).map(|t| sampled.s_of(t)).collect())
    };
    let ((drawn, s), triples) = make(open, lanes, batch, look)?;
    Ok(Snapshot { drawn, s, triples, streams: shifted(batch, challenge().into_block()) })
}

/// Returns x, y and r of leaky triple `t`.
fn drawn(leaky: &Sampled<'_>, t: usize, peers: usize) -> [OfParty; 3] {
    let bits = leaky.own_bits(t);
    let mut auths = [const { Vec::new() }; 3];
    for peer in crate::PeerIndex::all(peers) {
        for (auths, auth) in auths.iter_mut().zip(leaky.auths_of(t, peer)) {
            auths.push(auth);
        }
    }
    let mut auths = auths.into_iter();
    bits.map(|bit| (bit, auths.next().expect("three")))
}

/// Combines the parts of all parties.
fn shared<'a>(of_parties: impl Iterator<Item = &'a OfParty>) -> Shared {
    let of_parties: Vec<&OfParty> = of_parties.collect();
    let n = of_parties.len();
    let part = |(me, (bit, auths)): (usize, &&OfParty)| {
        let (mut macs, mut keys) = (vec![Block::ZERO; n], vec![Block::ZERO; n]);
        for (peer, [mac, key]) in (0..n).filter(|&peer| peer != me).zip(auths) {
            (macs[peer], keys[peer]) = (*mac, *key);
        }
        reference::Share { bit: *bit, macs, keys }
    };
    of_parties.iter().enumerate().map(part).collect()
}

fn of_shares(shares: &AuthShares, k: usize) -> OfParty {
    let auth = |towards: &PeerAuth| [towards.macs[k], towards.keys[k]];
    (shares.bits.get(k), shares.towards.iter().map(auth).collect())
}

/// Returns H(k, ij‖t).
fn hash(from: usize, to: usize, k: Block, t: usize) -> Block {
    let direction = (from as u64) << 16 | to as u64;
    let hash =
        TweakedHash::new(derive_block("symbolon leaky and 1", SESSION.as_bytes(), direction));
    let mut hashed = [k];
    hash.hash(t as u128, 1, &mut hashed);
    hashed[0]
}

#[test]
fn leaky_and_good_triples_are_those_of_the_figures() {
    for (n, rho, triples, bucket) in [
        (2, 40, 1, 2),
        (2, 40, 300, 3),
        (2, 80, 1_300, 3),
        (3, 40, 200, 4),
        (3, 80, 200, 3),
        (5, 80, 30, 2),
    ] {
        let batch = Batch { triples, bucket };
        let ended = run(parties(n, 1, 7), |open, lanes| {
            open.rho = rho;
            snapshot(open, lanes, batch)
        });
        let made = all_end_well(ended);
        let deltas = deltas(n, 7);
        let bits = 8 * ULength::for_rho(rho).bytes();
        let low = |s: Block| Block(s.0 & (u128::MAX >> (128 - bits)));
        let mut leaky: Vec<[Shared; 3]> = Vec::new();
        for t in 0..batch.leaky() {
            let of = |which: usize| shared(made.iter().map(|made| &made.drawn[t][which]));
            let [x, y, r] = [0, 1, 2].map(of);
            let by = |from, to, k| hash(from, to, k, t);
            let plain = reference::laand([&x, &y, &r], &deltas, by);
            for (s, made) in plain.s.iter().zip(&made) {
                assert_eq!(low(*s), made.s[t], "S of leaky triple {t} of {batch:?}");
            }
            let values = [&x, &y, &plain.z].map(|share| reference::open(share, &deltas));
            assert_eq!(values[2], values[0] & values[1], "leaky triple {t} of {batch:?}");
            leaky.push([x, y, plain.z]);
        }
        for k in 0..triples {
            let others = made[0].streams.iter().map(|s| &leaky[triples + s.member(k)]);
            let bucket: Vec<[Shared; 3]> =
                std::iter::once(&leaky[k]).chain(others).cloned().collect();
            let plain = reference::aand(&bucket, &deltas);
            let fused = |which: fn(&Triples) -> &AuthShares| {
                let parts: Vec<OfParty> =
                    made.iter().map(|made| of_shares(which(&made.triples), k)).collect();
                shared(parts.iter())
            };
            let fused = [fused(|t| &t.a), fused(|t| &t.b), fused(|t| &t.c)];
            assert_eq!(fused, plain, "triple {k} of {batch:?}");
        }
    }
}
