//! The state of a party after the set-up, by its role.

use symbolon_cutchoose::hcom::{self, Committer, Receiver};
use symbolon_engine::Network;
use symbolon_interaction::toss_coin;
use symbolon_ot::cot::GlobalKey;
use symbolon_ot::setup::{self, Lane};
use symbolon_ot::{CotReceiver, CotSender};
use symbolon_primitives::{Challenge, Delta, Prg};
use symbolon_transport::{Channel, Error, Result, SessionId};

use super::commit::Committed;
use super::common_offset::CommonOffset;
use super::kept_outputs::{KeptKeys, KeptOutputs};
use super::params::Games;

/// A role, with what a party in it holds after the set-up.
pub(super) trait Role: Sized + Send {
    /// What it keeps of the outputs of a part of a reactive computation.
    type Keys: Send;

    /// Runs its side of the set-up of the commitments.
    fn set_up(channel: &mut Channel, from: SetUp<'_>) -> Result<Self>;
}

/// From what the commitments are set up.
pub(super) struct SetUp<'a> {
    session: &'a [u8; 32],
    params: &'a hcom::Params,
    lane: Lane,
    prg: &'a mut Prg,
}

/// The garbler: the OT sender and the committer.
pub(super) struct Garbler {
    pub cot: Box<dyn CotSender>,
    pub committer: Committer,
}

/// The evaluator: the OT receiver and the receiver of the commitments.
pub(super) struct Evaluator {
    pub cot: Box<dyn CotReceiver>,
    pub receiver: Receiver,
    /// Δ_ot, once the evaluator has learnt it in a part of a reactive computation.
    pub recovered: CommonOffset,
}

impl Role for Garbler {
    type Keys = Committed;

    fn set_up(channel: &mut Channel, from: SetUp<'_>) -> Result<Garbler> {
        let SetUp { session, params, lane: Lane { sender: mut cot, .. }, .. } = from;
        let mut made = Committer::set_up(channel, session, params, cot.as_mut(), 1)?;
        let committer = made.pop().ok_or_else(no_commitments)?;
        Ok(Garbler { cot, committer })
    }
}

impl Role for Evaluator {
    type Keys = KeptKeys;

    fn set_up(channel: &mut Channel, from: SetUp<'_>) -> Result<Evaluator> {
        let SetUp { session, params, lane: Lane { receiver: mut cot, .. }, prg } = from;
        let mut made = Receiver::set_up(channel, session, params, cot.as_mut(), 1, prg)?;
        let receiver = made.pop().ok_or_else(no_commitments)?;
        Ok(Evaluator { cot, receiver, recovered: CommonOffset::default() })
    }
}

fn no_commitments() -> Error {
    Error::internal("no lane of commitments")
}

/// A party after the set-up.
pub(super) struct Duplo<R: Role> {
    /// The session of the set-up. Everything made under its keys is numbered within it.
    pub session: [u8; 32],
    pub games: Games,
    pub role: R,
    pub prg: Prg,
    /// How many objects have been made so far.
    pub objects: u64,
    /// The outputs of the parts of a reactive computation.
    pub kept: Vec<KeptOutputs<R::Keys>>,
    coins: u64,
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

impl<R: Role> Duplo<R> {
    /// Runs the set-up.
    pub fn set_up(net: &mut Network, games: Games) -> Result<Self> {
        let (session, ot) = (net.session, net.ot);
        let channel = peer(net)?;
        let mut prg = Prg::from_os().map_err(|e| Error::Internal(e.to_string()))?;
        // The garbler's key is the offset to which all others are soldered; like them it ends in 1.
        let key = GlobalKey::new(Delta::new(prg.block().with_lsb(true)));
        let lanes = setup::both_directions(channel, &session, &key, 1, ot, &mut prg)?;
        let lane = lanes.into_iter().next().ok_or_else(|| Error::internal("no lane"))?;
        let params = commitments(games.rho)?;
        let from = SetUp { session: &session, params: &params, lane, prg: &mut prg };
        let role = R::set_up(channel, from)?;
        Ok(Duplo { session, games, role, prg, objects: 0, kept: Vec::new(), coins: 0 })
    }

    /// Tosses the next coin.
    pub fn coin(&mut self, channel: &mut Channel) -> Result<Challenge> {
        let index = self.coins;
        self.coins += 1;
        toss_coin(std::slice::from_mut(channel), &SessionId(self.session), index, &mut self.prg)
    }
}
