//! The engine: it runs the phases of `duplo` through the interface that all protocols share.

use std::sync::Arc;

use symbolon_cutchoose::hcom::{OwnLater, OwnOpening, TheirLater, TheirOpening};
use symbolon_engine::{
    Compiled, Components, EachPrepared, Engine, InputBits, Link, Network, OutputBits, PoolSink,
    Prepared, Preprocessed,
};
use symbolon_transport::{Channel, Error, Result};

use super::buckets::View;
use super::ends::Ends;
use super::evaluate::PartBuckets;
use super::online::{EvaluatorParts, EvaluatorReady, GarblerParts, GarblerReady};
use super::options;
use super::params::{Games, Params};
use super::pool::{self, Filling};
use super::preprocess::{self, EvaluatorCopies, GarblerCopies, Window};
use super::program::{Origin, Program, Task};
use super::reactive;
use super::state::{Duplo, Side, peer};
use super::waiting::WaitingPool;
use super::windows::Windows;

/// Runs the set-up.
pub(super) fn set_up(net: &mut Network) -> Result<Box<dyn Engine>> {
    let games = Games::new(net.rho.bits());
    Ok(Box::new(Duplo::set_up(net, games)?))
}

impl Engine for Duplo {
    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Preprocessed>> {
        let program = Arc::new(self.program(net, circuit, 1)?);
        let windows = Windows::of_parts(&program, self.games)?;
        if let Some(components) = windows.as_pool(&program, options::components(&net.options))? {
            return self.preprocess_components(net, &components);
        }
        let window = (1, windows.largest().clone());
        let mut copies = self.cut_and_choose(net, (circuit, &program), window)?;
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
        let program = Arc::new(self.program(net, circuit, count)?);
        let windows = Windows::of_parts(&program, self.games)?;
        if let Some(components) = windows.as_pool(&program, options::components(&net.options))? {
            let games = self.games.shared_by(count)?;
            for _ in 0..count {
                let pool = self.waiting_pool(net, &components, games)?;
                let prepared = pool.prepare(net, circuit)?;
                each(net, prepared)?;
            }
            return Ok(());
        }
        for window in windows.parts(&program) {
            let (parts, params) = window?;
            let mut copies = self.cut_and_choose(net, (circuit, &program), (parts, params))?;
            for part in 0..parts {
                let channel = peer(net)?;
                let buckets = copies.fill(self, channel, part)?;
                let ready = copies.connect(channel, part, buckets, self.proofs())?;
                each(net, ready)?;
            }
        }
        Ok(())
    }

    fn preprocess_components(
        &mut self,
        net: &mut Network,
        components: &Components,
    ) -> Result<Box<dyn Preprocessed>> {
        Ok(self.waiting_pool(net, components, self.games)?)
    }

    fn fill_components(
        &mut self,
        net: &mut Network,
        components: &Components,
        sink: &mut dyn PoolSink,
    ) -> Result<()> {
        self.fill_windows(net, components, self.games, sink)
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

/// The copies that a party holds after the cut-and-choose.
enum Copies {
    Garbler(Box<GarblerCopies>),
    Evaluator(Box<EvaluatorCopies>),
}

/// Two openings that are numbered now and made later: that of the connections between slots, and
/// that of the online phase.
enum Proofs {
    Garbler([OwnLater; 2]),
    Evaluator([TheirLater; 2]),
}

impl Duplo {
    /// Returns a filled pool for the program that comes next.
    fn waiting_pool(
        &mut self,
        net: &mut Network,
        components: &Components,
        games: Games,
    ) -> Result<Box<WaitingPool>> {
        let sections = pool::sections(components, net.me, games)?;
        let mut pool = WaitingPool::new(components, &sections)?;
        self.fill_windows(net, components, games, &mut pool)?;
        Ok(Box::new(pool))
    }

    /// Fills a pool, one window after another.
    fn fill_windows(
        &mut self,
        net: &mut Network,
        components: &Components,
        games: Games,
        sink: &mut dyn PoolSink,
    ) -> Result<()> {
        let mut pool = Filling::new(sink);
        let mut started = false;
        for window in Windows::of_pool(components, games)?.programs(components) {
            let (program, params) = window?;
            let program = Arc::new(program);
            let window = Window { digest: [0; 32], program: &program, parts: 1, params };
            match self.cut_and_choose_in(net, window)? {
                Copies::Garbler(copies) => {
                    let committer = preprocess::garblers(self)?.1;
                    let proof = committer.opening();
                    if !started {
                        copies.begin(&mut pool, &committer.later())?;
                    }
                    copies.fill(peer(net)?, proof, 0)?;
                    copies.keep(&mut pool)?;
                }
                Copies::Evaluator(mut copies) => {
                    let receiver = preprocess::evaluators(self)?.1;
                    let proof = receiver.opening();
                    if !started {
                        copies.begin(&mut pool, &receiver.later())?;
                    }
                    copies.fill_pool(peer(net)?, proof, &mut pool)?;
                }
            }
            started = true;
        }
        Ok(())
    }

    /// Returns the program of `parts` preparations of a circuit.
    fn program(&self, net: &Network, circuit: &Compiled, parts: usize) -> Result<Program> {
        let (executions, games) = (net.executions, self.games);
        let components = options::components(&net.options);
        let task = Task { executions, parts, games, components, linked: &[] };
        Program::new(circuit.circuit(), task)
    }

    /// Garbles and checks the components of a window: `parts` parts of a program.
    fn cut_and_choose(
        &mut self,
        net: &mut Network,
        (circuit, program): (&Compiled, &Arc<Program>),
        (parts, params): (usize, Params),
    ) -> Result<Copies> {
        self.cut_and_choose_in(net, Window { digest: circuit.digest(), program, parts, params })
    }

    fn cut_and_choose_in(&mut self, net: &mut Network, window: Window<'_>) -> Result<Copies> {
        let threads = net.garbling_threads();
        let channel = peer(net)?;
        Ok(match self.side {
            Side::Garbler(..) => {
                let copies = preprocess::garbler(self, channel, threads, window)?;
                Copies::Garbler(Box::new(copies))
            }
            Side::Evaluator(..) => {
                let copies = preprocess::evaluator(self, channel, threads, window)?;
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

impl GarblerCopies {
    /// Runs the function-dependent phase of a part.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    pub fn connect(
        &self,
        channel: &mut Channel,
        proof: OwnOpening,
        part: usize,
        online: OwnLater,
    ) -> Result<GarblerReady> {
        let GarblerCopies { program, places, committed, .. } = self;
        let parts = GarblerParts {
            digest: self.digest,
            program: program.clone(),
            origin: Origin::Made(program.parts),
            ends: Ends::of(View { program, places, part }),
        };
        parts.connect(channel, committed, proof, online)
    }
}

impl EvaluatorCopies {
    /// Runs the function-dependent phase of a part whose buckets are filled.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails; `Transport` when the peer is gone.
    pub fn connect(
        &self,
        channel: &mut Channel,
        proof: TheirOpening,
        (part, buckets): (usize, PartBuckets),
        online: TheirLater,
    ) -> Result<EvaluatorReady> {
        let EvaluatorCopies { program, places, received, .. } = self;
        let view = View { program, places, part };
        let parts = EvaluatorParts {
            digest: self.digest,
            program: program.clone(),
            origin: Origin::Made(program.parts),
            ends: Ends::of(view),
            buckets,
            transfers: self.transfers.part(view.transfers()),
        };
        parts.connect(channel, received, proof, online)
    }
}

impl Copies {
    /// Fills the buckets of a part. The evaluator returns them, the garbler returns `None`.
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
