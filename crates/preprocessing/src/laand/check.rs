//! The rest of step 4, and step 5 of Fig. 14: the parties commit to d and open it, then all triples
//! of a batch are checked at once.
//!
//! # One coin
//! The parties commit to d and to the seed of a coin together, and open both together. When the
//! first honest party opens its seed, all that the coin decides is fixed: it has all U and c that
//! it waits for, and the commitments to d, which all parties have compared; and a commitment comes
//! from a party that has all its U and c, too. So from the coin follow χ, g of the blind test, and
//! the shifts of the buckets.
//!
//! The shifts are then known while the check runs. That does not help a cheater. Let it have made t
//! triples wrong, so that the sum of all V is Σ χ_t·x_t·R_t, with errors R_t that were fixed before
//! the coin and bits x_t that are uniform to it. To pass, it must add that sum, and for two
//! different lists of bits the sums differ, but for the probability with which a wrong triple
//! passes. So it passes with probability 2^-t whatever the shifts are, and
//! `docs/proofs/bucketing.md` counts with 2^-t times the probability of good shifts. If it does not
//! like the shifts it may break the connection, and that ends the session, as it does when a coin
//! of its own is opened.
//!
//! # What rides along
//! The bits d of the buckets are opened together with the masked V, and the sums of their MACs with
//! the commitments to ρ·V: see [`crate::aand::combine`].
//!
//! Departure: leaky ANDs: coins | one after d, another for the buckets | one, opened with d | d is
//! committed to before any seed is opened; the shifts do not change with what a guess passes

use symbolon_interaction::{CommitOpenLabels, Committed, open_with_coin};
use symbolon_primitives::{
    BitVec, Block, Challenge, Coefficients, Delta, Prg, Secret, gf128, xor_masked,
};
use symbolon_transport::{Channel, Culprit, Error, Result, SessionId};

use super::{
    width::{ULength, Width, Word},
    zero_test::{TestHashes, ZeroTest},
};
use crate::checks::{self, LEAKY_AND, LEAKY_AND_D};
use crate::messages::{LEAKY_BLINDED_V, LEAKY_BLINDED_V_COMMITMENT, LEAKY_D, LEAKY_D_COMMITMENT};
use crate::threads;

const D: CommitOpenLabels =
    CommitOpenLabels { commit: LEAKY_D_COMMITMENT, open: LEAKY_D, check: LEAKY_AND_D };

const BLINDED_V: CommitOpenLabels = CommitOpenLabels {
    commit: LEAKY_BLINDED_V_COMMITMENT,
    open: LEAKY_BLINDED_V,
    check: checks::LEAKY_BLINDED_V,
};

/// What the check of a batch needs besides the triples.
///
/// Paper: YWZ20, Fig. 14, 4b–6 | d; T of all triples summed up and compared
pub(crate) struct LaAndCheck<'a> {
    pub session: &'a SessionId,
    pub delta: &'a Delta,
    /// The number of this batch in the session.
    pub batch: u64,
    pub prg: &'a mut Prg,
    /// The number of threads that sum up V.
    pub threads: usize,
    /// The test whether all V sum to zero, and its number.
    pub zero_test: (Box<ZeroTest>, u64),
}

impl<'a> LaAndCheck<'a> {
    /// Opens d, given this party's bits; returns d, and two challenges that nobody could know
    /// before: for the check, and for the buckets.
    pub(super) fn open_d(
        &mut self,
        channels: &mut [Channel],
        mut d: BitVec,
    ) -> Result<(BitVec, [Challenge; 2])> {
        let (n, own) = (d.len(), d.to_bytes());
        let (opened, coin) =
            open_with_coin(channels, &D, self.session, self.batch, &own, self.prg)?;
        for (channel, theirs) in channels.iter().zip(opened) {
            let theirs = BitVec::from_bytes(n, &theirs)
                .ok_or_else(|| Error::misbehaved(channel.peer(), D.check))?;
            d.xor_assign(&theirs);
        }
        Ok((d, coin.split()))
    }

    /// Sums up V of all triples, given their S of this length and the opened d, and sends it
    /// masked. It leaves with the next flush.
    ///
    /// Timing: S, Δ | all S are combined, and the sums opened, before one comparison
    pub(super) fn send_v(
        self,
        channels: &mut [Channel],
        (s, length): (&[Block], ULength),
        d: &BitVec,
        coin: Challenge,
    ) -> Result<MaskedV<'a>> {
        let n = d.len();
        let [of_sum, of_test] = coin.split();
        let chi = of_sum.into_coefficients();
        // T = S ⊕ d·Δ has w bits.
        let delta = Secret::new(length.last(**self.delta));
        let v = match length.width() {
            Width::Half => combination(words::<u64>(s, n), d, &delta, &chi, self.threads),
            Width::Whole => combination(words::<Block>(s, n), d, &delta, &chi, self.threads),
        }?;
        let mut v = Secret::new(v);
        channels[0]
            .tamper_state("leaky AND: V", Block::as_bytes_mut(std::slice::from_mut(&mut *v)));
        self.zero_test.0.send_masked(channels, &v)?;
        Ok(MaskedV { check: self, v, coin: of_test.into_block() })
    }
}

