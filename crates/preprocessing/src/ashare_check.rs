//! Checks that each party uses one Δ towards everybody: Yang–Wang–Zhang 2020, Fig. 5.
//!
//! Between two parties, correlated OT itself fixes each party's Δ. With more, a party could use
//! different keys towards different peers, and honest parties would hold inconsistent shares. The
//! check sacrifices κ shares ⟨r_h⟩ to exclude this:
//!
//! ```text
//! 4.  y^i = Σ r_h^i·X^h,  M_j[y^i] = Σ X^h·M_j[r_h^i],  K_i[y^j] = Σ X^h·K_i[r_h^j]
//! 5.  u^i: random shares of zero, by sending each peer a random element
//! 6.  broadcast y^i + u^i;  y = Σ of them
//! 7.  commit to  z_j^i = M_j[y^i] for every j ≠ i,  z_i^i = Σ_j K_i[y^j] + (y^i + y)·Δ_i
//! 8.  open; for each i, Σ_j z_i^j must be zero
//! ```
//!
//! It runs once in the set-up: every lane and every later draw uses the seeds of the same base OTs,
//! and so the same Δ between each pair. It must not run later: after a wrong y in step 6 the opened
//! z_i^i reveals a multiple of Δ_i, under which nothing has been made at this point. With two
//! parties it is skipped, because there is nothing to be inconsistent with.

use symbolon_interaction::{BroadcastLog, CommitOpenLabels, commit_and_open, confirm_broadcasts};
use symbolon_primitives::{Block, Delta, Prg, gf128};
use symbolon_transport::{Channel, Culprit, Error, PartyId, Result, SessionId};

use crate::AuthShares;
use crate::checks::{GLOBAL_KEY, GLOBAL_KEY_Z};
use crate::messages::{ASHARE_Y, ASHARE_Z, ASHARE_Z_COMMITMENT, ZERO_SHARE};

/// The number of shares that the check consumes.
pub const SHARES: usize = 128;

const Z: CommitOpenLabels =
    CommitOpenLabels { commit: ASHARE_Z_COMMITMENT, open: ASHARE_Z, check: GLOBAL_KEY_Z };

/// Runs steps 4 to 8 on [`SHARES`] fresh shares.
///
/// Paper: YWZ20, Fig. 5, 4–8 | Π_aShare: one Δ towards everybody
///
/// Check: Δ, n > 2 | `global key consistency` | another Δ towards some peers | 2^-128
///
/// Timing: z, Δ | all z are opened before one comparison
pub(crate) fn check(
    channels: &mut [Channel],
    shares: &AuthShares,
    delta: &Delta,
    session: &SessionId,
    prg: &mut Prg,
) -> Result<()> {
    let me = channels[0].me();
    let combine = |blocks: &[Block]| gf128::pow2_combine(blocks);
    let bits: Vec<Block> =
        (0..shares.len()).map(|h| Block::ONE.select(shares.bits.get(h))).collect();
    let own = combine(&bits);

    let mut masked = own;
    for channel in channels.iter_mut() {
        let zero = prg.block();
        masked ^= zero;
        channel.send(ZERO_SHARE, &zero.to_bytes())?;
        channel.flush()?;
    }
    for channel in channels.iter_mut() {
        masked ^= Block::from_bytes(channel.recv_array(ZERO_SHARE)?);
    }
    let sum = broadcast_sum(channels, me, masked)?;

    let keys = shares.towards.iter().fold(Block::ZERO, |sum, t| sum ^ combine(&t.keys));
    let mut z: Vec<Block> = shares.towards.iter().map(|towards| combine(&towards.macs)).collect();
    z.insert(me.index(), keys ^ gf128::mul(own ^ sum, **delta));
    let opened = commit_and_open(channels, &Z, session, 0, Block::as_bytes(&z), prg)?;
    for theirs in opened {
        for (z, theirs) in z.iter_mut().zip(theirs.chunks_exact(16)) {
            *z ^= Block::from_bytes(theirs.try_into().expect("16 bytes"));
        }
    }
    if z.iter().any(|&z| z != Block::ZERO) {
        return Err(Error::misbehaved(Culprit::Unknown, GLOBAL_KEY));
    }
    Ok(())
}

/// Broadcasts `value` and returns the sum of all parties' values.
fn broadcast_sum(channels: &mut [Channel], me: PartyId, value: Block) -> Result<Block> {
    let mut log = BroadcastLog::new(channels.len() + 1);
    log.note(me, &value.to_bytes());
    for channel in channels.iter_mut() {
        channel.send(ASHARE_Y, &value.to_bytes())?;
        channel.flush()?;
    }
    let mut sum = value;
    for channel in channels.iter_mut() {
        let theirs: [u8; 16] = channel.recv_array(ASHARE_Y)?;
        log.note(channel.peer(), &theirs);
        sum ^= Block::from_bytes(theirs);
    }
    confirm_broadcasts(channels, &log.digest())?;
    Ok(sum)
}
