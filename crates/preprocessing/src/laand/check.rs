//! The rest of step 4, and step 5 of Fig. 14: the parties commit to d and open it, then all triples
//! of a batch are checked at once.

use symbolon_interaction::{CommitOpenLabels, commit_and_open, toss_coin};
use symbolon_primitives::{BitVec, Block, Coefficients, Delta, Prg, Secret, gf128, xor_masked};
use symbolon_transport::{Channel, Culprit, Error, Result, SessionId};
use zeroize::Zeroize;

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

impl LaAndCheck<'_> {
    /// Opens d, given this party's bits, and checks all triples with these S of this length;
    /// returns d.
    ///
    /// Check: leaky AND | `leaky AND`, after commitments to d and ρ·V | wrong U, d, S | 1/2 for a
    /// guess of an x share; else 2^-(w−2)
    ///
    /// Timing: S, Δ | all S are combined, and the sums opened, before one comparison
    pub(super) fn run(
        self,
        channels: &mut [Channel],
        s: &[Block],
        length: ULength,
        mut d: BitVec,
    ) -> Result<BitVec> {
        let n = d.len();
        let opened =
            commit_and_open(channels, &D, self.session, self.batch, &d.to_bytes(), self.prg)?;
        for (channel, theirs) in channels.iter().zip(opened) {
            let theirs = BitVec::from_bytes(n, &theirs)
                .ok_or_else(|| Error::misbehaved(channel.peer(), D.check))?;
            d.xor_assign(&theirs);
        }

        let coin = toss_coin(channels, self.session, 2 * self.batch, self.prg)?;
        let [of_sum, of_test] = coin.split();
        let chi = of_sum.into_coefficients();
        // T = S ⊕ d·Δ has w bits.
        let delta = Secret::new(length.last(**self.delta));
        let mut v = match length.width() {
            Width::Half => combination(words::<u64>(s, n), &d, &delta, &chi, self.threads),
            Width::Whole => combination(words::<Block>(s, n), &d, &delta, &chi, self.threads),
        }?;
        channels[0].tamper_state("leaky AND: V", Block::as_bytes_mut(std::slice::from_mut(&mut v)));
        let (zero_test, number) = self.zero_test;
        let hashes = TestHashes { session: self.session.as_bytes(), number };
        let mut sum = zero_test.share(channels, &hashes, of_test.into_block(), &v)?;
        v.zeroize();
        let opened = commit_and_open(
            channels,
            &BLINDED_V,
            self.session,
            self.batch,
            &sum.to_bytes(),
            self.prg,
        )?;
        for theirs in opened {
            sum ^= Block::from_bytes(theirs.try_into().expect("as long as ours"));
        }
        if sum != Block::ZERO {
            // With two parties the culprit is the peer; with more, the sum does not tell who it is.
            let culprit = Culprit::among(channels);
            return Err(Error::misbehaved(culprit, LEAKY_AND));
        }
        Ok(d)
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
