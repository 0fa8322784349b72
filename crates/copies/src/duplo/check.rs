//! Cut-and-choose: which objects are opened, and the opening (VerSub, VerInKeyAuth of Appendix A).
//!
//! The coin is tossed after everything is fixed: all keys by commitments, all tables by digests,
//! all authenticators by the hashes they accept. It draws the check set, and the buckets of the
//! other objects. For an opened copy of a component, the garbler sends Δ and the committed values
//! of the inputs. The evaluator garbles the copy again, which gives the digest of the table and the
//! committed values that the outputs must have. For an opened authenticator the garbler sends Δ,
//! from which everything else follows. One proof covers everything that is opened.
//!
//! `opened` receives what the garbler sends, and runs the evaluator's checks of this file while the
//! garbler goes on.

use symbolon_circuit::components::Kind;
use symbolon_cutchoose::{Buckets, CheckSet, Sizes};
use symbolon_primitives::{BitVec, Block, Challenge, Prg};
use symbolon_transport::{Channel, Error, PartyId, Result};

use super::authenticators;
use super::commit::{Claims, Opening, send_blocks};
use super::garble::{self, Copy};
use super::keys::{HASHED, KeyHash, SelfHash};
use super::layout::Objects;
use super::messages;

/// The result of the draw for one game: the opened objects, and the buckets of the others.
///
/// Paper: KNRTT17, App. A, V | what is opened
pub(super) struct Draw {
    /// The numbers of the objects that are opened.
    pub opened: Vec<usize>,
    /// The numbers of the others, bucket after bucket.
    pub kept: Vec<u32>,
    bucket: usize,
}

impl Draw {
    /// Draws the check set and the buckets from a coin.
    pub fn new(sizes: &Sizes, coin: &mut Prg) -> Result<Draw> {
        if sizes.buckets == 0 {
            return Ok(Draw { opened: Vec::new(), kept: Vec::new(), bucket: 1 });
        }
        let set = CheckSet::draw(sizes, next(coin))?;
        let buckets = Buckets::draw(sizes, &set, next(coin))?;
        let kept = buckets.iter().flatten().copied().collect();
        Ok(Draw { opened: set.opened().collect(), kept, bucket: sizes.bucket as usize })
    }

    /// Returns the objects of a bucket.
    pub fn bucket(&self, bucket: usize) -> &[u32] {
        &self.kept[bucket * self.bucket..][..self.bucket]
    }

    /// Returns how many objects are in a bucket.
    pub fn size(&self) -> usize {
        self.bucket
    }
}

/// Returns a part of a coin, for one draw.
pub(super) fn next(coin: &mut Prg) -> Challenge {
    let mut seed = [0; 32];
    coin.fill(&mut seed);
    Challenge::from_seed32(seed)
}

/// Returns what each check adds up: for check `k`, a random subset of 0 .. n, then n + k, which is
/// sacrificed.
pub(super) fn subsets(
    challenge: Challenge,
    n: usize,
    checks: usize,
) -> impl Iterator<Item = Vec<usize>> {
    let mut prg = challenge.into_prg();
    (0..checks).map(move |check| {
        let drawn = BitVec::random(n, &mut prg);
        let mut subset = Vec::with_capacity(n + 1);
        for (first, &word) in (0..).step_by(64).zip(drawn.words()) {
            let mut rest = word;
            while rest != 0 {
                subset.push(first + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
        subset.push(n + check);
        subset
    })
}

/// The garbler opens the check set of a kind.
///
/// Paper: KNRTT17, App. A, V
pub(super) fn open_components(
    channel: &mut Channel,
    opening: &mut Opening<'_>,
    (kind, objects): (&Kind, &Objects),
    draw: &Draw,
) -> Result<()> {
    for &object in &draw.opened {
        let ports = kind.inputs() + kind.outputs();
        let values = opening.open_all(objects.offset(object)..objects.key(object, ports));
        send_blocks(channel, messages::OPENED_COMPONENT, &values[..1 + kind.inputs()])?;
    }
    Ok(())
}

/// How opened copies are garbled again, and which peer made them.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub session: &'a [u8; 32],
    pub threads: usize,
    pub peer: PartyId,
}

/// The evaluator garbles opened copies of a kind again, several at a time. `blocks` are those of
/// `Opened::components`.
///
/// Paper: KNRTT17, App. A, V
///
/// Check: `duplo`: components | `opened component`, `commitment opening`: a random subset is
/// garbled again, by a coin after all digests and commitments | a bad copy in every place of a
/// bucket | 2^-ρ for all games together
pub(super) fn check_components(
    claims: &mut Claims<'_>,
    Work { session, threads, peer }: Work<'_>,
    (kind, objects, digests): (&Kind, &Objects, &[[u8; 32]]),
    (draw, blocks): (&Draw, &[Block]),
) -> Result<()> {
    let copies = draw.opened.iter().zip(blocks.chunks(1 + kind.inputs()));
    let copies = copies.map(|(&object, values)| (Copy { kind, objects, session, object }, values));
    let copies: Vec<_> = copies.collect();
    for copies in copies.chunks(garble::copies_at_a_time(kind, threads)) {
        let outputs = garble::garble_opened(threads, peer, copies, digests)?;
        for ((copy, values), outputs) in copies.iter().zip(outputs) {
            claims.claim([objects.offset(copy.object)], values[0]);
            for (key, &value) in values[1..].iter().chain(&outputs).enumerate() {
                claims.claim([objects.key(copy.object, key)], value);
            }
        }
    }
    Ok(())
}

/// The garbler opens the check set of the authenticators.
pub(super) fn open_authenticators(
    channel: &mut Channel,
    opening: &mut Opening<'_>,
    (objects, keys): (&Objects, usize),
    draw: &Draw,
) -> Result<()> {
    let open =
        |&object: &usize| opening.open_all(objects.offset(object)..objects.key(object, keys))[0];
    let offsets: Vec<Block> = draw.opened.iter().map(open).collect();
    send_blocks(channel, messages::OPENED_AUTHENTICATORS, &offsets)
}

/// The evaluator recomputes opened authenticators from their Δ.
///
/// Check: `duplo`: authenticators | `opened authenticator` | authenticators that accept wrong keys
/// or refuse right ones | 2^-ρ, with the copies
pub(super) fn check_authenticators(
    claims: &mut Claims<'_>,
    peer: PartyId,
    (own, hash): (&SelfHash, &KeyHash),
    ((objects, keys), accepted): ((&Objects, usize), &[[Block; 2]]),
    (draw, offsets): (&Draw, &[Block]),
) -> Result<()> {
    let run = HASHED / keys;
    for (opened, offsets) in draw.opened.chunks(run).zip(offsets.chunks(run)) {
        let what = (objects, keys);
        let made = authenticators::verify((own, hash), what, opened, offsets, accepted)
            .ok_or_else(|| Error::misbehaved(peer, super::checks::OPENED_AUTHENTICATOR))?;
        for ((&object, &offset), made) in opened.iter().zip(offsets).zip(made.chunks(keys)) {
            claims.claim([objects.offset(object)], offset);
            for (key, &value) in made.iter().enumerate() {
                claims.claim([objects.key(object, key)], value);
            }
        }
    }
    Ok(())
}
