//! The phases of `duplo` on the seam that all protocols have.

use symbolon_circuit::{Circuit, Plan};
use symbolon_cutchoose::hcom::{self, Committer, Receiver};
use symbolon_interaction::toss_coin;
use symbolon_ot::cot::GlobalKey;
use symbolon_ot::setup::{self, Lane};
use symbolon_ot::{CotReceiver, CotSender};
use symbolon_primitives::{Challenge, Delta, Prg};
use symbolon_transport::{Channel, Error, Result, SessionId};

use super::params::Games;
use super::preprocess::{self, EvaluatorMaterial, GarblerMaterial};
use super::program::{GARBLER, Program};
use crate::{
    Demand, Engine, InputBits, Network, OutputBits, PoolSink, Prepared, Preprocessed,
    phases::{self, PlannedCircuit},
};

/// A party after the set-up.
pub(super) struct Duplo {
    /// The session of the set-up: everything made under its keys is numbered in it.
    pub session: [u8; 32],
    pub games: Games,
    pub side: Side,
    pub prg: Prg,
    /// Objects made so far.
    pub objects: u64,
    coins: u64,
}

/// Correlated OT of which the garbler is the sender, and commitments of which it is the committer.
pub(super) enum Side {
    Garbler(Box<dyn CotSender>, Committer),
    Evaluator(Box<dyn CotReceiver>, Receiver),
}

/// Runs the set-up.
pub(super) fn set_up(net: &mut Network) -> Result<Box<dyn Engine>> {
    let games = Games::new(net.rho.bits());
    Ok(Box::new(Duplo::set_up(net, games)?))
}

/// The parameters of the commitments for this ρ.
pub(super) fn commitments(rho: u32) -> Result<hcom::Params> {
    hcom::Params::new(hcom::DEFAULT_K, rho)
}

/// The only peer's channel.
pub(super) fn peer(net: &mut Network) -> Result<&mut Channel> {
    match net.peers() {
        [channel] => Ok(channel),
        _ => Err(Error::invalid_input("duplo runs between two parties")),
    }
}

impl Duplo {
    /// The same with other sizes of games.
    pub fn set_up(net: &mut Network, games: Games) -> Result<Duplo> {
        let (session, ot) = (net.session, net.ot);
        let channel = peer(net)?;
        let mut prg = Prg::from_os().map_err(|e| Error::Internal(e.to_string()))?;
        // The garbler's is the offset that all others are soldered to, and ends in 1 as they do.
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
        Ok(Duplo { session, games, side, prg, objects: 0, coins: 0 })
    }

    /// Tosses the next coin.
    pub fn coin(&mut self, channel: &mut Channel) -> Result<Challenge> {
        let index = self.coins;
        self.coins += 1;
        toss_coin(std::slice::from_mut(channel), &SessionId(self.session), index, &mut self.prg)
    }
}

impl Engine for Duplo {
    fn preprocess(&mut self, _: &mut Network, _: &Demand) -> Result<Box<dyn Preprocessed>> {
        Err(Error::invalid_input(
            "duplo prepares for a circuit that is known: a number of gates says nothing of \
             components",
        ))
    }

    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Circuit,
        _: &Plan,
    ) -> Result<Box<dyn Preprocessed>> {
        let program = Program::new(circuit, net.batch.executions, self.games)?;
        let channel = peer(net)?;
        let inner = match self.side {
            Side::Garbler(..) => {
                Inner::Garbler(Box::new(preprocess::garbler(self, channel, program)?))
            }
            Side::Evaluator(..) => {
                Inner::Evaluator(Box::new(preprocess::evaluator(self, channel, program)?))
            }
        };
        Ok(Box::new(Material { digest: circuit.digest(), inner }))
    }

    fn stream(
        &mut self,
        net: &mut Network,
        circuit: &Circuit,
        plan: &Plan,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        phases::one_by_one(self, net, PlannedCircuit { circuit, plan }, inputs)
    }

    fn fill(&mut self, _: &mut Network, _: &Demand, _: &mut dyn PoolSink) -> Result<()> {
        Err(Error::invalid_input("duplo has no pools"))
    }

    fn group(&self) -> [u8; 32] {
        self.session
    }
}

/// Buckets of components for one program.
struct Material {
    digest: [u8; 32],
    inner: Inner,
}

enum Inner {
    Garbler(Box<GarblerMaterial>),
    Evaluator(Box<EvaluatorMaterial>),
}

impl Preprocessed for Material {
    fn prepare(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Circuit,
        _: &Plan,
    ) -> Result<Box<dyn Prepared>> {
        if self.digest != circuit.digest() {
            return Err(Error::invalid_input("the material was made for another circuit"));
        }
        let channel = peer(net)?;
        Ok(match self.inner {
            Inner::Garbler(material) => Box::new(material.prepare(channel, self.digest)?),
            Inner::Evaluator(material) => Box::new(material.prepare(channel, self.digest)?),
        })
    }
}
