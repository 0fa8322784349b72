//! Pools of components: the function-independent phase of protocols that garble components of a
//! known kind, instead of gates of any circuit.
//!
//! The content of a pool is counted: see [`Components::counts`]. Everything is taken from the front
//! of its count, and only once. The caller that keeps a pool must ensure this, and the pool's
//! integrity.

use std::ops::Range;

use symbolon_transport::{PartyId, Result};

use crate::{Compiled, Components, Network, PoolSource, Prepared, Rho, RunTerms};

/// A section of a pool of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComponentSection {
    /// The count whose records it holds; `None` for data that belong to the whole pool.
    pub counter: Option<usize>,
    /// The size of a record in bytes.
    pub bytes: u64,
    /// Whether the peer knows all of it, so that it reveals nothing by itself.
    pub public: bool,
}

/// What one program takes from a pool of components.
pub trait ComponentPlan {
    /// Returns how much the program takes of each count of the pool.
    fn takes(&self) -> &[u64];

    /// Runs the function-dependent phase on a part of the pool: a range of each count.
    ///
    /// # Errors
    /// `Store` if the part cannot be read; `InvalidInput` if it is not what the program takes;
    /// `PeerMisbehaved` and `Transport` as for every phase.
    fn prepare(
        &self,
        net: &mut Network,
        part: &[Range<u64>],
        source: &mut dyn PoolSource,
    ) -> Result<Box<dyn Prepared>>;
}

/// Returns what a circuit takes from a pool of these kinds.
pub type PlanFor = fn(&Compiled, RunTerms<'_>, &[[u8; 32]]) -> Result<Box<dyn ComponentPlan>>;

/// A protocol's functions for pools of components.
#[derive(Clone, Copy)]
pub struct ComponentPools {
    /// Returns what this many runs of a circuit need.
    pub demand: fn(&Compiled, RunTerms<'_>, u64) -> Result<Components>,
    /// Returns the sections of a party's pool.
    pub sections: fn(&Components, PartyId, Rho) -> Result<Vec<ComponentSection>>,
    /// Returns what a circuit takes from a pool of these kinds.
    pub plan: PlanFor,
}
