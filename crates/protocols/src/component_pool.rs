//! Pools of components: the function-independent phase of protocols that garble components of known
//! kinds, instead of gates of any circuit.
//!
//! The contents of a pool are counted: see [`Components::counts`]. Every count is used up from the
//! front, each item once. The caller that keeps a pool must ensure this, and the pool's integrity.

use std::io::{self, Cursor, Read};
use std::ops::Range;
#[cfg(test)]
use std::sync::atomic::{AtomicU64, Ordering};

use symbolon_store::{Scratch, ScratchReader, Secrecy};
use symbolon_transport::{Error, PartyId, Result};
use zeroize::Zeroizing;

pub use crate::duplo::{Components, Plan as ComponentPlan};
use crate::{
    Batch, Compiled, Network, PoolSink, PoolSource, Prepared, Preprocessed, Protocol, Rho, poison,
};

/// What the parties agreed on for components.
#[derive(Clone, Copy, Debug)]
pub struct ComponentTerms<'a> {
    /// ρ.
    pub rho: Rho,
    /// What is prepared together.
    pub batch: Batch,
    /// The names of the components that are garbled; if there are none, the cost decides.
    pub names: &'a [String],
}

impl<'a> ComponentTerms<'a> {
    /// Returns the terms of a session.
    pub fn of(net: &'a Network) -> ComponentTerms<'a> {
        ComponentTerms { rho: net.rho, batch: net.batch, names: &net.components }
    }
}

/// A section of a pool of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComponentSection {
    /// The count whose records it has; `None` for the data of the pool as a whole.
    pub counter: Option<usize>,
    /// Bytes of a record.
    pub bytes: u64,
    /// Whether the peer knows all of it, and it reveals nothing by itself.
    pub public: bool,
}

