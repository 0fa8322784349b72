//! The seam between protocols and what runs them: the three [`phases`], which every protocol
//! implements, a party's view of a session, and the forms in which material is kept.
//!
//! Nothing here knows a protocol. Each describes itself in a [`ProtocolSpec`], through which its
//! phases are run, stored and loaded.

mod bits;
pub mod checks;
pub mod codec;
mod compiled;
mod component_pools;
mod components;
mod dealer;
pub mod forecast;
mod form;
mod in_flight;
mod network;
pub mod options;
pub mod parallel;
pub mod phases;
mod poison;
mod pool;
mod prepared;
mod rho;
mod spec;

pub use bits::{decode_bits, receive_bits};
pub use compiled::{Compiled, Derived};
pub use component_pools::{ComponentPlan, ComponentPools, ComponentSection, PlanFor};
pub use components::Components;
pub use dealer::{Connector, Dealer};
pub use form::GateForm;
pub use in_flight::InFlight;
pub use network::{LoadTerms, Network, RunTerms, SEGMENT_GATES};
pub use options::{OptionSpec, Options, ProtocolOption};
pub use phases::{
    Demand, EachPrepared, Engine, InputBits, Link, Online, OutputBits, Prepared, Preprocessed,
};
pub use poison::poisonable;
pub use pool::{PoolRange, PoolSink, PoolSource};
pub use rho::Rho;
pub use spec::{CorrelationSource, EngineSource, ProtocolSpec, StoredOptions};
pub use symbolon_ot::{OtExtension, TreeDepth};
