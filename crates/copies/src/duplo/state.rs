//! The state of a party after the set-up.

use symbolon_cutchoose::hcom::{self, Committer, Receiver};
use symbolon_engine::Network;
use symbolon_interaction::toss_coin;
use symbolon_ot::cot::GlobalKey;
use symbolon_ot::setup::{self, Lane};
use symbolon_ot::{CotReceiver, CotSender};
use symbolon_primitives::{Challenge, Delta, Prg};
use symbolon_transport::{Channel, Error, Result, SessionId};

use super::common_offset::CommonOffset;
use super::held::Held;
use super::params::Games;
use super::program::GARBLER;

/// A party after the set-up.
pub(super) struct Duplo {
    /// The session of the set-up. Everything made under its keys is numbered within it.
    pub session: [u8; 32],
    pub games: Games,
    pub side: Side,
    pub prg: Prg,
    /// How many objects have been made so far.
    pub objects: u64,
    /// The outputs of the parts of a reactive computation.
    pub held: Vec<Held>,
    /// Δ_ot, once the evaluator has learnt it in one of these parts.
    pub recovered: CommonOffset,
    coins: u64,
}

/// A party's side of the OT and of the commitments: the garbler is the OT sender and the committer.
pub(super) enum Side {
    Garbler(Box<dyn CotSender>, Committer),
    Evaluator(Box<dyn CotReceiver>, Receiver),
}

/// Returns the parameters of the commitments for this ρ.
pub(super) fn commitments(rho: u32) -> Result<hcom::Params> {
    hcom::Params::new(hcom::DEFAULT_K, rho)
}

/// Returns the channel to the only peer.
pub(super) fn peer(net: &mut Network) -> Result<&mut Channel> {
    match net.peers() {
        [channel] => Ok(channel),
        _ => Err(Error::invalid_input("duplo runs between two parties")),
    }
}

impl Duplo {
    /// Runs the set-up.
    pub fn set_up(net: &mut Network, games: Games) -> Result<Duplo> {
        let (session, ot) = (net.session, net.ot);
        let channel = peer(net)?;
        let mut prg = Prg::from_os().map_err(|e| Error::Internal(e.to_string()))?;
        // The garbler's key is the offset to which all others are soldered; like them it ends in 1.
        let key = GlobalKey::new(Delta::new(prg.block().with_lsb(true)));
        let lanes = setup::both_directions(channel, &session, &key, 1, ot, &mut prg)?;
        let Lane { mut sender, mut receiver } =
            lanes.into_iter().next().ok_or_else(|| Error::internal("no lane"))?;
        let params = commitments(games.rho)?;
        let none = || Error::internal("no lane of commitments");
        let side = if channel.me() == GARBLER {
            let made = Committer::set_up(channel, &session, &params, sender.as_mut(), 1)?;
            Side::Garbler(sender, made.into_iter().next().ok_or_else(none)?)
        } else {
            let cot = receiver.as_mut();
            let made = Receiver::set_up(channel, &session, &params, cot, 1, &mut prg)?;
            Side::Evaluator(receiver, made.into_iter().next().ok_or_else(none)?)
        };
        let (held, recovered) = (Vec::new(), CommonOffset::default());
        Ok(Duplo { session, games, side, prg, objects: 0, held, recovered, coins: 0 })
    }

    /// Tosses the next coin.
    pub fn coin(&mut self, channel: &mut Channel) -> Result<Challenge> {
        let index = self.coins;
        self.coins += 1;
        toss_coin(std::slice::from_mut(channel), &SessionId(self.session), index, &mut self.prg)
    }
}
