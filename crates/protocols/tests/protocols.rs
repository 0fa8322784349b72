//! Runs of all protocols.
#![allow(missing_docs)]

#[path = "../../engine/tests/common/mod.rs"]
mod common;
mod forecast;
mod lookups;
mod rounds;

/// The protocol of a setting that names none.
const PROTOCOL: &symbolon_engine::ProtocolSpec = &symbolon_protocols::wrk::SPEC;
