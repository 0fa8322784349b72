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
    open_with_coin(channels, &LABELS, session, index, &[], prg).map(|(_, coin)| coin)
}

/// Opens values and tosses a coin in the same two messages: each party commits to its value and a
/// seed, then opens both. Returns the peers' values, in the order of `channels`, and the coin.
///
/// The values are fixed before any seed is opened, as is everything that was received before: so
/// the coin may check them. No party knew it when it committed to its value.
///
/// Paper: YWZ20, Fig. 11
///
/// # Errors
/// As [`commit_and_open`].
pub fn open_with_coin(
    channels: &mut [Channel],
    labels: &CommitOpenLabels,
    session: &SessionId,
    index: u64,
    value: &[u8],
    prg: &mut Prg,
) -> Result<(Vec<Vec<u8>>, Challenge)> {
    let mut seed = [0u8; 32];
    prg.fill(&mut seed);
    let both = [value, &seed].concat();
    let mut opened = commit_and_open(channels, labels, session, index, &both, prg)?;
    for theirs in &mut opened {
        let theirs = theirs.split_off(value.len());
        for (own, theirs) in seed.iter_mut().zip(theirs) {
            *own ^= theirs;
        }
    }
    Ok((opened, Challenge::from_seed32(seed)))
}
