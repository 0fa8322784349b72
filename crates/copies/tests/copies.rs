//! Runs of `duplo` and `dualex` between parties over real channels, and their cheats.
#![allow(missing_docs)]

#[path = "../../engine/tests/common/mod.rs"]
mod common;
mod dualex;
mod duplo;

/// The protocol of a setting that names none.
const PROTOCOL: &symbolon_engine::ProtocolSpec = &symbolon_copies::duplo::SPEC;
