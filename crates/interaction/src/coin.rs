//! F_Rand (YWZ20 Fig. 11): a coin toss among all parties.

use symbolon_primitives::{Challenge, Prg};
use symbolon_transport::{Channel, Result, SessionId};

use crate::checks::COIN;
use crate::commit_open::{CommitOpenLabels, commit_and_open};
use crate::messages::{COIN_COMMITMENT, COIN_SEED};

/// Tosses a coin: a challenge that no party could know or bias when it sent the messages that the
/// challenge will check. The coin is the XOR of one committed seed per party.
///
/// Two tosses of a session need different `index` values.
///
/// Paper: YWZ20, Fig. 11 | F_Rand: a coin toss
///
/// # Errors
/// As [`commit_and_open`].
pub fn toss_coin(
    channels: &mut [Channel],
    session: &SessionId,
    index: u64,
    prg: &mut Prg,
) -> Result<Challenge> {
    const LABELS: CommitOpenLabels =
        CommitOpenLabels { commit: COIN_COMMITMENT, open: COIN_SEED, check: COIN };
    let mut seed = [0u8; 32];
    prg.fill(&mut seed);
    for theirs in commit_and_open(channels, &LABELS, session, index, &seed, prg)? {
        for (own, theirs) in seed.iter_mut().zip(theirs) {
            *own ^= theirs;
        }
    }
    Ok(Challenge::from_seed32(seed))
}
