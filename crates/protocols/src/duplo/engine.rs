//! The phases of `duplo` on the seam that all protocols have.

use symbolon_cutchoose::hcom::{self, Committer, OwnLater, Receiver, TheirLater};
use symbolon_interaction::toss_coin;
use symbolon_ot::cot::GlobalKey;
use symbolon_ot::setup::{self, Lane};
use symbolon_ot::{CotReceiver, CotSender};
use symbolon_primitives::{Challenge, Delta, Prg};
use symbolon_transport::{Channel, Error, Result, SessionId};

use super::evaluate::CommonOffset;
use super::params::Games;
use super::pool::{self, Filling};
use super::preprocess::{self, EvaluatorCopies, GarblerCopies, PartBuckets};
use super::program::{GARBLER, Program, Task};
use super::reactive::{self, Held};
use crate::component_pool::MemoryPool;
use crate::{
    Compiled, Components, Engine, InputBits, Link, Network, OutputBits, PoolSink, Prepared,
    Preprocessed, phases::EachPrepared,
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
    /// Outputs of the parts of a reactive computation.
    pub held: Vec<Held>,
    /// Δ_ot, once the evaluator learnt it in one of these parts.
    pub recovered: CommonOffset,
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

/// How many threads garble and evaluate: as many as make correlated OTs in other protocols. All
/// messages go over the first connection.
pub(super) fn threads(net: &Network) -> usize {
    net.lanes.len().saturating_sub(1).max(1)
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

impl Engine for Duplo {
    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Preprocessed>> {
        let mut copies = self.cut_and_choose(net, circuit, 1)?;
        let channel = peer(net)?;
        let buckets = copies.fill(self, channel, 0)?;
        let proofs = self.proofs();
        Ok(Box::new(Material { copies, buckets, proofs }))
    }

    fn prepare_each(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        count: usize,
        each: &mut EachPrepared<'_>,
    ) -> Result<()> {
        let mut copies = self.cut_and_choose(net, circuit, count)?;
        for part in 0..count {
            let channel = peer(net)?;
            let buckets = copies.fill(self, channel, part)?;
            let ready = copies.connect(channel, part, buckets, self.proofs())?;
            each(net, ready)?;
        }
        Ok(())
    }

    fn preprocess_components(
        &mut self,
        net: &mut Network,
        components: &Components,
    ) -> Result<Box<dyn Preprocessed>> {
        let sections = pool::sections(components, net.me, self.games)?;
        let mut pool = MemoryPool::new(components, &sections)?;
        self.fill_components(net, components, &mut pool)?;
        Ok(Box::new(pool))
    }

    fn fill_components(
        &mut self,
        net: &mut Network,
        components: &Components,
        sink: &mut dyn PoolSink,
    ) -> Result<()> {
        let program = Program::of_pool(components)?;
        let mut pool = Filling::new(sink);
        match self.cut_and_choose_of(net, ([0; 32], program))? {
            Copies::Garbler(copies) => {
                let committer = preprocess::garblers(self)?.1;
                let (proof, start) = (committer.opening(), committer.later());
                copies.fill(peer(net)?, proof, 0)?;
                copies.keep(&mut pool, &start)
            }
            Copies::Evaluator(copies) => {
                let receiver = preprocess::evaluators(self)?.1;
                let (proof, start) = (receiver.opening(), receiver.later());
                copies.fill_pool(peer(net)?, proof, &mut pool, &start)
            }
        }
    }

    fn evaluate_part(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        links: &[Link],
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        reactive::evaluate(self, net, circuit, links, inputs)
    }

    fn group(&self) -> [u8; 32] {
        self.session
    }
}

/// What a party has after the cut-and-choose.
enum Copies {
    Garbler(Box<GarblerCopies>),
    Evaluator(Box<EvaluatorCopies>),
}

/// Openings that are agreed on and not made yet: of the connections of slots, and of what is opened
/// online.
enum Proofs {
    Garbler([OwnLater; 2]),
    Evaluator([TheirLater; 2]),
}

impl Duplo {
    /// Garbles and checks the components of a number of preparations of a circuit.
    fn cut_and_choose(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        parts: usize,
    ) -> Result<Copies> {
        let (executions, games) = (net.batch.executions, self.games);
        let components = &net.components[..];
        let task = Task { executions, parts, games, components, linked: &[] };
        let program = (circuit.digest(), Program::new(circuit.circuit(), task)?);
        self.cut_and_choose_of(net, program)
    }

    /// The same for a program.
    fn cut_and_choose_of(
        &mut self,
        net: &mut Network,
        program: ([u8; 32], Program),
    ) -> Result<Copies> {
        let threads = threads(net);
        let channel = peer(net)?;
        Ok(match self.side {
            Side::Garbler(..) => {
                let copies = preprocess::garbler(self, channel, threads, program)?;
                Copies::Garbler(Box::new(copies))
            }
            Side::Evaluator(..) => {
                let copies = preprocess::evaluator(self, channel, threads, program)?;
                Copies::Evaluator(Box::new(copies))
            }
        })
    }

    fn proofs(&mut self) -> Proofs {
        match &mut self.side {
            Side::Garbler(_, committer) => Proofs::Garbler([committer.later(), committer.later()]),
            Side::Evaluator(_, receiver) => Proofs::Evaluator([receiver.later(), receiver.later()]),
        }
    }
}

impl Copies {
    /// Fills the buckets of a part, which the evaluator returns.
    fn fill(
        &mut self,
        engine: &mut Duplo,
        channel: &mut Channel,
        part: usize,
    ) -> Result<Option<PartBuckets>> {
        match self {
            Copies::Garbler(copies) => {
                copies.fill(channel, preprocess::garblers(engine)?.1.opening(), part)?;
                Ok(None)
            }
            Copies::Evaluator(copies) => {
                let proof = preprocess::evaluators(engine)?.1.opening();
                copies.fill(channel, proof, part).map(Some)
            }
        }
    }

    /// Connects the slots of a part.
    fn connect(
        &self,
        channel: &mut Channel,
        part: usize,
        buckets: Option<PartBuckets>,
        proofs: Proofs,
    ) -> Result<Box<dyn Prepared>> {
        match (self, buckets, proofs) {
            (Copies::Garbler(copies), None, Proofs::Garbler([proof, online])) => {
                Ok(Box::new(copies.connect(channel, proof.opening(), part, online)?))
            }
            (Copies::Evaluator(copies), Some(buckets), Proofs::Evaluator([proof, online])) => {
                let part = (part, buckets);
                Ok(Box::new(copies.connect(channel, proof.opening(), part, online)?))
            }
            _ => Err(Error::internal("one party's copies with the other's proofs")),
        }
    }

    fn digest(&self) -> [u8; 32] {
        match self {
            Copies::Garbler(copies) => copies.digest,
            Copies::Evaluator(copies) => copies.digest,
        }
    }
}

/// Buckets of components for one program.
struct Material {
    copies: Copies,
    buckets: Option<PartBuckets>,
    proofs: Proofs,
}

impl Preprocessed for Material {
    fn prepare(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Prepared>> {
        circuit.must_be(&self.copies.digest())?;
        self.copies.connect(peer(net)?, 0, self.buckets, self.proofs)
    }
}
