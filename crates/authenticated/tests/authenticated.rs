//! Runs of `wrk`, `ywz` and `tinytable` between parties over real channels, and their cheats. One
//! program, because each takes seconds to link.
#![allow(missing_docs)]

mod cheats_code;
mod cheats_messages;
mod cheats_proofs;
mod cheats_stream;
mod cheats_tinytable;
mod cheats_two_lanes;
#[path = "../../engine/tests/common/mod.rs"]
mod common;
mod known;
mod silent_ot;
mod stored;
mod stream;
mod tinytable;
mod two_lanes;
mod wire;
mod wire_tinytable;
mod wire_ywz;
mod wrk;
mod wrk_cheats;
mod ywz;
mod ywz_cheats;

/// The protocol of a setting that names none.
const PROTOCOL: &symbolon_engine::ProtocolSpec = &symbolon_authenticated::wrk::SPEC;
