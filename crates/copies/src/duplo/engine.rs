//! The engine: it runs the phases of `duplo` through the interface that all protocols share. What a
//! phase does in each role is the role's [`Phases`].

use std::sync::Arc;

use symbolon_cutchoose::hcom::{OwnLater, OwnOpening, TheirLater, TheirOpening};
use symbolon_engine::{
    Compiled, Components, EachPrepared, Engine, InputBits, Link, Network, OutputBits, PoolSink,
    Prepared, Preprocessed,
};
use symbolon_transport::{Channel, Result};

use super::buckets::View;
use super::endpoints::Endpoints;
use super::evaluate::FilledBuckets;
use super::online::{EvaluatorPreparation, EvaluatorReady, GarblerPreparation, GarblerReady};
use super::options;
use super::params::{Games, Params};
use super::pool::{self, Filling};
use super::preprocess::{self, EvaluatorCopies, GarblerCopies, Window};
use super::program::{GARBLER, Origin, Program, Task};
use super::reactive::{self, Continues};
use super::state::{Duplo, Evaluator, Garbler, peer};
use super::waiting::WaitingPool;
use super::windows::Windows;

/// Runs the set-up.
pub(super) fn set_up(net: &mut Network) -> Result<Box<dyn Engine>> {
    let games = Games::new(net.rho.bits());
    set_up_with(net, games)
}

/// Runs the set-up for games of any sizes.
pub(super) fn set_up_with(net: &mut Network, games: Games) -> Result<Box<dyn Engine>> {
    Ok(if net.me == GARBLER {
        Box::new(Duplo::<Garbler>::set_up(net, games)?)
    } else {
        Box::new(Duplo::<Evaluator>::set_up(net, games)?)
    })
}

/// What a party does in its role in the phases before the online phase.
pub(super) trait Phases: Continues {
    /// What it holds after the cut-and-choose.
    type Copies: Send;
    /// What it holds of the filled buckets of a preparation.
    type Buckets: Send;
    /// An opening that is numbered now and made later.
    type Later: Send;

    /// Runs the cut-and-choose.
    fn cut_and_choose(
        engine: &mut Duplo<Self>,
        channel: &mut Channel,
        threads: usize,
        window: Window<'_>,
    ) -> Result<Self::Copies>;

    /// Returns the digest of the circuit whose components were garbled.
    fn digest(copies: &Self::Copies) -> [u8; 32];

    /// Numbers the next opening.
    fn later(&mut self) -> Self::Later;

    /// Fills the buckets of a preparation.
    fn fill(
        &mut self,
        copies: &mut Self::Copies,
        channel: &mut Channel,
        preparation: usize,
    ) -> Result<Self::Buckets>;

    /// Fills the buckets of the only preparation, which go to a pool. The first window begins the
    /// pool.
    fn fill_pool(
        &mut self,
        copies: Self::Copies,
        channel: &mut Channel,
        pool: &mut Filling<'_>,
        is_first: bool,
    ) -> Result<()>;

    /// Connects the slots of a preparation. The openings are that of the connections, and that of
    /// the online phase.
    fn connect(
        copies: &Self::Copies,
        channel: &mut Channel,
        preparation: (usize, Self::Buckets),
        openings: [Self::Later; 2],
    ) -> Result<Box<dyn Prepared>>;
}

impl Phases for Garbler {
    type Copies = GarblerCopies;
    type Buckets = ();
    type Later = OwnLater;

    fn cut_and_choose(
        engine: &mut Duplo<Garbler>,
        channel: &mut Channel,
        threads: usize,
        window: Window<'_>,
    ) -> Result<GarblerCopies> {
        preprocess::garbler(engine, channel, threads, window)
    }

    fn digest(copies: &GarblerCopies) -> [u8; 32] {
        copies.digest
    }

    fn later(&mut self) -> OwnLater {
        self.committer.later()
    }

    fn fill(
        &mut self,
        copies: &mut GarblerCopies,
        channel: &mut Channel,
        preparation: usize,
    ) -> Result<()> {
        copies.fill(channel, self.committer.opening(), preparation)
    }

    fn fill_pool(
        &mut self,
        copies: GarblerCopies,
        channel: &mut Channel,
        pool: &mut Filling<'_>,
        is_first: bool,
    ) -> Result<()> {
        let proof = self.committer.opening();
        if is_first {
            copies.begin(pool, &self.committer.later())?;
        }
        copies.fill(channel, proof, 0)?;
        copies.keep(pool)
    }

    fn connect(
        copies: &GarblerCopies,
        channel: &mut Channel,
        (preparation, ()): (usize, ()),
        [proof, online]: [OwnLater; 2],
    ) -> Result<Box<dyn Prepared>> {
        Ok(Box::new(copies.connect(channel, proof.opening(), preparation, online)?))
    }
}

impl Phases for Evaluator {
    type Copies = EvaluatorCopies;
    type Buckets = FilledBuckets;
    type Later = TheirLater;

    fn cut_and_choose(
        engine: &mut Duplo<Evaluator>,
        channel: &mut Channel,
        threads: usize,
        window: Window<'_>,
    ) -> Result<EvaluatorCopies> {
        preprocess::evaluator(engine, channel, threads, window)
    }

    fn digest(copies: &EvaluatorCopies) -> [u8; 32] {
        copies.digest
    }

    fn later(&mut self) -> TheirLater {
        self.receiver.later()
    }

    fn fill(
        &mut self,
        copies: &mut EvaluatorCopies,
        channel: &mut Channel,
        preparation: usize,
    ) -> Result<FilledBuckets> {
        copies.fill(channel, self.receiver.opening(), preparation)
    }

