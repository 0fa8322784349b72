//! Makes the set-up of every protocol dead after any error, in whichever phase it happened.
//!
//! If a party could try again under the same Δ after a failed check, a cheater would have any
//! number of guesses, but the analysis of every check allows it only one. So an engine and
//! everything that it makes share a flag, which the first error sets and every call checks first.

use std::io::Write;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use symbolon_transport::{Error, Result};

use crate::{
    Compiled, Components, Demand, Engine, InputBits, Link, Network, Online, OutputBits, PoolSink,
    Prepared, Preprocessed, phases::EachPrepared,
};

/// Puts an engine, and what its phases make, under one common flag.
pub fn poisonable(engine: Box<dyn Engine>) -> Box<dyn Engine> {
    Box::new(Poisonable { inner: Some(engine), flag: PoisonFlag::default() })
}

/// Puts material under its own flag: for material that no engine of this process made.
pub(crate) fn poisonable_material(correlations: Box<dyn Preprocessed>) -> Box<dyn Preprocessed> {
    Box::new(Poisonable { inner: Some(correlations), flag: PoisonFlag::default() })
}

/// Puts a prepared circuit under its own flag.
pub(crate) fn poisonable_prepared(prepared: Box<dyn Prepared>) -> Box<dyn Prepared> {
    Box::new(Poisonable { inner: Some(prepared), flag: PoisonFlag::default() })
}

/// The flag that an engine shares with everything that it made.
#[derive(Clone, Default)]
struct PoisonFlag(Arc<AtomicBool>);

impl PoisonFlag {
    /// Runs a phase, unless an earlier one failed.
    fn run<T>(&self, phase: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.is_poisoned() {
            return Err(dead());
        }
        phase().inspect_err(|_| self.0.store(true, Ordering::SeqCst))
    }

    fn is_poisoned(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

fn dead() -> Error {
    Error::InvalidInput("the session failed before and must be set up afresh".into())
}

/// A value that is used only as long as nothing failed. After a failure it is dropped, and so
/// wiped.
struct Poisonable<T: ?Sized> {
    inner: Option<Box<T>>,
    flag: PoisonFlag,
}

impl Engine for Poisonable<dyn Engine> {
    fn preprocess(&mut self, net: &mut Network, demand: &Demand) -> Result<Box<dyn Preprocessed>> {
        self.make(|engine| engine.preprocess(net, demand))
    }

    fn preprocess_for(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Preprocessed>> {
        self.make(|engine| engine.preprocess_for(net, circuit))
    }

    fn prepare_each(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        count: usize,
        each: &mut EachPrepared<'_>,
    ) -> Result<()> {
        let flag = self.flag.clone();
        let mut shared = |net: &mut Network, inner: Box<dyn Prepared>| {
            each(net, Box::new(Poisonable { inner: Some(inner), flag: flag.clone() }))?;
            // It may have run, and failed, although `each` did not.
            if flag.is_poisoned() { Err(dead()) } else { Ok(()) }
        };
        self.work(|engine| engine.prepare_each(net, circuit, count, &mut shared))
    }

    fn evaluate_part(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        links: &[Link],
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        self.work(|engine| engine.evaluate_part(net, circuit, links, inputs))
    }

    fn stream(
        &mut self,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        self.work(|engine| engine.stream(net, circuit, inputs))
    }

    fn fill(&mut self, net: &mut Network, demand: &Demand, sink: &mut dyn PoolSink) -> Result<()> {
        self.work(|engine| engine.fill(net, demand, sink))
    }

    fn preprocess_components(
        &mut self,
        net: &mut Network,
        components: &Components,
    ) -> Result<Box<dyn Preprocessed>> {
        self.make(|engine| engine.preprocess_components(net, components))
    }

    fn fill_components(
        &mut self,
        net: &mut Network,
        components: &Components,
        sink: &mut dyn PoolSink,
    ) -> Result<()> {
        self.work(|engine| engine.fill_components(net, components, sink))
    }

    fn group(&self) -> [u8; 32] {
        self.inner.as_ref().map_or([0; 32], |engine| engine.group())
    }
}

impl Poisonable<dyn Engine> {
    /// Lets the engine make material, which shares its flag.
    fn make(
        &mut self,
        work: impl FnOnce(&mut dyn Engine) -> Result<Box<dyn Preprocessed>>,
    ) -> Result<Box<dyn Preprocessed>> {
        let made = self.work(work)?;
        Ok(Box::new(Poisonable { inner: Some(made), flag: self.flag.clone() }))
    }

    /// Lets the engine work. After an error in any phase it is dropped, and so wiped.
    fn work<T>(&mut self, work: impl FnOnce(&mut dyn Engine) -> Result<T>) -> Result<T> {
        let Poisonable { inner, flag } = self;
        let done = flag.run(|| work(inner.as_deref_mut().ok_or_else(dead)?));
        if flag.is_poisoned() {
            *inner = None;
        }
        done
    }
}

impl Preprocessed for Poisonable<dyn Preprocessed> {
    fn prepare(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Prepared>> {
        let Poisonable { inner, flag } = *self;
        let made = flag.run(|| inner.ok_or_else(dead)?.prepare(net, circuit))?;
        Ok(Box::new(Poisonable { inner: Some(made), flag }))
    }

    fn is_prepared(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.is_prepared())
    }
}

impl Prepared for Poisonable<dyn Prepared> {
    fn evaluate(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<OutputBits> {
        let Poisonable { inner, flag } = *self;
        flag.run(|| inner.ok_or_else(dead)?.evaluate(net, circuit, inputs))
    }

    fn start(
        self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
        inputs: &InputBits,
    ) -> Result<Box<dyn Online>> {
        let Poisonable { inner, flag } = *self;
        let online = flag.run(|| inner.ok_or_else(dead)?.start(net, circuit, inputs))?;
        Ok(Box::new(Poisonable { inner: Some(online), flag }))
    }

    #[cfg(feature = "measure")]
    fn measured(
        self: Box<Self>,
        shared_by: Option<usize>,
    ) -> Result<Box<dyn crate::phases::Measured>> {
        self.inner.ok_or_else(dead)?.measured(shared_by)
    }

    fn save(self: Box<Self>, out: &mut dyn Write) -> Result<()> {
        let Poisonable { inner, flag } = *self;
        if flag.is_poisoned() {
            return Err(dead());
        }
        // A full disk is not a cheat, so it does not affect what else was made.
        inner.ok_or_else(dead)?.save(out)
    }
}

impl Online for Poisonable<dyn Online> {
    fn step(&mut self, net: &mut Network) -> Result<Option<OutputBits>> {
        let Poisonable { inner, flag } = self;
        let done = flag.run(|| inner.as_deref_mut().ok_or_else(dead)?.step(net));
        if flag.is_poisoned() {
            *inner = None;
        }
        done
    }
}
