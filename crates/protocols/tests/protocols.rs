//! Runs of all protocols between parties over real channels, and their cheats. One program, because
//! each takes seconds to link.
#![allow(missing_docs)]

mod cheats_messages;
mod cheats_proofs;
mod cheats_stream;
mod cheats_tinytable;
mod cheats_two_lanes;
mod common;
mod dualex;
mod duplo;
mod known;
mod lookups;
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
