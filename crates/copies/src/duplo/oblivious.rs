//! Oblivious transfers for the evaluator's inputs, tied to commitments (PreProcessOTInit of
//! Appendix A).
//!
//! In a transfer the garbler gets R_i, and the evaluator, with a random choice b_i, gets R_i ⊕
//! b_i·Δ_ot. The garbler commits to Δ_ot and all R_i. If it could commit to other values, it could
//! make the evaluator fail for one value of an input only, and so learn the input.
//!
//! **The check** sacrifices ρ more transfers. For each of them, a coin that is tossed after
//! everything is fixed draws a subset of the other transfers. Let c and T be the sums of the
//! evaluator's choices and results over the subset and the sacrificed transfer, and R the sum of
//! the committed values. The garbler opens R ⊕ c·Δ_ot, which must be T. If Δ_ot or one of the
//! evaluator's R_i is not committed to as it was transferred, each of the ρ sums is right with
//! probability at most 1/2, independently of the others (`docs/proofs/duplo.md`). Appendix A opens
//! only the sacrificed transfers and leaves wrong R_i to the authenticators, which fail for both
//! values of the input; here nothing is left to them.
//!
//! The evaluator sends c and T first, and the garbler proves the sum only if T is right. Otherwise
//! the evaluator could use a wrong c to test a guess of Δ_ot. The sacrificed transfer hides both c
//! and T.
//!
//! Departure: `duplo`: check of transfers | sacrificed ones are opened | random sums of all | the
//! sacrificed ones mask the sums (`docs/proofs/duplo.md#one-δ-for-transfers-inputs-and-recovery`)

use symbolon_engine::receive_bits;
use symbolon_ot::cot::MAX_DRAW;
use symbolon_ot::{CotReceiver, CotSender, Workspace};
use symbolon_primitives::{BitVec, Block, Challenge, Prg};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroizing;

use super::check;
use super::commit::{Claims, Committed, Id, Opening, Received, receive_blocks, send_blocks};
use super::layout::COMMON_OFFSET;
use super::messages;

/// The garbler's side of `n` transfers: commits to Δ_ot and all R_i.
///
/// Paper: KNRTT17, PreProcessOTInit | oblivious transfers, tied to commitments
pub(super) fn send(
    channel: &mut Channel,
    cot: &mut dyn CotSender,
    committed: &mut Committed,
    (first, n): (Id, usize),
) -> Result<()> {
    let (mut keys, mut work) = (Zeroizing::new(vec![Block::ZERO; n]), Workspace::default());
    for keys in keys.chunks_mut(MAX_DRAW) {
        cot.extend(channel, keys, &mut work)?;
    }
    channel.tamper_state("duplo: transfer keys", Block::as_bytes_mut(&mut keys));
    let mut offset = Zeroizing::new([**cot.delta()]);
    channel.tamper_state("duplo: common offset", Block::as_bytes_mut(&mut offset[..]));
    let mut corrections = vec![committed.correct(COMMON_OFFSET, offset[0])];
    corrections.extend((first..).zip(keys.iter()).map(|(id, &key)| committed.correct(id, key)));
    send_blocks(channel, messages::TRANSFER_KEYS, &corrections)
}

/// The evaluator's side of transfers.
pub(super) struct Transfers {
    /// b_i. Together with the masked input that is sent, it reveals the input.
    pub choices: Zeroizing<BitVec>,
    /// R_i ⊕ b_i·Δ_ot.
    pub results: Zeroizing<Vec<Block>>,
}

impl Transfers {
    /// Keeps only the first `n` transfers, without the sacrificed ones.
    pub fn first(self, n: usize) -> Transfers {
        self.range(0..n)
    }

    /// Returns some of the transfers.
    pub fn range(&self, range: std::ops::Range<usize>) -> Transfers {
        let results = Zeroizing::new(self.results[range.clone()].to_vec());
        Transfers { choices: Zeroizing::new(self.choices.slice(range)), results }
    }
}

