//! The open preprocessing session of one party.

use symbolon_ot::setup;
use symbolon_primitives::{BitVec, Block, Prg};
use symbolon_transport::{Channel, Error, Result};
use zeroize::Zeroize;

use crate::{
    AuthBits, Shares, Triples, bucketing, combine, exchange,
    leaky::{self, LeakyLane, LeakyTriples},
};

/// One party's open session: its Δ, and correlated OT with the peer on every lane.
///
/// Every method is run by both parties at the same time with the same numbers. After an error the
/// session must be dropped, which wipes it: Δ and all that hangs on it are dead.
pub struct Preprocessor {
    session: [u8; 32],
    delta: Block,
    rho: u32,
    lanes: Vec<LeakyLane>,
    prg: Prg,
    batches: u64,
    /// Kept between batches: memory touched for the first time is dear.
    leaky: LeakyTriples,
}

impl Preprocessor {
    /// Chooses Δ and runs the set-up of correlated OT over the first of `channels`; every channel
    /// becomes a lane.
    ///
    /// lsb(Δ) is 1 for party 0 and 0 for party 1: leaky ANDs need the two to differ.
    ///
    /// # Errors
    /// `PeerMisbehaved` for a malformed base-OT message or a failed check; `Transport` when the
    /// peer is gone; `Internal` when the operating system gives no randomness.
    pub fn set_up(channels: &mut [Channel], session: &[u8; 32], rho: u32) -> Result<Self> {
        let mut prg = Prg::from_os().map_err(|e| Error::Internal(e.to_string()))?;
        let lanes = channels.len();
        let channel = channels
            .first_mut()
            .ok_or_else(|| Error::InvalidInput("a session needs at least one lane".into()))?;
        let (me, peer) = (channel.me(), channel.peer());
        let delta = prg.block().with_lsb(me < peer);
        let lanes = setup::both_directions(channel, session, delta, lanes, &mut prg)?
            .into_iter()
            .enumerate()
            .map(|(i, ot)| LeakyLane::new(ot, session, me, peer, i, Prg::from_seed(prg.block())))
            .collect();
        let leaky = LeakyTriples::default();
        Ok(Preprocessor { session: *session, delta, rho, lanes, prg, batches: 0, leaky })
    }

    /// This party's global key.
    pub fn delta(&self) -> Block {
        self.delta
    }

    /// This party's generator of randomness.
    pub fn prg(&mut self) -> &mut Prg {
        &mut self.prg
    }

    /// `mine` random bits known to this party, and keys for `theirs` bits known to the peer.
    ///
    /// # Errors
    /// `PeerMisbehaved` when the peer's bits are inconsistent; `Transport` when it is gone.
    pub fn bits(
        &mut self,
        channel: &mut Channel,
        mine: usize,
        theirs: usize,
    ) -> Result<(AuthBits, Vec<Block>)> {
        let lane = &mut self.lanes[0];
        let bits = lane.random_bits(mine);
        let mut macs = vec![Block::ZERO; mine];
        let mut keys = vec![Block::ZERO; theirs];
        let draw = lane.ot().receiver.max_draw();
        for start in (0..mine.max(theirs)).step_by(draw) {
            if start < mine {
                let range = start..(start + draw).min(mine);
                let choices = bits.slice(range.clone());
                lane.ot().receiver.extend(channel, &choices, &mut macs[range])?;
            }
            if start < theirs {
                let end = (start + draw).min(theirs);
                lane.ot().sender.extend(channel, &mut keys[start..end])?;
            }
        }
        Ok((AuthBits { bits, macs }, keys))
    }

    /// `n` authenticated shares of random bits that nobody knows.
    ///
    /// # Errors
    /// As [`bits`](Preprocessor::bits).
    pub fn shares(&mut self, channel: &mut Channel, n: usize) -> Result<Shares> {
        let (AuthBits { bits, macs }, keys) = self.bits(channel, n, n)?;
        Ok(Shares { bits, macs, keys })
    }

    /// The batches in which `n` triples are made.
    pub fn plan(&self, n: usize) -> Vec<bucketing::Batch> {
        bucketing::plan(n, self.rho)
    }

    /// Makes one batch of triples, on all lanes.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails; `Transport` when the peer is gone.
    pub fn triples(
        &mut self,
        channels: &mut [Channel],
        batch: bucketing::Batch,
    ) -> Result<Triples> {
        self.leaky.reset(batch.leaky());
        generate(&mut self.lanes, channels, &mut self.leaky)?;
        let channel = &mut channels[0];
        let mut finish = leaky::Finish {
            session: &self.session,
            delta: self.delta,
            batch: self.batches,
            prg: &mut self.prg,
        };
        leaky::finish(channel, &mut self.leaky, &mut finish)?;
        let coin =
            exchange::toss_coin(channel, &self.session, 2 * self.batches + 1, &mut self.prg)?;
        self.batches += 1;
        combine::combine(channel, &self.leaky, batch, coin, self.delta)
    }
}

impl Drop for Preprocessor {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

/// Fills `leaky` up to its check, a part on each lane.
fn generate(
    lanes: &mut [LeakyLane],
    channels: &mut [Channel],
    leaky: &mut LeakyTriples,
) -> Result<()> {
    let mut parts = leaky::split(leaky, lanes.len());
    std::thread::scope(|scope| {
        let work = lanes.iter_mut().zip(channels).zip(&mut parts);
        let mut work: Vec<_> = work.collect();
        let first = work.remove(0);
        let others: Vec<_> = work
            .into_iter()
            .map(|((lane, channel), part)| scope.spawn(move || lane.generate(channel, part)))
            .collect();
        let ((lane, channel), part) = first;
        let mut result = lane.generate(channel, part);
        for other in others {
            let other = other
                .join()
                .unwrap_or_else(|_| Err(Error::Internal("a lane's thread panicked".into())));
            // A failed check is the better news than the channel that broke because of it.
            if result.is_ok() || matches!(other, Err(Error::PeerMisbehaved { .. })) {
                result = other;
            }
        }
        result
    })?;
    let bits: Vec<[BitVec; 3]> = parts.into_iter().map(|part| part.bits).collect();
    for (which, all) in leaky.bits.iter_mut().enumerate() {
        *all = BitVec::zeros(0);
        for part in &bits {
            all.extend_from(&part[which]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
