//! Masks with which the garbler opens indicator bits alone (section 5.1, "Avoiding commitments to
//! single bits").
//!
//! A mask is a commitment to R‖0 with a random R of 127 bits. To open indicator bits, the garbler
//! opens the sum of the wires' keys and a mask: its last bit is the sum of the wires' indicator
//! bits, and R hides the rest. To check that all masks end in 0, ρ more masks are sacrificed. Each
//! of them is added to a random subset of the others, drawn by a coin after all masks are fixed,
//! and the sum is opened. If any mask ends in 1, each of these sums ends in 1 with probability at
//! least 1/2.

use symbolon_engine::receive_bits;
use symbolon_primitives::{BitVec, Block, Challenge};
use symbolon_transport::{Channel, Error, Result};

use super::check;
use super::commit::{Claims, Committed, Id, Opening, Received, receive_blocks, send_blocks};
use super::messages;

/// The garbler makes `n` masks, the sacrificed ones included.
///
/// Paper: KNRTT17, §5.1 | indicator bits, opened alone
pub(super) fn commit(
    channel: &mut Channel,
    committed: &mut Committed,
    (first, n): (Id, usize),
) -> Result<()> {
    let mut turned = BitVec::zeros(n);
    for (i, id) in (first..).take(n).enumerate() {
        let value = committed.value(id);
        let mut mask = [value.with_lsb(false)];
        channel.tamper_state("duplo: mask", Block::as_bytes_mut(&mut mask));
        committed.correct(id, mask[0]);
        turned.set(i, value.lsb() ^ mask[0].lsb());
    }
    channel.send(messages::MASK_BITS, &turned.to_bytes())
}

/// The evaluator records the corrections of the masks.
pub(super) fn receive(
    channel: &mut Channel,
    received: &mut Received,
    (first, n): (Id, usize),
) -> Result<()> {
    let turned = receive_bits(channel, messages::MASK_BITS, n)?;
    for (i, id) in (first..).take(n).enumerate() {
        received.correct(id, Block(u128::from(turned.get(i))));
    }
    Ok(())
}

/// Returns what each check adds up: a subset of `n` masks, and one of the sacrificed masks that
/// follow them.
fn subsets(
    challenge: Challenge,
    first: Id,
    n: usize,
    checks: usize,
) -> impl Iterator<Item = Vec<Id>> {
    let all = check::subsets(challenge, n, checks);
    all.map(move |subset| subset.into_iter().map(|i| first + i as Id).collect())
}

/// The garbler opens the sum of each check.
///
/// Paper: KNRTT17, §5.1
pub(super) fn open(
    channel: &mut Channel,
    opening: &mut Opening<'_>,
    challenge: Challenge,
    (first, n, checks): (Id, usize, usize),
) -> Result<()> {
    let subsets = subsets(challenge, first, n, checks);
    let sums: Vec<Block> = subsets.map(|ids| opening.open(ids)).collect();
    send_blocks(channel, messages::MASK_SUMS, &sums)
}

/// The evaluator checks that the sums end in 0.
///
/// Paper: KNRTT17, §5.1
///
/// Check: `duplo`: evaluator's outputs | `indicator mask`: ρ random sums; `commitment opening` |
/// flipped outputs | 2^-ρ
pub(super) fn claim(
    channel: &mut Channel,
    claims: &mut Claims<'_>,
    challenge: Challenge,
    (first, n, checks): (Id, usize, usize),
) -> Result<()> {
    let sums = receive_blocks(channel, messages::MASK_SUMS, checks)?;
    for (ids, &sum) in subsets(challenge, first, n, checks).zip(&sums) {
        if sum.lsb() {
            return Err(Error::misbehaved(channel.peer(), super::checks::MASK));
        }
        claims.claim(ids, sum);
    }
    Ok(())
}
