//! Pools of components: the function-independent phase of protocols that garble components of a
//! known kind, instead of gates of any circuit.
//!
//! What there is, is counted: see [`Components::counts`]. Everything is taken from the front of its
//! count, each once: the caller that keeps a pool sees to that, and to the pool's integrity.

use std::io::{Cursor, Read};
use std::ops::Range;

use symbolon_transport::{Error, PartyId, Result};
use zeroize::Zeroizing;

pub use crate::duplo::{Components, Plan as ComponentPlan};
use crate::{
    Batch, Compiled, Network, PoolSink, PoolSource, Prepared, Preprocessed, Protocol, Rho, poison,
};

/// What parties agreed on about components.
#[derive(Clone, Copy, Debug)]
pub struct ComponentTerms<'a> {
    /// ρ.
    pub rho: Rho,
    /// What is prepared together.
    pub batch: Batch,
    /// The components that are garbled, by name; if there are none, they are chosen.
    pub names: &'a [String],
}

impl<'a> ComponentTerms<'a> {
    /// Those of a session.
    pub fn of(net: &'a Network) -> ComponentTerms<'a> {
        ComponentTerms { rho: net.rho, batch: net.batch, names: &net.components }
    }
}

/// A section of a pool of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComponentSection {
    /// Which count it has records of; none for what belongs to the pool as a whole.
    pub counter: Option<usize>,
    /// Bytes of a record.
    pub bytes: u64,
}

/// What a protocol has for pools of components.
pub(crate) struct ComponentPools {
    /// What so many runs of a circuit take.
    pub demand: fn(&Compiled, ComponentTerms<'_>, u64) -> Result<Components>,
    /// The sections of a party's pool.
    pub sections: fn(&Components, PartyId, Rho) -> Result<Vec<ComponentSection>>,
    /// What a circuit takes of a pool of these kinds.
    pub plan: fn(&Compiled, ComponentTerms<'_>, &[[u8; 32]]) -> Result<ComponentPlan>,
}

impl Protocol {
    fn component_pools(self) -> Result<&'static ComponentPools> {
        let none = || Error::InvalidInput(format!("{} has no components", self.name()));
        self.spec().components.as_ref().ok_or_else(none)
    }

    /// What a pool of components for so many runs of a circuit has.
    ///
    /// # Errors
    /// `InvalidInput` when the protocol has no such pools, or the circuit has no components or too
    /// many.
    pub fn components(
        self,
        circuit: &Compiled,
        terms: ComponentTerms<'_>,
        runs: u64,
    ) -> Result<Components> {
        (self.component_pools()?.demand)(circuit, terms, runs)
    }

    /// The sections of a party's pool of components.
    ///
    /// # Errors
    /// `InvalidInput` when the protocol has no such pools, or this one would be too large.
    pub fn component_sections(
        self,
        components: &Components,
        me: PartyId,
        rho: Rho,
    ) -> Result<Vec<ComponentSection>> {
        (self.component_pools()?.sections)(components, me, rho)
    }

    /// What a run of `circuit` takes of a pool of components of these kinds.
    ///
    /// # Errors
    /// `InvalidInput` when the protocol has no such pools, or the circuit takes other components:
    /// says which.
    pub fn component_plan(
        self,
        circuit: &Compiled,
        terms: ComponentTerms<'_>,
        kinds: &[[u8; 32]],
    ) -> Result<ComponentPlan> {
        (self.component_pools()?.plan)(circuit, terms, kinds)
    }

    /// The function-dependent phase on a part of a pool, so much of each count, that
    /// [`Engine::fill_components`](crate::Engine::fill_components) made. The caller sees to it that
    /// no part is ever opened twice, that all parties open the same, and that nothing of the pool
    /// is used after a failed check.
    ///
    /// # Errors
    /// `Store` when the pool cannot be read; `InvalidInput` when the part is not what the plan
    /// takes; `PeerMisbehaved`, `Transport` as ever.
    pub fn prepare_components(
        self,
        net: &mut Network,
        plan: &ComponentPlan,
        part: &[Range<u64>],
        source: &mut dyn PoolSource,
    ) -> Result<Box<dyn Prepared>> {
        self.check_place(net)?;
        Ok(poison::poisonable_prepared(plan.prepare(net, part, source)?))
    }
}

/// A pool in memory, for the circuit that comes next.
pub(crate) struct MemoryPool {
    sections: Vec<Zeroizing<Vec<u8>>>,
    kinds: Vec<[u8; 32]>,
}

/// Room for what belongs to a pool as a whole.
const HEAD_ROOM: u64 = 1 << 16;

impl MemoryPool {
    /// Room for a pool with these sections: memory that grows leaves copies of secrets behind.
    pub fn new(components: &Components, sections: &[ComponentSection]) -> Result<MemoryPool> {
        let counts = components.counts();
        let room = |section: &ComponentSection| {
            let bytes = match section.counter {
                Some(counter) => section.bytes.checked_mul(counts[counter]),
                None => Some(HEAD_ROOM),
            };
            let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
            let bytes = bytes.ok_or_else(|| Error::invalid_input("the circuit is too large"))?;
            Ok(Zeroizing::new(Vec::with_capacity(bytes)))
        };
        let sections = sections.iter().map(room).collect::<Result<_>>()?;
        Ok(MemoryPool { sections, kinds: components.kinds().map(|(kind, _)| kind).collect() })
    }
}

impl PoolSink for MemoryPool {
    fn write(&mut self, section: usize, bytes: &[u8]) -> Result<()> {
        let section = self.sections.get_mut(section);
        section.ok_or_else(|| Error::internal("a section that is not there"))?.extend(bytes);
        Ok(())
    }
}

impl PoolSource for MemoryPool {
    fn open(&mut self, section: usize, bytes: Range<u64>) -> Result<Box<dyn Read + Send>> {
        // Read once: each section goes as it is opened.
        let section = self.sections.get_mut(section).map(std::mem::take).unwrap_or_default();
        let mut all = Cursor::new(section);
        all.set_position(bytes.start);
        Ok(Box::new(all.take(bytes.end.saturating_sub(bytes.start))))
    }
}

impl Preprocessed for MemoryPool {
    fn prepare(
        mut self: Box<Self>,
        net: &mut Network,
        circuit: &Compiled,
    ) -> Result<Box<dyn Prepared>> {
        let kinds = std::mem::take(&mut self.kinds);
        let plan = ComponentPlan::of(net, circuit, &kinds)?;
        let part: Vec<Range<u64>> = plan.takes().iter().map(|&n| 0..n).collect();
        plan.prepare(net, &part, &mut *self)
    }
}