/// The evaluator's side of `n` transfers, with random choices.
///
/// Paper: KNRTT17, PreProcessOTInit
pub(super) fn receive(
    channel: &mut Channel,
    cot: &mut dyn CotReceiver,
    received: &mut Received,
    (first, n): (Id, usize),
    prg: &mut Prg,
) -> Result<Transfers> {
    let choices = Zeroizing::new(BitVec::random(n, prg));
    let (mut results, mut work) = (Zeroizing::new(vec![Block::ZERO; n]), Workspace::default());
    for (first, results) in (0..).step_by(MAX_DRAW).zip(results.chunks_mut(MAX_DRAW)) {
        let choices = choices.slice(first..first + results.len());
        cot.extend(channel, &choices, results, &mut work)?;
    }
    channel.flush()?;
    let corrections = receive_blocks(channel, messages::TRANSFER_KEYS, n + 1)?;
    received.correct(COMMON_OFFSET, corrections[0]);
    (first..).zip(&corrections[1..]).for_each(|(id, &correction)| received.correct(id, correction));
    Ok(Transfers { choices, results })
}

/// The garbler's side of the check.
///
/// Paper: KNRTT17, PreProcessOTInit
///
/// Check: `duplo`: OT of inputs | `oblivious transfer sum`, at the garbler: ρ random sums | a
/// request for Δ_ot | 2^-127
pub(super) fn open(
    channel: &mut Channel,
    opening: &mut Opening<'_>,
    challenge: Challenge,
    (first, n, checks): (Id, usize, usize),
) -> Result<()> {
    let choices = receive_bits(channel, messages::CHOICES, checks)?;
    let sums = receive_blocks(channel, messages::TRANSFER_SUMS, checks)?;
    let mut values = Vec::with_capacity(checks);
    for (check, subset) in check::subsets(challenge, n, checks).enumerate() {
        let mut ids: Vec<Id> = subset.into_iter().map(|i| first + i as Id).collect();
        if choices.get(check) {
            ids.push(COMMON_OFFSET);
        }
        values.push(opening.open(ids));
    }
    // An honest garbler is committed to what it got, so an honest evaluator's sums are equal to
    // these.
    let same = values.iter().zip(&sums).fold(true, |same, (a, b)| same & a.ct_eq(b));
    // A cheater goes on even if they differ.
    let mut verdict = [u8::from(same)];
    channel.tamper_state("duplo: verdict on transfers", &mut verdict);
    if verdict == [1] {
        Ok(())
    } else {
        Err(Error::misbehaved(channel.peer(), super::checks::TRANSFER))
    }
}

/// The evaluator's side of the check: sends its sums, and records that the garbler must open them.
///
/// Paper: KNRTT17, PreProcessOTInit
///
/// Check: `duplo`: OT of inputs | `commitment opening`, at the evaluator: the same sums | failures
/// for one value of an input | 2^-ρ
pub(super) fn claim(
    channel: &mut Channel,
    claims: &mut Claims<'_>,
    challenge: Challenge,
    transfers: &Transfers,
    (first, n, checks): (Id, usize, usize),
) -> Result<()> {
    let mut choices = BitVec::zeros(checks);
    let mut sums = Vec::with_capacity(checks);
    for (check, subset) in check::subsets(challenge, n, checks).enumerate() {
        let choice = subset.iter().fold(false, |sum, &i| sum ^ transfers.choices.get(i));
        let sum = subset.iter().fold(Block::ZERO, |sum, &i| sum ^ transfers.results[i]);
        let mut ids: Vec<Id> = subset.into_iter().map(|i| first + i as Id).collect();
        if choice {
            ids.push(COMMON_OFFSET);
        }
        claims.claim(ids, sum);
        choices.set(check, choice);
        sums.push(sum);
    }
    channel.send(messages::CHOICES, &choices.to_bytes())?;
    send_blocks(channel, messages::TRANSFER_SUMS, &sums)?;
    channel.flush()
}
