//! Preprocessing among parties over real channels, with and without a dealer. One program, because
//! each takes seconds to link.
#![allow(missing_docs)]

mod dealer;
mod dealer_server;
mod dealing;
#[path = "../../interaction/tests/mesh/mod.rs"]
mod mesh;
mod open_bits;
mod plan;
mod set_up;