/// The check of a batch whose V was sent, masked.
pub(crate) struct MaskedV<'a> {
    check: LaAndCheck<'a>,
    v: Secret<Block>,
    /// Determines g of the test.
    coin: Block,
}

impl<'a> MaskedV<'a> {
    /// Receives the peers' masked V, and computes this party's share of ρ·V.
    pub fn share(self, channels: &mut [Channel]) -> Result<BlindedV<'a>> {
        let MaskedV { check, v, coin } = self;
        let LaAndCheck { session, batch, prg, zero_test: (zero_test, number), .. } = check;
        let hashes = TestHashes { session: session.as_bytes(), number };
        let share = zero_test.share(channels, &hashes, coin, &v)?;
        Ok(BlindedV { session, batch, prg, share: share.to_bytes() })
    }
}

/// This party's share of ρ·V, which it has committed to nowhere.
pub(crate) struct BlindedV<'a> {
    session: &'a SessionId,
    batch: u64,
    prg: &'a mut Prg,
    share: [u8; 16],
}

/// All triples of a batch are right. Only the check makes one.
pub(crate) struct Right(());

impl BlindedV<'_> {
    /// Commits to the shares, does `between` while the commitments are under way, and opens them:
    /// they must sum to zero.
    ///
    /// Check: leaky AND | `leaky AND`, after commitments to d and ρ·V | wrong U, d, S | 1/2 for a
    /// guess of an x share; else 2^-(w−2)
    pub fn check(
        self,
        channels: &mut [Channel],
        between: impl FnOnce(&mut [Channel]) -> Result<()>,
    ) -> Result<Right> {
        let BlindedV { session, batch, prg, share } = self;
        let committed = Committed::send(channels, &BLINDED_V, session, batch, &share, prg)?;
        between(channels)?;
        let mut sum = Block::from_bytes(share);
        for theirs in committed.open(channels)? {
            sum ^= Block::from_bytes(theirs.try_into().expect("as long as ours"));
        }
        if sum != Block::ZERO {
            // With two parties the culprit is the peer; with more, the sum does not tell who it is.
            let culprit = Culprit::among(channels);
            return Err(Error::misbehaved(culprit, LEAKY_AND));
        }
        Ok(Right(()))
    }
}

/// Returns the first `n` words of this memory.
fn words<W: Word>(memory: &[Block], n: usize) -> &[W] {
    &bytemuck::cast_slice(memory)[..n]
}

/// The number of products of [`combination`] that are summed at a time.
const SUMMED: usize = 2048;

/// Returns V_i = Σ χ_t·T_i,t with T_i,t = S_i,t ⊕ d_t·Δ_i, given w bits of S and of Δ.
///
/// Paper: YWZ20, Fig. 14, 4b–6
fn combination<W: Word>(
    s: &[W],
    d: &BitVec,
    delta: &Block,
    chi: &Coefficients,
    threads: usize,
) -> Result<Block> {
    let size = s.len().div_ceil(threads).next_multiple_of(SUMMED);
    let parts = s.chunks(size).zip((0..).step_by(size));
    let sums = threads::each(parts, |(s, first)| sum_of_products(s, d, delta, chi, first))?;
    Ok(sums.into_iter().fold(Block::ZERO, |sum, part| sum ^ part))
}

/// Returns the part of V_i from the triples from number `first` on: Σ χ_t·S_i,t ⊕ (Σ χ_t·d_t)·Δ_i.
fn sum_of_products<W: Word>(
    s: &[W],
    d: &BitVec,
    delta: &Block,
    coefficients: &Coefficients,
    first: usize,
) -> Block {
    let mut chi = vec![Block::ZERO; SUMMED];
    // Σ χ_t·d_t, where all t with the same remainder share a slot.
    let mut chosen = vec![Block::ZERO; SUMMED];
    let mut v = Block::ZERO;
    for (s, first) in s.chunks(SUMMED).zip((first..).step_by(SUMMED)) {
        let chi = &mut chi[..s.len()];
        coefficients.fill(first, chi);
        xor_masked(&mut chosen[..s.len()], d, first, chi);
        v ^= W::inner_product(s, chi);
    }
    let chosen = chosen.into_iter().fold(Block::ZERO, |sum, chi| sum ^ chi);
    v ^ gf128::mul(chosen, *delta)
}