/// The functions of a protocol for pools of components.
pub(crate) struct ComponentPools {
    /// Returns what a number of runs of a circuit take.
    pub demand: fn(&Compiled, ComponentTerms<'_>, u64) -> Result<Components>,
    /// Returns the sections of a party's pool.
    pub sections: fn(&Components, PartyId, Rho) -> Result<Vec<ComponentSection>>,
    /// Returns what a circuit takes from a pool of these kinds.
    pub plan: fn(&Compiled, ComponentTerms<'_>, &[[u8; 32]]) -> Result<ComponentPlan>,
}

impl Protocol {
    fn component_pools(self) -> Result<&'static ComponentPools> {
        let none = || Error::InvalidInput(format!("{} has no components", self.name()));
        self.spec().components.as_ref().ok_or_else(none)
    }

    /// Returns what a pool of components for `runs` runs of a circuit contains.
    ///
    /// # Errors
    /// `InvalidInput` when the protocol has no such pools, or the circuit has too many components.
    pub fn components(
        self,
        circuit: &Compiled,
        terms: ComponentTerms<'_>,
        runs: u64,
    ) -> Result<Components> {
        (self.component_pools()?.demand)(circuit, terms, runs)
    }

    /// Returns the sections of a party's pool of components.
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

    /// Returns what a run of `circuit` takes from a pool of components of these kinds.
    ///
    /// # Errors
    /// `InvalidInput` when the protocol has no such pools, or the circuit takes other components,
    /// which the error names.
    pub fn component_plan(
        self,
        circuit: &Compiled,
        terms: ComponentTerms<'_>,
        kinds: &[[u8; 32]],
    ) -> Result<ComponentPlan> {
        (self.component_pools()?.plan)(circuit, terms, kinds)
    }

    /// Runs the function-dependent phase on a part of a pool that
    /// [`Engine::fill_components`](crate::Engine::fill_components) made; `part` has a range for
    /// each count. The caller must ensure that no part is ever opened twice, that all parties open
    /// the same part, and that nothing of the pool is used after a failed check.
    ///
    /// # Errors
    /// `Store` when the pool cannot be read; `InvalidInput` when the part is not what the plan
    /// takes; `PeerMisbehaved`, `Transport` as for every phase.
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

/// A pool for the circuit that comes next, in this process: in memory, or in a file if it is large.
pub(crate) struct WaitingPool {
    kinds: Vec<[u8; 32]>,
    place: Place,
}

enum Place {
    Memory(Vec<Zeroizing<Vec<u8>>>),
    /// Being written: secret sections to one file, public ones to the other.
    File {
        secret: Scratch,
        public: Scratch,
        is_public: Vec<bool>,
    },
    /// Being read, each section once.
    Reading(Vec<Option<ScratchReader>>),
}

/// Room for the data of a pool as a whole.
const HEAD_ROOM: u64 = 1 << 16;

/// How many bytes of a waiting pool are kept in memory; a larger one is in a file.
#[cfg(not(test))]
const IN_MEMORY: u64 = 1 << 28;

/// The same limit, for tests to change. Tests that run at the same time still compute the same.
#[cfg(test)]
pub(crate) static IN_MEMORY: AtomicU64 = AtomicU64::new(1 << 28);

fn in_memory() -> u64 {
    #[cfg(test)]
    let in_memory = IN_MEMORY.load(Ordering::Relaxed);
    #[cfg(not(test))]
    let in_memory = IN_MEMORY;
    in_memory
}

/// Converts the error of a file for waiting components.
pub(crate) fn filed<T>(done: io::Result<T>) -> Result<T> {
    done.map_err(|error| {
        let folder = std::env::temp_dir();
        let text = format!("garbled components that wait, in {}: {error}", folder.display());
        Error::stored_io(text, error)
    })
}

impl WaitingPool {
    /// Returns an empty pool with these sections.
    ///
    /// # Errors
    /// `Store` when there is no room for a file; `InvalidInput` when no file is that large.
    pub fn new(components: &Components, sections: &[ComponentSection]) -> Result<WaitingPool> {
        let counts = components.counts();
        let bytes = |section: &ComponentSection| match section.counter {
            Some(counter) => section.bytes.checked_mul(counts[counter]),
            None => Some(HEAD_ROOM),
        };
        let bytes: Option<Vec<u64>> = sections.iter().map(bytes).collect();
        let all = bytes
            .as_ref()
            .and_then(|bytes| bytes.iter().try_fold(0_u64, |sum, &bytes| sum.checked_add(bytes)));
        let (Some(bytes), Some(all)) = (bytes, all) else {
            return Err(Error::invalid_input("the circuit is too large"));
        };
        let place = if all <= in_memory() {
            // Memory that grows would leave copies of secrets behind.
            let room = |&bytes: &u64| Zeroizing::new(Vec::with_capacity(bytes as usize));
            Place::Memory(bytes.iter().map(room).collect())
        } else {
            let file = |secrecy| filed(Scratch::new(sections.len(), secrecy));
            Place::File {
                secret: file(Secrecy::Secret)?,
                public: file(Secrecy::Public)?,
                is_public: sections.iter().map(|section| section.public).collect(),
            }
        };
        Ok(WaitingPool { kinds: components.kinds().map(|(kind, _)| kind).collect(), place })
    }
}

fn no_section() -> Error {
    Error::internal("a section that is not there")
}

impl PoolSink for WaitingPool {
    fn write(&mut self, section: usize, bytes: &[u8]) -> Result<()> {
        match &mut self.place {
            Place::Memory(sections) => {
                sections.get_mut(section).ok_or_else(no_section)?.extend(bytes);
                Ok(())
            }
            Place::File { secret, public, is_public } => {
                let is_public = is_public.get(section).ok_or_else(no_section)?;
                let file = if *is_public { public } else { secret };
                filed(file.write(section, bytes))
            }
            Place::Reading(_) => Err(Error::internal("a pool that is read is written to")),
        }
    }
}

impl PoolSource for WaitingPool {
    fn open(&mut self, section: usize, bytes: Range<u64>) -> Result<Box<dyn Read + Send>> {
        // Each section is read once, and is gone after it was opened.
        if let Place::Memory(sections) = &mut self.place {
            let section = sections.get_mut(section).map(std::mem::take).unwrap_or_default();
            let mut all = Cursor::new(section);
            all.set_position(bytes.start);
            return Ok(Box::new(all.take(bytes.end.saturating_sub(bytes.start))));
        }
        self.place = match std::mem::replace(&mut self.place, Place::Reading(Vec::new())) {
            Place::File { secret, public, is_public } => {
                let both = filed(secret.finish())?.into_iter().zip(filed(public.finish())?);
                let own = both.zip(is_public);
                let own = own.map(|((secret, public), is)| if is { public } else { secret });
                Place::Reading(own.map(Some).collect())
            }
            other => other,
        };
        let Place::Reading(sections) = &mut self.place else { return Err(no_section()) };
        let section = sections.get_mut(section).and_then(Option::take).ok_or_else(no_section)?;
        if bytes.start != 0 {
            return Err(Error::internal("a part of a pool that waits for one program"));
        }
        Ok(Box::new(section.take(bytes.end)))
    }

    fn waits(&self) -> bool {
        true
    }
}

impl Preprocessed for WaitingPool {
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