    fn fill_pool(
        &mut self,
        mut copies: EvaluatorCopies,
        channel: &mut Channel,
        pool: &mut Filling<'_>,
        is_first: bool,
    ) -> Result<()> {
        let proof = self.receiver.opening();
        if is_first {
            copies.begin(pool, &self.receiver.later())?;
        }
        copies.fill_pool(channel, proof, pool)
    }

    fn connect(
        copies: &EvaluatorCopies,
        channel: &mut Channel,
        preparation: (usize, FilledBuckets),
        [proof, online]: [TheirLater; 2],
    ) -> Result<Box<dyn Prepared>> {
        Ok(Box::new(copies.connect(channel, proof.opening(), preparation, online)?))
    }
}

impl<R: Phases + 'static> Engine for Duplo<R> {
    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Preprocessed>> {
        let program = Arc::new(self.program(net, circuit, 1)?);
        let windows = Windows::of_program(&program, self.games)?;
        if let Some(components) = windows.as_pool(&program, options::components(&net.options))? {
            return self.preprocess_components(net, &components);
        }
        let window = (1, windows.largest().clone());
        let mut copies = self.cut_and_choose(net, (circuit, &program), window)?;
        let buckets = self.role.fill(&mut copies, peer(net)?, 0)?;
        let openings = [self.role.later(), self.role.later()];
        Ok(Box::new(Material::<R> { copies, buckets, openings }))
    }

    fn prepare_each(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        count: usize,
        each: &mut EachPrepared<'_>,
    ) -> Result<()> {
        let program = Arc::new(self.program(net, circuit, count)?);
        let windows = Windows::of_program(&program, self.games)?;
        if let Some(components) = windows.as_pool(&program, options::components(&net.options))? {
            let games = self.games.shared_by(count)?;
            for _ in 0..count {
                let pool = self.waiting_pool(net, &components, games)?;
                let prepared = pool.prepare(net, circuit)?;
                each(net, prepared)?;
            }
            return Ok(());
        }
        for window in windows.preparations(&program) {
            let (preparations, params) = window?;
            let mut copies =
                self.cut_and_choose(net, (circuit, &program), (preparations, params))?;
            for preparation in 0..preparations {
                let channel = peer(net)?;
                let buckets = self.role.fill(&mut copies, channel, preparation)?;
                let openings = [self.role.later(), self.role.later()];
                let ready = R::connect(&copies, channel, (preparation, buckets), openings)?;
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

impl<R: Phases> Duplo<R> {
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
        let mut is_first = true;
        for window in Windows::of_pool(components, games)?.programs(components) {
            let (program, params) = window?;
            let program = Arc::new(program);
            let window = Window { digest: [0; 32], program: &program, preparations: 1, params };
            let copies = self.cut_and_choose_in(net, window)?;
            self.role.fill_pool(copies, peer(net)?, &mut pool, is_first)?;
            is_first = false;
        }
        Ok(())
    }

    /// Returns the program of some preparations of a circuit.
    fn program(&self, net: &Network, circuit: &Compiled, preparations: usize) -> Result<Program> {
        let (executions, games) = (net.executions, self.games);
        let components = options::components(&net.options);
        let task = Task { executions, preparations, games, components, linked: &[] };
        Program::new(circuit.circuit(), task)
    }

    /// Garbles and checks the components of a window: some preparations of a program.
    fn cut_and_choose(
        &mut self,
        net: &mut Network,
        (circuit, program): (&Compiled, &Arc<Program>),
        (preparations, params): (usize, Params),
    ) -> Result<R::Copies> {
        self.cut_and_choose_in(
            net,
            Window { digest: circuit.digest(), program, preparations, params },
        )
    }

    fn cut_and_choose_in(&mut self, net: &mut Network, window: Window<'_>) -> Result<R::Copies> {
        let threads = net.garbling_threads();
        R::cut_and_choose(self, peer(net)?, threads, window)
    }
}

impl GarblerCopies {
    /// Runs the function-dependent phase of a preparation.
    ///
    /// # Errors
    /// `Transport` when the peer is gone.
    pub fn connect(
        &self,
        channel: &mut Channel,
        proof: OwnOpening,
        preparation: usize,
        online: OwnLater,
    ) -> Result<GarblerReady> {
        let GarblerCopies { program, drawn, committed, .. } = self;
        let preparation = GarblerPreparation {
            digest: self.digest,
            program: program.clone(),
            origin: Origin::Made(program.preparations),
            endpoints: Endpoints::of(View { program, drawn, preparation }),
        };
        preparation.connect(channel, committed, proof, online)
    }
}

impl EvaluatorCopies {
    /// Runs the function-dependent phase of a preparation whose buckets are filled.
    ///
    /// # Errors
    /// `PeerMisbehaved` when a check fails; `Transport` when the peer is gone.
    pub fn connect(
        &self,
        channel: &mut Channel,
        proof: TheirOpening,
        (preparation, buckets): (usize, FilledBuckets),
        online: TheirLater,
    ) -> Result<EvaluatorReady> {
        let EvaluatorCopies { program, drawn, received, .. } = self;
        let view = View { program, drawn, preparation };
        let preparation = EvaluatorPreparation {
            digest: self.digest,
            program: program.clone(),
            origin: Origin::Made(program.preparations),
            endpoints: Endpoints::of(view),
            buckets,
            transfers: self.transfers.range(view.transfers()),
        };
        preparation.connect(channel, received, proof, online)
    }
}

/// Buckets of components for one program.
struct Material<R: Phases> {
    copies: R::Copies,
    buckets: R::Buckets,
    openings: [R::Later; 2],
}

impl<R: Phases> Preprocessed for Material<R> {
    fn prepare(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Prepared>> {
        let Material { copies, buckets, openings } = *self;
        circuit.must_be(&R::digest(&copies))?;
        R::connect(&copies, peer(net)?, (0, buckets), openings)
    }
}
